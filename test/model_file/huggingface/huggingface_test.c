/* Folders of Hugging Face. The weights follow from a formula, and the logits are those of transformers for them:
 * record.py prints them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "format/safetensors.h"
#include "model_file/huggingface/huggingface.h"
#include "muster/applications.h"
#include "muster/model_file.h"
#include "muster/train.h"
#include "support/folder.h"
#include "support/test.h"

enum { POSITIONS = 4, VOCABULARY = 5, NUM_LOGITS = POSITIONS * VOCABULARY, MOST_TENSORS = 20, TEXT = 4096 };

typedef struct tensor {
    const char *name;
    mst_shape shape;
} tensor;

#define GPT2_CONFIG                                                                                 \
    "{\"model_type\": \"gpt2\", \"n_layer\": 1, \"n_embd\": 4, \"n_head\": 2, \"n_positions\": 4, " \
    "\"vocab_size\": 5, \"activation_function\": \"gelu_new\", \"layer_norm_epsilon\": 1e-05, "     \
    "\"bos_token_id\": 3}"
#define LLAMA_CONFIG                                                                                       \
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_size\": 8, \"intermediate_size\": 6, " \
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 4, \"vocab_size\": 5, "         \
    "\"rope_theta\": 100.0, \"max_position_embeddings\": 4}"

/* clang-format off */
static const tensor gpt2[] = {
    {"transformer.wte.weight", {2, {5, 4}}},             {"transformer.wpe.weight", {2, {4, 4}}},
    {"transformer.h.0.ln_1.weight", {1, {4}}},           {"transformer.h.0.ln_1.bias", {1, {4}}},
    {"transformer.h.0.attn.c_attn.weight", {2, {4, 12}}}, {"transformer.h.0.attn.c_attn.bias", {1, {12}}},
    {"transformer.h.0.attn.c_proj.weight", {2, {4, 4}}}, {"transformer.h.0.attn.c_proj.bias", {1, {4}}},
    {"transformer.h.0.ln_2.weight", {1, {4}}},           {"transformer.h.0.ln_2.bias", {1, {4}}},
    {"transformer.h.0.mlp.c_fc.weight", {2, {4, 16}}},   {"transformer.h.0.mlp.c_fc.bias", {1, {16}}},
    {"transformer.h.0.mlp.c_proj.weight", {2, {16, 4}}}, {"transformer.h.0.mlp.c_proj.bias", {1, {4}}},
    {"transformer.ln_f.weight", {1, {4}}},               {"transformer.ln_f.bias", {1, {4}}}, {NULL, {0, {0}}}};
static const tensor llama[] = {
    {"model.embed_tokens.weight", {2, {5, 8}}},
    {"model.layers.0.input_layernorm.weight", {1, {8}}},
    {"model.layers.0.self_attn.q_proj.weight", {2, {16, 8}}},
    {"model.layers.0.self_attn.k_proj.weight", {2, {8, 8}}},
    {"model.layers.0.self_attn.v_proj.weight", {2, {8, 8}}},
    {"model.layers.0.self_attn.o_proj.weight", {2, {8, 16}}},
    {"model.layers.0.post_attention_layernorm.weight", {1, {8}}},
    {"model.layers.0.mlp.gate_proj.weight", {2, {6, 8}}},
    {"model.layers.0.mlp.up_proj.weight", {2, {6, 8}}},
    {"model.layers.0.mlp.down_proj.weight", {2, {8, 6}}},
    {"model.norm.weight", {1, {8}}},
    {"lm_head.weight", {2, {5, 8}}}, {NULL, {0, {0}}}};
/* clang-format on */
static const float gpt2_logits[NUM_LOGITS] = {0.08407672F,  -0.1677626F, 0.04391196F, 0.01836966F, -0.1785602F,
                                              -0.2725828F,  0.3546598F,  0.2758026F,  -0.3656678F, 0.2355316F,
                                              0.03172315F,  0.06774909F, 0.09945877F, -0.1876536F, -0.108695F,
                                              -0.06805095F, -0.2495083F, 0.2735042F,  0.0849864F,  -0.06808773F};
