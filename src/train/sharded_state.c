#include "train/sharded_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/shard_rows.h"
#include "collective/collectives.h"
#include "graph/graph.h"
#include "messages/state_message.h"
#include "muster/ops.h"
#include "op/list.h"
#include "op/state/apply_gradients.h"
#include "op/state/state_parts.h"
#include "op/state/variable.h"
#include "store/store.h"
#include "strategy/strategy.h"
#include "task/task.h"

bool mst_is_sharded(const mst_trainer *trainer) {
    return trainer->strategy.sharded_state;
}

void mst_sharded_free(mst_trainer *trainer) {
    if (trainer->sharded.kept) fclose(trainer->sharded.kept);
    mst_tensor_release(trainer->sharded.want);
}

/* ---- asking for the slots ---- */

void mst_sharded_build(mst_trainer *trainer, mst_sharded_step *step) {
    mst_graph *graph = trainer->graph;
    const int count = mst_strategy_window(&step->strategy).count;
    if (!mst_is_sharded(trainer)) return;
    mst_value *wants = calloc((size_t)count, sizeof *wants);
    mst_tensor_release(trainer->sharded.want); /* tensor of a step that was built before */
    trainer->sharded.want = NULL;
    if (!wants || mst_tensor_create(MST_F32, MST_SCALAR, &trainer->sharded.want)) {
        free(wants);
        MST_VALUE_NO_MEMORY(graph, "for a step");
        return;
    }
    mst_with_soft_device (graph, trainer->devices[0]) {
        wants[0] = trainer->sharded.wants = mst_placeholder(graph, MST_F32, MST_SCALAR, "fit/wants");
        for (int s = 1; s < count; s++) wants[s] = mst_scalar(graph, MST_F32, 0);
        trainer->sharded.fetch = step->num_fetches;
        step->fetch[step->num_fetches++] = mst_strategy_sum(&step->strategy, wants);
    }
    free(wants);
}

void mst_sharded_feed(mst_trainer *trainer, mst_sharded_step *step, int *num_feeds) {
    if (!step->training || !mst_is_sharded(trainer)) return;
    mst_store_drop_wholes(trainer->model->store);
    mst_tensor_set(trainer->sharded.want, 0, trainer->sharded.wants_next);
    trainer->sharded.wants_next = false;
    step->feed[(*num_feeds)++] = (mst_feed){.value = trainer->sharded.wants, .tensor = trainer->sharded.want};
}

void mst_sharded_want(mst_trainer *trainer) {
    trainer->sharded.wants_next = true;
}

mst_status mst_sharded_after_step(mst_trainer *trainer) {
    if (!mst_is_sharded(trainer)) return MST_OK;
    if (!(mst_tensor_get(trainer->train.output[trainer->sharded.fetch], 0) > 0)) return MST_OK;
    MST_TRY(mst_sharded_collect(trainer));
    return mst_sharded_keep(trainer);
}

/* ---- all slots ---- */

/* One slot variable. */
typedef struct slot {
    const mst_node *node;
    double initial;       /* initial value of its elements */
    mst_shape whole;      /* shape of the whole slot, of which each worker has a part */
    const int64_t *begin; /* [num_parts + 1] where the parts begin (mst_state_parts) */
    int32_t num_parts, part;
} slot;

typedef mst_status (*slot_function)(mst_trainer *trainer, const slot *s);

static mst_status each_of_update(mst_trainer *trainer, const mst_node *applied, mst_shape *shape, int64_t *parts,
                                 slot_function function) {
    const mst_apply_options *o = applied->options;
    for (int v = 0; v < o->num_variables; v++) shape[v] = mst_value_spec(applied->src[mst_apply_source(o, v)]).shape;
    const mst_dtype dtype = o->masters ? MST_F32 : mst_value_spec(applied->src[mst_apply_source(o, 0)]).dtype;
    mst_state_parts(shape, o->num_variables, (int64_t)mst_dtype_size(dtype), o->num_parts, parts);
    for (int v = 0; v < o->num_variables; v++)
        for (int k = 0; k < o->num_slots; k++) {
            slot s = {.node = applied->src[mst_apply_source(o, v) + 1 + k].node,
                      .whole = shape[v],
                      .begin = parts + (int64_t)v * (o->num_parts + 1),
                      .num_parts = o->num_parts,
                      .part = o->part};
            (void)mst_apply_slot(o, k, &s.initial);
            MST_TRY(function(trainer, &s));
        }
    return MST_OK;
}

