/* Writes a graph as a TensorFlow GraphDef. The messages are made in an arena and refer to the strings and tensors of
 * the graph.
 *
 * A node is written as its TensorFlow equivalent (graphdef_form.c). It also gets the attribute _output_shapes, and an
 * attribute '_NAME' for each option NAME that is not 0, unless a TensorFlow attribute NAME has the same value:
 *
 *      type of the option    member of AttrValue
 *      bool                  b
 *      i32, i64              i
 *      u64                   i, the i64 of the same bits
 *      f32                   f
 *      f64                   tensor, a DT_DOUBLE scalar: AttrValue has no member for a double
 *      dtype                 type
 *      shape                 shape
 *      axes                  list of i
 *      string                s
 *      tensor                tensor
 *      graph                 s, a GraphDef of its own
 *      enum                  s, its name
 *      value                 s, "node:1"
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/graphdef_form.h"
#include "graph/graphdef_message.h"
#include "graph/type_name.h"

/* The GraphDef version of TensorFlow 1.15. Any would be accepted: readers require at least 0. */
enum { PRODUCER = 134 };

/* ---- attributes ---- */

/* The text that FORM has as the value of the TensorFlow attribute named like OPTION; NULL: there is no such
 * attribute. */
static const char *written_as(const mst_form *form, const char *option) {
    for (int i = 0; form && i < form->num_attributes; i++)
        if (strcmp(form->attribute[i].key, option) == 0) return form->attribute[i].value;
    return NULL;
}

static mst_status add_options(mst_graph_writer *w, const mst_node *from, const mst_form *form, Muster__NodeDef *node) {
    for (const mst_field *field = from->op->fields; field && field->name; field++) {
        const char *written = written_as(form, field->name);
        const size_t before = node->n_attr;
        if (written && strcmp(written, field->name) == 0) continue;
        const char *key = mst_arena_print(&w->arena, MST_ATTR_OPTION "%s", field->name);
        if (!key) return MST_NO_MEMORY("to write a graph");
        MST_TRY(mst_message_add_option(w, from, node, field, key));
        /* An option that is 0 is not written. But without it the reader takes TensorFlow's attribute of that name. */
        if (written && node->n_attr == before) MST_TRY(mst_message_add_integer(w, node, key, 0));
    }
    return MST_OK;
}

static mst_status add_shapes(mst_graph_writer *w, const mst_node *from, Muster__NodeDef *node) {
    if (from->op->flags & MST_OP_NO_VALUE) return MST_OK;
    Muster__AttrValue__ListValue *list = mst_message_add_list(w, node, MST_ATTR_SHAPES);
    if (!list || !(list->shape = mst_arena_alloc(&w->arena, (size_t)from->num_dst * sizeof *list->shape)))
        return MST_NO_MEMORY("to write a graph");
    for (int i = 0; i < from->num_dst; i++)
        if (!(list->shape[list->n_shape++] = mst_message_shape(w, &from->dst[i].shape)))
            return MST_NO_MEMORY("to write a graph");
    return MST_OK;
}

static mst_status add_list(mst_graph_writer *w, Muster__NodeDef *node, const char *key, const mst_value *value,
                           int count) {
    Muster__AttrValue__ListValue *list = mst_message_add_list(w, node, key);
    if (!list || !(list->s = mst_arena_alloc(&w->arena, ((size_t)count + 1) * sizeof *list->s)))
        return MST_NO_MEMORY("to write a graph");
    for (int i = 0; i < count; i++) {
        const char *text = mst_message_value(w, value[i]);
        if (!text) return MST_NO_MEMORY("to write a graph");
        list->s[list->n_s++] = mst_message_bytes(text);
    }
    return MST_OK;
}

/* ---- attributes of the whole graph: on its first node ---- */

static mst_status add_graph(mst_graph_writer *w, Muster__NodeDef *node) {
    const mst_graph *graph = w->graph;
    if (graph->seed) MST_TRY(mst_message_add_integer(w, node, MST_ATTR_SEED, (int64_t)graph->seed));
    for (int64_t i = 0; i < graph->num_collections; i++) {
        const mst_collection_list *collection = &graph->collection[i];
        const char *key = mst_arena_print(&w->arena, MST_ATTR_COLLECTION "_%lld", (long long)i);
        Muster__AttrValue__ListValue *list = key ? mst_message_add_list(w, node, key) : NULL;
        if (!list || !(list->s = mst_arena_alloc(&w->arena, ((size_t)collection->count + 1) * sizeof *list->s)))
            return MST_NO_MEMORY("to write a graph");
        list->s[list->n_s++] = mst_message_bytes(collection->name);
        for (int64_t v = 0; v < collection->count; v++) {
            const char *name = mst_message_value(w, collection->value[v]);
            if (!name) return MST_NO_MEMORY("to write a graph");
            list->s[list->n_s++] = mst_message_bytes(name);
        }
    }
    return MST_OK;
}

