/* The callback that writes what Keras' callback TensorBoard writes, under its tags:
 *
 *      FOLDER/train        epoch_loss, epoch_accuracy, ..., epoch_learning_rate    step: the epoch
 *                          batch_loss, batch_accuracy, ...                          step: updates made
 *                          layer1/weights/histogram                                 step: the epoch
 *                          staleness, of asynchronous parameter servers             step: the epoch
 *                          the graph, and of profiled steps their times
 *      FOLDER/validation   epoch_loss, ...; evaluation_loss_vs_iterations, ...
 *      FOLDER              the hyperparameters, and which metrics they are compared by
 *
 * Source: keras/src/callbacks/tensorboard.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/failure.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "format/events.h"
#include "muster/train.h"
#include "summary/writer.h"
#include "train/trainer.h"

enum { TAG_TEXT = 128 };
static const char STALENESS[] = "staleness";

typedef struct mst_tensorboard_log {
    mst_summary_writer *root, *train, *validation;
    mst_trace *trace;
    bool tracing;
    bool has_columns;    /* the page of hyperparameters has its columns */
    int64_t resume_step; /* 0: training has begun here */
    int64_t stale_epoch; /* first epoch whose staleness must be written */
} log_state;

/* ---- writers ---- */

static mst_status open_root(const mst_tensorboard *t, mst_folder *out) {
    MST_TRY(mst_folder_make(t->folder));
    return mst_folder_open(t->folder, out);
}

/* Makes and opens the folder NAME of the log. A symbolic link is refused: it may lead to another log. */
static mst_status tensorboard_open_part(const mst_tensorboard *t, const char *name, mst_folder *out) {
    mst_folder root;
    MST_TRY(open_root(t, &root));
    const mst_status status = mst_folder_open_in(&root, name, out);
    mst_folder_close(&root);
    return status;
}

static mst_status has_part(const mst_tensorboard *t, const char *name, bool *out) {
    mst_folder root;
    MST_TRY(open_root(t, &root));
    const mst_status status = mst_file_is_there(&root, name, out);
    mst_folder_close(&root);
    return status;
}

static mst_status open_root_writer(const mst_tensorboard *t) {
    return t->log->root ? MST_OK : mst_summary_writer_create(t->folder, NULL, &t->log->root);
}

static mst_status open_writer(const mst_tensorboard *t, const char *name, mst_summary_writer **out) {
    mst_folder folder;
    if (*out) return MST_OK;
    MST_TRY(tensorboard_open_part(t, name, &folder));
    const mst_summary_options options = {.resume_step = t->log->resume_step};
    const mst_status status = mst_summary_writer_create(folder.path, &options, out);
    mst_folder_close(&folder);
    return status;
}

/* The first epoch whose staleness must be written. If the last step of an epoch was made before the fit was resumed,
 * the epoch ends once more here, but its gradients were counted earlier, so it is left out. */
static int64_t first_stale_epoch(const mst_train_state *state) {
    return state->epoch + (state->step_in_epoch > 0 && state->step_in_epoch == state->steps_per_epoch);
}

/* Whether the point of TAG at STEP stays when training goes on from this state; later points are written again. */
static bool is_before(void *context, const char *tag, int64_t step) {
    const mst_train_state *state = context;
    if (strcmp(tag, MST_EVENT_GRAPH) == 0) return false;
    const char *end = strrchr(tag, '/');
    const bool by_epoch = strncmp(tag, "epoch_", 6) == 0 || (end && strcmp(end, "/histogram") == 0);
    if (strcmp(tag, STALENESS) == 0) return step < first_stale_epoch(state);
    if (by_epoch) return step < state->epoch;
    /* points of the end of an epoch are written again, since the epoch has not ended yet */
    const bool at_end = strncmp(tag, "evaluation_", 11) == 0;
    return at_end && state->step_in_epoch > 0 ? step < state->step : step <= state->step;
}

static mst_status drop_later(const mst_tensorboard *t, const char *name, mst_train_state *state) {
    mst_folder folder;
    bool there;
    MST_TRY(has_part(t, name, &there));
    if (!there) return MST_OK;
    MST_TRY(tensorboard_open_part(t, name, &folder));
    const mst_status status = mst_event_files_filter(&folder, is_before, state);
    mst_folder_close(&folder);
    return status;
}

/* ---- profile ---- */

static bool has_profile(const mst_tensorboard *t) {
    return t->profile_last > 0;
}

