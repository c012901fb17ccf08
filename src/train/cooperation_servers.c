/* Training with parameter servers, which keep the variables of the workers (muster/server.h). A worker sends the
 * gradients of each step to the servers. They make the update, and send the new values back. */
#include <stdlib.h>

#include "base/shard_rows.h"
#include "parameter_server/batch_position.h"
#include "store/store.h"
#include "task/task.h"
#include "train/fit_run.h"
#include "train/resumed_shards.h"
#include "train/server_updates.h"
#include "train/worker_fingerprints.h"

static mst_ps_client *client_of(const mst_trainer *trainer) {
    return mst_task_servers(trainer->options.task);
}

static bool is_chief(const mst_trainer *trainer) {
    return mst_task_is_chief(trainer->options.task);
}

/* ---- the trainer ---- */

/* Takes this worker's part of the shards of all workers. */
static mst_status servers_share(mst_trainer *trainer) {
    mst_strategy *strategy = &trainer->strategy;
    const mst_task *task = trainer->options.task;
    const int workers = mst_task_num_workers(task), self = mst_task_worker(task);
    mst_server_updates_free(trainer);
    if (strategy->num_shards == 0) strategy->num_shards = strategy->num_devices * workers;
    if (strategy->num_shards < workers)
        return MST_FAIL(MST_INVALID, "compile: %d shards are too few for %d workers: take at least as many",
                        strategy->num_shards, workers);
    strategy->first_shard = (int)mst_part_begin(strategy->num_shards, workers, self);
    strategy->num_shards_here = (int)mst_part_begin(strategy->num_shards, workers, self + 1) - strategy->first_shard;
    return MST_OK;
}

/* The rules of a training with parameter servers. In synchronous training without backup workers, each update uses the
 * gradients of all workers, so all workers are at the same step. The callbacks of each worker then decide when training
 * ends, all with the same result. Otherwise only the chief's callbacks decide. */
static mst_cooperation_rules servers_rules(const mst_trainer *trainer) {
    const int aggregate = trainer->strategy.replicas_to_aggregate;
    const bool in_step =
        trainer->strategy.synchronous && (aggregate == 0 || aggregate == mst_task_num_workers(trainer->options.task));
    return (mst_cooperation_rules){.in_step = in_step, .decides = in_step || is_chief(trainer), .counts_others = true};
}

/* On the chief: makes the graphs by which the servers make their updates. */
static mst_status servers_build(mst_trainer *trainer, bool training) {
    if (!training || !is_chief(trainer)) return MST_OK;
    const int num_ps = mst_ps_client_num_servers(client_of(trainer));
    mst_ps_variable *variable;
    MST_TRY(mst_server_updates_divide(trainer, num_ps, &variable));
    const mst_status status = mst_server_updates_make(trainer, variable, num_ps);
    free(variable);
    return status ? status : mst_server_updates_init(trainer);
}

/* ---- joining ---- */

/* Waits until the servers are connected and have values, and copies the values to the store. Servers without values get
 * the values of the chief's store. POSITION: where this worker begins; on return where it goes on. *MOVED: whether the
 * two differ. */
