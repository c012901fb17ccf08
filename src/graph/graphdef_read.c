/* Reads a graph from TensorFlow's GraphDef.
 *
 * Nothing in a file is trusted. First all names and inputs are resolved to numbers of nodes. Then each node is made
 * after the nodes that it needs, if possible in the order of the file. As for the nodes of a program,
 * mst_graph_add_node makes it: it checks the number of sources and the options, and infers shapes. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/did_you_mean.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "graph/field.h"
#include "graph/graphdef_reader.h"
#include "graph/tf_form.h"

/* ---- ops ---- */

/* Finds the op of nodes of this type, if there is exactly one. */
static mst_status find_by_type(mst_read_item *it) {
    const mst_op *op, *other = NULL;
    for (int i = 0; (op = mst_op_at(i)); i++) {
        if (!mst_reads_type(op, it->def->op)) continue;
        if (it->op) other = it->op;
        it->op = op;
    }
    if (other)
        return mst_read_fail(it, MST_INVALID,
                             "its op '%.60s' is %s or %s: the attribute " MST_ATTR_OP " would say which", it->def->op,
                             other->name, it->op->name);
    if (it->op) return MST_OK;
    return mst_read_fail(it, MST_INVALID, "there is no op for TensorFlow's '%.60s'", it->def->op);
}

static mst_status find_op(mst_graph_reader *r, mst_read_item *it) {
    const Muster__AttrValue *value = mst_read_find_attr(it, MST_ATTR_OP);
    const char *name;
    it->is_part = mst_read_find_attr(it, MST_ATTR_PART) != NULL;
    if (it->is_part) return MST_OK;
    if (!value) return find_by_type(it);
    it->is_ours = true;
    MST_TRY(mst_read_check_kind(it, MST_ATTR_OP, value, MUSTER__ATTR_VALUE__VALUE_S));
    MST_TRY(mst_read_string(it, MST_ATTR_OP, &value->s, &r->arena, &name));
    if ((it->op = mst_find_op(name))) return MST_OK;
    char guess[MST_DID_YOU_MEAN_TEXT];
    return mst_read_fail(
        it, MST_INVALID,
        "its op '%.60s' is not known here: one of a program must be registered with mst_register_op before "
        "the graph is read%s",
        name, mst_op_did_you_mean(name, guess, sizeof guess));
}

/* ---- names and links ---- */

static mst_status index_names(mst_graph_reader *r) {
    for (int64_t i = 0; i < r->num_items; i++) {
        mst_read_item *it = &r->item[i];
        it->def = r->def->node[i];
        if (!mst_name_is_valid(it->def->name)) {
            mst_make_plain(it->def->name);
            return MST_FAIL(MST_CORRUPT, "node %lld has the name '%.100s', which cannot be that of a node",
                            (long long)i, it->def->name);
        }
        if (mst_names_get(&r->names, it->def->name) >= 0)
            return mst_read_fail(it, MST_CORRUPT, "there are two nodes of this name");
        MST_TRY(mst_names_set(&r->names, it->def->name, i));
    }
    return MST_OK;
}

/* Reads "node", "node:1" or "^node". */
static mst_status parse_link(const mst_graph_reader *r, const mst_read_item *it, const char *text, mst_read_link *out) {
    const bool is_control = *text == '^';
    const char *name = text + is_control, *colon = is_control ? NULL : strrchr(name, ':');
    const size_t most_digits = 9, length = colon ? (size_t)(colon - name) : strlen(name);
    *out = (mst_read_link){.item = mst_names_get_part(&r->names, name, length), .index = is_control ? -1 : 0};
    if (colon) {
        const size_t digits = strspn(colon + 1, "0123456789");
        if (!digits || digits > most_digits || colon[1 + digits]) out->item = -1;
        out->index = (int32_t)strtol(colon + 1, NULL, 10);
    }
    if (out->item >= 0) return MST_OK;
    return mst_read_fail(it, MST_CORRUPT, "it needs '%.100s', which is not there", text);
}

