#include "cli/train/train_start.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_count.h"
#include "base/escape.h"
#include "cli/accelerators.h"
#include "cli/column_notes.h"
#include "cli/json_events.h"
#include "cli/left_out.h"
#include "cli/model/positive_class.h"
#include "cli/model/scale_inputs.h"
#include "cli/number_text.h"
#include "cli/precision.h"
#include "cli/train/train_data.h"
#include "cli/train/train_devices.h"
#include "cli/train/train_folds.h"

static int64_t num_parameters(const training *t) {
    mst_graph *graph = mst_model_graph(t->model);
    const int count = mst_collection(graph, MST_TRAINABLE, NULL, NULL, 0);
    mst_value *variable = calloc((size_t)count + 1, sizeof *variable);
    int64_t sum = 0;
    if (variable) mst_collection(graph, MST_TRAINABLE, NULL, variable, count);
    for (int i = 0; variable && i < count; i++) sum += mst_shape_count(mst_value_spec(variable[i]).shape);
    free(variable);
    return sum;
}

static const unsigned WEIGHTS_AND_SLOTS = 1u << MST_STATE_WEIGHT | 1u << MST_STATE_SLOT | 1u << MST_STATE_AVERAGE;

/* The bytes of the state that this task keeps, counting one copy of each entry. KINDS has the bits 1 << kind. */
static int64_t kept_bytes(const training *t, unsigned kinds) {
    mst_state_info *list = NULL;
    int64_t count = 0, bytes = 0;
    if (mst_store_list(mst_model_store(t->model), &list, &count)) return 0;
    for (int64_t i = 0; i < count; i++)
        if (kinds & 1u << list[i].kind) bytes += list[i].bytes;
    free(list);
    return bytes;
}

static void print_model(const training *t) {
    char text[NUMBER_TEXT], bytes[MST_BYTES_TEXT], shown[PATH_MAX];
    if (t->network || t->is_application) {
        const char *name = t->network ? t->network : t->o->model;
        printf("%s (%s parameters, ", mst_escape_line(name, strlen(name), shown, sizeof shown),
               number_text(num_parameters(t), text));
        printf("%s with the optimizer)", mst_bytes_print(kept_bytes(t, WEIGHTS_AND_SLOTS), bytes, sizeof bytes));
        return;
    }
    const int64_t columns = mst_shape_count(mst_dataset_spec(t->train, 0).shape);
    printf("mlp %" PRId64, t->table.num_columns ? table_layers_features(&t->table) : columns);
    for (int i = 0; i < t->o->hidden_units.count; i++) printf("-%" PRId64, t->o->hidden_units.value[i]);
    printf("-%" PRId64 " (%s parameters, ", t->objective->outputs, number_text(num_parameters(t), text));
    printf("%s with the optimizer)", mst_bytes_print(kept_bytes(t, WEIGHTS_AND_SLOTS), bytes, sizeof bytes));
}

static void print_optimizer(const training *t) {
    const mst_schedule *schedule = &t->optimizer.schedule;
    const bool scheduled = mst_schedule_is_set(schedule);
    printf("%s with learning rate %g", t->optimizer.rule,
           scheduled ? mst_schedule_at(schedule, 0) : t->optimizer.learning_rate);
    if (schedule->kind != MST_SCHEDULE_NONE) printf(" (%s)", mst_schedule_names[schedule->kind]);
    if (t->optimizer.gradient_accumulation_steps > 1)
        printf(", an update every %d steps", t->optimizer.gradient_accumulation_steps);
}

/* Prints " = 2 x 100", the number of workers and the batch of each, if all workers have the same. */
static void print_workers(const training *t) {
    const int workers = t->task ? mst_task_num_workers(t->task) : 1;
    if (workers > 1 && t->batch_size % workers == 0 && t->strategy.num_shards % workers == 0)
        printf(" = %d x %" PRId64, workers, t->batch_size / workers);
}

