/** HDF5 files. The module `hdf5` (module/module.h) reads and writes them in memory, so names in a file cannot reach
 *  anything outside of it.
 *
 *  Features that Keras does not write are not supported. Among them are links that are not hard, external and virtual
 *  data, arrays much larger than their stored bytes, and strings as data. */
#ifndef MUSTER_FORMAT_HDF5_H
#define MUSTER_FORMAT_HDF5_H

#include "muster/tensor.h"

/** An array of f32, f64 or i64; integers of any size become i64. */
typedef struct mst_hdf5_array {
    const char *path; /**< "/layers/dense/vars/0" */
    mst_dtype dtype;
    mst_shape shape;
    const void *data; /**< only for writing */
} mst_hdf5_array;

/** An attribute of text. */
typedef struct mst_hdf5_text {
    const char *path; /**< path of the group or array that has the attribute: "/" */
    const char *name;
    const char *const *text; /**< [count], UTF-8 */
    int64_t count;
    bool list; /**< true: an array of strings; false: one string, and `count` is 1 */
} mst_hdf5_text;

/** Called with the contents of a file, in the order of its tree. */
typedef struct mst_hdf5_visitor {
    void *context;
    /** Sets *DATA to memory for the elements of ARRAY. */
    mst_status (*array)(void *context, const mst_hdf5_array *array, void **data);
    mst_status (*text)(void *context, const mst_hdf5_text *text);
} mst_hdf5_visitor;

/** Takes the SIZE bytes of a file. */
typedef mst_status (*mst_hdf5_put)(void *sink, const void *data, size_t size);

/** The interface of the module. */
typedef struct mst_hdf5_codec {
    /** Reads the file in SIZE bytes at DATA; NAME stands for it in messages. MST_CORRUPT if it is damaged or no HDF5
     *  file, MST_UNIMPLEMENTED if it has something that is not supported. */
    mst_status (*read)(const char *name, const void *data, size_t size, const mst_hdf5_visitor *visitor);
    /** Makes a file with these arrays and texts, and passes its bytes to PUT in one call. The path of a text is a
     *  group, which is created if it does not exist. */
    mst_status (*write)(const mst_hdf5_array *arrays, int64_t num_arrays, const mst_hdf5_text *texts, int64_t num_texts,
                        mst_hdf5_put put, void *sink);
} mst_hdf5_codec;

#endif
