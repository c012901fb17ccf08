#include "plan/bodies.h"

#include <stdlib.h>

#include "base/no_memory.h"
#include "graph/body.h"
#include "op/control/scan.h"
#include "op/list.h"
#include "tensor/buffer.h"

/* ---- which outputs are needed ---- */

/* Sets WANTED for each output of the body that is needed. An output is needed if the node's output of the same number
 * has uses. The next value of a carry is also needed if a needed output depends on that carry. (A carry is a value that
 * each step hands to the next one.) */
static mst_status find_wanted(const mst_plan *plan, const mst_plan_node *node, const mst_graph *body, bool *wanted) {
    const mst_scan_node_options *o = node->options;
    bool *needed = calloc((size_t)node->num_src + 1, sizeof *needed), grows = true;
    if (!needed) return MST_NO_MEMORY("for a plan");
    mst_status status = MST_OK;
    for (int i = 0; i < node->num_dst; i++) wanted[i] = plan->value[node->dst + i].num_uses > 0;
    while (grows && !status) {
        status = mst_body_find_needed(body, wanted, needed);
        grows = false;
        for (int k = 0; k < o->num_carry; k++) {
            grows |= needed[k] && !wanted[k];
            wanted[k] |= needed[k];
        }
    }
    free(needed);
    return status;
}

/* ---- a plan ---- */

static mst_status set_host(const mst_plan *plan, const mst_plan_node *node, mst_plan_body *body) {
    body->device = plan->host->devices->device[node->device];
    body->device.domain = &mst_domain_host; /* no value crosses between domains inside a body, and its inputs are in the
                                               domain of its node */
    body->device.task = 0;
    body->devices = (mst_devices){.device = &body->device, .count = 1, .num_tasks = 1};
    MST_TRY(mst_names_set(&body->devices.index, body->device.text, 0));
    body->options = *plan->host->options;
    body->options.allow_soft_placement = true;
    body->options.placement_log = NULL;
    if (mst_plan_logs_texts(&body->options))
        body->options.plan_log = NULL; /* bodies that are planned run by kernels, so they have no texts of programs */
    body->host = (mst_plan_host){.devices = &body->devices, .options = &body->options};
    return MST_OK;
}

static mst_status plan_body(mst_plan *plan, const mst_plan_node *node, const mst_graph *graph, const mst_spec *src,
                            const bool *wanted, mst_plan_body *body) {
    const int num_inputs = mst_body_num_inputs(graph), num_outputs = mst_body_num_outputs(graph);
    mst_feed *feed = mst_arena_alloc(&plan->memory, ((size_t)num_inputs + 1) * sizeof *feed);
    mst_value *fetch = mst_arena_alloc(&plan->memory, ((size_t)num_outputs + 1) * sizeof *fetch);
    body->output = mst_arena_alloc(&plan->memory, ((size_t)num_outputs + 1) * sizeof *body->output);
    if (!feed || !fetch || !body->output) return MST_NO_MEMORY("for a plan");
    int num_fetches = 0;
    for (int i = 0; i < num_inputs; i++) feed[i] = (mst_feed){.value = mst_body_input_at(graph, i), .spec = src[i]};
    for (int i = 0; i < num_outputs; i++) {
        if (!wanted[i]) continue;
        body->output[num_fetches] = i;
        fetch[num_fetches++] = mst_body_output_at(graph, i);
    }
    MST_TRY(set_host(plan, node, body));
    if (body->options.plan_log) fprintf(body->options.plan_log, "a body of '%s':\n", node->name);
    return mst_plan_make(graph, &body->host, feed, num_inputs, fetch, num_fetches, false, &body->plan);
}

static mst_status make_all(mst_plan *plan, mst_plan_node *node, mst_spec *src, bool *wanted) {
    const bool is_scan = node->op == &mst_op_scan;
    for (int i = 0; i < node->num_src; i++) src[i] = plan->value[node->src[i]].spec;
    if (is_scan) mst_scan_step_specs(node->options, node->num_src, src, src);
    for (int i = 0; i < node->num_dst; i++) wanted[i] = true;
    /* a scan has one body, a while two: condition and step */
    node->body = mst_arena_alloc(&plan->memory, 2 * sizeof *node->body);
    if (!node->body) return MST_NO_MEMORY("for a plan");
    const size_t own = mst_align(node->workspace);
    for (const mst_field *field = node->op->fields; field->name; field++) {
        if (field->type != MST_FIELD_TYPE_GRAPH) continue;
        const mst_graph *graph = *(mst_graph *const *)(const void *)((const char *)node->options + field->offset);
        mst_plan_body *body = &node->body[node->num_bodies++];
        if (is_scan) MST_TRY(find_wanted(plan, node, graph, wanted));
        if (plan_body(plan, node, graph, src, wanted, body)) return mst_error_prefix("the body of '%s'", node->name);
        const mst_program *program = &body->plan->program[0];
        const size_t needed = own + (size_t)(program->arena_bytes + program->workspace_bytes);
        body->offset = own; /* Bodies run one at a time, and their outputs are copied, so they may share this memory. */
        if (needed > node->workspace) node->workspace = needed;
    }
    for (int i = 0; i < node->num_dst && is_scan; i++)
        if (!plan->value[node->dst + i].num_uses) plan->value[node->dst + i].space = MST_NOWHERE;
    return MST_OK;
}

mst_status mst_plan_make_bodies(mst_plan *plan, mst_plan_node *node) {
    mst_spec *src = calloc((size_t)node->num_src + 1, sizeof *src);
    bool *wanted = calloc((size_t)node->num_dst + 1, sizeof *wanted);
    mst_status status = src && wanted ? MST_OK : MST_NO_MEMORY("for a plan");
    if (!status) status = make_all(plan, node, src, wanted);
    free(src);
    free(wanted);
    return status;
}

void mst_plan_destroy_bodies(mst_plan_node *node) {
    for (int i = 0; i < node->num_bodies; i++) {
        mst_plan_destroy(node->body[i].plan);
        mst_names_free(&node->body[i].devices.index);
    }
}
