#include "cli/model/application_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "model/application/application.h"

/* The values of --model. Each network has a row without ALPHA. */
static const struct {
    const char *form, *help;
    mst_output (*make)(mst_model *model, const mst_application_options *options); /* NULL: made elsewhere */
    enum { CLASSES, OF_TEXTS, OF_POSITIONS, OF_TOKENS } kind;                     /* OF_TOKENS: made by mst_gpt */
} models[] = {
    {"mlp", "dense layers, and linear outputs", NULL, CLASSES},
    {"lenet", "LeNet-5, for pictures", mst_lenet_with, CLASSES},
    {"mobilenet_v2", "that of keras.applications, for pictures", mst_mobilenet_v2_with, CLASSES},
    {"mobilenet_v2:ALPHA", "with ALPHA times as many channels", mst_mobilenet_v2_with, CLASSES},
    {"resnet50", "that of keras.applications, for pictures", mst_resnet50_with, CLASSES},
    {"text_cnn", "an embedding and convolutions, for texts", mst_text_cnn_with, OF_TEXTS},
    {"unet", "U-Net, for pictures with masks: a class for each pixel", mst_unet_with, OF_POSITIONS},
    {"unet:ALPHA", "with ALPHA times as many channels, such as 0.25", mst_unet_with, OF_POSITIONS},
    {"gpt:LAYERSxWIDTH", "a transformer that predicts the next token, as GPT-2, such as gpt:6x384", NULL, OF_TOKENS},
    {"llama:LAYERSxWIDTH", "the same as Llama: RMS normalization, rotary positions, SwiGLU", NULL, OF_TOKENS},
    {"FILE.keras", "its network and loss, with new initial values", NULL, CLASSES},
    {"FILE.h5", "likewise", NULL, CLASSES},
    {"FILE.json", "likewise", NULL, CLASSES}};
enum {
    NUM_MODELS = sizeof models / sizeof *models,
    MOST_LAYERS = 1000,
    MOST_WIDTH = 1000000,
    HEAD = 64, /* the width of a head, as in GPT-2 */
};

/* Whether row I is for the part of NAME before its colon. WITH_ALPHA selects the row with ALPHA. A language model has
 * one row only. */
static bool is_row(int i, const char *name, bool with_alpha) {
    const size_t size = strcspn(name, ":");
    const bool has_tokens = models[i].kind == OF_TOKENS;
    if ((!models[i].make && !has_tokens) || strncmp(models[i].form, name, size) != 0) return false;
    return models[i].form[size] == (with_alpha || has_tokens ? ':' : '\0');
}

/* The index of the row for NAME; NUM_MODELS: there is none. */
static int find(const char *name, bool with_alpha) {
    int i = 0;
    while (i < NUM_MODELS && !is_row(i, name, with_alpha)) i++;
    return i;
}

bool application_is(const char *name) {
    return find(name, false) < NUM_MODELS;
}

const char *application_form(int i) {
    return i < NUM_MODELS ? models[i].form : NULL;
}

const char *application_help(int i) {
    return i < NUM_MODELS ? models[i].help : NULL;
}

static mst_status read_alpha(const char *name, const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    if (end != text && !*end && *out > 0 && *out <= 100) return MST_OK;
    return MST_FAIL(MST_INVALID, "--model %s: alpha '%s' must be a number above 0 and at most 100", name, text);
}

/* Reads the sizes in NAME, "gpt:6x384". */
static mst_status read_sizes(const char *name, mst_gpt_options *out) {
    const char *colon = strchr(name, ':');
    char *end;
    *out = (mst_gpt_options){.llama = strncmp(name, "llama", strlen("llama")) == 0};
    out->layers = colon && colon[1] >= '0' && colon[1] <= '9' ? strtoll(colon + 1, &end, 10) : 0;
    if (out->layers && *end == 'x' && end[1] >= '0' && end[1] <= '9') out->width = strtoll(end + 1, &end, 10);
    if (out->width && !*end && out->layers <= MOST_LAYERS && out->width <= MOST_WIDTH) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "--model %s: say how many layers, at most %d, and how many units they pass on, at most %d: such as "
                    "%.*s:6x384",
                    name, MOST_LAYERS, MOST_WIDTH, (int)strcspn(name, ":"), name);
}

