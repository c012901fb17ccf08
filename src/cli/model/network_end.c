#include "cli/model/network_end.h"

#include <string.h>

#include "loss/loss.h"
#include "model/describe.h"
#include "model/model.h"

/* Whether NODE is used, and only by layers of TYPE. */
static bool feeds_only(const mst_model *model, int64_t node, const char *type) {
    bool found = false;
    for (int64_t n = 0; n < model->num_nodes; n++)
        for (int s = 0; s < model->node[n].num_src; s++) {
            if (model->node[n].src[s] != node) continue;
            if (strcmp(model->layer[model->node[n].layer].type->name, type) != 0) return false;
            found = true;
        }
    return found;
}

/* Whether the output of layer NODE has the range of pixels that its source has. */
static bool keeps_range(const mst_model *model, int64_t node) {
    static const char *const types[] = {"resizing", "cropping2d", "zero_padding2d"};
    const char *type = model->layer[model->node[node].layer].type->name;
    if (model->node[node].num_src != 1) return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0) return true;
    return strncmp(type, "random_", strlen("random_")) == 0;
}

/* Whether NODE is INPUT, or only layers that keep the range of pixels lie between them. */
static bool is_in_range_of(const mst_model *model, int64_t node, int64_t input) {
    while (node != input && keeps_range(model, node)) node = model->node[node].src[0];
    return node == input;
}

/* Whether INPUT is used, and only by Rescaling or Normalization layers. Between them may be layers that keep the range
 * of its pixels, such as random changes of pictures. */
static bool is_rescaled(const mst_model *model, int64_t input) {
    bool found = false;
    for (int64_t n = 0; n < model->num_nodes; n++)
        for (int s = 0; s < model->node[n].num_src; s++) {
            const char *type = model->layer[model->node[n].layer].type->name;
            if (keeps_range(model, n) || !is_in_range_of(model, model->node[n].src[s], input)) continue;
            if (strcmp(type, "rescaling") != 0 && strcmp(type, "normalization") != 0) return false;
            found = true;
        }
    return found;
}

static network_input input_of(const mst_model *model, int i, mst_value batch) {
    const mst_shape shape = mst_value_spec(batch).shape;
    return (network_input){.name = mst_model_input_name(model, i),
                           .dtype = model->input[i].row.dtype,
                           .shape = mst_shape_make(shape.ndim - 1, shape.dim + 1),
                           .is_tokens = feeds_only(model, model->input[i].node, "embedding"),
                           .is_rescaled = is_rescaled(model, model->input[i].node)};
}

static void look_at_output(const mst_model *model, int i, mst_value end, network_output *out) {
    const mst_shape row = mst_value_spec(end).shape;
    *out = (network_output){.name = mst_model_output_name(model, i)};
    if (row.ndim > 0) out->shape = mst_shape_make(row.ndim - 1, row.dim + 1);
    out->size = mst_shape_count(out->shape);
    for (int l = 0; l < MST_NUM_LOSSES; l++) out->sees_logits[l] = mst_loss_sees_logits((mst_loss)l, end);
    const bool softmax = !out->sees_logits[MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY];
    out->has_loss = softmax || !out->sees_logits[MST_LOSS_BINARY_CROSSENTROPY];
    out->loss = softmax ? MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY : MST_LOSS_BINARY_CROSSENTROPY;
}

static mst_status look(const char *path, const mst_model *model, const mst_model_description *d, network_ends *out) {
    const mst_outputs outputs = mst_model_get_outputs(model);
    if (!d->graph) return MST_FAIL(MST_INVALID, "'%s': the shape of its input is not in it", path);
    for (int i = 0; i < out->num_inputs; i++) out->input[i] = input_of(model, i, d->value[model->input[i].node]);
    for (int i = 0; i < out->num_outputs; i++)
        look_at_output(model, i, d->value[outputs.output[i].node], &out->output[i]);
    return MST_OK;
}

mst_status network_ends_of_any(const char *path, mst_model *model, network_ends *out) {
    mst_model_description d;
    *out = (network_ends){.num_inputs = mst_model_num_inputs(model), .num_outputs = mst_model_num_outputs(model)};
    if (out->num_inputs > MAX_ENDS || out->num_outputs > MAX_ENDS)
        return MST_FAIL(MST_INVALID, "'%s': has %d inputs and %d outputs: the command takes at most %d of each", path,
                        out->num_inputs, out->num_outputs, MAX_ENDS);
    mst_status status = mst_model_describe(model, &d);
    if (!status) status = look(path, model, &d, out);
    mst_model_forget(&d);
    return status;
}

mst_status network_ends_of(const char *path, mst_model *model, network_ends *out) {
    char text[MST_SHAPE_TEXT];
    MST_TRY(network_ends_of_any(path, model, out));
    for (int i = 0; i < out->num_outputs; i++) {
        const network_output *end = &out->output[i];
        if (end->size < 0)
            return MST_FAIL(MST_INVALID, "'%s': an example of its output '%s' is %s: it must have a size that is known",
                            path, end->name, mst_shape_print(end->shape, text, sizeof text));
    }
    return MST_OK;
}
