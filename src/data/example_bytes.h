/** Recognises bytes of an Example that are not elements of u8. */
#ifndef MUSTER_DATA_EXAMPLE_BYTES_H
#define MUSTER_DATA_EXAMPLE_BYTES_H

#include "data/number_bytes.h"
#include "muster/tensor.h"

/** Checks that the SIZE bytes of feature NAME may be elements of u8. TOLD is the shape that the Example gives, with at
 *  least one element; ndim 0: it gives none. Fails with MST_INVALID, naming the feature and what to do, if the bytes
 *  are
 *    - a tensor from tf.io.serialize_tensor, or a file with arrays, such as .npy
 *    - more or fewer than the elements of TOLD
 *    - a picture of a kind that is not read; for a LABEL, any picture
 *    - for a LABEL: text, or one byte that may be text. */
MST_CHECKED mst_status mst_example_bytes_check(const char *name, const void *data, size_t size, mst_shape told,
                                               bool label);

/** The same for bytes whose shape the Example does not give: MST_INVALID if LOOK found that they look like numbers of
 *  several bytes each. */
MST_CHECKED mst_status mst_example_bytes_check_look(const char *name, const mst_number_look *look);

#endif
