/** Summaries: curves, histograms, images and other data of a training for TensorBoard.
 *
 *      mst_summary_writer *writer;
 *      MST_TRY(mst_summary_writer_create("logs/train", NULL, &writer));
 *      for (...) mst_summary_scalar(writer, "loss", loss, step);
 *      MST_TRY(mst_summary_writer_close(writer));
 *
 *  A writer makes a new file in its folder; TensorBoard shows a folder as one run. It writes in a thread of its own: a
 *  call only puts data on a queue, and cannot fail. The first error is returned, once, by mst_summary_flush or
 *  mst_summary_writer_close. The queue is also written when the program exits.
 *
 *  The functions may be called by several threads at once. STEP is the horizontal axis in TensorBoard.
 */
#ifndef MUSTER_SUMMARY_H
#define MUSTER_SUMMARY_H

#include "muster/graph.h"
#include "muster/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_summary_writer mst_summary_writer;

typedef struct mst_summary_options {
    int zero_;
    /** Longest time in seconds until a value is in the file; default 2. */
    double flush_seconds;
    /** Largest size of the queue in bytes. If it is full, calls wait until entries are written; default 64 MiB. */
    int64_t queue_bytes;
    /** For a training that is resumed: its first step. TensorBoard then ignores points of this step and later ones in
     *  older files of the folder. 0: a new training. */
    int64_t resume_step;
} mst_summary_options;

/** FOLDER is made if it does not exist. OPTIONS may be NULL. */
MST_API MST_CHECKED mst_status mst_summary_writer_create(const char *folder, const mst_summary_options *options,
                                                         mst_summary_writer **out);
/** Writes what is on the queue, closes the file and frees the writer, even if that fails. NULL is allowed. */
MST_API MST_CHECKED mst_status mst_summary_writer_close(mst_summary_writer *writer);
/** Waits until all that was put on the queue before is in the file. */
MST_API MST_CHECKED mst_status mst_summary_flush(mst_summary_writer *writer);

/** Adds a point to the curve TAG. NaN and infinities are shown as such. */
MST_API void mst_summary_scalar(mst_summary_writer *writer, const char *tag, double value, int64_t step);
/** Adds the distribution of VALUES, of any dtype, counted in TensorFlow's buckets. NaN and infinities are skipped.
 *  VALUES is retained until it is written, and must not change until then. (A tensor from mst_session_run does not
 *  change: the next run uses another one while this one is in use.) */
MST_API void mst_summary_histogram(mst_summary_writer *writer, const char *tag, mst_tensor *values, int64_t step);
/** Adds images, [height, width, channels] or [n, height, width, channels], with 1 to 4 channels (gray, gray and alpha,
 *  RGB, RGBA). They are u8, or f32 from 0 to 1. They are retained as in mst_summary_histogram. */
MST_API void mst_summary_image(mst_summary_writer *writer, const char *tag, mst_tensor *images, int64_t step);
/** Adds TEXT, which is shown as Markdown. */
MST_API void mst_summary_text(mst_summary_writer *writer, const char *tag, const char *text, int64_t step);
/** Adds the graph. Call it once. Constants of more than 1 KiB are written without their values, because TensorBoard
 *  does not show them. */
MST_API void mst_summary_graph(mst_summary_writer *writer, const mst_graph *graph);
/** Adds when and where each node of the last step of TRACE ran, and what memory it took. TensorBoard can then colour
 *  the graph by device, time and memory. TAG names the step, such as "step_100". */
MST_API void mst_summary_trace(mst_summary_writer *writer, const char *tag, const mst_trace *trace, int64_t step);

/** A hyperparameter: a text; or, if TEXT is NULL, a number. */
typedef struct mst_hparam {
    const char *name;
    const char *text;
    double number;
} mst_hparam;
/** Adds the hyperparameters of this run, for comparing runs on TensorBoard's page HPARAMS. When the writer closes, the
 *  page shows the run as a success, unless mst_summary_hparams_failed was called. */
MST_API void mst_summary_hparams(mst_summary_writer *writer, const mst_hparam *hparams, int num_hparams);
/** A metric by which the page compares runs: the last point of the curve TAG. GROUP is a folder below the writer's; "":
 *  the writer's own folder. */
typedef struct mst_hparam_metric {
    const char *group, *tag;
    const char *title; /**< title of its column; NULL: group and tag */
    bool validation;   /**< measured on data that was not trained on */
} mst_hparam_metric;
/** Sets the columns of that page: HPARAMS by name and kind, and METRICS. Without this call TensorBoard shows all
 *  hyperparameters and every scalar that it finds. If several runs set columns, it shows those of one of them. */
MST_API void mst_summary_hparams_columns(mst_summary_writer *writer, const mst_hparam *hparams, int num_hparams,
                                         const mst_hparam_metric *metrics, int num_metrics);
MST_API void mst_summary_hparams_failed(mst_summary_writer *writer);

/* ---- reading -------------------------------------------------------------------------------------- */

/** A curve of a log: a tag of a run, with rising steps. A run is a folder below the log; "" is the log itself. */
typedef struct mst_curve {
    const char *run, *tag;
    int64_t count;
    const int64_t *step;
    const double *value;
    const double *wall_time; /**< seconds since 1970 */
} mst_curve;
typedef struct mst_curves mst_curves;

/** Reads the scalars of all event files in FOLDER and the folders below it, also files that TensorFlow wrote. They are
 *  sorted by tag, then by run. If a training was resumed, older points of the steps after that are left out. Free *OUT
 *  with mst_curves_free. MST_NOT_FOUND if there is no event file; MST_CORRUPT, naming file and byte, if one is
 *  damaged. */
MST_API MST_CHECKED mst_status mst_curves_read(const char *folder, mst_curves **out);
/** NULL is allowed. */
MST_API void mst_curves_free(mst_curves *curves);
MST_API int64_t mst_curves_count(const mst_curves *curves);
/** Curve I; its pointers are valid as long as CURVES. */
MST_API mst_curve mst_curves_get(const mst_curves *curves, int64_t i);

#ifdef __cplusplus
}
#endif
#endif
