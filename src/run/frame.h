/** Frames: one step in flight.
 *
 *  A frame says which plan runs, in which memory, with which feeds, and until when. All devices of the plan work on it,
 *  each on its own program. They meet at the gate (gate.h), which decides once whether the step happens. */
#ifndef MUSTER_RUN_FRAME_H
#define MUSTER_RUN_FRAME_H

#include <pthread.h>

#include "base/failure.h"
#include "base/team.h"
#include "base/timeline.h"
#include "plan/plan.h"
#include "run/backend.h"
#include "run/errand.h"
#include "run/strings.h"
#include "run/trace.h"
#include "store/store.h"

/** Whether a frame runs, or how it has ended. If all devices leave it before the deadline, the caller releases it. Else
 *  the caller gives it up, and the last device to leave releases it. */
enum { MST_RUNNING, MST_ALL_LEFT, MST_GIVEN_UP };

/** Memory of one device for steps. It lasts as long as the session, and grows with the largest plan. */
typedef struct mst_arena_memory {
    char *data;
    _Atomic int64_t bytes;
    char *staging; /**< host memory for all fed values of the device, if its memory is not the host's */
    int64_t staging_bytes;
} mst_arena_memory;

/** New memory of a copy, or of a part of one. The device writes to it first, so that it lies next to its cores. */
typedef struct mst_touch {
    char *data;
    size_t bytes;
    int32_t device;
} mst_touch;

/** Where a device has stopped behind the gate (run/gate.h). It stops there if its part fails, or needs a value that
 *  another device did not make. */
typedef struct mst_stop {
    int64_t call;          /**< first call of its program that is not complete; INT64_MAX: it has not stopped */
    _Atomic int32_t point; /**< the last point that it has reached; INT32_MAX: it has not stopped */
} mst_stop;

typedef struct mst_frame {
    /* what runs */
    const mst_devices *devices;
    const mst_plan *plan;
    void *const *instance;      /**< by device: the instance of its backend */
    const mst_binding *binding; /**< where the values are */
    const mst_feed *feeds;      /**< copies of the caller's feeds; their tensors are retained */
    mst_tensor **outputs;       /**< by fetch; a NULL entry: not wanted. The tensors are retained */
    mst_step step;
    int64_t deadline;     /**< of the call */
    int64_t longer;       /**< deadline behind the gate for the caller and for a part that the caller runs */
    bool caller_runs;     /**< the caller runs device 0's part. Behind the gate that part waits until `longer`; parts on
                               other threads have no deadline there */
    bool check_numerics;  /**< the option of the session */
    bool spin;            /**< waits spin for a moment before they sleep (mst_executor_spins) */
    mst_run_notes *notes; /**< notes for a trace; NULL: the run is not traced */
    const mst_errand_stop *asks;        /**< tells when waits for a compiler should end early; NULL: never */
    bool has_turn;                      /**< `turn` is set */
    mst_turn turn;                      /**< the turn of this step for the entries of the plan (store/store.h) */
    const mst_bound_exchange *exchange; /**< by exchange of the plan */
    uint64_t exchange_run;              /**< number of this run among those with exchanges */
    struct mst_session_part *part;      /**< the part, if there are devices of other tasks; NULL: there are none */
    uint64_t part_run;                  /**< number of the run, which is the same on all tasks */
    bool prepared;          /**< mst_gate_prepare has run; set before the vote by the device that votes, read at the
                                 gate */
    const mst_touch *touch; /**< memory that devices touch before the frame is ready; NULL: none */
    int64_t num_touches;
    /* progress */
    _Atomic int remaining;                    /**< number of devices that have not left */
    _Atomic int end;                          /**< MST_RUNNING, MST_ALL_LEFT or MST_GIVEN_UP */
    void (*release)(struct mst_frame *frame); /**< called by the last device if the caller has given up */
    void *owner;                              /**< for release */
    uint64_t own_number;                      /**< the frame's number on the queue of device 0 */
    uint64_t number;                          /**< counts the runs of this frame's slot, from 1 */
    mst_timeline touched;                     /**< counts the devices that have touched memory, over all frames of the
                                                   slot */
    uint64_t all_touched;       /**< value of `touched` when all devices of this frame have touched theirs */
    mst_timeline ready;         /**< has value `number` when the state may be read */
    mst_timeline gate;          /**< has value `number` when the gate has decided */
    mst_timeline left;          /**< has value `number` when all devices have left */
    _Atomic int decision;       /**< decision of the gate */
    _Atomic int arrived;        /**< number of devices at the gate */
    int participants;           /**< number of devices that run something */
    uint64_t *base;             /**< by device: value of its timeline when the frame begins */
    _Atomic int32_t *at;        /**< by device: the node that it runs now; -1: none */
    mst_stop *stop;             /**< by device: where it has stopped behind the gate */
    _Atomic int64_t *copied;    /**< bytes copied between domains: the session's counter */
    mst_string_memory *strings; /**< by device: bytes of the strings that it has received */
    mst_timeline *own_lines;    /**< by device: timelines of progress, used when one thread runs all devices; NULL: that
                                     never happens */
    struct mst_walk *walks;     /**< by device, for the same case: how far the device has come in its program */
    atomic_bool failed;
    pthread_mutex_t lock; /**< of `failure` */
    mst_failure failure;  /**< the first failure; a cause replaces a derived one (base/failure.h) */
} mst_frame;

