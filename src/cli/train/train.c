/** muster train: trains a built-in model on a data spec, under a strategy.
 *
 *       options  ->  devices  ->  data  ->  model  ->  checkpoint, weights  ->  fit  ->  save  ->  test part
 *
 *  All parts share one struct, `training`. Each part is a function that prints its errors and returns an exit status.
 *  The command stops at the first error. As much as possible is checked before the first step. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/evaluate/evaluate.h"
#include "cli/json_events.h"
#include "cli/long_work_line.h"
#include "cli/model/objective_metrics.h"
#include "cli/number_text.h"
#include "cli/precision.h"
#include "cli/predict/predict.h"
#include "cli/signals.h"
#include "cli/standard_output.h"
#include "cli/train/evaluator.h"
#include "cli/train/loaded_note.h"
#include "cli/train/train_checkpoint.h"
#include "cli/train/train_cluster.h"
#include "cli/train/train_data.h"
#include "cli/train/train_devices.h"
#include "cli/train/train_events.h"
#include "cli/train/train_folds.h"
#include "cli/train/train_model.h"
#include "cli/train/train_network.h"
#include "cli/train/train_options.h"
#include "cli/train/train_start.h"
#include "cli/train/training.h"
#include "cli/train/training_end.h"

enum { EVALUATION_BATCH = 1000 };

/* ---- options ---- */

/* --history -: its rows are alone on standard output. */
static int take_standard_output(training *t) {
    if (t->o->json)
        return command_fail(EXIT_USAGE, "--history -: standard output has the lines of --json: leave one of them out");
    return standard_output_take(&t->history.stream) ? command_fail_library(EXIT_FAILED, "history") : EXIT_DONE;
}

static int check_options(training *t) {
    const bool file_has_optimizer = t->network && t->network == t->o->load && !train_optimizer_is_given(t->list);
    if (t->o->use_ema && !(t->o->optimizer.ema_decay > 0) && !file_has_optimizer)
        return command_fail(EXIT_USAGE, "train: --use-ema takes the averages that --ema X keeps: give both");
    if (t->o->use_ema && t->o->restore_best_weights)
        return command_fail(
            EXIT_USAGE,
            "train: --use-ema takes the averages after the last step, --restore-best-weights the weights "
            "of the best: give one of them");
    if (t->o->raw_columns && (t->o->table.missing || t->o->embed_above))
        return command_fail(EXIT_USAGE, "train: --%s is done by the layers that --raw-columns leaves out: leave it out",
                            t->o->table.missing ? "missing mean" : "embed-above");
    if (!t->network && (strchr(t->o->loss, '=') || t->o->loss_weights))
        return command_fail(EXIT_USAGE,
                            "train: --loss%s of outputs by name is for a network of a file; this one has one output",
                            t->o->loss_weights ? "-weights" : "");
    if (!strchr(t->o->loss, '=') && objective_loss_named(t->o->loss, &t->loss))
        return command_fail_library(EXIT_USAGE, NULL);
    if (objective_check_metrics(t->o->metrics)) return command_fail_usage("train");
    if (precision_read(t->o->precision, &t->precision)) return command_fail_usage("train");
    if (train_log_options(t->o, &t->log)) return command_fail_library(EXIT_USAGE, NULL);
    if (t->o->predict && mst_file_check(t->o->predict)) return command_fail_library(EXIT_FAILED, "predict");
    if (standard_output_is(t->o->history)) {
        const int status = take_standard_output(t);
        if (status) return status;
    } else if (t->o->history && mst_file_check(t->o->history)) {
        return command_fail_library(EXIT_FAILED, "history");
    }
    return train_checkpoint_check(t);
}

/* ---- data ---- */

/* Opens the data. The objectives of a network come in between, since they decide what its labels are. */
static int open_data(training *t, train_options *o) {
    int status = train_data_open(t, o);
    if (!status) status = train_network_objectives(t);
    return status ? status : train_data_prepare(t);
}

/* ---- the run ---- */

