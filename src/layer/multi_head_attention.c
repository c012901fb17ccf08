/** multi_head_attention: each query gives a mean of the values, weighted by how similar their keys are to the query
 *
 *  src          query [n, targets, features]; or query and value; or query, value and key. Value and key are
 *               [n, steps, features]. Without a key, the value is the key; without a value, the query is both
 *  num_heads    number of heads, which compute independently
 *  key_dim      length of the queries and keys of a head
 *  value_dim    length of the values of a head, default key_dim
 *  output_dim   length of the output, default that of the query
 *  dropout      fraction of the weights that is dropped in training, below 1
 *  no_bias      leaves the biases out
 *  causal       step i sees only steps 0 to i: Keras' use_causal_mask
 *  name         default multi_head_attention, multi_head_attention_1, ...
 *  num_key_value_heads
 *               number of heads of keys and values, which divides num_heads (grouped-query attention). Each of them is
 *               shared by num_heads / num_key_value_heads neighbouring heads of queries; default num_heads
 *  rotary_base  not 0: queries and keys are rotated by mst_rotary_embedding with this base; Llama has 10000
 *  dst          [n, targets, output_dim]
 *
 *  Weights: query/kernel [features, heads, key_dim], query/bias [heads, key_dim], key/... likewise, value/... with
 *  value_dim, both with num_key_value_heads heads, attention_output/kernel [heads, value_dim, output_dim],
 *  attention_output/bias [output_dim]. https://arxiv.org/abs/1706.03762
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_multi_head_attention_options {
    int zero_;
    int64_t num_heads, key_dim;
    int64_t value_dim, output_dim;
    float dropout;
    uint64_t seed; /**< of the dropout; 0: made from the layer's name */
    bool no_bias;
    bool causal;
    mst_initializer kernel_initializer; /**< default glorot_uniform */
    mst_initializer bias_initializer;   /**< default zeros; glorot_uniform counts as not given */
    const char *name;
    int64_t num_key_value_heads;
    double rotary_base;
    /** Of all kernels, and of all biases, after each step; default none. */
    mst_constraint kernel_constraint, bias_constraint;
} mst_layer_multi_head_attention_options;
#define mst_multi_head_attention(sources, ...) \
    MST_LAYER(multi_head_attention, sources,   \
              MST_NAMED_2(mst_layer_multi_head_attention_options, num_heads, key_dim, __VA_ARGS__))
#endif
#include "graph/field.h"
#include "layer/affine.h"
#include "layer/initializer/initializer.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"
#include "rule/constraint.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_multi_head_attention_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I64, num_heads, 0, 1, 1e6, "that look side by side"),
    FIELD(I64, key_dim, 0, 1, 1e9, "length of queries and keys"),
    FIELD(I64, value_dim, 0, 0, 1e9, "length of values; 0: key_dim"),
    FIELD(I64, output_dim, 0, 0, 1e9, "length of what it gives; 0: that of the query"),
    FIELD(F32, dropout, 0, 0, 0x1.fffffep-1, "part of the weights that is dropped, below 1"),
    FIELD(U64, seed, "of the dropout; 0: made from the layer's name"),
    FIELD(BOOL, no_bias, "leaves the biases out"),
    FIELD(BOOL, causal, "a step sees those up to it only"),
    FIELD(NESTED, kernel_initializer, mst_initializer_fields, "of the kernels"),
    FIELD(NESTED, bias_initializer, mst_initializer_fields, "of the biases"),
    FIELD(STRING, name, "of the layer"),
    FIELD(I64, num_key_value_heads, 0, 0, 1e6, "heads of keys and values; 0: num_heads"),
    FIELD(F64, rotary_base, 0, 0, 1e30, "of the angles by which positions turn queries and keys; 0: they do not"),
    FIELD(NESTED, kernel_constraint, mst_constraint_fields, "of the kernels"),
    FIELD(NESTED, bias_constraint, mst_constraint_fields, "of the biases"),
    MST_FIELD_END,
};

