/** apply_gradients: a whole optimizer step for one part of the parameters, in one pass over memory
 *
 *  For each element: the gradients of all shards are added in a fixed tree, the L1 and L2 penalties of the variable are
 *  added, the gradient is clipped by value, decoupled weight decay and the optimizer's rule change the weight and the
 *  slots, the moving average follows, and the new weight is written to all copies of the variable.
 *
 *  The parameters are cut into tiles of 1024 elements that never cross variables; part k of n has tiles [k*t/n,
 *  (k+1)*t/n). Which part a tile is in does not change its bits.
 *
 *  learning_rate  f32 scalar
 *  step           i64 scalar, number of updates before this one
 *  state          f64 scalar, what the rule keeps from update to update; written where it keeps something
 *  per variable   its copies, its slots, its moving average (all written), its gradients, one a shard; all of one
 * dtype, f32 or f64, and of the variable's shape dst            [tiles of this part]: the penalty l1 * sum |w| + l2 / 2
 * * sum w^2 of each, of the weights before
 *
 *  mst_minimize and mst_apply_gradients build it.
 */
#include "op/apply_gradients.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "op/op.h"
#include "optimizer/rule.h"
#include "tensor/buffer.h"

enum { TILE = 1024, LANES = 64, LEVELS = 12, BUFFERS = LEVELS + 1 };

static const mst_field fields[] = {
    MST_FIELD_POINTER(mst_apply_options, optimizer, "rule and hyperparameters"),
    MST_FIELD_POINTER(mst_apply_options, penalty, "L1 and L2 of each variable"),
    MST_FIELD_I32(mst_apply_options, num_variables, 0, 1, 1 << 20, "variables"),
    MST_FIELD_I32(mst_apply_options, num_copies, 1, 1, 256, "copies of each variable, all of which are written"),
    MST_FIELD_I32(mst_apply_options, num_slots, 0, 0, 0, "slot variables of each variable"),
    MST_FIELD_I32(mst_apply_options, num_shards, 1, 1, 1 << (LEVELS - 1), "gradients of each variable"),
    MST_FIELD_BOOL(mst_apply_options, averages, "each variable has a moving average"),
    MST_FIELD_I32(mst_apply_options, part, 0, 0, 0, "of the parameters, from 0"),
    MST_FIELD_I32(mst_apply_options, num_parts, 1, 1, 256, "parts in all"),
    MST_FIELD_END,
};

static int sources_per_variable(const mst_apply_options *o) {
    return o->num_copies + o->num_slots + (o->averages ? 1 : 0) + o->num_shards;
}

int mst_apply_source(const mst_apply_options *o, int v) {
    return MST_APPLY_FIRST + v * sources_per_variable(o);
}

static int64_t tiles_of(int64_t count) {
    return (count + TILE - 1) / TILE;
}

static mst_status infer(mst_infer *c) {
    const mst_apply_options *o = c->options;
    if (c->num_src != mst_apply_source(o, o->num_variables)) return mst_infer_fail(c, "has %d sources", c->num_src);
    MST_TRY(mst_infer_want_dtype(c, MST_APPLY_LEARNING_RATE, MST_F32));
    MST_TRY(mst_infer_want_dtype(c, MST_APPLY_STEP, MST_I64));
    MST_TRY(mst_infer_want_dtype(c, MST_APPLY_STATE, MST_F64));
    MST_TRY(mst_infer_want_float(c, MST_APPLY_FIRST));
    int64_t tiles = 0;
    for (int v = 0; v < o->num_variables; v++) {
        int first = mst_apply_source(o, v);
        for (int i = 0; i < sources_per_variable(o); i++) {
            mst_shape shape;
            MST_TRY(mst_infer_same_dtype(c, MST_APPLY_FIRST, first + i));
            MST_TRY(mst_infer_same_shape(c, first, first + i, &shape));
        }
        tiles += tiles_of(mst_shape_count(c->src[first].shape));
    }
    int64_t from = o->part * tiles / o->num_parts, to = (o->part + 1) * tiles / o->num_parts;
    c->dst[0] = (mst_spec){.dtype = c->src[MST_APPLY_FIRST].dtype, .shape = mst_shape_make(1, &(int64_t){to - from})};
    return MST_OK;
}

static bool writes(const void *options, int num_src, int i) {
    const mst_apply_options *o = options;
    (void)num_src;
    if (i == MST_APPLY_STATE) return mst_rule_find(o->optimizer->rule)->next_state != NULL;
    return i >= MST_APPLY_FIRST &&
           (i - MST_APPLY_FIRST) % sources_per_variable(o) < sources_per_variable(o) - o->num_shards;
}

