/* Compiling a model, and running its steps on batches.
 *
 * mst_compile makes the trainer: graph, session, strategy, optimizer and objective. The graph is empty at first. The
 * step of training, the one of evaluation and the outputs for prediction are each built when they are first needed,
 * since only data says which dtype and shape a row has; they share the variables, which the store keeps by name over
 * a new compile.
 *
 *      batch    rows 0 ... n - 1
 *      shard    0: the first part   1: the next ...     feed of shard s, component c: a function that copies these rows
 *
 * A feed copies its rows straight from the batch to the memory of the step, on the thread of the shard's device. */
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "data/dataset.h"
#include "graph/spec.h"
#include "loss/loss.h"
#include "muster/ops.h"
#include "store/store.h"
#include "train/position.h"
#include "train/trainer_objective.h"

enum { BATCHES_AHEAD = 2 };

/* ---- compile ---- */

static void destroy_step(mst_sharded_step *step) {
    for (int i = 0; i < step->num_fetches; i++) mst_tensor_release(step->output[i]);
    free(step->placeholder);
    free(step->confusion);
    free(step->feed);
    free(step->rows);
    free(step->fetch);
    free(step->output);
}

static void trainer_destroy(mst_trainer *trainer) {
    if (!trainer) return;
    destroy_step(&trainer->train);
    destroy_step(&trainer->evaluate);
    mst_session_destroy(trainer->session);
    mst_graph_destroy(trainer->graph);
    mst_tensor_release(trainer->class_weight);
    mst_arena_free(&trainer->names);
    free(trainer->row);
    free(trainer->target);
    free(trainer->num_classes);
    free(trainer->predict);
    free(trainer->devices);
    free(trainer);
}

static mst_status trainer_make(mst_trainer *trainer) {
    if (!trainer->options.session.store) trainer->options.session.store = trainer->model->store;
    MST_TRY(mst_graph_create(&trainer->graph));
    mst_graph_set_seed(trainer->graph, trainer->options.seed);
    MST_TRY(mst_session_create(trainer->graph, &trainer->options.session, &trainer->session));
    trainer->options.session.devices = trainer->options.session.visible_devices =
        NULL; /* the strings are the caller's */
    trainer->strategy = trainer->options.strategy;
    trainer->strategy.num_devices =
        trainer->strategy.kind == MST_STRATEGY_ONE ? 1 : mst_session_num_devices(trainer->session);
    MST_TRY(mst_strategy_resolve(&trainer->strategy));
    trainer->devices = calloc((size_t)trainer->strategy.num_devices, sizeof *trainer->devices);
    if (!trainer->devices) return MST_NO_MEMORY("for a trainer");
    for (int i = 0; i < trainer->strategy.num_devices; i++)
        trainer->devices[i] = mst_session_device(trainer->session, i);
    trainer->strategy.devices = trainer->devices;
    const mst_optimizer *o = &trainer->options.optimizer;
    trainer->optimizer = mst_optimizer_named(o->rule ? o->rule : "sgd", *o);
    MST_TRY(mst_optimizer_check(&trainer->optimizer));
    return mst_objective_make(trainer);
}

/* Makes the store of TRAINER the model's. Where it was already, and the model was compiled before, all but the
 * weights is cleared. */
static mst_status take_store(mst_model *model, mst_trainer *trainer) {
    mst_store *store = trainer->options.session.store;
    if (store == model->store) return model->trainer ? mst_store_clear(store, ~(1u << MST_STATE_WEIGHT)) : MST_OK;
    mst_store_release(model->store);
    model->store = mst_store_retain(store);
    return MST_OK;
}

