#include "membership/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "membership/leader.h"
#include "transport/transport.h"

/* States of the member, as in the column "member" of the drawing in members.h. */
typedef enum phase {
    AWAY,     /* the program is not ready */
    READY,    /* HERE has been sent, or will be when there is a leader */
    AGREED,   /* has acknowledged BEGIN */
    STEPPING, /* in a generation */
    LEFT,     /* in a generation, has done its own work */
    FINISHED, /* in a generation, and knows that all have left */
    OVER      /* bye or failed */
} phase;

struct mst_members {
    mst_members_options options;
    phase phase;
    mst_leader *leader;       /* of a task that leads; else NULL */
    bool connected;           /* to the leader */
    bool twice;               /* a second connection was reported, without a loss of the first */
    bool heard;               /* the leader has sent something since `connected` */
    bool refused;             /* by task `refused_by`; the reason is in lost_why */
    int32_t refused_by;       /* the leader; or another task, if workers may be fewer than all */
    uint64_t leader_instance; /* 0: not known yet */
    uint32_t job, generation; /* the greatest seen */
    int32_t source;           /* task that gives the state of that generation */
    bool anew;                /* the job begins with that generation */
    uint64_t instructions;    /* that all its members have */
    int64_t ended_at;         /* the source's state, if training has ended after it; else MST_NO_STATE */
    bool has_run;             /* has been in a generation */
    bool all_left;            /* all have done their work once */
    mst_member_state state;
    int64_t state_number; /* of the last committed state */
    mst_group_progress started[MST_GROUP_LAST];
    int32_t num_started;
    bool failing; /* the program has failed, and there is no verdict yet */
    mst_task_failure failure;
    int64_t now, leader_lost_at, failed_at;
    int64_t reported_at; /* the next report of `waiting` comes `report` seconds after this */
    int64_t heard_at;    /* the leader has been silent since then, or was reminded then */
    int64_t refused_at;
    char lost_why[320]; /* why the leader is not connected, or why this process is refused */
    uint64_t ignored;
    mst_member_status *member_status, *received; /* of the generation; of a received message */
    uint32_t *connected_in; /* [num_tasks] generation in which the last connection was made; 0: between generations */
    uint8_t *buffer;        /* for one message */
    /* used if workers may be fewer than all */
    mst_known_generations known;
    mst_task_set linked, ended;    /* connected tasks; tasks whose processes have ended */
    mst_known_generation proposed; /* the generation of the last BEGIN */
    uint32_t leader_rank;          /* the last generation that the leader knows to have begun */
    int64_t led_at, led_heard_at;  /* when this task has last sent LEADS, and when it has last received it */
};

static const double LEADS_EVERY = 0.5;      /* seconds */
static const double LEADER_MAY_BE_LATE = 3; /* seconds without LEADS until this task leads itself */
static const double BYE_MAY_BE_LOST = 5;    /* seconds for a leader to come back after all have done their work */

static bool is_elastic(const mst_members *members) {
    return members->options.elastic_min > 0;
}

static bool in_generation(const mst_members *members) {
    return members->phase == STEPPING || members->phase == LEFT || members->phase == FINISHED;
}

static bool is_past(int64_t now, int64_t since, double seconds) {
    return (double)(now - since) * 1e-9 > seconds;
}

/* ---- to the leader ---- */

static void send_bytes(mst_members *members, int32_t to, uint64_t instance, const mst_member_message *message) {
    const size_t bytes = mst_member_message_encode(message, members->options.num_tasks, members->buffer);
    members->options.events.send(members->options.events.context, to, instance, members->buffer, bytes);
}

static void tell_leader(mst_members *members, mst_member_message *message) {
    message->job = members->job;
    message->generation = members->generation;
    message->to = members->leader_instance;
    if (members->leader)
        mst_leader_received(members->leader, members->options.self, members->options.instance, message);
    else /* HERE goes to whichever process leads now */
        send_bytes(members, members->options.leader, message->kind == MST_MEMBER_HERE ? 0 : message->to, message);
}