enum { QUERY, KEY, VALUE, OUTPUT, NUM_PARTS };
static const char *const names[NUM_PARTS][2] = {{"query/kernel", "query/bias"},
                                                {"key/kernel", "key/bias"},
                                                {"value/kernel", "value/bias"},
                                                {"attention_output/kernel", "attention_output/bias"}};

/* The source from which PART, the query, key or value, is made. */
static mst_value source_of(const mst_layer_call *call, int part) {
    const mst_value value = call->src[call->num_src > 1 ? 1 : 0];
    return part == QUERY ? call->src[0] : part == KEY && call->num_src > 2 ? call->src[2] : value;
}

static int64_t length_of(const mst_layer_multi_head_attention_options *o, int part) {
    return part == VALUE && o->value_dim ? o->value_dim : o->key_dim;
}

/* The number of heads of PART. */
static int64_t heads_in(const mst_layer_multi_head_attention_options *o, int part) {
    const bool grouped = (part == KEY || part == VALUE) && o->num_key_value_heads;
    return grouped ? o->num_key_value_heads : o->num_heads;
}

static mst_status multi_head_attention_check(const void *options, const char *name) {
    const mst_layer_multi_head_attention_options *o = options;
    if (o->num_key_value_heads && o->num_heads % o->num_key_value_heads)
        return MST_FAIL(MST_INVALID, "multi_head_attention '%s': num_key_value_heads %lld must divide num_heads %lld",
                        name, (long long)o->num_key_value_heads, (long long)o->num_heads);
    if (o->rotary_base != 0 && o->key_dim % 2)
        return MST_FAIL(MST_INVALID, "multi_head_attention '%s': with rotary_base key_dim must be even, it is %lld",
                        name, (long long)o->key_dim);
    return MST_OK;
}

static void add_part(mst_layer_call *call, int part, mst_shape kernel, mst_shape bias) {
    const mst_layer_multi_head_attention_options *o = call->options;
    const mst_dtype dtype = mst_value_spec(call->src[0]).dtype;
    mst_layer_weight(call, .name = names[part][0], .shape = kernel, .dtype = dtype,
                     .initializer = o->kernel_initializer, .constraint = o->kernel_constraint);
    if (!o->no_bias)
        mst_layer_weight(call, .name = names[part][1], .shape = bias, .dtype = dtype,
                         .initializer = mst_initializer_or(o->bias_initializer, mst_zeros_initializer()),
                         .constraint = o->bias_constraint);
}

static mst_status multi_head_attention_weights(mst_layer_call *call) {
    const mst_layer_multi_head_attention_options *o = call->options;
    int64_t given = o->output_dim;
    for (int part = QUERY; part < OUTPUT; part++) {
        const mst_shape shape = mst_value_spec(source_of(call, part)).shape;
        const int64_t length = length_of(o, part);
        if (shape.ndim != 3 || shape.dim[1] < 0 || shape.dim[2] < 1)
            return MST_FAIL(MST_INVALID,
                            "multi_head_attention '%s': needs [n, steps, features] with steps and features that are "
                            "known, got %d dimensions",
                            call->name, shape.ndim);
        add_part(call, part, MST_SHAPE(shape.dim[2], heads_in(o, part), length), MST_SHAPE(heads_in(o, part), length));
        if (part == QUERY && !given) given = shape.dim[2];
    }
    add_part(call, OUTPUT, MST_SHAPE(o->num_heads, length_of(o, VALUE), given), MST_SHAPE(given));
    return MST_OK;
}

static mst_value bias_of(const mst_layer_call *call, int part, int64_t columns) {
    const bool none = ((const mst_layer_multi_head_attention_options *)call->options)->no_bias;
    return none ? MST_NONE : mst_reshape(call->weight[2 * part + 1], MST_SHAPE(columns));
}

static mst_value kernel_of(const mst_layer_call *call, int part, int64_t rows, int64_t columns) {
    const bool none = ((const mst_layer_multi_head_attention_options *)call->options)->no_bias;
    return mst_reshape(call->weight[none ? part : 2 * part], MST_SHAPE(rows, columns));
}

