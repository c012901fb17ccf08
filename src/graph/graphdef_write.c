/* A graph to TensorFlow's GraphDef. The messages are made in an arena and refer to the strings and tensors of the
 * graph.
 *
 * An attribute for each option that is not 0, by its name:
 *
 *      bool b, i32 i64 u64 i (u64 as the i64 of the same bits), f32 f, f64 tensor (a double: AttrValue has none),
 *      dtype type, shape shape, axes list of i, string s, tensor tensor, enum s (its name), value s ("node:1")
 *
 * and those that TensorFlow's own ops of the kind have: T, N, dtype, _output_shapes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/graphdef.h"
#include "graph/type_name.h"

/* Any of the versions of TensorFlow 1 and 2 would do: those that read the file ask for no more than 0. */
enum { PRODUCER = 134 };

typedef struct writer {
    const mst_graph *graph;
    mst_arena arena;
} writer;

/* The members of messages have no const, also those that are only read. */
static char *text_of(const char *text) {
    return (char *)(uintptr_t)text;
}

static ProtobufCBinaryData bytes_of(const char *text) {
    return (ProtobufCBinaryData){.len = strlen(text), .data = (uint8_t *)text_of(text)};
}

/* ---- attributes ---- */

/* A new attribute of NODE, whose list has room for it; NULL where memory runs out. */
static Muster__AttrValue *add(writer *w, Muster__NodeDef *node, const char *key) {
    struct attribute {
        Muster__NodeDef__AttrEntry entry;
        Muster__AttrValue value;
    } *attribute = mst_arena_alloc(&w->arena, sizeof *attribute);
    if (!attribute) return NULL;
    muster__node_def__attr_entry__init(&attribute->entry);
    muster__attr_value__init(&attribute->value);
    attribute->entry.key = text_of(key);
    attribute->entry.value = &attribute->value;
    node->attr[node->n_attr++] = &attribute->entry;
    return &attribute->value;
}

static mst_status add_text(writer *w, Muster__NodeDef *node, const char *key, const char *text) {
    Muster__AttrValue *value = text ? add(w, node, key) : NULL;
    if (!value) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_S;
    value->s = bytes_of(text);
    return MST_OK;
}

static mst_status add_integer(writer *w, Muster__NodeDef *node, const char *key, int64_t integer) {
    Muster__AttrValue *value = add(w, node, key);
    if (!value) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_I;
    value->i = integer;
    return MST_OK;
}

static mst_status add_type(writer *w, Muster__NodeDef *node, const char *key, mst_dtype dtype) {
    Muster__AttrValue *value = add(w, node, key);
    if (!value) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_TYPE;
    value->type = mst_dtype_to_proto(dtype);
    return MST_OK;
}

static Muster__AttrValue__ListValue *add_list(writer *w, Muster__NodeDef *node, const char *key) {
    Muster__AttrValue *value = add(w, node, key);
    Muster__AttrValue__ListValue *list = value ? mst_arena_alloc(&w->arena, sizeof *list) : NULL;
    if (!list) return NULL;
    muster__attr_value__list_value__init(list);
    value->value_case = MUSTER__ATTR_VALUE__VALUE_LIST;
    value->list = list;
    return list;
}

/* ---- shapes and tensors ---- */

static Muster__TensorShapeProto *shape_of(writer *w, const mst_shape *shape) {
    struct block {
        Muster__TensorShapeProto shape;
        Muster__TensorShapeProto__Dim dim[MST_MAX_NDIM], *list[MST_MAX_NDIM];
    } *block = mst_arena_alloc(&w->arena, sizeof *block);
    if (!block) return NULL;
    muster__tensor_shape_proto__init(&block->shape);
    block->shape.n_dim = (size_t)shape->ndim;
    block->shape.dim = block->list;
    for (int i = 0; i < shape->ndim; i++) {
        muster__tensor_shape_proto__dim__init(&block->dim[i]);
        block->dim[i].size = shape->dim[i];
        block->list[i] = &block->dim[i];
    }
    return &block->shape;
}

static mst_status add_shape(writer *w, Muster__NodeDef *node, const char *key, const mst_shape *shape) {
    Muster__AttrValue *value = add(w, node, key);
    Muster__TensorShapeProto *proto = value ? shape_of(w, shape) : NULL;
    if (!proto) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_SHAPE;
    value->shape = proto;
    return MST_OK;
}

