#include "bench/bare_layer.h"

#include <string.h>

#include "bench/bare_primitive.h"
#include "kernel/onednn/base/description.h"

/* A primitive of a layer. */
typedef struct what {
    const bare_layer *layer;
    bool backward;
    dnnl_data_type_t type;
    dnnl_format_tag_t layout;
} what;

enum { CHANNELS_AXIS = 1 };
static const float epsilon = 1e-3F;
static const unsigned scaled = dnnl_use_scale | dnnl_use_shift;

static dnnl_alg_kind_t activation(bare_layer_kind kind) {
    return kind == BARE_RELU6 ? dnnl_eltwise_clip : dnnl_eltwise_relu;
}

static dnnl_alg_kind_t pooling(bare_layer_kind kind) {
    return kind == BARE_MAX_POOL ? dnnl_pooling_max : dnnl_pooling_avg_exclude_padding;
}

/* The forward primitive, or that of the gradient where FORWARD, the description of the forward primitive, is given. SRC
 * describes the input, and the output of all but pooling, whose output is like DST. */
#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t describe(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const bare_layer *l,
                              dnnl_primitive_desc_t forward, const mst_description *src, const mst_description *dst) {
    const dnnl_prop_kind_t training = dnnl_forward_training;
    const dnnl_alg_kind_t accurate = dnnl_softmax_accurate, act = activation(l->kind), pool = pooling(l->kind);
    const dnnl_dims_t window = {l->window_height, l->window_width}, none = {0};
    const float low = 0, high = l->kind == BARE_RELU6 ? 6 : 0;
    const mst_description x = *src, y = *dst;
    switch (l->kind) {
        case BARE_BATCH_NORM:
            if (!forward)
                return dnnl_batch_normalization_forward_primitive_desc_create(out, engine, training, x, x, epsilon,
                                                                              scaled, NULL);
            return dnnl_batch_normalization_backward_primitive_desc_create(out, engine, dnnl_backward, x, x, x, epsilon,
                                                                           scaled, forward, NULL);
        case BARE_RELU:
        case BARE_RELU6:
            if (!forward)
                return dnnl_eltwise_forward_primitive_desc_create(out, engine, training, act, x, x, low, high, NULL);
            return dnnl_eltwise_backward_primitive_desc_create(out, engine, act, x, x, x, low, high, forward, NULL);
        case BARE_MAX_POOL:
        case BARE_AVERAGE_POOL:
            if (!forward)
                return dnnl_pooling_forward_primitive_desc_create(out, engine, training, pool, x, y, window, window,
                                                                  none, none, none, NULL);
            return dnnl_pooling_backward_primitive_desc_create(out, engine, pool, x, y, window, window, none, none,
                                                               none, forward, NULL);
        case BARE_SOFTMAX:
            if (!forward)
                return dnnl_softmax_forward_primitive_desc_create(out, engine, training, accurate, x, x, CHANNELS_AXIS,
                                                                  NULL);
            return dnnl_softmax_backward_primitive_desc_create(out, engine, accurate, x, x, x, CHANNELS_AXIS, forward,
                                                               NULL);
        case BARE_ADD: return dnnl_binary_primitive_desc_create(out, engine, dnnl_binary_add, x, x, x, NULL);
        case BARE_NO_LAYER: break;
    }
    return dnnl_invalid_arguments;
}

#else

static dnnl_status_t describe(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const bare_layer *l,
                              dnnl_primitive_desc_t forward, const mst_description *src, const mst_description *dst) {
    const dnnl_prop_kind_t training = dnnl_forward_training;
    const dnnl_alg_kind_t act = activation(l->kind), pool = pooling(l->kind);
    const dnnl_dims_t window = {l->window_height, l->window_width}, none = {0};
    const float low = 0, high = l->kind == BARE_RELU6 ? 6 : 0;
    union {
        dnnl_batch_normalization_desc_t norm;
        dnnl_eltwise_desc_t activation;
        dnnl_pooling_desc_t pool;
        dnnl_softmax_desc_t softmax;
        dnnl_binary_desc_t add;
    } d;
    dnnl_status_t status = dnnl_invalid_arguments;
    switch (l->kind) {
        case BARE_BATCH_NORM:
            status = !forward ? dnnl_batch_normalization_forward_desc_init(&d.norm, training, src, epsilon, scaled)
                              : dnnl_batch_normalization_backward_desc_init(&d.norm, dnnl_backward, src, src, epsilon,
                                                                            scaled);
            break;
        case BARE_RELU:
        case BARE_RELU6:
            status = !forward ? dnnl_eltwise_forward_desc_init(&d.activation, training, act, src, low, high)
                              : dnnl_eltwise_backward_desc_init(&d.activation, act, src, src, low, high);
            break;
        case BARE_MAX_POOL:
        case BARE_AVERAGE_POOL:
            status = !forward
                         ? dnnl_pooling_forward_desc_init(&d.pool, training, pool, src, dst, window, window, none, none)
                         : dnnl_pooling_backward_desc_init(&d.pool, pool, src, dst, window, window, none, none);
            break;
        case BARE_SOFTMAX:
            status = !forward ? dnnl_softmax_forward_desc_init(&d.softmax, training, src, CHANNELS_AXIS)
                              : dnnl_softmax_backward_desc_init(&d.softmax, src, src, CHANNELS_AXIS);
            break;
        case BARE_ADD: status = dnnl_binary_desc_init(&d.add, dnnl_binary_add, src, src, src); break;
        case BARE_NO_LAYER: break;
    }
    return status ? status : dnnl_primitive_desc_create(out, &d, NULL, engine, forward);
}

