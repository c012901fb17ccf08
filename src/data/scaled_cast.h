/** Casts and scales dense arrays. */
#ifndef MUSTER_DATA_SCALED_CAST_H
#define MUSTER_DATA_SCALED_CAST_H

#include "muster/tensor.h"

/** dst[i] = T(src[i]) * T(factor) for COUNT elements, where T is the dtype of DST. The factor is ignored if DST is
 *  integer or bool. SRC and DST must not overlap. */
typedef void (*mst_convert)(const void *src, void *dst, int64_t count, double factor);

/** The conversion between two dtypes; NULL from a float dtype to an integer or bool. */
mst_convert mst_convert_find(mst_dtype from, mst_dtype to);

#endif
