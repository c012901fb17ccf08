/** safetensors, the format of named tensors that Hugging Face's library reads and writes.
 *
 *      size of the header, u64 | header, JSON | data
 *      {"__metadata__": {"k": "v"},
 *       "layer1/weights": {"dtype": "F32", "shape": [784, 500], "data_offsets": [0, 1568000]}}
 *
 *  Offsets count from the beginning of the data. Tensors do not overlap and leave no gaps. Everything is little-endian
 *  and row-major.
 *  Source: github.com/huggingface/safetensors, README.md.
 */
#ifndef MUSTER_FORMAT_SAFETENSORS_H
#define MUSTER_FORMAT_SAFETENSORS_H

#include "base/file.h"
#include "format/named_tensor.h"

typedef struct mst_safetensors mst_safetensors;

/** Opens the file at PATH. *OUT is NULL on failure: MST_NOT_FOUND, MST_IO or MST_INVALID if PATH is not a file that can
 *  be read, MST_CORRUPT if it is not of this format. */
MST_CHECKED mst_status mst_safetensors_open(const char *path, mst_safetensors **out);
/** The same for the file PATH in FOLDER or its subfolders, where PATH comes from the contents of a file. MST_INVALID if
 *  PATH could lead out of FOLDER (mst_bytes_open_inside). */
MST_CHECKED mst_status mst_safetensors_open_inside(const mst_folder *folder, const char *path, mst_safetensors **out);
/** The same from SIZE bytes at DATA, which the caller keeps until mst_safetensors_close; NAME stands for the path in
 *  messages. */
MST_CHECKED mst_status mst_safetensors_parse(const char *name, const void *data, size_t size, mst_safetensors **out);
/** NULL is allowed. */
void mst_safetensors_close(mst_safetensors *file);

int64_t mst_safetensors_count(const mst_safetensors *file);
/** The name of tensor I, in the order of the data. */
const char *mst_safetensors_name(const mst_safetensors *file, int64_t i);
bool mst_safetensors_has(const mst_safetensors *file, const char *name);
/** The index of the tensor NAME; -1: there is none. */
int64_t mst_safetensors_find(const mst_safetensors *file, const char *name);
mst_shape mst_safetensors_shape(const mst_safetensors *file, int64_t i);
/** The text under KEY in the metadata; NULL: there is none. */
const char *mst_safetensors_metadata(const mst_safetensors *file, const char *key);
/** Reads tensor I. MST_UNIMPLEMENTED if Muster has no such dtype. *OUT is NULL on failure. */
MST_CHECKED mst_status mst_safetensors_read(const mst_safetensors *file, int64_t i, mst_tensor **out);
/** Reads tensor I, of dtype F32, F16 or BF16, as f32. MST_UNIMPLEMENTED if it has another dtype. *OUT is NULL on
 *  failure. */
MST_CHECKED mst_status mst_safetensors_read_f32(const mst_safetensors *file, int64_t i, mst_tensor **out);

/** Writes COUNT tensors to PATH, either completely or not at all. METADATA (may be NULL) is stored as JSON text under
 *  "muster". */
MST_CHECKED mst_status mst_safetensors_write(const char *path, const mst_named_tensor *tensors, int64_t count,
                                             const char *metadata);
/** Appends the same to FILE, which has nothing yet and which the caller commits or abandons. METADATA (may be NULL) is
 *  stored under KEY. */
MST_CHECKED mst_status mst_safetensors_append(mst_file *file, const mst_named_tensor *tensors, int64_t count,
                                              const char *key, const char *metadata);

#endif
