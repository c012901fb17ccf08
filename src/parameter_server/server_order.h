/** A common order in which several servers take the requests of workers; why it is needed: server_order.c. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_ORDER_H
#define MUSTER_PARAMETER_SERVER_SERVER_ORDER_H

#include "messages/task_message.h"

typedef struct mst_server mst_server;

/** The next action of all servers: REQUEST of a worker is taken; worker -1: an update is made. */
typedef struct mst_server_turn {
    int32_t worker;
    uint64_t request;
} mst_server_turn;

/** The turns that this server has taken; in the first server, also the turns that it has given. Turns are numbered from
 *  1. */
typedef struct mst_server_order {
    int32_t num_ps, self; /**< num_ps is 0: there is no order */
    int64_t taken;        /**< number of turns that this server has taken; the first server has given as many */
    int64_t told;         /**< when the first server was reminded last */
    /* only in the first server */
    uint64_t *listed;      /**< [num_ps][num_workers]: the request of each worker that waits at each server */
    int64_t *taken_by;     /**< [num_ps]: number of turns that each server has reported */
    mst_server_turn *turn; /**< [num_turns]: the turns after the first `forgotten` ones, which every server has taken */
    int64_t num_turns, room, forgotten;
} mst_server_order;

/** Call it after BEGIN: whether several servers need one order depends on the job. */
MST_CHECKED mst_status mst_server_begin_order(mst_server *s);
void mst_server_clear_order(mst_server *s);
/** Whether MESSAGE of a worker must wait for its turn. */
bool mst_server_is_ordered(const mst_server *s, const mst_task_message *message);
/** Keeps *MESSAGE until it is its turn, and sets it to NULL. */
MST_CHECKED mst_status mst_server_list_request(mst_server *s, mst_task_message **message);
/** A process of worker W has said HELLO: its waiting requests are forgotten. */
void mst_server_forget_listed(mst_server *s, int32_t w);
/** Makes the update of a synchronous job if enough gradients are there. If the servers have one order, the first
 *  server gives the update the next turn instead. */
MST_CHECKED mst_status mst_server_update_together(mst_server *s);
/** From time to time tells the first server again which requests wait here. */
MST_CHECKED mst_status mst_server_remind_first(mst_server *s, int64_t now);
/** Handles MESSAGE from another server. */
MST_CHECKED mst_status mst_server_hear_server(mst_server *s, const mst_task_message *message);

#endif
