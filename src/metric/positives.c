#include "metric/positives.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Brings labels and predictions to one shape; class numbers become one-hot rows. */
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

/* ---- one class ---- */

static int64_t columns_of(mst_shape predictions) {
    return predictions.ndim < 2 ? 1 : predictions.dim[predictions.ndim - 1];
}

/* Column I of ROWS [rows, columns], as [rows]. */
static mst_value column(mst_value rows, int64_t i) {
    return mst_reshape(mst_slice(rows, MST_SHAPE(0, i), MST_SHAPE(-1, 1)), MST_SHAPE(-1));
}

static mst_value log_odds(mst_value p) {
    const mst_value one = mst_scalar(mst_value_graph(p), mst_value_spec(p).dtype, 1);
    return mst_sub(mst_log(p), mst_log(mst_sub(one, p)));
}

static mst_value is_not_zero(mst_value src) {
    return mst_cast(mst_not_equal(src, mst_scalar(mst_value_graph(src), mst_value_spec(src).dtype, 0)), MST_F64);
}

/* The odds for a single column, which is the probability or the logit of class 1 of two. FIRST: of class 0. */
static bool odds_of_column(const mst_metric_options *o, bool first, mst_value *labels, mst_value *odds) {
    if (!mst_metric_elements(o, labels)) return false;
    *labels = is_not_zero(mst_reshape(*labels, MST_SHAPE(-1)));
    *odds = mst_reshape(o->predictions, MST_SHAPE(-1));
    if (!o->from_logits) *odds = log_odds(*odds);
    if (!first) return true;
    *labels = mst_sub(mst_scalar(mst_value_graph(*labels), MST_F64, 1), *labels);
    *odds = mst_neg(*odds);
    return true;
}

/* For two classes that exclude each other, the log odds are exactly the difference of the logits. */
static mst_value odds_of_rows(const mst_metric_options *o, mst_value rows, int64_t columns, int64_t class) {
    if (!o->from_logits) return log_odds(column(rows, class));
    if (!o->exclusive) return column(rows, class);
    if (columns == 2) return mst_sub(column(rows, class), column(rows, 1 - class));
    return log_odds(column(mst_softmax(rows), class));
}

bool mst_metric_odds(const mst_metric_options *o, mst_value *labels, mst_value *odds) {
    const mst_shape t = mst_value_spec(o->labels).shape, p = mst_value_spec(o->predictions).shape;
    const int64_t columns = columns_of(p), class = o->positive - 1; /* .positive is MST_CLASS(class) */
    const int64_t classes = columns == 1 ? 2 : columns;
    if (class < 0 || class >= classes) {
        char what[128];
        snprintf(what, sizeof what, ".positive is class %" PRId64 ", there are %" PRId64 " classes from 0 on", class,
                 classes);
        *labels = mst_metric_fail(o, columns < 0 ? "the number of classes must be known" : what);
        return false;
    }
    if (columns == 1) return odds_of_column(o, class == 0, labels, odds);
    mst_value rows;
    if (t.ndim == p.ndim && t.dim[t.ndim - 1] == columns) {
        if (!mst_metric_elements(o, labels)) return false;
        *labels = is_not_zero(column(mst_reshape(*labels, MST_SHAPE(-1, columns)), class));
        rows = mst_reshape(o->predictions, MST_SHAPE(-1, columns));
    } else {
        if (!mst_metric_rows(o, labels, &rows)) return false;
        *labels = mst_cast(mst_equal(*labels, mst_scalar(mst_value_graph(rows), MST_I64, (double)class)), MST_F64);
    }
    *odds = odds_of_rows(o, rows, columns, class);
    return true;
}

static bool positives_of_class(const mst_metric_options *o, mst_value *labels, mst_value *predictions) {
    mst_value odds;
    if (!mst_metric_odds(o, labels, &odds)) return false;
    const double limit = log(o->threshold / (1 - o->threshold));
    const mst_value scalar = mst_scalar(mst_value_graph(odds), mst_value_spec(odds).dtype, limit);
    *predictions = mst_cast(mst_greater(odds, scalar), MST_F64);
    return true;
}

/* ---- one class, or all columns ---- */

static bool positives_of_columns(const mst_metric_options *o, mst_value *labels, mst_value *predictions) {
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

bool mst_metric_positives(const mst_metric_options *o, mst_value *labels, mst_value *predictions) {
    if (!(o->positive ? positives_of_class : positives_of_columns)(o, labels, predictions)) return false;
    *labels = mst_metric_without_ignored(o, *labels);
    *predictions = mst_metric_without_ignored(o, *predictions);
    return true;
}
