#include "train/trainer_data.h"

#include "data/dataset.h"
#include "graph/spec.h"
#include "strategy/strategy.h"
#include "train/trainer_objective.h"

enum { BATCHES_AHEAD = 2 };

/* Whether TO can hold each value of FROM, so that data of dtype FROM can be fed to a model for TO. */
static bool holds_all(mst_dtype to, mst_dtype from) {
    switch ((int)from) {
        case MST_BOOL: return to == MST_U8 || to == MST_I32 || to == MST_I64 || to == MST_F32 || to == MST_F64;
        case MST_U8: return to == MST_I32 || to == MST_I64 || to == MST_F32 || to == MST_F64;
        case MST_I32: return to == MST_I64 || to == MST_F64;
        case MST_F32: return to == MST_F64;
        default: return false;
    }
}

mst_status mst_trainer_convert(const mst_trainer *trainer, const mst_dataset *data, bool with_labels,
                               mst_dataset **out) {
    const int components = with_labels ? trainer->num_components : trainer->num_inputs;
    *out = mst_dataset_retain((mst_dataset *)(uintptr_t)data);
    for (int i = 0; i < components; i++) {
        mst_dataset *before = *out;
        if (before->row[i].dtype == trainer->row[i].dtype) continue;
        const mst_status status = mst_dataset_scale(before, i, trainer->row[i].dtype, 1, out);
        mst_dataset_release(before);
        MST_TRY(status);
    }
    return MST_OK;
}

mst_status mst_trainer_check_data(mst_trainer *trainer, const mst_dataset *data, bool with_labels, int64_t batch_size) {
    if (!data) return MST_FAIL(MST_INVALID, "no data");
    MST_TRY(mst_dataset_check(data));
    const int needed = with_labels ? trainer->num_components : trainer->num_inputs;
    const int have_components = mst_dataset_num_components(data);
    char name[160];
    if (have_components < needed)
        return MST_FAIL(MST_INVALID, "the data has %d component%s but needs %d: %s are missing", have_components,
                        have_components == 1 ? "" : "s", needed,
                        mst_objective_component(trainer, have_components, name));
    int64_t rows = mst_dataset_num_rows(data);
    bool batched = data->batch_size > 0;
    if (batched && batch_size != 0 && batch_size != data->batch_size)
        return MST_FAIL(
            MST_INVALID,
            "batch size is %lld, but the data already comes in batches of %lld: leave the batch size out (0)",
            (long long)batch_size, (long long)data->batch_size);
    if (!batched && batch_size < 1)
        return MST_FAIL(MST_INVALID, "batch size is %lld, must be at least 1", (long long)batch_size);
    if (rows == 0) return MST_FAIL(MST_INVALID, "the data has no rows");
    if (with_labels) MST_TRY(mst_objective_check_labels(trainer, data));
    for (int i = 0; i < needed; i++) {
        mst_spec spec = data->row[i];
        char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
        const char *what = mst_objective_component(trainer, i, name);
        const bool takes_strings = i < trainer->num_inputs && trainer->model->input[i].row.dtype == MST_STRING;
        if (spec.dtype == MST_STRING && !takes_strings)
            return MST_FAIL(MST_INVALID, "%s are strings: make numbers of them (mst_dataset_map)%s", what,
                            i < trainer->num_inputs ? ", or give the model an input of strings" : "");
        MST_TRY(mst_dataset_want_values(data, i, what));
        if (!trainer->row[i].dtype) {
            trainer->row[i] = spec;
            if (i < trainer->num_inputs) mst_model_learn_input(trainer->model, i, spec);
        }
        if (holds_all(trainer->row[i].dtype, spec.dtype)) spec.dtype = trainer->row[i].dtype;
        if (!mst_spec_equal(&trainer->row[i], &spec))
            return MST_FAIL(MST_INVALID, "%s are %s, the model was built for %s", what,
                            mst_spec_print(&spec, have, sizeof have),
                            mst_spec_print(&trainer->row[i], want, sizeof want));
    }
    return MST_OK;
}

mst_status mst_trainer_check_end(const mst_dataset *data) {
    if (mst_dataset_num_rows(data) == MST_INFINITE)
        return MST_FAIL(MST_INVALID, "the data has no end: take some rows of it (mst_dataset_take)");
    return MST_OK;
}

static mst_status read_ahead(mst_dataset **batches) {
    mst_dataset *ahead;
    if (!mst_dataset_makes_rows(*batches)) return MST_OK;
    MST_TRY(mst_dataset_prefetch(*batches, BATCHES_AHEAD, &ahead));
    mst_dataset_release(*batches);
    *batches = ahead;
    return MST_OK;
}

mst_status mst_trainer_batches(const mst_trainer *trainer, mst_dataset *data, int64_t batch_size, bool drop_remainder,
                               mst_dataset **batches) {
    if (!data->batch_size) {
        MST_TRY(mst_dataset_batch(data, batch_size, drop_remainder, batches));
        return read_ahead(batches);
    }
    *batches = mst_dataset_retain(data);
    /* a component that the model does not use may have rows that a prefetch cannot copy */
    bool can_read_ahead = mst_strategy_compiles(&trainer->strategy);
    for (int i = 0; i < data->num_components; i++) can_read_ahead &= mst_dataset_has_values(data, i);
    return can_read_ahead ? read_ahead(batches) : MST_OK;
}

mst_status mst_trainer_pass(const mst_trainer *trainer, const mst_dataset *data, int64_t batch_size,
                            mst_iterator **out) {
    mst_dataset *batches = NULL;
    *out = NULL;
    MST_TRY(mst_trainer_check_end(data));
    mst_status status = mst_trainer_batches(trainer, (mst_dataset *)(uintptr_t)data, batch_size, false, &batches);
    if (!status) status = mst_iterator_create(batches, 0, out);
    mst_dataset_release(batches);
    return status;
}
