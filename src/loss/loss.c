/* The losses of examples and positions: checks the arguments, and calls the formula of the loss (loss.h). */
#include "loss/loss.h"

#include <string.h>

#include "base/argument.h"
#include "base/did_you_mean.h"
#include "graph/field.h"
#include "graph/spec.h"

const char *mst_loss_name(mst_loss loss) {
    return (unsigned)loss < MST_NUM_LOSSES ? mst_loss_names[loss] : NULL;
}

bool mst_loss_measures(mst_loss loss) {
    return (unsigned)loss < MST_NUM_LOSSES && mst_loss_table[loss]->measures;
}

mst_status mst_loss_from_name(const char *name, mst_loss *out) {
    if (MST_IS_NULL(name) || MST_IS_NULL(out)) return MST_INVALID;
    for (int i = 0; i < MST_NUM_LOSSES; i++) {
        if (strcmp(mst_loss_names[i], name) != 0) continue;
        *out = (mst_loss)i;
        return MST_OK;
    }
    char guess[MST_DID_YOU_MEAN_TEXT];
    return MST_FAIL(MST_INVALID, "there is no loss '%s'%s", name,
                    mst_did_you_mean(name, mst_loss_names, guess, sizeof guess));
}

mst_value mst_loss_scalar(mst_value like, double value) {
    return mst_scalar(mst_value_graph(like), mst_value_spec(like).dtype, value);
}

mst_value mst_loss_mean_last(mst_value src) {
    return mst_reduce_mean(.src = src, .axes = MST_AXES(-1));
}

mst_value mst_loss_sum_last(mst_value src) {
    return mst_reduce_sum(.src = src, .axes = MST_AXES(-1));
}

static mst_value fail(mst_loss loss, mst_value labels, mst_value predictions, const char *what) {
    char left[MST_SPEC_TEXT], right[MST_SPEC_TEXT];
    mst_spec a = mst_value_spec(labels), b = mst_value_spec(predictions);
    return mst_value_fail(mst_value_graph(predictions), MST_INVALID, "%s: %s: labels '%s' %s, predictions '%s' %s",
                          mst_loss_names[loss], what, mst_value_name(labels), mst_spec_print(&a, left, sizeof left),
                          mst_value_name(predictions), mst_spec_print(&b, right, sizeof right));
}

mst_value mst_loss_mean_of_example(mst_value losses) {
    mst_axes axes = {.count = 0};
    for (int i = 1; i < mst_value_spec(losses).shape.ndim; i++) axes.axis[axes.count++] = i;
    return axes.count ? mst_reduce_mean(.src = losses, .axes = axes) : losses;
}

/* 1 where a label of *CLASSES is not IGNORE_CLASS, else 0, in DTYPE. In *CLASSES, class 0 replaces the
 * ignored labels. */
static mst_value count_positions(double ignore_class, mst_dtype dtype, mst_value *classes) {
    const mst_value counts = mst_not_equal(*classes, mst_loss_scalar(*classes, ignore_class));
    *classes = mst_select(counts, *classes, mst_zeros_like(*classes));
    return mst_cast(counts, dtype);
}

/* CLASSES, labels of any numeric dtype, as integers. If IGNORE_CLASS is given, labels that are equal to it become 0,
 * and *COUNTED is 0 at their places and 1 elsewhere. Otherwise *COUNTED does not change. */
static mst_value whole_numbers(mst_value classes, double ignore_class, mst_dtype dtype, mst_value *counted) {
    mst_dtype from = mst_value_spec(classes).dtype;
    if (from == MST_BF16) classes = mst_cast(classes, from = MST_F32);
    if (from == MST_BOOL) classes = mst_cast(classes, MST_I64);
    /* u8 and i32 do not hold every number, such as -1 */
    if (mst_number_given(ignore_class) && !mst_dtype_is_float(from)) classes = mst_cast(classes, MST_I64);
    if (mst_number_given(ignore_class)) *counted = count_positions(ignore_class, dtype, &classes);
    return mst_dtype_is_float(from) ? mst_class_number(classes) : classes;
}

/* The losses for labels that are class numbers. Predictions are reshaped to rows, [rows, classes], and the losses back
 * to the shape of the positions. */
