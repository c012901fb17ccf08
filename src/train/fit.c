/* mst_fit: epochs of steps, with callbacks between them.
 *
 *      prepare      check the data, build the step, find the position, make batches
 *      epoch        callbacks, batches from the position on, validation, history, callbacks
 *      step         run, read its results, check that the loss is finite, callbacks
 *
 * The position of training (epoch, batch, running sums) is state in the store, and is counted by the step itself
 * (position.c). A fit can therefore be resumed from a checkpoint of any step, and the sums of the epoch go on. At the
 * end of an epoch the position moves to the next epoch only after the callbacks. A fit that is resumed from a state
 * before that calls them again. Each callback's train_end is called even if training failed.
 *
 * In a cluster a step happens on all workers or on none. A worker that was cut off before it knew that a step happened
 * gets the state of the others (recover). If the others have already ended the epoch, this worker's callbacks are
 * called with the epoch's row in that state (ended_epoch.h). Each worker's callbacks therefore see each epoch end
 * once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "data/dataset.h"
#include "run/session.h"
#include "store/store.h"
#include "task/task.h"
#include "train/ended_epoch.h"
#include "train/fit_run.h"
#include "train/history.h"
#include "train/replica_check.h"
#include "train/resumed_shards.h"
#include "train/step_batches.h"
#include "train/trainer_data.h"
#include "train/trainer_objective.h"

enum { DEFAULT_BATCH_SIZE = 32, SHUFFLE_BUFFER = 10000 };

static double ratio(double sum, double count) {
    return count > 0 ? sum / count : 0;
}

typedef mst_fit_run fit;

typedef mst_status (*hook)(void *context, mst_train_state *state);

/* Sets a callback's new learning rate. As in Keras, it is rounded to f32, and the rounded value is used from now on: a
 * worker that comes back, or a training that is resumed, only has that value. */
static mst_status set_learning_rate(fit *f) {
    mst_value variable = f->trainer->train.values.learning_rate;
    if (mst_schedule_is_set(&f->trainer->optimizer.schedule))
        return MST_FAIL(MST_INVALID, "fit: a callback sets the learning rate, but the optimizer has a schedule");
    if (f->trainer->cooperation->set_rate) return f->trainer->cooperation->set_rate(f);
    mst_tensor *value;
    MST_TRY(mst_tensor_create(MST_F32, MST_SCALAR, &value));
    mst_tensor_set(value, 0, f->state.learning_rate);
    f->state.learning_rate = mst_tensor_get(value, 0);
    mst_status status = mst_session_set_variable(f->trainer->session, variable, value);
    mst_tensor_release(value);
    return status;
}

static mst_status call_each(fit *f, size_t offset) {
    for (int i = 0; i < f->num_callbacks; i++) {
        hook function;
        memcpy(&function, (const char *)&f->callbacks[i] + offset, sizeof function);
        const uint64_t errors = mst_error_count();
        if (function) MST_TRY(mst_error_complete(function(f->callbacks[i].context, &f->state), errors));
    }
    return MST_OK;
}

static mst_status call(fit *f, size_t offset) {
    const double learning_rate = f->state.learning_rate;
    MST_TRY(call_each(f, offset));
    return f->state.learning_rate == learning_rate ? MST_OK : set_learning_rate(f);
}
#define CALL(f, name) call((f), offsetof(mst_callback, name))

static mst_status bad_loss(const fit *f, double loss) {
    if (isnan(loss)) loss = NAN; /* a NaN without a sign, which would be printed */
    if (!f->any_step)
        return MST_FAIL(MST_NUMERICS,
                        "the loss is %g at the first step: check the data, or run with .check_numerics of the "
                        "session's options (muster train --check-numerics) to find the node that makes it",
                        loss);
    return MST_FAIL(MST_NUMERICS,
                    "the loss is %g at step %lld (epoch %lld); the last good one was %g at step %lld: lower "
                    "the learning rate, or run with .check_numerics of the session's options (muster train "
                    "--check-numerics) to find the node that makes it",
                    loss, (long long)f->state.step, (long long)f->state.epoch + 1, f->last_good_loss,
                    (long long)f->state.step - 1);
}

