/* Operators of ONNX that become layers: dense, embeddings, normalizations, activations, and sums of layers. */
#include <math.h>
#include <string.h>

#include "model_file/onnx/onnx_layers.h"
#include "muster/layers.h"

/* ---- dense ---- */

/* TENSOR, [rows, columns], as a new tensor, transposed if TURNED, times FACTOR. */
static mst_status new_matrix(mst_tensor *tensor, bool turned, float factor, mst_tensor **out) {
    const mst_shape shape = mst_tensor_shape(tensor);
    if (shape.ndim != 2 || mst_tensor_dtype(tensor) != MST_F32)
        return MST_FAIL(MST_UNIMPLEMENTED, "its weights must be a matrix of float32 to become a dense layer");
    MST_TRY(mst_tensor_turn(tensor, shape, turned ? MST_AXES(1, 0) : MST_AXES(0, 1), out));
    float *data = mst_tensor_data(*out);
    for (int64_t i = 0; factor != 1 && i < mst_tensor_count(*out); i++) data[i] *= factor;
    return MST_OK;
}

/* Reorders the rows of MATRIX, by which the value V is multiplied. If V is flattened, ONNX has its elements in the
 * order of channels second, and the layer in the order of channels last. */
static mst_status reorder_rows(const mst_onnx_layer_value *v, mst_tensor **matrix) {
    const mst_shape shape = mst_tensor_shape(*matrix);
    const int64_t rows = shape.dim[0], columns = shape.dim[1];
    mst_tensor *turned;
    if (!v->flat || v->is_pooled) return MST_OK;
    if (v->flat_channels < 1 || rows % v->flat_channels)
        return MST_FAIL(MST_UNIMPLEMENTED, "the channels of its flattened input are not known");
    const mst_shape from = MST_SHAPE(v->flat_channels, rows / v->flat_channels, columns);
    MST_TRY(mst_tensor_turn(*matrix, from, MST_AXES(1, 0, 2), &turned));
    memcpy(mst_tensor_data(*matrix), mst_tensor_data(turned), mst_tensor_bytes(turned));
    mst_tensor_release(turned);
    return MST_OK;
}

mst_status mst_onnx_layer_vector(mst_tensor *tensor, int64_t units, float factor, mst_tensor **out) {
    const int64_t count = mst_tensor_count(tensor);
    if (mst_tensor_dtype(tensor) != MST_F32 || (count != units && count != 1))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it has %lld numbers where a layer has %lld of float32, one for each channel", (long long)count,
                        (long long)units);
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(units), out));
    const float *from = mst_tensor_data(tensor);
    for (int64_t i = 0; i < units; i++) ((float *)mst_tensor_data(*out))[i] = from[count == 1 ? 0 : i] * factor;
    return MST_OK;
}

/* Whether TENSOR has UNITS numbers along axis AXIS of NDIM dimensions, and one along the others. */
static bool is_along(const mst_tensor *tensor, int ndim, int axis, int64_t units) {
    const mst_shape shape = mst_tensor_shape(tensor);
    if (shape.ndim > ndim || shape.ndim < ndim - axis) return false;
    for (int i = 0; i < shape.ndim; i++)
        if (shape.dim[i] != (i == axis - (ndim - shape.ndim) ? units : 1)) return false;
    return true;
}

/* Takes the constant that USER, an Add, adds to the value OF, if it is UNITS numbers along AXIS of NDIM dimensions.
 * Otherwise *OUT becomes NULL. */
static mst_status take_constant(mst_onnx_layer_call *c, const Muster__OnnxNode *user, const char *of, int ndim,
                                int axis, int64_t units, mst_tensor **out) {
    *out = NULL;
    if (!user || strcmp(user->op_type, "Add") != 0 || user->n_input != 2 || user->n_output != 1) return MST_OK;
    const size_t other = strcmp(user->input[0], of) == 0 ? 1 : 0;
    const mst_onnx_layer_call add = {.layers = c->layers, .onnx = {.node = user}};
    mst_onnx_layer_value v;
    if (mst_names_get(&c->layers->names, user->input[other]) < 0) return MST_OK;
    MST_TRY(mst_onnx_layer_any(&add, other, &v));
    if (!v.tensor || mst_tensor_dtype(v.tensor) != MST_F32 || !is_along(v.tensor, ndim, axis, units)) return MST_OK;
    if (v.weight && mst_names_get(&c->layers->used, user->input[other]) >= 0) return MST_OK;
    MST_TRY(mst_names_set(&c->layers->used, user->input[other], 0));
    *out = v.tensor;
    return MST_OK;
}

