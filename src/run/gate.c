/* The gate, which decides once whether a step happens.
 *
 *      body                            | gate |  commit
 *      may fail; variables keep their  |      |  writes variables;
 *      old values                      |      |  runs to its end
 *
 * Each device arrives at the gate when its part of the body is done (mst_gate_arrive). It goes on only when the
 * decision is known (mst_gate_wait). The decision is one of two:
 *
 *   it happens    The last device to arrive waits until no step reads the old values any more. It allocates the memory
 *                 in reserve (base/reserve.h) again if that has been spent. Then it decides, and all devices write.
 *   it does not   A device or the caller has failed before (mst_frame_fail), or the deadline has passed. No device
 *                 writes, and the variables keep their old values.
 *
 * Several threads may want to decide at the same time: the last device, one that fails, or one that has waited too
 * long. The first of them wins, by one compare-and-swap on `decision` of the frame; the others accept its decision. So
 * a step never happens on one device and not on another. A failure after that is only kept for the caller: the decision
 * stays. A plan that writes nothing has no gate; its step may still be stopped.
 *
 * If devices of other tasks take part, the last device to arrive votes, and the coordinator of all tasks decides
 * (part.h). A task that has voted waits for the decision as long as it takes, because other tasks may write already. */
#include "run/gate.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/reserve.h"
#include "run/part_inside.h"

/* Changes the decision to DECISION if it is still BEFORE, and wakes the devices that wait. Does nothing if the gate has
 * decided, or if this task may not decide any more. Returns the decision that holds afterwards. */
static int decide_from(mst_frame *frame, int before, int decision) {
    int decided = before;
    if (atomic_compare_exchange_strong(&frame->decision, &decided, decision)) {
        if (decision == MST_DOES_NOT && frame->has_turn) mst_turn_drop_writes(&frame->turn);
        mst_timeline_advance(&frame->gate, frame->number);
        return decision;
    }
    return decided;
}

static int decide(mst_frame *frame, int decision) {
    return decide_from(frame, MST_UNDECIDED, decision);
}

void mst_gate_decide_together(mst_frame *frame, bool happens) {
    decide_from(frame, MST_VOTED, happens ? MST_HAPPENS : MST_DOES_NOT);
}

bool mst_gate_is_open(const mst_frame *frame) {
    return atomic_load(&frame->decision) <= MST_VOTED;
}

/* Votes that this task can make the step. From now on the coordinator decides for all tasks. */
static void vote(mst_frame *frame) {
    int decided = MST_UNDECIDED;
    if (atomic_compare_exchange_strong(&frame->decision, &decided, MST_VOTED)) mst_session_part_vote(frame);
}

void mst_frame_fail(mst_frame *frame, mst_status status, int32_t node, int device, bool derived) {
    const mst_devices *devices = frame->devices;
    /* A program also fails if it needs results of a program that has failed. NODE belongs to the program that failed
     * first, so the device of NODE is named. */
    if (node >= 0 && mst_plan_compiles(frame->plan, &frame->plan->node[node])) device = frame->plan->node[node].device;
    if (node >= 0 && !*mst_error()->node) mst_error_at(frame->plan->node[node].name, NULL);
    if (device >= 0) mst_error_at(NULL, devices->device[device].text);
    pthread_mutex_lock(&frame->lock);
    if (!frame->failure.code || (frame->failure.derived && !derived)) {
        mst_failure_keep(&frame->failure, status);
        frame->failure.derived = derived;
        if (device >= 0)
            snprintf(frame->failure.device, sizeof frame->failure.device, "%s", devices->device[device].text);
    }
    pthread_mutex_unlock(&frame->lock);
    atomic_store(&frame->failed, true);
    decide(frame, MST_DOES_NOT);
    if (frame->part) mst_session_part_wake(frame->part);
}

bool mst_frame_stop(mst_frame *frame) {
    return decide(frame, MST_DOES_NOT) == MST_DOES_NOT;
}

/* Waits until the late calls of all devices have ended, and until the devices can start their calls behind the gate.
 * The devices must have started all their calls before the gate. */
static mst_status settle_all(mst_frame *frame) {
    for (int d = 0; d < frame->devices->count; d++) {
        int32_t node;
        mst_status status = mst_frame_settle(frame, d, frame->deadline, &node);
        if (!status) status = mst_frame_ready(frame, d, &node);
        if (!status) continue;
        mst_frame_fail(frame, status, node, d, false);
        return MST_FAIL(MST_CANCELLED, "another device failed");
    }
    return MST_OK;
}

mst_status mst_gate_prepare(mst_frame *frame) {
    MST_TRY(settle_all(frame));
    frame->prepared = true;
    if (!frame->has_turn || atomic_load(&frame->failed)) return MST_OK;
    MST_TRY(mst_turn_write(&frame->turn, frame->deadline));
    return mst_reserve_renew();
}

void mst_gate_arrive(mst_frame *frame, int device) {
    if (atomic_fetch_add(&frame->arrived, 1) + 1 < frame->participants) return;
    const mst_status status = frame->prepared ? MST_OK : mst_gate_prepare(frame);
    if (status) mst_frame_fail(frame, status, -1, device, false);
    if (frame->part)
        vote(frame);
    else
        decide(frame, MST_HAPPENS);
}

bool mst_gate_wait(mst_frame *frame, int device) {
    if (mst_timeline_wait(&frame->gate, frame->number, frame->deadline, frame->spin))
        return atomic_load(&frame->decision) == MST_HAPPENS;
    int decided = decide(frame, MST_DOES_NOT);
    if (decided == MST_VOTED) { /* other tasks may write: wait for the coordinator's decision in any case */
        mst_timeline_wait(&frame->gate, frame->number, MST_NEVER, frame->spin);
        decided = atomic_load(&frame->decision);
        if (decided == MST_DOES_NOT) return false;
    }
    if (decided == MST_HAPPENS) return true;
    mst_frame_fail(frame,
                   MST_FAIL(MST_DEADLINE,
                            "waited too long for the other devices to finish the step: one of them is "
                            "stuck, or the timeout is too short"),
                   -1, device, true);
    return false;
}
