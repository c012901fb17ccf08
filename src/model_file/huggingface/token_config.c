/* Keys that do not change what is computed, such as those for generating text, are not looked at. Keys that would
 * change it, and that Muster does not have, must have the value with which they do nothing. */
#include "model_file/huggingface/token_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json_text.h"
#include "base/no_memory.h"
#include "base/number.h"

/* The largest numbers that are taken. With them no product of two sizes overflows. */
enum { MOST_LAYERS = 1000, MOST_SIZE = 1 << 24, MOST_ROWS = INT32_MAX, SHOWN = 80 };

typedef struct config_reader {
    const char *name; /* of the file */
    const json_t *json;
} config_reader;

/* ---- values ---- */

/* Writes VALUE in printable form. */
static const char *config_text(const json_t *value, char shown[SHOWN]) {
    char *text = mst_json_line(value, JSON_COMPACT | JSON_ENCODE_ANY);
    mst_escape_line(text ? text : "?", text ? strlen(text) : 1, shown, SHOWN);
    free(text);
    return shown;
}

static mst_status not_taken(const config_reader *r, const char *key, const json_t *value) {
    char shown[SHOWN];
    return MST_FAIL(MST_UNIMPLEMENTED, "'%s': has \"%s\": %s, which Muster does not have", r->name, key,
                    config_text(value, shown));
}

/* The value of KEY; NULL if it is missing or null. */
static const json_t *config_value(const config_reader *r, const char *key) {
    const json_t *value = json_object_get(r->json, key);
    return json_is_null(value) ? NULL : value;
}

/* Reads a number from 1 to MOST. If KEY is missing, *OUT becomes OTHERWISE; if that is 0, it is an error. */
static mst_status read_size(const config_reader *r, const char *key, int64_t otherwise, int64_t most, int64_t *out) {
    const json_t *value = config_value(r, key);
    char shown[SHOWN];
    *out = otherwise;
    if (!value && otherwise) return MST_OK;
    if (!value) return MST_FAIL(MST_INVALID, "'%s': lacks \"%s\"", r->name, key);
    *out = json_integer_value(value);
    if (json_is_integer(value) && *out >= 1 && *out <= most) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': \"%s\" is %s, must be a whole number from 1 to %lld", r->name, key,
                    config_text(value, shown), (long long)most);
}

/* Reads a number of VALUE, from LEAST to MOST. */
static mst_status config_number(const config_reader *r, const char *key, const json_t *value, double otherwise,
                                double least, double most, double *out) {
    char shown[SHOWN];
    *out = value ? json_number_value(value) : otherwise;
    if ((!value || json_is_number(value)) && *out >= least && *out <= most) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': \"%s\" is %s, must be a number from %g to %g", r->name, key,
                    config_text(value, shown), least, most);
}

static mst_status read_f32(const config_reader *r, const char *key, double otherwise, double least, double most,
                           float *out) {
    double value;
    MST_TRY(config_number(r, key, config_value(r, key), otherwise, least, most, &value));
    *out = (float)value;
    return MST_OK;
}

static mst_status read_dropout(const config_reader *r, const char *key, double otherwise, float *out) {
    return read_f32(r, key, otherwise, 0, 0.999, out);
}

static mst_status read_bool(const config_reader *r, const char *key, bool otherwise, bool *out) {
    const json_t *value = config_value(r, key);
    char shown[SHOWN];
    *out = value ? json_is_true(value) : otherwise;
    if (!value || json_is_boolean(value)) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': \"%s\" is %s, must be true or false", r->name, key, config_text(value, shown));
}

/* Whether VALUE does nothing: it is missing, null, false, or empty. */
static bool is_nothing(const json_t *value) {
    return !value || json_is_false(value) || (json_is_object(value) && !json_object_size(value)) ||
           (json_is_array(value) && !json_array_size(value));
}

/* Refuses keys that have a value with which they do something. */
static mst_status refuse_others(const config_reader *r) {
    static const char *const keys[] = {
        "quantization_config", "sliding_window",          "use_sliding_window",    "attention_chunk_size",
        "add_cross_attention", "is_encoder_decoder",      "pruned_heads",          "num_local_experts",
        "num_experts",         "final_logit_softcapping", "attn_logit_softcapping"};
    const json_t *types = config_value(r, "layer_types"), *type;
    size_t i;
    for (i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!is_nothing(config_value(r, keys[i]))) return not_taken(r, keys[i], config_value(r, keys[i]));
    if (types && !json_is_array(types)) return not_taken(r, "layer_types", types);
    json_array_foreach(types, i, type) {
        const char *text = json_string_value(type);
        if (!text || strcmp(text, "full_attention") != 0) return not_taken(r, "layer_types", types);
    }
    return MST_OK;
}