/* Reads the results of the step, see MST_FETCH_METRICS. */
static void read_step(fit *f) {
    mst_tensor *const *output = f->trainer->train.output;
    const int num_sums = MST_NUM_SUMS(f->state.num_metrics);
    if (!f->trainer->rules.counts_others) mst_epoch_sums_take(&f->sums, output + MST_FETCH_METRICS, &f->state);
    f->state.step_loss = mst_tensor_get(output[MST_FETCH_LOSS], 0);
    f->state.step = (int64_t)mst_tensor_get(output[MST_FETCH_METRICS + num_sums], 0) + 1;
    f->state.step_in_epoch++;
}

static void update_state(fit *f, double now) {
    mst_train_state *s = &f->state;
    s->step_seconds = now - f->last_step_end;
    s->seconds = now - f->began;
    s->examples_per_sec = ratio((double)f->timed_examples, now - f->first_step_end);
    if (mst_schedule_is_set(&f->trainer->optimizer.schedule))
        s->learning_rate = mst_schedule_at(&f->trainer->optimizer.schedule, s->step);
}

int64_t mst_fit_rows_here(const fit *f, int64_t size) {
    return mst_shard_window_rows(mst_trainer_window(&f->trainer->train), size).count;
}

/* Call it after each change of the state: counts the change in the position, and tells the other tasks. */
static void committed(fit *f) {
    f->position.number++;
    if (f->trainer->cooperation->committed) f->trainer->cooperation->committed(f);
}

static mst_status note_executables(fit *f) {
    const mst_task *task = f->trainer->options.task;
    FILE *warnings = !task || mst_task_is_chief(task) ? f->options->progress : NULL;
    return mst_noted_executables_step(&f->executables, f->trainer->model->store, f->resumes, warnings);
}

/* STATUS is the status of a run of the session. If the run has ended because `stop` of the session's options says so,
 * ends the training as if a callback had asked for it. */
static mst_status take_stop(fit *f, mst_status status) {
    const mst_session_options *o = &f->trainer->options.session;
    if (status == MST_CANCELLED && o->stop && o->stop(o->stop_context)) f->state.stop = true;
    return status;
}

/* Notes in the status, which `muster top` shows, which devices train and their memory in use; at most once a second. */
static void tell_devices(fit *f, double now) {
    if (!f->status || now < f->told_devices + 1) return;
    f->told_devices = now;
    mst_task_status_devices(f->status, mst_session_print_devices(f->trainer->session));
}

static mst_status run_step(fit *f, const mst_step_batch *batch) {
    MST_TRY(MST_COOPERATE(f->trainer, before_step, f));
    MST_TRY(take_stop(f, mst_trainer_run(&f->trainer->train, batch)));
    read_step(f);
    double now = mst_clock_seconds();
    MST_TRY(MST_COOPERATE(f->trainer, after_step, f, batch->size));
    committed(f);
    if (!isfinite(f->state.step_loss)) return bad_loss(f, f->state.step_loss);
    f->last_good_loss = f->state.step_loss;
    MST_TRY(note_executables(f));
    MST_TRY(MST_COOPERATE(f->trainer, before_step_end, f));
    if (f->any_step)
        f->timed_examples += batch->size;
    else
        f->first_step_end = now;
    f->any_step = true;
    if (f->options->check_replicas > 0 && f->state.step % f->options->check_replicas == 0)
        MST_TRY(mst_replicas_check(f->trainer, f->state.step));
    mst_task_status_step(f->status, f->state.step, mst_fit_rows_here(f, batch->size));
    tell_devices(f, now);
    update_state(f, now);
    f->last_step_end = now;
    return CALL(f, step_end);
}

/* Batch size of validation. 0: batched data keeps its batches. Otherwise the training batch size, or the number of rows
 * if that is smaller. */
static int64_t validation_batch_size(const fit *f) {
    int64_t rows = mst_dataset_num_rows(f->validation);
    if (f->validation->batch_size) return 0;
    return rows > 0 && rows < f->batch_size ? rows : f->batch_size;
}

