/** Who is there: the tasks of a cluster agree when a generation begins, who brings the state, and when it has ended.
 *
 *  A member is a state machine without threads, clocks or sockets: what happens is told to it, and what it wants is
 *  done by its owner's functions. All members talk to the leader alone, so that a member's connections do not grow with
 *  their number; the leader has the second half of the machine (leader.h).
 *
 *      program, here                 member                              leader                       other members
 *      mst_members_ready ----------> READY ----------- HERE -----------> GATHERING <------ HERE ------------
 *                                    AGREED <--------- BEGIN ----------- PROPOSING  all are ready ------> BEGIN
 *                                      |   ----------- ACKNOWLEDGE ---->            <- ACKNOWLEDGE --------
 *      begun     <------------------ STEPPING <------- GO -------------- RUNNING    all have answered ---> GO
 *      mst_members_left -----------> LEFT ------------ LEFT ----------->            <------- LEFT ---------
 *                                    FINISHED <------- ALL_LEFT -------- LEAVING    all have left --> ALL_LEFT
 *                                      |   ----------- ACKNOWLEDGE ---->            <- ACKNOWLEDGE --------
 *      bye       <------------------ OVER <----------- BYE ------------- OVER       all have answered --> BYE
 *
 *      a callback ends the training (END in place of STOPPED if some tasks do not say so in time):
 *      mst_members_stop --------------------------- STOPS -------------> RUNNING    <-------- STOPS ----------
 *      stopped   <----------------------------------- STOPPED ---------- RUNNING    all say so ----> STOPPED
 *      (each brings with HERE what it knows of that, and BEGIN tells it to those who were lost before they knew)
 *
 *      a connection breaks before BYE (LINK_LOST tells the leader of one between two others):
 *      ended     <------------------ AWAY <----------- END ------------- GATHERING  ---------------------> END
 *      the program fails:
 *      mst_members_failed ------------------------- FAILED ------------> ENDING     -----------------> VERDICT
 *      failed    <------------------ OVER <----------- VERDICT --------- OVER       all have answered
 *      (before the VERDICT on one that has waited too long, PROBE asks all how far they are)
 *
 *  A member without connection to its leader is AWAY or READY, and says HERE when there is one again.
 *
 *  Fenced: a message is for one instance, the process that it was meant for; what comes from a process that no longer
 *  has its number, or is of an earlier generation, changes nothing. `job` counts the processes that have led, so that a
 *  leader that was stopped and goes on later is known as an old one. A message that makes no sense is counted, and no
 *  more.
 *
 *  Two processes with one number: the leader asks both whether they are alive (PROBE). If both answer, the newer is
 *  refused; if the connection of the older breaks, the newer takes its place. So it does not matter whether a task is
 *  started again before or after its end has been noticed. A transport that has one connection for each number refuses
 *  the newer itself, and tells both sides as soon as it knows that the older is alive (mst_members_taken); else the
 *  newer tries again, and ends where that lasts longer than it takes to notice a loss. That a newer one was refused is
 *  a NOTICE to all.
 *
 *  A process that cannot listen at its address, since another program does, is no member: it says CANNOT_JOIN to the
 *  leader (the task that should lead, to all others), and ends. Before the job has run that ends it, with that error on
 *  all. Later it is a NOTICE: the process may be one too many, and a task that was lost is waited for all the same.
 *
 *  Two processes that both lead, since their lists of tasks differ in order: the leader, too, sends to those who have
 *  not come (WAITING, once), and is told by the transport that who listens there has its own number
 *  (mst_members_misfit). That ends the job on each of them, as long as it has not run.
 *
 *  Fewer than all (mst_members_options.elastic_min): a generation may begin with some of the tasks, by the rules of
 *  quorum.h. Those who are ready and take part get BEGIN. When another one is HERE and ready, the generation ends, and
 *  the next one begins with it, too. Any task may lead. Each leads itself until it hears LEADS of another that goes
 *  before: one that knows of a later generation that has begun, or of the same one and has a lower number. Who leads
 *  says LEADS to all twice a second; in a generation nobody changes its leader. Who loses it follows the lowest task
 *  that is connected, or leads itself. That two lead at the same time does no harm: the numbers of their generations
 *  differ, and only one can get a majority.
 *
 *  What is needed of the transport: messages of one connection arrive in order, and both sides are told that it broke
 *  before they are told that there is another. The leader repeats every few seconds that it waits and who is ready, so
 *  that a message that was lost all the same only takes time.
 */
