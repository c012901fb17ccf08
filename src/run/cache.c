/* The plans of a session, found by (graph version, feeds, fetches). */
#include <stdlib.h>
#include <string.h>

#include "run/session.h"

enum { MAX_PLANS = 64 };

static mst_spec feed_spec(const mst_feed *feed) {
    return feed->tensor ? (mst_spec){mst_tensor_dtype(feed->tensor), mst_tensor_shape(feed->tensor)} : feed->spec;
}

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t hash_call(const mst_session *session, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                          int num_fetches) {
    uint64_t h = mix(mst_graph_version(session->graph), (uint64_t)num_feeds);
    for (int i = 0; i < num_feeds; i++) {
        mst_spec spec = feed_spec(&feeds[i]);
        h = mix(h, (uint64_t)(uintptr_t)feeds[i].value.node + (uint64_t)feeds[i].value.index);
        h = mix(h, (uint64_t)spec.dtype * 2 + (feeds[i].tensor != NULL));
        for (int k = 0; k < spec.shape.ndim; k++) h = mix(h, (uint64_t)spec.shape.dim[k]);
    }
    for (int i = 0; i < num_fetches; i++) h = mix(h, (uint64_t)(uintptr_t)fetches[i].node + (uint64_t)fetches[i].index);
    return h;
}

static bool is_for(const mst_cached_plan *cached, const mst_session *session, uint64_t hash, const mst_feed *feeds,
                   int num_feeds, const mst_value *fetches, int num_fetches) {
    if (cached->hash != hash || cached->graph_version != mst_graph_version(session->graph) ||
        cached->num_feeds != num_feeds || cached->num_fetches != num_fetches)
        return false;
    for (int i = 0; i < num_feeds; i++) {
        mst_spec spec = feed_spec(&feeds[i]);
        if (!mst_value_equal(cached->feeds[i].value, feeds[i].value) || cached->feeds[i].spec.dtype != spec.dtype ||
            !mst_shape_equal(cached->feeds[i].spec.shape, spec.shape) ||
            (cached->feeds[i].tensor != NULL) != (feeds[i].tensor != NULL))
            return false;
    }
    for (int i = 0; i < num_fetches; i++)
        if (!mst_value_equal(cached->fetches[i], fetches[i])) return false;
    return true;
}

void mst_cached_plan_destroy(mst_cached_plan *cached) {
    if (!cached) return;
    if (cached->ports.rendezvous) cached->ports.rendezvous->type->destroy(cached->ports.rendezvous);
    mst_plan_destroy(cached->plan);
    free(cached->keys);
    free(cached->feeds);
    free(cached->fetches);
    free(cached);
}

static mst_status connect(mst_session *session, mst_cached_plan *cached) {
    mst_plan *plan = cached->plan;
    for (int64_t i = 0; i < plan->num_ports; i++) plan->port[i]->run = &cached->ports;
    if (plan->num_crossings == 0) return MST_OK;
    cached->keys = malloc((size_t)plan->num_crossings * sizeof *cached->keys);
    if (!cached->keys) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    for (int64_t i = 0; i < plan->num_crossings; i++) cached->keys[i] = plan->crossing[i].key;
    return mst_rendezvous_local(plan->num_crossings, cached->keys, session->options.timeout,
                                mst_executor_spins(&session->devices), &cached->ports.rendezvous);
}

static mst_status make(mst_session *session, uint64_t hash, const mst_feed *feeds, int num_feeds,
                       const mst_value *fetches, int num_fetches, mst_cached_plan **out) {
    mst_cached_plan *cached = calloc(1, sizeof *cached);
    if (!cached) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    *out = cached;
    cached->graph_version = mst_graph_version(session->graph);
    cached->hash = hash;
    cached->num_feeds = num_feeds;
    cached->num_fetches = num_fetches;
    cached->feeds = calloc((size_t)num_feeds + 1, sizeof *cached->feeds);
    cached->fetches = calloc((size_t)num_fetches + 1, sizeof *cached->fetches);
    if (!cached->feeds || !cached->fetches) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    for (int i = 0; i < num_feeds; i++) {
        cached->feeds[i] = feeds[i];
        cached->feeds[i].spec = feed_spec(&feeds[i]);
    }
    if (num_fetches) memcpy(cached->fetches, fetches, (size_t)num_fetches * sizeof *fetches);
    MST_TRY(mst_plan_make(session->graph, &session->host, feeds, num_feeds, fetches, num_fetches, &cached->plan));
    session->plans_made++;
    return connect(session, cached);
}

void mst_session_drop_plan(mst_session *session) {
    mst_cached_plan_destroy(session->plans[0]);
    memmove(session->plans, session->plans + 1, (size_t)--session->num_plans * sizeof *session->plans);
}

/* A graph only grows: plans of an older version are for no call to come. */
static void drop_old_versions(mst_session *session) {
    int64_t kept = 0;
    for (int64_t i = 0; i < session->num_plans; i++)
        if (session->plans[i]->graph_version == mst_graph_version(session->graph))
            session->plans[kept++] = session->plans[i];
        else
            mst_cached_plan_destroy(session->plans[i]);
    session->num_plans = kept;
}

mst_status mst_session_plan(mst_session *session, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                            int num_fetches, mst_cached_plan **out) {
    uint64_t hash = hash_call(session, feeds, num_feeds, fetches, num_fetches);
    int64_t i = 0;
    while (i < session->num_plans && !is_for(session->plans[i], session, hash, feeds, num_feeds, fetches, num_fetches))
        i++;
    mst_cached_plan *found = i < session->num_plans ? session->plans[i] : NULL;
    if (i == session->num_plans) {
        drop_old_versions(session);
        MST_TRY(mst_grow(&session->plans, sizeof *session->plans, session->num_plans + 1, &session->plan_capacity));
        mst_status status = make(session, hash, feeds, num_feeds, fetches, num_fetches, &found);
        if (status == MST_OUT_OF_MEMORY && session->num_plans) {
            mst_cached_plan_destroy(found);
            found = NULL;
            while (session->num_plans) mst_session_drop_plan(session);
            status = make(session, hash, feeds, num_feeds, fetches, num_fetches, &found);
        }
        if (status) {
            mst_cached_plan_destroy(found);
            return status;
        }
        if (session->num_plans == MAX_PLANS) mst_cached_plan_destroy(session->plans[--session->num_plans]);
        i = session->num_plans++;
    }
    memmove(session->plans + 1, session->plans, (size_t)i * sizeof *session->plans);
    session->plans[0] = found;
    *out = found;
    return MST_OK;
}