static mst_status fail_unknown(const char *name) {
    enum { LIST = 400 };
    const char *words[NUM_MODELS + 1] = {NULL};
    char list[LIST] = "", guess[MST_DID_YOU_MEAN_TEXT];
    for (int i = 0; i < NUM_MODELS; i++) {
        const size_t used = strlen(list);
        words[i] = models[i].form;
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    }
    return MST_FAIL(MST_INVALID, "--model: there is no '%s'%s (there is %s)", name,
                    mst_did_you_mean(name, words, guess, sizeof guess), list);
}

mst_status application_check(const char *name) {
    double alpha;
    const char *colon = strchr(name, ':');
    if (strcmp(name, "mlp") == 0) return MST_OK;
    const int number = find(name, colon != NULL);
    mst_gpt_options sizes;
    if (number == NUM_MODELS) return fail_unknown(name);
    if (models[number].kind == OF_TOKENS) return read_sizes(name, &sizes);
    return colon ? read_alpha(name, colon + 1, &alpha) : MST_OK;
}

bool application_takes_texts(const char *name) {
    return application_is(name) && models[find(name, false)].kind == OF_TEXTS;
}

bool application_has_positions(const char *name) {
    return application_is(name) && models[find(name, false)].kind == OF_POSITIONS;
}

bool application_predicts_tokens(const char *name) {
    return application_is(name) && models[find(name, false)].kind == OF_TOKENS;
}

/* Adds the layers of a language model for examples of DATA, of tokens below VOCABULARY. */
static mst_status language_model_layers(const char *name, mst_model *model, const mst_dataset *data, int64_t vocabulary,
                                        const application_heads *heads) {
    mst_gpt_options o;
    MST_TRY(read_sizes(name, &o));
    o.heads = heads->heads ? heads->heads : o.width < HEAD ? 1 : o.width / HEAD;
    o.key_value_heads = heads->key_value_heads;
    if (o.width % o.heads || (o.llama && o.width / o.heads % 2))
        return MST_FAIL(MST_INVALID,
                        "--model %s: %lld heads need a width that is a multiple of %lld: choose them by --heads", name,
                        (long long)o.heads, (long long)(o.llama ? 2 * o.heads : o.heads));
    if (o.key_value_heads && o.heads % o.key_value_heads)
        return MST_FAIL(MST_INVALID, "--key-value-heads %lld: must divide the number of heads, %lld",
                        (long long)o.key_value_heads, (long long)o.heads);
    o.vocabulary_size = vocabulary;
    o.positions = mst_dataset_spec(data, 0).shape.dim[0];
    o.dropout = (float)heads->dropout;
    mst_gpt_with(model, &o);
    return MST_OK;
}

mst_status application_layers(const char *name, mst_model *model, const mst_dataset *data, int64_t outputs,
                              const application_heads *heads) {
    const int number = find(name, false);
    if (models[number].kind == OF_TOKENS) return language_model_layers(name, model, data, outputs, heads);
    const char *colon = strchr(name, ':');
    const mst_shape shape = mst_dataset_spec(data, 0).shape;
    mst_application_options options = {.input_shape = shape, .classes = outputs};
    char text[MST_SHAPE_TEXT];
    const bool takes_texts = models[number].kind == OF_TEXTS;
    if (takes_texts)
        options.vocabulary_size = mst_dataset_num_classes(data, 0);
    else if (shape.ndim != 2 && shape.ndim != 3)
        return MST_FAIL(
            MST_INVALID,
            "--model %s: takes pictures: height and width, or these and channels; the data has inputs of shape %s",
            name, mst_shape_print(shape, text, sizeof text));
    if (takes_texts && shape.dim[0] < MST_TEXT_CNN_TOKENS)
        return MST_FAIL(MST_INVALID, "--sequence-length %lld: --model %s takes texts of at least %d tokens",
                        (long long)shape.dim[0], name, MST_TEXT_CNN_TOKENS);
    if (colon) MST_TRY(read_alpha(name, colon + 1, &options.alpha));
    models[number].make(model, &options);
    return MST_OK;
}