static mst_value sparse(mst_loss loss, mst_value labels, mst_value predictions, bool from_logits, double ignore_class,
                        mst_value *counted) {
    mst_shape p = mst_value_spec(predictions).shape, t = mst_value_spec(labels).shape;
    if (p.ndim < 2) return fail(loss, labels, predictions, "predictions must be [n, classes]");
    mst_value classes = labels;
    if (t.ndim == p.ndim && t.dim[t.ndim - 1] == 1) {
        classes = mst_squeeze(.src = labels, .axes = MST_AXES(-1));
        t.ndim--;
    }
    if (t.ndim != p.ndim - 1 || !mst_dims_agree(&t, &p, t.ndim))
        return fail(loss, labels, predictions, "labels must be class numbers, one for each row of predictions");
    classes = whole_numbers(classes, ignore_class, mst_value_spec(predictions).dtype, counted);
    mst_value losses;
    if (p.ndim == 2) {
        losses = mst_loss_table[loss]->value(classes, predictions, from_logits);
    } else if (p.dim[p.ndim - 1] < 0) {
        return fail(loss, labels, predictions, "the number of classes must be known");
    } else {
        const mst_value rows = mst_reshape(predictions, MST_SHAPE(-1, p.dim[p.ndim - 1]));
        losses = mst_loss_table[loss]->value(mst_reshape(classes, MST_SHAPE(-1)), rows, from_logits);
        losses = mst_reshape_like(losses, classes);
    }
    return mst_number_given(ignore_class) ? mst_mul(losses, *counted) : losses;
}

/* The losses for labels with the shape of the predictions, except that an axis of length 1 at the end may be left out
 * of either. */
static mst_value dense(mst_loss loss, mst_value labels, mst_value predictions, bool from_logits) {
    mst_dtype dtype = mst_value_spec(predictions).dtype;
    mst_value t = labels, p = predictions;
    if (mst_value_spec(t).dtype != dtype) t = mst_cast(t, dtype);
    int t_ndim = mst_value_spec(t).shape.ndim, p_ndim = mst_value_spec(p).shape.ndim;
    if (t_ndim == p_ndim - 1 || (t_ndim == 1 && p_ndim == 1)) t = mst_expand_dims(t, -1);
    if (p_ndim == t_ndim - 1 || (t_ndim == 1 && p_ndim == 1)) p = mst_expand_dims(p, -1);
    mst_shape t_shape = mst_value_spec(t).shape, p_shape = mst_value_spec(p).shape;
    if (mst_value_is_none(t) || mst_value_is_none(p)) return mst_loss_table[loss]->value(t, p, from_logits);
    /* broadcasting [n] against [n, 1] to [n, n], as NumPy does, is never what was meant */
    if (t_shape.ndim < 2 || t_shape.ndim != p_shape.ndim || !mst_dims_agree(&t_shape, &p_shape, t_shape.ndim))
        return fail(loss, labels, predictions, "shapes differ");
    return mst_loss_table[loss]->value(t, p, from_logits);
}

static bool is_activated(const mst_loss_form *form, mst_value predictions) {
    return form->activation && strcmp(mst_node_op(predictions.node)->name, form->activation) == 0;
}

bool mst_loss_sees_logits(mst_loss loss, mst_value predictions) {
    if ((unsigned)loss >= MST_NUM_LOSSES || mst_value_is_none(predictions)) return false;
    return mst_loss_table[loss]->activation && !is_activated(mst_loss_table[loss], predictions);
}

mst_value mst_loss_per_position(mst_loss loss, mst_value labels, mst_value predictions, bool from_logits,
                                double ignore_class, mst_value *counted) {
    mst_graph *graph = mst_value_graph(predictions);
    mst_value positions = MST_NONE;
    if ((unsigned)loss >= MST_NUM_LOSSES)
        return mst_value_fail(graph, MST_INVALID, "loss is %d, must be one of mst_loss", (int)loss);
    const mst_loss_form *form = mst_loss_table[loss];
    if (mst_value_is_none(labels) || mst_value_is_none(predictions))
        return mst_value_fail(graph, MST_INVALID, "%s: there are no labels or no predictions", mst_loss_names[loss]);
    if (!mst_dtype_is_float(mst_value_spec(predictions).dtype))
        return fail(loss, labels, predictions, "predictions must be f32 or f64");
    if (mst_number_given(ignore_class) && !form->sparse)
        return mst_value_fail(graph, MST_INVALID,
                              "%s: ignore_class is for labels that are class numbers, with "
                              "sparse_categorical_crossentropy: multiply the losses by weights instead",
                              mst_loss_names[loss]);
    if (is_activated(form, predictions)) {
        predictions = mst_node_src(predictions.node, 0);
        from_logits = true;
    }
    const mst_value losses = form->sparse ? sparse(loss, labels, predictions, from_logits, ignore_class, &positions)
                                          : dense(loss, labels, predictions, from_logits);
    if (counted) *counted = mst_value_is_none(positions) ? mst_ones_like(losses) : positions;
    return losses;
}

mst_value mst_loss_per_example(mst_loss loss, mst_value labels, mst_value predictions, bool from_logits) {
    const mst_value losses = mst_loss_per_position(loss, labels, predictions, from_logits, 0, NULL);
    return mst_value_is_none(losses) ? losses : mst_loss_mean_of_example(losses);
}
