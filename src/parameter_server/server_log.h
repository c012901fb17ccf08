/** The log of updates that a parameter server writes (parameter_server/update_log.h). */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_LOG_H
#define MUSTER_PARAMETER_SERVER_SERVER_LOG_H

#include "messages/task_message.h"
#include "parameter_server/update_log.h"

typedef struct mst_server mst_server;

/** Call it after BEGIN: opens the log of updates, if one is wanted. */
MST_CHECKED mst_status mst_server_begin_log(mst_server *s);
/** Reads the log to be replayed. Free *OUT also after an error. */
MST_CHECKED mst_status mst_server_read_log(mst_server *s, mst_update_log *out);
/** Writes an entry for the gradients of MESSAGE, which have made the update to the present step, or were dropped at
 *  this step. */
MST_CHECKED mst_status mst_server_log_gradients(mst_server *s, const mst_task_message *message, mst_logged_event event);

#endif
