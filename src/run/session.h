/** The inside of a session.
 *
 *      session ---- devices, executor (threads and queues)
 *         |
 *         +-- slots: memory of the steps that may be in flight; each has a frame
 *         |     arena of device 0, arena of device 1, ...
 *         |
 *         +-- plans: one for each call (graph version, feeds, fetches)
 *         |     executables, constants, copies of entries of the store
 *         |     addresses in each slot, found when the plan is first used there
 *         |
 *         +-- store: the variables
 */
#ifndef MUSTER_RUN_SESSION_H
#define MUSTER_RUN_SESSION_H

#include "graph/graph.h"
#include "plan/pair_map.h"
#include "plan/plan.h"
#include "run/executor.h"
#include "run/part_inside.h"
#include "run/threading_choice.h"

/** Memory of a step in flight. */
typedef struct mst_slot {
    mst_frame frame;
    mst_session *session;
    struct mst_cached_plan *cached; /**< the plan that runs now */
    mst_arena_memory *arena;        /**< by device */
    uint64_t generation;            /**< rises when an arena moves; begins at 1 */
    bool busy;
    bool alone;      /**< the caller runs all devices of the frame, which is on no queue */
    mst_feed *feeds; /**< feeds of the frame */
    int64_t feed_capacity;
    mst_tensor **outputs; /**< outputs of the frame */
    int64_t output_capacity;
} mst_slot;

/** An array in the memory of a fed tensor. Its address is set before each step. */
typedef struct mst_patch {
    void **data;
    int32_t feed;
    int64_t shift; /**< bytes from the beginning of the tensor to the array, which may be a view of a part */
} mst_patch;

/** A plan with its addresses in one slot. */
typedef struct mst_bound_plan {
    uint64_t generation; /**< generation of the slot when the plan was bound; 0: not bound */
    void **instance;     /**< by device: the instance of its backend */
    mst_use *use;        /**< uses of entries for a turn */
    char **arena;        /**< by device: the slot's arena */
    char **staging;      /**< by device: host memory for fed values, if the device's memory is another */
    mst_team **team;     /**< by device; a NULL entry: the device has one thread */
    mst_array *arrays;   /**< arrays of nodes that groups run */
    const mst_array **group_arrays;
    mst_patch *patch;
    int64_t num_patches, patch_capacity;
    mst_bound_exchange *exchange;
    int64_t num_exchanges;
    mst_binding binding;
} mst_bound_plan;

/** A plan with everything that it needs to run, and the call for which it was made. */
typedef struct mst_cached_plan {
    int references;               /**< references of the cache and of runs under way; under the lock */
    struct mst_cached_plan *next; /**< next in the list of plans being made, or of plans to be destroyed */
    uint64_t graph_version, hash;
    int num_feeds, num_fetches;
    mst_feed *feeds; /**< `spec` describes the tensors, which are not held; a feed without `fill` is a tensor */
    mst_value *fetches;
    mst_plan *plan;
    int32_t *devices; /**< devices that have something to do */
    int32_t num_devices;
    void **executable; /**< by device */
    char **constants;  /**< by device; NULL if its domain is the host's */
    int64_t *inside;   /**< by device: memory that its programs take beyond arguments and results, where there is a
                            limit of memory; NULL: not known yet. Under the session's lock */
    struct mst_cached_plan *next_measured; /**< next in the list of plans with `inside` */
    mst_state **state;                     /**< by state of the plan; NULL if it is not used */
    mst_copy **copy;                       /**< by state of the plan: the copy of its entry that the plan works with */
    void **data;                           /**< addresses of the copies */
    mst_use *use;                          /**< the uses for which a turn is taken: each entry once */
    int64_t num_uses;
    mst_touch *touch; /**< new memory of copies that were made with the plan: its first run touches it */
    int64_t num_touches, touch_capacity;
    bool touched;                   /**< a run has been given `touch` */
    bool can_run_alone;             /**< one thread may run the programs of all its devices */
    mst_threading_choice threading; /**< whether one thread does; under the session's lock */
    mst_bound_plan *bound;          /**< by slot */
} mst_cached_plan;

