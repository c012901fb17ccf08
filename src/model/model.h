/** The inside of a model.
 *
 *      nodes   0 input   1 input   2 dense(0)   3 dense(1)   4 merge(2, 3)   5 dense_1(4)
 *
 *  A layer has a type, options and weights; a node is one call of a layer, on the outputs of earlier nodes. A layer
 *  that is shared has several nodes.
 */
#ifndef MUSTER_MODEL_MODEL_H
#define MUSTER_MODEL_MODEL_H

#include "base/arena.h"
#include "base/failure.h"
#include "layer/type.h"
#include "muster/model.h"
#include "muster/store.h"

typedef struct mst_model_layer {
    const mst_layer_type *type;
    const char *name;
    void *options; /**< with strings and tensors of the model's */
    int64_t num_nodes;
} mst_model_layer;

typedef struct mst_model_node {
    int64_t layer;
    int64_t number;     /**< of this node among those of its layer, from 0 */
    const int64_t *src; /**< nodes */
    int num_src;
} mst_model_node;

typedef struct mst_model_input {
    int64_t node;
    bool declared; /**< by mst_input, and not only by the layer after it */
    mst_spec row;  /**< one example; MST_NO_DTYPE until it is known */
} mst_model_input;

struct mst_model {
    mst_arena arena;
    mst_model_layer *layer;
    int64_t num_layers, layer_capacity;
    mst_model_node *node;
    int64_t num_nodes, node_capacity;
    mst_model_input *input;
    int64_t num_inputs, input_capacity;
    mst_outputs outputs;     /**< count 0: that of the last node */
    bool has_output_sources; /**< a layer was applied to an output, and not to the model */
    mst_tensor **tensor;     /**< retained for options */
    int64_t num_tensors, tensor_capacity;
    mst_failure failure; /**< the first error; code MST_OK: there is none */

    mst_weight *weight; /**< what mst_model_weights gave last, with names in an arena of its own */
    mst_arena weight_names;

    mst_store *store;            /**< weights and all other state; stays when the model is compiled again */
    struct mst_trainer *trainer; /**< made by mst_compile */
    void (*destroy_trainer)(struct mst_trainer *trainer);
    bool in_fit; /**< the trainer is in use: a callback must not replace it */
};

/** The outputs, also where they were not set. */
mst_outputs mst_model_get_outputs(const mst_model *model);
/** Keeps the calling thread's error on MODEL, where it is the first. */
void mst_model_stick(mst_model *model);
/** Builds the nodes that the outputs need, from INPUTS, of which there are num_inputs and the first is a value.
 *  VALUES[i] is the output of node i, MST_NONE where it is not needed. NUM_VARIABLES (may be NULL) gets the number of
 *  variables of the graph after each node. */
MST_CHECKED mst_status mst_model_build(mst_model *model, const mst_value *inputs, bool training, mst_value *values,
                                       int *num_variables);
/** One example of input I is ROW, as its data shows. */
void mst_model_learn_input(mst_model *model, int i, mst_spec row);

#endif
