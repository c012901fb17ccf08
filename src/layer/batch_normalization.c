/** batch_normalization: dst = gamma * (src - mean) / sqrt(variance + epsilon) + beta, for each channel over all other
 *  axes
 *
 *  src           [n, ..., channels]
 *  momentum      of the moving statistics, default 0.99
 *  epsilon       default 0.001
 *  no_center     leaves beta out
 *  no_scale      leaves gamma out
 *  moving_statistics  in training too, mean and variance are the moving ones, which stay as they are, while gamma and
 *                beta are trained: training=False in the call of Keras 2
 *  synchronized  in training, mean and variance are those of the whole batch, over all shards and workers
 *  dst           like src
 *
 *  In training, mean and variance are those of the batch; unless synchronized, each shard has its own. The moving
 *  statistics then become moving * momentum + batch * (1 - momentum), and the results of the shards are averaged in the
 *  fixed tree. Unless synchronized, a shard without examples does not change them. In evaluation and prediction, mean
 *  and variance are the moving ones. As in Keras 3, the variance is divided by the number of elements.
 *
 *  If synchronized, each layer makes two sums over the shards in the forward pass and two in the backward pass, in the
 *  fixed tree. Devices and workers wait for each other at these sums. With parameter servers, each worker has its own
 *  statistics.
 *
 *  Weights: gamma, beta, moving_mean, moving_variance, [channels] each; the last two are not trained. In your own
 *  graphs, mst_state_updates (muster/minimize.h) runs the updates of the moving statistics.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_batch_normalization_options {
    int zero_;
    float momentum;
    float epsilon;
    bool no_center, no_scale;
    bool synchronized, moving_statistics;
    mst_initializer beta_initializer;  /**< default zeros; glorot_uniform counts as not given */
    mst_initializer gamma_initializer; /**< default ones; glorot_uniform counts as not given */
    const char *name;
    int end_;
    mst_constraint gamma_constraint, beta_constraint; /**< of the weights after each step; default none */
} mst_layer_batch_normalization_options;
#define mst_batch_normalization(...) MST_BATCH_NORMALIZATION_(__VA_ARGS__, .end_ = 0)
#define MST_BATCH_NORMALIZATION_(source, ...) \
    MST_LAYER(batch_normalization, source, MST_NAMED(mst_layer_batch_normalization_options, __VA_ARGS__))
#endif
#include "layer/gamma_beta.h"
#include "layer/initializer/initializer.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"
#include "op/elementwise/sum_replicas.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_batch_normalization_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(F32, momentum, 0.99, 0, 1, "of the moving statistics"),
    FIELD(F32, epsilon, 1e-3, 1e-30, 1e30, "added to the variance"),
    FIELD(BOOL, no_center, "leaves beta out"),
    FIELD(BOOL, no_scale, "leaves gamma out"),
    FIELD(BOOL, synchronized, "statistics of the whole batch, not of each shard"),
    FIELD(BOOL, moving_statistics, "in training too, which does not change them"),
    FIELD(NESTED, beta_initializer, mst_initializer_fields, "of beta"),
    FIELD(NESTED, gamma_initializer, mst_initializer_fields, "of gamma"),
    FIELD(STRING, name, "of the layer"),
    MST_GAMMA_BETA_CONSTRAINT_FIELDS(FIELD),
    MST_FIELD_END,
};

static mst_status batch_normalization_weights(mst_layer_call *call) {
    const mst_layer_batch_normalization_options *o = call->options;
    const mst_spec src = mst_value_spec(call->src[0]);
    int64_t channels;
    MST_TRY(mst_layer_channels(call, "[n, ..., channels]", 2, MST_MAX_NDIM, &channels));
    const mst_shape shape = MST_SHAPE(channels);
    mst_gamma_beta_weights(call, MST_GAMMA_BETA(o), shape);
    mst_layer_weight(call, .name = "moving_mean", .shape = shape, .dtype = src.dtype,
                     .initializer = mst_zeros_initializer(), .not_trainable = true);
    mst_layer_weight(call, .name = "moving_variance", .shape = shape, .dtype = src.dtype,
                     .initializer = mst_ones_initializer(), .not_trainable = true);
    return MST_OK;
}