static int64_t validation_steps(const fit *f) {
    if (!f->validation) return 0;
    const int64_t size = validation_batch_size(f);
    const int64_t rows = size ? mst_dataset_num_rows(f->validation) : mst_dataset_cardinality(f->validation);
    if (rows < 0) return -1;
    return size ? (rows + size - 1) / size : rows;
}

static mst_status validate(fit *f) {
    if (!f->validation) return MST_OK;
    mst_result result;
    MST_TRY(MST_COOPERATE(f->trainer, before_evaluation, f->trainer));
    mst_task_status_set(f->status, MST_TASK_VALIDATES);
    MST_TRY(take_stop(f, mst_evaluate(f->trainer->model, f->validation, validation_batch_size(f), &result, NULL)));
    mst_task_status_set(f->status, MST_TASK_TRAINS);
    f->state.has_validation = true;
    f->state.validation_loss = result.loss;
    memcpy(f->state.validation_metric, result.metric, sizeof result.metric);
    return MST_OK;
}

/* Whether to make a step with BATCH. */
static bool takes_part(const fit *f, const mst_step_batch *batch) {
    const mst_cooperation *cooperation = f->trainer->cooperation;
    return !cooperation->takes_part || cooperation->takes_part(f, batch->size);
}

static mst_status leave_out(fit *f) {
    f->state.step_in_epoch++;
    return MST_OK;
}

/* The next batch; NULL after the last one. */
static mst_status next_batch(fit *f, mst_step_batches *batches, const mst_step_batch **out) {
    mst_stopwatch *watch = f->status ? &f->status->data : NULL;
    const double began = mst_clock_seconds();
    mst_stopwatch_start(watch);
    const mst_status status = mst_step_batches_next(batches, out);
    mst_stopwatch_stop(watch);
    if (f->any_step) f->waited_for_data += mst_clock_seconds() - began;
    return status;
}

/* Call it after the loop over batches. Whether one more batch must be read because a callback has stopped this worker
 * in an epoch of unknown length: the workers must know whether the last step also ended the epoch. False for a process
 * that must end: it counts as lost. */
static bool must_look_behind_stop(const fit *f) {
    return f->state.stop && !f->told_to_stop && f->state.steps_per_epoch == MST_UNKNOWN_CARDINALITY &&
           (f->state.num_steps < 0 || f->state.step < f->state.num_steps) &&
           MST_COOPERATION_SAYS(f->trainer, stops_together, f->trainer);
}

/* Trains on batches until the epoch ends (*DONE is true), or the training ends. */
static mst_status run_batches(fit *f, mst_step_batches *batches, bool *done) {
    const mst_train_state *s = &f->state;
    *done = s->step_in_epoch == s->steps_per_epoch;
    while (!*done && !s->stop && (s->num_steps < 0 || s->step < s->num_steps)) {
        const mst_step_batch *batch;
        MST_TRY(next_batch(f, batches, &batch));
        if (batch) MST_TRY(takes_part(f, batch) ? run_step(f, batch) : leave_out(f));
        *done = !batch || s->step_in_epoch == s->steps_per_epoch;
    }
    if (!*done && must_look_behind_stop(f)) {
        const mst_step_batch *batch; /* an error of reading it is ignored, since training ends here */
        if (next_batch(f, batches, &batch) == MST_OK) *done = !batch;
    }
    return MST_OK;
}

mst_status mst_fit_store_position(fit *f, const mst_train_state *ended) {
    f->position.learning_rate = f->state.learning_rate;
    MST_TRY(mst_position_begin_epoch(f->trainer, &f->position, ended));
    committed(f);
    return MST_OK;
}

/* Begins with the batch of the position. */
static mst_status begin_batches(const fit *f, mst_step_batches **out) {
    mst_iterator *iterator;
    const mst_sharded_step *step = &f->trainer->train;
    MST_TRY(mst_iterator_create_window(f->batches, f->position.epoch, mst_trainer_window(step), &iterator));
    const mst_status status = mst_iterator_skip(iterator, f->position.batch);
    if (!status) return mst_step_batches_create(step, iterator, out);
    mst_iterator_destroy(iterator);
    return status;
}

