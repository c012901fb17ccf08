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

enum { MST_PJRT_EVENTS = 2 }; /**< the end of a program, and the arrival of its word of faults (plan/compiled.h) */

typedef struct mst_pjrt_jobs mst_pjrt_jobs;
typedef enum mst_pjrt_job_state { MST_PJRT_RUNNING, MST_PJRT_SUCCEEDED, MST_PJRT_FAILED } mst_pjrt_job_state;

/** A job. `status` and `message` are valid after it has failed. */
typedef struct mst_pjrt_job {
    _Atomic int references;
    _Atomic mst_pjrt_job_state state;
    int32_t node;      /**< node of the plan that it runs; -1: a copy */
    int64_t began;     /**< for a trace: when it was started, and after its end when it could run; 0: no trace asks */
    int64_t ended;     /**< when it had succeeded; 0: not asked, or not yet */
    int32_t word;      /**< the word of faults; not 0: a check in the program has failed, and so has the job */
    mst_status status; /**< MST_OK if only the word of faults says that it failed */
    char *message;     /**< of the error; NULL: there was no memory for it */
    /* used by jobs.c only */
    mst_pjrt_jobs *jobs;
    int pending; /* number of events still to come, plus 1 until it is launched */
    bool is_kept;
    struct mst_pjrt_job *next_kept;
    struct mst_pjrt_event {
        struct mst_pjrt_job *job;
        PJRT_Event *event;
    } event[MST_PJRT_EVENTS];
    int num_causes;
    struct mst_pjrt_job *cause[]; /* jobs whose results it uses */
} mst_pjrt_job;

/** Makes a list of COUNT jobs that are not started yet, with BYTES of memory that live as long as the list. NULL: no
 *  memory. API is the plugin's. */
mst_pjrt_jobs *mst_pjrt_jobs_create(const PJRT_Api *api, int64_t count, size_t bytes);
/** The owner leaves it. NULL is allowed. */
void mst_pjrt_jobs_leave(mst_pjrt_jobs *jobs);
void *mst_pjrt_jobs_memory(const mst_pjrt_jobs *jobs);
/** Forgets all jobs. Returns false and does nothing if an event of a job is still to come. */
bool mst_pjrt_jobs_reset(mst_pjrt_jobs *jobs);

/** Starts job I of NODE, which uses the results of at most MOST_CAUSES jobs; NULL: no memory. The list has a reference.
 *  mst_pjrt_job_launched must follow. */
mst_pjrt_job *mst_pjrt_job_start(mst_pjrt_jobs *jobs, int64_t i, int32_t node, int most_causes);
/** Notes that JOB uses a result of CAUSE. NULL: that result is computed. */
void mst_pjrt_job_use(mst_pjrt_job *job, mst_pjrt_job *cause);
/** JOB does not end before EVENT, which now belongs to it. Call it at most MST_PJRT_EVENTS times for a job. If the
 *  plugin refuses a callback for EVENT, the job fails. Then it is not known when the plugin writes to the job's word or
 *  to the memory of its list, so these are never freed. */
void mst_pjrt_job_expect(mst_pjrt_job *job, PJRT_Event *event);
/** Marks JOB as launched: it ends with the last event that it expects. */
void mst_pjrt_job_launched(mst_pjrt_job *job);
mst_pjrt_job *mst_pjrt_job_retain(mst_pjrt_job *job);
/** NULL is allowed. */
void mst_pjrt_job_release(mst_pjrt_job *job);
/** Records the error of JOB, whose status is not MST_OK; the message begins with WHAT: "copying to the host". */
MST_CHECKED mst_status mst_pjrt_job_report(const mst_pjrt_job *job, const char *what);
/** The first cause of the failure of JOB: a failed job whose results it uses, directly or through others, that uses no
 *  result of a failed job itself; or else JOB. Waits a second at most. */
const mst_pjrt_job *mst_pjrt_job_root(const mst_pjrt_job *job);

/** When job I could run, since all that it uses was there, and when it had ended. False: no trace asks, or it has not
 *  succeeded. */
bool mst_pjrt_jobs_times(mst_pjrt_jobs *jobs, int64_t i, int64_t *began, int64_t *ended);
/** Waits until all jobs that have been started have ended, at most until DEADLINE (mst_backend_services); with SPIN it
 *  spins for a moment before it sleeps. False: some have not ended. Several threads may call it at once. */
bool mst_pjrt_jobs_wait(mst_pjrt_jobs *jobs, int64_t deadline, bool spin);
/** The first job in STATE, with a reference for the caller; NULL: there is none. */
mst_pjrt_job *mst_pjrt_jobs_first(mst_pjrt_jobs *jobs, mst_pjrt_job_state state);

#endif
