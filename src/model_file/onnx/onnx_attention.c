/* Reads Attention and RotaryEmbedding. Inputs are [n, heads, steps, size], or [n, steps, heads * size] with the heads
 * side by side in the last axis. */
#include <math.h>

#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

enum { KEY = 1, VALUE, MASK, PAST_KEY, PAST_VALUE, LENGTHS };
enum { RAW, CAPPED, WITH_BIAS, PROBABILITIES }; /* what output 3 shows */

typedef struct attention {
    mst_value query, key, value; /* [n, heads, steps, size] */
    mst_value past;              /* i64: how many keys are before the first query; MST_NONE: none */
    mst_value lengths;           /* i64, [n, 1, 1, 1]: the number of keys of each example; MST_NONE: all */
    bool causal;
    int64_t left, right; /* how many keys before and after its own place a query sees; -1: all */
    double scale, cap;   /* cap 0: none */
    int64_t shows;
} attention;

/* ---- inputs ---- */

/* Gives input I, [n, steps, heads * size], the axis of heads: [n, heads, steps, size]. */
static mst_status read_heads(mst_onnx_call *c, size_t i, int64_t heads, mst_value *out) {
    MST_TRY(mst_onnx_plain(c, i, out));
    const mst_shape shape = mst_value_spec(*out).shape;
    if (shape.ndim == 4) return MST_OK;
    const int64_t wide = shape.ndim == 3 ? shape.dim[2] : -1;
    if (heads < 1 || wide < 1 || wide % heads)
        return MST_FAIL(MST_INVALID,
                        "its input %zu has %d dimensions and %lld heads: it must have four, or three and a number of "
                        "heads that divides the last one",
                        i, shape.ndim, (long long)heads);
    if (shape.dim[0] < 0 && shape.dim[1] < 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its input %zu has several dynamic dimensions: export the model with one of them, that of the "
                        "examples",
                        i);
    const mst_value split = mst_reshape(*out, MST_SHAPE(shape.dim[0], shape.dim[1], heads, wide / heads));
    *out = mst_transpose(split, MST_AXES(0, 2, 1, 3));
    return mst_graph_check(c->reader->graph);
}

/* Puts the cached keys or values, input I, before X along the axis of steps. Without input I, X stays. */
static mst_status add_past(mst_onnx_call *c, size_t i, mst_value *x) {
    mst_value pair[2];
    if (!mst_onnx_has(c, i)) return MST_OK;
    MST_TRY(mst_onnx_plain(c, i, &pair[0]));
    pair[1] = *x;
    *x = mst_concat(pair, 2, 2);
    return mst_graph_check(c->reader->graph);
}

static mst_status read_inputs(mst_onnx_call *c, attention *a) {
    const int64_t heads = mst_onnx_int(c, "q_num_heads", 0), others = mst_onnx_int(c, "kv_num_heads", 0);
    mst_value past;
    MST_TRY(read_heads(c, 0, heads, &a->query));
    MST_TRY(read_heads(c, KEY, others, &a->key));
    MST_TRY(read_heads(c, VALUE, others, &a->value));
    if (mst_onnx_has(c, PAST_KEY) != mst_onnx_has(c, PAST_VALUE) ||
        (mst_onnx_has(c, PAST_KEY) && mst_onnx_has(c, LENGTHS)))
        return MST_FAIL(MST_INVALID, "it needs both past_key and past_value, and then no nonpad_kv_seqlen");
    MST_TRY(add_past(c, PAST_KEY, &a->key));
    MST_TRY(add_past(c, PAST_VALUE, &a->value));
    if (mst_onnx_has(c, PAST_KEY)) {
        MST_TRY(mst_onnx_plain(c, PAST_KEY, &past));
        a->past = mst_dim_size(past, 2, MST_I64);
    }
    if (!mst_onnx_has(c, LENGTHS)) return MST_OK;
    MST_TRY(mst_onnx_plain(c, LENGTHS, &a->lengths));
    a->lengths = mst_reshape(mst_cast(a->lengths, MST_I64), MST_SHAPE(-1, 1, 1, 1));
    a->past = mst_sub(a->lengths, mst_dim_size(a->query, 2, MST_I64));
    return mst_graph_check(c->reader->graph);
}

