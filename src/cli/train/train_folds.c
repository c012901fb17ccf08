#include "cli/train/train_folds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "cli/command.h"
#include "cli/json_events.h"
#include "cli/spec_kind.h"

enum { BATCH = 1000 };

/* Options that are for one model, or say what is kept for validation. */
static const char *const refused[] = {
    "save",    "save-optimizer",  "checkpoint-dir",   "predict",         "confusion", "history", "logdir",
    "profile", "validation-data", "validation-split", "validation-rows", "elastic",   NULL};

int train_folds_check(const training *t) {
    if (!t->folds) return EXIT_DONE;
    for (int i = 0; refused[i]; i++)
        if (option_given(t->list, refused[i]))
            return command_fail(EXIT_USAGE,
                                "train: --folds measures %d models, and keeps none: --%s is for one training: leave "
                                "one of them out",
                                t->folds->count, refused[i]);
    if (t->cluster && !t->is_alone)
        return command_fail(EXIT_USAGE, "train: --folds trains on this machine alone: leave the cluster out");
    return EXIT_DONE;
}

/* ---- what is read once ---- */

void train_folds_keep(training *t) {
    train_folds *f = t->folds;
    if (!f || f->fold > 0) return;
    f->train = mst_dataset_retain(t->train);
    f->test = t->test ? mst_dataset_retain(t->test) : NULL;
    f->image_size = t->o->image_size;
    f->loss = t->loss;
    f->labels = t->labels;
    f->label_classes = t->label_classes;
}

void train_folds_reuse(training *t, train_options *o) {
    const train_folds *f = t->folds;
    t->train = mst_dataset_retain(f->train);
    t->test = f->test ? mst_dataset_retain(f->test) : NULL;
    o->image_size = f->image_size;
    t->loss = f->loss;
    t->labels = f->labels;
    t->label_classes = f->label_classes;
}

/* ---- parts ---- */

/* Learns anew from the rows that are trained on what numbers stand for: categories, or the words of texts. */
static mst_status relearn(training *t) {
    mst_dataset *parts[] = {t->train, t->validation, t->test}, *made[3];
    const int n = t->test ? 3 : 2;
    const bool has_texts = training_numbers_words(t) && !t->schema;
    if (!has_texts && (t->o->raw_columns || !spec_is_table(t->data))) return MST_OK;
    MST_TRY(mst_dataset_relearn(parts, n, made));
    for (int i = 0; i < n; i++) mst_dataset_release(parts[i]);
    t->train = made[0];
    t->validation = made[1];
    if (t->test) t->test = made[2];
    return MST_OK;
}

int train_folds_split(training *t) {
    train_folds *f = t->folds;
    const int labels = training_num_inputs(t); /* if there are several outputs, those of the first */
    const mst_loss loss = t->network ? t->objective->loss : t->loss;
    const mst_split_options split = {.num_folds = f->count,
                                     .fold = f->fold,
                                     .seed = t->o->seed,
                                     .labels = objective_labels_are_classes(loss, t->train, labels) ? labels : 0};
    mst_dataset *all = t->train;
    mst_split_report report;
    const mst_status status = mst_dataset_split(all, &split, &t->train, &t->validation, &report);
    mst_dataset_release(all);
    if (status || relearn(t)) return command_fail_library(EXIT_FAILED, "folds");
    if (report.num_missing && !f->has_warned) {
        command_warn("--folds: fold %d: %s", f->fold + 1, report.warning);
        f->has_warned = true;
    }
    return EXIT_DONE;
}

/* ---- measures ---- */

static mst_status keep_value(train_folds *f, const char *prefix, const char *name, double value) {
    char full[sizeof f->measure->name];
    int i = 0;
    snprintf(full, sizeof full, "%s%.64s", prefix, name);
    while (i < f->num_measures && strcmp(f->measure[i].name, full) != 0) i++;
    if (i == MOST_FOLD_MEASURES) return MST_OK; /* a model has no more of them */
    fold_measure *m = &f->measure[i];
    if (i == f->num_measures) {
        m->value = malloc((size_t)f->count * sizeof *m->value);
        if (!m->value) return MST_NO_MEMORY("for the numbers of folds");
        for (int k = 0; k < f->count; k++) m->value[k] = NAN;
        memcpy(m->name, full, sizeof full);
        f->num_measures++;
    }
    m->value[f->fold] = value;
    return MST_OK;
}

static mst_status keep_values(train_folds *f, const char *prefix, double loss, const char *const *name,
                              const double *value, int n) {
    MST_TRY(keep_value(f, prefix, "loss", loss));
    for (int i = 0; i < n; i++) MST_TRY(keep_value(f, prefix, name[i], value[i]));
    return MST_OK;
}

