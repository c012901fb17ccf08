#include "strategy/weight_copies.h"

#include <stdio.h>
#include <string.h>

#include "graph/spec.h"
#include "store/store.h"

enum { NAME_SIZE = 1200 };

/* OUT becomes TENSOR in DTYPE, a new reference. */
static mst_status as_dtype(mst_tensor *tensor, mst_dtype dtype, mst_tensor **out) {
    if (mst_tensor_dtype(tensor) == dtype) {
        *out = mst_tensor_retain(tensor);
        return MST_OK;
    }
    MST_TRY(mst_tensor_create(dtype, mst_tensor_shape(tensor), out));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(*out, i, mst_tensor_get(tensor, i));
    return MST_OK;
}

/* Adds the copy COPY of the weight INFO, whose value is VALUE, if STORE has it whole and SNAPSHOT does not have it. */
static mst_status add_copy(mst_store *store, mst_snapshot *snapshot, const mst_state_info *info, mst_tensor *value,
                           const char *copy) {
    char name[NAME_SIZE];
    const int length = snprintf(name, sizeof name, "%s/%s", info->name, copy);
    if (length < 0 || length >= NAME_SIZE || mst_snapshot_find(snapshot, info->container, name)) return MST_OK;
    mst_state *state = mst_store_find(store, info->container, name);
    if (!state || !mst_state_has_value(store, state)) return MST_OK;
    mst_tensor *converted;
    if (!mst_shape_equal(state->spec.shape, mst_tensor_shape(value))) return MST_OK;
    MST_TRY(as_dtype(value, state->spec.dtype, &converted));
    const mst_status status = mst_snapshot_add(snapshot, info->container, name, state->kind, converted);
    mst_tensor_release(converted);
    return status;
}

mst_status mst_weight_copies_add(mst_store *store, mst_snapshot *snapshot) {
    static const char *const copies[] = {MST_COPY_AVERAGE, MST_COPY_MASTER};
    /* Entries are sorted, so one that is added may move later ones, also the one that is looked at. */
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++) {
        const mst_state_info info = mst_snapshot_info(snapshot, i);
        for (size_t k = 0; k < sizeof copies / sizeof *copies && info.kind == MST_STATE_WEIGHT; k++)
            MST_TRY(add_copy(store, snapshot, &info, mst_snapshot_value(snapshot, i), copies[k]));
    }
    return MST_OK;
}
