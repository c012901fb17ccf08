/* Access to the values of a store from outside: get, set, snapshots.
 *
 * Each call takes one turn (access_order.c) for all entries that it reads or writes. So a snapshot is the state between
 * two steps, and others see all values that a call sets, or none. A snapshot is an array of tensors sorted by container
 * and name. If a snapshot is taken again, values are copied into its old tensors. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/process.h"
#include "store/store.h"
#include "tensor/tensor_check.h"

struct mst_snapshot {
    _Atomic int references;
    mst_arena arena;
    struct mst_snapshot_entry {
        mst_state_info info;
        mst_tensor *value;
    } * entry; /* sorted by container and name */
    int64_t count, capacity;
    mst_state_notes notes;
    mst_state_notes left_out; /* names and dtypes of tensors of a file that no entry can have */
};
typedef struct mst_snapshot_entry entry;

int64_t mst_store_deadline(const mst_store *store) {
    const int64_t timeout = atomic_load(&store->timeout);
    return timeout ? mst_clock_now() + timeout : mst_clock_after(MST_DEFAULT_TIMEOUT);
}

/* Waits until a turn that has been taken may read or, if it is not a visitor's, may write. */
static mst_status begin_turn(mst_turn *turn, int64_t deadline) {
    mst_status status = mst_turn_begin(turn, deadline);
    if (!status && !turn->visits) status = mst_turn_write(turn, deadline);
    if (status) mst_turn_end(turn);
    return status;
}

/* Takes a turn for all entries of KINDS in CONTAINER (NULL: in all). end_all frees its uses. Listing the entries and
 * taking the places happen under one lock. An entry that is made later has no value that this turn could see. */
static mst_status take_all(mst_store *store, unsigned kinds, const char *container, bool writes, mst_turn *turn) {
    mst_use *uses = NULL;
    int64_t room = -1, count = 0;
    pthread_mutex_lock(&store->lock);
    while (room < store->num_states) {
        room = store->num_states;
        pthread_mutex_unlock(&store->lock);
        free(uses);
        if (!(uses = calloc((size_t)room + 1, sizeof *uses))) return MST_NO_MEMORY("for a turn");
        pthread_mutex_lock(&store->lock);
    }
    for (int64_t i = 0; i < store->num_states; i++) {
        mst_state *state = store->state[i];
        if (!(kinds >> state->kind & 1u) || (container && strcmp(state->container, container) != 0)) continue;
        uses[count++] = (mst_use){.state = state, .writes = writes};
    }
    if (writes)
        mst_turn_take(store, uses, count, turn);
    else
        mst_turn_visit(store, uses, count, turn);
    pthread_mutex_unlock(&store->lock);
    return MST_OK;
}

static mst_status begin_all(mst_store *store, unsigned kinds, const char *container, bool writes, mst_turn *turn) {
    MST_TRY(take_all(store, kinds, container, writes, turn));
    const mst_status status = begin_turn(turn, mst_store_deadline(store));
    if (status) free(turn->use);
    return status;
}

static void end_all(mst_turn *turn) {
    mst_turn_end(turn);
    free(turn->use);
}

/* Copies the value of STATE to host memory, in a turn that has begun. STATE must have a value. */
static mst_status read_value(mst_store *store, mst_state *state, void *dst) {
    if (state == store->runs_state) {
        *(uint64_t *)dst = atomic_load(&store->runs);
        return MST_OK;
    }
    mst_copy *copy = mst_state_use_current(store, state);
    if (!copy) return MST_FAIL(MST_INTERNAL, "store: the value of '%s' is lost", state->name);
    mst_status status =
        mst_state_copy(state, &mst_domain_host, dst, copy->domain, copy->data, mst_store_deadline(store));
    mst_copy_release(store, state, copy);
    return status;
}

/* Copies the value of STATE to host memory, in a turn of its own. */
static mst_status read_state(mst_store *store, mst_state *state, int64_t deadline, void *dst) {
    mst_use use = {.state = state};
    mst_turn turn = {.store = store};
    mst_turn_visit(store, &use, 1, &turn);
    MST_TRY(begin_turn(&turn, deadline));
    mst_status status = mst_state_check_whole(state);
    if (!status)
        status = state->version ? read_value(store, state, dst)
                                : MST_FAIL(MST_NOT_FOUND, "store: '%s' has no value yet", state->name);
    mst_turn_end(&turn);
    return status;
}

