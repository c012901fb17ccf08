/** What resize2d and its gradient share: the rows and columns of the source that make each row and column of the
 *  output. */
#ifndef MUSTER_OP_RESIZE_H
#define MUSTER_OP_RESIZE_H

#include "muster/op.h"
#include "muster/ops.h"

extern const mst_field mst_resize_fields[];

/** An element of the output is lower + (upper - lower) * part of two of the source; of MST_INTERPOLATION_AREA the sum
 *  of those from lower to upper, each times its mst_resize_weight. */
typedef struct mst_resize_place {
    int64_t lower, upper;
    double part;
    double first, between; /**< weights of lower, and of those between lower and upper; that of upper is part */
} mst_resize_place;

static inline double mst_resize_weight(const mst_resize_place *place, int64_t i) {
    return i == place->lower ? place->first : i == place->upper ? place->part : place->between;
}

/** Of element I of OUT, along an axis of IN elements. */
mst_resize_place mst_resize_find(const mst_resize2d_options *o, int64_t i, int64_t in, int64_t out);
/** Source 0, pictures, to an output of the size that the options say. */
MST_CHECKED mst_status mst_resize_infer(mst_infer *c, mst_shape *dst);
/** Places of all rows, then of all columns of the output. */
size_t mst_resize_workspace(int64_t rows, int64_t columns);
void mst_resize_find_all(const mst_resize2d_options *o, const int64_t *in, const int64_t *out, mst_resize_place *place);

#endif
