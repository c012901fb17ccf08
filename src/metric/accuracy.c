/** accuracy: binary accuracy if predictions have one column, categorical if labels have the shape of the predictions,
 *  otherwise sparse, as Keras chooses */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_ACCURACY = 1 };
#endif
#include "metric/metric.h"

extern const mst_metric_form mst_metric_form_binary_accuracy, mst_metric_form_categorical_accuracy,
    mst_metric_form_sparse_accuracy;

static mst_value accuracy_metric(const mst_metric_options *o) {
    mst_shape t = mst_value_spec(o->labels).shape, p = mst_value_spec(o->predictions).shape;
    if (p.ndim < 2 || p.dim[p.ndim - 1] == 1) return mst_metric_form_binary_accuracy.value(o);
    bool same = t.ndim == p.ndim && t.dim[t.ndim - 1] == p.dim[p.ndim - 1];
    return (same ? &mst_metric_form_categorical_accuracy : &mst_metric_form_sparse_accuracy)->value(o);
}

const mst_metric_form mst_metric_form_accuracy = {.larger_is_better = true, .value = accuracy_metric};