static mst_status train_begin(void *context, mst_train_state *state) {
    train_take_shards(context, state->num_shards);
    return train_show_start(context);
}

/* Fills the hyperparameters of the run, by which TensorBoard compares runs; returns their number. */
static int fill_hparams(const training *t, mst_hparam *out) {
    const mst_schedule *schedule = &t->optimizer.schedule;
    const double rate = mst_schedule_is_set(schedule) ? mst_schedule_at(schedule, 0) : t->optimizer.learning_rate;
    int count = 0;
    out[count++] = (mst_hparam){.name = "optimizer", .text = t->optimizer.rule};
    out[count++] = (mst_hparam){.name = "schedule", .text = mst_schedule_names[schedule->kind]};
    out[count++] = (mst_hparam){.name = "learning_rate", .number = rate};
    out[count++] = (mst_hparam){.name = "batch_size", .number = (double)t->batch_size};
    if (!t->network && !t->is_application)
        out[count++] = (mst_hparam){.name = "hidden_units", .number = (double)t->o->hidden_units.value[0]};
    out[count++] = (mst_hparam){.name = "dropout", .number = t->o->dropout};
    out[count++] = (mst_hparam){.name = "l2", .number = t->o->l2};
    out[count++] = (mst_hparam){.name = "seed", .number = (double)t->o->seed};
    return count;
}

/* A callback for work that the chief does for all. With --elastic, another worker may stand in for the chief. */
static mst_callback chief_work(const training *t, stand_in *in, mst_callback work) {
    if (!t->o->elastic) return work;
    *in = (stand_in){.task = t->task, .work = work};
    return stand_in_callback(in);
}

/* A setting that must be the same in all workers: it affects the weights after the last step. */
static void ema_settings(const void *context, char *text, size_t size) {
    (void)context;
    snprintf(text, size, "use_ema");
}

/* A reader of --history - that has left, as with `| head`, is no error: train_events ends the training in order. */
static mst_status unless_reader_left(mst_status status) {
    return status && signals_reader_left() ? MST_OK : status;
}

static mst_status write_history_row(void *context, mst_train_state *state) {
    training *t = context;
    return unless_reader_left(t->history_rows.epoch_end(&t->history, state));
}

static mst_status end_history(void *context, mst_train_state *state) {
    training *t = context;
    return unless_reader_left(t->history_rows.train_end(&t->history, state));
}

static mst_callback history_callback(training *t) {
    t->history_rows = mst_csv_logger_callback(&t->history);
    if (!t->history.stream) return t->history_rows;
    return (mst_callback){.context = t, .epoch_end = write_history_row, .train_end = end_history};
}

static mst_status fit(training *t) {
    const train_options *o = t->o;
    enum { MOST_HPARAMS = 8 };
    mst_hparam hparams[MOST_HPARAMS];
    mst_callback callbacks[12];
    int count = 0;
    if (t->log.folder) { /* first, so that an error in its folder comes before other output */
        t->log.hparams = hparams;
        t->log.num_hparams = fill_hparams(t, hparams);
        callbacks[count++] = chief_work(t, &t->logs, mst_tensorboard_callback(&t->log));
    }
    callbacks[count++] = (mst_callback){.context = t, .train_begin = train_begin};
    if (!o->json && o->progress != MST_PROGRESS_NONE) {
        MST_TRY(mst_progress_callback((mst_progress)o->progress, stdout, o->log_every, &callbacks[count]));
        count++;
    }
    if (o->history) {
        if (!t->history.stream) t->history.path = o->history;
        callbacks[count++] = chief_work(t, &t->rows, history_callback(t));
    }
    callbacks[count++] = train_events_callback(&t->events);
    if (o->use_ema) callbacks[count++] = (mst_callback){.settings = ema_settings};
    count = train_checkpoint_callbacks(t, callbacks, count);
    long_work_line_pause(); /* training has lines of its own */
    const mst_status status = mst_fit_with(t->model,
                                           &(mst_fit_options){.data = t->train,
                                                              .validation = t->validation,
                                                              .batch_size = t->batch_size,
                                                              .epochs = o->epochs,
                                                              .steps = o->steps,
                                                              .resume = t->resumes,
                                                              .no_shuffle = !o->shuffle,
                                                              .check_replicas = o->check_replicas,
                                                              .callbacks = callbacks,
                                                              .num_callbacks = count,
                                                              .progress = stderr, /* for warnings alone */
                                                              .progress_kind = MST_PROGRESS_NONE},
                                           &t->result);
    long_work_line_resume();
    return status;
}

