/** The state of a parameter server (server_run.c), shared by all its files. The type of each member is in the header of
 *  the file that uses it. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_STATE_H
#define MUSTER_PARAMETER_SERVER_SERVER_STATE_H

#include "messages/task_message.h"
#include "muster/server.h"
#include "parameter_server/ps_begin.h"
#include "parameter_server/ps_message.h"
#include "parameter_server/server_answer.h"
#include "parameter_server/server_apply.h"
#include "parameter_server/server_begin.h"
#include "parameter_server/server_finish.h"
#include "parameter_server/server_gradients.h"
#include "parameter_server/server_leave.h"
#include "parameter_server/server_log.h"
#include "parameter_server/server_messages.h"
#include "parameter_server/server_order.h"
#include "parameter_server/server_replay.h"
#include "parameter_server/server_update.h"
#include "parameter_server/server_values.h"
#include "parameter_server/server_wait.h"
#include "parameter_server/server_workers.h"

struct mst_server {
    mst_server_options options;
    mst_task_status status;
    mst_mail *mail;
    int32_t self, num_workers, chief;
    mst_server_worker *worker; /**< [num_workers] */
    mst_server_first first;
    char text[200]; /**< text of mst_server_name */
    bool ended;
    /* from the chief's BEGIN on */
    uint32_t round; /**< 0: it has not begun */
    mst_ps_job job;
    int64_t step;
    int64_t *position; /**< [num_workers]: position of each worker's next batch */
    mst_server_program program;
    mst_server_variables variables;
    mst_server_gradients gradients;
    mst_server_counts counts;
    mst_server_versions versions;
    mst_server_order order;
    mst_update_writer update_log;
    mst_update_log *replay; /**< the log that is replayed. NULL: none, or not yet read */
    mst_snapshot *kept;     /**< state of the chief's callbacks; NULL before BEGIN */
    uint64_t instructions;  /**< oneDNN's instructions that workers have been told to use; 0: none have been told */
    mst_server_waiting waiting;
    mst_server_end end;
    mst_server_leaving leaving;
    /** Handles *MESSAGE, a request of a worker (server_run.c). Sets *MESSAGE to NULL if it is kept. */
    mst_status (*take_request)(mst_server *s, mst_task_message **message);
};

/* ---- server_rate.c ---- */

/** Answers MESSAGE of kind RATE with the learning rate, after setting it if MESSAGE has a new one. */
MST_CHECKED mst_status mst_server_take_rate(mst_server *s, const mst_task_message *message);

/* ---- server_agree.c ---- */

/** Takes MESSAGE of kind AGREE. It is answered when all workers have come. */
MST_CHECKED mst_status mst_server_take_agree(mst_server *s, const mst_task_message *message);
/** Answers the workers that wait for the common instructions, if all workers have come. */
MST_CHECKED mst_status mst_server_agree(mst_server *s);
/** Whether a worker with these INSTRUCTIONS lacks some instructions with which the others train. */
bool mst_server_lacks_instructions(const mst_server *s, uint64_t instructions);

/* ---- server_kept.c ---- */

/** Answers MESSAGE of kind KEPT. */
MST_CHECKED mst_status mst_server_take_kept(mst_server *s, const mst_task_message *message);

#endif
