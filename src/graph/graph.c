/* Life of a graph, its errors, look-ups of nodes and values, and collections. Nodes are made in make_node.c, scopes
 * and names in scope.c.
 *
 * Two rules hold for every function that changes a graph. First it claims the graph (mst_graph_claim): if another
 * thread is building it, or a session reads it, the result is an error instead of a race. Second, the first error stays
 * on the graph (mst_graph_keep_error): everything built from then on is an error value. So one check at the end,
 * mst_graph_check, is enough. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "graph/graph.h"

mst_status mst_graph_create(mst_graph **out) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    mst_graph *graph = calloc(1, sizeof *graph);
    if (!graph) return MST_NO_MEMORY("for a graph");
    atomic_init(&graph->references, 1);
    graph->error_node = (mst_node){.graph = graph, .id = -1, .name = "error", .device = ""};
    graph->current = (mst_scope){.name_prefix = "", .variable_prefix = "", .device = "", .setter_inner = ""};
    *out = graph;
    return MST_OK;
}

mst_graph *mst_graph_retain(mst_graph *graph) {
    atomic_fetch_add(&graph->references, 1);
    return graph;
}

void mst_graph_destroy(mst_graph *graph) {
    if (!graph || atomic_fetch_sub(&graph->references, 1) > 1) return;
    for (int64_t i = 0; i < graph->num_bodies; i++) mst_graph_destroy(graph->body[i]);
    for (int64_t i = 0; i < graph->num_tensors; i++) mst_tensor_release(graph->tensor[i]);
    for (int64_t i = 0; i < graph->num_collections; i++) free(graph->collection[i].value);
    free(graph->tensor);
    free(graph->body);
    free(graph->collection);
    free(graph->control);
    free(graph->scope);
    free(graph->node);
    mst_names_free(&graph->names);
    mst_names_free(&graph->suffixes);
    mst_arena_free(&graph->arena);
    free(graph);
}

/* ---- one thread at a time ---- */

static _Thread_local char self; /* its address stands for the thread */

static mst_status misused(int how) {
    return how == MST_BUILT_BY_TWO
               ? MST_FAIL(MST_INVALID,
                          "graph: two threads have built it at once: let one build it, or one after the other")
               : MST_FAIL(MST_INVALID,
                          "graph: a thread has built it while another began a run of it: build it to its end first");
}

static mst_claim refuse(mst_graph *graph, int how) {
    atomic_store(&graph->misuse, how);
    misused(how);
    return MST_CLAIM_REFUSED;
}

/* A builder first writes `owner` and then looks at `readers`. A reader first counts itself in `readers` and then looks
 * at `owner`. So if both happen at the same time, at least one of them sees the other. */
mst_claim mst_graph_claim(mst_graph *graph) {
    const void *owner = NULL;
    if (atomic_compare_exchange_strong(&graph->owner, &owner, &self)) {
        if (!atomic_load(&graph->readers)) return MST_CLAIM_OUTER;
        atomic_store(&graph->owner, NULL);
        return refuse(graph, MST_BUILT_WHILE_RUN);
    }
    return owner == &self ? MST_CLAIM_NESTED : refuse(graph, MST_BUILT_BY_TWO);
}

mst_status mst_graph_read_begin(mst_graph *graph) {
    atomic_fetch_add(&graph->readers, 1);
    const void *owner = atomic_load(&graph->owner);
    if (!owner || owner == &self) return MST_OK;
    mst_graph_read_end(graph);
    return MST_FAIL(MST_INVALID, "graph: another thread is building it: build it to its end before it is run");
}

void mst_graph_read_end(mst_graph *graph) {
    atomic_fetch_sub(&graph->readers, 1);
}

void mst_graph_yield(mst_graph *graph, mst_claim claim) {
    if (claim == MST_CLAIM_OUTER) atomic_store(&graph->owner, NULL);
}

/* ---- errors ---- */

mst_status mst_graph_check(const mst_graph *graph) {
    if (MST_IS_NULL(graph)) return MST_INVALID;
    const int misuse = atomic_load(&graph->misuse);
    if (misuse) return misused(misuse);
    return mst_failure_restore(&graph->failure);
}

static void keep_error(mst_graph *graph) {
    if (!graph->failure.code) mst_failure_keep(&graph->failure, mst_error()->code);
}

void mst_graph_keep_error(mst_graph *graph) {
    const mst_claim claim = mst_graph_claim(graph);
    if (claim) keep_error(graph);
    mst_graph_yield(graph, claim);
}

mst_value mst_graph_error_value(mst_graph *graph) {
    return (mst_value){.node = &graph->error_node};
}

mst_value mst_value_of_last_error(mst_graph *graph) {
    if (!graph) return MST_NONE;
    mst_graph_keep_error(graph);
    return mst_graph_error_value(graph);
}

void mst_graph_set_seed(mst_graph *graph, uint64_t seed) {
    if (MST_IS_NULL(graph)) return;
    graph->seed = seed;
}

uint64_t mst_graph_seed(const mst_graph *graph) {
    if (MST_IS_NULL(graph)) return 0;
    return graph->seed;
}

uint64_t mst_graph_version(const mst_graph *graph) {
    if (MST_IS_NULL(graph)) return 0;
    return (uint64_t)graph->num_nodes;
}

int64_t mst_graph_num_nodes(const mst_graph *graph) {
    if (MST_IS_NULL(graph)) return 0;
    return graph->num_nodes;
}

mst_node *mst_graph_node(const mst_graph *graph, int64_t id) {
    if (MST_IS_NULL(graph)) return NULL;
    return id >= 0 && id < graph->num_nodes ? graph->node[id] : NULL;
}

