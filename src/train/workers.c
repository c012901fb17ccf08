#include "train/workers.h"

#include "store/store.h"
#include "train/position.h"
#include "train/served.h"
#include "train/sharded.h"

/* ---- joining ---- */

mst_status mst_workers_join(mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                            mst_task_joined *joined) {
    mst_task *task = trainer->options.task;
    mst_position position;
    *joined = (mst_task_joined){.copied = false};
    if (!task || mst_is_served(trainer) || mst_task_has_agreed(task)) return MST_OK;
    MST_TRY(mst_position_read(trainer, &position));
    MST_TRY(mst_position_adopt(trainer, &position));
    mst_fingerprint fingerprint[MST_FINGERPRINTS_MOST];
    const int32_t num_fingerprints = mst_workers_fingerprints(trainer, options, batch_size, fingerprint);
    MST_TRY(mst_sharded_prepare(trainer, position.number));
    const mst_task_state state = {.store = trainer->model->store,
                                  .number = trainer->sharded.lost ? MST_NO_STATE : position.number,
                                  .sharded = mst_is_sharded(trainer),
                                  .fingerprint = fingerprint,
                                  .num_fingerprints = num_fingerprints};
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

bool mst_workers_stop_together(const mst_trainer *trainer) {
    const mst_task *task = trainer->options.task;
    return task && !mst_is_served(trainer) && !mst_task_must_end(task);
}

mst_status mst_workers_stop(const mst_trainer *trainer, int64_t number) {
    return mst_workers_stop_together(trainer) ? mst_task_stop(trainer->options.task, number) : MST_OK;
}

void mst_workers_go_on(const mst_trainer *trainer) {
    if (trainer->options.task && !mst_is_served(trainer)) mst_task_goes_on(trainer->options.task);
}

bool mst_workers_are_stopped(const mst_trainer *trainer, int64_t first) {
    mst_task *task = trainer->options.task;
    return task && !mst_is_served(trainer) && mst_task_is_stopped(task, first);
}

mst_status mst_workers_fail(const mst_trainer *trainer, mst_status status) {
    mst_task *task = trainer->options.task;
    return task && status && status != MST_CANCELLED ? mst_task_fail(task, status) : status;
}
