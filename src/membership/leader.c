#include "membership/leader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "membership/leader_inside.h"

typedef mst_leader_phase phase;
typedef mst_member_process process;

static const double CAUSE_MAY_BE_LATE = 1;   /* seconds to wait for the cause of a failure */
static const double ANSWERS_MAY_BE_LATE = 5; /* seconds to wait for answers of tasks that have said they are ready */
static const double MEMBERS_MAY_BE_LATE = 2; /* seconds to wait for tasks that may know that the job has run */

static int64_t after(int64_t now, double seconds) {
    return mst_leader_after(now, seconds);
}

/* ---- messages ---- */

/* Writes "task worker:1 at host:port" to TEXT, which is returned. */
static const char *task_text(const mst_leader *leader, int32_t task, const char *address, char text[384]) {
    if (!address[0] && leader->options->address[task]) address = leader->options->address[task];
    snprintf(text, 384, "task %.100s%s%s", leader->options->name[task], address[0] ? " at " : "", address);
    return text;
}

const char *mst_leader_member_text(const mst_leader *leader, int32_t task, char text[384]) {
    return task_text(leader, task, leader->entry[task].member.address, text);
}

/* Sends MESSAGE to process INSTANCE of TASK. */
static void tell(mst_leader *leader, int32_t task, uint64_t instance, mst_member_message *message) {
    message->job = leader->job;
    message->generation = leader->generation;
    message->to = instance;
    leader->send(leader->members, task, message);
}

static void tell_others(mst_leader *leader, mst_member_message *message) {
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (i != leader->options->self && leader->entry[i].member.instance)
            tell(leader, i, leader->entry[i].member.instance, message);
}

static void tell_self(mst_leader *leader, mst_member_message *message) {
    tell(leader, leader->options->self, leader->options->instance, message);
}

static void tell_all(mst_leader *leader, mst_member_message *message) {
    tell_others(leader, message);
    tell_self(leader, message);
}

/* Sends MESSAGE to the tasks that take part in the generation. This task leads, so it is one of them. */
void mst_leader_tell_members(mst_leader *leader, mst_member_message *message) {
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (i != leader->options->self && leader->entry[i].takes_part)
            tell(leader, i, leader->entry[i].member.instance, message);
    tell_self(leader, message);
}

/* ---- ends: of a generation, of the job ---- */

static void await_acknowledgements(mst_leader *leader, phase phase) {
    leader->phase = phase;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) leader->entry[i].acknowledged = false;
}

/* Whether all members that take part have acknowledged. A verdict must be acknowledged by every process that is there,
 * applicants too. */
static bool all_acknowledged(const mst_leader *leader) {
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        const mst_member_entry *entry = &leader->entry[i];
        if (leader->phase != ENDING && !entry->takes_part) continue;
        if (!entry->acknowledged || (leader->phase == ENDING && entry->applicant.instance)) return false;
    }
    return true;
}

static void gather_again(mst_leader *leader) {
    leader->phase = GATHERING;
    leader->gathers_since = leader->now;
}

/* Ends the generation. None of its members is ready any more. */
static void end_generation(mst_leader *leader, const mst_task_failure *failure) {
    mst_member_message message = {.kind = MST_MEMBER_END, .failure = *failure};
    gather_again(leader);
    mst_leader_forget_stops(leader);
    leader->claim.code = MST_OK;
    leader->reported_at = leader->now;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        if (leader->entry[i].takes_part) leader->entry[i].member.ready = false;
        leader->entry[i].left = false;
    }
    tell_all(leader, &message);
}

static void end_generation_without(mst_leader *leader, int32_t task, const char *why) {
    char text[384];
    mst_task_failure failure;
    mst_task_failure_set(&failure, MST_UNAVAILABLE, task, leader->state_number, "%s: %s",
                         mst_leader_member_text(leader, task, text), why);
    mst_task_failure_add_steps(&failure);
    end_generation(leader, &failure);
}

