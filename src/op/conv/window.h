/** Windows of convolutions and pooling. They slide over the axes between the first and the last of [n, height, width,
 *  channels] or [n, depth, height, width, channels]. */
#ifndef MUSTER_OP_CONV_WINDOW_H
#define MUSTER_OP_CONV_WINDOW_H

#include "muster/op.h"
#include "muster/ops.h"

enum { MST_WINDOW_AXES = 2, /* rows and columns */ MST_MOST_WINDOW_AXES = 3 };

/** The names of the values of mst_window_padding. */
extern const char *const mst_window_paddings[];

/** The options of an op about its windows. `strides` and `dilations` have one number for all axes, or one for each. */
typedef struct mst_window_options {
    mst_axes strides, dilations; /**< none: 1 */
    mst_axes pads;               /**< none, or two for each axis: before and after */
    mst_window_padding padding;
} mst_window_options;

/** The windows along one axis. Output o reads src[o * stride - before + k * dilation] for each k from 0 to size - 1
 *  whose index lies inside src. `in` and `out` are the lengths of source and output. */
typedef struct mst_window {
    int64_t in, out, size, stride, dilation;
    int64_t before, after; /**< elements of padding that windows read at each end */
} mst_window;

/** Sets OUT to the length of the output along each of NUM_AXES axes. IN has the lengths of the source (-1: not known
 *  yet), SIZE the lengths of a window. Fails if the options are wrong, or if a window does not fit. */
MST_CHECKED mst_status mst_window_infer(mst_infer *c, const mst_window_options *o, int num_axes, const int64_t *in,
                                        const int64_t *size, int64_t *out);
/** Describes the windows along two or three axes, whose lengths are all known. Call it after mst_window_infer. Rows and
 *  columns go to WINDOWS, the axis before them to DEPTH. With two axes, DEPTH is one element long. */
void mst_window_make(const mst_window_options *o, int num_axes, const int64_t *in, const int64_t *size,
                     const int64_t *out, mst_window *depth, mst_window windows[MST_WINDOW_AXES]);
/** Whether the source, the output or the window has more than one element along DEPTH. */
static inline bool mst_window_is_deep(const mst_window *depth) {
    return depth->in != 1 || depth->out != 1 || depth->size != 1;
}
/** Sets *FIRST and *END: for k from *FIRST to *END - 1, output O reads an element inside the source. */
static inline void mst_window_inside(const mst_window *w, int64_t o, int64_t *first, int64_t *end) {
    const int64_t at = o * w->stride - w->before;
    *first = at < 0 ? (-at + w->dilation - 1) / w->dilation : 0;
    *end = at >= w->in ? 0 : (w->in - at + w->dilation - 1) / w->dilation;
    if (*end > w->size) *end = w->size;
    if (*first > *end) *first = *end;
}

/** These functions turn an option of an op on [n, width, channels] into the option of an op on pictures of one row,
 *  [n, 1, width, channels]. NUMBER is an option such as a stride (0: default). PADS has the zeros before and after the
 *  row. */
mst_axes mst_window_row(int32_t number);
mst_axes mst_window_row_pads(mst_axes pads);

#endif
