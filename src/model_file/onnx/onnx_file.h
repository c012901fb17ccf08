/** The contents of a file of ONNX: the message, and its constant tensors. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_FILE_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_FILE_H

#include "base/arena.h"
#include "base/folder.h"
#include "graph/names.h"
#include "model_file/onnx/onnx.pb-c.h"
#include "muster/op.h"

/** The operator sets that are read, and the one that is written; the same for versions of the format. */
enum {
    MST_ONNX_LEAST_OPSET = 13,
    MST_ONNX_LEAST_OPSET_WITH_ML = 9, /* with operators that have not changed since */
    MST_ONNX_MOST_OPSET = 25,
    MST_ONNX_OPSET = 17,
    MST_ONNX_MOST_IR = 13,
    MST_ONNX_IR = 8
};
/** Types of attributes. */
enum {
    MST_ONNX_FLOAT = 1,
    MST_ONNX_INT = 2,
    MST_ONNX_STRING = 3,
    MST_ONNX_TENSOR = 4,
    MST_ONNX_GRAPH = 5,
    MST_ONNX_FLOATS = 6,
    MST_ONNX_INTS = 7,
    MST_ONNX_STRINGS = 8
};

/** The largest number of levels of graphs inside nodes: a node of such a graph may have graphs inside too. */
enum { MST_ONNX_MOST_DEPTH = 8 };

/** A graph inside a node, such as the body of a Loop. */
typedef struct mst_onnx_inner {
    Muster__OnnxGraph *graph;
    mst_tensor **tensor; /**< [n_initializer] */
} mst_onnx_inner;

typedef struct mst_onnx_file {
    Muster__OnnxModel *model;
    const Muster__OnnxGraph *graph;
    int64_t opset;
    int64_t bytes;         /**< size of the file and of its tensors in other files */
    mst_names names;       /**< of the initializers, with their indices in TENSOR */
    mst_tensor **tensor;   /**< [n_initializer] */
    mst_onnx_inner *inner; /**< all graphs inside nodes; the field i of their attributes is the index here, or -1 */
    int64_t num_inner, inner_capacity;
} mst_onnx_file;

/** ONNX's number of a dtype, and the reverse: MST_NO_DTYPE if Muster has no such dtype. */
int32_t mst_onnx_type(mst_dtype dtype);
mst_dtype mst_onnx_dtype(int32_t type);

/** Whether the SIZE bytes of DATA begin like a file of ONNX. */
MST_API bool mst_onnx_begins(const void *data, size_t size);
/** Reads a model from SIZE bytes of DATA. NAME is the name of the file, for messages. FOLDER has the files that the
 *  model refers to (model_file/onnx/onnx_external.h); NULL: only these bytes are read. Free OUT after a failure too. */
MST_CHECKED mst_status mst_onnx_file_parse(const char *name, const mst_folder *folder, const void *data, size_t size,
                                           mst_onnx_file *out);
/** Reads the model in the file at PATH, with the files beside it that it refers to. */
MST_CHECKED mst_status mst_onnx_file_read(const char *path, mst_onnx_file *out);
void mst_onnx_file_free(mst_onnx_file *file);
/** The number of inputs that are not initializers, and the I-th of them. */
size_t mst_onnx_num_inputs(const mst_onnx_file *file);
const Muster__OnnxValue *mst_onnx_input(const mst_onnx_file *file, size_t i);
/** Makes a new tensor from MESSAGE. */
MST_CHECKED mst_status mst_onnx_tensor(const Muster__OnnxTensor *message, mst_tensor **out);

/** Whether a value of NDIM dimensions is taken for pictures or volumes, whose channels are second in ONNX. */
bool mst_onnx_is_picture(int ndim);
/** The permutation of NDIM axes from ONNX's order to channels last, and the reverse. */
mst_axes mst_onnx_last_perm(int ndim);
mst_axes mst_onnx_first_perm(int ndim);

/** Makes a new tensor: TENSOR reshaped to FROM, then transposed by PERM. */
MST_CHECKED mst_status mst_tensor_turn(mst_tensor *tensor, mst_shape from, mst_axes perm, mst_tensor **out);

/** The dtype and shape of an input or output; -1 is a dimension that is not known. MST_INVALID if they are not valid;
 *  MST_UNIMPLEMENTED for a dtype that Muster does not have. */
MST_CHECKED mst_status mst_onnx_spec(const Muster__OnnxValue *value, mst_dtype *dtype, mst_shape *shape);

#endif