/* Whether a signal, and not early stopping, ended the training. */
static bool is_interrupted(const training *t) {
    return t->events.interrupted || (t->result.stopped && signals_caught() != 0);
}

/* After training, evaluates and predicts if the user asked for it and training was not interrupted. */
static mst_status use_test_part(training *t) {
    if (!t->test || is_interrupted(t)) return MST_OK;
    int64_t rows = mst_dataset_num_rows(t->test);
    int64_t batch_size = t->batch_size > EVALUATION_BATCH ? t->batch_size : EVALUATION_BATCH;
    if (rows >= 0 && batch_size > rows) batch_size = rows;
    t->tested = (evaluation){.objective = t->objective, .num_objectives = t->num_objectives};
    if (t->o->evaluate || t->o->confusion || t->o->test_data)
        MST_TRY(mst_evaluate_all(t->model, t->test, batch_size, &t->tested.result,
                                 t->o->confusion ? t->tested.confusion : NULL, t->num_objectives));
    if (t->o->predict && t->writes)
        MST_TRY(predict_to_file(t->model, t->objective, t->num_objectives, t->test, batch_size, t->o->predict));
    return MST_OK;
}

static bool has_best_weights(const training *t) {
    return t->o->restore_best_weights && t->stopping.has_best_weights;
}

/* Whether a step was made. If the restored checkpoint is already the end of the training, there is no loss to print. */
static bool has_steps(const training *t) {
    return t->events.num_steps > 0;
}

static int64_t runs_alone(const training *t) {
    return mst_session_runs_alone(mst_model_session(t->model));
}

/* Prints a note if other programs kept the cores busy during many of the steps. */
static void print_runs_alone(const training *t) {
    const int64_t alone = runs_alone(t), steps = t->events.num_steps;
    if (alone == 0 || alone * 10 < steps) return;
    char percent[NUMBER_TEXT];
    printf(
        "note: other programs kept cores busy: in %s %% of the steps one thread did the work of all %d devices, which "
        "was faster\n",
        number_text(alone < steps ? alone * 100 / steps : 100, percent), t->strategy.num_devices);
}

/* Adds the epoch that early stopping found best, and its numbers. */
static void add_best(json_t **event, const training *t) {
    const mst_train_state *best = &t->best;
    if (t->stopping.counted == 0) return;
    json_add(event, "best_", "epoch", json_integer(t->stopping.best_epoch + 1));
    if (!best->model) {
        json_add(event, "best_", t->stopping.monitor, json_number(t->stopping.best));
        return;
    }
    json_add_measured(event, "best_", best->loss, best->metric_name, best->metric, best->num_metrics);
    if (best->has_validation)
        json_add_measured(event, "best_val_", best->validation_loss, best->metric_name, best->validation_metric,
                          best->num_metrics);
}

