/** Monitored sessions: for training loops of your own. They save checkpoints, write logs, stop the loop, and recover
 *  when a task is lost, like the MonitoredTrainingSession and the Supervisor of TensorFlow 1.
 *
 *      mst_monitored_session *s;
 *      MST_TRY(mst_monitored_session_create(graph, &s, .session = {.target = "tcp://localhost:2223"},
 *                                           .last_step = 1000, .checkpoint_dir = "run", .logdir = "log"));
 *      mst_status status = MST_OK;
 *      while (!status && !mst_monitored_session_should_stop(s))
 *          status = mst_monitored_session_run(s, feeds, num_feeds, fetches, num_fetches, outputs);
 *      const mst_status closed = mst_monitored_session_close(s);
 *
 *  The chief gives the variables their values: those of the newest checkpoint of its folder, or else initial values. If
 *  all variables have values, it does not change them; this happens with task servers if only the chief was started
 *  again. Another client of the same variables (`waits_for_chief`) checks every second until all have values.
 *
 *  The chief saves when it begins, every `save_seconds` or `save_steps`, and at the end. Each save is the state of all
 *  tasks at one moment between two runs. The chief also writes summaries, and the number of steps per second.
 *
 *  If a run or a save ends with MST_UNAVAILABLE because a task is lost, the session waits until the task is back. If
 *  variables have lost their values, the chief sets all of them, on all tasks and in one run. It takes the values of
 *  the newest checkpoint, or without a folder the values that it has kept in memory. Then the run is repeated, unless
 *  global_step shows that this run, or a run of another client, was completed meanwhile. No run is applied twice.
 *
 *  A feed with a `fill` function is filled again for the repeated run. If its values are a function of
 *  mst_monitored_session_step, a single client gets the weights of the undisturbed training, bit for bit. */
#ifndef MUSTER_MONITORED_SESSION_H
#define MUSTER_MONITORED_SESSION_H

#pragma GCC system_header /* see muster/named.h */

#include <stdio.h>

#include "muster/graph.h"
#include "muster/named.h"
#include "muster/optimizer.h"
#include "muster/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_monitored_session mst_monitored_session;

/** A value that is written for TensorBoard: a scalar as a point of the curve TAG, any other shape as a histogram. */
typedef struct mst_monitored_summary {
    const char *tag;
    mst_value value;
} mst_monitored_summary;

typedef struct mst_monitored_options {
    int zero_;
    mst_session_options session;    /**< for the inner session; its strings must outlive this one */
    bool waits_for_chief;           /**< another client is the chief: this one writes no files and no first values */
    int64_t last_step;              /**< should_stop is true from this global_step on; 0: no last step */
    const char *checkpoint_dir;     /**< of the chief; made if it does not exist. NULL: keeps values in memory only */
    int64_t save_steps;             /**< steps between saves of the chief */
    double save_seconds;            /**< seconds between saves of the chief; default 600, without folder 60 */
    int64_t keep;                   /**< number of checkpoints kept, as in mst_checkpoint_options */
    const mst_optimizer *optimizer; /**< as in mst_checkpoint_options; NULL: none is saved */
    const char *logdir;             /**< of the chief, for TensorBoard; NULL: no summaries */
    const mst_monitored_summary *summaries; /**< [num_summaries], which may need the feeds of a run */
    int num_summaries;
    int64_t summary_steps;   /**< steps between summaries, which the chief writes with the next run */
    double summary_seconds;  /**< seconds between summaries; if neither is given: 120 */
    int64_t rate_steps;      /**< steps between points of the curve "global_step/sec"; default 100 */
    double recovery_timeout; /**< seconds to wait for lost tasks and for the chief; default 600 */
    FILE *log; /**< gets lines: tasks that it waits for, what was restored, steps per second; NULL: none */
    /** Called before each run, and several times a second while the session waits. True ends waiting with
     *  MST_CANCELLED, and makes should_stop true. NULL: not called. */
    bool (*stop)(void *context);
    void *context;
} mst_monitored_options;

/** Makes a session of GRAPH, and returns when all its variables have values. GRAPH gets nodes that restore variables,
 *  and a global_step if it has none. No variables may be added to it afterwards. MST_UNAVAILABLE if tasks or the chief
 *  do not come within the recovery timeout; MST_INVALID for options that contradict each other, or a checkpoint of
 *  another graph. */
MST_API MST_CHECKED mst_status mst_monitored_session_create_with(mst_graph *graph, const mst_monitored_options *options,
                                                                 mst_monitored_session **out);
#define mst_monitored_session_create(graph, out, ...) \
    mst_monitored_session_create_with((graph), &MST_NAMED(mst_monitored_options, __VA_ARGS__), (out))
/** Whether the loop must end: the last step is made, or a stop was requested. */
MST_API bool mst_monitored_session_should_stop(mst_monitored_session *session);
/** Makes should_stop true from now on. May be called by any thread. */
MST_API void mst_monitored_session_request_stop(mst_monitored_session *session);
/** The step that the next run makes: global_step as this client has last seen it. If other clients train too, it may
 *  have risen since. */
MST_API int64_t mst_monitored_session_step(const mst_monitored_session *session);
/** Calls mst_session_run, and then saves and writes summaries and the rate, if these are due. Waits for lost tasks (see
 *  above). If a step was made but its answer was lost with a task, the status is MST_OK and all OUTPUTS are NULL.
 *  Returns errors of the run, and of files that cannot be written. */
MST_API MST_CHECKED mst_status mst_monitored_session_run(mst_monitored_session *session, const mst_feed *feeds,
                                                         int num_feeds, const mst_value *fetches, int num_fetches,
                                                         mst_tensor **outputs);
/** The inner session, for plain runs and variables; valid until a task is lost or this session is closed. */
MST_API mst_session *mst_monitored_session_inner(mst_monitored_session *session);
/** Saves what has not been saved, ends the session and frees everything, even if that fails. NULL is allowed. */
MST_API MST_CHECKED mst_status mst_monitored_session_close(mst_monitored_session *session);

#ifdef __cplusplus
}
#endif
#endif