/* Ends the generation because TASK, which does not take part in it, is there and ready. */
static void end_generation_for(mst_leader *leader, int32_t task, const process *p) {
    char text[384];
    mst_task_failure failure;
    mst_task_failure_set(&failure, MST_UNAVAILABLE, task, leader->state_number, "%s has come",
                         task_text(leader, task, p->address, text));
    end_generation(leader, &failure);
}

static void tell_applicants(mst_leader *leader, mst_member_message *message) {
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (leader->entry[i].applicant.instance) tell(leader, i, leader->entry[i].applicant.instance, message);
}

/* Closes the job: all were told how it has ended, or have had enough time to be told. */
static void close_job(mst_leader *leader) {
    mst_member_message message = {.kind = leader->verdict.code ? MST_MEMBER_VERDICT : MST_MEMBER_BYE};
    message.failure = leader->verdict;
    leader->phase = OVER;
    if (leader->verdict.code) {
        tell_self(leader, &message);
    } else {
        tell_applicants(leader, &message);
        tell_all(leader, &message);
    }
}

/* Whether TASK was lost so long ago that the leader no longer waits for it. */
static bool is_gone(const mst_leader *leader, int32_t task) {
    const mst_member_entry *entry = &leader->entry[task];
    const mst_members_options *o = leader->options;
    const double seconds = o->linger < o->recovery_timeout ? o->linger : o->recovery_timeout;
    return leader->has_run && !entry->present && leader->now > after(entry->absent_since, seconds);
}

void mst_leader_end_job(mst_leader *leader, const mst_task_failure *failure) {
    mst_member_message message = {.kind = MST_MEMBER_VERDICT, .failure = *failure};
    if (leader->phase >= LEAVING) return;
    leader->verdict = *failure;
    leader->deadline = after(leader->now, leader->options->linger);
    await_acknowledgements(leader, ENDING);
    for (int32_t i = 0; i < leader->options->num_tasks; i++) leader->entry[i].acknowledged = is_gone(leader, i);
    leader->entry[leader->options->self].acknowledged = true; /* not waited for: this task is told last */
    tell_applicants(leader, &message);
    tell_others(leader, &message);
    if (all_acknowledged(leader)) close_job(leader);
}

static void let_all_leave(mst_leader *leader) {
    mst_member_message message = {.kind = MST_MEMBER_ALL_LEFT};
    leader->all_left = true;
    await_acknowledgements(leader, LEAVING);
    mst_leader_tell_members(leader, &message);
}

void mst_leader_refused(mst_leader *leader, int32_t task, const char *where) {
    mst_member_message message = {.kind = MST_MEMBER_NOTICE};
    char text[384];
    mst_task_failure_set(&message.failure, MST_EXISTS, task, leader->state_number,
                         "a second process as %s, on %s, was refused: the first is alive, and the job goes on",
                         mst_leader_member_text(leader, task, text), where);
    if (leader->phase < ENDING) tell_all(leader, &message);
}

void mst_leader_refuse(mst_leader *leader, int32_t task, uint64_t instance, const mst_task_failure *failure) {
    mst_member_message message = {.kind = MST_MEMBER_VERDICT, .failure = *failure};
    if (task == leader->options->self) leader->phase = REFUSED;
    tell(leader, task, instance, &message);
}

/* ---- a generation begins ---- */

bool mst_leader_all_ready(const mst_leader *leader) {
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (!mst_member_is_ready(&leader->entry[i])) return false;
    return true;
}

bool mst_leader_job_has_run(const mst_leader *leader) {
    bool has = leader->has_begun;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) has |= leader->entry[i].member.has_run;
    return has;
}

/* The task whose state counts: the one with the greatest state number, and among several the lowest. -1: nobody has a
 * state. In a job that begins anew it is the chief, if the chief has made or restored any step. A later checkpoint that
 * another task has restored may belong to another job. */