static void acknowledge(mst_members *members, const mst_member_message *what) {
    mst_member_message message = {
        .kind = MST_MEMBER_ACKNOWLEDGE, .acknowledged = what->kind, .instance = what->instance};
    for (int32_t i = 0; i < members->num_started; i++) {
        const mst_group_progress *x = &members->started[i];
        mst_started_exchange *to = &message.started.last[message.started.count++];
        *to = (mst_started_exchange){.count = x->count, .run = x->run, .exchange = x->stream};
        to->milliseconds = (uint32_t)((members->now > x->at ? members->now - x->at : 0) / 1000000);
        snprintf(to->name, sizeof to->name, "%s", x->name);
    }
    tell_leader(members, &message);
}

static void tell_failure(mst_members *members) {
    mst_member_message message = {.kind = MST_MEMBER_FAILED, .failure = members->failure};
    if (members->failing) tell_leader(members, &message);
}

/* Sends HERE with the state of this member. If its program has failed, then also sends the failure. */
static void say_here(mst_members *members) {
    const mst_members_options *o = &members->options;
    mst_member_message message = {.kind = MST_MEMBER_HERE,
                                  .has_run = members->has_run,
                                  .all_left = members->all_left,
                                  .known = members->known,
                                  .ended = members->ended};
    message.ready = members->phase == READY || members->phase == AGREED;
    message.state = members->state;
    snprintf(message.address, sizeof message.address, "%s", o->address[o->self] ? o->address[o->self] : "");
    tell_leader(members, &message);
    tell_failure(members);
}

/* ---- changes ---- */

static void end_job(mst_members *members, const mst_task_failure *failure) {
    members->phase = OVER;
    members->options.events.failed(members->options.events.context, failure);
}

static void say_bye(mst_members *members) {
    members->phase = OVER;
    members->options.events.bye(members->options.events.context);
}

/* Leaves the generation that is under way or agreed upon. */
static void end_generation(mst_members *members, const mst_task_failure *failure) {
    const bool had_begun = in_generation(members);
    if (members->phase == AGREED) members->phase = READY;
    if (!had_begun) return;
    members->phase = AWAY;
    members->options.events.ended(members->options.events.context, failure);
}

static void lose_leader(mst_members *members, const char *why) {
    const mst_members_options *o = &members->options;
    const char *address = o->address[o->leader];
    mst_task_failure failure;
    members->connected = members->heard = members->twice = false;
    members->leader_lost_at = members->reported_at = members->now;
    snprintf(members->lost_why, sizeof members->lost_why, "%s", why);
    mst_task_failure_set(&failure, MST_UNAVAILABLE, o->leader, members->state_number, "task %s%s%s, which leads: %s",
                         o->name[o->leader], address ? " at " : "", address ? address : "", why);
    mst_task_failure_add_steps(&failure);
    end_generation(members, &failure);
}

void mst_gone_for_good_failure(const mst_members_options *o, int32_t task, const char *who, const char *why,
                               int64_t state_number, mst_task_failure *failure) {
    char now[MST_TRANSPORT_DOING] = "";
    if (o->events.connect_error) o->events.connect_error(o->events.context, task, now);
    if (o->no_return)
        mst_task_failure_set(failure, MST_UNAVAILABLE, task, state_number, "%s was lost (%s): %s", who, why,
                             o->no_return);
    else
        mst_task_failure_set(failure, MST_UNAVAILABLE, task, state_number,
                             "%s did not come back within %g s (%s%s%s): start the job again, or give a longer "
                             "recovery timeout",
                             who, o->recovery_timeout, why, *now ? "; now: " : "", now);
}

/* Gives up, since the leader has not come back. */
static void give_up(mst_members *members) {
    const mst_members_options *o = &members->options;
    const char *address = o->address[o->leader];
    char who[384];
    mst_task_failure failure = members->failure;
    if (members->all_left) {
        say_bye(members);
        return;
    }
    snprintf(who, sizeof who, "task %.100s%s%.250s, which leads,", o->name[o->leader], address ? " at " : "",
             address ? address : "");
    if (!members->failing)
        mst_gone_for_good_failure(o, o->leader, who, members->lost_why, members->state_number, &failure);
    end_job(members, &failure);
}

