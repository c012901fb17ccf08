/** The inside of a task, shared by its files. task_open.c opens and closes it. task.c has what happens to it: the
 *  events of members and transport, and the clock. task_join.c joins the others, task_wait.c watches a step that waits
 *  for them. task_shards.c divides the shards, task_collectives.c has the calls of programs. */
#ifndef MUSTER_TASK_TASK_INSIDE_H
#define MUSTER_TASK_TASK_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "cluster/task_status.h"
#include "membership/members.h"
#include "task/task.h"
#include "task/task_executables.h"

enum { CHIEF = 0 /* the first worker */ };

/** The phases of a task. */
typedef enum task_phase {
    APART,    /* it is not ready for the next generation, or that generation has not begun */
    TOGETHER, /* in a generation */
    ALL_LEFT, /* all have done their work */
    FAILED    /* the job has ended with an error */
} task_phase;

struct mst_task {
    const mst_cluster *cluster;
    mst_task_options options;
    int32_t num_workers, self;
    const char **name, **address; /**< [num_workers]; "worker:1", "host:port" */
    char *names;                  /**< memory of the names */
    mst_task_status status;
    const mst_transport_type *type;
    mst_transport *transport;
    mst_ps_client *servers; /**< NULL: the cluster has no parameter servers. Else all members after it are unused */
    mst_task_executables *executables;
    mst_task_group *group; /**< NULL: the shards have not been divided */
    bool shared;           /**< the shards belong to a model: their number stays */
    bool by_call;          /**< the tasks first joined for a collective (muster/task.h), not for training */
    bool has_agreed;       /**< with by_call: the tasks have compared what they train since then */
    pthread_mutex_t lock;  /**< guards all members after it, except the store of `state` */
    pthread_cond_t changed;
    mst_members *members;
    task_phase phase;
    uint32_t generation;   /**< number of the last one that has begun; 0: none */
    int32_t source;        /**< task whose state counts in it */
    int64_t source_number; /**< number of the source's state */
    uint64_t instructions; /**< of oneDNN that all members of the generation have; 0: they are not compared */
    bool copies, anew;     /**< as in mst_generation */
    uint64_t *instance;    /**< [num_workers] processes of the generation */
    bool *back;            /**< [num_workers] it was lost, or is another process than in the previous generation */
    int32_t *member;       /**< [num_workers] tasks of the generation, in order */
    int32_t num_members;
    uint32_t first_since; /**< the generation since which this task has been the first member; 0: it is not */
    int32_t *copiers;     /**< [num_workers] tasks that copy the state of the source */
    int32_t num_copiers;
    int64_t stopped_at;       /**< state after which a program has ended the training; MST_NO_STATE: none has */
    int64_t ended_at;         /**< the same state, but only forgotten when the program goes on */
    bool has_ended;           /**< the others had done their work before this task came */
    bool was_together;        /**< this process has been in a generation */
    const char *restarted;    /**< value of MST_RESTARTED; NULL: it is not set */
    bool says_routes;         /**< it must still say how data go, once that is known */
    mst_task_failure failure; /**< with FAILED: the error */
    int64_t looked, paused;   /* of a step's wait: time of the last look; time without looks */
    int64_t warned, waited;   /* of that wait: time of the last warning, 0: none; duration */
    bool closing;
    pthread_t clock;
    bool has_clock;
    mst_task_state state;   /**< with which it joined last, except for its number; the store is retained */
    _Atomic int64_t number; /**< number of the state, as the program has reported last */
    mst_fingerprint fingerprints[MST_FINGERPRINTS_MOST];
};

/** The calls that all tasks must make together. */
typedef enum mst_task_call_kind {
    MST_CALL_BARRIER,
    MST_CALL_BROADCAST,
    MST_CALL_ALL_REDUCE,
    MST_CALL_ALL_GATHER,
    MST_CALL_REDUCE_SCATTER,
    MST_CALL_FIT,
    MST_CALL_LEAVE,
    MST_NUM_CALLS
} mst_task_call_kind;

/** A call. The tasks send it to each other, and compare all of it. */
typedef struct mst_task_call {
    uint32_t kind, dtype; /**< a mst_task_call_kind, a mst_dtype */
    int64_t root, count;
} mst_task_call;

/** If the tasks first joined for a collective: waits until all make CALL. Fails on all tasks if one makes another
 *  call. */
MST_CHECKED mst_status mst_task_meet(mst_task *task, const mst_task_call *call);
/** Writes a line to the task's log. */
void mst_task_say(const mst_task *task, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Cuts the shards into as many windows as there are workers. Makes the group that sums over them if there is none. */
MST_CHECKED mst_status mst_task_cut_shards(mst_task *task, int32_t num_shards);
/** Says how data go to the other connected tasks, if that is known and has not been said. Under the lock. */
void mst_task_say_routes(mst_task *task);
/** Warns if a step has waited long for others, and reports when it goes on. Under the lock. (task_wait.c) */
void mst_task_watch_wait(mst_task *task);
/** Waits, under the lock, until something has changed, but only for a limited time. */
void mst_task_wait_a_tick(mst_task *task);
/** The functions that the members and the transport of TASK call. */
mst_members_events mst_task_members_events(mst_task *task);
mst_transport_events mst_task_transport_events(mst_task *task);
/** Starts the thread that tells the members the time, until `closing` is set. */
MST_CHECKED mst_status mst_task_start_clock(mst_task *task);

#endif
