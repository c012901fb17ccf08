/* The files that `muster train` saves and restores: checkpoints of the training in --checkpoint-dir, weights of another
 * model from --load, and the final model in --save.
 *
 * It restores the newest checkpoint of the folder, from which the training resumes. If there is none, it restores the
 * weights of --load, if given. Then the notes in the restored file are compared with the data and options of this
 * training, and replaced by its own notes. */
#include "cli/train/train_checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/ending.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/model/model_note.h"
#include "cli/model/network_file.h"
#include "cli/model/print_restored.h"
#include "cli/model/scale_inputs.h"
#include "cli/train/noted_options.h"
#include "cli/train/train_data.h"
#include "cli/train/train_mix.h"
#include "cli/train/training_end.h"
#include "model_file/huggingface/huggingface.h"
#include "model_file/keras/network_text.h"
#include "store/store.h"

/* ---- options ---- */

/* Reads an interval: "1000" is in steps, "30s" in seconds. */
static bool read_interval(const char *text, int64_t *steps, double *seconds) {
    char number[32];
    double value;
    const size_t size = strlen(text);
    if (size == 0 || size >= sizeof number) return false;
    const bool is_time = text[size - 1] == 's';
    snprintf(number, sizeof number, "%.*s", (int)(size - is_time), text);
    if (!mst_number_parse_f64(number, &value) || !(value > 0 && value <= 1e15)) return false;
    if (is_time)
        *seconds = value;
    else
        *steps = (int64_t)value;
    return is_time || (double)*steps == value;
}

static int check_file(const char *option, const char *path) {
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (!path || (dot && (strcmp(dot, ".safetensors") == 0 || strcmp(dot, ".npz") == 0))) return EXIT_DONE;
    if (dot && (strcmp(dot, ".keras") == 0 || strcmp(dot, ".h5") == 0 || strcmp(dot, ".json") == 0 ||
                strcmp(dot, ".onnx") == 0))
        return EXIT_DONE;
    if (mst_huggingface_is_named(path)) return EXIT_DONE;
    return command_fail(EXIT_USAGE,
                        "train: --%s %s: the name must end in .safetensors or .npz; of whole models in .keras, "
                        ".h5, .onnx or /, of parts of them in .weights.h5 or .json",
                        option, path);
}

static int check_save_optimizer(const train_options *o) {
    if (!o->save_optimizer) return EXIT_DONE;
    const char *path = o->save ? o->save : "";
    if (!mst_ends_in(path, ".safetensors") && !mst_ends_in(path, ".npz") && !mst_ends_in(path, ".weights.h5"))
        return command_fail(EXIT_USAGE,
                            "train: --save-optimizer is for weights, --save FILE.safetensors, FILE.npz or "
                            "FILE.weights.h5: whole models and checkpoints have the optimizer's state always");
    if (o->use_ema || o->sharded_state)
        return command_fail(EXIT_USAGE, "train: --save-optimizer does not go with --%s: leave one of them out",
                            o->use_ema ? "use-ema, whose averages have no such state" : "sharded-state, which cuts it");
    return EXIT_DONE;
}

static bool is_monitored(const train_options *o) {
    return o->patience || o->best || o->restore_best_weights || o->reduce_on_plateau;
}

int train_checkpoint_check(const training *t) {
    static const char *const need_folder[] = {"save-every", "keep", "keep-every-hours", "resume", "best"};
    const train_options *o = t->o;
    int64_t steps;
    double seconds;
    for (size_t i = 0; i < sizeof need_folder / sizeof *need_folder; i++)
        if (!o->checkpoint_dir && option_given(t->list, need_folder[i]))
            return command_fail(EXIT_USAGE, "train: --%s is for checkpoints: say --checkpoint-dir DIR too",
                                need_folder[i]);
    if (o->save_every && !read_interval(o->save_every, &steps, &seconds))
        return command_fail(EXIT_USAGE,
                            "train: --save-every %s: give a number of steps, such as 1000, or of seconds, "
                            "such as 60s",
                            o->save_every);
    if (option_given(t->list, "monitor") && !is_monitored(o))
        return command_fail(EXIT_USAGE,
                            "train: --monitor is for --patience N, --best, --restore-best-weights or "
                            "--reduce-on-plateau N: give one of them");
    static const char *const need_plateau[] = {"plateau-factor", "plateau-min-delta", "plateau-cooldown",
                                               "min-learning-rate"};
    for (size_t i = 0; i < sizeof need_plateau / sizeof *need_plateau; i++)
        if (!o->reduce_on_plateau && option_given(t->list, need_plateau[i]))
            return command_fail(EXIT_USAGE, "train: --%s is for --reduce-on-plateau N: give it too", need_plateau[i]);
    if (o->name_map && !o->load && !o->checkpoint_dir)
        return command_fail(EXIT_USAGE,
                            "train: --name-map is for --load FILE or --checkpoint-dir DIR: give one of them");
    if (check_file("save", o->save) || check_save_optimizer(o)) return EXIT_USAGE;
    const bool is_folder = mst_huggingface_is_named(o->save);
    if (o->save && (is_folder ? mst_huggingface_check_folder : mst_file_check)(o->save))
        return command_fail_library(EXIT_FAILED, "save");
    return EXIT_DONE;
}

