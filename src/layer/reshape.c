/** reshape: dst = each example of src in another shape, in the order of its elements
 *
 *  src           [n, ...]
 *  target_shape  of an example; one dimension may be -1, which follows from the number of elements
 *  dst           [n, target_shape]
 *  name          default reshape, reshape_1, ...
 *
 *  The same as Keras' Reshape. The op on values is mst_reshape.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_reshape_options {
    int zero_;
    mst_shape target_shape;
    const char *name;
    int end_;
} mst_layer_reshape_options;
#define mst_reshape_to(...) MST_RESHAPE_TO_(__VA_ARGS__, .end_ = 0)
#define MST_RESHAPE_TO_(source, shape, ...) \
    MST_LAYER(reshape, source, MST_NAMED(mst_layer_reshape_options, .target_shape = shape, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_SHAPE(mst_layer_reshape_options, target_shape, "of an example"),
    MST_FIELD_STRING(mst_layer_reshape_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status check(const void *options, const char *name) {
    const mst_shape *target = &((const mst_layer_reshape_options *)options)->target_shape;
    if (target->ndim < 0 || target->ndim >= MST_MAX_NDIM)
        return MST_FAIL(MST_INVALID, "reshape '%s': %d dimensions, must be at most %d", name, target->ndim,
                        MST_MAX_NDIM - 1);
    return MST_OK;
}

static mst_value cannot(const mst_layer_call *call, mst_shape src, mst_shape dst, const char *why) {
    char from[MST_SHAPE_TEXT], to[MST_SHAPE_TEXT];
    MST_FAIL(MST_INVALID, "reshape '%s': %s as %s: %s", call->name, mst_shape_print(src, from, sizeof from),
             mst_shape_print(dst, to, sizeof to), why);
    return mst_layer_fail(call);
}

static mst_value reshape_build(const mst_layer_call *call) {
    const mst_shape target = ((const mst_layer_reshape_options *)call->options)->target_shape;
    const mst_shape src = mst_value_spec(call->src[0]).shape;
    mst_shape dst = {.ndim = target.ndim + 1, .dim = {-1}};
    int64_t elements = 1, known = 1;
    int open = 0; /* the dimension of dst that is -1; 0: none is; -1: several are */
    for (int i = 1; i < src.ndim; i++) {
        if (src.dim[i] < 0) return cannot(call, src, target, "only the first dimension may be open");
        elements *= src.dim[i];
    }
    for (int i = 0; i < target.ndim; i++) {
        dst.dim[i + 1] = target.dim[i];
        if (target.dim[i] < 0)
            open = open ? -1 : i + 1;
        else if (__builtin_mul_overflow(known, target.dim[i], &known))
            return cannot(call, src, target, "too many elements");
    }
    if (src.ndim < 1 || open < 0) return cannot(call, src, target, open < 0 ? "two dimensions are -1" : "no examples");
    if (known < 1 || (open ? elements % known : elements - known) != 0)
        return cannot(call, src, target, "an example has another number of elements");
    if (open) dst.dim[open] = elements / known;
    return mst_reshape(call->src[0], dst);
}

const mst_layer_type mst_layer_type_reshape = {
    .name = "reshape",
    .class_name = "Reshape",
    .options_size = sizeof(mst_layer_reshape_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = check,
    .build = reshape_build,
};
