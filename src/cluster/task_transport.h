/** How a task opens its transport: which one it takes, and the key of its cluster. */
#ifndef MUSTER_CLUSTER_TASK_TRANSPORT_H
#define MUSTER_CLUSTER_TASK_TRANSPORT_H

#include <stdio.h>

#include "muster/cluster.h"
#include "muster/op.h"
#include "transport/transport.h"

enum { MST_NAME_SECONDS = 60 }; /**< for a server of names to hear of a machine that has just been started */

typedef struct mst_task_transport {
    const char *name;     /**< NULL: shm, or zmq where this machine has no such memory, with a line in the log */
    const char *key_file; /**< of the cluster; NULL: none, so that the user's token counts (transport/user_token.h) */
    FILE *log;            /**< NULL: no line */
    const mst_cluster *cluster; /**< whose task the line is of */
    /** How long the name at which this task listens is looked for, where it is not known here yet; 0: once. */
    double name_seconds;
    bool (*stop)(void *context); /**< true: it is looked for no longer; NULL: never */
    void *context;
} mst_task_transport;

/** Opens it with OPTIONS, whose keys are those of the file. Errors as mst_task_open_with. */
MST_CHECKED mst_status mst_task_transport_open(const mst_task_transport *which, mst_transport_options *options,
                                               const mst_transport_type **type, mst_transport **out);
/** For a task that cannot open its transport with OPTIONS, since another program listens at its address, say: sends
 *  MESSAGE of BYTES, a control message, to the tasks from FIRST to END - 1, and waits until they have it, 5 seconds at
 *  most. It listens nowhere meanwhile. IS_DOUBLE: the process that has its number is told too (`taken`). Nothing where
 *  that cannot be opened either. */
void mst_task_transport_tell(const mst_task_transport *which, const mst_transport_options *options, int32_t first,
                             int32_t end, bool is_double, const void *message, size_t bytes);
/** Whether a process that listens at this task's address has its number, as far as it answers at once. */
bool mst_task_transport_is_double(const mst_task_transport *which, const mst_transport_options *options);

/** Asks the tasks at the N addresses what they do, as a process that is none of them (mst_transport_type.ask). KEY_FILE
 *  is that of their cluster; NULL: none. INSECURE: they take connections of all, and ask for no user's token. An answer
 *  is a report (cluster/task_report.h). Errors are those of the key and of the addresses, and MST_UNAVAILABLE without
 *  the module. Exported for the command. */
MST_API MST_CHECKED mst_status mst_tasks_ask(const char *key_file, bool insecure, const char *const *address, int n,
                                             double seconds, mst_transport_answer *answer);

#endif
