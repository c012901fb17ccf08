/** time_distributed: a layer applied to each step by itself, with the same weights
 *
 *  src    [n, steps, ...], all known but n
 *  layer  MST_INNER(dense, .units = 8): any layer that takes [n, ...], except those that learn from the batch
 *         (batch_normalization) or from data before training. Its name is the scope of its weights
 *  dst    [n, steps, ...]: the outputs of the layer, step by step
 *
 *  The same as Keras' TimeDistributed. The layer is applied once, to all steps of all examples as rows. If it works
 *  element by element or along the last axis, as dense does, the mask of the steps is passed on.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_time_distributed_options {
    int zero_;
    mst_inner_layer layer;
    const char *name;
} mst_layer_time_distributed_options;
#define mst_time_distributed(source, ...) \
    MST_LAYER(time_distributed, source, MST_NAMED_1(mst_layer_time_distributed_options, layer, __VA_ARGS__))
#endif
#include <string.h>

#include "layer/list.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_STRING(mst_layer_time_distributed_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_inner_layer *time_distributed_inner(void *options) {
    return &((mst_layer_time_distributed_options *)options)->layer;
}

static const mst_layer_type *type_inside(const mst_layer_call *call) {
    const mst_layer_time_distributed_options *o = call->options;
    return mst_layer_inner_type(&o->layer, call->type, call->name);
}

/* Refuses batch normalization: Keras' layer would have separate statistics for each step. */
static mst_status time_distributed_check(const void *options, const char *name) {
    const mst_layer_time_distributed_options *o = options;
    if (strcmp(o->layer.type, mst_layer_type_batch_normalization.name) != 0) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "time_distributed '%s': a %s inside of it is not taken", name, o->layer.type);
}

static bool is_known(const mst_shape *shape) {
    for (int i = 1; i < shape->ndim; i++)
        if (shape->dim[i] < 1) return false;
    return true;
}

/* Only checks the source. The weights of the inner layer are declared in `build`, because they depend on the inner
 * layer's source, which `build` makes. */
static mst_status time_distributed_weights(mst_layer_call *call) {
    char text[MST_SHAPE_TEXT];
    const mst_shape src = mst_value_spec(call->src[0]).shape;
    if (src.ndim >= 3 && is_known(&src)) return MST_OK;
    return MST_FAIL(MST_INVALID, "time_distributed '%s': needs [n, steps, ...], all known but n, got %s", call->name,
                    mst_shape_print(src, text, sizeof text));
}

/* The output of the inner layer for ROWS, [n * steps, ...]. */
static mst_value apply(const mst_layer_call *call, const mst_value *rows) {
    const mst_layer_time_distributed_options *o = call->options;
    mst_layer_call inside = *call;
    mst_value y = MST_NONE;
    inside.type = type_inside(call);
    inside.options = o->layer.options;
    inside.src = rows;
    inside.mask = NULL;
    inside.num_weights = 0;
    const char *name = mst_layer_name(inside.type, inside.options);
    if (!name) name = inside.type->default_name ? inside.type->default_name(inside.options) : inside.type->name;
    mst_with_variables (call->graph, name, MST_REUSE_INHERIT) {
        const mst_status status = inside.type->weights ? inside.type->weights(&inside) : MST_OK;
        y = status ? mst_layer_fail(call) : inside.type->build(&inside);
    }
    return y;
}

static mst_value time_distributed_build(const mst_layer_call *call) {
    const mst_shape src = mst_value_spec(call->src[0]).shape;
    mst_shape rows = {.ndim = src.ndim - 1, .dim = {-1}}, dst = {.dim = {-1, src.dim[1]}};
    for (int i = 1; i < rows.ndim; i++) rows.dim[i] = src.dim[i + 1];
    const mst_value all = mst_reshape(call->src[0], rows), y = apply(call, &all);
    if (mst_value_is_none(y)) return y;
    const mst_shape one = mst_value_spec(y).shape;
    dst.ndim = one.ndim + 1;
    if (one.ndim < 1 || one.ndim >= MST_MAX_NDIM || !is_known(&one)) {
        char text[MST_SHAPE_TEXT];
        MST_FAIL(MST_INVALID,
                 "time_distributed '%s': the layer inside gives %s, must be known but for the first dimension",
                 call->name, mst_shape_print(one, text, sizeof text));
        return mst_layer_fail(call);
    }
    for (int i = 1; i < one.ndim; i++) dst.dim[i + 1] = one.dim[i];
    return mst_reshape(y, dst);
}

static mst_value time_distributed_mask(const mst_layer_call *call) {
    return type_inside(call)->mask == mst_layer_mask_pass ? mst_layer_mask(call) : mst_layer_mask_refuse(call);
}

const mst_layer_type mst_layer_type_time_distributed = {
    .name = "time_distributed",
    .class_name = "TimeDistributed",
    .options_size = sizeof(mst_layer_time_distributed_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = time_distributed_check,
    .inner = time_distributed_inner,
    .weights = time_distributed_weights,
    .build = time_distributed_build,
    .mask = time_distributed_mask,
};
