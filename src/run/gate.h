/** The gate of a frame, which decides once whether the step happens. gate.c explains how. */
#ifndef MUSTER_RUN_GATE_H
#define MUSTER_RUN_GATE_H

#include "run/frame.h"

/** The decision. */
enum {
    MST_UNDECIDED, /**< devices are still in the body */
    MST_VOTED,     /**< this task can make the step, and the coordinator of all tasks decides (run/part.h) */
    MST_HAPPENS,   /**< all devices write */
    MST_DOES_NOT   /**< no device writes */
};

/** Does what may fail at the gate: waits for late calls, waits for steps that still read the entries that this step
 *  writes, and renews the memory in reserve (base/reserve.h). A device that votes for its task (plan/vote.c) calls it
 *  before voting, when all devices have done everything that may fail. Else the gate calls it. */
MST_CHECKED mst_status mst_gate_prepare(mst_frame *frame);
/** DEVICE has done its part before the gate. The last device that calls this makes the decision. */
void mst_gate_arrive(mst_frame *frame, int device);
/** DEVICE waits for the decision, at most until the deadline of the frame. True if the step happens. */
bool mst_gate_wait(mst_frame *frame, int device);
/** Keeps the calling thread's error, whose code is STATUS, as the frame's. The first failure is kept, but a cause
 *  replaces a DERIVED failure. NODE (-1: none) and DEVICE say where it happened. If the gate has not decided yet, it
 *  decides that the step does not happen. */
void mst_frame_fail(mst_frame *frame, mst_status status, int32_t node, int device, bool derived);
/** Takes the decision of the coordinator of all tasks on a step for which this task may have voted. */
void mst_gate_decide_together(mst_frame *frame, bool happens);
/** Whether nothing has been decided yet, so that a device that comes to the gate has to wait. */
bool mst_gate_is_open(const mst_frame *frame);
/** Decides that the step does not happen, if the gate has not decided yet. False if the step happens or this task has
 *  voted: then the step must be finished. */
bool mst_frame_stop(mst_frame *frame);

#endif
