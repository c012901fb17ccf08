/** The replay of a log of updates; only if options.replay_updates is set. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_REPLAY_H
#define MUSTER_PARAMETER_SERVER_SERVER_REPLAY_H

#include "messages/task_message.h"

typedef struct mst_server mst_server;

/** Sends the values and makes the updates whose turn it is. A worker to which values must be sent is `held`. */
MST_CHECKED mst_status mst_server_go_on_with_replay(mst_server *s);
/** Keeps *MESSAGE, gradients, until their turn, and sets it to NULL. */
MST_CHECKED mst_status mst_server_replay_gradients(mst_server *s, mst_task_message **message);
/** MST_INVALID if worker W leaves before it has sent all of its gradients that the log has. */
MST_CHECKED mst_status mst_server_check_leaving(mst_server *s, int32_t w);
/** MST_UNAVAILABLE if HELLO comes from a process that has replaced an earlier one: then a replay cannot go on. */
MST_CHECKED mst_status mst_server_check_instance(mst_server *s, const mst_task_message *hello);
void mst_server_close_replay(mst_server *s);

#endif
