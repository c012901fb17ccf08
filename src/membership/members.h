/** Membership: the tasks of a cluster agree when a generation begins, who brings the state, and when it has ended.
 *
 *  A member is a state machine without threads, clocks or sockets. Its owner reports events to it, and carries out its
 *  decisions (mst_members_events). All members talk only to the leader, so the number of a member's connections does
 *  not grow with the number of members. The leader has the second half of the machine (leader.h).
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
 *      (HERE carries what a member knows of this end; BEGIN tells it to members that were lost before they knew)
 *
 *      a connection breaks before BYE (LINK_LOST tells the leader of one between two others):
 *      ended     <------------------ AWAY <----------- END ------------- GATHERING  ---------------------> END
 *      the program fails:
 *      mst_members_failed ------------------------- FAILED ------------> ENDING     -----------------> VERDICT
 *      failed    <------------------ OVER <----------- VERDICT --------- OVER       all have answered
 *      (if the failure is that a program has waited too long, PROBE first asks all members how far they are)
 *
 *  Terms
 *
 *      task          a place in the lists of the cluster, with a number; it lasts as long as the job
 *      process       what runs as a task; its random `instance` tells it from others with the same number
 *      member        the half of each process that talks to the leader
 *      leader        the half that decides; without elastic_min always in the task that the options name
 *      entry         the leader's record of a task: its member, and a process that claims its number (the applicant)
 *      ready         of a member: its program waits for the next generation, and brings a state
 *      generation    the time in which the same processes make steps together; a later one has a greater number
 *      state         what a program brings; its number counts committed steps and edits
 *      source        the task whose state counts in a generation; members with another state copy it
 *      job           also a number: it counts the processes that have led
 *
 *  Rules: the beginning of a generation
 *
 *   1. A generation begins only when every task has a ready member (with elastic_min: see rule 18). Each of them must
 *      have acknowledged BEGIN before the leader says GO. If one is lost before that, the leader proposes another
 *      generation, with a greater number.
 *   2. The source is the task with the greatest state number, and among several the lowest. In a job that begins anew
 *      it is the chief, if the chief's number is above 0. If no task has a state, the job ends.
 *   3. Fingerprints are compared before BEGIN. If those of a task that joins differ from those of members that were
 *      in a generation, that task alone is refused. Otherwise the job ends.
 *
 *  The end of a generation
 *
 *   4. Any of these ends it: a member's connection to the leader breaks; a connection between two members breaks
 *      (LINK_LOST); a program ends the training and others do not; with elastic_min, a further task is ready. After
 *      that, no member of the generation is ready until its program says so again.
 *   5. A member that loses its leader leaves the generation at once. It is AWAY or READY, and says HERE when there is a
 *      connection again.
 *   6. LINK_LOST names another member that the leader may still see. One of the two may be cut off, so the leader waits
 *      for a moment until it knows which. If it loses neither, the broken connection itself ends the generation.
 *   7. A task that was lost is waited for, at most recovery_timeout seconds, once the job has run. Its members wait for
 *      a lost leader in the same way. A task that is there has unlimited time to be ready.
 *
 *  The end of the job
 *
 *   8. When all members have said LEFT, the leader says ALL_LEFT. When all have acknowledged that, it says BYE. A
 *      connection that breaks before BYE ends the generation: another member may need the state of this one.
 *   9. Once all have left, a task that does not come back in time is no error.
 *  10. A failure ends the job on all tasks, with one VERDICT. A failure that is derived, or a deadline, is held for a
 *      second: its cause may come from another task, and then counts instead.
 *  11. The leader stays until all tasks have acknowledged the VERDICT, but at most `linger` seconds.
 *
 *  Late messages
 *
 *  12. Each message is for one instance, a certain process. A message from a process that no longer has its number, or
 *      from an earlier generation, changes nothing. A message that makes no sense is only counted.
 *  13. Without elastic_min, a process that comes to lead takes a greater `job` than any that members know. A leader
 *      that was stopped and later goes on is thereby recognised as an old one, and ends.
 *
 *  Processes that cannot be members
 *
 *  14. Two processes with one number: the leader asks both whether they are alive (PROBE). If both answer, the newer
 *      one is refused, or the job ends if it has not run. If the older one is lost, the newer one takes its place. So
 *      it does not matter whether a task is started again before or after its end was noticed.
 *  15. A transport that has one connection for each number refuses the newer process itself. It tells both sides as
 *      soon as it knows that the older one is alive (mst_members_taken). Until then the newer one tries again, for at
 *      most refusal_timeout seconds. All get a NOTICE that a newer process was refused.
 *  16. A process that cannot listen at its address says CANNOT_JOIN to the leader, and ends. If it should lead, it says
 *      so to all others. If the job has not run, that ends it on all tasks; later it is a NOTICE, since the process may
 *      be one too many. A lost task is still waited for.
 *  17. Two processes may both lead, because their task lists differ in order. A leader therefore sends WAITING once to
 *      each task that has not come. The transport then reports the task list mismatch (mst_members_list_mismatch). It
 *      ends the job on both, unless it has already run.
 *
 *  Fewer than all (mst_members_options.elastic_min)
 *
 *  18. A generation may begin with some of the tasks, by the rules of quorum.h. Only ready members that take part get
 *      BEGIN. When another task is HERE and ready, the generation ends, and the next one begins with that task too. If
 *      none can begin for recovery_timeout seconds, the job ends.
 *  19. Any task may lead. Each leads itself until it gets LEADS from a task with precedence. A task has precedence if
 *      it knows of a later generation that has begun, or knows of the same one and has a lower number. A leader says
 *      LEADS to all twice per second.
 *  20. During a generation no task changes its leader. A task that loses its leader follows the lowest connected task,
 *      or leads itself.
 *  21. Two leaders at the same time do no harm: the numbers of their generations differ, and only one of them can get a
 *      majority.
 *
 *  What the transport must guarantee
 *
 *  22. Messages of one connection arrive in order. Both sides are told that it broke before they are told of the next
 *      one. If a message is lost all the same, that only costs time: every few seconds the leader repeats that it waits
 *      and who is ready.
 */
