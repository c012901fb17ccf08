/** category_encoding: numbers of categories as rows of num_tokens columns, such as dst[.., c] = c == src[..]
 *
 *  src          [n] or [n, ...], numbers from 0 to num_tokens - 1; a float is truncated to a whole number. Any other
 *               number belongs to no category; Keras fails for it
 *  num_tokens   number of categories
 *  output_mode  default MULTI_HOT, as in Keras:
 *               ONE_HOT    [n, ..., num_tokens], a row for each number; a last dimension of 1 is removed
 *               MULTI_HOT  [n, num_tokens], 1 for each category that an example has; dimension 1 is reduced
 *               COUNT      the same, with the number of occurrences instead of 1
 *  name         default category_encoding, category_encoding_1, ...
 *  dst          f32; of src [n] always [n, num_tokens]
 */
#ifdef MST_LAYER_HEADER
typedef enum mst_output_mode {
    MST_OUTPUT_MODE_DEFAULT = 0, /**< the default of the layer */
    MST_OUTPUT_MODE_INT,         /**< the numbers themselves */
    MST_OUTPUT_MODE_ONE_HOT,
    MST_OUTPUT_MODE_MULTI_HOT,
    MST_OUTPUT_MODE_COUNT
} mst_output_mode;
typedef struct mst_layer_category_encoding_options {
    int zero_;
    int64_t num_tokens;
    mst_output_mode output_mode;
    const char *name;
} mst_layer_category_encoding_options;
#define mst_category_encoding(source, ...) \
    MST_LAYER(category_encoding, source, MST_NAMED_1(mst_layer_category_encoding_options, num_tokens, __VA_ARGS__))
#endif
#include "layer/encode.h"
#include "muster/ops.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_category_encoding_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I64, num_tokens, 0, 1, 2147483647, "number of categories"),
    FIELD(ENUM, output_mode, 0, mst_output_mode_names, "form of the output"),
    FIELD(STRING, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status category_encoding_check(const void *options, const char *name) {
    const mst_layer_category_encoding_options *o = options;
    if (o->output_mode != MST_OUTPUT_MODE_INT) return MST_OK;
    return MST_FAIL(MST_INVALID, "category_encoding '%s': output_mode is int: use one_hot, multi_hot or count", name);
}

static mst_value category_encoding_build(const mst_layer_call *call) {
    const mst_layer_category_encoding_options *o = call->options;
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    const bool index = dtype == MST_I32 || dtype == MST_I64;
    return mst_layer_encode(index ? call->src[0] : mst_cast(call->src[0], MST_I32),
                            o->output_mode ? o->output_mode : MST_OUTPUT_MODE_MULTI_HOT, o->num_tokens);
}

const mst_layer_type mst_layer_type_category_encoding = {
    .name = "category_encoding",
    .class_name = "CategoryEncoding",
    .options_size = sizeof(mst_layer_category_encoding_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = category_encoding_check,
    .build = category_encoding_build,
};
