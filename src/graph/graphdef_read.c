/* TensorFlow's GraphDef to a graph.
 *
 * Nothing in a file is trusted. First all names and inputs are resolved to numbers of nodes; then each node is made
 * after those that it needs, in the order of the file where that is possible, by the function that also makes the nodes
 * of a program: it checks the number of sources and the options, and infers shapes. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/no_memory.h"
#include "graph/field.h"
#include "graph/graph.h"
#include "graph/graphdef.h"
#include "graph/options.h"
#include "graph/type_name.h"

/* What one node needs of another: its output INDEX as a source, -1: that it runs before. */
typedef struct link {
    int64_t item;
    int32_t index;
    const mst_field *field; /* the option that is this value; NULL: a source */
} link;

/* A node of the file. */
typedef struct item {
    Muster__NodeDef *def;
    const mst_op *op;
    bool is_ours; /* the file gives the op by our name: it was written by Muster */
    enum { WAITING, BEGUN, DONE } state;
    link *link; /* inputs and options that are values, in the order of the file */
    int64_t num_links;
    int64_t next; /* link to follow, while the node is begun */
    mst_node *node;
} item;

typedef struct reader {
    mst_graph *graph;
    const Muster__GraphDef *def;
    item *item;
    int64_t num_items;
    mst_names names;      /* of the nodes -> number of the item */
    mst_arena arena;      /* of links */
    size_t spare;         /* bytes of tensors that need not be in the file */
    int64_t outputs_left; /* a file of n bytes has no use for more than n outputs */
} reader;

/* ---- errors ---- */

/* Names of a damaged file may have control characters, which would spoil the line of a message. */
static void make_plain(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
}

/* An error of a node. Names are cut: those of a damaged file may be long. */
static mst_status wrong(const item *it, mst_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));

static mst_status wrong(const item *it, mst_status code, const char *format, ...) {
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    make_plain(text);
    MST_FAIL(code, "node '%.100s': %s", it->def->name, text);
    (void)mst_error_at(it->def->name, NULL);
    return code;
}

/* The last error is of this node. */
static mst_status wrong_in(const item *it) {
    const mst_status code = mst_error()->code;
    char text[600];
    snprintf(text, sizeof text, "%s", mst_error()->message);
    return wrong(it, code, "%s", text);
}

/* ---- attributes ---- */

/* Attribute K; one without a value is of no kind. */
static const Muster__AttrValue *attr_value(const item *it, size_t k) {
    static const Muster__AttrValue none = {.value_case = MUSTER__ATTR_VALUE__VALUE__NOT_SET};
    const Muster__AttrValue *value = it->def->attr[k]->value;
    return value ? value : &none;
}

static const Muster__AttrValue *find_attr(const item *it, const char *key) {
    const Muster__AttrValue *found = NULL;
    for (size_t i = 0; i < it->def->n_attr; i++)
        if (strcmp(it->def->attr[i]->key, key) == 0) found = attr_value(it, i); /* the last one counts */
    return found;
}

