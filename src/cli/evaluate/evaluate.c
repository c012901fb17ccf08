/** muster evaluate: evaluates a saved model on the test part, and prints results for `muster train --evaluate` too. */
#include "cli/evaluate/evaluate.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/evaluate/confusion.h"
#include "cli/file_stamp.h"
#include "cli/json_events.h"
#include "cli/left_out.h"
#include "cli/model/positive_class.h"
#include "cli/model/print_restored.h"
#include "cli/signals.h"

static const char *output_of(const evaluation *found, int i) {
    return found->num_objectives > 1 ? found->objective[i].output : NULL;
}

void evaluate_print(const evaluation *found) {
    const mst_result *result = &found->result;
    printf("test: loss = %.4f", result->loss);
    for (int m = 0; m < result->num_metrics; m++) printf(", %s = %.4f", result->metric_name[m], result->metric[m]);
    printf(" (%" PRId64 " examples", result->examples);
    positive_class_print(found->objective, found->num_objectives);
    printf(")\n");
    for (int i = 0; i < found->num_objectives; i++)
        if (found->confusion[i]) confusion_print(found->confusion[i], output_of(found, i), found->objective[i].names);
}

void evaluate_add(json_t **event, const evaluation *found) {
    const mst_result *result = &found->result;
    json_add_measured(event, "test_", result->loss, result->metric_name, result->metric, result->num_metrics);
    positive_class_add(event, found->objective, found->num_objectives);
    for (int i = 0; i < found->num_objectives; i++)
        if (found->confusion[i])
            confusion_add(event, found->confusion[i], output_of(found, i), found->objective[i].names);
}

void evaluate_free(evaluation *found) {
    for (int i = 0; i < found->num_objectives; i++) mst_tensor_release(found->confusion[i]);
    *found = (evaluation){.num_objectives = 0};
}

mst_status evaluate_saved(const saved_options *o, const saved_model *saved, bool counts, evaluation *out) {
    const int64_t rows = mst_dataset_num_rows(saved->data);
    const int64_t batch = rows > 0 && o->batch_size > rows ? rows : o->batch_size;
    *out = (evaluation){.objective = saved->objective, .num_objectives = saved->num_objectives};
    return mst_evaluate_all(saved->model, saved->data, batch, &out->result, counts ? out->confusion : NULL,
                            saved->num_objectives);
}

mst_status evaluate_write_event(const saved_options *o, const saved_model *saved, const evaluation *found) {
    json_t *event = json_event("evaluated");
    json_add(&event, "", "step", json_step(saved->restored.step));
    evaluate_add(&event, found);
    json_add(&event, "", "precision", json_string(mst_precision_names[saved_model_precision(saved)]));
    saved_model_add_devices(&event, saved);
    left_out_add(saved->data, &event);
    damaged_add(saved->data, &event);
    json_add(&event, "", "weights", json_string(o->use_ema ? "ema" : "last"));
    return json_write(event);
}

/* ---- the command ---- */

typedef struct evaluate_options {
    saved_options saved; /* first: the offsets in saved_model_options are those in this struct */
    bool confusion, follow;
} evaluate_options;

static const option own_options[] = {
    {"confusion", OPTION_FLAG, offsetof(evaluate_options, confusion),
     .help = "with the confusion matrix, and precision, recall and f1 of each class"},
    {"follow", OPTION_FLAG, offsetof(evaluate_options, follow),
     .help = "evaluates each new checkpoint of --checkpoint-dir as it appears, until Ctrl-C"},
    {0}};

static const option_section sections[] = {
    {.title = "Model and data", .options = saved_model_options}, {.title = "Evaluation", .options = own_options}, {0}};

static mst_status show(const evaluate_options *o, const saved_model *saved) {
    evaluation found;
    MST_TRY(evaluate_saved(&o->saved, saved, o->confusion, &found));
    mst_status status = MST_OK;
    if (o->saved.json) {
        status = evaluate_write_event(&o->saved, saved, &found);
    } else {
        evaluate_print(&found);
        fflush(stdout);
    }
    evaluate_free(&found);
    return status;
}

static mst_status show_if_new(const evaluate_options *o, saved_model *saved) {
    char *last = strdup(saved->restored.path);
    if (!last) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a path");
    mst_status status = saved_model_restore(&o->saved, saved);
    const bool is_new = !status && strcmp(last, saved->restored.path) != 0;
    free(last);
    if (is_new) status = restored_show(&saved->restored, NULL, o->saved.json, false);
    if (is_new && !status) status = show(o, saved);
    return status;
}

static mst_status follow(const evaluate_options *o, saved_model *saved) {
    const struct timespec pause = {.tv_nsec = 200000000};
    file_stamp seen = {.number = 0};
    MST_TRY(signals_catch());
    for (; !signals_caught(); nanosleep(&pause, NULL)) {
        const file_stamp now = file_stamp_of(o->saved.checkpoint_dir, "checkpoint");
        if (file_stamp_equal(now, seen)) continue;
        seen = now;
        MST_TRY(show_if_new(o, saved));
    }
    return MST_OK;
}

static int evaluate_run(const command_call *call) {
    const evaluate_options *o = call->options;
    saved_model saved;
    if (o->follow && !o->saved.checkpoint_dir)
        return command_fail(EXIT_USAGE, "evaluate: --follow needs --checkpoint-dir DIR");
    int status = saved_model_open(&o->saved, call->list, "evaluate", &saved);
    if (!status && o->confusion) status = objective_check_confusion("evaluate", saved.objective, saved.num_objectives);
    if (!status && (saved_model_show(&saved, o->saved.json) || show(o, &saved) || (o->follow && follow(o, &saved))))
        status = command_fail_library(EXIT_FAILED, NULL);
    saved_model_close(&saved);
    return !status && signals_caught() ? EXIT_SIGNAL + signals_caught() : status;
}

const command command_evaluate = {
    .name = "evaluate",
    .summary = "loss and metrics of a saved model on the test part",
    .usage = "--checkpoint-dir DIR | --load FILE [options]",
    .notes = "muster evaluate --checkpoint-dir run --use-ema --confusion",
    .sections = sections,
    .options_size = sizeof(evaluate_options),
    .run = evaluate_run,
};
