/* The CPU's backend. Binding makes an array of prepared calls. A call has the kernel, its arrays with their addresses,
 * options, state and workspace. Executing walks along the array, and neither allocates nor looks anything up. Before
 * each call the node is noted in frame->at, so that messages about errors and stuck steps can name it. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "run/backend.h"
#include "run/bound_bodies.h"
#include "run/frame.h"
#include "run/numerics.h"

typedef struct executable {
    const mst_plan *plan;
    int device;
} executable;

typedef struct call {
    mst_kernel_function run;
    mst_kernel_args args;
    int32_t node;
    bool body;    /* the call comes before the gate */
    void *bodies; /* for a node with bodies: the state of its kernel, else NULL */
} call;

typedef struct instance {
    const executable *executable;
    call *calls;
    int64_t num_calls;
    mst_array *arrays; /* arrays of all calls, except those of groups */
} instance;

static mst_status compile(const mst_plan *plan, int device, void **out) {
    executable *e = calloc(1, sizeof *e);
    if (!e) return MST_NO_MEMORY("for a plan");
    *e = (executable){plan, device};
    *out = e;
    return MST_OK;
}

static mst_status bind_call(const mst_binding *binding, const mst_plan_instance *from, mst_array **arrays, call *out) {
    const mst_plan *plan = binding->plan;
    const mst_plan_node *node = &plan->node[from->node];
    const mst_program *program = &plan->program[from->device];
    const mst_array *array = binding->group_arrays[from->node];
    if (!array) {
        mst_array *own = *arrays;
        array = own;
        *arrays += node->num_src + node->num_dst;
        for (int i = 0; i < node->num_src; i++)
            MST_TRY(binding->fill(binding, node->src[i], mst_plan_shape_only(node, i), &own[i]));
        for (int i = 0; i < node->num_dst; i++)
            MST_TRY(binding->fill(binding, node->dst + i, false, &own[node->num_src + i]));
    }
    *out = (call){
        .run = node->run,
        .node = from->node,
        .body = node->region == MST_BODY,
        .args = {.op = node->op,
                 .options = node->options,
                 .name = node->name,
                 .num_src = node->num_src,
                 .src = array,
                 .num_dst = node->num_dst,
                 .dst = array + node->num_src,
                 .workspace = binding->arena[from->device] + program->arena_bytes,
                 .state = node->group < 0 || !node->state ? node->state : ((void *const *)node->state)[from->part],
                 .step = binding->step,
                 .team = binding->team[from->device],
                 .num_threads = mst_team_size(binding->team[from->device]),
                 .part = from->part,
                 .num_parts = node->group < 0 ? 1 : plan->group[node->group].count}};
    if (!node->num_bodies) return MST_OK;
    MST_TRY(mst_bound_bodies_create(binding, node, from->device, out->args.workspace, &out->bodies));
    out->args.state = out->bodies;
    return MST_OK;
}

static void unbind(void *context) {
    instance *x = context;
    if (!x) return;
    for (int64_t k = 0; k < x->num_calls; k++) mst_bound_bodies_free(x->calls[k].bodies);
    free(x->calls);
    free(x->arrays);
    free(x);
}

static mst_status bind(void *context, const mst_binding *binding, void **out) {
    const executable *e = context;
    const mst_plan *plan = binding->plan;
    const mst_program *program = &plan->program[e->device];
    instance *x = calloc(1, sizeof *x);
    int64_t arrays = 0;
    for (int64_t k = 0; k < program->num_calls; k++) {
        const mst_plan_instance *from = &plan->instance[program->call[k]];
        const mst_plan_node *node = &plan->node[from->node];
        if (!binding->group_arrays[from->node]) arrays += node->num_src + node->num_dst;
    }
    if (x) x->calls = calloc((size_t)program->num_calls + 1, sizeof *x->calls);
    if (x) x->arrays = calloc((size_t)arrays + 1, sizeof *x->arrays);
    if (!x || !x->calls || !x->arrays) {
        unbind(x);
        return MST_NO_MEMORY("for a plan");
    }
    x->executable = e;
    x->num_calls = program->num_calls;
    mst_array *next = x->arrays;
    mst_status status = MST_OK;
    for (int64_t k = 0; k < program->num_calls && !status; k++)
        status = bind_call(binding, &plan->instance[program->call[k]], &next, &x->calls[k]);
    if (status)
        unbind(x);
    else
        *out = x;
    return status;
}

