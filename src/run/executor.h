/** The threads of a session's devices, and the order in which each device works on frames.
 *
 *  Every device has a queue. A frame is put on the queues of all its devices at once, under the session's lock. So two
 *  frames never wait for each other in a circle. All devices except device 0 have threads of their own. Device 0 has a
 *  thread too if callers must be able to leave at their deadline. Else the thread that calls for a step runs device 0's
 *  part itself, once device 0 has done the frames before it. */
#ifndef MUSTER_RUN_EXECUTOR_H
#define MUSTER_RUN_EXECUTOR_H

#include "run/frame.h"

typedef struct mst_executor mst_executor;

/** Makes an executor whose queues have NUM_FRAMES places. That is one more than there may be frames at a time, because
 *  the mark of the end takes a place too. With RUNS_ALL device 0 has a thread of its own, like the others, so that
 *  callers can leave at their deadline. Without it callers run device 0's part themselves, which saves some
 *  microseconds. */
MST_CHECKED mst_status mst_executor_create(const mst_devices *devices, const mst_session_options *options,
                                           int num_frames, bool runs_all, mst_executor **out);
/** What the owner of an executor does at its end. */
typedef struct mst_executor_end {
    void (*late)(void *owner);  /**< called if mst_executor_destroy returns before all devices have left their frames */
    void (*ended)(void *owner); /**< called when all devices have left */
    void *owner;
} mst_executor_end;

/** Ends the threads, and calls END->ended with the owner, whose memory the devices use. END may be NULL. If a device
 *  does not leave its frame within SECONDS, the function calls END->late and returns. Then the last device to come back
 *  frees the executor and calls END->ended on its own thread. */
void mst_executor_destroy(mst_executor *executor, double seconds, const mst_executor_end *end);
/** Whether threads of the executor run all devices, and callers run none. */
bool mst_executor_runs_all(const mst_executor *executor);
/** Puts FRAME, whose plan is set, on the queues of DEVICES. Only one thread may call this function at a time. */
void mst_executor_submit(mst_executor *executor, mst_frame *frame, const int32_t *devices, int32_t num_devices);
/** Runs device 0's part of FRAME on the calling thread, once device 0 has done the frames before FRAME. The frame must
 *  have such a part. */
void mst_executor_run_own(mst_executor *executor, mst_frame *frame);
/** Runs FRAME for all of DEVICES on the calling thread (mst_frame_run_alone). FRAME is on no queue. */
void mst_executor_run_alone(mst_frame *frame, const int32_t *devices, int32_t num_devices);
/** The team of a device; NULL if the device has one thread. */
mst_team *mst_executor_team(const mst_executor *executor, int device);
/** True if each device's threads have cores of their own. Then it pays to spin for a moment before sleeping. */
bool mst_executor_spins(const mst_devices *devices);

#endif