static void print_cluster(const training *t) {
    char text[256];
    if (t->cluster) printf("; %s", mst_cluster_print(t->cluster, text, sizeof text));
}

static void print_sharded(const training *t) {
    char text[NUMBER_TEXT];
    if (t->strategy.sharded_state)
        printf("; %s bytes of its state here", number_text(kept_bytes(t, 1u << MST_STATE_SLOT), text));
}

/* Prints how the first layers encode columns: ": 2 numbers standardized, 3 columns of categories one-hot as 20". */
static void print_columns(const training *t) {
    const table_layers *table = &t->table;
    const char *join = ": ";
    int64_t features;
    if (table->num_numbers) {
        printf("%s%" PRId64 " number%s standardized", join, table->num_numbers, table->num_numbers == 1 ? "" : "s");
        if (table->fill_missing) printf(", missing ones the mean");
        join = ", ";
    }
    for (int embedded = 0; embedded < 2; embedded++) {
        const int64_t count = table_layers_count(table, embedded, &features);
        if (!count) continue;
        printf("%s%" PRId64 " column%s of categories %s as %" PRId64, join, count, count == 1 ? "" : "s",
               embedded ? "embedded" : "one-hot", features);
        join = ", ";
    }
}

/* Warns if training is too short for the moving statistics of batch normalization. They begin as 0 and 1, and
 * evaluation uses them. With too few steps, the model is right on its training batches but wrong in evaluation. */
static void print_momentum(const training *t) {
    static const double MOST = 0.01, SETTLED = 0.001;
    const double momentum = mst_model_batch_norm_momentum(t->model), steps = (double)train_total_steps(t);
    const double initial = pow(momentum, steps); /* the weight of their initial values at the end */
    char wanted[NUMBER_TEXT];
    if (momentum <= 0 || t->o->load || steps < 0 || initial < MOST) return;
    printf(
        "note: after %.0f steps the moving statistics of batch normalization, with which a model is evaluated, are "
        "still %.0f %% their initial values: train for %s steps or more, or give a --batch-norm-momentum below %g\n",
        steps, 100 * initial, number_text((int64_t)ceil(log(SETTLED) / log(momentum)), wanted), momentum);
}

/* Prints whether labels were taken as classes or as numbers, if no --loss tells it and the choice may be wrong. */
static void print_labels(const training *t) {
    char text[NUMBER_TEXT];
    const char *different = number_text(t->labels.different, text), *loss = mst_loss_name(t->objective->loss);
    if (t->labels.are_numbers && t->labels.different)
        printf(
            ", labels of %s different numbers predicted by --loss %s (--loss sparse_categorical_crossentropy takes "
            "them for classes)",
            different, loss);
    else if (t->labels.are_numbers)
        printf(", labels predicted as numbers by --loss %s", loss);
    else if (t->labels.different)
        printf(", labels of %s classes (--loss mean_squared_error predicts them as numbers)", different);
}

static mst_precision precision_of(const training *t) {
    return precision_on(t->precision, t->device[0].name);
}

/* Prints that a training that is resumed keeps its number of shards, if one that begins would have another number. With
 * --elastic it is not known which of them this worker runs. */
static void print_kept(const training *t) {
    const int shards = t->strategy.num_shards, devices = t->strategy.num_devices;
    if (t->o->shards || shards == t->default_shards) return;
    printf("the checkpoint has %d %s kept", shards, shards == 1 ? "shard: it is" : "shards: they are");
    if (t->cluster && !t->o->elastic)
        printf(", and this worker runs %d of them on %d device%s", train_shards_here(t, shards), devices,
               devices == 1 ? "" : "s");
    else if (!t->cluster)
        printf(", and %s on %d device%s", shards == 1 ? "runs" : "run", devices, devices == 1 ? "" : "s");
    putchar('\n');
}

/* Prints "1 Physical GPU, 2 Logical GPUs" if the devices of device I's type, which is the first of them, are more than
 * the physical ones that they are on. */