/** A copy of an entry of the store that the session uses. */
typedef struct mst_used_copy {
    mst_state *state;
    mst_copy *copy;
} mst_used_copy;

/** The functions of a session whose devices belong to other processes. They replace the functions for devices of this
 *  process. No pointer may be NULL. CONTEXT is that of mst_session_create_in_other_tasks. All except the first three
 *  are called between mst_session_enter and mst_session_leave. */
typedef struct mst_other_tasks_type {
    void (*destroy)(void *context);
    int (*num_devices)(const void *context);
    const char *(*device)(const void *context, int i);
    mst_status (*init_variables)(void *context);
    mst_status (*run)(void *context, const mst_feed *feeds, int num_feeds, const mst_value *fetches, int num_fetches,
                      mst_tensor **outputs);
    mst_status (*get_variable)(void *context, mst_value variable, mst_tensor **out);
    mst_status (*set_variable)(void *context, mst_value variable, const mst_tensor *value);
    /** As mst_session_have_values. */
    mst_status (*have_values)(void *context, const mst_value *variable, int count, unsigned char *has);
    int64_t (*num_plans)(void *context);
} mst_other_tasks_type;

struct mst_session {
    mst_graph *graph;
    const mst_other_tasks_type *other_tasks; /**< NULL: the devices are in this process */
    void *other_tasks_context;
    uint64_t process;    /**< the process in which it was made */
    _Atomic int callers; /**< number of calls under way in all threads */
    atomic_bool closing; /**< it is being destroyed, so no call may begin */
    mst_session_options options;
    mst_errand_stop stop; /**< the option of that name */
    mst_devices devices;
    mst_plan_host host;
    mst_store *store;
    mst_executor *executor;
    pthread_mutex_t lock;         /**< protects all that follows */
    pthread_cond_t resource_free; /**< a slot became free, or an allocation ended */
    mst_slot *slots;
    int num_slots;
    mst_cached_plan **plans; /**< sorted by last use, latest first */
    int64_t num_plans, plan_capacity, plans_made;
    mst_cached_plan *making;  /**< list of the plans that threads are making now, without the lock */
    pthread_cond_t plan_made; /**< a plan was made, or making it failed */
    bool outlived;            /**< it was destroyed while some of its devices still worked */
    bool allocating;          /**< a thread is between mst_session_begin_allocation and mst_session_end_allocation */
    /** (number of the entry, device) -> index in `used`. A copy belongs to one device, or is shared by all devices of a
     *  domain. The key of a shared copy has, in place of the device, the number of devices + the first device of the
     *  domain. */
    mst_pair_map copies;
    mst_used_copy *used;
    int64_t num_used, used_capacity;
    _Atomic int64_t *state_bytes;    /**< by device; this and constant_bytes grow only during an allocation */
    _Atomic int64_t *constant_bytes; /**< by device */
    mst_cached_plan *measured;       /**< all plans with `inside`, also those that are no longer in the cache */
    _Atomic int64_t *inside_bytes;   /**< by device: the largest `inside` of a plan */
    char *plan_pass;                 /**< the session's copy of the option */
    _Atomic int64_t copied;          /**< bytes copied between domains, and between tasks, in all runs */
    _Atomic int64_t runs_alone;      /**< runs that the calling thread made alone for all devices */
    atomic_bool updates_in_place;    /**< new plans donate (mst_plan), because a plan did not fit into memory */
    mst_trace *trace;                /**< runs are added to it; NULL: runs are not traced */
    mst_session_part *part;          /**< the part, if there are devices of other tasks; NULL: there are none */
};