/* Keeps the numbers of the weights with which the fold ends. */
static mst_status keep_fold(const training *t, bool best) {
    train_folds *f = t->folds;
    const mst_result *result = &t->result;
    const mst_train_state *state = &t->best;
    mst_result averages;
    if (best && state->model) {
        MST_TRY(keep_values(f, "", state->loss, state->metric_name, state->metric, state->num_metrics));
        MST_TRY(keep_values(f, "val_", state->validation_loss, state->metric_name, state->validation_metric,
                            state->num_metrics));
    } else {
        MST_TRY(keep_values(f, "", result->loss, result->metric_name, result->metric, result->num_metrics));
        const double *metric = result->validation_metric;
        double loss = result->validation_loss;
        if (t->o->use_ema) { /* the last epoch was measured with the weights */
            const int64_t rows = mst_dataset_num_rows(t->validation);
            MST_TRY(mst_evaluate(t->model, t->validation, rows < BATCH ? rows : BATCH, &averages, NULL));
            loss = averages.loss;
            metric = averages.metric;
        }
        MST_TRY(keep_values(f, "val_", loss, result->metric_name, metric, result->num_metrics));
    }
    const mst_result *test = &t->tested.result;
    return test->examples ? keep_values(f, "test_", test->loss, test->metric_name, test->metric, test->num_metrics)
                          : MST_OK;
}

static mst_status write_fold(const training *t) {
    const train_folds *f = t->folds;
    json_t *event = json_event("fold");
    json_add(&event, "", "fold", json_integer(f->fold + 1));
    json_add(&event, "", "folds", json_integer(f->count));
    json_add(&event, "", "examples", json_integer(mst_dataset_num_rows(t->train)));
    json_add(&event, "", "validation_examples", json_integer(mst_dataset_num_rows(t->validation)));
    json_add(&event, "", "step", json_integer(t->result.step));
    json_add(&event, "", "epochs", json_integer(t->result.epochs));
    for (int i = 0; i < f->num_measures; i++)
        json_add(&event, "", f->measure[i].name, json_number(f->measure[i].value[f->fold]));
    json_add(&event, "", "seconds", json_number(t->result.seconds));
    json_add(&event, "", "weights_sha256", json_string(t->sha256));
    return json_write(event);
}

static void print_fold(const training *t) {
    const train_folds *f = t->folds;
    printf("fold %d of %d: step %" PRId64, f->fold + 1, f->count, t->result.step);
    for (int i = 0; i < f->num_measures; i++) printf(", %s = %.4f", f->measure[i].name, f->measure[i].value[f->fold]);
    printf(" (%" PRId64 " examples, %" PRId64 " kept for validation)\n", mst_dataset_num_rows(t->train),
           mst_dataset_num_rows(t->validation));
    fflush(stdout);
}

mst_status train_folds_end(training *t, bool best) {
    t->folds->seconds += t->result.seconds;
    MST_TRY(keep_fold(t, best));
    if (t->o->json) return write_fold(t);
    print_fold(t);
    return json_check_output();
}

/* The mean of N values, and their sample standard deviation, which divides by N - 1. */
static double mean_of(const double *value, int n, double *deviation) {
    double sum = 0, squares = 0;
    for (int k = 0; k < n; k++) sum += value[k];
    const double mean = sum / n;
    for (int k = 0; k < n; k++) squares += (value[k] - mean) * (value[k] - mean);
    *deviation = sqrt(squares / (n - 1));
    return mean;
}

mst_status train_folds_done(const train_folds *f, bool json) {
    double deviation;
    json_t *event = json ? json_event("done") : NULL;
    if (json) json_add(&event, "", "folds", json_integer(f->count));
    if (!json) printf("done: %d folds", f->count);
    for (int i = 0; i < f->num_measures; i++) {
        const double mean = mean_of(f->measure[i].value, f->count, &deviation);
        if (!json) printf(", %s = %.4f +- %.4f", f->measure[i].name, mean, deviation);
        if (!json) continue;
        json_add(&event, "", f->measure[i].name, json_number(mean));
        json_add(&event, f->measure[i].name, "_deviation", json_number(deviation));
    }
    if (!json) {
        printf(" (mean +- standard deviation over the folds; %.1f sec)\n", f->seconds);
        return json_check_output();
    }
    json_add(&event, "", "seconds", json_number(f->seconds));
    json_add(&event, "", "interrupted", json_false());
    return json_write(event);
}

void train_folds_free(train_folds *f) {
    mst_dataset_release(f->train);
    mst_dataset_release(f->test);
    for (int i = 0; i < f->num_measures; i++) free(f->measure[i].value);
    *f = (train_folds){.count = 0};
}
