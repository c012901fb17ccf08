/** Code that pooling over two and over three axes shares: options, shapes, and loops over channels. The same gradient
 *  ops serve two and three axes:
 *
 *      max_pool2d(src)          max_pool2d_grad(src, gradient)        max_pool2d_grad_grad(src, gradient)
 *      avg_pool2d(src)          avg_pool2d_grad(src, gradient)        of src only the shape is read
 *
 *  For a given src, the gradient ops are linear in the gradient. max_pool2d_grad_grad takes, for each window, the
 *  element of the gradient at the place where src is largest; it is the transpose of max_pool2d_grad. */
#ifndef MUSTER_OP_POOL_POOL_H
#define MUSTER_OP_POOL_POOL_H

#include "op/conv/conv.h"

extern const mst_field mst_pool_fields[];

/** These infer dst[0] of a pooling of source 0: over two axes, and over three. */
MST_CHECKED mst_status mst_pool_infer(mst_infer *c);
MST_CHECKED mst_status mst_pool_infer_deep(mst_infer *c);
/** The same, over two axes or three: as many as source 0 has. */
MST_CHECKED mst_status mst_pool_infer_any(mst_infer *c);
/** Infers dst[0], which is like source 0. Source 1 is the gradient of the output. */
MST_CHECKED mst_status mst_pool_infer_grad(mst_infer *c);

/** The windows and channels of one example. */
typedef struct mst_pool {
    mst_window depth;                   /**< one element long if there are only two axes */
    mst_window window[MST_WINDOW_AXES]; /**< rows, columns */
    int64_t channels;
} mst_pool;
/** The pixels of one window that are inside the source. */
typedef struct mst_pool_window {
    int64_t first;                 /**< the number of the first pixel in the source */
    int64_t slices, rows, columns; /**< numbers of slices, rows and columns inside the source */
    int64_t count;                 /**< slices * rows * columns */
} mst_pool_window;
static inline int64_t mst_pool_num_windows(const mst_pool *pool) {
    return pool->depth.out * pool->window[0].out * pool->window[1].out;
}
/** The number of pixels of the source. */
static inline int64_t mst_pool_size(const mst_pool *pool) {
    return pool->depth.in * pool->window[0].in * pool->window[1].in;
}
/** Whether each window is two neighbouring pixels of a row, and windows neither overlap nor reach beyond the source.
 *  These are the windows of a pooling over one axis with size 2 and the default stride. */
static inline bool mst_pool_is_of_pairs(const mst_pool *pool) {
    const mst_window *h = &pool->window[0], *w = &pool->window[1];
    return !mst_window_is_deep(&pool->depth) && h->size == 1 && h->stride == 1 && h->before == 0 && h->out == h->in &&
           w->size == 2 && w->stride == 2 && w->dilation == 1 && w->before == 0 && 2 * w->out <= w->in;
}
/** Window O, numbered over the slices, rows and columns of the output. With small windows, divisions take most of the
 *  time. So here and in mst_pool_pixel, the divisions for the depth are done only if there is a depth. */
static inline mst_pool_window mst_pool_window_at(const mst_pool *pool, int64_t o) {
    const mst_window *d = &pool->depth, *h = &pool->window[0], *w = &pool->window[1];
    int64_t row = o / w->out, slice = 0, first_z = 0, end_z = 1, first_y, end_y, first_x, end_x;
    const int64_t column = o % w->out;
    if (mst_window_is_deep(d)) {
        slice = row / h->out;
        row -= slice * h->out;
        mst_window_inside(d, slice, &first_z, &end_z);
    }
    mst_window_inside(h, row, &first_y, &end_y);
    mst_window_inside(w, column, &first_x, &end_x);
    const int64_t z = slice * d->stride - d->before + first_z, y = row * h->stride - h->before + first_y;
    return (mst_pool_window){.first = (z * h->in + y) * w->in + column * w->stride - w->before + first_x,
                             .slices = end_z - first_z,
                             .rows = end_y - first_y,
                             .columns = end_x - first_x,
                             .count = (end_z - first_z) * (end_y - first_y) * (end_x - first_x)};
}
/** The number in the source of pixel K of a window. */
static inline int64_t mst_pool_pixel(const mst_pool *pool, const mst_pool_window *w, int64_t k) {
    const int64_t row = k / w->columns, width = pool->window[1].in;
    const int64_t at = w->first + row * width + k % w->columns;
    return w->slices <= 1 ? at : at + row / w->rows * (pool->window[0].in - w->rows) * width;
}
/** Describes the pooling with options O of a source and an output of these shapes. */
mst_pool mst_pool_make(const mst_pool2d_options *o, const mst_shape *src, const mst_shape *dst);

/** These add a node of the pooling OP, or of its gradient, with the options of another pooling. */
mst_value mst_pool_again(const mst_op *op, const mst_pool2d_options *options, mst_value src);
mst_value mst_pool_with_gradient(const mst_op *op, const mst_pool2d_options *options, mst_value src,
                                 mst_value gradient);
/** Adds a node of the pooling OP on pictures of one row. */
mst_value mst_pool_row(const mst_op *op, const mst_pool1d_options *options);

/** Computes DST of one example from SRC and GRADIENT; GRADIENT is NULL if the op is no gradient. mst_max_pool_pick is
 *  the loop of max_pool2d_grad_grad. */
typedef void (*mst_pool_function)(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_max_pool_f32(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_max_pool_f64(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_max_pool_grad_f32(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_max_pool_grad_f64(const mst_pool *pool, const void *src, const void *gradient, void *dst);
/** As mst_max_pool_grad, but the gradient goes only to elements above 0. */
void mst_max_pool_relu_grad_f32(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_max_pool_relu_grad_f64(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_max_pool_pick_f32(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_max_pool_pick_f64(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_avg_pool_f32(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_avg_pool_f64(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_avg_pool_grad_f32(const mst_pool *pool, const void *src, const void *gradient, void *dst);
void mst_avg_pool_grad_f64(const mst_pool *pool, const void *src, const void *gradient, void *dst);
/** A kernel: for each example, calls FUNCTIONS[0] if the output is f32, FUNCTIONS[1] if it is f64. Windows go over
 *  source 0. */
mst_status mst_pool_run(const mst_kernel_args *a, const mst_pool_function functions[2]);

/** These write the ops in StableHLO. */
void mst_max_pool_lower(mst_lower *l);
void mst_max_pool_grad_lower(mst_lower *l);
void mst_max_pool_pick_lower(mst_lower *l);
void mst_avg_pool_lower(mst_lower *l);
void mst_avg_pool_grad_lower(mst_lower *l);

#endif