static const float llama_logits[NUM_LOGITS] = {0.01587183F, 0.2653744F,   0.07023557F, 0.2484982F, 0.03201062F,
                                               0.2147182F,  -0.08021469F, 0.3174517F,  0.1124684F, -0.2638207F,
                                               -0.0873528F, -0.06537656F, 0.2491404F,  0.1827605F, -0.2263361F,
                                               0.4644538F,  0.2807584F,   0.4218313F,  0.2657303F, -0.3356828F};

/* ---- writing what transformers would write ---- */

/* As `formula` of record.py. */
static void fill(const char *name, mst_tensor *out) {
    int64_t sum = 0;
    for (const char *c = name; *c; c++) sum += *c;
    for (int64_t i = 0; i < mst_tensor_count(out); i++) {
        const int64_t n = (i * i * 31 + i * 37 + sum * 101) % 199 - 99;
        mst_tensor_set(out, i, (double)((float)n / 150.0F));
    }
}

/* Writes tensors FIRST to LAST - 1 of LIST to the file NAME of the folder "m". */
static void write_tensors(const char *name, const tensor *list, int first, int last, mst_dtype dtype) {
    mst_named_tensor named[MOST_TENSORS];
    mst_tensor *made[MOST_TENSORS];
    char path[TEXT];
    const int count = last - first;
    for (int i = 0; i < count; i++) {
        EXPECT_OK(mst_tensor_create(dtype, list[first + i].shape, &made[i]));
        fill(list[first + i].name, made[i]);
        named[i] = (mst_named_tensor){list[first + i].name, made[i]};
    }
    snprintf(path, sizeof path, "%s/%s", folder_path("m"), name);
    EXPECT_OK(mst_safetensors_write(path, named, count, NULL));
    for (int i = 0; i < count; i++) mst_tensor_release(made[i]);
}

static int count_of(const tensor *list) {
    int count = 0;
    while (list[count].name) count++;
    return count;
}

/* Writes config.json to the folder "m", which is made. */
static void write_config(const char *config) {
    (void)mkdir(folder_path("m"), 0700);
    folder_write_text("m/config.json", config);
}

/* Writes the whole folder, and returns its path. */
static const char *write_folder(const char *config, const tensor *list, mst_dtype dtype) {
    write_config(config);
    write_tensors("model.safetensors", list, 0, count_of(list), dtype);
    return folder_path("m");
}

/* CONFIG with the first FROM in it replaced by TO. */
static const char *replaced(const char *config, const char *from, const char *to) {
    static char text[TEXT];
    const char *at = strstr(config, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - config), config, to, at + strlen(from));
    return text;
}

/* ---- logits ---- */

static void expect_logits_of(mst_model *model, const float *expected, double tolerance) {
    static const int32_t tokens[POSITIONS] = {3, 1, 4, 0};
    mst_tensor *x, *y;
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(MST_I32, MST_SHAPE(1, POSITIONS), &x));
    memcpy(mst_tensor_data(x), tokens, sizeof tokens);
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_predict(model, data, 1, &y));
    assert_int_equal(mst_tensor_count(y), NUM_LOGITS);
    for (int i = 0; i < NUM_LOGITS; i++) assert_float_equal((float)mst_tensor_get(y, i), expected[i], (float)tolerance);
    mst_tensor_release(y);
    mst_dataset_release(data);
    mst_tensor_release(x);
}

static void expect_logits(const char *path, const float *expected, double tolerance) {
    mst_model *model;
    EXPECT_OK(mst_model_load(path, &model, NULL));
    expect_logits_of(model, expected, tolerance);
    mst_model_destroy(model);
}