/* The metric that --patience and --best use: --monitor, else the loss of the validation part, else that of training. */
static const char *monitor_of(const training *t) {
    if (t->o->monitor) return t->o->monitor;
    return t->validation ? "val_loss" : "loss";
}

int train_checkpoint_check_monitor(const training *t) {
    if (!is_monitored(t->o)) return EXIT_DONE;
    if (!mst_model_check_monitor(t->model, monitor_of(t), t->validation != NULL)) return EXIT_DONE;
    return command_fail_library(EXIT_USAGE, NULL);
}

/* ---- restoring ---- */

/* ANEW: the training starts from the beginning, and does not resume another one. */
static mst_status open_manager(training *t, bool anew) {
    const train_options *o = t->o;
    mst_checkpoint_options options = {.directory = o->checkpoint_dir,
                                      .keep = o->keep,
                                      .keep_every_hours = o->keep_every_hours,
                                      .anew = anew,
                                      .monitor = o->best ? monitor_of(t) : NULL};
    if (o->save_every) (void)read_interval(o->save_every, &options.every_steps, &options.every_seconds);
    MST_TRY(mst_checkpoint_manager_open(&options, &t->checkpoints));
    return training_end_remove(o->checkpoint_dir);
}

/* Restores the weights of --load into the model. */
static mst_status load(const training *t, mst_restored *restored) {
    const mst_restore_options options = {
        .kinds = 1u << MST_STATE_WEIGHT, .names = t->variables.name, .num_names = t->variables.count};
    return mst_checkpoint_restore(t->o->load, mst_model_store(t->model), &options, restored);
}

/* Restores by name the layers that are in the Keras file. */
static mst_status load_layers(const training *t, mst_restored *restored) {
    mst_loaded_layers loaded;
    MST_TRY(mst_model_load_layers(t->model, t->o->load, &loaded));
    *restored = (mst_restored){.path = strdup(t->o->load),
                               .count = loaded.count,
                               .missing = loaded.missing,
                               .left_over = loaded.left_over,
                               .damaged = strdup("")};
    return restored->path && restored->damaged ? MST_OK : MST_NO_MEMORY("for the name of a file");
}

/* Restores the newest checkpoint, with OPTIONS. If this process has no manager for the folder, another worker may be
 * writing to it, or it may not exist yet. */
static mst_status restore_with(const training *t, const mst_restore_options *options, mst_restored *restored) {
    mst_store *store = mst_model_store(t->model);
    struct stat info;
    if (t->checkpoints) return mst_checkpoint_manager_restore(t->checkpoints, store, options, restored);
    if (stat(t->o->checkpoint_dir, &info) && (errno == ENOENT || errno == ENOTDIR))
        return MST_FAIL(MST_NOT_FOUND,
                        "'%s': there is no checkpoint in it: give the folder that a training saved its checkpoints to",
                        t->o->checkpoint_dir);
    return mst_checkpoint_restore(t->o->checkpoint_dir, store, options, restored);
}

/* Restores the newest checkpoint of the folder by our own names, which all our checkpoints have. If they are not found,
 * restores it by the names of --name-map. */
static mst_status restore_newest(const training *t, mst_restored *restored) {
    const mst_restore_options options = {.names = t->variables.name, .num_names = t->variables.count};
    const mst_status status = restore_with(t, NULL, restored);
    if (status != MST_NOT_FOUND || !restored->path || !t->variables.count) return status;
    mst_restored_free(restored);
    return restore_with(t, &options, restored);
}

/* Fails since the shapes of weights differ, and tells that a change of the table may be the reason: its categories
 * decide the shapes. */