mst_status mst_onnx_layer_take_bias(mst_onnx_layer_call *c, int ndim, int axis, int64_t units, mst_tensor **out) {
    const Muster__OnnxNode *user = mst_onnx_layer_only_user(c);
    MST_TRY(take_constant(c, user, c->onnx.node->output[0], ndim, axis, units, out));
    if (!*out) return MST_OK;
    c->add = user;
    return mst_names_set(&c->layers->used, user->output[0], 0);
}

/* The same for a product whose axes are merged, and which a Reshape separates again before the Add. The Add then passes
 * its input on (read_merge). */
static mst_status take_bias_after_reshape(mst_onnx_layer_call *c, int ndim, int64_t units, mst_tensor **out) {
    const Muster__OnnxNode *reshape = mst_onnx_layer_only_user(c);
    *out = NULL;
    if (!reshape || strcmp(reshape->op_type, "Reshape") != 0 || reshape->n_output != 1) return MST_OK;
    const mst_onnx_layer_call next = {.layers = c->layers, .onnx = {.node = reshape}};
    const Muster__OnnxNode *user = mst_onnx_layer_only_user(&next);
    MST_TRY(take_constant(c, user, reshape->output[0], ndim, ndim - 1, units, out));
    return *out ? mst_names_set(&c->layers->passed, user->output[0], 0) : MST_OK;
}

/* Sets output 0 to a dense layer on X with the matrix WEIGHTS, which is made from input 1, and the bias BIAS * FACTOR;
 * BIAS may be NULL. Takes ownership of WEIGHTS. */
static mst_status put_dense(mst_onnx_layer_call *c, mst_onnx_layer_value *x, mst_tensor *weights, mst_tensor *bias,
                            float factor) {
    char name[MST_ONNX_LAYER_NAME];
    mst_tensor *shift = NULL;
    const int64_t units = mst_tensor_shape(weights).dim[1];
    mst_status status = reorder_rows(x, &weights);
    if (!status && bias) status = mst_onnx_layer_vector(bias, units, factor, &shift);
    if (status) {
        mst_tensor_release(weights);
        return status;
    }
    x->out = mst_dense(x->out, units, .no_bias = !bias, .name = mst_onnx_layer_name(c, 1, name));
    status = mst_onnx_layer_weigh(c, x->out, "kernel", weights);
    if (!status && shift)
        status = mst_onnx_layer_weigh(c, x->out, "bias", shift);
    else
        mst_tensor_release(shift);
    MST_TRY(status);
    return mst_onnx_layer_put(
        c, (mst_onnx_layer_value){.out = x->out, .ndim = x->ndim, .channels = units, .merged = x->merged});
}

static mst_status read_gemm(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    mst_tensor *matrix, *bias = NULL, *weights;
    const float alpha = mst_onnx_float(&c->onnx, "alpha", 1), beta = mst_onnx_float(&c->onnx, "beta", 1);
    const bool turned = mst_onnx_int(&c->onnx, "transB", 0) != 0;
    if (mst_onnx_int(&c->onnx, "transA", 0))
        return MST_FAIL(MST_UNIMPLEMENTED, "its attribute transA must be 0 to become a dense layer");
    MST_TRY(mst_onnx_layer_rows(c, 0, &x));
    MST_TRY(mst_onnx_layer_constant(c, 1, &matrix));
    if (x.ndim != 2 && !x.merged)
        return MST_FAIL(MST_INVALID, "its input has %d dimensions, and must have two", x.ndim);
    MST_TRY(mst_onnx_layer_take(c, 1));
    if (mst_onnx_layer_has(c, 2)) {
        MST_TRY(mst_onnx_layer_constant(c, 2, &bias));
        MST_TRY(mst_onnx_layer_take(c, 2));
    }
    MST_TRY(new_matrix(matrix, turned, alpha, &weights));
    return put_dense(c, &x, weights, bias, beta);
}