static void logits_are_those_of_transformers(void **state) {
    (void)state;
    expect_logits(write_folder(GPT2_CONFIG, gpt2, MST_F32), gpt2_logits, 2e-6);
    expect_logits(write_folder(LLAMA_CONFIG, llama, MST_F32), llama_logits, 2e-6);
    const char *newer = replaced(LLAMA_CONFIG, "\"rope_theta\": 100.0",
                                 "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 100}");
    expect_logits(write_folder(newer, llama, MST_F32), llama_logits, 2e-6);
}

static void weights_of_16_bits_become_f32(void **state) {
    (void)state;
    expect_logits(write_folder(LLAMA_CONFIG, llama, MST_BF16), llama_logits, 2e-2);
}

/* A file with one tensor "h" of four numbers: 1, -2, the smallest f16, and infinity. */
static void f16_is_read_as_f32(void **state) {
    (void)state;
    static const char header[] = "{\"h\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]}}";
    const uint16_t numbers[] = {0x3c00, 0xc000, 1, 0x7c00};
    const float expected[] = {1, -2, 0x1p-24F, INFINITY};
    unsigned char bytes[sizeof header + 16] = {sizeof header - 1};
    mst_safetensors *file;
    mst_tensor *h;
    memcpy(bytes + 8, header, sizeof header - 1);
    memcpy(bytes + 7 + sizeof header, numbers, sizeof numbers);
    EXPECT_OK(mst_safetensors_parse("h", bytes, 7 + sizeof header + sizeof numbers, &file));
    EXPECT_OK(mst_safetensors_read_f32(file, 0, &h));
    assert_memory_equal(mst_tensor_data(h), expected, sizeof expected);
    mst_tensor_release(h);
    mst_safetensors_close(file);
}

/* ---- several files ---- */

static const char *write_index(const char *second) {
    char text[TEXT];
    int used = snprintf(text, sizeof text, "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {");
    for (int i = 0; llama[i].name; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s\"%s\": \"%s\"", i ? ", " : "", llama[i].name,
                         i < 6 ? "a.safetensors" : second);
    snprintf(text + used, sizeof text - (size_t)used, "}}");
    write_config(LLAMA_CONFIG);
    folder_write_text("m/model.safetensors.index.json", text);
    write_tensors("a.safetensors", llama, 0, 6, MST_F32);
    return folder_path("m");
}

static void several_files_are_one_model(void **state) {
    (void)state;
    const char *path = write_index("b.safetensors");
    write_tensors("b.safetensors", llama, 6, count_of(llama), MST_F32);
    expect_logits(path, llama_logits, 2e-6);
}

static void names_in_the_index_reach_nothing_outside(void **state) {
    (void)state;
    mst_model *model;
    static const char *const names[] = {"../b.safetensors", "/tmp/b.safetensors", "", "./b.safetensors",
                                        "c/../../b.safetensors"};
    write_config(LLAMA_CONFIG);
    assert_int_equal(mkdir(folder_path("m/c"), 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = write_index(names[i]);
        write_tensors("../b.safetensors", llama, 6, count_of(llama), MST_F32);
        EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_INVALID, "model.safetensors.index.json");
        assert_null(model);
    }
    const char *path = write_index("b.safetensors");
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_NOT_FOUND, "b.safetensors");
    assert_int_equal(symlink("../b.safetensors", folder_path("m/b.safetensors")), 0);
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_INVALID, "symbolic link");
    unlink(folder_path("m/b.safetensors"));
    write_tensors("b.safetensors", llama, 7, count_of(llama), MST_F32);
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_CORRUPT, "post_attention_layernorm");
    folder_write_text("m/model.safetensors.index.json", "{\"weight_map\": 3}");
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_CORRUPT, "weight_map");
    folder_write_text("m/model.safetensors.index.json", "{");
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_CORRUPT, "is no JSON");
}

/* ---- bad input ---- */

typedef struct wrong {
    const char *from, *to; /* what is replaced in the config */
    mst_status code;
    const char *message;
} wrong;

