/* The evaluator of a job: it looks at the folder of checkpoints several times a second.
 *
 *      the state file was written anew  ->  restore the newest checkpoint  ->  evaluate  ->  line or event, TensorBoard
 *      else, the training has ended     ->  done
 *      else                             ->  print now and then what it waits for
 *
 * The state file, `checkpoint` in the folder, is written when a checkpoint is complete, so an incomplete one is never
 * read. If there are several new checkpoints, only the newest is evaluated. The note of the end
 * (cli/train/training_end.h) is written after the last checkpoint. So the evaluator first checks whether the training
 * has ended, then looks for the newest checkpoint. */
#include "cli/train/evaluator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "cli/command.h"
#include "cli/evaluate/evaluate.h"
#include "cli/file_stamp.h"
#include "cli/json_events.h"
#include "cli/model/print_restored.h"
#include "cli/model/saved_model.h"
#include "cli/train/train_data.h"
#include "cli/train/training_end.h"
#include "muster/summary.h"

enum { EVALUATION_ROWS = 1000 /* in a batch, as in muster evaluate */ };
static const double seconds_between_lines = 5;

typedef struct evaluator {
    const train_options *o;
    const option_list *list;
    saved_options options;
    saved_model saved;
    bool is_open;
    training_end end_before; /* the note of the end that existed when this process began */
    file_stamp seen;         /* the state file when its newest checkpoint was last restored */
    char *path;              /* the checkpoint that was evaluated last; NULL: none */
    evaluation found;        /* the results for that checkpoint */
    int64_t count;           /* the number of evaluated checkpoints */
    mst_summary_writer *log; /* NULL: not opened yet */
    double said;             /* when it last printed what it waits for */
} evaluator;

/* ---- what was found ---- */

static mst_status open_log(evaluator *e) {
    mst_folder root, folder;
    if (!e->o->logdir || e->log) return MST_OK;
    MST_TRY(mst_folder_make(e->o->logdir));
    MST_TRY(mst_folder_open(e->o->logdir, &root));
    mst_status status = mst_folder_open_in(&root, "eval", &folder);
    mst_folder_close(&root);
    MST_TRY(status);
    const mst_summary_options options = {.resume_step = e->saved.restored.step};
    status = mst_summary_writer_create(folder.path, &options, &e->log);
    mst_folder_close(&folder);
    return status;
}

/* Writes the results under the tags of validation, so that TensorBoard draws both in one chart. */
static mst_status write_log(evaluator *e) {
    char tag[128];
    MST_TRY(open_log(e));
    if (!e->log) return MST_OK;
    const mst_result *result = &e->found.result;
    mst_summary_scalar(e->log, "evaluation_loss_vs_iterations", result->loss, e->saved.restored.step);
    for (int m = 0; m < result->num_metrics; m++) {
        snprintf(tag, sizeof tag, "evaluation_%s_vs_iterations", result->metric_name[m]);
        mst_summary_scalar(e->log, tag, result->metric[m], e->saved.restored.step);
    }
    return mst_summary_flush(e->log);
}

static mst_status show_result(const evaluator *e) {
    if (e->o->json) return evaluate_write_event(&e->options, &e->saved, &e->found);
    printf("step %" PRId64 ", ", e->saved.restored.step);
    evaluate_print(&e->found);
    fflush(stdout);
    return json_check_output();
}

static mst_status show_end(const evaluator *e) {
    if (!e->o->json) {
        printf("done: training has ended, and step %" PRId64 " is its last checkpoint\n", e->saved.restored.step);
        return MST_OK;
    }
    json_t *event = json_event("done");
    json_add(&event, "", "step", json_integer(e->saved.restored.step));
    json_add(&event, "", "checkpoints", json_integer(e->count));
    evaluate_add(&event, &e->found);
    return json_write(event);
}

static void say_waiting(evaluator *e) {
    const double now = mst_clock_seconds();
    if (e->o->progress == MST_PROGRESS_NONE || (e->said > 0 && now - e->said < seconds_between_lines)) return;
    e->said = now;
    if (e->path)
        command_tell("evaluator:0: waiting for a checkpoint after that of step %" PRId64 " in '%s'",
                     e->saved.restored.step, e->o->checkpoint_dir);
    else
        command_tell("evaluator:0: waiting for a checkpoint in '%s'", e->o->checkpoint_dir);
}

/* ---- the newest checkpoint ---- */

/* Restores the newest checkpoint. The first one also tells the model, which is the same for all. */
static mst_status restore(evaluator *e) {
    if (e->is_open) return saved_model_restore(&e->options, &e->saved);
    const mst_status status = saved_model_open_quietly(&e->options, e->list, "evaluate", &e->saved);
    e->is_open = status == MST_OK;
    if (status) saved_model_close(&e->saved);
    return status;
}