static mst_status read_matmul(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    mst_tensor *matrix, *bias, *weights;
    MST_TRY(mst_onnx_layer_rows(c, 0, &x));
    MST_TRY(mst_onnx_layer_constant(c, 1, &matrix));
    if (x.ndim < 2) return MST_FAIL(MST_INVALID, "its input has one dimension, and must have more");
    if (x.last && x.ndim > 2) MST_TRY(mst_onnx_layer_turn(&x));
    MST_TRY(mst_onnx_layer_take(c, 1));
    MST_TRY(new_matrix(matrix, false, 1, &weights));
    const int ndim = x.merged ? 2 : x.ndim;
    const int64_t units = mst_tensor_shape(weights).dim[1];
    mst_status status = mst_onnx_layer_take_bias(c, ndim, ndim - 1, units, &bias);
    if (!status && !bias && x.merged) status = take_bias_after_reshape(c, x.ndim, units, &bias);
    if (status) {
        mst_tensor_release(weights);
        return status;
    }
    return put_dense(c, &x, weights, bias, 1);
}

static mst_status read_gather(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x, v;
    char name[MST_ONNX_LAYER_NAME];
    mst_tensor *weights;
    MST_TRY(mst_onnx_layer_raw(c, 0, &v));
    const int64_t axis = mst_onnx_int(&c->onnx, "axis", 0);
    if (v.num_sizes) { /* of a list of sizes */
        int64_t at[MST_ONNX_MOST_SIZES];
        int count;
        MST_TRY(mst_onnx_layer_list(c, 1, at, &count));
        mst_onnx_layer_value picked = {.num_sizes = count};
        for (int i = 0; i < count; i++) {
            if (at[i] < 0) at[i] += v.num_sizes;
            if (at[i] < 0 || at[i] >= v.num_sizes)
                return MST_FAIL(MST_INVALID, "its index is not one of %d", v.num_sizes);
            picked.size[i] = v.size[at[i]];
        }
        return mst_onnx_layer_put(c, picked);
    }
    if (v.sequence.ndim || v.num_stacked) return mst_onnx_sequence_gather(c, v, axis);
    if (v.ndim && !v.row) return mst_onnx_sequence_take(c, axis);
    if (!v.tensor || axis)
        return MST_FAIL(MST_UNIMPLEMENTED, "only a Gather of rows of a constant becomes a layer, an embedding");
    MST_TRY(mst_onnx_layer_any(c, 1, &x));
    if (x.row != MST_ONNX_ROW) MST_TRY(mst_onnx_layer_plain(c, 1, &x));
    MST_TRY(mst_onnx_layer_take(c, 0));
    MST_TRY(new_matrix(v.tensor, false, 1, &weights));
    const mst_shape shape = mst_tensor_shape(weights);
    x.out = mst_embedding(x.out, shape.dim[0], shape.dim[1], .name = mst_onnx_layer_name(c, 0, name));
    MST_TRY(mst_onnx_layer_weigh(c, x.out, "embeddings", weights));
    return mst_onnx_layer_put(c, (mst_onnx_layer_value){.out = x.out, .ndim = x.ndim + 1, .channels = shape.dim[1]});
}

/* ---- normalizations ---- */

/* Makes inputs FIRST, FIRST + 1, ... the weights of the layer of OUT with these NAMES, which are ended by NULL. */
static mst_status weigh_all(mst_onnx_layer_call *c, mst_output out, size_t first, const char *const *names,
                            int64_t channels) {
    for (size_t i = 0; names[i]; i++) {
        mst_tensor *tensor, *vector;
        MST_TRY(mst_onnx_layer_constant(c, first + i, &tensor));
        MST_TRY(mst_onnx_layer_take(c, first + i));
        MST_TRY(mst_onnx_layer_vector(tensor, channels, 1, &vector));
        MST_TRY(mst_onnx_layer_weigh(c, out, names[i], vector));
    }
    return MST_OK;
}

