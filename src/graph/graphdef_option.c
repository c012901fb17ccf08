/* Attributes of a GraphDef that is read, and their conversion to options by the type of each field. The type of the
 * attribute must fit, and numbers must be in range. An unknown attribute is an error, unless it is one of those that
 * change nothing (mst_read_may_skip). Errors name the node and the attribute in plain characters only, because names
 * come from the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/escape.h"
#include "base/no_memory.h"
#include "graph/graphdef_reader.h"

/* ---- errors ---- */

mst_status mst_read_fail(const mst_read_item *it, mst_status code, const char *format, ...) {
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    mst_make_plain(text);
    MST_FAIL(code, "node '%.100s': %s", it->def->name, text);
    (void)mst_error_at(it->def->name, NULL);
    return code;
}

mst_status mst_read_fail_at(const mst_read_item *it) {
    const mst_status code = mst_error()->code;
    char text[600];
    snprintf(text, sizeof text, "%s", mst_error()->message);
    return mst_read_fail(it, code, "%s", text);
}

/* ---- attributes ---- */

const Muster__AttrValue *mst_read_attr(const mst_read_item *it, size_t k) {
    static const Muster__AttrValue none = {.value_case = MUSTER__ATTR_VALUE__VALUE__NOT_SET};
    const Muster__AttrValue *value = it->def->attr[k]->value;
    return value ? value : &none;
}

const Muster__AttrValue *mst_read_find_attr(const mst_read_item *it, const char *key) {
    const Muster__AttrValue *found = NULL;
    for (size_t i = 0; i < it->def->n_attr; i++)
        if (strcmp(it->def->attr[i]->key, key) == 0) found = mst_read_attr(it, i); /* the last one counts */
    return found;
}

mst_status mst_read_string(const mst_read_item *it, const char *key, const ProtobufCBinaryData *bytes, mst_arena *arena,
                           const char **out) {
    *out = "";
    if (bytes->len && memchr(bytes->data, '\0', bytes->len))
        return mst_read_fail(it, MST_CORRUPT, "attribute '%.60s' has a zero byte", key);
    char *text = mst_arena_alloc(arena, bytes->len + 1);
    if (!text) return MST_NO_MEMORY("to read a graph");
    if (bytes->len) memcpy(text, bytes->data, bytes->len);
    *out = text;
    return MST_OK;
}

static const char *kind_name(const Muster__AttrValue *value) {
    switch (value->value_case) {
        case MUSTER__ATTR_VALUE__VALUE_LIST: return "a list";
        case MUSTER__ATTR_VALUE__VALUE_S: return "a string";
        case MUSTER__ATTR_VALUE__VALUE_I: return "an integer";
        case MUSTER__ATTR_VALUE__VALUE_F: return "a float";
        case MUSTER__ATTR_VALUE__VALUE_B: return "a bool";
        case MUSTER__ATTR_VALUE__VALUE_TYPE: return "a dtype";
        case MUSTER__ATTR_VALUE__VALUE_SHAPE: return "a shape";
        case MUSTER__ATTR_VALUE__VALUE_TENSOR: return "a tensor";
        default: return "of no kind that is known";
    }
}

mst_status mst_read_check_kind(const mst_read_item *it, const char *key, const Muster__AttrValue *value,
                               Muster__AttrValue__ValueCase kind) {
    if (value->value_case == kind) return MST_OK;
    const Muster__AttrValue wanted = {.value_case = kind};
    return mst_read_fail(it, MST_CORRUPT, "attribute '%.60s' is %s, must be %s", key, kind_name(value),
                         kind_name(&wanted));
}

/* ---- options ---- */

