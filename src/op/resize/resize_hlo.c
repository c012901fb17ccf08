/* resize2d and its gradient as StableHLO, one axis after the other. An element of the result is a sum of few elements
 * of the source, each times a weight. Their indices and weights are computed here and written as constants, so that
 * they have the same bits as on the CPU. Elements are gathered and summed, never scattered, because devices add
 * scattered elements in any order. */
#include <stdlib.h>

#include "muster/hlo.h"
#include "op/resize/resize.h"

enum { ROWS = 1, COLUMNS = 2 }; /* axes of pictures */

/* Sums along an axis with `to` results. Result i is the sum of source[index[k]] * weight[k], for k from i * most to
 * (i + 1) * most - 1. Terms with weight 0 are not used. */
typedef struct sums {
    int64_t to, most;
    double *index, *weight;
} sums;

/* An axis. */
typedef struct line {
    const mst_resize2d_options *o;
    int64_t in, out;
} line;

/* The number of elements of the source from which element I of the output is computed. Sets *PLACE to their place. */
static int64_t count_of(const line *a, int64_t i, mst_resize_place *place) {
    *place = mst_resize_find(a->o, i, a->in, a->out);
    if (a->o->interpolation == MST_INTERPOLATION_AREA) return place->upper - place->lower + 1;
    return place->part != 0 ? 2 : 1;
}

/* The index in the source of element K of PLACE; sets *WEIGHT to its weight. */
static int64_t element_of(const line *a, const mst_resize_place *place, int64_t k, double *weight) {
    if (a->o->interpolation == MST_INTERPOLATION_AREA) {
        *weight = mst_resize_weight(place, place->lower + k);
        return place->lower + k;
    }
    *weight = k ? place->part : 1 - place->part;
    return k ? place->upper : place->lower;
}

static bool allocate(mst_lower *l, sums *s) {
    const size_t count = (size_t)(s->to * s->most);
    if (count > INT32_MAX) {
        mst_hlo_fail(l, "a picture of too many pixels");
        return false;
    }
    s->index = calloc(count + 1, sizeof *s->index);
    s->weight = calloc(count + 1, sizeof *s->weight);
    if (s->index && s->weight) return true;
    mst_hlo_fail(l, "cannot get memory");
    return false;
}

static void release(sums *s) {
    free(s->index);
    free(s->weight);
}

/* Sets *S to the sums for the elements of an axis of the output. */
static bool sums_of(mst_lower *l, const line *a, sums *s) {
    mst_resize_place place;
    *s = (sums){.to = a->out, .most = 1};
    for (int64_t i = 0; i < a->out; i++) {
        const int64_t count = count_of(a, i, &place);
        if (count > s->most) s->most = count;
    }
    if (!allocate(l, s)) return false;
    for (int64_t i = 0; i < a->out; i++)
        for (int64_t k = 0, count = count_of(a, i, &place); k < count; k++)
            s->index[i * s->most + k] = (double)element_of(a, &place, k, &s->weight[i * s->most + k]);
    return true;
}

/* Sets *S to the transpose of these sums: the sums for the elements of an axis of the source's gradient. The second
 * pass goes backwards, so that the terms of a sum are in the order of the output. */
static bool transposed_of(mst_lower *l, const line *a, sums *s) {
    mst_resize_place place;
    double weight;
    int64_t *used = calloc((size_t)a->in + 1, sizeof *used);
    *s = (sums){.to = a->in, .most = 1};
    if (!used) {
        mst_hlo_fail(l, "cannot get memory");
        return false;
    }
    for (int64_t i = 0; i < a->out; i++)
        for (int64_t k = 0, count = count_of(a, i, &place); k < count; k++) {
            const int64_t uses = ++used[element_of(a, &place, k, &weight)];
            if (uses > s->most) s->most = uses;
        }
    const bool has_memory = allocate(l, s);
    for (int64_t i = a->out - 1; i >= 0 && has_memory; i--)
        for (int64_t k = count_of(a, i, &place) - 1; k >= 0; k--) {
            const int64_t element = element_of(a, &place, k, &weight), at = element * s->most + --used[element];
            s->index[at] = (double)i;
            s->weight[at] = weight;
        }
    free(used);
    return has_memory;
}

/* The COUNT elements of X along AXIS with indices INDEX. */
static mst_hlo elements_along(mst_lower *l, mst_hlo x, int axis, int64_t count, const double *index) {
    mst_shape size = mst_hlo_spec(l, x).shape, dst = size;
    mst_hlo_indexing indexing = {.collapsed = MST_AXES(axis), .map = MST_AXES(axis), .vector_axis = 1};
    bool is_all = count == size.dim[axis];
    for (int64_t i = 0; i < count && is_all; i++) is_all = index[i] == (double)i;
    if (is_all) return x;
    for (int i = 0; i < dst.ndim; i++)
        if (i != axis) indexing.offset.axis[indexing.offset.count++] = i;
    size.dim[axis] = 1;
    dst.dim[axis] = count;
    return mst_hlo_gather(l, x, mst_hlo_list(l, MST_I32, (int)count, index), &indexing, size, dst);
}