static mst_status write_done(const training *t) {
    const mst_result *result = &t->result;
    json_t *event = json_event("done");
    json_add(&event, "", "step", json_integer(result->step));
    json_add(&event, "", "epochs", json_integer(result->epochs));
    json_add(&event, "", "loss", json_number(has_steps(t) ? result->loss : NAN));
    for (int m = 0; m < result->num_metrics; m++)
        json_add(&event, "", result->metric_name[m], json_number(has_steps(t) ? result->metric[m] : NAN));
    if (result->has_validation)
        json_add_measured(&event, "val_", result->validation_loss, result->metric_name, result->validation_metric,
                          result->num_metrics);
    add_best(&event, t);
    if (t->tested.result.examples) evaluate_add(&event, &t->tested);
    json_add(&event, "", "examples_per_sec", json_rate(result->examples_per_sec));
    json_add(&event, "", "first_step_sec", json_number(t->events.first_step));
    json_add(&event, "", "seconds", json_number(result->seconds));
    json_add(&event, "", "waited_for_data", json_number(result->waited_for_data));
    json_add(&event, "", "runs_alone", json_integer(runs_alone(t)));
    json_add(&event, "", "interrupted", json_boolean(is_interrupted(t)));
    if (t->optimizer.ema_decay > 0 || has_best_weights(t))
        json_add(&event, "", "weights", json_string(has_best_weights(t) ? "best" : t->o->use_ema ? "ema" : "last"));
    if (t->checkpoint) json_add(&event, "", "checkpoint", json_text(t->checkpoint));
    json_add(&event, "", "saved", t->o->save && t->writes ? json_text(t->o->save) : json_null());
    json_add(&event, "", "weights_sha256", json_string(t->sha256));
    return json_write(event);
}

/* Prints "loss = 0.5, accuracy = 0.8", each name after PREFIX. */
static void print_measured(const char *prefix, double loss, const char *const *metric_name, const double *metric,
                           int count) {
    printf("%sloss = %.4f", prefix, loss);
    for (int m = 0; m < count; m++) printf(", %s%s = %.4f", prefix, metric_name[m], metric[m]);
}

/* Prints which epoch early stopping found best, and its numbers: "loss was best in epoch 3: loss = 0.5, ...". */
static void print_best(const training *t) {
    const mst_train_state *best = &t->best;
    printf("%s%s was best in epoch %" PRId64 ": ", t->result.stopped ? "stopped early: " : "", t->stopping.monitor,
           t->stopping.best_epoch + 1);
    if (best->model)
        print_measured("", best->loss, best->metric_name, best->metric, best->num_metrics);
    else
        printf("%s = %.4f", t->stopping.monitor, t->stopping.best);
    if (best->has_validation) {
        printf(", ");
        print_measured("val_", best->validation_loss, best->metric_name, best->validation_metric, best->num_metrics);
    }
    putchar('\n');
}

static void print_result(const training *t) {
    const mst_result *result = &t->result;
    printf("done: step %" PRId64, result->step);
    if (!has_steps(t) && is_interrupted(t)) {
        printf(": no step was made\n");
        return;
    }
    if (!has_steps(t)) {
        printf(": the checkpoint had all steps already; a greater --%s goes on\n", t->o->steps ? "steps" : "epochs");
        return;
    }
    printf(", ");
    print_measured("", result->loss, result->metric_name, result->metric, result->num_metrics);
    if (result->has_validation) {
        printf(", ");
        print_measured("val_", result->validation_loss, result->metric_name, result->validation_metric,
                       result->num_metrics);
    }
    printf(" (");
    if (result->examples_per_sec > 0) printf("%.1f examples/sec; ", result->examples_per_sec);
    printf("first step after %.2f sec; %.1f%% of the time waiting for data)\n", t->events.first_step,
           100 * result->waited_for_data);
}

