#include "model_file/onnx/onnx_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/no_memory.h"
#include "model/describe.h"
#include "model_file/onnx/onnx_model.h"
#include "muster/session.h"

enum { MOST_ATTRIBUTES = 8, MOST_CELL_SOURCES = 8 };

/* ---- messages ---- */

static void *taken(mst_onnx_writer *w, void *memory) {
    if (!memory) w->no_memory = true;
    return memory;
}

/* Members of messages are not const, not even those that are only read. */
static char *as_text(mst_onnx_writer *w, const char *text) {
    if (!text) w->no_memory = true;
    return (char *)(uintptr_t)(text ? text : "");
}

Muster__OnnxNode *mst_onnx_node(mst_onnx_writer *w, const char *op_type, const char *output, size_t num_inputs,
                                const char *const *input) {
    Muster__OnnxNode *node = taken(w, mst_arena_alloc(&w->arena, sizeof *node));
    char **names = taken(w, mst_arena_alloc(&w->arena, (num_inputs + 1) * sizeof *names));
    Muster__OnnxAttribute **attributes =
        taken(w, mst_arena_alloc(&w->arena, MOST_ATTRIBUTES * sizeof(Muster__OnnxAttribute *)));
    if (!node || !names || !attributes ||
        mst_grow(&w->node, sizeof(Muster__OnnxNode *), w->num_nodes + 1, &w->node_capacity)) {
        w->no_memory = true;
        return NULL;
    }
    muster__onnx_node__init(node);
    for (size_t i = 0; i < num_inputs; i++) names[1 + i] = as_text(w, input[i]);
    names[0] = as_text(w, output);
    *node = (Muster__OnnxNode){.base = node->base,
                               .n_input = num_inputs,
                               .input = names + 1,
                               .n_output = 1,
                               .output = names,
                               .name = names[0],
                               .op_type = as_text(w, op_type),
                               .attribute = attributes,
                               .domain = as_text(w, "")};
    w->node[w->num_nodes++] = node;
    return node;
}

static Muster__OnnxAttribute *add_attribute(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, int type) {
    static Muster__OnnxAttribute unused; /* takes the value if memory is out */
    Muster__OnnxAttribute *a = taken(w, mst_arena_alloc(&w->arena, sizeof *a));
    if (!a || !node) return &unused;
    muster__onnx_attribute__init(a);
    a->name = as_text(w, name);
    a->type = type;
    node->attribute[node->n_attribute++] = a;
    return a;
}

void mst_onnx_set_int(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, int64_t value) {
    add_attribute(w, node, name, MST_ONNX_INT)->i = value;
}

void mst_onnx_set_float(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, float value) {
    add_attribute(w, node, name, MST_ONNX_FLOAT)->f = value;
}

void mst_onnx_set_text(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const char *text) {
    add_attribute(w, node, name, MST_ONNX_STRING)->s =
        (ProtobufCBinaryData){.len = strlen(text), .data = (uint8_t *)as_text(w, text)};
}

void mst_onnx_set_ints(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const int64_t *list, int count) {
    Muster__OnnxAttribute *a = add_attribute(w, node, name, MST_ONNX_INTS);
    a->ints = count ? taken(w, mst_arena_copy(&w->arena, list, (size_t)count * sizeof *list)) : NULL;
    a->n_ints = a->ints ? (size_t)count : 0;
}

void mst_onnx_set_floats(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const float *list, int count) {
    Muster__OnnxAttribute *a = add_attribute(w, node, name, MST_ONNX_FLOATS);
    a->floats = taken(w, mst_arena_copy(&w->arena, list, (size_t)count * sizeof *list));
    a->n_floats = a->floats ? (size_t)count : 0;
}

void mst_onnx_set_texts(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const char *const *list,
                        int count) {
    Muster__OnnxAttribute *a = add_attribute(w, node, name, MST_ONNX_STRINGS);
    a->strings = taken(w, mst_arena_alloc(&w->arena, (size_t)count * sizeof *a->strings));
    a->n_strings = a->strings ? (size_t)count : 0;
    for (size_t i = 0; i < a->n_strings; i++)
        a->strings[i] = (ProtobufCBinaryData){.len = strlen(list[i]), .data = (uint8_t *)as_text(w, list[i])};
}

void mst_onnx_set_outputs(mst_onnx_writer *w, Muster__OnnxNode *node, const char *const *list, int count) {
    char **names = taken(w, mst_arena_alloc(&w->arena, (size_t)count * sizeof *names));
    if (!node || !names) return;
    for (int i = 0; i < count; i++) names[i] = as_text(w, list[i]);
    node->output = names;
    node->n_output = (size_t)count;
}

