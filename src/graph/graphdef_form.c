/* Writes a node of a graph as one or more nodes of TensorFlow, by the form of its op (tf_form.h).
 *
 * The first form whose conditions hold is taken. Its outermost node gets the name of the node that is written. Each
 * node nested in the form, and each constant that it needs, becomes a part: a node named NODE/LABEL. Its attribute
 * MST_ATTR_PART names the node to which it belongs, so our reader skips it. Parts come before the nodes that use them.
 * A part that occurs twice in a form is written once. */
#include "graph/graphdef_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

/* The node that is being written, and its parts so far. */
typedef struct writing {
    mst_graph_writer *w;
    const mst_node *from;
    mst_form_use use;
    struct part { /* a part that is written already: the same text in a form is the same node */
        const char *text, *name;
        mst_dtype dtype;
    } part[4 * MST_FORM_MOST];
    int num_parts;
} writing;

/* An argument in the form in which it is written. */
typedef struct operand {
    const char *name;
    mst_dtype dtype;
} operand;

static mst_status no_memory(void) {
    return MST_NO_MEMORY("to write a graph");
}

static mst_status use_of(mst_graph_writer *w, const mst_node *from, mst_form_use *out) {
    mst_spec *src = mst_arena_alloc(&w->arena, ((size_t)from->num_src + 1) * sizeof *src);
    if (!src) return no_memory();
    for (int i = 0; i < from->num_src; i++) src[i] = mst_value_spec(from->src[i]);
    *out = (mst_form_use){
        .op = from->op, .options = from->options, .num_src = from->num_src, .src = src, .dst = from->dst};
    return MST_OK;
}

mst_status mst_graph_form_of(mst_graph_writer *w, const mst_node *from, const mst_form **out) {
    const char *text = from->op->tf_form;
    mst_form_use use;
    MST_TRY(use_of(w, from, &use));
    do MST_TRY(mst_form_parse(&w->arena, from->op, &text, out));
    while (*out && !((*out)->is_written && mst_form_holds(*out, &use)));
    return MST_OK;
}

mst_status mst_graph_new_node(mst_graph_writer *w, const char *name, size_t num_attributes, Muster__NodeDef **out) {
    Muster__NodeDef *node = mst_arena_alloc(&w->arena, sizeof *node);
    if (!node) return no_memory();
    muster__node_def__init(node);
    node->name = mst_message_text(name);
    if (!(node->attr = mst_arena_alloc(&w->arena, (num_attributes + 1) * sizeof(*node->attr)))) return no_memory();
    *out = node;
    return MST_OK;
}

mst_status mst_graph_put_node(mst_graph_writer *w, Muster__NodeDef *node) {
    MST_TRY(mst_grow(&w->node, sizeof(*w->node), w->num_nodes + 1, &w->capacity));
    w->node[w->num_nodes++] = node;
    return MST_OK;
}

/* ---- parts ---- */

/* A name for a part that no other node has: NODE/LABEL, else NODE/LABEL_1, NODE/LABEL_2, ... */
static const char *part_name(writing *s, const char *label) {
    mst_graph_writer *w = s->w;
    const char *name = mst_arena_print(&w->arena, "%s/%s", s->from->name, label);
    for (int i = 1; name && (mst_names_get(&w->graph->names, name) >= 0 || mst_names_get(&w->parts, name) >= 0); i++)
        name = mst_arena_print(&w->arena, "%s/%s_%d", s->from->name, label, i);
    return name && mst_names_set(&w->parts, name, 0) == MST_OK ? name : NULL;
}

static mst_status new_part(writing *s, const char *label, const char *op, Muster__NodeDef **out) {
    const char *name = part_name(s, label);
    if (!name) return no_memory();
    MST_TRY(mst_graph_new_node(s->w, name, MST_FORM_MOST + 3, out));
    (*out)->op = mst_message_text(op);
    (*out)->device = mst_message_text(s->from->device);
    return mst_message_add_text(s->w, *out, MST_ATTR_PART, s->from->name);
}

/* Adds a part that is a constant of numbers. */
static mst_status constant(writing *s, const char *label, mst_dtype dtype, mst_shape shape, const double *number,
                           operand *out) {
    Muster__NodeDef *node;
    mst_tensor *tensor;
    MST_TRY(new_part(s, label, "Const", &node));
    MST_TRY(mst_tensor_create(dtype, shape, &tensor));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, number[i]);
    const size_t bytes = mst_tensor_bytes(tensor);
    void *data = mst_arena_copy(&s->w->arena, mst_tensor_data(tensor), bytes);
    mst_tensor_release(tensor);
    if (!data && bytes) return no_memory();
    MST_TRY(mst_message_add_type(s->w, node, "dtype", dtype));
    *out = (operand){node->name, dtype};
    MST_TRY(mst_message_add_tensor(s->w, node, "value", dtype, shape, data, bytes));
    return mst_graph_put_node(s->w, node);
}