mst_status mst_compile_with(mst_model *model, const mst_compile_options *options) {
    if (MST_IS_NULL(model) || MST_IS_NULL(options)) return MST_INVALID;
    MST_TRY(mst_failure_restore(&model->failure));
    if (model->num_nodes == 0) return MST_FAIL(MST_INVALID, "compile: the model has no layers");
    if (model->in_fit)
        return MST_FAIL(MST_INVALID, "compile: the model is in a fit: end it first, by stop where a callback decides");
    mst_trainer *trainer = calloc(1, sizeof *trainer);
    if (!trainer) return MST_NO_MEMORY("for a trainer");
    trainer->model = model;
    trainer->options = *options;
    mst_status status = trainer_make(trainer);
    if (!status) status = take_store(model, trainer);
    if (status) {
        trainer_destroy(trainer);
        return status;
    }
    if (model->trainer) model->destroy_trainer(model->trainer);
    model->trainer = trainer;
    model->destroy_trainer = trainer_destroy;
    return MST_OK;
}

mst_status mst_trainer_of(mst_model *model, mst_trainer **out) {
    *out = model->trainer;
    return *out ? MST_OK : MST_FAIL(MST_INVALID, "the model is not compiled: call mst_compile first");
}

mst_graph *mst_model_graph(mst_model *model) {
    if (MST_IS_NULL(model)) return NULL;
    return model->trainer ? model->trainer->graph : NULL;
}

mst_store *mst_model_store(mst_model *model) {
    if (MST_IS_NULL(model)) return NULL;
    return model->store;
}

mst_session *mst_model_session(mst_model *model) {
    if (MST_IS_NULL(model)) return NULL;
    return model->trainer ? model->trainer->session : NULL;
}

/* ---- data ---- */

mst_status mst_trainer_check_data(mst_trainer *trainer, const mst_dataset *data, bool with_labels, int64_t batch_size) {
    if (!data) return MST_FAIL(MST_INVALID, "no data");
    const int needed = with_labels ? trainer->num_components : trainer->num_inputs;
    const int have_components = mst_dataset_num_components(data);
    char name[160];
    if (have_components < needed)
        return MST_FAIL(MST_INVALID, "the data has %d component%s, needs %d: %s are missing", have_components,
                        have_components == 1 ? "" : "s", needed,
                        mst_objective_component(trainer, have_components, name));
    int64_t rows = mst_dataset_num_rows(data);
    bool batched = data->batch_size > 0;
    if (batched && batch_size != 0 && batch_size != data->batch_size)
        return MST_FAIL(MST_INVALID, "batch size %lld, but the data comes in batches of %lld: leave the batch size 0",
                        (long long)batch_size, (long long)data->batch_size);
    if (!batched && batch_size < 1)
        return MST_FAIL(MST_INVALID, "batch size %lld, must be at least 1", (long long)batch_size);
    if (rows == 0) return MST_FAIL(MST_INVALID, "the data has no rows: there is nothing to compute with");
    for (int i = 0; i < needed; i++) {
        mst_spec spec = data->row[i];
        char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
        const char *what = mst_objective_component(trainer, i, name);
        if (spec.dtype == MST_STRING)
            return MST_FAIL(MST_INVALID, "%s are strings: make numbers of them (mst_dataset_map)", what);
        MST_TRY(mst_dataset_want_values(data, i, what));
        if (!trainer->row[i].dtype) {
            trainer->row[i] = spec;
            if (i < trainer->num_inputs) mst_model_learn_input(trainer->model, i, spec);
        }
        if (!mst_spec_equal(&trainer->row[i], &spec))
            return MST_FAIL(MST_INVALID, "%s are %s, the model was built for %s", what,
                            mst_spec_print(&spec, have, sizeof have),
                            mst_spec_print(&trainer->row[i], want, sizeof want));
    }
    return MST_OK;
}

mst_status mst_trainer_check_end(const mst_dataset *data) {
    if (mst_dataset_num_rows(data) == MST_INFINITE)
        return MST_FAIL(MST_INVALID, "the data has no end: take so many rows of it (mst_dataset_take)");
    return MST_OK;
}

mst_status mst_trainer_read_ahead(mst_dataset **batches) {
    mst_dataset *ahead;
    if (!mst_dataset_makes_rows(*batches)) return MST_OK;
    MST_TRY(mst_dataset_prefetch(*batches, BATCHES_AHEAD, &ahead));
    mst_dataset_release(*batches);
    *batches = ahead;
    return MST_OK;
}

