/** Bytes of an Example that are not elements of u8. */
#ifndef MUSTER_DATA_EXAMPLE_BYTES_H
#define MUSTER_DATA_EXAMPLE_BYTES_H

#include "muster/tensor.h"

/** Checks that the SIZE bytes of feature NAME may be elements of u8. MST_INVALID, naming the feature and what to do, if
 *  they are
 *    - a tensor of tf.io.serialize_tensor, or a file with arrays, such as .npy
 *    - of another number than the elements of TOLD, the shape that the Example gives, which are at least one; height
 *      and width alone may be those of a picture of three channels
 *    - without such a shape (ndim 0): bytes that look like numbers of several bytes (data/number_bytes.h)
 *    - a picture of a kind that is not read; for a LABEL, any picture
 *    - text, for a LABEL, or one byte that may be text. */
MST_CHECKED mst_status mst_example_bytes_check(const char *name, const void *data, size_t size, mst_shape told,
                                               bool label);

#endif
