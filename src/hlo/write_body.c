/* Writes the nodes of a body (graph/body.h), such as one step of a scan. */
#include "graph/body.h"

#include <stdlib.h>

#include "base/no_memory.h"
#include "hlo/hlo_writer.h"

typedef struct body_writer {
    mst_lower *outer;
    const mst_graph *body;
    const mst_hlo *argument;
    bool *needed;     /* by node id: whether an output of the body is computed from the node */
    mst_hlo **output; /* by node id: the outputs of the node; NULL: not written yet */
    mst_arena memory;
} body_writer;

static void *body_memory(body_writer *w, size_t count, size_t size) {
    void *data = mst_arena_alloc(&w->memory, (count + 1) * size);
    if (!data) mst_hlo_fail(w->outer, "cannot get memory for a body");
    return data;
}

static mst_hlo output_of(const body_writer *w, mst_value value) {
    for (int i = 0; i < mst_body_num_inputs(w->body); i++)
        if (mst_value_equal(mst_body_input_at(w->body, i), value)) return w->argument[i];
    const mst_hlo *output = w->output[value.node->id];
    return output ? output[value.index] : MST_NO_HLO;
}

static bool is_input(const body_writer *w, const mst_node *node) {
    for (int i = 0; i < mst_body_num_inputs(w->body); i++)
        if (mst_body_input_at(w->body, i).node == node) return true;
    return false;
}

/* Marks the nodes from which an output is computed. Other nodes are not written: they might fail, or have no StableHLO.
 * One pass from the last node to the first is enough, because sources come before the nodes that read them. */
static void find_needed(body_writer *w) {
    for (int k = 0; k < mst_body_num_outputs(w->body); k++) w->needed[mst_body_output_at(w->body, k).node->id] = true;
    for (int64_t n = w->body->num_nodes - 1; n >= 0; n--) {
        const mst_node *node = w->body->node[n];
        for (int i = 0; i < node->num_src && w->needed[n]; i++) w->needed[node->src[i].node->id] = true;
        for (int i = 0; i < node->num_control && w->needed[n]; i++) w->needed[node->control[i]->id] = true;
    }
}

static void write_node(body_writer *w, const mst_node *node) {
    const size_t num_src = (size_t)node->num_src, num_dst = (size_t)node->num_dst;
    mst_hlo *src = body_memory(w, num_src, sizeof *src), *dst = body_memory(w, num_dst, sizeof *dst);
    mst_spec *src_spec = body_memory(w, num_src, sizeof *src_spec),
             *dst_spec = body_memory(w, num_dst, sizeof *dst_spec);
    const char **src_name = body_memory(w, num_src, sizeof *src_name);
    if (!src || !dst || !src_spec || !dst_spec || !src_name) return;
    for (int i = 0; i < node->num_src; i++) {
        src[i] = output_of(w, node->src[i]);
        src_spec[i] = mst_hlo_spec(w->outer, src[i]);
        src_name[i] = mst_value_name(node->src[i]);
    }
    mst_hlo_program *p = w->outer->program;
    mst_status status =
        mst_node_infer(node->op, node->options, node->name, node->num_src, src_spec, src_name, node->num_dst, dst_spec);
    mst_lower l = {.op = node->op,
                   .options = node->options,
                   .name = node->name,
                   .num_src = node->num_src,
                   .src = src,
                   .src_spec = src_spec,
                   .num_dst = node->num_dst,
                   .dst = dst,
                   .dst_spec = dst_spec,
                   .precision = w->outer->precision};
    if (!status) status = mst_hlo_program_op(p, &l);
    mst_hlo_keep(p, status);
    w->output[node->id] = dst;
}

static void write_nodes(body_writer *w, mst_hlo *result) {
    const mst_graph *body = w->body;
    const mst_hlo_program *p = w->outer->program;
    w->needed = body_memory(w, (size_t)body->num_nodes, sizeof *w->needed);
    w->output = body_memory(w, (size_t)body->num_nodes, sizeof *w->output);
    if (!w->needed || !w->output) return;
    find_needed(w);
    for (int64_t i = 0; i < body->num_nodes && !p->failure.code; i++)
        if (w->needed[i] && !is_input(w, body->node[i])) write_node(w, body->node[i]);
    for (int k = 0; k < mst_body_num_outputs(body) && !p->failure.code; k++)
        result[k] = output_of(w, mst_body_output_at(body, k));
}

void mst_hlo_body(mst_lower *l, const mst_graph *body, const mst_hlo *argument, mst_hlo *result) {
    mst_hlo_program *p = l->program;
    body_writer w = {.outer = l, .body = body, .argument = argument};
    for (int k = 0; k < mst_body_num_outputs(body); k++) result[k] = MST_NO_HLO;
    const char *outside = p->place;
    p->place = mst_arena_print(&p->arena, "%sin %s '%s': ", outside ? outside : "", l->op->name, l->name);
    if (p->place)
        write_nodes(&w, result);
    else
        mst_hlo_fail(l, "cannot get memory for a body");
    p->place = outside;
    mst_arena_free(&w.memory);
}
