#include "graph/body.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

#define INPUTS "body/inputs"
#define OUTPUTS "body/outputs"

/* ---- inputs and outputs ---- */

static const mst_collection_list *body_list(const mst_graph *body, const char *name) {
    static const mst_collection_list none = {0};
    for (int64_t i = 0; body && i < body->num_collections; i++)
        if (strcmp(body->collection[i].name, name) == 0) return &body->collection[i];
    return &none;
}

void mst_body_input(mst_graph *body, mst_value placeholder) {
    mst_collect(body, INPUTS, placeholder);
}

void mst_body_output(mst_graph *body, mst_value value) {
    mst_collect(body, OUTPUTS, value);
}

int mst_body_num_inputs(const mst_graph *body) {
    return (int)body_list(body, INPUTS)->count;
}

int mst_body_num_outputs(const mst_graph *body) {
    return (int)body_list(body, OUTPUTS)->count;
}

mst_value mst_body_input_at(const mst_graph *body, int i) {
    return body_list(body, INPUTS)->value[i];
}

mst_value mst_body_output_at(const mst_graph *body, int i) {
    return body_list(body, OUTPUTS)->value[i];
}

bool mst_op_has_body(const mst_op *op) {
    for (const mst_field *field = op->fields; field && field->name; field++)
        if (field->type == MST_FIELD_TYPE_GRAPH) return true;
    return false;
}

/* ---- inference ---- */

typedef struct body_walk {
    mst_infer *c;
    const mst_graph *body;
    mst_spec **spec; /* by node: specs of its outputs */
    mst_arena memory;
} body_walk;

/* Fails for nodes whose outputs could differ between steps with the same inputs: a body may not have them. */
static mst_status body_refuse(mst_infer *c, const mst_node *node) {
    if (node->op->flags & MST_OP_VARIABLE)
        return mst_infer_fail(c, "its body has a variable, '%s': make it outside, and pass it in .captured",
                              node->name);
    for (int i = 0; i < node->num_src; i++)
        if (node->op->writes && node->op->writes(node->options, node->num_src, i))
            return mst_infer_fail(c, "its body writes a variable, in %s '%s'", node->op->name, node->name);
    if (node->op->flags & MST_OP_PLACEHOLDER)
        return mst_infer_fail(c, "its body has a placeholder of its own, '%s': pass it in .captured", node->name);
    if (node->op->flags & MST_OP_STATEFUL)
        return mst_infer_fail(c,
                              "its body has an op with a state, %s '%s': make random numbers for all steps outside, "
                              "and pass them in .x",
                              node->op->name, node->name);
    return MST_OK;
}

static mst_status body_infer_node(body_walk *w, const mst_node *node) {
    const size_t count = (size_t)node->num_src + 1;
    mst_spec *src = mst_arena_alloc(&w->memory, count * sizeof *src);
    const char **name = mst_arena_alloc(&w->memory, count * sizeof *name);
    if (!src || !name) return MST_NO_MEMORY("for a body");
    MST_TRY(body_refuse(w->c, node));
    for (int i = 0; i < node->num_src; i++) {
        src[i] = w->spec[node->src[i].node->id][node->src[i].index];
        name[i] = node->src[i].node->name;
    }
    if (!mst_node_infer(node->op, node->options, node->name, node->num_src, src, name, node->num_dst,
                        w->spec[node->id]))
        return MST_OK;
    return mst_error_prefix("in the body of %s '%s'", w->c->op->name, w->c->name);
}

/* Gives the inputs the specs in SRC. */
static mst_status set_inputs(const body_walk *w, int num_inputs, const mst_spec *src) {
    for (int i = 0; i < num_inputs; i++) {
        const mst_value input = mst_body_input_at(w->body, i);
        if (!(input.node->op->flags & MST_OP_PLACEHOLDER))
            return mst_infer_fail(w->c, "input %d of its body, '%s', is no placeholder", i, input.node->name);
        w->spec[input.node->id][0] = src[i];
    }
    return MST_OK;
}

static bool is_input(const body_walk *w, const mst_node *node) {
    return (node->op->flags & MST_OP_PLACEHOLDER) && w->spec[node->id][0].dtype != MST_NO_DTYPE;
}

