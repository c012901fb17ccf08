/** IDX, the format of the MNIST files: a dense array of one element type.
 *
 *      byte 0, 1  zero
 *      byte 2     element type: 08 u8, 0C i32, 0D f32, 0E f64 (09 i8 and 0B i16 have no dtype here)
 *      byte 3     number of dimensions
 *      then       each dimension as u32, then the elements, row-major; all of it big-endian
 *
 *  Source: Y. LeCun, "The MNIST database of handwritten digits", file formats.
 */
#ifndef MUSTER_FORMAT_IDX_H
#define MUSTER_FORMAT_IDX_H

#include "muster/tensor.h"

/** Reads the array in the file at PATH, plain or gzip (recognised by its first bytes). Elements are as stored, but in
 *  the byte order of this machine. *OUT is NULL on failure: MST_NOT_FOUND, MST_IO or MST_INVALID if PATH is not a file
 *  that can be read, MST_CORRUPT if its bytes are not IDX, MST_UNIMPLEMENTED for element types without a dtype. */
MST_CHECKED mst_status mst_idx_read(const char *path, mst_tensor **out);
/** The same from SIZE bytes at DATA; NAME stands for the path in messages. */
MST_CHECKED mst_status mst_idx_parse(const char *name, const void *data, size_t size, mst_tensor **out);
/** Writes TENSOR to PATH, not compressed, either completely or not at all. MST_UNIMPLEMENTED if IDX has no such
 *  dtype. */
MST_CHECKED mst_status mst_idx_write(const char *path, const mst_tensor *tensor);

#endif
