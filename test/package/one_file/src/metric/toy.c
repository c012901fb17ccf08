/** toy: mean of the predictions */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_TOY = NEXT };
#endif
#include "metric/metric.h"

static mst_value value(const mst_metric_options *o) {
    return o->predictions;
}

const mst_metric_form mst_metric_form_toy = {.value = value};
