/** apply_gradients: one step of an optimizer for some variables, on whatever devices they are
 *
 *  For each variable, in this order: the gradients of all shards are added in a fixed tree; the gradients of the L1 and
 *  L2 penalties are added; the gradient is clipped; decoupled weight decay and the optimizer's rule change the weight
 *  and the slots; the moving average is updated. The plan lowers the node: each device updates the variables that it
 *  keeps, or its part of the variables that several devices keep.
 *
 *  learning_rate  f32 scalar
 *  step           i64 scalar, number of updates before this one
 *  state          f64 scalar, a number that the rule keeps from update to update; written if the rule uses it
 *  per variable   the variable, its slots, its moving average, and its master (the value in f32, if the variable has
 *                 another dtype). All of them are written, and all have the shape of the variable.
 *                 Then the gradients, one for each shard of this task, of the variable's shape and dtype (if it has a
 *                 master: f32 or its dtype)
 *  accumulated    i64 scalar, written; present only if gradient_accumulation_steps is above 1: how many gradients were
 *                 added up since the last update. Their sum is in the last slot of each variable
 *  dst            scalar: the penalties l1 * sum |w| + l2 / 2 * sum w^2 of all variables, for the weights before the
 *                 step
 *
 *  mst_minimize and mst_apply_gradients build it.
 */
#include "op/state/apply_gradients.h"

#include "op/op.h"
#include "rule/accumulate.h"
#include "rule/fields.h"
#include "rule/rule.h"

/* Defaults and ranges are those of the optimizer, which was checked before. */
#define ROW(member, type, initial, low, high, names, help)                                                         \
    {                                                                                                              \
        "optimizer." #member, MST_FIELD_TYPE_##type, offsetof(mst_apply_options, optimizer.member), 0, 0, 0, help, \
            names, NULL                                                                                            \
    }

static const mst_field apply_gradients_fields[] = {
    MST_OPTIMIZER_FIELDS(ROW),
    MST_FIELD_I32(mst_apply_options, num_variables, 0, 1, 1 << 24, "variables"),
    MST_FIELD_I32(mst_apply_options, num_shards, 1, 1, 1 << 20, "shards of all tasks"),
    MST_FIELD_I32(mst_apply_options, first_shard, 0, 0, 1 << 20, "first shard of this task"),
    MST_FIELD_I32(mst_apply_options, num_gradients, 0, 0, 1 << 20, "gradients of each variable; 0: of all shards"),
    MST_FIELD_I32(mst_apply_options, num_slots, 0, 0, 0, "slot variables of each variable"),
    MST_FIELD_BOOL(mst_apply_options, averages, "each variable has a moving average"),
    MST_FIELD_BOOL(mst_apply_options, masters, "each variable has its value in f32 beside"),
    MST_FIELD_I32(mst_apply_options, num_parts, 0, 0, 1 << 20, "tasks that share the slots out; 0: all slots are here"),
    MST_FIELD_I32(mst_apply_options, part, 0, 0, 1 << 20, "whose slots are here"),
    MST_FIELD_END,
};

mst_shards mst_apply_window(const mst_apply_options *o) {
    return (mst_shards){o->first_shard, o->num_gradients ? o->num_gradients : o->num_shards};
}

int mst_apply_num_written(const mst_apply_options *o) {
    return 1 + o->num_slots + (o->averages ? 1 : 0) + (o->masters ? 1 : 0);
}

int mst_apply_per_variable(const mst_apply_options *o) {
    return mst_apply_num_written(o) + mst_apply_window(o).count;
}

int mst_apply_source(const mst_apply_options *o, int v) {
    return MST_APPLY_FIRST + v * mst_apply_per_variable(o);
}

const char *mst_apply_slot(const mst_apply_options *o, int k, double *initial) {
    const mst_rule *rule = mst_rule_find(o->optimizer.rule);
    *initial = 0;
    if (mst_accumulates(&o->optimizer) && k == o->num_slots - 1) return MST_ACCUMULATOR;
    if (rule->slot_initial) *initial = rule->slot_initial(&o->optimizer, k);
    return rule->slot_name[k];
}

