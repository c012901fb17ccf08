/* The entries of a store and their copies. Values seen from outside are in value.c, the order of reads and writes in
 * access_order.c.
 *
 * Each entry has a version, which every write raises. Each copy has the version of the value that it holds. An older
 * copy is refreshed from a current one before it is read (mst_copy_refresh), by one caller while others wait.
 *
 * Copies that are made together in one place share a block. A copy is freed when it has no users and another copy has
 * the value too; a block is freed with its last copy. Domains may be slow to allocate and free memory, so they are
 * called without the lock. */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/process.h"
#include "graph/spec.h"
#include "tensor/buffer.h"

mst_status mst_store_create(mst_store **out) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    mst_store *store = aligned_alloc(_Alignof(mst_store), sizeof *store);
    if (!store) return MST_NO_MEMORY("for a store");
    memset(store, 0, sizeof *store);
    atomic_init(&store->references, 1);
    store->process = mst_process_number();
    pthread_mutex_init(&store->lock, NULL);
    pthread_mutex_init(&store->order_lock, NULL);
    const mst_spec counter = {.dtype = MST_I64};
    mst_status status = mst_store_declare(store, "", MST_STATE_RUNS, MST_STATE_RANDOM, &counter, &store->runs_state);
    if (status) {
        mst_store_release(store);
        return status;
    }
    store->runs_state->version = 1;
    *out = store;
    return MST_OK;
}

mst_store *mst_store_retain(mst_store *store) {
    if (MST_IS_NULL(store)) return NULL;
    atomic_fetch_add(&store->references, 1);
    return store;
}

/* ---- copies ---- */

/* Takes COPY out of the list of STATE and frees it. Returns its block if that was the last copy in it. free_block is
 * called without a lock, because a device may be slow to free memory. */
static mst_block *drop_copy(mst_state *state, mst_copy *copy) {
    mst_copy **at = &state->copies;
    mst_block *block = copy->block;
    while (*at != copy) at = &(*at)->next;
    *at = copy->next;
    free(copy);
    return --block->num_copies == 0 ? block : NULL;
}

/* NULL is allowed. */
static void free_block(mst_block *block) {
    if (!block) return;
    block->domain->type->free(block->domain, block->data, block->bytes);
    free(block);
}

void mst_store_release(mst_store *store) {
    if (!store || atomic_fetch_sub(&store->references, 1) > 1) return;
    mst_store_drop_wholes(store);
    for (int64_t i = 0; i < store->num_states; i++)
        while (store->state[i]->copies) free_block(drop_copy(store->state[i], store->state[i]->copies));
    free(store->state);
    mst_state_notes_free(&store->notes);
    mst_names_free(&store->names);
    mst_arena_free(&store->arena);
    pthread_mutex_destroy(&store->lock);
    pthread_mutex_destroy(&store->order_lock);
    free(store);
}

/* A copy whose version is that of the entry; NULL if there is none. */
static mst_copy *current(const mst_state *state) {
    for (mst_copy *copy = state->copies; copy && state->version; copy = copy->next)
        if (copy->version == state->version) return copy;
    return NULL;
}

void mst_store_set_timeout(mst_store *store, double seconds) {
    const int64_t given = (int64_t)(seconds * 1e9);
    int64_t before = atomic_load(&store->timeout);
    while (before < given && !atomic_compare_exchange_weak(&store->timeout, &before, given)) {
    }
}

uint64_t mst_state_version(const mst_store *store, const mst_state *state) {
    return state->version + (state == store->runs_state ? atomic_load(&store->runs) : 0);
}

mst_status mst_state_check_whole(const mst_state *state) {
    if (!state->torn) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "'%s' is torn: a step failed while it wrote it; set it or restore it", state->name);
}

bool mst_state_has_value(mst_store *store, const mst_state *state) {
    pthread_mutex_lock(&store->lock);
    const bool has = state->version != 0;
    pthread_mutex_unlock(&store->lock);
    return has;
}

mst_copy *mst_state_use_copy(mst_store *store, const mst_state *state, const mst_domain *domain, const char *place) {
    pthread_mutex_lock(&store->lock);
    mst_copy *copy = state->copies;
    while (copy && (copy->domain != domain || strcmp(copy->place, place) != 0)) copy = copy->next;
    if (copy) copy->users++;
    pthread_mutex_unlock(&store->lock);
    return copy;
}

mst_copy *mst_state_use_current(mst_store *store, const mst_state *state) {
    pthread_mutex_lock(&store->lock);
    mst_copy *copy = current(state);
    if (copy) copy->users++;
    pthread_mutex_unlock(&store->lock);
    return copy;
}

mst_copy *mst_state_use_next(mst_store *store, const mst_state *state, const mst_copy *after) {
    pthread_mutex_lock(&store->lock);
    mst_copy *copy = after ? after->next : state->copies;
    while (copy && copy->version != state->version) copy = copy->next;
    if (copy) copy->users++;
    pthread_mutex_unlock(&store->lock);
    return copy;
}