/** As mst_session_create_here. PART: the tasks whose devices the session has; NULL: only devices of this task. */
MST_CHECKED mst_status mst_session_create_with(mst_graph *graph, const mst_session_options *options,
                                               const mst_session_part_options *part, mst_session **out);
/** Sets HAS[i] to 1 if variable i of COUNT has a value, else to 0. */
MST_CHECKED mst_status mst_session_have_values(mst_session *session, const mst_value *variable, int count,
                                               unsigned char *has);
/** mst_session_create for devices of this process. MST_INVALID if OPTIONS name a target. */
MST_CHECKED mst_status mst_session_create_here(mst_graph *graph, const mst_session_options *options, mst_session **out);
/** Makes a session that passes all calls on to the functions of TYPE. If it succeeds, the session owns CONTEXT. */
MST_CHECKED mst_status mst_session_create_in_other_tasks(mst_graph *graph, const mst_session_options *options,
                                                         const mst_other_tasks_type *type, void *context,
                                                         mst_session **out);

/** Makes the session a member of GROUP, whose members make each step together. Call it before the first run. GROUP must
 *  outlive the session. NULL is allowed. */
void mst_session_join(mst_session *session, mst_task_group *group);

/** Gives the session GRAPH in place of the graph that it had, and drops all plans. No call may be under way. The values
 *  in the store stay. */
void mst_session_change_graph(mst_session *session, mst_graph *graph);

/* ---- calls: session.c, session_calls.c ---- */

/** Returns the text `devices` of a report (cluster/task_report.h): the devices of the session and the memory in use on
 *  each. The caller frees it. For an accelerator the memory in use is what its plugin reports during this call. If the
 *  plugin reports nothing, and for CPUs, it is mst_session_device_memory. Returns NULL if memory runs out. */
char *mst_session_print_devices(const mst_session *session);
/** Begins a call; mst_session_leave ends it. A session that is being destroyed waits for calls that have begun, and no
 *  new call can begin. */
MST_CHECKED mst_status mst_session_enter(mst_session *session);
void mst_session_leave(mst_session *session);

/** Checks that the values of a call belong to GRAPH, and that each feed is a tensor or a function. */
MST_CHECKED mst_status mst_session_check_call(const mst_graph *graph, const mst_feed *feeds, int num_feeds,
                                              const mst_value *fetches, int num_fetches);

/** Runs FETCHES once, within a call that has begun. Outputs and errors are those of mst_session_run. */
MST_CHECKED mst_status mst_session_call(mst_session *session, mst_call_purpose *purpose, const mst_feed *feeds,
                                        int num_feeds, const mst_value *fetches, int num_fetches, mst_tensor **outputs);
/** Puts a run of CACHED on the queues of its devices. From then on the slot *OUT holds the feeds and outputs of the
 *  call, and the caller's reference to CACHED. The tensors of FEEDS and OUTPUTS are retained. */
MST_CHECKED mst_status mst_session_submit(mst_session *session, mst_cached_plan *cached,
                                          const mst_call_purpose *purpose, int64_t deadline, const mst_feed *feeds,
                                          mst_tensor **outputs, mst_slot **out);
/** Waits for the run of SLOT until it ends or its deadline passes; runs the caller's part of it. */
MST_CHECKED mst_status mst_session_run_slot(mst_session *session, mst_slot *slot, mst_call_purpose *purpose);
/** Waits on CONDITION, at most a second, under the session's lock. Returns false, without waiting, if DEADLINE has
 *  passed. */
bool mst_session_wait(mst_session *session, pthread_cond_t *condition, int64_t deadline);

/* ---- plans: plan_cache.c ---- */

/** Sets OUT to the plan for this call, from the cache or new, with a reference for the caller. New plans are made
 *  without the lock, several at a time. A thread that needs a plan that another thread is making waits for it. */
MST_CHECKED mst_status mst_session_plan(mst_session *session, const mst_feed *feeds, int num_feeds,
                                        const mst_value *fetches, int num_fetches, int64_t deadline,
                                        mst_cached_plan **out);
