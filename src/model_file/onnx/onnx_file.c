#include "model_file/onnx/onnx_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "model_file/onnx/onnx_external.h"
#include "tensor/tensor_check.h"

/* ---- dtypes ---- */

enum { MST_ONNX_TEXTS = 8 }; /* the type of tensors of texts */

static const int32_t types[MST_NUM_DTYPES] = {
    [MST_F32] = 1, [MST_U8] = 2, [MST_I32] = 6, [MST_I64] = 7, [MST_BOOL] = 9, [MST_F64] = 11, [MST_BF16] = 16,
};

int32_t mst_onnx_type(mst_dtype dtype) {
    return types[dtype];
}

mst_dtype mst_onnx_dtype(int32_t type) {
    for (int i = 1; i < MST_NUM_DTYPES; i++)
        if (types[i] && types[i] == type) return (mst_dtype)i;
    return MST_NO_DTYPE;
}

static mst_status no_dtype(const char *what, int32_t type) {
    static const char *const names[] = {"no type", "float32", "uint8",     "int8",       "uint16",  "int16",
                                        "int32",   "int64",   "string",    "bool",       "float16", "double",
                                        "uint32",  "uint64",  "complex64", "complex128", "bfloat16"};
    const bool known = type >= 0 && type < (int32_t)(sizeof names / sizeof *names);
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "%s is of the type %s (%d of ONNX), which is not supported: float32, double, int32, int64, uint8, "
                    "bool and bfloat16 are",
                    what, known ? names[type] : "of another version", (int)type);
}

/* ---- tensors ---- */

static size_t list_length(const Muster__OnnxTensor *m, mst_dtype dtype) {
    switch (dtype) {
        case MST_F32: return m->n_float_data;
        case MST_F64: return m->n_double_data;
        case MST_I64: return m->n_int64_data;
        default: return m->n_int32_data;
    }
}

static void from_list(const Muster__OnnxTensor *m, mst_tensor *tensor) {
    void *data = mst_tensor_data(tensor);
    const int64_t count = mst_tensor_count(tensor);
    switch (mst_tensor_dtype(tensor)) {
        case MST_F32: memcpy(data, m->float_data, (size_t)count * sizeof *m->float_data); return;
        case MST_F64: memcpy(data, m->double_data, (size_t)count * sizeof *m->double_data); return;
        case MST_I64: memcpy(data, m->int64_data, (size_t)count * sizeof *m->int64_data); return;
        case MST_I32: memcpy(data, m->int32_data, (size_t)count * sizeof *m->int32_data); return;
        case MST_BF16:
            for (int64_t i = 0; i < count; i++) ((uint16_t *)data)[i] = (uint16_t)m->int32_data[i];
            return;
        default:
            for (int64_t i = 0; i < count; i++) ((uint8_t *)data)[i] = (uint8_t)m->int32_data[i];
    }
}

static mst_status check_bools(const mst_tensor *tensor) {
    const uint8_t *data = mst_tensor_data(tensor);
    for (int64_t i = 0; mst_tensor_dtype(tensor) == MST_BOOL && i < mst_tensor_count(tensor); i++)
        if (data[i] > 1)
            return MST_FAIL(
                MST_CORRUPT,
                "a tensor of bool has %d as its element %lld, where 0 and 1 are possible: the file is damaged", data[i],
                (long long)i);
    return MST_OK;
}

