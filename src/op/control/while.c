/** while: repeats a step while a condition holds: carry = body(carry, captured) while condition(carry, captured)
 *
 *      static mst_value is_small(mst_loop_step *s) { return mst_less(s->carry[0], s->captured[0]); }
 *      static void doubled(mst_loop_step *s) { s->next[0] = mst_add(s->carry[0], s->carry[0]); }
 *      mst_value power = mst_while(is_small, doubled, .carry = {one}, .captured = {limit});
 *
 *  condition  called once, while the graph is built: returns a bool scalar, computed from s->carry and s->captured
 *  body       called once, while the graph is built: sets s->next
 *  carry      first values of the carry, which goes from step to step; any dtype but string. A step must not change
 *             their dtype or shape
 *  captured   values that each step gets, such as weights. Condition and body cannot use other values of the graph
 *  limit      largest number of steps: a run fails if the condition still holds then; default 1,000,000
 *  context    given to condition and body, in s->context
 *  dst        the last carry, one output for each (mst_value_output)
 *
 *  This is lax.while_loop of JAX. The number of steps is not known before the run, so there is no gradient:
 *  mst_gradients through it fails with MST_UNIMPLEMENTED. mst_scan has a gradient. The rules for bodies of mst_scan
 *  hold here too.
 */
#ifdef MST_OP_HEADER
typedef struct mst_while_options {
    int zero_;
    mst_value (*condition)(mst_loop_step *step);
    void (*body)(mst_loop_step *step);
    mst_value carry[MST_LOOP_MOST]; /**< ended by the first MST_NONE, as captured is */
    mst_value captured[MST_LOOP_MOST];
    int64_t limit;
    void *context;
    const char *name;
} mst_while_options;
/** Returns output 0. */
MST_API mst_value mst_while_with(mst_while_options options);
#define mst_while(...) mst_while_with(MST_NAMED_2(mst_while_options, condition, body, __VA_ARGS__))
#endif
#include <stdlib.h>

#include "base/no_memory.h"
#include "graph/spec.h"
#include "hlo/hlo_program.h"
#include "op/control/loop.h"
#include "op/op.h"

typedef struct while_node_options {
    mst_graph *condition, *body;
    int64_t limit;
} while_node_options;

static const mst_field while_fields[] = {
    MST_FIELD_GRAPH(while_node_options, condition, "whether there is another step"),
    MST_FIELD_GRAPH(while_node_options, body, "one step"),
    MST_FIELD_I64(while_node_options, limit, 1000000, 1, 9e15, "steps at most"),
    MST_FIELD_END,
};

static int while_count_dst(const void *options, int num_src) {
    const while_node_options *o = options;
    const int count = o ? mst_body_num_outputs(o->body) : 0;
    (void)num_src;
    return count > 0 ? count : 1;
}

static mst_status while_infer_with(mst_infer *c, mst_spec *src, mst_spec *dst) {
    const while_node_options *o = c->options;
    char text[MST_SPEC_TEXT];
    if (c->num_dst > c->num_src)
        return mst_infer_fail(c, "its body has %d outputs, but it has %d sources", c->num_dst, c->num_src);
    for (int i = 0; i < c->num_src; i++) src[i] = c->src[i];
    MST_TRY(mst_body_infer(c, o->condition, c->num_src, src, 1, dst));
    if (dst->dtype != MST_BOOL || dst->shape.ndim)
        return mst_infer_fail(c, "its condition is %s, must be a bool scalar", mst_spec_print(dst, text, sizeof text));
    MST_TRY(mst_body_infer(c, o->body, c->num_src, src, c->num_dst, dst));
    for (int k = 0; k < c->num_dst; k++) {
        MST_TRY(mst_loop_unify(c, k, &dst[k], &src[k]));
        c->dst[k] = src[k];
    }
    return MST_OK;
}

static mst_status while_infer(mst_infer *c) {
    mst_spec *src = calloc((size_t)c->num_src + (size_t)c->num_dst + 1, sizeof *src);
    if (!src) return MST_NO_MEMORY("for a loop");
    const mst_status status = while_infer_with(c, src, src + c->num_src);
    free(src);
    return status;
}

static mst_value while_grad(mst_grad *c, int i) {
    (void)i;
    return mst_value_fail(c->graph, MST_UNIMPLEMENTED,
                          "while '%s': it has no gradient, as it is not known how many steps there are: use mst_scan, "
                          "or mst_stop_gradient on what it gives",
                          mst_value_name(c->dst[0]));
}

static size_t while_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    return mst_loop_workspace(c->num_dst, c);
}

/* In StableHLO the condition is computed at the end of a step, because a fault in the condition of a loop could not be
 * reported. The values of the loop are the number of the step, whether there is another step, and the carries. The loop
 * also ends when something has failed, because wrong values might keep the condition true. */
enum { STEP, HOLDS, CARRY };

typedef struct while_loop {
    const while_node_options *options;
    mst_dtype counter;       /* of the number of the step */
    mst_hlo *input, *output; /* of the bodies */
} while_loop;

static void while_inputs(mst_lower *l, const while_loop *w, const mst_hlo *carry) {
    for (int k = 0; k < l->num_src; k++) w->input[k] = k < l->num_dst ? carry[k] : l->src[k];
}

