/** The gradients of workers: where they are in messages, and their sums, with which the session is fed. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_GRADIENTS_H
#define MUSTER_PARAMETER_SERVER_SERVER_GRADIENTS_H

#include "base/shard_tree.h"
#include "messages/task_message.h"
#include "muster/op.h"
#include "muster/session.h"

typedef struct mst_server mst_server;

/** A gradient of a leaf, inside a message. */
typedef struct mst_server_piece {
    const void *data;      /**< elements or rows */
    const int64_t *number; /**< of a sparse one: number of rows, and their numbers */
} mst_server_piece;

/** Finds the gradients in MESSAGE, and checks that they belong to this program; MST_INVALID if they do not. */
MST_CHECKED mst_status mst_server_read_gradients(mst_server *s, const mst_task_message *message);
/** Fills the feeds with the sum of the gradients of the COUNT workers whose gradients are there. If COUNT is not all,
 *  the sum is scaled up to the size that it would have with all of them. */
MST_CHECKED mst_status mst_server_add_up(mst_server *s, int32_t count);
/** Fills the feeds with the gradients of WORKER, which have been read. Dense ones are read in place until
 *  mst_server_leave_alone. */
MST_CHECKED mst_status mst_server_take_alone(mst_server *s, int32_t worker);
void mst_server_leave_alone(mst_server *s);

#endif