/* The file must contain all elements, so no shape takes more memory than the file has bytes. */
mst_status mst_onnx_tensor(const Muster__OnnxTensor *m, mst_tensor **out) {
    const mst_dtype dtype = mst_onnx_dtype(m->data_type);
    mst_shape shape = {.ndim = (int32_t)m->n_dims};
    int64_t count;
    if (m->data_location || m->n_external_data)
        return MST_FAIL(
            MST_CORRUPT,
            "tensor '%.100s' has no data, neither in the model nor in a file beside it: save the model again", m->name);
    if (!dtype) return no_dtype("a tensor", m->data_type);
    if (m->n_dims > MST_MAX_NDIM)
        return MST_FAIL(MST_INVALID, "tensor '%.100s' has %zu dimensions, and at most %d are supported", m->name,
                        m->n_dims, MST_MAX_NDIM);
    if (m->n_dims) memcpy(shape.dim, m->dims, m->n_dims * sizeof *m->dims);
    MST_TRY(mst_tensor_check(dtype, shape, &count));
    const size_t have = m->raw_data.len ? m->raw_data.len / mst_dtype_size(dtype) : list_length(m, dtype);
    if (have != (size_t)count || m->raw_data.len % mst_dtype_size(dtype))
        return MST_FAIL(MST_CORRUPT, "tensor '%.100s' has %zu elements, and its shape needs %lld: the file is damaged",
                        m->name, have, (long long)count);
    MST_TRY(mst_tensor_create(dtype, shape, out));
    if (m->raw_data.len)
        memcpy(mst_tensor_data(*out), m->raw_data.data, m->raw_data.len);
    else if (count)
        from_list(m, *out);
    const mst_status status = check_bools(*out);
    if (status) {
        mst_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

bool mst_onnx_is_picture(int ndim) {
    return ndim == 4 || ndim == 5;
}

mst_axes mst_onnx_last_perm(int ndim) {
    mst_axes perm = {.count = ndim};
    for (int i = 1; i < ndim - 1; i++) perm.axis[i] = i + 1;
    if (ndim > 1) perm.axis[ndim - 1] = 1;
    return perm;
}

mst_axes mst_onnx_first_perm(int ndim) {
    mst_axes perm = {.count = ndim};
    for (int i = 2; i < ndim; i++) perm.axis[i] = i - 1;
    if (ndim > 1) perm.axis[1] = ndim - 1;
    return perm;
}

mst_status mst_tensor_turn(mst_tensor *tensor, mst_shape from, mst_axes perm, mst_tensor **out) {
    const size_t size = mst_dtype_size(mst_tensor_dtype(tensor));
    int64_t stride[MST_MAX_NDIM] = {0}, at[MST_MAX_NDIM] = {0};
    mst_shape to = {.ndim = from.ndim};
    for (int i = 0; i < from.ndim; i++) {
        to.dim[i] = from.dim[perm.axis[i]];
        stride[i] = 1;
        for (int k = perm.axis[i] + 1; k < from.ndim; k++) stride[i] *= from.dim[k];
    }
    MST_TRY(mst_tensor_create(mst_tensor_dtype(tensor), to, out));
    const char *src = mst_tensor_data(tensor);
    char *dst = mst_tensor_data(*out);
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++, dst += size) {
        int64_t offset = 0;
        for (int k = 0; k < to.ndim; k++) offset += at[k] * stride[k];
        memcpy(dst, src + (size_t)offset * size, size);
        for (int k = to.ndim - 1; k >= 0 && ++at[k] == to.dim[k]; k--) at[k] = 0;
    }
    return MST_OK;
}

mst_status mst_onnx_spec(const Muster__OnnxValue *value, mst_dtype *dtype, mst_shape *shape) {
    const Muster__OnnxTensorType *type = value->type ? value->type->tensor_type : NULL;
    if (!type)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "'%.100s' is a sequence, a map or an optional value: only tensors are supported", value->name);
    *shape = MST_SCALAR;
    if (!(*dtype = mst_onnx_dtype(type->elem_type))) return no_dtype(value->name, type->elem_type);
    if (!type->shape)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%.100s' has no shape: export the model with a known number of dimensions",
                        value->name);
    if (type->shape->n_dim > MST_MAX_NDIM)
        return MST_FAIL(MST_INVALID, "'%.100s' has %zu dimensions, and at most %d are supported", value->name,
                        type->shape->n_dim, MST_MAX_NDIM);
    shape->ndim = (int32_t)type->shape->n_dim;
    for (int i = 0; i < shape->ndim; i++) {
        const Muster__OnnxDimension *dim = type->shape->dim[i];
        const bool known = dim->value_case == MUSTER__ONNX_DIMENSION__VALUE_DIM_VALUE;
        if (known && dim->dim_value < 0)
            return MST_FAIL(MST_CORRUPT, "'%.100s' has a dimension of size %lld: the file is damaged", value->name,
                            (long long)dim->dim_value);
        shape->dim[i] = known ? dim->dim_value : -1;
    }
    return MST_OK;
}

/* ---- files ---- */

