#include "train/epoch_sums.h"

#include "train/position.h"

static void release(mst_tensor **sum, int count) {
    for (int i = 0; i < count; i++) {
        mst_tensor_release(sum[i]);
        sum[i] = NULL;
    }
}

void mst_epoch_sums_free(mst_epoch_sums *sums) {
    if (sums->trainer) release(sums->before, MST_NUM_SUMS(sums->trainer->num_metrics));
}

mst_status mst_epoch_sums_begin(mst_epoch_sums *sums) {
    const mst_cooperation_rules *rules = &sums->trainer->rules;
    if (!rules->counts_others || rules->in_step) return MST_OK;
    mst_epoch_sums_free(sums);
    return mst_position_sums(sums->trainer, sums->before);
}

void mst_epoch_sums_take(const mst_epoch_sums *sums, mst_tensor *const *output, mst_train_state *state) {
    for (int m = 0; m < state->num_metrics; m++, output += 2)
        state->metric[m] = mst_measure_result(&sums->trainer->measure[m], output[0], output[1]);
    const double examples = mst_tensor_get(output[1], 0);
    state->loss = examples > 0 ? mst_tensor_get(output[0], 0) / examples : 0;
    state->examples = (int64_t)examples;
}

static void subtract(mst_tensor *sum, const mst_tensor *before) {
    for (int64_t i = 0; i < mst_tensor_count(sum); i++)
        mst_tensor_set(sum, i, mst_tensor_get(sum, i) - mst_tensor_get(before, i));
}

mst_status mst_epoch_sums_read(const mst_epoch_sums *sums, mst_train_state *state) {
    mst_tensor *sum[MST_NUM_SUMS(MST_MAX_METRICS)] = {NULL};
    const int count = MST_NUM_SUMS(sums->trainer->num_metrics);
    mst_status status = mst_position_sums(sums->trainer, sum);
    for (int i = 0; i < count && sums->before[0] && !status; i++) subtract(sum[i], sums->before[i]);
    if (!status) mst_epoch_sums_take(sums, sum, state);
    release(sum, count);
    return status;
}