mst_status mst_store_read_to(mst_store *store, const char *container, const char *name, const mst_spec *spec,
                             void *dst) {
    mst_state *state = mst_store_find(store, container, name);
    if (!state) return MST_FAIL(MST_NOT_FOUND, "store: there is no '%s'", name);
    MST_TRY(mst_state_check_spec(state, spec));
    return read_state(store, state, mst_store_deadline(store), dst);
}

mst_status mst_store_read(mst_store *store, const char *container, const char *name, int64_t deadline,
                          mst_tensor **out) {
    *out = NULL;
    mst_state *state = mst_store_find(store, container, name);
    if (!state) return MST_FAIL(MST_NOT_FOUND, "store: there is no '%s'", name);
    MST_TRY(mst_tensor_create(state->spec.dtype, state->spec.shape, out));
    const mst_status status = read_state(store, state, deadline, mst_tensor_data(*out));
    if (status) {
        mst_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

mst_status mst_store_get(mst_store *store, const char *container, const char *name, mst_tensor **out) {
    if (MST_IS_NULL(store) || MST_IS_NULL(name) || MST_IS_NULL(out)) return MST_INVALID;
    MST_TRY(mst_process_check(store->process, "store"));
    return mst_store_read(store, container, name, mst_store_deadline(store), out);
}

/* Writes one copy; the others are refreshed before they are read. A copy in the host's memory costs least. */
static mst_status write_value(mst_store *store, mst_state *state, const void *src, uint64_t version) {
    if (state == store->runs_state) {
        atomic_store(&store->runs, *(const uint64_t *)src);
        return MST_OK;
    }
    mst_copy *copy = mst_state_use_any(store, state);
    mst_status status = mst_state_copy(state, copy->domain, copy->data, &mst_domain_host, (void *)(uintptr_t)src,
                                       mst_store_deadline(store));
    if (!status) {
        pthread_mutex_lock(&store->lock);
        copy->version = state->version = version;
        state->torn = false;
        pthread_mutex_unlock(&store->lock);
    }
    mst_copy_release(store, state, copy);
    return status;
}

/* Gives each of the N states that has no copy a copy at rest, in the host's memory. */
static mst_status place_at_rest(mst_store *store, mst_state *const *states, int64_t n) {
    mst_state **bare = calloc((size_t)n + 1, sizeof *bare);
    mst_copy **copies = calloc((size_t)n + 1, sizeof *copies);
    mst_status status = bare && copies ? MST_OK : MST_NO_MEMORY("for a store");
    int64_t count = 0;
    pthread_mutex_lock(&store->lock);
    for (int64_t i = 0; i < n && !status; i++)
        if (!states[i]->copies && states[i] != store->runs_state) bare[count++] = states[i];
    pthread_mutex_unlock(&store->lock);
    if (!status) status = mst_store_place(store, bare, count, &mst_domain_host, "", copies);
    pthread_mutex_lock(&store->lock);
    for (int64_t i = 0; i < count && !status; i++) copies[i]->users--; /* a session may use the copy already */
    pthread_mutex_unlock(&store->lock);
    free(bare);
    free(copies);
    return status;
}

static mst_spec spec_of(const mst_tensor *value) {
    return (mst_spec){mst_tensor_dtype(value), mst_tensor_shape(value)};
}

mst_status mst_store_write(mst_store *store, const char *container, const char *name, mst_state_kind kind,
                           const mst_tensor *value, int64_t deadline) {
    const mst_spec spec = spec_of(value);
    mst_use use = {.writes = true};
    mst_turn turn = {.store = store};
    MST_TRY(mst_store_declare(store, container, name, kind, &spec, &use.state));
    MST_TRY(place_at_rest(store, &use.state, 1));
    mst_turn_take(store, &use, 1, &turn);
    MST_TRY(begin_turn(&turn, deadline));
    const mst_status status = write_value(store, use.state, mst_tensor_data(value), turn.number);
    mst_turn_end(&turn);
    return status;
}

mst_status mst_store_set(mst_store *store, const char *container, const char *name, mst_state_kind kind,
                         const mst_tensor *value) {
    if (MST_IS_NULL(store) || MST_IS_NULL(name) || MST_IS_NULL(value)) return MST_INVALID;
    MST_TRY(mst_process_check(store->process, "store"));
    return mst_store_write(store, container, name, kind, value, mst_store_deadline(store));
}

/* Removes the values of the entries of KINDS in CONTAINER (NULL: in all). */
static mst_status clear(mst_store *store, unsigned kinds, const char *container) {
    mst_turn turn = {.store = store};
    MST_TRY(begin_all(store, kinds, container, true, &turn));
    pthread_mutex_lock(&store->lock);
    for (int64_t i = 0; i < turn.num_uses; i++) {
        mst_state *state = turn.use[i].state;
        if (state == store->runs_state) continue;
        state->version = 0;
        state->torn = false;
        for (mst_copy *copy = state->copies; copy; copy = copy->next) copy->version = 0;
    }
    pthread_mutex_unlock(&store->lock);
    end_all(&turn);
    return MST_OK;
}

mst_status mst_store_clear(mst_store *store, unsigned kinds) {
    return clear(store, kinds, NULL);
}

mst_status mst_store_clear_container(mst_store *store, const char *container) {
    return clear(store, ~0u, container);
}

/* ---- notes ---- */

mst_status mst_store_set_note(mst_store *store, const char *key, const char *text) {
    if (MST_IS_NULL(store) || MST_IS_NULL(key)) return MST_INVALID;
    pthread_mutex_lock(&store->lock);
    const mst_status status = mst_state_notes_set(&store->notes, key, text);
    pthread_mutex_unlock(&store->lock);
    return status;
}

mst_status mst_store_get_note(mst_store *store, const char *key, char **out) {
    if (MST_IS_NULL(store) || MST_IS_NULL(key) || MST_IS_NULL(out)) return MST_INVALID;
    pthread_mutex_lock(&store->lock);
    const char *text = mst_state_notes_get(&store->notes, key);
    *out = text ? strdup(text) : NULL;
    pthread_mutex_unlock(&store->lock);
    return text && !*out ? MST_NO_MEMORY("for a note") : MST_OK;
}

mst_status mst_snapshot_set_note(mst_snapshot *snapshot, const char *key, const char *text) {
    if (MST_IS_NULL(snapshot) || MST_IS_NULL(key)) return MST_INVALID;
    return mst_state_notes_set(&snapshot->notes, key, text);
}

const char *mst_snapshot_note(const mst_snapshot *snapshot, const char *key) {
    if (MST_IS_NULL(snapshot) || MST_IS_NULL(key)) return NULL;
    return mst_state_notes_get(&snapshot->notes, key);
}

const char *mst_snapshot_note_key(const mst_snapshot *snapshot, int64_t i) {
    if (MST_IS_NULL(snapshot) || i < 0 || i >= snapshot->notes.count) return NULL;
    return snapshot->notes.note[i].key;
}

mst_status mst_snapshot_leave_out(mst_snapshot *snapshot, const char *name, const char *dtype) {
    enum { MOST = 64 }; /* more than that are not noted */
    if (snapshot->left_out.count == MOST) return MST_OK;
    return mst_state_notes_set(&snapshot->left_out, name, dtype);
}

const char *mst_snapshot_left_out(const mst_snapshot *snapshot, int64_t i, const char **dtype) {
    if (i < 0 || i >= snapshot->left_out.count) return NULL;
    *dtype = mst_state_notes_get(&snapshot->left_out, snapshot->left_out.note[i].key);
    return snapshot->left_out.note[i].key;
}

/* ---- snapshots ---- */

mst_status mst_snapshot_create(mst_snapshot **out) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    *out = calloc(1, sizeof **out);
    if (!*out) return MST_NO_MEMORY("for a snapshot");
    atomic_init(&(*out)->references, 1);
    return MST_OK;
}

mst_snapshot *mst_snapshot_retain(mst_snapshot *snapshot) {
    if (MST_IS_NULL(snapshot)) return NULL;
    atomic_fetch_add(&snapshot->references, 1);
    return snapshot;
}

void mst_snapshot_release(mst_snapshot *snapshot) {
    if (!snapshot || atomic_fetch_sub(&snapshot->references, 1) > 1) return;
    for (int64_t i = 0; i < snapshot->count; i++) mst_tensor_release(snapshot->entry[i].value);
    free(snapshot->entry);
    mst_state_notes_free(&snapshot->notes);
    mst_state_notes_free(&snapshot->left_out);
    mst_arena_free(&snapshot->arena);
    free(snapshot);
}

/* The index of an entry in a snapshot. If *FOUND is false, it is the index at which the entry would be inserted. */
static int64_t place_of(const mst_snapshot *snapshot, const char *container, const char *name, bool *found) {
    int64_t low = 0, high = snapshot->count;
    *found = false;
    while (low < high && !*found) {
        const int64_t middle = low + (high - low) / 2;
        const mst_state_info *info = &snapshot->entry[middle].info;
        int order = strcmp(container, info->container);
        if (!order) order = strcmp(name, info->name);
        *found = order == 0;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

/* Adds an entry that is not in the snapshot yet. VALUE is retained. */
static mst_status insert(mst_snapshot *snapshot, int64_t at, const mst_state_info *info, mst_tensor *value) {
    MST_TRY(mst_grow(&snapshot->entry, sizeof *snapshot->entry, snapshot->count + 1, &snapshot->capacity));
    entry added = {.info = *info};
    added.info.container = mst_arena_string(&snapshot->arena, info->container);
    added.info.name = mst_arena_string(&snapshot->arena, info->name);
    if (!added.info.container || !added.info.name) return MST_NO_MEMORY("for a snapshot");
    added.value = mst_tensor_retain(value);
    entry *place = snapshot->entry + at;
    memmove(place + 1, place, (size_t)(snapshot->count++ - at) * sizeof *place);
    *place = added;
    return MST_OK;
}

int64_t mst_snapshot_count(const mst_snapshot *snapshot) {
    if (MST_IS_NULL(snapshot)) return 0;
    return snapshot->count;
}

static bool has_entry(const mst_snapshot *snapshot, int64_t i) {
    if (i >= 0 && i < snapshot->count) return true;
    MST_FAIL(MST_INVALID, "snapshot: entry %lld asked for, there are %lld", (long long)i, (long long)snapshot->count);
    return false;
}

mst_state_info mst_snapshot_info(const mst_snapshot *snapshot, int64_t i) {
    if (MST_IS_NULL(snapshot) || !has_entry(snapshot, i)) return (mst_state_info){.container = "", .name = ""};
    return snapshot->entry[i].info;
}

mst_tensor *mst_snapshot_value(const mst_snapshot *snapshot, int64_t i) {
    if (MST_IS_NULL(snapshot) || !has_entry(snapshot, i)) return NULL;
    return snapshot->entry[i].value;
}

mst_tensor *mst_snapshot_find(const mst_snapshot *snapshot, const char *container, const char *name) {
    if (MST_IS_NULL(snapshot) || MST_IS_NULL(name)) return NULL;
    bool found;
    const int64_t at = place_of(snapshot, container ? container : "", name, &found);
    return found ? snapshot->entry[at].value : NULL;
}

mst_status mst_snapshot_add(mst_snapshot *snapshot, const char *container, const char *name, mst_state_kind kind,
                            mst_tensor *value) {
    if (MST_IS_NULL(snapshot) || MST_IS_NULL(name) || MST_IS_NULL(value)) return MST_INVALID;
    bool found;
    if (mst_tensor_dtype(value) == MST_STRING)
        return MST_FAIL(MST_INVALID, "snapshot: '%s' is string, and only numbers can be stored", name);
    if (!container) container = "";
    const int64_t at = place_of(snapshot, container, name, &found);
    if (found) return MST_FAIL(MST_EXISTS, "snapshot: there is a '%s' already", name);
    const mst_state_info info = {.container = container,
                                 .name = name,
                                 .kind = kind,
                                 .spec = spec_of(value),
                                 .bytes = (int64_t)mst_tensor_bytes(value),
                                 .version = 1};
    return insert(snapshot, at, &info, value);
}

/* A tensor of SPARE (may be NULL) that can be used again for the entry INFO, because there are no other references to
 * it; else NULL. */
static mst_tensor *spare_value(const mst_snapshot *spare, const mst_state_info *info) {
    bool found = false;
    const int64_t at = spare ? place_of(spare, info->container, info->name, &found) : 0;
    if (!found) return NULL;
    const mst_state_info *old = &spare->entry[at].info;
    mst_tensor *value = spare->entry[at].value;
    const bool same = old->spec.dtype == info->spec.dtype && mst_shape_equal(old->spec.shape, info->spec.shape);
    return same && mst_tensor_references(value) == 1 ? mst_tensor_retain(value) : NULL;
}

/* Makes a tensor in large pages and touches all of them, so that copying into it takes no page faults. */
static mst_status create_touched(const mst_spec *spec, mst_tensor **out) {
    MST_TRY(mst_tensor_create_untouched(spec->dtype, spec->shape, out));
    memset(mst_tensor_data(*out), 0, mst_tensor_bytes(*out));
    return MST_OK;
}

/* Allocates memory for the values of all entries that have one. This happens before the turn, because mapping pages
 * takes time, and steps would have to wait. */
static mst_status make_room(mst_store *store, const mst_snapshot *spare, mst_snapshot *snapshot) {
    mst_state_info *list;
    int64_t count;
    MST_TRY(mst_store_list(store, &list, &count));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        if (!list[i].version) continue;
        mst_tensor *value = spare_value(spare, &list[i]);
        if (!value) status = create_touched(&list[i].spec, &value);
        if (!status) status = insert(snapshot, snapshot->count, &list[i], value);
        mst_tensor_release(value);
    }
    free(list);
    return status;
}

/* Entries of a snapshot and the same entries of a store. NULL: the store does not have the entry. */
typedef struct pairs {
    mst_store *store;
    struct mst_snapshot_entry *entry;
    mst_state **state;
    uint64_t version; /* the version that a write gives to the entries */
} pairs;

static int64_t bytes_of(const mst_snapshot *snapshot) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < snapshot->count; i++) bytes += snapshot->entry[i].info.bytes;
    return bytes;
}