/* ---- values ---- */

const char *mst_onnx_name(mst_onnx_writer *w, const char *text) {
    const char *name = mst_arena_string(&w->arena, text);
    for (int i = 1; name && mst_names_get(&w->names, name) >= 0; i++)
        name = mst_arena_print(&w->arena, "%s_%d", text, i);
    if (!name || mst_names_set(&w->names, name, 0)) {
        w->no_memory = true;
        return "";
    }
    return name;
}

mst_onnx_out *mst_onnx_out_of(mst_onnx_writer *w, mst_value value) {
    return &w->out[w->offset[value.node->id] + value.index];
}

static const char *add_initializer(mst_onnx_writer *w, const char *name, mst_tensor *tensor) {
    const mst_shape shape = mst_tensor_shape(tensor);
    Muster__OnnxTensor *m = taken(w, mst_arena_alloc(&w->arena, sizeof *m));
    int64_t *dims = taken(w, mst_arena_copy(&w->arena, shape.dim, sizeof shape.dim));
    if (!m || !dims ||
        mst_grow(&w->initializer, sizeof(Muster__OnnxTensor *), w->num_initializers + 1, &w->initializer_capacity)) {
        w->no_memory = true;
        return "";
    }
    muster__onnx_tensor__init(m);
    m->n_dims = (size_t)shape.ndim;
    m->dims = dims;
    m->data_type = mst_onnx_type(mst_tensor_dtype(tensor));
    m->name = as_text(w, mst_onnx_name(w, name));
    m->raw_data = (ProtobufCBinaryData){.len = mst_tensor_bytes(tensor), .data = mst_tensor_data(tensor)};
    w->initializer[w->num_initializers++] = m;
    return m->name;
}

/* Keeps TENSOR until the file is written. */
static bool keep_made(mst_onnx_writer *w, mst_tensor *tensor) {
    if (mst_grow(&w->made, sizeof(mst_tensor *), w->num_made + 1, &w->made_capacity)) {
        mst_tensor_release(tensor);
        w->no_memory = true;
        return false;
    }
    w->made[w->num_made++] = tensor;
    return true;
}

const char *mst_onnx_constant(mst_onnx_writer *w, const char *name, mst_tensor *tensor, mst_shape reshaped,
                              mst_axes perm) {
    mst_tensor *turned;
    if (mst_tensor_turn(tensor, reshaped, perm, &turned)) {
        w->no_memory = true;
        return "";
    }
    return keep_made(w, turned) ? add_initializer(w, name, turned) : "";
}

const char *mst_onnx_constant_list(mst_onnx_writer *w, const char *name, const int64_t *list, int count) {
    mst_tensor *tensor;
    if (mst_tensor_copy(MST_I64, MST_SHAPE(count), list, &tensor)) {
        w->no_memory = true;
        return "";
    }
    return keep_made(w, tensor) ? add_initializer(w, name, tensor) : "";
}

const char *mst_onnx_constant_number(mst_onnx_writer *w, const char *name, mst_dtype dtype, double value) {
    mst_tensor *tensor;
    if (mst_tensor_create(dtype, MST_SCALAR, &tensor)) {
        w->no_memory = true;
        return "";
    }
    mst_tensor_set(tensor, 0, value);
    return keep_made(w, tensor) ? add_initializer(w, name, tensor) : "";
}

static const char *write_turn(mst_onnx_writer *w, const char *from, mst_axes perm) {
    const char *name = mst_onnx_name(w, from);
    int64_t list[MST_MAX_NDIM];
    for (int i = 0; i < perm.count; i++) list[i] = perm.axis[i];
    mst_onnx_set_ints(w, mst_onnx_node(w, "Transpose", name, 1, &from), "perm", list, perm.count);
    return name;
}

const char *mst_onnx_plain_name(mst_onnx_writer *w, mst_value value) {
    mst_onnx_out *out = mst_onnx_out_of(w, value);
    if (!out->plain && out->tensor) out->plain = add_initializer(w, mst_value_name(value), out->tensor);
    if (!out->plain) out->plain = write_turn(w, out->first, mst_onnx_last_perm(mst_value_spec(value).shape.ndim));
    return out->plain;
}