/* Calls FUNCTION for each slot of the graph, in the same order on all workers. */
static mst_status each_slot(mst_trainer *trainer, slot_function function) {
    for (int64_t n = 0; n < trainer->graph->num_nodes; n++) {
        const mst_node *node = trainer->graph->node[n];
        const mst_apply_options *o = node->options;
        if (node->op != &mst_op_apply_gradients || !o->num_parts) continue;
        mst_shape *shape = calloc((size_t)o->num_variables, sizeof *shape);
        int64_t *parts = calloc((size_t)o->num_variables * ((size_t)o->num_parts + 1), sizeof *parts);
        const mst_status status = shape && parts ? each_of_update(trainer, node, shape, parts, function)
                                                 : MST_NO_MEMORY("for the slots of %d variables", o->num_variables);
        free(shape);
        free(parts);
        MST_TRY(status);
    }
    return MST_OK;
}

static const char *container_of(const slot *s) {
    return ((const mst_variable_options *)s->node->options)->container;
}

static mst_status declare_slot(mst_trainer *trainer, const slot *s) {
    mst_store_set_part(trainer->model->store, container_of(s), s->node->name, s->whole, s->begin[s->part]);
    return MST_OK;
}

mst_status mst_sharded_declare(mst_trainer *trainer) {
    return mst_is_sharded(trainer) ? each_slot(trainer, declare_slot) : MST_OK;
}

/* Gathers the parts of a slot; OWN is this worker's part. */
static mst_status gather_slot(mst_trainer *trainer, const slot *s, mst_tensor *own) {
    const mst_task *task = trainer->options.task;
    const double timeout = trainer->options.session.timeout;
    const int64_t deadline = mst_clock_after(timeout > 0 ? timeout : MST_DEFAULT_TIMEOUT);
    const size_t element = mst_dtype_size(mst_tensor_dtype(own));
    size_t *bytes = calloc((size_t)s->num_parts, sizeof *bytes);
    mst_tensor *whole = NULL;
    if (!bytes) return MST_NO_MEMORY("for the slots of %d workers", s->num_parts);
    for (int32_t m = 0; m < s->num_parts; m++) bytes[m] = (size_t)(s->begin[m + 1] - s->begin[m]) * element;
    mst_status status = MST_OK;
    if (mst_task_is_chief(task)) {
        status = mst_tensor_create(mst_tensor_dtype(own), s->whole, &whole);
        if (!status && bytes[s->part])
            memcpy((char *)mst_tensor_data(whole) + (size_t)s->begin[s->part] * element, mst_tensor_data(own),
                   bytes[s->part]);
    }
    if (!status)
        status = mst_group_gather(mst_task_shards(task), 0, bytes, mst_tensor_data(whole ? whole : own), deadline);
    if (!status && whole) mst_store_hold_whole(trainer->model->store, container_of(s), s->node->name, whole);
    mst_tensor_release(whole);
    free(bytes);
    return status;
}

static mst_status collect_slot(mst_trainer *trainer, const slot *s) {
    mst_tensor *own;
    MST_TRY(mst_store_get(trainer->model->store, container_of(s), s->node->name, &own));
    const mst_status status = gather_slot(trainer, s, own);
    mst_tensor_release(own);
    return status;
}

mst_status mst_sharded_collect(mst_trainer *trainer) {
    return mst_is_sharded(trainer) ? each_slot(trainer, collect_slot) : MST_OK;
}

/* ---- the state that is kept ---- */

