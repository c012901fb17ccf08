/* The gradient of a scan: a scan in the other direction.
 *
 * Its body is a copy of the scan's body, with the gradients added. dX is the gradient with respect to X:
 *
 *      carry      dnext of each float carry: at first the gradient of the last carry, or 0;
 *                 the sum of dcaptured for each float captured: at first 0
 *      x          the carry of each step, its x, and dy of each y that has a gradient
 *      captured   as in the scan
 *      next       dcarry, the gradient with respect to the carry with which the step began;
 *                 the sums of dcaptured, with this step added
 *      y          dx of each float x
 *
 * Each step is computed again from its carry, so only the carries are kept. Nodes of a step that the gradients do not
 * need are dropped when the plan of the body is made. */
#include "base/no_memory.h"
#include "op/control/loop.h"
#include "op/control/scan.h"
#include "op/list.h"
#include "op/op.h"

typedef struct scan_derivative {
    const mst_grad *c;
    const mst_graph *body; /* of the scan */
    int num_carry, num_x, num_dst;
    mst_graph *graph; /* the body of the gradient */
    mst_arena memory;
    mst_value *src;               /* [num_src] of the node of the gradient */
    mst_value *input, *dinput;    /* for each source of the scan: the input of the body, and its gradient */
    mst_value *sum;               /* for each float captured: the input of the body with the sum of dcaptured */
    mst_value *target, *gradient; /* [num_targets] float outputs of a step, and the gradients with respect to them */
    int num_src, num_new_carry, num_targets;
} scan_derivative;

/* Whether gradients flow to this input. */
static bool scan_is_float(mst_value value) {
    const mst_dtype dtype = mst_value_spec(value).dtype;
    return dtype == MST_F32 || dtype == MST_F64;
}

static mst_value copied(const scan_derivative *d, mst_value of) {
    return (mst_value){mst_graph_node(d->graph, of.node->id), of.index};
}

/* Adds SRC to the sources of the node, and an input for it to the body. */
static mst_value scan_add(scan_derivative *d, const char *name, mst_value src, mst_spec spec) {
    const mst_value input = mst_placeholder(d->graph, spec.dtype, spec.shape, .name = name);
    d->src[d->num_src++] = src;
    mst_body_input(d->graph, input);
    return input;
}

/* Adds SRC to the sources of the node, for input I, which the copied body has already. */
static void scan_keep(scan_derivative *d, mst_value src, int i) {
    d->src[d->num_src++] = src;
    mst_body_input(d->graph, d->input[i]);
}

static void scan_target(scan_derivative *d, mst_value target, mst_value gradient) {
    d->target[d->num_targets] = target;
    d->gradient[d->num_targets++] = gradient;
}

/* Makes the inputs of the body, and lists the values to differentiate. */
static void scan_inputs(scan_derivative *d) {
    const mst_grad *c = d->c;
    const int num_kept = d->num_carry + d->num_x;
    for (int k = 0; k < d->num_carry; k++) {
        const mst_value next = copied(d, mst_body_output_at(d->body, k));
        if (!scan_is_float(c->dst[k])) continue;
        const mst_value first = mst_value_is_none(c->ddst[k]) ? mst_zeros_like(c->dst[k]) : c->ddst[k];
        scan_target(d, next, scan_add(d, "dnext", first, mst_value_spec(c->dst[k])));
    }
    for (int i = num_kept; i < c->num_src; i++)
        if (scan_is_float(c->src[i]))
            d->sum[i] = scan_add(d, "dcaptured", mst_zeros_like(c->src[i]), mst_value_spec(c->src[i]));
    d->num_new_carry = d->num_src;
    for (int i = 0; i < d->num_carry; i++) scan_keep(d, c->dst[d->num_dst - d->num_carry + i], i);
    for (int i = d->num_carry; i < num_kept; i++) scan_keep(d, c->src[i], i);
    for (int k = d->num_carry; k < d->num_dst; k++) {
        if (!scan_is_float(c->dst[k]) || mst_value_is_none(c->ddst[k])) continue;
        const mst_value y = copied(d, mst_body_output_at(d->body, k));
        scan_target(d, y, scan_add(d, "dy", c->ddst[k], mst_value_spec(y)));
    }
}

/* DINPUT of input I; zeros if no output depends on it. */
static mst_value scan_dinput(const scan_derivative *d, int i) {
    return mst_value_is_none(d->dinput[i]) ? mst_zeros_like(d->input[i]) : d->dinput[i];
}