static int32_t find_source(const mst_leader *leader) {
    const int32_t chief = leader->options->chief;
    const mst_member_entry *first = &leader->entry[chief];
    int32_t source = -1;
    int64_t greatest = MST_NO_STATE;
    if (!mst_leader_job_has_run(leader) && first->takes_part && first->member.state.state_number > 0) return chief;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        const int64_t number = leader->entry[i].member.state.state_number;
        if (number <= greatest || !leader->entry[i].takes_part) continue;
        greatest = number;
        source = i;
    }
    return source;
}

static void propose(mst_leader *leader) {
    mst_member_message message = {
        .kind = MST_MEMBER_BEGIN, .source = find_source(leader), .has_run = mst_leader_job_has_run(leader)};
    mst_task_failure failure;
    if (message.source < 0) {
        mst_task_failure_set(&failure, MST_UNAVAILABLE, -1, MST_NO_STATE,
                             "no task has a whole state any more: all that had it were lost while the others copied "
                             "it; start the job again from its checkpoint");
        mst_leader_end_job(leader, &failure);
        return;
    }
    const mst_member_state *source = &leader->entry[message.source].member.state;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        const mst_member_state *state = &leader->entry[i].member.state;
        leader->member_status[i] = (mst_member_status){
            .instance = leader->entry[i].member.instance,
            .state_number = state->state_number,
            .copies = state->state_number != source->state_number || state->state_hash != source->state_hash,
            .takes_part = true};
        if (!leader->entry[i].takes_part) leader->member_status[i] = (mst_member_status){.state_number = MST_NO_STATE};
    }
    message.member_status = leader->member_status;
    message.known.begun = leader->known.begun;
    leader->generation = mst_leader_is_elastic(leader) ? mst_elastic_number(leader) : leader->generation + 1;
    message.withdrawn = leader->first_number;
    message.instructions = mst_leader_common_instructions(leader);
    message.ended_at = mst_leader_ended_at(leader, source->state_number);
    leader->proposed_at = leader->now;
    await_acknowledgements(leader, PROPOSING);
    mst_leader_tell_members(leader, &message);
}

/* Whether the next generation may begin: with all tasks; or with enough of them, if workers may be fewer. */
static bool may_begin(mst_leader *leader) {
    if (mst_leader_is_elastic(leader)) return mst_elastic_may_begin(leader);
    for (int32_t i = 0; i < leader->options->num_tasks; i++) leader->entry[i].takes_part = true;
    return mst_leader_all_ready(leader);
}

/* Begins a generation as soon as nobody is missing. */
static void gather(mst_leader *leader) {
    if (leader->phase == GATHERING) mst_leader_compare_fingerprints(leader);
    if (leader->phase == GATHERING && may_begin(leader)) propose(leader);
}

static void begin_generation(mst_leader *leader) {
    mst_member_message message = {.kind = MST_MEMBER_GO};
    mst_leader_warn_of_machines(leader);
    leader->phase = RUNNING;
    leader->has_begun = leader->has_run = true;
    leader->state_number = leader->entry[leader->options->self].member.state.state_number;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        leader->entry[i].left = false;
        leader->entry[i].member.has_run |= leader->entry[i].takes_part;
    }
    mst_leader_tell_members(leader, &message);
}

/* ---- who is there ---- */

/* Notes that the job has run under an earlier leader. From now on missing tasks have a limited time to come. */
static void learn_that_it_has_run(mst_leader *leader) {
    if (leader->has_run) return;
    leader->has_run = true;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) leader->entry[i].absent_since = leader->now;
}

static void tell_how_it_ended(mst_leader *leader, int32_t task, uint64_t instance) {
    mst_member_message message = {.kind = leader->verdict.code ? MST_MEMBER_VERDICT : MST_MEMBER_BYE};
    message.failure = leader->verdict;
    tell(leader, task, instance, &message);
}

