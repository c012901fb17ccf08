/** The bytes of a tensor's strings. */
#ifndef MUSTER_TENSOR_STRING_H
#define MUSTER_TENSOR_STRING_H

#include "base/arena.h"
#include "muster/tensor.h"

/** Whether the elements of TENSOR may be set: false if they are strings that TENSOR does not own. */
bool mst_tensor_owns(const mst_tensor *tensor);
/** Sets element I of TENSOR, which owns its strings, to LENGTH bytes at DATA. TENSOR takes over DATA, a block of
 *  malloc() (NULL if LENGTH is 0). */
void mst_tensor_take_string(mst_tensor *tensor, int64_t i, char *data, size_t length);
/** Sets all elements of TENSOR, which owns its strings, to copies of the strings of the array VALUE. */
MST_CHECKED mst_status mst_tensor_copy_strings(mst_tensor *tensor, const mst_string *value);
/** Fails if an element of TENSOR is a string whose data is NULL and whose length is not 0; TENSOR may
 *  have any dtype. */
MST_CHECKED mst_status mst_tensor_check_strings(const mst_tensor *tensor);
/** Replaces the bytes of COUNT strings by copies in ARENA, each with a zero byte after it. */
MST_CHECKED mst_status mst_strings_keep(mst_arena *arena, mst_string *string, int64_t count);
/** Whether two tensors of one dtype and shape have the same elements. */
bool mst_tensor_same(const mst_tensor *a, const mst_tensor *b);
/** Bytes of the elements and, for strings, of the bytes to which they refer. */
size_t mst_tensor_all_bytes(const mst_tensor *tensor);

#endif
