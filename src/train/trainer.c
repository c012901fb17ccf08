/* Compiling a model, and running its steps on batches.
 *
 * mst_compile makes the trainer: graph, session, strategy, optimizer and objective. The graph is empty at first, since
 * dtype and shape of a row are only known from data. The training step, the evaluation step and the outputs for
 * prediction are each built when they are first needed, and share the variables. When the model is compiled again, the
 * store keeps the weights by name.
 *
 *      batch    rows 0 ... n - 1
 *      shard    0: the first part   1: the next ...     feed of shard s, component c: a function that copies these rows
 *
 * In a cluster a task trains the shards of its window only, and copies only their rows of the global batch. It
 * evaluates all shards itself, as all tasks do.
 *
 * A feed copies its rows straight from the batch to the memory of the step, on the thread of the shard's device. For
 * devices that compile the rows are in tensors already (train/step_batches.h). */
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "data/dataset.h"
#include "graph/field.h"
#include "loss/loss.h"
#include "muster/ops.h"
#include "run/session.h"
#include "store/store.h"
#include "strategy/strategy.h"
#include "task/task.h"
#include "train/position.h"
#include "train/resumed_shards.h"
#include "train/step_batches.h"
#include "train/trainer_data.h"
#include "train/trainer_objective.h"

/* ---- compile ---- */

static void destroy_step(mst_sharded_step *step) {
    for (int i = 0; i < step->num_fetches + step->num_confusions; i++) mst_tensor_release(step->output[i]);
    mst_tensor_release(step->divisor);
    free(step->placeholder);
    free(step->confusion);
    free(step->feed);
    free(step->rows);
    free(step->fetch);
    free(step->output);
    pthread_rwlock_destroy(&step->filling);
}

static void trainer_destroy(mst_trainer *trainer) {
    if (!trainer) return;
    mst_session_destroy(trainer->session);
    destroy_step(&trainer->train);
    destroy_step(&trainer->evaluate);
    mst_graph_destroy(trainer->graph);
    for (int i = 0; trainer->class_weight && i < trainer->num_outputs; i++)
        mst_tensor_release(trainer->class_weight[i]);
    free(trainer->class_weight);
    mst_arena_free(&trainer->names);
    if (trainer->cooperation->free) trainer->cooperation->free(trainer);
    free(trainer->row);
    free(trainer->target);
    free(trainer->num_classes);
    free(trainer->predict);
    free(trainer->devices);
    free(trainer);
}

/* Takes this task's part of the shards of all workers. */
static mst_status trainer_share(mst_trainer *trainer) {
    const mst_strategy *strategy = &trainer->strategy;
    const mst_task *task = trainer->options.task;
    const bool served = task && mst_task_servers(task);
    const mst_strategy_kind wanted = served ? MST_STRATEGY_PARAMETER_SERVER : MST_STRATEGY_MULTI_WORKER;
    if (!task && strategy->kind != MST_STRATEGY_MULTI_WORKER && strategy->kind != MST_STRATEGY_PARAMETER_SERVER)
        return MST_OK;
    if (!task)
        return MST_FAIL(MST_INVALID, "compile: the strategy %s needs a cluster: give the task (mst_task_open)",
                        mst_strategy_names[strategy->kind]);
    if (strategy->kind != wanted)
        return MST_FAIL(MST_INVALID,
                        "compile: a task of a cluster %s parameter servers trains with the strategy %s, not %s",
                        served ? "with" : "without", mst_strategy_names[wanted], mst_strategy_names[strategy->kind]);
    return MST_COOPERATE(trainer, share, trainer);
}

void mst_trainer_choose_devices(mst_trainer *trainer) {
    mst_strategy *strategy = &trainer->strategy;
    strategy->num_devices = strategy->kind == MST_STRATEGY_ONE ? 1 : mst_session_num_devices(trainer->session);
    while (trainer->options.task && strategy->num_shards_here % strategy->num_devices) strategy->num_devices--;
}

