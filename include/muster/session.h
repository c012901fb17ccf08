/** Sessions: a graph on devices, and the values of its variables.
 *
 *  A run computes the fetched values from the fed ones. For each combination of (graph version, shapes and dtypes of
 *  the feeds, fetches) the session makes a plan once and keeps it. Variables are entries of a store, which several
 *  sessions may share.
 *
 *  A run is atomic: if anything fails in it, on any device, no variable has changed. Several threads may run one
 *  session at once. Each run then sees the variables as all runs before it left them.
 *
 *  A session and a store belong to the process that made them. After fork() the child has none of their threads, and
 *  calls on them there fail with MST_INVALID. Sessions and stores that the child makes itself work.
 */
#ifndef MUSTER_SESSION_H
#define MUSTER_SESSION_H

#include <stdio.h>

#include "muster/graph.h"
#include "muster/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_session mst_session;

/** Writes rows of a fed value (along dimension 0), from FIRST_ROW on, to DST. SPEC is the dtype and shape of these rows
 *  alone. A thread of the placeholder's device calls it once in each run, for all rows. If the feed has a grain, all
 *  threads of the device call it at the same time, each for some rows. Strings are written as mst_string; their bytes
 *  must last as long as the run. */
typedef mst_status (*mst_fill_function)(void *context, const mst_spec *spec, int64_t first_row, void *dst);

/** A value for a placeholder (or in place of any other value). Either TENSOR (not copied, must not change during the
 *  run) or FILL, CONTEXT and SPEC. */
typedef struct mst_feed {
    mst_value value;
    mst_tensor *tensor;
    mst_fill_function fill;
    void *context;
    mst_spec spec; /**< with FILL: dtype and shape, all dimensions known */
    int64_t grain; /**< with FILL: > 0: rows that are worth one call; several threads may then call FILL at once */
} mst_feed;

typedef struct mst_session_options {
    int zero_;
    /** "cpu:2": the CPU as two logical devices; "cpu": one device with all cores. Default "cpu". A count of threads per
     *  device may follow: "cpu:2/4". "gpu" is all GPUs of this host, "gpu:2" the first two, and "gpu:2x3" six logical
     *  devices, three on each of two. `memory_limit` applies to each logical device. If the list has accelerators but
     *  no CPU, the CPU is added for nodes that accelerators cannot run, with all cores and no limit of memory. Its name
     *  is "/device:CPU:0"; mst_session_num_devices does not count it. */
    const char *devices;
    /** Indices in that list of the devices that are used, which are then numbered anew from 0: "1,0". Default: all.
     *  If that list is "gpu" or "gpu:4", the process does not touch the other GPUs. The first such choice holds for the
     *  whole process: later sessions cannot use other GPUs. */
    const char *visible_devices;
    /** A node that cannot run on its device runs on another device of the same task. That is the first one with the
     *  host's memory that can run it. */
    bool allow_soft_placement;
    FILE *placement_log; /**< gets a line per node when a plan is made, also for moved nodes; NULL: no log */
    /** Gets the text of each new plan, once after each pass of planning; NULL: no log. With a target, it is the plan of
     *  that task, and of every other task the part that differs. */
    FILE *plan_log;
    /** With plan_log: the only pass after which the plan is written, such as "memory"; NULL: every pass. "stablehlo":
     *  the programs of devices that compile are written in place of plans, each text once. Comments name the plan's
     *  nodes that run the program, their devices, and how many nodes of the graph each replaces. */
    const char *plan_pass;
    /** Bytes that each device may use; 0: no limit, and memory grows as it is needed. A GPU must have as much as the
     *  logical devices on it may use together. The limit is checked before a plan runs. For devices that compile, it
     *  includes the memory that the compiler reports for programs (temporaries, code, constants). A new plan therefore
     *  waits until its programs are compiled. If the limit is too small otherwise, such devices update variables in
     *  place, which needs less memory (mst_session_updates_in_place). Strings from another memory domain are checked
     *  when they arrive. */
    int64_t memory_limit;
    bool pin_threads; /**< binds each device's thread to its cores */
    /** A NaN or Inf is an error that names the first node that made it, or the variable that holds it. */
    bool check_numerics;
    /** Keeps few values of the forward pass for the gradients (mst_gradients) and computes the others again. This takes
     *  less memory and more time. The results have the same bits, except with MST_MIXED_BFLOAT16. Not with a target. */
    bool recompute;
    /** Seconds after which a run fails with MST_DEADLINE; default 600. If a timeout is given, the first device gets a
     *  thread, so that the call returns in time even if a kernel of that device hangs. The thread costs each call some
     *  microseconds. */
    double timeout;
    /** Called several times a second while a run waits for a compiler: true ends the run with MST_CANCELLED, and no
     *  variable has changed. A fit whose step or validation is ended in this way ends as if a callback had stopped it.
     *  Several threads may call it at once. NULL: runs are not ended. */
    bool (*stop)(void *context);
    void *stop_context; /**< of stop */
    /** The store of the variables, retained. Default: a store that belongs to the session. */
    mst_store *store;
    /** Number of runs that may be under way at once, each with its own memory; further runs wait. Default 1. */
    int num_frames;
    /** The task of a cluster that the devices belong to: "worker" and 1 make
     *  "/job:worker/replica:0/task:1/device:CPU:0". Default: "localhost" and 0. */
    const char *job_name;
    int task_index;
    /** A task of a cluster of task servers (muster/server.h), "tcp://host:port" or "grpc://host:port". The session has
     *  the devices of all tasks of that cluster; nodes without a task run on this one. Variables are in the stores of
     *  their tasks. `devices`, `visible_devices`, `store`, `job_name` and `pin_threads` must not be given, and runs of
     *  the session are made one at a time. Default: this process. */
    const char *target;
    /** Precision of products of f32 for which no other is set. MST_MIXED_BFLOAT16 is a wish, see mst_precision_here.
     *  Default MST_FLOAT32; with a target it must be that. */
    mst_precision precision;
    const char *key_file; /**< with target: key of its cluster (muster keygen); NULL: it has none */
    bool insecure;        /**< with target, on this machine: its tasks were started with --insecure */
} mst_session_options;

