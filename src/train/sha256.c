#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer.h"

static int by_name(const void *a, const void *b) {
    return strcmp(mst_value_name(*(const mst_value *)a), mst_value_name(*(const mst_value *)b));
}

static mst_status add_variable(crypto_hash_sha256_state *hash, mst_session *session, mst_value variable) {
    mst_tensor *value;
    char shape[MST_SHAPE_TEXT], head[MST_SHAPE_TEXT + 512];
    MST_TRY(mst_session_get_variable(session, variable, &value));
    int size =
        snprintf(head, sizeof head, "%s %s %s\n", mst_value_name(variable), mst_dtype_name(mst_tensor_dtype(value)),
                 mst_shape_print(mst_tensor_shape(value), shape, sizeof shape));
    crypto_hash_sha256_update(hash, (const unsigned char *)head, (unsigned long long)size);
    crypto_hash_sha256_update(hash, mst_tensor_data(value), mst_tensor_bytes(value));
    mst_tensor_release(value);
    return MST_OK;
}

mst_status mst_model_sha256(mst_model *model, char hex[65]) {
    mst_trainer *trainer;
    MST_TRY(mst_trainer_of(model, &trainer));
    int count = mst_collection(trainer->graph, MST_VARIABLES, NULL, NULL, 0);
    if (count == 0) return MST_FAIL(MST_INVALID, "sha256: the model has no weights yet: train it first");
    mst_value *variables = malloc((size_t)count * sizeof *variables);
    if (!variables) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a list of variables");
    mst_collection(trainer->graph, MST_VARIABLES, NULL, variables, count);
    qsort(variables, (size_t)count, sizeof *variables, by_name);
    crypto_hash_sha256_state hash;
    crypto_hash_sha256_init(&hash);
    mst_status status = MST_OK;
    for (int i = 0; i < count && !status; i++) status = add_variable(&hash, trainer->session, variables[i]);
    free(variables);
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&hash, digest);
    for (size_t i = 0; i < sizeof digest; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return status;
}
