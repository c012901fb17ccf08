/* Sharded state, a part of the lowering of apply_gradients: each task keeps only the optimizer's slots for its part of
 * the variables (op/state/state_parts.h). A step over two tasks:
 *
 *      gradients = [ a0 | b0 ]                 gradients = [ a1 | b1 ]
 *                       b0 ---------------------->
 *                          <---------------------- a1         scatter: sums of gradients, bucket by bucket
 *      a = a0 + a1                             b = b0 + b1
 *      new weights of a                        new weights of b        stage_update: written beside the old ones
 *                       a' ---------------------->
 *                          <---------------------- b'         gather
 *      ======================================= the gate =======================================
 *      slots and weights of a, as before       slots and weights of b
 *      weights from b'                         weights from a'
 *
 * Behind the gate a task computes its part again, now in place: keeping new slots beside the old ones would take the
 * memory that sharding saves. So no state is written before all tasks have all new weights. After that no write
 * can fail.
 *
 * With clipping by norm each task computes the norms of its own units, and has 0 for the units of other tasks. A
 * separate exchange adds these values up, so that all tasks have all norms in the same order. */
#include <string.h>

#include "base/no_memory.h"
#include "collective/group.h"
#include "op/op.h"
#include "op/state/state_parts.h"
#include "plan/task_sums.h"
#include "plan/update_lowering.h"
#include "plan/update_ops.h"

/* ---- parts ---- */

static mst_status check_group(const mst_lowering *l) {
    const mst_task_group *group = l->plan->host->group;
    const mst_apply_options *o = l->options;
    if (group && mst_group_size(group) == o->num_parts && mst_group_self(group) == o->part) return MST_OK;
    return MST_FAIL(MST_INVALID, "its slots are part %d of %d, but the session is of a cluster of %d tasks", o->part,
                    o->num_parts, group ? mst_group_size(group) : 1);
}

static mst_status check_variables(const mst_lowering *l) {
    if (mst_lowering_compiles(l, 0))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "sharded state is for CPUs, and %s compiles programs: leave sharded_state out",
                        l->plan->host->devices->device[l->sets[0].device[0]].text);
    if (l->num_sets > 1 || l->sets[0].num_domains > 1)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "sharded state is for devices that share one memory, which all have all variables: give each "
                        "worker such devices, or leave sharded_state out");
    for (int32_t v = 0; v < l->options->num_variables; v++) {
        if (l->variables[v].kind == MST_GRADIENT_DENSE) continue;
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "the gradient of '%s' has only some of its rows (an embedding), and sharded state is for dense "
                        "gradients: leave sharded_state out",
                        l->plan->node[mst_lowering_maker(l, l->src[l->variables[v].source])].name);
    }
    return MST_OK;
}

mst_status mst_lowering_find_parts(mst_lowering *l) {
    const mst_apply_options *o = l->options;
    MST_TRY(check_group(l));
    MST_TRY(check_variables(l));
    mst_shape *shape = mst_lowering_alloc(l, (size_t)o->num_variables, sizeof *shape);
    int64_t *parts = mst_lowering_alloc(l, (size_t)o->num_variables * ((size_t)o->num_parts + 1), sizeof *parts), first;
    if (!shape || !parts) return MST_NO_MEMORY("for an update");
    for (int32_t v = 0; v < o->num_variables; v++) shape[v] = *mst_lowering_shape(l, &l->variables[v]);
    const mst_dtype dtype = l->plan->value[l->variables[0].parts[0].value].spec.dtype;
    mst_state_parts(shape, o->num_variables, (int64_t)mst_dtype_size(dtype), o->num_parts, parts);
    for (int32_t v = 0; v < o->num_variables && o->num_slots; v++) {
        const mst_shape *slot = &l->plan->value[l->src[l->variables[v].source + 1]].spec.shape;
        if (mst_shape_count(*slot) != mst_apply_own(o, parts, v, &first))
            return MST_FAIL(MST_INVALID, "its slots are of other parts of the variables");
    }
    l->parts = parts;
    return MST_OK;
}

const int64_t *mst_lowering_bucket_parts(mst_lowering *l, int32_t first, int32_t last) {
    const size_t row = (size_t)l->options->num_parts + 1;
    int64_t *out = mst_lowering_alloc(l, (size_t)(last - first + 1) * row, sizeof *out);
    for (int32_t v = last; v >= first && out; v--)
        memcpy(out + (size_t)(last - v) * row, l->parts + (size_t)v * row, row * sizeof *out);
    return out;
}

/* ---- norms ---- */

/* no_norms: f64 [n] -> n zeros */
static mst_status no_norms(const mst_kernel_args *a) {
    memset(a->dst[0].data, 0, (size_t)a->dst[0].count * sizeof(double));
    return MST_OK;
}

