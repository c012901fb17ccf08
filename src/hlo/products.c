/* Products of matrices, and convolutions. */
#include "base/number.h"
#include "hlo/hlo_writer.h"

/* Adds the attribute for the precision of a product. With the default one, accelerators round f32 to TF32 or bf16. So
 * products of f32 get the highest precision, unless the node allows TF32. */
static void ask_precision(const mst_lower *l, mst_hlo_attributes *t, mst_dtype dtype) {
    const char *precision = dtype == MST_F32 && l->precision != MST_TENSORFLOAT32 ? "HIGHEST" : "DEFAULT";
    mst_hlo_attribute(t, "precision_config = [#stablehlo<precision %s>, #stablehlo<precision %s>]", precision,
                      precision);
}

static void add_free(mst_shape *shape, const mst_shape *from, const mst_axes *batch, const mst_axes *summed) {
    for (int i = 0; i < from->ndim && shape->ndim < MST_MAX_NDIM; i++)
        if (!mst_hlo_is_listed(batch, i) && !mst_hlo_is_listed(summed, i)) shape->dim[shape->ndim++] = from->dim[i];
}

static bool are_as_long(const mst_shape *a, const mst_axes *of_a, const mst_shape *b, const mst_axes *of_b) {
    if (of_a->count != of_b->count) return false;
    for (int i = 0; i < of_a->count; i++)
        if (a->dim[of_a->axis[i]] != b->dim[of_b->axis[i]]) return false;
    return true;
}

mst_hlo mst_hlo_dot(mst_lower *l, mst_hlo a, mst_hlo b, mst_axes a_batch, mst_axes b_batch, mst_axes a_summed,
                    mst_axes b_summed, mst_dtype dtype) {
    const mst_spec left = mst_hlo_spec(l, a), right = mst_hlo_spec(l, b);
    mst_spec dst = {.dtype = dtype, .shape = MST_SCALAR};
    if (mst_hlo_lacks(l, a) || mst_hlo_lacks(l, b)) return MST_NO_HLO;
    if (!mst_hlo_are_axes(l, left.shape.ndim, &a_batch) || !mst_hlo_are_axes(l, right.shape.ndim, &b_batch) ||
        !mst_hlo_are_axes(l, left.shape.ndim, &a_summed) || !mst_hlo_are_axes(l, right.shape.ndim, &b_summed))
        return MST_NO_HLO;
    if (left.dtype != right.dtype || !are_as_long(&left.shape, &a_batch, &right.shape, &b_batch) ||
        !are_as_long(&left.shape, &a_summed, &right.shape, &b_summed))
        return mst_hlo_fail(l, "a product of two dtypes, or over axes of other lengths");
    const int free_a = left.shape.ndim - a_summed.count, free_b = right.shape.ndim - b_batch.count - b_summed.count;
    if (free_a + free_b > MST_MAX_NDIM)
        return mst_hlo_fail(l, "a product of %d dimensions, of at most %d", free_a + free_b, MST_MAX_NDIM);
    for (int i = 0; i < a_batch.count; i++) dst.shape.dim[dst.shape.ndim++] = left.shape.dim[a_batch.axis[i]];
    add_free(&dst.shape, &left.shape, &a_batch, &a_summed);
    add_free(&dst.shape, &right.shape, &b_batch, &b_summed);
    char text[4][MST_HLO_AXES];
    mst_hlo_attributes t = {.size = 0};
    mst_hlo_attribute(
        &t,
        "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = %s, rhs_batching_dimensions = %s, "
        "lhs_contracting_dimensions = %s, rhs_contracting_dimensions = %s>",
        mst_hlo_axes_text(&a_batch, text[0]), mst_hlo_axes_text(&b_batch, text[1]),
        mst_hlo_axes_text(&a_summed, text[2]), mst_hlo_axes_text(&b_summed, text[3]));
    ask_precision(l, &t, left.dtype);
    mst_hlo result;
    mst_hlo_call(l, "dot_general", mst_hlo_attributes_end(&t), 2, (const mst_hlo[]){a, b}, 1, &dst, &result);
    return result;
}

mst_hlo mst_hlo_convolve(mst_lower *l, mst_hlo src, mst_hlo weights, const mst_hlo_convolution *c) {
    const int n = c->num_spatial;
    if (n < 1 || n > MST_MAX_NDIM - 2 || !c->dimensions)
        return mst_hlo_fail(l, "a convolution over %d dimensions, or without its list of them", n);
    mst_hlo_attributes t = {.size = 0};
    mst_hlo_attribute(&t, "batch_group_count = %lld : i64", (long long)(c->batch_groups ? c->batch_groups : 1));
    mst_hlo_attribute(&t, "dimension_numbers = #stablehlo.conv<%s>", c->dimensions);
    mst_hlo_attribute(&t, "feature_group_count = %lld : i64", (long long)(c->groups ? c->groups : 1));
    mst_hlo_attribute_steps(&t, "lhs_dilation", n, c->src_dilation);
    mst_hlo_attribute_padding(&t, n, c->low, c->high);
    ask_precision(l, &t, mst_hlo_spec(l, src).dtype);
    mst_hlo_attribute_steps(&t, "rhs_dilation", n, c->weights_dilation);
    char reversal[MST_HLO_AXES] = "array<i1: ";
    for (int i = 0, size = 10 /* characters in `reversal` so far */; i < n; i++)
        size += mst_format(reversal + size, sizeof reversal - (size_t)size, "%s%s", i ? ", " : "",
                           c->reversed ? "true" : "false");
    mst_hlo_attribute(&t, "window_reversal = %s>", reversal);
    mst_hlo_attribute_steps(&t, "window_strides", n, c->stride);
    mst_hlo result;
    mst_hlo_call(l, "convolution", mst_hlo_attributes_end(&t), 2, (const mst_hlo[]){src, weights}, 1, &c->dst, &result);
    return result;
}
