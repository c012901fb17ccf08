#include "model_file/onnx/onnx_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "model_file/onnx/onnx_fold.h"
#include "model_file/onnx/onnx_limit.h"
#include "muster/initializer.h"
#include "muster/layer.h"
#include "muster/ops.h"

/* ---- order of channels ---- */

mst_value mst_onnx_to_last(mst_value plain) {
    const int ndim = mst_value_spec(plain).shape.ndim;
    return ndim < 3 ? plain : mst_transpose(plain, mst_onnx_last_perm(ndim));
}

mst_value mst_onnx_to_plain(mst_value last) {
    const int ndim = mst_value_spec(last).shape.ndim;
    return ndim < 3 ? last : mst_transpose(last, mst_onnx_first_perm(ndim));
}

/* ---- constants ---- */

/* Makes a unique name of a variable from the name of V in the file. */
static mst_status variable_name(mst_onnx_reader *r, const mst_onnx_value *v, const char **out) {
    char *name = mst_arena_string(&r->arena, v->weight);
    for (char *c = name; c && *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_.-", *c)) *c = '_';
    const char *full = name;
    for (int i = 1; full && (!*full || mst_names_get(&r->variables, full) >= 0); i++)
        full = mst_arena_print(&r->arena, "%s_%d", name, i);
    if (!full) return MST_NO_MEMORY("for a name");
    *out = full;
    return mst_names_set(&r->variables, full, 0);
}

static mst_axes in_order(int ndim) {
    mst_axes axes = {.count = ndim};
    for (int i = 0; i < ndim; i++) axes.axis[i] = i;
    return axes;
}

static bool is_in_order(mst_axes perm) {
    bool in_order = true;
    for (int i = 0; i < perm.count; i++) in_order &= perm.axis[i] == i;
    return in_order;
}

static mst_status make_variable(mst_onnx_reader *r, mst_onnx_value *v, mst_shape shape, mst_axes perm) {
    const char *name;
    mst_tensor *tensor;
    mst_shape turned = shape;
    for (int i = 0; i < shape.ndim; i++) turned.dim[i] = shape.dim[perm.axis[i]];
    MST_TRY(variable_name(r, v, &name));
    v->variable = mst_get_variable(r->graph, name, turned, .dtype = mst_tensor_dtype(v->tensor),
                                   .initializer = mst_constant_initializer(0.0), .not_trainable = r->not_trainable);
    v->shape = shape;
    v->perm = perm;
    MST_TRY(mst_graph_check(r->graph));
    if (!r->snapshot) return MST_OK;
    MST_TRY(mst_tensor_turn(v->tensor, shape, perm, &tensor));
    const mst_status status =
        mst_snapshot_add(r->snapshot, NULL, mst_value_name(v->variable), MST_STATE_WEIGHT, tensor);
    mst_tensor_release(tensor);
    return status;
}

/* The variable of V, reshaped to SHAPE and transposed by PERM. There is one variable per V, so that nodes that share a
 * weight share it in training too. */
static mst_status see_variable(mst_onnx_reader *r, mst_onnx_value *v, mst_shape shape, mst_axes perm, mst_value *out) {
    mst_axes back = {.count = v->perm.count};
    if (mst_value_is_none(v->variable)) MST_TRY(make_variable(r, v, shape, perm));
    *out = v->variable;
    if (mst_shape_equal(shape, v->shape) &&
        memcmp(perm.axis, v->perm.axis, (size_t)perm.count * sizeof *perm.axis) == 0)
        return MST_OK;
    for (int i = 0; i < back.count; i++) back.axis[v->perm.axis[i]] = i;
    if (!is_in_order(back)) *out = mst_transpose(*out, back);
    if (!mst_shape_equal(shape, v->shape)) *out = mst_reshape(*out, shape);
    if (!is_in_order(perm)) *out = mst_transpose(*out, perm);
    return mst_graph_check(r->graph);
}

/* The sizes V as a value, which nodes of the graph compute. */
static mst_status make_sizes(const mst_onnx_reader *r, const mst_onnx_value *v, mst_value *out) {
    mst_value size[MST_ONNX_MOST_LIST];
    const int count = (int)mst_tensor_count(v->tensor);
    const int64_t *item = mst_tensor_data(v->tensor);
    size[0] = MST_NONE;
    for (int i = 0; i < count; i++) size[i] = mst_onnx_size_value(r, item[i], v->open);
    *out = mst_tensor_shape(v->tensor).ndim ? mst_reshape(mst_stack(size, count, 0), mst_tensor_shape(v->tensor))
                                            : size[0];
    return mst_graph_check(r->graph);
}

/* The constant V as a value, reshaped to SHAPE and transposed by PERM. A scalar stays a scalar. */
static mst_status make_leaf(mst_onnx_reader *r, mst_onnx_value *v, mst_shape shape, mst_axes perm, mst_value *out) {
    mst_tensor *tensor = v->tensor;
    if (v->open) {
        if (mst_value_is_none(v->plain)) MST_TRY(make_sizes(r, v, &v->plain));
        *out = mst_shape_equal(shape, mst_tensor_shape(tensor)) ? v->plain : mst_reshape(v->plain, shape);
        if (!is_in_order(perm)) *out = mst_transpose(*out, perm);
        return mst_graph_check(r->graph);
    }
    if (r->has_variables && v->weight && mst_dtype_is_float(mst_tensor_dtype(tensor)) && mst_tensor_count(tensor) > 1)
        return see_variable(r, v, shape, perm, out);
    if (mst_shape_equal(shape, mst_tensor_shape(tensor)) && is_in_order(perm))
        mst_tensor_retain(tensor);
    else
        MST_TRY(mst_tensor_turn(v->tensor, shape, perm, &tensor));
    *out = mst_constant(r->graph, tensor);
    mst_tensor_release(tensor);
    return MST_OK;
}

static int ndim_of(const mst_onnx_value *v) {
    if (v->tensor) return mst_tensor_shape(v->tensor).ndim;
    return mst_value_spec(mst_value_is_none(v->plain) ? v->last : v->plain).shape.ndim;
}

static mst_status plain_of(mst_onnx_reader *r, mst_onnx_value *v, mst_value *out) {
    if (mst_value_is_none(v->plain) && !mst_value_is_none(v->last)) v->plain = mst_onnx_to_plain(v->last);
    if (mst_value_is_none(v->plain))
        MST_TRY(make_leaf(r, v, mst_tensor_shape(v->tensor), in_order(ndim_of(v)), &v->plain));
    *out = v->plain;
    return MST_OK;
}

static mst_status last_of(mst_onnx_reader *r, mst_onnx_value *v, mst_value *out) {
    const int ndim = ndim_of(v);
    if (ndim < 3) return plain_of(r, v, out);
    if (mst_value_is_none(v->last) && !mst_value_is_none(v->plain)) v->last = mst_onnx_to_last(v->plain);
    if (mst_value_is_none(v->last))
        MST_TRY(make_leaf(r, v, mst_tensor_shape(v->tensor), mst_onnx_last_perm(ndim), &v->last));
    *out = v->last;
    return MST_OK;
}

/* ---- inputs ---- */

bool mst_onnx_has(const mst_onnx_call *c, size_t i) {
    return i < c->node->n_input && *c->node->input[i];
}

mst_onnx_value *mst_onnx_value_of(const mst_onnx_call *c, size_t i) {
    return &c->reader->value[mst_names_get(&c->reader->names, c->node->input[i])];
}

int64_t mst_onnx_number_of(const mst_onnx_call *c, size_t i) {
    return mst_onnx_has(c, i) ? mst_names_get(&c->reader->names, c->node->input[i]) : -1;
}

mst_status mst_onnx_plain_at(mst_onnx_reader *r, int64_t at, mst_value *out) {
    return plain_of(r, &r->value[at], out);
}

mst_status mst_onnx_plain(const mst_onnx_call *c, size_t i, mst_value *out) {
    if (!mst_onnx_has(c, i)) return MST_FAIL(MST_CORRUPT, "its input %zu is missing: export the model again", i);
    return plain_of(c->reader, mst_onnx_value_of(c, i), out);
}

mst_status mst_onnx_last(const mst_onnx_call *c, size_t i, mst_value *out) {
    if (!mst_onnx_has(c, i)) return MST_FAIL(MST_CORRUPT, "its input %zu is missing: export the model again", i);
    return last_of(c->reader, mst_onnx_value_of(c, i), out);
}

/* The constant V transposed by PERM. The steps of a loop share the result, if they use the same PERM. */
static mst_status turned_in_loop(mst_onnx_reader *r, mst_onnx_value *v, mst_axes perm, mst_value *out) {
    const size_t size = (size_t)perm.count * sizeof *perm.axis;
    const bool again = !mst_value_is_none(v->turned);
    *out = v->turned;
    if (again && memcmp(perm.axis, v->turned_perm.axis, size) == 0) return MST_OK;
    if (again) MST_TRY(mst_onnx_limit_weights(r, (int64_t)mst_tensor_bytes(v->tensor)));
    MST_TRY(make_leaf(r, v, mst_tensor_shape(v->tensor), perm, out));
    v->turned = *out;
    v->turned_perm = perm;
    return MST_OK;
}

mst_status mst_onnx_turned(const mst_onnx_call *c, size_t i, mst_axes perm, mst_value *out) {
    if (!mst_onnx_has(c, i)) return MST_FAIL(MST_CORRUPT, "its input %zu is missing: export the model again", i);
    mst_onnx_value *v = mst_onnx_value_of(c, i);
    if (ndim_of(v) != perm.count)
        return MST_FAIL(MST_INVALID, "its input %zu has %d dimensions, and must have %d", i, ndim_of(v), perm.count);
    if (v->tensor && c->reader->depth) return turned_in_loop(c->reader, v, perm, out);
    if (v->tensor) return make_leaf(c->reader, v, mst_tensor_shape(v->tensor), perm, out);
    MST_TRY(plain_of(c->reader, v, out));
    *out = mst_transpose(*out, perm);
    return MST_OK;
}

bool mst_onnx_is_last(const mst_onnx_call *c, size_t i) {
    const mst_onnx_value *v = mst_onnx_value_of(c, i);
    return mst_value_is_none(v->plain) && !mst_value_is_none(v->last) && ndim_of(v) > 2;
}

int mst_onnx_ndim(const mst_onnx_call *c, size_t i) {
    return ndim_of(mst_onnx_value_of(c, i));
}

static mst_shape shape_of(const mst_onnx_value *v) {
    if (v->tensor) return mst_tensor_shape(v->tensor);
    if (!mst_value_is_none(v->plain)) return mst_value_spec(v->plain).shape;
    const mst_shape last = mst_value_spec(v->last).shape;
    mst_shape shape = last;
    const mst_axes perm = mst_onnx_first_perm(last.ndim);
    for (int k = 0; k < shape.ndim; k++) shape.dim[k] = last.dim[perm.axis[k]];
    return shape;
}

mst_shape mst_onnx_shape_at(const mst_onnx_reader *r, int64_t at) {
    return shape_of(&r->value[at]);
}

mst_shape mst_onnx_shape(const mst_onnx_call *c, size_t i) {
    return shape_of(mst_onnx_value_of(c, i));
}

static mst_dtype dtype_of(const mst_onnx_value *v) {
    if (v->tensor) return v->open ? v->open : mst_tensor_dtype(v->tensor);
    return mst_value_spec(mst_value_is_none(v->plain) ? v->last : v->plain).dtype;
}

mst_dtype mst_onnx_dtype_of(const mst_onnx_call *c, size_t i) {
    return dtype_of(mst_onnx_value_of(c, i));
}

mst_value mst_onnx_result(const mst_onnx_call *c, size_t i, mst_spec *spec) {
    const int64_t at = mst_onnx_wants(c, i) ? mst_names_get(&c->reader->names, c->node->output[i]) : -1;
    if (at < 0) return MST_NONE;
    const mst_onnx_value *v = &c->reader->value[at];
    *spec = (mst_spec){.dtype = dtype_of(v), .shape = shape_of(v)};
    return mst_value_is_none(v->plain) ? v->last : v->plain;
}

mst_status mst_onnx_sizes(const mst_onnx_call *c, size_t i, bool open, int64_t *list, int *count) {
    if (!mst_onnx_has(c, i)) return MST_FAIL(MST_CORRUPT, "its input %zu is missing: export the model again", i);
    const mst_tensor *tensor = mst_onnx_value_of(c, i)->tensor;
    if (!tensor)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its input %zu, '%.100s', must be a constant: other values, known when the model runs, are not "
                        "supported there",
                        i, c->node->input[i]);
    if (mst_tensor_count(tensor) > MST_ONNX_MOST_LIST || mst_dtype_is_float(mst_tensor_dtype(tensor)))
        return MST_FAIL(MST_INVALID, "its input %zu must be a list of at most 64 integers", i);
    if (mst_onnx_value_of(c, i)->open && !open)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its input %zu, '%.100s', depends on a dynamic dimension, whose size is unknown until the "
                        "model runs: export the model with a fixed size",
                        i, c->node->input[i]);
    *count = (int)mst_tensor_count(tensor);
    for (int k = 0; k < *count; k++) {
        list[k] = mst_tensor_dtype(tensor) == MST_I64 ? ((const int64_t *)mst_tensor_data(tensor))[k]
                                                      : (int64_t)mst_tensor_get(tensor, k);
        if (open && mst_onnx_is_open(list[k]) && !mst_onnx_value_of(c, i)->open)
            return MST_FAIL(MST_INVALID, "its input %zu has the size %lld, which is too small", i, (long long)list[k]);
    }
    return MST_OK;
}

