#include "train/served.h"

#include <stdlib.h>

#include "base/no_memory.h"
#include "cluster/ps_load.h"
#include "parameter_server/batch_position.h"
#include "strategy/update_graph.h"
#include "task/task.h"
#include "train/workers.h"

static mst_ps_client *client_of(const mst_trainer *trainer) {
    return trainer->options.task ? mst_task_servers(trainer->options.task) : NULL;
}

bool mst_is_served(const mst_trainer *trainer) {
    return client_of(trainer) != NULL;
}

bool mst_served_is_in_step(const mst_trainer *trainer) {
    const int aggregate = trainer->strategy.replicas_to_aggregate;
    return mst_is_served(trainer) && trainer->strategy.synchronous &&
           (aggregate == 0 || aggregate == mst_task_num_workers(trainer->options.task));
}

/* ---- the variables of each server ---- */

/* Whether it is a sum over the epoch that workers report. The first server keeps these whole, and they do not count as
 * its variables. */
static bool is_reported(const mst_ps_variable *variable) {
    return variable->kind == MST_STATE_METRIC;
}

/* The first server that keeps no variable; NUM_PS: each server keeps one. */
static int server_without(const mst_ps_variable *variable, int count, int num_ps) {
    for (int p = 0; p < num_ps; p++) {
        int v = 0;
        while (v < count && (is_reported(&variable[v]) || (variable[v].ps != p && variable[v].ps != MST_PS_EACH))) v++;
        if (v == count) return p;
    }
    return num_ps;
}

/* Chooses the server for each variable. */
static mst_status divide(const mst_trainer *trainer, int num_ps, mst_ps_variable **out) {
    const mst_step_values *values = &trainer->train.values;
    const int count = values->num_variables;
    mst_ps_load *load;
    MST_TRY(mst_ps_load_create(num_ps, trainer->strategy.by_bytes, &load));
    mst_ps_variable *variable = calloc((size_t)count + 1, sizeof *variable);
    for (int v = 0; v < count && variable; v++) {
        const mst_spec spec = mst_value_spec(values->variable[v]);
        const mst_variable_options *options = mst_node_options(values->variable[v].node);
        variable[v] = (mst_ps_variable){.name = mst_value_name(values->variable[v]),
                                        .spec = spec,
                                        .kind = (mst_state_kind)options->kind,
                                        .sparse = values->sparse[v]};
        if (is_reported(&variable[v])) continue;
        const bool is_cut = mst_ps_is_cut(&spec, num_ps, trainer->strategy.part_bytes);
        variable[v].ps = is_cut ? MST_PS_EACH : mst_ps_load_give(load, &spec);
    }
    free(load);
    if (!variable) return MST_NO_MEMORY("for %d variables", count);
    *out = variable;
    const int without = server_without(variable, count, num_ps);
    if (without == num_ps) return MST_OK;
    int kept = 0;
    for (int v = 0; v < count; v++) kept += !is_reported(&variable[v]);
    free(variable);
    return MST_FAIL(MST_INVALID, "%d parameter servers for %d variables leave ps:%d without any: take fewer servers",
                    num_ps, kept, without);
}

void mst_served_free(mst_trainer *trainer) {
    for (int p = 0; p < trainer->num_updates; p++) mst_graph_destroy(trainer->update[p]);
    free(trainer->update);
    trainer->update = NULL;
    trainer->num_updates = 0;
}

