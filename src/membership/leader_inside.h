/** The inside of a leader, shared by its files. leader.c has the state machine. leader_cause.c has what is known of a
 *  task for which another one has waited too long. leader_fingerprints.c compares what must be the same in all members.
 *  leader_stop.c has the end of the training by callbacks. leader_elastic.c decides who takes part if workers may be
 *  fewer than all. */
#ifndef MUSTER_MEMBERSHIP_LEADER_INSIDE_H
#define MUSTER_MEMBERSHIP_LEADER_INSIDE_H

#include "membership/leader.h"

/** See the drawing in leader.h. */
typedef enum mst_leader_phase { GATHERING, PROPOSING, RUNNING, LEAVING, ENDING, OVER, REFUSED } mst_leader_phase;

/** A process that has a task's number, or claims it. */
typedef struct mst_member_process {
    uint64_t instance;   /**< 0: none */
    bool ready;          /**< brings STATE to the next generation */
    bool has_run;        /**< has been in a generation */
    uint32_t generation; /**< the greatest that it has seen */
    char address[MST_ADDRESS_TEXT];
    mst_member_state state;
    mst_known_generations known;
    mst_task_set ended; /**< other tasks that it reports as having ended */
} mst_member_process;

/** The leader's entry for a task. */
typedef struct mst_member_entry {
    mst_member_process member;
    bool present;                 /**< the member is connected; else MEMBER is the last connected one, for messages */
    mst_member_process applicant; /**< claims the number that MEMBER has: decided by PROBE or the loss of either */
    bool member_answered, applicant_answered; /**< PROBE */
    bool acknowledged;                        /**< the last message that all must acknowledge */
    bool takes_part;                          /**< in the generation that is under way or proposed */
    bool left;                                /**< its program has done its work (LEFT) */
    bool stops;                               /**< its program ends the training after state `stops_at` */
    int64_t stops_at;
    bool has_told; /**< it has sent `started`, because a task has waited too long */
    mst_started_exchanges started;
    bool asked;         /**< WAITING was sent to it once, since it had never been here */
    bool list_mismatch; /**< a task list mismatch with it was reported since it was here last */
    int64_t absent_since;
    char why[320]; /**< why it is absent */
} mst_member_entry;

struct mst_leader {
    const mst_members_options *options;
    mst_members *members;
    mst_leader_send *send;
    mst_leader_phase phase;
    uint32_t job, generation;
    bool has_begun;          /**< this process has begun a generation */
    bool has_run;            /**< a generation of the job has begun, under this leader or another */
    bool all_left;           /**< all have done their work once: a task that does not come back is not needed */
    mst_member_entry *entry; /**< [num_tasks] */
    mst_member_status *member_status; /**< [num_tasks] of the generation proposed last */
    int64_t state_number;             /**< of the last state committed here */
    int64_t now, reported_at;         /**< reported_at: the next report of GATHERING comes `report` seconds later */
    int64_t deadline;                 /**< of ENDING: it ends then, even if some have not acknowledged */
    mst_task_failure verdict;         /**< of ENDING and OVER; code MST_OK: there is none */
    mst_task_failure held;            /**< a failure held back until its cause is known; code MST_OK: there is none */
    int64_t held_until;
    /* a claim: a member says that it has lost its connection to another one, which the leader still sees; one of the
     * two may be cut off */
    mst_task_failure claim;    /**< code MST_OK: there is none */
    int64_t claim_until;       /**< at this time the claim ends the generation, unless one of the two was lost before */
    mst_task_failure kept_out; /**< a process that cannot join; code MST_OK: there is none */
    int64_t kept_out_until;    /**< at this time it ends the job, if the job has not run */
    int64_t stop_deadline;     /**< at this time tasks that have not stopped are told to stop; 0: no task has stopped */
    uint64_t ignored;          /**< number of messages that changed nothing */
    /* used if workers may be fewer than all */
    int64_t gathers_since;       /**< when the phase GATHERING began */
    int64_t proposed_at;         /**< when the phase PROPOSING began */
    uint32_t first_number;       /**< number of the first generation proposed by this leader; 0: none yet */
    mst_waiting_cause cause;     /**< why no generation can begin */
    mst_known_generations known; /**< known to the tasks that were there at the last proposal */
};

