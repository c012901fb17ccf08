/* Reads nodes that another program wrote, by the forms of our ops (tf_form.h) in the other direction. The first form
 * with the node's type whose conditions hold says which inputs are sources and which are options. An input that is an
 * option here must be a constant in the file. A node or an attribute that no form covers is an error. Otherwise the
 * graph would compute something else than the file says. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/number.h"
#include "graph/field.h"
#include "graph/graphdef_reader.h"
#include "graph/tf_form.h"
#include "graph/type_name.h"

/* ---- which form ---- */

bool mst_reads_type(const mst_op *op, const char *type) {
    char text[MST_TYPE_NAME_TEXT];
    const size_t length = strlen(type);
    if (!op->tf_form) return strcmp(mst_op_type_name(op, text, sizeof text), type) == 0;
    for (const char *line = op->tf_form; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *name = line + (*line == '<');
        if (*line != '>' && strncmp(name, type, length) == 0 && name[length] == '(') return true;
    }
    return false;
}

/* The node that is being read. */
typedef struct reading {
    mst_graph_reader *r;
    mst_read_item *it;
    mst_option_memory *memory;
    char *options;
    const mst_form *form;
    const mst_read_link **input; /* inputs that are values, not control inputs */
    int num_inputs, num_src;
    mst_value *src;
} reading;

static mst_status find_values(reading *s) {
    s->input = mst_arena_alloc(&s->memory->arena, ((size_t)s->it->num_links + 1) * sizeof(*s->input));
    if (!s->input) return MST_NO_MEMORY("to read a graph");
    for (int64_t i = 0; i < s->it->num_links; i++)
        if (s->it->link[i].index >= 0) s->input[s->num_inputs++] = &s->it->link[i];
    return MST_OK;
}

static bool has_all(const mst_form *form) {
    for (int i = 0; i < form->num_arguments; i++)
        if (form->argument[i].kind == MST_FORM_SOURCES) return true;
    return false;
}

/* The number of inputs that argument I takes. */
static int width(const reading *s, int i) {
    return s->form->argument[i].kind == MST_FORM_SOURCES ? s->num_inputs - s->form->num_arguments + 1 : 1;
}

static mst_status read_sources(reading *s) {
    s->num_src = 0;
    for (int i = 0, at = 0; i < s->form->num_arguments; at += width(s, i++)) {
        const mst_form_argument *argument = &s->form->argument[i];
        if (argument->kind == MST_FORM_SOURCE)
            MST_TRY(mst_read_resolve(s->r, s->it, s->input[at], &s->src[argument->index]));
        if (argument->kind == MST_FORM_SOURCES)
            for (int k = 0; k < width(s, i); k++) MST_TRY(mst_read_resolve(s->r, s->it, s->input[at + k], &s->src[k]));
        if (argument->kind == MST_FORM_SOURCE || argument->kind == MST_FORM_SOURCES) s->num_src += width(s, i);
    }
    return MST_OK;
}

static mst_status conditions_hold(const reading *s, bool *out) {
    mst_spec *spec = mst_arena_alloc(&s->memory->arena, ((size_t)s->num_src + 1) * sizeof *spec);
    if (!spec) return MST_NO_MEMORY("to read a graph");
    for (int i = 0; i < s->num_src; i++) spec[i] = mst_value_spec(s->src[i]);
    *out = mst_form_holds(s->form, &(mst_form_use){.op = s->it->op, .num_src = s->num_src, .src = spec});
    return MST_OK;
}

/* Finds the first form of the node's type whose conditions hold, and its sources. */
static mst_status find_form(reading *s) {
    const char *text = s->it->op->tf_form, *conditions = NULL;
    int wanted = -1;
    bool holds = false;
    while (true) {
        MST_TRY(mst_form_parse(&s->memory->arena, s->it->op, &text, &s->form));
        if (!s->form) break;
        if (!s->form->is_read || strcmp(s->form->op, s->it->def->op) != 0) continue;
        wanted = s->form->num_arguments;
        if (has_all(s->form) ? s->num_inputs < wanted : s->num_inputs != wanted) continue;
        MST_TRY(read_sources(s));
        MST_TRY(conditions_hold(s, &holds));
        if (holds) return MST_OK;
        conditions = conditions ? mst_arena_print(&s->memory->arena, "%s, or %s", conditions, s->form->conditions)
                                : s->form->conditions;
        if (!conditions) return MST_NO_MEMORY("to read a graph");
    }
    if (conditions)
        return mst_read_fail(s->it, MST_INVALID, "a %.60s is read only where %s", s->it->def->op, conditions);
    return mst_read_fail(s->it, MST_INVALID, "a %.60s takes %d sources, got %d", s->it->def->op, wanted, s->num_inputs);
}