static mst_status read_options(mst_onnx_call *c, attention *a) {
    const int64_t precision = mst_onnx_int(c, "softmax_precision", 0), size = mst_value_spec(a->query).shape.dim[3];
    const mst_dtype dtype = mst_value_spec(a->query).dtype;
    a->causal = mst_onnx_int(c, "is_causal", 0) != 0;
    a->left = mst_onnx_int(c, "left_window_size", -1);
    a->right = mst_onnx_int(c, "right_window_size", -1);
    a->shows = mst_onnx_int(c, "qk_matmul_output_mode", RAW);
    a->cap = (double)mst_onnx_float(c, "softcap", 0);
    a->scale = (double)mst_onnx_float(c, "scale", 0);
    if (size < 1) return MST_FAIL(MST_UNIMPLEMENTED, "its heads must have a fixed size");
    if (a->scale == 0) a->scale = 1 / sqrt((double)size);
    if (!mst_dtype_is_float(dtype) ||
        (precision && precision != mst_onnx_type(MST_F32) && precision != mst_onnx_type(dtype)))
        return MST_FAIL(MST_UNIMPLEMENTED, "its softmax_precision must be float32, or the type of its inputs");
    if (a->left < -1 || a->right < -1 || a->shows < RAW || a->shows > PROBABILITIES || !(a->cap >= 0))
        return MST_FAIL(MST_INVALID,
                        "its window sizes must be at least -1, its qk_matmul_output_mode 0 to 3, its softcap positive");
    return MST_OK;
}

/* Repeats each head of X, so that there are as many as in A's query: h0, h0, h1, h1, ... */
static mst_status repeat_heads(const attention *a, mst_value *x) {
    const int64_t want = mst_value_spec(a->query).shape.dim[1], have = mst_value_spec(*x).shape.dim[1];
    mst_tensor *index;
    if (want == have) return MST_OK;
    if (want < 1 || have < 1 || want % have || want > INT16_MAX)
        return MST_FAIL(MST_INVALID, "it has %lld heads of queries and %lld of keys, which must divide them",
                        (long long)want, (long long)have);
    MST_TRY(mst_tensor_create(MST_I64, MST_SHAPE(want), &index));
    for (int64_t i = 0; i < want; i++) ((int64_t *)mst_tensor_data(index))[i] = i / (want / have);
    *x = mst_gather(*x, mst_constant(mst_value_graph(*x), index), 1);
    mst_tensor_release(index);
    return MST_OK;
}

/* ---- masks ---- */

/* 0 where CONDITION holds, else minus infinity */
static mst_value bias_of(mst_value condition, mst_dtype dtype) {
    mst_graph *graph = mst_value_graph(condition);
    return mst_select(condition, mst_scalar(graph, dtype, 0), mst_scalar(graph, dtype, -INFINITY));
}

static mst_value joined(mst_value bias, mst_value more) {
    return mst_value_is_none(bias) ? more : mst_add(bias, more);
}

/* The mask in input 3 as numbers to be added. Keys beyond its end are masked. */
static mst_status read_mask(mst_onnx_call *c, const attention *a, mst_value *out) {
    const mst_dtype dtype = mst_value_spec(a->query).dtype;
    mst_value mask;
    MST_TRY(mst_onnx_plain(c, MASK, &mask));
    if (mst_value_spec(mask).dtype == MST_BOOL) mask = bias_of(mask, dtype);
    const mst_shape shape = mst_value_spec(mask).shape;
    const int64_t keys = mst_value_spec(a->key).shape.dim[2], given = shape.ndim ? shape.dim[shape.ndim - 1] : 1;
    if (shape.ndim && given >= 0 && keys > given) {
        mst_shape none = {.ndim = shape.ndim}, more = none;
        more.dim[shape.ndim - 1] = keys - given;
        mask = mst_pad(mask, .before = none, .after = more, .value = -INFINITY);
    }
    *out = mask;
    return mst_graph_check(c->reader->graph);
}

