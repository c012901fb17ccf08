/** Code that argmax and argmin share: the search for the best element along an axis, on the threads of the device. */
#ifndef MUSTER_OP_ARG_SEARCH_H
#define MUSTER_OP_ARG_SEARCH_H

#include "base/simd.h"
#include "muster/op.h"

/** The table of options, `infer` and `workspace` of both ops. */
extern const mst_field mst_arg_search_fields[];
MST_CHECKED mst_status mst_arg_search_infer(mst_infer *c);
size_t mst_arg_search_workspace(const mst_infer *c, int num_threads);

enum {
    MST_ARG_SEARCH_LANES = 32, /**< interleaved parts of a row that are searched side by side */
    MST_ARG_SEARCH_WIDTH = 64  /**< outputs that are computed at a time */
};

/** The source as [outer, size, inner]: the search goes along the axis of `size` elements. */
typedef struct mst_arg_search_sizes {
    int64_t outer, size, inner;
} mst_arg_search_sizes;

mst_arg_search_sizes mst_arg_search_sizes_of(const mst_shape *shape, int axis);

/** Functions that search elements of one type; arg_search_loops.inc defines them. A place is an index along the
 *  axis. */
typedef struct mst_arg_searcher {
    /** Rows of SRC have N contiguous elements. Writes the place of the best element of row BEGIN to AT[0], of row
     *  BEGIN + 1 to AT[1], and so on to row END - 1. */
    void (*in_rows)(const void *src, int64_t n, int64_t begin, int64_t end, int64_t *at);
    /** For each of N neighbouring columns, whose elements are STRIDE apart, writes the place of the best element of
     *  rows BEGIN to END - 1 to AT. SRC points to element 0 of the first column. */
    void (*in_columns)(const void *src, int64_t stride, int64_t n, int64_t begin, int64_t end, int64_t *at);
    /** For each of N columns, as above: sets AT[j] to OTHER[j], a later place, if the element at OTHER[j] is better. */
    void (*join)(const void *src, int64_t stride, int64_t n, const int64_t *other, int64_t *at);
} mst_arg_searcher;

/** Finds the places of the best elements of source 0 and writes them to output 0. */
MST_CHECKED mst_status mst_arg_search(const mst_kernel_args *a, const mst_arg_searcher *searcher);
/** The `lower` of both ops. */
void mst_arg_search_lower(mst_lower *l, bool largest);

#endif