static mst_status join_servers(const mst_fit_run *run, mst_position *position, bool *moved) {
    mst_trainer *trainer = run->trainer;
    mst_fingerprint fingerprint[MST_FINGERPRINTS_MOST];
    const mst_step_values *values = &trainer->train.values;
    const int num_ps = mst_ps_client_num_servers(client_of(trainer));
    const int64_t steps = run->options->steps;
    int64_t number = mst_batch_position(position->epoch, position->batch);
    const int64_t before = number;
    mst_ps_variable *variable;
    MST_TRY(mst_server_updates_divide(trainer, num_ps, &variable));
    const int32_t num_fingerprints = mst_worker_fingerprints(trainer, run->options, run->batch_size, fingerprint);
    mst_status status = mst_server_updates_make(trainer, variable, num_ps);
    const mst_ps_program program = {.store = trainer->model->store,
                                    .variable = variable,
                                    .graph = trainer->update,
                                    .num_variables = values->num_variables,
                                    .synchronous = trainer->strategy.synchronous,
                                    .aggregate = trainer->strategy.replicas_to_aggregate,
                                    .staleness = trainer->strategy.max_staleness ? trainer->strategy.max_staleness : -1,
                                    .num_shards = trainer->strategy.num_shards,
                                    .num_leaves = values->num_leaves,
                                    .last_step = steps ? position->first_step + steps : 0,
                                    .position = number,
                                    .fingerprint = fingerprint,
                                    .num_fingerprints = num_fingerprints};
    if (!status) status = mst_ps_client_join(client_of(trainer), &program, &number);
    free(variable);
    MST_TRY(status);
    *moved = number != before;
    position->epoch = mst_epoch_of_position(number);
    position->batch = mst_batch_of_position(number);
    return MST_OK;
}

static mst_status read_step(const mst_trainer *trainer, int64_t *step) {
    return mst_store_read_to(trainer->model->store, NULL, MST_STATE_GLOBAL_STEP, &(mst_spec){MST_I64, MST_SCALAR},
                             step);
}

/* Joins the servers. A worker that was started again goes on at the position that they give. */
static mst_status join_at_position(mst_fit_run *run) {
    bool moved;
    MST_TRY(join_servers(run, &run->position, &moved));
    MST_TRY(read_step(run->trainer, &run->position.step));
    run->resumes &= !moved;
    run->state.resumed |= moved;
    run->state.epoch = run->position.epoch - run->position.first_epoch;
    run->state.step_in_epoch = run->position.batch;
    return MST_OK;
}

/* Joins the servers, which have the chief's number of shards. A worker with another number changes to the chief's, and
 * joins once more with its new part of the shards. */
static mst_status servers_join(mst_fit_run *run) {
    const int before = run->trainer->strategy.num_shards;
    MST_TRY(mst_fit_find_position(run));
    MST_TRY(join_at_position(run));
    MST_TRY(mst_resumed_shards_take(run->trainer));
    return run->trainer->strategy.num_shards == before ? MST_OK : join_at_position(run);
}

/* ---- the learning rate ---- */

/* Reads the rate of the servers, whose updates have no schedule. It is no error here if a server has lost its values:
 * the next request fails too, and its error is handled. */
static mst_status servers_read_rate(mst_fit_run *run) {
    const mst_trainer *trainer = run->trainer;
    float is = (float)trainer->optimizer.learning_rate;
    const mst_status status = mst_ps_client_rate(client_of(trainer), NULL, &is);
    if (status && !mst_ps_client_must_join(client_of(trainer))) return status;
    run->state.learning_rate = (double)is;
    return MST_OK;
}

/* Gives the servers the rate of this worker, if it is the chief (mst_ps_client_rate). A rate that is set on another
 * worker is only seen by that worker's callbacks. */
static mst_status send_rate(mst_fit_run *run) {
    const float to = (float)run->state.learning_rate;
    float is;
    run->state.learning_rate = (double)to;
    return is_chief(run->trainer) ? mst_ps_client_rate(client_of(run->trainer), &to, &is) : MST_OK;
}

static mst_status servers_set_rate(mst_fit_run *run) {
    run->brings_rate = !run->has_begun;
    return run->has_begun ? send_rate(run) : MST_OK;
}

/* ---- the state of the servers ---- */

/* Sets the sums of an epoch, which the servers have sent, to 0 if that epoch has ended, as training in one process
 * does. */
static mst_status end_sums(mst_trainer *trainer) {
    mst_position position;
    if (!trainer->rules.in_step) return MST_OK;
    MST_TRY(mst_position_read(trainer, &position));
    return position.batch == 0 ? mst_position_clear_sums(trainer) : MST_OK;
}