static mst_status write_kept(FILE *file, const void *data, size_t bytes) {
    rewind(file);
    if (fwrite(&bytes, sizeof bytes, 1, file) == 1 && fwrite(data, 1, bytes, file) == bytes && !fflush(file))
        return MST_OK;
    return MST_FAIL(MST_IO,
                    "fit: cannot write the state to which workers go back after a loss to a temporary file in /tmp: "
                    "see whether its disk is full");
}

mst_status mst_sharded_keep(mst_trainer *trainer) {
    mst_snapshot *snapshot;
    void *data;
    size_t bytes;
    if (!mst_is_sharded(trainer) || !mst_task_is_chief(trainer->options.task)) return MST_OK;
    if (!trainer->sharded.kept && !(trainer->sharded.kept = tmpfile()))
        return MST_FAIL(
            MST_IO, "fit: cannot make a temporary file in /tmp for the state to which workers go back after a loss");
    MST_TRY(mst_store_snapshot_wholes(trainer->model->store, &snapshot));
    mst_status status = mst_state_message_encode(snapshot, &data, &bytes);
    mst_snapshot_release(snapshot);
    if (status) return status;
    trainer->sharded.has_kept = false;
    status = write_kept(trainer->sharded.kept, data, bytes);
    trainer->sharded.has_kept = !status;
    free(data);
    return status;
}

static mst_status read_kept(FILE *file, mst_snapshot **out) {
    size_t bytes = 0;
    rewind(file);
    if (fread(&bytes, sizeof bytes, 1, file) != 1) bytes = 0;
    void *data = malloc(bytes + 1);
    if (!data) return MST_NO_MEMORY("for the state to which workers go back");
    mst_status status = fread(data, 1, bytes, file) == bytes
                            ? mst_state_message_decode(data, bytes, out)
                            : MST_FAIL(MST_IO, "fit: the state to which workers go back cannot be read");
    free(data);
    return status;
}

/* Makes the store hold the whole slot with its values before the first step. */
static mst_status fill_slot(mst_trainer *trainer, const slot *s) {
    mst_tensor *whole;
    MST_TRY(mst_tensor_create(s->node->dst[0].dtype, s->whole, &whole));
    for (int64_t i = 0; i < mst_tensor_count(whole) && s->initial != 0; i++) mst_tensor_set(whole, i, s->initial);
    mst_store_hold_whole(trainer->model->store, container_of(s), s->node->name, whole);
    mst_tensor_release(whole);
    return MST_OK;
}

mst_status mst_sharded_prepare(mst_trainer *trainer, int64_t number) {
    if (!mst_is_sharded(trainer) || !mst_task_is_chief(trainer->options.task) || number != 0 ||
        mst_store_has_wholes(trainer->model->store))
        return MST_OK;
    return each_slot(trainer, fill_slot);
}

/* Clears the entries that training adds to the store once it has begun. An earlier state may not have them, and
 * restoring it would leave them unchanged. */
static mst_status forget_position(mst_trainer *trainer) {
    const unsigned kinds = 1u << MST_STATE_CURSOR | 1u << MST_STATE_METRIC | 1u << MST_STATE_RANDOM;
    return mst_store_clear(trainer->model->store, kinds);
}

mst_status mst_sharded_go_back(mst_trainer *trainer) {
    mst_snapshot *kept;
    if (!mst_is_sharded(trainer)) return MST_OK;
    trainer->sharded.lost = !mst_task_is_chief(trainer->options.task);
    trainer->sharded.wants_next = false;
    if (trainer->sharded.lost) return forget_position(trainer);
    if (!trainer->sharded.has_kept) { /* the chief keeps no state: no step was made since the workers came together */
        if (mst_store_has_wholes(trainer->model->store)) return MST_OK;
        return MST_FAIL(MST_UNAVAILABLE,
                        "fit: a worker was lost with its part of the optimizer's state, and no earlier state was kept: "
                        "start the job again from its checkpoint");
    }
    MST_TRY(read_kept(trainer->sharded.kept, &kept));
    mst_status status = forget_position(trainer);
    if (!status) status = mst_store_restore(trainer->model->store, kept);
    mst_snapshot_release(kept);
    return status;
}