#ifndef MUSTER_MEMBERSHIP_MEMBERS_H
#define MUSTER_MEMBERSHIP_MEMBERS_H

#include "membership/member_message.h"

/** Used by one thread at a time: the owner must hold a lock. */
typedef struct mst_members mst_members;

/** A generation that begins. Its members are the tasks whose status says that they take part. */
typedef struct mst_generation {
    uint32_t job, number;
    /** The task whose state counts. In a job that begins anew: the chief, unless its state number is 0. Otherwise the
     *  task with the greatest state number, and among several the lowest task. */
    int32_t source;
    uint64_t instructions; /**< of oneDNN that all members have: members use no others. 0: they are not compared */
    int64_t ended_at;      /**< the source's state, if a callback has ended the training after it; else MST_NO_STATE */
    bool copies;           /**< this task copies the state of the source */
    bool anew;             /**< the job begins: no task was in a generation before */
    const mst_member_status *member_status; /**< [number of tasks]; valid until the next generation begins */
} mst_generation;

/** The tasks that the others wait for. */
typedef struct mst_waiting {
    mst_waiting_cause cause;
    int32_t num_waited, num_listed; /**< number of all such tasks, and of those in the list */
    const mst_waited_task *waited;  /**< [num_listed]; valid only during the call */
} mst_waiting;

/** The functions of the owner that a member calls. Each must be set unless its comment says what NULL means. None of
 *  them may call a function of the member. */
typedef struct mst_members_events {
    void *context;
    /** Sends a control message to process INSTANCE of task TO. If INSTANCE is 0 or not known, the message goes to the
     *  process that was connected last. */
    void (*send)(void *context, int32_t to, uint64_t instance, const void *data, size_t bytes);
    /** A generation begins: copy the state or give it to others, then make steps. */
    void (*begun)(void *context, const mst_generation *generation);
    /** The generation has ended. FAILURE names the lost task. If its code is MST_CANCELLED, it names a task whose
     *  program has ended the training after the state in FAILURE. The owner must call mst_members_ready next. Also
     *  called after mst_members_left, as long as not all have left: others may need this task's state. */
    void (*ended)(void *context, const mst_task_failure *failure);
    /** All programs have called mst_members_stop with the state of this number. */
    void (*stopped)(void *context, int64_t state_number);
    /** The job has ended with an error, the same on every task; or only this task was refused. A generation that is
     *  under way ends too. No other call follows. */
    void (*failed)(void *context, const mst_task_failure *failure);
    /** Called every few seconds while no generation can begin, for a line of the log. */
    void (*waiting)(void *context, const mst_waiting *waiting);
    /** An event that changes nothing here, for a line of the log; for example, a second process with a task's number
     *  was refused. */
    void (*notice)(void *context, const mst_task_failure *notice);
    /** All tasks have left: a connection that breaks now is not a loss. No other call follows. */
    void (*bye)(void *context);
    /** Writes to TEXT, which is "" before, why TASK cannot be reached (transport/transport.h). NULL: not known. */
    void (*connect_error)(void *context, int32_t task, char *text);
} mst_members_events;