/* A protobuf message has no magic number. An ONNX message begins with its version (field 1, a small number). Then comes
 * a producer (field 2), its version (3), a domain (4), a graph (7) or an opset (8). */
bool mst_onnx_begins(const void *data, size_t size) {
    const uint8_t *byte = data;
    return size >= 4 && byte[0] == 0x08 && byte[1] >= 3 && byte[1] < 128 &&
           (byte[2] == 0x12 || byte[2] == 0x3a || byte[2] == 0x42 || byte[2] == 0x1a || byte[2] == 0x22);
}

/* Whether MODEL uses operators of ai.onnx.ml, and no others. STANDARD: it may also use the standard operators that are
 * the same in opset 9 and 13. scikit-learn's converter gives a file the lowest opset that has the file's operators. */
static bool has_unchanged(const Muster__OnnxModel *model, bool standard) {
    static const char *const unchanged[] = {"Abs",     "Add",  "ArgMax", "ArgMin",     "Cast", "Concat",
                                            "Div",     "Exp",  "Gather", "Identity",   "Log",  "MatMul",
                                            "Mul",     "Neg",  "Not",    "Reciprocal", "Relu", "Reshape",
                                            "Sigmoid", "Sqrt", "Sub",    "Sum",        "Tanh", "Transpose"};
    bool ml = false, all = true;
    for (size_t i = 0; i < model->n_opset_import; i++) ml |= strcmp(model->opset_import[i]->domain, "ai.onnx.ml") == 0;
    for (size_t i = 0; i < model->graph->n_node && all; i++) {
        const Muster__OnnxNode *node = model->graph->node[i];
        all = strcmp(node->domain, "ai.onnx.ml") == 0;
        for (size_t k = 0; standard && k < sizeof unchanged / sizeof *unchanged && !all; k++)
            all = strcmp(node->op_type, unchanged[k]) == 0;
    }
    return ml && all;
}

static mst_status check_opset(mst_onnx_file *file) {
    const Muster__OnnxModel *model = file->model;
    if (model->ir_version > MST_ONNX_MOST_IR)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "has the ir_version %lld of ONNX, and at most %d is supported: save it with a smaller one "
                        "(model.ir_version = 10; onnx.save)",
                        (long long)model->ir_version, MST_ONNX_MOST_IR);
    for (size_t i = 0; i < model->n_opset_import; i++) {
        const Muster__OnnxOpset *set = model->opset_import[i];
        if (*set->domain && strcmp(set->domain, "ai.onnx") != 0) continue;
        if (file->opset && file->opset != set->version)
            return MST_FAIL(MST_CORRUPT,
                            "has two opsets for the standard operators, %lld and %lld, and may have one: convert it "
                            "(onnx.version_converter) or export it again",
                            (long long)file->opset, (long long)set->version);
        file->opset = set->version;
    }
    if (!file->opset && has_unchanged(model, false)) file->opset = MST_ONNX_LEAST_OPSET; /* of ai.onnx.ml alone */
    if (file->opset >= MST_ONNX_LEAST_OPSET && file->opset <= MST_ONNX_MOST_OPSET) return MST_OK;
    if (file->opset >= MST_ONNX_LEAST_OPSET_WITH_ML && file->opset < MST_ONNX_LEAST_OPSET && has_unchanged(model, true))
        return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "has the opset %lld%s, and %d to %d are supported: export the model with one of these "
                    "(opset_version=17 in PyTorch)",
                    (long long)file->opset, file->opset > MST_ONNX_MOST_OPSET ? ", which is too new" : "",
                    MST_ONNX_LEAST_OPSET, MST_ONNX_MOST_OPSET);
}

/* Replaces control characters in the names of GRAPH, since they are printed. */
static void make_plain(const Muster__OnnxGraph *graph) {
    for (size_t i = 0; i < graph->n_initializer; i++) mst_make_plain(graph->initializer[i]->name);
    for (size_t i = 0; i < graph->n_input; i++) mst_make_plain(graph->input[i]->name);
    for (size_t i = 0; i < graph->n_output; i++) mst_make_plain(graph->output[i]->name);
    for (size_t i = 0; i < graph->n_node; i++) {
        const Muster__OnnxNode *node = graph->node[i];
        mst_make_plain(node->name);
        mst_make_plain(node->op_type);
        for (size_t k = 0; k < node->n_input; k++) mst_make_plain(node->input[k]);
        for (size_t k = 0; k < node->n_output; k++) mst_make_plain(node->output[k]);
        for (size_t k = 0; k < node->n_attribute; k++) mst_make_plain(node->attribute[k]->name);
    }
}