/* Trains on the batches of the epoch, from the position on. *DONE: there are no more batches. */
static mst_status train_epoch(fit *f, bool *done) {
    mst_step_batches *batches;
    MST_TRY(begin_batches(f, &batches));
    f->last_step_end = mst_clock_seconds();
    if (!f->any_step) f->first_step_end = f->last_step_end;
    const mst_status status = run_batches(f, batches, done);
    mst_step_batches_destroy(batches);
    return status;
}

/* Begins an epoch, or goes on with it after a recovery. Callbacks see it begin only once. */
static mst_status begin_epoch(fit *f) {
    MST_TRY(mst_epoch_sums_begin(&f->sums));
    MST_TRY(mst_epoch_sums_read(&f->sums, &f->state));
    f->state.step_in_epoch = f->position.batch;
    f->state.has_validation = false;
    if (f->in_epoch) return MST_OK;
    f->in_epoch = true;
    return CALL(f, epoch_begin);
}

/* Whether this fit has steps left after the present position; with WHOLE: after the end of the present epoch. Workers
 * with the same state get the same result, so all agree, without messages, whether a stop comes too late. */
static bool has_steps_left(const fit *f, bool whole) {
    const mst_train_state *s = &f->state;
    if (s->num_steps >= 0 && f->options->steps > 0) return s->step < s->num_steps;
    return f->position.epoch - f->position.first_epoch + whole < s->num_epochs;
}

/* A stop after the last step is ignored: training ends as it would have ended. */
static void forget_late_stop(fit *f, bool whole) {
    if (!f->trainer->rules.counts_others && !f->told_to_stop && !has_steps_left(f, whole)) f->state.stop = false;
}

/* Ends the epoch. WHOLE: all its batches are done; otherwise training ends within the epoch. */
static mst_status end_epoch(fit *f, bool whole) {
    double paused = mst_clock_seconds();
    forget_late_stop(f, whole);
    /* not after a stop, since a worker may stop alone, and a comparison needs all workers */
    if (f->options->check_replicas == MST_CHECK_EACH_EPOCH && !f->state.stop)
        MST_TRY(mst_replicas_check(f->trainer, f->state.step));
    MST_TRY(validate(f));
    if (f->options->history) MST_TRY(mst_history_append(f->options->history, &f->state));
    MST_TRY(MST_COOPERATE(f->trainer, before_epoch_end, f));
    const mst_train_state ended = f->state;
    MST_TRY(CALL(f, epoch_end));
    MST_TRY(MST_COOPERATE(f->trainer, after_epoch_end, f));
    f->first_step_end += mst_clock_seconds() - paused; /* the pause is not training time */
    f->in_epoch = false;
    f->state.epoch++;
    if (!whole) return MST_OK;
    f->position.epoch++;
    f->position.batch = 0;
    return mst_fit_store_position(f, &ended);
}

static mst_status run_epoch(fit *f) {
    bool whole = false;
    f->has_begun = true;
    MST_TRY(MST_COOPERATE(f->trainer, begin_epoch, f));
    MST_TRY(begin_epoch(f));
    MST_TRY(train_epoch(f, &whole));
    return end_epoch(f, whole);
}

mst_status mst_fit_tell_ended_epoch(fit *f) {
    MST_TRY(mst_ended_epoch_read(f->trainer->model->store, f->position.epoch - 1, &f->state));
    if (f->options->history) MST_TRY(mst_history_append(f->options->history, &f->state));
    MST_TRY(call_each(f, offsetof(mst_callback, epoch_end)));
    f->in_epoch = false;
    f->state.epoch++;
    return MST_OK;
}

static bool is_done(const fit *f) {
    const mst_train_state *s = &f->state;
    if (s->num_steps < 0 || f->options->steps == 0) return s->epoch >= s->num_epochs;
    /* not done if the last step was the last of its epoch, and that epoch must still be ended */
    return s->step >= s->num_steps && (f->position.batch == 0 || f->position.batch != s->steps_per_epoch);
}