static mst_status trainer_make(mst_trainer *trainer) {
    if (!trainer->options.session.store) trainer->options.session.store = trainer->model->store;
    if (trainer->options.precision) trainer->options.session.precision = trainer->options.precision;
    MST_TRY(mst_graph_create(&trainer->graph));
    mst_graph_set_seed(trainer->graph, trainer->options.seed);
    if (trainer->options.session.target)
        return MST_FAIL(MST_INVALID,
                        "compile: session.target is for sessions of graphs; models train on the devices "
                        "of this process, and with others as tasks of a cluster (.task)");
    MST_TRY(mst_session_create(trainer->graph, &trainer->options.session, &trainer->session));
    mst_session_options *session = &trainer->options.session;
    /* these strings belong to the caller: not kept */
    session->devices = session->visible_devices = session->job_name = NULL;
    const int num_devices = mst_session_num_devices(trainer->session);
    trainer->devices = calloc((size_t)num_devices, sizeof *trainer->devices);
    if (!trainer->devices) return MST_NO_MEMORY("for a trainer");
    for (int i = 0; i < num_devices; i++) trainer->devices[i] = mst_session_device(trainer->session, i);
    trainer->strategy = trainer->options.strategy;
    trainer->strategy.devices = trainer->devices;
    trainer->strategy.num_devices = trainer->strategy.kind == MST_STRATEGY_ONE ? 1 : num_devices;
    MST_TRY(trainer_share(trainer));
    if (mst_keeps_shards(trainer)) mst_trainer_choose_devices(trainer);
    MST_TRY(mst_strategy_resolve(&trainer->strategy));
    if (!trainer->asked_shards) trainer->asked_shards = trainer->strategy.num_shards;
    trainer->rules = trainer->cooperation->rules ? trainer->cooperation->rules(trainer)
                                                 : (mst_cooperation_rules){.in_step = true, .decides = true};
    const mst_optimizer *o = &trainer->options.optimizer;
    trainer->optimizer = mst_optimizer_named(o->rule ? o->rule : "sgd", *o);
    MST_TRY(mst_optimizer_check(&trainer->optimizer));
    return mst_objective_make(trainer);
}

/* Makes the store of TRAINER the model's store. If it is the model's store already, and the model was compiled before,
 * clears all entries except the weights. */
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
        return MST_FAIL(
            MST_INVALID,
            "compile: the model is being trained by mst_fit: end that first; a callback ends it with state->stop");
    mst_trainer *trainer = calloc(1, sizeof *trainer);
    if (!trainer) return MST_NO_MEMORY("for a trainer");
    trainer->model = model;
    trainer->options = *options;
    trainer->cooperation = mst_cooperation_of(trainer);
    pthread_rwlock_init(&trainer->train.filling, NULL);
    pthread_rwlock_init(&trainer->evaluate.filling, NULL);
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

int mst_model_num_replicas(const mst_model *model) {
    if (MST_IS_NULL(model)) return 0;
    return model->trainer ? model->trainer->strategy.num_shards : 0;
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
    const int here = shard - step->strategy.first_shard;
    mst_value *values = &step->placeholder[here * trainer->num_components], outputs[MST_MAX_OUTPUTS],
              masks[MST_MAX_OUTPUTS];
    for (int c = 0; c < trainer->num_components; c++)
        values[c] = mst_trainer_placeholder(graph, &trainer->row[c], c < trainer->num_inputs ? "inputs" : "labels");
    mst_model_call_masked(trainer->model, values, trainer->num_inputs, step->training, outputs, masks,
                          trainer->num_outputs);
    mst_objective_build(trainer, values, outputs, masks, step->training, out);
    const int shards = mst_strategy_window(&step->strategy).count;
    for (int o = 0; o < trainer->num_outputs && !step->training; o++)
        step->confusion[o * shards + here] =
            mst_objective_confusion(trainer, o, values[trainer->num_inputs + o], outputs[o], masks[o]);
}

