/* Making nodes. Programs make nodes with mst_call and its variants, both for ops of the library and for their own.
 * These functions find the graph, claim it (mst_graph_claim), check the op, name the node by the open scopes, and keep
 * the first error on the graph. Then they call mst_graph_add_node, which copies sources and options into the arena,
 * fills in the options and infers the outputs. Readers of graph files call mst_graph_add_node directly, with the names
 * and devices of the file. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/options.h"

mst_value mst_value_fail(mst_graph *graph, mst_status code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_error_set_list(code, __FILE__, __LINE__, format, list);
    va_end(list);
    return mst_value_of_last_error(graph);
}

static mst_status check_sources(mst_graph *graph, const mst_op *op, int num_src, const mst_value *src) {
    if (num_src < 0) return MST_FAIL(MST_INVALID, "%s: %d sources, must be 0 or more", op->name, num_src);
    if (op->num_src != MST_VARIADIC && op->num_src != num_src)
        return MST_FAIL(MST_INVALID, "%s: takes %d sources, got %d", op->name, op->num_src, num_src);
    for (int i = 0; i < num_src; i++) {
        if (!src[i].node)
            return MST_FAIL(MST_INVALID, "%s: source %d is no value (not initialised, or a gradient that is none)",
                            op->name, i);
        if (src[i].index < 0 || src[i].index >= src[i].node->num_dst)
            return MST_FAIL(MST_INVALID, "%s: source %d is output %d of '%s', which has %d", op->name, i, src[i].index,
                            src[i].node->name, src[i].node->num_dst);
        if (src[i].node->graph != graph)
            return MST_FAIL(MST_INVALID, "%s: source %d, '%s', is of another graph", op->name, i, src[i].node->name);
    }
    return MST_OK;
}

static mst_status infer(mst_node *node) {
    enum { FEW = 16 };
    mst_spec few_specs[FEW], *spec = few_specs;
    const char *few_names[FEW], **name = few_names;
    if (node->num_src > FEW) {
        spec = calloc((size_t)node->num_src, sizeof *spec);
        name = calloc((size_t)node->num_src, sizeof *name);
    }
    mst_status status = MST_OK;
    if (!spec || !name) status = MST_NO_MEMORY("for a node");
    for (int i = 0; i < node->num_src && !status; i++) {
        spec[i] = node->src[i].node->dst[node->src[i].index];
        name[i] = node->src[i].node->name;
    }
    if (!status)
        status =
            mst_node_infer(node->op, node->options, node->name, node->num_src, spec, name, node->num_dst, node->dst);
    if (spec != few_specs) free(spec);
    if (name != few_names) free(name);
    return status;
}

mst_status mst_graph_add_node(mst_graph *graph, const mst_node_parts *parts, mst_node **out) {
    const mst_op *op = parts->op;
    const int num_src = parts->num_src, num_control = parts->num_control;
    const mst_replica_place *place = graph->current.replica;
    mst_arena *arena = &graph->arena;
    MST_TRY(check_sources(graph, op, num_src, parts->src));
    mst_node *node = mst_arena_alloc(arena, sizeof *node);
    void *options = mst_arena_alloc(arena, op->options_size ? op->options_size : 1);
    if (!node || !options) return MST_NO_MEMORY("for node '%s'", parts->name);
    if (parts->options && op->options_size) memcpy(options, parts->options, op->options_size);
    const int num_dst = op->num_dst == MST_VARIADIC ? op->count_dst(options, num_src) : op->num_dst;
    if (num_dst < 1)
        return MST_FAIL(MST_INVALID, "%s: count_dst gives %d outputs, must be at least 1", op->name, num_dst);
    mst_value *src = mst_arena_copy(arena, parts->src, (size_t)num_src * sizeof *src);
    mst_spec *dst = mst_arena_alloc(arena, (size_t)num_dst * sizeof *dst);
    mst_node *const *control =
        num_control ? mst_arena_copy(arena, parts->control, (size_t)num_control * sizeof *control) : NULL;
    if (!src || !dst || (num_control && !control)) return MST_NO_MEMORY("for node '%s'", parts->name);
    MST_TRY(mst_options_resolve(graph, op, parts->name, options));
    mst_options_seed(graph, op, parts->name, options);
    *node = (mst_node){.graph = graph,
                       .id = graph->num_nodes,
                       .name = parts->name,
                       .op = op,
                       .options = options,
                       .num_src = num_src,
                       .src = src,
                       .num_control = num_control,
                       .control = control,
                       .num_dst = num_dst,
                       .dst = dst,
                       .device = parts->device,
                       .soft = graph->current.soft,
                       .of_gradient = graph->differentiates,
                       .shard = place && place->num_shards > 1 ? place->shard : -1};
    MST_TRY(infer(node));
    MST_TRY(mst_grow(&graph->node, sizeof node, graph->num_nodes + 1, &graph->node_capacity));
    MST_TRY(mst_names_set(&graph->names, node->name, node->id));
    graph->node[graph->num_nodes++] = node;
    *out = node;
    return MST_OK;
}

/* Makes a node with the name, device and control sources that the open scopes give it. */
static mst_status node_build(mst_graph *graph, const mst_op *op, const char *name, int num_src, const mst_value *src,
                             const void *options, mst_node **out) {
    MST_TRY(check_sources(graph, op, num_src, src)); /* before a name is used up */
    const mst_scope *scope = &graph->current;
    const int num_control = scope->num_control - scope->first_control;
    mst_node_parts parts = {.op = op,
                            .name = mst_graph_unique_name(graph, name ? name : op->name),
                            .device = scope->device,
                            .num_src = num_src,
                            .src = src,
                            .num_control = num_control,
                            .control = num_control ? graph->control + scope->first_control : NULL,
                            .options = options};
    if (!parts.name) return mst_error()->code;
    MST_TRY(mst_graph_add_node(graph, &parts, out));
    return scope->setter && (op->flags & MST_OP_VARIABLE) ? mst_device_setter_place(graph, *out) : MST_OK;
}

