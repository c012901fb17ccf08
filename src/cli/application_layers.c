#include "cli/application_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "model/application/application.h"

static const struct {
    const char *name;
    mst_output (*make)(mst_model *model, const mst_application_options *options);
    bool has_alpha, takes_texts;
} applications[] = {{"lenet", mst_lenet_with, false, false},
                    {"mobilenet_v2", mst_mobilenet_v2_with, true, false},
                    {"resnet50", mst_resnet50_with, false, false},
                    {"text_cnn", mst_text_cnn_with, false, true}};
enum { NUM_APPLICATIONS = sizeof applications / sizeof *applications };

/* Which one NAME is, up to its colon; NUM_APPLICATIONS: none. */
static int find(const char *name) {
    const size_t size = strcspn(name, ":");
    int i = 0;
    while (i < NUM_APPLICATIONS &&
           (strncmp(applications[i].name, name, size) != 0 || applications[i].name[size] != '\0'))
        i++;
    return i;
}

bool application_is(const char *name) {
    return find(name) < NUM_APPLICATIONS;
}

const char *application_form(int i) {
    static const char *const forms[] = {"mlp",      "lenet",      "mobilenet_v2", "mobilenet_v2:ALPHA", "resnet50",
                                        "text_cnn", "FILE.keras", "FILE.h5",      "FILE.json",          NULL};
    return forms[i];
}

static mst_status read_alpha(const char *name, const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    if (end != text && !*end && *out > 0 && *out <= 100) return MST_OK;
    return MST_FAIL(MST_INVALID, "--model %s: alpha '%s' must be a number above 0 and at most 100", name, text);
}

static mst_status fail_unknown(const char *name) {
    enum { MOST = 12, LIST = 200 };
    const char *words[MOST] = {NULL};
    char list[LIST] = "", guess[MST_DID_YOU_MEAN_TEXT];
    for (int i = 0; i < MOST - 1 && (words[i] = application_form(i)); i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    }
    return MST_FAIL(MST_INVALID, "--model: there is no '%s'%s (there is %s)", name,
                    mst_did_you_mean(name, words, guess, sizeof guess), list);
}

mst_status application_check(const char *name) {
    double alpha;
    const char *colon = strchr(name, ':');
    const int number = find(name);
    if (strcmp(name, "mlp") == 0 || (number < NUM_APPLICATIONS && !colon)) return MST_OK;
    if (number < NUM_APPLICATIONS && applications[number].has_alpha) return read_alpha(name, colon + 1, &alpha);
    return fail_unknown(name);
}

bool application_takes_texts(const char *name) {
    return application_is(name) && applications[find(name)].takes_texts;
}

mst_status application_layers(const char *name, mst_model *model, const mst_dataset *data, int64_t outputs) {
    const int number = find(name);
    const char *colon = strchr(name, ':');
    const mst_shape shape = mst_dataset_spec(data, 0).shape;
    mst_application_options options = {.input_shape = shape, .classes = outputs};
    char text[MST_SHAPE_TEXT];
    if (applications[number].takes_texts)
        options.vocabulary_size = mst_dataset_num_classes(data, 0);
    else if (shape.ndim != 2 && shape.ndim != 3)
        return MST_FAIL(
            MST_INVALID,
            "--model %s: takes pictures: height and width, or these and channels; the data has inputs of shape %s",
            name, mst_shape_print(shape, text, sizeof text));
    if (applications[number].takes_texts && shape.dim[0] < MST_TEXT_CNN_TOKENS)
        return MST_FAIL(MST_INVALID, "--sequence-length %lld: --model %s takes texts of at least %d tokens",
                        (long long)shape.dim[0], name, MST_TEXT_CNN_TOKENS);
    if (colon) MST_TRY(read_alpha(name, colon + 1, &options.alpha));
    applications[number].make(model, &options);
    return MST_OK;
}
