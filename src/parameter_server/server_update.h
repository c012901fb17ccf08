/** Updates: which gradients of workers are taken, which are dropped, and when an update is made. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_UPDATE_H
#define MUSTER_PARAMETER_SERVER_SERVER_UPDATE_H

#include "messages/task_message.h"

typedef struct mst_server mst_server;

/** Handles *MESSAGE, the gradients of a worker. In an asynchronous job they make an update at once. In a synchronous
 *  job they are kept until enough gradients are there; in a replay, until it is their turn. They are dropped if they
 *  come too late, or if they were applied before and are sent again. *MESSAGE is NULL afterwards if it has been kept or
 *  freed. */
MST_CHECKED mst_status mst_server_take_gradients(mst_server *s, mst_task_message **message);
/** Handles MESSAGE of kind WANT: its worker waits for values, or asks whether there are any (ps_message.h). */
MST_CHECKED mst_status mst_server_want(mst_server *s, const mst_task_message *message);
/** *DUE: the update of a synchronous job can be made, since enough gradients are there. MST_INVALID if a worker has
 *  sent some after another one has ended the training. */
MST_CHECKED mst_status mst_server_is_update_due(mst_server *s, bool *due);
/** Makes the update with the gradients that are there, and answers their workers. */
MST_CHECKED mst_status mst_server_make_update(mst_server *s);
#endif