/* Whether the condition holds for CARRY, and nothing has failed. */
static mst_hlo while_lower_condition(mst_lower *l, const while_loop *w, const mst_hlo *carry) {
    mst_hlo holds;
    while_inputs(l, w, carry);
    mst_hlo_body(l, w->options->condition, w->input, &holds);
    const mst_hlo goes_well = mst_hlo_unary(l, "not", mst_hlo_has_failed(l));
    return mst_hlo_binary(l, "and", holds, goes_well);
}

static void while_has_next(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    const while_loop *w = context;
    const mst_hlo limit = mst_hlo_integer(l, w->counter, w->options->limit);
    result[0] = mst_hlo_binary(l, "and", argument[HOLDS], mst_hlo_compare(l, "LT", argument[STEP], limit));
}

static void while_lower_step(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    const while_loop *w = context;
    while_inputs(l, w, argument + CARRY);
    mst_hlo_body(l, w->options->body, w->input, w->output);
    for (int k = 0; k < l->num_dst; k++) result[CARRY + k] = w->output[k];
    result[STEP] = mst_hlo_binary(l, "add", argument[STEP], mst_hlo_integer(l, w->counter, 1));
    result[HOLDS] = while_lower_condition(l, w, result + CARRY);
}

static void while_lower(mst_lower *l) {
    const while_node_options *o = l->options;
    const size_t num_dst = (size_t)l->num_dst;
    while_loop w = {.options = o, .counter = o->limit > INT32_MAX ? MST_I64 : MST_I32};
    mst_hlo *value = calloc(2 * (CARRY + num_dst) + num_dst + (size_t)l->num_src, sizeof *value);
    if (!value) {
        mst_hlo_fail(l, "cannot get memory");
        return;
    }
    mst_hlo *last = value + CARRY + num_dst;
    w.output = last + CARRY + num_dst;
    w.input = w.output + num_dst;
    value[STEP] = mst_hlo_integer(l, w.counter, 0);
    for (int k = 0; k < l->num_dst; k++) value[CARRY + k] = l->src[k];
    value[HOLDS] = while_lower_condition(l, &w, l->src);
    mst_hlo_while(l, CARRY + l->num_dst, value, while_has_next, while_lower_step, &w, last);
    for (int k = 0; k < l->num_dst; k++) l->dst[k] = last[CARRY + k];
    mst_hlo_fault(l, last[HOLDS], MST_INVALID, "its condition still holds after %lld steps: give it a higher .limit",
                  (long long)o->limit);
    free(value);
}

static mst_status while_reference(const mst_kernel_args *a) {
    const while_node_options *o = a->options;
    const mst_bound_bodies bodies = a->state; /* the condition, and the body */
    mst_loop_run run = mst_loop_begin(a, a->num_dst);
    for (;;) {
        uint8_t holds = 0;
        void *const condition[] = {&holds};
        if (bodies[0]->run(bodies[0], run.src, condition))
            return mst_error_prefix("the condition of while '%s'", a->name);
        if (!holds) break;
        if (run.step == o->limit)
            return mst_kernel_fail(a, MST_INVALID,
                                   "its condition still holds after %lld steps: give it a higher .limit",
                                   (long long)o->limit);
        MST_TRY(mst_loop_advance(&run, bodies[1]));
    }
    mst_loop_end(&run);
    return MST_OK;
}

const mst_op mst_op_while = {
    .name = "while",
    .num_src = MST_VARIADIC,
    .num_dst = MST_VARIADIC,
    .dtypes = MST_STORED_DTYPES,
    .fields = while_fields,
    .options_size = sizeof(while_node_options),
    .count_dst = while_count_dst,
    .infer = while_infer,
    .grad = while_grad,
    .workspace = while_workspace,
    .reference = while_reference,
    .lower = while_lower,
};

/* Builds the bodies *CONDITION and *BODY, which the caller destroys, also on failure. */
static mst_status while_build(const mst_loop *loop, const mst_while_options *o, mst_graph **condition,
                              mst_graph **body) {
    mst_loop_step step;
    const mst_status made = mst_loop_body(loop, o->context, &step);
    *condition = step.graph;
    MST_TRY(made);
    const mst_value holds = o->condition(&step);
    MST_TRY(mst_loop_output(loop, *condition, "condition", 0, holds));
    const mst_status second = mst_loop_body(loop, o->context, &step);
    *body = step.graph;
    MST_TRY(second);
    o->body(&step);
    step.graph = *body; /* the body may have overwritten it */
    if (step.y[0].node) return MST_FAIL(MST_INVALID, "while: its body has set y 0, but only mst_scan keeps a y");
    return mst_loop_next(loop, &step);
}

mst_value mst_while_with(mst_while_options o) {
    mst_loop loop;
    mst_value dst = MST_NONE;
    if (mst_loop_sources("while", o.carry, NULL, o.captured, &loop, &dst)) return dst;
    if (MST_IS_NULL_IN(loop.graph, o.condition) || MST_IS_NULL_IN(loop.graph, o.body))
        return mst_graph_error_value(loop.graph);
    if (!loop.num_carry) return mst_value_fail(loop.graph, MST_INVALID, "while: it has no carry");
    while_node_options options = {.limit = o.limit};
    if (while_build(&loop, &o, &options.condition, &options.body))
        dst = mst_value_of_last_error(loop.graph);
    else
        dst = mst_call_named(loop.graph, &mst_op_while, o.name, loop.num_carry + loop.num_captured, loop.src, &options);
    mst_graph_destroy(options.condition);
    mst_graph_destroy(options.body);
    return dst;
}
