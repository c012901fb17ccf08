#include "model_file/onnx/onnx_layers.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "model/model.h"
#include "model_file/onnx/onnx_channels.h"
#include "model_file/onnx/onnx_model.h"
#include "muster/layers.h"
#include "muster/store.h"

/* ---- values ---- */

static mst_status name_value(mst_onnx_layers *l, const char *name, mst_onnx_layer_value value) {
    if (mst_names_get(&l->names, name) >= 0)
        return MST_FAIL(MST_CORRUPT,
                        "the value '%.100s' has that name already: names are given once: export the model again", name);
    MST_TRY(mst_grow(&l->value, sizeof *l->value, l->num_values + 1, &l->capacity));
    l->value[l->num_values] = value;
    return mst_names_set(&l->names, name, l->num_values++);
}

bool mst_onnx_layer_has(const mst_onnx_layer_call *c, size_t i) {
    return i < c->onnx.node->n_input && *c->onnx.node->input[i];
}

mst_status mst_onnx_layer_raw(const mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value *out) {
    if (!mst_onnx_layer_has(c, i)) return MST_FAIL(MST_CORRUPT, "its input %zu is missing: export the model again", i);
    const int64_t at = mst_names_get(&c->layers->names, c->onnx.node->input[i]);
    if (at < 0)
        return MST_FAIL(
            MST_CORRUPT,
            "its input '%.100s' is no input, no tensor and no output of an earlier node: export the model again",
            c->onnx.node->input[i]);
    *out = c->layers->value[at];
    return MST_OK;
}

mst_status mst_onnx_layer_any(const mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value *out) {
    MST_TRY(mst_onnx_layer_raw(c, i, out));
    return mst_onnx_sequence_settle(c->layers, out);
}

static mst_status want_output(const mst_onnx_layer_value *out, size_t i) {
    if (out->row)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its input %zu is of whole numbers: only an embedding takes these as a layer", i);
    if (out->ndim) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "its input %zu is a constant or a size: no layer takes it there", i);
}

mst_status mst_onnx_layer_input(const mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value *out) {
    MST_TRY(mst_onnx_layer_any(c, i, out));
    return want_output(out, i);
}

mst_status mst_onnx_layer_rows(const mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value *out) {
    MST_TRY(mst_onnx_layer_raw(c, i, out));
    return out->merged ? want_output(out, i) : mst_onnx_layer_input(c, i, out);
}

mst_status mst_onnx_layer_turn(mst_onnx_layer_value *v) {
    const int ndim = v->flat ? v->flat : v->ndim;
    mst_axes dims = {.count = ndim - 1}; /* counted from 1, the first dimension after the examples */
    dims.axis[0] = ndim - 1;
    for (int i = 1; i < ndim - 1; i++) dims.axis[i] = i;
    if (v->flat) {
        v->out = mst_flatten(mst_permute(v->pixels, dims));
        v->flat = 0;
    } else if (v->last && ndim > 2) {
        v->out = mst_permute(v->out, dims);
        v->last = false;
        v->channels = 0;
    }
    return mst_model_check(v->out.model);
}

mst_status mst_onnx_layer_plain(const mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value *out) {
    MST_TRY(mst_onnx_layer_input(c, i, out));
    return mst_onnx_layer_turn(out);
}

mst_status mst_onnx_layer_constant(const mst_onnx_layer_call *c, size_t i, mst_tensor **out) {
    mst_onnx_layer_value v;
    MST_TRY(mst_onnx_layer_any(c, i, &v));
    *out = v.tensor;
    if (v.tensor) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "its input %zu must be a constant, so that it can be part of a layer", i);
}

mst_status mst_onnx_layer_list(const mst_onnx_layer_call *c, size_t i, int64_t *list, int *count) {
    mst_tensor *tensor;
    MST_TRY(mst_onnx_layer_constant(c, i, &tensor));
    const mst_dtype dtype = mst_tensor_dtype(tensor);
    if (mst_tensor_count(tensor) > MST_ONNX_MOST_SIZES || (dtype != MST_I64 && dtype != MST_I32))
        return MST_FAIL(MST_INVALID, "its input %zu must be a list of at most %d integers", i, MST_ONNX_MOST_SIZES);
    *count = (int)mst_tensor_count(tensor);
    for (int k = 0; k < *count; k++)
        list[k] = dtype == MST_I64 ? ((const int64_t *)mst_tensor_data(tensor))[k]
                                   : ((const int32_t *)mst_tensor_data(tensor))[k];
    return MST_OK;
}