/* The option of type value whose attribute has this key. */
static const mst_field *value_field(const mst_op *op, const char *key) {
    const size_t prefix = strlen(MST_ATTR_OPTION);
    if (strncmp(key, MST_ATTR_OPTION, prefix) != 0) return NULL;
    const mst_field *field = mst_op_field(op, key + prefix);
    return field && field->type == MST_FIELD_TYPE_VALUE ? field : NULL;
}

/* Reads the sources that the attribute MST_ATTR_SOURCES lists, and the control inputs. A NoOp has its sources as
 * control inputs at the front: these are not read again as control inputs. */
static mst_status find_listed(mst_graph_reader *r, mst_read_item *it, const Muster__AttrValue *value) {
    const Muster__NodeDef *def = it->def;
    const char *text;
    MST_TRY(mst_read_check_kind(it, MST_ATTR_SOURCES, value, MUSTER__ATTR_VALUE__VALUE_LIST));
    const Muster__AttrValue__ListValue *list = value->list;
    it->link = mst_arena_alloc(&r->arena, (list->n_s + def->n_input + def->n_attr + 1) * sizeof *it->link);
    if (!it->link) return MST_NO_MEMORY("to read a graph");
    for (size_t i = 0; i < list->n_s; i++) {
        MST_TRY(mst_read_string(it, MST_ATTR_SOURCES, &list->s[i], &r->arena, &text));
        MST_TRY(parse_link(r, it, text, &it->link[it->num_links++]));
        if (it->link[i].index < 0) return mst_read_fail(it, MST_CORRUPT, "its source '%.60s' is no value", text);
    }
    for (size_t i = 0; i < def->n_input; i++) {
        mst_read_link *l = &it->link[it->num_links];
        if (*def->input[i] != '^') continue;
        MST_TRY(parse_link(r, it, def->input[i], l));
        if (i >= list->n_s || it->link[i].item != l->item) it->num_links++;
    }
    return MST_OK;
}

static mst_status find_inputs(mst_graph_reader *r, mst_read_item *it) {
    const Muster__NodeDef *def = it->def;
    const Muster__AttrValue *listed = it->is_ours ? mst_read_find_attr(it, MST_ATTR_SOURCES) : NULL;
    if (listed) return find_listed(r, it, listed);
    it->link = mst_arena_alloc(&r->arena, (def->n_input + def->n_attr + 1) * sizeof *it->link);
    if (!it->link) return MST_NO_MEMORY("to read a graph");
    for (size_t i = 0; i < def->n_input; i++) MST_TRY(parse_link(r, it, def->input[i], &it->link[it->num_links++]));
    return MST_OK;
}

static mst_status find_links(mst_graph_reader *r, mst_read_item *it) {
    const Muster__NodeDef *def = it->def;
    MST_TRY(find_inputs(r, it));
    for (size_t i = 0; i < def->n_attr; i++) {
        const char *key = def->attr[i]->key, *text;
        const Muster__AttrValue *value = mst_read_attr(it, i);
        const mst_field *field = value_field(it->op, key);
        if (!field) continue;
        MST_TRY(mst_read_check_kind(it, key, value, MUSTER__ATTR_VALUE__VALUE_S));
        MST_TRY(mst_read_string(it, key, &value->s, &r->arena, &text));
        MST_TRY(parse_link(r, it, text, &it->link[it->num_links]));
        if (it->link[it->num_links].index < 0)
            return mst_read_fail(it, MST_CORRUPT, "option %s is no value", field->name);
        it->link[it->num_links++].field = field;
    }
    return MST_OK;
}

/* ---- options ---- */

int mst_read_num_sources(const mst_read_item *it) {
    int count = 0;
    for (int64_t i = 0; i < it->num_links; i++) count += it->link[i].index >= 0 && !it->link[i].field;
    return count;
}

