/** top-k accuracy under its name in Keras, which progress lines and logs then show */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_SPARSE_TOP_K_CATEGORICAL_ACCURACY = 13 };
#endif
#include "metric/metric.h"

const mst_metric_form mst_metric_form_sparse_top_k_categorical_accuracy = {.larger_is_better = true,
                                                                           .value = mst_top_k_accuracy_metric};
