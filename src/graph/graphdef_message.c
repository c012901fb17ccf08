/* Attributes, shapes and tensors as protobuf-c messages.
 *
 * Messages lie in the writer's arena and are freed with it. Strings and the bytes of tensors are not copied: messages
 * point into the graph, which must not change before the file is written. An option that is 0 is not written
 * (mst_message_add_option), because a missing option is read as 0. */
#include "graph/graphdef_message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

char *mst_message_text(const char *text) {
    return (char *)(uintptr_t)text;
}

ProtobufCBinaryData mst_message_bytes(const char *text) {
    return (ProtobufCBinaryData){.len = strlen(text), .data = (uint8_t *)mst_message_text(text)};
}

/* ---- attributes ---- */

Muster__AttrValue *mst_message_add(mst_graph_writer *w, Muster__NodeDef *node, const char *key) {
    struct attribute {
        Muster__NodeDef__AttrEntry entry;
        Muster__AttrValue value;
    } *attribute = mst_arena_alloc(&w->arena, sizeof *attribute);
    if (!attribute) return NULL;
    muster__node_def__attr_entry__init(&attribute->entry);
    muster__attr_value__init(&attribute->value);
    attribute->entry.key = mst_message_text(key);
    attribute->entry.value = &attribute->value;
    node->attr[node->n_attr++] = &attribute->entry;
    return &attribute->value;
}

mst_status mst_message_add_text(mst_graph_writer *w, Muster__NodeDef *node, const char *key, const char *text) {
    Muster__AttrValue *value = text ? mst_message_add(w, node, key) : NULL;
    if (!value) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_S;
    value->s = mst_message_bytes(text);
    return MST_OK;
}

mst_status mst_message_add_integer(mst_graph_writer *w, Muster__NodeDef *node, const char *key, int64_t integer) {
    Muster__AttrValue *value = mst_message_add(w, node, key);
    if (!value) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_I;
    value->i = integer;
    return MST_OK;
}

mst_status mst_message_add_type(mst_graph_writer *w, Muster__NodeDef *node, const char *key, mst_dtype dtype) {
    Muster__AttrValue *value = mst_message_add(w, node, key);
    if (!value) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_TYPE;
    value->type = mst_dtype_to_proto(dtype);
    return MST_OK;
}

Muster__AttrValue__ListValue *mst_message_add_list(mst_graph_writer *w, Muster__NodeDef *node, const char *key) {
    Muster__AttrValue *value = mst_message_add(w, node, key);
    Muster__AttrValue__ListValue *list = value ? mst_arena_alloc(&w->arena, sizeof *list) : NULL;
    if (!list) return NULL;
    muster__attr_value__list_value__init(list);
    value->value_case = MUSTER__ATTR_VALUE__VALUE_LIST;
    value->list = list;
    return list;
}

/* ---- shapes and tensors ---- */

