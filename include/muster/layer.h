/** Layers as functions that build graph: each makes its variables under a variable scope of its name.
 *
 *      mst_value h = mst_layer_dense(x, 500, .name = "layer1", .activation = MST_RELU);
 */
#ifndef MUSTER_LAYER_H
#define MUSTER_LAYER_H

#include "muster/initializer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_get_variable_options {
    int zero_;
    mst_graph *graph;
    const char *name; /**< in the current variable scope */
    mst_shape shape;
    mst_dtype dtype;             /**< default f32 */
    mst_initializer initializer; /**< default glorot_uniform */
    bool not_trainable;
    /** Penalty added to the loss: l1 * sum |w| + l2 / 2 * sum w^2, as in tf.contrib. Keras has no half: its L2(x) is
     *  .l2 = 2 * x here. */
    float l1, l2;
} mst_get_variable_options;
/** A new variable, or with reuse the one of this name that is there (its shape and dtype must be those given). */
MST_API mst_value mst_get_variable_with(mst_get_variable_options options);
#define mst_get_variable(...) \
    mst_get_variable_with(MST_NAMED_3(mst_get_variable_options, graph, name, shape, __VA_ARGS__))

typedef enum mst_activation {
    MST_LINEAR = 0,
    MST_RELU,
    MST_RELU6,
    MST_LEAKY_RELU,
    MST_ELU,
    MST_GELU,
    MST_SOFTPLUS,
    MST_SWISH,
    MST_TANH,
    MST_SIGMOID,
    MST_SOFTMAX,
    MST_NUM_ACTIVATIONS
} mst_activation;
/** As Keras 3: leaky_relu with the slope 0.2, elu with alpha 1, gelu by erf; softmax along the last axis. */
MST_API mst_value mst_activate(mst_value x, mst_activation activation);
/** "relu", ... */
MST_API const char *mst_activation_name(mst_activation activation);

typedef struct mst_layer_dense_options {
    int zero_;
    mst_value src; /**< [n, ...], flattened to [n, features] */
    int64_t units;
    mst_activation activation;
    const char *name; /**< variable scope, default "dense" */
    bool no_bias;
    mst_initializer kernel_initializer; /**< default glorot_uniform */
    mst_initializer bias_initializer;   /**< default zeros (also in place of glorot_uniform) */
    /** penalty of the kernel: l1 * sum |w| + l2 / 2 * sum w^2; Keras' L2(x) is .l2 = 2 * x */
    float l1, l2;
} mst_layer_dense_options;
/** activation(src kernel + bias), with variables "kernel" [features, units] and "bias" [units]. */
MST_API mst_value mst_layer_dense_with(mst_layer_dense_options options);
#define mst_layer_dense(...) mst_layer_dense_with(MST_NAMED_2(mst_layer_dense_options, src, units, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
