/** The layers of a multilayer perceptron, which `muster train` makes and `muster evaluate` makes again. */
#ifndef MUSTER_CLI_MODEL_MLP_LAYERS_H
#define MUSTER_CLI_MODEL_MLP_LAYERS_H

#include "muster/model.h"

typedef struct mlp_form {
    const int64_t *hidden; /**< [num_hidden], units of the hidden layers */
    int num_hidden;
    int64_t outputs;
    mst_activation activation; /**< activation of the hidden layers */
    double l1, l2, dropout;
} mlp_form;

/** The name of activation I, for the choices of an option; NULL if I is past the last. */
const char *mlp_activation(int i);
/** Adds flatten, the hidden layers layer1, layer2, ..., each with its dropout, and the linear output layer. The layers
 *  and their names are those of mst_model_mlp, but FORM has more settings than mst_model_mlp has arguments. */
void mlp_layers(mst_model *model, const mlp_form *form);

#endif