/* Makes the graph of the update of server P. */
static mst_status make_graph_of(const mst_trainer *trainer, const mst_ps_variable *variable, int num_ps, int p,
                                mst_graph **graph) {
    const mst_step_values *values = &trainer->train.values;
    const size_t most = (size_t)values->num_variables + 1;
    mst_value *own = calloc(most, sizeof *own);
    bool *sparse = calloc(most, sizeof *sparse);
    mst_join_kind *join = calloc(most, sizeof *join);
    int64_t *rows = calloc(most, sizeof *rows);
    mst_status status =
        own && sparse && join && rows ? MST_OK : MST_NO_MEMORY("for %d variables", values->num_variables);
    int count = 0;
    for (int v = 0; v < values->num_variables && !status; v++) {
        const bool is_cut = variable[v].ps == MST_PS_EACH;
        if (variable[v].ps != p && !is_cut) continue;
        rows[count] = is_cut ? mst_ps_part_rows(variable[v].spec.shape.dim[0], num_ps, p).count : -1;
        sparse[count] = values->sparse[v];
        join[count] = values->join[v];
        own[count++] = values->variable[v];
    }
    const mst_update_graph_variables updated = {
        .variable = own,
        .count = count,
        .sparse = sparse,
        .join = join,
        .rows = rows,
        .num_shards = trainer->strategy.synchronous ? trainer->strategy.num_shards : 0};
    if (!status) status = mst_update_graph_create(&trainer->optimizer, &updated, graph);
    free(own);
    free(sparse);
    free(join);
    free(rows);
    return status;
}

/* On the chief: makes the graphs of all servers, if there are none yet. */
static mst_status make_graphs(mst_trainer *trainer, const mst_ps_variable *variable, int num_ps) {
    if (trainer->update || !mst_task_is_chief(trainer->options.task)) return MST_OK;
    trainer->update = calloc((size_t)num_ps, sizeof(mst_graph *));
    if (!trainer->update) return MST_NO_MEMORY("for %d parameter servers", num_ps);
    mst_status status = MST_OK;
    for (trainer->num_updates = 0; trainer->num_updates < num_ps && !status; trainer->num_updates++)
        status = make_graph_of(trainer, variable, num_ps, trainer->num_updates, &trainer->update[trainer->num_updates]);
    if (status) mst_served_free(trainer);
    return status;
}

static mst_status check(const mst_trainer *trainer, int num_ps) {
    if (num_ps > 1 && trainer->optimizer.clip_global_norm > 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "clip_global_norm needs all gradients in one place: take one parameter server, or none");
    const mst_strategy *strategy = &trainer->strategy;
    if (num_ps > 1 && strategy->part_bytes && trainer->optimizer.clip_norm > 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "clip_norm needs all of the gradient of a variable in one place, and part_bytes "
                        "(--ps-part-bytes) cuts it: leave one of them out");
    const int workers = mst_task_num_workers(trainer->options.task);
    if (strategy->replicas_to_aggregate < 0 || strategy->replicas_to_aggregate > workers)
        return MST_FAIL(MST_INVALID, "strategy: replicas_to_aggregate is %d, but there are only %d workers",
                        strategy->replicas_to_aggregate, workers);
    if (strategy->max_staleness && strategy->max_staleness < workers - 1)
        return MST_FAIL(MST_INVALID,
                        "strategy: max_staleness %d is too small for %d workers, who may all compute at the same time: "
                        "take at least %d, or train synchronously",
                        strategy->max_staleness, workers, workers - 1);
    return MST_OK;
}

/* Reads the values of the trained variables that have averages or masters, which begin with these values. */
static mst_status read_values(const mst_trainer *trainer, mst_tensor **value) {
    const mst_step_values *values = &trainer->train.values;
    for (int v = 0; v < values->num_variables; v++) {
        const mst_variable_options *o = mst_node_options(values->variable[v].node);
        const bool has_master = mst_value_spec(values->variable[v]).dtype == MST_BF16;
        if (values->join[v] || (trainer->optimizer.ema_decay <= 0 && !has_master)) continue;
        MST_TRY(mst_store_get(trainer->model->store, o->container, mst_value_name(values->variable[v]), &value[v]));
    }
    return MST_OK;
}