static const mst_op op_no_norms = {.name = "no_norms",
                                   .num_src = 1,
                                   .num_dst = 1,
                                   .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE,
                                   .reference = no_norms};

/* In the exchange the first leaf of this task holds its norms; its other leaves are zeros. */
mst_status mst_lowering_share_norms(mst_lowering *l, const mst_update_local *x, int32_t *norms) {
    const mst_task_group *group = l->plan->host->group;
    const int32_t leaves = mst_group_leaves(group, mst_group_self(group), NULL);
    int32_t *leaf = mst_lowering_alloc(l, (size_t)leaves, sizeof *leaf), zeros = -1;
    const mst_spec spec = {.dtype = MST_F64, .shape = mst_shape_make(1, &x->units)};
    const mst_lowered none = {&op_no_norms, "no_norms", NULL, 1, norms, 1, &spec, x->device[0]};
    if (!leaf) return MST_NO_MEMORY("for an update");
    if (leaves > 1) MST_TRY(mst_lowering_node(l, &none, &zeros));
    for (int32_t i = 0; i < leaves; i++) leaf[i] = i ? zeros : *norms;
    const mst_plan_sums sums = {.name = mst_arena_print(&l->plan->memory, "%s/norms", l->plan->node[l->node].name),
                                .device = x->device[0],
                                .num_values = 1,
                                .num_leaves = leaves,
                                .leaf = leaf};
    if (!sums.name) return MST_NO_MEMORY("for an update");
    return mst_plan_add_exchange(l->plan, &sums, norms);
}

/* ---- the step ---- */

/* Adds the node that computes the new values of this task's part of each variable. *OUT is the first of these
 * values. */
static mst_status add_stage(mst_lowering *l, const mst_update_local *x, int32_t *out) {
    mst_update_options options = x->options;
    options.purpose = MST_UPDATE_STAGE;
    const int32_t num = options.num_variables;
    mst_spec *dst = mst_lowering_alloc(l, (size_t)num, sizeof *dst);
    if (!dst) return MST_NO_MEMORY("for an update");
    for (int32_t k = 0; k < num; k++) {
        const mst_variable_update *v = &l->variables[x->variable[k].number];
        dst[k] = (mst_spec){.dtype = l->plan->value[v->parts[0].value].spec.dtype,
                            .shape = mst_shape_make(1, &x->variable[k].own_count)};
    }
    const mst_lowered stage = {.op = &mst_op_stage_update,
                               .name = "new_values",
                               .options = &options,
                               .num_src = (int)x->num_src,
                               .src = x->src,
                               .num_dst = num,
                               .dst = dst,
                               .device = x->device[0]};
    MST_TRY(mst_lowering_node(l, &stage, out));
    l->plan->node[mst_lowering_maker(l, *out)].group = x->group;
    return MST_OK;
}

/* Adds the exchange that sends the new values of variables FIRST to LAST to all tasks. STAGED is the first value of
 * add_stage: the new values of this task's parts of all variables. */
static mst_status gather_bucket(mst_lowering *l, mst_update_local *x, int32_t staged, int32_t first, int32_t last) {
    const int32_t count = last - first + 1;
    int32_t *value = mst_lowering_alloc(l, 2 * (size_t)count, sizeof *value), *sum = value + count;
    if (!value) return MST_NO_MEMORY("for an update");
    for (int32_t v = last; v >= first; v--) value[last - v] = staged + v;
    const mst_plan_sums sums = {.name = mst_arena_print(&l->plan->memory, "%s/values", l->plan->node[l->node].name),
                                .kind = MST_EXCHANGE_GATHER,
                                .begin = mst_lowering_bucket_parts(l, first, last),
                                .device = x->device[0],
                                .num_values = count,
                                .num_leaves = 1,
                                .leaf = value};
    if (!sums.name || !sums.begin) return MST_NO_MEMORY("for an update");
    MST_TRY(mst_plan_add_exchange(l->plan, &sums, sum));
    for (int32_t v = last; v >= first; v--) {
        x->variable[v].staged = (int32_t)x->num_src;
        MST_TRY(mst_lowering_push(x, sum[last - v]));
    }
    return MST_OK;
}

mst_status mst_lowering_stage(mst_lowering *l, mst_update_local *x) {
    int32_t staged;
    MST_TRY(add_stage(l, x, &staged));
    for (int32_t last = l->options->num_variables - 1, first; last >= 0; last = first - 1) {
        first = mst_lowering_bucket(l, x->index, last);
        MST_TRY(gather_bucket(l, x, staged, first, last));
    }
    return MST_OK;
}
