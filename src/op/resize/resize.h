/** Functions that resize2d and its gradient share. They find the rows and columns of the source from which each row and
 *  column of the output is computed. */
#ifndef MUSTER_OP_RESIZE_H
#define MUSTER_OP_RESIZE_H

#include "muster/op.h"
#include "muster/ops.h"

extern const mst_field mst_resize_fields[];

/** The elements of the source, along one axis, from which an element of the output is computed:
 *  src[lower] + (src[upper] - src[lower]) * part. For MST_INTERPOLATION_AREA it is the sum of src[lower] to src[upper],
 *  each times its mst_resize_weight. */
typedef struct mst_resize_place {
    int64_t lower, upper;
    double part;
    double first, between; /**< for areas: weights of `lower`, and of elements between; `part` is that of `upper` */
} mst_resize_place;

static inline double mst_resize_weight(const mst_resize_place *place, int64_t i) {
    return i == place->lower ? place->first : i == place->upper ? place->part : place->between;
}

/** The place for element I of the OUT elements of an axis, from an axis of IN elements. */
mst_resize_place mst_resize_find(const mst_resize2d_options *o, int64_t i, int64_t in, int64_t out);
/** Checks source 0, pictures, and sets *DST to the shape of the output, of the size that the options say. */
MST_CHECKED mst_status mst_resize_infer(mst_infer *c, mst_shape *dst);
/** Bytes of the array PLACE that mst_resize_find_all fills in: the places of all rows, then of all columns of the
 *  output. IN [2] has the numbers of rows and columns of the source, OUT [2] those of the output. */
size_t mst_resize_workspace(int64_t rows, int64_t columns);
void mst_resize_find_all(const mst_resize2d_options *o, const int64_t *in, const int64_t *out, mst_resize_place *place);

/** These write resize2d and its gradient in StableHLO. */
void mst_resize_lower(mst_lower *l);
void mst_resize_grad_lower(mst_lower *l);

#endif