static void expect_wrong(const char *config, const wrong *cases, size_t count) {
    mst_model *model;
    for (size_t i = 0; i < count; i++) {
        write_config(replaced(config, cases[i].from, cases[i].to));
        EXPECT_ERROR(mst_model_load(folder_path("m"), &model, NULL), cases[i].code, cases[i].message);
        assert_non_null(strstr(mst_error()->message, "config.json"));
        assert_null(model);
    }
}

static void a_config_that_is_not_taken_is_an_error_that_names_the_key(void **state) {
    (void)state;
    static const wrong of_gpt2[] = {
        {"\"n_layer\": 1", "\"n\": 1", MST_INVALID, "lacks \"n_layer\""},
        {"\"n_layer\": 1", "\"n_layer\": 9223372036854775807", MST_INVALID, "\"n_layer\" is 9223372036854775807"},
        {"\"n_layer\": 1", "\"n_layer\": 99999999999999999999", MST_CORRUPT, "JSON"},
        {"\"n_layer\": 1", "\"n_layer\": -1", MST_INVALID, "\"n_layer\" is -1"},
        {"\"n_layer\": 1", "\"n_layer\": 1.5", MST_INVALID, "\"n_layer\" is 1.5"},
        {"\"n_embd\": 4", "\"n_embd\": \"4\\u001b\"", MST_INVALID, "\"n_embd\" is"},
        {"\"n_embd\": 4", "\"n_embd\": 5", MST_INVALID, "multiple of \"n_head\""},
        {"\"n_head\": 2", "\"n_head\": 0", MST_INVALID, "\"n_head\" is 0"},
        {"\"vocab_size\": 5", "\"vocab_size\": 4294967296", MST_INVALID, "\"vocab_size\""},
        {"\"gpt2\"", "\"gpt_neox\"", MST_UNIMPLEMENTED, "\"model_type\" is \"gpt_neox\""},
        {"\"model_type\": \"gpt2\", ", "", MST_INVALID, "lacks \"model_type\""},
        {"gelu_new", "relu", MST_UNIMPLEMENTED, "\"activation_function\": \"relu\""},
        {"1e-05", "0", MST_INVALID, "\"layer_norm_epsilon\" is 0"},
        {"\"bos_token_id\": 3", "\"embd_pdrop\": 1", MST_INVALID, "\"embd_pdrop\" is 1"},
        {"\"bos_token_id\": 3", "\"scale_attn_weights\": false", MST_UNIMPLEMENTED, "scale_attn_weights"},
        {"\"bos_token_id\": 3", "\"scale_attn_by_inverse_layer_idx\": true", MST_UNIMPLEMENTED, "inverse_layer_idx"},
        {"\"bos_token_id\": 3", "\"add_cross_attention\": true", MST_UNIMPLEMENTED, "add_cross_attention"},
        {"\"bos_token_id\": 3", "\"tie_word_embeddings\": 3", MST_INVALID, "\"tie_word_embeddings\" is 3"},
        {"\"bos_token_id\": 3", "\"quantization_config\": {\"bits\": 4}", MST_UNIMPLEMENTED, "quantization_config"},
        {"{", "[", MST_CORRUPT, "JSON"},
    };
    static const wrong of_llama[] = {
        {"\"head_dim\": 4", "\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2.0}", MST_UNIMPLEMENTED,
         "\"rope_scaling\": {\"type\":\"linear\""},
        {"\"head_dim\": 4", "\"rope_parameters\": {\"rope_type\": \"llama3\"}", MST_UNIMPLEMENTED, "rope_parameters"},
        {"\"head_dim\": 4", "\"rope_parameters\": 4", MST_UNIMPLEMENTED, "rope_parameters"},
        {"\"head_dim\": 4", "\"sliding_window\": 4096", MST_UNIMPLEMENTED, "\"sliding_window\": 4096"},
        {"\"head_dim\": 4", "\"layer_types\": [\"sliding_attention\"]", MST_UNIMPLEMENTED, "layer_types"},
        {"\"head_dim\": 4", "\"hidden_act\": \"gelu\"", MST_UNIMPLEMENTED, "\"hidden_act\": \"gelu\""},
        {"\"head_dim\": 4", "\"head_dim\": 3", MST_INVALID, "must be even"},
        {"\"head_dim\": 4", "\"partial_rotary_factor\": 0.5", MST_UNIMPLEMENTED, "partial_rotary_factor"},
        {"\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3", MST_INVALID, "num_key_value_heads"},
        {"\"rope_theta\": 100.0", "\"rope_theta\": -1", MST_INVALID, "\"rope_theta\" is -1"},
        {"\"max_position_embeddings\": 4", "\"max_position_embeddings\": null", MST_INVALID,
         "lacks \"max_position_embeddings\""},
    };
    expect_wrong(GPT2_CONFIG, of_gpt2, sizeof of_gpt2 / sizeof *of_gpt2);
    expect_wrong(LLAMA_CONFIG, of_llama, sizeof of_llama / sizeof *of_llama);
}

