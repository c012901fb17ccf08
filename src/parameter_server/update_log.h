/** The log of updates, in which a parameter server writes whose gradients it has applied, in order. It is for
 *  asynchronous jobs, and for jobs with backup workers, whose order differs from run to run. The log has a line of JSON
 *  for the job (made by server_log.c), and then one line for each update.
 *
 *      {"event":"begin","format":1,"server":0,"servers":2,"workers":3,"round":1,"step":0,"last_step":0,...}
 *      {"event":"update","step":1,"worker":2,"epoch":0,"batch":0,"read":0}
 *      {"event":"update","step":2,"worker":0,"epoch":0,"batch":0,"read":0}
 *
 *  `step` is the step of this server's variables after the update. With backup workers, consecutive lines `update` with
 *  the same step are one update. `worker` has computed the gradients from batch `batch` of epoch `epoch` of its data,
 *  both counted from 0, with the values of step `read`. Other events:
 *
 *      dropped  gradients that came too late: other workers had already made their step. Members as of an update, but
 *               `step` is the step at which they were dropped; `read` is -1 if servers had given values of different
 *               steps
 *      late     gradients that came at the last step of the job and were dropped; members as of an update
 *      again    a new process of `worker` was started in place of an earlier one, at `step`
 *
 *  A server that begins again, because a server of the job was lost, adds a line `begin` with the next `round`. Each
 *  line is written whole and at once. A last line without a newline was cut off, and is ignored. */
#ifndef MUSTER_PARAMETER_SERVER_UPDATE_LOG_H
#define MUSTER_PARAMETER_SERVER_UPDATE_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "muster/status.h"

typedef enum mst_logged_event { MST_LOGGED_UPDATE, MST_LOGGED_DROPPED, MST_LOGGED_LATE } mst_logged_event;

/** One entry of the log: gradients of a worker. */
typedef struct mst_logged_gradients {
    int64_t step;     /**< step of the variables after the update */
    int64_t position; /**< position of the batch (parameter_server/batch_position.h) */
    int64_t read;     /**< step of the values from which they were computed */
    int32_t worker;
    mst_logged_event event;
    int64_t later; /**< in a log that was read: index of the next gradients of this worker; num_entries: none */
} mst_logged_gradients;

/** The path of the file of server NUMBER in FOLDER; the caller frees it. NULL if there is no memory. */
char *mst_update_log_path(const char *folder, int32_t number);

/* ---- writing ---- */

typedef struct mst_update_writer {
    FILE *file; /**< NULL: nothing is written */
    char *path;
} mst_update_writer;

/** Makes FOLDER if it does not exist, and writes HEAD, the line `begin`. ADDS: the line is appended to the file;
 *  otherwise a new file replaces an old one. MST_IO if that fails. Close WRITER also then. */
MST_CHECKED mst_status mst_update_writer_open(mst_update_writer *writer, const char *folder, int32_t number,
                                              const json_t *head, bool adds);
/** These write one line each, or nothing if `file` is NULL. MST_IO. */
MST_CHECKED mst_status mst_update_writer_add(mst_update_writer *writer, const mst_logged_gradients *gradients);
MST_CHECKED mst_status mst_update_writer_add_again(mst_update_writer *writer, int64_t step, int32_t worker);
void mst_update_writer_close(mst_update_writer *writer);

/* ---- reading ---- */

typedef struct mst_update_log {
    char *path;
    mst_logged_gradients *entry; /**< [num_entries]: first num_in_order in order, then gradients that came late */
    int64_t num_updates, num_in_order, num_entries;
    int64_t next;   /**< of the replay: index of the next entry */
    int64_t *first; /**< [num_workers]: index of the first gradients of each worker; num_entries: none */
} mst_update_log;

/** Reads the file of server NUMBER in FOLDER. HEAD is the line `begin` that the file must have. MST_NOT_FOUND or MST_IO
 *  if the file cannot be read. MST_CORRUPT, naming the line, if it is not a log of updates. MST_INVALID if it belongs
 *  to another job, or to a job in which a task was started again. Free OUT also after an error. */
MST_CHECKED mst_status mst_update_log_read(const char *folder, int32_t number, const json_t *head, mst_update_log *out);
void mst_update_log_free(mst_update_log *log);

#endif