double mst_onnx_layer_number(const mst_onnx_layer_call *c, const char *name) {
    const int64_t at = mst_names_get(&c->layers->names, name);
    mst_tensor *tensor = at < 0 ? NULL : c->layers->value[at].tensor;
    mst_tensor *made = NULL;
    /* the Constant nodes of later operators may come after this node: they have not been read yet */
    for (size_t i = 0; at < 0 && i < c->layers->file->graph->n_node && !tensor; i++) {
        const Muster__OnnxNode *node = c->layers->file->graph->node[i];
        if (strcmp(node->op_type, "Constant") != 0 || node->n_output != 1 || strcmp(node->output[0], name) != 0)
            continue;
        if (node->n_attribute == 1 && node->attribute[0]->t && node->attribute[0]->t->n_dims < 2 &&
            !mst_onnx_tensor(node->attribute[0]->t, &made))
            tensor = made;
        break;
    }
    const bool good = tensor && mst_tensor_count(tensor) == 1 && mst_dtype_is_float(mst_tensor_dtype(tensor));
    const double number = good ? mst_tensor_get(tensor, 0) : (double)NAN;
    mst_tensor_release(made);
    return number;
}

mst_status mst_onnx_layer_put_at(mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value value) {
    MST_TRY(mst_model_check(c->layers->model));
    const Muster__OnnxNode *named = c->add ? c->add : c->onnx.node;
    if (i >= named->n_output || !*named->output[i]) return MST_OK;
    return name_value(c->layers, named->output[i], value);
}

mst_status mst_onnx_layer_put(mst_onnx_layer_call *c, mst_onnx_layer_value value) {
    return mst_onnx_layer_put_at(c, 0, value);
}

mst_status mst_onnx_layer_put_tensor(mst_onnx_layer_call *c, mst_tensor *tensor, const char *weight) {
    mst_onnx_layers *l = c->layers;
    const mst_status status = mst_grow(&l->made, sizeof *l->made, l->num_made + 1, &l->made_capacity);
    if (status) {
        mst_tensor_release(tensor);
        return status;
    }
    l->made[l->num_made++] = tensor;
    return mst_onnx_layer_put(c, (mst_onnx_layer_value){.tensor = tensor, .weight = weight});
}

const Muster__OnnxNode *mst_onnx_layer_only_user(const mst_onnx_layer_call *c) {
    const char *name = c->onnx.node->n_output ? c->onnx.node->output[0] : "";
    const int64_t at = mst_names_get(&c->layers->uses, name);
    return at >= 0 && c->layers->use[at].count == 1 ? c->layers->use[at].user : NULL;
}

static mst_status count_use(mst_onnx_layers *l, const char *name, const Muster__OnnxNode *user) {
    int64_t at = mst_names_get(&l->uses, name);
    if (at >= 0 && l->use) {
        l->use[at].user = user;
        l->use[at].count++;
        return MST_OK;
    }
    MST_TRY(mst_grow(&l->use, sizeof *l->use, l->num_uses + 1, &l->use_capacity));
    l->use[l->num_uses] = (mst_onnx_layer_use){.user = user, .count = 1};
    return mst_names_set(&l->uses, name, l->num_uses++);
}

static mst_status count_uses(mst_onnx_layers *l) {
    const Muster__OnnxGraph *graph = l->file->graph;
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_input; k++)
            MST_TRY(count_use(l, graph->node[i]->input[k], graph->node[i]));
    for (size_t i = 0; i < graph->n_output; i++) MST_TRY(count_use(l, graph->output[i]->name, NULL));
    return MST_OK;
}

/* ---- weights ---- */

/* The part of NAME that is like the name of a layer. PyTorch: "layers.0.weight" is of layers.0. TensorFlow:
 * "model/dense_1/MatMul/ReadVariableOp:0" is of dense_1; Muster: "dense_1/kernel". */