Muster__TensorShapeProto *mst_message_shape(mst_graph_writer *w, const mst_shape *shape) {
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

mst_status mst_message_add_shape(mst_graph_writer *w, Muster__NodeDef *node, const char *key, const mst_shape *shape) {
    Muster__AttrValue *value = mst_message_add(w, node, key);
    Muster__TensorShapeProto *proto = value ? mst_message_shape(w, shape) : NULL;
    if (!proto) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_SHAPE;
    value->shape = proto;
    return MST_OK;
}

mst_status mst_message_add_tensor(mst_graph_writer *w, Muster__NodeDef *node, const char *key, mst_dtype dtype,
                                  mst_shape shape, const void *data, size_t bytes) {
    Muster__AttrValue *value = mst_message_add(w, node, key);
    Muster__TensorProto *proto = value ? mst_arena_alloc(&w->arena, sizeof *proto) : NULL;
    if (!proto) return MST_NO_MEMORY("to write a graph");
    muster__tensor_proto__init(proto);
    proto->dtype = mst_dtype_to_proto(dtype);
    if (!(proto->tensor_shape = mst_message_shape(w, &shape))) return MST_NO_MEMORY("to write a graph");
    proto->tensor_content = (ProtobufCBinaryData){.len = bytes, .data = (uint8_t *)(uintptr_t)data};
    value->value_case = MUSTER__ATTR_VALUE__VALUE_TENSOR;
    value->tensor = proto;
    return MST_OK;
}

mst_status mst_message_add_strings(mst_graph_writer *w, Muster__NodeDef *node, const char *key,
                                   const mst_tensor *tensor) {
    const int64_t count = mst_tensor_count(tensor);
    MST_TRY(mst_message_add_tensor(w, node, key, MST_STRING, mst_tensor_shape(tensor), NULL, 0));
    Muster__TensorProto *proto = node->attr[node->n_attr - 1]->value->tensor;
    if (!(proto->string_val = mst_arena_alloc(&w->arena, ((size_t)count + 1) * sizeof *proto->string_val)))
        return MST_NO_MEMORY("to write a graph");
    for (int64_t i = 0; i < count; i++) {
        const mst_string string = mst_tensor_get_string(tensor, i);
        proto->string_val[proto->n_string_val++] =
            (ProtobufCBinaryData){.len = string.length, .data = (uint8_t *)mst_message_text(string.data)};
    }
    return MST_OK;
}

/* ---- options ---- */

const char *mst_message_value(mst_graph_writer *w, mst_value value) {
    return value.index ? mst_arena_print(&w->arena, "%s:%d", value.node->name, (int)value.index) : value.node->name;
}

static mst_status add_axes(mst_graph_writer *w, Muster__NodeDef *node, const char *key, const mst_axes *axes) {
    if (!axes->count) return MST_OK;
    Muster__AttrValue__ListValue *list = mst_message_add_list(w, node, key);
    if (!list || !(list->i = mst_arena_alloc(&w->arena, MST_MAX_NDIM * sizeof *list->i)))
        return MST_NO_MEMORY("to write a graph");
    for (int i = 0; i < axes->count; i++) list->i[list->n_i++] = axes->axis[i];
    return MST_OK;
}

static mst_status add_flag(mst_graph_writer *w, Muster__NodeDef *node, const char *key, bool flag) {
    if (!flag) return MST_OK;
    Muster__AttrValue *value = mst_message_add(w, node, key);
    if (!value) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_B;
    value->b = true;
    return MST_OK;
}

static mst_status add_float(mst_graph_writer *w, Muster__NodeDef *node, const char *key, float number) {
    if (number == 0 && !signbit(number)) return MST_OK; /* a 0 that was given is -0, which is written */
    Muster__AttrValue *value = mst_message_add(w, node, key);
    if (!value) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_F;
    value->f = number;
    return MST_OK;
}

static mst_status add_number(mst_graph_writer *w, Muster__NodeDef *node, const char *key, int64_t number) {
    return number ? mst_message_add_integer(w, node, key, number) : MST_OK;
}

/* Adds a body as an attribute that is a whole graph file. */
static mst_status add_body(mst_graph_writer *w, Muster__NodeDef *node, const char *key, const mst_graph *body) {
    void *data;
    size_t size;
    if (!body) return MST_OK;
    MST_TRY(mst_graph_encode(body, &data, &size));
    Muster__AttrValue *value = mst_message_add(w, node, key);
    void *copy = value ? mst_arena_copy(&w->arena, data, size) : NULL;
    free(data);
    if (!copy) return MST_NO_MEMORY("to write a graph");
    value->value_case = MUSTER__ATTR_VALUE__VALUE_S;
    value->s = (ProtobufCBinaryData){.len = size, .data = copy};
    return MST_OK;
}

mst_status mst_message_add_option(mst_graph_writer *w, const mst_node *from, Muster__NodeDef *node,
                                  const mst_field *field, const char *name) {
    const void *at = (const char *)from->options + field->offset;
    switch (field->type) {
        case MST_FIELD_TYPE_BOOL: return add_flag(w, node, name, *(const bool *)at);
        case MST_FIELD_TYPE_F32: return add_float(w, node, name, *(const float *)at);
        case MST_FIELD_TYPE_I32: return add_number(w, node, name, *(const int32_t *)at);
        case MST_FIELD_TYPE_I64:
        case MST_FIELD_TYPE_U64: return add_number(w, node, name, *(const int64_t *)at);
        case MST_FIELD_TYPE_F64:
            if (*(const double *)at == 0 && !signbit(*(const double *)at)) return MST_OK;
            return mst_message_add_tensor(w, node, name, MST_F64, MST_SCALAR, at, sizeof(double));
        case MST_FIELD_TYPE_DTYPE:
            return *(const mst_dtype *)at ? mst_message_add_type(w, node, name, *(const mst_dtype *)at) : MST_OK;
        case MST_FIELD_TYPE_SHAPE: return mst_message_add_shape(w, node, name, at);
        case MST_FIELD_TYPE_AXES: return add_axes(w, node, name, at);
        case MST_FIELD_TYPE_STRING:
            return *(const char *const *)at ? mst_message_add_text(w, node, name, *(const char *const *)at) : MST_OK;
        case MST_FIELD_TYPE_TENSOR: {
            const mst_tensor *tensor = *(mst_tensor *const *)at;
            if (!tensor) return MST_OK;
            if (mst_tensor_dtype(tensor) == MST_STRING) return mst_message_add_strings(w, node, name, tensor);
            return mst_message_add_tensor(w, node, name, mst_tensor_dtype(tensor), mst_tensor_shape(tensor),
                                          mst_tensor_data(tensor), mst_tensor_bytes(tensor));
        }
        case MST_FIELD_TYPE_GRAPH: return add_body(w, node, name, *(mst_graph *const *)at);
        case MST_FIELD_TYPE_ENUM:
            return *(const int *)at ? mst_message_add_text(w, node, name, field->names[*(const int *)at]) : MST_OK;
        case MST_FIELD_TYPE_VALUE: {
            const mst_value *value = at;
            if (mst_value_is_none(*value)) return MST_OK;
            return mst_message_add_text(w, node, name, mst_message_value(w, *value));
        }
        default: break;
    }
    if (!*(const void *const *)at) return MST_OK;
    MST_FAIL(MST_INVALID, "node '%s': option %s of %s is a pointer, which cannot be written to a file", from->name,
             field->name, from->op->name);
    return mst_error_at(from->name, NULL);
}