static void scan_derive(scan_derivative *d) {
    const mst_grad *c = d->c;
    const int num_kept = d->num_carry + d->num_x;
    c->gradients(d->target, d->gradient, d->num_targets, d->input, c->num_src, d->dinput);
    for (int i = 0; i < d->num_carry; i++)
        if (scan_is_float(c->src[i])) mst_body_output(d->graph, scan_dinput(d, i));
    for (int i = num_kept; i < c->num_src; i++) {
        if (!scan_is_float(c->src[i])) continue;
        const bool none = mst_value_is_none(d->dinput[i]);
        mst_body_output(d->graph, none ? d->sum[i] : mst_add(d->sum[i], d->dinput[i]));
    }
    for (int i = d->num_carry; i < num_kept; i++)
        if (scan_is_float(c->src[i])) mst_body_output(d->graph, scan_dinput(d, i));
    for (int i = 0; i < d->num_new_carry; i++) mst_body_output(d->graph, mst_body_input_at(d->graph, i));
}

static mst_status scan_allocate(scan_derivative *d) {
    const mst_grad *c = d->c;
    const size_t src = (size_t)c->num_src + 1, dst = (size_t)c->num_dst + 1;
    d->src = mst_arena_alloc(&d->memory, 2 * (src + dst) * sizeof *d->src);
    d->input = mst_arena_alloc(&d->memory, src * sizeof *d->input);
    d->sum = mst_arena_alloc(&d->memory, src * sizeof *d->sum);
    d->dinput = mst_arena_alloc(&d->memory, src * sizeof *d->dinput);
    d->target = mst_arena_alloc(&d->memory, dst * sizeof *d->target);
    d->gradient = mst_arena_alloc(&d->memory, dst * sizeof *d->gradient);
    if (!d->src || !d->input || !d->sum || !d->dinput || !d->target || !d->gradient)
        return MST_NO_MEMORY("for gradients");
    return mst_body_copy(d->body, &d->graph);
}

static mst_status scan_build(scan_derivative *d, mst_value *out) {
    const mst_grad *c = d->c;
    const mst_scan_node_options *o = c->options;
    MST_TRY(scan_allocate(d));
    for (int i = 0; i < c->num_src; i++) d->input[i] = copied(d, mst_body_input_at(d->body, i));
    scan_inputs(d);
    const int num_x = d->num_src - d->num_new_carry;
    for (int i = d->num_carry + d->num_x; i < c->num_src; i++) scan_keep(d, c->src[i], i);
    scan_derive(d);
    MST_TRY(mst_graph_check(d->graph));
    const mst_scan_node_options options = {.body = d->graph,
                                           .num_carry = d->num_new_carry,
                                           .num_x = num_x,
                                           .num_steps = o->num_steps,
                                           .reverse = !o->reverse};
    *out = mst_call_named(c->graph, &mst_op_scan, "scan_grad", d->num_src, d->src, &options);
    return MST_OK;
}

/* Makes the node that computes all gradients. */
static mst_value scan_differentiate(const mst_grad *c) {
    const mst_scan_node_options *o = c->options;
    scan_derivative d = {.c = c, .body = o->body, .num_carry = o->num_carry, .num_x = o->num_x, .num_dst = c->num_dst};
    mst_value out = MST_NONE;
    if (scan_build(&d, &out)) out = mst_value_of_last_error(c->graph);
    mst_graph_destroy(d.graph);
    mst_arena_free(&d.memory);
    return out;
}

/* The outputs of the node are dcarry, the sums of dcaptured, and dx (scan_derive), each for floats only. */
mst_value mst_scan_grad(mst_grad *c, int i) {
    const mst_scan_node_options *o = c->options;
    const int num_kept = o->num_carry + o->num_x;
    if (!scan_is_float(c->src[i])) return MST_NONE;
    if (!c->shared.node) c->shared = scan_differentiate(c);
    int output = 0;
    if (i < o->num_carry) {
        for (int k = 0; k < i; k++) output += scan_is_float(c->src[k]);
    } else {
        for (int k = 0; k < o->num_carry; k++) output += scan_is_float(c->src[k]);
        for (int k = num_kept; k < c->num_src && (i < num_kept || k < i); k++) output += scan_is_float(c->src[k]);
        for (int k = o->num_carry; k < i && i < num_kept; k++) output += scan_is_float(c->src[k]);
    }
    return mst_value_output(c->shared, output);
}
