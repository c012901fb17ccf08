/** sparse accuracy under its name in Keras, which progress lines and logs then show */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_SPARSE_CATEGORICAL_ACCURACY = 12 };
#endif
#include "metric/metric.h"

const mst_metric_form mst_metric_form_sparse_categorical_accuracy = {.larger_is_better = true,
                                                                     .value = mst_sparse_accuracy_metric};
