#include "parameter_server/ps_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster/tensor.h"

enum { NAME = 48, NUMBERS = 2 };
static const mst_ps_progress none = {.updates = -1}; /* marks an entry as no longer valid */

static const char *name_of(int32_t ps, int32_t worker, char text[NAME]) {
    snprintf(text, NAME, "progress_%d_%d", (int)ps, (int)worker);
    return text;
}

static mst_status make(mst_ps_progress progress, mst_tensor **out) {
    return mst_tensor_copy(MST_I64, MST_SHAPE(NUMBERS), (const int64_t[]){progress.updates, progress.position}, out);
}

/* Whether VALUE, which may be NULL, is valid progress. */
static bool read(const mst_tensor *value, mst_ps_progress *out) {
    if (!value || mst_tensor_dtype(value) != MST_I64 || mst_tensor_count(value) != NUMBERS) return false;
    const int64_t *numbers = mst_tensor_data((mst_tensor *)(uintptr_t)value);
    *out = (mst_ps_progress){.updates = numbers[0], .position = numbers[1]};
    return out->updates >= 0 && out->position >= 0;
}

bool mst_ps_progress_is_of(const mst_state_info *info, int32_t ps) {
    int32_t is, worker;
    char text[NAME];
    return strcmp(info->container, MST_PS_CONTAINER) == 0 &&
           sscanf(info->name, "progress_%" SCNd32 "_%" SCNd32, &is, &worker) == 2 &&
           strcmp(info->name, name_of(is, worker, text)) == 0 && (ps == MST_PS_ANY || ps == is);
}

mst_status mst_ps_progress_store(mst_store *store, int32_t ps, int32_t worker, mst_ps_progress progress) {
    char name[NAME];
    mst_tensor *value;
    MST_TRY(make(progress, &value));
    const mst_status status =
        mst_store_set(store, MST_PS_CONTAINER, name_of(ps, worker, name), MST_STATE_CURSOR, value);
    mst_tensor_release(value);
    return status;
}

bool mst_ps_progress_find(const mst_snapshot *state, int32_t ps, int32_t worker, mst_ps_progress *out) {
    char name[NAME];
    return read(mst_snapshot_find(state, MST_PS_CONTAINER, name_of(ps, worker, name)), out);
}

bool mst_ps_progress_find_any(const mst_snapshot *state, mst_ps_progress *out) {
    bool found = false;
    for (int64_t i = 0; i < mst_snapshot_count(state) && !found; i++) {
        const mst_state_info info = mst_snapshot_info(state, i);
        found = mst_ps_progress_is_of(&info, MST_PS_ANY) && read(mst_snapshot_value(state, i), out);
    }
    return found;
}

static mst_status forget(mst_snapshot *state, const mst_state_info *info) {
    mst_tensor *value;
    MST_TRY(make(none, &value));
    const mst_status status = mst_snapshot_add(state, info->container, info->name, info->kind, value);
    mst_tensor_release(value);
    return status;
}

mst_status mst_ps_progress_forget_others(mst_store *store, mst_snapshot *state) {
    mst_state_info *entry;
    int64_t count;
    mst_status status = mst_store_list(store, &entry, &count);
    MST_TRY(status);
    for (int64_t i = 0; i < count && !status; i++)
        if (mst_ps_progress_is_of(&entry[i], MST_PS_ANY) && !mst_snapshot_find(state, MST_PS_CONTAINER, entry[i].name))
            status = forget(state, &entry[i]);
    free(entry);
    return status;
}