/* ---- numerics ---- */

static bool all_finite_f32(const float *x, int64_t count) {
    float sum = 0; /* x - x is 0 for numbers, NaN for NaN and Inf */
    for (int64_t i = 0; i < count; i++) sum += x[i] - x[i];
    return sum == 0;
}

static bool all_finite_f64(const double *x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += x[i] - x[i];
    return sum == 0;
}

static bool all_finite_bf16(const uint16_t *x, int64_t count) {
    bool finite = true;
    for (int64_t i = 0; i < count; i++) finite &= (x[i] & 0x7f80u) != 0x7f80u;
    return finite;
}

static bool all_finite(const mst_array *array) {
    if (!array->data) return true;
    if (array->dtype == MST_F32) return all_finite_f32(array->data, array->count);
    if (array->dtype == MST_F64) return all_finite_f64(array->data, array->count);
    if (array->dtype == MST_BF16) return all_finite_bf16(array->data, array->count);
    return true;
}

/* ARRAY, the array of VALUE, cut to the rows that are in use. The number of these rows is in one of DST, the outputs of
 * the same node. */
static mst_array counted(const mst_plan *plan, int32_t value, const mst_array *array, const mst_array *dst) {
    const mst_plan_value *v = &plan->value[value];
    mst_array out = *array;
    if (v->counted_by < 0 || v->counted_by == value || out.count == 0) return out;
    const int64_t rows = *(const int64_t *)dst[v->counted_by - plan->node[v->node].dst].data;
    out.count = rows * (out.count / out.shape.dim[0]);
    return out;
}

/* Checks the outputs of a node, and the weights that it reads. Weights are written behind the gate, where nothing may
 * fail any more, so they are checked when they are read. */
static mst_status check_numerics(const instance *x, const call *c) {
    const mst_plan *plan = x->executable->plan;
    const mst_plan_node *node = &plan->node[c->node];
    const mst_kernel_args *a = &c->args;
    for (int i = 0; i < a->num_src; i++) {
        const int32_t root = plan->value[node->src[i]].root;
        if (mst_plan_shape_only(node, i) || plan->value[root].space != MST_IN_STATE || all_finite(&a->src[i])) continue;
        return mst_numerics_fail(plan, root, a->step);
    }
    /* Outputs of groups are not checked: each device makes a part, and other devices may not be done. Later results
     * that depend on these outputs are checked instead. */
    for (int i = 0; i < a->num_dst && a->num_parts == 1; i++) {
        const mst_array made = counted(plan, node->dst + i, &a->dst[i], a->dst);
        if (!all_finite(&made)) return mst_numerics_fail(plan, node->dst + i, a->step);
    }
    return MST_OK;
}

/* The same as execute, but notes the time of each call. */
static mst_status execute_traced(const instance *x, int32_t first, int32_t end, mst_frame *frame) {
    const int device = x->executable->device;
    for (int32_t k = first; k < end; k++) {
        const call *c = &x->calls[k];
        const int64_t begin = mst_clock_now();
        atomic_store_explicit(&frame->at[device], c->node, memory_order_relaxed);
        MST_TRY(c->run(&c->args));
        mst_note_call(frame->notes, device, c->node, begin);
        if (frame->check_numerics && c->body) MST_TRY(check_numerics(x, c));
    }
    return MST_OK;
}

static mst_status execute(void *context, int32_t first, int32_t end, mst_frame *frame) {
    instance *x = context;
    if (frame->notes) return execute_traced(x, first, end, frame);
    _Atomic int32_t *at = &frame->at[x->executable->device];
    for (int32_t k = first; k < end; k++) {
        call *c = &x->calls[k];
        atomic_store_explicit(at, c->node, memory_order_relaxed);
        MST_TRY(c->run(&c->args));
        if (frame->check_numerics && c->body) MST_TRY(check_numerics(x, c));
    }
    return MST_OK;
}

mst_status mst_cpu_run(void *context, int32_t first, int32_t end) {
    const instance *x = context;
    for (int32_t k = first; k < end; k++) MST_TRY(x->calls[k].run(&x->calls[k].args));
    return MST_OK;
}

const mst_backend mst_backend_cpu = {.size = sizeof(mst_backend),
                                     .compile = compile,
                                     .destroy = free,
                                     .bind = bind,
                                     .unbind = unbind,
                                     .execute = execute};