/* A tensor over DATA, which stays where it is. */
static mst_status add_tensor(writer *w, Muster__NodeDef *node, const char *key, mst_dtype dtype, mst_shape shape,
                             const void *data, size_t bytes) {
    Muster__AttrValue *value = add(w, node, key);
    Muster__TensorProto *proto = value ? mst_arena_alloc(&w->arena, sizeof *proto) : NULL;
    if (!proto) return MST_NO_MEMORY("to write a graph");
    muster__tensor_proto__init(proto);
    proto->dtype = mst_dtype_to_proto(dtype);
    if (!(proto->tensor_shape = shape_of(w, &shape))) return MST_NO_MEMORY("to write a graph");
    proto->tensor_content = (ProtobufCBinaryData){.len = bytes, .data = (uint8_t *)(uintptr_t)data};
    value->value_case = MUSTER__ATTR_VALUE__VALUE_TENSOR;
    value->tensor = proto;
    return MST_OK;
}

static mst_status add_strings(writer *w, Muster__NodeDef *node, const char *key, const mst_tensor *tensor) {
    const int64_t count = mst_tensor_count(tensor);
    MST_TRY(add_tensor(w, node, key, MST_STRING, mst_tensor_shape(tensor), NULL, 0));
    Muster__TensorProto *proto = node->attr[node->n_attr - 1]->value->tensor;
    if (!(proto->string_val = mst_arena_alloc(&w->arena, ((size_t)count + 1) * sizeof *proto->string_val)))
        return MST_NO_MEMORY("to write a graph");
    for (int64_t i = 0; i < count; i++) {
        const mst_string string = mst_tensor_get_string(tensor, i);
        proto->string_val[proto->n_string_val++] =
            (ProtobufCBinaryData){.len = string.length, .data = (uint8_t *)text_of(string.data)};
    }
    return MST_OK;
}

/* ---- options ---- */

static const char *value_name(writer *w, mst_value value) {
    return value.index ? mst_arena_print(&w->arena, "%s:%d", value.node->name, (int)value.index) : value.node->name;
}

static mst_status add_axes(writer *w, Muster__NodeDef *node, const char *key, const mst_axes *axes) {
    if (!axes->count) return MST_OK;
    Muster__AttrValue__ListValue *list = add_list(w, node, key);
    if (!list || !(list->i = mst_arena_alloc(&w->arena, MST_MAX_NDIM * sizeof *list->i)))
        return MST_NO_MEMORY("to write a graph");
    for (int i = 0; i < axes->count; i++) list->i[list->n_i++] = axes->axis[i];
    return MST_OK;
}

static mst_status add_flag(writer *w, Muster__NodeDef *node, const char *key, bool flag) {
    if (!flag) return MST_OK;
    Muster__AttrValue *value = add(w, node, key);
    if (!value) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_B;
    value->b = true;
    return MST_OK;
}

static mst_status add_float(writer *w, Muster__NodeDef *node, const char *key, float number) {
    if (number == 0 && !signbit(number)) return MST_OK; /* -0 is written */
    Muster__AttrValue *value = add(w, node, key);
    if (!value) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_F;
    value->f = number;
    return MST_OK;
}

static mst_status add_number(writer *w, Muster__NodeDef *node, const char *key, int64_t number) {
    return number ? add_integer(w, node, key, number) : MST_OK;
}

static mst_status add_option(writer *w, const mst_node *from, Muster__NodeDef *node, const mst_field *field) {
    const char *name = field->name;
    const void *at = (const char *)from->options + field->offset;
    switch (field->type) {
        case MST_FIELD_TYPE_BOOL: return add_flag(w, node, name, *(const bool *)at);
        case MST_FIELD_TYPE_F32: return add_float(w, node, name, *(const float *)at);
        case MST_FIELD_TYPE_I32: return add_number(w, node, name, *(const int32_t *)at);
        case MST_FIELD_TYPE_I64:
        case MST_FIELD_TYPE_U64: return add_number(w, node, name, *(const int64_t *)at);
        case MST_FIELD_TYPE_F64:
            if (*(const double *)at == 0 && !signbit(*(const double *)at)) return MST_OK;
            return add_tensor(w, node, name, MST_F64, MST_SCALAR, at, sizeof(double));
        case MST_FIELD_TYPE_DTYPE:
            return *(const mst_dtype *)at ? add_type(w, node, name, *(const mst_dtype *)at) : MST_OK;
        case MST_FIELD_TYPE_SHAPE: return add_shape(w, node, name, at);
        case MST_FIELD_TYPE_AXES: return add_axes(w, node, name, at);
        case MST_FIELD_TYPE_STRING:
            return *(const char *const *)at ? add_text(w, node, name, *(const char *const *)at) : MST_OK;
        case MST_FIELD_TYPE_TENSOR: {
            const mst_tensor *tensor = *(mst_tensor *const *)at;
            if (!tensor) return MST_OK;
            if (mst_tensor_dtype(tensor) == MST_STRING) return add_strings(w, node, name, tensor);
            return add_tensor(w, node, name, mst_tensor_dtype(tensor), mst_tensor_shape(tensor),
                              mst_tensor_data(tensor), mst_tensor_bytes(tensor));
        }
        case MST_FIELD_TYPE_ENUM:
            return *(const int *)at ? add_text(w, node, name, field->names[*(const int *)at]) : MST_OK;
        case MST_FIELD_TYPE_VALUE: {
            const mst_value *value = at;
            if (mst_value_is_none(*value)) return MST_OK;
            const char *key = mst_arena_print(&w->arena, MST_ATTR_VALUE "%s", name);
            return key ? add_text(w, node, key, value_name(w, *value)) : MST_NO_MEMORY("to write a graph");
        }
        default: break;
    }
    if (!*(const void *const *)at) return MST_OK;
    MST_FAIL(MST_INVALID, "node '%s': option %s of %s is a pointer, which cannot be written to a file", from->name,
             name, from->op->name);
    return mst_error_at(from->name, NULL);
}