/* The option that the attribute KEY sets. In a node that Muster wrote, KEY is '_' and the option's name, or the name
 * alone if there is no attribute with the '_'. */
static const mst_field *option_of(const mst_read_item *it, const char *key) {
    const size_t prefix = strlen(MST_ATTR_OPTION);
    const mst_field *field = mst_op_field(it->op, key);
    if (it->is_ours && strncmp(key, MST_ATTR_OPTION, prefix) == 0) return mst_op_field(it->op, key + prefix);
    for (size_t i = 0; field && it->is_ours && i < it->def->n_attr; i++) {
        const char *other = it->def->attr[i]->key;
        if (strncmp(other, MST_ATTR_OPTION, prefix) == 0 && strcmp(other + prefix, key) == 0) return NULL;
    }
    return field;
}

static mst_status read_options(mst_graph_reader *r, const mst_read_item *it, mst_option_memory *memory, void *options) {
    for (size_t i = 0; i < it->def->n_attr; i++) {
        const char *key = it->def->attr[i]->key;
        const Muster__AttrValue *value = mst_read_attr(it, i);
        const mst_field *field = option_of(it, key);
        if (field && field->type != MST_FIELD_TYPE_VALUE) {
            MST_TRY(mst_read_option(r, it, field, value, memory, (char *)options + field->offset));
            if (mst_field_given(field, (char *)options + field->offset)) return mst_read_fail_at(it);
        } else if (strcmp(key, "N") == 0 && it->op->num_src == MST_VARIADIC) {
            MST_TRY(mst_read_check_kind(it, key, value, MUSTER__ATTR_VALUE__VALUE_I));
            if (value->i != mst_read_num_sources(it))
                return mst_read_fail(it, MST_CORRUPT, "it has %d sources, and says that there are %lld",
                                     mst_read_num_sources(it), (long long)value->i);
        } else if (!it->is_ours && *key != '_' && !mst_read_may_skip(it, key, value)) {
            return mst_read_unknown(r, it, key);
        }
    }
    return MST_OK;
}

/* ---- nodes ---- */

mst_status mst_read_resolve(mst_graph_reader *r, const mst_read_item *it, const mst_read_link *l, mst_value *out) {
    mst_read_item *needed = &r->item[l->item];
    mst_node *node = needed->node;
    if (needed->is_part)
        return mst_read_fail(it, MST_CORRUPT, "it needs '%.100s', which is a part of another node", needed->def->name);
    if (l->index == 1 && !needed->is_ours && node->num_dst == 2) return mst_read_derivative(r, needed, out);
    if (l->index >= node->num_dst)
        return mst_read_fail(it, MST_CORRUPT, "it needs output %d of '%.100s', which has %d", l->index, node->name,
                             node->num_dst);
    *out = (mst_value){node, l->index};
    return MST_OK;
}

static mst_status fill_controls(mst_graph_reader *r, const mst_read_item *it, mst_node **control,
                                mst_node_parts *parts) {
    for (int64_t i = 0; i < it->num_links; i++) {
        const mst_read_item *needed = &r->item[it->link[i].item];
        if (it->link[i].index >= 0) continue;
        if (needed->is_part)
            return mst_read_fail(it, MST_CORRUPT, "it needs '^%.100s', which is a part of another node",
                                 needed->def->name);
        control[parts->num_control++] = needed->node;
    }
    parts->control = control;
    return MST_OK;
}

static mst_status fill_sources(mst_graph_reader *r, const mst_read_item *it, mst_value *src, void *options,
                               mst_node_parts *parts) {
    for (int64_t i = 0; i < it->num_links; i++) {
        const mst_read_link *l = &it->link[i];
        mst_value value;
        if (l->index < 0) continue;
        MST_TRY(mst_read_resolve(r, it, l, &value));
        if (l->field)
            *(mst_value *)(void *)((char *)options + l->field->offset) = value;
        else
            src[parts->num_src++] = value;
    }
    return MST_OK;
}

