#include "layer/gamma_beta.h"

#include "layer/initializer/initializer.h"
#include "muster/initializers.h"
#include "muster/ops.h"

void mst_gamma_beta_weights(mst_layer_call *call, const mst_gamma_beta *o, mst_shape shape) {
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    if (!o->no_scale)
        mst_layer_weight(call, .name = "gamma", .shape = shape, .dtype = dtype,
                         .initializer = mst_initializer_or(o->gamma_initializer, mst_ones_initializer()),
                         .constraint = o->gamma_constraint);
    if (!o->no_center)
        mst_layer_weight(call, .name = "beta", .shape = shape, .dtype = dtype,
                         .initializer = mst_initializer_or(o->beta_initializer, mst_zeros_initializer()),
                         .constraint = o->beta_constraint);
}

void mst_gamma_beta_values(const mst_layer_call *call, const mst_gamma_beta *o, mst_shape shape, mst_value *gamma,
                           mst_value *beta) {
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    *gamma = o->no_scale ? mst_initializer_filled(call->graph, dtype, shape, 1) : call->weight[0];
    *beta = o->no_center ? mst_initializer_filled(call->graph, dtype, shape, 0) : call->weight[o->no_scale ? 0 : 1];
}
