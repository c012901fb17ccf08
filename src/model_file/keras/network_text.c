#include "model_file/keras/network_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/no_memory.h"
#include "model_file/keras/network.h"

mst_status mst_network_print(mst_model *model, char **out) {
    mst_keras_network network;
    json_t *config;
    *out = NULL;
    mst_status status = mst_keras_network_write(model, &config, &network);
    if (!status && !(*out = json_dumps(config, JSON_COMPACT))) status = MST_NO_MEMORY("for a network");
    json_decref(config);
    mst_keras_network_free(&network);
    return status;
}

mst_status mst_network_check_names(const mst_model *model) {
    const char *name;
    for (int64_t i = 0; (name = mst_model_layer_name(model, i)); i++)
        if (strchr(name, '/'))
            return MST_FAIL(MST_INVALID, "layer '%s': Keras takes no name with '/': give it another to save it so",
                            name);
    return MST_OK;
}

mst_status mst_network_parse(const char *name, const char *text, mst_model **out) {
    mst_keras_network network = {.num_layers = 0};
    json_error_t error;
    mst_model *model = NULL;
    json_t *config = mst_json_read_string(text, &error);
    *out = NULL;
    mst_status status = config
                            ? mst_model_create(&model)
                            : MST_FAIL(MST_CORRUPT, "'%s': the network noted in it is damaged: %s", name, error.text);
    if (!status) status = mst_keras_network_read(name, config, model, &network);
    mst_keras_network_free(&network);
    json_decref(config);
    if (status)
        mst_model_destroy(model);
    else
        *out = model;
    return status;
}