/* Refuses KEY unless it is missing or one of the texts A and B. */
static mst_status want_text(const config_reader *r, const char *key, const char *a, const char *b) {
    const json_t *value = config_value(r, key);
    const char *text = json_string_value(value);
    if (!value || (text && (strcmp(text, a) == 0 || strcmp(text, b) == 0))) return MST_OK;
    return not_taken(r, key, value);
}

/* ---- GPT-2 ---- */

static mst_status read_gpt2(const config_reader *r, mst_gpt_network *c) {
    bool scales, by_layer;
    MST_TRY(read_size(r, "n_layer", 0, MOST_LAYERS, &c->layers));
    MST_TRY(read_size(r, "n_embd", 0, MOST_SIZE, &c->width));
    MST_TRY(read_size(r, "n_head", 0, MOST_SIZE, &c->heads));
    MST_TRY(read_size(r, "n_inner", 4 * c->width, MOST_SIZE, &c->inner));
    MST_TRY(read_size(r, "vocab_size", 0, MOST_ROWS, &c->vocabulary_size));
    const bool has_positions = config_value(r, "n_positions") || !config_value(r, "n_ctx");
    MST_TRY(read_size(r, has_positions ? "n_positions" : "n_ctx", 0, MOST_ROWS, &c->positions));
    MST_TRY(want_text(r, "activation_function", "gelu_new", "gelu_pytorch_tanh"));
    MST_TRY(read_f32(r, "layer_norm_epsilon", 1e-5, 1e-30, 1, &c->epsilon));
    MST_TRY(read_dropout(r, "embd_pdrop", 0.1, &c->embedding_dropout));
    MST_TRY(read_dropout(r, "attn_pdrop", 0.1, &c->attention_dropout));
    MST_TRY(read_dropout(r, "resid_pdrop", 0.1, &c->residual_dropout));
    MST_TRY(read_bool(r, "scale_attn_weights", true, &scales));
    MST_TRY(read_bool(r, "scale_attn_by_inverse_layer_idx", false, &by_layer));
    if (!scales) return not_taken(r, "scale_attn_weights", config_value(r, "scale_attn_weights"));
    if (by_layer)
        return not_taken(r, "scale_attn_by_inverse_layer_idx", config_value(r, "scale_attn_by_inverse_layer_idx"));
    if (c->width % c->heads)
        return MST_FAIL(MST_INVALID, "'%s': \"n_embd\", %lld, must be a multiple of \"n_head\", %lld", r->name,
                        (long long)c->width, (long long)c->heads);
    c->key_value_heads = c->heads;
    c->head_length = c->width / c->heads;
    c->attention_bias = c->inner_bias = true;
    return MST_OK;
}

/* ---- Llama ---- */

/* Reads the settings of rotary positions in the object KEY, which transformers has had under two names. */
static mst_status read_rotary(const config_reader *r, const char *key, mst_gpt_network *c) {
    const json_t *settings = config_value(r, key), *value;
    const char *name;
    if (!settings) return MST_OK;
    if (!json_is_object(settings)) return not_taken(r, key, settings);
    json_object_foreach((json_t *)(uintptr_t)settings, name, value) {
        const char *text = json_string_value(value);
        if (strcmp(name, "rope_theta") == 0)
            MST_TRY(config_number(r, name, value, 0, 1e-3, 1e30, &c->rotary_base));
        else if ((strcmp(name, "rope_type") != 0 && strcmp(name, "type") != 0) || !text || strcmp(text, "default") != 0)
            return not_taken(r, key, settings);
    }
    return MST_OK;
}

static mst_status read_positions(const config_reader *r, mst_gpt_network *c) {
    double part;
    MST_TRY(config_number(r, "rope_theta", config_value(r, "rope_theta"), 10000, 1e-3, 1e30, &c->rotary_base));
    MST_TRY(read_rotary(r, "rope_scaling", c));
    MST_TRY(read_rotary(r, "rope_parameters", c));
    const json_t *given = config_value(r, "partial_rotary_factor");
    MST_TRY(config_number(r, "partial_rotary_factor", given, 1, 0, 1, &part));
    return part == 1 ? MST_OK : not_taken(r, "partial_rotary_factor", given);
}