static process process_of(uint64_t instance, const mst_member_message *here) {
    process p = {.instance = instance,
                 .ready = here->ready,
                 .has_run = here->has_run,
                 .generation = here->generation,
                 .state = here->state,
                 .known = here->known,
                 .ended = here->ended};
    memcpy(p.address, here->address, sizeof p.address);
    return p;
}

/* Process P, which has just sent HERE, becomes the member that has the number TASK. */
static void become_member(mst_leader *leader, int32_t task, const process *p) {
    mst_member_entry *entry = &leader->entry[task];
    if ((leader->phase == RUNNING || leader->phase == LEAVING) && entry->takes_part)
        end_generation_without(leader, task, "its connection broke and was made again");
    if (leader->phase == RUNNING && p->ready) end_generation_for(leader, task, p);
    if (leader->phase == PROPOSING) gather_again(leader);
    const bool replaces = entry->member.instance != p->instance;
    if (entry->applicant.instance == p->instance) entry->applicant.instance = 0;
    if (leader->phase == ENDING && replaces && !entry->acknowledged)
        entry->applicant = entry->member; /* the earlier member must be told, too */
    entry->member = *p;
    entry->present = true;
    entry->acknowledged = entry->left = entry->list_mismatch = false;
    if (p->generation) learn_that_it_has_run(leader);
    if (p->generation > leader->generation) leader->generation = p->generation;
    if (leader->phase == ENDING && task == leader->options->self)
        entry->acknowledged = true; /* not waited for: this task is told last */
    else if (leader->phase >= ENDING)
        tell_how_it_ended(leader, task, p->instance);
    else
        gather(leader);
}

/* Process P claims the number of a member that is there: asks both whether they are alive. */
static void hear_applicant(mst_leader *leader, int32_t task, const process *p) {
    mst_member_entry *entry = &leader->entry[task];
    mst_member_message message = {.kind = MST_MEMBER_PROBE, .instance = p->instance};
    entry->applicant = *p;
    entry->member_answered = entry->applicant_answered = false;
    if (leader->phase >= ENDING) {
        tell_how_it_ended(leader, task, p->instance);
        return;
    }
    tell(leader, task, p->instance, &message);
    tell(leader, task, entry->member.instance, &message);
}

/* Refuses the process that claims number TASK, or ends a job that has not run. Both processes have answered, so both
 * are alive. */
static void refuse_applicant(mst_leader *leader, int32_t task) {
    mst_member_entry *entry = &leader->entry[task];
    char a[384], b[384];
    mst_task_failure failure;
    const uint64_t instance = entry->applicant.instance;
    mst_task_failure_set(&failure, MST_EXISTS, task, MST_NO_STATE,
                         "two processes run as one task, %s and %s: give each its own index",
                         mst_leader_member_text(leader, task, a), task_text(leader, task, entry->applicant.address, b));
    if (!leader->has_run) {
        mst_leader_end_job(leader, &failure);
        return;
    }
    char where[MST_ADDRESS_TEXT];
    snprintf(where, sizeof where, "%s", entry->applicant.address[0] ? entry->applicant.address : "an unknown host");
    entry->applicant.instance = 0;
    mst_leader_refuse(leader, task, instance, &failure);
    mst_leader_refused(leader, task, where);
}

/* Ends this process: the others had lost it, and another process leads now. The job goes on under that process. */
static void step_down(mst_leader *leader) {
    mst_task_failure failure;
    mst_task_failure_set(&failure, MST_UNAVAILABLE, leader->options->self, leader->state_number,
                         "another process has taken over as task %s while this one was stopped or cut off: this one "
                         "ends, the job goes on",
                         leader->options->name[leader->options->self]);
    mst_leader_refuse(leader, leader->options->self, leader->options->instance, &failure);
}