static mst_status read_batch_norm(mst_onnx_layer_call *c) {
    static const char *const names[] = {"gamma", "beta", "moving_mean", "moving_variance", NULL};
    mst_onnx_layer_value x;
    mst_tensor *scale;
    char name[MST_ONNX_LAYER_NAME];
    const float epsilon = mst_onnx_float(&c->onnx, "epsilon", 1e-5F),
                momentum = mst_onnx_float(&c->onnx, "momentum", 0.9F);
    (void)mst_onnx_int(&c->onnx, "training_mode", 0); /* the layer does both */
    MST_TRY(mst_onnx_layer_input(c, 0, &x));
    if (x.ndim == 2)
        MST_TRY(mst_onnx_layer_turn(&x));
    else
        MST_TRY(mst_onnx_layer_pixels(c, &x));
    MST_TRY(mst_onnx_layer_constant(c, 1, &scale));
    x.channels = mst_tensor_count(scale);
    x.not_negative = false;
    x.out = mst_batch_normalization(x.out, .momentum = momentum, .epsilon = epsilon,
                                    .name = mst_onnx_layer_name(c, 1, name));
    MST_TRY(mst_model_check(c->layers->model));
    MST_TRY(weigh_all(c, x.out, 1, names, x.channels));
    return mst_onnx_layer_put(c, x);
}

static mst_status read_layer_norm(mst_onnx_layer_call *c) {
    static const char *const names[] = {"gamma", "beta", NULL}, *const scale_only[] = {"gamma", NULL};
    mst_onnx_layer_value x;
    mst_tensor *scale;
    char name[MST_ONNX_LAYER_NAME];
    int axis;
    const float epsilon = mst_onnx_float(&c->onnx, "epsilon", 1e-5F);
    (void)mst_onnx_int(&c->onnx, "stash_type", 1);
    MST_TRY(mst_onnx_layer_plain(c, 0, &x));
    MST_TRY(mst_onnx_axis(mst_onnx_int(&c->onnx, "axis", -1), x.ndim, &axis));
    if (axis != x.ndim - 1) return MST_FAIL(MST_UNIMPLEMENTED, "it becomes a layer only over the last axis");
    MST_TRY(mst_onnx_layer_constant(c, 1, &scale));
    const bool shifts = mst_onnx_layer_has(c, 2);
    x.not_negative = x.is_pooled = false;
    x.channels = mst_tensor_count(scale);
    x.out = mst_layer_normalization(x.out, .epsilon = epsilon, .no_center = !shifts,
                                    .name = mst_onnx_layer_name(c, 1, name));
    MST_TRY(mst_model_check(c->layers->model));
    MST_TRY(weigh_all(c, x.out, 1, shifts ? names : scale_only, x.channels));
    return mst_onnx_layer_put(c, x);
}

/* ---- activations ---- */

static mst_status put_activation(mst_onnx_layer_call *c, mst_activation activation) {
    mst_onnx_layer_value x;
    MST_TRY(mst_onnx_layer_rows(c, 0, &x));
    x.out = mst_activate(x.out, activation);
    x.not_negative = activation == MST_RELU || activation == MST_RELU6 || activation == MST_SIGMOID ||
                     activation == MST_SOFTPLUS || activation == MST_HARD_SIGMOID || activation == MST_EXPONENTIAL;
    if (x.flat) x.pixels = mst_activate(x.pixels, activation); /* left out of the model if no output needs it */
    return mst_onnx_layer_put(c, x);
}

static const mst_onnx_layer_op *op_of(const mst_onnx_layer_call *c) {
    const mst_onnx_layer_op *op = mst_onnx_layer_ops;
    while (strcmp(op->name, c->onnx.node->op_type) != 0) op++;
    return op;
}

static mst_status read_activation(mst_onnx_layer_call *c) {
    return put_activation(c, op_of(c)->activation);
}

static mst_status read_row_activation(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    int axis;
    MST_TRY(mst_onnx_layer_rows(c, 0, &x));
    const int ndim = x.merged ? 2 : x.ndim;
    MST_TRY(mst_onnx_axis(mst_onnx_int(&c->onnx, "axis", -1), ndim, &axis));
    if (axis != (x.last && ndim > 2 ? 1 : ndim - 1) || !axis)
        return MST_FAIL(MST_UNIMPLEMENTED, "it becomes a layer only along the channels");
    if (x.flat) MST_TRY(mst_onnx_layer_turn(&x));
    x.out = mst_activate(x.out, op_of(c)->activation);
    x.not_negative = op_of(c)->activation == MST_SOFTMAX;
    return mst_onnx_layer_put(c, x);
}

