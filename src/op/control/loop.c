#include "op/control/loop.h"

#include <string.h>

#include "graph/spec.h"
#include "tensor/buffer.h"

/* ---- building ---- */

/* Appends the values of LIST to the sources of LOOP, and sets *COUNT to their number. */
static mst_status loop_take(mst_loop *loop, int *num_src, const char *what, const mst_value *list, int *count) {
    *count = 0;
    for (int i = 0; list && i < MST_LOOP_MOST; i++) {
        if (!list[i].node) continue;
        if (*count < i)
            return MST_FAIL(MST_INVALID,
                            "%s: .%s %d is no value (not initialised, or a gradient that is none), but %d is", loop->op,
                            what, *count, i);
        loop->src[(*num_src)++] = list[i];
        ++*count;
    }
    return MST_OK;
}

mst_status mst_loop_sources(const char *op, const mst_value *carry, const mst_value *x, const mst_value *captured,
                            mst_loop *out, mst_value *error) {
    int num_src = 0;
    *out = (mst_loop){.op = op};
    const mst_value *lists[] = {carry, x, captured};
    for (int l = 0; l < 3 && !out->graph; l++)
        for (int i = 0; lists[l] && i < MST_LOOP_MOST && !out->graph; i++) out->graph = mst_value_graph(lists[l][i]);
    mst_status status = loop_take(out, &num_src, "carry", carry, &out->num_carry);
    if (!status) status = loop_take(out, &num_src, "x", x, &out->num_x);
    if (!status) status = loop_take(out, &num_src, "captured", captured, &out->num_captured);
    if (!status && !num_src) status = MST_FAIL(MST_INVALID, "%s: it has no sources", op);
    if (status) *error = mst_value_of_last_error(out->graph);
    for (int i = 0; i < num_src && !status; i++) {
        if (!mst_value_is_none(out->src[i])) continue;
        *error = out->src[i]; /* the graph has the error already */
        status = MST_INVALID;
    }
    return status;
}

static mst_value loop_input(mst_graph *body, const char *name, mst_spec spec) {
    const mst_value input = mst_placeholder(body, spec.dtype, spec.shape, .name = name);
    mst_body_input(body, input);
    return input;
}

mst_status mst_loop_body(const mst_loop *loop, void *context, mst_loop_step *step) {
    *step = (mst_loop_step){.context = context};
    MST_TRY(mst_graph_create(&step->graph));
    const mst_value *src = loop->src;
    for (int i = 0; i < loop->num_carry; i++) step->carry[i] = loop_input(step->graph, "carry", mst_value_spec(*src++));
    for (int i = 0; i < loop->num_x; i++) {
        mst_spec spec = mst_value_spec(*src++);
        for (int d = 1; d < spec.shape.ndim; d++) spec.shape.dim[d - 1] = spec.shape.dim[d];
        if (spec.shape.ndim) spec.shape.dim[--spec.shape.ndim] = 0;
        step->x[i] = loop_input(step->graph, "x", spec);
    }
    for (int i = 0; i < loop->num_captured; i++)
        step->captured[i] = loop_input(step->graph, "captured", mst_value_spec(*src++));
    return MST_OK;
}

mst_status mst_loop_output(const mst_loop *loop, mst_graph *body, const char *what, int i, mst_value value) {
    if (mst_graph_check(body)) return mst_error_prefix("in the body of %s", loop->op);
    if (!value.node) return MST_FAIL(MST_INVALID, "%s: its body has set no %s %d", loop->op, what, i);
    if (mst_value_graph(value) != body)
        return MST_FAIL(MST_INVALID, "%s: %s %d of its body, '%s', is of another graph: pass it in .captured", loop->op,
                        what, i, mst_value_name(value));
    mst_body_output(body, value);
    return MST_OK;
}

mst_status mst_loop_next(const mst_loop *loop, const mst_loop_step *step) {
    for (int i = 0; i < MST_LOOP_MOST; i++) {
        if (i < loop->num_carry)
            MST_TRY(mst_loop_output(loop, step->graph, "next", i, step->next[i]));
        else if (step->next[i].node)
            return MST_FAIL(MST_INVALID, "%s: its body has set next %d, but there is no such carry", loop->op, i);
    }
    return MST_OK;
}

mst_status mst_loop_unify(mst_infer *c, int carry, const mst_spec *next, mst_spec *spec) {
    bool same = next->dtype == spec->dtype && next->shape.ndim == spec->shape.ndim;
    for (int d = 0; d < spec->shape.ndim && same; d++) {
        const int64_t known = next->shape.dim[d];
        if (spec->shape.dim[d] < 0) spec->shape.dim[d] = known;
        same = known < 0 || known == spec->shape.dim[d];
    }
    char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
    if (same) return MST_OK;
    return mst_infer_fail(c, "carry %d is %s before a step and %s after it, must stay the same", carry,
                          mst_spec_print(spec, want, sizeof want), mst_spec_print(next, have, sizeof have));
}

/* ---- running ---- */

static size_t loop_bytes(const mst_shape *shape, mst_dtype dtype) {
    return mst_align((size_t)mst_shape_count(*shape) * mst_dtype_size(dtype));
}

static size_t loop_pointers(int count) {
    return mst_align((size_t)count * sizeof(void *));
}

size_t mst_loop_workspace(int num_carry, const mst_infer *c) {
    size_t bytes = loop_pointers(c->num_src) + loop_pointers(c->num_dst);
    for (int k = 0; k < num_carry; k++) bytes += 2 * loop_bytes(&c->src[k].shape, c->src[k].dtype);
    return bytes;
}

mst_loop_run mst_loop_begin(const mst_kernel_args *a, int num_carry) {
    char *workspace = a->workspace;
    mst_loop_run run = {.args = a, .num_carry = num_carry, .src = (void **)(void *)workspace};
    run.dst = (void **)(void *)(workspace + loop_pointers(a->num_src));
    run.buffer = workspace + loop_pointers(a->num_src) + loop_pointers(a->num_dst);
    for (int i = 0; i < a->num_src; i++) run.src[i] = a->src[i].data;
    for (int i = 0; i < a->num_dst; i++) run.dst[i] = NULL;
    return run;
}

mst_status mst_loop_advance(mst_loop_run *run, mst_bound_body *body) {
    char *place = run->buffer;
    for (int k = 0; k < run->num_carry; k++) {
        const size_t bytes = loop_bytes(&run->args->src[k].shape, run->args->src[k].dtype);
        run->dst[k] = place + (run->step & 1 ? bytes : 0);
        place += 2 * bytes;
    }
    if (body->run(body, run->src, run->dst))
        return mst_error_prefix("step %lld of %s '%s'", (long long)run->step, run->args->op->name, run->args->name);
    for (int k = 0; k < run->num_carry; k++) run->src[k] = run->dst[k];
    run->step++;
    return MST_OK;
}

void mst_loop_end(const mst_loop_run *run) {
    for (int k = 0; k < run->num_carry; k++) {
        const mst_array *dst = &run->args->dst[k];
        const size_t bytes = (size_t)dst->count * mst_dtype_size(dst->dtype);
        if (dst->data && bytes) memcpy(dst->data, run->src[k], bytes);
    }
}