/* ---- numbers from options ---- */

/* A list of numbers: at most MST_MAX_NDIM rows of two. */
typedef struct numbers {
    mst_shape shape;
    unsigned pushed;
    double number[2 * MST_MAX_NDIM];
} numbers;

/* Appends a number to the list, which has room for every option's numbers. */
static void push(numbers *n, double number) {
    if (n->pushed == 2 * MST_MAX_NDIM) return;
    n->number[n->pushed++] = number;
    n->shape = mst_shape_make(1, (const int64_t[]){n->pushed});
}

static const void *option_at(const writing *s, const char *name) {
    const mst_field *field = mst_op_field(s->from->op, name);
    return field ? (const char *)s->from->options + field->offset : NULL;
}

static void push_axes(numbers *n, const mst_axes *axes, int least, double fill) {
    n->shape.ndim = 1;
    for (int i = 0; i < axes->count; i++) push(n, axes->axis[i]);
    while (n->shape.dim[0] < least) push(n, fill);
}

static void push_paddings(const writing *s, numbers *n) {
    const mst_shape *before = option_at(s, "before"), *after = option_at(s, "after");
    const int ndim = s->use.src[0].shape.ndim;
    for (int k = 0; k < ndim; k++) {
        n->number[2 * k] = k < before->ndim ? (double)before->dim[k] : 0;
        n->number[2 * k + 1] = k < after->ndim ? (double)after->dim[k] : 0;
    }
    n->shape = mst_shape_make(2, (const int64_t[]){ndim, 2});
}

/* The length of the longest list of strided_slice. The other lists are filled up to this length. */
static int longest(const writing *s) {
    static const char *const names[] = {"begin", "end", "strides"};
    int most = 0;
    for (int i = 0; i < 3; i++) {
        const mst_axes *axes = option_at(s, names[i]);
        if (axes->count > most) most = axes->count;
    }
    return most;
}

/* A mask of strided_slice: the option NAME, and the bits of all dimensions for which LIST has no number. */
static int32_t mask(const writing *s, const char *name, const char *list) {
    const mst_axes *axes = option_at(s, list);
    int32_t bits = *(const int32_t *)option_at(s, name);
    for (int k = axes->count; k < longest(s); k++) bits |= (int32_t)(1u << k);
    return bits;
}

/* The number that tf_form.h calls @NAME in an attribute. */
static int64_t made_integer(const writing *s, const char *name) {
    if (strcmp(name, "begin_mask") == 0) return mask(s, name, "begin");
    if (strcmp(name, "end_mask") == 0) return mask(s, name, "end");
    return s->use.src[0].shape.ndim - 1; /* "last" */
}

/* The numbers that tf_form.h calls @NAME, computed from the node's options. */
static void made_numbers(const writing *s, const char *name, numbers *out) {
    const int ndim = s->use.num_src ? s->use.src[0].shape.ndim : 0;
    const mst_axes *axes = option_at(s, name);
    *out = (numbers){.shape = {.ndim = 0}};
    if (strcmp(name, "axes") == 0) {
        push_axes(out, axes, 0, 0);
        for (int k = 0; k < ndim && axes->count == 0; k++) push(out, k);
    } else if (strcmp(name, "perm") == 0) {
        push_axes(out, axes, 0, 0);
        for (int k = 0; k < ndim && axes->count == 0; k++) push(out, ndim - 1 - k);
    } else if (strcmp(name, "paddings") == 0) {
        push_paddings(s, out);
    } else if (strcmp(name, "shape") == 0) {
        out->shape.ndim = 1;
        for (int k = 0; k < s->use.dst[0].shape.ndim; k++) push(out, (double)s->use.dst[0].shape.dim[k]);
    } else if (strcmp(name, "axis") == 0) {
        const int32_t axis = *(const int32_t *)option_at(s, name);
        out->number[0] = axis < 0 ? axis + ndim : axis;
    } else if (strcmp(name, "last") == 0) {
        out->number[0] = ndim - 1;
    } else {
        push_axes(out, axes, longest(s), strcmp(name, "strides") == 0);
    }
}