static mst_status read_llama(const config_reader *r, mst_gpt_network *c) {
    MST_TRY(read_size(r, "num_hidden_layers", 0, MOST_LAYERS, &c->layers));
    MST_TRY(read_size(r, "hidden_size", 0, MOST_SIZE, &c->width));
    MST_TRY(read_size(r, "num_attention_heads", 0, MOST_SIZE, &c->heads));
    MST_TRY(read_size(r, "num_key_value_heads", c->heads, MOST_SIZE, &c->key_value_heads));
    MST_TRY(read_size(r, "intermediate_size", 0, MOST_SIZE, &c->inner));
    MST_TRY(read_size(r, "vocab_size", 0, MOST_ROWS, &c->vocabulary_size));
    MST_TRY(read_size(r, "max_position_embeddings", 0, MOST_ROWS, &c->positions));
    MST_TRY(want_text(r, "hidden_act", "silu", "swish"));
    MST_TRY(read_f32(r, "rms_norm_eps", 1e-6, 1e-30, 1, &c->epsilon));
    MST_TRY(read_dropout(r, "attention_dropout", 0, &c->attention_dropout));
    MST_TRY(read_bool(r, "attention_bias", false, &c->attention_bias));
    MST_TRY(read_bool(r, "mlp_bias", false, &c->inner_bias));
    MST_TRY(read_positions(r, c));
    if (c->heads % c->key_value_heads)
        return MST_FAIL(MST_INVALID,
                        "'%s': \"num_attention_heads\", %lld, must be a multiple of \"num_key_value_heads\", %lld",
                        r->name, (long long)c->heads, (long long)c->key_value_heads);
    const bool has_length = config_value(r, "head_dim");
    if (!has_length && c->width % c->heads)
        return MST_FAIL(MST_INVALID, "'%s': \"hidden_size\", %lld, must be a multiple of \"num_attention_heads\", %lld",
                        r->name, (long long)c->width, (long long)c->heads);
    MST_TRY(read_size(r, "head_dim", c->width / c->heads, MOST_SIZE, &c->head_length));
    if (c->head_length % 2)
        return MST_FAIL(MST_INVALID, "'%s': heads of %lld numbers: their number must be even, as positions turn pairs",
                        r->name, (long long)c->head_length);
    return MST_OK;
}

/* ---- reading ---- */

static mst_status read_config(const config_reader *r, mst_gpt_network *c) {
    const json_t *type = config_value(r, "model_type");
    const char *text = json_string_value(type);
    bool tied;
    *c = (mst_gpt_network){.is_llama = text && strcmp(text, "llama") == 0};
    if (!type) return MST_FAIL(MST_INVALID, "'%s': lacks \"model_type\"", r->name);
    if (!c->is_llama && (!text || strcmp(text, "gpt2") != 0)) {
        char shown[SHOWN];
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': \"model_type\" is %s: \"gpt2\" and \"llama\" are read", r->name,
                        config_text(type, shown));
    }
    MST_TRY(refuse_others(r));
    MST_TRY(c->is_llama ? read_llama(r, c) : read_gpt2(r, c));
    MST_TRY(
        config_number(r, "initializer_range", config_value(r, "initializer_range"), 0.02, 1e-30, 1e30, &c->deviation));
    MST_TRY(read_bool(r, "tie_word_embeddings", !c->is_llama, &tied));
    c->is_untied = !tied;
    if (c->heads * c->head_length <= MOST_SIZE) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': heads of %lld numbers in all, must be at most %d", r->name,
                    (long long)(c->heads * c->head_length), MOST_SIZE);
}

mst_status mst_huggingface_config_parse(const char *name, const char *text, size_t size, mst_gpt_network *out) {
    json_error_t error;
    json_t *json = mst_json_read(text, size, &error);
    if (!json_is_object(json)) {
        char why[SHOWN] = "it is a list";
        if (!json) mst_escape_line(error.text, strlen(error.text), why, sizeof why);
        json_decref(json);
        return MST_FAIL(MST_CORRUPT, "'%s': is not one object of JSON (%s): take the file as it was saved", name, why);
    }
    const config_reader reader = {name, json};
    const mst_status status = read_config(&reader, out);
    json_decref(json);
    return status;
}