static void tensors_that_do_not_fit_are_an_error_that_names_them(void **state) {
    (void)state;
    mst_model *model;
    const int count = count_of(gpt2);
    const char *path = write_folder(GPT2_CONFIG, gpt2, MST_F32);
    tensor changed[MOST_TENSORS];
    memcpy(changed, gpt2, sizeof gpt2);
    changed[6].shape = MST_SHAPE(4, 5);
    write_tensors("model.safetensors", changed, 0, count, MST_F32);
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_INVALID,
                 "'transformer.h.0.attn.c_proj.weight' is [4, 5], config.json needs [4, 4]");
    changed[6].name = "transformer.h.0.attn.\033";
    write_tensors("model.safetensors", changed, 0, count, MST_F32);
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_CORRUPT,
                 "its files have no tensor 'transformer.h.0.attn.c_proj.weight'");
    write_tensors("model.safetensors", gpt2, 0, count - 1, MST_F32);
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_CORRUPT, "its files have no tensor 'transformer.ln_f.bias'");
    changed[6] = gpt2[6];
    changed[count] = (tensor){"score.\033weight", MST_SHAPE(2, 4)};
    write_tensors("model.safetensors", changed, 0, count + 1, MST_F32);
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_UNIMPLEMENTED, "has tensor 'score.\\x1bweight'");
    write_tensors("model.safetensors", gpt2, 0, count, MST_I32);
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_UNIMPLEMENTED, "is of dtype I32");
    unlink(folder_path("m/model.safetensors"));
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_NOT_FOUND, "has neither model.safetensors nor");
    folder_write_text("m/pytorch_model.bin", "x");
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_NOT_FOUND, "save_pretrained");
    unlink(folder_path("m/config.json"));
    EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_NOT_FOUND, "config.json");
}

static void a_file_that_is_cut_off_is_an_error_at_any_length(void **state) {
    (void)state;
    mst_model *model;
    void *data;
    size_t size;
    const char *path = write_folder(GPT2_CONFIG, gpt2, MST_F32);
    EXPECT_OK(mst_file_read(folder_path("m/model.safetensors"), 1 << 20, &data, &size));
    for (size_t cut = 0; cut < size; cut += cut < 64 ? 1 : 97) {
        folder_write("m/model.safetensors", data, cut);
        EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_CORRUPT, "model.safetensors");
        assert_null(model);
    }
    free(data);
}

static void masks_and_frequencies_in_the_files_are_left_out(void **state) {
    (void)state;
    tensor more[MOST_TENSORS];
    int count = count_of(gpt2);
    memcpy(more, gpt2, sizeof gpt2);
    more[count++] = (tensor){"transformer.h.0.attn.bias", {4, {1, 1, 4, 4}}};
    more[count++] = (tensor){"lm_head.weight", MST_SHAPE(5, 4)};
    const char *path = write_folder(GPT2_CONFIG, gpt2, MST_F32);
    write_tensors("model.safetensors", more, 0, count, MST_F32);
    expect_logits(path, gpt2_logits, 2e-6);
}

/* ---- writing ---- */