mst_status mst_onnx_numbers(const mst_onnx_call *c, size_t i, int64_t *list, int *count) {
    return mst_onnx_sizes(c, i, false, list, count);
}

mst_status mst_onnx_number(const mst_onnx_call *c, size_t i, double *out) {
    if (!mst_onnx_has(c, i)) return MST_FAIL(MST_CORRUPT, "its input %zu is missing: export the model again", i);
    const mst_tensor *tensor = mst_onnx_value_of(c, i)->tensor;
    if (!tensor)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its input %zu, '%.100s', must be a constant: other values, known when the model runs, are not "
                        "supported there",
                        i, c->node->input[i]);
    if (mst_onnx_value_of(c, i)->open)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its input %zu, '%.100s', is the size of a dynamic dimension, unknown until the model runs: "
                        "export the model with a fixed size",
                        i, c->node->input[i]);
    if (mst_tensor_count(tensor) != 1) return MST_FAIL(MST_INVALID, "its input %zu must be one number", i);
    *out = mst_tensor_get(tensor, 0);
    return MST_OK;
}

/* An input of fewer than NDIM dimensions, in the form in which it broadcasts to NDIM dimensions with channels last. */
static mst_status aligned(const mst_onnx_call *c, size_t i, int ndim, mst_value *out) {
    mst_value value;
    MST_TRY(mst_onnx_plain(c, i, &value));
    const mst_shape shape = mst_value_spec(value).shape;
    mst_shape full = {.ndim = ndim};
    for (int k = 0; k < ndim; k++) full.dim[k] = k < ndim - shape.ndim ? 1 : shape.dim[k - (ndim - shape.ndim)];
    *out = value;
    if (shape.ndim == 0) return MST_OK;
    *out = mst_onnx_to_last(mst_reshape(value, full));
    return mst_graph_check(c->reader->graph);
}

