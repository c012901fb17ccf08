/** The inside of a part (run/part.h), for frames and sessions: its struct, its messages and its runs. */
#ifndef MUSTER_RUN_PART_INSIDE_H
#define MUSTER_RUN_PART_INSIDE_H

#include <pthread.h>

#include "run/call_purpose.h"
#include "run/frame.h"
#include "run/part.h"

/** A message that has arrived but has not been received by a device. */
typedef struct mst_session_part_message {
    struct mst_session_part_message *next; /**< next message of the same bin */
    uint64_t run;
    int32_t from, stream;
    size_t bytes;
    char data[];
} mst_session_part_message;

enum { MST_PART_BINS = 64 };

typedef struct mst_session_part {
    mst_session_part_host host;
    pthread_mutex_t lock;                         /**< protects the next three members */
    pthread_cond_t changed;                       /**< a message has come, or the run has failed */
    mst_session_part_message *bin[MST_PART_BINS]; /**< messages, by stream */
    uint64_t last;                                /**< number of the run that was submitted last */
    pthread_mutex_t running;  /**< its holder may use `frame` and decide on it; taken before `lock` */
    mst_frame *frame;         /**< frame of the run under way; NULL: no run is under way */
    struct mst_slot *slot;    /**< slot of the run that mst_session_part_finish has to finish; NULL: none */
    mst_call_purpose purpose; /**< purpose of that run */
} mst_session_part;

MST_CHECKED mst_status mst_session_part_create(const mst_session_part_options *options, mst_session_part **out);
/** NULL is allowed. */
void mst_session_part_destroy(mst_session_part *part);

/** Keeps message STREAM of RUN from part FROM, a copy of DATA, until it is received or its run is over. */
MST_CHECKED mst_status mst_session_part_receive_message(mst_session_part *part, int32_t from, uint64_t run,
                                                        int32_t stream, const void *data, size_t bytes);
/** Notes that a run begins in FRAME, whose `part_run` is set. Its messages may have arrived already. */
void mst_session_part_begin_run(mst_session_part *part, mst_frame *frame);
/** Notes that all devices and the caller have left the frame of the run. */
void mst_session_part_end_run(mst_session_part *part);

/** Sends the source of node N to the task that waits for it. */
MST_CHECKED mst_status mst_session_part_send(mst_frame *frame, int32_t n);
/** Waits for the value of node N, on DEVICE, until the deadline of the frame or its failure. */
MST_CHECKED mst_status mst_session_part_receive(mst_frame *frame, int32_t n, int device);
/** Sends the number of the step from OWNER, the task that keeps it, to the tasks that run something. */
MST_CHECKED mst_status mst_session_part_share_step(mst_frame *frame, int32_t owner);
/** Votes that this task can make the step. */
void mst_session_part_vote(mst_frame *frame);
/** Wakes the devices that wait for messages, because the frame of the run has failed. */
void mst_session_part_wake(mst_session_part *part);

#endif
