/** Models: a stack of layers, trained with fit.
 *
 *      mst_flatten(m);
 *      mst_dense(m, 500, .activation = MST_RELU);
 *      mst_dense(m, 10);
 *
 *  The first error is kept on the model and comes out of mst_compile.
 */
#ifndef MUSTER_MODEL_H
#define MUSTER_MODEL_H

#include "muster/layer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_model mst_model;

MST_API MST_CHECKED mst_status mst_model_create(mst_model **out);
/** Frees the model, its graph and its session. NULL is allowed. */
MST_API void mst_model_destroy(mst_model *model);

typedef struct mst_dense_options {
    int zero_;
    mst_model *model;
    int64_t units;
    mst_activation activation;
    const char *name; /**< default dense, dense_1, ... */
    bool no_bias;
    mst_initializer kernel_initializer, bias_initializer;
    float l1, l2; /**< penalty of the kernel: l1 * sum |w| + l2 / 2 * sum w^2; Keras' L2(x) is .l2 = 2 * x */
} mst_dense_options;
MST_API void mst_dense_with(mst_dense_options options);
#define mst_dense(...) mst_dense_with(MST_NAMED_2(mst_dense_options, model, units, __VA_ARGS__))
/** [n, ...] to [n, product]; [n] to [n, 1], as in Keras. */
MST_API void mst_flatten(mst_model *model);
/** Dropout with RATE in [0, 1) while training. */
MST_API void mst_model_dropout(mst_model *model, double rate);
MST_API void mst_model_activation(mst_model *model, mst_activation activation);

/** Any other model: a function that builds the outputs [n, ...] from the inputs. */
typedef mst_value (*mst_build_function)(void *context, mst_value inputs, bool training);
MST_API void mst_model_function(mst_model *model, mst_build_function build, void *context);

/** The outputs for INPUTS, in INPUTS' graph. */
MST_API mst_value mst_model_call(mst_model *model, mst_value inputs, bool training);

/** The multi-layer perceptron of the MNIST examples: HIDDEN units of relu, CLASSES outputs (logits), variables
 *  layer1/weights, layer1/biases, layer2/weights, layer2/biases; truncated normal 0.1, biases 0; L2 on the weights. */
MST_API void mst_model_mlp(mst_model *model, const int64_t *hidden, int num_hidden, int64_t classes, float l2);

#ifdef __cplusplus
}
#endif
#endif