static mst_status make_arrays(mst_sharded_step *step, int shards) {
    const mst_trainer *trainer = step->trainer;
    const size_t num_feeds = (size_t)trainer->num_components * (size_t)shards;
    step->placeholder = calloc(num_feeds, sizeof *step->placeholder);
    step->confusion = calloc((size_t)shards * (size_t)trainer->num_outputs, sizeof *step->confusion);
    step->feed = calloc(num_feeds + 1, sizeof *step->feed);
    step->rows = calloc(num_feeds, sizeof *step->rows);
    /* 4: three that add_fetches adds to the sums in training, and one of mst_cooperation.add_fetches */
    const size_t most = MST_FETCH_METRICS + MST_NUM_SUMS(MST_MAX_METRICS) + 4 + (size_t)trainer->num_outputs;
    step->fetch = calloc(most, sizeof *step->fetch);
    step->output = calloc(most, sizeof *step->output);
    if (step->placeholder && step->confusion && step->feed && step->rows && step->fetch && step->output) return MST_OK;
    return MST_NO_MEMORY("for a step of %d shards", shards);
}

static mst_status fill_rows(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    const mst_rows *rows = context;
    const int64_t count = spec->shape.dim[0];
    mst_status status = MST_OK;
    pthread_rwlock_rdlock(&rows->step->filling);
    if (!rows->batch)
        status = MST_FAIL(MST_CANCELLED, "the step has been given up");
    else if (count)
        status = mst_batch_copy(rows->batch, rows->component, rows->first + first_row, count, dst);
    pthread_rwlock_unlock(&rows->step->filling);
    return status;
}

/* For a step whose update is made by parameter servers: adds fetches of the gradients, and the feed of their
 * divisor. */
static void add_gradients(mst_trainer *trainer, mst_sharded_step *step) {
    const mst_step_values *values = &step->values;
    const int count = values->num_gradients;
    if (count == 0) return;
    const size_t all = (size_t)step->num_fetches + (size_t)count;
    mst_value *fetch = realloc(step->fetch, all * sizeof *fetch);
    if (fetch) step->fetch = fetch;
    mst_tensor **output = realloc(step->output, all * sizeof *output);
    if (output) step->output = output;
    mst_status status = fetch && output ? MST_OK : MST_NO_MEMORY("for %d gradients", count);
    if (!status && step->strategy.synchronous)
        status = mst_tensor_create(mst_value_spec(values->divisor).dtype, MST_SCALAR, &step->divisor);
    if (status) {
        mst_graph_keep_error(trainer->graph);
        return;
    }
    memcpy(step->fetch + step->num_fetches, values->gradient, (size_t)count * sizeof *fetch);
    memset(step->output + step->num_fetches, 0, (size_t)count * sizeof *output);
    step->gradient = step->output + step->num_fetches;
    step->num_fetches += count;
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
        if (trainer->cooperation->add_fetches) trainer->cooperation->add_fetches(trainer, step);
        add_gradients(trainer, step);
        return;
    }
    for (int m = 0; m < trainer->num_metrics; m++) {
        step->fetch[step->num_fetches++] = values->metric_sum[m];
        step->fetch[step->num_fetches++] = values->metric_count[m];
    }
    for (int o = 0; o < trainer->num_outputs; o++) {
        const mst_value *confusion = step->confusion + o * mst_strategy_window(&step->strategy).count;
        if (mst_value_is_none(*confusion)) continue;
        step->confusion_at[o] = step->num_fetches + step->num_confusions++;
        mst_with_soft_device (trainer->graph, trainer->devices[0])
            mst_with_host (trainer->graph, mst_strategy_compiles(&trainer->strategy))
                step->fetch[step->confusion_at[o]] = mst_strategy_sum(&step->strategy, confusion);
    }
}

/* STRATEGY changed so that this task has all shards: tasks then do not wait for each other when they evaluate. */
static mst_strategy with_all_shards(mst_strategy strategy) {
    strategy.first_shard = strategy.num_shards_here = 0;
    strategy.synchronous = false;
    strategy.replicas_to_aggregate = 0;
    if (strategy.num_shards % strategy.num_devices) strategy.num_devices = 1;
    return strategy;
}

