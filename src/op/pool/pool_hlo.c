/* Pooling and its gradients as StableHLO, one axis after the other.
 *
 * If a window has several largest elements, the first one is found in three steps: the first slice that has a largest
 * element; the first row of that slice that has one; the first such element of that row. So a gradient goes back along
 * the depth, then along the rows, then along the columns. Each time it goes to the first largest element of a window
 * along one axis.
 *
 * StableHLO's select_and_scatter is not used: devices add its terms in any order, and it treats NaN differently. */
#include <math.h>

#include "muster/hlo.h"
#include "op/pool/pool.h"

/* Dimension FIRST + k of a source has windows AXIS[k]. */
enum { FIRST = 1 };
typedef struct windows {
    int num_axes;
    mst_window axis[MST_MOST_WINDOW_AXES];
} windows;

static windows axes_of(const mst_pool2d_options *o, const mst_shape *src, const mst_shape *dst) {
    const mst_pool pool = mst_pool_make(o, src, dst);
    windows w = {.num_axes = src->ndim - 2};
    const int before = w.num_axes - MST_WINDOW_AXES;
    if (before) w.axis[0] = pool.depth;
    for (int k = 0; k < MST_WINDOW_AXES; k++) w.axis[before + k] = pool.window[k];
    return w;
}

/* Whether each window along an axis is one element, and each element is a window. */
static bool is_all_ones(const mst_window *w) {
    return w->size == 1 && w->stride == 1 && w->before == 0 && w->out == w->in;
}

/* Combines the elements of windows along axes BEGIN to END - 1. */
static mst_hlo reduce(mst_lower *l, const char *operation, mst_hlo x, double initial, const windows *w, int begin,
                      int end) {
    const int ndim = mst_hlo_spec(l, x).shape.ndim;
    mst_hlo_window window = {.size = {0}};
    for (int i = 0; i < ndim; i++) window.size[i] = 1;
    for (int k = begin; k < end; k++) {
        window.size[FIRST + k] = w->axis[k].size;
        window.stride[FIRST + k] = w->axis[k].stride;
        window.low[FIRST + k] = w->axis[k].before;
        window.high[FIRST + k] = w->axis[k].after;
    }
    return mst_hlo_reduce_window(l, operation, x, initial, &window);
}

/* ---- maxima ---- */

void mst_max_pool_lower(mst_lower *l) {
    const mst_spec *dst = &l->dst_spec[0];
    const windows w = axes_of(l->options, &l->src_spec[0].shape, &dst->shape);
    l->dst[0] = mst_shape_count(l->src_spec[0].shape) ? reduce(l, "maximum", l->src[0], -INFINITY, &w, 0, w.num_axes)
                                                      : mst_hlo_fill(l, dst->dtype, dst->shape, -INFINITY);
}

/* Place K of windows along an axis: windows FIRST_OUT to FIRST_OUT + COUNT - 1 have this place inside the source. For
 * window FIRST_OUT it is element AT of the source. */
typedef struct window_place {
    int64_t first_out, count, at;
} window_place;

static window_place window_place_of(const mst_window *w, int64_t k) {
    const int64_t from = w->before - k, last = w->in - 1 + from; /* window o has this place at o stride - from */
    window_place p = {.first_out = from > 0 ? (from + w->stride - 1) / w->stride : 0};
    const int64_t end = last < 0 ? 0 : last / w->stride + 1;
    p.count = (end < w->out ? end : w->out) - p.first_out;
    p.at = p.first_out * w->stride - from;
    return p;
}

/* The elements of X at place P of the windows that have it. X is as long as the source along axis DIM. */
static mst_hlo elements_at(mst_lower *l, mst_hlo x, int dim, const mst_window *w, const window_place *p) {
    mst_shape shape = mst_hlo_spec(l, x).shape;
    int64_t begin[MST_MAX_NDIM] = {0}, stride[MST_MAX_NDIM];
    for (int i = 0; i < shape.ndim; i++) stride[i] = 1;
    if (p->count == w->in && w->stride == 1) return x;
    begin[dim] = p->at;
    shape.dim[dim] = p->at + (p->count - 1) * w->stride + 1;
    stride[dim] = w->stride;
    return mst_hlo_slice(l, x, begin, shape.dim, stride);
}

/* The elements of X for the windows that have place P. X is as long as the output along axis DIM. */
static mst_hlo of_windows(mst_lower *l, mst_hlo x, int dim, const mst_window *w, const window_place *p) {
    return p->count == w->out ? x : mst_hlo_slice_axis(l, x, dim, p->first_out, p->first_out + p->count);
}

