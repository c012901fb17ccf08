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
    enum { CLASSES, OF_TEXTS, OF_POSITIONS } kind;
} models[] = {{"mlp", "dense layers, and linear outputs", NULL, CLASSES},
              {"lenet", "LeNet-5, for pictures", mst_lenet_with, CLASSES},
              {"mobilenet_v2", "that of keras.applications, for pictures", mst_mobilenet_v2_with, CLASSES},
              {"mobilenet_v2:ALPHA", "with ALPHA times as many channels", mst_mobilenet_v2_with, CLASSES},
              {"resnet50", "that of keras.applications, for pictures", mst_resnet50_with, CLASSES},
              {"text_cnn", "an embedding and convolutions, for texts", mst_text_cnn_with, OF_TEXTS},
              {"unet", "U-Net, for pictures with masks: a class for each pixel", mst_unet_with, OF_POSITIONS},
              {"unet:ALPHA", "with ALPHA times as many channels, such as 0.25", mst_unet_with, OF_POSITIONS},
              {"FILE.keras", "its network and loss, with new initial values", NULL, CLASSES},
              {"FILE.h5", "likewise", NULL, CLASSES},
              {"FILE.json", "likewise", NULL, CLASSES}};
enum { NUM_MODELS = sizeof models / sizeof *models };

/* The index of the row for NAME up to its colon. WITH_ALPHA: the row with ALPHA. NUM_MODELS: there is none. */
static int find(const char *name, bool with_alpha) {
    const size_t size = strcspn(name, ":");
    int i = 0;
    while (i < NUM_MODELS && (!models[i].make || strncmp(models[i].form, name, size) != 0 ||
                              models[i].form[size] != (with_alpha ? ':' : '\0')))
        i++;
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
    if (find(name, colon != NULL) == NUM_MODELS) return fail_unknown(name);
    return colon ? read_alpha(name, colon + 1, &alpha) : MST_OK;
}

bool application_takes_texts(const char *name) {
    return application_is(name) && models[find(name, false)].kind == OF_TEXTS;
}

bool application_has_positions(const char *name) {
    return application_is(name) && models[find(name, false)].kind == OF_POSITIONS;
}

mst_status application_layers(const char *name, mst_model *model, const mst_dataset *data, int64_t outputs) {
    const int number = find(name, false);
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