int64_t mst_apply_own(const mst_apply_options *o, const int64_t *parts, int v, int64_t *first) {
    const int64_t *begin = parts + (int64_t)v * (o->num_parts + 1) + o->part;
    *first = begin[0];
    return begin[1] - begin[0];
}

int mst_apply_accumulated(const mst_apply_options *o) {
    return mst_accumulates(&o->optimizer) ? mst_apply_source(o, o->num_variables) : -1;
}

static mst_status infer_variable(mst_infer *c, int v) {
    const mst_apply_options *o = c->options;
    const int first = mst_apply_source(o, v), gradients = first + mst_apply_num_written(o);
    if (!o->masters) MST_TRY(mst_infer_want_float(c, first));
    for (int i = first + 1; i < first + mst_apply_per_variable(o); i++) {
        mst_shape shape;
        const mst_dtype dtype = c->src[i].dtype;
        if (!o->masters)
            MST_TRY(mst_infer_same_dtype(c, first, i));
        else if (i < gradients || dtype != c->src[first].dtype)
            MST_TRY(mst_infer_want_dtype(c, i, MST_F32));
        if (o->num_parts && i <= first + o->num_slots) continue; /* slots have only a part; the plan sets its size */
        MST_TRY(mst_infer_same_shape(c, first, i, &shape));
    }
    return MST_OK;
}

static mst_status apply_gradients_infer(mst_infer *c) {
    const mst_apply_options *o = c->options;
    const int sums = mst_accumulates(&o->optimizer);
    if (o->num_slots < sums || o->num_slots > MST_RULE_SLOTS + sums || !mst_rule_find(o->optimizer.rule))
        return mst_infer_fail(c, "there is no optimizer '%s' with %d slots", o->optimizer.rule ? o->optimizer.rule : "",
                              o->num_slots);
    const mst_shards window = mst_apply_window(o);
    if (window.first + window.count > o->num_shards)
        return mst_infer_fail(c, "has gradients of shards %d to %d of %d", window.first,
                              window.first + window.count - 1, o->num_shards);
    if (c->num_src - MST_APPLY_FIRST - sums != (int64_t)o->num_variables * mst_apply_per_variable(o))
        return mst_infer_fail(c, "has %d sources for %d variables and %d shards", c->num_src, o->num_variables,
                              window.count);
    MST_TRY(mst_infer_want_dtype(c, MST_APPLY_LEARNING_RATE, MST_F32));
    MST_TRY(mst_infer_want_dtype(c, MST_APPLY_STEP, MST_I64));
    MST_TRY(mst_infer_want_dtype(c, MST_APPLY_STATE, MST_F64));
    if (sums) MST_TRY(mst_infer_want_dtype(c, c->num_src - 1, MST_I64));
    for (int v = 0; v < o->num_variables; v++) MST_TRY(infer_variable(c, v));
    const mst_dtype dtype = o->masters ? MST_F32 : c->src[MST_APPLY_FIRST].dtype;
    c->dst[0] = (mst_spec){.dtype = dtype, .shape = mst_shape_make(0, NULL)};
    return MST_OK;
}

static bool writes(const void *options, int num_src, int i) {
    const mst_apply_options *o = options;
    if (i == MST_APPLY_STATE) return mst_rule_find(o->optimizer.rule)->next_state != NULL;
    if (mst_accumulates(&o->optimizer) && i == num_src - 1) return true;
    return i >= MST_APPLY_FIRST && (i - MST_APPLY_FIRST) % mst_apply_per_variable(o) < mst_apply_num_written(o);
}

static mst_status apply_gradients_reference(const mst_kernel_args *a) {
    return mst_kernel_fail(a, MST_INTERNAL, "the plan has not lowered it");
}

/* the sources must be variables, which an example cannot give: test/strategy/ tests the op through mst_minimize */
static const mst_example apply_gradients_examples[] = {{.num_src = 1, .src = {{.ndim = 0}}, .fails = MST_INVALID}};

const mst_op mst_op_apply_gradients = {
    .name = "apply_gradients",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_FLOATS | MST_DTYPE_BIT(MST_BF16),
    .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE,
    .fields = apply_gradients_fields,
    .options_size = sizeof(mst_apply_options),
    .infer = apply_gradients_infer,
    .writes = writes,
    .reference = apply_gradients_reference,
    MST_EXAMPLES(apply_gradients_examples),
};
