#include "parameter_server/ps_kept.h"

#include <stdlib.h>
#include <string.h>

#include "messages/state_message.h"
#include "parameter_server/ps_progress.h"
#include "store/store.h"

bool mst_ps_is_kept(const mst_state_info *info) {
    /* callbacks use only entries of this kind */
    return info->kind == MST_STATE_CURSOR && strcmp(info->container, MST_PS_CONTAINER) != 0 &&
           (strncmp(info->name, "fit/", 4) != 0 || strcmp(info->name, MST_STATE_SHARDS) == 0);
}

static mst_status add_entry(mst_store *store, const mst_state_info *info, mst_snapshot *to) {
    mst_tensor *value;
    const mst_status read = mst_store_get(store, info->container, info->name, &value);
    if (read == MST_NOT_FOUND) return MST_OK; /* the entry has no value */
    MST_TRY(read);
    const mst_status status = mst_snapshot_add(to, info->container, info->name, info->kind, value);
    mst_tensor_release(value);
    return status;
}

mst_status mst_ps_kept_read(mst_store *store, mst_snapshot **out) {
    mst_state_info *list;
    int64_t count;
    MST_TRY(mst_snapshot_create(out));
    mst_status status = mst_store_list(store, &list, &count);
    for (int64_t i = 0; i < count && !status; i++)
        if (mst_ps_is_kept(&list[i])) status = add_entry(store, &list[i], *out);
    free(list);
    if (status) mst_snapshot_release(*out);
    return status;
}

mst_status mst_ps_kept_select(const mst_snapshot *state, mst_snapshot **out) {
    MST_TRY(mst_snapshot_create(out));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < mst_snapshot_count(state) && !status; i++) {
        const mst_state_info info = mst_snapshot_info(state, i);
        if (mst_ps_is_kept(&info))
            status = mst_snapshot_add(*out, info.container, info.name, info.kind, mst_snapshot_value(state, i));
    }
    if (status) mst_snapshot_release(*out);
    return status;
}

mst_status mst_ps_kept_decode(const void *data, size_t bytes, mst_snapshot **out) {
    MST_TRY(mst_state_message_decode(data, bytes, out));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < mst_snapshot_count(*out) && !status; i++) {
        const mst_state_info info = mst_snapshot_info(*out, i);
        if (!mst_ps_is_kept(&info))
            status = MST_FAIL(MST_INVALID,
                              "the saved state of callbacks has an entry '%s' that no callback saves: run the same "
                              "version of Muster on all tasks",
                              info.name);
    }
    if (status) mst_snapshot_release(*out);
    return status;
}
