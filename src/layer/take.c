/** take: dst = src[.., indices[i], ..]: some elements of an axis, such as columns of rows
 *
 *  src      any shape with the axis, whose length must be known
 *  indices  i64, [k] in any order, or [], a single index, which removes the axis. Each is from -length to length - 1
 *           of the axis; negative ones count from its end
 *  axis     1 or more, or negative: counted from the end; default -1
 *  name     default take, take_1, ...
 *  dst      src's dtype; src's shape with length k along the axis, or without the axis
 *
 *  In Keras it is the op keras.ops.take, which functional models keep as an op.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_take_options {
    int zero_;
    mst_tensor *indices;
    int axis;
    const char *name;
} mst_layer_take_options;
#define mst_take(source, ...) MST_LAYER(take, source, MST_NAMED_1(mst_layer_take_options, indices, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_TENSOR(mst_layer_take_options, indices, "of the elements"),
    MST_FIELD_I32(mst_layer_take_options, axis, -1, -MST_MAX_NDIM, MST_MAX_NDIM, "of which elements are taken"),
    MST_FIELD_STRING(mst_layer_take_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status take_check(const void *options, const char *name) {
    const mst_tensor *indices = ((const mst_layer_take_options *)options)->indices;
    if (!indices || mst_tensor_dtype(indices) != MST_I64 || mst_tensor_shape(indices).ndim > 1 ||
        mst_tensor_count(indices) < 1)
        return MST_FAIL(MST_INVALID, "take '%s': indices must be i64 [k] or []", name);
    return MST_OK;
}

static mst_status check_indices(const mst_layer_call *call, int axis) {
    const mst_layer_take_options *o = call->options;
    const mst_shape shape = mst_value_spec(call->src[0]).shape;
    char text[MST_SHAPE_TEXT];
    if (axis < 1 || axis >= shape.ndim || shape.dim[axis] < 0)
        return MST_FAIL(MST_INVALID, "take '%s': %s has no axis %d beside the batch whose length is known", call->name,
                        mst_shape_print(shape, text, sizeof text), o->axis);
    for (int64_t i = 0; i < mst_tensor_count(o->indices); i++) {
        const int64_t index = (int64_t)mst_tensor_get(o->indices, i);
        if (index < -shape.dim[axis] || index >= shape.dim[axis])
            return MST_FAIL(MST_INVALID, "take '%s': there is no element %lld along axis %d of %s", call->name,
                            (long long)index, o->axis, mst_shape_print(shape, text, sizeof text));
    }
    return MST_OK;
}

/* Index I, from 0 to LENGTH - 1. */
static int64_t index_of(const mst_tensor *indices, int64_t i, int64_t length) {
    const int64_t index = ((const int64_t *)mst_tensor_data(indices))[i];
    return index < 0 ? index + length : index;
}

static bool are_consecutive(const mst_tensor *indices, int64_t length) {
    for (int64_t i = 1; i < mst_tensor_count(indices); i++)
        if (index_of(indices, i, length) != index_of(indices, i - 1, length) + 1) return false;
    return true;
}

/* For consecutive indices: the slice of X that they select, which is copied in one piece. */
static mst_value slice_of(mst_value x, int axis, const mst_tensor *indices) {
    mst_shape begin = mst_value_spec(x).shape, size = begin;
    const int64_t length = size.dim[axis];
    for (int i = 0; i < size.ndim; i++) begin.dim[i] = 0, size.dim[i] = -1;
    begin.dim[axis] = index_of(indices, 0, length);
    size.dim[axis] = mst_tensor_count(indices);
    const mst_value y = mst_slice(x, begin, size);
    return mst_tensor_shape(indices).ndim ? y : mst_squeeze(y, .axes = MST_AXES(axis));
}

static mst_value gather_of(const mst_layer_call *call, int axis, const mst_tensor *indices) {
    const mst_value x = call->src[0];
    const int64_t length = mst_value_spec(x).shape.dim[axis];
    mst_tensor *from_start;
    if (mst_tensor_create(MST_I64, mst_tensor_shape(indices), &from_start)) return mst_layer_fail(call);
    for (int64_t i = 0; i < mst_tensor_count(indices); i++)
        ((int64_t *)mst_tensor_data(from_start))[i] = index_of(indices, i, length);
    const mst_value y = mst_gather(x, mst_constant(call->graph, from_start), axis);
    mst_tensor_release(from_start);
    return y;
}

static mst_value take_build(const mst_layer_call *call) {
    const mst_layer_take_options *o = call->options;
    const mst_shape shape = mst_value_spec(call->src[0]).shape;
    const int axis = o->axis < 0 ? o->axis + shape.ndim : o->axis;
    if (check_indices(call, axis)) return mst_layer_fail(call);
    if (are_consecutive(o->indices, shape.dim[axis])) return slice_of(call->src[0], axis, o->indices);
    return gather_of(call, axis, o->indices);
}

const mst_layer_type mst_layer_type_take = {
    .name = "take",
    .class_name = "Take",
    .options_size = sizeof(mst_layer_take_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = take_check,
    .build = take_build,
};