static void hear_here(mst_leader *leader, int32_t from, uint64_t instance, const mst_member_message *message) {
    mst_member_entry *entry = &leader->entry[from];
    const bool knows_this = message->to == leader->options->instance;
    if (!mst_leader_is_elastic(leader) && leader->has_begun && message->job > leader->job && leader->phase < ENDING) {
        step_down(leader);
        return;
    }
    if (!mst_leader_is_elastic(leader) && !leader->has_begun && !knows_this && message->job >= leader->job)
        leader->job = message->job + 1;
    const process p = process_of(instance, message);
    if (entry->present && entry->member.instance != instance) {
        hear_applicant(leader, from, &p);
        return;
    }
    leader->all_left |= message->all_left;
    become_member(leader, from, &p);
}

/* ---- failures that are held until their cause is known ---- */

static void tell_cause(mst_leader *leader) {
    if (leader->held.code == MST_DEADLINE) mst_leader_explain(leader, &leader->held);
    mst_leader_end_job(leader, &leader->held);
}

/* Holds FAILURE until its cause is known. Only the first failure is kept, or the first that is not derived: failures
 * that come later have the same cause. */
static void await_cause(mst_leader *leader, const mst_task_failure *failure) {
    mst_member_message message = {.kind = MST_MEMBER_PROBE};
    if (leader->held.code && (!leader->held.derived || failure->derived)) return;
    leader->held = *failure;
    leader->held_until = after(leader->now, CAUSE_MAY_BE_LATE);
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        leader->entry[i].has_told = false;
        leader->entry[i].started.count = 0;
    }
    if (failure->code == MST_DEADLINE) tell_all(leader, &message);
}

static void hear_started(mst_leader *leader, int32_t from, const mst_member_message *message) {
    leader->entry[from].has_told = true;
    leader->entry[from].started = message->started;
    if (leader->held.code != MST_DEADLINE || leader->held.derived || leader->phase >= LEAVING) return;
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (!leader->entry[i].has_told) return;
    tell_cause(leader);
}

/* ---- what members say ---- */

/* Takes an answer to PROBE: from a process that claims a task's number, or from the member that has it. */
static void hear_answer(mst_leader *leader, int32_t from, uint64_t instance, const mst_member_message *message) {
    mst_member_entry *entry = &leader->entry[from];
    if (!message->instance && instance == entry->member.instance) hear_started(leader, from, message);
    if (!entry->applicant.instance || message->instance != entry->applicant.instance) return;
    if (instance == entry->applicant.instance)
        entry->applicant_answered = true;
    else
        entry->member_answered |= instance == entry->member.instance;
    if (entry->applicant_answered && entry->member_answered) refuse_applicant(leader, from);
}

static void hear_acknowledge(mst_leader *leader, int32_t from, uint64_t instance, const mst_member_message *message) {
    mst_member_entry *entry = &leader->entry[from];
    /* the kind that must be acknowledged in each phase; 0, which is no kind: none */
    const mst_member_kind due[REFUSED] = {
        [PROPOSING] = MST_MEMBER_BEGIN, [LEAVING] = MST_MEMBER_ALL_LEFT, [ENDING] = MST_MEMBER_VERDICT};
    /* false for a verdict, which also goes to tasks outside the generation */
    const bool of_generation = leader->phase != ENDING;
    if (message->acknowledged != due[leader->phase] || (of_generation && message->generation != leader->generation)) {
        leader->ignored++;
        return;
    }
    if (leader->phase == ENDING && instance == entry->applicant.instance)
        entry->applicant.instance = 0;
    else
        entry->acknowledged |= entry->present && instance == entry->member.instance;
    if (!all_acknowledged(leader)) return;
    if (leader->phase == PROPOSING)
        begin_generation(leader);
    else
        close_job(leader);
}

static void hear_left(mst_leader *leader, int32_t from) {
    leader->entry[from].left = true;
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (leader->entry[i].takes_part && !leader->entry[i].left) return;
    let_all_leave(leader);
}

static void hear_failed(mst_leader *leader, int32_t from, const mst_member_message *message) {
    char text[384];
    mst_task_failure failure = message->failure;
    failure.task = from;
    mst_task_failure_prefix(&failure, mst_leader_member_text(leader, from, text));
    if (failure.derived || failure.code == MST_DEADLINE)
        await_cause(leader, &failure);
    else
        mst_leader_end_job(leader, &failure);
}