static mst_status evaluate_restored(evaluator *e) {
    if (e->path && strcmp(e->path, e->saved.restored.path) == 0) return MST_OK;
    MST_TRY(restored_show(&e->saved.restored, NULL, false, true)); /* only warns of damage */
    MST_TRY(evaluate_saved(&e->options, &e->saved, false, &e->found));
    free(e->path);
    e->path = strdup(e->saved.restored.path);
    if (!e->path) return MST_NO_MEMORY("for a path");
    e->count++;
    e->said = mst_clock_seconds();
    MST_TRY(show_result(e));
    return write_log(e);
}

/* Evaluates the newest checkpoint if it has not been evaluated yet. *IS_NEWEST becomes whether no other was written
 * meanwhile. If several others are written while it is read, it can be removed; then the next look finds those. */
static mst_status evaluate_newest(evaluator *e, bool *is_newest) {
    const file_stamp now = file_stamp_of(e->o->checkpoint_dir, "checkpoint");
    *is_newest = true;
    if (!file_stamp_is_set(now) || file_stamp_equal(now, e->seen)) return MST_OK;
    const mst_status status = restore(e);
    *is_newest = file_stamp_equal(now, file_stamp_of(e->o->checkpoint_dir, "checkpoint"));
    if (status) return *is_newest ? status : MST_OK;
    e->seen = now;
    return evaluate_restored(e);
}

/* ---- the end ---- */

/* Whether the folder has a note of the end that is valid for the training that is followed. A note that existed when
 * this process began may belong to an earlier training. It is valid if a training with these options would make no more
 * steps. */
static bool training_has_ended(const evaluator *e) {
    training_end end;
    if (!training_end_read(e->o->checkpoint_dir, &end)) return false;
    if (!file_stamp_equal(end.stamp, e->end_before.stamp)) return true;
    return e->o->resume && !end.stopped_early && end.steps == e->o->steps && end.epochs == e->o->epochs;
}

static mst_status follow(evaluator *e) {
    const struct timespec pause = {.tv_nsec = 200000000};
    for (;; nanosleep(&pause, NULL)) {
        bool is_newest;
        const bool ended = training_has_ended(e);
        MST_TRY(evaluate_newest(e, &is_newest));
        if (ended && is_newest) break;
        say_waiting(e);
    }
    if (e->path) return show_end(e);
    return MST_FAIL(MST_NOT_FOUND, "training has ended, and '%s' has no checkpoint of it", e->o->checkpoint_dir);
}

/* ---- the task ---- */

/* Opens the data once before there is a checkpoint, so that errors in it are reported at once. */
static int check_before(training *t) {
    struct stat info;
    if (stat(t->o->checkpoint_dir, &info) == 0 && !S_ISDIR(info.st_mode))
        return command_fail(EXIT_FAILED, "--checkpoint-dir: '%s' is no folder", t->o->checkpoint_dir);
    if (t->o->test_data) return EXIT_DONE; /* it is read with the columns of the train part, which a checkpoint has */
    const int status = train_data_open_part(t, "test", &t->test);
    mst_dataset_release(t->test);
    t->test = NULL;
    return status;
}

static saved_options options_of(const training *t) {
    const train_options *o = t->o;
    return (saved_options){.checkpoint_dir = o->checkpoint_dir,
                           .use_ema = o->use_ema,
                           .loss = o->loss,
                           .loss_weights = o->loss_weights,
                           .activation = o->activation,
                           .metrics = o->metrics,
                           .positive = o->positive,
                           .ignore_class = o->ignore_class,
                           .data = o->test_data ? o->test_data : t->data,
                           .table = o->table,
                           .class_names = o->class_names,
                           .name_map = o->name_map,
                           .image_size = o->image_size,
                           .skip_corrupt = o->skip_corrupt,
                           .raw_pixels = o->raw_pixels,
                           .pixels = o->pixels,
                           .batch_size = EVALUATION_ROWS,
                           .devices = o->devices ? o->devices : "cpu",
                           .precision = option_given(t->list, "precision") ? o->precision : NULL,
                           .json = o->json};
}

int evaluator_run(training *t) {
    evaluator e = {.o = t->o, .list = t->list, .options = options_of(t)};
    (void)training_end_read(t->o->checkpoint_dir, &e.end_before);
    if (!t->o->resume) e.seen = file_stamp_of(t->o->checkpoint_dir, "checkpoint"); /* of an earlier training */
    int status = check_before(t);
    if (!status && follow(&e)) status = command_fail_library(EXIT_FAILED, NULL);
    if (mst_summary_writer_close(e.log) && !status) status = command_fail_library(EXIT_FAILED, "logdir");
    if (e.is_open) saved_model_close(&e.saved);
    free(e.path);
    return status;
}