/* the parts of one update share its penalties */
static const void *write_key(const void *options) {
    return ((const mst_apply_options *)options)->penalty;
}

/* What all tiles of a step share. */
typedef struct apply {
    const mst_apply_options *options;
    const mst_optimizer *optimizer;
    const mst_rule *rule;
    const mst_array *src;
    const mst_kernel_args *args;
    int64_t first_tile;                 /* of this part */
    double learning_rate, average_rest; /* 1 - decay of the moving average */
    double scalar[MST_RULE_SCALARS];
} apply;

#define T float
#define MST_NAME(name) name##_f32
#include "op/apply_tile.h"
#undef T
#undef MST_NAME
#define T double
#define MST_NAME(name) name##_f64
#include "op/apply_tile.h"
#undef T
#undef MST_NAME

static size_t workspace(const mst_infer *c, int num_threads) {
    (void)c;
    return (size_t)num_threads * BUFFERS * TILE * sizeof(double);
}

static void run_tile(const apply *a, const mst_kernel_args *args, int64_t tile, int64_t out, int thread) {
    const mst_apply_options *o = a->options;
    char *buffer = (char *)args->workspace + (size_t)thread * BUFFERS * TILE * sizeof(double);
    int v = 0;
    for (;; v++) { /* few variables, cheap against a tile's work */
        int64_t tiles = tiles_of(a->src[mst_apply_source(o, v)].count);
        if (tile < tiles) break;
        tile -= tiles;
    }
    int64_t offset = tile * TILE, rest = a->src[mst_apply_source(o, v)].count - offset;
    int64_t count = rest < TILE ? rest : TILE;
    if (args->dst[0].dtype == MST_F32)
        tile_f32(a, v, offset, count, (float *)(void *)buffer, (float *)args->dst[0].data + out);
    else
        tile_f64(a, v, offset, count, (double *)(void *)buffer, (double *)args->dst[0].data + out);
}

/* In f32 for every dtype, as tf.train.ExponentialMovingAverage: 1 - 0.9999 is 1.00017e-4 then, which shows. */
static double average_rest(const mst_optimizer *optimizer, int64_t step) {
    float decay = (float)optimizer->ema_decay;
    if (optimizer->ema_num_updates) decay = fminf(decay, (1.0f + (float)step) / (10.0f + (float)step));
    return (double)(1.0f - decay);
}

static mst_status run_tiles(void *context, int64_t begin, int64_t end, int thread) {
    const apply *a = context;
    for (int64_t i = begin; i < end; i++) run_tile(a, a->args, a->first_tile + i, i, thread);
    return MST_OK;
}

static mst_status reference(const mst_kernel_args *args) {
    const mst_apply_options *o = args->options;
    apply a = {.options = o, .optimizer = o->optimizer, .rule = mst_rule_find(o->optimizer->rule), .src = args->src};
    if (!a.rule) return mst_kernel_fail(args, MST_INTERNAL, "no rule '%s'", o->optimizer->rule);
    a.learning_rate = (double)*(const float *)args->src[MST_APPLY_LEARNING_RATE].data;
    int64_t step = *(const int64_t *)args->src[MST_APPLY_STEP].data;
    double state = *(const double *)args->src[MST_APPLY_STATE].data;
    if (a.rule->next_state) {
        state = a.rule->next_state(a.optimizer, step + 1, state);
        *(double *)args->src[MST_APPLY_STATE].data = state;
    }
    a.rule->scalars(a.optimizer, a.learning_rate, step + 1, state, a.scalar);
    a.average_rest = average_rest(a.optimizer, step);
    int64_t tiles = 0;
    for (int v = 0; v < o->num_variables; v++) tiles += tiles_of(args->src[mst_apply_source(o, v)].count);
    a.args = args;
    a.first_tile = o->part * tiles / o->num_parts;
    enum { GRAIN = 16 };
    return mst_parallel(args, args->dst[0].count, GRAIN, run_tiles, &a);
}

/* its sources are variables: test/strategy/ tests it through mst_minimize */
static const mst_example examples[] = {{.num_src = 1, .src = {{.ndim = 0}}, .fails = MST_INVALID}};

const mst_op mst_op_apply_gradients = {
    .name = "apply_gradients",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_STATEFUL | MST_OP_PACKS_SOURCES,
    .fields = fields,
    .options_size = sizeof(mst_apply_options),
    .infer = infer,
    .writes = writes,
    .write_key = write_key,
    .workspace = workspace,
    .reference = reference,
    MST_EXAMPLES(examples),
};
