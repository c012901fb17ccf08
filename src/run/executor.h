/** The threads of a session's devices, and the order in which each device works on frames.
 *
 *  Every device has a queue. A frame is put on the queues of all its devices at once, under the session's lock, so that
 *  two frames never wait for each other crosswise. The thread that calls for a step runs device 0's part itself, when
 *  the frames before it are done there; the other devices have threads of their own. */
#ifndef MUSTER_RUN_EXECUTOR_H
#define MUSTER_RUN_EXECUTOR_H

#include "run/frame.h"

typedef struct mst_executor mst_executor;

/** Starts the threads of DEVICES, with queues for at most NUM_FRAMES frames at a time. */
MST_CHECKED mst_status mst_executor_create(const mst_devices *devices, const mst_session_options *options,
                                           int num_frames, mst_executor **out);
/** Ends the threads and frees the executor. False where a thread did not leave its frame within SECONDS: then nothing
 *  is freed, and all that the frame uses must stay too. */
bool mst_executor_destroy(mst_executor *executor, double seconds);
/** Puts FRAME, whose plan or job is set, on the queues of DEVICES; called by one thread at a time. */
void mst_executor_submit(mst_executor *executor, mst_frame *frame, const int32_t *devices, int32_t num_devices);
/** Runs device 0's part of FRAME, which has one, on the calling thread, in its turn. */
void mst_executor_run_own(mst_executor *executor, mst_frame *frame);
/** The team of a device, NULL where it has one thread. */
mst_team *mst_executor_team(const mst_executor *executor, int device);
/** True where each device's threads have cores of their own, so that waiting awake for a moment pays. */
bool mst_executor_spins(const mst_devices *devices);

#endif