static void print_summary(const training *t) {
    const mst_result *result = &t->result;
    bool skipped = is_interrupted(t) && t->test;
    if (is_interrupted(t))
        command_print("interrupted after step %" PRId64 "%s%s%s", result->step, t->checkpoint ? ", kept in " : "",
                      t->checkpoint ? t->checkpoint : "", skipped ? ": the test part was not used" : "");
    else if (t->stopping.counted)
        print_best(t);
    else if (result->stopped)
        printf("stopped early: %s has ended the training\n", train_cluster_is_served(t) ? "the chief" : "a worker");
    print_result(t);
    print_runs_alone(t);
    if (has_best_weights(t))
        printf("weights: those after epoch %" PRId64 ", whose %s was best\n", t->stopping.best_epoch + 1,
               t->stopping.monitor);
    else if (t->optimizer.ema_decay > 0)
        printf("weights: %s\n", t->o->use_ema
                                    ? "the moving averages, as --use-ema says"
                                    : "those of the last step; --use-ema takes the moving averages, as Keras' "
                                      "fit with use_ema does at its end");
    if (t->tested.result.examples) evaluate_print(&t->tested);
    if (t->o->predict && t->writes && !skipped) command_print("predictions: %s", t->o->predict);
    if (t->log.folder)
        command_print("log: %s (tensorboard --logdir %s, or muster plot %s)", t->log.folder, t->log.folder,
                      t->log.folder);
    printf("weights sha256: %s\n", t->sha256);
    if (!t->o->save && !t->checkpoint && t->writes)
        printf("the weights are gone now: --save FILE.safetensors or --checkpoint-dir DIR keeps them\n");
}

/* With parameter servers, takes the number of steps from the store: there it counts the steps of all workers. */
static mst_status take_steps_of_all(training *t) {
    mst_tensor *step;
    if (!train_cluster_is_served(t) || is_interrupted(t)) return MST_OK;
    MST_TRY(mst_store_get(mst_model_store(t->model), NULL, "global_step", &step));
    t->result.step = (int64_t)mst_tensor_get(step, 0);
    mst_tensor_release(step);
    return MST_OK;
}

/* Closes the checkpoints, notes the end of training there, and writes the file of --save. */
static mst_status write_files(training *t) {
    if (t->o->elastic) MST_TRY(train_checkpoint_last(t));
    const char *newest = t->checkpoints ? mst_checkpoint_manager_latest(t->checkpoints) : NULL;
    if (newest && !(t->checkpoint = strdup(newest))) return MST_NO_MEMORY("for the name of the checkpoint");
    MST_TRY(mst_checkpoint_manager_close(t->checkpoints));
    t->checkpoints = NULL;
    if (!is_interrupted(t)) MST_TRY(train_checkpoint_note_end(t));
    if (!train_network_is_saved(t->o)) MST_TRY(train_checkpoint_save(t));
    if (t->o->use_ema) MST_TRY(mst_model_use_averages(t->model));
    return train_network_is_saved(t->o) ? train_network_save(t) : MST_OK; /* such a file has one value per weight */
}

/* For a worker that does not write, with --elastic: keeps the state in which it would have been written, then replaces
 * weights by their averages as --use-ema asks. If the writing worker is lost, write_late writes that state. */
static mst_status leave_files(training *t) {
    if (!t->o->use_ema) return MST_OK;
    MST_TRY(mst_store_snapshot(mst_model_store(t->model), &t->trained));
    return mst_model_use_averages(t->model);
}

/* Does everything that comes after training. */
static mst_status use_model(training *t) {
    MST_TRY(take_steps_of_all(t));
    t->writes = !t->o->elastic || mst_task_first_since(t->task) != 0;
    MST_TRY(t->writes ? write_files(t) : leave_files(t));
    return use_test_part(t);
}

/* A worker of parameter servers leaves them only after using the model: if it is lost before and started again, it
 * still finds the servers, and does that work once more. It also leaves if that work has failed: no other worker needs
 * the result. */
static mst_status train(training *t) {
    MST_TRY(fit(t));
    const mst_status used = use_model(t);
    if (train_cluster_is_served(t) && !is_interrupted(t)) {
        const mst_status left = mst_task_leave(t->task);
        if (!used) MST_TRY(left);
    }
    MST_TRY(used);
    MST_TRY(mst_model_sha256(t->model, t->sha256));
    if (t->folds && !is_interrupted(t)) {
        if (t->stopping.counted && !t->o->json) print_best(t);
        return train_folds_end(t, has_best_weights(t));
    }
    if (t->o->json) return write_done(t);
    print_summary(t);
    return MST_OK;
}

