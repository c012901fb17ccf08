/** The values of the variables, as they are sent to workers. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_VALUES_H
#define MUSTER_PARAMETER_SERVER_SERVER_VALUES_H

#include "messages/task_message.h"
#include "muster/tensor.h"
#include "parameter_server/server_workers.h"

typedef struct mst_server mst_server;

/** Values of all variables: one block, in memory from which it is sent without a copy. If any variable is sparse, there
 *  is instead a tensor for each variable. Both NULL: the values have not been read. */
typedef struct mst_server_values {
    mst_mail_block *block;
    mst_tensor **tensor; /**< [number of variables] */
} mst_server_values;

/** The values that were last read, and the values before the last update. */
typedef struct mst_server_versions {
    mst_server_values latest;   /**< at `step` */
    mst_server_values previous; /**< unused in an asynchronous job without sparse variables */
    int64_t step;
} mst_server_versions;

/** Sends the variables, in messages of KIND, to the workers from FIRST to END - 1 that WHOM selects (NULL: all of
 *  them). */
MST_CHECKED mst_status mst_server_send_values(mst_server *s, int32_t kind, int32_t first, int32_t end,
                                              bool (*whom)(const mst_server_worker *));
/** Whether worker W, which was started again, asks to repeat its last step: this server has made the update with the
 *  worker's gradients, and another server has not. NUMBER is `number` of its HELLO: 1 + the position of that step's
 *  batch. mst_server_send_previous then sends the values before that update. */
bool mst_server_wants_previous(const mst_server *s, int32_t w, int64_t number);
MST_CHECKED mst_status mst_server_send_previous(mst_server *s, int32_t w);
/** These send worker TO the whole state, or the staleness counts. */
MST_CHECKED mst_status mst_server_send_state(mst_server *s, int32_t to);
MST_CHECKED mst_status mst_server_send_staleness(mst_server *s, int32_t to);
void mst_server_release_values(mst_server *s, mst_server_values *value);

#endif