/* What is added to the products of queries and keys; MST_NONE: nothing. */
static mst_status read_bias(mst_onnx_call *c, const attention *a, mst_value *out) {
    const mst_dtype dtype = mst_value_spec(a->query).dtype;
    mst_graph *graph = c->reader->graph;
    *out = MST_NONE;
    if (mst_onnx_has(c, MASK)) MST_TRY(read_mask(c, a, out));
    const mst_value key = mst_onnx_numbers_along(mst_transpose(a->key, MST_AXES(0, 1, 3, 2)), 3); /* [1, keys] */
    mst_value query = mst_onnx_numbers_along(a->query, 2);                                        /* [queries, 1] */
    if (!mst_value_is_none(a->past)) query = mst_add(query, a->past);
    if (a->causal) *out = joined(*out, bias_of(mst_less_equal(key, query), dtype));
    const mst_value ahead = mst_sub(key, query);
    if (a->left >= 0)
        *out = joined(*out, bias_of(mst_greater_equal(ahead, mst_scalar(graph, MST_I64, (double)-a->left)), dtype));
    if (a->right >= 0)
        *out = joined(*out, bias_of(mst_less_equal(ahead, mst_scalar(graph, MST_I64, (double)a->right)), dtype));
    if (!mst_value_is_none(a->lengths)) *out = joined(*out, bias_of(mst_less(key, a->lengths), dtype));
    return mst_graph_check(graph);
}

/* ---- attention ---- */

/* softmax(scale Q K^T + bias) V. A query that may see no key gives 0. */
static mst_status read_attention(mst_onnx_call *c) {
    attention a = {.past = MST_NONE, .lengths = MST_NONE};
    mst_value bias, show[PROBABILITIES + 1];
    MST_TRY(read_inputs(c, &a));
    MST_TRY(read_options(c, &a));
    MST_TRY(mst_onnx_put(c, 1, a.key));
    MST_TRY(mst_onnx_put(c, 2, a.value));
    MST_TRY(repeat_heads(&a, &a.key));
    MST_TRY(repeat_heads(&a, &a.value));
    MST_TRY(read_bias(c, &a, &bias));
    show[RAW] = mst_scale(mst_matmul(a.query, a.key, .transpose_b = true), a.scale);
    show[CAPPED] = a.cap > 0 ? mst_scale(mst_tanh(mst_scale(show[RAW], 1 / a.cap)), a.cap) : show[RAW];
    show[WITH_BIAS] = mst_value_is_none(bias) ? show[CAPPED] : mst_add(show[CAPPED], bias);
    show[PROBABILITIES] = mst_softmax(show[WITH_BIAS]);
    if (!mst_value_is_none(bias)) {
        const mst_value most = mst_reduce_max(bias, MST_AXES(-1), .keep_dims = true);
        const mst_value none = mst_equal(most, mst_scalar(c->reader->graph, mst_value_spec(bias).dtype, -INFINITY));
        show[PROBABILITIES] = mst_select(none, mst_zeros_like(show[PROBABILITIES]), show[PROBABILITIES]);
    }
    mst_value y = mst_matmul(show[PROBABILITIES], a.value);
    MST_TRY(mst_graph_check(c->reader->graph));
    if (mst_onnx_ndim(c, 0) == 3) {
        const mst_shape shape = mst_value_spec(y).shape;
        y = mst_reshape(mst_transpose(y, MST_AXES(0, 2, 1, 3)),
                        MST_SHAPE(shape.dim[0], shape.dim[2], shape.dim[1] * shape.dim[3]));
    }
    MST_TRY(mst_onnx_put(c, 0, y));
    return mst_onnx_put(c, 3, show[a.shows]);
}

