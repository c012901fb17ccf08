/** Applying gradients: one update of the variables, with the gradients of one worker, or with the sum of the gradients
 *  of several workers.
 *
 *  The update is a graph with the arithmetic of the optimizer (rule/). The chief makes the graph
 *  (strategy/update_graph.c), and this server runs it. How gradients of several workers are added up is in
 *  server_gradients.c. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_APPLY_H
#define MUSTER_PARAMETER_SERVER_SERVER_APPLY_H

#include "messages/task_message.h"
#include "parameter_server/ps_message.h"

typedef struct mst_server mst_server;

/** Counts of gradients since this process has begun. */
typedef struct mst_server_counts {
    int64_t applied, dropped;
    int64_t total_staleness, most_staleness; /**< sum and maximum of the staleness of the applied gradients */
    int64_t staleness[MST_STALENESS_COUNTS]; /**< counts since BEGIN (parameter_server/ps_message.h) */
} mst_server_counts;

/** Applies the gradients of MESSAGE in an asynchronous job, after mst_server_read_gradients. Its worker then waits for
 *  values (`held` in server_workers.h). */
MST_CHECKED mst_status mst_server_apply(mst_server *s, const mst_task_message *message);
/** Drops the gradients of MESSAGE: other workers have already made that step. */
MST_CHECKED mst_status mst_server_drop_late(mst_server *s, const mst_task_message *message);
/** Call it when the gradients of worker W have been applied or dropped: from now on the worker waits for values. If
 *  values are given in turn, it waits only once it has asked for them. */
void mst_server_hold(mst_server *s, int32_t w);
/** How many workers have sent gradients that are kept. */
int32_t mst_server_count_gradients(const mst_server *s);
/** Makes one update with the gradients that are kept. Sends no values: the senders of the gradients wait for them. */
MST_CHECKED mst_status mst_server_apply_together(mst_server *s);

#endif