/* Whether input I, with NDIM or NDIM - 1 dimensions, is a constant with one number for each channel. */
static bool is_of_channels(const mst_onnx_call *c, size_t i, int ndim) {
    const mst_tensor *tensor = mst_onnx_value_of(c, i)->tensor;
    if (!tensor) return false;
    const mst_shape shape = mst_tensor_shape(tensor);
    if (shape.ndim < ndim - 1 || (shape.ndim == ndim && shape.dim[0] != 1)) return false;
    for (int k = shape.ndim - (ndim - 2); k < shape.ndim; k++)
        if (shape.dim[k] != 1) return false;
    return true;
}

static mst_status channels_of(const mst_onnx_call *c, size_t i, mst_value *out) {
    mst_onnx_value *v = mst_onnx_value_of(c, i);
    if (mst_value_is_none(v->channels))
        MST_TRY(make_leaf(c->reader, v, MST_SHAPE(mst_tensor_count(v->tensor)), MST_AXES(0), &v->channels));
    *out = v->channels;
    return MST_OK;
}

mst_status mst_onnx_operands(const mst_onnx_call *c, size_t count, mst_value *out, bool *last) {
    int ndim = 0;
    *last = false;
    for (size_t i = 0; i < count; i++) {
        if (!mst_onnx_has(c, i)) return MST_FAIL(MST_CORRUPT, "its input %zu is missing: export the model again", i);
        if (mst_onnx_ndim(c, i) > ndim) ndim = mst_onnx_ndim(c, i);
    }
    for (size_t i = 0; i < count; i++) *last |= mst_onnx_is_last(c, i) && mst_onnx_ndim(c, i) == ndim;
    for (size_t i = 0; i < count; i++)
        if (!*last)
            MST_TRY(mst_onnx_plain(c, i, &out[i]));
        else if (is_of_channels(c, i, ndim))
            MST_TRY(channels_of(c, i, &out[i]));
        else if (mst_onnx_ndim(c, i) == ndim)
            MST_TRY(mst_onnx_last(c, i, &out[i]));
        else
            MST_TRY(aligned(c, i, ndim, &out[i]));
    return MST_OK;
}

