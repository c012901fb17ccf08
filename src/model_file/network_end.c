#include "model_file/network_end.h"

#include "loss/loss.h"
#include "model/describe.h"
#include "model/model.h"

static mst_status look(const char *path, const mst_model *model, const mst_model_description *d, mst_network_end *out) {
    if (!d->graph) return MST_FAIL(MST_INVALID, "'%s': the shape of its input is not in it", path);
    const mst_value end = d->value[mst_model_get_outputs(model).output[0].node];
    const mst_shape batch = mst_value_spec(d->value[model->input[0].node]).shape;
    mst_shape row = mst_value_spec(end).shape;
    char text[MST_SHAPE_TEXT];
    out->input = mst_shape_make(batch.ndim - 1, batch.dim + 1);
    out->outputs = 1;
    for (int i = 1; i < row.ndim; i++) {
        if (row.dim[i] < 0)
            return MST_FAIL(MST_INVALID, "'%s': its output is %s: it must have a size that is known", path,
                            mst_shape_print(row, text, sizeof text));
        out->outputs *= row.dim[i];
    }
    for (int i = 0; i < MST_NUM_LOSSES; i++) out->sees_logits[i] = mst_loss_sees_logits((mst_loss)i, end);
    const bool softmax = !out->sees_logits[MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY];
    out->has_loss = softmax || !out->sees_logits[MST_LOSS_BINARY_CROSSENTROPY];
    out->loss = softmax ? MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY : MST_LOSS_BINARY_CROSSENTROPY;
    return MST_OK;
}

mst_status mst_network_end_of(const char *path, mst_model *model, mst_network_end *out) {
    mst_model_description d;
    const int inputs = mst_model_num_inputs(model), outputs = mst_model_num_outputs(model);
    *out = (mst_network_end){.outputs = 0};
    if (inputs != 1 || outputs != 1)
        return MST_FAIL(MST_INVALID,
                        "'%s': has %d input%s and %d output%s: the command takes networks with one of each, a program "
                        "any",
                        path, inputs, inputs == 1 ? "" : "s", outputs, outputs == 1 ? "" : "s");
    mst_status status = mst_model_describe(model, &d);
    if (!status) status = look(path, model, &d, out);
    mst_model_forget(&d);
    return status;
}
