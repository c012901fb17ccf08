/** Jobs: programs and copies that a plugin runs asynchronously, after the call that starts them has returned.
 *
 *  A plugin signals the end of a job by events. For each event it calls a function of jobs.c on one of the plugin's
 *  threads, perhaps late, perhaps never. So jobs and lists of jobs count their references. The owner of a list may
 *  leave it at any time: the list is freed when its last job has ended.
 *
 *  If a job fails, the jobs that use its results fail too, also on other devices. To find the first one that has
 *  failed, each job keeps its causes: the jobs whose results it uses and that had not succeeded when it was started. */
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
    int64_t began;     /**< for a trace: when it was started; after its success: when it could run; 0: not traced */
    int64_t ended;     /**< for a trace: when it had succeeded; 0: not traced, or not yet */
    int32_t word;      /**< the word of faults; not 0: a check in the program has failed, and so has the job */
    mst_status status; /**< MST_OK if only the word of faults says that it failed */
    char *message;     /**< the plugin's error; NULL: there is none, or there was no memory for it */
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
    struct mst_pjrt_job *cause[]; /* jobs whose results it uses, with a reference to each */
} mst_pjrt_job;

/** Makes a list of COUNT jobs that are not started yet, and BYTES of memory that is freed with the list. NULL: memory
 *  ran out. API is the table of the plugin's functions. */
mst_pjrt_jobs *mst_pjrt_jobs_create(const PJRT_Api *api, int64_t count, size_t bytes);
/** Drops the owner's reference. NULL is allowed. */
void mst_pjrt_jobs_leave(mst_pjrt_jobs *jobs);
/** The memory that mst_pjrt_jobs_create has allocated for the owner of the list. */
void *mst_pjrt_jobs_memory(const mst_pjrt_jobs *jobs);
/** Releases all jobs of the list, so that they can be started again. Returns false and changes nothing if a job has not
 *  ended. */
bool mst_pjrt_jobs_reset(mst_pjrt_jobs *jobs);

/** Makes job I of the list, which runs NODE and uses the results of at most MOST_CAUSES jobs. NULL: memory ran out. The
 *  result is valid until the list is reset or freed, or I is started again. mst_pjrt_job_launched must follow. */
mst_pjrt_job *mst_pjrt_job_start(mst_pjrt_jobs *jobs, int64_t i, int32_t node, int most_causes);
/** Notes that JOB uses a result of CAUSE. CAUSE may be NULL: that result is computed already. */
void mst_pjrt_job_use(mst_pjrt_job *job, mst_pjrt_job *cause);
/** Makes the end of JOB wait for EVENT, which JOB now owns. Call it at most MST_PJRT_EVENTS times for a job. If the
 *  plugin refuses a callback for EVENT, the job fails. The job and its list are then never freed, because the plugin
 *  may still write to the job's word or to the list's memory. */
void mst_pjrt_job_expect(mst_pjrt_job *job, PJRT_Event *event);
/** Marks JOB as launched: no more events will be expected, and it ends with the last of them. */
void mst_pjrt_job_launched(mst_pjrt_job *job);
mst_pjrt_job *mst_pjrt_job_retain(mst_pjrt_job *job);
/** Drops a reference. NULL is allowed. */
void mst_pjrt_job_release(mst_pjrt_job *job);
/** Records the error of JOB, whose status is not MST_OK, and returns it. The message begins with WHAT, such as "copying
 *  to the host". */
MST_CHECKED mst_status mst_pjrt_job_report(const mst_pjrt_job *job, const char *what);
/** The first cause of the failure of JOB: follows failed causes from JOB to a job that has no failed cause, which may
 *  be JOB itself. Waits a second at most for causes that have not ended. JOB keeps the result alive. */
const mst_pjrt_job *mst_pjrt_job_root(const mst_pjrt_job *job);

/** Sets BEGAN to the time from which job I could run, because it was started and all that it uses was computed, and
 *  ENDED to the time at which it had ended. False: the job is not traced, or has not succeeded. */
bool mst_pjrt_jobs_times(mst_pjrt_jobs *jobs, int64_t i, int64_t *began, int64_t *ended);
/** Waits until all jobs that have been started have ended, at most until DEADLINE, a time of clock_now in
 *  mst_backend_services. With SPIN it spins for a moment before it sleeps. False: some have not ended. Several threads
 *  may call it at once. */
bool mst_pjrt_jobs_wait(mst_pjrt_jobs *jobs, int64_t deadline, bool spin);
/** The job in STATE with the lowest number in the list, with a reference for the caller; NULL: there is none. */
mst_pjrt_job *mst_pjrt_jobs_first(mst_pjrt_jobs *jobs, mst_pjrt_job_state state);

#endif
