#include "store/replica_hash.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/byte_hash.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "store/store.h"

/* Hashes the bytes of COPY. If its memory is not the host's, the bytes are copied there first. */
static mst_status hash_copy(const mst_state *state, const mst_copy *copy, int64_t deadline, uint64_t *hash) {
    if (copy->domain->type->host) {
        *hash = mst_byte_hash(copy->data, state->bytes);
        return MST_OK;
    }
    void *data = calloc(1, state->bytes + 1);
    if (!data) return MST_NO_MEMORY("to compare the copies of a variable");
    const mst_status status = mst_state_copy(state, &mst_domain_host, data, copy->domain, copy->data, deadline);
    *hash = mst_byte_hash(data, state->bytes);
    free(data);
    return status;
}

static mst_status add_copy(const mst_state *state, const mst_copy *copy, int64_t deadline, mst_replica_hash *out) {
    uint64_t hash;
    MST_TRY(hash_copy(state, copy, deadline, &hash));
    if (out->num_copies++ == 0) {
        out->hash = hash;
        snprintf(out->first, sizeof out->first, "%s", copy->place);
    } else if (hash != out->hash && !out->differs) {
        out->differs = true;
        snprintf(out->place, sizeof out->place, "%s", copy->place);
    }
    return MST_OK;
}

/* Called in a turn that has begun, so no copy is written meanwhile. */
static mst_status hash_copies(mst_store *store, mst_state *state, mst_replica_hash *out) {
    mst_status status = mst_state_check_whole(state);
    if (!status && !state->version) status = MST_FAIL(MST_NOT_FOUND, "store: '%s' has no value yet", state->name);
    for (mst_copy *copy = status ? NULL : mst_state_use_next(store, state, NULL), *next; copy; copy = next) {
        if (!status) status = add_copy(state, copy, mst_store_deadline(store), out);
        next = mst_state_use_next(store, state, copy);
        mst_copy_release(store, state, copy);
    }
    return status;
}

mst_status mst_store_hash_replicas(mst_store *store, const char *container, const char *name, mst_replica_hash *out) {
    *out = (mst_replica_hash){.num_copies = 0};
    mst_use use = {.state = mst_store_find(store, container, name)};
    mst_turn turn = {.store = store};
    if (!use.state) return MST_FAIL(MST_NOT_FOUND, "store: there is no '%s'", name);
    mst_turn_visit(store, &use, 1, &turn);
    mst_status status = mst_turn_begin(&turn, mst_store_deadline(store));
    if (!status) status = hash_copies(store, use.state, out);
    mst_turn_end(&turn);
    return status;
}
