/* The nodes of a body, such as a step of a scan. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "graph/body.h"
#include "hlo/writer.h"

typedef struct body_writer {
    mst_lower *outer;
    const mst_graph *body;
    const mst_hlo *argument;
    mst_hlo **output; /* by node: its outputs; NULL: not written yet */
    mst_arena memory;
} body_writer;

static void *get(body_writer *w, size_t count, size_t size) {
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

static void write_node(body_writer *w, const mst_node *node) {
    const size_t num_src = (size_t)node->num_src, num_dst = (size_t)node->num_dst;
    mst_hlo *src = get(w, num_src, sizeof *src), *dst = get(w, num_dst, sizeof *dst);
    mst_spec *src_spec = get(w, num_src, sizeof *src_spec), *dst_spec = get(w, num_dst, sizeof *dst_spec);
    const char **src_name = get(w, num_src, sizeof *src_name);
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
                   .dst_spec = dst_spec};
    if (!status) status = mst_hlo_program_op(p, &l);
    if (status && !p->failure.code) mst_failure_keep(&p->failure, status);
    w->output[node->id] = dst;
}

void mst_hlo_body(mst_lower *l, const mst_graph *body, const mst_hlo *argument, mst_hlo *result) {
    body_writer w = {.outer = l, .body = body, .argument = argument};
    const int num_outputs = mst_body_num_outputs(body);
    for (int k = 0; k < num_outputs; k++) result[k] = MST_NO_HLO;
    w.output = get(&w, (size_t)body->num_nodes, sizeof *w.output);
    for (int64_t i = 0; w.output && i < body->num_nodes && !l->program->failure.code; i++)
        if (!is_input(&w, body->node[i])) write_node(&w, body->node[i]);
    for (int k = 0; w.output && k < num_outputs && !l->program->failure.code; k++)
        result[k] = output_of(&w, mst_body_output_at(body, k));
    mst_arena_free(&w.memory);
}