static bool has_option(const mst_op *op, const char *name) {
    for (const mst_field *field = op->fields; field && field->name; field++)
        if (strcmp(field->name, name) == 0) return true;
    return false;
}

static bool has_choice(unsigned dtypes) {
    return (dtypes & (dtypes - 1)) != 0;
}

/* What TensorFlow's ops of the kind have: the number of sources where it is free; dtype of what has no source; T where
 * a source or else the output (of select, say) may be of several dtypes. */
static mst_status add_usual(writer *w, const mst_node *from, Muster__NodeDef *node) {
    const mst_op *op = from->op;
    const bool has_value = from->num_dst > 0 && !(op->flags & MST_OP_NO_VALUE);
    if (op->num_src == MST_VARIADIC && !has_option(op, "N")) MST_TRY(add_integer(w, node, "N", from->num_src));
    if (op->num_src == 0 && has_value && !has_option(op, "dtype"))
        MST_TRY(add_type(w, node, "dtype", from->dst[0].dtype));
    if (from->num_src > 0 && has_value && !has_option(op, "T")) {
        const mst_dtype first = mst_value_spec(from->src[0]).dtype;
        if (has_choice(op->dtypes) || first != from->dst[0].dtype)
            MST_TRY(add_type(w, node, "T", has_choice(op->dtypes) ? first : from->dst[0].dtype));
    }
    if (!has_value) return MST_OK;
    Muster__AttrValue__ListValue *list = add_list(w, node, MST_ATTR_SHAPES);
    if (!list || !(list->shape = mst_arena_alloc(&w->arena, (size_t)from->num_dst * sizeof *list->shape)))
        return MST_NO_MEMORY("to write a graph");
    for (int i = 0; i < from->num_dst; i++)
        if (!(list->shape[list->n_shape++] = shape_of(w, &from->dst[i].shape)))
            return MST_NO_MEMORY("to write a graph");
    return MST_OK;
}

/* ---- what belongs to the whole graph: on its first node ---- */

static mst_status add_graph(writer *w, Muster__NodeDef *node) {
    const mst_graph *graph = w->graph;
    if (graph->seed) MST_TRY(add_integer(w, node, MST_ATTR_SEED, (int64_t)graph->seed));
    for (int64_t i = 0; i < graph->num_collections; i++) {
        const mst_collection_list *collection = &graph->collection[i];
        const char *key = mst_arena_print(&w->arena, MST_ATTR_COLLECTION "_%lld", (long long)i);
        Muster__AttrValue__ListValue *list = key ? add_list(w, node, key) : NULL;
        if (!list || !(list->s = mst_arena_alloc(&w->arena, ((size_t)collection->count + 1) * sizeof *list->s)))
            return MST_NO_MEMORY("to write a graph");
        list->s[list->n_s++] = bytes_of(collection->name);
        for (int64_t v = 0; v < collection->count; v++) {
            const char *name = value_name(w, collection->value[v]);
            if (!name) return MST_NO_MEMORY("to write a graph");
            list->s[list->n_s++] = bytes_of(name);
        }
    }
    return MST_OK;
}

/* ---- nodes ---- */

