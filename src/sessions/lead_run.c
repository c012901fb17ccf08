/* Runs. The leader numbers the runs of all sessions, and sends each run to all of its tasks at once. All tasks
 * therefore queue any two runs in the same order, and tasks cannot wait for each other in a circle. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "sessions/lead_inside.h"

/* The tasks end a run after its time limit, but a run that writes variables may take as long again. The leader itself
 * ends a run when LONGER times the time limit plus GRACE have passed. */
static const double LONGER = 2, GRACE = 5; /* factor; seconds */

static bool runs_on(const mst_lead_session *s, int32_t task) {
    return s->plan->runs_on[task];
}

/* ---- beginning ---- */

typedef struct run_request {
    bool initial;
    mst_tensor **feed;
    int32_t num_feeds;
} run_request;

static mst_status read_request(mst_lead_session *s, run_request *out) {
    mst_wire_reader r = {.at = s->request->body, .left = s->request->bytes};
    mst_wire_get_number(&r); /* skips the number of the plan */
    out->initial = mst_wire_get_within(&r, 0, 1);
    s->run.counts = !mst_wire_get_within(&r, 0, 1) && !s->plan->has_step;
    out->feed = mst_tensors_get(&r, &out->num_feeds);
    MST_TRY(mst_wire_check_read(&r, "the client"));
    if (out->num_feeds == s->plan->num_feeds) return MST_OK;
    return MST_FAIL(MST_INTERNAL, "the client has given %d feeds to a plan of %d", (int)out->num_feeds,
                    (int)s->plan->num_feeds);
}

static void send_run(mst_lead_session *s, int32_t task, const run_request *request) {
    mst_wire_writer w = {0};
    mst_wire_put_number(&w, s->ticket);
    mst_wire_put_number(&w, s->plan->number);
    mst_wire_put_real(&w, s->open.timeout);
    mst_wire_put_number(&w, (uint64_t)(-1 - s->runs)); /* the random number, which must be below 0 */
    mst_wire_put_number(&w, request->initial);
    mst_wire_put_number(&w, (uint64_t)request->num_feeds);
    for (int32_t i = 0; i < request->num_feeds; i++)
        mst_wire_put_optional(&w, s->plan->feed_task[i] == task ? request->feed[i] : NULL);
    mst_lead_send(s->lead, task, MST_PART_RUN, s->id, s->run.number, &w, NULL, 0);
    mst_wire_free(&w);
}

void mst_lead_run_begin(mst_lead_session *s) {
    mst_lead *lead = s->lead;
    run_request request = {0};
    mst_lead_run *run = &s->run;
    mst_lead_begin_stage(s, MST_LEAD_RUNS);
    mst_status status = read_request(s, &request);
    run->output = status ? NULL : calloc((size_t)s->plan->num_fetches + 1, sizeof *run->output);
    if (!status && !run->output) status = MST_NO_MEMORY("for a run");
    for (int32_t i = 0; i < request.num_feeds && !status; i++)
        if (s->plan->feed_task[i] >= 0 && !request.feed[i])
            status = MST_FAIL(MST_INTERNAL, "the client has not sent feed %d", (int)i);
    run->number = ++lead->last_run;
    run->decided = run->overtaken = false;
    run->num_voted = 0;
    for (int32_t i = 0; i < lead->num_tasks; i++) run->voted[i] = false;
    for (int32_t i = 0; i < lead->num_tasks && !status; i++)
        if (runs_on(s, i)) mst_lead_await(s, i);
    for (int32_t i = 0; i < lead->num_tasks && !status; i++)
        if (runs_on(s, i)) send_run(s, i, &request);
    mst_tensors_free(request.feed, request.num_feeds);
    s->deadline = mst_clock_after(LONGER * s->open.timeout + GRACE);
    if (status) mst_lead_keep_error(s, status);
}

/* ---- votes and the decision ---- */

