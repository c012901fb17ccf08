/** perplexity: e to the mean of -log p(label) over all positions: 1 if every label is certain, the number of classes if
 *  all are alike. Labels [n, ...] are class numbers, predictions [n, ..., classes] logits if .from_logits, else
 *  probabilities */
#ifdef MST_METRIC_HEADER
enum { MST_METRIC_PERPLEXITY = 21 };
#endif
#include <math.h>

#include "metric/metric.h"

static const double least = 1e-7; /* of a probability, as in losses */

static mst_metric_values perplexity_counts(const mst_metric_options *o) {
    mst_value labels, logits;
    if (!mst_metric_rows(o, &labels, &logits)) return (mst_metric_values){labels, labels};
    if (!o->from_logits) logits = mst_log(mst_clip(logits, least, 1));
    const mst_value counted = mst_metric_counted(o); /* labels that do not count need not be classes */
    if (!mst_value_is_none(counted)) labels = mst_mul(labels, mst_cast(mst_reshape(counted, MST_SHAPE(-1)), MST_I64));
    return mst_metric_mean_of(o, mst_cast(mst_sparse_softmax_cross_entropy(logits, labels), MST_F64));
}

static double perplexity_result(const double *sum, const double *count, int64_t n) {
    (void)n;
    return *count > 0 ? exp(*sum / *count) : 0;
}

const mst_metric_form mst_metric_form_perplexity = {.counts = perplexity_counts, .result = perplexity_result};