#ifndef MUSTER_MEMBERSHIP_MEMBERS_H
#define MUSTER_MEMBERSHIP_MEMBERS_H

#include "membership/member_message.h"

/** Used by one thread at a time: its owner has a lock. */
typedef struct mst_members mst_members;

/** A generation, as it begins. Its members are those whose standing says that they take part. */
typedef struct mst_generation {
    uint32_t job, number;
    /** The task whose state counts: in a job that begins anew the chief, where its state number is not 0; else that
     *  with the greatest number, the lowest of those. */
    int32_t source;
    uint64_t instructions; /**< of oneDNN, those that all members have: each uses no others. 0: they are not compared */
    int64_t ended_at;      /**< MST_NO_STATE, or the source's state: a callback has ended the training behind that */
    bool copies;           /**< this task takes the state of the source */
    bool anew;             /**< the job begins: the tasks were never in a generation before */
    const mst_member_standing *standing; /**< [number of tasks]; valid until the next generation begins */
} mst_generation;

/** For whom the others wait. */
typedef struct mst_waiting {
    mst_waiting_cause cause;
    int32_t num_waited, num_listed; /**< all, and those in the list */
    const mst_waited_task *waited;  /**< [num_listed]; gone on return */
} mst_waiting;

/** What a member wants of its owner. No pointer but one may be NULL. None of them may call a function of the member. */
typedef struct mst_members_events {
    void *context;
    /** Sends a control message to task TO: to its process INSTANCE, or where that is 0 or not known, to the process
     *  that was connected last. */
    void (*send)(void *context, int32_t to, uint64_t instance, const void *data, size_t bytes);
    /** A generation begins: copy the state, or give it, then make steps. */
    void (*begun)(void *context, const mst_generation *generation);
    /** The generation that was begun has ended. FAILURE names the lost task; or, with the code MST_CANCELLED, a task
     *  whose program has ended the training after the state in FAILURE. mst_members_ready comes next. Also called after
     *  mst_members_left, as long as not all have left: others may need this task's state. */
    void (*ended)(void *context, const mst_task_failure *failure);
    /** All programs have called mst_members_stop with the state of this number. */
    void (*stopped)(void *context, int64_t state_number);
    /** The job has ended with an error, the same on every task; or this task alone was refused. A generation that is
     *  under way ends with it. Nothing comes after. */
    void (*failed)(void *context, const mst_task_failure *failure);
    /** For a line every few seconds while no generation can begin. */
    void (*waiting)(void *context, const mst_waiting *waiting);
    /** For a line: something that changes nothing here, such as that a second process with a task's number was
     *  refused. */
    void (*notice)(void *context, const mst_task_failure *notice);
    /** All tasks have left: a connection that breaks now is no loss. Nothing comes after. */
    void (*bye)(void *context);
    /** Why TASK cannot be reached, as in transport/transport.h; TEXT is "" before. NULL: nobody knows. */
    void (*trouble)(void *context, int32_t task, char *text);
} mst_members_events;

