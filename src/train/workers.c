#include "train/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/rng.h"
#include "data/dataset.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "muster/version.h"
#include "rule/rule.h"
#include "store/store.h"
#include "train/position.h"
#include "train/served.h"
#include "train/sharded.h"

enum { TEXT = 512 };

/* ---- fingerprints: what must be the same in all workers ---- */

static uint64_t add_number(uint64_t hash, int64_t number) {
    return mst_rng_mix(hash, (uint64_t)number);
}

static uint64_t add_text(uint64_t hash, const char *text) {
    return mst_rng_mix(hash, mst_rng_hash_name(text));
}

static uint64_t add_spec(uint64_t hash, const mst_spec *spec) {
    hash = add_number(hash, (int64_t)spec->dtype);
    for (int d = 0; d < spec->shape.ndim; d++) hash = add_number(hash, spec->shape.dim[d]);
    return hash;
}

/* All options but the seed, which differs from shard to shard. */
static uint64_t add_options(uint64_t hash, const mst_field *fields, const void *options) {
    char text[TEXT];
    mst_options_print(fields, options, text, sizeof text);
    char *seed = strstr(text, "seed=");
    if (seed) memmove(seed, seed + strcspn(seed, ","), strlen(seed + strcspn(seed, ",")) + 1);
    return add_text(hash, text);
}

/* Slots belong to the optimizer, which is an option. */
static uint64_t add_weights(uint64_t hash, const mst_graph *graph) {
    for (int64_t n = 0; n < graph->num_nodes; n++) {
        const mst_node *node = graph->node[n];
        if (!(node->op->flags & MST_OP_VARIABLE)) continue;
        const mst_variable_options *o = node->options;
        if (o->kind == MST_STATE_WEIGHT) hash = add_spec(add_text(hash, node->name), &node->dst[0]);
    }
    return hash;
}

/* The weights, the replica of the first shard here, without the number of the shard in its names, and what is
 * reported. */
static uint64_t hash_program(const mst_trainer *trainer) {
    char scope[32];
    uint64_t hash = add_weights(0, trainer->graph);
    const int length = snprintf(scope, sizeof scope, "replica_%d/", trainer->strategy.first_shard);
    for (int64_t n = 0; n < trainer->graph->num_nodes; n++) {
        const mst_node *node = trainer->graph->node[n];
        if (strncmp(node->name, scope, (size_t)length) != 0) continue;
        hash = add_text(add_text(hash, node->op->name), node->name + length);
        hash = add_options(hash, node->op->fields, node->options);
    }
    for (int m = 0; m < trainer->num_metrics; m++) hash = add_text(hash, trainer->metric_name[m]);
    return hash;
}

static uint64_t hash_options(const mst_trainer *trainer, const mst_fit_options *o, int64_t batch_size) {
    static const int64_t steps[] = {0, 1, 10, 100, 1000, 10000}; /* where schedules are compared */
    const mst_schedule *schedule = &trainer->optimizer.schedule;
    uint64_t hash = add_options(add_text(0, trainer->optimizer.rule), mst_optimizer_fields, &trainer->optimizer);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && mst_schedule_is_set(schedule); i++) {
        const double rate = mst_schedule_at(schedule, steps[i]);
        int64_t bits;
        memcpy(&bits, &rate, sizeof bits);
        hash = add_number(hash, bits);
    }
    const int64_t numbers[] = {(int64_t)trainer->options.seed,
                               trainer->strategy.num_shards,
                               trainer->strategy.synchronous,
                               trainer->strategy.sharded_state,
                               trainer->strategy.by_bytes,
                               trainer->strategy.part_bytes,
                               trainer->strategy.max_staleness,
                               mst_precision_here(trainer->options.session.precision),
                               batch_size,
                               o->epochs,
                               o->steps,
                               o->no_shuffle,
                               o->drop_remainder,
                               (int64_t)(o->validation_split * 1e15),
                               o->validation_last,
                               o->check_replicas,
                               mst_is_served(trainer) ? 0 : mst_task_elastic_min(trainer->options.task)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) hash = add_number(hash, numbers[i]);
    return hash;
}

static uint64_t hash_data(const mst_trainer *trainer, const mst_dataset *data) {
    uint64_t hash = add_number(0, mst_dataset_num_rows(data));
    for (int c = 0; c < trainer->num_components; c++) hash = add_spec(hash, &trainer->row[c]);
    for (const mst_dataset *d = data; d; d = d->upstream)
        if (d->type->order) hash = add_number(hash, (int64_t)d->type->order(d));
    return hash;
}

void mst_workers_fingerprints(const mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                              mst_fingerprint out[MST_NUM_WORKER_FINGERPRINTS]) {
    out[0] = (mst_fingerprint){"version", mst_rng_hash_name(mst_version())};
    out[1] = (mst_fingerprint){"program", hash_program(trainer)};
    out[2] = (mst_fingerprint){"options", hash_options(trainer, options, batch_size)};
    out[3] = (mst_fingerprint){"data", hash_data(trainer, options->data)};
}

/* ---- joining ---- */

mst_status mst_workers_join(mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                            mst_task_joined *joined) {
    mst_task *task = trainer->options.task;
    mst_position position;
    *joined = (mst_task_joined){.copied = false};
    if (!task || mst_is_served(trainer) || mst_task_has_agreed(task)) return MST_OK;
    MST_TRY(mst_position_read(trainer, &position));
    MST_TRY(mst_position_adopt(trainer, &position));
    mst_fingerprint fingerprint[MST_NUM_WORKER_FINGERPRINTS];
    mst_workers_fingerprints(trainer, options, batch_size, fingerprint);
    MST_TRY(mst_sharded_prepare(trainer, position.number));
    const mst_task_state state = {.store = trainer->model->store,
                                  .number = trainer->sharded.lost ? MST_NO_STATE : position.number,
                                  .sharded = mst_is_sharded(trainer),
                                  .fingerprint = fingerprint,
                                  .num_fingerprints = MST_NUM_WORKER_FINGERPRINTS};
    MST_TRY(mst_task_join(task, &state, joined));
    if (mst_is_sharded(trainer) && !mst_task_is_chief(task)) mst_store_drop_wholes(trainer->model->store);
    trainer->sharded.lost = false;
    return mst_trainer_share_anew(trainer);
}

void mst_workers_committed(const mst_trainer *trainer, int64_t number) {
    if (trainer->options.task && !mst_is_served(trainer)) mst_task_committed(trainer->options.task, number);
}

mst_status mst_workers_check(const mst_trainer *trainer) {
    const mst_task *task = trainer->options.task;
    if (!task || mst_is_served(trainer) || !mst_task_elastic_min(task)) return MST_OK;
    return mst_group_check(mst_task_shards(task));
}

bool mst_workers_lost(const mst_trainer *trainer, mst_status status) {
    return status == MST_UNAVAILABLE && trainer->options.task && !mst_is_served(trainer) &&
           !mst_task_is_joined(trainer->options.task);
}

mst_status mst_workers_fail(const mst_trainer *trainer, mst_status status) {
    mst_task *task = trainer->options.task;
    return task && status && status != MST_CANCELLED ? mst_task_fail(task, status) : status;
}