/* ---- inputs that are options ---- */

/* Finds the constant that an input reads, directly or through identity nodes. */
static mst_status constant_of(reading *s, const mst_read_link *l, const char *what, mst_tensor **out) {
    const mst_read_item *it = &s->r->item[l->item];
    const mst_op *identity = mst_find_op("identity"), *constant = mst_find_op("constant");
    while (it->op == identity && it->num_links && it->link[0].index == 0) it = &s->r->item[it->link[0].item];
    const Muster__AttrValue *value = it->op == constant && !it->is_part ? mst_read_find_attr(it, "value") : NULL;
    if (value) return mst_read_tensor(s->r, it, "value", value, s->memory, out);
    return mst_read_fail(s->it, MST_INVALID,
                         "its input '%.100s' (%s) must be a constant in the file: it decides about shapes",
                         s->r->item[l->item].def->name, what);
}

static mst_status set_integers(const reading *s, const char *what, const mst_tensor *tensor, int64_t least,
                               int64_t most, int64_t *out, int *count) {
    const mst_dtype dtype = mst_tensor_dtype(tensor);
    const int64_t length = mst_tensor_count(tensor);
    if (dtype != MST_I32 && dtype != MST_I64)
        return mst_read_fail(s->it, MST_INVALID, "%s is %s, must be i32 or i64", what, mst_dtype_name(dtype));
    if (length > *count)
        return mst_read_fail(s->it, MST_INVALID, "%s has %lld numbers, at most %d are possible", what,
                             (long long)length, *count);
    for (int i = 0; i < length; i++) {
        const void *data = mst_tensor_data((mst_tensor *)(uintptr_t)tensor);
        out[i] = dtype == MST_I32 ? ((const int32_t *)data)[i] : ((const int64_t *)data)[i];
        if (out[i] < least || out[i] > most)
            return mst_read_fail(s->it, MST_INVALID, "%s has the number %lld, which is out of range", what,
                                 (long long)out[i]);
    }
    *count = (int)length;
    return MST_OK;
}

static mst_status set_number(reading *s, const mst_field *field, const mst_tensor *tensor) {
    void *at = s->options + field->offset;
    if (mst_tensor_count(tensor) != 1)
        return mst_read_fail(s->it, MST_INVALID, "%s has %lld numbers, must be one", field->name,
                             (long long)mst_tensor_count(tensor));
    if (field->type == MST_FIELD_TYPE_F32) *(float *)at = (float)mst_tensor_get(tensor, 0);
    if (field->type == MST_FIELD_TYPE_F64) *(double *)at = mst_tensor_get(tensor, 0);
    if (field->type == MST_FIELD_TYPE_I32 || field->type == MST_FIELD_TYPE_I64) {
        const bool wide = field->type == MST_FIELD_TYPE_I64;
        int64_t number = 0;
        int count = 1;
        MST_TRY(set_integers(s, field->name, tensor, wide ? INT64_MIN : INT32_MIN, wide ? INT64_MAX : INT32_MAX,
                             &number, &count));
        if (wide)
            *(int64_t *)at = number;
        else
            *(int32_t *)at = (int32_t)number;
    }
    return mst_field_given(field, at) ? mst_read_fail_at(s->it) : MST_OK;
}

/* Sets the options before and after from a tensor of paddings, [ndim, 2]. */
static mst_status set_paddings(reading *s, const mst_tensor *tensor) {
    const mst_field *before = mst_op_field(s->it->op, "before"), *after = mst_op_field(s->it->op, "after");
    const mst_shape shape = mst_tensor_shape(tensor);
    int64_t number[2 * MST_MAX_NDIM] = {0};
    int count = 2 * MST_MAX_NDIM;
    if (shape.ndim != 2 || shape.dim[1] != 2)
        return mst_read_fail(s->it, MST_INVALID, "paddings must be of the shape [number of dimensions, 2]");
    MST_TRY(set_integers(s, "paddings", tensor, 0, INT64_MAX, number, &count));
    mst_shape *to[] = {(mst_shape *)(void *)(s->options + before->offset),
                       (mst_shape *)(void *)(s->options + after->offset)};
    for (int end = 0; end < 2; end++) {
        to[end]->ndim = count / 2;
        for (int k = 0; k < count / 2; k++) to[end]->dim[k] = number[2 * k + end];
    }
    return MST_OK;
}

