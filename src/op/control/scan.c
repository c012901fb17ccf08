/** scan: repeats a step that a function of the caller builds: next, y = body(carry, x[t], captured) for t = 0, 1, ...
 *
 *      static void step(mst_loop_step *s) {
 *          const mst_value h = mst_tanh(mst_add(s->x[0], mst_matmul(s->carry[0], s->captured[0])));
 *          s->next[0] = s->y[0] = h;
 *      }
 *      mst_value last = mst_scan(step, .carry = {zeros}, .x = {src}, .captured = {recurrent});
 *      mst_value all = mst_value_output(last, 1);
 *
 *  body       called once, while the graph is built: sets s->next and s->y from values of s (mst_loop_step). The graph
 *             does not grow with the number of steps
 *  carry      first values of the carry, which goes from step to step; any dtype but string. A step must not change
 *             their dtype or shape
 *  x          values [steps, ...]: step t gets part t of the first dimension
 *  captured   values that each step gets whole, such as weights. The body cannot use other values of the graph
 *  num_steps  needed if there is no x
 *  reverse    from the last step to the first; the y of step t is still at index t
 *  context    given to the body, in s->context
 *  dst        one output for each last carry; then one for each y, of all steps, [steps, ...]. Output i is
 *             mst_value_output(dst, i). With 0 steps, the last carry is the first one
 *
 *  This is lax.scan of JAX. It has gradients of any order. The gradient of a scan is a scan in the other direction,
 *  which computes each step again from its carry. Gradients of captured are added up from the step that ran last to the
 *  step that ran first. A body must not add variables, random numbers or placeholders; it may have scans. All steps run
 *  on the node's device. It is an error (MST_INVALID) if a carry changes its dtype or shape. A step may have
 *  MST_LOOP_MOST values of each kind.
 */
#ifdef MST_OP_HEADER
typedef struct mst_scan_options {
    int zero_;
    void (*body)(mst_loop_step *step);
    mst_value carry[MST_LOOP_MOST]; /**< ended by the first MST_NONE, as the other lists are */
    mst_value x[MST_LOOP_MOST];
    mst_value captured[MST_LOOP_MOST];
    int64_t num_steps;
    bool reverse;
    void *context;
    const char *name;
} mst_scan_options;
/** Returns output 0. */
MST_API mst_value mst_scan_with(mst_scan_options options);
#define mst_scan(...) mst_scan_with(MST_NAMED_1(mst_scan_options, body, __VA_ARGS__))
#endif
#include "op/control/scan.h"

#include <stdlib.h>

#include "base/no_memory.h"
#include "hlo/hlo_program.h"
#include "op/control/loop.h"
#include "op/op.h"

static const mst_field scan_fields[] = {
    MST_FIELD_GRAPH(mst_scan_node_options, body, "one step"),
    MST_FIELD_I32(mst_scan_node_options, num_carry, 0, 0, 0, "sources that go from step to step"),
    MST_FIELD_I32(mst_scan_node_options, num_x, 0, 0, 0, "sources of which each step gets its part"),
    MST_FIELD_I64(mst_scan_node_options, num_steps, 0, 0, 0, "where no source says it"),
    MST_FIELD_BOOL(mst_scan_node_options, reverse, "from the last step to the first"),
    MST_FIELD_END,
};

/* ---- inference ---- */

static int scan_count_dst(const void *options, int num_src) {
    const mst_scan_node_options *o = options;
    const int count = o ? mst_body_num_outputs(o->body) : 0;
    (void)num_src;
    return count > 0 ? count : 1;
}

void mst_scan_step_specs(const mst_scan_node_options *o, int num_src, const mst_spec *src, mst_spec *dst) {
    for (int i = 0; i < num_src; i++) {
        dst[i] = src[i];
        if (i < o->num_carry || i >= o->num_carry + o->num_x) continue;
        dst[i].shape.ndim--;
        for (int d = 0; d < dst[i].shape.ndim; d++) dst[i].shape.dim[d] = src[i].shape.dim[d + 1];
        dst[i].shape.dim[dst[i].shape.ndim] = 0;
    }
}