#endif

static dnnl_status_t describe_layer(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const void *primitive) {
    const what *w = primitive;
    const bare_layer *l = w->layer;
    const bool pools = l->kind == BARE_MAX_POOL || l->kind == BARE_AVERAGE_POOL;
    const dnnl_dim_t whole[] = {l->n, l->channels, l->height, l->width};
    const dnnl_dim_t pooled[] = {l->n, l->channels, pools ? l->height / l->window_height : l->height,
                                 pools ? l->width / l->window_width : l->width};
    mst_description src, dst;
    memset(&src, 0, sizeof src);
    memset(&dst, 0, sizeof dst);
    dnnl_status_t status = mst_describe_tagged(&src, w->type, 4, whole, w->layout);
    if (!status) status = mst_describe_tagged(&dst, w->type, 4, pooled, w->layout);
    if (!status) status = describe(out, engine, l, NULL, &src, &dst);
    if (!status && w->backward && l->kind != BARE_ADD) {
        dnnl_primitive_desc_t forward = *out;
        *out = NULL;
        status = describe(out, engine, l, forward, &src, &dst);
        dnnl_primitive_desc_destroy(forward);
    }
    mst_forget(&src);
    mst_forget(&dst);
    return status;
}

/* What a layer of any kind may read and write; a primitive leaves out what it does not have. A training step has just
 * touched the output of the layer before, the gradient of the layer after, and the place where gradients are written,
 * which is used again and again. What is kept for the gradients, and the first of the two that are added, which is the
 * input of a residual block, is from long before. */
static const bare_operand forward_operands[BARE_MAX_OPERANDS] = {
    {.argument = DNNL_ARG_SRC, .just_touched = true},
    {.argument = DNNL_ARG_SCALE},
    {.argument = DNNL_ARG_SHIFT},
    {.argument = DNNL_ARG_MEAN, .written = true},
    {.argument = DNNL_ARG_VARIANCE, .written = true},
    {.argument = DNNL_ARG_DST, .written = true},
    {.argument = DNNL_ARG_WORKSPACE, .written = true},
};
static const bare_operand backward_operands[BARE_MAX_OPERANDS] = {
    {.argument = DNNL_ARG_SRC},
    {.argument = DNNL_ARG_DST},
    {.argument = DNNL_ARG_WORKSPACE},
    {.argument = DNNL_ARG_MEAN},
    {.argument = DNNL_ARG_VARIANCE},
    {.argument = DNNL_ARG_SCALE},
#if DNNL_VERSION_MAJOR < 3
    {.argument = DNNL_ARG_SHIFT}, /* wanted, although the gradient does not depend on it; not taken by version 3 */
#endif
    {.argument = DNNL_ARG_DIFF_DST, .just_touched = true},
    {.argument = DNNL_ARG_DIFF_SRC, .written = true, .just_touched = true},
    {.argument = DNNL_ARG_DIFF_SCALE, .written = true},
    {.argument = DNNL_ARG_DIFF_SHIFT, .written = true},
};
static const bare_operand add_operands[2][BARE_MAX_OPERANDS] = {
    {{.argument = DNNL_ARG_SRC_0},
     {.argument = DNNL_ARG_SRC_1, .just_touched = true},
     {.argument = DNNL_ARG_DST, .written = true}},
    {{.argument = DNNL_ARG_SRC_0},
     {.argument = DNNL_ARG_SRC_1, .just_touched = true},
     {.argument = DNNL_ARG_DST, .written = true, .just_touched = true}},
};

double bare_layer_seconds(const bare_layer *layer, bool backward, dnnl_data_type_t type, double seconds,
                          bare_memory *memory) {
    const bool wide = dnnl_get_effective_cpu_isa() >= dnnl_cpu_isa_avx512_core;
    const bare_operand *operands = layer->kind == BARE_ADD ? add_operands[backward]
                                   : backward              ? backward_operands
                                                           : forward_operands;
    const dnnl_format_tag_t layouts[] = {dnnl_nhwc, wide ? dnnl_nChw16c : dnnl_nChw8c};
    double least = -1;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const what primitive = {layer, backward, type, layouts[i]};
        const double took = bare_primitive_seconds(describe_layer, &primitive, operands, seconds, memory);
        if (took < 0) return took;
        if (least < 0 || took < least) least = took;
    }
    return least;
}
