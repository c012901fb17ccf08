/** The progress of a parameter server, stored in its state: an entry of the container "ps" for each pair of server and
 *  worker. A checkpoint can therefore hold the progress of any number of servers and workers. */
#ifndef MUSTER_PARAMETER_SERVER_PS_PROGRESS_H
#define MUSTER_PARAMETER_SERVER_PS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/store.h"

#define MST_PS_CONTAINER "ps"

typedef struct mst_ps_progress {
    int64_t updates;  /**< number of updates that the server has made */
    int64_t position; /**< where the worker goes on (parameter_server/batch_position.h) */
} mst_ps_progress;

/** Sets the entry of server PS and WORKER. */
MST_CHECKED mst_status mst_ps_progress_store(mst_store *store, int32_t ps, int32_t worker, mst_ps_progress progress);
enum { MST_PS_ANY = -1 };
/** Whether entry INFO of a state is the progress of server PS, or of any. */
bool mst_ps_progress_is_of(const mst_state_info *info, int32_t ps);
/** Finds the entry of server PS and WORKER in STATE; false if there is none. */
bool mst_ps_progress_find(const mst_snapshot *state, int32_t ps, int32_t worker, mst_ps_progress *out);
/** Finds the first entry in STATE, of any server and worker; for synchronous servers, whose entries are all the
 *  same. */
bool mst_ps_progress_find_any(const mst_snapshot *state, mst_ps_progress *out);
/** STATE, which all servers have sent together, is about to be written to STORE. STORE may have progress entries that
 *  STATE does not have, such as those of a checkpoint of a job with more servers or workers. They would remain, so for
 *  each of them this adds an entry to STATE that marks it as no longer valid. */
MST_CHECKED mst_status mst_ps_progress_forget_others(mst_store *store, mst_snapshot *state);

#endif