/* Writes the files if the worker that had to write them was lost after the end of training. */
static mst_status write_late(training *t) {
    training_end end;
    if (!t->o->elastic || t->writes || !mst_task_first_since(t->task)) return MST_OK;
    const bool has_note = t->o->checkpoint_dir && training_end_read(t->o->checkpoint_dir, &end);
    if (has_note && end.step == t->result.step && !t->o->save) return MST_OK; /* all was written */
    if (t->trained) MST_TRY(mst_store_restore(mst_model_store(t->model), t->trained));
    return write_files(t);
}

static int leave(training *t) {
    const int status = train_cluster_leave(t);
    return !status && write_late(t) ? command_fail_library(EXIT_FAILED, NULL) : status;
}

static int tell_ended(const training *t) {
    command_tell("worker:%d: the job has ended: '%s' has its last step; a greater --%s goes on",
                 mst_cluster_self(t->cluster), t->o->checkpoint_dir, t->o->steps ? "steps" : "epochs");
    return EXIT_DONE;
}

/* Prints the error. It is not a failure if the others had made all steps before this worker came or came back. */
static int tell_failure(const training *t) {
    if (!t->task || !mst_task_has_ended(t->task)) return command_fail_library(EXIT_FAILED, NULL);
    command_tell("%s", mst_error()->message);
    return EXIT_DONE;
}

/* What becomes of pixels, where weights of keras.applications are loaded, and neither an option nor the note of a
 * training says it. */
static void find_pixels(training *t, const option_list *list) {
    const char *file = t->o->load;
    const network_input *input = &t->ends.input[0];
    if (!file || option_given(list, "pixels") || option_given(list, "raw-pixels") || t->loaded.json) return;
    if (t->network == file && t->has_weights && !network_file_is_onnx(file))
        t->known_pixels = application_pixels_of(t->model, input);
    else if (t->network != file && (t->network || t->is_application))
        t->known_pixels = application_pixels_of_weights(file, t->o->model, t->network ? t->model : NULL, input);
}

/* Loads the network of a file, whose inputs and outputs decide how data is opened, and takes what is noted of it. */
static int load_network(training *t, train_options *o, option_list *list) {
    const int status = train_network_load(t, o);
    if (status) return status;
    if (loaded_note_take_data(t, o, list)) return command_fail_library(EXIT_FAILED, "load");
    find_pixels(t, list);
    return EXIT_DONE;
}

/* O, listed by LIST, are the options of T, which may still change. */
static int run_training(training *t, train_options *o, option_list *list) {
    if (signals_end_at_once()) return command_fail_library(EXIT_FAILED, NULL);
    if (loaded_note_take(t, o, list)) return command_fail_library(EXIT_FAILED, "load");
    /* Before the model is looked at, which may refuse the same options for reasons of its own. Data of the note of a
     * whole model is not known yet: train_data_open checks it. */
    const bool names_data = !o->load || option_given(list, "data") || option_given(list, "data-dir");
    if (names_data && data_options_check(list, t->data, o->text)) return command_fail_library(EXIT_FAILED, NULL);
    int status = train_network_find(t, o);
    if (!status) status = check_options(t);
    if (!status) status = train_cluster_find(t);
    if (!status) status = train_folds_check(t);
    if (!status && t->evaluates) {
        status = load_network(t, o, list);
        return status ? status : evaluator_run(t);
    }
    if (!status && train_cluster_is_server(t)) return train_cluster_serve(t);
    if (!status && train_checkpoint_has_ended(t)) return tell_ended(t);
    if (!status) status = load_network(t, o, list);
    if (!status) status = train_choose_devices(t);
    if (!status) status = open_data(t, o);
    if (!status) train_look_at_others(t);
    if (!status) status = train_cluster_open(t, o);
    if (!status) status = train_model_make(t);
    if (!status) status = train_checkpoint_check_monitor(t);
    if (!status && signals_catch()) status = command_fail_library(EXIT_FAILED, NULL);
    if (!status) status = train_network_check_save(t);
    if (!status) status = train_checkpoint_restore(t);
    if (status) return status;
    if (train(t)) return tell_failure(t);
    return is_interrupted(t) ? EXIT_SIGNAL + signals_caught() : leave(t);
}