/* ---- from the leader ---- */

/* Remembers the generation of MESSAGE. False: this member remembers too many already, and must not agree to it. */
static bool remember_agreed(mst_members *members, const mst_member_message *message) {
    mst_known_generations known = members->known;
    members->proposed = (mst_known_generation){.number = message->generation};
    for (int32_t i = 0; i < members->options.num_tasks; i++)
        if (message->member_status[i].takes_part) members->proposed.tasks |= mst_task_bit(i);
    mst_know_begun(&known, &message->known.begun);
    mst_know_withdrawn(&known, message->withdrawn, members->options.leader, members->options.num_tasks);
    if (!mst_know_agreed(&known, &members->proposed)) return false;
    members->known = known;
    return true;
}

static void agree(mst_members *members, const mst_member_message *message) {
    const int32_t num_tasks = members->options.num_tasks;
    if ((members->phase != READY && members->phase != AGREED) || message->generation <= members->generation ||
        !message->member_status[members->options.self].takes_part ||
        (is_elastic(members) && !remember_agreed(members, message))) {
        members->ignored++;
        return;
    }
    memcpy(members->member_status, message->member_status, (size_t)num_tasks * sizeof *members->member_status);
    members->phase = AGREED;
    members->generation = message->generation;
    members->source = message->source;
    members->anew = !message->has_run;
    members->instructions = message->instructions;
    members->ended_at = message->ended_at;
    members->state_number = members->state.state_number;
    acknowledge(members, message);
}

static void begin_generation(mst_members *members, const mst_member_message *message) {
    if (members->phase != AGREED || message->generation != members->generation) {
        members->ignored++;
        return;
    }
    members->phase = STEPPING;
    members->has_run = true;
    if (is_elastic(members)) mst_know_begun(&members->known, &members->proposed);
    members->num_started = 0;
    const mst_generation generation = {.job = members->job,
                                       .number = members->generation,
                                       .source = members->source,
                                       .instructions = members->instructions,
                                       .ended_at = members->ended_at,
                                       .copies = members->member_status[members->options.self].copies,
                                       .anew = members->anew,
                                       .member_status = members->member_status};
    members->options.events.begun(members->options.events.context, &generation);
}

/* The leader says that no generation is under way. If this member still takes part in one, ends it. */
static void hear_waiting(mst_members *members, const mst_member_message *message) {
    const mst_waiting waiting = {message->cause, message->num_waited, message->num_listed, message->waited};
    mst_task_failure failure;
    if (members->phase != READY) {
        mst_task_failure_set(&failure, MST_UNAVAILABLE, members->options.leader, members->state_number,
                             "generation %u has ended; why has not arrived here", members->generation);
        end_generation(members, &failure);
    }
    if (members->phase == READY) members->options.events.waiting(members->options.events.context, &waiting);
    if (!message->ready && (members->phase != AWAY || members->failing)) say_here(members);
}

static void finish(mst_members *members, const mst_member_message *message) {
    if (members->phase != LEFT || message->generation != members->generation) {
        members->ignored++;
        return;
    }
    members->phase = FINISHED;
    members->all_left = true;
    acknowledge(members, message);
}

static void obey(mst_members *members, const mst_member_message *message) {
    switch (message->kind) {
        case MST_MEMBER_BEGIN: agree(members, message); break;
        case MST_MEMBER_GO: begin_generation(members, message); break;
        case MST_MEMBER_END:
            if (message->generation != members->generation)
                members->ignored++;
            else
                end_generation(members, &message->failure);
            break;
        case MST_MEMBER_WAITING: hear_waiting(members, message); break;
        case MST_MEMBER_PROBE: acknowledge(members, message); break;
        case MST_MEMBER_ALL_LEFT: finish(members, message); break;
        case MST_MEMBER_BYE: say_bye(members); break;
        case MST_MEMBER_STOPPED:
            if (message->generation == members->generation)
                members->options.events.stopped(members->options.events.context, message->failure.state_number);
            break;
        case MST_MEMBER_NOTICE:
            members->options.events.notice(members->options.events.context, &message->failure);
            break;
        case MST_MEMBER_VERDICT:
            acknowledge(members, message);
            end_job(members, &message->failure);
            break;
        default: members->ignored++; /* for example LEADS, if the leader never changes */
    }
}