/* Checks the number of outputs, because a few bytes can make it very large. */
static mst_status count_outputs(mst_graph_reader *r, const mst_read_item *it, const mst_node_parts *parts) {
    const mst_op *op = it->op;
    const int count = op->num_dst == MST_VARIADIC ? op->count_dst(parts->options, parts->num_src) : op->num_dst;
    if (count > r->outputs_left)
        return mst_read_fail(it, MST_CORRUPT, "it has %d outputs, more than the file has a use for", count);
    r->outputs_left -= count;
    return MST_OK;
}

static mst_status add_node(mst_graph_reader *r, mst_read_item *it, mst_option_memory *memory) {
    mst_graph *graph = r->graph;
    const size_t links = (size_t)it->num_links + 1;
    void *options = mst_arena_alloc(&memory->arena, it->op->options_size + 1);
    mst_value *src = mst_arena_alloc(&memory->arena, links * sizeof *src);
    mst_node **control = mst_arena_alloc(&memory->arena, links * sizeof *control);
    const char *name = mst_arena_string(&graph->arena, it->def->name);
    if (!options || !src || !control || !name) return MST_NO_MEMORY("to read a graph");
    mst_node_parts parts = {.op = it->op, .name = name, .src = src, .options = options};
    if (!(parts.device = mst_graph_merge_device(graph, "", it->def->device))) return mst_read_fail_at(it);
    MST_TRY(fill_controls(r, it, control, &parts));
    if (it->is_ours || !it->op->tf_form) {
        MST_TRY(read_options(r, it, memory, options));
        MST_TRY(fill_sources(r, it, src, options, &parts));
    } else {
        MST_TRY(mst_read_foreign(r, it, memory, options, src, &parts));
    }
    MST_TRY(count_outputs(r, it, &parts));
    if (mst_graph_add_node(graph, &parts, &it->node)) return mst_read_fail_at(it);
    return mst_graph_adopt_name(graph, name);
}

/* Makes the node, and before it all nodes that it needs. */
static mst_status graphdef_read_node(mst_graph_reader *r, int64_t first, int64_t *stack) {
    int64_t depth = 0;
    stack[depth++] = first;
    r->item[first].state = MST_READ_BEGUN;
    while (depth) {
        mst_read_item *it = &r->item[stack[depth - 1]];
        if (it->next < it->num_links) {
            mst_read_item *needed = &r->item[it->link[it->next++].item];
            if (needed->state == MST_READ_BEGUN)
                return mst_read_fail(it, MST_CORRUPT, "it needs '%.100s', which needs it in turn", needed->def->name);
            if (needed->state == MST_READ_DONE) continue;
            needed->state = MST_READ_BEGUN;
            stack[depth++] = needed - r->item;
            continue;
        }
        mst_option_memory memory = {0};
        mst_status status = add_node(r, it, &memory);
        mst_option_memory_free(&memory);
        if (status) return status;
        it->state = MST_READ_DONE;
        depth--;
    }
    return MST_OK;
}

static mst_status build_all(mst_graph_reader *r) {
    int64_t *stack = mst_arena_alloc(&r->arena, (size_t)r->num_items * sizeof *stack);
    if (!stack) return MST_NO_MEMORY("to read a graph");
    for (int64_t i = 0; i < r->num_items; i++)
        if (r->item[i].state == MST_READ_WAITING) MST_TRY(graphdef_read_node(r, i, stack));
    return MST_OK;
}

/* ---- attributes of the whole graph ---- */

typedef struct collection {
    long number;
    const mst_read_item *item;
    const char *key;
    const Muster__AttrValue *value;
} collection;