/* X with elements VALUE inserted along axis DIM: LOW before X, HIGH after X, and BETWEEN between each two elements. */
static mst_hlo pad(mst_lower *l, mst_hlo x, double value, int dim, int64_t low, int64_t high, int64_t between) {
    int64_t before[MST_MAX_NDIM] = {0}, after[MST_MAX_NDIM] = {0}, interior[MST_MAX_NDIM] = {0};
    const mst_spec spec = mst_hlo_spec(l, x);
    if (low == 0 && high == 0 && (between == 0 || spec.shape.dim[dim] < 2)) return x;
    before[dim] = low;
    after[dim] = high;
    interior[dim] = between;
    return mst_hlo_pad(l, x, mst_hlo_number(l, spec.dtype, value), before, after, interior);
}

/* X, which has elements for the windows with place P, extended to all windows: the others get VALUE. */
static mst_hlo for_all_windows(mst_lower *l, mst_hlo x, double value, int dim, const mst_window *w,
                               const window_place *p) {
    return pad(l, x, value, dim, p->first_out, w->out - p->first_out - p->count, 0);
}

/* Where X is the largest element: X equals BEST, or X is NaN. */
static mst_hlo is_largest(mst_lower *l, mst_hlo x, mst_hlo best) {
    return mst_hlo_binary(l, "or", mst_hlo_compare(l, "EQ", x, best), mst_hlo_compare(l, "NE", x, x));
}

/* The arrays for passing GRADIENT back to the largest elements of the windows along an axis. */
typedef struct giving {
    mst_hlo src, best, gradient, zero;
    int dim;
    const mst_window *window;
} giving;

/* Passes the gradient back place by place: a window gives its gradient to the first place whose element is largest. */
static mst_hlo give_by_place(mst_lower *l, const giving *g) {
    const mst_window *w = g->window;
    mst_hlo left = g->gradient, sum = MST_NO_HLO;
    for (int64_t k = 0; k < w->size; k++) {
        const window_place p = window_place_of(w, k);
        if (p.count < 1) continue;
        const mst_hlo x = elements_at(l, g->src, g->dim, w, &p);
        const mst_hlo hit = is_largest(l, x, of_windows(l, g->best, g->dim, w, &p));
        const mst_hlo given = mst_hlo_select(l, hit, of_windows(l, left, g->dim, w, &p), g->zero);
        const int64_t after = w->in - (p.at + (p.count - 1) * w->stride + 1);
        const mst_hlo term = pad(l, given, 0, g->dim, p.at, after, w->stride - 1);
        sum = sum.id ? mst_hlo_binary(l, "add", sum, term) : term;
        if (k + 1 < w->size) left = mst_hlo_select(l, for_all_windows(l, hit, 0, g->dim, w, &p), g->zero, left);
    }
    const mst_spec spec = mst_hlo_spec(l, g->src);
    return sum.id ? sum : mst_hlo_fill(l, spec.dtype, spec.shape, 0);
}

/* SHAPE with dimension DIM split into two: COUNT parts of LENGTH elements. */
static mst_shape in_parts(mst_shape shape, int dim, int64_t count, int64_t length) {
    for (int i = shape.ndim; i > dim + 1; i--) shape.dim[i] = shape.dim[i - 1];
    shape.ndim++;
    shape.dim[dim] = count;
    shape.dim[dim + 1] = length;
    return shape;
}

/* X with its axis cut into parts. Each part begins with the first element of a window, and ends before the first
 * element of the next window. */
static mst_hlo cut_in_parts(mst_lower *l, mst_hlo x, int dim, const mst_window *w) {
    const mst_hlo padded = pad(l, x, 0, dim, w->before, w->out * w->stride - w->before - w->in, 0);
    return mst_hlo_reshape(l, padded, in_parts(mst_hlo_spec(l, padded).shape, dim, w->out, w->stride));
}

/* The inverse of cut_in_parts. */
static mst_hlo join_parts(mst_lower *l, mst_hlo x, int dim, const mst_window *w) {
    mst_shape shape = mst_hlo_spec(l, x).shape;
    shape.dim[dim] *= shape.dim[dim + 1];
    for (int i = dim + 1; i + 1 < shape.ndim; i++) shape.dim[i] = shape.dim[i + 1];
    shape.ndim--;
    return pad(l, mst_hlo_reshape(l, x, shape), 0, dim, -w->before, w->in + w->before - w->out * w->stride, 0);
}

/* X, which is as long as the output along axis DIM, as one element for each part. */
static mst_hlo for_parts(mst_lower *l, mst_hlo x, int dim, const mst_window *w) {
    return mst_hlo_reshape(l, x, in_parts(mst_hlo_spec(l, x).shape, dim, w->out, 1));
}

/* Passes the gradient back for all places at once, if windows do not overlap. The first largest element of a window has
 * the smallest place of all its largest elements. */