mst_copy *mst_state_use_any(mst_store *store, const mst_state *state) {
    pthread_mutex_lock(&store->lock);
    mst_copy *copy = state->copies;
    while (copy && !copy->domain->type->host) copy = copy->next;
    if (!copy) copy = state->copies;
    if (copy) copy->users++;
    pthread_mutex_unlock(&store->lock);
    return copy;
}

static mst_block *new_block(mst_state *const *states, int64_t n, mst_domain *domain, const char *place) {
    const size_t size = strlen(place) + 1;
    mst_block *block = calloc(1, sizeof *block + size);
    if (!block) return NULL;
    *block = (mst_block){.domain = domain, .num_copies = n};
    memcpy(block->place, place, size);
    for (int64_t i = 0; i < n; i++) block->bytes += mst_domain_room(domain, states[i]->bytes);
    return block;
}

/* Asks the domain for memory before it takes the lock, because a device may be slow. */
mst_status mst_store_place(mst_store *store, mst_state *const *states, int64_t n, mst_domain *domain, const char *place,
                           mst_copy **out) {
    if (n == 0) return MST_OK;
    mst_block *block = new_block(states, n, domain, place);
    mst_status status = block ? MST_OK : MST_NO_MEMORY("for a store");
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t i = 0; i < n && !status; i++)
        if (!(out[i] = calloc(1, sizeof *out[i]))) status = MST_NO_MEMORY("for a store");
    if (!status) status = domain->type->alloc(domain, block->bytes, &block->data);
    if (status) {
        for (int64_t i = 0; i < n; i++) free(out[i]);
        free(block);
        return status;
    }
    char *next = block->data;
    pthread_mutex_lock(&store->lock);
    for (int64_t i = 0; i < n; i++) {
        *out[i] = (mst_copy){.domain = domain,
                             .place = block->place,
                             .data = next,
                             .users = 1,
                             .block = block,
                             .next = states[i]->copies};
        states[i]->copies = out[i];
        next += mst_domain_room(domain, states[i]->bytes);
    }
    pthread_mutex_unlock(&store->lock);
    return MST_OK;
}

mst_status mst_state_copy(const mst_state *state, mst_domain *to, void *dst, mst_domain *from, void *src,
                          int64_t deadline) {
    const mst_shape shape = state->spec.shape;
    const mst_array there = {.data = src, .count = mst_shape_count(shape), .dtype = state->spec.dtype, .shape = shape};
    mst_array here = there;
    here.data = dst;
    return mst_domain_copy_array(to, &here, from, &there, deadline);
}

/* Whether COPY can be freed: it has no users, and the value of STATE is in another copy too. */
static bool is_spare(const mst_state *state, const mst_copy *copy) {
    if (copy->users || state->version == 0) return false;
    if (copy->version != state->version) return true;
    for (const mst_copy *other = state->copies; other; other = other->next)
        if (other != copy && other->version == state->version) return true;
    return false;
}

/* Ends one use of COPY. Called under the lock. */
static mst_block *release(mst_state *state, mst_copy *copy) {
    copy->users--;
    return is_spare(state, copy) ? drop_copy(state, copy) : NULL;
}

void mst_copy_release(mst_store *store, mst_state *state, mst_copy *copy) {
    pthread_mutex_lock(&store->lock);
    mst_block *block = release(state, copy);
    pthread_mutex_unlock(&store->lock);
    free_block(block);
}

/* Whether the caller must refresh COPY: it is stale, and no other caller is refreshing it. If so, marks *FROM, a
 * current copy, as used. */
static bool claim_refresh(mst_state *state, mst_copy *copy, mst_copy **from) {
    *from = NULL;
    if (copy->refreshing || copy->version == state->version || !state->version) return false;
    if ((*from = current(state))) (*from)->users++;
    copy->refreshing = true;
    return true;
}

mst_status mst_copy_refresh(mst_store *store, mst_state *state, mst_copy *copy, int64_t deadline) {
    mst_copy *from;
    for (;;) {
        const uint64_t seen = mst_timeline_value(&store->refreshed);
        pthread_mutex_lock(&store->lock);
        const bool mine = claim_refresh(state, copy, &from), waits = copy->refreshing && !mine;
        pthread_mutex_unlock(&store->lock);
        if (mine) break;
        if (!waits) return MST_OK;
        if (!mst_timeline_wait(&store->refreshed, seen + 1, deadline, true))
            return MST_FAIL(MST_DEADLINE, "waited too long for the value of '%s': another step copies it", state->name);
    }
    const mst_status status = from ? mst_state_copy(state, copy->domain, copy->data, from->domain, from->data, deadline)
                                   : MST_FAIL(MST_INTERNAL, "store: the value of '%s' is lost", state->name);
    pthread_mutex_lock(&store->lock);
    copy->refreshing = false;
    if (!status) copy->version = state->version;
    mst_block *block = from ? release(state, from) : NULL;
    pthread_mutex_unlock(&store->lock);
    mst_timeline_add(&store->refreshed, 1);
    free_block(block);
    return status;
}