static mst_status read_some(void *context, int64_t begin, int64_t end, int member) {
    const pairs *p = context;
    (void)member;
    for (int64_t i = begin; i < end; i++) {
        if (!p->state[i]) continue;
        MST_TRY(read_value(p->store, p->state[i], mst_tensor_data(p->entry[i].value)));
        p->entry[i].info.version = mst_state_version(p->store, p->state[i]);
    }
    return MST_OK;
}

/* Copies the values for which room was made. Drops entries that have lost their values since then. */
static mst_status fill_room(mst_store *store, mst_snapshot *snapshot) {
    const int64_t made = snapshot->count;
    pairs p = {.store = store, .entry = snapshot->entry, .state = calloc((size_t)made + 1, sizeof(mst_state *))};
    if (!p.state) return MST_NO_MEMORY("for a snapshot");
    for (int64_t i = 0; i < made; i++) {
        mst_state *state = mst_store_find(store, snapshot->entry[i].info.container, snapshot->entry[i].info.name);
        if (state && state->version) p.state[i] = state;
    }
    const mst_status status = mst_copy_parallel(bytes_of(snapshot), made, read_some, &p);
    snapshot->count = 0;
    for (int64_t i = 0; i < made; i++)
        if (p.state[i] && !status)
            snapshot->entry[snapshot->count++] = snapshot->entry[i];
        else
            mst_tensor_release(snapshot->entry[i].value);
    free(p.state);
    return status;
}