/** GRAPH must outlive the session; OPTIONS may be NULL. With a target, waits until all tasks of the cluster are
 *  connected, at most for the timeout of runs; for the target itself only some seconds. MST_UNAVAILABLE after that. */
MST_API MST_CHECKED mst_status mst_session_create(mst_graph *graph, const mst_session_options *options,
                                                  mst_session **out);
/** NULL is allowed. Waits, up to the timeout of runs, until calls of other threads that are under way have ended. Calls
 *  that begin meanwhile fail with MST_CANCELLED. If a device is stuck in an op, its memory is freed only when the op
 *  returns: GRAPH must exist until then. In a child process (see above) this function does nothing. */
MST_API void mst_session_destroy(mst_session *session);

/** The store of its variables; the reference belongs to the session. NULL if the session has a target. */
MST_API mst_store *mst_session_store(const mst_session *session);

/** Gives first values to all variables that have no value. A torn variable (mst_state_info) had a value, and remains
 *  torn. */
MST_API MST_CHECKED mst_status mst_session_init_variables(mst_session *session);

/** Computes FETCHES from FEEDS. OUTPUTS (NULL: no values are wanted) receives one tensor per fetch, which the caller
 *  owns. If outputs[i] is not NULL on entry, has the right dtype and shape, and has one reference, it is written in
 *  place. Otherwise it is released and replaced. A fetch without a value (mst_group, mst_no_op) gives NULL. Fetching a
 *  variable gives its value before the writes of this run.
 *
 *  On failure no variable has changed, unless the error says so: it then names the torn variables (mst_state_info).
 *  MST_DEADLINE, with what the run was waiting for, if the run has not ended after the session's timeout. The
 *  session keeps references to the feeds until the run has ended. A run that is already writing variables is not cut
 *  off: it may take as long again.
 *
 *  While it computes, the calling thread handles no signals except for faults. The others are handled after the
 *  run, or while the run waits for other devices or tasks (docs/how-a-step-runs.md, Signals).
 *
 *  Random numbers are a function of the graph's seed, the node, and a number of the run. If the run changes
 *  global_step, that number is global_step before the run; all other runs are numbered by a separate counter. */
