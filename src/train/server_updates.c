#include "train/server_updates.h"

#include <stdlib.h>

#include "base/no_memory.h"
#include "cluster/ps_load.h"
#include "rule/constraint.h"
#include "store/store.h"
#include "strategy/update_graph.h"
#include "task/task.h"

/* Whether the variable is a sum that workers report. The first server keeps all these sums, uncut. They do not count
 * when variables are divided among the servers. */
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

mst_status mst_server_updates_divide(const mst_trainer *trainer, int num_ps, mst_ps_variable **out) {
    const mst_step_values *values = &trainer->train.values;
    const int count = values->num_variables;
    mst_ps_load *load;
    MST_TRY(check(trainer, num_ps));
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
        /* a constraint on a norm over rows needs all rows on one server */
        const bool is_cut = !mst_constraint_sums_rows(&options->constraint, spec.shape) &&
                            mst_ps_is_cut(&spec, num_ps, trainer->strategy.part_bytes);
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

void mst_server_updates_free(mst_trainer *trainer) {
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

mst_status mst_server_updates_make(mst_trainer *trainer, const mst_ps_variable *variable, int num_ps) {
    if (trainer->update || !mst_task_is_chief(trainer->options.task)) return MST_OK;
    trainer->update = calloc((size_t)num_ps, sizeof(mst_graph *));
    if (!trainer->update) return MST_NO_MEMORY("for %d parameter servers", num_ps);
    mst_status status = MST_OK;
    for (trainer->num_updates = 0; trainer->num_updates < num_ps && !status; trainer->num_updates++)
        status = make_graph_of(trainer, variable, num_ps, trainer->num_updates, &trainer->update[trainer->num_updates]);
    if (status) mst_server_updates_free(trainer);
    return status;
}

/* Reads the values of the trained variables that have moving averages or masters, which begin with these values. */
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

mst_status mst_server_updates_init(const mst_trainer *trainer) {
    const int count = trainer->train.values.num_variables;
    mst_tensor **value = calloc((size_t)count + 1, sizeof *value);
    mst_status status = value ? read_values(trainer, value) : MST_NO_MEMORY("for %d variables", count);
    if (!status) status = init_beside(trainer, value);
    for (int v = 0; v < count && value; v++) mst_tensor_release(value[v]);
    free(value);
    return status;
}
