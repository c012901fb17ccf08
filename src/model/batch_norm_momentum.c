#include "base/argument.h"
#include "model/model.h"
#include "muster/layers.h"

/* The options of layer I if it is a batch normalization; else NULL. */
static mst_layer_batch_normalization_options *batch_norm(const mst_model *model, int64_t i) {
    const mst_model_layer *layer = &model->layer[i];
    return layer->type == mst_layer_find("batch_normalization") ? layer->options : NULL;
}

mst_status mst_model_set_batch_norm_momentum(mst_model *model, double momentum) {
    if (MST_IS_NULL(model)) return MST_INVALID;
    if (!(momentum >= 0 && momentum < 1))
        return MST_FAIL(MST_INVALID, "the momentum of a batch normalization is %g, and must be from 0 to below 1",
                        momentum);
    int64_t count = 0;
    for (int64_t i = 0; i < model->num_layers; i++) {
        mst_layer_batch_normalization_options *o = batch_norm(model, i);
        if (o) o->momentum = (float)momentum;
        count += o != NULL;
    }
    return count ? MST_OK
                 : MST_FAIL(MST_NOT_FOUND, "the model has no batch normalization, whose momentum could be set");
}

double mst_model_batch_norm_momentum(const mst_model *model) {
    double most = 0;
    for (int64_t i = 0; model && i < model->num_layers; i++) {
        const mst_layer_batch_normalization_options *o = batch_norm(model, i);
        if (o && !model->layer[i].frozen && (double)o->momentum > most) most = (double)o->momentum;
    }
    return most;
}