static mst_hlo give_by_parts(mst_lower *l, const giving *g) {
    const mst_window *w = g->window;
    const mst_hlo x = cut_in_parts(l, g->src, g->dim, w), best = for_parts(l, g->best, g->dim, w);
    const mst_shape shape = mst_hlo_spec(l, x).shape;
    mst_shape line = MST_SCALAR; /* all dimensions 1, except the axis */
    line.ndim = shape.ndim;
    for (int i = 0; i < line.ndim; i++) line.dim[i] = 1;
    line.dim[g->dim] = w->out;
    line.dim[g->dim + 1] = w->stride;
    /* the places of elements in the source, and in their window */
    const mst_hlo at = mst_hlo_iota(l, MST_I32, line, g->dim + 1);
    const mst_hlo start = mst_hlo_binary(l, "multiply", mst_hlo_iota(l, MST_I32, line, g->dim),
                                         mst_hlo_number(l, MST_I32, (double)w->stride));
    const mst_hlo place = mst_hlo_binary(l, "add", start, at);
    const mst_hlo inside = mst_hlo_binary(
        l, "and", mst_hlo_compare(l, "GE", place, mst_hlo_number(l, MST_I32, (double)w->before)),
        mst_hlo_binary(l, "and",
                       mst_hlo_compare(l, "LT", place, mst_hlo_number(l, MST_I32, (double)(w->before + w->in))),
                       mst_hlo_compare(l, "LT", at, mst_hlo_number(l, MST_I32, (double)w->size))));
    const mst_hlo hit = mst_hlo_binary(l, "and", is_largest(l, x, best), inside);
    const mst_hlo number = mst_hlo_select(l, hit, at, mst_hlo_number(l, MST_I32, (double)w->stride));
    const mst_hlo first = mst_hlo_reduce_keep(l, "minimum", number, (double)w->stride, MST_AXES(g->dim + 1));
    const mst_hlo given =
        mst_hlo_select(l, mst_hlo_compare(l, "EQ", at, first), for_parts(l, g->gradient, g->dim, w), g->zero);
    return join_parts(l, given, g->dim, w);
}

/* Place by place is faster, because compilers fuse it into one loop; but for many places the text gets long. */
static mst_hlo give(mst_lower *l, const giving *g) {
    enum { FEW = 8 };
    if (is_all_ones(g->window)) return g->gradient;
    return g->window->size > FEW && g->window->size <= g->window->stride ? give_by_parts(l, g) : give_by_place(l, g);
}

/* The largest elements of X along the last axes of its windows: BEST[k] along axes k, k + 1, ...; BEST[num_axes] is
 * X. */
static void find_largest(mst_lower *l, mst_hlo x, const windows *w, mst_hlo best[MST_MOST_WINDOW_AXES + 1]) {
    best[w->num_axes] = x;
    for (int k = w->num_axes - 1; k >= 0; k--)
        best[k] = is_all_ones(&w->axis[k]) ? best[k + 1] : reduce(l, "maximum", best[k + 1], -INFINITY, w, k, k + 1);
}

void mst_max_pool_grad_lower(mst_lower *l) {
    const mst_spec *dst = &l->dst_spec[0];
    const windows w = axes_of(l->options, &dst->shape, &l->src_spec[1].shape);
    mst_hlo best[MST_MOST_WINDOW_AXES + 1], gradient = l->src[1];
    if (!mst_shape_count(dst->shape) || !mst_shape_count(l->src_spec[1].shape)) {
        l->dst[0] = mst_hlo_fill(l, dst->dtype, dst->shape, 0);
        return;
    }
    const mst_hlo zero = mst_hlo_number(l, dst->dtype, 0);
    find_largest(l, l->src[0], &w, best);
    for (int k = 0; k < w.num_axes; k++)
        gradient = give(l, &(giving){.src = best[k + 1],
                                     .best = best[k],
                                     .gradient = gradient,
                                     .zero = zero,
                                     .dim = FIRST + k,
                                     .window = &w.axis[k]});
    l->dst[0] = gradient;
}

/* For each window along one axis, the element of VALUE at the first place where SRC is largest. VALUE and SRC have the
 * same length. Goes from the last place to the first, so that the first one wins. */
static mst_hlo pick(mst_lower *l, mst_hlo src, mst_hlo best, mst_hlo value, int dim, const mst_window *w) {
    const mst_spec spec = mst_hlo_spec(l, best);
    if (is_all_ones(w)) return value;
    mst_hlo picked = mst_hlo_fill(l, spec.dtype, spec.shape, 0);
    for (int64_t k = w->size - 1; k >= 0; k--) {
        const window_place p = window_place_of(w, k);
        if (p.count < 1) continue;
        const mst_hlo hit = is_largest(l, elements_at(l, src, dim, w, &p), of_windows(l, best, dim, w, &p));
        const mst_hlo here = for_all_windows(l, elements_at(l, value, dim, w, &p), 0, dim, w, &p);
        picked = mst_hlo_select(l, for_all_windows(l, hit, 0, dim, w, &p), here, picked);
    }
    return picked;
}

