/** Finds the gradients of workers in messages, adds them up, and feeds the sums to the session. */
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
    const int64_t *number; /**< of a sparse gradient: how many rows, then the row numbers */
} mst_server_piece;

/** The leaves of the workers, and the memory for the sums of their gradients. */
typedef struct mst_server_gradients {
    mst_shards *leaf;        /**< of all workers, from left to right */
    int32_t *first_leaf;     /**< [num_workers + 1] */
    mst_array *terms;        /**< [2 * leaves]: the terms of the sum for one variable: the gradient of each leaf; if it
                                  is sparse, the rows of each leaf and their numbers */
    mst_server_piece *piece; /**< [leaves][number of variables]: set for the workers whose gradients are there */
    void *workspace;         /**< for the sums of rows */
    mst_feed *feed;          /**< [num_feeds]: made by server_begin.c, which finds the variables */
    int32_t num_feeds;
    char *zero; /**< zeros: used as gradients of a worker that is not waited for */
} mst_server_gradients;

/** Finds the leaves of each worker: in a synchronous job the largest nodes of the tree in its window
 *  (base/shard_tree.h), else one leaf. Allocates memory for the sums over them. */
MST_CHECKED mst_status mst_server_make_leaves(mst_server *s);
/** Frees that memory, and the list of feeds. */
void mst_server_clear_gradients(mst_server *s);
/** Finds the gradients in MESSAGE, and checks that they belong to this program; MST_INVALID if they do not. */
MST_CHECKED mst_status mst_server_read_gradients(mst_server *s, const mst_task_message *message);
/** Fills the feeds with the sum of the gradients of the COUNT workers whose gradients are there. If COUNT is not all,
 *  the sum is scaled up to the size that it would have with all of them. */
MST_CHECKED mst_status mst_server_add_up(mst_server *s, int32_t count);
/** Feeds the session with the gradients of WORKER alone, which have been read. Dense gradients are not copied: the
 *  feeds point into the message until mst_server_leave_alone. */
MST_CHECKED mst_status mst_server_take_alone(mst_server *s, int32_t worker);
/** Ends what mst_server_take_alone began, also if that failed: no feed points into the message any longer. */
void mst_server_leave_alone(mst_server *s);

#endif
