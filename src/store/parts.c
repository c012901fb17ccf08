/* Entries that are parts (store/store.h): the optimizer's slots, if each task of a cluster keeps a part of them.
 * Checkpoints, and the state that one task sends to another, have the whole values. After these were restored or
 * gathered, the store holds them until the next step. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/spec.h"
#include "store/store.h"

void mst_store_set_part(mst_store *store, const char *container, const char *name, mst_shape whole, int64_t first) {
    mst_state *state = mst_store_find(store, container, name);
    if (!state) return;
    pthread_mutex_lock(&store->lock);
    state->is_part = true;
    state->whole = whole;
    state->part_first = first;
    pthread_mutex_unlock(&store->lock);
}

bool mst_state_takes_whole(const mst_state *state, const mst_spec *spec) {
    return state->is_part && spec->dtype == state->spec.dtype && mst_shape_equal(spec->shape, state->whole);
}

/* Lets STATE hold WHOLE. Called under the lock. */
static void hold_tensor(mst_state *state, mst_tensor *whole) {
    mst_tensor_release(state->held);
    state->held = whole ? mst_tensor_retain(whole) : NULL;
}

void mst_store_hold_whole(mst_store *store, const char *container, const char *name, mst_tensor *whole) {
    mst_state *state = mst_store_find(store, container, name);
    if (!state) return;
    pthread_mutex_lock(&store->lock);
    hold_tensor(state, whole);
    pthread_mutex_unlock(&store->lock);
}

bool mst_store_has_wholes(mst_store *store) {
    bool has = true;
    pthread_mutex_lock(&store->lock);
    for (int64_t i = 0; i < store->num_states; i++) has &= !store->state[i]->is_part || store->state[i]->held;
    pthread_mutex_unlock(&store->lock);
    return has;
}

void mst_store_drop_wholes(mst_store *store) {
    pthread_mutex_lock(&store->lock);
    for (int64_t i = 0; i < store->num_states; i++) hold_tensor(store->state[i], NULL);
    pthread_mutex_unlock(&store->lock);
}

/* Adds the whole value of entry I of PARTS to OUT. */
static mst_status add_entry(mst_store *store, const mst_snapshot *parts, int64_t i, mst_snapshot *out) {
    const mst_state_info info = mst_snapshot_info(parts, i);
    const mst_state *state = mst_store_find(store, info.container, info.name);
    mst_tensor *value = NULL;
    pthread_mutex_lock(&store->lock);
    mst_tensor *found = state && state->is_part ? state->held : mst_snapshot_value(parts, i);
    if (found) value = mst_tensor_retain(found);
    pthread_mutex_unlock(&store->lock);
    const mst_status status = value ? mst_snapshot_add(out, info.container, info.name, info.kind, value) : MST_OK;
    mst_tensor_release(value);
    return status;
}

mst_status mst_store_snapshot_wholes(mst_store *store, mst_snapshot **out) {
    mst_snapshot *parts;
    const char *key;
    *out = NULL;
    MST_TRY(mst_store_snapshot(store, &parts));
    mst_status status = mst_snapshot_create(out);
    for (int64_t i = 0; i < mst_snapshot_count(parts) && !status; i++) status = add_entry(store, parts, i, *out);
    for (int64_t i = 0; !status && (key = mst_snapshot_note_key(parts, i)); i++)
        status = mst_snapshot_set_note(*out, key, mst_snapshot_note(parts, key));
    mst_snapshot_release(parts);
    if (!status) return MST_OK;
    mst_snapshot_release(*out);
    *out = NULL;
    return status;
}