void mst_cannot_join_failure(const mst_members_options *options, int32_t from, const mst_task_failure *said,
                             bool goes_on, mst_task_failure *failure) {
    char prefix[200];
    snprintf(prefix, sizeof prefix, "%.100s%s", options->name[from],
             goes_on ? " cannot join, and the job goes on" : "");
    *failure = *said;
    failure->task = from;
    mst_task_failure_prefix(failure, prefix);
}

/* Decides about a process that cannot join. If the job has run, the job goes on: either the process is one too many, or
 * its task was lost and is waited for. If the job has not run, it ends. The leader itself may have been started again,
 * and not have been told yet that the job has run. It therefore first waits some time for tasks that can tell it. */
static void judge_kept_out(mst_leader *leader) {
    const int32_t task = leader->kept_out.task;
    const bool goes_on = leader->has_run || leader->entry[task].present;
    mst_member_message notice = {.kind = MST_MEMBER_NOTICE};
    if (!goes_on && leader->now <= leader->kept_out_until) return;
    mst_cannot_join_failure(leader->options, task, &leader->kept_out, goes_on, &notice.failure);
    leader->kept_out.code = MST_OK;
    if (goes_on) {
        tell_all(leader, &notice);
        return;
    }
    mst_leader_end_job(leader, &notice.failure);
    leader->entry[task].acknowledged = true; /* the task need not be told that it cannot join */
    if (all_acknowledged(leader)) close_job(leader);
}

static void keep_out(mst_leader *leader, int32_t task, const mst_task_failure *failure) {
    if (leader->phase >= ENDING || leader->kept_out.code) {
        leader->ignored++;
        return;
    }
    leader->kept_out = *failure;
    leader->kept_out.task = task;
    leader->kept_out_until = after(leader->now, MEMBERS_MAY_BE_LATE);
    judge_kept_out(leader);
}

void mst_leader_list_mismatch(mst_leader *leader, int32_t task, const char *why) {
    const int32_t self = leader->options->self;
    mst_task_failure failure;
    mst_member_message asks = {.kind = MST_MEMBER_WAITING};
    char own[384], other[384];
    if (leader->entry[task].list_mismatch) return; /* the transport reports the mismatch at each try */
    leader->entry[task].list_mismatch = true;
    if (!mst_leader_is_elastic(leader))
        tell(leader, task, 0, &asks); /* makes the task connect back: if it leads too, it finds the mismatch */
    mst_task_failure_set(&failure, MST_INVALID, task, MST_NO_STATE, "%s and %s do not come together: %s",
                         task_text(leader, self, "", own), task_text(leader, task, "", other), why);
    keep_out(leader, task, &failure);
}

bool mst_leader_is_alone(const mst_leader *leader) {
    for (int32_t i = 0; i < leader->options->num_tasks; i++)
        if (i != leader->options->self && leader->entry[i].member.instance) return false;
    return true;
}

static void hear_link_lost(mst_leader *leader, int32_t from, const mst_member_message *message) {
    const int32_t task = message->failure.task;
    char why[512], first[384], second[384];
    if (task < 0 || !leader->entry[task].takes_part) {
        leader->ignored++;
        return;
    }
    snprintf(why, sizeof why, "%.320s (seen by %.150s)", message->failure.message, leader->options->name[from]);
    if (!leader->entry[task].present)
        end_generation_without(leader, task, why);
    else if (!leader->claim.code)
        mst_leader_keep_claim(leader, mst_leader_member_text(leader, from, first),
                              mst_leader_member_text(leader, task, second), why);
}

/* Decides about the claim (mst_leader_keep_claim) when its time is over. If neither of the two members has been lost by
 * now, only the connection between them has broken. The generation then ends, unless all tasks have left and the
 * connection is not needed any more. */