/* ---- entries ---- */

/* A character that is in no name of an entry. */
#define SEPARATOR "\x1f"

static mst_state *store_find(mst_store *store, const char *key) {
    const int64_t index = mst_names_get(&store->names, key);
    return index < 0 ? NULL : store->state[index];
}

/* Makes the key of (CONTAINER, NAME). *KEY is FEW if the key fits in there, else memory that the caller frees. */
static mst_status make_key(const char *container, const char *name, char few[512], char **key) {
    const size_t size = strlen(container) + strlen(name) + sizeof SEPARATOR;
    *key = size > 512 ? malloc(size) : few;
    if (!*key) return MST_NO_MEMORY("for a store");
    snprintf(*key, size, "%s" SEPARATOR "%s", container, name);
    return MST_OK;
}

mst_state *mst_store_find(mst_store *store, const char *container, const char *name) {
    char few[512], *key;
    if (make_key(container ? container : "", name, few, &key)) return NULL;
    pthread_mutex_lock(&store->lock);
    mst_state *state = store_find(store, key);
    pthread_mutex_unlock(&store->lock);
    if (key != few) free(key);
    return state;
}

mst_status mst_state_check_spec(const mst_state *state, const mst_spec *spec) {
    if (mst_spec_equal(&state->spec, spec)) return MST_OK;
    char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
    return MST_FAIL(MST_INVALID, "store: '%s' is %s there, and is wanted as %s: give one of them another name",
                    state->name, mst_spec_print(&state->spec, have, sizeof have),
                    mst_spec_print(spec, want, sizeof want));
}

static mst_status store_add(mst_store *store, const char *container, const char *name, const char *key,
                            mst_state_kind kind, const mst_spec *spec, mst_state **out) {
    mst_state *state = mst_arena_alloc(&store->arena, sizeof *state);
    const char *own_key = mst_arena_string(&store->arena, key);
    if (!state || !own_key) return MST_NO_MEMORY("for a store");
    *state = (mst_state){.container = mst_arena_string(&store->arena, container),
                         .name = mst_arena_string(&store->arena, name),
                         .number = store->num_states,
                         .kind = kind,
                         .spec = *spec,
                         .bytes = (size_t)mst_shape_count(spec->shape) * mst_dtype_size(spec->dtype)};
    if (!state->container || !state->name) return MST_NO_MEMORY("for a store");
    MST_TRY(mst_grow(&store->state, sizeof state, store->num_states + 1, &store->state_capacity));
    MST_TRY(mst_names_set(&store->names, own_key, store->num_states));
    store->state[store->num_states++] = *out = state;
    return MST_OK;
}

mst_status mst_store_declare(mst_store *store, const char *container, const char *name, mst_state_kind kind,
                             const mst_spec *spec, mst_state **out) {
    char few[512], *key;
    if (!container) container = "";
    if (spec->dtype == MST_STRING)
        return MST_FAIL(MST_INVALID, "store: '%s' is string, and only numbers can be stored", name);
    MST_TRY(make_key(container, name, few, &key));
    pthread_mutex_lock(&store->lock);
    *out = store_find(store, key);
    const mst_status status =
        *out ? mst_state_check_spec(*out, spec) : store_add(store, container, name, key, kind, spec, out);
    pthread_mutex_unlock(&store->lock);
    if (key != few) free(key);
    return status;
}

static int by_key(const void *a, const void *b) {
    const mst_state_info *x = a, *y = b;
    const int order = strcmp(x->container, y->container);
    return order ? order : strcmp(x->name, y->name);
}

mst_status mst_store_list(mst_store *store, mst_state_info **out, int64_t *count) {
    if (MST_IS_NULL(store) || MST_IS_NULL(out) || MST_IS_NULL(count)) return MST_INVALID;
    MST_TRY(mst_process_check(store->process, "store"));
    *out = NULL;
    *count = 0;
    pthread_mutex_lock(&store->lock);
    mst_state_info *list = calloc((size_t)store->num_states + 1, sizeof *list);
    const int64_t n = store->num_states;
    for (int64_t i = 0; list && i < n; i++) {
        const mst_state *state = store->state[i];
        list[i] = (mst_state_info){.container = state->container,
                                   .name = state->name,
                                   .kind = state->kind,
                                   .spec = state->spec,
                                   .bytes = (int64_t)state->bytes,
                                   .version = mst_state_version(store, state),
                                   .torn = state->torn};
    }
    pthread_mutex_unlock(&store->lock);
    if (!list) return MST_NO_MEMORY("for a list of %lld entries", (long long)n);
    if (n) qsort(list, (size_t)n, sizeof *list, by_key);
    *out = list;
    *count = n;
    return MST_OK;
}