typedef struct mst_members_options {
    int32_t num_tasks, self;
    int32_t leader;             /**< number of the task that leads; nothing where elastic_min is set */
    int32_t chief;              /**< number of the task whose state counts in a job that begins anew */
    const char *const *name;    /**< [num_tasks] "worker:1", for messages; must outlive the member */
    const char *const *address; /**< [num_tasks] "host:port", for messages; NULL: not known. Must outlive the member */
    uint64_t instance;          /**< of this process: random, not 0 */
    int64_t now;
    /** Seconds for a lost task to come back, once the job has run; default 60. A task that is there has all the time
     *  that it needs to be ready. */
    double recovery_timeout;
    /** Why a task that was lost cannot come back, as a sentence that says what to do: it is not waited for. NULL: it
     *  can. */
    const char *no_return;
    /** Seconds for which the leader's transport may refuse this process, since it takes the one before for alive: more
     *  than that transport's timeout; default 15. */
    double refusal_timeout;
    /** How few tasks may make a generation, from 1; of at most MST_ELASTIC_TASKS_MOST. 0: only all. */
    int32_t elastic_min;
    /** With elastic_min: seconds for which those who come first wait for all, where the job has not run yet. */
    double start_wait;
    /** Seconds between two calls of `waiting`; default 5. */
    double report;
    /** Seconds for which the leader stays after an error for tasks that have not acknowledged it; default 5. */
    double linger;
    mst_members_events events;
} mst_members_options;

/** A member that is not ready yet; says HERE to the leader. */
MST_CHECKED mst_status mst_members_create(const mst_members_options *options, mst_members **out);
/** NULL is allowed. */
void mst_members_destroy(mst_members *members);

/* By the program. */

/** The program wants to take part in the next generation, and brings STATE, which is copied. MST_INVALID where a
 *  generation is under way or the job has ended. */
MST_CHECKED mst_status mst_members_ready(mst_members *members, const mst_member_state *state);
/** The program has committed what makes its state STATE_NUMBER: so that errors can say how far the tasks were. */
void mst_members_committed(mst_members *members, int64_t state_number);
/** The program has started these COUNT exchanges last in this generation, the newest first: so that the error of one
 *  that has waited too long for an exchange can say who did not come. */
void mst_members_started(mst_members *members, const mst_group_progress *last, int32_t count);
/** The program has done its work in GENERATION. Nothing where that has ended. */
void mst_members_left(mst_members *members, uint32_t generation);
/** Whether all programs have done their work once, as far as this task knows: `bye` comes soon, if the leader lives. */
bool mst_members_have_all_left(const mst_members *members);
/** Whether no other task is connected with this one: with the leader, or with any where this task leads. */
bool mst_members_is_alone(const mst_members *members);
/** The program ends the training after the state of this number: `stopped` or `ended` comes next. In a generation. */
void mst_members_stop(mst_members *members, int64_t state_number);
/** The program has failed: the job ends with FAILURE on every task. Where it is derived, the failure that caused it has
 *  a second to come from another task, and is then the one. Where it is MST_DEADLINE, all are asked how far they
 *  are, and the message names those that are behind. */
void mst_members_failed(mst_members *members, const mst_failure *failure);

/* By the transport (transport/transport.h). */

void mst_members_connected(mst_members *members, int32_t task);
/** INSTANCE 0: the connection is refused, as long as nothing else is said. */
void mst_members_lost(mst_members *members, int32_t task, uint64_t instance, const char *why);
/** With elastic_min: the process of TASK that was connected last has ended, as the machine says on which it ran. */
void mst_members_process_ended(mst_members *members, int32_t task);
/** Two processes have the number TASK, of which BY refuses the one that came later. WHERE: the host of the other one,
 *  as seen from here. Where this process is the one that is refused, by the leader, it ends; where it leads itself and
 *  nobody has come yet, by any task. BY is this task: the other one has its number, cannot listen and ends. */
void mst_members_taken(mst_members *members, int32_t by, int32_t task, const char *where);
/** The lists of tasks of this process and of TASK do not fit together: where this one leads a job that has not run,
 *  that ends it. Elsewhere it is a refusal by TASK (mst_members_lost), which is told too. */
void mst_members_misfit(mst_members *members, int32_t task, const char *why);
void mst_members_received(mst_members *members, int32_t from, uint64_t instance, const void *data, size_t bytes);

/** The time is NOW (base/clock.h); at least ten times a second. */
void mst_members_tick(mst_members *members, int64_t now);

/** Messages that made no sense, or came too late to matter. */
uint64_t mst_members_ignored(const mst_members *members);
#endif
