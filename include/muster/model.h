/** Models: graphs of layers, trained with fit.
 *
 *  A stack of layers:                              Any other graph of layers:
 *
 *      mst_flatten(m);                                 mst_output a = mst_input(m, MST_SHAPE(16), .name = "left");
 *      mst_dense(m, 500, .activation = MST_RELU);      mst_output b = mst_input(m, MST_SHAPE(16), .name = "right");
 *      mst_dense(m, 10);                               mst_output x = mst_dense(a, 8), y = mst_share(x, b);
 *                                                      mst_dense(mst_merge(MST_OUTPUTS(x, y), MST_MERGE_ADD), 1);
 *
 *  The first error is kept on the model and comes out of mst_compile.
 */
#ifndef MUSTER_MODEL_H
#define MUSTER_MODEL_H

#include <stdio.h>

#include "muster/dataset.h"
#include "muster/layers.h"

#ifdef __cplusplus
extern "C" {
#endif

MST_API MST_CHECKED mst_status mst_model_create(mst_model **out);
/** Frees the model, its graph and its session. NULL is allowed. */
MST_API void mst_model_destroy(mst_model *model);
/** The first error made while layers were added, MST_OK if there is none. */
MST_API MST_CHECKED mst_status mst_model_check(const mst_model *model);

/** Lets the layer of OUTPUT, such as a normalization, learn from component COMPONENT of DATA, as Keras' adapt does. One
 *  epoch of DATA is read, and has the values that the layer will be applied to. NaN are left out. What is learnt become
 *  weights that are not trained, saved with the others. Call it before mst_compile. MST_INVALID if the layer learns
 *  nothing in this way; fails also as reading the rows does. */
MST_API MST_CHECKED mst_status mst_adapt(mst_output output, mst_dataset *data, int component);

/** Sets whether the weights of the layer LAYER are trained, as Keras' layer.trainable; at first they are. LAYER NULL:
 *  all layers. Weights of a frozen layer have no penalty in the loss and no state of the optimizer. A frozen
 *  batch_normalization normalizes by its moving statistics, and does not change them. Holds from the next mst_compile
 *  on. MST_NOT_FOUND if there is no such layer. */
MST_API MST_CHECKED mst_status mst_model_set_trainable(mst_model *model, const char *layer, bool trainable);

/** Gives every batch_normalization of MODEL the MOMENTUM of its moving statistics, from 0 to below 1: after n steps
 *  momentum^n of them is still their initial value, with which the model is evaluated. MobileNetV2 has 0.999, as Keras
 *  builds it, which takes 6,900 steps to a thousandth. Holds from the next mst_compile on. MST_INVALID if MOMENTUM
 *  is none, MST_NOT_FOUND if MODEL has no such layer. */
MST_API MST_CHECKED mst_status mst_model_set_batch_norm_momentum(mst_model *model, double momentum);
/** The largest momentum of the batch_normalization layers of MODEL that are not frozen; 0: there is none. */
MST_API double mst_model_batch_norm_momentum(const mst_model *model);

/** The name of layer I, in the order in which layers were added, inputs among them; NULL past the last. */
MST_API const char *mst_model_layer_name(const mst_model *model, int64_t i);

/** What the model gives; without this call it is the output of the layer that was added last. Layers that no output
 *  needs are not built. */
MST_API void mst_model_outputs(mst_model *model, mst_outputs outputs);

/** The output for INPUTS, in INPUTS' graph, of a model with one input and one output. */
MST_API mst_value mst_model_call(mst_model *model, mst_value inputs, bool training);
/** The same of any model: OUTPUTS[i] for each of its outputs, NUM_OUTPUTS in all, from one value for each of its
 *  NUM_INPUTS inputs. Error values where these numbers are not the model's. */
MST_API void mst_model_call_all(mst_model *model, const mst_value *inputs, int num_inputs, bool training,
                                mst_value *outputs, int num_outputs);
MST_API int mst_model_num_inputs(const mst_model *model);
MST_API int mst_model_num_outputs(const mst_model *model);
/** The name of the layer that is input or output I; NULL if there is none. If a layer is several outputs, the
 *  name of each further one ends in "_1", "_2" and so on: the first that no other output has. */
MST_API const char *mst_model_input_name(const mst_model *model, int i);
MST_API const char *mst_model_output_name(const mst_model *model, int i);

/** Adds the multi-layer perceptron of the MNIST examples: HIDDEN units of relu, CLASSES outputs (logits), variables
 *  layer1/weights, layer1/biases, layer2/weights, layer2/biases; truncated normal 0.1, biases 0; L2 on the weights. */
MST_API void mst_model_mlp(mst_model *model, const int64_t *hidden, int num_hidden, int64_t classes, float l2);

/* ---- what is in a model --------------------------------------------------------------------------- */

typedef struct mst_weight {
    const char *name;  /**< "layer1/kernel": its name in the store, mst_model_store */
    const char *layer; /**< "layer1" */
    mst_spec spec;
    bool trainable;
} mst_weight;
/** The weights in the order of Keras' model.weights, each once: layers far from the outputs first, without those that
 *  no output needs; of a layer first those that are trained. *OUT is an array of *COUNT, the model's, valid until the
 *  next call of this function. Needs the shapes of the inputs: from mst_input, or from the data that the model was
 *  trained or evaluated with; MST_INVALID if they are not known. */
MST_API MST_CHECKED mst_status mst_model_weights(mst_model *model, const mst_weight **out, int64_t *count);

/** Prints the table that Keras 3 prints: each layer that an output needs, in the order of mst_model_weights, with its
 *  class, output shape and number of parameters. If the model is no chain, a column has what each layer is connected
 *  to. The last lines have the number of all parameters. Shapes are "?" until they are known, as for mst_model_weights.
 *  NAME stands in the title; NULL: the name in the file that MODEL was read from, or else "sequential" or
 *  "functional". */
MST_API MST_CHECKED mst_status mst_model_summary(mst_model *model, const char *name, FILE *file);

#ifdef __cplusplus
}
#endif
#endif
