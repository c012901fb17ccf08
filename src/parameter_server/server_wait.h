/** What a parameter server does while it waits for workers: it says for whom it waits, and ends waits that are too
 *  long. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_WAIT_H
#define MUSTER_PARAMETER_SERVER_SERVER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_server mst_server;

typedef struct mst_server_waiting {
    int64_t since;        /**< when the first gradients of this step came; 0: none are there */
    int64_t warned;       /**< when the last warning about a long wait was written; 0: none was */
    double seconds;       /**< how long the wait was when it was last measured */
    int64_t said;         /**< before the workers have begun: when the log last said for whom the server waits */
    int64_t said_missing; /**< when the log last said for whom the finished workers wait */
    bool has_said_missing;
} mst_server_waiting;

/** Says in the log and in the status for whom the server waits. */
void mst_server_note_waiting(mst_server *s, int64_t now);
/** Says for whom the workers wait that have finished. */
MST_CHECKED mst_status mst_server_say_who_is_missing(mst_server *s, int64_t now);
/** If a worker is lost for too long: ends the job, or goes on without that worker. */
MST_CHECKED mst_status mst_server_check_lost(mst_server *s, int64_t now);
/** Warns of a step that has waited for long, and ends the job if it has waited for too long. */
MST_CHECKED mst_status mst_server_check_step(mst_server *s, int64_t now);

#endif