static void expect_same_files(const char *name, const char *other) {
    void *data[2];
    size_t size[2];
    EXPECT_OK(mst_file_read(folder_path(name), 1 << 20, &data[0], &size[0]));
    EXPECT_OK(mst_file_read(folder_path(other), 1 << 20, &data[1], &size[1]));
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(data[0], data[1], size[0]);
    free(data[0]);
    free(data[1]);
}

static void check_way_back(const char *config, const tensor *list, const float *logits) {
    mst_model *model;
    EXPECT_OK(mst_model_load(write_folder(config, list, MST_F32), &model, NULL));
    EXPECT_OK(mst_model_save(model, folder_path("back/")));
    mst_model_destroy(model);
    expect_logits(folder_path("back"), logits, 2e-6);
    EXPECT_OK(mst_model_load(folder_path("back/"), &model, NULL));
    EXPECT_OK(mst_model_save(model, folder_path("again/")));
    mst_model_destroy(model);
    expect_same_files("back/config.json", "again/config.json");
    expect_same_files("back/model.safetensors", "again/model.safetensors");
}

static void what_was_read_goes_back(void **state) {
    (void)state;
    void *text;
    size_t size;
    check_way_back(GPT2_CONFIG, gpt2, gpt2_logits);
    EXPECT_OK(mst_file_read(folder_path("back/config.json"), 1 << 20, &text, &size));
    ((char *)text)[size] = '\0';
    assert_non_null(strstr(text, "\"bos_token_id\": 3")); /* which says nothing to Muster */
    free(text);
    check_way_back(LLAMA_CONFIG, llama, llama_logits); /* in the same folder */
}

static void check_made(const char *name, bool is_llama, bool is_untied, float dropout) {
    mst_model *model, *read;
    EXPECT_OK(mst_model_create(&model));
    mst_gpt(model, .layers = 2, .width = 8, .heads = 2, .vocabulary_size = 7, .positions = 6,
            .key_value_heads = 1 + !is_llama, .inner = 12, .dropout = dropout, .llama = is_llama, .untied = is_untied);
    EXPECT_OK(mst_model_check(model));
    EXPECT_ERROR(mst_model_save(model, folder_path(name)), MST_NOT_FOUND, "no values yet");
    mst_dataset *data;
    mst_tensor *x[2];
    for (int i = 0; i < 2; i++) EXPECT_OK(mst_tensor_create(MST_I32, MST_SHAPE(1, 6), &x[i]));
    EXPECT_OK(mst_dataset_from_tensors(x, 2, &data));
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.1),
                          .loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_fit(model, .data = data));
    EXPECT_OK(mst_model_save(model, folder_path(name)));
    EXPECT_OK(mst_model_load(folder_path(name), &read, NULL));
    const mst_weight *weights, *others;
    int64_t count, num_others;
    EXPECT_OK(mst_model_weights(model, &weights, &count));
    EXPECT_OK(mst_model_weights(read, &others, &num_others));
    assert_int_equal(count, num_others);
    for (int64_t i = 0; i < count; i++) {
        mst_tensor *a, *b;
        assert_string_equal(weights[i].name, others[i].name);
        EXPECT_OK(mst_store_get(mst_model_store(model), NULL, weights[i].name, &a));
        EXPECT_OK(mst_store_get(mst_model_store(read), NULL, weights[i].name, &b));
        assert_int_equal(mst_tensor_count(a), mst_tensor_count(b));
        assert_memory_equal(mst_tensor_data(a), mst_tensor_data(b), mst_tensor_bytes(a));
        mst_tensor_release(a);
        mst_tensor_release(b);
    }
    EXPECT_OK(mst_model_load_weights(model, folder_path(name)));
    EXPECT_ERROR(mst_model_load_layers(model, folder_path(name), NULL), MST_INVALID, "muster convert");
    mst_model_destroy(read);
    mst_model_destroy(model);
    mst_dataset_release(data);
    for (int i = 0; i < 2; i++) mst_tensor_release(x[i]);
}

