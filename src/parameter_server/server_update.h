/** Updates: when the gradients of workers are applied, and which are dropped. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_UPDATE_H
#define MUSTER_PARAMETER_SERVER_SERVER_UPDATE_H

#include "messages/task_message.h"
#include "parameter_server/ps_message.h"

typedef struct mst_server mst_server;

/** Counts of gradients since this process has begun. */
typedef struct mst_server_counts {
    int64_t applied, dropped;
    int64_t total_staleness, most_staleness; /**< updates between reading variables and their gradients */
    int64_t staleness[MST_STALENESS_COUNTS]; /**< counts since BEGIN (parameter_server/ps_message.h) */
} mst_server_counts;

/** Applies the gradients of *MESSAGE, or keeps them and sets it to NULL. */
MST_CHECKED mst_status mst_server_take_gradients(mst_server *s, mst_task_message **message);
/** Applies the gradients of MESSAGE in an asynchronous job; they have been read. The worker is then `held` for
 *  values. */
MST_CHECKED mst_status mst_server_apply(mst_server *s, const mst_task_message *message);
/** Drops the gradients of MESSAGE: other workers have already made that step. */
MST_CHECKED mst_status mst_server_drop_late(mst_server *s, const mst_task_message *message);
/** The gradients of worker W have been applied or dropped, and it waits for values; if values are given in turn, only
 *  once it has asked for them. */
void mst_server_hold(mst_server *s, int32_t w);
/** Handles MESSAGE of kind WANT: its worker waits for values. */
MST_CHECKED mst_status mst_server_want(mst_server *s, const mst_task_message *message);
/** Makes the update of a synchronous job if enough gradients are there. If the servers have one order, gives the update
 *  the next turn instead. */
MST_CHECKED mst_status mst_server_update_together(mst_server *s);
/** Makes the update with the gradients that are there. */
MST_CHECKED mst_status mst_server_make_update(mst_server *s);
/** As mst_server_make_update, but sends no values: the senders of the gradients wait for them. */
MST_CHECKED mst_status mst_server_apply_together(mst_server *s);
/** Gives values to workers that no longer have to wait for others. */
MST_CHECKED mst_status mst_server_answer_held(mst_server *s);

#endif