mst_status mst_trainer_pass(const mst_dataset *data, int64_t batch_size, mst_iterator **out) {
    mst_dataset *batches = (mst_dataset *)(uintptr_t)data;
    *out = NULL;
    MST_TRY(mst_trainer_check_end(data));
    if (data->batch_size) return mst_iterator_create(batches, 0, out);
    MST_TRY(mst_dataset_batch(batches, batch_size, false, &batches));
    mst_status status = mst_trainer_read_ahead(&batches);
    if (!status) status = mst_iterator_create(batches, 0, out);
    mst_dataset_release(batches);
    return status;
}

/* ---- graph ---- */

mst_value mst_trainer_placeholder(mst_graph *graph, const mst_spec *row, const char *name) {
    mst_shape shape = {.ndim = row->shape.ndim + 1, .dim = {-1}};
    for (int i = 0; i < row->shape.ndim; i++) shape.dim[i + 1] = row->shape.dim[i];
    return mst_placeholder(graph, row->dtype, shape, name);
}

static void build_replica(void *context, mst_graph *graph, int shard, mst_replica *out) {
    mst_sharded_step *step = context;
    mst_trainer *trainer = step->trainer;
    mst_value *values = &step->placeholder[shard * trainer->num_components], outputs[MST_MAX_OUTPUTS];
    for (int c = 0; c < trainer->num_components; c++)
        values[c] = mst_trainer_placeholder(graph, &trainer->row[c], c < trainer->num_inputs ? "inputs" : "labels");
    mst_model_call_all(trainer->model, values, trainer->num_inputs, step->training, outputs, trainer->num_outputs);
    mst_objective_build(trainer, values, outputs, step->training, out);
    if (!step->training)
        step->confusion[shard] = mst_objective_confusion(trainer, values[trainer->num_inputs], outputs[0]);
}

static mst_status make_arrays(mst_sharded_step *step, int shards, int num_components) {
    const size_t num_feeds = (size_t)num_components * (size_t)shards;
    step->placeholder = calloc(num_feeds, sizeof *step->placeholder);
    step->confusion = calloc((size_t)shards, sizeof *step->confusion);
    step->feed = calloc(num_feeds, sizeof *step->feed);
    step->rows = calloc(num_feeds, sizeof *step->rows);
    size_t most = MST_FETCH_METRICS + MST_NUM_SUMS(MST_MAX_METRICS) + 3;
    step->fetch = calloc(most, sizeof *step->fetch);
    step->output = calloc(most, sizeof *step->output);
    if (step->placeholder && step->confusion && step->feed && step->rows && step->fetch && step->output) return MST_OK;
    return MST_NO_MEMORY("for a step of %d shards", shards);
}

static mst_status fill_rows(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    const mst_rows *rows = context;
    const int64_t count = spec->shape.dim[0];
    return count ? mst_batch_copy(rows->batch, rows->component, rows->first + first_row, count, dst) : MST_OK;
}

static void add_fetches(mst_trainer *trainer, mst_sharded_step *step) {
    const mst_step_values *values = &step->values;
    step->fetch[MST_FETCH_LOSS] = values->loss;
    step->fetch[MST_FETCH_COUNT] = values->num_examples;
    step->num_fetches = MST_FETCH_METRICS;
    if (step->training) {
        const mst_value counted = mst_position_build(trainer, step);
        step->fetch[step->num_fetches++] = values->global_step;
        step->fetch[step->num_fetches++] = values->train;
        step->fetch[step->num_fetches++] = counted;
        return;
    }
    for (int m = 0; m < trainer->num_metrics; m++) {
        step->fetch[step->num_fetches++] = values->metric_sum[m];
        step->fetch[step->num_fetches++] = values->metric_count[m];
    }
    if (mst_value_is_none(step->confusion[0])) return;
    mst_with_device (trainer->graph, trainer->devices[0])
        step->total_confusion = mst_add_n(step->confusion, trainer->strategy.num_shards);
    step->fetch[step->num_fetches++] = step->total_confusion;
}

