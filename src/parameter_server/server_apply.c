#include "parameter_server/server_apply.h"

#include "parameter_server/batch_position.h"
#include "parameter_server/server_state.h"

static mst_status run_update(mst_server *s) {
    MST_TRY(mst_session_run(s->program.session, s->gradients.feed, s->gradients.num_feeds, &s->program.train, 1, NULL));
    s->step++;
    return MST_OK;
}

/* ---- the gradients of one worker ---- */

void mst_server_hold(mst_server *s, int32_t w) {
    s->worker[w].held = !s->job.in_turn || s->worker[w].wants;
}

static void count_staleness(mst_server *s, int64_t staleness) {
    enum { LAST = MST_STALENESS_COUNTS - 1 };
    s->counts.applied++;
    s->counts.total_staleness += staleness;
    if (staleness > s->counts.most_staleness) s->counts.most_staleness = staleness;
    s->counts.staleness[staleness < LAST ? staleness : LAST]++;
}

mst_status mst_server_apply(mst_server *s, const mst_task_message *message) {
    mst_server_worker *w = &s->worker[message->from];
    const int64_t staleness = s->step - w->read;
    mst_status status = mst_server_take_alone(s, message->from);
    if (!status) status = run_update(s);
    mst_server_leave_alone(s);
    MST_TRY(status);
    count_staleness(s, staleness);
    s->position[message->from] = message->head.number + 1;
    w->computes = false;
    mst_server_hold(s, message->from);
    return mst_server_log_gradients(s, message, MST_LOGGED_UPDATE);
}

mst_status mst_server_drop_late(mst_server *s, const mst_task_message *message) {
    s->counts.dropped++;
    s->position[message->from] = message->head.number + 1;
    return mst_server_log_gradients(s, message, MST_LOGGED_DROPPED);
}

/* ---- the gradients of all workers ---- */

int32_t mst_server_count_gradients(const mst_server *s) {
    int32_t count = 0;
    for (int32_t w = 0; w < s->num_workers; w++) count += s->worker[w].gradients != NULL;
    return count;
}

/* If the gradients are of the first batch of an epoch: sets the sums that workers report back to 0. */
static mst_status begin_epoch(mst_server *s) {
    bool is_first = s->job.aggregate == s->num_workers;
    for (int32_t w = 0; w < s->num_workers && is_first; w++)
        is_first = !s->worker[w].gradients || mst_batch_of_position(s->worker[w].gradients->head.number) == 0;
    for (int32_t v = 0; v < s->variables.count && is_first; v++) {
        const mst_server_variable *at = &s->variables.at[v];
        mst_tensor *zeros;
        if (!at->is_reported) continue;
        MST_TRY(mst_tensor_create(at->spec.dtype, at->spec.shape, &zeros));
        const mst_status status =
            mst_store_set(mst_session_store(s->program.session), NULL, at->name, MST_STATE_METRIC, zeros);
        mst_tensor_release(zeros);
        MST_TRY(status);
    }
    return MST_OK;
}

mst_status mst_server_apply_together(mst_server *s) {
    MST_TRY(begin_epoch(s));
    MST_TRY(mst_server_add_up(s, mst_server_count_gradients(s)));
    MST_TRY(run_update(s));
    for (int32_t w = 0; w < s->num_workers; w++) {
        if (!s->worker[w].gradients) continue;
        s->worker[w].previous = s->position[w];
        s->position[w] = s->worker[w].gradients->head.number + 1;
        s->worker[w].waits = true;
        MST_TRY(mst_server_log_gradients(s, s->worker[w].gradients, MST_LOGGED_UPDATE));
        mst_server_drop_gradients(s, w);
    }
    s->waiting.since = 0;
    return MST_OK;
}