/* Gives initial values to slots that have none yet. VALUE: see mst_update_graph_variables. */
static mst_status init_beside(const mst_trainer *trainer, mst_tensor *const *value) {
    const mst_step_values *values = &trainer->train.values;
    mst_graph *whole;
    mst_session *session;
    const mst_update_graph_variables updated = {.variable = values->variable,
                                                .count = values->num_variables,
                                                .sparse = values->sparse,
                                                .join = values->join,
                                                .value = value};
    MST_TRY(mst_update_graph_create(&trainer->optimizer, &updated, &whole));
    mst_status status = mst_session_create(whole, &(mst_session_options){.store = trainer->model->store}, &session);
    if (!status) {
        status = mst_session_init_variables(session);
        mst_session_destroy(session);
    }
    mst_graph_destroy(whole);
    return status;
}

static mst_status init_variables(const mst_trainer *trainer) {
    const int count = trainer->train.values.num_variables;
    mst_tensor **value = calloc((size_t)count + 1, sizeof *value);
    mst_status status = value ? read_values(trainer, value) : MST_NO_MEMORY("for %d variables", count);
    if (!status) status = init_beside(trainer, value);
    for (int v = 0; v < count && value; v++) mst_tensor_release(value[v]);
    free(value);
    return status;
}

mst_status mst_served_build(mst_trainer *trainer) {
    if (!mst_is_served(trainer) || !mst_task_is_chief(trainer->options.task)) return MST_OK;
    const int num_ps = mst_ps_client_num_servers(client_of(trainer));
    mst_ps_variable *variable;
    MST_TRY(check(trainer, num_ps));
    MST_TRY(divide(trainer, num_ps, &variable));
    const mst_status status = make_graphs(trainer, variable, num_ps);
    free(variable);
    return status ? status : init_variables(trainer);
}

/* ---- joining ---- */