static mst_status fail_other_table(const training *t, const char *option) {
    return MST_FAIL(
        MST_INVALID, "%s; or '%s' has other columns or categories now than in that training: %s", mst_error()->message,
        t->data,
        strcmp(option, "load") == 0 ? "take the same data" : "take the same data, or begin anew with --no-resume");
}

static int finish_restore(const training *t, mst_status status, const char *option, mst_restored *restored) {
    if (status == MST_INVALID && t->table.num_columns) status = fail_other_table(t, option);
    if (!status) status = restored_show(restored, NULL, t->o->json, t->o->progress == MST_PROGRESS_NONE);
    const int code = status ? command_fail_library(EXIT_FAILED, option) : EXIT_DONE;
    mst_restored_free(restored);
    return code;
}

/* ---- what is noted of the model ---- */

static mst_status write_note(const training *t) {
    const bool several = t->num_objectives > 1, classes = !several && objective_has_classes(t->objective);
    json_t *options = noted_options(t->list), *outputs = several ? json_array() : NULL;
    if (!options) return MST_NO_MEMORY("for what is noted of the model");
    char *network = NULL;
    for (int i = 0; several && i < t->num_objectives; i++) {
        const objective *o = &t->objective[i];
        model_note_add_output(outputs, o->output, &(mst_output_loss){true, o->loss, o->from_probabilities, o->weight},
                              o->names);
    }
    const bool is_noted = t->network || t->is_application;
    mst_status status = is_noted ? mst_network_print(t->model, &network) : MST_OK;
    model_note note = {.loss = several ? NULL : mst_loss_name(train_mix_saved_loss(t)),
                       .outputs = outputs,
                       .data = t->data,
                       .network = network,
                       .from_probabilities = !several && t->objective->from_probabilities,
                       .schema = mst_dataset_schema(t->train),
                       .encodes_columns = t->table.num_columns > 0,
                       .classes = classes ? t->objective->names : NULL,
                       .image_size = t->o->image_size,
                       .raw_pixels = training_pixels(t) == PIXELS_RAW,
                       .options = options};
    if (!note.raw_pixels && training_pixels(t) != PIXELS_UNIT) note.pixels = pixels_choices[training_pixels(t)];
    for (int i = 0; i < training_num_inputs(t); i++)
        note.divides_pixels[i] =
            scale_inputs_divides(training_pixels(t), t->stored_inputs[i], t->network ? &t->ends.input[i] : NULL);
    if (!status) status = model_note_write(&note, mst_model_store(t->model));
    free(network);
    json_decref(options);
    json_decref(outputs);
    return status;
}

/* Sets *DIFFERS if the classes of output I had other names in the note OLD. */
static mst_status compare_names(const model_note *old, const training *t, int i, bool *differs) {
    const objective *o = &t->objective[i];
    class_names names = NULL;
    if (t->num_objectives > 1) MST_TRY(model_note_output_names(old, o->output, &names));
    const char *const *noted = t->num_objectives > 1 ? (const char *const *)names : old->classes;
    *differs |= objective_has_classes(o) && !class_names_agree(noted, o->names);
    free(names);
    return MST_OK;
}

/* Compares the note of the restored model with this training. With other classes, columns or categories, their numbers
 * would have another meaning than the one that the weights were trained for. */
static mst_status check_note(training *t) {
    model_note old;
    mst_status status = model_note_read(mst_model_store(t->model), &old);
    if (status) status = mst_error_prefix("'%s'", t->resumes ? t->o->checkpoint_dir : t->o->load);
    const char *schema = mst_dataset_schema(t->train);
    const bool renamed = t->schema && t->o->text && !t->resumes; /* the vocabulary stays the same */
    bool differs = old.schema && schema && !renamed && strcmp(old.schema, schema) != 0;
    for (int i = 0; i < t->num_objectives && !status; i++) status = compare_names(&old, t, i, &differs);
    if (!status && differs && t->resumes)
        status = MST_FAIL(MST_INVALID,
                          "the training in '%s' was begun with other columns, categories or classes than '%s' has now: "
                          "go on with the same data, or begin anew with --no-resume",
                          t->o->checkpoint_dir, t->data);
    else if (!status && differs)
        command_warn("'%s' was trained with other columns, categories or classes than '%s' has", t->o->load, t->data);
    if (!status && t->resumes) {
        noted_options_compare(old.options, t->list);
        t->new_rate = noted_option_differs(old.options, t->list, "learning-rate") ||
                      noted_option_differs(old.options, t->list, "optimizer"); /* each has its own default rate */
    }
    model_note_free(&old);
    return status;
}