const char *mst_onnx_first_name(mst_onnx_writer *w, mst_value value) {
    mst_onnx_out *out = mst_onnx_out_of(w, value);
    const mst_axes perm = mst_onnx_first_perm(mst_value_spec(value).shape.ndim);
    if (!out->first && out->tensor)
        out->first = mst_onnx_constant(w, mst_value_name(value), out->tensor, mst_tensor_shape(out->tensor), perm);
    if (!out->first) out->first = write_turn(w, out->plain, perm);
    return out->first;
}

/* ---- what is constant ---- */

/* Lists the values that are used when NODE is written. Returns their number. */
static int list_sources(const mst_node *node, const mst_value **list, mst_value own[MOST_CELL_SOURCES]) {
    mst_onnx_gates gates;
    *list = node->src;
    if (!mst_onnx_gates_of(node, &gates)) return node->num_src;
    int count = 0;
    own[count++] = gates.x;
    own[count++] = gates.kernel;
    if (!mst_value_is_none(gates.bias)) own[count++] = gates.bias;
    for (int i = 1; i < node->num_src; i++) own[count++] = node->src[i];
    *list = own;
    return count;
}

/* Marks the nodes that the outputs need, and those that depend on an input. */
static void mark(const mst_graph *graph, const mst_value *output, int num_outputs, bool *needed, bool *depends) {
    mst_value own[MOST_CELL_SOURCES];
    const mst_value *src;
    for (int i = 0; i < num_outputs; i++) needed[output[i].node->id] = true;
    for (int64_t i = graph->num_nodes - 1; i >= 0; i--) {
        const int count = needed[i] ? list_sources(graph->node[i], &src, own) : 0;
        for (int k = 0; k < count; k++) needed[src[k].node->id] = true;
    }
    for (int64_t i = 0; i < graph->num_nodes; i++) {
        depends[i] = (graph->node[i]->op->flags & MST_OP_PLACEHOLDER) != 0;
        for (int k = 0; k < graph->node[i]->num_src; k++) depends[i] |= depends[graph->node[i]->src[k].node->id];
    }
}

/* Lists, once each, the values that depend on no input but are sources of nodes that do. Returns their number. */
static int list_constants(mst_onnx_writer *w, const mst_graph *graph, const bool *needed, const bool *depends,
                          bool *seen, mst_value *list) {
    mst_value own[MOST_CELL_SOURCES];
    const mst_value *src;
    int count = 0;
    for (int64_t i = 0; i < graph->num_nodes; i++) {
        const int sources = needed[i] && depends[i] ? list_sources(graph->node[i], &src, own) : 0;
        for (int k = 0; k < sources; k++) {
            const int64_t at = w->offset[src[k].node->id] + src[k].index;
            if (depends[src[k].node->id] || seen[at]) continue;
            seen[at] = true;
            list[count++] = src[k];
        }
    }
    return count;
}

/* Copies MODEL's state to a new store. A run changes its store, but saving must not change the model. */
static mst_status copy_store(const mst_model *model, mst_store **out) {
    mst_snapshot *snapshot;
    MST_TRY(mst_store_snapshot(model->store, &snapshot));
    mst_status status = mst_store_create(out);
    if (!status) status = mst_store_restore(*out, snapshot);
    mst_snapshot_release(snapshot);
    return status;
}

static mst_status compute(mst_onnx_writer *w, const mst_model *model, mst_graph *graph, const mst_value *list,
                          int count) {
    mst_store *store = NULL;
    mst_session *session = NULL;
    mst_tensor **value = calloc((size_t)count + 1, sizeof(mst_tensor *));
    if (!value) return MST_NO_MEMORY("for a model file");
    mst_status status = copy_store(model, &store);
    if (!status) status = mst_session_create(graph, &(mst_session_options){.devices = "cpu", .store = store}, &session);
    if (!status && count) status = mst_session_run(session, NULL, 0, list, count, value);
    for (int i = 0; i < count; i++) mst_onnx_out_of(w, list[i])->tensor = value[i];
    mst_session_destroy(session);
    mst_store_release(store);
    free(value);
    return status;
}

static mst_status write_constants(mst_onnx_writer *w, mst_model *model, mst_graph *graph, const bool *needed,
                                  const bool *depends, int64_t num_values) {
    bool *seen = calloc((size_t)num_values + 1, sizeof *seen);
    mst_value *list = calloc((size_t)num_values + 1, sizeof *list);
    mst_status status = seen && list ? MST_OK : MST_NO_MEMORY("for a model file");
    if (!status) status = compute(w, model, graph, list, list_constants(w, graph, needed, depends, seen, list));
    free(seen);
    free(list);
    return status;
}

/* ---- the model ---- */

