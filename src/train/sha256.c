/* mst_model_sha256: a hash of name, dtype, shape and bytes of all weights of a model. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "model/model.h"
#include "muster/train.h"

static mst_status add_weight(crypto_hash_sha256_state *hash, mst_store *store, const mst_state_info *weight) {
    mst_tensor *value;
    char shape[MST_SHAPE_TEXT], spec[MST_SHAPE_TEXT + 32];
    MST_TRY(mst_store_get(store, weight->container, weight->name, &value));
    const int size = snprintf(spec, sizeof spec, " %s %s\n", mst_dtype_name(weight->spec.dtype),
                              mst_shape_print(weight->spec.shape, shape, sizeof shape));
    /* names may have any length */
    crypto_hash_sha256_update(hash, (const unsigned char *)weight->name, strlen(weight->name));
    crypto_hash_sha256_update(hash, (const unsigned char *)spec, (unsigned long long)size);
    crypto_hash_sha256_update(hash, mst_tensor_data(value), mst_tensor_bytes(value));
    mst_tensor_release(value);
    return MST_OK;
}

mst_status mst_model_sha256(mst_model *model, char hex[65]) {
    if (MST_IS_NULL(model) || MST_IS_NULL(hex)) return MST_INVALID;
    mst_state_info *list;
    int64_t count;
    MST_TRY(mst_store_list(model->store, &list, &count));
    crypto_hash_sha256_state hash;
    crypto_hash_sha256_init(&hash);
    mst_status status = MST_OK;
    bool any = false;
    for (int64_t i = 0; i < count && !status; i++) {
        if (list[i].kind != MST_STATE_WEIGHT || !list[i].version) continue;
        status = add_weight(&hash, model->store, &list[i]);
        any = true;
    }
    free(list);
    if (!status && !any) return MST_FAIL(MST_INVALID, "sha256: the model has no weights yet: train it first");
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&hash, digest);
    for (size_t i = 0; i < sizeof digest; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return status;
}
