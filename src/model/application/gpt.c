/* Transformers that predict the next token, in the forms of GPT-2 (Radford et al., 2019) and Llama (Touvron et al.,
 * 2023, https://arxiv.org/abs/2302.13971): the options and their defaults. */
#include "base/argument.h"
#include "model/application/gpt_network.h"
#include "model/model.h"
#include "muster/applications.h"

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

static mst_gpt_network gpt_network_of(const mst_gpt_options *o) {
    return (mst_gpt_network){.is_llama = o->llama,
                             .layers = o->layers,
                             .width = o->width,
                             .heads = o->heads,
                             .key_value_heads = o->key_value_heads,
                             .head_length = o->width / o->heads,
                             .inner = o->inner,
                             .vocabulary_size = o->vocabulary_size,
                             .positions = o->positions,
                             .epsilon = o->epsilon,
                             .rotary_base = o->rotary_base,
                             .deviation = 0.02,
                             .embedding_dropout = o->dropout,
                             .residual_dropout = o->dropout,
                             .is_untied = o->untied,
                             .attention_bias = !o->llama,
                             .inner_bias = !o->llama};
}

mst_output mst_gpt_with(mst_model *model, const mst_gpt_options *options) {
    mst_gpt_options o = {.layers = 0};
    const mst_output none = {model, -1};
    if (!model) return (void)mst_argument_null("mst_gpt", "model", __FILE__, __LINE__), none;
    if (model->failure.code) return none;
    if (!options) {
        (void)mst_argument_null("mst_gpt", "options", __FILE__, __LINE__);
        return mst_model_stick(model), none;
    }
    mst_status status = take_options(options, &o);
    if (!status && model->num_nodes > 0)
        status = MST_FAIL(MST_INVALID, "mst_gpt: the model has layers; give it one without any");
    if (status) return mst_model_stick(model), none;
    const mst_gpt_network network = gpt_network_of(&o);
    return mst_gpt_network_add(model, &network, o.positions);
}