/* ---- rotary positions ---- */

/* The cosines or sines in input I: [n or 1, steps, 1, half]. */
static mst_status read_cache(mst_onnx_call *c, size_t i, mst_value *out) {
    enum { POSITIONS = 3 };
    mst_value at;
    MST_TRY(mst_onnx_plain(c, i, out));
    if (mst_onnx_has(c, POSITIONS)) {
        MST_TRY(mst_onnx_plain(c, POSITIONS, &at));
        *out = mst_gather(*out, at, 0);
    }
    *out = mst_expand_dims(*out, 2);
    return mst_graph_check(c->reader->graph);
}

/* COUNT elements of the last of the four axes of X, from BEGIN on with steps of STEP. */
static mst_value part_of_last(mst_value x, int64_t begin, int64_t count, int64_t step) {
    const mst_strided_slice_options o = {.src = x,
                                         .begin = MST_AXES(0, 0, 0, (int)begin),
                                         .end = MST_AXES(0, 0, 0, (int)(begin + (count - 1) * step + 1)),
                                         .strides = MST_AXES(1, 1, 1, (int)step),
                                         .begin_mask = 7,
                                         .end_mask = 7};
    return mst_strided_slice_with(o);
}

/* Turns pairs of numbers, (a, b), by the angle of their step: (a cos - b sin, a sin + b cos). The pairs are neighbours,
 * or the halves of each head. Numbers beyond rotary_embedding_dim stay. */
static mst_status read_rotary(mst_onnx_call *c) {
    mst_value x, cosine, sine, part[2];
    const bool pairs = mst_onnx_int(c, "interleaved", 0) != 0;
    const int64_t heads = mst_onnx_int(c, "num_heads", 0), given = mst_onnx_int(c, "rotary_embedding_dim", 0);
    MST_TRY(read_heads(c, 0, heads, &x));
    x = mst_transpose(x, MST_AXES(0, 2, 1, 3));
    const mst_shape shape = mst_value_spec(x).shape; /* [n, steps, heads, size] */
    const int64_t size = shape.dim[3], turned = given ? given : size, half = turned / 2;
    if (size < 2 || size > INT32_MAX || turned < 2 || turned > size || turned % 2)
        return MST_FAIL(MST_INVALID,
                        "its rotary_embedding_dim is %lld, and its heads have the size %lld: it must be even, and at "
                        "most that size",
                        (long long)turned, (long long)size);
    MST_TRY(read_cache(c, 1, &cosine));
    MST_TRY(read_cache(c, 2, &sine));
    const mst_value a = part_of_last(x, 0, half, pairs ? 2 : 1),
                    b = part_of_last(x, pairs ? 1 : half, half, pairs ? 2 : 1);
    part[0] = mst_sub(mst_mul(cosine, a), mst_mul(sine, b));
    part[1] = mst_add(mst_mul(sine, a), mst_mul(cosine, b));
    part[0] = pairs ? mst_reshape_like(mst_stack(part, 2, 4), part_of_last(x, 0, turned, 1)) : mst_concat(part, 2, 3);
    if (turned < size) part[1] = part_of_last(x, turned, size - turned, 1);
    x = turned < size ? mst_concat(part, 2, 3) : part[0];
    MST_TRY(mst_graph_check(c->reader->graph));
    if (mst_onnx_ndim(c, 0) == 4) return mst_onnx_put(c, 0, mst_transpose(x, MST_AXES(0, 2, 1, 3)));
    return mst_onnx_put(c, 0, mst_reshape(x, MST_SHAPE(shape.dim[0], shape.dim[1], shape.dim[2] * size)));
}

const mst_onnx_op mst_onnx_attention_ops[] = {
    {"Attention", .read = read_attention},
    {"RotaryEmbedding", .read = read_rotary},
    {0},
};