mst_value mst_call_named(mst_graph *graph, const mst_op *op, const char *name, int num_src, const mst_value *src,
                         const void *options) {
    if (graph ? MST_IS_NULL_IN(graph, op) : MST_IS_NULL(op)) return MST_NONE;
    if (num_src > 0 && !src)
        return mst_value_fail(graph, MST_INVALID, "%s: %d sources, but src is NULL", op->name, num_src);
    for (int i = 0; i < num_src && !graph; i++) graph = mst_value_graph(src[i]);
    if (!graph) {
        MST_FAIL(MST_INVALID, "%s: no graph: none of its sources is a value", op->name);
        return MST_NONE;
    }
    /* a source is an error value: its error is on the graph already */
    for (int i = 0; i < num_src; i++)
        if (src[i].node && src[i].node->id < 0) return mst_graph_error_value(src[i].node->graph);
    mst_node *node = NULL;
    const mst_claim claim = mst_graph_claim(graph);
    if (!claim) return mst_graph_error_value(graph);
    const bool failed = mst_op_check(op) || node_build(graph, op, name, num_src, src, options, &node);
    if (failed) mst_graph_keep_error(graph);
    mst_graph_yield(graph, claim);
    return failed ? mst_graph_error_value(graph) : (mst_value){.node = node};
}

/* The variable behind VALUE: VALUE itself, or the variable whose new value it is. An error value or MST_NONE is
 * returned as it is. NULL: VALUE is anything else. */
static const mst_value *variable_behind(const mst_value *value) {
    while (value->node && value->node->id >= 0 && !(value->node->op->flags & MST_OP_VARIABLE)) {
        const mst_node *node = value->node;
        if (value->index != 0 || !node->op->writes || !node->op->writes(node->options, node->num_src, 0)) return NULL;
        value = &node->src[0];
    }
    return value;
}

mst_value mst_call_writer(const mst_op *op, mst_value variable, int num_values, const mst_value *value) {
    enum { MOST = 4 };
    mst_graph *graph = mst_value_graph(variable);
    const mst_value *behind = variable_behind(&variable);
    mst_value src[1 + MOST];
    if (!behind)
        return mst_value_fail(graph, MST_INVALID, "%s: '%s' is no variable", op->name, mst_value_name(variable));
    src[0] = *behind;
    for (int i = 0; i < num_values && i < MOST; i++) src[1 + i] = value[i];
    if (mst_value_equal(*behind, variable)) return mst_call(NULL, op, 1 + num_values, src, NULL);
    mst_value written = MST_NONE;
    mst_with_control (graph, variable) /* runs after the earlier write */
        written = mst_call(NULL, op, 1 + num_values, src, NULL);
    return written;
}

mst_value mst_call(mst_graph *graph, const mst_op *op, int num_src, const mst_value *src, const void *options) {
    return mst_call_named(graph, op, NULL, num_src, src, options);
}

static const mst_op *find_op(const char *name) {
    const mst_op *op = mst_find_op(name);
    if (op) return op;
    char guess[MST_DID_YOU_MEAN_TEXT];
    if (*mst_op_did_you_mean(name, guess, sizeof guess))
        MST_FAIL(MST_INVALID, "there is no op '%s'%s", name, guess);
    else
        MST_FAIL(MST_INVALID, "there is no op '%s': register your own with mst_register_op", name);
    return NULL;
}

mst_value mst_call_text(mst_graph *graph, const char *op, const char *name, int num_src, const mst_value *src,
                        const char *text) {
    mst_option_memory memory = {0};
    mst_value out = MST_NONE;
    if (graph ? MST_IS_NULL_IN(graph, op) : MST_IS_NULL(op)) return MST_NONE;
    if (num_src > 0 && !src) return mst_value_fail(graph, MST_INVALID, "%s: %d sources, but src is NULL", op, num_src);
    for (int i = 0; i < num_src && !graph; i++) graph = mst_value_graph(src[i]);
    const mst_op *found = find_op(op);
    void *options = found ? mst_arena_alloc(&memory.arena, found->options_size + 1) : NULL;
    if (found && !options) MST_NO_MEMORY("for options");
    if (options && !mst_options_parse(graph, op, found->fields, text ? text : "", &memory, options)) {
        out = mst_call_named(graph, found, name, num_src, src, options);
    } else if (graph) {
        mst_graph_keep_error(graph);
        out = mst_graph_error_value(graph);
    }
    mst_option_memory_free(&memory);
    return out;
}