/* The string of an attribute, in ARENA. */
static mst_status string_of(const item *it, const char *key, const ProtobufCBinaryData *bytes, mst_arena *arena,
                            const char **out) {
    *out = "";
    if (bytes->len && memchr(bytes->data, '\0', bytes->len))
        return wrong(it, MST_CORRUPT, "attribute '%.60s' has a zero byte", key);
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

static mst_status want(const item *it, const char *key, const Muster__AttrValue *value,
                       Muster__AttrValue__ValueCase kind) {
    if (value->value_case == kind) return MST_OK;
    const Muster__AttrValue wanted = {.value_case = kind};
    return wrong(it, MST_CORRUPT, "attribute '%.60s' is %s, must be %s", key, kind_name(value), kind_name(&wanted));
}

/* ---- ops ---- */

/* The op whose type name is that of the node, where there is just one. */
static mst_status find_by_type(item *it) {
    const mst_op *op, *other = NULL;
    char text[MST_TYPE_NAME_TEXT];
    for (int i = 0; (op = mst_op_at(i)); i++) {
        if (strcmp(mst_op_type_name(op, text, sizeof text), it->def->op) != 0) continue;
        if (it->op) other = it->op;
        it->op = op;
    }
    if (other)
        return wrong(it, MST_INVALID, "its op '%.60s' is %s or %s: the attribute " MST_ATTR_OP " would say which",
                     it->def->op, other->name, it->op->name);
    if (it->op) return MST_OK;
    return wrong(it, MST_INVALID, "there is no op for TensorFlow's '%.60s'", it->def->op);
}

static mst_status find_op(reader *r, item *it) {
    const Muster__AttrValue *value = find_attr(it, MST_ATTR_OP);
    const char *name;
    if (!value) return find_by_type(it);
    it->is_ours = true;
    MST_TRY(want(it, MST_ATTR_OP, value, MUSTER__ATTR_VALUE__VALUE_S));
    MST_TRY(string_of(it, MST_ATTR_OP, &value->s, &r->arena, &name));
    if ((it->op = mst_find_op(name))) return MST_OK;
    char guess[MST_DID_YOU_MEAN_TEXT];
    return wrong(it, MST_INVALID,
                 "its op '%.60s' is not known here: one of a program must be registered with mst_register_op before "
                 "the graph is read%s",
                 name, mst_op_did_you_mean(name, guess, sizeof guess));
}

/* ---- names and links ---- */

static mst_status index_names(reader *r) {
    for (int64_t i = 0; i < r->num_items; i++) {
        item *it = &r->item[i];
        it->def = r->def->node[i];
        if (!mst_name_is_valid(it->def->name)) {
            make_plain(it->def->name);
            return MST_FAIL(MST_CORRUPT, "node %lld has the name '%.100s', which cannot be that of a node",
                            (long long)i, it->def->name);
        }
        if (mst_names_get(&r->names, it->def->name) >= 0)
            return wrong(it, MST_CORRUPT, "there are two nodes of this name");
        MST_TRY(mst_names_set(&r->names, it->def->name, i));
    }
    return MST_OK;
}

/* "node", "node:1", "^node" */
static mst_status parse_link(const reader *r, const item *it, const char *text, link *out) {
    const bool is_control = *text == '^';
    const char *name = text + is_control, *colon = is_control ? NULL : strrchr(name, ':');
    const size_t most_digits = 9, length = colon ? (size_t)(colon - name) : strlen(name);
    *out = (link){.item = mst_names_get_part(&r->names, name, length), .index = is_control ? -1 : 0};
    if (colon) {
        const size_t digits = strspn(colon + 1, "0123456789");
        if (!digits || digits > most_digits || colon[1 + digits]) out->item = -1;
        out->index = (int32_t)strtol(colon + 1, NULL, 10);
    }
    if (out->item >= 0) return MST_OK;
    return wrong(it, MST_CORRUPT, "it needs '%.100s', which is not there", text);
}

static const mst_field *find_field(const mst_op *op, const char *name) {
    for (const mst_field *field = op->fields; field && field->name; field++)
        if (strcmp(field->name, name) == 0) return field;
    return NULL;
}

/* The option that is a value and whose attribute has this key. */
static const mst_field *value_field(const mst_op *op, const char *key) {
    const size_t prefix = strlen(MST_ATTR_VALUE);
    if (strncmp(key, MST_ATTR_VALUE, prefix) != 0) return NULL;
    const mst_field *field = find_field(op, key + prefix);
    return field && field->type == MST_FIELD_TYPE_VALUE ? field : NULL;
}

static mst_status find_links(reader *r, item *it) {
    const Muster__NodeDef *def = it->def;
    it->link = mst_arena_alloc(&r->arena, (def->n_input + def->n_attr + 1) * sizeof *it->link);
    if (!it->link) return MST_NO_MEMORY("to read a graph");
    for (size_t i = 0; i < def->n_input; i++) MST_TRY(parse_link(r, it, def->input[i], &it->link[it->num_links++]));
    for (size_t i = 0; i < def->n_attr; i++) {
        const char *key = def->attr[i]->key, *text;
        const Muster__AttrValue *value = attr_value(it, i);
        const mst_field *field = value_field(it->op, key);
        if (!field) continue;
        MST_TRY(want(it, key, value, MUSTER__ATTR_VALUE__VALUE_S));
        MST_TRY(string_of(it, key, &value->s, &r->arena, &text));
        MST_TRY(parse_link(r, it, text, &it->link[it->num_links]));
        if (it->link[it->num_links].index < 0) return wrong(it, MST_CORRUPT, "option %s is no value", field->name);
        it->link[it->num_links++].field = field;
    }
    return MST_OK;
}

/* ---- options ---- */

static mst_status read_integer(const item *it, const mst_field *field, const Muster__AttrValue *value, void *at) {
    MST_TRY(want(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_I));
    if (field->type != MST_FIELD_TYPE_I32) {
        *(int64_t *)at = value->i; /* u64: the same bits */
        return MST_OK;
    }
    if (value->i < INT32_MIN || value->i > INT32_MAX)
        return wrong(it, MST_CORRUPT, "option %s is %lld, which needs more than 32 bits", field->name,
                     (long long)value->i);
    *(int32_t *)at = (int32_t)value->i;
    return MST_OK;
}

static mst_status read_tensor(reader *r, const item *it, const char *key, const Muster__AttrValue *value,
                              mst_option_memory *memory, mst_tensor **out) {
    mst_tensor *tensor = NULL;
    MST_TRY(want(it, key, value, MUSTER__ATTR_VALUE__VALUE_TENSOR));
    if (mst_tensor_from_proto(value->tensor, &r->spare, &tensor)) return wrong_in(it);
    MST_TRY(mst_option_memory_keep(memory, tensor));
    *out = tensor;
    return MST_OK;
}

/* A double is a tensor of one; a float will do. */
static mst_status read_f64(reader *r, const item *it, const mst_field *field, const Muster__AttrValue *value,
                           mst_option_memory *memory, double *out) {
    mst_tensor *tensor = NULL;
    if (value->value_case == MUSTER__ATTR_VALUE__VALUE_F) {
        *out = (double)value->f;
        return MST_OK;
    }
    MST_TRY(read_tensor(r, it, field->name, value, memory, &tensor));
    if (mst_tensor_dtype(tensor) != MST_F64 || mst_tensor_count(tensor) != 1)
        return wrong(it, MST_CORRUPT, "option %s is a tensor of %lld %s, must be one f64", field->name,
                     (long long)mst_tensor_count(tensor), mst_dtype_name(mst_tensor_dtype(tensor)));
    memcpy(out, mst_tensor_data(tensor), sizeof *out);
    return MST_OK;
}

static mst_status read_axes(const item *it, const mst_field *field, const Muster__AttrValue *value, mst_axes *out) {
    MST_TRY(want(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_LIST));
    const Muster__AttrValue__ListValue *list = value->list;
    *out = (mst_axes){.count = (int32_t)(list->n_i < MST_MAX_NDIM ? list->n_i : MST_MAX_NDIM)};
    if (list->n_i > MST_MAX_NDIM)
        return wrong(it, MST_CORRUPT, "option %s has %zu numbers, at most %d are possible", field->name, list->n_i,
                     MST_MAX_NDIM);
    for (int i = 0; i < out->count; i++) {
        if (list->i[i] < INT32_MIN || list->i[i] > INT32_MAX)
            return wrong(it, MST_CORRUPT, "option %s has the number %lld, which needs more than 32 bits", field->name,
                         (long long)list->i[i]);
        out->axis[i] = (int32_t)list->i[i];
    }
    return MST_OK;
}

static mst_status read_enum(const item *it, const mst_field *field, const Muster__AttrValue *value,
                            mst_option_memory *memory, int *out) {
    const char *name;
    MST_TRY(want(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_S));
    MST_TRY(string_of(it, field->name, &value->s, &memory->arena, &name));
    for (int i = 0; field->names[i]; i++) {
        *out = i;
        if (strcmp(field->names[i], name) == 0) return MST_OK;
    }
    return wrong(it, MST_INVALID, "option %s is '%.60s', which is none of its values", field->name, name);
}

static mst_status read_option(reader *r, const item *it, const mst_field *field, const Muster__AttrValue *value,
                              mst_option_memory *memory, void *at) {
    switch (field->type) {
        case MST_FIELD_TYPE_BOOL:
            MST_TRY(want(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_B));
            *(bool *)at = value->b != 0;
            return MST_OK;
        case MST_FIELD_TYPE_I32:
        case MST_FIELD_TYPE_I64:
        case MST_FIELD_TYPE_U64: return read_integer(it, field, value, at);
        case MST_FIELD_TYPE_F32:
            MST_TRY(want(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_F));
            *(float *)at = value->f;
            return MST_OK;
        case MST_FIELD_TYPE_F64: return read_f64(r, it, field, value, memory, at);
        case MST_FIELD_TYPE_DTYPE:
            MST_TRY(want(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_TYPE));
            if ((*(mst_dtype *)at = mst_dtype_from_proto(value->type))) return MST_OK;
            return wrong(it, MST_INVALID, "option %s is TensorFlow's dtype number %d, which Muster does not have",
                         field->name, (int)value->type);
        case MST_FIELD_TYPE_SHAPE:
            MST_TRY(want(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_SHAPE));
            return mst_shape_from_proto(value->shape, at) ? wrong_in(it) : MST_OK;
        case MST_FIELD_TYPE_AXES: return read_axes(it, field, value, at);
        case MST_FIELD_TYPE_STRING:
            MST_TRY(want(it, field->name, value, MUSTER__ATTR_VALUE__VALUE_S));
            return string_of(it, field->name, &value->s, &memory->arena, at);
        case MST_FIELD_TYPE_TENSOR: return read_tensor(r, it, field->name, value, memory, at);
        case MST_FIELD_TYPE_ENUM: return read_enum(it, field, value, memory, at);
        default: break;
    }
    return wrong(it, MST_INVALID, "option %s of %s cannot be read from a file", field->name, it->op->name);
}

/* Attributes that mean nothing to us: dtypes, which are inferred, and what another program says of a feature that it
 * does not use. */
static bool may_skip(const item *it, const char *key, const Muster__AttrValue *value) {
    if (strcmp(key, "T") == 0 || strcmp(key, "dtype") == 0) return true;
    if (it->is_ours) return false;
    return value->value_case == MUSTER__ATTR_VALUE__VALUE_TYPE ||
           (value->value_case == MUSTER__ATTR_VALUE__VALUE_B && !value->b) ||
           (value->value_case == MUSTER__ATTR_VALUE__VALUE_S && !value->s.len);
}

static mst_status unknown(reader *r, const item *it, const char *key) {
    size_t count = 0;
    while (it->op->fields && it->op->fields[count].name) count++;
    const char **names = mst_arena_alloc(&r->arena, (count + 1) * sizeof *names);
    if (!names) return MST_NO_MEMORY("to read a graph");
    for (size_t i = 0; i < count; i++) names[i] = it->op->fields[i].name;
    char guess[MST_DID_YOU_MEAN_TEXT];
    return wrong(it, MST_INVALID, "attribute '%.60s' is no option of %s%s", key, it->op->name,
                 mst_did_you_mean(key, names, guess, sizeof guess));
}

static int num_sources(const item *it) {
    int count = 0;
    for (int64_t i = 0; i < it->num_links; i++) count += it->link[i].index >= 0 && !it->link[i].field;
    return count;
}

static mst_status read_options(reader *r, const item *it, mst_option_memory *memory, void *options) {
    for (size_t i = 0; i < it->def->n_attr; i++) {
        const char *key = it->def->attr[i]->key;
        const Muster__AttrValue *value = attr_value(it, i);
        const mst_field *field = find_field(it->op, key);
        if (field && field->type != MST_FIELD_TYPE_VALUE) {
            MST_TRY(read_option(r, it, field, value, memory, (char *)options + field->offset));
            if (mst_field_given(field, (char *)options + field->offset)) return wrong_in(it);
        } else if (strcmp(key, "N") == 0 && it->op->num_src == MST_VARIADIC) {
            MST_TRY(want(it, key, value, MUSTER__ATTR_VALUE__VALUE_I));
            if (value->i != num_sources(it))
                return wrong(it, MST_CORRUPT, "it has %d sources, and says that there are %lld", num_sources(it),
                             (long long)value->i);
        } else if (*key != '_' && !may_skip(it, key, value)) {
            return unknown(r, it, key);
        }
    }
    return MST_OK;
}

/* ---- nodes ---- */

static mst_status resolve(const reader *r, const item *it, const link *l, mst_value *out) {
    mst_node *node = r->item[l->item].node;
    if (l->index >= node->num_dst)
        return wrong(it, MST_CORRUPT, "it needs output %d of '%.100s', which has %d", l->index, node->name,
                     node->num_dst);
    *out = (mst_value){node, l->index};
    return MST_OK;
}

static mst_status fill_links(const reader *r, const item *it, mst_value *src, mst_node **control, void *options,
                             mst_node_parts *parts) {
    for (int64_t i = 0; i < it->num_links; i++) {
        const link *l = &it->link[i];
        mst_value value;
        if (l->index < 0) {
            control[parts->num_control++] = r->item[l->item].node;
            continue;
        }
        MST_TRY(resolve(r, it, l, &value));
        if (l->field)
            *(mst_value *)(void *)((char *)options + l->field->offset) = value;
        else
            src[parts->num_src++] = value;
    }
    parts->src = src;
    parts->control = control;
    parts->options = options;
    return MST_OK;
}

/* A few bytes can say that a node has very many outputs. */
static mst_status count_outputs(reader *r, const item *it, const void *options) {
    const mst_op *op = it->op;
    const int count = op->num_dst == MST_VARIADIC ? op->count_dst(options, num_sources(it)) : op->num_dst;
    if (count > r->outputs_left)
        return wrong(it, MST_CORRUPT, "it has %d outputs, more than the file has a use for", count);
    r->outputs_left -= count;
    return MST_OK;
}

static mst_status add_node(reader *r, item *it, mst_option_memory *memory) {
    mst_graph *graph = r->graph;
    const size_t links = (size_t)it->num_links + 1;
    void *options = mst_arena_alloc(&memory->arena, it->op->options_size + 1);
    mst_value *src = mst_arena_alloc(&memory->arena, links * sizeof *src);
    mst_node **control = mst_arena_alloc(&memory->arena, links * sizeof *control);
    const char *name = mst_arena_string(&graph->arena, it->def->name);
    if (!options || !src || !control || !name) return MST_NO_MEMORY("to read a graph");
    mst_node_parts parts = {.op = it->op, .name = name};
    if (!(parts.device = mst_graph_merge_device(graph, "", it->def->device))) return wrong_in(it);
    MST_TRY(read_options(r, it, memory, options));
    MST_TRY(count_outputs(r, it, options));
    MST_TRY(fill_links(r, it, src, control, options, &parts));
    if (mst_graph_add_node(graph, &parts, &it->node)) return wrong_in(it);
    return mst_graph_adopt_name(graph, name);
}

/* Makes the node after all that it needs. */
static mst_status build(reader *r, int64_t first, int64_t *stack) {
    int64_t depth = 0;
    stack[depth++] = first;
    r->item[first].state = BEGUN;
    while (depth) {
        item *it = &r->item[stack[depth - 1]];
        if (it->next < it->num_links) {
            item *needed = &r->item[it->link[it->next++].item];
            if (needed->state == BEGUN)
                return wrong(it, MST_CORRUPT, "it needs '%.100s', which needs it in turn", needed->def->name);
            if (needed->state == DONE) continue;
            needed->state = BEGUN;
            stack[depth++] = needed - r->item;
            continue;
        }
        mst_option_memory memory = {0};
        mst_status status = add_node(r, it, &memory);
        mst_option_memory_free(&memory);
        if (status) return status;
        it->state = DONE;
        depth--;
    }
    return MST_OK;
}

static mst_status build_all(reader *r) {
    int64_t *stack = mst_arena_alloc(&r->arena, (size_t)r->num_items * sizeof *stack);
    if (!stack) return MST_NO_MEMORY("to read a graph");
    for (int64_t i = 0; i < r->num_items; i++)
        if (r->item[i].state == WAITING) MST_TRY(build(r, i, stack));
    return MST_OK;
}

/* ---- what belongs to the whole graph ---- */

typedef struct collection {
    long number;
    const item *item;
    const char *key;
    const Muster__AttrValue *value;
} collection;

static int by_number(const void *a, const void *b) {
    const collection *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

static mst_status read_collection(reader *r, const collection *c) {
    const char *name, *text;
    MST_TRY(want(c->item, c->key, c->value, MUSTER__ATTR_VALUE__VALUE_LIST));
    const Muster__AttrValue__ListValue *list = c->value->list;
    if (!list->n_s) return wrong(c->item, MST_CORRUPT, "attribute '%.60s' has no name", c->key);
    MST_TRY(string_of(c->item, c->key, &list->s[0], &r->arena, &name));
    for (size_t i = 1; i < list->n_s; i++) {
        mst_value value;
        MST_TRY(string_of(c->item, c->key, &list->s[i], &r->arena, &text));
        if (!mst_graph_find_value(r->graph, text, &value))
            return wrong(c->item, MST_CORRUPT, "collection '%.60s' has '%.100s', which is not there", name, text);
        mst_collect(r->graph, name, value);
    }
    return mst_graph_check(r->graph);
}

static mst_status read_graph(reader *r) {
    collection *list = NULL;
    int64_t count = 0, capacity = 0;
    mst_status status = MST_OK;
    const size_t prefix = strlen(MST_ATTR_COLLECTION);
    for (int64_t i = 0; i < r->num_items && !status; i++) {
        const item *it = &r->item[i];
        for (size_t k = 0; k < it->def->n_attr && !status; k++) {
            const char *key = it->def->attr[k]->key;
            const Muster__AttrValue *value = attr_value(it, k);
            if (strcmp(key, MST_ATTR_SEED) == 0) {
                status = want(it, key, value, MUSTER__ATTR_VALUE__VALUE_I);
                if (!status) mst_graph_set_seed(r->graph, (uint64_t)value->i);
            } else if (strncmp(key, MST_ATTR_COLLECTION "_", prefix + 1) == 0) {
                status = mst_grow(&list, sizeof *list, count + 1, &capacity);
                if (!status) list[count++] = (collection){strtol(key + prefix + 1, NULL, 10), it, key, value};
            }
        }
    }
    if (count) qsort(list, (size_t)count, sizeof *list, by_number);
    for (int64_t i = 0; i < count && !status; i++) status = read_collection(r, &list[i]);
    free(list);
    return status;
}

static mst_status read_all(reader *r) {
    r->num_items = (int64_t)r->def->n_node;
    if (!r->num_items) return MST_FAIL(MST_CORRUPT, "there is no node in it");
    r->item = mst_arena_alloc(&r->arena, (size_t)r->num_items * sizeof *r->item);
    if (!r->item) return MST_NO_MEMORY("to read a graph");
    MST_TRY(index_names(r));
    for (int64_t i = 0; i < r->num_items; i++) {
        MST_TRY(find_op(r, &r->item[i]));
        MST_TRY(find_links(r, &r->item[i]));
    }
    MST_TRY(build_all(r));
    return read_graph(r);
}

/* ---- messages ---- */

static void *allocate(void *failed, size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory) *(bool *)failed = true;
    return memory;
}

static void release(void *failed, void *memory) {
    (void)failed;
    free(memory);
}

mst_status mst_graph_decode(const void *data, size_t size, mst_graph **out) {
    if (MST_IS_NULL(data) || MST_IS_NULL(out)) return MST_INVALID;
    enum { SPARE = 1 << 28 }; /* enough for tensors of zeros, of ones and the like */
    bool failed = false;
    ProtobufCAllocator allocator = {.alloc = allocate, .free = release, .allocator_data = &failed};
    *out = NULL;
    if (size > MST_GRAPHDEF_MOST) return MST_FAIL(MST_INVALID, "%zu bytes, a GraphDef has fewer than 2 GiB", size);
    Muster__GraphDef *def = muster__graph_def__unpack(&allocator, size, data);
    if (!def)
        return failed ? MST_NO_MEMORY("to read a graph")
                      : MST_FAIL(MST_CORRUPT, "it is no GraphDef, or it is damaged or cut off");
    reader r = {.def = def, .spare = SPARE, .outputs_left = (int64_t)size};
    mst_status status = mst_graph_create(&r.graph);
    if (!status) status = read_all(&r);
    muster__graph_def__free_unpacked(def, &allocator);
    mst_names_free(&r.names);
    mst_arena_free(&r.arena);
    if (status)
        mst_graph_destroy(r.graph);
    else
        *out = r.graph;
    return status;
}

mst_status mst_graph_read(const char *path, mst_graph **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    void *data;
    size_t size;
    *out = NULL;
    MST_TRY(mst_file_read(path, MST_GRAPHDEF_MOST, &data, &size));
    mst_status status = mst_graph_decode(data, size, out);
    free(data);
    return status ? mst_error_prefix("reading '%s'", path) : MST_OK;
}