/* A message to this process from a task that leads. */
static void hear_leader(mst_members *members, uint64_t instance, const mst_member_message *message) {
    const bool is_new = instance != members->leader_instance, is_second = is_new && members->leader_instance;
    const bool is_old =
        is_elastic(members) ? is_second : message->job < members->job || (is_second && message->job == members->job);
    if (members->phase == OVER || is_old) {
        members->ignored++;
        return;
    }
    if (is_new && members->leader_instance) lose_leader(members, "its process was started again");
    members->leader_instance = instance;
    members->connected = members->heard = true;
    members->heard_at = members->now;
    members->job = message->job;
    obey(members, message);
}

/* The mst_leader_send of this task's leader. */
static void speak(mst_members *members, int32_t task, const mst_member_message *message) {
    if (task != members->options.self)
        send_bytes(members, task, message->to, message);
    else if (message->to == members->options.instance)
        hear_leader(members, members->options.instance, message);
}

/* ---- who leads, if workers may be fewer than all ---- */

static void say_leads(mst_members *members, mst_task_set to) {
    mst_member_message message = {
        .kind = MST_MEMBER_LEADS, .job = members->job, .generation = members->known.begun.number};
    members->led_at = members->now;
    for (int32_t i = 0; i < members->options.num_tasks; i++)
        if (i != members->options.self && (to & mst_task_bit(i))) send_bytes(members, i, 0, &message);
}

/* Leads itself. If there is no memory for that, it tries again later. */
static void lead(mst_members *members) {
    mst_members_options *o = &members->options;
    const int32_t before = o->leader;
    o->leader = o->self;
    if (mst_leader_create(o, members, speak, &members->leader)) {
        o->leader = before;
        return;
    }
    members->connected = members->heard = true;
    members->twice = members->refused = false;
    members->leader_instance = o->instance;
    say_here(members);
    say_leads(members, members->linked);
}

/* From now on TASK, which is not this one, is the leader: sends HERE to it. */
static void follow_leader(mst_members *members, int32_t task, uint32_t rank) {
    mst_leader_destroy(members->leader);
    members->leader = NULL;
    members->options.leader = task;
    members->leader_instance = 0;
    members->leader_rank = rank;
    members->connected = true;
    members->twice = members->heard = false;
    members->heard_at = members->led_heard_at = members->now;
    say_here(members);
}

/* Chooses a leader: the previous one is gone, or does not lead any more. */
static void choose_leader(mst_members *members) {
    const mst_task_set lower = members->linked & (mst_task_bit(members->options.self) - 1);
    if (members->phase == OVER) return;
    if (lower)
        follow_leader(members, __builtin_ctzll(lower), 0);
    else
        lead(members);
}

static bool may_change_leader(const mst_members *members) {
    return (members->phase == AWAY || members->phase == READY) &&
           !(members->leader && mst_leader_is_ending(members->leader));
}

static void hear_leads(mst_members *members, int32_t from, uint64_t instance, const mst_member_message *message) {
    const mst_members_options *o = &members->options;
    const uint32_t rank = members->leader ? members->known.begun.number : members->leader_rank;
    const bool goes_before = message->generation > rank || (message->generation == rank && from < o->leader);
    if (from == o->leader) {
        const bool is_first = !members->heard;
        if (members->leader_instance && members->leader_instance != instance) return;
        members->leader_instance = instance;
        members->heard = members->connected = true;
        members->leader_rank = message->generation;
        members->led_heard_at = members->now;
        if (is_first && !in_generation(members)) say_here(members);
    } else if (goes_before && may_change_leader(members)) {
        follow_leader(members, from, message->generation);
        members->leader_instance = instance;
        members->heard = true;
    }
}

