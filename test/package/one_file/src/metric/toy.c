/** toy: mean of the predictions */
#include "metric/metric.h"

#ifdef MST_METRIC_HEADER
enum { MST_METRIC_TOY = NEXT };
#endif

static mst_value value(const mst_metric_options *o) {
    return o->predictions;
}

const mst_metric_form mst_metric_form_toy = {.value = value};
