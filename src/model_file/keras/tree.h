/** The contents of a Keras HDF5 file, in memory. */
#ifndef MUSTER_MODEL_FILE_KERAS_TREE_H
#define MUSTER_MODEL_FILE_KERAS_TREE_H

#include "base/arena.h"
#include "muster/tensor.h"

typedef struct mst_keras_array {
    const char *path;
    mst_tensor *tensor;
} mst_keras_array;

/** The attribute NAME of the group or array at PATH. */
typedef struct mst_keras_text {
    const char *path, *name;
    const char *const *text; /**< [count] */
    int64_t count;
    bool list; /**< true: an array of texts; false: one text, and `count` is 1 */
} mst_keras_text;

/** A tree in which all members are 0 is empty. */
typedef struct mst_keras_tree {
    mst_arena arena;
    mst_keras_array *array;
    int64_t num_arrays, array_capacity;
    mst_keras_text *text;
    int64_t num_texts, text_capacity;
} mst_keras_tree;

/** Reads SIZE bytes of DATA with the module `hdf5`. NAME is the name of the file, for messages. FILE_SIZE is the size
 *  of the file, from which DATA may have been unpacked. MST_CORRUPT if all arrays together have more than
 *  MST_DEFLATE_MAX_RATIO * FILE_SIZE bytes. Free OUT also after a failure. */
MST_CHECKED mst_status mst_keras_tree_read(const char *name, const void *data, size_t size, uint64_t file_size,
                                           mst_keras_tree *out);
void mst_keras_tree_free(mst_keras_tree *tree);
/** The array at PATH, and the text NAME at PATH; NULL if there is none. */
mst_tensor *mst_keras_tree_array(const mst_keras_tree *tree, const char *path);
const mst_keras_text *mst_keras_tree_text(const mst_keras_tree *tree, const char *path, const char *name);
/** Whether there are texts NAME at PATH, in one list or split. */
bool mst_keras_tree_has_texts(const mst_keras_tree *tree, const char *path, const char *name);
/** Calls USE with each text of the list NAME at PATH, even if Keras has split a long list into NAME0, NAME1, ... */
MST_CHECKED mst_status mst_keras_tree_each_text(const mst_keras_tree *tree, const char *path, const char *name,
                                                mst_status (*use)(void *context, const char *text), void *context);

/** Adds an array or a text to be written. The tensor is retained. */
MST_CHECKED mst_status mst_keras_tree_add(mst_keras_tree *tree, const char *path, mst_tensor *tensor);
MST_CHECKED mst_status mst_keras_tree_add_text(mst_keras_tree *tree, const char *path, const char *name,
                                               const char *text);
/** Adds a list of texts. Like Keras, splits it into NAME0, NAME1, ... if it is too long for HDF5. */
MST_CHECKED mst_status mst_keras_tree_add_list(mst_keras_tree *tree, const char *path, const char *name,
                                               const char *const *text, int64_t count);
/** The bytes of an HDF5 file, to be freed with free(). */
MST_CHECKED mst_status mst_keras_tree_write(const mst_keras_tree *tree, void **data, size_t *size);

#endif