static void judge_claim(mst_leader *leader) {
    const mst_task_failure failure = leader->claim;
    if (leader->now <= leader->claim_until) return;
    leader->claim.code = MST_OK;
    if (leader->phase == RUNNING) end_generation(leader, &failure);
}

/* Whether MESSAGE can still matter. Its sender must be a member. If the message is about a generation, that must be the
 * present one. */
static bool is_due(const mst_leader *leader, int32_t from, uint64_t instance, const mst_member_message *message) {
    const mst_member_entry *entry = &leader->entry[from];
    const bool of_generation =
        message->kind == MST_MEMBER_LEFT || message->kind == MST_MEMBER_LINK_LOST || message->kind == MST_MEMBER_STOPS;
    if (!entry->present || instance != entry->member.instance) return false;
    return !of_generation || (leader->phase == RUNNING && message->generation == leader->generation);
}

void mst_leader_received(mst_leader *leader, int32_t from, uint64_t instance, const mst_member_message *message) {
    if (leader->phase == REFUSED)
        leader->ignored++;
    else if (message->kind == MST_MEMBER_HERE)
        hear_here(leader, from, instance, message);
    else if (message->kind == MST_MEMBER_CANNOT_JOIN)
        keep_out(leader, from, &message->failure);
    else if (message->kind == MST_MEMBER_ACKNOWLEDGE && message->acknowledged == MST_MEMBER_PROBE)
        hear_answer(leader, from, instance, message);
    else if (message->kind == MST_MEMBER_ACKNOWLEDGE)
        hear_acknowledge(leader, from, instance, message);
    else if (!is_due(leader, from, instance, message))
        leader->ignored++;
    else if (message->kind == MST_MEMBER_LEFT)
        hear_left(leader, from);
    else if (message->kind == MST_MEMBER_FAILED)
        hear_failed(leader, from, message);
    else if (message->kind == MST_MEMBER_STOPS)
        mst_leader_hear_stops(leader, from, message->failure.state_number);
    else
        hear_link_lost(leader, from, message);
}

void mst_leader_lost(mst_leader *leader, int32_t task, uint64_t instance, const char *why) {
    mst_member_entry *entry = &leader->entry[task];
    if (entry->applicant.instance == instance && leader->phase != ENDING) entry->applicant.instance = 0;
    if (leader->phase == REFUSED || !entry->present || entry->member.instance != instance) return;
    entry->present = entry->member.ready = false;
    entry->absent_since = leader->now;
    snprintf(entry->why, sizeof entry->why, "%s", why);
    if ((leader->phase == RUNNING || leader->phase == LEAVING) && entry->takes_part)
        end_generation_without(leader, task, why);
    if (leader->phase == PROPOSING && entry->takes_part) gather_again(leader);
    const process next = entry->applicant;
    if (next.instance && leader->phase < ENDING) become_member(leader, task, &next);
}

void mst_leader_committed(mst_leader *leader, int64_t state_number) {
    leader->state_number = state_number;
}

/* ---- time ---- */

/* Looks for tasks that were lost, and have not come back in time. */
static void look_for_the_lost(mst_leader *leader) {
    mst_task_failure late;
    if (mst_leader_is_elastic(leader)) {
        if (mst_elastic_has_waited_too_long(leader, &late)) mst_leader_end_job(leader, &late);
        return;
    }
    for (int32_t i = 0; i < leader->options->num_tasks && leader->phase <= PROPOSING; i++) {
        const mst_member_entry *entry = &leader->entry[i];
        char text[384];
        mst_task_failure failure;
        if (entry->present || leader->now <= after(entry->absent_since, leader->options->recovery_timeout)) continue;
        if (leader->all_left) {
            close_job(leader);
            return;
        }
        mst_gone_for_good_failure(leader->options, i, mst_leader_member_text(leader, i, text), entry->why,
                                  leader->state_number, &failure);
        mst_leader_end_job(leader, &failure);
    }
}

