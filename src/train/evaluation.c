/* mst_evaluate and mst_predict: one pass over the data.
 *
 * Evaluation runs a step of all shards that updates nothing. It adds up losses and metrics weighted by the number of
 * examples, so a smaller last batch counts only for its rows. Prediction runs the model on the first device, batch by
 * batch. It copies the outputs one after the other into a tensor of all rows. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "device/device.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "train/position.h"
#include "train/step_batches.h"
#include "train/trainer_data.h"

/* Begins one pass over DATA, whose components are converted to the dtypes of the model. */
static mst_status open_pass(const mst_trainer *trainer, const mst_dataset *data, bool with_labels, int64_t batch_size,
                            mst_iterator **out) {
    mst_dataset *converted;
    MST_TRY(mst_trainer_convert(trainer, data, with_labels, &converted));
    const mst_status status = mst_trainer_pass(trainer, converted, batch_size, out);
    mst_dataset_release(converted);
    return status;
}

static mst_status add_up(const mst_tensor *batch, mst_tensor **total) {
    if (!*total) MST_TRY(mst_tensor_create(mst_tensor_dtype(batch), mst_tensor_shape(batch), total));
    for (int64_t i = 0; i < mst_tensor_count(batch); i++)
        mst_tensor_set(*total, i, mst_tensor_get(*total, i) + mst_tensor_get(batch, i));
    return MST_OK;
}

/* The sums over the batches of an evaluation. */
typedef struct evaluation_sums {
    double loss, examples;
    mst_tensor *metric[2 * MST_MAX_METRICS]; /* sum and count of each; NULL: there was no batch */
} evaluation_sums;

static mst_status evaluation_run(mst_trainer *trainer, mst_step_batches *batches, evaluation_sums *all,
                                 mst_tensor **confusion) {
    mst_sharded_step *step = &trainer->evaluate;
    for (;;) {
        const mst_step_batch *batch;
        MST_TRY(mst_step_batches_next(batches, &batch));
        if (!batch) break;
        MST_TRY(mst_trainer_run(step, batch));
        double rows = mst_tensor_get(step->output[MST_FETCH_COUNT], 0);
        all->loss += mst_tensor_get(step->output[MST_FETCH_LOSS], 0) * rows;
        all->examples += rows;
        for (int i = 0; i < 2 * trainer->num_metrics; i++)
            MST_TRY(add_up(step->output[MST_FETCH_METRICS + i], &all->metric[i]));
        for (int o = 0; o < trainer->num_outputs && confusion; o++)
            if (step->confusion_at[o]) MST_TRY(add_up(step->output[step->confusion_at[o]], &confusion[o]));
    }
    return MST_OK;
}

static mst_status fill_result(mst_trainer *trainer, const evaluation_sums *all, mst_result *result) {
    mst_position position;
    MST_TRY(mst_position_read(trainer, &position));
    *result = (mst_result){.step = position.step,
                           .examples = (int64_t)all->examples,
                           .loss = all->examples > 0 ? all->loss / all->examples : 0,
                           .num_metrics = trainer->num_metrics};
    memcpy(result->metric_name, trainer->metric_name, sizeof trainer->metric_name);
    for (int m = 0; m < trainer->num_metrics; m++) {
        mst_tensor *const *sum = &all->metric[2 * m];
        if (sum[0]) result->metric[m] = mst_measure_result(&trainer->measure[m], sum[0], sum[1]);
    }
    return MST_OK;
}

/* Makes one pass over DATA, and fills RESULT. CONFUSION: [num_outputs], or NULL. */
static mst_status evaluate(mst_trainer *trainer, const mst_dataset *data, int64_t batch_size, mst_result *result,
                           mst_tensor **confusion) {
    mst_iterator *iterator;
    mst_step_batches *batches;
    MST_TRY(mst_trainer_check_data(trainer, data, true, batch_size));
    MST_TRY(mst_trainer_build(trainer, &trainer->evaluate, false));
    MST_TRY(open_pass(trainer, data, true, batch_size, &iterator));
    MST_TRY(mst_step_batches_create(&trainer->evaluate, iterator, &batches));
    double began = mst_clock_seconds();
    evaluation_sums all = {0};
    trainer->evaluate.counts_confusion = confusion != NULL;
    mst_status status = evaluation_run(trainer, batches, &all, confusion);
    mst_step_batches_destroy(batches);
    if (!status && result) status = fill_result(trainer, &all, result);
    for (int i = 0; i < 2 * trainer->num_metrics; i++) mst_tensor_release(all.metric[i]);
    if (!status && result) {
        result->seconds = mst_clock_seconds() - began;
        result->examples_per_sec = result->seconds > 0 ? (double)result->examples / result->seconds : 0;
    }
    for (int o = 0; status && confusion && o < trainer->num_outputs; o++) {
        mst_tensor_release(confusion[o]);
        confusion[o] = NULL;
    }
    return status;
}