/* ---- attributes ---- */

const Muster__OnnxAttribute *mst_onnx_attribute(mst_onnx_call *c, const char *name, int type) {
    for (size_t i = 0; i < c->node->n_attribute && i < 64; i++) {
        const Muster__OnnxAttribute *a = c->node->attribute[i];
        if (strcmp(a->name, name) != 0) continue;
        c->looked |= (uint64_t)1 << i;
        if (a->type == type) return a;
        c->mistyped = a;
        return NULL;
    }
    return NULL;
}

int64_t mst_onnx_int(mst_onnx_call *c, const char *name, int64_t otherwise) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, name, MST_ONNX_INT);
    return a ? a->i : otherwise;
}

float mst_onnx_float(mst_onnx_call *c, const char *name, float otherwise) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, name, MST_ONNX_FLOAT);
    return a ? a->f : otherwise;
}

bool mst_onnx_is(mst_onnx_call *c, const char *name, const char *text, const char *otherwise) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, name, MST_ONNX_STRING);
    if (!a) return strcmp(text, otherwise) == 0;
    return a->s.len == strlen(text) && memcmp(a->s.data, text, a->s.len) == 0;
}

mst_status mst_onnx_ints(mst_onnx_call *c, const char *name, int64_t *list, int *count) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, name, MST_ONNX_INTS);
    *count = 0;
    if (!a) return MST_OK;
    if (a->n_ints > MST_ONNX_MOST_LIST)
        return MST_FAIL(MST_INVALID, "its attribute %s has %zu numbers, and at most %d are supported", name, a->n_ints,
                        MST_ONNX_MOST_LIST);
    *count = (int)a->n_ints;
    if (*count) memcpy(list, a->ints, a->n_ints * sizeof *list);
    return MST_OK;
}