mst_status mst_served_join(mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                           mst_position *position, bool *moved) {
    mst_fingerprint fingerprint[MST_FINGERPRINTS_MOST];
    const mst_step_values *values = &trainer->train.values;
    const int num_ps = mst_ps_client_num_servers(client_of(trainer));
    int64_t number = mst_batch_position(position->epoch, position->batch);
    const int64_t before = number;
    mst_ps_variable *variable;
    MST_TRY(check(trainer, num_ps));
    MST_TRY(divide(trainer, num_ps, &variable));
    const int32_t num_fingerprints = mst_workers_fingerprints(trainer, options, batch_size, fingerprint);
    mst_status status = make_graphs(trainer, variable, num_ps);
    const mst_ps_program program = {.store = trainer->model->store,
                                    .variable = variable,
                                    .graph = trainer->update,
                                    .num_variables = values->num_variables,
                                    .synchronous = trainer->strategy.synchronous,
                                    .aggregate = trainer->strategy.replicas_to_aggregate,
                                    .staleness = trainer->strategy.max_staleness ? trainer->strategy.max_staleness : -1,
                                    .num_shards = trainer->strategy.num_shards,
                                    .num_leaves = values->num_leaves,
                                    .last_step = options->steps ? position->first_step + options->steps : 0,
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

bool mst_served_must_join(const mst_trainer *trainer) {
    return mst_is_served(trainer) && mst_ps_client_must_join(client_of(trainer));
}

mst_status mst_served_place_gradients(mst_trainer *trainer) {
    return mst_is_served(trainer) ? mst_ps_client_place_gradients(client_of(trainer), trainer->train.gradient) : MST_OK;
}

mst_status mst_served_update(mst_trainer *trainer, int64_t epoch, int64_t batch, int64_t *step) {
    return mst_ps_client_update(client_of(trainer), mst_batch_position(epoch, batch), trainer->train.gradient, step);
}

/* If a server has lost its values, this is no error: the next request notices it too, and is handled there. */
mst_status mst_served_rate(const mst_trainer *trainer, double *rate) {
    float is = (float)trainer->optimizer.learning_rate;
    const mst_status status = mst_ps_client_rate(client_of(trainer), NULL, &is);
    if (status && !mst_served_must_join(trainer)) return status;
    *rate = (double)is;
    return MST_OK;
}

mst_status mst_served_set_rate(const mst_trainer *trainer, double *rate) {
    const float to = (float)*rate;
    float is;
    *rate = (double)to;
    return mst_task_is_chief(trainer->options.task) ? mst_ps_client_rate(client_of(trainer), &to, &is) : MST_OK;
}

/* If the epoch of the sums that servers have sent has ended here, the sums become 0, as in one process. */
static mst_status end_sums(mst_trainer *trainer) {
    mst_position position;
    if (!mst_served_is_in_step(trainer)) return MST_OK;
    MST_TRY(mst_position_read(trainer, &position));
    return position.batch == 0 ? mst_position_clear_sums(trainer) : MST_OK;
}

bool mst_served_decides(const mst_trainer *trainer) {
    return !mst_is_served(trainer) || mst_served_is_in_step(trainer) || mst_task_is_chief(trainer->options.task);
}

bool mst_served_is_ended(const mst_trainer *trainer) {
    return mst_is_served(trainer) && mst_ps_client_is_ended(client_of(trainer));
}

bool mst_served_is_asked_to_stop(const mst_trainer *trainer) {
    return mst_is_served(trainer) && mst_ps_client_is_asked_to_stop(client_of(trainer));
}

mst_status mst_served_keep(mst_trainer *trainer) {
    return mst_is_served(trainer) ? mst_ps_client_keep(client_of(trainer)) : MST_OK;
}

mst_status mst_served_give_weights(mst_trainer *trainer) {
    return mst_is_served(trainer) ? mst_ps_client_give_weights(client_of(trainer)) : MST_OK;
}

bool mst_served_has_last(const mst_trainer *trainer) {
    return mst_is_served(trainer) && mst_ps_client_has_last(client_of(trainer));
}

mst_status mst_served_finish(mst_trainer *trainer, bool stops) {
    if (!mst_is_served(trainer)) return MST_OK;
    MST_TRY(mst_ps_client_finish(client_of(trainer), stops && !mst_served_is_in_step(trainer)));
    return end_sums(trainer);
}

/* Does nothing on the chief, which already has the whole state of the servers. */
mst_status mst_served_take_averages(mst_trainer *trainer) {
    if (!mst_is_served(trainer) || trainer->optimizer.ema_decay <= 0 || mst_task_is_chief(trainer->options.task))
        return MST_OK;
    return mst_served_collect(trainer);
}

mst_status mst_served_staleness(const mst_trainer *trainer, mst_tensor **counts) {
    int64_t count[MST_STALENESS_COUNTS];
    int32_t used = MST_STALENESS_COUNTS;
    *counts = NULL;
    if (!mst_is_served(trainer) || trainer->strategy.synchronous || !mst_task_is_chief(trainer->options.task))
        return MST_OK;
    MST_TRY(mst_ps_client_staleness(client_of(trainer), count));
    while (used > 0 && count[used - 1] == 0) used--;
    return used > 0 ? mst_tensor_copy(MST_I64, MST_SHAPE(used), count, counts) : MST_OK;
}

mst_status mst_served_use_values(mst_trainer *trainer) {
    return mst_is_served(trainer) ? mst_ps_client_use_values(client_of(trainer)) : MST_OK;
}

mst_status mst_served_collect_last(mst_trainer *trainer) {
    MST_TRY(mst_ps_client_collect_last(client_of(trainer)));
    return end_sums(trainer);
}

bool mst_served_is_left(const mst_trainer *trainer) {
    return mst_is_served(trainer) && mst_ps_client_is_left(client_of(trainer));
}

bool mst_served_was_stopped(const mst_trainer *trainer) {
    return mst_is_served(trainer) && mst_ps_client_was_stopped(client_of(trainer));
}

bool mst_served_is_leaving(const mst_trainer *trainer) {
    return mst_is_served(trainer) && mst_ps_client_is_leaving(client_of(trainer));
}

bool mst_served_is_between(const mst_trainer *trainer) {
    return mst_is_served(trainer) && mst_ps_client_is_between(client_of(trainer));
}

mst_status mst_served_collect(mst_trainer *trainer) {
    if (!mst_is_served(trainer)) return MST_OK;
    MST_TRY(mst_ps_client_collect(client_of(trainer)));
    return end_sums(trainer);
}