static mst_status put_re_lu(mst_onnx_layer_call *c, float slope, float most) {
    mst_onnx_layer_value x;
    MST_TRY(mst_onnx_layer_rows(c, 0, &x));
    if (x.flat) MST_TRY(mst_onnx_layer_turn(&x));
    x.out = most > 0 ? mst_re_lu(x.out, .max_value = most) : mst_re_lu(x.out, .negative_slope = slope);
    x.not_negative = slope == 0;
    return mst_onnx_layer_put(c, x);
}

static mst_status read_leaky_relu(mst_onnx_layer_call *c) {
    const float slope = mst_onnx_float(&c->onnx, "alpha", 0.01F);
    if (!(slope > 0 && slope <= 1))
        return MST_FAIL(MST_UNIMPLEMENTED, "its alpha is %g, and becomes a layer from 0 to 1", (double)slope);
    return put_re_lu(c, slope, 0);
}

static mst_status read_elu(mst_onnx_layer_call *c) {
    if (mst_onnx_float(&c->onnx, "alpha", 1) != 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "its alpha must be 1 to become a layer");
    return put_activation(c, MST_ELU);
}

static mst_status read_selu(mst_onnx_layer_call *c) {
    const float alpha = mst_onnx_float(&c->onnx, "alpha", 1.6732632F),
                gamma = mst_onnx_float(&c->onnx, "gamma", 1.0507010F);
    if (fabsf(alpha - 1.6732632F) > 1e-5F || fabsf(gamma - 1.0507010F) > 1e-5F)
        return MST_FAIL(MST_UNIMPLEMENTED, "its alpha and gamma must be those of selu");
    return put_activation(c, MST_SELU);
}

static mst_status read_hard_sigmoid(mst_onnx_layer_call *c) {
    const float alpha = mst_onnx_float(&c->onnx, "alpha", 0.2F), beta = mst_onnx_float(&c->onnx, "beta", 0.5F);
    if (fabsf(beta - 0.5F) < 1e-6F && fabsf(alpha - 0.2F) < 1e-6F) return put_activation(c, MST_HARD_SIGMOID_KERAS2);
    if (fabsf(beta - 0.5F) < 1e-6F && fabsf(alpha - 1.0F / 6) < 1e-6F) return put_activation(c, MST_HARD_SIGMOID);
    return MST_FAIL(MST_UNIMPLEMENTED, "no layer of Keras has its alpha and beta");
}

static mst_status read_gelu(mst_onnx_layer_call *c) {
    const bool tanh = mst_onnx_is(&c->onnx, "approximate", "tanh", "none");
    return put_activation(c, tanh ? MST_GELU_TANH : MST_GELU);
}

static mst_status read_swish(mst_onnx_layer_call *c) {
    if (mst_onnx_float(&c->onnx, "alpha", 1) != 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "its alpha must be 1 to become a layer");
    return put_activation(c, MST_SWISH);
}

/* Clip from 0 to a number is a relu with a largest value. */
static mst_status read_clip(mst_onnx_layer_call *c) {
    mst_tensor *least, *most;
    MST_TRY(mst_onnx_layer_constant(c, 1, &least));
    MST_TRY(mst_onnx_layer_constant(c, 2, &most));
    if (mst_tensor_count(least) != 1 || mst_tensor_count(most) != 1 || mst_tensor_get(least, 0) != 0 ||
        !(mst_tensor_get(most, 0) > 0))
        return MST_FAIL(MST_UNIMPLEMENTED, "it becomes a layer only from 0 to a number above 0");
    return put_re_lu(c, 0, (float)mst_tensor_get(most, 0));
}

static mst_status read_dropout(mst_onnx_layer_call *c) {
    mst_onnx_layer_value x;
    mst_tensor *ratio = NULL;
    (void)mst_onnx_int(&c->onnx, "seed", 0);
    MST_TRY(mst_onnx_layer_rows(c, 0, &x));
    if (mst_onnx_layer_has(c, 1)) MST_TRY(mst_onnx_layer_constant(c, 1, &ratio));
    const double rate = ratio && mst_tensor_count(ratio) == 1 ? mst_tensor_get(ratio, 0) : 0.5;
    if (!(rate >= 0 && rate < 1)) return MST_FAIL(MST_INVALID, "its ratio is %g: it must be 0 or more, below 1", rate);
    if (x.flat) MST_TRY(mst_onnx_layer_turn(&x));
    x.out = mst_dropout(x.out, .rate = (float)rate);
    return mst_onnx_layer_put(c, x);
}

