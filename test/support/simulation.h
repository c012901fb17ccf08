/** A cluster of members (membership/members.h) in one thread: processes with a small program each, a network and a
 *  clock.
 *
 *  Every delay is drawn from the seed, so a run can be repeated. Messages of one connection keep their order; those of
 *  different connections do not. A connection that breaks loses what is on its way, from a random message on, and each
 *  side hears of it at a time of its own.
 *
 *  The program makes steps: in each it sends every other task a number made of its state, and commits a new state, made
 *  of the numbers of all, when it has those. So all states of one number are equal, however they came about, and a
 *  program that gets a number that does not fit its own state knows that something is wrong. */
#ifndef MUSTER_TEST_SUPPORT_SIMULATION_H
#define MUSTER_TEST_SUPPORT_SIMULATION_H

#include "membership/members.h"

enum { SIM_TASKS = 8, SIM_PROCESSES = 32 };

typedef enum sim_end { SIM_RUNS, SIM_BYE, SIM_FAILED, SIM_KILLED } sim_end;

typedef struct sim_options {
    uint64_t seed;
    int32_t num_tasks, leader;
    int32_t
        elastic_min; /**< as that of mst_members_options; then a program that makes steps takes some time for each */
    double recovery_timeout; /**< as that of mst_members_options */
    int64_t num_steps;       /**< after which the programs have done their work */
    bool rough;              /**< delays of up to a second; else all messages take 1 ms */
    bool trace;              /**< prints what happens */
} sim_options;

typedef struct sim sim;

/** What a test may know of a process; the last of a task. */
typedef struct sim_view {
    sim_end end;
    int64_t state_number;
    uint64_t state_hash;
    mst_task_failure failure;  /**< SIM_FAILED */
    mst_task_failure ended_by; /**< the last generation's */
    mst_generation generation; /**< the last that began; member_status is NULL */
    mst_member_status member_status[SIM_TASKS];
    mst_task_failure notice;
    int32_t num_generations, num_waiting, num_notices;
    mst_waited_task waited; /**< the first of the last call of `waiting` */
    bool in_generation, stopped;
    bool has_left; /* a process of the task has done its work */
    uint64_t ignored;
} sim_view;

sim *sim_create(const sim_options *options);
void sim_destroy(sim *s);

/** Starts a process of TASK in SECONDS; not again where a process of the job has ended by itself until then. */
void sim_start(sim *s, int32_t task, double seconds);
/** From now on processes of TASK start with another hash of the fingerprint NAME ("seed"), or of their "state". */
void sim_differ(sim *s, int32_t task, const char *name);
/** From now on processes of TASK start with a state of NUMBER steps: its own checkpoint. */
void sim_restore(sim *s, int32_t task, int64_t number);
/** Kills the process of TASK. SILENT: nobody is told, and its peers find out after 10 s. */
void sim_kill(sim *s, int32_t task, bool silent);
/** Kills all processes that have never been in a generation. */
void sim_kill_newcomers(sim *s);
/** The transport of TASK's process says that the leader refuses it. */
void sim_refuse(sim *s, int32_t task, const char *why);
/** The transport of TOLD's process says that task BY refuses a second process with the number TASK. */
void sim_taken(sim *s, int32_t told, int32_t by, int32_t task);
/** The transport of TOLD's process says that its list of tasks and that of TASK do not fit together. */
void sim_list_mismatch(sim *s, int32_t told, int32_t task, const char *why);
/** A process of TASK that cannot listen at its address tells the process of TOLD so. */
void sim_cannot_join(sim *s, int32_t task, int32_t told);
/** With elastic_min: the process of TOLD knows that that of TASK has ended. */
void sim_tell_ended(sim *s, int32_t told, int32_t task);
/** Stops the process of TASK for SECONDS; after 10 s its peers take it for lost. */
void sim_stop(sim *s, int32_t task, double seconds);
/** No message passes between A and B for SECONDS. BROKEN: their connection breaks at once; else after 10 s. */
void sim_cut(sim *s, int32_t a, int32_t b, double seconds, bool broken);
/** The program of TASK fails with MST_NUMERICS, "loss is not a number in TASK"; or with a derived failure. */
void sim_fail(sim *s, int32_t task, bool derived);
/** The program of TASK makes no more steps. */
void sim_hang(sim *s, int32_t task);
/** The program of TASK has waited too long for the others: it fails with MST_DEADLINE. */
void sim_give_up(sim *s, int32_t task);
/** TASK's process gets BYTES as a control message of FROM's. */
void sim_inject(sim *s, int32_t task, int32_t from, const void *data, size_t bytes);
/** The last control message to TASK's processes of KIND, with the instance that sent it, arrives once more. */
void sim_repeat(sim *s, int32_t task, mst_member_kind kind);

/** Handles the next event. False where there is none. */
bool sim_next(sim *s);
/** Lets SECONDS pass. */
void sim_run(sim *s, double seconds);
/** Until every task has a process that ended by itself, or SECONDS have passed; false then. */
bool sim_run_to_end(sim *s, double seconds);
double sim_seconds(const sim *s);
/** Messages, connections and actions of programs so far: a measure of where a run is. */
int64_t sim_moves(const sim *s);
sim_view sim_look(const sim *s, int32_t task);
/** The state that NUMBER steps make. */
uint64_t sim_state(const sim *s, int64_t number);
/** What programs found wrong; "": nothing. */
const char *sim_wrong(const sim *s);
/** A random number below N, of the run's sequence. */
uint64_t sim_random(sim *s, uint64_t n);

#endif
