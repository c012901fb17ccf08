/** permute: the dimensions of each example in another order
 *
 *  src   [n, ...]
 *  dims  numbers of src's dimensions, counted from 1, in their order in dst: MST_AXES(2, 1)
 *  dst   [n, ...]
 *  name  default permute, permute_1, ...
 *
 *  The same as Keras' Permute. The op on values is mst_transpose.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_permute_options {
    int zero_;
    mst_axes dims;
    const char *name;
} mst_layer_permute_options;
#define mst_permute(source, ...) MST_LAYER(permute, source, MST_NAMED_1(mst_layer_permute_options, dims, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_AXES(mst_layer_permute_options, dims, "numbers of dimensions, from 1, in their new order"),
    MST_FIELD_STRING(mst_layer_permute_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status permute_check(const void *options, const char *name) {
    const mst_axes *dims = &((const mst_layer_permute_options *)options)->dims;
    bool seen[MST_MAX_NDIM + 1] = {false};
    if (dims->count < 1 || dims->count >= MST_MAX_NDIM)
        return MST_FAIL(MST_INVALID, "permute '%s': %d dimensions, give 1 to %d", name, (int)dims->count,
                        MST_MAX_NDIM - 1);
    for (int i = 0; i < dims->count; i++) {
        const int32_t dim = dims->axis[i];
        if (dim < 1 || dim > dims->count || seen[dim])
            return MST_FAIL(MST_INVALID, "permute '%s': dims must be the numbers from 1 to %d, each once", name,
                            (int)dims->count);
        seen[dim] = true;
    }
    return MST_OK;
}

static mst_value permute_build(const mst_layer_call *call) {
    const mst_axes *dims = &((const mst_layer_permute_options *)call->options)->dims;
    const int ndim = mst_value_spec(call->src[0]).shape.ndim;
    mst_axes perm = {.count = dims->count + 1};
    if (ndim != perm.count) {
        MST_FAIL(MST_INVALID, "permute '%s': of %d dimensions behind the first, got %d", call->name, (int)dims->count,
                 ndim - 1);
        return mst_layer_fail(call);
    }
    for (int i = 0; i < dims->count; i++) perm.axis[i + 1] = dims->axis[i];
    return mst_transpose(call->src[0], .perm = perm);
}

const mst_layer_type mst_layer_type_permute = {
    .name = "permute",
    .class_name = "Permute",
    .options_size = sizeof(mst_layer_permute_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = permute_check,
    .build = permute_build,
};