/* The data spec, to be freed; NULL if memory is out. */
static char *data_spec(const train_options *o) {
    const char *where = o->data_dir ? o->data_dir : o->data;
    char *spec = malloc(strlen(where) + sizeof "idx:");
    if (spec) sprintf(spec, "%s%s", o->data_dir ? "idx:" : "", where);
    return spec;
}

/* One training; FOLDS: that of one fold, else NULL. */
static int run_once(const command_call *call, train_folds *folds) {
    train_options o = *(const train_options *)call->options;
    char *data = data_spec(&o);
    if (!data) return command_fail(EXIT_FAILED, "cannot get memory for the name of the data");
    training t = {
        .o = &o,
        .list = call->list,
        .data = data,
        .folds = folds,
        .events = {
            .json = o.json, .fold = folds ? folds->fold + 1 : 0, .every = o.log_every, .began = mst_clock_seconds()}};
    int status = run_training(&t, &o, call->list);
    (void)!mst_checkpoint_manager_close(t.checkpoints);   /* after an error, which has been told */
    if (t.history.stream) (void)fclose(t.history.stream); /* it was flushed */
    evaluate_free(&t.tested);
    mst_model_destroy(t.model);
    table_layers_free(&t.table);
    model_note_free(&t.loaded);
    train_cluster_close(&t);
    mst_dataset_release(t.test);
    mst_dataset_release(t.validation);
    mst_dataset_release(t.train);
    for (int i = 0; i < MST_MAX_TARGETS; i++) free(t.names[i]);
    free(t.label_columns);
    free(t.validation_spec);
    free(t.schema);
    for (int i = 0; i < MST_MAX_TARGETS; i++) free(t.class_weight[i]);
    name_map_free(&t.variables);
    free(t.device);
    free(t.devices);
    free(t.accelerators_problem);
    free(t.checkpoint);
    mst_snapshot_release(t.trained);
    free(data);
    return status;
}

static int run_folds(const command_call *call, const train_options *o) {
    const option_list *list = call->list;
    const size_t bytes = (size_t)list->count * sizeof *list->entry;
    train_folds folds = {.count = (int)o->folds};
    int status = EXIT_DONE;
    option_entry *given = malloc(bytes); /* a fold takes options from the note of --load, which it frees at its end */
    if (!given) return command_fail(EXIT_FAILED, "cannot get memory for the options");
    memcpy(given, list->entry, bytes);
    for (; folds.fold < folds.count && !status; folds.fold++) {
        status = run_once(call, &folds);
        memcpy(list->entry, given, bytes);
    }
    free(given);
    if (!status && train_folds_done(&folds, o->json)) status = command_fail_library(EXIT_FAILED, NULL);
    train_folds_free(&folds);
    return status;
}

static int train_run(const command_call *call) {
    const train_options *o = call->options;
    return o->folds ? run_folds(call, o) : run_once(call, NULL);
}

const command command_train = {
    .name = "train",
    .summary = "trains a model, over every core of this machine where nothing else is said",
    .usage = "[options]",
    .notes =
        "Option names can be written with dashes or underscores, --name value or --name=value; a flag is switched off "
        "by "
        "--no-name or --name=false.\n"
        "Ctrl-C ends training after the step, or while a step waits for a compiler, with the summary, and with a "
        "checkpoint where --checkpoint-dir is given; "
        "a "
        "second one ends at once.\n"
        "Exit status: 0 done, 1 failed, 2 the command line is wrong, 130 ended by Ctrl-C, 143 by SIGTERM, 129 by "
        "SIGHUP, 141 as the reader of its output left.\n \n"
        "muster train --data fashion-mnist --devices cpu:2 --epochs 10 --seed 1 --evaluate --json",
    .sections = train_sections,
    .options_size = sizeof(train_options),
    .run = train_run,
};