/* The query, key or value of all its heads: [n, heads, steps, length]. */
static mst_value heads_of(const mst_layer_call *call, int part) {
    const mst_layer_multi_head_attention_options *o = call->options;
    const mst_value src = source_of(call, part);
    const mst_shape shape = mst_value_spec(src).shape;
    const int64_t length = length_of(o, part), columns = heads_in(o, part) * length;
    const mst_value y = mst_affine(src, kernel_of(call, part, shape.dim[2], columns), bias_of(call, part, columns),
                                   MST_PRECISION_DEFAULT);
    const mst_value heads = mst_reshape(y, MST_SHAPE(-1, shape.dim[1], heads_in(o, part), length));
    const mst_value turned = mst_transpose(heads, .perm = MST_AXES(0, 2, 1, 3));
    if (o->rotary_base == 0 || part == VALUE) return turned;
    const mst_value places = call->steps ? mst_cast(call->steps->place, mst_value_spec(src).dtype) : MST_NONE;
    return mst_rotary_embedding(turned, .base = o->rotary_base, .positions = places);
}

/* The result of all heads if call->steps is given: the keys and values of earlier steps are read from variables. */
static mst_value attend_by_step(const mst_layer_call *call) {
    const mst_layer_multi_head_attention_options *o = call->options;
    const mst_layer_steps *steps = call->steps;
    for (int i = 1; i < call->num_src || !o->causal; i++)
        if (!o->causal || !mst_value_equal(call->src[0], call->src[i]))
            return mst_value_fail(call->graph, MST_UNIMPLEMENTED,
                                  "multi_head_attention '%s': to write step by step it must be causal, and look at its "
                                  "own source only",
                                  call->name);
    const mst_value query = heads_of(call, QUERY), key = heads_of(call, KEY), value = heads_of(call, VALUE);
    const mst_dtype dtype = mst_value_spec(value).dtype;
    const int64_t heads = heads_in(o, KEY), capacity = steps->capacity;
    const mst_value keys = steps->cache(steps->context, MST_SHAPE(1, heads, capacity, length_of(o, KEY)), dtype);
    const mst_value values = steps->cache(steps->context, MST_SHAPE(1, heads, capacity, length_of(o, VALUE)), dtype);
    steps->keep(steps->context, keys, key);
    steps->keep(steps->context, values, value);
    return mst_cached_attention(query, key, value, .past_key = keys, .past_value = values, .past = steps->first);
}

static mst_value attend(const mst_layer_call *call) {
    const mst_layer_multi_head_attention_options *o = call->options;
    return mst_scaled_dot_product_attention(heads_of(call, QUERY), heads_of(call, KEY), heads_of(call, VALUE),
                                            .causal = o->causal, .dropout = call->training ? o->dropout : 0,
                                            .seed = o->seed);
}

static mst_value multi_head_attention_build(const mst_layer_call *call) {
    const mst_layer_multi_head_attention_options *o = call->options;
    const mst_shape query = mst_value_spec(call->src[0]).shape;
    const int64_t given = o->output_dim ? o->output_dim : query.dim[2], columns = o->num_heads * length_of(o, VALUE);
    const mst_value heads = call->steps ? attend_by_step(call) : attend(call);
    const mst_value rows =
        mst_reshape(mst_transpose(heads, .perm = MST_AXES(0, 2, 1, 3)), MST_SHAPE(-1, query.dim[1], columns));
    return mst_affine(rows, kernel_of(call, OUTPUT, columns, given), bias_of(call, OUTPUT, given),
                      MST_PRECISION_DEFAULT);
}

const mst_layer_type mst_layer_type_multi_head_attention = {
    .name = "multi_head_attention",
    .class_name = "MultiHeadAttention",
    .options_size = sizeof(mst_layer_multi_head_attention_options),
    .fields = fields,
    .check = multi_head_attention_check,
    .min_src = 1,
    .max_src = 3,
    .weights = multi_head_attention_weights,
    .build = multi_head_attention_build,
    .mask = mst_layer_mask_refuse,
    .by_step = true,
};