static mst_status body_infer_all(body_walk *w, int num_inputs, const mst_spec *src, int num_outputs, mst_spec *dst) {
    const mst_graph *body = w->body;
    w->spec = mst_arena_alloc(&w->memory, ((size_t)body->num_nodes + 1) * sizeof *w->spec);
    if (!w->spec) return MST_NO_MEMORY("for a body");
    for (int64_t i = 0; i < body->num_nodes; i++)
        if (!(w->spec[i] = mst_arena_alloc(&w->memory, (size_t)body->node[i]->num_dst * sizeof **w->spec)))
            return MST_NO_MEMORY("for a body");
    MST_TRY(set_inputs(w, num_inputs, src));
    for (int64_t i = 0; i < body->num_nodes; i++)
        if (!is_input(w, body->node[i])) MST_TRY(body_infer_node(w, body->node[i]));
    for (int i = 0; i < num_outputs; i++) {
        const mst_value output = mst_body_output_at(body, i);
        dst[i] = w->spec[output.node->id][output.index];
    }
    return MST_OK;
}

mst_status mst_body_infer(mst_infer *c, const mst_graph *body, int num_inputs, const mst_spec *src, int num_outputs,
                          mst_spec *dst) {
    if (!body) return mst_infer_fail(c, "has no body");
    MST_TRY(mst_graph_check(body));
    if (mst_body_num_inputs(body) != num_inputs || mst_body_num_outputs(body) != num_outputs)
        return mst_infer_fail(c, "its body has %d inputs and %d outputs, must have %d and %d",
                              mst_body_num_inputs(body), mst_body_num_outputs(body), num_inputs, num_outputs);
    body_walk w = {.c = c, .body = body};
    const mst_status status = body_infer_all(&w, num_inputs, src, num_outputs, dst);
    mst_arena_free(&w.memory);
    return status;
}

/* ---- copies ---- */

/* Replaces values among the options by those of the copy of the graph. */
static void move_values(const mst_graph *copy, const mst_op *op, void *options) {
    for (const mst_field *field = op->fields; field && field->name; field++) {
        mst_value *value = (mst_value *)(void *)((char *)options + field->offset);
        if (field->type == MST_FIELD_TYPE_VALUE && value->node) value->node = copy->node[value->node->id];
    }
}

static mst_status copy_node(mst_graph *copy, const mst_node *from) {
    const size_t size = from->op->options_size;
    mst_value *src = mst_arena_alloc(&copy->arena, ((size_t)from->num_src + 1) * sizeof *src);
    mst_node **control = mst_arena_alloc(&copy->arena, ((size_t)from->num_control + 1) * sizeof *control);
    void *options = mst_arena_copy(&copy->arena, from->options, size);
    const char *name = mst_arena_string(&copy->arena, from->name);
    const char *device = mst_arena_string(&copy->arena, from->device);
    if (!src || !control || !options || !name || !device) return MST_NO_MEMORY("for a body");
    for (int i = 0; i < from->num_src; i++) src[i] = (mst_value){copy->node[from->src[i].node->id], from->src[i].index};
    for (int i = 0; i < from->num_control; i++) control[i] = copy->node[from->control[i]->id];
    move_values(copy, from->op, options);
    const mst_node_parts parts = {.op = from->op,
                                  .name = name,
                                  .device = device,
                                  .num_src = from->num_src,
                                  .src = src,
                                  .num_control = from->num_control,
                                  .control = control,
                                  .options = options};
    mst_node *node;
    MST_TRY(mst_graph_add_node(copy, &parts, &node));
    return mst_graph_adopt_name(copy, name);
}

mst_status mst_body_copy(const mst_graph *body, mst_graph **out) {
    MST_TRY(mst_graph_create(out));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < body->num_nodes && !status; i++) status = copy_node(*out, body->node[i]);
    if (!status) return MST_OK;
    mst_graph_destroy(*out);
    *out = NULL;
    return status;
}

/* ---- which inputs are needed ---- */

mst_status mst_body_find_needed(const mst_graph *body, const bool *wanted, bool *needed) {
    const mst_collection_list *inputs = body_list(body, INPUTS), *outputs = body_list(body, OUTPUTS);
    bool *reached = calloc((size_t)body->num_nodes + 1, sizeof *reached);
    if (!reached) return MST_NO_MEMORY("for a body");
    for (int64_t i = 0; i < outputs->count; i++)
        if (wanted[i]) reached[outputs->value[i].node->id] = true;
    for (int64_t n = body->num_nodes - 1; n >= 0; n--) {
        const mst_node *node = body->node[n];
        for (int i = 0; reached[n] && i < node->num_src; i++) reached[node->src[i].node->id] = true;
        for (int i = 0; reached[n] && i < node->num_control; i++) reached[node->control[i]->id] = true;
    }
    for (int64_t i = 0; i < inputs->count; i++) needed[i] |= reached[inputs->value[i].node->id];
    free(reached);
    return MST_OK;
}