/* Notes a new connection to TASK. If this task leads, says so. If TASK leads, sends HERE to it. */
static void link_elastic(mst_members *members, int32_t task) {
    const mst_members_options *o = &members->options;
    members->linked |= mst_task_bit(task);
    members->ended &= ~mst_task_bit(task);
    members->refused = false;
    if (members->leader) say_leads(members, mst_task_bit(task));
    if (task != o->leader || members->phase == OVER) return;
    members->heard_at = members->now;
    if (!in_generation(members) && members->phase != AGREED) say_here(members);
}

/* ---- create and destroy ---- */

mst_status mst_members_create(const mst_members_options *options, mst_members **out) {
    mst_members *members = calloc(1, sizeof *members);
    if (!members) return MST_NO_MEMORY("for a member of a cluster");
    const size_t num_tasks = (size_t)options->num_tasks;
    members->options = *options;
    mst_members_options *o = &members->options;
    if (o->recovery_timeout == 0) o->recovery_timeout = 60;
    if (o->refusal_timeout == 0) o->refusal_timeout = 15;
    if (o->report == 0) o->report = 5;
    if (o->linger == 0) o->linger = o->no_return ? 0.5 : 5;
    if (o->no_return) o->recovery_timeout = 1e-3;
    members->now = members->leader_lost_at = members->reported_at = o->now;
    members->state_number = MST_NO_STATE;
    snprintf(members->lost_why, sizeof members->lost_why, "it was never there");
    members->member_status = calloc(num_tasks, sizeof *members->member_status);
    members->received = calloc(num_tasks, sizeof *members->received);
    members->connected_in = calloc(num_tasks, sizeof *members->connected_in);
    members->buffer = malloc(MST_MEMBER_MESSAGE_MOST(num_tasks));
    mst_status status = MST_OK;
    if (!members->member_status || !members->received || !members->connected_in || !members->buffer)
        status = MST_NO_MEMORY("for a member of a cluster of %d tasks", o->num_tasks);
    if (is_elastic(members)) {
        o->leader = o->self; /* until another leader sends LEADS */
        members->known.begun.tasks = mst_all_tasks(o->num_tasks);
    }
    if (!status && o->self == o->leader) status = mst_leader_create(o, members, speak, &members->leader);
    if (status) {
        mst_members_destroy(members);
        return status;
    }
    members->connected = members->leader != NULL;
    say_here(members);
    if (is_elastic(members)) say_leads(members, mst_all_tasks(o->num_tasks)); /* so that connections to all are made */
    *out = members;
    return MST_OK;
}

void mst_members_destroy(mst_members *members) {
    if (!members) return;
    mst_leader_destroy(members->leader);
    free(members->member_status);
    free(members->received);
    free(members->connected_in);
    free(members->buffer);
    free(members);
}

/* ---- called by the program ---- */

mst_status mst_members_ready(mst_members *members, const mst_member_state *state) {
    if (members->phase == OVER) return MST_FAIL(MST_INVALID, "the job of this task has ended");
    if (members->phase != AWAY) return MST_FAIL(MST_INVALID, "generation %u has not ended", members->generation);
    members->state = *state;
    members->state_number = state->state_number;
    members->phase = READY;
    members->reported_at = members->now;
    if (members->connected) say_here(members);
    return MST_OK;
}

void mst_members_committed(mst_members *members, int64_t state_number) {
    members->state_number = state_number;
    if (members->leader) mst_leader_committed(members->leader, state_number);
}

void mst_members_started(mst_members *members, const mst_group_progress *last, int32_t count) {
    members->num_started = count;
    memcpy(members->started, last, (size_t)count * sizeof *last);
}

void mst_members_left(mst_members *members, uint32_t generation) {
    mst_member_message message = {.kind = MST_MEMBER_LEFT};
    if (members->phase != STEPPING || generation != members->generation) return;
    members->phase = LEFT;
    tell_leader(members, &message);
}

