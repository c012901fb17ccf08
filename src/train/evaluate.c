#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "train/trainer.h"

static mst_status add_confusion(const mst_tensor *batch, mst_tensor **total) {
    if (!*total) MST_TRY(mst_tensor_create(mst_tensor_dtype(batch), mst_tensor_shape(batch), total));
    for (int64_t i = 0; i < mst_tensor_count(batch); i++)
        mst_tensor_set(*total, i, mst_tensor_get(*total, i) + mst_tensor_get(batch, i));
    return MST_OK;
}

static mst_status run(mst_trainer *trainer, mst_iterator *iterator, mst_result *result, mst_tensor **confusion) {
    mst_sharded_step *step = &trainer->evaluate;
    double loss = 0, examples = 0, sum[MST_MAX_METRICS] = {0}, count[MST_MAX_METRICS] = {0};
    for (;;) {
        const mst_batch *batch;
        MST_TRY(mst_iterator_next(iterator, &batch));
        if (!batch) break;
        MST_TRY(mst_trainer_run(step, batch));
        double rows = mst_tensor_get(step->output[MST_FETCH_COUNT], 0);
        loss += mst_tensor_get(step->output[MST_FETCH_LOSS], 0) * rows;
        examples += rows;
        for (int m = 0; m < trainer->num_metrics; m++) {
            sum[m] += mst_tensor_get(step->output[MST_FETCH_METRICS + 2 * m], 0);
            count[m] += mst_tensor_get(step->output[MST_FETCH_METRICS + 2 * m + 1], 0);
        }
        if (confusion && !mst_value_is_none(step->total_confusion))
            MST_TRY(add_confusion(step->output[step->num_fetches - 1], confusion));
    }
    if (result) {
        mst_position position;
        MST_TRY(mst_position_read(trainer, &position));
        *result = (mst_result){.step = position.step,
                               .examples = (int64_t)examples,
                               .loss = examples > 0 ? loss / examples : 0,
                               .num_metrics = trainer->num_metrics};
        memcpy(result->metric_name, trainer->metric_name, sizeof trainer->metric_name);
        for (int m = 0; m < trainer->num_metrics; m++) result->metric[m] = count[m] > 0 ? sum[m] / count[m] : 0;
    }
    return MST_OK;
}

mst_status mst_evaluate(mst_model *model, const mst_dataset *data, int64_t batch_size, mst_result *result,
                        mst_tensor **confusion) {
    if (MST_IS_NULL(model) || MST_IS_NULL(data)) return MST_INVALID;
    mst_trainer *trainer;
    mst_iterator *iterator;
    if (confusion) *confusion = NULL;
    MST_TRY(mst_trainer_of(model, &trainer));
    MST_TRY(mst_trainer_check_data(trainer, data, true, batch_size));
    MST_TRY(mst_trainer_build(trainer, &trainer->evaluate, false));
    MST_TRY(mst_trainer_pass(data, batch_size, &iterator));
    double began = mst_clock();
    mst_status status = run(trainer, iterator, result, confusion);
    mst_iterator_destroy(iterator);
    if (!status && result) {
        result->seconds = mst_clock() - began;
        result->examples_per_sec = result->seconds > 0 ? (double)result->examples / result->seconds : 0;
    }
    if (status && confusion) {
        mst_tensor_release(*confusion);
        *confusion = NULL;
    }
    return status;
}

/* ---- predict: on the first device ---- */

static mst_status build_predict(mst_trainer *trainer) {
    if (!mst_value_is_none(trainer->predict_output)) return MST_OK;
    mst_graph *graph = trainer->graph;
    mst_shape shape = {.ndim = trainer->row[0].shape.ndim + 1, .dim = {-1}};
    for (int i = 0; i < trainer->row[0].shape.ndim; i++) shape.dim[i + 1] = trainer->row[0].shape.dim[i];
    mst_with_device (graph, trainer->devices[0]) {
        /* shares the variables of training, which are there or are made now */
        mst_with_name (graph, "predict") {
            graph->current.reuse = MST_REUSE_AUTO; /* restored with the scope */
            trainer->predict_input = mst_placeholder(graph, trainer->row[0].dtype, shape, "inputs");
            trainer->predict_output = mst_model_call(trainer->model, trainer->predict_input, false);
        }
    }
    MST_TRY(mst_graph_check(graph));
    return mst_session_init_variables(trainer->session);
}

static mst_status predict_batch(mst_trainer *trainer, const mst_batch *batch, int64_t rows, int64_t *done,
                                mst_tensor **out) {
    mst_tensor *input = NULL, *output = NULL;
    MST_TRY(mst_batch_tensor(batch, 0, &input));
    mst_feed feed = {.value = trainer->predict_input, .tensor = input};
    mst_status status = mst_session_run(trainer->session, &feed, 1, &trainer->predict_output, 1, &output);
    mst_tensor_release(input);
    MST_TRY(status);
    mst_shape shape = mst_tensor_shape(output);
    shape.dim[0] = rows;
    if (!*out) status = mst_tensor_create(mst_tensor_dtype(output), shape, out);
    if (!status) {
        size_t row_bytes = mst_tensor_bytes(output) / (size_t)mst_batch_size(batch);
        memcpy((char *)mst_tensor_data(*out) + (size_t)*done * row_bytes, mst_tensor_data(output),
               mst_tensor_bytes(output));
        *done += mst_batch_size(batch);
    }
    mst_tensor_release(output);
    return status;
}

mst_status mst_predict(mst_model *model, const mst_dataset *data, int64_t batch_size, mst_tensor **out) {
    if (MST_IS_NULL(model) || MST_IS_NULL(data) || MST_IS_NULL(out)) return MST_INVALID;
    mst_trainer *trainer;
    mst_iterator *iterator;
    *out = NULL;
    MST_TRY(mst_trainer_of(model, &trainer));
    MST_TRY(mst_trainer_check_data(trainer, data, false, batch_size));
    int64_t rows = mst_dataset_num_rows(data), done = 0;
    if (rows < 0) return MST_FAIL(MST_INVALID, "predict: the data has no known number of rows");
    MST_TRY(build_predict(trainer));
    MST_TRY(mst_trainer_pass(data, batch_size, &iterator));
    mst_status status = MST_OK;
    for (const mst_batch *batch; !status;) {
        status = mst_iterator_next(iterator, &batch);
        if (status || !batch) break;
        status = predict_batch(trainer, batch, rows, &done, out);
    }
    mst_iterator_destroy(iterator);
    if (status) {
        mst_tensor_release(*out);
        *out = NULL;
    }
    return status;
}
