/* Transformers that predict the next token, in the forms of GPT-2 (Radford et al., 2019) and Llama (Touvron et al.,
 * 2023, https://arxiv.org/abs/2302.13971). */
#include "base/argument.h"
#include "model/application/application.h"
#include "model/model.h"

#define TOKENS "token_embedding"

static mst_status check_positive(const char *name, int64_t value) {
    if (value >= 1 && value <= INT32_MAX) return MST_OK;
    return MST_FAIL(MST_INVALID, "mst_gpt: %s is %lld, must be 1 to 2147483647", name, (long long)value);
}

static int64_t number_or(int64_t given, int64_t otherwise) {
    return given ? given : otherwise;
}

/* The units of the inner layers: 4 times the width; in Llama two thirds of that, in multiples of 256. */
static int64_t inner_units(const mst_gpt_options *o) {
    enum { MULTIPLE = 256 };
    const int64_t units = 4 * o->width;
    return o->llama ? (2 * units / 3 + MULTIPLE - 1) / MULTIPLE * MULTIPLE : units;
}

/* Sets the defaults of O, and checks it. */
static mst_status take_options(const mst_gpt_options *given, mst_gpt_options *o) {
    if (!given) return mst_argument_null("mst_gpt", "options", __FILE__, __LINE__);
    *o = *given;
    o->layers = number_or(o->layers, 12);
    o->width = number_or(o->width, 768);
    o->heads = number_or(o->heads, 12);
    o->vocabulary_size = number_or(o->vocabulary_size, 50257);
    o->positions = number_or(o->positions, 1024);
    o->key_value_heads = number_or(o->key_value_heads, o->heads);
    MST_TRY(check_positive("layers", o->layers));
    MST_TRY(check_positive("width", o->width));
    MST_TRY(check_positive("heads", o->heads));
    MST_TRY(check_positive("vocabulary_size", o->vocabulary_size));
    MST_TRY(check_positive("positions", o->positions));
    MST_TRY(check_positive("key_value_heads", o->key_value_heads));
    o->inner = number_or(o->inner, inner_units(o));
    MST_TRY(check_positive("inner", o->inner));
    if (o->epsilon == 0) o->epsilon = 1e-5F;
    if (o->rotary_base == 0) o->rotary_base = 10000;
    if (!(o->dropout >= 0 && o->dropout < 1))
        return MST_FAIL(MST_INVALID, "mst_gpt: dropout is %g, must be at least 0 and below 1", (double)o->dropout);
    if (o->width % o->heads || o->heads % o->key_value_heads)
        return MST_FAIL(MST_INVALID, "mst_gpt: width %lld must be a multiple of heads %lld, and these of %lld",
                        (long long)o->width, (long long)o->heads, (long long)o->key_value_heads);
    if (o->llama && o->width / o->heads % 2)
        return MST_FAIL(MST_INVALID,
                        "mst_gpt: width %lld must be an even multiple of heads %lld: its positions turn "
                        "pairs",
                        (long long)o->width, (long long)o->heads);
    return MST_OK;
}

static mst_initializer small_values(void) {
    return mst_random_normal_initializer(.stddev = 0.02);
}

static mst_output normalized(mst_output x, const mst_gpt_options *o, const char *name) {
    return o->llama ? mst_rms_normalization(x, .epsilon = o->epsilon, .name = name)
                    : mst_layer_normalization(x, .epsilon = o->epsilon, .name = name);
}

static mst_output dense(mst_output x, const mst_gpt_options *o, int64_t units, mst_activation activation,
                        const char *name) {
    return mst_dense(x, units, .activation = activation, .no_bias = o->llama, .kernel_initializer = small_values(),
                     .name = name);
}

/* X plus PART, some of which is dropped in training. */
static mst_output added(mst_output x, mst_output part, const mst_gpt_options *o, const char *name) {
    if (o->dropout > 0) part = mst_dropout(part, o->dropout);
    return mst_merge(MST_OUTPUTS(x, part), MST_MERGE_ADD, .name = name);
}

static mst_output block(mst_output x, const mst_gpt_options *o, int64_t i) {
    const long long n = (long long)i;
    const mst_output seen = normalized(x, o, LAYER_NAME("block_%lld_norm_1", n));
    const mst_output heads = mst_multi_head_attention(
        seen, o->heads, o->width / o->heads, .causal = true, .no_bias = o->llama,
        .num_key_value_heads = o->key_value_heads, .rotary_base = o->llama ? o->rotary_base : 0,
        .kernel_initializer = small_values(), .name = LAYER_NAME("block_%lld_attention", n));
    x = added(x, heads, o, LAYER_NAME("block_%lld_add_1", n));
    const mst_output y = normalized(x, o, LAYER_NAME("block_%lld_norm_2", n));
    mst_output inner = dense(y, o, o->inner, o->llama ? MST_SWISH : MST_GELU_TANH,
                             LAYER_NAME(o->llama ? "block_%lld_gate" : "block_%lld_inner", n));
    if (o->llama) {
        const mst_output up = dense(y, o, o->inner, MST_LINEAR, LAYER_NAME("block_%lld_inner", n));
        inner = mst_merge(MST_OUTPUTS(inner, up), MST_MERGE_MULTIPLY, .name = LAYER_NAME("block_%lld_swiglu", n));
    }
    return added(x, dense(inner, o, o->width, MST_LINEAR, LAYER_NAME("block_%lld_outer", n)), o,
                 LAYER_NAME("block_%lld_add_2", n));
}

mst_output mst_gpt_with(mst_model *model, const mst_gpt_options *options) {
    mst_gpt_options o = {.layers = 0};
    const mst_output none = {model, -1};
    if (!model) return (void)mst_argument_null("mst_gpt", "model", __FILE__, __LINE__), none;
    if (model->failure.code) return none;
    mst_status status = take_options(options, &o);
    if (!status && model->num_nodes > 0)
        status = MST_FAIL(MST_INVALID, "mst_gpt: the model has layers; give it one without any");
    if (status) {
        mst_model_stick(model);
        return none;
    }
    mst_output x = mst_input(model, MST_SHAPE(o.positions), .dtype = MST_I32);
    x = mst_embedding(x, o.vocabulary_size, o.width, .initializer = small_values(), .name = TOKENS);
    if (!o.llama) x = mst_position_embedding(x, .sequence_length = o.positions, .initializer = small_values());
    if (o.dropout > 0) x = mst_dropout(x, o.dropout);
    for (int64_t i = 1; i <= o.layers; i++) x = block(x, &o, i);
    x = normalized(x, &o, "norm");
    if (o.untied)
        return mst_dense(x, o.vocabulary_size, .no_bias = true, .kernel_initializer = small_values(), .name = "logits");
    return mst_embedding_logits(x, TOKENS, .name = "logits");
}