mst_status mst_evaluate(mst_model *model, const mst_dataset *data, int64_t batch_size, mst_result *result,
                        mst_tensor **confusion) {
    if (MST_IS_NULL(model) || MST_IS_NULL(data)) return MST_INVALID;
    mst_trainer *trainer;
    if (confusion) *confusion = NULL;
    MST_TRY(mst_trainer_of(model, &trainer));
    return evaluate(trainer, data, batch_size, result, trainer->num_outputs == 1 ? confusion : NULL);
}

mst_status mst_evaluate_all(mst_model *model, const mst_dataset *data, int64_t batch_size, mst_result *result,
                            mst_tensor **confusion, int num_outputs) {
    for (int o = 0; confusion && o < num_outputs; o++) confusion[o] = NULL;
    if (MST_IS_NULL(model) || MST_IS_NULL(data)) return MST_INVALID;
    mst_trainer *trainer;
    MST_TRY(mst_trainer_of(model, &trainer));
    if (num_outputs != trainer->num_outputs)
        return MST_FAIL(MST_INVALID, "evaluate: num_outputs is %d, but the model has %d outputs", num_outputs,
                        trainer->num_outputs);
    return evaluate(trainer, data, batch_size, result, confusion);
}

/* ---- predict: on the first device ---- */

mst_status mst_trainer_build_predict(mst_trainer *trainer) {
    if (trainer->predict) return MST_OK;
    mst_graph *graph = trainer->graph;
    const int num_inputs = trainer->num_inputs;
    mst_value *predict = calloc((size_t)(num_inputs + trainer->num_outputs), sizeof *predict);
    if (!predict) return MST_NO_MEMORY("to predict");
    mst_with_soft_device (graph, trainer->devices[0]) {
        /* shares the variables of training; makes them if they do not exist */
        mst_with_name (graph, "predict") {
            graph->current.reuse = MST_REUSE_AUTO; /* restored with the scope */
            for (int i = 0; i < num_inputs; i++)
                predict[i] = mst_trainer_placeholder(graph, &trainer->row[i], "inputs");
            mst_model_call_all(trainer->model, predict, num_inputs, false, predict + num_inputs, trainer->num_outputs);
        }
    }
    trainer->predict = predict;
    MST_TRY(mst_graph_check(graph));
    return mst_session_init_variables(trainer->session);
}

/* The predictions of an output for all rows need one block of memory. Checks that there is memory for all COUNT outputs
 * of SPEC together, as far as their sizes are known. */
static mst_status check_room(const mst_spec *spec, int count, int64_t rows) {
    int64_t all = 0;
    for (int o = 0; o < count; o++) {
        int64_t bytes = (int64_t)mst_dtype_size(spec[o].dtype);
        bool known = spec[o].shape.ndim > 0;
        for (int i = 0; i < spec[o].shape.ndim; i++) {
            const int64_t size = i ? spec[o].shape.dim[i] : rows;
            known &= size >= 0;
            if (known && __builtin_mul_overflow(bytes, size, &bytes)) bytes = INT64_MAX;
        }
        if (known && __builtin_add_overflow(all, bytes, &all)) all = INT64_MAX;
    }
    return mst_host_check(all, "predict: the predictions for all rows", "predict fewer rows at a time");
}

/* Refuses predictions of all ROWS that would not fit into memory, before the first batch takes any. Nearly all sizes
 * are known beforehand. The others are checked by check_outputs. */
static mst_status check_predictions(const mst_trainer *trainer, int64_t rows) {
    mst_spec spec[MST_MAX_OUTPUTS];
    for (int o = 0; o < trainer->num_outputs; o++) spec[o] = mst_value_spec(trainer->predict[trainer->num_inputs + o]);
    return check_room(spec, trainer->num_outputs, rows);
}

/* As check_predictions, after the first batch: all sizes of its outputs are known. */
static mst_status check_outputs(mst_tensor *const *output, int count, int64_t rows) {
    mst_spec spec[MST_MAX_OUTPUTS];
    for (int o = 0; o < count; o++)
        spec[o] = (mst_spec){.dtype = mst_tensor_dtype(output[o]), .shape = mst_tensor_shape(output[o])};
    return check_room(spec, count, rows);
}