static void what_mst_gpt_made_is_written(void **state) {
    (void)state;
    check_made("gpt/", false, false, 0.1F);
    check_made("untied/", false, true, 0);
    check_made("llama/", true, true, 0);
    check_made("tied/", true, false, 0);
}

static void another_network_is_not_written(void **state) {
    (void)state;
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_gpt(model, .layers = 1, .width = 8, .heads = 2, .vocabulary_size = 7, .positions = 6);
    mst_dense(model, 3, .name = "more");
    EXPECT_ERROR(mst_model_save(model, folder_path("x/")), MST_UNIMPLEMENTED, "it differs at layer 'more'");
    mst_model_destroy(model);
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 3);
    EXPECT_ERROR(mst_model_save(model, folder_path("x/")), MST_UNIMPLEMENTED, "GPT-2 or Llama");
    EXPECT_ERROR(mst_model_load_weights(model, write_folder(GPT2_CONFIG, gpt2, MST_F32)), MST_UNIMPLEMENTED, "GPT-2");
    mst_model_destroy(model);
    assert_int_equal(access(folder_path("x"), F_OK), -1);
}

static int calls_until_failure;

static int fail_later(mst_file_call call, size_t *size) {
    (void)call, (void)size;
    return calls_until_failure-- > 0 ? 0 : ENOSPC;
}

/* Every system call fails once: the old files are there, or the new ones, and never a new config with old weights. */
static void a_full_disk_leaves_a_whole_folder(void **state) {
    (void)state;
    mst_model *model;
    EXPECT_OK(mst_model_load(write_folder(LLAMA_CONFIG, llama, MST_F32), &model, NULL));
    mst_status status = MST_IO;
    for (int calls = 0; status; calls++) {
        calls_until_failure = calls;
        mst_file_replace_fault(fail_later);
        status = mst_model_save(model, folder_path("new/"));
        mst_file_replace_fault(NULL);
        if (!status) break;
        assert_int_equal(mst_error()->code, MST_IO);
        assert_true(calls < 100);
        if (access(folder_path("new/config.json"), F_OK) == 0) expect_logits(folder_path("new"), llama_logits, 2e-6);
    }
    expect_logits(folder_path("new"), llama_logits, 2e-6);
    mst_model_destroy(model);
}

static void one_file_is_not_written_beside_several(void **state) {
    (void)state;
    mst_model *model;
    const char *path = write_index("b.safetensors");
    write_tensors("b.safetensors", llama, 6, count_of(llama), MST_F32);
    EXPECT_OK(mst_model_load(path, &model, NULL));
    EXPECT_ERROR(mst_model_save(model, path), MST_EXISTS, "model.safetensors.index.json");
    EXPECT_ERROR(mst_huggingface_check_folder(path), MST_EXISTS, "give a new folder");
    EXPECT_OK(mst_huggingface_check_folder(folder_path("new/")));
    assert_int_equal(access(folder_path("new"), F_OK), -1);
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(logits_are_those_of_transformers),
        TEST_IN_FOLDER(weights_of_16_bits_become_f32),
        cmocka_unit_test(f16_is_read_as_f32),
        TEST_IN_FOLDER(several_files_are_one_model),
        TEST_IN_FOLDER(names_in_the_index_reach_nothing_outside),
        TEST_IN_FOLDER(a_config_that_is_not_taken_is_an_error_that_names_the_key),
        TEST_IN_FOLDER(tensors_that_do_not_fit_are_an_error_that_names_them),
        TEST_IN_FOLDER(a_file_that_is_cut_off_is_an_error_at_any_length),
        TEST_IN_FOLDER(masks_and_frequencies_in_the_files_are_left_out),
        TEST_IN_FOLDER(what_was_read_goes_back),
        TEST_IN_FOLDER(what_mst_gpt_made_is_written),
        TEST_IN_FOLDER(another_network_is_not_written),
        TEST_IN_FOLDER(a_full_disk_leaves_a_whole_folder),
        TEST_IN_FOLDER(one_file_is_not_written_beside_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
