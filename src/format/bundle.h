/** TensorFlow's checkpoints, version 2 ("tensor bundles"). PREFIX.index is a table that says what each tensor is and
 *  where its bytes are; PREFIX.data-00000-of-0000N have the bytes.
 *
 *  The first key of the index is empty, and its value a BundleHeader. Every other key is a tensor's name. Its value is
 *  a BundleEntry (src/format/bundle.proto) with the masked CRC-32C of the tensor's bytes. In files of
 *  tf.train.Checkpoint, tensors have paths of Python objects as names. A string tensor, "_CHECKPOINTABLE_OBJECT_GRAPH",
 *  says which variables they are. Source: tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
 */
#ifndef MUSTER_FORMAT_BUNDLE_H
#define MUSTER_FORMAT_BUNDLE_H

#include <stdbool.h>

#include "base/file.h"
#include "muster/tensor.h"

/** The value of TensorFlow's DataType for strings. */
#define MST_BUNDLE_STRING 7
#define MST_BUNDLE_OBJECT_GRAPH "_CHECKPOINTABLE_OBJECT_GRAPH"

/** TensorFlow's name of a DataType: "int16", "string". For an unknown one, writes "dtype 99" to TEXT and returns
 *  TEXT. */
enum { MST_BUNDLE_TYPE_TEXT = 24 };
const char *mst_bundle_type_name(int type, char text[MST_BUNDLE_TYPE_TEXT]);

typedef struct mst_bundle_entry {
    const char *key; /**< followed by a zero byte, which key_size does not count; keys of slices contain others */
    size_t key_size;
    int type;        /**< TensorFlow's DataType */
    mst_dtype dtype; /**< MST_NO_DTYPE: strings, or a type for which Muster has no dtype */
    mst_shape shape;
    int32_t shard;         /**< number of the data file with its bytes */
    uint64_t offset, size; /**< place of its bytes there */
    uint32_t crc;          /**< masked */
    bool sliced;           /**< a partitioned variable: it has no bytes, and each slice has an entry of its own */
    bool slice;            /**< a slice of a partitioned variable */
} mst_bundle_entry;

typedef struct mst_bundle mst_bundle;

/** Opens PREFIX.index and its data files, and checks that each tensor lies within them. *OUT is NULL on failure:
 *  MST_NOT_FOUND if a file is missing, MST_CORRUPT if one is damaged or cut off. */
MST_CHECKED mst_status mst_bundle_open(const char *prefix, mst_bundle **out);
/** The same for an index and one data file in memory, which the caller keeps until mst_bundle_close. */
MST_CHECKED mst_status mst_bundle_parse(const char *name, const void *index, size_t index_size, const void *data,
                                        size_t data_size, mst_bundle **out);
/** NULL is allowed. */
void mst_bundle_close(mst_bundle *bundle);

int64_t mst_bundle_count(const mst_bundle *bundle);
/** Entry I in the order of keys. */
const mst_bundle_entry *mst_bundle_at(const mst_bundle *bundle, int64_t i);
/** The index of the entry with key NAME; else of the entry that the object graph calls NAME. -1: there is none. The
 *  object graph may have a variable's full name, the path of its object ("model/dense/kernel"), or the name of a slot
 *  ("dense/kernel/m"). */
int64_t mst_bundle_find(const mst_bundle *bundle, const char *name);
/** The name of entry I in the object graph: a variable's full name, or the name of a slot. NULL: it has none. */
const char *mst_bundle_object_name(const mst_bundle *bundle, int64_t i);

/** The number of data files. */
int64_t mst_bundle_num_shards(const mst_bundle *bundle);
/** The number of slices of entry I, which must be sliced. */
int64_t mst_bundle_num_slices(const mst_bundle *bundle, int64_t i);

/** Reads entry I and compares its checksum with that in the index. MST_CORRUPT if they differ; MST_UNIMPLEMENTED if
 *  Muster has no dtype for it. *OUT is NULL on failure. */
MST_CHECKED mst_status mst_bundle_read(const mst_bundle *bundle, int64_t i, mst_tensor **out);
/** Reads string ELEMENT of entry I; free *OUT with free(). It is followed by a zero byte, which *SIZE does not
 *  count. */
MST_CHECKED mst_status mst_bundle_read_string(const mst_bundle *bundle, int64_t i, int64_t element, char **out,
                                              size_t *size);

/** ---- writing ------------------------------------------------------------------------------------------ */

typedef struct mst_bundle_writer mst_bundle_writer;

/** Begins a bundle with one data file. MST_EXISTS if there is a PREFIX.index: replacing it would leave, for a moment,
 *  an index and a data file that do not belong together. */
MST_CHECKED mst_status mst_bundle_writer_create(const char *prefix, mst_bundle_writer **out);
/** The same for the files NAME.index and so on in FOLDER. */
MST_CHECKED mst_status mst_bundle_writer_create_in(const mst_folder *folder, const char *name, mst_bundle_writer **out);
/** Adds a tensor. No tensor may have been added under KEY before. */
MST_CHECKED mst_status mst_bundle_writer_add(mst_bundle_writer *writer, const char *key, const mst_tensor *tensor);
/** Adds a scalar string of SIZE bytes. */
MST_CHECKED mst_status mst_bundle_writer_add_string(mst_bundle_writer *writer, const char *key, const void *data,
                                                    size_t size);
/** Syncs and renames the data, then the index. Frees WRITER, also on failure. */
MST_CHECKED mst_status mst_bundle_writer_finish(mst_bundle_writer *writer);
/** Removes what was written, and frees WRITER. NULL is allowed. */
void mst_bundle_writer_abandon(mst_bundle_writer *writer);

/** Removes NAME.index in FOLDER, then its data files. */
MST_CHECKED mst_status mst_bundle_remove(const mst_folder *folder, const char *name);

#endif
