/** NPY, NumPy's format of one array: the header, without the elements.
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
    mst_dtype dtype; /**< MST_NO_DTYPE: objects of Python */
    bool big_endian;
    mst_shape shape;
} mst_npy;

/** From the first MST_NPY_PREFIX bytes: how many bytes the length of the text takes, 2 or 4. Messages name NAME. */
MST_CHECKED mst_status mst_npy_prefix(const char *name, const unsigned char prefix[MST_NPY_PREFIX], int *length_size);
/** Parses SIZE bytes of TEXT. Fails with MST_CORRUPT where it is not such a text; with MST_UNIMPLEMENTED, saying what
 *  to convert to, where the elements have no dtype here or are stored column by column. */
MST_CHECKED mst_status mst_npy_parse(const char *name, const char *text, size_t size, mst_npy *out);

/** The same, but elements may also be objects of Python, which follow as a pickle (format/pickle.h). */
MST_CHECKED mst_status mst_npy_parse_any(const char *name, const char *text, size_t size, mst_npy *out);

/** The array of the file at PATH, owned by the caller; NULL after a failure: as mst_file_read fails, as mst_npy_parse,
 *  and with MST_CORRUPT where the file is longer or shorter than its header says. */
MST_CHECKED mst_status mst_npy_read(const char *path, mst_tensor **out);

/** Writes the header of an array like TENSOR, of version 1. Returns its size, a multiple of 64, or 0 where NumPy has no
 *  such dtype. */
MST_API size_t mst_npy_header(const mst_tensor *tensor, char header[MST_NPY_HEADER]);
/** Writes TENSOR to PATH, whole or not at all. MST_UNIMPLEMENTED where NumPy has no such dtype (bf16). */
MST_API MST_CHECKED mst_status mst_npy_write(const char *path, const mst_tensor *tensor);

#endif