mst_status mst_onnx_axis(int64_t axis, int ndim, int *out) {
    if (axis < -ndim || axis >= ndim)
        return MST_FAIL(MST_INVALID, "it has the axis %lld, and its input has %d dimensions", (long long)axis, ndim);
    *out = (int)(axis < 0 ? axis + ndim : axis);
    return MST_OK;
}

static mst_status check_attributes(const mst_onnx_call *c) {
    for (size_t i = 0; i < c->node->n_attribute; i++)
        if (i >= 64 || !(c->looked >> i & 1))
            return MST_FAIL(MST_UNIMPLEMENTED, "its attribute '%.60s' is not supported", c->node->attribute[i]->name);
    return MST_OK;
}

/* ---- outputs ---- */

mst_status mst_onnx_add(mst_onnx_reader *r, mst_onnx_value value, int64_t *at) {
    MST_TRY(mst_grow(&r->value, sizeof *r->value, r->num_values + 1, &r->capacity));
    r->value[ *at = r->num_values++] = value;
    return MST_OK;
}

mst_status mst_onnx_name_value(mst_onnx_reader *r, const char *name, int64_t at) {
    if (mst_names_get(&r->names, name) >= 0)
        return MST_FAIL(MST_CORRUPT,
                        "the value '%.100s' has that name already: names are given once: export the model again", name);
    return mst_names_set(&r->names, name, at);
}