mst_status mst_fit_take_rate(fit *f) {
    if (f->in_epoch || f->position.batch > 0 || isnan(f->position.learning_rate)) return mst_fit_read_rate(f);
    f->state.learning_rate = f->position.learning_rate;
    return MST_OK;
}

/* Handles a failure with STATUS. MST_OK if the fit goes on, since the failure only means that other tasks were lost, or
 * if state.stop is set; otherwise the error with which the fit ends. */
static mst_status recover(fit *f, mst_status status) {
    if (f->trainer->cooperation->recover) return f->trainer->cooperation->recover(f, status);
    return f->state.stop ? MST_OK : status;
}

/* Whether this worker must still end the epoch, because another worker's callback has ended the training within it.
 * IN_EPOCH: this worker's callbacks have seen the epoch begin. */
static bool must_end_epoch(const fit *f, bool in_epoch) {
    return f->told_to_stop && in_epoch && f->position.batch > 0;
}

/* Runs epochs until the training ends. Callbacks see the end of each epoch that they have seen begin, even if this
 * worker has not made the last step of the epoch, but got it with the state of the other workers. */
static mst_status run_epochs(fit *f) {
    /* true in a process started again within an epoch: callbacks of the earlier one have seen it begin */
    bool in_epoch = f->returns && f->position.batch > 0;
    while ((!f->state.stop && (in_epoch || !is_done(f))) || must_end_epoch(f, in_epoch)) {
        const mst_status status = run_epoch(f);
        if (status) MST_TRY(recover(f, status));
        in_epoch = f->in_epoch;
    }
    return MST_OK;
}

/* If a callback of this worker has ended the training, ends it on all workers after the same step. */
static mst_status stop_together(fit *f) {
    forget_late_stop(f, false);
    return f->state.stop && !f->told_to_stop ? MST_COOPERATE(f->trainer, stop, f) : MST_OK;
}

/* Trains until all workers have made their last step. Until then tasks may be lost, and this worker may have to repeat
 * steps. */
static mst_status run_until_all_finish(fit *f) {
    for (;;) {
        MST_TRY(run_epochs(f));
        mst_status status = stop_together(f);
        if (status && status != MST_CANCELLED && !MST_COOPERATION_SAYS(f->trainer, is_lost, f->trainer, status))
            return status;
        if (!status) status = MST_COOPERATE(f->trainer, finish, f);
        /* this process must end: the fit ends as if a callback had asked for it */
        if (status == MST_CANCELLED) f->state.stop = true;
        if (!status || status == MST_CANCELLED) return MST_OK;
        MST_TRY(recover(f, status));
    }
}

static mst_status run_training(fit *f) {
    f->trainer->is_left = false;
    if (!f->resumes) MST_TRY(mst_fit_store_position(f, NULL));
    f->first_number = f->position.number;
    MST_TRY(CALL(f, train_begin));
    if (f->trainer->cooperation->take_stop) f->trainer->cooperation->take_stop(f);
    mst_task_status_begin(f->status, MST_TASK_TRAINS);
    f->told_devices = -1;
    tell_devices(f, mst_clock_seconds());
    if (f->tells) MST_TRY(mst_fit_tell_ended_epoch(f));
    if (f->returns) MST_TRY(mst_fit_take_rate(f));
    return run_until_all_finish(f);
}

/* Calls train_end of every callback, even if training has failed, since callbacks free their memory there. Returns the
 * first error. A callback that asks for a stop now is ignored. */
static mst_status end_training(fit *f, mst_status status) {
    const bool stopped = f->state.stop;
    mst_failure first;
    mst_failure_keep(&first, status);
    f->state.failed = status != MST_OK;
    for (int i = 0; i < f->num_callbacks; i++) {
        const mst_callback *callback = &f->callbacks[i];
        const uint64_t errors = mst_error_count();
        mst_status ended = callback->train_end ? callback->train_end(callback->context, &f->state) : MST_OK;
        if (ended && !first.code) mst_failure_keep(&first, mst_error_complete(ended, errors));
    }
    f->state.stop = stopped;
    return mst_failure_restore(&first);
}

