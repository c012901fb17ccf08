/** Bytes of an Example that are no elements of u8. */
#ifndef MUSTER_DATA_EXAMPLE_BYTES_H
#define MUSTER_DATA_EXAMPLE_BYTES_H

#include "muster/tensor.h"

/** Whether the SIZE bytes of feature NAME may be elements of u8. MST_INVALID, naming the feature and what to do, where
 *  they are a tensor of tf.io.serialize_tensor; where they are two, four or eight bytes for each element of TOLD, the
 *  shape that the Example tells (ndim 0: none); where they are a picture of a kind that is not read, or, of a LABEL, of
 *  any; and where they are the text of a label. */
MST_CHECKED mst_status mst_example_bytes_check(const char *name, const void *data, size_t size, mst_shape told,
                                               bool label);

#endif