bool mst_members_have_all_left(const mst_members *members) {
    return members->all_left;
}

bool mst_members_is_alone(const mst_members *members) {
    return members->leader ? mst_leader_is_alone(members->leader) : !members->connected;
}

void mst_members_stop(mst_members *members, int64_t state_number) {
    mst_member_message message = {.kind = MST_MEMBER_STOPS};
    if (members->phase != STEPPING) return;
    mst_task_failure_set(&message.failure, MST_CANCELLED, members->options.self, state_number, "%s", "");
    tell_leader(members, &message);
}

void mst_members_failed(mst_members *members, const mst_failure *failure) {
    if (members->phase == FINISHED || members->phase == OVER || members->failing) return;
    mst_task_failure_from(&members->failure, failure, members->options.self, members->state_number);
    members->failing = true;
    members->failed_at = members->now;
    if (members->connected) tell_failure(members);
}

/* ---- called by the transport and the clock ---- */

void mst_members_connected(mst_members *members, int32_t task) {
    members->connected_in[task] = in_generation(members) ? members->generation : 0;
    if (is_elastic(members)) {
        link_elastic(members, task);
        return;
    }
    if (task != members->options.leader || members->leader || members->phase == OVER) return;
    members->twice = members->connected;
    members->connected = true;
    members->refused = false;
    members->heard_at = members->now;
    if (!in_generation(members) && !(members->twice && members->phase == AGREED)) say_here(members);
}

/* A connection to a member other than the leader has broken. It may be an old one, to an earlier process of that task,
 * and the leader may already have been told of the end of that process. It still matters: messages sent to the task
 * since the generation began were lost with it. A connection to a process that came during the generation, and was
 * refused, does not matter. */
static void lose_link(mst_members *members, int32_t task, uint64_t instance, const char *why) {
    mst_member_message message = {.kind = MST_MEMBER_LINK_LOST};
    mst_task_failure_set(&message.failure, MST_UNAVAILABLE, task, members->state_number, "%s", why);
    const bool is_earlier = instance && members->connected_in[task] != members->generation;
    const bool matters = is_earlier || instance == members->member_status[task].instance;
    if (in_generation(members) && matters) tell_leader(members, &message);
}

/* Loses the leader: the connection to it has broken. A second one may have been reported before (`twice`). It was the
 * other direction of the first, or a connection to another process, which leads now. This member therefore sends HERE.
 * A new leader counts only when it has answered. */
static void lose_connection(mst_members *members, const char *why) {
    const bool twice = members->twice;
    lose_leader(members, why);
    if (twice) say_here(members);
}

/* Notes that the transport of the leader refuses this process. It takes another process to be this task, or knows no
 * such task. */
static void be_refused(mst_members *members, int32_t task, const char *why) {
    members->refused = true;
    members->refused_by = task;
    members->refused_at = members->now;
    snprintf(members->lost_why, sizeof members->lost_why, "%s", why);
}

static void lose_elastic(mst_members *members, int32_t task, uint64_t instance, const char *why) {
    if (!instance) {
        if (!members->linked) be_refused(members, task, why);
        return;
    }
    members->linked &= ~mst_task_bit(task);
    if (members->leader) {
        mst_leader_lost(members->leader, task, instance, why);
    } else if (task != members->options.leader) {
        lose_link(members, task, instance, why);
    } else if (members->phase != OVER) {
        lose_leader(members, why);
        choose_leader(members);
    }
}

void mst_members_process_ended(mst_members *members, int32_t task) {
    const mst_task_set bit = mst_task_bit(task);
    if ((members->ended & bit) || (members->linked & bit) || members->phase == OVER) return;
    members->ended |= bit;
    if (members->connected && !in_generation(members)) say_here(members);
}