static inline bool mst_member_is_ready(const mst_member_entry *entry) {
    return entry->present && entry->member.ready;
}
/** Whether fewer workers than all may make a generation. */
static inline bool mst_leader_is_elastic(const mst_leader *leader) {
    return leader->options->elastic_min > 0;
}
static inline int64_t mst_leader_after(int64_t now, double seconds) {
    return now + (int64_t)(seconds * 1e9);
}

/** "task worker:1 at host:port" in TEXT, which is returned. */
const char *mst_leader_member_text(const mst_leader *leader, int32_t task, char text[384]);
/** Whether all tasks have a ready member. */
bool mst_leader_all_ready(const mst_leader *leader);
/** Whether a generation of the job has begun before: under this leader, or with a process that is a member now. A
 *  generation that was only proposed does not count. */
bool mst_leader_job_has_run(const mst_leader *leader);
/** Ends the job with FAILURE on all tasks. Does nothing if the job ends already. */
void mst_leader_end_job(mst_leader *leader, const mst_task_failure *failure);
/** Refuses process INSTANCE of TASK. Only that process is told FAILURE. The job goes on without it. */
void mst_leader_refuse(mst_leader *leader, int32_t task, uint64_t instance, const mst_task_failure *failure);

/** A task that joins and differs from those that have been in a generation is refused. If nobody has been in one, a
 *  difference ends the job. */
void mst_leader_compare_fingerprints(mst_leader *leader);
/** The instructions of oneDNN that all tasks that take part have in common. */
uint64_t mst_leader_common_instructions(const mst_leader *leader);
/** Warns of the first member with a different machine, if it or this one has come since the last generation. */
void mst_leader_warn_of_machines(mst_leader *leader);

/** Member FIRST (a name) says that it has lost SECOND. FIRST itself may be the one that is cut off. The leader, which
 *  is connected to both, will soon know which of them it has lost. Keeps the claim until then. */
void mst_leader_keep_claim(mst_leader *leader, const char *first, const char *second, const char *why);

/** FAILURE is the error of a task that has waited too long for an exchange. Adds which exchange the tasks that are
 *  behind have not started, what they did last, and which tasks have started it. */
void mst_leader_explain(const mst_leader *leader, mst_task_failure *failure);

/** Forgets which programs have ended the training. */
void mst_leader_forget_stops(mst_leader *leader);
/** The program of task FROM ends the training after state NUMBER. */
void mst_leader_hear_stops(mst_leader *leader, int32_t from, int64_t number);
/** Returns STATE_NUMBER if a task that takes part says that the training has ended after it; else MST_NO_STATE. */
int64_t mst_leader_ended_at(const mst_leader *leader, int64_t state_number);
/** Whether the generation must end because some programs have ended the training and others go on. FAILURE says why. */
bool mst_leader_must_stop(mst_leader *leader, mst_task_failure *failure);
/** Sends MESSAGE to all that take part, and to this task last. */
void mst_leader_tell_members(mst_leader *leader, mst_member_message *message);

/** Sets which tasks take part in the next generation. Returns whether it may begin; if not, `cause` says why. */
bool mst_elastic_may_begin(mst_leader *leader);
/** A number for the generation to propose; 0: no number is left. */
uint32_t mst_elastic_number(mst_leader *leader);
/** The tasks that take part. */
mst_task_set mst_elastic_tasks(const mst_leader *leader);
/** Whether no generation could begin for as long as a lost task may take to come back. Then fills in the error. */
bool mst_elastic_has_waited_too_long(const mst_leader *leader, mst_task_failure *failure);

#endif