/* Whether each node of GRAPH that uses the tensor NAME of texts uses it as a list of classes, from which the class of a
 * row is picked. Also true if no node uses it. */
static bool uses_as_classes(const Muster__OnnxGraph *graph, const char *name) {
    bool is = true;
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_input; k++)
            if (strcmp(graph->node[i]->input[k], name) == 0)
                is &= k == 0 && strcmp(graph->node[i]->op_type, "ArrayFeatureExtractor") == 0;
    return is;
}

static bool is_list_of_classes(const mst_onnx_file *file, const char *name) {
    bool is = uses_as_classes(file->graph, name);
    for (int64_t i = 0; i < file->num_inner && is; i++) is = uses_as_classes(file->inner[i].graph, name);
    return is;
}

/* The names of classes become their numbers 0, 1, 2, ... */
static mst_status read_classes(const Muster__OnnxTensor *m, mst_tensor **out) {
    const int64_t count = (int64_t)m->n_string_data;
    if (m->n_dims != 1 || m->dims[0] != count)
        return MST_FAIL(MST_CORRUPT,
                        "tensor '%.100s' has %lld texts, which its shape does not have: the file is damaged", m->name,
                        (long long)count);
    MST_TRY(mst_tensor_create(MST_I64, MST_SHAPE(count), out));
    for (int64_t i = 0; i < count; i++) ((int64_t *)mst_tensor_data(*out))[i] = i;
    return MST_OK;
}

/* Frees the data of M. A tensor has a copy of the data, and a model should be in memory only once. */
static void drop_data(Muster__OnnxTensor *m) {
    free(m->raw_data.data);
    m->raw_data = (ProtobufCBinaryData){0, NULL};
}

static mst_status read_initializers(mst_onnx_file *file) {
    const Muster__OnnxGraph *graph = file->graph;
    if (!(file->tensor = calloc(graph->n_initializer + 1, sizeof *file->tensor)))
        return MST_NO_MEMORY("for a model file");
    for (size_t i = 0; i < graph->n_initializer; i++) {
        Muster__OnnxTensor *m = graph->initializer[i];
        if (mst_names_get(&file->names, m->name) >= 0)
            return MST_FAIL(MST_CORRUPT,
                            "has two tensors of the name '%.100s': the file is damaged: export the model again",
                            m->name);
        if (m->data_type == MST_ONNX_TEXTS && !m->data_location && is_list_of_classes(file, m->name))
            MST_TRY(read_classes(m, &file->tensor[i]));
        else
            MST_TRY(mst_onnx_tensor(m, &file->tensor[i]));
        drop_data(m);
        MST_TRY(mst_names_set(&file->names, m->name, (int64_t)i));
    }
    return MST_OK;
}

/* ---- graphs inside nodes ---- */

static mst_status unpack_graph(mst_onnx_file *file, Muster__OnnxAttribute *a) {
    MST_TRY(mst_grow(&file->inner, sizeof *file->inner, file->num_inner + 1, &file->inner_capacity));
    Muster__OnnxGraph *graph = muster__onnx_graph__unpack(NULL, a->g.len, a->g.data);
    if (!graph)
        return MST_FAIL(MST_CORRUPT,
                        "has a graph inside a node, in its attribute '%.60s', that is damaged: copy or save it again",
                        a->name);
    free(a->g.data);
    a->g = (ProtobufCBinaryData){0, NULL};
    make_plain(graph);
    a->i = file->num_inner;
    file->inner[file->num_inner++] = (mst_onnx_inner){.graph = graph};
    return MST_OK;
}

