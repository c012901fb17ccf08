#include "metric/positives.h"

#include <math.h>

/* Labels and predictions of one shape; numbers of classes become one-hot rows. */
static bool positives_align(const mst_metric_options *o, mst_value *labels, mst_value *predictions) {
    const mst_shape t = mst_value_spec(o->labels).shape, p = mst_value_spec(o->predictions).shape;
    const int64_t columns = p.ndim < 2 ? 1 : p.dim[p.ndim - 1];
    *predictions = o->predictions;
    if (columns == 1 || (t.ndim == p.ndim && t.dim[t.ndim - 1] == columns)) return mst_metric_elements(o, labels);
    if (!mst_metric_rows(o, labels, predictions)) return false;
    *labels = mst_one_hot(*labels, .depth = columns, .dtype = mst_value_spec(o->predictions).dtype);
    return true;
}

bool mst_metric_probabilities(const mst_metric_options *o, mst_value *labels, mst_value *predictions) {
    if (!positives_align(o, labels, predictions)) return false;
    if (o->from_logits) *predictions = o->exclusive ? mst_softmax(*predictions) : mst_sigmoid(*predictions);
    return true;
}

bool mst_metric_positives(const mst_metric_options *o, mst_value *labels, mst_value *predictions) {
    if (!positives_align(o, labels, predictions)) return false;
    mst_graph *graph = mst_value_graph(*predictions);
    const mst_dtype dtype = mst_value_spec(*predictions).dtype;
    const bool of_elements = o->from_logits && !o->exclusive;
    if (o->from_logits && o->exclusive) *predictions = mst_softmax(*predictions);
    const double threshold = of_elements ? log(o->threshold / (1 - o->threshold)) : o->threshold;
    *labels = mst_cast(mst_not_equal(*labels, mst_scalar(graph, dtype, 0)), MST_F64);
    *predictions = mst_cast(mst_greater(*predictions, mst_scalar(graph, dtype, threshold)), MST_F64);
    return true;
}