/* ---- writing ---- */

/* The f32 X as the decimal number with the fewest digits that reads back as X, so that 1e-5 is written as 1e-05. */
static json_t *short_number(float x) {
    for (int digits = 1; digits < 9; digits++) {
        char text[32];
        mst_format(text, sizeof text, "%.*e", digits - 1, (double)x);
        const double value = mst_number_start(text, NULL);
        if ((float)value == x) return json_real(value);
    }
    return json_real(x);
}

static void set(json_t *json, const char *key, json_t *value) {
    json_object_set_new(json, key, value);
}

/* Sets KEY to VALUE. Does nothing if KEY is missing or null in JSON and VALUE is OTHERWISE, the default of KEY. */
static void set_unless(json_t *json, const char *key, int64_t value, int64_t otherwise) {
    const json_t *old = json_object_get(json, key);
    if (value != otherwise || (old && !json_is_null(old))) set(json, key, json_integer(value));
}

static void write_gpt2(const mst_gpt_network *c, json_t *json) {
    set(json, "architectures", json_pack("[s]", "GPT2LMHeadModel"));
    set(json, "n_layer", json_integer(c->layers));
    set(json, "n_embd", json_integer(c->width));
    set(json, "n_head", json_integer(c->heads));
    set_unless(json, "n_inner", c->inner, 4 * c->width);
    set(json, "n_positions", json_integer(c->positions));
    if (json_object_get(json, "n_ctx")) set(json, "n_ctx", json_integer(c->positions));
    set(json, "activation_function", json_string("gelu_new"));
    set(json, "layer_norm_epsilon", short_number(c->epsilon));
    set(json, "embd_pdrop", short_number(c->embedding_dropout));
    set(json, "attn_pdrop", short_number(c->attention_dropout));
    set(json, "resid_pdrop", short_number(c->residual_dropout));
}

static void write_llama(const mst_gpt_network *c, json_t *json) {
    set(json, "architectures", json_pack("[s]", "LlamaForCausalLM"));
    set(json, "num_hidden_layers", json_integer(c->layers));
    set(json, "hidden_size", json_integer(c->width));
    set(json, "num_attention_heads", json_integer(c->heads));
    set(json, "num_key_value_heads", json_integer(c->key_value_heads));
    set_unless(json, "head_dim", c->head_length, c->width / c->heads);
    set(json, "intermediate_size", json_integer(c->inner));
    set(json, "max_position_embeddings", json_integer(c->positions));
    set(json, "hidden_act", json_string("silu"));
    set(json, "rms_norm_eps", short_number(c->epsilon));
    set(json, "attention_dropout", short_number(c->attention_dropout));
    set(json, "attention_bias", json_boolean(c->attention_bias));
    set(json, "mlp_bias", json_boolean(c->inner_bias));
    json_object_del(json, "rope_scaling");
    set(json, "rope_theta", json_real(c->rotary_base));
    set(json, "rope_parameters", json_pack("{s:s, s:f}", "rope_type", "default", "rope_theta", c->rotary_base));
}

/* A new object with the keys of BASE if that is a config for a model of TYPE. */
static json_t *begin_with(const char *base, const char *type) {
    json_t *json = mst_json_read_string(base, NULL);
    const char *has = json_string_value(json_object_get(json, "model_type"));
    if (has && strcmp(has, type) == 0) return json;
    json_decref(json);
    return json_object();
}

mst_status mst_huggingface_config_print(const mst_gpt_network *config, const char *base, char **out) {
    const char *type = config->is_llama ? "llama" : "gpt2";
    json_t *json = begin_with(base, type);
    set(json, "model_type", json_string(type));
    (config->is_llama ? write_llama : write_gpt2)(config, json);
    set(json, "vocab_size", json_integer(config->vocabulary_size));
    set(json, "tie_word_embeddings", json_boolean(!config->is_untied));
    set(json, "initializer_range", short_number((float)config->deviation));
    json_object_del(json, "torch_dtype"); /* the older name of dtype */
    set(json, "dtype", json_string("float32"));
    enum { INDENT = 2 };
    *out = json ? json_dumps(json, JSON_INDENT(INDENT) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(json);
    return *out ? MST_OK : MST_NO_MEMORY("for a config");
}
