/** The parts of a model. In this example, two nodes call the shared layer `dense`:
 *
 *      nodes   0 input   1 input   2 dense(0)   3 dense(1)   4 merge(2, 3)   5 dense_1(4)
 *
 *  A layer has a type, options and weights; a node is one call of a layer on the outputs of earlier nodes. A shared
 *  layer has several nodes. Layers, nodes and inputs are referred to by their index.
 */
#ifndef MUSTER_MODEL_MODEL_H
#define MUSTER_MODEL_MODEL_H

#include "base/arena.h"
#include "base/failure.h"
#include "graph/names.h"
#include "layer/type.h"
#include "muster/model.h"
#include "muster/store.h"

typedef struct mst_model_layer {
    const mst_layer_type *type;
    const char *name;
    void *options; /**< the model owns the strings and tensors in it */
    int64_t num_nodes;
    bool frozen; /**< set by mst_model_set_trainable */
} mst_model_layer;

typedef struct mst_model_node {
    int64_t layer;      /**< index of the layer that is called */
    int64_t number;     /**< this is the number-th call of the layer, counted from 0 */
    const int64_t *src; /**< indices of the nodes whose outputs are its sources */
    int num_src;
} mst_model_node;

typedef struct mst_model_input {
    int64_t node;
    bool declared; /**< made by mst_input; false: added because the first layer has no source */
    mst_spec row;  /**< dtype and shape of one example; dtype MST_NO_DTYPE until known */
} mst_model_input;

struct mst_model {
    mst_arena arena;
    const char *name;          /**< of the file from which it was read, without control characters; NULL: none */
    bool from_keras;           /**< Keras wrote the file from which it was read */
    const char *only_predicts; /**< why it cannot be trained, "layer 'a' (GaussianNoise)"; NULL: it can */
    const char *masked_output; /**< name of a layer whose output had a mask in the last build; NULL: none had */
    mst_model_layer *layer;
    int64_t num_layers, layer_capacity;
    mst_names names;    /**< names of layers, with their indices */
    mst_names suffixes; /**< default names without a number, each with the last number that was used */
    mst_model_node *node;
    int64_t num_nodes, node_capacity;
    mst_model_input *input;
    int64_t num_inputs, input_capacity;
    mst_outputs outputs;                      /**< if count is 0, the last node is the only output */
    const char *output_name[MST_MAX_OUTPUTS]; /**< of these outputs, all different */
    bool has_output_sources;                  /**< some layer was applied to an output instead of to the model */
    mst_tensor **tensor;                      /**< tensors in options of layers, retained */
    int64_t num_tensors, tensor_capacity;
    mst_failure failure; /**< the first error; its code is MST_OK if there was none */

    mst_weight *weight; /**< result of the last mst_model_weights; the names are in weight_names */
    mst_arena weight_names;

    mst_store *store;            /**< weights and all other state; stays when the model is compiled again */
    struct mst_trainer *trainer; /**< made by mst_compile */
    void (*destroy_trainer)(struct mst_trainer *trainer);
    void *owned; /**< memory that the functions of its layers use; NULL: none */
    void (*destroy_owned)(void *owned);
    bool in_fit; /**< the trainer is in use: a callback must not replace it */
};

/** The outputs of MODEL. If none were set, this is the output of its last node. */
MST_API mst_outputs mst_model_get_outputs(const mst_model *model);
/** Stores the calling thread's error in MODEL, unless MODEL already has an error. */
void mst_model_stick(mst_model *model);
/** As mst_model_call_all, for callers that use masks. MASKS[i] becomes the mask of output i, bool [n, steps], which is
 *  false where a step is padding; MST_NONE if the output has no mask. NUM_OUTPUTS is at most MST_MAX_OUTPUTS. */
void mst_model_call_masked(mst_model *model, const mst_value *inputs, int num_inputs, bool training, mst_value *outputs,
                           mst_value *masks, int num_outputs);
/** Builds the nodes that the outputs need, in the graph of INPUTS[0], which must be a value. INPUTS has one element for
 *  each input of MODEL. Sets VALUES[i] to the output of node i; leaves it unchanged if the node is not needed.
 *  OUTPUT_MASKS (may be NULL) gets the mask of each output of the model, or MST_NONE. NUM_VARIABLES[i] (NUM_VARIABLES
 *  may be NULL) becomes the number of variables in the graph after node i was built. */
MST_CHECKED mst_status mst_model_build(mst_model *model, const mst_value *inputs, bool training, mst_value *values,
                                       mst_value *output_masks, int *num_variables);
/** Builds MODEL, which has one input and one output, for some steps of a sequence (mst_layer_steps). TOKENS, [1,
 *  steps], is the value of its input, whose dtype must be known. MST_UNIMPLEMENTED if a layer has no `by_step`; the
 *  message names the layer. */
MST_CHECKED mst_status mst_model_build_steps(mst_model *model, mst_value tokens, const mst_layer_steps *steps,
                                             mst_value *output);
/** Sets the dtype and shape of one example of input I to ROW, which comes from data, unless mst_input declared them. */
MST_API void mst_model_learn_input(mst_model *model, int i, mst_spec row);

#endif