/* ---- sums and products ---- */

/* A Rescaling by the numbers of TENSOR: factors if SCALES, else terms. INVERSE: 1 / number, or -number. */
static mst_status put_rescaling(mst_onnx_layer_call *c, mst_onnx_layer_value x, const mst_tensor *tensor, bool scales,
                                bool inverse) {
    const int64_t count = mst_tensor_count(tensor);
    mst_tensor *numbers;
    if (x.flat && count > 1) MST_TRY(mst_onnx_layer_turn(&x));
    const int axis = x.last && x.ndim > 2 ? 1 : x.ndim - 1;
    if (mst_tensor_dtype(tensor) != MST_F32 || (count != 1 && (!axis || !is_along(tensor, x.ndim, axis, count))))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its constant becomes a layer only if it is one number of float32, or one for each channel");
    if (count != 1 && x.channels && count != x.channels)
        return MST_FAIL(MST_UNIMPLEMENTED, "its constant has %lld numbers for %lld channels", (long long)count,
                        (long long)x.channels);
    MST_TRY(mst_tensor_create(MST_F32, count == 1 ? MST_SHAPE(1) : MST_SHAPE(count), &numbers));
    for (int64_t i = 0; i < count; i++) {
        const float v = ((const float *)mst_tensor_data(tensor))[i];
        ((float *)mst_tensor_data(numbers))[i] = !inverse ? v : scales ? 1 / v : -v;
    }
    const float one = ((const float *)mst_tensor_data(numbers))[0];
    const bool simple = count == 1 && one != 0; /* 0 means the default */
    if (scales)
        x.out = simple ? mst_rescaling(x.out, .scale = one) : mst_rescaling(x.out, .scales = numbers);
    else
        x.out = simple ? mst_rescaling(x.out, .offset = one) : mst_rescaling(x.out, .offsets = numbers);
    mst_tensor_release(numbers);
    x.not_negative = false;
    return mst_onnx_layer_put(c, x);
}

/* Whether NODE is the operator NAME of the value OF and of a constant, one number near NUMBER. */
static bool is_with_number(const mst_onnx_layer_call *c, const Muster__OnnxNode *node, const char *name, const char *of,
                           double number) {
    if (!node || strcmp(node->op_type, name) != 0 || node->n_input != 2) return false;
    const size_t other = strcmp(node->input[0], of) == 0 ? 1 : 0;
    if (strcmp(node->input[1 - other], of) != 0) return false;
    const double found = mst_onnx_layer_number(c, node->input[other]);
    return fabs(found - number) < 1e-4;
}

/* Recognizes a gelu as PyTorch writes it, x * (1 + erf(x / sqrt(2))) * 0.5, in five nodes that follow one another: the
 * quotient, which is this node, Erf, Add 1, Mul x, Mul 0.5. If they are found, *DONE becomes true, and output 0 of the
 * last node becomes the gelu. */
static mst_status take_gelu(mst_onnx_layer_call *c, mst_onnx_layer_value x, const char *x_name, bool *done) {
    const Muster__OnnxNode *node[5] = {c->onnx.node};
    mst_onnx_layer_call at = *c;
    for (int i = 1; i < 5; i++) {
        at.onnx.node = node[i - 1];
        if (!(node[i] = mst_onnx_layer_only_user(&at)) || node[i]->n_output != 1) return MST_OK;
    }
    const char *product = node[2]->output[0];
    if (strcmp(node[1]->op_type, "Erf") != 0 || !is_with_number(c, node[2], "Add", node[1]->output[0], 1) ||
        strcmp(node[3]->op_type, "Mul") != 0 || node[3]->n_input != 2 ||
        strcmp(node[3]->input[strcmp(node[3]->input[0], product) == 0 ? 1 : 0], x_name) != 0 ||
        !is_with_number(c, node[4], "Mul", node[3]->output[0], 0.5))
        return MST_OK;
    for (int i = 1; i < 5; i++) MST_TRY(mst_names_set(&c->layers->used, node[i]->output[0], 0));
    c->add = node[4];
    *done = true;
    if (x.flat) MST_TRY(mst_onnx_layer_turn(&x));
    x.out = mst_activate(x.out, MST_GELU);
    x.not_negative = false;
    return mst_onnx_layer_put(c, x);
}