static void tell_decision(mst_lead_session *s, const mst_failure *failure) {
    mst_wire_writer w = {0};
    s->run.decided = true;
    mst_wire_put_failure(&w, failure);
    for (int32_t i = 0; i < s->lead->num_tasks; i++)
        if (s->awaits[i]) mst_lead_send(s->lead, i, MST_PART_DECIDE, s->id, s->run.number, &w, NULL, 0);
    mst_wire_free(&w);
}

void mst_lead_run_refuse(mst_lead_session *s) {
    if (!s->run.decided) tell_decision(s, &s->failure);
}

static mst_lead_session *find_run(mst_lead *lead, const mst_task_message *message) {
    mst_lead_session *s = mst_lead_find_session(lead, message->head.number);
    const bool is_it = s && s->stage == MST_LEAD_RUNS && s->run.number == (uint64_t)message->head.step &&
                       message->from < lead->num_tasks && s->awaits[message->from];
    return is_it ? s : NULL;
}

static void count_vote(mst_lead_session *s, int32_t task) {
    if (!s->plan->commits || s->run.voted[task]) return;
    s->run.voted[task] = true;
    if (++s->run.num_voted == s->plan->num_runs_on && !s->run.decided && !s->failure.code)
        tell_decision(s, &(mst_failure){.code = MST_OK});
}

void mst_lead_run_take_vote(mst_lead *lead, const mst_task_message *message) {
    mst_lead_session *s = find_run(lead, message);
    if (s) count_vote(s, message->from);
}

/* ---- the end ---- */

static mst_status take_outputs(mst_lead_session *s, int32_t task, mst_wire_reader *r) {
    int32_t count;
    mst_tensor **output = mst_tensors_get(r, &count);
    mst_status status = mst_wire_check_read(r, "a task");
    if (!status && count != s->plan->num_fetches)
        status = MST_FAIL(MST_CORRUPT, "a task has sent %d values of %d", (int)count, (int)s->plan->num_fetches);
    for (int32_t i = 0; i < count && !status; i++) {
        if (s->plan->fetch_task[i] != task || s->run.output[i]) continue;
        s->run.output[i] = output[i];
        output[i] = NULL;
    }
    mst_tensors_free(output, count);
    return status;
}

void mst_lead_run_take_done(mst_lead *lead, const mst_task_message *message) {
    mst_lead_session *s = find_run(lead, message);
    mst_wire_reader r = {.at = message->body, .left = message->bytes};
    mst_failure failure;
    if (!s || message->head.request != s->ticket) return;
    mst_wire_get_failure(&r, &failure);
    s->run.overtaken |= mst_wire_get_within(&r, 0, 1);
    if (failure.code) {
        mst_lead_keep_failure(s, &failure);
    } else {
        const mst_status status = take_outputs(s, message->from, &r);
        if (status) mst_lead_keep_error(s, status);
        count_vote(s, message->from);
    }
    const bool is_last = mst_lead_has_answered(s, message->from);
    if (s->failure.code) mst_lead_run_refuse(s);
    if (is_last) mst_lead_go_on(s);
}

void mst_lead_run_put(const mst_lead_session *s, mst_wire_writer *w) {
    const bool failed = s->failure.code != MST_OK;
    const int32_t count = s->plan && !failed ? s->plan->num_fetches : 0;
    mst_wire_put_number(w, s->run.overtaken);
    mst_wire_put_number(w, (uint64_t)(s->runs + (s->run.counts && !failed)));
    mst_wire_put_number(w, (uint64_t)count);
    for (int32_t i = 0; i < count; i++) mst_wire_put_optional(w, s->run.output[i]);
}

void mst_lead_run_end(mst_lead_session *s) {
    if (s->stage == MST_LEAD_RUNS && s->run.counts && !s->failure.code) s->runs++;
    mst_tensors_free(s->run.output, s->plan ? s->plan->num_fetches : 0);
    s->run.output = NULL;
    s->run.counts = s->run.overtaken = false;
}
