#include "parameter_server/server_answer.h"

#include "parameter_server/server_state.h"

mst_status mst_server_answer(mst_server *s, int32_t w) {
    if (s->options.replay_updates) {
        s->worker[w].held = true;
        return mst_server_go_on_with_replay(s);
    }
    return mst_server_send_values(s, MST_PS_VALUES, w, w + 1, NULL);
}

static bool waits(const mst_server_worker *w) {
    return w->waits;
}

mst_status mst_server_answer_waiting(mst_server *s) {
    const bool replays = s->options.replay_updates != NULL;
    if (!replays) MST_TRY(mst_server_send_values(s, MST_PS_VALUES, 0, s->num_workers, waits));
    for (int32_t w = 0; w < s->num_workers; w++) {
        s->worker[w].held |= replays && s->worker[w].waits;
        s->worker[w].waits = false;
    }
    return replays ? mst_server_go_on_with_replay(s) : MST_OK;
}

/* Whether the worker is absent, but may join and get values at any time: it has not come yet, or is lost. */
static bool is_away(const mst_server_worker *w) {
    return (!w->instance || w->lost) && !w->left && !w->finished;
}

/* Whether worker W may get values now without any worker's gradients becoming too old. In the worst case each other
 * computing worker's gradients are applied before the oldest ones. Absent workers count too, since they may join at any
 * time. */
static bool may_compute(const mst_server *s, int32_t w) {
    int64_t others = 0, oldest = s->step;
    if (s->job.staleness < 0) return true;
    for (int32_t i = 0; i < s->num_workers; i++) {
        const bool computes = s->worker[i].computes;
        if (i == w || !(computes || is_away(&s->worker[i]))) continue;
        others++;
        if (computes && s->worker[i].read < oldest) oldest = s->worker[i].read;
    }
    return others == 0 || s->step - oldest + others <= s->job.staleness;
}

mst_status mst_server_answer_held(mst_server *s) {
    if (s->options.replay_updates) return mst_server_go_on_with_replay(s);
    for (int32_t w = 0; w < s->num_workers; w++)
        if (s->worker[w].held && may_compute(s, w)) MST_TRY(mst_server_answer(s, w));
    return MST_OK;
}