static mst_status name_value(mst_onnx_reader *r, const char *name, mst_onnx_value value) {
    int64_t at;
    MST_TRY(mst_onnx_add(r, value, &at));
    return mst_onnx_name_value(r, name, at);
}

bool mst_onnx_wants(const mst_onnx_call *c, size_t i) {
    return i < c->node->n_output && *c->node->output[i];
}

mst_status mst_onnx_put(mst_onnx_call *c, size_t i, mst_value value) {
    MST_TRY(mst_graph_check(c->reader->graph));
    if (!mst_onnx_wants(c, i)) return MST_OK;
    return name_value(c->reader, c->node->output[i], (mst_onnx_value){.plain = value});
}

mst_status mst_onnx_put_last(mst_onnx_call *c, size_t i, mst_value value) {
    MST_TRY(mst_graph_check(c->reader->graph));
    if (!mst_onnx_wants(c, i)) return MST_OK;
    const bool plain = mst_value_spec(value).shape.ndim < 3;
    return name_value(c->reader, c->node->output[i],
                      plain ? (mst_onnx_value){.plain = value} : (mst_onnx_value){.last = value});
}

mst_status mst_onnx_put_as(mst_onnx_call *c, mst_value value, bool last) {
    return last ? mst_onnx_put_last(c, 0, value) : mst_onnx_put(c, 0, value);
}

/* Gives ownership of TENSOR to the reader. */
static mst_status keep_tensor(mst_onnx_reader *r, mst_tensor *tensor) {
    const mst_status status = mst_grow(&r->made, sizeof *r->made, r->num_made + 1, &r->made_capacity);
    if (status)
        mst_tensor_release(tensor);
    else
        r->made[r->num_made++] = tensor;
    return status;
}

mst_status mst_onnx_add_tensor(mst_onnx_reader *r, mst_tensor *tensor, int64_t *at) {
    MST_TRY(keep_tensor(r, tensor));
    return mst_onnx_add(r, (mst_onnx_value){.tensor = tensor}, at);
}

mst_status mst_onnx_put_tensor(mst_onnx_call *c, mst_tensor *tensor) {
    MST_TRY(keep_tensor(c->reader, tensor));
    if (!mst_onnx_wants(c, 0)) return MST_OK;
    return name_value(c->reader, c->node->output[0], (mst_onnx_value){.tensor = tensor});
}

mst_status mst_onnx_put_constant(mst_onnx_call *c, const mst_onnx_value *v) {
    if (!mst_onnx_wants(c, 0)) return MST_OK;
    return name_value(c->reader, c->node->output[0], (mst_onnx_value){.tensor = v->tensor, .open = v->open});
}

mst_status mst_onnx_put_list(mst_onnx_call *c, const int64_t *list, int count) {
    mst_tensor *tensor;
    const mst_shape shape = count < 0 ? MST_SCALAR : MST_SHAPE(count);
    bool open = false;
    for (int i = 0; i < (count < 0 ? 1 : count); i++) open |= mst_onnx_is_open(list[i]);
    if (open) return mst_onnx_put_open(c, MST_I64, shape, list);
    MST_TRY(mst_tensor_copy(MST_I64, shape, list, &tensor));
    return mst_onnx_put_tensor(c, tensor);
}

mst_status mst_onnx_put_open(mst_onnx_call *c, mst_dtype dtype, mst_shape shape, const int64_t *list) {
    mst_tensor *tensor;
    MST_TRY(mst_tensor_copy(MST_I64, shape, list, &tensor));
    MST_TRY(keep_tensor(c->reader, tensor));
    if (!mst_onnx_wants(c, 0)) return MST_OK;
    return name_value(c->reader, c->node->output[0], (mst_onnx_value){.tensor = tensor, .open = dtype});
}