static mst_status scan_num_steps(mst_infer *c, int64_t *steps) {
    const mst_scan_node_options *o = c->options;
    *steps = o->num_steps ? o->num_steps : -1;
    if (o->num_carry < 0 || o->num_x < 0 || (int64_t)o->num_carry + o->num_x > c->num_src ||
        2 * (int64_t)o->num_carry > c->num_dst)
        return mst_infer_fail(c, "has %d sources and %d outputs, too few for %d carries and %d x", c->num_src,
                              c->num_dst, (int)o->num_carry, (int)o->num_x);
    if (o->num_steps < 0) return mst_infer_fail(c, "num_steps is %lld, must not be negative", (long long)o->num_steps);
    if (!o->num_x && !o->num_steps) return mst_infer_fail(c, "without x it needs .num_steps");
    for (int i = o->num_carry; i < o->num_carry + o->num_x; i++) {
        if (c->src[i].shape.ndim == 0) return mst_infer_fail(c, "x %d is a scalar, has no steps", i - o->num_carry);
        MST_TRY(mst_infer_same_dim(c, *steps, c->src[i].shape.dim[0], "steps", steps));
    }
    return MST_OK;
}

/* Sets *DST to SPEC with STEPS as an additional first dimension. */
static mst_status scan_stack(mst_infer *c, int64_t steps, const mst_spec *spec, mst_spec *dst) {
    const int ndim = spec->shape.ndim;
    if (ndim == MST_MAX_NDIM) return mst_infer_fail(c, "a y has %d dimensions, can have %d", ndim, MST_MAX_NDIM - 1);
    *dst = (mst_spec){.dtype = spec->dtype, .shape = {.ndim = ndim + 1, .dim = {steps}}};
    for (int d = 0; d < ndim; d++) dst->shape.dim[d + 1] = spec->shape.dim[d];
    return MST_OK;
}

static mst_status scan_infer(mst_infer *c) {
    const mst_scan_node_options *o = c->options;
    int64_t steps;
    MST_TRY(scan_num_steps(c, &steps));
    mst_spec *src = calloc((size_t)c->num_src + (size_t)c->num_dst + 1, sizeof *src), *dst = src + c->num_src;
    if (!src) return MST_NO_MEMORY("for a scan");
    mst_scan_step_specs(o, c->num_src, c->src, src);
    mst_status status = mst_body_infer(c, o->body, c->num_src, src, c->num_dst, dst);
    for (int k = 0; k < c->num_dst && !status; k++) {
        if (k >= o->num_carry)
            status = scan_stack(c, steps, &dst[k], &c->dst[k]);
        else if (!(status = mst_loop_unify(c, k, &dst[k], &src[k])))
            c->dst[k] = src[k];
    }
    free(src);
    return status;
}

/* ---- StableHLO: the values of the loop are the carries, then each y of all steps ---- */

typedef struct scan_loop {
    const mst_scan_node_options *options;
    int64_t steps;
    mst_hlo *input, *output; /* of the body */
} scan_loop;

static void scan_lower_step(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    const scan_loop *s = context;
    const mst_scan_node_options *o = s->options;
    const int num_carry = o->num_carry;
    const mst_hlo *before = argument + 1;
    mst_hlo t = argument[0];
    if (o->reverse) {
        const mst_hlo last = mst_hlo_integer(l, mst_hlo_spec(l, t).dtype, s->steps - 1);
        t = mst_hlo_binary(l, "subtract", last, t);
    }
    for (int k = 0; k < num_carry; k++) s->input[k] = before[k];
    for (int i = num_carry; i < num_carry + o->num_x; i++) s->input[i] = mst_hlo_slice_at(l, l->src[i], 0, t);
    for (int i = num_carry + o->num_x; i < l->num_src; i++) s->input[i] = l->src[i];
    mst_hlo_body(l, o->body, s->input, s->output);
    for (int k = 0; k < num_carry; k++) result[k] = s->output[k];
    for (int k = num_carry; k < l->num_dst; k++) result[k] = mst_hlo_update_at(l, before[k], s->output[k], 0, t);
}

static void scan_lower(mst_lower *l) {
    const mst_scan_node_options *o = l->options;
    const int num_carry = o->num_carry;
    scan_loop s = {.options = o, .steps = o->num_x ? l->src_spec[num_carry].shape.dim[0] : o->num_steps};
    mst_hlo *value = calloc((size_t)l->num_src + 2 * (size_t)l->num_dst + 1, sizeof *value);
    if (value) {
        s.output = value + l->num_dst;
        s.input = s.output + l->num_dst;
        for (int k = 0; k < num_carry; k++) value[k] = l->src[k];
        for (int k = num_carry; k < l->num_dst; k++)
            value[k] = mst_hlo_fill(l, l->dst_spec[k].dtype, l->dst_spec[k].shape, 0);
        if (s.steps)
            mst_hlo_repeat(l, s.steps, l->num_dst, value, scan_lower_step, &s, l->dst);
        else
            for (int k = 0; k < l->num_dst; k++) l->dst[k] = value[k];
    } else {
        mst_hlo_fail(l, "cannot get memory");
    }
    free(value);
}

