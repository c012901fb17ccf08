/** No metric: the value of an entry that was not set, and the end of a list of metrics. */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_NONE = 0 };
#endif
#include "metric/metric.h"

const mst_metric_form mst_metric_form_none = {.value = NULL};
