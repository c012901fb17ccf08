/** Monitored sessions: loops of your own that save, log and stop, and that go on when a task is lost, as the
 *  MonitoredTrainingSession and the Supervisor of TensorFlow 1 do.
 *
 *      mst_monitored_session *s;
 *      MST_TRY(mst_monitored_session_create(graph, &s, .session = {.target = "tcp://localhost:2223"},
 *                                           .last_step = 1000, .checkpoint_dir = "run", .logdir = "log"));
 *      mst_status status = MST_OK;
 *      while (!status && !mst_monitored_session_should_stop(s))
 *          status = mst_monitored_session_run(s, feeds, num_feeds, fetches, num_fetches, outputs);
 *      const mst_status closed = mst_monitored_session_close(s);
 *
 *  The chief gives the variables their values: those of the newest checkpoint of its folder, else first values. If
 *  all have values, as on task servers when only the chief was started again, it leaves them as they are. Another
 *  client of the same variables (`waits_for_chief`) asks every second until all have values.
 *
 *  The chief saves when it begins, every `save_seconds` or `save_steps`, and at the end; each save is the state at one
 *  moment between two runs, over all tasks. It writes summaries, and how many steps are made in a second.
 *
 *  Where a run or a save ends with MST_UNAVAILABLE, since a task is lost, the session waits until the task is back. If
 *  variables have lost their values, the chief sets all of them, on all tasks and in one run. It takes those of the
 *  newest checkpoint, or without a folder those that it has kept in memory. Then the run is made again, unless
 *  global_step shows that it, or another client's, has been made meanwhile: no run is made twice.
 *
 *  A feed with a `fill` function is filled again for the repeated run. If its values are a function of
 *  mst_monitored_session_step, a single client gets the weights of the undisturbed training, bit for bit. */
#ifndef MUSTER_MONITORED_SESSION_H
#define MUSTER_MONITORED_SESSION_H

#include <stdio.h>

#include "muster/graph.h"
#include "muster/named.h"
#include "muster/optimizer.h"
#include "muster/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_monitored_session mst_monitored_session;

/** A value that is written to TensorBoard: a scalar as a point of the curve TAG, any other shape as a histogram. */
typedef struct mst_monitored_summary {
    const char *tag;
    mst_value value;
} mst_monitored_summary;

typedef struct mst_monitored_options {
    int zero_;
    mst_session_options session; /**< of the session that it makes; strings live as long as that */
    bool waits_for_chief; /**< another client is the chief: this one writes no file and no variable's first value */
    int64_t last_step;    /**< should_stop is true when global_step is this or more; 0: it does not look at it */
    const char *checkpoint_dir;     /**< of the chief; made where there is none. NULL: values are kept in memory only */
    int64_t save_steps;             /**< the chief saves after so many steps */
    double save_seconds;            /**< and after so many seconds; if neither is given, 600, without a folder 60 */
    int64_t keep;                   /**< checkpoints that stay, as in mst_checkpoint_options */
    const mst_optimizer *optimizer; /**< as in mst_checkpoint_options; NULL: none is noted */
    const char *logdir;             /**< of the chief, for TensorBoard; NULL: no summaries */
    const mst_monitored_summary *summaries; /**< [num_summaries], which may need the feeds of a run */
    int num_summaries;
    int64_t summary_steps;   /**< the chief writes summaries with the next run after so many steps */
    double summary_seconds;  /**< and after so many seconds; if neither is given, 120 */
    int64_t rate_steps;      /**< steps between points of the curve "global_step/sec"; default 100 */
    double recovery_timeout; /**< seconds for which lost tasks, and the chief, are waited for; default 600 */
    FILE *log;               /**< for whom it waits, what it has restored, steps a second; NULL: nothing */
    /** Asked before each run and several times a second while it waits: true ends waiting with MST_CANCELLED, and
     *  should_stop is true. NULL: never. */
    bool (*stop)(void *context);
    void *context;
} mst_monitored_options;

/** Makes a session of GRAPH, and returns when all its variables have values. GRAPH gets the nodes that restore
 *  variables, and a global_step where it has none; it must have no variable more afterwards. MST_UNAVAILABLE if
 *  tasks or the chief do not come within the recovery timeout; MST_INVALID for options that contradict each other, or a
 *  checkpoint of another graph. */
MST_API MST_CHECKED mst_status mst_monitored_session_create_with(mst_graph *graph, const mst_monitored_options *options,
                                                                 mst_monitored_session **out);
#define mst_monitored_session_create(graph, out, ...) \
    mst_monitored_session_create_with((graph), &MST_NAMED(mst_monitored_options, __VA_ARGS__), (out))
/** Whether the loop is to end: the last step is made, or it was asked to stop. */
MST_API bool mst_monitored_session_should_stop(mst_monitored_session *session);
/** should_stop is true from now on. Any thread. */
MST_API void mst_monitored_session_request_stop(mst_monitored_session *session);
/** The step that the next run makes: global_step as this client has seen it last. If others train too, theirs may
 *  be more. */
MST_API int64_t mst_monitored_session_step(const mst_monitored_session *session);
/** mst_session_run, and after it what is due: a save, summaries, the rate. A lost task is waited for, see above. If
 *  a step has been made whose answer was lost with a task, the status is MST_OK and all OUTPUTS are NULL. Errors of the
 *  run, and of a file that cannot be written, are returned. */
MST_API MST_CHECKED mst_status mst_monitored_session_run(mst_monitored_session *session, const mst_feed *feeds,
                                                         int num_feeds, const mst_value *fetches, int num_fetches,
                                                         mst_tensor **outputs);
/** The session, for runs and variables without all this; lives until a task is lost or it is closed. */
MST_API mst_session *mst_monitored_session_inner(mst_monitored_session *session);
/** Saves what has not been saved, ends the session and frees all, even if that fails. NULL is allowed. */
MST_API MST_CHECKED mst_status mst_monitored_session_close(mst_monitored_session *session);

#ifdef __cplusplus
}
#endif
#endif
