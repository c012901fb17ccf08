/* This server is told to leave: it says so (LEAVING), and ends when the chief has its state. */
#include "parameter_server/server_state.h"

static bool is_asked(const mst_server *s, bool (*what)(void *context)) {
    return what && what(s->options.context);
}

static mst_status say_leaving(mst_server *s, int64_t now) {
    s->leaving.since = now;
    for (int32_t w = 0; w < s->num_workers; w++) {
        const mst_task_message_head head = {.kind = MST_PS_LEAVING};
        if (s->worker[w].instance && !s->worker[w].lost) MST_TRY(mst_mail_send(s->mail, w, &head, NULL, 0, NULL));
    }
    return MST_OK;
}

/* Whether there is no state to hand over, or nobody who could take it. */
static bool has_nothing_to_leave(const mst_server *s) {
    const mst_server_worker *chief = &s->worker[s->chief];
    return !s->round || !chief->instance || chief->lost || chief->left || chief->has_state;
}

/* Ends this server when the chief has its state, or when the chief has not asked for it within `timeout` seconds. */
static mst_status go_on_leaving(mst_server *s, int64_t now) {
    if (!s->leaving.since) MST_TRY(say_leaving(s, now));
    const bool is_late = (double)(now - s->leaving.since) > s->options.timeout * 1e9;
    if (!s->leaving.may_end && !is_late && !has_nothing_to_leave(s)) return MST_OK;
    s->ended = true;
    if (s->leaving.may_end)
        mst_server_say(s, "leaves at step %lld: the chief has its state, and the others wait for its return",
                       (long long)s->step);
    else if (is_late)
        mst_server_say(s, "leaves at step %lld: the chief has not asked for its state within %g s", (long long)s->step,
                       s->options.timeout);
    return MST_FAIL(MST_CANCELLED, "the parameter server %s has left", mst_server_name(s, s->self));
}

/* A server that replays a log and is told to leave ends at once: a replay cannot go on after a task was started
 * again. */
mst_status mst_server_check_stop(mst_server *s, int64_t now) {
    const bool leaves = is_asked(s, s->options.leave);
    if (is_asked(s, s->options.stop) || (leaves && s->options.replay_updates))
        return MST_FAIL(MST_CANCELLED, "the parameter server %s was stopped", mst_server_name(s, s->self));
    return leaves || s->leaving.since ? go_on_leaving(s, now) : MST_OK;
}