typedef struct mst_members_options {
    int32_t num_tasks, self;
    int32_t leader;             /**< number of the task that leads; unused with elastic_min */
    int32_t chief;              /**< number of the task whose state counts in a job that begins anew */
    const char *const *name;    /**< [num_tasks] "worker:1", for messages; must outlive the member */
    const char *const *address; /**< [num_tasks] "host:port", for messages; NULL: not known. Must outlive the member */
    uint64_t instance;          /**< of this process: random, not 0 */
    int64_t now;
    /** Seconds to wait for a lost task to come back, once the job has run; default 60. A task that is there has
     *  unlimited time to be ready. */
    double recovery_timeout;
    /** Why a lost task cannot come back, as a sentence that says what to do: it is not waited for. NULL: it can come
     *  back. */
    const char *no_return;
    /** Seconds for which the leader's transport may refuse this process because it takes the previous one to be alive.
     *  Must be more than the timeout of that transport; default 15. */
    double refusal_timeout;
    /** The least number of tasks of a generation, from 1; the cluster has at most MST_ELASTIC_TASKS_MOST. 0: all
     *  tasks. */
    int32_t elastic_min;
    /** With elastic_min: seconds for which the first tasks wait for all, if the job has not run yet. */
    double start_wait;
    /** Seconds between two calls of `waiting`; default 5. */
    double report;
    /** Seconds for which the leader stays after an error, for tasks that have not acknowledged it; default 5. */
    double linger;
    mst_members_events events;
} mst_members_options;

/** Makes a member that is not ready yet. It says HERE to the leader. */
MST_CHECKED mst_status mst_members_create(const mst_members_options *options, mst_members **out);
/** NULL is allowed. */
void mst_members_destroy(mst_members *members);

/* Called by the program. */

/** The program is ready for the next generation, and brings STATE, which is copied. MST_INVALID if a generation is
 *  under way or the job has ended. */
MST_CHECKED mst_status mst_members_ready(mst_members *members, const mst_member_state *state);
/** The state of the program has number STATE_NUMBER now. Errors can then say how far the tasks were. */
void mst_members_committed(mst_members *members, int64_t state_number);
/** LAST are the COUNT exchanges that the program has started last in this generation, the newest first. If a task waits
 *  too long for an exchange, its error can then say which tasks did not come. */
void mst_members_started(mst_members *members, const mst_group_progress *last, int32_t count);
/** The program has done its work in GENERATION. Does nothing if that has ended. */
void mst_members_left(mst_members *members, uint32_t generation);
/** Whether all programs have done their work once, as far as this task knows. Then `bye` comes soon, if the leader is
 *  still there. */
bool mst_members_have_all_left(const mst_members *members);
/** If this task leads: whether no other task has come to it yet. Otherwise: whether it has no connection to the
 *  leader. */
bool mst_members_is_alone(const mst_members *members);
/** The program ends the training after the state of this number: `stopped` or `ended` is called next. Call this
 *  function only in a generation. */
void mst_members_stop(mst_members *members, int64_t state_number);
/** The program has failed: the job ends with FAILURE on every task. If FAILURE is derived, the failure that caused it
 *  may come from another task within a second, and then counts instead. If it is MST_DEADLINE, all are asked how far
 *  they are, and the message names the tasks that are behind. */
void mst_members_failed(mst_members *members, const mst_failure *failure);

/* Called by the transport (transport/transport.h). */

void mst_members_connected(mst_members *members, int32_t task);
/** INSTANCE 0: the connection is refused until something else is reported. */
void mst_members_lost(mst_members *members, int32_t task, uint64_t instance, const char *why);
/** With elastic_min: the last connected process of TASK has ended, as its machine reports. */
void mst_members_process_ended(mst_members *members, int32_t task);
/** Two processes have the number TASK; task BY refuses the one that came later. WHERE: the host of the other process,
 *  as seen from here. If the leader refuses this process, it ends. If this process leads itself and nobody has come
 *  yet, a refusal by any task ends it. If BY is this task, the other process has its number, cannot listen, and
 *  ends. */
void mst_members_taken(mst_members *members, int32_t by, int32_t task, const char *where);
/** The task lists of this process and of TASK do not match. If this process leads a job that has not run,
 *  that ends the job. Otherwise it is a refusal by TASK, which mst_members_lost reports too. */
void mst_members_list_mismatch(mst_members *members, int32_t task, const char *why);
void mst_members_received(mst_members *members, int32_t from, uint64_t instance, const void *data, size_t bytes);

/** Tells the member the time NOW (base/clock.h). Call it at least ten times per second. */
void mst_members_tick(mst_members *members, int64_t now);

/** The number of messages that made no sense, or came too late to matter. */
uint64_t mst_members_ignored(const mst_members *members);
#endif