void mst_members_lost(mst_members *members, int32_t task, uint64_t instance, const char *why) {
    if (is_elastic(members)) {
        lose_elastic(members, task, instance, why);
        return;
    }
    if (members->phase == OVER && !members->leader) return;
    if (members->leader)
        mst_leader_lost(members->leader, task, instance, why);
    else if (task != members->options.leader)
        lose_link(members, task, instance, why);
    else if (!instance)
        be_refused(members, task, why);
    else if (instance == members->leader_instance || !members->heard)
        lose_connection(members, why);
}

/* A process of the task that should lead cannot join. If another process of that task is alive and leads, it has sent
 * something since this member came. */
static void hear_leader_cannot_join(mst_members *members, const mst_member_message *message) {
    const mst_members_options *o = &members->options;
    const bool goes_on = members->has_run || members->heard;
    mst_task_failure failure;
    mst_cannot_join_failure(o, o->leader, &message->failure, goes_on, &failure);
    if (members->phase == OVER)
        members->ignored++;
    else if (goes_on)
        o->events.notice(o->events.context, &failure);
    else
        end_job(members, &failure);
}

void mst_members_list_mismatch(mst_members *members, int32_t task, const char *why) {
    if (members->leader) mst_leader_list_mismatch(members->leader, task, why);
}

/* Whether only one of this task and MESSAGE's sender has elastic_min: then both lead. The kind of the message shows it:
 * only a leader without elastic_min sends WAITING to tasks that have not come. */
static bool is_of_other_kind(const mst_members *members, const mst_member_message *message) {
    if (!members->leader) return false;
    return is_elastic(members) ? message->kind == MST_MEMBER_WAITING && !message->to
                               : message->kind == MST_MEMBER_LEADS;
}

void mst_members_received(mst_members *members, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    const mst_members_options *o = &members->options;
    mst_member_message message;
    if (from < 0 || from >= o->num_tasks ||
        mst_member_message_decode(data, bytes, o->num_tasks, members->received, &message)) {
        members->ignored++;
        return;
    }
    if (is_elastic(members) && instance) members->linked |= mst_task_bit(from);
    if (is_of_other_kind(members, &message)) {
        mst_leader_list_mismatch(
            members->leader, from,
            "one of them has --elastic (elastic_min), and the other has not: start all tasks with the "
            "same command");
        return;
    }
    if (message.kind == MST_MEMBER_LEADS && is_elastic(members) && from != o->self && members->phase != OVER) {
        hear_leads(members, from, instance, &message);
        return;
    }
    const bool cannot_join = message.kind == MST_MEMBER_CANNOT_JOIN;
    const bool to_leader = message.kind <= MST_MEMBER_LINK_LOST || (cannot_join && members->leader);
    const bool for_another = message.to && message.to != o->instance && message.kind != MST_MEMBER_HERE;
    if (for_another || to_leader != (members->leader != NULL) || (!to_leader && from != o->leader))
        members->ignored++;
    else if (to_leader)
        mst_leader_received(members->leader, from, instance, &message);
    else if (cannot_join)
        hear_leader_cannot_join(members, &message);
    else
        hear_leader(members, instance, &message);
}

/* Ends this process: the leader has refused it for too long. */
static void accept_refusal(mst_members *members) {
    const mst_members_options *o = &members->options;
    mst_task_failure failure;
    mst_task_failure_set(&failure, MST_INVALID, o->self, members->state_number,
                         "task %s%s refuses this process, which runs as %s: %s", o->name[members->refused_by],
                         members->refused_by == o->leader ? ", which leads," : "", o->name[o->self], members->lost_why);
    end_job(members, &failure);
}

/* Ends this process: another process has this task's number, and is alive. */
static void give_way(mst_members *members, const char *where) {
    const mst_members_options *o = &members->options;
    const char *address = o->address[o->self];
    mst_task_failure failure;
    mst_task_failure_set(&failure, MST_EXISTS, o->self, members->state_number,
                         "task %s%s%s runs already, in a process on %s that is alive: give each task its own index",
                         o->name[o->self], address ? " at " : "", address ? address : "", where);
    end_job(members, &failure);
}

