/** merge: dst = src 0 (+) src 1 (+) ..., element by element
 *
 *  src   two or more outputs of the same shape, or of shapes that broadcast: MST_OUTPUTS(a, b). As in Keras, a source
 *        with fewer dimensions gets dimensions of 1 after the batch: [n, 5] is added to [n, 7, 5] as [n, 1, 5]
 *  kind  MST_MERGE_ADD, ...: sum, difference (of two), product, mean, largest, smallest, quotient (of two)
 *  name  default add, subtract, multiply, average, maximum, minimum or divide, with _1, ...
 *  dst   of the shape that the sources broadcast to; (+) is the operation of `kind`
 */
#ifdef MST_LAYER_HEADER
typedef enum mst_merge_kind {
    MST_MERGE_ADD = 0,
    MST_MERGE_SUBTRACT,
    MST_MERGE_MULTIPLY,
    MST_MERGE_AVERAGE,
    MST_MERGE_MAXIMUM,
    MST_MERGE_MINIMUM,
    MST_MERGE_DIVIDE /**< in Keras the op x / y, not a layer */
} mst_merge_kind;
typedef struct mst_layer_merge_options {
    int zero_;
    mst_merge_kind kind;
    const char *name;
} mst_layer_merge_options;
#define mst_merge(sources, ...) MST_LAYER(merge, sources, MST_NAMED_1(mst_layer_merge_options, kind, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const char *const kind_names[] = {"add",     "subtract", "multiply", "average",
                                         "maximum", "minimum",  "divide",   NULL};

static const mst_field fields[] = {
    MST_FIELD_ENUM(mst_layer_merge_options, kind, 0, kind_names, "what is done with the sources"),
    MST_FIELD_STRING(mst_layer_merge_options, name, "of the layer"),
    MST_FIELD_END,
};

/* Keras has a class for each kind. */
static const char *class_of(const void *options) {
    static const char *const class_name[] = {"Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Divide"};
    return class_name[((const mst_layer_merge_options *)options)->kind];
}

static const char *default_name(const void *options) {
    return kind_names[((const mst_layer_merge_options *)options)->kind];
}

static mst_value join(mst_merge_kind kind, mst_value a, mst_value b) {
    switch (kind) {
        case MST_MERGE_SUBTRACT: return mst_sub(a, b);
        case MST_MERGE_MULTIPLY: return mst_mul(a, b);
        case MST_MERGE_MAXIMUM: return mst_maximum(a, b);
        case MST_MERGE_MINIMUM: return mst_minimum(a, b);
        case MST_MERGE_DIVIDE: return mst_div(a, b);
        default: return mst_add(a, b);
    }
}

/* Adds dimensions of 1 after the batch until SRC has NDIM dimensions. */
static mst_value behind_batch(mst_value src, int ndim) {
    for (int have = mst_value_spec(src).shape.ndim; have > 0 && have < ndim; have++) src = mst_expand_dims(src, 1);
    return src;
}

static mst_value merge_build(const mst_layer_call *call) {
    const mst_merge_kind kind = ((const mst_layer_merge_options *)call->options)->kind;
    if ((kind == MST_MERGE_SUBTRACT || kind == MST_MERGE_DIVIDE) && call->num_src != 2) {
        MST_FAIL(MST_INVALID, "merge '%s': %s one source %s another, has %d", call->name,
                 kind == MST_MERGE_DIVIDE ? "divides" : "subtracts", kind == MST_MERGE_DIVIDE ? "by" : "from",
                 call->num_src);
        return mst_layer_fail(call);
    }
    int ndim = 0;
    for (int i = 0; i < call->num_src; i++) {
        const int own = mst_value_spec(call->src[i]).shape.ndim;
        if (own > ndim) ndim = own;
    }
    mst_value y = behind_batch(call->src[0], ndim);
    for (int i = 1; i < call->num_src; i++) y = join(kind, y, behind_batch(call->src[i], ndim));
    return kind == MST_MERGE_AVERAGE ? mst_scale(y, 1.0 / call->num_src) : y;
}

const mst_layer_type mst_layer_type_merge = {
    .name = "merge",
    .class_name = "Merge",
    .options_size = sizeof(mst_layer_merge_options),
    .fields = fields,
    .min_src = 2,
    .max_src = MST_MAX_OUTPUTS,
    .class_of = class_of,
    .default_name = default_name,
    .build = merge_build,
    .mask = mst_layer_mask_refuse,
    .by_step = true,
};