static bool name_of_layer(const char *name, char out[MST_ONNX_LAYER_NAME]) {
    const size_t length = strlen(name);
    if (length >= MST_ONNX_LAYER_NAME / 2) return false;
    memcpy(out, name, length + 1);
    char *end = strstr(out, "/ReadVariableOp"), *cut;
    if (end) *end = '\0';
    cut = strrchr(out, end || strchr(out, '/') ? '/' : '.');
    if (!cut) return false;
    *cut = '\0';
    cut = strrchr(out, '/');
    if (cut) memmove(out, cut + 1, strlen(cut + 1) + 1);
    for (char *c = out; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_'; /* Keras has points only between layers */
    return *out && isalpha((unsigned char)*out);
}

const char *mst_onnx_layer_name(const mst_onnx_layer_call *c, size_t i, char out[MST_ONNX_LAYER_NAME]) {
    mst_onnx_layer_value v;
    char name[MST_ONNX_LAYER_NAME];
    if (mst_onnx_layer_any(c, i, &v) || !v.weight || !name_of_layer(v.weight, name)) return NULL;
    return mst_onnx_name_layer(c->layers->model, name, out);
}

/* A name for the layer of an input or output. Keras takes none with '/'. */
static const char *name_of_end(const mst_onnx_layers *l, const char *name, char out[MST_ONNX_LAYER_NAME]) {
    char plain[MST_ONNX_LAYER_NAME];
    snprintf(plain, sizeof plain, "%s", name);
    for (char *c = plain; *c; c++)
        if (*c == '/') *c = '_';
    return mst_onnx_name_layer(l->model, plain, out);
}

mst_status mst_onnx_layer_take(mst_onnx_layer_call *c, size_t i) {
    const char *name = c->onnx.node->input[i];
    if (mst_names_get(&c->layers->used, name) >= 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its input '%.100s' is a weight of another layer too: shared weights do not become layers",
                        name);
    return mst_names_set(&c->layers->used, name, 0);
}

mst_status mst_onnx_layer_weigh(mst_onnx_layer_call *c, mst_output out, const char *name, mst_tensor *tensor) {
    mst_onnx_layers *l = c->layers;
    mst_status status = mst_model_check(l->model);
    if (!status) status = mst_grow(&l->weight, sizeof *l->weight, l->num_weights + 1, &l->weight_capacity);
    if (!status && mst_tensor_dtype(tensor) != MST_F32)
        status = MST_FAIL(MST_UNIMPLEMENTED, "its weights are of %s: only float32 becomes a layer",
                          mst_dtype_name(mst_tensor_dtype(tensor)));
    char *full = NULL;
    if (!status) {
        const char *layer = l->model->layer[l->model->node[out.node].layer].name;
        const size_t size = strlen(layer) + strlen(name) + 2;
        full = malloc(size);
        if (full)
            snprintf(full, size, "%s/%s", layer, name);
        else
            status = MST_NO_MEMORY("for a name");
    }
    if (status) {
        mst_tensor_release(tensor);
        return status;
    }
    l->weight[l->num_weights++] = (mst_onnx_layer_weight){full, tensor};
    return MST_OK;
}

/* Sets the weights of all layers. An error if a weight was not noted, or has another shape. */
static mst_status set_weights(const mst_onnx_layers *l) {
    const mst_weight *weights;
    int64_t count;
    mst_snapshot *snapshot;
    MST_TRY(mst_model_weights(l->model, &weights, &count));
    MST_TRY(mst_snapshot_create(&snapshot));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        const mst_tensor *found = NULL;
        for (int64_t k = 0; k < l->num_weights && !found; k++)
            if (strcmp(l->weight[k].name, weights[i].name) == 0) found = l->weight[k].tensor;
        if (!found || !mst_shape_equal(mst_tensor_shape(found), weights[i].spec.shape))
            status =
                MST_FAIL(MST_INVALID,
                         "the weight '%s' of a layer is not in the file, or has another shape: export the model again",
                         weights[i].name);
        else
            status =
                mst_snapshot_add(snapshot, NULL, weights[i].name, MST_STATE_WEIGHT, (mst_tensor *)(uintptr_t)found);
    }
    if (!status) status = mst_store_restore(l->model->store, snapshot);
    mst_snapshot_release(snapshot);
    return status;
}

/* ---- nodes ---- */