/* The sums S of elements of X along AXIS. */
static mst_hlo sum_along(mst_lower *l, mst_hlo x, int axis, const sums *s) {
    const mst_dtype dtype = mst_hlo_spec(l, x).dtype;
    bool has_gaps = false, has_weights = false;
    for (int64_t k = 0; k < s->to * s->most; k++) {
        has_gaps = has_gaps || s->weight[k] == 0;
        has_weights = has_weights || (s->weight[k] != 0 && s->weight[k] != 1);
    }
    mst_hlo terms = elements_along(l, x, axis, s->to * s->most, s->index);
    mst_shape shape = mst_hlo_spec(l, terms).shape;
    for (int i = shape.ndim++; i > axis + 1; i--) shape.dim[i] = shape.dim[i - 1];
    shape.dim[axis] = s->to;
    shape.dim[axis + 1] = s->most;
    terms = mst_hlo_reshape(l, terms, shape);
    if (has_gaps || has_weights) {
        const mst_hlo list = mst_hlo_list(l, dtype, (int)(s->to * s->most), s->weight);
        const mst_hlo weights = mst_hlo_broadcast_axes(l, mst_hlo_reshape(l, list, MST_SHAPE(s->to, s->most)), shape,
                                                       MST_AXES(axis, axis + 1));
        const mst_hlo zero = mst_hlo_number(l, dtype, 0);
        const mst_hlo products = has_weights ? mst_hlo_binary(l, "multiply", terms, weights) : terms;
        terms = has_gaps ? mst_hlo_select(l, mst_hlo_compare(l, "NE", weights, zero), products, zero) : products;
    }
    if (s->most > 1) return mst_hlo_reduce(l, "add", terms, 0, MST_AXES(axis + 1));
    for (int i = axis + 1; i + 1 < shape.ndim; i++) shape.dim[i] = shape.dim[i + 1];
    shape.ndim--;
    return mst_hlo_reshape(l, terms, shape);
}

/* x + (y - x) part for each element of the output along AXIS; x and y are the two elements between which it lies. */
static mst_hlo between(mst_lower *l, mst_hlo x, int axis, const line *a) {
    double *lower = calloc((size_t)a->out * 3 + 1, sizeof *lower);
    if (!lower) return mst_hlo_fail(l, "cannot get memory");
    double *const upper = lower + a->out, *const part = upper + a->out;
    bool is_between = false;
    for (int64_t i = 0; i < a->out; i++) {
        const mst_resize_place place = mst_resize_find(a->o, i, a->in, a->out);
        lower[i] = (double)place.lower;
        upper[i] = (double)place.upper;
        part[i] = place.part;
        is_between = is_between || place.part != 0;
    }
    const mst_hlo first = elements_along(l, x, axis, a->out, lower);
    mst_hlo result = first;
    if (is_between) {
        const mst_spec spec = mst_hlo_spec(l, first);
        const mst_hlo parts =
            mst_hlo_broadcast_axes(l, mst_hlo_list(l, spec.dtype, (int)a->out, part), spec.shape, MST_AXES(axis));
        const mst_hlo way = mst_hlo_binary(l, "subtract", elements_along(l, x, axis, a->out, upper), first);
        result = mst_hlo_binary(l, "add", first, mst_hlo_binary(l, "multiply", way, parts));
    }
    free(lower);
    return result;
}

static line line_of(const mst_lower *l, int axis, const mst_shape *src, const mst_shape *dst) {
    return (line){.o = l->options, .in = src->dim[axis], .out = dst->dim[axis]};
}

void mst_resize_lower(mst_lower *l) {
    const mst_spec *dst = &l->dst_spec[0];
    mst_hlo x = l->src[0];
    if (!mst_shape_count(dst->shape)) {
        l->dst[0] = mst_hlo_fill(l, dst->dtype, dst->shape, 0);
        return;
    }
    for (int axis = COLUMNS; axis >= ROWS; axis--) { /* in the order of the reference */
        const line a = line_of(l, axis, &l->src_spec[0].shape, &dst->shape);
        sums s = {0};
        if (a.o->interpolation != MST_INTERPOLATION_AREA)
            x = between(l, x, axis, &a);
        else if (sums_of(l, &a, &s))
            x = sum_along(l, x, axis, &s);
        release(&s);
    }
    l->dst[0] = x;
}

void mst_resize_grad_lower(mst_lower *l) {
    const mst_spec *dst = &l->dst_spec[0];
    mst_hlo x = l->src[1];
    if (!mst_shape_count(dst->shape)) {
        l->dst[0] = mst_hlo_fill(l, dst->dtype, dst->shape, 0);
        return;
    }
    for (int axis = ROWS; axis <= COLUMNS; axis++) {
        const line a = line_of(l, axis, &dst->shape, &l->src_spec[1].shape);
        sums s = {0};
        if (transposed_of(l, &a, &s)) x = sum_along(l, x, axis, &s);
        release(&s);
    }
    l->dst[0] = x;
}
