/** NPZ, NumPy's format of named arrays: a ZIP archive with one NPY file for each.
 *
 *  Arrays that can be read have dtype f4, f8, i4, i8, u1 or b1 in either byte order, are row-major, and are stored or
 *  deflated. Each array is read straight into its tensor and checked against its CRC-32.
 */
#ifndef MUSTER_FORMAT_NPZ_H
#define MUSTER_FORMAT_NPZ_H

#include "format/named_tensor.h"
#include "format/pickle.h"

typedef struct mst_npz mst_npz;

/** Opens the archive at PATH. *OUT is NULL on failure: MST_NOT_FOUND, MST_IO or MST_INVALID if PATH is not a file that
 *  can be read, MST_CORRUPT if it is not an archive. */
MST_CHECKED mst_status mst_npz_open(const char *path, mst_npz **out);
/** The same from SIZE bytes at DATA, which the caller keeps until mst_npz_close; NAME stands for the path in
 *  messages. */
MST_CHECKED mst_status mst_npz_parse(const char *name, const void *data, size_t size, mst_npz **out);
/** NULL is allowed. */
void mst_npz_close(mst_npz *npz);

int64_t mst_npz_num_arrays(const mst_npz *npz);
/** The name of array I, without ".npy". */
const char *mst_npz_name(const mst_npz *npz, int64_t i);
bool mst_npz_has(const mst_npz *npz, const char *name);
/** The name of an array that differs from NAME only in upper and lower case; NULL: there is none. */
const char *mst_npz_other_case(const mst_npz *npz, const char *name);

/** Reads the array NAME. *OUT is NULL on failure: MST_NOT_FOUND, naming the arrays that there are; MST_CORRUPT if its
 *  bytes are damaged; MST_UNIMPLEMENTED for other dtypes, orders and compressions. */
MST_CHECKED mst_status mst_npz_read(const mst_npz *npz, const char *name, mst_tensor **out);

/** Whether the elements of the array NAME are Python objects. Fails as mst_npz_read does. */
MST_CHECKED mst_status mst_npz_has_objects(const mst_npz *npz, const char *name, bool *out);
/** Reads the array NAME, which has one dimension, of integers or of Python objects that are integers or lists of
 *  integers. Fails as mst_npz_read and mst_pickle_read do; OUT is empty then. */
MST_CHECKED mst_status mst_npz_read_lists(const mst_npz *npz, const char *name, mst_integer_lists *out);

/** Writes COUNT arrays to PATH, not compressed, either completely or not at all. MST_UNIMPLEMENTED if NumPy has no such
 *  dtype (bf16). */
MST_API MST_CHECKED mst_status mst_npz_write(const char *path, const mst_named_tensor *tensors, int64_t count);

#endif