/* Updates MOVING to moving * (1 - part) + batch * part, where part is 0 if the shard has no examples. */
static void take_step(const mst_layer_call *call, mst_value moving, mst_value batch) {
    const mst_layer_batch_normalization_options *o = call->options;
    const mst_dtype dtype = mst_value_spec(moving).dtype;
    const mst_value num = mst_dim_size(call->src[0], 0, dtype), none = mst_zeros_like(num);
    const mst_value part = mst_scalar(call->graph, dtype, 1 - (double)o->momentum);
    const mst_value used = mst_select(mst_greater(num, none), part, none);
    const mst_value kept = mst_sub(mst_ones_like(used), used), before = mst_layer_updated(call, moving);
    mst_layer_update(call, moving, mst_add(mst_mul(before, kept), mst_mul(batch, used)));
}

/* Returns the normalized source. *MEAN and *VARIANCE become those of the batches of all shards. They are made in two
 * sums over the shards, to avoid cancellation. */
static mst_value normalize_together(const mst_layer_call *call, mst_value gamma, mst_value beta, mst_value *mean,
                                    mst_value *variance) {
    const mst_layer_batch_normalization_options *o = call->options;
    const mst_value src = call->src[0];
    const mst_spec spec = mst_value_spec(src);
    const int64_t channels = spec.shape.dim[spec.shape.ndim - 1];
    mst_axes axes = {.count = spec.shape.ndim - 1};
    mst_value rows = mst_dim_size(src, 0, MST_F64);
    for (int i = 0; i < axes.count; i++) axes.axis[i] = i;
    for (int i = 1; i < axes.count; i++) rows = mst_mul(rows, mst_dim_size(src, i, MST_F64));
    const mst_value own[] = {mst_reduce_sum(src, axes), mst_expand_dims(mst_cast(rows, spec.dtype), 0)};
    const mst_value sums = mst_sum_replicas(mst_concat(own, 2, 0));
    const mst_value n = mst_slice(sums, MST_SHAPE(channels), MST_SHAPE(1));
    *mean = mst_div(mst_slice(sums, MST_SHAPE(0), MST_SHAPE(channels)), n);
    const mst_value u = mst_sub(src, *mean);
    *variance = mst_div(mst_sum_replicas(mst_reduce_sum(mst_square(u), axes)), n);
    const mst_value epsilon = mst_scalar(call->graph, spec.dtype, (double)o->epsilon);
    return mst_add(mst_mul(u, mst_mul(gamma, mst_rsqrt(mst_add(*variance, epsilon)))), beta);
}

static mst_value batch_normalization_build(const mst_layer_call *call) {
    const mst_layer_batch_normalization_options *o = call->options;
    const mst_value src = call->src[0], *weight = call->weight;
    const mst_value mean = weight[call->num_weights - 2], variance = weight[call->num_weights - 1];
    const mst_value gamma = o->no_scale ? mst_ones_like(mean) : weight[0];
    const mst_value beta = o->no_center ? mst_zeros_like(mean) : weight[o->no_scale ? 0 : 1];
    const bool is_training = call->training && !call->frozen && !o->moving_statistics;
    if (is_training && o->synchronized) {
        mst_value batch[2];
        const mst_value y = normalize_together(call, gamma, beta, &batch[0], &batch[1]);
        for (int i = 0; i < 2; i++) {
            const mst_value moving = weight[call->num_weights - 2 + i];
            const mst_value kept = mst_scale(mst_layer_updated(call, moving), (double)o->momentum);
            mst_layer_update(call, moving, mst_add(kept, mst_scale(batch[i], 1 - (double)o->momentum)));
        }
        return y;
    }
    if (is_training) {
        const mst_value y = mst_batch_norm(src, gamma, beta, .epsilon = (double)o->epsilon);
        take_step(call, mean, mst_value_output(y, 1));
        take_step(call, variance, mst_value_output(y, 2));
        return y;
    }
    const mst_value epsilon = mst_scalar(call->graph, mst_value_spec(variance).dtype, (double)o->epsilon);
    const mst_value scale = mst_mul(gamma, mst_rsqrt(mst_add(variance, epsilon)));
    return mst_add(mst_mul(src, scale), mst_sub(beta, mst_mul(mean, scale)));
}

const mst_layer_type mst_layer_type_batch_normalization = {
    .name = "batch_normalization",
    .class_name = "BatchNormalization",
    .options_size = sizeof(mst_layer_batch_normalization_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = batch_normalization_weights,
    .build = batch_normalization_build,
    .mask = mst_layer_mask_refuse,
};