/* Copies all state of the servers to the store, including slots. */
static mst_status collect_state(mst_trainer *trainer) {
    MST_TRY(mst_ps_client_collect(client_of(trainer)));
    return end_sums(trainer);
}

/* Collects the state of the servers. If the servers are at different steps, nothing is saved now: the previous
 * checkpoint stays the last one. */
static mst_status servers_collect(mst_trainer *trainer, bool *may_save) {
    *may_save = !mst_ps_client_is_between(client_of(trainer));
    return *may_save ? collect_state(trainer) : MST_OK;
}

static mst_status servers_collect_rest(mst_trainer *trainer) {
    MST_TRY(mst_ps_client_collect_last(client_of(trainer)));
    return end_sums(trainer);
}

static bool servers_must_save(const mst_trainer *trainer) {
    return mst_ps_client_is_leaving(client_of(trainer));
}

static bool servers_is_broken_off(const mst_trainer *trainer, const mst_train_state *state) {
    return state->failed || (state->stop && !mst_ps_client_has_last(client_of(trainer)));
}

static mst_status servers_weights_set(mst_trainer *trainer) {
    return mst_ps_client_give_weights(client_of(trainer));
}

static mst_status servers_staleness(mst_trainer *trainer, mst_tensor **counts) {
    int64_t count[MST_STALENESS_COUNTS];
    int32_t used = MST_STALENESS_COUNTS;
    if (trainer->strategy.synchronous || !is_chief(trainer)) return MST_OK;
    MST_TRY(mst_ps_client_staleness(client_of(trainer), count));
    while (used > 0 && count[used - 1] == 0) used--;
    return used > 0 ? mst_tensor_copy(MST_I64, MST_SHAPE(used), count, counts) : MST_OK;
}

/* ---- epochs and steps ---- */

/* Sends the servers a rate that callbacks have set before the first epoch. The chief then keeps the state with that
 * rate, so that a server that is started again begins with it. Rates that are set later need not be kept at once: when
 * steps are repeated, the callbacks set them again. */
static mst_status servers_begin_epoch(mst_fit_run *run) {
    if (!run->brings_rate) return MST_OK;
    MST_TRY(send_rate(run));
    if (is_chief(run->trainer) && !mst_ps_client_is_between(client_of(run->trainer)))
        MST_TRY(collect_state(run->trainer));
    run->brings_rate = false;
    return MST_OK;
}

/* A worker that has no rows of the batch still takes part in synchronous training: the others wait for its
 * gradients. */
static bool servers_takes_part(const mst_fit_run *run, int64_t size) {
    return run->trainer->train.strategy.synchronous || mst_fit_rows_here(run, size) > 0;
}

/* Sets the variables back to the last values of a step: collect_state() may have overwritten them with newer ones. */
static mst_status servers_before_evaluation(mst_trainer *trainer) {
    return mst_ps_client_use_values(client_of(trainer));
}

/* Sets the variables to the last values of a step, and places the step's gradients in memory from which they are sent
 * without a copy. */
static mst_status servers_before_step(mst_fit_run *run) {
    MST_TRY(mst_ps_client_use_values(client_of(run->trainer)));
    return mst_ps_client_place_gradients(client_of(run->trainer), run->trainer->train.gradient);
}

/* Sends the gradients, waits for the new values, and reads the results of the step on all workers. */
static mst_status servers_after_step(mst_fit_run *run, int64_t size) {
    mst_trainer *trainer = run->trainer;
    mst_train_state *state = &run->state;
    const int64_t position = mst_batch_position(run->position.epoch, state->step_in_epoch - 1);
    MST_TRY(mst_ps_client_update(client_of(trainer), position, trainer->train.gradient, &state->step));
    MST_TRY(mst_epoch_sums_read(&run->sums, state));
    state->stop |= mst_ps_client_is_ended(client_of(trainer));
    if (trainer->rules.in_step) return mst_position_step_loss(trainer, (double)size, &state->step_loss);
    if (mst_fit_rows_here(run, size) == 0) state->step_loss = run->last_good_loss; /* without rows there is no loss */
    return MST_OK;
}

