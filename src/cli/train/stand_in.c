/* Calls the hooks of the work only while this worker is the first of those that train (stand_in.h). */
#include "cli/train/stand_in.h"

typedef mst_status (*hook)(void *context, mst_train_state *state);

static mst_status work_on(const stand_in *s, hook function, const mst_train_state *state) {
    mst_train_state seen = *state;
    seen.resumed |= s->is_late;
    return function ? function(s->work.context, &seen) : MST_OK;
}

static mst_status stop_work(stand_in *s, const mst_train_state *state) {
    if (!s->since) return MST_OK;
    s->since = 0;
    return s->close ? s->close(s->context) : work_on(s, s->work.train_end, state);
}

/* Begins the work if this worker has become the first of those that train, and ends it if this worker is no longer
 * the first. If others have trained without this worker meanwhile, the work ends and begins anew. */
static mst_status take_turn(stand_in *s, const mst_train_state *state, bool training_begins) {
    const uint32_t since = mst_task_first_since(s->task);
    if (since == s->since) return MST_OK;
    MST_TRY(stop_work(s, state));
    if (!since) return MST_OK;
    mst_train_state seen = *state;
    seen.resumed |= !training_begins;
    const mst_status status = s->open ? s->open(s->context, &seen, &s->work) : MST_OK;
    if (status) return status == MST_UNAVAILABLE ? MST_OK : status;
    s->since = since;
    s->is_late = !training_begins;
    return work_on(s, s->work.train_begin, state);
}

static mst_status stand_in_at_begin(void *context, mst_train_state *state) {
    return take_turn(context, state, true);
}

static mst_status stand_in_at_epoch(void *context, mst_train_state *state) {
    stand_in *s = context;
    MST_TRY(take_turn(s, state, false));
    return s->since ? work_on(s, s->work.epoch_begin, state) : MST_OK;
}

static mst_status stand_in_after_step(void *context, mst_train_state *state) {
    stand_in *s = context;
    MST_TRY(take_turn(s, state, false));
    return s->since ? work_on(s, s->work.step_end, state) : MST_OK;
}

static mst_status stand_in_after_epoch(void *context, mst_train_state *state) {
    stand_in *s = context;
    MST_TRY(take_turn(s, state, false));
    return s->since ? work_on(s, s->work.epoch_end, state) : MST_OK;
}

static mst_status stand_in_at_end(void *context, mst_train_state *state) {
    stand_in *s = context;
    const bool does = s->since != 0;
    s->since = 0;
    return does ? work_on(s, s->work.train_end, state) : MST_OK;
}

mst_callback stand_in_callback(stand_in *s) {
    return (mst_callback){.context = s,
                          .train_begin = stand_in_at_begin,
                          .epoch_begin = stand_in_at_epoch,
                          .step_end = stand_in_after_step,
                          .epoch_end = stand_in_after_epoch,
                          .train_end = stand_in_at_end};
}