static const mst_onnx_layer_op *find_op(const Muster__OnnxNode *node) {
    const mst_onnx_layer_op *const tables[] = {mst_onnx_layer_ops, mst_onnx_layer_window_ops, mst_onnx_layer_shape_ops,
                                               mst_onnx_layer_cell_ops};
    if (*node->domain && strcmp(node->domain, "ai.onnx") != 0) return NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const mst_onnx_layer_op *op = tables[i]; op->name; op++)
            if (strcmp(op->name, node->op_type) == 0) return op;
    return NULL;
}

static mst_status read_node(mst_onnx_layers *l, const Muster__OnnxNode *node) {
    mst_onnx_layer_call c = {.layers = l, .onnx = {.node = node}};
    const mst_onnx_layer_op *op = find_op(node);
    /* a node that is part of an earlier one, such as the sum of its bias */
    if (node->n_output == 1 && mst_names_get(&l->used, node->output[0]) >= 0) return MST_OK;
    if (!op) return MST_FAIL(MST_UNIMPLEMENTED, "the operator is no layer of Keras, nor a part of one");
    const mst_status status = op->make(&c);
    if (c.onnx.mistyped)
        return MST_FAIL(
            MST_CORRUPT,
            "its attribute '%.60s' is of type %d of ONNX, which is not that of the operator: export the model again",
            c.onnx.mistyped->name, (int)c.onnx.mistyped->type);
    MST_TRY(status);
    for (size_t i = 0; i < node->n_attribute; i++)
        if (i >= 64 || !(c.onnx.looked >> i & 1))
            return MST_FAIL(MST_UNIMPLEMENTED, "its attribute '%.60s' is not supported", node->attribute[i]->name);
    for (size_t i = 1; i < node->n_output; i++)
        if (*node->output[i] && mst_names_get(&l->uses, node->output[i]) >= 0 &&
            mst_names_get(&l->names, node->output[i]) < 0)
            return MST_FAIL(MST_UNIMPLEMENTED, "its output %zu is not supported", i);
    return MST_OK;
}

static mst_status add_input(mst_onnx_layers *l, size_t i, bool last) {
    const Muster__OnnxValue *input = mst_onnx_input(l->file, i);
    char name[MST_ONNX_LAYER_NAME];
    mst_dtype dtype;
    mst_shape shape;
    MST_TRY(mst_onnx_spec(input, &dtype, &shape));
    if (shape.ndim < 1)
        return MST_FAIL(MST_INVALID,
                        "its input '%.100s' is a scalar: a model's inputs have a dimension for the examples",
                        input->name);
    mst_shape row = mst_shape_make(shape.ndim - 1, shape.dim + 1);
    const mst_axes perm = mst_onnx_last_perm(shape.ndim);
    for (int k = 0; last && k < row.ndim; k++) row.dim[k] = shape.dim[perm.axis[1 + k]];
    const mst_output out = mst_input(l->model, row, .dtype = dtype, .name = name_of_end(l, input->name, name));
    MST_TRY(mst_model_check(l->model));
    const int64_t channels = row.ndim && row.dim[row.ndim - 1] > 0 ? row.dim[row.ndim - 1] : 0;
    return name_value(l, input->name,
                      (mst_onnx_layer_value){.out = out,
                                             .ndim = shape.ndim,
                                             .last = last,
                                             .channels = channels,
                                             .row = mst_dtype_is_float(dtype) ? MST_ONNX_NO_ROW : MST_ONNX_ROW});
}

static mst_status add_output(mst_onnx_layers *l, size_t i, bool last, mst_outputs *outputs) {
    const Muster__OnnxGraph *graph = l->file->graph;
    char name[MST_ONNX_LAYER_NAME];
    const int64_t at = mst_names_get(&l->names, graph->output[i]->name);
    if (at < 0)
        return MST_FAIL(MST_CORRUPT,
                        "its output '%.100s' is made by no node: the file is damaged: export the model again",
                        graph->output[i]->name);
    mst_onnx_layer_value v = l->value[at];
    if (mst_onnx_sequence_settle(l, &v)) return mst_error_prefix("its output '%.100s'", graph->output[i]->name);
    if (!v.ndim)
        return MST_FAIL(MST_UNIMPLEMENTED, "its output '%.100s' depends on no input: it is no layer",
                        graph->output[i]->name);
    if (v.flat || (v.last && !last)) MST_TRY(mst_onnx_layer_turn(&v));
    if (!v.last && last && v.ndim > 2) {
        mst_axes dims = {.count = v.ndim - 1};
        for (int k = 0; k < dims.count; k++) dims.axis[k] = k == dims.count - 1 ? 1 : k + 2;
        v.out = mst_permute(v.out, dims);
    }
    if (graph->n_output > 1) /* a model names each output after its layer, so each gets a layer with its name */
        v.out = mst_activate(v.out, MST_LINEAR, .name = name_of_end(l, graph->output[i]->name, name));
    outputs->output[outputs->count++] = v.out;
    return mst_model_check(l->model);
}