mst_status mst_trainer_build(mst_trainer *trainer, mst_sharded_step *step, bool training) {
    if (step->built) return MST_OK;
    step->trainer = trainer;
    step->training = training;
    step->strategy = training ? trainer->strategy : with_all_shards(trainer->strategy);
    if (!step->placeholder) MST_TRY(make_arrays(step, mst_strategy_window(&step->strategy).count));
    mst_strategy_build(trainer->graph, &step->strategy, training ? &trainer->optimizer : NULL, build_replica, step,
                       &step->values);
    add_fetches(trainer, step);
    MST_TRY(mst_graph_check(trainer->graph));
    for (int i = 0; i < trainer->num_components * mst_strategy_window(&step->strategy).count; i++) {
        step->feed[i] = (mst_feed){.value = step->placeholder[i],
                                   .fill = fill_rows,
                                   .context = &step->rows[i],
                                   .spec = mst_value_spec(step->placeholder[i])};
        step->rows[i].step = step;
        step->rows[i].component = i % trainer->num_components;
    }
    step->built = true;
    MST_TRY(mst_session_init_variables(trainer->session));
    return MST_COOPERATE(trainer, build, trainer, training);
}

static void empty_step(mst_sharded_step *step) {
    destroy_step(step);
    *step = (mst_sharded_step){.built = false};
    pthread_rwlock_init(&step->filling, NULL);
}