static mst_status read_integer(const mst_read_item *it, const mst_field *field, const Muster__AttrValue *value,
                               void *at) {
    MST_TRY(mst_read_check_kind(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_I));
    if (field->type != MST_FIELD_TYPE_I32) {
        *(int64_t *)at = value->i; /* a u64 has the same bits */
        return MST_OK;
    }
    if (value->i < INT32_MIN || value->i > INT32_MAX)
        return mst_read_fail(it, MST_CORRUPT, "option %s is %lld, which needs more than 32 bits", field->name,
                             (long long)value->i);
    *(int32_t *)at = (int32_t)value->i;
    return MST_OK;
}

mst_status mst_read_tensor(mst_graph_reader *r, const mst_read_item *it, const char *key,
                           const Muster__AttrValue *value, mst_option_memory *memory, mst_tensor **out) {
    mst_tensor *tensor = NULL;
    MST_TRY(mst_read_check_kind(it, key, value, MUSTER__ATTR_VALUE__VALUE_TENSOR));
    if (mst_tensor_from_proto(value->tensor, &r->spare, &tensor)) return mst_read_fail_at(it);
    MST_TRY(mst_option_memory_keep(memory, tensor));
    *out = tensor;
    return MST_OK;
}

/* Reads an f64 option. AttrValue has no double, so it is a tensor of one element; a float is accepted too. */
static mst_status read_f64(mst_graph_reader *r, const mst_read_item *it, const mst_field *field,
                           const Muster__AttrValue *value, mst_option_memory *memory, double *out) {
    mst_tensor *tensor = NULL;
    if (value->value_case == MUSTER__ATTR_VALUE__VALUE_F) {
        *out = (double)value->f;
        return MST_OK;
    }
    MST_TRY(mst_read_tensor(r, it, field->name, value, memory, &tensor));
    if (mst_tensor_dtype(tensor) != MST_F64 || mst_tensor_count(tensor) != 1)
        return mst_read_fail(it, MST_CORRUPT, "option %s is a tensor of %lld %s, must be one f64", field->name,
                             (long long)mst_tensor_count(tensor), mst_dtype_name(mst_tensor_dtype(tensor)));
    memcpy(out, mst_tensor_data(tensor), sizeof *out);
    return MST_OK;
}

static mst_status read_axes(const mst_read_item *it, const mst_field *field, const Muster__AttrValue *value,
                            mst_axes *out) {
    MST_TRY(mst_read_check_kind(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_LIST));
    const Muster__AttrValue__ListValue *list = value->list;
    *out = (mst_axes){.count = (int32_t)(list->n_i < MST_MAX_NDIM ? list->n_i : MST_MAX_NDIM)};
    if (list->n_i > MST_MAX_NDIM)
        return mst_read_fail(it, MST_CORRUPT, "option %s has %zu numbers, at most %d are possible", field->name,
                             list->n_i, MST_MAX_NDIM);
    for (int i = 0; i < out->count; i++) {
        if (list->i[i] < INT32_MIN || list->i[i] > INT32_MAX)
            return mst_read_fail(it, MST_CORRUPT, "option %s has the number %lld, which needs more than 32 bits",
                                 field->name, (long long)list->i[i]);
        out->axis[i] = (int32_t)list->i[i];
    }
    return MST_OK;
}

static mst_status read_enum(const mst_read_item *it, const mst_field *field, const Muster__AttrValue *value,
                            mst_option_memory *memory, int *out) {
    const char *name;
    MST_TRY(mst_read_check_kind(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_S));
    MST_TRY(mst_read_string(it, field->name, &value->s, &memory->arena, &name));
    for (int i = 0; field->names[i]; i++) {
        *out = i;
        if (strcmp(field->names[i], name) == 0) return MST_OK;
    }
    return mst_read_fail(it, MST_INVALID, "option %s is '%.60s', which is none of its values", field->name, name);
}