static mst_status merge_values(mst_onnx_layer_call *c, mst_onnx_layer_value a, mst_onnx_layer_value b,
                               mst_merge_kind kind) {
    if (a.flat != b.flat || a.flat_channels != b.flat_channels) {
        MST_TRY(mst_onnx_layer_turn(&a));
        MST_TRY(mst_onnx_layer_turn(&b));
    } else if (a.flat) {
        MST_TRY(mst_onnx_layer_turn(&a));
        MST_TRY(mst_onnx_layer_turn(&b));
    }
    if (a.ndim > 2 && a.last != b.last) MST_TRY(mst_onnx_layer_turn(a.last ? &a : &b));
    if (a.ndim != b.ndim)
        return MST_FAIL(MST_UNIMPLEMENTED, "its inputs have %d and %d dimensions: as many become a layer", a.ndim,
                        b.ndim);
    if (!a.channels) a.channels = b.channels;
    a.not_negative &= b.not_negative && kind != MST_MERGE_SUBTRACT;
    a.is_pooled &= b.is_pooled;
    a.out = mst_merge(MST_OUTPUTS(a.out, b.out), kind);
    return mst_onnx_layer_put(c, a);
}

static mst_status read_merge(mst_onnx_layer_call *c) {
    mst_onnx_layer_value a, b;
    const mst_merge_kind kind = op_of(c)->merge;
    const bool scales = kind == MST_MERGE_MULTIPLY || kind == MST_MERGE_DIVIDE,
               inverse = kind == MST_MERGE_SUBTRACT || kind == MST_MERGE_DIVIDE;
    if (c->onnx.node->n_input != 2)
        return MST_FAIL(MST_UNIMPLEMENTED, "it has %zu inputs, and two become a layer", c->onnx.node->n_input);
    MST_TRY(mst_onnx_layer_any(c, 0, &a));
    MST_TRY(mst_onnx_layer_any(c, 1, &b));
    if (mst_names_get(&c->layers->passed, c->onnx.node->output[0]) >= 0)
        return mst_onnx_layer_put(c, a.ndim ? a : b); /* its constant is the bias of a layer before */
    if (a.row || b.row) return mst_onnx_layer_merge_rows(c, a, b, kind);
    if (a.ndim && b.ndim) return merge_values(c, a, b, kind);
    const bool swapped = !a.ndim;
    const mst_onnx_layer_value x = swapped ? b : a, constant = swapped ? a : b;
    if (!x.ndim || !constant.tensor || (swapped && inverse) || kind == MST_MERGE_MAXIMUM || kind == MST_MERGE_MINIMUM)
        return MST_FAIL(MST_UNIMPLEMENTED, "these inputs become no layer");
    bool done = false;
    const char *of = c->onnx.node->input[swapped ? 1 : 0];
    if (scales && is_with_number(c, c->onnx.node, inverse ? "Div" : "Mul", of, inverse ? sqrt(2) : sqrt(0.5)))
        MST_TRY(take_gelu(c, x, of, &done));
    return done ? MST_OK : put_rescaling(c, x, constant.tensor, scales, inverse);
}