/* Fails if one of the first NUM_STATES entries, for which a turn was taken, is torn. */
static mst_status check_whole(mst_store *store, int64_t num_states) {
    mst_status status = MST_OK;
    pthread_mutex_lock(&store->lock);
    for (int64_t i = 0; i < num_states && !status; i++) status = mst_state_check_whole(store->state[i]);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* Copies all values, in a turn of NUM_STATES entries that has begun. Adds entries that have got a value since room was
 * made. Entries that were made after the turn was taken have no value in this snapshot. */
static mst_status snapshot_fill(mst_store *store, int64_t num_states, mst_snapshot *snapshot) {
    mst_state_info *list = NULL;
    int64_t count = 0;
    mst_status status = check_whole(store, num_states);
    if (!status) status = fill_room(store, snapshot);
    if (!status) status = mst_store_list(store, &list, &count);
    for (int64_t i = 0; i < count && !status; i++) {
        mst_tensor *value = NULL;
        bool found;
        const int64_t at = place_of(snapshot, list[i].container, list[i].name, &found);
        if (!list[i].version || found) continue;
        mst_state *state = mst_store_find(store, list[i].container, list[i].name);
        if (!state || state->number >= num_states) continue;
        status = mst_tensor_create(list[i].spec.dtype, list[i].spec.shape, &value);
        if (!status) status = read_value(store, state, mst_tensor_data(value));
        if (!status) status = insert(snapshot, at, &list[i], value);
        mst_tensor_release(value);
    }
    free(list);
    return status;
}

/* Takes a snapshot, into the tensors of SPARE where possible. SPARE may be NULL. */
static mst_status take_snapshot(mst_store *store, const mst_snapshot *spare, mst_snapshot **out) {
    *out = NULL;
    mst_snapshot *snapshot;
    mst_turn turn = {.store = store};
    MST_TRY(mst_snapshot_create(&snapshot));
    mst_status status = make_room(store, spare, snapshot);
    if (!status) status = begin_all(store, ~0u, NULL, false, &turn);
    if (!status) {
        status = snapshot_fill(store, turn.num_uses, snapshot);
        end_all(&turn);
    }
    pthread_mutex_lock(&store->lock);
    if (!status) status = mst_state_notes_copy_all(&snapshot->notes, &store->notes);
    pthread_mutex_unlock(&store->lock);
    if (status)
        mst_snapshot_release(snapshot);
    else
        *out = snapshot;
    return status;
}

mst_status mst_store_snapshot(mst_store *store, mst_snapshot **out) {
    if (MST_IS_NULL(store) || MST_IS_NULL(out)) return MST_INVALID;
    MST_TRY(mst_process_check(store->process, "store"));
    return take_snapshot(store, NULL, out);
}

mst_status mst_store_snapshot_again(mst_store *store, mst_snapshot **snapshot) {
    if (MST_IS_NULL(store) || MST_IS_NULL(snapshot)) return MST_INVALID;
    MST_TRY(mst_process_check(store->process, "store"));
    mst_snapshot *old = *snapshot, *taken;
    const bool only_ours = old && atomic_load(&old->references) == 1;
    MST_TRY(take_snapshot(store, only_ours ? old : NULL, &taken));
    mst_snapshot_release(old);
    *snapshot = taken;
    return MST_OK;
}

static mst_status write_some(void *context, int64_t begin, int64_t end, int member) {
    const pairs *p = context;
    (void)member;
    for (int64_t i = begin; i < end; i++) {
        const char *data = mst_tensor_data(p->entry[i].value);
        const bool whole = mst_state_takes_whole(p->state[i], &p->entry[i].info.spec);
        if (whole) data += (size_t)p->state[i]->part_first * mst_dtype_size(p->state[i]->spec.dtype);
        MST_TRY(write_value(p->store, p->state[i], data, p->version));
    }
    return MST_OK;
}

static mst_status set_all(mst_store *store, const mst_snapshot *snapshot, mst_state **states, uint64_t version) {
    pairs p = {.store = store, .entry = snapshot->entry, .state = states, .version = version};
    return mst_copy_parallel(bytes_of(snapshot), snapshot->count, write_some, &p);
}

/* Finds or makes the store's entries for those of the snapshot, and fills their uses. Every error is found before the
 * first entry is made. */
static mst_status find_states(mst_store *store, const mst_snapshot *snapshot, mst_state **states, mst_use *uses) {
    for (int64_t i = 0; i < snapshot->count; i++) {
        const mst_state_info *info = &snapshot->entry[i].info;
        const mst_state *state = mst_store_find(store, info->container, info->name);
        if (state && !mst_state_takes_whole(state, &info->spec)) MST_TRY(mst_state_check_spec(state, &info->spec));
    }
    for (int64_t i = 0; i < snapshot->count; i++) {
        const mst_state_info *info = &snapshot->entry[i].info;
        states[i] = mst_store_find(store, info->container, info->name);
        if (!states[i])
            MST_TRY(mst_store_declare(store, info->container, info->name, info->kind, &info->spec, &states[i]));
        uses[i] = (mst_use){.state = states[i], .writes = true};
    }
    return place_at_rest(store, states, snapshot->count);
}

mst_status mst_store_restore(mst_store *store, const mst_snapshot *snapshot) {
    if (MST_IS_NULL(store) || MST_IS_NULL(snapshot)) return MST_INVALID;
    MST_TRY(mst_process_check(store->process, "store"));
    mst_turn turn = {.store = store};
    mst_state **states = calloc((size_t)snapshot->count + 1, sizeof *states);
    mst_use *uses = calloc((size_t)snapshot->count + 1, sizeof *uses);
    mst_status status = states && uses ? MST_OK : MST_NO_MEMORY("to restore a snapshot");
    if (!status) status = find_states(store, snapshot, states, uses);
    if (!status) {
        mst_turn_take(store, uses, snapshot->count, &turn);
        status = begin_turn(&turn, mst_store_deadline(store));
    }
    if (!status) {
        status = set_all(store, snapshot, states, turn.number);
        mst_turn_end(&turn);
    }
    for (int64_t i = 0; i < snapshot->count && !status; i++) {
        const mst_state_info *info = &snapshot->entry[i].info;
        if (states[i]->is_part)
            mst_store_hold_whole(store, info->container, info->name,
                                 mst_state_takes_whole(states[i], &info->spec) ? snapshot->entry[i].value : NULL);
    }
    pthread_mutex_lock(&store->lock);
    if (!status) status = mst_state_notes_copy_all(&store->notes, &snapshot->notes);
    pthread_mutex_unlock(&store->lock);
    free(states);
    free(uses);
    return status;
}