MST_API MST_CHECKED mst_status mst_session_run(mst_session *session, const mst_feed *feeds, int num_feeds,
                                               const mst_value *fetches, int num_fetches, mst_tensor **outputs);

/** Makes a tensor with the value of a variable, owned by the caller. MST_NOT_FOUND if the variable has no value yet,
 *  MST_CORRUPT if it is torn (mst_state_info). */
MST_API MST_CHECKED mst_status mst_session_get_variable(mst_session *session, mst_value variable, mst_tensor **out);
/** Sets a variable. VALUE must have the variable's dtype and shape. */
MST_API MST_CHECKED mst_status mst_session_set_variable(mst_session *session, mst_value variable,
                                                        const mst_tensor *value);

/** The precision in which CPUs of this process compute products if WANTED is asked for. It is MST_FLOAT32 instead of
 *  MST_MIXED_BFLOAT16 if the processor has no instructions for products of bf16 (AVX512_BF16 or AMX), or if oneDNN does
 *  not use them. It is always MST_FLOAT32 instead of MST_TENSORFLOAT32. Devices that compile take WANTED. */
MST_API mst_precision mst_precision_here(mst_precision wanted);

/** Number of devices and their full names ("/job:localhost/replica:0/task:0/device:CPU:0"). The CPU that is added to a
 *  list of accelerators does not count. */
MST_API int mst_session_num_devices(const mst_session *session);
MST_API const char *mst_session_device(const mst_session *session, int i);
/** Bytes on device I: of variables, of constants of the plans that are kept, and of the memory of steps. If the device
 *  compiles and has a limit of memory, also those of the inside of programs, as the compiler says. */
MST_API int64_t mst_session_device_memory(const mst_session *session, int i);
/** Number of runs in which the calling thread did the work of all devices, although each device has a thread. The
 *  session chooses this when it measures that it is faster: for example, other programs keep cores busy, and the
 *  devices would wait for each other. It happens only with 2 to 4 devices of one thread each in the host's memory, with
 *  num_frames 1 and no `timeout` given. The results have the same bits. */
MST_API int64_t mst_session_runs_alone(const mst_session *session);
/** Whether optimizers update variables in place on devices that compile, because memory_limit has no room for both the
 *  old and the new values. If a device fails during such an update, the variables that it had not yet written are torn
 *  (mst_state_info): the error of the run names them. Otherwise a device that fails changes nothing. */
MST_API bool mst_session_updates_in_place(const mst_session *session);
/** Bytes copied between memory domains (to or from a device whose memory is not the host's) in all runs. */
MST_API int64_t mst_session_copied_bytes(const mst_session *session);
/** Number of plans made. */
MST_API int64_t mst_session_num_plans(const mst_session *session);

/** Facts about a plan, over all devices. */
typedef struct mst_plan_info {
    double seconds;         /**< time for making it */
    int64_t nodes;          /**< nodes that run in a step; a node that several devices share counts once for each */
    int64_t waits;          /**< times that a device waits for another one */
    int64_t crossings;      /**< values that go from one memory domain to another */
    int64_t crossing_bytes; /**< their bytes in each step; for rows of sparse gradients an upper limit */
    int64_t arena_bytes;    /**< memory of a step */
    int64_t most_bytes;     /**< memory of a step on the device that has most of it */
    int64_t plan_bytes;     /**< approximate memory of the plan itself */
    int64_t buckets;        /**< on devices that compile: vectors in which dense gradients are summed over shards */
    int64_t bucket_bytes;   /**< their bytes, for one shard */
    int64_t row_gradients;  /**< on such devices: sparse gradients, whose rows are summed over shards */
} mst_plan_info;
/** Facts about the plan that the last run used; all 0 before the first run. */
MST_API mst_plan_info mst_session_plan_info(mst_session *session);

#ifdef __cplusplus
}
#endif
#endif