static mst_status read_concat(mst_onnx_layer_call *c) {
    mst_outputs list = {.count = 0};
    mst_onnx_layer_value first = {.ndim = 0}, v;
    int64_t channels = 0;
    int axis;
    const size_t count = c->onnx.node->n_input;
    const int64_t wanted = mst_onnx_int(&c->onnx, "axis", 0);
    bool last = true, known = true, not_negative = true;
    size_t sequences = 0, zeros = 0;
    MST_TRY(mst_onnx_layer_raw(c, 0, &first));
    for (size_t i = 0; i < count; i++) {
        MST_TRY(mst_onnx_layer_raw(c, i, &v));
        last &= v.last && v.ndim > 2;
        if (!v.ndim) first.ndim = 0;
        sequences += v.sequence.ndim > 0;
        zeros += v.zeros;
    }
    if (zeros == count) return mst_onnx_layer_put(c, first);
    if (sequences == 2 && count == 2 && first.sequence.direction == 0) return mst_onnx_sequence_concat(c, wanted);
    if (sequences == count && wanted == 0) return mst_onnx_sequence_stack(c);
    if (!first.ndim) { /* a list of sizes */
        mst_onnx_layer_value sizes = {.num_sizes = 0};
        for (size_t i = 0; i < count; i++) {
            int64_t numbers[MST_ONNX_MOST_SIZES];
            int more;
            MST_TRY(mst_onnx_layer_any(c, i, &v));
            if (v.num_sizes) {
                more = v.num_sizes;
                memcpy(numbers, v.size, sizeof numbers);
            } else {
                MST_TRY(mst_onnx_layer_list(c, i, numbers, &more));
            }
            if (sizes.num_sizes + more > MST_ONNX_MOST_SIZES)
                return MST_FAIL(MST_UNIMPLEMENTED, "its sizes are too many");
            memcpy(sizes.size + sizes.num_sizes, numbers, (size_t)more * sizeof *numbers);
            sizes.num_sizes += more;
        }
        return mst_onnx_layer_put(c, sizes);
    }
    MST_TRY(mst_onnx_axis(wanted, first.ndim, &axis));
    if (count > MST_MAX_OUTPUTS || axis != (last ? 1 : first.ndim - 1) || !axis)
        return MST_FAIL(MST_UNIMPLEMENTED, "it becomes a layer only along the channels, of at most %d inputs",
                        MST_MAX_OUTPUTS);
    for (size_t i = 0; i < count; i++) {
        MST_TRY((last ? mst_onnx_layer_input : mst_onnx_layer_plain)(c, i, &v));
        if (v.ndim != first.ndim)
            return MST_FAIL(MST_INVALID, "its inputs have %d and %d dimensions", first.ndim, v.ndim);
        known &= v.channels > 0;
        channels += v.channels;
        not_negative &= v.not_negative;
        list.output[list.count++] = v.out;
    }
    const mst_output out = count > 1 ? mst_concatenate(list) : list.output[0];
    return mst_onnx_layer_put(c, (mst_onnx_layer_value){.out = out,
                                                        .ndim = first.ndim,
                                                        .last = last,
                                                        .channels = known ? channels : 0,
                                                        .not_negative = not_negative});
}

const mst_onnx_layer_op mst_onnx_layer_ops[] = {
    {"Add", .make = read_merge, .merge = MST_MERGE_ADD},
    {"BatchNormalization", .make = read_batch_norm},
    {"Clip", .make = read_clip},
    {"Concat", .make = read_concat},
    {"Div", .make = read_merge, .merge = MST_MERGE_DIVIDE},
    {"Dropout", .make = read_dropout},
    {"Elu", .make = read_elu},
    {"Exp", .make = read_activation, .activation = MST_EXPONENTIAL},
    {"Gather", .make = read_gather},
    {"Gelu", .make = read_gelu},
    {"Gemm", .make = read_gemm},
    {"HardSigmoid", .make = read_hard_sigmoid},
    {"HardSwish", .make = read_activation, .activation = MST_HARD_SILU},
    {"LayerNormalization", .make = read_layer_norm},
    {"LeakyRelu", .make = read_leaky_relu},
    {"LogSoftmax", .make = read_row_activation, .activation = MST_LOG_SOFTMAX},
    {"MatMul", .make = read_matmul},
    {"Max", .make = read_merge, .merge = MST_MERGE_MAXIMUM},
    {"Min", .make = read_merge, .merge = MST_MERGE_MINIMUM},
    {"Mish", .make = read_activation, .activation = MST_MISH},
    {"Mul", .make = read_merge, .merge = MST_MERGE_MULTIPLY},
    {"Relu", .make = read_activation, .activation = MST_RELU},
    {"Selu", .make = read_selu},
    {"Sigmoid", .make = read_activation, .activation = MST_SIGMOID},
    {"Softmax", .make = read_row_activation, .activation = MST_SOFTMAX},
    {"Softplus", .make = read_activation, .activation = MST_SOFTPLUS},
    {"Softsign", .make = read_activation, .activation = MST_SOFTSIGN},
    {"Sub", .make = read_merge, .merge = MST_MERGE_SUBTRACT},
    {"Swish", .make = read_swish},
    {"Tanh", .make = read_activation, .activation = MST_TANH},
    {0},
};