/* Whether this process must end after task BY says that another process has its number. */
static bool must_give_way(const mst_members *members, int32_t by) {
    const mst_members_options *o = &members->options;
    if (members->phase == OVER || by == o->self) return false;
    if (is_elastic(members)) return !in_generation(members);
    return members->leader ? mst_leader_is_alone(members->leader) : by == o->leader && !members->connected;
}

/* Says in the log that a process with the same number has connected to this one. That process cannot listen, and
 * ends. */
static void hear_double(mst_members *members, const char *where) {
    const mst_members_options *o = &members->options;
    const bool has_leader = members->leader || members->connected;
    mst_task_failure failure;
    mst_task_failure_set(&failure, MST_EXISTS, o->self, members->state_number,
                         "two processes were started as %s, this one and one on %s, which ends%s%s: give each task its "
                         "own index",
                         o->name[o->self], where, has_leader ? "" : ", and none is ",
                         has_leader ? "" : o->name[o->leader]);
    if (members->phase != OVER) o->events.notice(o->events.context, &failure);
}

void mst_members_taken(mst_members *members, int32_t by, int32_t task, const char *where) {
    if (task == members->options.self && by == task)
        hear_double(members, where);
    else if (task == members->options.self && must_give_way(members, by))
        give_way(members, where);
    else if (members->leader && by == members->options.self)
        mst_leader_refused(members->leader, task, where);
}

/* Called while there is no leader. */
static void wait_for_leader(mst_members *members) {
    const mst_members_options *o = &members->options;
    if (members->refused && is_past(members->now, members->refused_at, o->refusal_timeout)) {
        accept_refusal(members);
        return;
    }
    const bool failed_later = members->failing && members->failed_at > members->leader_lost_at;
    const int64_t since = failed_later ? members->failed_at : members->leader_lost_at;
    /* all have done their work: a leader whose program has ended without closing its task never sends BYE */
    const bool is_over = members->all_left && o->recovery_timeout > BYE_MAY_BE_LOST;
    const double patience = is_over ? BYE_MAY_BE_LOST : o->recovery_timeout;
    if ((members->has_run || members->failing) && is_past(members->now, since, patience)) {
        give_up(members);
        return;
    }
    if (members->phase != READY || !is_past(members->now, members->reported_at, o->report)) return;
    const mst_waited_task leader = {.task = o->leader, .present = false};
    const mst_waiting waiting = {MST_WAITS_FOR_ALL, 1, 1, &leader};
    members->reported_at = members->now;
    o->events.waiting(o->events.context, &waiting);
}

/* Sends HERE again if the leader has been silent for long. A leader says every few seconds that it waits (WAITING). If
 * it does not, it may have no entry for this process, because another process claimed the same number. */
static void remind_leader(mst_members *members) {
    if (!is_past(members->now, members->heard_at, 2 * members->options.report)) return;
    members->heard_at = members->now;
    say_here(members);
}

/* If this task leads, sends LEADS from time to time. If it has received no LEADS from its leader for long, it leads
 * itself, until it receives LEADS from a task with precedence. */
static void tick_elastic(mst_members *members) {
    const mst_members_options *o = &members->options;
    if (members->refused && is_past(members->now, members->refused_at, o->refusal_timeout)) {
        accept_refusal(members);
        return;
    }
    if (members->leader && is_past(members->now, members->led_at, LEADS_EVERY))
        say_leads(members, members->linked);
    else if (!members->leader && may_change_leader(members) &&
             is_past(members->now, members->led_heard_at, LEADER_MAY_BE_LATE))
        lead(members);
}

void mst_members_tick(mst_members *members, int64_t now) {
    members->now = now;
    if (is_elastic(members) && members->phase != OVER) tick_elastic(members);
    if (members->leader)
        mst_leader_tick(members->leader, now);
    else if (members->phase != OVER && !members->connected)
        wait_for_leader(members);
    else if (members->phase == READY)
        remind_leader(members);
}

uint64_t mst_members_ignored(const mst_members *members) {
    return members->ignored + (members->leader ? mst_leader_ignored(members->leader) : 0);
}
