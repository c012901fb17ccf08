/** NPY, NumPy's format of one array. Here: the header, without the elements.
 *
 *      byte 0..5  93 'N' 'U' 'M' 'P' 'Y'
 *      byte 6, 7  version: 1, 2 or 3, and 0
 *      then       length of the text, u16 (version 1) or u32, little-endian
 *      then       text: {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), } and padding
 *      then       the elements
 *
 *  Source: numpy/lib/format.py, NEP 1.
 */
#ifndef MUSTER_FORMAT_NPY_H
#define MUSTER_FORMAT_NPY_H

#include <stdbool.h>

#include "muster/tensor.h"

enum { MST_NPY_PREFIX = 8, MST_NPY_HEADER = 512 };

typedef struct mst_npy {
    mst_dtype dtype; /**< MST_NO_DTYPE: Python objects */
    bool big_endian;
    mst_shape shape;
} mst_npy;

/** Finds how many bytes the length of the text takes, 2 or 4, from the first MST_NPY_PREFIX bytes. NAME is for
 *  messages. */
MST_CHECKED mst_status mst_npy_prefix(const char *name, const unsigned char prefix[MST_NPY_PREFIX], int *length_size);
/** Parses the SIZE bytes of TEXT. Fails with MST_CORRUPT if they are not such a text; with MST_UNIMPLEMENTED, saying
 *  what to convert to, if the elements have no dtype here or are stored column by column. */
MST_CHECKED mst_status mst_npy_parse(const char *name, const char *text, size_t size, mst_npy *out);

/** The same, but elements may also be Python objects, which follow as a pickle (format/pickle.h). */
MST_CHECKED mst_status mst_npy_parse_any(const char *name, const char *text, size_t size, mst_npy *out);

/** Reads the array in the file at PATH, which the caller then owns; NULL after a failure. Fails as mst_file_read and
 *  mst_npy_parse do, and with MST_CORRUPT if the file is longer or shorter than its header says. */
MST_CHECKED mst_status mst_npy_read(const char *path, mst_tensor **out);

/** Writes the header, version 1, of an array like TENSOR. Returns its size, a multiple of 64, or 0 if NumPy has no such
 *  dtype. */
MST_API size_t mst_npy_header(const mst_tensor *tensor, char header[MST_NPY_HEADER]);
/** Writes TENSOR to PATH, either completely or not at all. MST_UNIMPLEMENTED if NumPy has no such dtype (bf16). */
MST_API MST_CHECKED mst_status mst_npy_write(const char *path, const mst_tensor *tensor);

#endif