static mst_status add_inputs(writer *w, const mst_node *from, Muster__NodeDef *node) {
    const size_t count = (size_t)from->num_src + (size_t)from->num_control;
    if (!(node->input = mst_arena_alloc(&w->arena, (count + 1) * sizeof *node->input)))
        return MST_NO_MEMORY("to write a graph");
    for (int i = 0; i < from->num_src; i++) node->input[node->n_input++] = text_of(value_name(w, from->src[i]));
    for (int i = 0; i < from->num_control; i++)
        node->input[node->n_input++] = mst_arena_print(&w->arena, "^%s", from->control[i]->name);
    for (size_t i = 0; i < count; i++)
        if (!node->input[i]) return MST_NO_MEMORY("to write a graph");
    return MST_OK;
}

/* A name that means another op where the file is read would make it another graph. */
static mst_status check_op(const mst_node *from) {
    const mst_op *known = mst_find_op(from->op->name);
    if (!known || known == from->op) return MST_OK;
    MST_FAIL(MST_INVALID, "node '%s': its op has the name of another, '%s': ops are written by name", from->name,
             from->op->name);
    return mst_error_at(from->name, NULL);
}

static mst_status add_node(writer *w, const mst_node *from, Muster__NodeDef **out) {
    enum { MOST_USUAL = 8 }; /* attributes that are no options */
    char type[MST_TYPE_NAME_TEXT];
    size_t room = MOST_USUAL + (from->id == 0 ? (size_t)w->graph->num_collections : 0);
    for (const mst_field *field = from->op->fields; field && field->name; field++) room++;
    Muster__NodeDef *node = *out = mst_arena_alloc(&w->arena, sizeof *node);
    if (!node) return MST_NO_MEMORY("to write a graph");
    muster__node_def__init(node);
    node->name = text_of(from->name);
    node->device = text_of(from->device);
    node->op = mst_arena_string(&w->arena, mst_op_type_name(from->op, type, sizeof type));
    node->attr = mst_arena_alloc(&w->arena, room * sizeof *node->attr);
    if (!node->op || !node->attr) return MST_NO_MEMORY("to write a graph");
    MST_TRY(check_op(from));
    MST_TRY(add_inputs(w, from, node));
    MST_TRY(add_text(w, node, MST_ATTR_OP, from->op->name));
    for (const mst_field *field = from->op->fields; field && field->name; field++)
        MST_TRY(add_option(w, from, node, field));
    MST_TRY(add_usual(w, from, node));
    return from->id == 0 ? add_graph(w, node) : MST_OK;
}

static mst_status pack(const Muster__GraphDef *def, void **data, size_t *size) {
    const size_t needed = muster__graph_def__get_packed_size(def);
    if (needed > MST_GRAPHDEF_MOST)
        return MST_FAIL(MST_INVALID,
                        "the graph would be written as %zu bytes, a GraphDef has fewer than 2 GiB: "
                        "large constants are better fed, or kept in variables",
                        needed);
    if (!(*data = malloc(needed))) return MST_NO_MEMORY("to write a graph");
    *size = muster__graph_def__pack(def, *data);
    return MST_OK;
}

static mst_status encode(writer *w, void **data, size_t *size) {
    Muster__GraphDef def = MUSTER__GRAPH_DEF__INIT;
    Muster__VersionDef versions = MUSTER__VERSION_DEF__INIT;
    versions.producer = PRODUCER;
    def.versions = &versions;
    def.n_node = (size_t)w->graph->num_nodes;
    if (!def.n_node) return MST_FAIL(MST_INVALID, "the graph has no nodes to write");
    if (!(def.node = mst_arena_alloc(&w->arena, def.n_node * sizeof *def.node)))
        return MST_NO_MEMORY("to write a graph");
    for (size_t i = 0; i < def.n_node; i++) MST_TRY(add_node(w, w->graph->node[i], &def.node[i]));
    return pack(&def, data, size);
}

mst_status mst_graph_encode(const mst_graph *graph, void **data, size_t *size) {
    if (MST_IS_NULL(graph) || MST_IS_NULL(data) || MST_IS_NULL(size)) return MST_INVALID;
    *data = NULL;
    *size = 0;
    MST_TRY(mst_graph_check(graph));
    writer w = {.graph = graph};
    mst_status status = encode(&w, data, size);
    mst_arena_free(&w.arena);
    return status;
}

mst_status mst_graph_write(const mst_graph *graph, const char *path) {
    if (MST_IS_NULL(graph) || MST_IS_NULL(path)) return MST_INVALID;
    void *data;
    size_t size;
    mst_status status = mst_graph_encode(graph, &data, &size);
    if (status) return mst_error_prefix("writing '%s'", path);
    status = mst_file_write(path, data, size);
    free(data);
    return status;
}