static void report_waiting(mst_leader *leader) {
    mst_member_message message = {.kind = MST_MEMBER_WAITING, .cause = leader->cause};
    leader->reported_at = leader->now;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        const mst_member_entry *entry = &leader->entry[i];
        if (mst_member_is_ready(entry)) continue;
        if (message.num_waited++ < MST_WAITING_MOST)
            message.waited[message.num_listed++] = (mst_waited_task){.task = i, .present = entry->present};
    }
    for (int32_t i = 0; i < leader->options->num_tasks; i++) {
        mst_member_entry *entry = &leader->entry[i];
        const bool asks = !entry->member.instance && !entry->asked && !mst_leader_is_elastic(leader);
        message.ready = mst_member_is_ready(entry);
        entry->asked |= asks;
        if (i != leader->options->self && (entry->member.instance || asks))
            tell(leader, i, entry->member.instance, &message);
    }
    message.ready = mst_member_is_ready(&leader->entry[leader->options->self]);
    tell_self(leader, &message);
}

/* Tasks that do not answer to a proposal are asked again whether they are ready (WAITING). */
static void tick_elastic(mst_leader *leader) {
    if (leader->phase == PROPOSING && leader->now > after(leader->proposed_at, ANSWERS_MAY_BE_LATE)) {
        for (int32_t i = 0; i < leader->options->num_tasks; i++)
            if (leader->entry[i].takes_part && !leader->entry[i].acknowledged) leader->entry[i].member.ready = false;
        gather_again(leader);
    }
    gather(leader);
}

void mst_leader_tick(mst_leader *leader, int64_t now) {
    mst_task_failure stopped;
    leader->now = now;
    if (leader->phase == RUNNING && mst_leader_must_stop(leader, &stopped)) end_generation(leader, &stopped);
    if (leader->held.code && leader->phase < LEAVING && now > leader->held_until) tell_cause(leader);
    if (leader->kept_out.code && leader->phase < ENDING) judge_kept_out(leader);
    if (leader->claim.code) judge_claim(leader);
    if (mst_leader_is_elastic(leader)) tick_elastic(leader);
    if (leader->phase <= PROPOSING && (leader->has_run || mst_leader_is_elastic(leader))) look_for_the_lost(leader);
    if (leader->phase == ENDING && now > leader->deadline) close_job(leader);
    if (leader->phase == GATHERING && now > after(leader->reported_at, leader->options->report)) report_waiting(leader);
}

bool mst_leader_is_ending(const mst_leader *leader) {
    return leader->phase >= LEAVING && leader->phase != REFUSED;
}

uint64_t mst_leader_ignored(const mst_leader *leader) {
    return leader->ignored;
}

/* ---- create and destroy ---- */

mst_status mst_leader_create(const mst_members_options *options, mst_members *members, mst_leader_send *send,
                             mst_leader **out) {
    mst_leader *leader = calloc(1, sizeof *leader);
    if (!leader) return MST_NO_MEMORY("for the leader of a cluster");
    leader->options = options;
    leader->members = members;
    leader->send = send;
    leader->job = 1;
    leader->now = leader->reported_at = leader->gathers_since = options->now;
    leader->state_number = MST_NO_STATE;
    leader->entry = calloc((size_t)options->num_tasks, sizeof *leader->entry);
    leader->member_status = calloc((size_t)options->num_tasks, sizeof *leader->member_status);
    if (!leader->entry || !leader->member_status) {
        mst_leader_destroy(leader);
        return MST_NO_MEMORY("for the leader of a cluster of %d tasks", options->num_tasks);
    }
    for (int32_t i = 0; i < options->num_tasks; i++)
        snprintf(leader->entry[i].why, sizeof leader->entry[i].why, "it was never there");
    *out = leader;
    return MST_OK;
}

void mst_leader_destroy(mst_leader *leader) {
    if (!leader) return;
    free(leader->entry);
    free(leader->member_status);
    free(leader);
}