mst_status mst_trainer_build(mst_trainer *trainer, mst_sharded_step *step, bool training) {
    if (step->built) return MST_OK;
    if (!step->placeholder) MST_TRY(make_arrays(step, trainer->strategy.num_shards, trainer->num_components));
    step->trainer = trainer;
    step->training = training;
    mst_strategy_build(trainer->graph, &trainer->strategy, training ? &trainer->optimizer : NULL, build_replica, step,
                       &step->values);
    add_fetches(trainer, step);
    MST_TRY(mst_graph_check(trainer->graph));
    for (int i = 0; i < trainer->num_components * trainer->strategy.num_shards; i++) {
        step->feed[i] = (mst_feed){.value = step->placeholder[i],
                                   .fill = fill_rows,
                                   .context = &step->rows[i],
                                   .spec = mst_value_spec(step->placeholder[i])};
        step->rows[i].component = i % trainer->num_components;
    }
    step->built = true;
    return mst_session_init_variables(trainer->session);
}

mst_status mst_build(mst_model *model, const mst_dataset *data, bool training) {
    if (MST_IS_NULL(model) || MST_IS_NULL(data)) return MST_INVALID;
    mst_trainer *trainer;
    MST_TRY(mst_trainer_of(model, &trainer));
    const bool labels = training || mst_dataset_num_components(data) > trainer->num_inputs;
    MST_TRY(mst_trainer_check_data(trainer, data, labels, data->batch_size ? 0 : 1));
    if (!labels) return mst_trainer_build_predict(trainer);
    return mst_trainer_build(trainer, training ? &trainer->train : &trainer->evaluate, training);
}

/* ---- run ---- */

/* True where a label of OUTPUT in the batch is no class; it is then the calling thread's error. */
static bool find_wrong_label(const mst_trainer *trainer, const mst_batch *batch, int output) {
    const int64_t size = mst_batch_size(batch), classes = trainer->num_classes[output];
    mst_tensor *labels;
    if (!mst_objective_has_classes(trainer, output) || mst_batch_tensor(batch, trainer->num_inputs + output, &labels))
        return false;
    bool found = false;
    for (int64_t i = 0; i < size && mst_tensor_count(labels) == size && !found; i++) {
        const double label = mst_tensor_get(labels, i);
        const int64_t row = mst_batch_row(batch, i);
        found = !(label >= 0 && label < (double)classes && label == floor(label));
        if (found)
            MST_FAIL(MST_INVALID, "label %.15g of row %lld of the %s is not one of the %lld classes, 0 to %lld", label,
                     (long long)(row < 0 ? i : row), row < 0 ? "batch" : "data", (long long)classes,
                     (long long)classes - 1);
    }
    mst_tensor_release(labels);
    return found;
}

/* A kernel sees the rows of its shard only: names the row of the data that has a wrong label. */
static mst_status explain(const mst_trainer *trainer, const mst_batch *batch, mst_status status) {
    mst_failure failure;
    if (status != MST_INVALID) return status;
    mst_failure_keep(&failure, status);
    for (int o = 0; o < trainer->num_outputs; o++)
        if (find_wrong_label(trainer, batch, o)) return mst_error_at(failure.node, failure.device);
    return mst_failure_restore(&failure);
}

mst_status mst_trainer_run(mst_sharded_step *step, const mst_batch *batch) {
    mst_trainer *trainer = step->trainer;
    const int shards = trainer->strategy.num_shards, components = trainer->num_components;
    int64_t size = mst_batch_size(batch), first = 0;
    for (int s = 0; s < shards; s++) {
        int64_t count = size / shards + (s < size % shards);
        for (int c = 0; c < components; c++) {
            mst_rows *rows = &step->rows[components * s + c];
            rows->batch = batch;
            rows->first = first;
            mst_feed *feed = &step->feed[components * s + c];
            feed->spec.shape = mst_batch_shape(batch, c); /* lengths differ from one padded batch to the next */
            feed->spec.shape.dim[0] = count;
            feed->grain = mst_batch_grain(batch, c);
        }
        first += count;
    }
    const mst_status status = mst_session_run(trainer->session, step->feed, components * shards, step->fetch,
                                              step->num_fetches, step->output);
    return status ? explain(trainer, batch, status) : MST_OK;
}
