#include "cli/model/application_pixels.h"

#include <string.h>
#include <strings.h>

#include "base/ending.h"
#include "cli/model/scale_inputs.h"
#include "model/model.h"
#include "model_file/model_file.h"

enum { NONE = -1 };

/* `names` are the names that keras.applications gives its networks, in Keras 2 and 3; '*' at the end stands for any
 * text, such as the width. `layer` has the names of two layers that only the networks of this row have both. `plain` is
 * the range for a network that does not begin with a Rescaling or Normalization: the range of preprocess_input, or the
 * one that the documentation gives for include_preprocessing=False. Source: keras/src/applications. */
static const struct {
    const char *family, *names, *layer[2];
    int plain;
} networks[] = {
    {"resnet50v2", "resnet50v2 resnet101v2 resnet152v2", {"conv1_pad", "conv2_block1_preact_bn"}, PIXELS_TF},
    {"resnet50", "resnet50 resnet101 resnet152", {"conv1_pad", "conv2_block1_3_bn"}, PIXELS_CAFFE},
    {"vgg16", "vgg16 vgg19", {"block1_conv1", "block5_conv3"}, PIXELS_CAFFE},
    {"xception", "xception", {"block1_conv1", "block14_sepconv2"}, PIXELS_TF},
    {"inception_v3", "inception_v3", {"mixed0", "mixed10"}, PIXELS_TF},
    {"inception_resnet_v2", "inception_resnet_v2", {"mixed_5b", "conv_7b"}, PIXELS_TF},
    {"mobilenetv2", "mobilenetv2_*", {"Conv1", "block_16_project"}, PIXELS_TF},
    {"mobilenetv3", "mobilenetv3*", {NULL}, PIXELS_TF},
    {"mobilenet", "mobilenet_*", {"conv1", "conv_pw_13"}, PIXELS_TF},
    {"densenet121", "densenet121 densenet169 densenet201", {"conv1_conv", "conv2_block1_0_bn"}, PIXELS_TORCH},
    {"nasnet", "nasnet nasnet_mobile nasnet_large", {"stem_conv1", "stem_bn1"}, PIXELS_TF},
    {"efficientnetv2", "efficientnetv2-*", {NULL}, PIXELS_TF},
    {"efficientnetb0", "efficientnetb*", {NULL}, NONE},
    {"convnext", "convnext_*", {NULL}, NONE},
};
enum { NUM_NETWORKS = sizeof networks / sizeof *networks };

/* Whether NAME is one of the words of NAMES, whatever the case of its letters. */
static bool is_one_of(const char *name, const char *names) {
    for (size_t size; *names; names += size + (names[size] == ' ')) {
        size = strcspn(names, " ");
        const bool is_begin = names[size - 1] == '*';
        const size_t same = is_begin ? size - 1 : size;
        if (strncasecmp(name, names, same) == 0 && (is_begin || !name[same])) return true;
    }
    return false;
}

/* Whether MODEL has a layer of this name, perhaps in a model inside of it: `resnet50.conv1_pad`. */
static bool has_layer(const mst_model *model, const char *name) {
    for (int64_t i = 0; i < model->num_layers; i++) {
        const char *dot = strrchr(model->layer[i].name, '.');
        if (strcmp(dot ? dot + 1 : model->layer[i].name, name) == 0) return true;
    }
    return false;
}

/* Whether the first layer is a convolution, perhaps after a padding with zeros. */
static bool is_convolved(const mst_model *model) {
    int64_t at = model->input[0].node;
    for (int64_t n = at + 1; n < model->num_nodes; n++) {
        const char *type = model->layer[model->node[n].layer].type->name;
        if (model->node[n].num_src != 1 || model->node[n].src[0] != at) continue;
        if (strcmp(type, "conv2d") == 0) return true;
        if (strcmp(type, "zero_padding2d") != 0) return false;
        at = n;
    }
    return false;
}

static int find_by_layers(const mst_model *model) {
    int i = 0;
    while (i < NUM_NETWORKS && (!networks[i].layer[0] || !has_layer(model, networks[i].layer[0]) ||
                                !has_layer(model, networks[i].layer[1])))
        i++;
    return i;
}

static int find_by_name(const char *name) {
    int i = 0;
    while (i < NUM_NETWORKS && !is_one_of(name, networks[i].names)) i++;
    return i;
}

application_pixels application_pixels_of(const mst_model *model, const network_input *input) {
    const application_pixels none = {.name = NULL};
    const mst_shape shape = input->shape;
    if (model->num_inputs != 1 || shape.ndim != 3 || shape.dim[2] != 3) return none;
    int i = model->name ? find_by_name(model->name) : NUM_NETWORKS;
    if (i < NUM_NETWORKS && input->is_rescaled) return (application_pixels){model->name, PIXELS_RAW};
    const bool is_named = i < NUM_NETWORKS;
    if (!is_named && model->from_keras) i = find_by_layers(model);
    if (i == NUM_NETWORKS || networks[i].plain == NONE || !is_convolved(model)) return none;
    return (application_pixels){is_named ? model->name : networks[i].family, networks[i].plain};
}

application_pixels application_pixels_named(const char *name) {
    const size_t size = strcspn(name, ":");
    if (strcmp(name, "resnet50") == 0) return (application_pixels){name, PIXELS_CAFFE};
    if (size == strlen("mobilenet_v2") && strncmp(name, "mobilenet_v2", size) == 0)
        return (application_pixels){"mobilenet_v2", PIXELS_TF};
    return (application_pixels){.name = NULL};
}

application_pixels application_pixels_of_weights(const char *file, const char *name, const mst_model *model,
                                                 const network_input *input) {
    const application_pixels none = {.name = NULL};
    const bool is_kind = mst_ends_in(file, ".keras") || (mst_ends_in(file, ".h5") && !mst_ends_in(file, ".weights.h5"));
    if (!is_kind || !mst_keras_is_from_keras(file)) return none;
    return model ? application_pixels_of(model, input) : application_pixels_named(name);
}