static mst_status set_axes(reading *s, const mst_field *field, const mst_tensor *tensor) {
    mst_axes *axes = (mst_axes *)(void *)(s->options + field->offset);
    int64_t number[MST_MAX_NDIM] = {0};
    int count = MST_MAX_NDIM;
    MST_TRY(set_integers(s, field->name, tensor, INT32_MIN, INT32_MAX, number, &count));
    axes->count = count;
    for (int i = 0; i < count; i++) axes->axis[i] = (int32_t)number[i];
    return MST_OK;
}

/* Sets the shape option FIELD to the numbers in TENSOR, which are at least -1. The op checks whether -1 is allowed. */
static mst_status set_shape(reading *s, const mst_field *field, const mst_tensor *tensor) {
    mst_shape *shape = (mst_shape *)(void *)(s->options + field->offset);
    int count = MST_MAX_NDIM;
    MST_TRY(set_integers(s, field->name, tensor, -1, INT64_MAX, shape->dim, &count));
    shape->ndim = count;
    return MST_OK;
}

static mst_status read_constant(reading *s, const mst_form_argument *argument, const mst_read_link *l) {
    mst_tensor *tensor = NULL;
    MST_TRY(constant_of(s, l, argument->name, &tensor));
    if (mst_tensor_dtype(tensor) == MST_STRING)
        return mst_read_fail(s->it, MST_INVALID, "%s is a string, must be a number", argument->name);
    if (strcmp(argument->name, "paddings") == 0) return set_paddings(s, tensor);
    const mst_field *field = mst_op_field(s->it->op, argument->name);
    switch (field ? field->type : MST_FIELD_TYPE_END) {
        case MST_FIELD_TYPE_AXES: return set_axes(s, field, tensor);
        case MST_FIELD_TYPE_SHAPE: return set_shape(s, field, tensor);
        default: break;
    }
    if (field) return set_number(s, field, tensor);
    return MST_FAIL(MST_INVALID, "the op %s: its tf_form names '%s'", s->it->op->name, argument->name);
}

/* ---- attributes ---- */

static mst_status other_value(const reading *s, const char *key, const char *wanted) {
    return mst_read_fail(s->it, MST_INVALID, "attribute '%.60s' of %.60s must be %s: nothing else has an equal here",
                         key, s->it->def->op, wanted);
}

/* Sets an option to TensorFlow's default, because the file does not have its attribute. */
static mst_status set_otherwise(reading *s, const mst_form_attribute *attribute) {
    const mst_field *field = mst_op_field(s->it->op, attribute->value);
    if (!field || !attribute->otherwise) return MST_OK;
    void *at = s->options + field->offset;
    if (field->type == MST_FIELD_TYPE_DTYPE) *(mst_dtype *)at = mst_dtype_from_name(attribute->otherwise);
    if (field->type == MST_FIELD_TYPE_F32) *(float *)at = (float)mst_number_start(attribute->otherwise, NULL);
    return MST_OK;
}

static mst_status read_attribute(reading *s, const mst_form_attribute *attribute) {
    const char *key = attribute->key, *wanted = attribute->value + (*attribute->value == '@');
    const Muster__AttrValue *value = mst_read_find_attr(s->it, key);
    const mst_field *field = mst_op_field(s->it->op, wanted);
    if (!value) return set_otherwise(s, attribute);
    if (strcmp(wanted, "*") == 0) return MST_OK;
    if (field) {
        void *at = s->options + field->offset;
        MST_TRY(mst_read_option(s->r, s->it, field, value, s->memory, at));
        return mst_field_given(field, at) ? mst_read_fail_at(s->it) : MST_OK;
    }
    switch (value->value_case) {
        case MUSTER__ATTR_VALUE__VALUE_TYPE: return MST_OK; /* dtypes are inferred */
        case MUSTER__ATTR_VALUE__VALUE_I:
            if (value->i == (strcmp(wanted, "n") == 0 ? s->num_src : strtol(wanted, NULL, 10))) return MST_OK;
            if (strcmp(wanted, "n") != 0) break;
            return mst_read_fail(s->it, MST_CORRUPT, "it has %d sources, and says that there are %lld", s->num_src,
                                 (long long)value->i);
        case MUSTER__ATTR_VALUE__VALUE_B:
            if (value->b == (strcmp(wanted, "true") == 0)) return MST_OK;
            break;
        case MUSTER__ATTR_VALUE__VALUE_S:
            if (value->s.len + 2 == strlen(wanted) && memcmp(value->s.data, wanted + 1, value->s.len) == 0)
                return MST_OK;
            break;
        default: break;
    }
    return other_value(s, key, wanted);
}

