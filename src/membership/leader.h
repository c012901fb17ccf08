/** The leader's half of a member (members.h). It is told which tasks are connected and ready, and decides when a
 *  generation begins and ends.
 *
 *      GATHERING    waits until all tasks are there and ready
 *      PROPOSING    has sent BEGIN; waits until all have acknowledged it
 *      RUNNING      has sent GO
 *      LEAVING      all have left; has sent ALL_LEFT; waits until all have acknowledged it
 *      ENDING       has sent VERDICT; waits until all have acknowledged it
 *      OVER         has sent BYE; or all have acknowledged VERDICT, or the time for that is over
 *      REFUSED      must not lead: another process does, or this one has other options than the job
 *
 *  The leader keeps an entry for each task: which process has its number, and which other process claims it. It changes
 *  its own state before it sends messages about the change. It sends to its own member last, since that member may
 *  answer at once. */
#ifndef MUSTER_MEMBERSHIP_LEADER_H
#define MUSTER_MEMBERSHIP_LEADER_H

#include "membership/members.h"

typedef struct mst_leader mst_leader;

/** Sends MESSAGE to TASK, which may be the leader's own task. MESSAGE->to is the instance of the receiving process. */
typedef void mst_leader_send(mst_members *members, int32_t task, const mst_member_message *message);

/** OPTIONS, as completed by mst_members_create, must outlive the leader. */
MST_CHECKED mst_status mst_leader_create(const mst_members_options *options, mst_members *members,
                                         mst_leader_send *send, mst_leader **out);
/** NULL is allowed. */
void mst_leader_destroy(mst_leader *leader);

/** MESSAGE has a kind that is sent to the leader. */
void mst_leader_received(mst_leader *leader, int32_t from, uint64_t instance, const mst_member_message *message);
void mst_leader_lost(mst_leader *leader, int32_t task, uint64_t instance, const char *why);
/** A second process of TASK, on the host WHERE, was refused: all are told. */
void mst_leader_refused(mst_leader *leader, int32_t task, const char *where);
/** The task lists of this process and of TASK do not match, as the transport reports; or only one of the two has
 *  elastic_min. */
void mst_leader_list_mismatch(mst_leader *leader, int32_t task, const char *why);
/** Whether no other task has come to this leader yet. */
bool mst_leader_is_alone(const mst_leader *leader);
/** Fills FAILURE for a process of task FROM that cannot join and has sent SAID. GOES_ON: the job goes on, and FAILURE
 *  is a line for the log; otherwise FAILURE is the error that ends the job. */
void mst_cannot_join_failure(const mst_members_options *options, int32_t from, const mst_task_failure *said,
                             bool goes_on, mst_task_failure *failure);
void mst_leader_committed(mst_leader *leader, int64_t state_number);
void mst_leader_tick(mst_leader *leader, int64_t now);
/** Whether the job ends, and the leader is still needed to tell the others. */
bool mst_leader_is_ending(const mst_leader *leader);
uint64_t mst_leader_ignored(const mst_leader *leader);

/** Fills FAILURE: TASK, which messages call WHO, was lost for the reason WHY and has not come back in time. In
 *  members.c. */
void mst_gone_for_good_failure(const mst_members_options *options, int32_t task, const char *who, const char *why,
                               int64_t state_number, mst_task_failure *failure);

#endif