int train_checkpoint_shards(const training *t) {
    int shards = 0;
    if (!t->o->checkpoint_dir || !t->o->resume) return 0;
    return mst_checkpoint_num_shards(t->o->checkpoint_dir, &shards) ? 0 : shards;
}

static int restore_any(training *t) {
    mst_restored restored = {.path = NULL};
    if (!t->o->checkpoint_dir && !t->o->load) return EXIT_DONE;
    if (name_map_read(t->o->name_map, &t->variables)) return command_fail_library(EXIT_FAILED, "name-map");
    if (t->o->checkpoint_dir && !t->o->elastic && open_manager(t, !t->o->resume))
        return command_fail_library(EXIT_FAILED, "checkpoint-dir");
    if (mst_build(t->model, t->train, true)) return command_fail_library(EXIT_FAILED, NULL);
    if (t->o->checkpoint_dir && t->o->resume) {
        const mst_status status = restore_newest(t, &restored);
        t->resumes = status == MST_OK;
        if (status != MST_NOT_FOUND || mst_error()->code != MST_NOT_FOUND || restored.path)
            return finish_restore(t, status, "checkpoint-dir", &restored);
        mst_restored_free(&restored);
    }
    const bool is_whole = t->network && t->network == t->o->load;
    if (!t->o->load || (is_whole && !t->has_weights)) return EXIT_DONE;
    mst_status status;
    if (is_whole)
        status = network_restored(t->o->load, t->model, &restored);
    else if (network_file_is(t->o->load))
        status = load_layers(t, &restored);
    else
        status = load(t, &restored);
    return finish_restore(t, status, "load", &restored);
}

int train_checkpoint_restore(training *t) {
    const int code = restore_any(t);
    if (code) return code;
    return check_note(t) || write_note(t) ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
}

/* ---- while training goes on, and after it ---- */

/* Replaces the learning rate of the checkpoint by the one that the user gave. This is only done if the option differs
 * from the noted one. Otherwise the rate of the checkpoint stays, which a callback may have set. */
static mst_status set_rate(void *context, mst_train_state *state) {
    const training *t = context;
    if (!mst_schedule_is_set(&t->optimizer.schedule)) state->learning_rate = t->optimizer.learning_rate;
    return MST_OK;
}

/* With --elastic: opens the folder when this worker becomes the first. */
static mst_status open_for_saves(void *context, const mst_train_state *state, mst_callback *work) {
    training *t = context;
    const mst_status status = open_manager(t, !t->o->resume && !state->resumed);
    if (status == MST_UNAVAILABLE && !state->resumed)
        return MST_FAIL(MST_EXISTS, "%s", mst_error()->message); /* another job has the folder */
    if (status == MST_UNAVAILABLE && !t->has_told && t->o->progress != MST_PROGRESS_NONE)
        command_tell("worker:%d: cannot save for now: %s", mst_cluster_self(t->cluster), mst_error()->message);
    t->has_told = status == MST_UNAVAILABLE;
    if (!status) *work = mst_checkpoint_callback(t->checkpoints);
    return status;
}

static mst_status close_saves(void *context) {
    training *t = context;
    mst_checkpoint_manager *manager = t->checkpoints;
    t->checkpoints = NULL;
    return mst_checkpoint_manager_close(manager);
}

static mst_callback stand_in_for_saves(training *t) {
    t->saves = (stand_in){.task = t->task, .open = open_for_saves, .close = close_saves, .context = t};
    return stand_in_callback(&t->saves);
}

/* Keeps the numbers of the epoch that early stopping has found best. */
static mst_status keep_best(void *context, mst_train_state *state) {
    training *t = context;
    if (t->stopping.counted && t->stopping.best_epoch == state->epoch) t->best = *state;
    return MST_OK;
}