/* ---- nodes ---- */

/* Writes a node whose op TensorFlow does not have, under a type name that it does not know either. */
static mst_status write_ours(mst_graph_writer *w, const mst_node *from, Muster__NodeDef *node) {
    char type[MST_TYPE_NAME_TEXT];
    /* By its own name: if the op has a form, mst_op_type_name(from->op) would give TensorFlow's name. */
    const mst_op named = {.name = from->op->name};
    node->op = mst_arena_print(&w->arena, MST_TYPE_PREFIX "%s", mst_op_type_name(&named, type, sizeof type));
    node->input = mst_arena_alloc(&w->arena, ((size_t)from->num_src + (size_t)from->num_control + 1) * sizeof(char *));
    if (!node->op || !node->input) return MST_NO_MEMORY("to write a graph");
    for (int i = 0; i < from->num_src; i++)
        if (!(node->input[node->n_input++] = mst_message_text(mst_message_value(w, from->src[i]))))
            return MST_NO_MEMORY("to write a graph");
    return MST_OK;
}

/* Lists the sources in an attribute, if the TensorFlow inputs differ from them. */
static mst_status add_sources(mst_graph_writer *w, const mst_node *from, Muster__NodeDef *node) {
    bool same = node->n_input == (size_t)from->num_src;
    for (int i = 0; same && i < from->num_src; i++) {
        const char *text = mst_message_value(w, from->src[i]);
        if (!text) return MST_NO_MEMORY("to write a graph");
        same = strcmp(text, node->input[i]) == 0;
    }
    return same ? MST_OK : add_list(w, node, MST_ATTR_SOURCES, from->src, from->num_src);
}

static mst_status add_controls(mst_graph_writer *w, const mst_node *from, Muster__NodeDef *node) {
    for (int i = 0; i < from->num_control; i++)
        if (!(node->input[node->n_input++] = mst_arena_print(&w->arena, "^%s", from->control[i]->name)))
            return MST_NO_MEMORY("to write a graph");
    return MST_OK;
}

/* Refuses an op whose name belongs to another registered op: the reader would take that one. */
static mst_status check_op(const mst_node *from) {
    const mst_op *known = mst_find_op(from->op->name);
    if (!known || known == from->op) return MST_OK;
    MST_FAIL(MST_INVALID, "node '%s': its op has the name of another, '%s': ops are written by name", from->name,
             from->op->name);
    return mst_error_at(from->name, NULL);
}

static mst_status add_node(mst_graph_writer *w, const mst_node *from) {
    enum { MOST_USUAL = 4 + MST_FORM_MOST }; /* most attributes that are not options */
    const mst_form *form;
    Muster__NodeDef *node;
    size_t room = MOST_USUAL + (from->id == 0 ? (size_t)w->graph->num_collections : 0);
    for (const mst_field *field = from->op->fields; field && field->name; field++) room++;
    MST_TRY(check_op(from));
    MST_TRY(mst_graph_new_node(w, from->name, room, &node));
    node->device = mst_message_text(from->device);
    MST_TRY(mst_message_add_text(w, node, MST_ATTR_OP, from->op->name));
    MST_TRY(mst_graph_form_of(w, from, &form));
    MST_TRY(form ? mst_graph_write_form(w, from, form, node) : write_ours(w, from, node));
    MST_TRY(add_sources(w, from, node));
    MST_TRY(add_controls(w, from, node));
    MST_TRY(add_options(w, from, form, node));
    MST_TRY(add_shapes(w, from, node));
    if (from->id == 0) MST_TRY(add_graph(w, node));
    return mst_graph_put_node(w, node);
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

static mst_status encode(mst_graph_writer *w, void **data, size_t *size) {
    Muster__GraphDef def = MUSTER__GRAPH_DEF__INIT;
    Muster__VersionDef versions = MUSTER__VERSION_DEF__INIT;
    versions.producer = PRODUCER;
    def.versions = &versions;
    if (!w->graph->num_nodes) return MST_FAIL(MST_INVALID, "the graph has no nodes to write");
    for (int64_t i = 0; i < w->graph->num_nodes; i++) MST_TRY(add_node(w, w->graph->node[i]));
    def.node = w->node;
    def.n_node = (size_t)w->num_nodes;
    return pack(&def, data, size);
}

mst_status mst_graph_encode(const mst_graph *graph, void **data, size_t *size) {
    if (MST_IS_NULL(graph) || MST_IS_NULL(data) || MST_IS_NULL(size)) return MST_INVALID;
    *data = NULL;
    *size = 0;
    MST_TRY(mst_graph_check(graph));
    mst_graph_writer w = {.graph = graph};
    mst_status status = encode(&w, data, size);
    mst_names_free(&w.parts);
    free(w.node);
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