mst_node *mst_graph_find(const mst_graph *graph, const char *name) {
    if (MST_IS_NULL(graph) || MST_IS_NULL(name)) return NULL;
    return mst_graph_node(graph, mst_names_get(&graph->names, name));
}

bool mst_graph_find_value(const mst_graph *graph, const char *text, mst_value *out) {
    const char *colon = strrchr(text, ':');
    int64_t index = 0;
    if (colon) {
        char *end;
        if (!isdigit((unsigned char)colon[1])) return false;
        index = strtoll(colon + 1, &end, 10);
        if (*end) return false;
    }
    mst_node *node =
        mst_graph_node(graph, mst_names_get_part(&graph->names, text, colon ? (size_t)(colon - text) : strlen(text)));
    if (!node || index >= node->num_dst) return false;
    *out = (mst_value){node, (int32_t)index};
    return true;
}

/* ---- values and nodes ---- */

mst_graph *mst_value_graph(mst_value value) {
    return value.node ? value.node->graph : NULL;
}

bool mst_value_is_none(mst_value value) {
    return !value.node || value.node->id < 0;
}

bool mst_value_equal(mst_value a, mst_value b) {
    return a.node == b.node && a.index == b.index;
}

mst_spec mst_value_spec(mst_value value) {
    return mst_value_is_none(value) ? (mst_spec){0} : value.node->dst[value.index];
}

const char *mst_value_name(mst_value value) {
    return value.node ? value.node->name : "";
}

mst_value mst_value_output(mst_value value, int i) {
    if (mst_value_is_none(value)) return value;
    if (i < 0 || i >= value.node->num_dst)
        return mst_value_fail(value.node->graph, MST_INVALID, "output %d of '%s' asked for, which has %d", i,
                              value.node->name, value.node->num_dst);
    return (mst_value){value.node, i};
}

mst_value mst_rename(mst_value value, const char *name) {
    if (mst_value_is_none(value)) return value;
    mst_graph *graph = value.node->graph;
    if (MST_IS_NULL_IN(graph, name)) return mst_graph_error_value(graph);
    const mst_claim claim = mst_graph_claim(graph);
    if (!claim) return mst_graph_error_value(graph);
    /* The old name becomes free, as if the node had been made with the new one. After an "add" is renamed, the next
     * unnamed add is called "add", as in TensorFlow. */
    const char *unique = NULL;
    if (!mst_graph_release_name(graph, value.node->name)) unique = mst_graph_unique_name(graph, name);
    const bool done = unique && !mst_names_set(&graph->names, unique, value.node->id);
    if (done)
        value.node->name = unique;
    else
        mst_graph_keep_error(graph);
    mst_graph_yield(graph, claim);
    return done ? value : mst_graph_error_value(graph);
}

const char *mst_node_name(const mst_node *node) {
    if (MST_IS_NULL(node)) return "";
    return node->name;
}

const mst_op *mst_node_op(const mst_node *node) {
    if (MST_IS_NULL(node)) return NULL;
    return node->op;
}

const void *mst_node_options(const mst_node *node) {
    if (MST_IS_NULL(node)) return NULL;
    return node->options;
}

int mst_node_num_src(const mst_node *node) {
    if (MST_IS_NULL(node)) return 0;
    return node->num_src;
}

mst_value mst_node_src(const mst_node *node, int i) {
    if (MST_IS_NULL(node)) return MST_NONE;
    return i >= 0 && i < node->num_src ? node->src[i] : MST_NONE;
}

int mst_node_num_dst(const mst_node *node) {
    if (MST_IS_NULL(node)) return 0;
    return node->num_dst;
}

const char *mst_node_device(const mst_node *node) {
    if (MST_IS_NULL(node)) return "";
    return node->device;
}

/* ---- collections ---- */

static mst_collection_list *find_collection(const mst_graph *graph, const char *name) {
    for (int64_t i = 0; i < graph->num_collections; i++)
        if (strcmp(graph->collection[i].name, name) == 0) return &graph->collection[i];
    return NULL;
}

static mst_status collect(mst_graph *graph, const char *name, mst_value value) {
    mst_collection_list *list = find_collection(graph, name);
    if (!list) {
        MST_TRY(mst_grow(&graph->collection, sizeof *list, graph->num_collections + 1, &graph->collection_capacity));
        list = &graph->collection[graph->num_collections];
        *list = (mst_collection_list){.name = mst_arena_string(&graph->arena, name)};
        if (!list->name) return MST_NO_MEMORY("for a collection");
        graph->num_collections++;
    }
    MST_TRY(mst_grow(&list->value, sizeof value, list->count + 1, &list->capacity));
    list->value[list->count++] = value;
    return MST_OK;
}

void mst_collect(mst_graph *graph, const char *collection, mst_value value) {
    if (MST_IS_NULL(graph) || MST_IS_NULL_IN(graph, collection)) return;
    if (mst_value_is_none(value)) return; /* its error is on the graph already */
    const mst_claim claim = mst_graph_claim(graph);
    if (claim && collect(graph, collection, value)) mst_graph_keep_error(graph);
    mst_graph_yield(graph, claim);
}

int mst_collection(const mst_graph *graph, const char *collection, const char *scope, mst_value *out, int max) {
    if (MST_IS_NULL(graph) || MST_IS_NULL(collection)) return 0;
    const mst_collection_list *list = find_collection(graph, collection);
    size_t length = scope ? strlen(scope) : 0;
    int count = 0;
    for (int64_t i = 0; list && i < list->count; i++) {
        if (length && strncmp(list->value[i].node->name, scope, length) != 0) continue;
        if (out && count < max) out[count] = list->value[i];
        count++;
    }
    return count;
}