static mst_status option_numbers(const writing *s, const char *name, numbers *out) {
    const mst_field *field = mst_op_field(s->from->op, name);
    const void *at = option_at(s, name);
    *out = (numbers){.shape = {.ndim = 0}};
    switch (field ? field->type : MST_FIELD_TYPE_END) {
        case MST_FIELD_TYPE_BOOL: out->number[0] = *(const bool *)at; break;
        case MST_FIELD_TYPE_I32: out->number[0] = *(const int32_t *)at; break;
        case MST_FIELD_TYPE_I64: out->number[0] = (double)*(const int64_t *)at; break;
        case MST_FIELD_TYPE_F32: out->number[0] = (double)*(const float *)at; break;
        case MST_FIELD_TYPE_F64: out->number[0] = *(const double *)at; break;
        case MST_FIELD_TYPE_AXES: push_axes(out, at, 0, 0); break;
        case MST_FIELD_TYPE_SHAPE:
            out->shape.ndim = 1;
            for (int k = 0; k < ((const mst_shape *)at)->ndim; k++) push(out, (double)((const mst_shape *)at)->dim[k]);
            break;
        default: return MST_FAIL(MST_INVALID, "the op %s: its tf_form names '%s'", s->from->op->name, name);
    }
    return MST_OK;
}

/* ---- attributes ---- */

static bool is_in(const char *const *list, const char *text) {
    while (*list && strcmp(*list, text) != 0) list++;
    return *list != NULL;
}

static const char *attribute_of(const mst_form *form, const char *key) {
    for (int i = 0; i < form->num_attributes; i++)
        if (strcmp(form->attribute[i].key, key) == 0) return form->attribute[i].value;
    return NULL;
}

/* The dtype of the first output of FORM's op. FIRST is the dtype of its first argument. */
static mst_dtype result_of(const writing *s, const mst_form *form, mst_dtype first) {
    static const char *const bools[] = {"Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", NULL};
    static const char *const keys[] = {"DstT", "dtype", "out_type", NULL};
    if (is_in(bools, form->op)) return MST_BOOL;
    for (int i = 0; keys[i]; i++) {
        const char *value = attribute_of(form, keys[i]);
        if (value) return mst_form_dtype(&s->use, value);
    }
    return first;
}

static mst_status add_value(writing *s, Muster__NodeDef *node, const char *key, const char *value) {
    mst_graph_writer *w = s->w;
    const mst_field *field = mst_op_field(s->from->op, value);
    const mst_dtype dtype = mst_form_dtype(&s->use, value);
    if (strcmp(value, "*") == 0) return MST_OK;
    if (dtype) return mst_message_add_type(w, node, key, dtype);
    if (field && field->type == MST_FIELD_TYPE_F64) {
        Muster__AttrValue *attribute = mst_message_add(w, node, key);
        if (!attribute) return no_memory();
        attribute->value_case = MUSTER__ATTR_VALUE__VALUE_F;
        attribute->f = (float)*(const double *)option_at(s, value);
        return MST_OK;
    }
    if (field && (field->type == MST_FIELD_TYPE_I32 || field->type == MST_FIELD_TYPE_I64)) {
        numbers n;
        MST_TRY(option_numbers(s, value, &n));
        return mst_message_add_integer(w, node, key, (int64_t)n.number[0]);
    }
    if (field) return mst_message_add_option(w, s->from, node, field, key);
    if (*value == '\'') {
        const char *text = mst_arena_print(&w->arena, "%.*s", (int)strlen(value) - 2, value + 1);
        return mst_message_add_text(w, node, key, text);
    }
    if (*value == '@') return mst_message_add_integer(w, node, key, made_integer(s, value + 1));
    if (strcmp(value, "n") == 0) return mst_message_add_integer(w, node, key, s->from->num_src);
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        Muster__AttrValue *attribute = mst_message_add(w, node, key);
        if (!attribute) return no_memory();
        attribute->value_case = MUSTER__ATTR_VALUE__VALUE_B;
        attribute->b = *value == 't';
        return MST_OK;
    }
    return mst_message_add_integer(w, node, key, strtol(value, NULL, 10));
}

/* Adds the attribute T of IdentityN: a list with one dtype for each input. */
static mst_status add_types(writing *s, Muster__NodeDef *node, const operand *operands, int count) {
    Muster__AttrValue__ListValue *list = mst_message_add_list(s->w, node, "T");
    if (!list || !(list->type = mst_arena_alloc(&s->w->arena, (size_t)count * sizeof *list->type))) return no_memory();
    for (int i = 0; i < count; i++) list->type[list->n_type++] = mst_dtype_to_proto(operands[i].dtype);
    return MST_OK;
}