static Muster__OnnxValue *describe_value(mst_onnx_writer *w, const char *name, mst_spec spec, bool first) {
    struct value {
        Muster__OnnxValue value;
        Muster__OnnxType type;
        Muster__OnnxTensorType tensor;
        Muster__OnnxShape shape;
        Muster__OnnxDimension dim[MST_MAX_NDIM], *list[MST_MAX_NDIM];
    } *v = taken(w, mst_arena_alloc(&w->arena, sizeof *v));
    if (!v) return NULL;
    muster__onnx_value__init(&v->value);
    muster__onnx_type__init(&v->type);
    muster__onnx_tensor_type__init(&v->tensor);
    muster__onnx_shape__init(&v->shape);
    const mst_axes perm = mst_onnx_first_perm(spec.shape.ndim);
    const mst_shape last = spec.shape;
    for (int i = 0; first && i < last.ndim; i++) spec.shape.dim[i] = last.dim[perm.axis[i]];
    for (int i = 0; i < spec.shape.ndim; i++) {
        Muster__OnnxDimension *d = v->list[i] = &v->dim[i];
        muster__onnx_dimension__init(d);
        d->value_case = MUSTER__ONNX_DIMENSION__VALUE_DIM_VALUE;
        d->dim_value = spec.shape.dim[i];
        if (spec.shape.dim[i] >= 0) continue;
        d->value_case = MUSTER__ONNX_DIMENSION__VALUE_DIM_PARAM;
        d->dim_param = i ? as_text(w, mst_arena_print(&w->arena, "%s_%d", name, i)) : as_text(w, "n");
    }
    v->shape.n_dim = (size_t)spec.shape.ndim;
    v->shape.dim = v->list;
    v->tensor.elem_type = mst_onnx_type(spec.dtype);
    v->tensor.shape = &v->shape;
    v->type.tensor_type = &v->tensor;
    v->value.name = as_text(w, name);
    v->value.type = &v->type;
    return &v->value;
}

static mst_status check_types(const mst_node *node) {
    for (int i = 0; i < node->num_dst; i++)
        if (!mst_onnx_type(node->dst[i].dtype))
            return MST_FAIL(MST_UNIMPLEMENTED, "'%s' is %s, which ONNX's models are not written with", node->name,
                            mst_dtype_name(node->dst[i].dtype));
    return MST_OK;
}

/* Writes the needed nodes. Placeholders are inputs, in the order of the model's inputs. */
static mst_status write_nodes(mst_onnx_writer *w, const mst_model *model, const mst_graph *graph, const bool *needed,
                              const bool *depends, Muster__OnnxGraph *out) {
    for (int64_t i = 0; i < graph->num_nodes; i++) {
        const mst_node *node = graph->node[i];
        const mst_value value = {graph->node[i], 0};
        if (node->op->flags & MST_OP_PLACEHOLDER) {
            const bool first = mst_onnx_is_picture(node->dst[0].shape.ndim);
            const char *name = mst_onnx_name(w, mst_model_input_name(model, (int)out->n_input));
            MST_TRY(check_types(node));
            *(first ? &mst_onnx_out_of(w, value)->first : &mst_onnx_out_of(w, value)->plain) = name;
            out->input[out->n_input++] = describe_value(w, name, node->dst[0], first);
        } else if (needed[i] && depends[i]) {
            MST_TRY(check_types(node));
            MST_TRY(mst_onnx_write_node(w, node));
        }
    }
    return MST_OK;
}

static mst_status write_outputs(mst_onnx_writer *w, const mst_model *model, const mst_value *output, int count,
                                const bool *depends, Muster__OnnxGraph *out) {
    for (int i = 0; i < count; i++) {
        const mst_spec spec = mst_value_spec(output[i]);
        const bool first = mst_onnx_is_picture(spec.shape.ndim);
        const char *name = mst_onnx_name(w, mst_model_output_name(model, i));
        if (!depends[output[i].node->id]) return MST_FAIL(MST_UNIMPLEMENTED, "output '%s' depends on no input", name);
        const char *from = first ? mst_onnx_first_name(w, output[i]) : mst_onnx_plain_name(w, output[i]);
        mst_onnx_node(w, "Identity", name, 1, &from);
        out->output[out->n_output++] = describe_value(w, name, spec, first);
    }
    return MST_OK;
}