/* Makes the batches of the data. Rows are shuffled, unless the data is already batched. */
static mst_status prepare_data(fit *f) {
    const mst_fit_options *o = f->options;
    mst_dataset *data = mst_dataset_retain(f->train);
    mst_status status = MST_OK;
    if (!data->batch_size && !o->no_shuffle) {
        const mst_shuffle_options options = {
            .buffer_size = data->cardinality == MST_UNKNOWN_CARDINALITY ? SHUFFLE_BUFFER : 0,
            .seed = (uint64_t)f->position.seed};
        mst_dataset *mixed = NULL;
        status = mst_dataset_shuffle(data, &options, &mixed);
        mst_dataset_release(data);
        data = mixed;
    }
    if (!status) status = mst_trainer_batches(f->trainer, data, f->batch_size, o->drop_remainder, &f->batches);
    mst_dataset_release(data);
    return status;
}

mst_status mst_fit_find_position(fit *f) {
    mst_position *p = &f->position;
    MST_TRY(mst_position_read(f->trainer, p));
    f->resumes = (f->options->resume || f->copied) && p->begun;
    if (!f->resumes)
        *p = (mst_position){.first_epoch = p->epoch + (p->batch > 0),
                            .first_step = p->step,
                            .epoch = p->epoch + (p->batch > 0),
                            .seed = (int64_t)f->trainer->options.seed,
                            .step = p->step,
                            .number = p->number};
    mst_graph_set_seed(f->trainer->graph, (uint64_t)p->seed);
    f->state.epoch = p->epoch - p->first_epoch;
    f->state.step_in_epoch = p->batch;
    f->state.resumed = f->resumes;
    f->returns &= f->resumes;
    return MST_OK;
}

/* If this worker comes back at the beginning of an epoch, its callbacks may not have seen the end of the epoch before.
 * Then sets the state to that end: training begins with calling the callbacks for it. */
static mst_status prepare_to_tell(fit *f) {
    const mst_position *p = &f->position;
    if (!f->returns || p->batch > 0 || p->epoch == p->first_epoch) return MST_OK;
    const mst_status status = mst_ended_epoch_read(f->trainer->model->store, p->epoch - 1, &f->state);
    if (status == MST_NOT_FOUND) return MST_OK; /* no row: that epoch ended before the job had a cluster */
    MST_TRY(status);
    f->tells = true;
    f->state.epoch--;
    return MST_OK;
}

mst_status mst_fit_read_rate(fit *f) {
    const mst_schedule *schedule = &f->trainer->optimizer.schedule;
    mst_tensor *value;
    if (mst_schedule_is_set(schedule)) {
        f->state.learning_rate = mst_schedule_at(schedule, f->position.step);
        return MST_OK;
    }
    if (f->trainer->cooperation->read_rate) return f->trainer->cooperation->read_rate(f);
    MST_TRY(mst_session_get_variable(f->trainer->session, f->trainer->train.values.learning_rate, &value));
    f->state.learning_rate = mst_tensor_get(value, 0);
    mst_tensor_release(value);
    return MST_OK;
}

