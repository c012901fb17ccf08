#include "sessions/part_plans.h"

#include <stdlib.h>

#include "base/no_memory.h"
#include "graph/graph.h"

enum { EACH_FEED = 32, EACH_FETCH = 16 /* bytes of the shortest one in a message */ };

struct mst_session_part_plan {
    mst_session_part_plan *next;
    uint64_t number;
    struct mst_cached_plan *plan;
    int32_t num_feeds, num_fetches;
};

static mst_status open_log(mst_session_part_log *log, bool wanted) {
    if (wanted && !(log->file = open_memstream(&log->text, &log->bytes))) return MST_NO_MEMORY("for a log of plans");
    return MST_OK;
}

mst_status mst_session_part_plans_init(mst_session_part_plans *plans, bool logs, bool wants_plans) {
    pthread_mutex_init(&plans->lock, NULL);
    plans->is_used = true;
    MST_TRY(open_log(&plans->placements, logs));
    return open_log(&plans->made, wants_plans);
}

void mst_session_part_plans_free(mst_session_part_plans *plans, mst_session *session) {
    while (plans->first) mst_session_part_plans_forget(plans, session, plans->first->number);
}

static void close_log(mst_session_part_log *log) {
    if (log->file) fclose(log->file);
    free(log->text);
}

void mst_session_part_plans_close_logs(mst_session_part_plans *plans) {
    close_log(&plans->placements);
    close_log(&plans->made);
    if (plans->is_used) pthread_mutex_destroy(&plans->lock);
}

/* ---- making ---- */

static mst_status get_value(mst_wire_reader *r, const mst_graph *graph, mst_value *out) {
    const char *name = mst_wire_get_text(r);
    if (r->wrong || mst_graph_find_value(graph, name, out)) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "the leader has named '%s', which is no value of the session's graph", name);
}

static mst_status get_call(mst_wire_reader *r, const mst_graph *graph, int32_t num_feeds, mst_feed *feeds,
                           mst_value **fetches, int32_t *num_fetches) {
    for (int32_t i = 0; i < num_feeds; i++) {
        MST_TRY(get_value(r, graph, &feeds[i].value));
        feeds[i].spec = mst_wire_get_spec(r);
    }
    *num_fetches = mst_wire_get_count(r, EACH_FETCH);
    *fetches = calloc((size_t)*num_fetches + 1, sizeof **fetches);
    if (!*fetches) return MST_NO_MEMORY("for a plan");
    for (int32_t i = 0; i < *num_fetches; i++) MST_TRY(get_value(r, graph, &(*fetches)[i]));
    return mst_wire_check_read(r, "the leader");
}

/* Adds to OUT what the session has written to LOG since the last call. */
static void put_log(mst_session_part_log *log, mst_wire_writer *out) {
    if (!log->file) {
        mst_wire_put_text(out, "");
        return;
    }
    fputc('\0', log->file); /* ends the new text: older, longer text may still follow in the buffer */
    if (fflush(log->file)) out->failed = true;
    mst_wire_put_text(out, log->text);
    rewind(log->file);
}

static void put_answer(mst_session_part_plans *plans, const mst_session_part_plan *plan, int32_t num_tasks,
                       mst_wire_writer *out) {
    const mst_session_part_plan_info info = mst_session_part_describe_plan(plan->plan);
    mst_wire_put_number(out, info.hash);
    put_log(&plans->made, out);
    mst_wire_put_number(out, info.commits);
    mst_wire_put_number(out, info.has_step);
    for (int32_t i = 0; i < num_tasks; i++) mst_wire_put_number(out, info.runs_on[i]);
    for (int32_t i = 0; i < plan->num_feeds; i++) mst_wire_put_number(out, (uint64_t)info.feed_task[i]);
    for (int32_t i = 0; i < plan->num_fetches; i++) mst_wire_put_number(out, (uint64_t)info.fetch_task[i]);
    put_log(&plans->placements, out);
}

static mst_status make_plan(mst_session_part_plan *plan, mst_session *session, const mst_graph *graph,
                            mst_wire_reader *r) {
    plan->num_feeds = mst_wire_get_count(r, EACH_FEED);
    mst_feed *feeds = calloc((size_t)plan->num_feeds + 1, sizeof *feeds);
    mst_value *fetches = NULL;
    mst_status status = feeds ? MST_OK : MST_NO_MEMORY("for a plan");
    if (!status) status = get_call(r, graph, plan->num_feeds, feeds, &fetches, &plan->num_fetches);
    if (!status)
        status = mst_session_part_make_plan(session, feeds, plan->num_feeds, fetches, plan->num_fetches, &plan->plan);
    free(feeds);
    free(fetches);
    return status;
}

mst_status mst_session_part_plans_make(mst_session_part_plans *plans, mst_session *session, const mst_graph *graph,
                                       uint64_t number, int32_t num_tasks, mst_wire_reader *r, mst_wire_writer *out) {
    mst_session_part_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return MST_NO_MEMORY("for a plan");
    plan->number = number;
    const mst_status status = make_plan(plan, session, graph, r);
    if (status) {
        free(plan);
        return status;
    }
    put_answer(plans, plan, num_tasks, out);
    pthread_mutex_lock(&plans->lock);
    plan->next = plans->first;
    plans->first = plan;
    pthread_mutex_unlock(&plans->lock);
    return MST_OK;
}

/* ---- finding ---- */

static mst_session_part_plan **find_plan(mst_session_part_plans *plans, uint64_t number) {
    mst_session_part_plan **at = &plans->first;
    while (*at && (*at)->number != number) at = &(*at)->next;
    return at;
}

void mst_session_part_plans_forget(mst_session_part_plans *plans, mst_session *session, uint64_t number) {
    pthread_mutex_lock(&plans->lock);
    mst_session_part_plan **at = find_plan(plans, number), *plan = *at;
    if (plan) *at = plan->next;
    pthread_mutex_unlock(&plans->lock);
    if (!plan) return;
    mst_session_part_release_plan(session, plan->plan, true);
    free(plan);
}

mst_status mst_session_part_plans_find(mst_session_part_plans *plans, uint64_t number, int32_t num_feeds,
                                       struct mst_cached_plan **out, int32_t *num_fetches) {
    pthread_mutex_lock(&plans->lock);
    const mst_session_part_plan *plan = *find_plan(plans, number);
    if (plan) {
        *out = plan->plan;
        *num_fetches = plan->num_fetches;
    }
    const bool fits = plan && plan->num_feeds == num_feeds;
    pthread_mutex_unlock(&plans->lock);
    return fits ? MST_OK : MST_FAIL(MST_INTERNAL, "the leader has asked for a run without a plan");
}
