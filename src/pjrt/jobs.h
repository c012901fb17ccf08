/** Jobs of devices: what a plugin does after the call that has started it has returned.
 *
 *  A plugin says by events when something has ended. It calls back on a thread of its own, perhaps never. So a list of
 *  jobs is freed when its owner and all events have left it: who owns it may leave it at any time. */
#ifndef MUSTER_PJRT_JOBS_H
#define MUSTER_PJRT_JOBS_H

#include <stdatomic.h>
#include <stdint.h>

#include "pjrt/api.h"

enum { MST_PJRT_EVENTS = 2 }; /**< a program's end, and the arrival of its word of faults */

/** A job. Members but `word` and `node` are read under the lock, or when no event is left. */
typedef struct mst_pjrt_job {
    int32_t node; /**< of the plan */
    int32_t word; /**< memory for a copy that is one of the events */
    bool is_started;
    int pending; /**< events that are to come */
    mst_status status;
    char *message; /**< of STATUS, unless there is no memory for it */
    struct mst_pjrt_event {
        struct mst_pjrt_jobs *jobs;
        struct mst_pjrt_job *job;
        PJRT_Event *event;
    } event[MST_PJRT_EVENTS];
} mst_pjrt_job;

typedef struct mst_pjrt_jobs mst_pjrt_jobs;

/** A list of COUNT jobs that have not been started, and BYTES of memory beside them, which is as long there; NULL: no
 *  memory. API is the plugin's. */
mst_pjrt_jobs *mst_pjrt_jobs_create(const PJRT_Api *api, int64_t count, size_t bytes);
/** The owner leaves it. NULL is allowed. */
void mst_pjrt_jobs_leave(mst_pjrt_jobs *jobs);
mst_pjrt_job *mst_pjrt_job_at(mst_pjrt_jobs *jobs, int64_t i);
void *mst_pjrt_jobs_memory(mst_pjrt_jobs *jobs);
/** Takes all jobs back to not started. False, and nothing happens: an event of one is still to come. */
bool mst_pjrt_jobs_reset(mst_pjrt_jobs *jobs);
/** JOB of NODE has been started: its events follow, at most MST_PJRT_EVENTS. */
void mst_pjrt_job_start(mst_pjrt_jobs *jobs, mst_pjrt_job *job, int32_t node);
/** JOB has not ended before EVENT, which this takes. */
void mst_pjrt_job_expect(mst_pjrt_jobs *jobs, mst_pjrt_job *job, PJRT_Event *event);
/** Waits until all events have come, at most until DEADLINE (mst_backend_services); with SPIN it looks for a moment
 *  before it sleeps. False: some have not. Several threads may call it at once. */
bool mst_pjrt_jobs_wait(mst_pjrt_jobs *jobs, int64_t deadline, bool spin);
/** The first job that has not ended, or that has failed; NULL: there is none. A word other than 0 is a failure. */
const mst_pjrt_job *mst_pjrt_jobs_pending(mst_pjrt_jobs *jobs);
const mst_pjrt_job *mst_pjrt_jobs_failed(mst_pjrt_jobs *jobs);

#endif
