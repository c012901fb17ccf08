/** Sends values to workers that wait for them: at once, or in a replay when the log says so. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_ANSWER_H
#define MUSTER_PARAMETER_SERVER_SERVER_ANSWER_H

#include "messages/task_message.h"

typedef struct mst_server mst_server;

/** These send the variables to worker W, and to all workers that wait for them. */
MST_CHECKED mst_status mst_server_answer(mst_server *s, int32_t w);
MST_CHECKED mst_status mst_server_answer_waiting(mst_server *s);
/** Sends the variables to each worker that is `held` (server_workers.h), if it no longer has to wait for others. */
MST_CHECKED mst_status mst_server_answer_held(mst_server *s);

#endif
