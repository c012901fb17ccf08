/** Frames: one step in flight.
 *
 *  A frame says which plan runs, on which memory, with which feeds, until when. All devices of the plan work on it,
 *  each its own program; they meet at the gate (gate.h), where it is decided once whether the step happens. */
#ifndef MUSTER_RUN_FRAME_H
#define MUSTER_RUN_FRAME_H

#include <pthread.h>

#include "base/failure.h"
#include "base/team.h"
#include "base/timeline.h"
#include "plan/plan.h"
#include "run/backend.h"
#include "run/strings.h"
#include "run/trace.h"
#include "store/store.h"

/** How a frame ends. If all devices leave it before the deadline, the caller releases it. Else the caller gives it up,
 *  and the last device releases it. */
enum { MST_RUNNING, MST_ALL_LEFT, MST_GIVEN_UP };

/** Memory of one device for steps: lasts as long as the session, grows with the largest plan. */
typedef struct mst_arena_memory {
    char *data;
    _Atomic int64_t bytes;
    char *staging; /**< in the host's memory, if the device's is another */
    int64_t staging_bytes;
} mst_arena_memory;

/** New memory of a copy, or of a part of one, that a device touches before anything else is done with it. */
typedef struct mst_touch {
    char *data;
    size_t bytes;
    int32_t device;
} mst_touch;

/** Where a device has stopped behind the gate, because its part failed or needs what another has not made. */
typedef struct mst_stop {
    int64_t call;          /**< first call of its program that was not made whole; INT64_MAX: it has not stopped */
    _Atomic int32_t point; /**< the last point that it has reached; INT32_MAX: it has not stopped */
} mst_stop;

typedef struct mst_frame {
    /* what runs */
    const mst_devices *devices;
    const mst_plan *plan;
    void *const *instance;      /**< by device: of its backend */
    const mst_binding *binding; /**< where the values are */
    const mst_feed *feeds;      /**< copies whose tensors are retained */
    mst_tensor **outputs;       /**< by fetch; NULL entries: not wanted. Retained */
    mst_step step;
    int64_t deadline;
    int64_t longer;   /**< deadline of the caller behind the gate */
    bool caller_runs; /**< device 0's part is run by the caller, which must come back */
    bool check_numerics, spin;
    mst_run_notes *notes; /**< of a trace; NULL: none is taken */
    bool has_turn;
    mst_turn turn;                      /**< for the entries of the plan */
    const mst_bound_exchange *exchange; /**< by exchange of the plan */
    uint64_t exchange_run;              /**< number of this run among those with exchanges */
    struct mst_session_part *part;      /**< if there are devices of other tasks; NULL: there are none */
    uint64_t part_run;                  /**< number of the run, which is the same on all tasks */
    bool prepared;          /**< for the gate, before the vote: by the device that votes, read at the gate */
    const mst_touch *touch; /**< by the devices, before the frame is ready; NULL: nothing */
    int64_t num_touches;
    /* progress */
    _Atomic int remaining;                    /**< devices that have not left */
    _Atomic int end;                          /**< MST_RUNNING, MST_ALL_LEFT or MST_GIVEN_UP */
    void (*release)(struct mst_frame *frame); /**< if the caller has given up: the last device calls it */
    void *owner;                              /**< for release */
    uint64_t own_number;                      /**< its number on the queue of device 0 */
    uint64_t number;                          /**< counts the runs of this frame's slot, from 1 */
    mst_timeline touched;                     /**< devices that have touched, of all frames of the slot */
    uint64_t all_touched;                     /**< value of it when the devices of this frame have touched */
    mst_timeline ready;                       /**< at `number` when the state may be read */
    mst_timeline gate;                        /**< at `number` when it has decided */
    mst_timeline left;                        /**< at `number` when all devices have left */
    _Atomic int decision;                     /**< of the gate */
    _Atomic int arrived;                      /**< devices at the gate */
    int participants;                         /**< devices that run something */
    uint64_t *base;                           /**< by device: what its line is when it begins */
    _Atomic int32_t *at;                      /**< by device: node that it runs now, -1 */
    mst_stop *stop;                           /**< by device */
    _Atomic int64_t *copied;                  /**< bytes copied between domains, of the session */
    mst_string_memory *strings;               /**< by device */
    mst_timeline *own_lines;                  /**< by device: their progress if one thread runs all; NULL: never */
    struct mst_walk *walks;                   /**< likewise: where each is */
    atomic_bool failed;
    pthread_mutex_t lock; /**< of `failure` */
    mst_failure failure;  /**< the first cause */
} mst_frame;

/** The array of VALUE in this frame. */
mst_array mst_frame_array(const mst_frame *frame, int32_t value);
/** How many elements of VALUE, which is SRC, are there: COUNTED_BY (-1: all are) begins with the number of rows. */
MST_CHECKED mst_status mst_frame_count(mst_frame *frame, int32_t value, int32_t counted_by, const mst_array *src,
                                       int64_t *out);
/** DEVICE touches its part of new memory, so that it lies next to the cores of the calling thread. What is in it stays
 *  as it is. */
void mst_frame_touch(mst_frame *frame, int device);
/** The calling device leaves the frame, and must not touch it any more. */
void mst_frame_leave(mst_frame *frame);
/** The caller gives the frame up: the last device releases it. False if all devices have left meanwhile. */
bool mst_frame_give_up(mst_frame *frame);
/** Runs the program of DEVICE, whose threads are TEAM (NULL: one), from its first to its last action, or to where the
 * frame fails. LINES: by device. */
void mst_frame_run(mst_frame *frame, int device, mst_team *team, mst_timeline *lines);
/** Gets what mst_frame_run_alone needs: `own_lines` and `walks`, which the owner frees. */
MST_CHECKED mst_status mst_frame_prepare_alone(mst_frame *frame);
/** Runs the programs of DEVICES, all that the plan has, on the calling thread, which goes from one to the next where it
 *  would wait. The devices are of one domain and have one thread each, and the frame is ready. Gives the same bits. */
void mst_frame_run_alone(mst_frame *frame, const int32_t *devices, int32_t num_devices);

#endif