/* ---- the kernel ---- */

static size_t scan_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    return mst_loop_workspace(((const mst_scan_node_options *)c->options)->num_carry, c);
}

/* The data of step I in an array [steps, ...]; NULL if the array has no data. */
static void *scan_part(const mst_array *array, int64_t i) {
    const int64_t steps = array->shape.dim[0];
    const size_t bytes = steps ? (size_t)(array->count / steps) * mst_dtype_size(array->dtype) : 0;
    return array->data ? (char *)array->data + (size_t)i * bytes : NULL;
}

static mst_status scan_reference(const mst_kernel_args *a) {
    const mst_scan_node_options *o = a->options;
    const mst_bound_bodies bodies = a->state;
    const int num_carry = o->num_carry;
    const int64_t steps = o->num_x ? a->src[num_carry].shape.dim[0] : o->num_steps;
    mst_loop_run run = mst_loop_begin(a, num_carry);
    while (run.step < steps) {
        const int64_t t = o->reverse ? steps - 1 - run.step : run.step;
        for (int i = num_carry; i < num_carry + o->num_x; i++) run.src[i] = scan_part(&a->src[i], t);
        for (int k = num_carry; k < a->num_dst; k++) run.dst[k] = scan_part(&a->dst[k], t);
        MST_TRY(mst_loop_advance(&run, bodies[0]));
    }
    mst_loop_end(&run);
    return MST_OK;
}

/* ---- the op ---- */

const mst_op mst_op_scan = {
    .name = "scan",
    .num_src = MST_VARIADIC,
    .num_dst = MST_VARIADIC,
    .dtypes = MST_STORED_DTYPES,
    .fields = scan_fields,
    .options_size = sizeof(mst_scan_node_options),
    .count_dst = scan_count_dst,
    .infer = scan_infer,
    .grad = mst_scan_grad,
    .workspace = scan_workspace,
    .reference = scan_reference,
    .lower = scan_lower,
};

/* Adds the outputs of a step: next, y, and the carry that the step began with. */
static mst_status scan_outputs(const mst_loop *loop, const mst_loop_step *step) {
    MST_TRY(mst_loop_next(loop, step));
    bool ended = false;
    for (int i = 0; i < MST_LOOP_MOST; i++) {
        if (step->y[i].node && ended)
            return MST_FAIL(MST_INVALID, "scan: its body has set y %d, but not y %d", i, i - 1);
        ended = !step->y[i].node;
        if (!ended) MST_TRY(mst_loop_output(loop, step->graph, "y", i, step->y[i]));
    }
    for (int i = 0; i < loop->num_carry; i++)
        MST_TRY(mst_loop_output(loop, step->graph, "carry", i, mst_body_input_at(step->graph, i)));
    return mst_body_num_outputs(step->graph) ? MST_OK : MST_FAIL(MST_INVALID, "scan: its body has set no y");
}

mst_value mst_scan_with(mst_scan_options o) {
    mst_loop loop;
    mst_value dst = MST_NONE;
    if (mst_loop_sources("scan", o.carry, o.x, o.captured, &loop, &dst)) return dst;
    if (MST_IS_NULL_IN(loop.graph, o.body)) return mst_graph_error_value(loop.graph);
    mst_loop_step step;
    mst_status status = mst_loop_body(&loop, o.context, &step);
    mst_graph *body = step.graph;
    if (!status) {
        o.body(&step);
        step.graph = body; /* the body may have overwritten it */
        status = scan_outputs(&loop, &step);
    }
    const mst_scan_node_options options = {
        .body = body, .num_carry = loop.num_carry, .num_x = loop.num_x, .num_steps = o.num_steps, .reverse = o.reverse};
    if (status)
        dst = mst_value_of_last_error(loop.graph);
    else
        dst = mst_call_named(loop.graph, &mst_op_scan, o.name, loop.num_carry + loop.num_x + loop.num_captured,
                             loop.src, &options);
    mst_graph_destroy(body);
    return dst;
}
