/** Traces: what each device did at which time.
 *
 *  While a frame runs, each device notes the node and the times of each of its actions in a list of its own
 *  (mst_run_notes). When the frame has succeeded, the notes become a run of the trace. A run has copies of names and
 *  sizes, so that it does not need the plan and the session any more. */
#ifndef MUSTER_RUN_TRACE_H
#define MUSTER_RUN_TRACE_H

#include <pthread.h>

#include "muster/trace.h"
#include "plan/plan.h"

/* ---- while a frame runs ---- */

typedef struct mst_note {
    mst_action_kind kind;
    bool compiles;      /**< the device waited for the compiler of NODE's program */
    int32_t node;       /**< -1: the action belongs to no node */
    int32_t other;      /**< device that was waited for; -1: none */
    int32_t point;      /**< point that was waited for, or that this device reached */
    int64_t begin, end; /**< by mst_clock_now */
} mst_note;

/** Notes of one device. Only its thread writes them. There is room for all that its program can note. */
typedef struct mst_notes {
    mst_note *note;
    int64_t count, capacity;
    mst_note *program; /**< programs that its thread only started, with the times at which they ran, in the order of
                            their starts */
    int64_t num_programs, most_programs;
} mst_notes;

typedef struct mst_run_notes {
    int num_devices;
    mst_notes device[];
} mst_run_notes;

MST_CHECKED mst_status mst_run_notes_create(const mst_plan *plan, mst_run_notes **out);
/** NULL is allowed. */
void mst_run_notes_free(mst_run_notes *notes);
/** Notes that DEVICE has run NODE from BEGIN until now. */
void mst_note_call(mst_run_notes *notes, int device, int32_t node, int64_t begin);
/** Notes that DEVICE has waited for the compiler of NODE's program, from BEGIN until now. */
void mst_note_compiling(mst_run_notes *notes, int device, int32_t node, int64_t begin);
/** Notes that the program of NODE was started on DEVICE at BEGIN and had ended at END. If the program before it ended
 *  after BEGIN, it ran only from then on. One thread notes all programs of a device, in the order in which they were
 *  started, when the frame has succeeded. */
void mst_note_program(mst_run_notes *notes, int device, int32_t node, int64_t begin, int64_t end);
/** Notes that DEVICE has performed ACTION from BEGIN until now. The calls of MST_DO_RUN are noted one by one instead
 *  (mst_note_call). Returns the present time, at which the next action begins. */
int64_t mst_note_action(mst_run_notes *notes, int device, const mst_action *action, int64_t begin);

/* ---- afterwards ---- */

/** Something that a device did. Times are nanoseconds since the trace began. */
typedef struct mst_traced {
    mst_action_kind kind;
    bool compiles;         /**< as in mst_note */
    const char *name, *op; /**< name and op of the node; "" for none */
    int32_t other, point;  /**< as in mst_note */
    int64_t begin, end;
    int64_t bytes; /**< bytes of the node's outputs */
    int num_dst;   /**< number of its outputs */
    const mst_spec *dst;
} mst_traced;

/** Bytes that the values of a device take from TIME on. */
typedef struct mst_traced_memory {
    int64_t time, bytes;
} mst_traced_memory;

typedef struct mst_traced_device {
    const char *name;
    mst_traced *did;
    int64_t num_did;
    mst_traced *program; /**< when its compiled programs ran; `did` has only their starts */
    int64_t num_programs;
    mst_traced *held; /**< nodes that take no time in the run: variables, constants, views */
    int64_t num_held, held_capacity;
    mst_traced_memory *memory;
    int64_t num_memory, memory_capacity;
} mst_traced_device;

typedef struct mst_traced_run {
    mst_arena memory;
    int64_t step; /**< number of the run: global_step before it; below 0 if it does not change global_step */
    int num_devices;
    mst_traced_device *device;
} mst_traced_run;

struct mst_trace {
    pthread_mutex_t lock; /**< protects all members below */
    int64_t began;        /**< time 0 of the trace, by mst_clock_now */
    double wall_began;    /**< the same moment in seconds since 1970 */
    mst_traced_run *run;
    int64_t num_runs, capacity;
    int64_t num_lost; /**< runs that were lost because memory ran out */
};

/** Adds a run of PLAN that has happened. If memory runs out, the run is counted as lost. */
void mst_trace_add(mst_trace *trace, const mst_plan *plan, int64_t step, const mst_run_notes *notes);

#endif