static mst_status pack_model(const char *path, Muster__OnnxGraph *graph) {
    Muster__OnnxModel model;
    Muster__OnnxOpset opset, *opsets = &opset;
    muster__onnx_model__init(&model);
    muster__onnx_opset__init(&opset);
    opset.version = MST_ONNX_OPSET;
    model.ir_version = MST_ONNX_IR;
    model.producer_name = (char *)(uintptr_t) "muster";
    model.producer_version = (char *)(uintptr_t)MST_VERSION;
    model.graph = graph;
    model.n_opset_import = 1;
    model.opset_import = &opsets;
    const size_t size = muster__onnx_model__get_packed_size(&model);
    if (size > INT32_MAX)
        return MST_FAIL(MST_INVALID, "'%s': the model would have %zu bytes, a file of ONNX has less than 2 GiB", path,
                        size);
    uint8_t *data = malloc(size + 1);
    if (!data) return MST_NO_MEMORY("for a model file");
    muster__onnx_model__pack(&model, data);
    const mst_status status = mst_file_write(path, data, size);
    free(data);
    return status;
}

static mst_status write_graph(mst_onnx_writer *w, mst_model *model, mst_graph *graph, const mst_value *output,
                              int num_outputs, const char *path) {
    Muster__OnnxGraph out;
    int64_t num_values = 0,
            *offset = taken(w, mst_arena_alloc(&w->arena, ((size_t)graph->num_nodes + 1) * sizeof *offset));
    bool *needed = taken(w, mst_arena_alloc(&w->arena, 2 * (size_t)graph->num_nodes + 1)),
         *depends = needed + graph->num_nodes;
    if (w->no_memory) return MST_NO_MEMORY("for a model file");
    memset(needed, 0, 2 * (size_t)graph->num_nodes);
    for (int64_t i = 0; i < graph->num_nodes; i++) offset[i] = num_values, num_values += graph->node[i]->num_dst;
    w->offset = offset;
    if (!(w->out = calloc((size_t)num_values + 1, sizeof *w->out))) return MST_NO_MEMORY("for a model file");
    muster__onnx_graph__init(&out);
    out.name = as_text(w, "muster");
    out.input = taken(w, mst_arena_alloc(&w->arena, (size_t)(model->num_inputs + 1) * sizeof *out.input));
    out.output = taken(w, mst_arena_alloc(&w->arena, (size_t)(num_outputs + 1) * sizeof *out.output));
    if (w->no_memory) return MST_NO_MEMORY("for a model file");
    mark(graph, output, num_outputs, needed, depends);
    mst_status status = write_constants(w, model, graph, needed, depends, num_values);
    if (!status) status = write_nodes(w, model, graph, needed, depends, &out);
    if (!status) status = write_outputs(w, model, output, num_outputs, depends, &out);
    out.n_node = (size_t)w->num_nodes;
    out.node = w->node;
    out.n_initializer = (size_t)w->num_initializers;
    out.initializer = w->initializer;
    if (!status && w->no_memory) status = MST_NO_MEMORY("for a model file");
    if (!status && path) status = pack_model(path, &out);
    for (int64_t i = 0; i < num_values; i++) mst_tensor_release(w->out[i].tensor);
    return status;
}

static void free_writer(mst_onnx_writer *w) {
    for (int64_t i = 0; i < w->num_made; i++) mst_tensor_release(w->made[i]);
    free(w->made);
    free(w->out);
    free(w->node);
    free(w->initializer);
    mst_names_free(&w->names);
    mst_arena_free(&w->arena);
}

/* Writes MODEL to PATH. If PATH is NULL, only checks that MODEL can be written. */
static mst_status write_model(mst_model *model, const char *path) {
    mst_model_description d;
    mst_onnx_writer w = {.num_nodes = 0};
    mst_value output[MST_MAX_OUTPUTS];
    mst_status status = mst_model_describe(model, &d);
    if (!status && !d.graph)
        status = MST_FAIL(MST_INVALID,
                          "the shapes of the model's inputs are not known yet: begin it with mst_input, or "
                          "train it first");
    const mst_outputs outputs = mst_model_get_outputs(model);
    for (int i = 0; i < outputs.count && !status; i++) output[i] = d.value[outputs.output[i].node];
    if (!status) status = write_graph(&w, model, d.graph, output, outputs.count, path);
    free_writer(&w);
    mst_model_forget(&d);
    return status;
}

mst_status mst_onnx_check(mst_model *model) {
    return write_model(model, NULL);
}

mst_status mst_onnx_save(mst_model *model, const char *path) {
    const mst_status status = write_model(model, path);
    return status && !strstr(mst_error()->message, path) ? mst_error_prefix("'%s'", path) : status;
}