static int by_number(const void *a, const void *b) {
    const collection *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

static mst_status read_collection(mst_graph_reader *r, const collection *c) {
    const char *name, *text;
    MST_TRY(mst_read_check_kind(c->item, c->key, c->value, MUSTER__ATTR_VALUE__VALUE_LIST));
    const Muster__AttrValue__ListValue *list = c->value->list;
    if (!list->n_s) return mst_read_fail(c->item, MST_CORRUPT, "attribute '%.60s' has no name", c->key);
    MST_TRY(mst_read_string(c->item, c->key, &list->s[0], &r->arena, &name));
    for (size_t i = 1; i < list->n_s; i++) {
        mst_value value;
        MST_TRY(mst_read_string(c->item, c->key, &list->s[i], &r->arena, &text));
        if (!mst_graph_find_value(r->graph, text, &value))
            return mst_read_fail(c->item, MST_CORRUPT, "collection '%.60s' has '%.100s', which is not there", name,
                                 text);
        mst_collect(r->graph, name, value);
    }
    return mst_graph_check(r->graph);
}

static mst_status read_graph(mst_graph_reader *r) {
    collection *list = NULL;
    int64_t count = 0, capacity = 0;
    mst_status status = MST_OK;
    const size_t prefix = strlen(MST_ATTR_COLLECTION);
    for (int64_t i = 0; i < r->num_items && !status; i++) {
        const mst_read_item *it = &r->item[i];
        for (size_t k = 0; k < it->def->n_attr && !status; k++) {
            const char *key = it->def->attr[k]->key;
            const Muster__AttrValue *value = mst_read_attr(it, k);
            if (strcmp(key, MST_ATTR_SEED) == 0) {
                status = mst_read_check_kind(it, key, value, MUSTER__ATTR_VALUE__VALUE_I);
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

static mst_status graphdef_read_all(mst_graph_reader *r) {
    r->num_items = (int64_t)r->def->n_node;
    if (!r->num_items) return MST_FAIL(MST_CORRUPT, "there is no node in it");
    r->item = mst_arena_alloc(&r->arena, (size_t)r->num_items * sizeof *r->item);
    if (!r->item) return MST_NO_MEMORY("to read a graph");
    MST_TRY(index_names(r));
    for (int64_t i = 0; i < r->num_items; i++) {
        MST_TRY(find_op(r, &r->item[i]));
        if (r->item[i].is_part)
            r->item[i].state = MST_READ_DONE;
        else
            MST_TRY(find_links(r, &r->item[i]));
    }
    MST_TRY(build_all(r));
    if (!r->graph->num_nodes) return MST_FAIL(MST_CORRUPT, "there are only parts of other nodes in it");
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

mst_status mst_graph_decode_at(int depth, const void *data, size_t size, mst_graph **out) {
    enum { SPARE = 1 << 28 }; /* enough for tensors of zeros, of ones and the like */
    bool failed = false;
    ProtobufCAllocator allocator = {.alloc = allocate, .free = release, .allocator_data = &failed};
    *out = NULL;
    if (size > MST_GRAPHDEF_MOST) return MST_FAIL(MST_INVALID, "%zu bytes, a GraphDef has fewer than 2 GiB", size);
    Muster__GraphDef *def = muster__graph_def__unpack(&allocator, size, data);
    if (!def)
        return failed ? MST_NO_MEMORY("to read a graph")
                      : MST_FAIL(MST_CORRUPT, "it is no GraphDef, or it is damaged or cut off");
    mst_graph_reader r = {.def = def, .spare = SPARE, .depth = depth, .outputs_left = (int64_t)size};
    mst_status status = mst_graph_create(&r.graph);
    if (!status) status = graphdef_read_all(&r);
    muster__graph_def__free_unpacked(def, &allocator);
    mst_names_free(&r.names);
    mst_arena_free(&r.arena);
    if (status)
        mst_graph_destroy(r.graph);
    else
        *out = r.graph;
    return status;
}

mst_status mst_graph_decode(const void *data, size_t size, mst_graph **out) {
    if (MST_IS_NULL(data) || MST_IS_NULL(out)) return MST_INVALID;
    return mst_graph_decode_at(0, data, size, out);
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
