/** Opens the transport of a task: chooses its type, and reads the key of its cluster. */
#ifndef MUSTER_CLUSTER_TASK_TRANSPORT_H
#define MUSTER_CLUSTER_TASK_TRANSPORT_H

#include <stdio.h>

#include "muster/cluster.h"
#include "muster/op.h"
#include "transport/transport.h"

enum { MST_NAME_SECONDS = 60 }; /**< time until a name server should know a machine that has just been started */

typedef struct mst_task_transport {
    const char *name;     /**< NULL: shm; or zmq, with a line in the log, if this machine has no such shared memory */
    const char *key_file; /**< of the cluster; NULL: none, so the user's token is used (transport/user_token.h) */
    FILE *log;            /**< NULL: no line */
    const mst_cluster *cluster; /**< its task is named in the line */
    /** If the name at which this task listens cannot be resolved here, it is tried again for so many seconds. 0: it is
     *  tried once. */
    double name_seconds;
    bool (*stop)(void *context); /**< true: the name is not tried any more; NULL: never */
    void *context;
} mst_task_transport;

/** Opens the transport with OPTIONS; their keys come from the file. Errors as mst_task_open_with. */
MST_CHECKED mst_status mst_task_transport_open(const mst_task_transport *which, mst_transport_options *options,
                                               const mst_transport_type **type, mst_transport **out);
/** For a task that cannot open its transport with OPTIONS, for example because another program listens at its address.
 *  Opens another transport, which does not listen. Sends MESSAGE of BYTES, a control message, to the tasks from FIRST
 *  to END - 1, and waits until they have it, 5 seconds at most. IS_DOUBLE: another process has this task's number, and
 *  is told too (`taken`). Does nothing if such a transport cannot be opened either. */
void mst_task_transport_tell(const mst_task_transport *which, const mst_transport_options *options, int32_t first,
                             int32_t end, bool is_double, const void *message, size_t bytes);
/** Whether a process that listens at this task's address has its number. False if it does not answer at once. */
bool mst_task_transport_is_double(const mst_task_transport *which, const mst_transport_options *options);

/** Asks the tasks at the N addresses for their reports, as a process that is not a task (mst_transport_type.ask).
 *  KEY_FILE: of their cluster; NULL: none. INSECURE: they accept connections from everybody, and need no user's token.
 *  An answer is a report (cluster/task_report.h). Errors are about the key or the addresses; MST_UNAVAILABLE if the
 *  module is missing. Exported for the command. */
MST_API MST_CHECKED mst_status mst_tasks_ask(const char *key_file, bool insecure, const char *const *address, int n,
                                             double seconds, mst_transport_answer *answer);

#endif
