/** Models: graphs of layers, trained with fit.
 *
 *  A stack of layers:                              Any other graph of layers:
 *
 *      mst_flatten(m);                                 mst_output a = mst_input(m, MST_SHAPE(16), .name = "left");
 *      mst_dense(m, 500, .activation = MST_RELU);      mst_output b = mst_input(m, MST_SHAPE(16), .name = "right");
 *      mst_dense(m, 10);                               mst_output x = mst_dense(a, 8), y = mst_share(x, b);
 *                                                      mst_dense(mst_merge(MST_OUTPUTS(x, y), MST_MERGE_ADD), 1);
 *
 *  The model keeps the first error, and mst_compile returns it.
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

/** Lets the layer of OUTPUT, such as a normalization, learn from component COMPONENT of DATA, as Keras' adapt does.
 *  Reads one epoch of DATA, whose values must have the form that the layer will get. NaN are skipped. The results
 *  become weights that are not trained, and are saved with the others. Call it before mst_compile. MST_INVALID if the
 *  layer does not learn in this way; also fails with the errors of reading the rows. */
MST_API MST_CHECKED mst_status mst_adapt(mst_output output, mst_dataset *data, int component);

/** Sets whether the weights of the layer LAYER are trained, as Keras' layer.trainable; at first they are. LAYER NULL:
 *  all layers. The weights of a frozen layer have no penalty in the loss, and the optimizer keeps no state for them. A
 *  frozen batch_normalization normalizes by its moving statistics, and does not change them. Takes effect at the next
 *  mst_compile. MST_NOT_FOUND if there is no such layer. */
MST_API MST_CHECKED mst_status mst_model_set_trainable(mst_model *model, const char *layer, bool trainable);

/** Sets the MOMENTUM of the moving statistics of every batch_normalization of MODEL: from 0 to below 1. After n steps
 *  the moving statistics, with which the model is evaluated, still contain momentum^n of their initial value.
 *  MobileNetV2 has 0.999, as Keras builds it: after 6,900 steps the part of the initial value is a thousandth. Takes
 *  effect at the next mst_compile. MST_INVALID if MOMENTUM is out of range, MST_NOT_FOUND if MODEL has no
 *  such layer. */
MST_API MST_CHECKED mst_status mst_model_set_batch_norm_momentum(mst_model *model, double momentum);
/** The largest momentum of the batch_normalization layers of MODEL that are not frozen; 0: there is none. */
MST_API double mst_model_batch_norm_momentum(const mst_model *model);

/** The name of layer I, in the order in which layers were added, including inputs; NULL past the last. */
MST_API const char *mst_model_layer_name(const mst_model *model, int64_t i);

/** Sets the outputs of the model. Without this call its only output is the output of the layer added last. Layers that
 *  no output needs are not built. */
MST_API void mst_model_outputs(mst_model *model, mst_outputs outputs);

/** Builds MODEL, which has one input and one output, in the graph of INPUTS, and returns the output for INPUTS. */
MST_API mst_value mst_model_call(mst_model *model, mst_value inputs, bool training);
/** As mst_model_call, for any model: writes its NUM_OUTPUTS outputs to OUTPUTS, given one value for each of its
 *  NUM_INPUTS inputs. Writes error values if these numbers are not the model's. */
MST_API void mst_model_call_all(mst_model *model, const mst_value *inputs, int num_inputs, bool training,
                                mst_value *outputs, int num_outputs);
MST_API int mst_model_num_inputs(const mst_model *model);
MST_API int mst_model_num_outputs(const mst_model *model);
/** The name of the layer that is input or output I; NULL if there is none. If several outputs come from one layer, the
 *  names of the later ones end in "_1", "_2" and so on. Each gets the first ending whose name no other output has. */
MST_API const char *mst_model_input_name(const mst_model *model, int i);
MST_API const char *mst_model_output_name(const mst_model *model, int i);

/** Adds the multi-layer perceptron of the MNIST examples: layers of HIDDEN units with relu, and CLASSES outputs
 *  (logits). Its variables are layer1/weights, layer1/biases, layer2/weights, layer2/biases. Weights begin with a
 *  truncated normal distribution of stddev 0.1 and have the penalty L2; biases begin with 0. */
MST_API void mst_model_mlp(mst_model *model, const int64_t *hidden, int num_hidden, int64_t classes, float l2);

/* ---- weights and layers of a model ---------------------------------------------------------------- */

typedef struct mst_weight {
    const char *name;  /**< "layer1/kernel": its name in the store, mst_model_store */
    const char *layer; /**< "layer1" */
    mst_spec spec;
    bool trainable;
} mst_weight;
/** Lists the weights in the order of Keras' model.weights, each once. Layers far from the outputs come first; layers
 *  that no output needs are left out. Trained weights of a layer come before its others. *OUT is an array of *COUNT
 *  elements that belongs to the model, and is valid until the next call of this function. The shapes of the inputs must
 *  be known, from mst_input or from the data that the model was trained or evaluated with; otherwise MST_INVALID. */
MST_API MST_CHECKED mst_status mst_model_weights(mst_model *model, const mst_weight **out, int64_t *count);

/** Prints the table that Keras 3 prints. It has each layer that an output needs, in the order of mst_model_weights,
 *  with its class, output shape and number of parameters. If the model is not a chain, a column shows to which layers
 *  each layer is connected. The last lines have the total number of parameters. Shapes are "?" until they are known, as
 *  for mst_model_weights. NAME is printed in the title. NULL: the name in the file that MODEL was read from, or else
 *  "sequential" or "functional". */
MST_API MST_CHECKED mst_status mst_model_summary(mst_model *model, const char *name, FILE *file);

#ifdef __cplusplus
}
#endif
#endif