static mst_status prepare_state(fit *f) {
    const mst_fit_options *o = f->options;
    mst_trainer *trainer = f->trainer;
    mst_train_state *s = &f->state;
    int64_t per_epoch = mst_dataset_cardinality(f->batches);
    if (per_epoch == 0)
        return MST_FAIL(
            MST_INVALID,
            "fit: the data has no batch: it has fewer rows than a batch, and drop_remainder leaves those out");
    if (per_epoch == MST_INFINITE && o->steps == 0)
        return MST_FAIL(MST_INVALID, "fit: the data has no end: say with .steps how many steps to make");
    s->model = trainer->model;
    s->num_epochs = o->epochs > 0 ? o->epochs : 1;
    s->steps_per_epoch = per_epoch;
    s->num_shards = trainer->strategy.num_shards;
    s->step = f->position.step;
    s->num_steps = -1;
    s->validates = f->validation != NULL;
    s->validation_steps = validation_steps(f);
    s->follows = !trainer->rules.decides;
    s->num_metrics = trainer->num_metrics;
    memcpy(s->metric_name, trainer->metric_name, sizeof trainer->metric_name);
    int64_t steps = o->steps;
    bool known = steps > 0 || (per_epoch > 0 && !__builtin_mul_overflow(per_epoch, s->num_epochs, &steps));
    if (!known || __builtin_add_overflow(f->position.first_step, steps, &s->num_steps)) s->num_steps = -1;
    if (trainer->rules.counts_others && o->steps == 0)
        s->num_steps = -1; /* updates of all workers count as steps, so their number is not known */
    if (o->steps > 0 && per_epoch > 0) s->num_epochs = (o->steps + per_epoch - 1) / per_epoch;
    MST_TRY(mst_fit_read_rate(f));
    return prepare_to_tell(f);
}

static mst_status prepare_callbacks(fit *f) {
    const mst_fit_options *o = f->options;
    if (o->num_callbacks < 0)
        return MST_FAIL(MST_INVALID, "fit: num_callbacks is %d, must be 0 or more", o->num_callbacks);
    if (o->num_callbacks > 0 && !o->callbacks)
        return MST_FAIL(MST_INVALID, "fit: %d callbacks, but callbacks is NULL", o->num_callbacks);
    f->callbacks = calloc((size_t)o->num_callbacks + 1, sizeof *f->callbacks);
    if (!f->callbacks) return MST_NO_MEMORY("for callbacks");
    for (int i = 0; i < o->num_callbacks; i++) f->callbacks[f->num_callbacks++] = o->callbacks[i];
    if (!o->progress || o->progress_kind == MST_PROGRESS_NONE) return MST_OK;
    MST_TRY(mst_progress_callback(o->progress_kind, o->progress, 0, &f->callbacks[f->num_callbacks]));
    f->num_callbacks++;
    return MST_OK;
}

static void fill_result(const fit *f, mst_result *result) {
    const mst_train_state *s = &f->state;
    *result = (mst_result){.step = s->step,
                           .epochs = s->epoch,
                           .examples = s->examples,
                           .loss = s->loss,
                           .num_metrics = s->num_metrics,
                           .examples_per_sec = s->examples_per_sec,
                           .first_step_seconds = s->seconds > 0 ? f->first_step_end - f->began : 0,
                           .seconds = s->seconds,
                           .waited_for_data = ratio(f->waited_for_data, f->last_step_end - f->first_step_end),
                           .stopped = s->stop,
                           .has_validation = s->has_validation,
                           .validation_loss = s->validation_loss};
    memcpy(result->validation_metric, s->validation_metric, sizeof s->validation_metric);
    memcpy(result->metric_name, s->metric_name, sizeof s->metric_name);
    memcpy(result->metric, s->metric, sizeof s->metric);
}

static mst_status check_split(const fit *f) {
    const mst_fit_options *o = f->options;
    if (o->validation_split == 0)
        return o->validation_last
                   ? MST_FAIL(MST_INVALID, "fit: validation_last says which rows validation_split takes: give both")
                   : MST_OK;
    if (o->validation)
        return MST_FAIL(MST_INVALID, "fit: both validation and validation_split are given: give one of them");
    if (!(o->validation_split > 0 && o->validation_split < 1))
        return MST_FAIL(MST_INVALID, "fit: validation_split is %g, it must be above 0 and below 1",
                        o->validation_split);
    if (o->data->batch_size)
        return MST_FAIL(MST_INVALID,
                        "fit: validation_split takes rows, and the data has batches: split it before "
                        "mst_dataset_batch, with mst_dataset_split");
    return MST_OK;
}

/* Splits the data into parts for training and validation. A resumed fit has the seed of the fit that it resumes, and
 * therefore the same parts. All workers have the same seed. */
