/* Which workers are there: a process says HELLO, is lost, or cannot join. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/cluster_spec.h"
#include "parameter_server/server_state.h"

/* Warns the worker that has sent MESSAGE that its machine differs from that of the first worker, as TEXT says. Only one
 * server warns, once per process. */
static mst_status warn_of_machine(mst_server *s, const mst_task_message *message, const char *text) {
    if (s->worker[message->from].instance == message->instance ||
        mst_cluster_task(s->options.cluster, s->self).index > 0)
        return MST_OK;
    mst_server_say(s, "%s", text);
    MST_TRY(mst_server_send_line(s, MST_PS_NOTICE, s->first.worker, 0, text));
    return mst_server_send_line(s, MST_PS_NOTICE, message->from, 0, text);
}

/* Compares the fingerprints in MESSAGE with those of the first worker that came. */
static mst_status check_fingerprints(mst_server *s, const mst_task_message *message) {
    mst_fingerprint theirs[MST_FINGERPRINTS_MOST];
    const int32_t count = mst_fingerprints_take(message->body, message->bytes, theirs);
    char first[sizeof s->text], text[1024];
    if (count < 0)
        return MST_FAIL(MST_INVALID, "%s runs another version of Muster: run the same on all tasks",
                        mst_server_name(s, message->from));
    if (!s->first.num_fingerprints ||
        /* before BEGIN a new process of the first worker may have other options */
        (!s->round && s->first.worker == message->from)) {
        s->first.worker = message->from;
        s->first.num_fingerprints = count;
        memcpy(s->first.fingerprint, theirs, (size_t)count * sizeof *theirs);
    }
    mst_mail_name(s->mail, s->first.worker, first, sizeof first);
    const bool differs = mst_fingerprints_differ(s->first.fingerprint, s->first.num_fingerprints, first, theirs, count,
                                                 mst_server_name(s, message->from), text, sizeof text);
    if (differs) return MST_FAIL(MST_INVALID, "%s", text);
    const uint64_t instructions = mst_fingerprints_instructions(theirs, count);
    const bool has_less = mst_server_lacks_instructions(s, instructions);
    const bool is_other_machine =
        mst_fingerprints_warn(s->first.fingerprint, s->first.num_fingerprints, first, theirs, count,
                              mst_server_name(s, message->from), !has_less, text, sizeof text);
    if (has_less) return MST_FAIL(MST_INVALID, "%s", text);
    s->worker[message->from].instructions = instructions;
    return is_other_machine ? warn_of_machine(s, message, text) : MST_OK;
}

mst_status mst_server_call_chief(mst_server *s) {
    mst_server_worker *chief = &s->worker[s->chief];
    for (int32_t w = 0; w < s->num_workers && chief->left; w++) {
        if (!s->worker[w].waits) continue;
        chief->left = false;
        return mst_server_send_empty(s, s->chief, chief->request);
    }
    return MST_OK;
}

mst_status mst_server_greet(mst_server *s, const mst_task_message *message) {
    mst_server_worker *w = &s->worker[message->from];
    const mst_status status = check_fingerprints(s, message);
    if (status && s->round && w->instance) { /* an earlier process was accepted: only this one is refused */
        mst_server_say(s, "refuses %s: %s", mst_server_name(s, message->from), mst_error()->message);
        return mst_server_send_line(s, MST_PS_FAILED, message->from, message->head.request, mst_error()->message);
    }
    MST_TRY(mst_server_check_instance(s, message));
    if (w->instance && w->instance != message->instance) {
        mst_server_say(s, "%s was started again", mst_server_name(s, message->from));
        MST_TRY(mst_update_writer_add_again(&s->update_log, s->step, message->from));
    }
    mst_server_forget_listed(s, message->from);
    /* with one order all servers have these gradients, and keep them */
    if (!s->order.num_ps) mst_server_drop_gradients(s, message->from);
    /* the last state was in the chief's earlier process */
    if (message->from == s->chief && w->instance != message->instance) s->end.is_closed = false;
    w->instance = message->instance;
    w->request = message->head.request;
    w->lost = s->end.all_left = 0;
    w->has = -1;
    w->kept_out_since = 0;
    w->left = w->gone = w->finished = w->has_state = w->agrees = false;
    if (status) return status;
    MST_TRY(mst_server_agree(s));
    /* larger if this server was started again */
    if (message->head.step > s->end.trainings) s->end.trainings = message->head.step;
    if (mst_server_wants_previous(s, message->from, message->head.number))
        return mst_server_send_previous(s, message->from);
    if (s->round) return mst_server_answer(s, message->from);
    w->waits = message->from != s->chief;
    return w->waits ? mst_server_call_chief(s) : mst_server_send_empty(s, message->from, w->request);
}

void mst_server_lose_worker(mst_server *s, const mst_task_message *message) {
    mst_server_worker *w = &s->worker[message->from];
    if (!w->instance || w->left || w->lost || (message->instance && message->instance != w->instance)) return;
    w->lost = mst_clock_now();
    w->computes = false; /* it may never send gradients of the values that it has read */
    snprintf(w->why, sizeof w->why, "%s", (const char *)message->body);
    mst_server_say(s, "%s is lost: %s", mst_server_name(s, message->from), w->why);
}

void mst_server_hear_cannot_join(mst_server *s, const mst_task_message *p) {
    const bool is_another = p->instance && p->head.number > 1 && p->head.number < s->num_workers + 2;
    mst_server_worker *w = &s->worker[is_another ? p->head.number - 2 : p->from];
    w->kept_out_since = mst_clock_now();
    snprintf(w->kept_out, sizeof w->kept_out, "%s", (const char *)p->body);
    /* the sender has replaced the worker's connection, so the worker is not connected now */
    if (!is_another && p->instance && w->instance && w->instance != p->instance && !w->left)
        w->lost = w->kept_out_since;
}

/* Decides about processes that cannot join. The job goes on if the worker has come before, or if the job has begun
 * before: then either this is a second process of the worker, or the worker was lost and is waited for. Otherwise the
 * job ends. If this server was itself started again, it does not know whether the job has begun: it first gives the
 * chief some time to begin a new round. */
mst_status mst_server_check_kept_out(mst_server *s, int64_t now) {
    static const int64_t CHIEF_MAY_BE_LATE = INT64_C(2000000000); /* nanoseconds */
    for (int32_t i = 0; i < s->num_workers; i++) {
        mst_server_worker *w = &s->worker[i];
        if (!w->kept_out_since || (!s->round && now - w->kept_out_since <= CHIEF_MAY_BE_LATE)) continue;
        if (!s->round || (!w->instance && !s->job.is_again))
            return MST_FAIL(MST_UNAVAILABLE, "%s: %s", mst_server_name(s, i), w->kept_out);
        w->kept_out_since = 0;
        mst_server_say(s, "%s cannot join, and the job goes on: %s", mst_server_name(s, i), w->kept_out);
    }
    return MST_OK;
}