static mst_status add_constants(mst_onnx_layers *l) {
    const Muster__OnnxGraph *graph = l->file->graph;
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const char *name = graph->initializer[i]->name;
        MST_TRY(name_value(l, name, (mst_onnx_layer_value){.tensor = l->file->tensor[i], .weight = name}));
    }
    return MST_OK;
}

static mst_status add_all(mst_onnx_layers *l, const bool *input_last, const bool *output_last) {
    const Muster__OnnxGraph *graph = l->file->graph;
    mst_outputs outputs = {.count = 0};
    MST_TRY(count_uses(l));
    MST_TRY(add_constants(l));
    for (size_t i = 0; i < mst_onnx_num_inputs(l->file); i++) MST_TRY(add_input(l, i, input_last[i]));
    for (size_t i = 0; i < graph->n_node; i++) {
        const Muster__OnnxNode *node = graph->node[i];
        if (read_node(l, node))
            return mst_error_prefix("node '%.100s' (%.60s, opset %lld)",
                                    *node->name || !node->n_output ? node->name : node->output[0], node->op_type,
                                    (long long)l->file->opset);
    }
    for (size_t i = 0; i < graph->n_output; i++) MST_TRY(add_output(l, i, output_last[i], &outputs));
    mst_model_outputs(l->model, outputs);
    MST_TRY(mst_model_check(l->model));
    return l->network_only ? MST_OK : set_weights(l);
}

static mst_status add_layers(mst_onnx_layers *l) {
    const size_t inputs = mst_onnx_num_inputs(l->file), outputs = l->file->graph->n_output;
    if (!inputs || !outputs || inputs > MST_MAX_OUTPUTS || outputs > MST_MAX_OUTPUTS)
        return MST_FAIL(MST_UNIMPLEMENTED, "has %zu inputs and %zu outputs: a model has 1 to %d of each", inputs,
                        outputs, MST_MAX_OUTPUTS);
    bool *last = calloc(inputs + outputs, sizeof *last);
    if (!last) return MST_NO_MEMORY("for a model");
    mst_status status = mst_onnx_channels_find(l->file, last, last + inputs);
    if (!status) status = add_all(l, last, last + inputs);
    free(last);
    return status;
}

static void free_layers(mst_onnx_layers *l) {
    for (int64_t i = 0; i < l->num_made; i++) mst_tensor_release(l->made[i]);
    for (int64_t i = 0; i < l->num_weights; i++) {
        mst_tensor_release(l->weight[i].tensor);
        free(l->weight[i].name);
    }
    free(l->made);
    free(l->cell);
    free(l->weight);
    free(l->value);
    mst_names_free(&l->names);
    mst_names_free(&l->used);
    mst_names_free(&l->passed);
    mst_names_free(&l->uses);
    free(l->use);
}

mst_status mst_onnx_add_layers(const mst_onnx_file *file, bool network_only, mst_model *model) {
    mst_onnx_layers layers = {.file = file, .model = model, .network_only = network_only};
    const mst_status status = add_layers(&layers);
    free_layers(&layers);
    return status;
}

mst_status mst_onnx_load_layers(const char *path, bool network_only, mst_model *model) {
    mst_onnx_file file;
    mst_status status = mst_onnx_file_read(path, &file);
    if (!status && mst_onnx_add_layers(&file, network_only, model))
        status = mst_error_prefix(
            "'%s': cannot become layers, for training and for files of Keras (predict and evaluate "
            "may take it)",
            path);
    mst_onnx_file_free(&file);
    return status;
}