mst_status mst_onnx_weight(const mst_onnx_call *c, const char *name, mst_shape shape, const float *list,
                           mst_value *out) {
    mst_onnx_reader *r = c->reader;
    const Muster__OnnxNode *node = c->node;
    mst_tensor *tensor;
    MST_TRY(mst_tensor_copy(MST_F32, shape, list, &tensor));
    MST_TRY(keep_tensor(r, tensor));
    const char *of = *node->name || !node->n_output ? node->name : node->output[0];
    mst_onnx_value v = {.tensor = tensor, .weight = mst_arena_print(&r->arena, "%s.%s", of, name)};
    if (!v.weight) return MST_NO_MEMORY("for a name");
    return make_leaf(r, &v, shape, in_order(shape.ndim), out);
}

bool mst_onnx_is_zero(const mst_onnx_call *c, size_t i) {
    const mst_onnx_value *v = mst_onnx_value_of(c, i);
    if (v->is_zero || !v->tensor || v->open) return v->is_zero;
    for (int64_t k = 0; k < mst_tensor_count(v->tensor); k++)
        if (mst_tensor_get(v->tensor, k) != 0) return false;
    return true;
}

/* ---- nodes ---- */

static const mst_onnx_op *find_in(const mst_onnx_op *table, const char *name) {
    for (const mst_onnx_op *op = table; op->name; op++)
        if (strcmp(op->name, name) == 0) return op;
    return NULL;
}

const mst_onnx_op *mst_onnx_find(const char *domain, const char *name) {
    const mst_onnx_op *const tables[] = {mst_onnx_elementwise_ops, mst_onnx_window_ops,    mst_onnx_shape_ops,
                                         mst_onnx_matrix_ops,      mst_onnx_index_ops,     mst_onnx_cell_ops,
                                         mst_onnx_norm_ops,        mst_onnx_scatter_ops,   mst_onnx_loss_ops,
                                         mst_onnx_resize_ops,      mst_onnx_attention_ops, mst_onnx_loop_ops};
    const mst_onnx_op *found = NULL;
    if (strcmp(domain, "ai.onnx.ml") == 0) return find_in(mst_onnx_ml_ops, name);
    if (*domain && strcmp(domain, "ai.onnx") != 0) return NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !found; i++) found = find_in(tables[i], name);
    return found;
}

static mst_status refuse_operator(const Muster__OnnxNode *node) {
    const char *why = strcmp(node->domain, "ai.onnx.ml") == 0 ? mst_onnx_ml_reason(node->op_type) : NULL;
    if (why) return MST_FAIL(MST_UNIMPLEMENTED, "the operator is not supported: %s", why);
    return MST_FAIL(MST_UNIMPLEMENTED, "the operator is not supported");
}

/* Notes that the output is all zeros if the input is, for operators that move or repeat elements. Recurrent operators
 * need this: only initial states of zeros are supported. */
static void keep_zeros(const mst_onnx_call *c) {
    static const char *const moving[] = {"Expand",  "Identity", "Reshape",   "Slice",
                                         "Squeeze", "Tile",     "Transpose", "Unsqueeze"};
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++) {
        if (strcmp(moving[i], c->op->name) != 0 || !mst_onnx_wants(c, 0)) continue;
        const bool zero = mst_onnx_is_zero(c, 0);
        c->reader->value[mst_names_get(&c->reader->names, c->node->output[0])].is_zero |= zero;
    }
    enum { LONGEST = 4096 }; /* elements; larger constants are not searched for zeros */
    bool joined = strcmp(c->op->name, "Concat") == 0 && mst_onnx_wants(c, 0);
    for (size_t i = 0; i < c->node->n_input && joined; i++) {
        const mst_tensor *tensor = mst_onnx_value_of(c, i)->tensor;
        joined = (!tensor || mst_tensor_count(tensor) <= LONGEST) && mst_onnx_is_zero(c, i);
    }
    if (joined) c->reader->value[mst_names_get(&c->reader->names, c->node->output[0])].is_zero = true;
}

static mst_status set_rates(mst_onnx_call *c) {
    for (size_t i = 0; i < c->node->n_output; i++) {
        if (!mst_onnx_wants(c, i)) continue;
        mst_onnx_value *v = &c->reader->value[mst_names_get(&c->reader->names, c->node->output[i])];
        const mst_shape shape = shape_of(v);
        MST_TRY(mst_onnx_output_rate(c, &shape, &v->rate));
    }
    return MST_OK;
}

