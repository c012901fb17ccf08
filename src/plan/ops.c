/* Ops that only plans have. Where a value enters or leaves a device (feed, fetch, receive) the executor does it; the
 * others have kernels like any op. */
#include "plan/ops.h"

#include <math.h>
#include <string.h>

#include "op/op.h"
#include "plan/plan.h"
#include "rule/rule.h"

static mst_status like_source(mst_infer *c) {
    for (int i = 0; i < c->num_dst; i++) c->dst[i] = c->src[i];
    return MST_OK;
}

/* dst: the value of a feed; its spec is that of the feed, known from the start */
const mst_op mst_op_feed = {.name = "feed", .num_dst = 1, .flags = MST_OP_STATEFUL};

/* src: a value for the caller, or none where only running counts */
const mst_op mst_op_fetch = {
    .name = "fetch", .num_src = MST_VARIADIC, .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE, .infer = like_source};

/* src: a value for another domain; dst of the receive: that value there */
const mst_op mst_op_send = {.name = "send", .num_src = 1, .num_dst = 1, .flags = MST_OP_VIEW, .infer = like_source};
const mst_op mst_op_receive = {
    .name = "receive", .num_src = 1, .num_dst = 1, .flags = MST_OP_STATEFUL, .infer = like_source};

static const mst_field piece_fields[] = {
    MST_FIELD_I64(mst_piece_options, offset, 0, 0, 0, "first element"),
    MST_FIELD_END,
};
const mst_op mst_op_piece = {.name = "piece",
                             .num_src = 1,
                             .num_dst = 1,
                             .flags = MST_OP_VIEW,
                             .fields = piece_fields,
                             .options_size = sizeof(mst_piece_options)};

/* ---- update_scalars: learning_rate f32, step i64, state f64 -> f64 [MST_NUM_SCALARS], next state f64 ---- */

/* In f32 for every dtype, as tf.train.ExponentialMovingAverage: 1 - 0.9999 is 1.00017e-4 then, which shows. */
static double average_rest(const mst_optimizer *optimizer, int64_t step) {
    float decay = (float)optimizer->ema_decay;
    if (optimizer->ema_num_updates) decay = fminf(decay, (1.0f + (float)step) / (10.0f + (float)step));
    return (double)(1.0f - decay);
}

_Static_assert(MST_SCALAR_AVERAGE == MST_RULE_SCALARS, "the rule's scalars come first");

static mst_status compute_scalars(const mst_kernel_args *a) {
    const mst_optimizer *o = ((const mst_update_scalars_options *)a->options)->optimizer;
    const mst_rule *rule = mst_rule_find(o->rule);
    const double learning_rate = (double)*(const float *)a->src[0].data;
    const int64_t step = *(const int64_t *)a->src[1].data;
    double state = *(const double *)a->src[2].data, *scalar = a->dst[0].data;
    memset(scalar, 0, MST_NUM_SCALARS * sizeof *scalar);
    if (rule->next_state) state = rule->next_state(o, step + 1, state);
    rule->scalars(o, learning_rate, step + 1, state, scalar);
    scalar[MST_SCALAR_AVERAGE] = average_rest(o, step);
    scalar[MST_SCALAR_LEARNING_RATE] = learning_rate;
    *(double *)a->dst[1].data = state;
    return MST_OK;
}

const mst_op mst_op_update_scalars = {.name = "update_scalars",
                                      .num_src = 3,
                                      .num_dst = 2,
                                      .flags = MST_OP_STATEFUL,
                                      .options_size = sizeof(mst_update_scalars_options),
                                      .reference = compute_scalars};

/* ---- clip_factors: f64 [units of some variables], ... -> f64 [variables] ---- */

/* limit / max(norm, limit), NaN of NaN */
static double clip_factor(double norm, double limit) {
    return norm < limit ? 1 : limit / norm;
}

static mst_status compute_factors(const mst_kernel_args *a) {
    const mst_clip_factors_options *o = a->options;
    double *factor = a->dst[0].data, all = 0;
    for (int32_t v = 0; v < o->num_variables; v++) {
        const double *squares = (const double *)a->src[o->norms[v].source].data + o->norms[v].first;
        double sum = 0;
        for (int64_t u = 0; u < o->norms[v].count; u++) sum += squares[u];
        factor[v] = o->optimizer->clip_norm > 0 ? clip_factor(sqrt(sum), o->optimizer->clip_norm) : 1;
        all += sum;
    }
    const double limit = o->optimizer->clip_global_norm, norm = sqrt(all);
    /* norm - norm: 0, but NaN where the norm is infinite. As in TensorFlow no gradient is then taken for a good one:
     * the factor alone would be 0, and the step would look like one without gradients. */
    for (int32_t v = 0; v < o->num_variables && limit > 0; v++) factor[v] = clip_factor(norm, limit) + (norm - norm);
    return MST_OK;
}

const mst_op mst_op_clip_factors = {.name = "clip_factors",
                                    .num_src = MST_VARIADIC,
                                    .num_dst = 1,
                                    .flags = MST_OP_STATEFUL,
                                    .options_size = sizeof(mst_clip_factors_options),
                                    .reference = compute_factors};

/* Its kernel is kernel/cpu/update_sum_rows.c. */
const mst_op mst_op_sum_rows = {.name = "sum_rows",
                                .num_src = MST_VARIADIC,
                                .num_dst = 2,
                                .flags = MST_OP_STATEFUL,
                                .options_size = sizeof(mst_sum_rows_options)};

/* ---- sum_leaves: vectors of one length, f32 or f64 -> their sum ---- */

enum { BLOCK = 512 };

#define MST_TEMPLATE "plan/update_sum_leaves.h"
#include "base/floats.h"

static mst_status sum_leaves(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    (void)thread;
    if (a->dst[0].dtype == MST_F32)
        sum_all_f32(a, begin, end);
    else
        sum_all_f64(a, begin, end);
    return MST_OK;
}

static mst_status share_leaves(const mst_kernel_args *a) {
    enum { GRAIN = 32 * BLOCK };
    return mst_parallel(a, a->dst[0].count, GRAIN, sum_leaves, (void *)(uintptr_t)a);
}

const mst_op mst_op_sum_leaves = {.name = "sum_leaves",
                                  .num_src = MST_VARIADIC,
                                  .num_dst = 1,
                                  .flags = MST_OP_STATEFUL,
                                  .options_size = sizeof(mst_sum_leaves_options),
                                  .reference = share_leaves};

/* ---- update: op/state/update.h; its kernel is kernel/cpu/update.c ---- */

static bool update_writes(const void *options, int num_src, int i) {
    const mst_update_options *o = options;
    (void)num_src;
    if (o->purpose != MST_UPDATE_STEP || i < MST_UPDATE_FIRST) return false;
    /* the sources of a variable that are written lie before its gradients, in the order of the variables */
    int32_t low = 0, high = o->num_variables;
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        *(o->variable[middle].weight <= i ? &low : &high) = middle;
    }
    const mst_update_variable *v = &o->variable[low];
    if (i < v->weight) return false;
    return i < v->weight + o->num_copies + o->num_slots + (v->average >= 0) + (v->master >= 0);
}

const mst_op mst_op_update = {.name = "update",
                              .num_src = MST_VARIADIC,
                              .num_dst = 1,
                              .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE,
                              .options_size = sizeof(mst_update_options),
                              .writes = update_writes};
