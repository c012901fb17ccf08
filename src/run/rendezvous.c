/* The rendezvous inside one process: a number a crossing, that the sender sets to the number of the step. */
#include "run/rendezvous.h"

#include <stdlib.h>

#include "base/event.h"

enum { CACHE_LINE = 64 };

/* each on a line of its own: two devices must not fight for a line */
typedef struct place {
    _Alignas(CACHE_LINE) atomic_uint_fast64_t sent;
} place;

typedef struct local {
    mst_rendezvous head;
    mst_bed bed;
    const char *const *keys;
    int64_t num_crossings;
    double timeout;
    uint64_t number;
    atomic_uint_fast64_t aborted;
    place *places;
} local;

static mst_status local_send(mst_rendezvous *rendezvous, int32_t crossing, const mst_array *value) {
    local *r = (local *)rendezvous;
    (void)value;
    mst_event_set(&r->bed, &r->places[crossing].sent, r->number);
    return MST_OK;
}

static mst_status local_receive(mst_rendezvous *rendezvous, int32_t crossing, const mst_array *value) {
    local *r = (local *)rendezvous;
    (void)value;
    if (!mst_event_wait(&r->bed, &r->places[crossing].sent, r->number, &r->aborted, r->timeout))
        return MST_FAIL(MST_DEADLINE, "waited %.0f s for '%s': the other device is stuck, or the timeout is too short",
                        r->timeout, r->keys[crossing]);
    if (atomic_load(&r->places[crossing].sent) < r->number)
        return MST_FAIL(MST_CANCELLED, "another device failed while '%s' was waited for", r->keys[crossing]);
    return MST_OK;
}

static void local_begin(mst_rendezvous *rendezvous, uint64_t number) {
    ((local *)rendezvous)->number = number;
}

static void local_abort(mst_rendezvous *rendezvous) {
    local *r = (local *)rendezvous;
    mst_event_set(&r->bed, &r->aborted, r->number);
}

static void local_destroy(mst_rendezvous *rendezvous) {
    local *r = (local *)rendezvous;
    if (!r) return;
    mst_bed_destroy(&r->bed);
    free(r->places);
    free(r);
}

static const mst_rendezvous_type local_type = {
    .send = local_send, .receive = local_receive, .begin = local_begin, .abort = local_abort, .destroy = local_destroy};

mst_status mst_rendezvous_local(int64_t num_crossings, const char *const *keys, double timeout, bool spin,
                                mst_rendezvous **out) {
    *out = NULL;
    local *r = calloc(1, sizeof *r);
    place *places = aligned_alloc(CACHE_LINE, (size_t)(num_crossings + 1) * sizeof *places);
    if (!r || !places) {
        free(r);
        free(places);
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for %lld crossings", (long long)num_crossings);
    }
    for (int64_t i = 0; i < num_crossings; i++) atomic_init(&places[i].sent, 0);
    atomic_init(&r->aborted, 0);
    r->head.type = &local_type;
    r->places = places;
    r->keys = keys;
    r->num_crossings = num_crossings;
    r->timeout = timeout;
    mst_bed_init(&r->bed, spin);
    *out = &r->head;
    return MST_OK;
}