/* Checks the attributes that are not in the form: only attributes that change nothing are allowed. */
static mst_status check_others(reading *s) {
    for (size_t i = 0; i < s->it->def->n_attr; i++) {
        const char *key = s->it->def->attr[i]->key;
        bool known = *key == '_' || mst_read_may_skip(s->it, key, mst_read_attr(s->it, i));
        for (int k = 0; k < s->form->num_attributes; k++) known = known || strcmp(s->form->attribute[k].key, key) == 0;
        if (!known) return mst_read_unknown(s->r, s->it, key);
    }
    return MST_OK;
}

/* Sets the options that conditions fix, such as "alpha==1". TensorFlow's op has no such option and always computes with
 * this number. */
static void set_conditions(reading *s) {
    const char *conditions = s->form->conditions;
    char left[32], right[32], operation;
    while (mst_form_condition(&conditions, left, right, &operation)) {
        const mst_field *field = mst_op_field(s->it->op, left);
        void *at = field ? s->options + field->offset : NULL;
        if (field && field->type == MST_FIELD_TYPE_F32) *(float *)at = (float)mst_number_start(right, NULL);
        if (field && field->type == MST_FIELD_TYPE_F64) *(double *)at = mst_number_start(right, NULL);
    }
}

/* ---- nodes ---- */

/* Whether the node is a reduction over no axes. Our ops cannot express that, because an empty list of axes means all
 * axes. */
static bool reduces_nothing(const reading *s) {
    for (int i = 0; i < s->form->num_arguments; i++) {
        const mst_form_argument *argument = &s->form->argument[i];
        if (argument->kind == MST_FORM_MADE && strcmp(argument->name, "axes") == 0)
            return ((const mst_axes *)(void *)(s->options + mst_op_field(s->it->op, "axes")->offset))->count == 0;
    }
    return false;
}

mst_status mst_read_foreign(mst_graph_reader *r, mst_read_item *it, mst_option_memory *memory, void *options,
                            mst_value *src, mst_node_parts *parts) {
    reading s = {.r = r, .it = it, .memory = memory, .options = options, .src = src};
    MST_TRY(find_values(&s));
    MST_TRY(find_form(&s));
    for (int i = 0, at = 0; i < s.form->num_arguments; at += width(&s, i++))
        if (s.form->argument[i].kind >= MST_FORM_OPTION) MST_TRY(read_constant(&s, &s.form->argument[i], s.input[at]));
    for (int i = 0; i < s.form->num_attributes; i++) MST_TRY(read_attribute(&s, &s.form->attribute[i]));
    MST_TRY(check_others(&s));
    set_conditions(&s);
    parts->num_src = s.num_src;
    if (reduces_nothing(&s)) {
        parts->op = it->op = mst_find_op("identity");
        parts->options = NULL;
    }
    return MST_OK;
}

/* A name that no node of the file has: NODE/LABEL, else NODE/LABEL_1, NODE/LABEL_2, ... */
static const char *fresh_name(mst_graph_reader *r, const mst_read_item *it, const char *label) {
    const char *name = mst_arena_print(&r->arena, "%s/%s", it->def->name, label);
    for (int i = 1; name && mst_names_get(&r->names, name) >= 0; i++)
        name = mst_arena_print(&r->arena, "%s/%s_%d", it->def->name, label, i);
    return name;
}

/* TensorFlow's second output of SoftmaxCrossEntropyWithLogits is softmax(logits) - labels, even if a row of labels does
 * not sum to 1. */
mst_status mst_read_derivative(mst_graph_reader *r, mst_read_item *it, mst_value *out) {
    *out = (mst_value){it->node, 1};
    if (strcmp(it->op->name, "softmax_cross_entropy") != 0) return MST_OK;
    if (mst_value_is_none(it->derivative)) {
        const char *softmax_name = fresh_name(r, it, "softmax"), *name = fresh_name(r, it, "derivative");
        if (!softmax_name || !name) return MST_NO_MEMORY("to read a graph");
        const mst_value *src = it->node->src;
        mst_value softmax = mst_call_text(r->graph, "softmax", softmax_name, 1, src, NULL);
        it->derivative = mst_call_text(r->graph, "sub", name, 2, (const mst_value[]){softmax, src[1]}, NULL);
        if (mst_graph_check(r->graph)) return mst_read_fail_at(it);
    }
    *out = it->derivative;
    return MST_OK;
}