static void print_logical(const training *t, int i) {
    int logical = 0, physical = 0;
    for (int k = 0; k < t->num_devices; k++) {
        if (t->device[k].physical < 0 || !accelerators_same_type(&t->device[i], &t->device[k])) continue;
        if (k < i) return;
        logical++;
        physical += accelerators_is_first(t->device, k);
    }
    if (logical == physical) return;
    const char *type = accelerators_short_name(&t->device[i]);
    const int length = (int)strcspn(type, ":");
    printf("%d Physical %.*s%s, %d Logical %.*ss\n", physical, length, type, physical == 1 ? "" : "s", logical, length,
           type);
}

/* The type of devices here that no test has run on, "gpu"; NULL: all have been tested. */
static const char *untested_type(const training *t) {
    const char *type = NULL;
    for (int i = 0; i < t->num_devices && !type; i++) type = accelerators_untested(t->device[i].name);
    return type;
}

static void print_start(const training *t) {
    char examples[NUMBER_TEXT], batch[NUMBER_TEXT], data[PATH_MAX];
    accelerators_print_untested(untested_type(t));
    print_model(t);
    printf(" on %s (%s examples", mst_escape_line(t->data, strlen(t->data), data, sizeof data),
           number_text(mst_dataset_num_rows(t->train), examples));
    left_out_print(t->train);
    print_columns(t);
    column_notes_print(mst_dataset_schema(t->train), ", ");
    printf(")");
    if (t->validation_spec)
        printf(", validated on %s", mst_escape_line(t->validation_spec, strlen(t->validation_spec), data, sizeof data));
    printf(", %s over %s, batch %s", mst_strategy_names[t->strategy.kind], t->devices,
           number_text(t->batch_size, batch));
    print_workers(t);
    printf(" in %d shard%s, ", t->strategy.num_shards, t->strategy.num_shards == 1 ? "" : "s");
    print_optimizer(t);
    if (option_given(t->list, "pixels") || training_knows_pixels(t))
        printf(", pixels %s", pixels_choices[training_pixels(t)]);
    if (training_knows_pixels(t)) printf(", as %s of keras.applications takes them", t->known_pixels.name);
    if (precision_of(t) != MST_FLOAT32) printf(", products in %s", mst_precision_names[precision_of(t)]);
    print_labels(t);
    positive_class_print(t->objective, t->num_objectives);
    print_sharded(t);
    print_cluster(t);
    putchar('\n');
    for (int i = 0; i < t->num_devices; i++) print_logical(t, i);
    print_kept(t);
    damaged_print(t->train, "");
    damaged_print(t->validation && t->o->validation_data ? t->validation : NULL, " of the validation part");
    damaged_print(t->test, " of the test part");
    if (t->idle_cores > 0) {
        const int cores = t->strategy.num_devices + t->idle_cores;
        printf("%d of %d cores stay idle: --shards %d --batch-size %" PRId64 " uses them, with other weights\n",
               t->idle_cores, cores, cores, t->batch_size / t->strategy.num_shards * cores);
    }
    if (t->cluster && t->strategy.num_devices < t->num_devices)
        printf("note: this worker uses %d of its %d devices, whose number must divide the number of its shards\n",
               t->strategy.num_devices, t->num_devices);
    precision_note(t->precision, t->device[0].name);
    print_momentum(t);
    if (t->others > 0)
        printf("note: %d other programs keep all cores busy: --devices cpu can be faster then, with the same weights\n",
               t->others);
    fflush(stdout);
}

static void add_columns(const training *t, json_t **event) {
    int64_t one_hot, embedded;
    if (!t->table.num_columns) return;
    const int64_t num_one_hot = table_layers_count(&t->table, false, &one_hot);
    const int64_t num_embedded = table_layers_count(&t->table, true, &embedded);
    json_add(event, "", "numbers_standardized", json_integer(t->table.num_numbers));
    json_add(event, "", "columns_one_hot", json_integer(num_one_hot));
    json_add(event, "", "columns_embedded", json_integer(num_embedded));
    json_add(event, "", "features", json_integer(table_layers_features(&t->table)));
}