/* Unpacks the graphs inside the nodes of GRAPH, which is itself inside DEPTH nodes, and those inside them. */
static mst_status unpack_graphs(mst_onnx_file *file, const Muster__OnnxGraph *graph, int depth) {
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t k = 0; k < graph->node[i]->n_attribute; k++) {
            Muster__OnnxAttribute *a = graph->node[i]->attribute[k];
            if (a->type != MST_ONNX_GRAPH) continue;
            a->i = -1;
            if (!a->g.len) continue;
            if (depth == MST_ONNX_MOST_DEPTH)
                return MST_FAIL(MST_UNIMPLEMENTED,
                                "has graphs inside more than %d nodes, one in the other: export the model without so "
                                "many loops and conditions in one another",
                                MST_ONNX_MOST_DEPTH);
            MST_TRY(unpack_graph(file, a));
            MST_TRY(unpack_graphs(file, file->inner[a->i].graph, depth + 1));
        }
    }
    return MST_OK;
}

static mst_status read_inner_initializers(mst_onnx_inner *inner) {
    const Muster__OnnxGraph *graph = inner->graph;
    if (!(inner->tensor = calloc(graph->n_initializer + 1, sizeof *inner->tensor)))
        return MST_NO_MEMORY("for a model file");
    for (size_t i = 0; i < graph->n_initializer; i++) {
        MST_TRY(mst_onnx_tensor(graph->initializer[i], &inner->tensor[i]));
        drop_data(graph->initializer[i]);
    }
    return MST_OK;
}

static void free_inner(mst_onnx_inner *inner) {
    for (size_t i = 0; inner->tensor && i < inner->graph->n_initializer; i++) mst_tensor_release(inner->tensor[i]);
    free(inner->tensor);
    muster__onnx_graph__free_unpacked(inner->graph, NULL);
}

/* ---- inputs ---- */

size_t mst_onnx_num_inputs(const mst_onnx_file *file) {
    size_t count = 0;
    for (size_t i = 0; i < file->graph->n_input; i++)
        count += mst_names_get(&file->names, file->graph->input[i]->name) < 0;
    return count;
}

const Muster__OnnxValue *mst_onnx_input(const mst_onnx_file *file, size_t i) {
    size_t k = 0;
    for (; mst_names_get(&file->names, file->graph->input[k]->name) >= 0 || i-- > 0; k++) continue;
    return file->graph->input[k];
}

static mst_status parse(const mst_folder *folder, const void *data, size_t size, mst_onnx_file *file) {
    if (!size) return MST_FAIL(MST_CORRUPT, "is empty: save the model again");
    file->model = muster__onnx_model__unpack(NULL, size, data);
    if (!file->model)
        return MST_FAIL(MST_CORRUPT, "is not a complete ONNX file: it is damaged or cut off: copy or save it again");
    file->graph = file->model->graph;
    if (!file->graph) return MST_FAIL(MST_CORRUPT, "is not an ONNX model, or has no graph: check the path");
    make_plain(file->graph);
    MST_TRY(check_opset(file));
    file->bytes = (int64_t)size;
    MST_TRY(unpack_graphs(file, file->graph, 0));
    MST_TRY(mst_onnx_read_external(file, folder, &file->bytes));
    for (int64_t i = 0; i < file->num_inner; i++) MST_TRY(read_inner_initializers(&file->inner[i]));
    return read_initializers(file);
}

mst_status mst_onnx_file_parse(const char *name, const mst_folder *folder, const void *data, size_t size,
                               mst_onnx_file *out) {
    *out = (mst_onnx_file){0};
    return parse(folder, data, size, out) ? mst_error_prefix("'%s'", name) : MST_OK;
}

mst_status mst_onnx_file_read(const char *path, mst_onnx_file *out) {
    void *data;
    size_t size;
    mst_folder folder;
    const char *name;
    *out = (mst_onnx_file){0};
    MST_TRY(mst_file_read(path, INT32_MAX, &data, &size));
    mst_status status = mst_folder_open_of(path, &folder, &name);
    if (!status) status = mst_onnx_file_parse(path, &folder, data, size, out);
    mst_folder_close(&folder);
    free(data);
    return status;
}

void mst_onnx_file_free(mst_onnx_file *file) {
    for (size_t i = 0; file->tensor && i < file->graph->n_initializer; i++) mst_tensor_release(file->tensor[i]);
    free(file->tensor);
    for (int64_t i = 0; i < file->num_inner; i++) free_inner(&file->inner[i]);
    free(file->inner);
    mst_names_free(&file->names);
    if (file->model) muster__onnx_model__free_unpacked(file->model, NULL);
    *file = (mst_onnx_file){0};
}