static mst_status split_data(fit *f) {
    const mst_fit_options *o = f->options;
    mst_dataset *data = (mst_dataset *)(uintptr_t)o->data;
    const mst_split_options split = {.fraction = o->validation_split,
                                     .seed = (uint64_t)f->position.seed,
                                     .labels = mst_objective_class_component(f->trainer),
                                     .last = o->validation_last};
    mst_split_report report;
    if (o->validation_split == 0) return mst_trainer_convert(f->trainer, data, true, &f->train);
    mst_dataset *part;
    if (mst_dataset_split(data, &split, &part, &f->validation, &report)) return mst_error_prefix("fit");
    if (report.num_missing && o->progress) fprintf(o->progress, "warning: %s\n", report.warning);
    const mst_status status = mst_trainer_convert(f->trainer, part, true, &f->train);
    mst_dataset_release(part);
    return status;
}

/* Checks the validation data now instead of after the first epoch. */
static mst_status check_validation(const fit *f) {
    const mst_dataset *data = f->validation;
    if (!data) return MST_OK;
    mst_status status = mst_trainer_check_data(f->trainer, data, true, validation_batch_size(f));
    if (!status) status = mst_trainer_check_end(data);
    return status ? mst_error_prefix("fit: validation") : MST_OK;
}

static mst_status fit_prepare(fit *f, mst_model *model) {
    const mst_fit_options *o = f->options;
    MST_TRY(mst_trainer_of(model, &f->trainer));
    f->sums.trainer = f->trainer;
    f->status = mst_task_status_of(f->trainer->options.task);
    if (!o->data) return MST_FAIL(MST_INVALID, "fit: no data");
    f->batch_size = o->batch_size || o->data->batch_size ? o->batch_size : DEFAULT_BATCH_SIZE;
    if (o->data->batch_size && o->drop_remainder)
        return MST_FAIL(MST_INVALID, "fit: the data comes in batches: say drop_remainder to mst_dataset_batch");
    if (o->epochs < 0 || o->steps < 0) return MST_FAIL(MST_INVALID, "fit: epochs and steps must not be negative");
    if (o->check_replicas < MST_CHECK_NEVER)
        return MST_FAIL(MST_INVALID,
                        "fit: check_replicas is %lld: give a number of steps, 0 (each epoch) or -1 (never)",
                        (long long)o->check_replicas);
    MST_TRY(mst_trainer_check_data(f->trainer, o->data, true, f->batch_size));
    if (o->data->batch_size) f->batch_size = o->data->batch_size;
    MST_TRY(check_split(f));
    if (o->validation) f->validation = mst_dataset_retain((mst_dataset *)(uintptr_t)o->validation);
    MST_TRY(check_validation(f));
    MST_TRY(mst_resumed_shards_choose(f));
    MST_TRY(mst_trainer_build(f->trainer, &f->trainer->train, true));
    MST_TRY(f->trainer->cooperation->join ? f->trainer->cooperation->join(f) : mst_fit_find_position(f));
    MST_TRY(split_data(f));
    MST_TRY(prepare_data(f));
    return prepare_state(f);
}

mst_status mst_fit_with(mst_model *model, const mst_fit_options *options, mst_result *result) {
    if (MST_IS_NULL(model) || MST_IS_NULL(options)) return MST_INVALID;
    fit f = {.options = options, .began = mst_clock_seconds()};
    if (model->in_fit) return MST_FAIL(MST_INVALID, "fit: the model is in a fit already, whose callback calls it");
    model->in_fit = true;
    mst_status status = prepare_callbacks(&f);
    if (!status) status = fit_prepare(&f, model);
    if (!status) status = run_training(&f);
    if (status && f.trainer && f.trainer->cooperation->fail) status = f.trainer->cooperation->fail(f.trainer, status);
    model->in_fit = false;
    mst_task_status_set(f.status, MST_TASK_DONE);
    status = end_training(&f, status);
    if (!status && result) fill_result(&f, result);
    mst_epoch_sums_free(&f.sums);
    mst_noted_executables_free(&f.executables);
    mst_dataset_release(f.batches);
    mst_dataset_release(f.train);
    mst_dataset_release(f.validation);
    free(f.callbacks);
    return status;
}
