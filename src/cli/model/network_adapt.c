#include "cli/model/network_adapt.h"

#include <string.h>

#include "model/model.h"
#include "muster/layers.h"

/* The number of the model's input that is NODE; -1: NODE is not an input. */
static int input_at(const mst_model *model, int64_t node) {
    for (int i = 0; i < (int)model->num_inputs; i++)
        if (model->input[i].node == node) return i;
    return -1;
}

/* Whether the layer of NODE learns its mean and variance from data: it is a Normalization, this is its first call, and
 * no mean was given. */
static bool learns(const mst_model *model, const mst_model_node *node) {
    const mst_model_layer *layer = &model->layer[node->layer];
    return strcmp(layer->type->name, "normalization") == 0 && node->number == 0 &&
           !((const mst_layer_normalization_options *)layer->options)->mean;
}

mst_status network_adapt(mst_model *model, mst_dataset *data, const char **left) {
    *left = NULL;
    for (int64_t i = 0; i < model->num_nodes; i++) {
        if (!learns(model, &model->node[i])) continue;
        const int input = input_at(model, model->node[i].src[0]);
        if (input >= 0)
            MST_TRY(mst_adapt((mst_output){model, i}, data, input));
        else if (!*left)
            *left = model->layer[model->node[i].layer].name;
    }
    return MST_OK;
}