/** Drops a reference. Call it without the lock. */
void mst_cached_plan_release(mst_session *session, mst_cached_plan *cached);
/** Takes a plan out of the cache, because it will not run again. Call it without the lock. */
void mst_session_forget_plan(mst_session *session, mst_cached_plan *cached);
/** Whether CACHED has valid addresses in the slot with this INDEX. */
bool mst_session_is_bound(const mst_session *session, const mst_cached_plan *cached, int index);
/** Gives CACHED addresses in the slot with this INDEX, which no other run uses. Call it during an allocation
 *  (below). */
MST_CHECKED mst_status mst_session_bind(mst_session *session, mst_cached_plan *cached, int index);
/** Frees everything that a plan has in a slot. Call it without the lock. */
void mst_bound_plan_free(mst_session *session, mst_bound_plan *bound);

/* ---- memory: session.c ---- */

/** Begins an allocation. Until mst_session_end_allocation no other thread of the session asks devices for memory (for
 *  copies, constants and arenas) or checks their limits. The calling thread does not hold the session's lock in this
 *  time, because a device may take long. Other threads that need memory wait here until DEADLINE; runs that need none
 *  go on. Call both functions without the lock. */
MST_CHECKED mst_status mst_session_begin_allocation(mst_session *session, int64_t deadline);
void mst_session_end_allocation(mst_session *session);
/** The error of a call whose deadline passes while it waits for the allocation of another call to end. */
mst_status mst_session_allocation_too_late(void);

/* ---- entries of the store: session_states.c ---- */

/** Finds or makes the entries and copies that a new plan needs. Call it during an allocation. */
MST_CHECKED mst_status mst_session_place_states(mst_session *session, mst_cached_plan *cached);
/** Checks that every entry that CACHED reads has a value, and refreshes stale copies. Call it in a turn that has
 *  begun. */
MST_CHECKED mst_status mst_session_check_states(mst_session *session, const mst_cached_plan *cached, int64_t deadline);
/** Gives the entries that CACHED has written in FRAME their new version, or marks them as torn. FRAME's step
 *  happens. */
void mst_session_commit_states(mst_session *session, const mst_cached_plan *cached, const mst_frame *frame);
/** Some devices stopped behind the gate: marks as torn the entries that they still had to write (torn.c). Call it under
 *  the store's lock. */
void mst_session_mark_torn(const mst_cached_plan *cached, const mst_frame *frame);
/** Adds to the calling thread's error which entries are torn. The error is that of a run of CACHED that failed behind
 *  the gate. Call it in the run's turn. */
mst_status mst_session_tell_torn(mst_store *store, const mst_cached_plan *cached);
/** Fails if MORE bytes would exceed the limit of DEVICE. If DEVICE is in the host's memory, also fails if it and all
 *  other such devices would exceed that memory (mst_host_memory). The error names the largest values of PLAN, which may
 *  be NULL. */
MST_CHECKED mst_status mst_session_check_limit(const mst_session *session, const mst_plan *plan, int device,
                                               int64_t more);
/** Fails if the host's memory has no room for a first run of CACHED. Such a run touches FRESH bytes of arenas and new
 *  copies, in addition to what the process has now. Call it after kernels were bound, so that their code is
 *  included. */
MST_CHECKED mst_status mst_session_check_room(const mst_cached_plan *cached, int64_t fresh);
/** Fails if the host's memory has no room for BYTES of new outputs of CACHED in addition to the arenas of its run. Call
 *  it before memory is allocated for any of them. */
MST_CHECKED mst_status mst_session_check_outputs(const mst_session *session, const mst_cached_plan *cached,
                                                 int64_t bytes);
/** The most bytes that STRINGS, the string memory of DEVICE, may take in all, given the memory that is in use now. */
int64_t mst_session_string_room(const mst_session *session, int device, const mst_string_memory *strings);

#endif