static mst_status read_body(mst_graph_reader *r, const mst_read_item *it, const mst_field *field,
                            const Muster__AttrValue *value, mst_option_memory *memory, mst_graph **out) {
    enum { DEEPEST = 16 };
    mst_graph *body;
    MST_TRY(mst_read_check_kind(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_S));
    if (r->depth == DEEPEST)
        return mst_read_fail(it, MST_CORRUPT, "option %s is a graph in more than %d others", field->name, DEEPEST);
    if (!value->s.len) return mst_read_fail(it, MST_CORRUPT, "option %s is no graph", field->name);
    if (mst_graph_decode_at(r->depth + 1, value->s.data, value->s.len, &body)) return mst_read_fail_at(it);
    MST_TRY(mst_option_memory_keep_body(memory, body));
    *out = body;
    return MST_OK;
}

mst_status mst_read_option(mst_graph_reader *r, const mst_read_item *it, const mst_field *field,
                           const Muster__AttrValue *value, mst_option_memory *memory, void *at) {
    switch (field->type) {
        case MST_FIELD_TYPE_BOOL:
            MST_TRY(mst_read_check_kind(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_B));
            *(bool *)at = value->b != 0;
            return MST_OK;
        case MST_FIELD_TYPE_I32:
        case MST_FIELD_TYPE_I64:
        case MST_FIELD_TYPE_U64: return read_integer(it, field, value, at);
        case MST_FIELD_TYPE_F32:
            MST_TRY(mst_read_check_kind(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_F));
            *(float *)at = value->f;
            return MST_OK;
        case MST_FIELD_TYPE_F64: return read_f64(r, it, field, value, memory, at);
        case MST_FIELD_TYPE_DTYPE:
            MST_TRY(mst_read_check_kind(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_TYPE));
            if ((*(mst_dtype *)at = mst_dtype_from_proto(value->type))) return MST_OK;
            return mst_read_fail(it, MST_INVALID,
                                 "option %s is TensorFlow's dtype number %d, which Muster does not have", field->name,
                                 (int)value->type);
        case MST_FIELD_TYPE_SHAPE:
            MST_TRY(mst_read_check_kind(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_SHAPE));
            return mst_shape_from_proto(value->shape, at) ? mst_read_fail_at(it) : MST_OK;
        case MST_FIELD_TYPE_AXES: return read_axes(it, field, value, at);
        case MST_FIELD_TYPE_STRING:
            MST_TRY(mst_read_check_kind(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_S));
            return mst_read_string(it, field->name, &value->s, &memory->arena, at);
        case MST_FIELD_TYPE_TENSOR: return mst_read_tensor(r, it, field->name, value, memory, at);
        case MST_FIELD_TYPE_GRAPH: return read_body(r, it, field, value, memory, at);
        case MST_FIELD_TYPE_ENUM: return read_enum(it, field, value, memory, at);
        default: break;
    }
    return mst_read_fail(it, MST_INVALID, "option %s of %s cannot be read from a file", field->name, it->op->name);
}

bool mst_read_may_skip(const mst_read_item *it, const char *key, const Muster__AttrValue *value) {
    if (strcmp(key, "T") == 0 || strcmp(key, "dtype") == 0) return true;
    if (it->is_ours) return false;
    return value->value_case == MUSTER__ATTR_VALUE__VALUE_TYPE ||
           (value->value_case == MUSTER__ATTR_VALUE__VALUE_B && !value->b) ||
           (value->value_case == MUSTER__ATTR_VALUE__VALUE_S && !value->s.len);
}

mst_status mst_read_unknown(mst_graph_reader *r, const mst_read_item *it, const char *key) {
    size_t count = 0;
    while (it->op->fields && it->op->fields[count].name) count++;
    const char **names = mst_arena_alloc(&r->arena, (count + 1) * sizeof *names);
    if (!names) return MST_NO_MEMORY("to read a graph");
    for (size_t i = 0; i < count; i++) names[i] = it->op->fields[i].name;
    char guess[MST_DID_YOU_MEAN_TEXT];
    return mst_read_fail(it, MST_INVALID, "attribute '%.60s' is no option of %s%s", key, it->op->name,
                         mst_did_you_mean(key, names, guess, sizeof guess));
}
