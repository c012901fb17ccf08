/** The messages of sessions over several tasks (messages/task_message.h), and their bodies (sessions/wire_body.h).
 *
 *  A client sends requests to the leader, task 0 of the cluster, one at a time for each session:
 *
 *      kind     number    step    body
 *      OPEN     -         -       mst_open_message
 *      PLAN     session   -       feeds (name, spec), fetches (name)
 *      RUN      session   -       plan, initial, uncounted, a tensor or none for each feed
 *      STATE    session   -       entries of stores: task, container, name, kind; and a tensor if it must be set
 *      FORGET   session   plan    -                                                        has no answer
 *      CLOSE    session   -       -                                                        has no answer
 *
 *      ANSWER   session   plan    an error; if it is MST_OK, then
 *                                 to OPEN: the names of all devices
 *                                 to PLAN: task of each feed, task of each fetch, lines of the placement log,
 *                                 lines of the plan log
 *                                 to RUN: overtaken, runs counted, a tensor or none for each fetch
 *                                 to STATE: a byte for each entry: whether it has a value
 *
 *  The client chooses `request`, and the answer has the same. The leader numbers its messages to a task in `round`,
 *  from 0 on. The task takes them in that order, although large bodies arrive later. Their `request` is the number of
 *  the task's last HELLO. The body of a request begins with its ticket, and the answer has the ticket as its `request`:
 *
 *      PART_OPEN     session   -      ticket, mst_open_message, the devices of each task
 *      PART_PLAN     session   plan   ticket, as PLAN
 *      PART_RUN      session   run    ticket, plan, seconds, random number, initial, a tensor or none for each feed
 *      PART_STATE    session   -      ticket, as STATE
 *      PART_DECIDE   session   run    an error, or MST_OK: the run happens
 *      PART_FORGET, PART_CLOSE        as for the client
 *
 *      PART_ANSWER   session   -      an error; if it is MST_OK, then
 *                                     to PART_PLAN: hash, lines of the plan log, whether it changes variables, whether
 *                                     a global step numbers it, for each task whether it has something to do, task of
 *                                     each feed and fetch, lines of the placement log
 *                                     to PART_STATE: as above, for the entries of this task
 *      PART_VOTE     session   run    -
 *      PART_DONE     session   run    an error, overtaken, a tensor or none for each fetch
 *      PART_VALUE    session   run    from one task to another: the bytes of message `request`
 *
 *      HELLO         number: chosen by the task; body: its devices
 *      JOINS         the task has called mst_task_server_join
 *      MISSES        number: a task to which the sender has lost the connection
 *      ENDS          from the leader: all have joined, and there is no session */
#ifndef MUSTER_SESSIONS_SESSION_MESSAGE_H
#define MUSTER_SESSIONS_SESSION_MESSAGE_H

#include "device/device.h"
#include "messages/task_message.h"
#include "sessions/wire_body.h"

extern const mst_protocol mst_session_protocol;

enum {
    /* from a client to the leader */
    MST_SESSION_OPEN = MST_TASK_MESSAGE_SESSIONS,
    MST_SESSION_PLAN,
    MST_SESSION_RUN,
    MST_SESSION_STATE,
    MST_SESSION_FORGET,
    MST_SESSION_CLOSE,
    MST_SESSION_ANSWER, /**< from the leader to the client */
    /* from the leader to a task */
    MST_PART_OPEN,
    MST_PART_PLAN,
    MST_PART_RUN,
    MST_PART_STATE,
    MST_PART_FORGET,
    MST_PART_CLOSE,
    MST_PART_DECIDE,
    MST_SERVICE_ENDS,
    /* from a task to the leader */
    MST_SERVICE_HELLO,
    MST_SERVICE_JOINS,
    MST_SERVICE_MISSES,
    MST_PART_ANSWER,
    MST_PART_DONE,
    MST_PART_VOTE,
    MST_PART_VALUE,   /**< from task to task */
    MST_SERVICE_WAKE, /**< from a task to itself: its thread must check whether it ends */
    MST_SESSION_END
};

/** Most programs that may be connected with a leader at once; number of the leader. */
enum { MST_REMOTE_CLIENTS = 64, MST_REMOTE_LEADER = 0 };

/** A session, as its client requests it. */
typedef struct mst_open_message {
    int32_t first; /**< the task for nodes that are placed on no task */
    bool soft_placement, check_numerics;
    bool logs;             /**< each plan comes with a log of where nodes are placed */
    bool plans;            /**< each plan comes with its plan log */
    const char *plan_pass; /**< pass of the plan log, "": each; after reading, it points into the body */
    int64_t memory_limit;  /**< bytes; 0: the limit of each task server */
    int64_t runs;          /**< number of earlier runs that were counted for random numbers */
    double timeout;        /**< seconds for a request of the client */
    const void *graph;     /**< encoded; 0 bytes if it has no nodes. After reading, it points into the body */
    size_t graph_bytes;
} mst_open_message;

void mst_open_message_put(mst_wire_writer *writer, const mst_open_message *open);
/** NUM_TASKS: of the cluster. */
void mst_open_message_get(mst_wire_reader *reader, int32_t num_tasks, mst_open_message *out);

void mst_task_devices_put(mst_wire_writer *writer, const mst_task_devices *devices);
/** The caller frees `device` with free(), also after an error. */
void mst_task_devices_get(mst_wire_reader *reader, mst_task_devices *out);

/** The tasks in a session's order: FIRST, then the others as in the cluster. These give the number in the cluster of
 *  the task at PLACE, and the place of TASK. */
int32_t mst_session_task_at(int32_t first, int32_t place);
int32_t mst_session_place_of(int32_t first, int32_t task);

/** Reads an array of COUNT elements, each a tensor or NULL; free it with mst_tensors_free. NULL after an error. */
mst_tensor **mst_tensors_get(mst_wire_reader *reader, int32_t *count);
void mst_tensors_free(mst_tensor **tensors, int32_t count);

#endif
