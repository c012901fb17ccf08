/** How the workers finish their trainings, and the job. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_FINISH_H
#define MUSTER_PARAMETER_SERVER_SERVER_FINISH_H

#include "messages/task_message.h"

typedef struct mst_server mst_server;

typedef struct mst_server_end {
    int64_t trainings; /**< number of trainings that all workers have finished */
    bool stops;        /**< the chief's callbacks have ended the training: workers are told with their next values */
    bool is_closed;    /**< the chief has the last state of this round, after which no update is made */
    int64_t all_left;  /**< since when all have done their work; 0: not yet */
    bool is_left;      /**< the job ends because a lost task has not come back: the chief may still ask for the state */
} mst_server_end;

/** Handles MESSAGE of kind FINISHED: its worker has made the last step of a training. */
MST_CHECKED mst_status mst_server_finish(mst_server *s, const mst_task_message *message);
/** Handles MESSAGE of kind LEAVE: its worker has done its work. */
MST_CHECKED mst_status mst_server_take_leave(mst_server *s, const mst_task_message *message);
/** As mst_server_take_leave, for a worker that this server does not know, because the server was started again. The
 *  worker has the last values. */
MST_CHECKED mst_status mst_server_take_unknown_leave(mst_server *s, const mst_task_message *message);
/** Sends the last values to all workers if all have left. */
MST_CHECKED mst_status mst_server_end_when_all_left(mst_server *s);
/** Ends the server when all workers know that all have left. */
void mst_server_end_when_all_gone(mst_server *s);

#endif