int train_checkpoint_callbacks(training *t, mst_callback *callbacks, int count) {
    if (t->new_rate) callbacks[count++] = (mst_callback){.context = t, .train_begin = set_rate};
    if (t->o->patience || t->o->restore_best_weights) {
        t->stopping = (mst_early_stopping){.monitor = monitor_of(t),
                                           .patience = t->o->patience ? t->o->patience : INT64_MAX,
                                           .min_delta = t->o->min_delta,
                                           .restore_best_weights = t->o->restore_best_weights};
        callbacks[count++] = mst_early_stopping_callback(&t->stopping);
        callbacks[count++] = (mst_callback){.context = t, .epoch_end = keep_best};
    }
    if (t->o->reduce_on_plateau) {
        const double delta = t->o->plateau_min_delta;
        t->plateau = (mst_reduce_on_plateau){.monitor = monitor_of(t),
                                             .factor = t->o->plateau_factor,
                                             .patience = t->o->reduce_on_plateau,
                                             .min_delta = delta > 0 ? delta : MST_ZERO,
                                             .cooldown = t->o->plateau_cooldown,
                                             .min_learning_rate = t->o->min_learning_rate};
        callbacks[count++] = mst_reduce_on_plateau_callback(&t->plateau);
    }
    if (t->checkpoints)
        callbacks[count++] = mst_checkpoint_callback(t->checkpoints);
    else if (t->o->checkpoint_dir)
        callbacks[count++] = stand_in_for_saves(t);
    return count;
}

/* Opens the folder, and tries again for some seconds if another process has it. It does not wait longer, since a
 * stopped process may have the folder forever. */
static mst_status open_soon(training *t) {
    static const double SECONDS = 5;
    static const struct timespec PAUSE = {.tv_nsec = 50000000};
    const double begun = mst_clock_seconds();
    mst_status status;
    while ((status = open_manager(t, false)) == MST_UNAVAILABLE && mst_clock_seconds() < begun + SECONDS)
        nanosleep(&PAUSE, NULL);
    return status ? mst_error_prefix("the last state is not saved") : MST_OK;
}

mst_status train_checkpoint_last(training *t) {
    if (!t->o->checkpoint_dir || t->checkpoints) return MST_OK;
    MST_TRY(open_soon(t));
    const mst_callback saves = mst_checkpoint_callback(t->checkpoints);
    MST_TRY(saves.train_begin(saves.context, &(mst_train_state){.model = t->model, .resumed = true}));
    return saves.train_end(saves.context, &(mst_train_state){.model = t->model});
}

bool train_checkpoint_has_ended(const training *t) {
    const train_options *o = t->o;
    training_end end;
    if (!o->elastic || !o->checkpoint_dir || !o->resume || !training_end_read(o->checkpoint_dir, &end)) return false;
    return end.steps == o->steps && end.epochs == o->epochs && !end.stopped_early;
}

mst_status train_checkpoint_note_end(const training *t) {
    const train_options *o = t->o;
    if (!o->checkpoint_dir) return MST_OK;
    return training_end_write(
        o->checkpoint_dir,
        &(training_end){
            .step = t->result.step, .steps = o->steps, .epochs = o->epochs, .stopped_early = t->result.stopped});
}

/* Whether state of KIND goes to the file of --save: weights and averages, and with --save-optimizer the state that an
 * optimizer needs to resume. */
static bool is_saved(const train_options *o, mst_state_kind kind) {
    if (kind == MST_STATE_WEIGHT || kind == MST_STATE_AVERAGE) return true;
    return o->save_optimizer &&
           (kind == MST_STATE_SLOT || kind == MST_STATE_RULE || kind == MST_STATE_RATE || kind == MST_STATE_STEP);
}

/* Writes the weights, their averages and the note of the model to the file of --save. */
mst_status train_checkpoint_save(const training *t) {
    mst_snapshot *all, *model;
    if (!t->o->save) return MST_OK;
    MST_TRY(mst_store_snapshot(mst_model_store(t->model), &all));
    mst_status status = mst_snapshot_create(&model);
    for (int64_t i = 0; i < mst_snapshot_count(all) && !status; i++) {
        const mst_state_info info = mst_snapshot_info(all, i);
        if (is_saved(t->o, info.kind))
            status = mst_snapshot_add(model, info.container, info.name, info.kind, mst_snapshot_value(all, i));
    }
    const char *key;
    for (int64_t i = 0; !status && (key = mst_snapshot_note_key(all, i)); i++)
        if (strcmp(key, MST_NOTE_EXECUTABLES) != 0)
            status = mst_snapshot_set_note(model, key, mst_snapshot_note(all, key));
    if (!status) status = mst_checkpoint_write(t->o->save, model, NULL);
    mst_snapshot_release(model);
    mst_snapshot_release(all);
    return status;
}