static mst_status write_start(const training *t) {
    json_t *devices = json_array();
    for (int i = 0; i < t->strategy.num_devices; i++) json_array_append_new(devices, json_string(t->device[i].name));
    json_t *event = json_event("start");
    if (t->folds) json_add(&event, "", "fold", json_integer(t->folds->fold + 1));
    json_add(&event, "", "model", json_text(t->network ? t->network : t->o->model));
    json_add(&event, "", "parameters", json_integer(num_parameters(t)));
    json_add(&event, "", "parameter_bytes", json_integer(kept_bytes(t, WEIGHTS_AND_SLOTS)));
    json_add(&event, "", "data", json_text(t->data));
    json_add(&event, "", "examples", json_integer(mst_dataset_num_rows(t->train)));
    if (t->validation_spec) json_add(&event, "", "validation_data", json_text(t->validation_spec));
    damaged_add(t->train, &event);
    left_out_add(t->train, &event);
    add_columns(t, &event);
    column_notes_add(mst_dataset_schema(t->train), &event);
    json_add(&event, "", "strategy", json_string(mst_strategy_names[t->strategy.kind]));
    json_add(&event, "", "devices", devices);
    if (untested_type(t)) json_add(&event, "", "untested_devices", json_string(untested_type(t)));
    if (t->task) json_add(&event, "", "worker", json_integer(mst_task_worker(t->task)));
    if (t->task) json_add(&event, "", "workers", json_integer(mst_task_num_workers(t->task)));
    if (t->accelerators_problem) json_add(&event, "", "accelerators_error", json_text(t->accelerators_problem));
    json_add(&event, "", "idle_cores", json_integer(t->idle_cores));
    json_add(&event, "", "others_on_all_cores", json_integer(t->others));
    json_add(&event, "", "shards", json_integer(t->strategy.num_shards));
    json_add(&event, "", "batch_size", json_integer(t->batch_size));
    json_add(&event, "", "steps", json_integer(train_total_steps(t)));
    json_add(&event, "", "optimizer", json_string(t->optimizer.rule));
    if (t->strategy.sharded_state)
        json_add(&event, "", "slot_bytes", json_integer(kept_bytes(t, 1u << MST_STATE_SLOT)));
    json_add(&event, "", "learning_rate", json_number(t->optimizer.learning_rate));
    json_add(&event, "", "schedule", json_string(mst_schedule_names[t->optimizer.schedule.kind]));
    if (t->optimizer.gradient_accumulation_steps > 1)
        json_add(&event, "", "gradient_accumulation_steps", json_integer(t->optimizer.gradient_accumulation_steps));
    if (option_given(t->list, "pixels") || training_knows_pixels(t))
        json_add(&event, "", "pixels", json_string(pixels_choices[training_pixels(t)]));
    if (training_knows_pixels(t)) json_add(&event, "", "pixels_of", json_text(t->known_pixels.name));
    if (t->labels.are_numbers) json_add(&event, "", "chosen_loss", json_string(mst_loss_name(t->objective->loss)));
    positive_class_add(&event, t->objective, t->num_objectives);
    json_add(&event, "", "precision", json_string(mst_precision_names[precision_of(t)]));
    json_add(&event, "", "seed", json_integer((json_int_t)t->o->seed));
    return json_write(event);
}

mst_status train_show_start(const training *t) {
    const bool is_first = !t->folds || t->folds->fold == 0;
    if (t->o->summary && is_first) MST_TRY(mst_model_summary(t->model, NULL, t->o->json ? stderr : stdout));
    if (t->o->json) return write_start(t);
    if (t->o->progress != MST_PROGRESS_NONE && is_first) print_start(t);
    return MST_OK;
}