void mst_max_pool_pick_lower(mst_lower *l) {
    const mst_spec *dst = &l->dst_spec[0];
    const windows w = axes_of(l->options, &l->src_spec[0].shape, &dst->shape);
    mst_hlo best[MST_MOST_WINDOW_AXES + 1], value = l->src[1];
    if (!mst_shape_count(dst->shape) || !mst_shape_count(l->src_spec[0].shape)) {
        l->dst[0] = mst_hlo_fill(l, dst->dtype, dst->shape, 0);
        return;
    }
    find_largest(l, l->src[0], &w, best);
    for (int k = w.num_axes - 1; k >= 0; k--) value = pick(l, best[k + 1], best[k], value, FIRST + k, &w.axis[k]);
    l->dst[0] = value;
}

/* ---- the mean ---- */

/* The number of elements of each window inside the source, [1, axes, 1]; a scalar if there is no padding. It is at
 * least 1, so that windows outside the source give 0. */
static mst_hlo counts(mst_lower *l, mst_dtype dtype, const windows *w) {
    double elements = 1;
    bool is_padded = false;
    for (int k = 0; k < w->num_axes; k++) {
        elements *= (double)w->axis[k].size;
        is_padded = is_padded || w->axis[k].before || w->axis[k].after;
    }
    if (!is_padded) return mst_hlo_number(l, dtype, elements);
    mst_hlo count = mst_hlo_number(l, dtype, 1);
    for (int k = 0; k < w->num_axes; k++) {
        mst_shape line = {.ndim = w->num_axes + 2};
        for (int i = 0; i < line.ndim; i++) line.dim[i] = 1;
        line.dim[FIRST + k] = w->axis[k].in;
        const mst_hlo along = reduce(l, "add", mst_hlo_fill(l, dtype, line, 1), 0, w, k, k + 1);
        count = mst_hlo_binary(l, "multiply", count, along);
    }
    return mst_hlo_binary(l, "maximum", count, mst_hlo_number(l, dtype, 1));
}

void mst_avg_pool_lower(mst_lower *l) {
    const mst_spec *dst = &l->dst_spec[0];
    const windows w = axes_of(l->options, &l->src_spec[0].shape, &dst->shape);
    if (!mst_shape_count(dst->shape) || !mst_shape_count(l->src_spec[0].shape))
        l->dst[0] = mst_hlo_fill(l, dst->dtype, dst->shape, 0);
    else
        l->dst[0] =
            mst_hlo_binary(l, "divide", reduce(l, "add", l->src[0], 0, &w, 0, w.num_axes), counts(l, dst->dtype, &w));
}

/* For each element along axis DIM, the sum of X over the windows that contain the element. */
static mst_hlo spread(mst_lower *l, mst_hlo x, int dim, const mst_window *w) {
    if (is_all_ones(w)) return x;
    if (w->size <= w->stride) {
        const mst_hlo part = for_parts(l, x, dim, w);
        mst_shape shape = mst_hlo_spec(l, part).shape;
        shape.dim[dim + 1] = w->size;
        return join_parts(l, pad(l, mst_hlo_broadcast(l, part, shape), 0, dim + 1, 0, w->stride - w->size, 0), dim, w);
    }
    const int64_t low = w->size - 1 - w->before, span = (w->out - 1) * w->stride + 1;
    const mst_hlo apart = pad(l, x, 0, dim, low, w->in + w->size - 1 - span - low, w->stride - 1);
    mst_hlo_window window = {.size = {0}};
    for (int i = 0; i < MST_MAX_NDIM; i++) window.size[i] = 1;
    window.size[dim] = w->size;
    return mst_hlo_reduce_window(l, "add", apart, 0, &window);
}

void mst_avg_pool_grad_lower(mst_lower *l) {
    const mst_spec *dst = &l->dst_spec[0];
    const windows w = axes_of(l->options, &dst->shape, &l->src_spec[1].shape);
    if (!mst_shape_count(dst->shape) || !mst_shape_count(l->src_spec[1].shape)) {
        l->dst[0] = mst_hlo_fill(l, dst->dtype, dst->shape, 0);
        return;
    }
    mst_hlo sum = mst_hlo_binary(l, "divide", l->src[1], counts(l, dst->dtype, &w));
    for (int k = 0; k < w.num_axes; k++) sum = spread(l, sum, FIRST + k, &w.axis[k]);
    l->dst[0] = sum;
}