/* Begins to trace if the next step is one of the steps that are to be traced, and no trace has begun. */
static mst_status start_trace(const mst_tensorboard *t, const mst_train_state *state) {
    log_state *log = t->log;
    const int64_t next = state->step + 1;
    if (!has_profile(t) || log->tracing || next < t->profile_first || next > t->profile_last) return MST_OK;
    if (!log->trace) MST_TRY(mst_trace_create(&log->trace));
    mst_session_trace(mst_model_session(state->model), log->trace);
    log->tracing = true;
    return MST_OK;
}

static mst_status stop_trace(const mst_tensorboard *t, const mst_train_state *state) {
    char *path;
    log_state *log = t->log;
    if (!log->tracing) return MST_OK;
    log->tracing = false;
    mst_session_trace(mst_model_session(state->model), NULL);
    if (asprintf(&path, "%s/trace-%lld-%lld.json", t->folder, (long long)t->profile_first, (long long)t->profile_last) <
        0)
        return MST_NO_MEMORY("for a log");
    /* removed first: if it is a link, writing would change the link's target */
    mst_status status = mst_file_remove(path);
    if (!status) status = mst_trace_write(log->trace, path);
    free(path);
    return status;
}

static mst_status profile_step(const mst_tensorboard *t, const mst_train_state *state) {
    char tag[TAG_TEXT];
    if (t->log->tracing) {
        snprintf(tag, sizeof tag, "step_%lld", (long long)state->step);
        mst_summary_trace(t->log->train, tag, t->log->trace, state->step);
        if (state->step >= t->profile_last) MST_TRY(stop_trace(t, state));
    }
    return start_trace(t, state);
}

/* ---- values ---- */

static void write_metrics(mst_summary_writer *writer, const char *form, const mst_train_state *state, double loss,
                          const double *metric, int64_t step) {
    char tag[TAG_TEXT];
    snprintf(tag, sizeof tag, form, "loss");
    mst_summary_scalar(writer, tag, loss, step);
    for (int m = 0; m < state->num_metrics; m++) {
        snprintf(tag, sizeof tag, form, state->metric_name[m]);
        mst_summary_scalar(writer, tag, metric[m], step);
    }
}

static mst_status write_weight(mst_summary_writer *writer, mst_store *store, const mst_state_info *info,
                               int64_t epoch) {
    char *tag;
    mst_tensor *value;
    if (asprintf(&tag, "%s/histogram", info->name) < 0) return MST_NO_MEMORY("for a log");
    const mst_status status = mst_store_get(store, info->container, info->name, &value);
    if (!status) {
        mst_summary_histogram(writer, tag, value, epoch);
        mst_tensor_release(value);
    }
    free(tag);
    return status;
}

static mst_status write_weights(mst_summary_writer *writer, const mst_train_state *state) {
    mst_store *store = mst_model_store(state->model);
    mst_state_info *info;
    int64_t count;
    MST_TRY(mst_store_list(store, &info, &count));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < count && !status; i++)
        if (info[i].kind == MST_STATE_WEIGHT && info[i].version)
            status = write_weight(writer, store, &info[i], state->epoch);
    free(info);
    return status;
}

/* Writes the staleness of the epoch. If training is stopped while the servers are asked, the last epoch has no
 * histogram. */
static mst_status write_staleness(const log_state *log, const mst_train_state *state) {
    mst_trainer *trainer;
    mst_tensor *counts = NULL;
    if (state->epoch < log->stale_epoch) return MST_OK;
    MST_TRY(mst_trainer_of(state->model, &trainer));
    const mst_status status = MST_COOPERATE(trainer, staleness, trainer, &counts);
    if (status) return status == MST_CANCELLED ? MST_OK : status;
    if (counts) mst_summary_counts(log->train, STALENESS, counts, state->epoch);
    mst_tensor_release(counts);
    return MST_OK;
}

static mst_status write_validation(const mst_tensorboard *t, const mst_train_state *state) {
    MST_TRY(open_writer(t, "validation", &t->log->validation));
    write_metrics(t->log->validation, "epoch_%s", state, state->validation_loss, state->validation_metric,
                  state->epoch);
    write_metrics(t->log->validation, "evaluation_%s_vs_iterations", state, state->validation_loss,
                  state->validation_metric, state->step);
    return MST_OK;
}

