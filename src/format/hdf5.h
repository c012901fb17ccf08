/** HDF5 files are read and written by the module `hdf5` (module/module.h), from and to memory: names in a file reach
 *  nothing outside of it.
 *
 *  What is not taken: links that are not hard, external and virtual data, arrays that are larger than what is stored of
 *  them, strings as data, and what else Keras does not write. */
#ifndef MUSTER_FORMAT_HDF5_H
#define MUSTER_FORMAT_HDF5_H

#include "muster/tensor.h"

/** An array: f32, f64 or, of integers of any size, i64. */
typedef struct mst_hdf5_array {
    const char *path; /**< "/layers/dense/vars/0" */
    mst_dtype dtype;
    mst_shape shape;
    const void *data; /**< only when written */
} mst_hdf5_array;

/** An attribute of text. */
typedef struct mst_hdf5_text {
    const char *path; /**< of the group or array that has it: "/" */
    const char *name;
    const char *const *text; /**< [count], UTF-8 */
    int64_t count;
    bool list; /**< an array of strings; else COUNT is 1 */
} mst_hdf5_text;

/** What a file has, in the order of its tree. */
typedef struct mst_hdf5_visitor {
    void *context;
    /** Gives the memory for the array's elements in *DATA. */
    mst_status (*array)(void *context, const mst_hdf5_array *array, void **data);
    mst_status (*text)(void *context, const mst_hdf5_text *text);
} mst_hdf5_visitor;

typedef mst_status (*mst_hdf5_put)(void *sink, const void *data, size_t size);

/** The interface of the module. */
typedef struct mst_hdf5_codec {
    /** Reads the file of SIZE bytes at DATA; NAME stands for it in messages. MST_CORRUPT where it is damaged or no
     *  HDF5 file, MST_UNIMPLEMENTED where it has what is not taken. */
    mst_status (*read)(const char *name, const void *data, size_t size, const mst_hdf5_visitor *visitor);
    /** Gives the bytes of a file with these arrays and texts to PUT, in one call. A text's path is a group that is made
     *  where there is none. */
    mst_status (*write)(const mst_hdf5_array *arrays, int64_t num_arrays, const mst_hdf5_text *texts, int64_t num_texts,
                        mst_hdf5_put put, void *sink);
} mst_hdf5_codec;

#endif
