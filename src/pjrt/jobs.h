/** Jobs of devices: programs and copies, which a plugin runs after the call that has started them has returned.
 *
 *  A plugin signals the end of a job by events. For each event it calls a function of this file on a thread of its own,
 *  perhaps late, perhaps never. So jobs and lists of jobs count their references. The owner of a list may leave it at
 *  any time: its memory is freed when the last job of it has ended.
 *
 *  If a job fails, so do those that use its results, on other devices too. To find the first that has failed, each job
 *  keeps those whose results it uses and that had not ended when it was started. */
#ifndef MUSTER_PJRT_JOBS_H
#define MUSTER_PJRT_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pjrt/api.h"

enum { MST_PJRT_EVENTS = 2 }; /**< a program's end, and the arrival of its word of faults */

typedef struct mst_pjrt_jobs mst_pjrt_jobs;
typedef enum mst_pjrt_job_state { MST_PJRT_RUNNING, MST_PJRT_SUCCEEDED, MST_PJRT_FAILED } mst_pjrt_job_state;

/** A job. What it has failed with is valid once it has. */
typedef struct mst_pjrt_job {
    _Atomic int references;
    _Atomic mst_pjrt_job_state state;
    int32_t node;      /**< of the plan; -1: a copy */
    int64_t began;     /**< for a trace: when it was started, and after its end when it could run; 0: no trace asks */
    int64_t ended;     /**< when it had succeeded; 0: not asked, or not yet */
    int32_t word;      /**< where the word of faults arrives; other than 0: the job has failed */
    mst_status status; /**< MST_OK with a word */
    char *message;     /**< of STATUS; NULL: there was no memory for it */
    /* of jobs.c */
    mst_pjrt_jobs *jobs;
    int pending; /* events that are to come, and 1 until it has been launched */
    bool is_kept;
    struct mst_pjrt_job *next_kept;
    struct mst_pjrt_event {
        struct mst_pjrt_job *job;
        PJRT_Event *event;
    } event[MST_PJRT_EVENTS];
    int num_causes;
    struct mst_pjrt_job *cause[]; /* jobs whose results it uses */
} mst_pjrt_job;

/** A list of COUNT jobs that have not been started, and BYTES of memory beside them, which is there as long; NULL: no
 *  memory. API is the plugin's. */
mst_pjrt_jobs *mst_pjrt_jobs_create(const PJRT_Api *api, int64_t count, size_t bytes);
/** The owner leaves it. NULL is allowed. */
void mst_pjrt_jobs_leave(mst_pjrt_jobs *jobs);
void *mst_pjrt_jobs_memory(const mst_pjrt_jobs *jobs);
/** Forgets all jobs. False, and nothing happens: an event of one is still to come. */
bool mst_pjrt_jobs_reset(mst_pjrt_jobs *jobs);

/** Starts job I of NODE, which uses the results of at most MOST_CAUSES jobs; NULL: no memory. The list has a reference.
 *  mst_pjrt_job_launched must follow. */
mst_pjrt_job *mst_pjrt_job_start(mst_pjrt_jobs *jobs, int64_t i, int32_t node, int most_causes);
/** JOB uses a result of CAUSE. NULL: nobody makes that any more. */
void mst_pjrt_job_use(mst_pjrt_job *job, mst_pjrt_job *cause);
/** JOB has not ended before EVENT, which this takes, at most MST_PJRT_EVENTS times. If the plugin does not take a
 *  callback for EVENT, the job fails. Then nobody knows when the plugin has written to the job's word or to the memory
 *  of its list, so these are never freed. */
void mst_pjrt_job_expect(mst_pjrt_job *job, PJRT_Event *event);
/** JOB ends with the last event that it expects. */
void mst_pjrt_job_launched(mst_pjrt_job *job);
mst_pjrt_job *mst_pjrt_job_retain(mst_pjrt_job *job);
/** NULL is allowed. */
void mst_pjrt_job_release(mst_pjrt_job *job);
/** Records what JOB, whose status is an error, has failed with, with WHAT before it: "copying to the host". */
MST_CHECKED mst_status mst_pjrt_job_report(const mst_pjrt_job *job, const char *what);
/** The job that has failed first of those whose results JOB uses, and so on; JOB itself if none has. Waits a second at
 *  most. */
const mst_pjrt_job *mst_pjrt_job_root(const mst_pjrt_job *job);

/** When job I could run, since all that it uses was there, and when it had ended. False: no trace asks, or it has not
 *  succeeded. */
bool mst_pjrt_jobs_times(mst_pjrt_jobs *jobs, int64_t i, int64_t *began, int64_t *ended);
/** Waits until all jobs that have been started have ended, at most until DEADLINE (mst_backend_services); with SPIN it
 *  looks for a moment before it sleeps. False: some have not. Several threads may call it at once. */
bool mst_pjrt_jobs_wait(mst_pjrt_jobs *jobs, int64_t deadline, bool spin);
/** The first job in STATE, with a reference for the caller; NULL: there is none. */
mst_pjrt_job *mst_pjrt_jobs_first(mst_pjrt_jobs *jobs, mst_pjrt_job_state state);

#endif
