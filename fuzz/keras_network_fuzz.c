/* clang -fsanitize=fuzzer,address,undefined: networks of Keras as JSON, which become layers. */
#include <jansson.h>

#include "memory.h"
#include "model_file/keras/network.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_keras_network network;
    mst_model *model;
    json_t *config = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (!config || mst_model_create(&model)) {
        json_decref(config);
        return;
    }
    const mst_status status = mst_keras_network_read("input", config, model, &network);
    if (!status && (network.num_layers < 1 || mst_model_check(model))) __builtin_trap();
    mst_keras_network_free(&network);
    mst_model_destroy(model);
    json_decref(config);
}

FUZZ(read_input, 256, 256 << 10)