static mst_status build_node(mst_onnx_reader *r, const Muster__OnnxNode *node) {
    mst_onnx_call c = {.reader = r, .node = node};
    if (!(c.op = mst_onnx_find(node->domain, node->op_type))) return refuse_operator(node);
    for (size_t i = 0; i < node->n_input; i++)
        if (*node->input[i] && mst_names_get(&r->names, node->input[i]) < 0)
            return MST_FAIL(
                MST_CORRUPT,
                "its input '%.100s' is no input, no tensor and no output of an earlier node: export the model again",
                node->input[i]);
    bool folded = false;
    mst_status status = mst_onnx_fold(&c, &folded);
    if (!status && !folded) status = c.op->read(&c);
    if (c.mistyped)
        return MST_FAIL(
            MST_CORRUPT,
            "its attribute '%.60s' is of type %d of ONNX, which is not that of the operator: export the model again",
            c.mistyped->name, (int)c.mistyped->type);
    MST_TRY(status);
    MST_TRY(check_attributes(&c));
    for (size_t i = 0; i < node->n_output; i++)
        if (mst_onnx_wants(&c, i) && mst_names_get(&r->names, node->output[i]) < 0)
            return MST_FAIL(MST_UNIMPLEMENTED, "its output %zu is not supported", i);
    MST_TRY(mst_graph_check(r->graph));
    MST_TRY(mst_onnx_limit_check(&c));
    keep_zeros(&c);
    return c.op->has_graphs ? MST_OK : set_rates(&c); /* values of the graphs have their rates */
}

mst_status mst_onnx_build_node(mst_onnx_reader *r, const Muster__OnnxNode *node) {
    if (!build_node(r, node)) return MST_OK;
    return mst_error_prefix("node '%.100s' (%.60s, opset %lld)",
                            *node->name || !node->n_output ? node->name : node->output[0], node->op_type,
                            (long long)r->file->opset);
}

static mst_status add_initializers(mst_onnx_reader *r) {
    const Muster__OnnxGraph *graph = r->file->graph;
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const char *name = graph->initializer[i]->name;
        MST_TRY(name_value(r, name, (mst_onnx_value){.tensor = r->file->tensor[i], .weight = name}));
    }
    return MST_OK;
}

mst_status mst_onnx_build(mst_onnx_reader *r, const mst_value *input, const bool *input_last, mst_value *output,
                          const bool *output_last) {
    const Muster__OnnxGraph *graph = r->file->graph;
    const size_t num_inputs = mst_onnx_num_inputs(r->file);
    mst_onnx_limit_begin(r, input, num_inputs);
    MST_TRY(add_initializers(r));
    for (size_t i = 0; i < num_inputs; i++) {
        mst_onnx_value v = input_last[i] ? (mst_onnx_value){.last = input[i]} : (mst_onnx_value){.plain = input[i]};
        const mst_shape shape = shape_of(&v);
        MST_TRY(mst_onnx_input_rate(r, i, &shape, &v.rate));
        MST_TRY(name_value(r, mst_onnx_input(r->file, i)->name, v));
    }
    for (size_t i = 0; i < graph->n_node; i++) MST_TRY(mst_onnx_build_node(r, graph->node[i]));
    for (size_t i = 0; i < graph->n_output; i++) {
        const int64_t at = mst_names_get(&r->names, graph->output[i]->name);
        if (at < 0)
            return MST_FAIL(MST_CORRUPT,
                            "its output '%.100s' is made by no node: the file is damaged: export the model again",
                            graph->output[i]->name);
        MST_TRY((output_last[i] ? last_of : plain_of)(r, &r->value[at], &output[i]));
    }
    return mst_graph_check(r->graph);
}

void mst_onnx_reader_free(mst_onnx_reader *r) {
    for (int64_t i = 0; i < r->num_made; i++) mst_tensor_release(r->made[i]);
    free(r->made);
    free(r->open);
    free(r->depends);
    free(r->value);
    mst_names_free(&r->names);
    mst_names_free(&r->variables);
    mst_names_free(&r->dims);
    mst_arena_free(&r->arena);
}
