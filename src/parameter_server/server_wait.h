/** For whom a parameter server waits. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_WAIT_H
#define MUSTER_PARAMETER_SERVER_SERVER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_server mst_server;

/** Says in the log and in the status for whom the server waits. */
void mst_server_note_waiting(mst_server *s, int64_t now);
/** Says for whom the workers wait that have finished. */
MST_CHECKED mst_status mst_server_say_who_is_missing(mst_server *s, int64_t now);
/** Ends the job, or goes on without the worker, if a worker is lost for too long. */
MST_CHECKED mst_status mst_server_check_lost(mst_server *s, int64_t now);
/** Warns of a step that has waited for long, and ends the job if it has waited for too long. */
MST_CHECKED mst_status mst_server_check_step(mst_server *s, int64_t now);

#endif