/* Adds the attributes of the form, and T if TensorFlow's op has it: `without` lists the ops that have no T. */
static mst_status add_attributes(writing *s, const mst_form *form, Muster__NodeDef *node, const operand *operands,
                                 int count) {
    static const char *const without[] = {
        "Const",      "Placeholder", "VariableV2", "NoOp",  "LogicalAnd", "LogicalOr", "StringToHashBucketFast",
        "LogicalNot", "Cast",        "GatherV2",   "Range", "All",        "Any",       NULL};
    for (int i = 0; i < form->num_attributes; i++)
        MST_TRY(add_value(s, node, form->attribute[i].key, form->attribute[i].value));
    if (strcmp(form->op, "IdentityN") == 0) return add_types(s, node, operands, count);
    const int first = strcmp(form->op, "SelectV2") == 0;
    if (attribute_of(form, "T") || is_in(without, form->op) || first >= count) return MST_OK;
    return mst_message_add_type(s->w, node, "T", operands[first].dtype);
}

/* ---- nodes ---- */

static mst_status write_node(writing *s, const mst_form *form, Muster__NodeDef *node, mst_dtype *result);

/* Writes a part. It gets the control inputs of the node, because it may read a variable that these write. */
static mst_status write_part(writing *s, const mst_form_argument *argument, operand *out) {
    for (int i = 0; i < s->num_parts; i++)
        if (strcmp(s->part[i].text, argument->name) == 0) {
            *out = (operand){s->part[i].name, s->part[i].dtype};
            return MST_OK;
        }
    Muster__NodeDef *node = NULL;
    struct part part = {.text = argument->name};
    MST_TRY(new_part(s, argument->node->op, argument->node->op, &node));
    MST_TRY(write_node(s, argument->node, node, &part.dtype));
    part.name = argument->index ? mst_arena_print(&s->w->arena, "%s:%d", node->name, argument->index) : node->name;
    if (!part.name) return no_memory();
    for (int i = 0; i < s->from->num_control; i++)
        if (!(node->input[node->n_input++] = mst_arena_print(&s->w->arena, "^%s", s->from->control[i]->name)))
            return no_memory();
    if (s->num_parts < (int)(sizeof s->part / sizeof *s->part)) s->part[s->num_parts++] = part;
    *out = (operand){part.name, part.dtype};
    return mst_graph_put_node(s->w, node);
}

static mst_status write_numbers(writing *s, const mst_form_argument *argument, operand *out) {
    numbers n = {.shape = {.ndim = 0}, .number = {argument->number}};
    mst_dtype dtype = argument->type ? mst_form_dtype(&s->use, argument->type) : MST_I32;
    if (argument->kind == MST_FORM_MADE) made_numbers(s, argument->name, &n);
    if (argument->kind == MST_FORM_OPTION) MST_TRY(option_numbers(s, argument->name, &n));
    if (argument->kind == MST_FORM_NUMBER && !argument->type) dtype = s->use.src[0].dtype;
    return constant(s, argument->name ? argument->name : "Const", dtype, n.shape, n.number, out);
}

static mst_status write_argument(writing *s, const mst_form_argument *argument, operand *out, int *count) {
    if (argument->kind == MST_FORM_NODE) return write_part(s, argument, &out[(*count)++]);
    if (argument->kind >= MST_FORM_OPTION) return write_numbers(s, argument, &out[(*count)++]);
    const bool all = argument->kind != MST_FORM_SOURCE;
    for (int i = all ? 0 : argument->index; i < (all ? s->from->num_src : argument->index + 1); i++) {
        const char *name = argument->kind == MST_FORM_BEFORE
                               ? mst_arena_print(&s->w->arena, "^%s", s->from->src[i].node->name)
                               : mst_message_value(s->w, s->from->src[i]);
        if (!name) return no_memory();
        out[(*count)++] = (operand){name, s->use.src[i].dtype};
    }
    return MST_OK;
}

static mst_status write_node(writing *s, const mst_form *form, Muster__NodeDef *node, mst_dtype *result) {
    const size_t room = MST_FORM_MOST + (size_t)s->from->num_src;
    operand *operands = mst_arena_alloc(&s->w->arena, room * sizeof *operands);
    node->input = mst_arena_alloc(&s->w->arena, (room + (size_t)s->from->num_control) * sizeof *node->input);
    int count = 0;
    if (!operands || !node->input) return no_memory();
    node->op = mst_message_text(form->op);
    for (int i = 0; i < form->num_arguments; i++) MST_TRY(write_argument(s, &form->argument[i], operands, &count));
    for (int i = 0; i < count; i++) node->input[node->n_input++] = mst_message_text(operands[i].name);
    *result = result_of(s, form, count ? operands[count > 1 && strcmp(form->op, "SelectV2") == 0].dtype : MST_NO_DTYPE);
    return add_attributes(s, form, node, operands, count);
}

mst_status mst_graph_write_form(mst_graph_writer *w, const mst_node *from, const mst_form *form,
                                Muster__NodeDef *node) {
    writing s = {.w = w, .from = from};
    mst_dtype result;
    MST_TRY(use_of(w, from, &s.use));
    return write_node(&s, form, node, &result);
}