/** The array of VALUE in this frame, with its address. */
mst_array mst_frame_array(const mst_frame *frame, int32_t value);
/** Waits until the late calls of DEVICE have ended, at most until DEADLINE (settle of mst_backend). *NODE is the node
 *  that failed; -1: none. If DEADLINE passes, the error and *NODE name the node that mst_frame_pending finds. */
MST_CHECKED mst_status mst_frame_settle(mst_frame *frame, int device, int64_t deadline, int32_t *node);
/** Waits until everything that DEVICE runs behind the gate can be started (ready of mst_backend), at most until the
 *  deadline of the frame. *NODE is the node that cannot be started; -1: none. */
MST_CHECKED mst_status mst_frame_ready(mst_frame *frame, int device, int32_t *node);
/** The node for which the frame waits; -1: none. For each device it considers the first late call that has not ended,
 *  or else the node that the device runs now. Of these nodes it returns the first in the order of the plan, because the
 *  others may wait for it. *DEVICE is its device; *LATE: it is a late call. */
int32_t mst_frame_pending(mst_frame *frame, int *device, bool *late);
/** Sets OUT to the number of elements of VALUE that are in use. SRC is the array of VALUE. The value COUNTED_BY begins
 *  with the number of rows in use; -1: all elements are in use. */
MST_CHECKED mst_status mst_frame_count(mst_frame *frame, int32_t value, int32_t counted_by, const mst_array *src,
                                       int64_t *out);
/** Touches DEVICE's part of new memory, so that the memory lies next to the cores of the calling thread. The contents
 *  stay the same. */
void mst_frame_touch(mst_frame *frame, int device);
/** The calling device leaves the frame, and must not access it any more. */
void mst_frame_leave(mst_frame *frame);
/** The caller gives the frame up: the last device to leave releases it. False if all devices have left in the
 *  meantime. */
bool mst_frame_give_up(mst_frame *frame);
/** Runs the program of DEVICE to its last action, or until the frame fails. TEAM has the threads of the device; NULL:
 *  the device has one thread. LINES are the timelines of all devices. */
void mst_frame_run(mst_frame *frame, int device, mst_team *team, mst_timeline *lines);
/** Allocates what mst_frame_run_alone needs: `own_lines` and `walks`. The owner frees them. */
MST_CHECKED mst_status mst_frame_prepare_alone(mst_frame *frame);
/** Runs the programs of DEVICES, which are all devices of the plan, on the calling thread. The thread switches to the
 *  next device where it would wait. The devices are in one domain and have one thread each, and the frame is ready. The
 *  bits are the same as with a thread for each device. */
void mst_frame_run_alone(mst_frame *frame, const int32_t *devices, int32_t num_devices);

#endif
