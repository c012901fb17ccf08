/** TensorFlow's checkpoints, version 2 ("tensor bundles"): PREFIX.index, a table that says of each tensor what it is
 *  and where, and PREFIX.data-00000-of-0000N, the tensors' bytes.
 *
 *  The first key of the index is empty, its value a BundleHeader; each other key is a tensor's name, its value a
 *  BundleEntry (src/format/bundle.proto) with the masked CRC-32C of its bytes. tf.train.Checkpoint names its tensors by
 *  paths of Python objects; a string tensor, "_CHECKPOINTABLE_OBJECT_GRAPH", says which variables they are.
 *  Source: tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
 */
#ifndef MUSTER_FORMAT_BUNDLE_H
#define MUSTER_FORMAT_BUNDLE_H

#include <stdbool.h>

#include "base/file.h"
#include "muster/tensor.h"

/** TensorFlow's DataType of strings. */
#define MST_BUNDLE_STRING 7
#define MST_BUNDLE_OBJECT_GRAPH "_CHECKPOINTABLE_OBJECT_GRAPH"

/** TensorFlow's name of a DataType: "int16", "string"; "dtype 99" for one that is not known, in TEXT. */
enum { MST_BUNDLE_TYPE_TEXT = 24 };
const char *mst_bundle_type_name(int type, char text[MST_BUNDLE_TYPE_TEXT]);

typedef struct mst_bundle_entry {
    const char *key; /**< ended by a 0, which is not counted; keys of slices hold others */
    size_t key_size;
    int type;        /**< TensorFlow's DataType */
    mst_dtype dtype; /**< MST_NO_DTYPE: Muster has none for it, or the entry is of strings */
    mst_shape shape;
    int32_t shard;
    uint64_t offset, size;
    uint32_t crc; /**< masked */
    bool sliced;  /**< a partitioned variable: its slices are entries of their own, and it has no bytes */
    bool slice;   /**< one of those */
} mst_bundle_entry;

typedef struct mst_bundle mst_bundle;

/** Opens PREFIX.index and its data files, and checks that each tensor lies within them. *OUT is NULL on failure:
 *  MST_NOT_FOUND where a file is missing, MST_CORRUPT where one is damaged or cut off. */
MST_CHECKED mst_status mst_bundle_open(const char *prefix, mst_bundle **out);
/** The same of an index and one data file in memory, which the caller keeps until the close. */
MST_CHECKED mst_status mst_bundle_parse(const char *name, const void *index, size_t index_size, const void *data,
                                        size_t data_size, mst_bundle **out);
/** NULL is allowed. */
void mst_bundle_close(mst_bundle *bundle);

int64_t mst_bundle_count(const mst_bundle *bundle);
/** Entry I in the order of keys. */
const mst_bundle_entry *mst_bundle_at(const mst_bundle *bundle, int64_t i);
/** The entry of a key; else that which the object graph calls by NAME: a variable's full name, the path of its object
 *  ("model/dense/kernel"), or a slot ("dense/kernel/m"). -1 where there is none. */
int64_t mst_bundle_find(const mst_bundle *bundle, const char *name);
/** The name by which the object graph knows entry I: a variable's full name, or that of a slot; NULL where it has
 *  none. */
const char *mst_bundle_object_name(const mst_bundle *bundle, int64_t i);

/** The data files. */
int64_t mst_bundle_num_shards(const mst_bundle *bundle);
/** How many slices of entry I there are, which is sliced. */
int64_t mst_bundle_num_slices(const mst_bundle *bundle, int64_t i);

/** Reads entry I, whose bytes must have the check sum of the index. MST_CORRUPT where they have another;
 *  MST_UNIMPLEMENTED where Muster has no dtype for it. *OUT is NULL on failure. */
MST_CHECKED mst_status mst_bundle_read(const mst_bundle *bundle, int64_t i, mst_tensor **out);
/** Reads string ELEMENT of entry I, to be freed with free(); it is ended by a 0, which is not counted. */
MST_CHECKED mst_status mst_bundle_read_string(const mst_bundle *bundle, int64_t i, int64_t element, char **out,
                                              size_t *size);

/** ---- writing ------------------------------------------------------------------------------------------ */

typedef struct mst_bundle_writer mst_bundle_writer;

/** Begins a bundle in one data file. MST_EXISTS where there is a PREFIX.index: of two files that belong together one
 *  would be the old one for a moment. */
MST_CHECKED mst_status mst_bundle_writer_create(const char *prefix, mst_bundle_writer **out);
/** The same of the files NAME.index and so on of FOLDER. */
MST_CHECKED mst_status mst_bundle_writer_create_in(const mst_folder *folder, const char *name, mst_bundle_writer **out);
/** Adds a tensor, under a key that has not been added. */
MST_CHECKED mst_status mst_bundle_writer_add(mst_bundle_writer *writer, const char *key, const mst_tensor *tensor);
/** Adds a scalar string of SIZE bytes. */
MST_CHECKED mst_status mst_bundle_writer_add_string(mst_bundle_writer *writer, const char *key, const void *data,
                                                    size_t size);
/** Syncs and renames the data, then the index. The writer is gone, whatever comes of it. */
MST_CHECKED mst_status mst_bundle_writer_finish(mst_bundle_writer *writer);
/** Removes what was written. NULL is allowed. */
void mst_bundle_writer_abandon(mst_bundle_writer *writer);

/** Removes NAME.index of FOLDER, then its data files. */
MST_CHECKED mst_status mst_bundle_remove(const mst_folder *folder, const char *name);

#endif