/* Writes the columns: loss and metrics, of training and of validation. They are known when an epoch has ended. */
static void write_columns(const mst_tensorboard *t, const mst_train_state *state) {
    enum { PARTS = 2, MOST = PARTS * (1 + MST_MAX_METRICS), TITLE = TAG_TEXT + 16 };
    static const char *const groups[PARTS] = {"train", "validation"}, *const titles[PARTS] = {"", "validation "};
    mst_hparam_metric metric[MOST];
    char tag[MOST][TAG_TEXT], title[MOST][TITLE];
    int count = 0;
    for (int part = 0; part < (state->has_validation ? PARTS : 1); part++)
        for (int m = -1; m < state->num_metrics; m++, count++) {
            const char *name = m < 0 ? "loss" : state->metric_name[m];
            snprintf(tag[count], TAG_TEXT, "epoch_%s", name);
            snprintf(title[count], TITLE, "%s%s", titles[part], name);
            metric[count] = (mst_hparam_metric){groups[part], tag[count], title[count], .validation = part == 1};
        }
    mst_summary_hparams_columns(t->log->root, t->hparams, t->num_hparams, metric, count);
    t->log->has_columns = true;
}

/* ---- hooks ---- */

static mst_status tensorboard_check(const mst_tensorboard *t) {
    if (!t->folder) return MST_FAIL(MST_INVALID, "tensorboard: no folder is given");
    if (t->histograms_every < 0 || t->update_every < 0)
        return MST_FAIL(MST_INVALID, "tensorboard: histograms_every and update_every must not be negative");
    if (t->profile_first < 0 || t->profile_last < t->profile_first || (t->profile_last && !t->profile_first))
        return MST_FAIL(MST_INVALID, "tensorboard: steps %lld to %lld cannot be profiled: the first step is 1",
                        (long long)t->profile_first, (long long)t->profile_last);
    return MST_OK;
}

static mst_status train_begin(void *context, mst_train_state *state) {
    mst_tensorboard *t = context;
    MST_TRY(tensorboard_check(t));
    t->log = calloc(1, sizeof *t->log);
    if (!t->log) return MST_NO_MEMORY("for a log");
    if (state->resumed) {
        t->log->resume_step = state->step + 1;
        t->log->stale_epoch = first_stale_epoch(state);
        MST_TRY(drop_later(t, "train", state));
        MST_TRY(drop_later(t, "validation", state));
    }
    if (t->num_hparams > 0) {
        MST_TRY(open_root_writer(t));
        mst_summary_hparams(t->log->root, t->hparams, t->num_hparams);
    }
    MST_TRY(open_writer(t, "train", &t->log->train));
    if (!t->no_graph) mst_summary_graph(t->log->train, mst_model_graph(state->model));
    return start_trace(t, state);
}

static mst_status step_end(void *context, mst_train_state *state) {
    const mst_tensorboard *t = context;
    if (t->update_every > 0 && state->step % t->update_every == 0)
        write_metrics(t->log->train, "batch_%s", state, state->loss, state->metric, state->step);
    return has_profile(t) ? profile_step(t, state) : MST_OK;
}

static mst_status epoch_end(void *context, mst_train_state *state) {
    const mst_tensorboard *t = context;
    write_metrics(t->log->train, "epoch_%s", state, state->loss, state->metric, state->epoch);
    mst_summary_scalar(t->log->train, "epoch_learning_rate", state->learning_rate, state->epoch);
    if (state->has_validation) MST_TRY(write_validation(t, state));
    if (t->log->root && !t->log->has_columns) write_columns(t, state);
    if (t->histograms_every > 0 && state->epoch % t->histograms_every == 0)
        MST_TRY(write_weights(t->log->train, state));
    return write_staleness(t->log, state);
}

/* Closes everything; returns the first error. */
static mst_status train_end(void *context, mst_train_state *state) {
    mst_tensorboard *t = context;
    log_state *log = t->log;
    if (!log) return MST_OK; /* NULL: the fit has failed before train_begin */
    mst_failure first;
    mst_failure_keep(&first, stop_trace(t, state));
    if (log->root && state->failed) mst_summary_hparams_failed(log->root);
    mst_summary_writer *const writers[] = {log->train, log->validation, log->root};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        const mst_status status = mst_summary_writer_close(writers[i]);
        if (status && !first.code) mst_failure_keep(&first, status);
    }
    mst_trace_destroy(log->trace);
    free(log);
    t->log = NULL;
    return mst_failure_restore(&first);
}

mst_callback mst_tensorboard_callback(mst_tensorboard *tensorboard) {
    if (MST_IS_NULL(tensorboard)) return (mst_callback){0};
    tensorboard->log = NULL;
    return (mst_callback){.context = tensorboard,
                          .train_begin = train_begin,
                          .step_end = step_end,
                          .epoch_end = epoch_end,
                          .train_end = train_end};
}