mst_status mst_trainer_empty_graph(mst_trainer *trainer) {
    mst_graph *graph;
    MST_TRY(mst_graph_create(&graph));
    mst_graph_set_seed(graph, mst_graph_seed(trainer->graph));
    empty_step(&trainer->train);
    empty_step(&trainer->evaluate);
    free(trainer->predict);
    trainer->predict = NULL;
    mst_session_change_graph(trainer->session, graph);
    mst_graph_destroy(trainer->graph);
    trainer->graph = graph;
    return MST_OK;
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

mst_shard_window mst_trainer_window(const mst_sharded_step *step) {
    return (mst_shard_window){mst_strategy_window(&step->strategy), step->strategy.num_shards};
}

mst_row_range mst_trainer_rows(const mst_sharded_step *step, int shard, int64_t size) {
    const mst_shard_window here = mst_trainer_window(step);
    const mst_shard_window one = {{here.shards.first + shard, 1}, here.num_shards};
    return mst_shard_window_rows(one, size);
}

/* Sets *OUT to the labels of OUTPUT in ROWS, the rows of SHARD. */
static mst_status get_labels(const mst_trainer *trainer, const mst_step_batch *batch, int shard, mst_row_range rows,
                             int output, mst_tensor **out) {
    const int c = trainer->num_inputs + output;
    if (batch->tensor) {
        *out = mst_tensor_retain(batch->tensor[trainer->num_components * shard + c]);
        return MST_OK;
    }
    mst_shape shape = mst_batch_shape(batch->rows, c);
    shape.dim[0] = rows.count;
    MST_TRY(mst_tensor_create(trainer->row[c].dtype, shape, out));
    const mst_status status = mst_batch_copy(batch->rows, c, rows.first, rows.count, mst_tensor_data(*out));
    if (status) mst_tensor_release(*out);
    return status;
}

/* Whether a label of OUTPUT in SHARD is not a class. If so, it becomes the calling thread's error. */
static bool find_wrong_label(const mst_sharded_step *step, const mst_step_batch *batch, int shard, int output) {
    const mst_trainer *trainer = step->trainer;
    const mst_row_range rows = mst_trainer_rows(step, shard, batch->size);
    const int64_t classes = trainer->num_classes[output];
    mst_tensor *labels;
    if (!rows.count || get_labels(trainer, batch, shard, rows, output, &labels)) return false;
    bool found = false;
    const double ignored = trainer->target[output].ignore_class;
    const int64_t positions = mst_tensor_count(labels) / rows.count;
    for (int64_t i = 0; i < mst_tensor_count(labels) && !found; i++) {
        const double label = mst_tensor_get(labels, i);
        const int64_t in_batch = rows.first + i / positions, row = mst_step_batch_row(step, batch, in_batch);
        found = !(label >= 0 && label < (double)classes && label == floor(label)) &&
                !(mst_number_given(ignored) && label == ignored);
        if (found)
            MST_FAIL(MST_INVALID, "label %.15g of row %lld of the %s is not one of the %lld classes, 0 to %lld", label,
                     (long long)(row < 0 ? in_batch : row), row < 0 ? "batch" : "data", (long long)classes,
                     (long long)classes - 1);
    }
    mst_tensor_release(labels);
    return found;
}

/* Names the row of the data that has a wrong label. The kernel that found it knows only the row within its shard. */
static mst_status explain(const mst_sharded_step *step, const mst_step_batch *batch, mst_status status) {
    mst_failure failure;
    if (status != MST_INVALID) return status;
    mst_failure_keep(&failure, status);
    for (int o = 0; o < step->trainer->num_outputs; o++)
        for (int s = 0; s < mst_trainer_window(step).shards.count && mst_objective_has_classes(step->trainer, o); s++)
            if (find_wrong_label(step, batch, s, o)) return mst_error_at(failure.node, failure.device);
    return mst_failure_restore(&failure);
}

/* Sets BATCH as the batch from which a run of STEP reads its rows. */
static void feed_rows(mst_sharded_step *step, const mst_batch *batch) {
    const mst_shard_window here = mst_trainer_window(step);
    const int components = step->trainer->num_components;
    pthread_rwlock_wrlock(&step->filling);
    for (int s = 0; s < here.shards.count; s++) {
        const mst_shard_window shard = {{here.shards.first + s, 1}, here.num_shards};
        const mst_row_range range = mst_shard_window_rows(shard, mst_batch_size(batch));
        for (int c = 0; c < components; c++) {
            mst_rows *rows = &step->rows[components * s + c];
            rows->batch = batch;
            rows->first = range.first;
            mst_feed *feed = &step->feed[components * s + c];
            feed->tensor = NULL;
            feed->fill = fill_rows;
            feed->spec.shape = mst_batch_shape(batch, c); /* with padded batches, lengths differ from batch to batch */
            feed->spec.shape.dim[0] = range.count;
            feed->grain = mst_batch_grain(batch, c);
        }
    }
    pthread_rwlock_unlock(&step->filling);
}

/* Feeds STEP the tensors of a batch that was taken ahead. */
static void feed_tensors(mst_sharded_step *step, mst_tensor *const *tensor) {
    for (int i = 0; i < step->trainer->num_components * mst_trainer_window(step).shards.count; i++) {
        step->feed[i].tensor = tensor[i];
        step->feed[i].fill = NULL;
    }
}

/* Ends the use of the batch by STEP. After a run that missed its deadline, a device may still copy rows: waits until no
 * device does, and prevents further copies. */
static void leave_batch(mst_sharded_step *step) {
    pthread_rwlock_wrlock(&step->filling);
    for (int i = 0; i < step->trainer->num_components * mst_trainer_window(step).shards.count; i++)
        step->rows[i].batch = NULL;
    pthread_rwlock_unlock(&step->filling);
}

mst_status mst_trainer_run(mst_sharded_step *step, const mst_step_batch *batch) {
    mst_trainer *trainer = step->trainer;
    if (batch->tensor)
        feed_tensors(step, batch->tensor);
    else
        feed_rows(step, batch->rows);
    int num_feeds = trainer->num_components * mst_trainer_window(step).shards.count;
    if (step->divisor) {
        mst_tensor_set(step->divisor, 0, (double)batch->size);
        step->feed[num_feeds++] = (mst_feed){.value = step->values.divisor, .tensor = step->divisor};
    }
    if (trainer->cooperation->feed) trainer->cooperation->feed(trainer, step, &num_feeds);
    const int num_fetches = step->num_fetches + (step->counts_confusion ? step->num_confusions : 0);
    const mst_status status =
        mst_session_run(trainer->session, step->feed, num_feeds, step->fetch, num_fetches, step->output);
    if (!status) return MST_OK;
    leave_batch(step);
    return explain(step, batch, status);
}