/* Copies the output NAME of a batch into *ALL, after the DONE rows that it has. *ALL has ROWS rows; if it is NULL, it
 * is made. */
static mst_status keep_output(const char *name, const mst_tensor *output, int64_t batch_size, int64_t rows,
                              int64_t done, mst_tensor **all) {
    mst_shape shape = mst_tensor_shape(output);
    char text[MST_SHAPE_TEXT];
    if (shape.ndim < 1 || shape.dim[0] != batch_size)
        return MST_FAIL(
            MST_INVALID,
            "predict: output '%s' is %s for a batch of %lld rows: it must have one row for each row of the data", name,
            mst_shape_print(shape, text, sizeof text), (long long)batch_size);
    shape.dim[0] = rows;
    if (*all && !mst_shape_equal(mst_tensor_shape(*all), shape))
        return MST_FAIL(MST_INVALID,
                        "predict: the rows of an output changed their shape from one batch to the next: pad the "
                        "data to a given shape (mst_padding)");
    if (!*all) MST_TRY(mst_tensor_create(mst_tensor_dtype(output), shape, all));
    const size_t row_bytes = mst_tensor_bytes(output) / (size_t)batch_size;
    memcpy((char *)mst_tensor_data(*all) + (size_t)done * row_bytes, mst_tensor_data(output), mst_tensor_bytes(output));
    return MST_OK;
}

static mst_status predict_batch(mst_trainer *trainer, const mst_batch *batch, int64_t rows, int64_t done,
                                mst_tensor **out) {
    mst_tensor *output[MST_MAX_OUTPUTS] = {NULL};
    mst_feed *feed = calloc((size_t)trainer->num_inputs, sizeof *feed);
    mst_status status = feed ? MST_OK : MST_NO_MEMORY("to predict");
    for (int i = 0; !status && i < trainer->num_inputs; i++) {
        feed[i].value = trainer->predict[i];
        status = mst_batch_tensor(batch, i, &feed[i].tensor);
    }
    if (!status)
        status = mst_session_run(trainer->session, feed, trainer->num_inputs, trainer->predict + trainer->num_inputs,
                                 trainer->num_outputs, output);
    for (int i = 0; feed && i < trainer->num_inputs; i++) mst_tensor_release(feed[i].tensor);
    free(feed);
    if (!status && !done) status = check_outputs(output, trainer->num_outputs, rows);
    for (int o = 0; o < trainer->num_outputs; o++) {
        if (!status)
            status = keep_output(mst_model_output_name(trainer->model, o), output[o], mst_batch_size(batch), rows, done,
                                 &out[o]);
        mst_tensor_release(output[o]);
    }
    return status;
}

mst_status mst_predict_all(mst_model *model, const mst_dataset *data, int64_t batch_size, mst_tensor **out,
                           int num_outputs) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    for (int o = 0; o < num_outputs; o++) out[o] = NULL;
    if (MST_IS_NULL(model) || MST_IS_NULL(data)) return MST_INVALID;
    mst_trainer *trainer;
    mst_iterator *iterator;
    MST_TRY(mst_trainer_of(model, &trainer));
    if (num_outputs != trainer->num_outputs)
        return MST_FAIL(MST_INVALID, "predict: num_outputs is %d, but the model has %d outputs", num_outputs,
                        trainer->num_outputs);
    MST_TRY(mst_trainer_check_data(trainer, data, false, batch_size));
    int64_t rows = mst_dataset_num_rows(data), done = 0;
    if (rows < 0)
        return MST_FAIL(MST_INVALID,
                        "predict: the number of rows of the data is not known: take some of them (mst_dataset_take)");
    MST_TRY(mst_trainer_build_predict(trainer));
    MST_TRY(check_predictions(trainer, rows));
    MST_TRY(open_pass(trainer, data, false, batch_size, &iterator));
    mst_status status = MST_OK;
    for (const mst_batch *batch; !status;) {
        status = mst_iterator_next(iterator, &batch);
        if (status || !batch) break;
        status = predict_batch(trainer, batch, rows, done, out);
        done += mst_batch_size(batch);
    }
    mst_iterator_destroy(iterator);
    for (int o = 0; status && o < num_outputs; o++) {
        mst_tensor_release(out[o]);
        out[o] = NULL;
    }
    return status;
}

mst_status mst_predict(mst_model *model, const mst_dataset *data, int64_t batch_size, mst_tensor **out) {
    if (MST_IS_NULL(model) || MST_IS_NULL(data) || MST_IS_NULL(out)) return MST_INVALID;
    return mst_predict_all(model, data, batch_size, out, 1);
}
