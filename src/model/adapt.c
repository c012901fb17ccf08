/* mst_adapt: lets a layer learn from batches of data. The model takes ownership of the resulting tensors. */
#include "base/argument.h"
#include "base/no_memory.h"
#include "data/dataset.h"
#include "model/model.h"

enum { BATCH = 1024 };

typedef struct row_reader {
    mst_iterator *iterator;
    int component;
} row_reader;

static mst_status next_rows(void *context, mst_tensor **rows) {
    const row_reader *r = context;
    const mst_batch *batch;
    *rows = NULL;
    MST_TRY(mst_iterator_next(r->iterator, &batch));
    return batch ? mst_batch_tensor(batch, r->component, rows) : MST_OK;
}

/* Makes the model own the tensors LEARNT. */
static mst_status keep_learnt(mst_model *model, mst_tensor *const learnt[MST_MAX_LEARNT]) {
    MST_TRY(
        mst_grow(&model->tensor, sizeof *model->tensor, model->num_tensors + MST_MAX_LEARNT, &model->tensor_capacity));
    for (int i = 0; i < MST_MAX_LEARNT; i++)
        if (learnt[i]) model->tensor[model->num_tensors++] = mst_tensor_retain(learnt[i]);
    return MST_OK;
}

static mst_status adapt_layer(mst_model *model, mst_model_layer *layer, mst_layer_rows next, void *context) {
    mst_tensor *learnt[MST_MAX_LEARNT] = {NULL};
    void *options = mst_arena_copy(&model->arena, layer->options, layer->type->options_size);
    if (!options) return MST_NO_MEMORY("for a layer");
    mst_status status = layer->type->adapt(options, layer->name, next, context, learnt);
    if (!status) status = keep_learnt(model, learnt);
    for (int i = 0; i < MST_MAX_LEARNT; i++) mst_tensor_release(learnt[i]);
    if (!status) layer->options = options;
    return status;
}

static mst_status check_adapt(mst_output output, const mst_dataset *data, int component) {
    mst_model *model = output.model;
    MST_TRY(mst_model_check(model));
    if (output.node < 0 || output.node >= model->num_nodes)
        return MST_FAIL(MST_INVALID, "adapt: the output is none of the model's");
    const mst_model_layer *layer = &model->layer[model->node[output.node].layer];
    if (!layer->type->adapt)
        return MST_FAIL(MST_INVALID, "adapt: %s '%s' learns nothing before training", layer->type->name, layer->name);
    if (model->trainer)
        return MST_FAIL(MST_INVALID, "adapt: '%s': the model is compiled already: call mst_adapt before mst_compile",
                        layer->name);
    if (component < 0 || component >= mst_dataset_num_components(data))
        return MST_FAIL(MST_INVALID, "adapt: '%s': the data has no component %d", layer->name, component);
    return MST_OK;
}

mst_status mst_adapt(mst_output output, mst_dataset *data, int component) {
    mst_dataset *batches;
    row_reader reader = {.component = component};
    if (MST_IS_NULL(output.model) || MST_IS_NULL(data)) return MST_INVALID;
    MST_TRY(check_adapt(output, data, component));
    if (data->batch_size > 0)
        batches = mst_dataset_retain(data);
    else
        MST_TRY(mst_dataset_batch(data, BATCH, false, &batches));
    mst_status status = mst_iterator_create(batches, 0, &reader.iterator);
    mst_model *model = output.model;
    if (!status) status = adapt_layer(model, &model->layer[model->node[output.node].layer], next_rows, &reader);
    mst_iterator_destroy(reader.iterator);
    mst_dataset_release(batches);
    return status;
}