static bool is_asked_to_stop(const mst_fit_run *run) {
    return mst_ps_client_is_asked_to_stop(client_of(run->trainer));
}

static mst_status servers_after_epoch_end(mst_fit_run *run) {
    return is_asked_to_stop(run) ? MST_OK : mst_ps_client_keep(client_of(run->trainer));
}

/* ---- the end ---- */

/* Copies the moving averages, if there are any, to the store of this worker, after all workers have made their last
 * step. The chief already has them, with the whole state of the servers. */
static mst_status take_averages(mst_trainer *trainer) {
    return trainer->optimizer.ema_decay <= 0 || is_chief(trainer) ? MST_OK : collect_state(trainer);
}

static mst_status finish(mst_fit_run *run) {
    mst_trainer *trainer = run->trainer;
    MST_TRY(mst_ps_client_finish(client_of(trainer), run->state.stop && !trainer->rules.in_step));
    MST_TRY(end_sums(trainer));
    return take_averages(trainer);
}

/* Waits until all workers have made their last step, and reads the number of steps that belongs to the last values. All
 * workers get the same number. A worker that must stop alone does not wait for the others. */
static mst_status servers_finish(mst_fit_run *run) {
    if (run->state.stop && is_asked_to_stop(run)) return MST_OK;
    const mst_status status = finish(run);
    if (status && status != MST_CANCELLED) return status;
    if (mst_ps_client_has_last(client_of(run->trainer))) MST_TRY(read_step(run->trainer, &run->state.step));
    return status;
}

/* ---- losses ---- */

/* Joins the servers again after one of them was started again: all workers go on from the state that the chief has
 * kept. Callbacks that have ended the training will end it again. */
static mst_status return_to_servers(mst_fit_run *run) {
    mst_position now;
    MST_TRY(join_at_position(run));
    MST_TRY(mst_position_read(run->trainer, &now));
    run->state.step = now.step;
    run->in_epoch = false;
    run->state.stop &= is_asked_to_stop(run);
    if (!run->brings_rate) MST_TRY(mst_fit_read_rate(run));
    return mst_fit_store_position(run, NULL);
}

/* Goes on after a failure with STATUS if a server was started again. A worker whose callbacks have ended its training
 * still waits for the others. */
static mst_status servers_recover(mst_fit_run *run, mst_status status) {
    const mst_ps_client *client = client_of(run->trainer);
    if (mst_ps_client_must_join(client)) status = return_to_servers(run);
    /* this process must end: the fit ends as if a callback had asked for it */
    if (status == MST_CANCELLED && mst_ps_client_was_stopped(client)) run->state.stop = true;
    run->trainer->is_left = mst_ps_client_is_left(client);
    return run->state.stop && (status == MST_CANCELLED || is_asked_to_stop(run)) ? MST_OK : status;
}

const mst_cooperation mst_cooperation_servers = {.share = servers_share,
                                                 .rules = servers_rules,
                                                 .build = servers_build,
                                                 .free = mst_server_updates_free,
                                                 .join = servers_join,
                                                 .read_rate = servers_read_rate,
                                                 .set_rate = servers_set_rate,
                                                 .begin_epoch = servers_begin_epoch,
                                                 .takes_part = servers_takes_part,
                                                 .before_step = servers_before_step,
                                                 .after_step = servers_after_step,
                                                 .after_epoch_end = servers_after_epoch_end,
                                                 .before_evaluation = servers_before_evaluation,
                                                 .finish = servers_finish,
                                                 .recover = servers_recover,
                                                 .fail = mst_cooperation_fail,
                                                 .weights_set = servers_weights_set,
                                                 .collect = servers_collect,
                                                 .must_save = servers_must_save,
                                                 .is_broken_off = servers_is_broken_off,
                                                 .collect_rest = servers_collect_rest,
                                                 .staleness = servers_staleness};
