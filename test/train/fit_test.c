/* mst_fit, mst_evaluate and mst_predict as a caller has them: a small model of separable classes learns, batches and
 * devices change nothing that they should not, one seed gives one hash of the weights, and data or options that do
 * not fit are refused with their place. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "support/test.h"
#include "support/training.h"

enum { ROWS = 200, FEATURES = 6, CLASSES = 3, BATCH = 20 };

static mst_model *compiled(mst_optimizer optimizer, const char *devices, uint64_t seed) {
    mst_model *model = training_model(16, CLASSES, 0);
    EXPECT_OK(mst_compile(model, .optimizer = optimizer, .metric = {MST_METRIC_ACCURACY},
                          .session = {.devices = devices}, .seed = seed));
    return model;
}

static void fit_learns_separable_classes(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = compiled(mst_adam(.learning_rate = 0.05), "cpu:2/1", 1);
    mst_fit_options options = {.data = data, .batch_size = BATCH, .epochs = 60};
    mst_result result;
    EXPECT_OK(mst_fit_with(model, &options, &result));
    assert_true(result.metric[0] > 0.999);
    assert_true(result.loss < 0.2);
    assert_int_equal(result.step, 60 * ROWS / BATCH);
    assert_int_equal(result.epochs, 60);
    assert_int_equal(result.examples, ROWS);
    assert_string_equal(result.metric_name[0], "accuracy");
    assert_true(result.examples_per_sec > 0 && result.seconds > 0 && result.first_step_seconds > 0);
    assert_true(result.waited_for_data >= 0 && result.waited_for_data <= 1);
    assert_false(result.stopped);
    EXPECT_OK(mst_evaluate(model, data, BATCH, &result, NULL));
    assert_true(result.metric[0] == 1);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void models_of_the_mnist_form_have_its_variables(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_model_mlp(model, (int64_t[]){10}, 1, CLASSES, 1e-4f);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.1)));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH));
    static const char *const names[] = {"layer1/weights", "layer1/biases", "layer2/weights", "layer2/biases"};
    for (int i = 0; i < 4; i++) assert_non_null(mst_graph_find(mst_model_graph(model), names[i]));
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void rows_of_one_number_are_flattened_to_one_column(void **state) {
    (void)state;
    mst_tensor *tensor[2];
    mst_dataset *data;
    mst_model *model;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(BATCH), &tensor[0]));
    EXPECT_OK(mst_tensor_create(MST_I32, MST_SHAPE(BATCH), &tensor[1]));
    for (int i = 0; i < BATCH; i++) {
        mst_tensor_set(tensor[0], i, i);
        mst_tensor_set(tensor[1], i, i % CLASSES);
    }
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &data));
    EXPECT_OK(mst_model_create(&model));
    mst_flatten(model);
    mst_dense(model, CLASSES, .name = "dense");
    EXPECT_OK(mst_compile(model, .seed = 1));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH));
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
}

/* ---- evaluate and predict ---- */

static void partial_batches_evaluate_like_the_whole(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *test = training_data(47, FEATURES, CLASSES, 2);
    for (int devices = 1; devices <= 2; devices++) {
        mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), devices == 1 ? "cpu:1/1" : "cpu:2/1", 1);
        EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH));
        mst_result whole, parts;
        mst_tensor *confusion[2];
        EXPECT_OK(mst_evaluate(model, test, 47, &whole, &confusion[0]));
        for (int64_t batch = 1; batch < 47; batch += 9) {
            EXPECT_OK(mst_evaluate(model, test, batch, &parts, &confusion[1]));
            assert_true(fabs(parts.loss - whole.loss) < 1e-6);
            assert_true(fabs(parts.metric[0] - whole.metric[0]) < 1e-12);
            assert_int_equal(parts.examples, 47);
            assert_true(engine_same_bits(confusion[0], confusion[1]));
            mst_tensor_release(confusion[1]);
        }
        mst_tensor_release(confusion[0]);
        mst_model_destroy(model);
    }
    mst_dataset_release(data);
    mst_dataset_release(test);
}

static void confusion_counts_labels_by_rows_and_predictions_by_columns(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *test = training_data(47, FEATURES, CLASSES, 2);
    mst_tensor *test_tensors[2], *predictions, *confusion;
    training_tensors(47, FEATURES, CLASSES, 2, test_tensors);
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:2/1", 1);
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 2));
    EXPECT_OK(mst_evaluate(model, test, 10, NULL, &confusion));
    EXPECT_OK(mst_predict(model, test, 10, &predictions));
    assert_true(mst_tensor_dtype(confusion) == MST_I64);
    assert_true(mst_shape_equal(mst_tensor_shape(confusion), MST_SHAPE(CLASSES, CLASSES)));
    double counts[CLASSES][CLASSES] = {{0}};
    for (int64_t i = 0; i < 47; i++) {
        int best = 0;
        for (int c = 1; c < CLASSES; c++)
            if (mst_tensor_get(predictions, i * CLASSES + c) > mst_tensor_get(predictions, i * CLASSES + best))
                best = c;
        counts[(int)mst_tensor_get(test_tensors[1], i)][best]++;
    }
    for (int64_t i = 0; i < CLASSES * CLASSES; i++)
        assert_true(mst_tensor_get(confusion, i) == counts[i / CLASSES][i % CLASSES]);
    for (int i = 0; i < 2; i++) mst_tensor_release(test_tensors[i]);
    mst_tensor_release(predictions);
    mst_tensor_release(confusion);
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_dataset_release(test);
}

static void predictions_are_in_the_order_of_the_data_whatever_the_batch(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    mst_tensor *before, *whole, *parts;
    EXPECT_OK(mst_predict(model, data, ROWS, &before)); /* with initial weights */
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH));
    EXPECT_OK(mst_predict(model, data, ROWS, &whole));
    EXPECT_OK(mst_predict(model, data, 33, &parts));
    assert_true(mst_shape_equal(mst_tensor_shape(whole), MST_SHAPE(ROWS, CLASSES)));
    assert_true(engine_distance(parts, whole) < 1e-5);
    assert_true(engine_distance(before, whole) > 1e-3);
    mst_tensor_release(before);
    mst_tensor_release(whole);
    mst_tensor_release(parts);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void dropout_acts_while_training_only(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model;
    mst_tensor *a, *b;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 16, .activation = MST_RELU);
    mst_dropout(model, .rate = 0.5f);
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.1), .seed = 3));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH));
    EXPECT_OK(mst_predict(model, data, BATCH, &a));
    EXPECT_OK(mst_predict(model, data, BATCH, &b));
    assert_true(engine_same_bits(a, b));
    mst_tensor_release(a);
    mst_tensor_release(b);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* ---- reproducibility ---- */

static void fit_and_hash(uint64_t seed, int64_t epochs, char hex[65]) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", seed);
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = epochs));
    EXPECT_OK(mst_model_sha256(model, hex));
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void same_seed_gives_the_same_hash_and_others_do_not(void **state) {
    (void)state;
    char a[65], b[65], c[65], d[65];
    fit_and_hash(1, 2, a);
    fit_and_hash(1, 2, b);
    fit_and_hash(2, 2, c);
    fit_and_hash(1, 3, d);
    assert_int_equal(strlen(a), 64);
    assert_int_equal(strspn(a, "0123456789abcdef"), 64);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    assert_string_not_equal(a, d);
}

static void hash_stays_when_nothing_is_trained(void **state) {
    (void)state;
    char before[65], after[65];
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    EXPECT_ERROR(mst_model_sha256(model, before), MST_INVALID, "no weights yet");
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH));
    EXPECT_OK(mst_model_sha256(model, before));
    EXPECT_OK(mst_evaluate(model, data, BATCH, NULL, NULL));
    EXPECT_OK(mst_model_sha256(model, after));
    assert_string_equal(before, after);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void second_fit_goes_on_where_the_first_ended(void **state) {
    (void)state;
    char one[65], two[65];
    fit_and_hash(1, 4, one);
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    for (int i = 0; i < 2; i++) EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 2));
    EXPECT_OK(mst_model_sha256(model, two));
    assert_string_equal(one, two);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void steps_may_be_counted_in_place_of_epochs(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    mst_result result;
    EXPECT_OK(mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = BATCH, .steps = 13}, &result));
    assert_int_equal(result.step, 13);
    EXPECT_OK(mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = BATCH, .steps = 3}, &result));
    assert_int_equal(result.step, 16);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* shuffled, batched and made ahead by the caller as fit does it with rows: the same steps */
static void batched_data_keeps_its_batches(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS + 7, FEATURES, CLASSES, 1), *mixed, *batches, *ahead;
    EXPECT_OK(mst_dataset_shuffle(data, &(mst_shuffle_options){.seed = 3}, &mixed));
    EXPECT_OK(mst_dataset_batch(mixed, BATCH, false, &batches));
    EXPECT_OK(mst_dataset_prefetch(batches, 2, &ahead));
    mst_dataset *given[] = {data, batches, ahead};
    char hex[3][65];
    mst_result result[3];
    for (int i = 0; i < 3; i++) {
        mst_model *model = compiled(mst_adam(.learning_rate = 0.01), "cpu:2/1", 3);
        int64_t size = i == 0 ? BATCH : 0;
        EXPECT_OK(mst_fit(model, .data = given[i], .validation = given[i], .batch_size = size, .epochs = 3));
        EXPECT_OK(mst_model_sha256(model, hex[i]));
        EXPECT_OK(mst_evaluate(model, given[i], size, &result[i], NULL));
        assert_int_equal(result[i].examples, ROWS + 7);
        mst_tensor *out;
        EXPECT_OK(mst_predict(model, given[i], size, &out));
        assert_int_equal(mst_tensor_shape(out).dim[0], ROWS + 7);
        mst_tensor_release(out);
        mst_model_destroy(model);
    }
    assert_string_equal(hex[0], hex[1]);
    assert_string_equal(hex[0], hex[2]);
    assert_true(fabs(result[0].loss - result[1].loss) < 1e-6 && result[1].loss == result[2].loss);
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    EXPECT_ERROR(mst_fit(model, .data = batches, .batch_size = 7), MST_INVALID, "comes in batches of 20");
    EXPECT_ERROR(mst_fit(model, .data = batches, .drop_remainder = true), MST_INVALID, "comes in batches");
    mst_model_destroy(model);
    for (int i = 0; i < 3; i++) mst_dataset_release(given[i]);
    mst_dataset_release(mixed);
}

static mst_status stop_at_3(void *context, mst_train_state *state) {
    *(int64_t *)context = state->num_steps;
    state->stop = state->step >= 3;
    return MST_OK;
}

static mst_status count_and_copy(const mst_array *in, mst_array *out, void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
    memcpy(out[0].data, in[0].data, FEATURES * sizeof(float));
    memcpy(out[1].data, in[1].data, sizeof(int32_t));
    return MST_OK;
}

/* Each component of a batch is copied by itself, and for each shard, but a row is mapped once. */
static void a_row_is_mapped_once_an_epoch_and_weights_are_the_same(void **state) {
    (void)state;
    atomic_int calls = 0;
    char mapped_hex[65], hex[65];
    const mst_spec outputs[] = {{MST_F32, MST_SHAPE(FEATURES)}, {MST_I32, MST_SCALAR}};
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *mapped;
    EXPECT_OK(mst_dataset_map(data, count_and_copy, &calls, outputs, 2, &mapped));
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:2/1", 1);
    EXPECT_OK(mst_fit(model, .data = mapped, .batch_size = BATCH, .epochs = 2));
    assert_int_equal(calls, 2 * ROWS);
    EXPECT_OK(mst_evaluate(model, mapped, BATCH, NULL, NULL));
    assert_int_equal(calls, 3 * ROWS);
    EXPECT_OK(mst_model_sha256(model, mapped_hex));
    mst_model_destroy(model);
    model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:2/1", 1);
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 2));
    EXPECT_OK(mst_model_sha256(model, hex));
    assert_string_equal(mapped_hex, hex);
    mst_model_destroy(model);
    mst_dataset_release(mapped);
    mst_dataset_release(data);
}

static void epochs_may_be_more_than_can_be_counted_in_steps(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    int64_t num_steps = 0;
    mst_callback callback = {.context = &num_steps, .step_end = stop_at_3};
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = INT64_MAX / 2, .callbacks = &callback,
                      .num_callbacks = 1));
    assert_int_equal(num_steps, -1);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* ---- bad input ---- */

static void data_without_end_needs_a_number_of_steps(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *endless;
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    mst_tensor *out;
    EXPECT_OK(mst_dataset_repeat(data, -1, &endless));
    EXPECT_ERROR(mst_fit(model, .data = endless, .no_shuffle = true), MST_INVALID, "the data has no end");
    EXPECT_OK(mst_fit(model, .data = endless, .no_shuffle = true, .steps = 12));
    EXPECT_ERROR(mst_evaluate(model, endless, BATCH, NULL, NULL), MST_INVALID, "the data has no end");
    EXPECT_ERROR(mst_predict(model, endless, BATCH, &out), MST_INVALID, "the number of rows of the data is not known");
    EXPECT_ERROR(mst_fit(model, .data = data, .validation = endless), MST_INVALID, "the data has no end");
    mst_model_destroy(model);
    mst_dataset_release(endless);
    mst_dataset_release(data);
}

static void batch_larger_than_the_data_is_one_smaller_batch(void **state) {
    (void)state;
    mst_dataset *data = training_data(10, FEATURES, CLASSES, 1);
    char hash[2][65];
    for (int i = 0; i < 2; i++) {
        mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
        mst_tensor *out;
        mst_result result;
        EXPECT_OK(
            mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = i ? 11 : 10, .epochs = 2}, &result));
        assert_int_equal(result.step, 2);
        assert_int_equal(result.examples, 10);
        EXPECT_OK(mst_model_sha256(model, hash[i]));
        EXPECT_OK(mst_evaluate(model, data, 11, &result, NULL));
        assert_int_equal(result.examples, 10);
        EXPECT_OK(mst_predict(model, data, 11, &out));
        assert_int_equal(mst_tensor_shape(out).dim[0], 10);
        mst_tensor_release(out);
        mst_model_destroy(model);
    }
    assert_string_equal(hash[0], hash[1]);
    mst_dataset_release(data);
}

static void impossible_batch_sizes_are_refused(void **state) {
    (void)state;
    mst_dataset *data = training_data(10, FEATURES, CLASSES, 1), *none;
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    EXPECT_OK(mst_dataset_skip(data, 10, &none));
    EXPECT_ERROR(mst_fit(model, .data = none, .batch_size = 5), MST_INVALID, "the data has no rows");
    EXPECT_ERROR(mst_evaluate(model, none, 5, NULL, NULL), MST_INVALID, "the data has no rows");
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = 11, .drop_remainder = true), MST_INVALID,
                 "fewer rows than a batch");
    mst_dataset_release(none);
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = -1), MST_INVALID, "batch size is -1");
    EXPECT_ERROR(mst_evaluate(model, data, 0, NULL, NULL), MST_INVALID, "batch size is 0");
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = 5, .epochs = -1), MST_INVALID, "must not be negative");
    EXPECT_ERROR(mst_fit(model, .batch_size = 5), MST_INVALID, "no data");
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void validation_data_may_be_smaller_than_the_batch(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *few = training_data(7, FEATURES, CLASSES, 2);
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    EXPECT_OK(mst_fit(model, .data = data, .validation = few, .batch_size = BATCH));
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_dataset_release(few);
}

static void fit_and_read(const mst_fit_options *options, mst_history *history, char hex[65]) {
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:2/1", 7);
    mst_fit_options o = *options;
    *history = (mst_history){0};
    o.batch_size = BATCH;
    o.epochs = 2;
    o.history = history;
    EXPECT_OK(mst_fit_with(model, &o, NULL));
    EXPECT_OK(mst_model_sha256(model, hex));
    mst_model_destroy(model);
}

static void validation_split_is_that_of_the_dataset_by_seed_and_class(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *part[2];
    mst_history whole, parts;
    char hex[65], same[65];
    for (int last = 0; last < 2; last++) {
        const mst_split_options split = {.fraction = 0.3, .seed = 7, .labels = 1, .last = last};
        EXPECT_OK(mst_dataset_split(data, &split, &part[0], &part[1], NULL));
        fit_and_read(&(mst_fit_options){.data = part[0], .validation = part[1]}, &parts, same);
        fit_and_read(&(mst_fit_options){.data = data, .validation_split = 0.3, .validation_last = last}, &whole, hex);
        assert_string_equal(hex, same);
        assert_true(mst_history_at(&whole, 1, "val_loss") == mst_history_at(&parts, 1, "val_loss"));
        mst_history_free(&parts);
        mst_history_free(&whole);
        mst_dataset_release(part[0]);
        mst_dataset_release(part[1]);
    }
    mst_dataset_release(data);
}

static void validation_split_that_cannot_be_is_refused(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *batches;
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    EXPECT_OK(mst_dataset_batch(data, BATCH, false, &batches));
    EXPECT_ERROR(mst_fit(model, .data = data, .validation_split = 1), MST_INVALID, "above 0 and below 1");
    EXPECT_ERROR(mst_fit(model, .data = data, .validation_split = 0.5, .validation = data), MST_INVALID,
                 "give one of them");
    EXPECT_ERROR(mst_fit(model, .data = data, .validation_last = true), MST_INVALID, "give both");
    EXPECT_ERROR(mst_fit(model, .data = batches, .validation_split = 0.5), MST_INVALID, "split it before");
    mst_model_destroy(model);
    mst_dataset_release(batches);
    mst_dataset_release(data);
}

static void class_that_a_validation_split_leaves_out_is_told(void **state) {
    (void)state;
    mst_tensor *tensor[2];
    mst_dataset *data;
    char *text = NULL;
    size_t size = 0;
    FILE *progress = open_memstream(&text, &size);
    training_tensors(ROWS, FEATURES, CLASSES, 1, tensor);
    for (int64_t i = 0; i < ROWS; i++) mst_tensor_set(tensor[1], i, i == 5 ? 2 : (double)(i % 2));
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &data));
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    EXPECT_OK(mst_fit(model, .data = data, .validation_split = 0.1, .batch_size = BATCH, .progress = progress));
    fclose(progress);
    assert_non_null(strstr(text, "warning: class 2, with 1 row, has none in the part that is kept for validation\n"));
    free(text);
    mst_model_destroy(model);
    mst_dataset_release(data);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
}

static void data_of_another_shape_is_refused(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *other = training_data(ROWS, 9, CLASSES, 1);
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH));
    EXPECT_ERROR(mst_evaluate(model, other, BATCH, NULL, NULL), MST_INVALID,
                 "inputs are f32[9], the model was built for f32[6]");
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_dataset_release(other);
}

static mst_status count_step(void *context, mst_train_state *state) {
    (void)state;
    ++*(int *)context;
    return MST_OK;
}

static void validation_data_that_does_not_fit_is_refused_before_training(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *other = training_data(ROWS, 9, CLASSES, 1),
                *endless;
    EXPECT_OK(mst_dataset_repeat(data, -1, &endless));
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:1/1", 1);
    int steps = 0;
    const mst_callback callback = {.context = &steps, .step_end = count_step};
    EXPECT_ERROR(mst_fit(model, .data = data, .validation = other, .batch_size = BATCH, .callbacks = &callback,
                         .num_callbacks = 1),
                 MST_INVALID, "fit: validation: inputs are f32[9], the model was built for f32[6]");
    EXPECT_ERROR(mst_fit(model, .data = data, .validation = endless, .batch_size = BATCH, .callbacks = &callback,
                         .num_callbacks = 1),
                 MST_INVALID, "fit: validation: the data has no end");
    assert_int_equal(steps, 0);
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_dataset_release(other);
    mst_dataset_release(endless);
}

static void models_must_have_layers_and_be_compiled(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    EXPECT_ERROR(mst_compile(model, .seed = 1), MST_INVALID, "no layers");
    EXPECT_ERROR(mst_fit(model, .data = data), MST_INVALID, "not compiled");
    mst_dense(model, 0);
    EXPECT_ERROR(mst_compile(model, .seed = 1), MST_INVALID, "units is 0");
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* Labels 0 and 1, but for a 7 in row 21 of 32. */
static mst_dataset *data_with_a_wrong_label(void) {
    mst_tensor *part[2];
    mst_dataset *data;
    training_tensors(32, FEATURES, 2, 1, part);
    mst_tensor_set(part[1], 21, 7);
    EXPECT_OK(mst_dataset_from_tensors(part, 2, &data));
    mst_tensor_release(part[0]);
    mst_tensor_release(part[1]);
    return data;
}

static void wrong_label_is_named_by_its_row_in_the_data_whatever_the_batches_and_shards(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:4/1"};
    mst_dataset *data = data_with_a_wrong_label(), *batches, *ahead;
    for (int i = 0; i < 2; i++) {
        mst_model *model = training_model(2, 2, 0);
        EXPECT_OK(mst_compile(model, .session = {.devices = devices[i]}));
        EXPECT_ERROR(mst_fit(model, data, .batch_size = 8), MST_INVALID,
                     "label 7 of row 21 of the data is not one of the 2 classes, 0 to 1");
        assert_string_not_equal(mst_error()->node, "");
        EXPECT_ERROR(mst_evaluate(model, data, 8, NULL, NULL), MST_INVALID, "label 7 of row 21 of the data");
        EXPECT_OK(mst_dataset_batch(data, 8, false, &batches));
        EXPECT_OK(mst_dataset_prefetch(batches, 1, &ahead));
        EXPECT_ERROR(mst_fit(model, ahead), MST_INVALID, "label 7 of row 5 of the batch");
        mst_dataset_release(ahead);
        mst_dataset_release(batches);
        mst_model_destroy(model);
    }
    mst_dataset_release(data);
}

static void loss_that_is_not_a_number_stops_with_the_step_and_the_last_good_loss(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 16);
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 1e9)));
    mst_status status = mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 3);
    EXPECT_ERROR(status, MST_NUMERICS, "at step ");
    EXPECT_ERROR(status, MST_NUMERICS, "the last good one was ");
    mst_model_destroy(model);

    mst_tensor *tensor[2];
    training_tensors(ROWS, FEATURES, CLASSES, 1, tensor);
    mst_tensor_set(tensor[0], 0, NAN);
    mst_dataset *bad;
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &bad));
    model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:2/1", 1);
    EXPECT_ERROR(mst_fit(model, .data = bad, .batch_size = ROWS), MST_NUMERICS, "at the first step");
    mst_model_destroy(model);
    model = training_model(16, CLASSES, 0);
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1/1", .check_numerics = true}));
    EXPECT_ERROR(mst_fit(model, .data = bad, .batch_size = ROWS), MST_NUMERICS, "made a NaN or Inf");
    mst_model_destroy(model);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    mst_dataset_release(bad);
    mst_dataset_release(data);
}

/* XOR, with outputs by a sigmoid and labels of one column. */
static void accuracy_of_a_model_that_ends_in_sigmoid_is_that_of_probabilities(void **state) {
    (void)state;
    static const float x[] = {0, 0, 0, 1, 1, 0, 1, 1}, y[] = {0, 1, 1, 0};
    mst_tensor *part[2];
    mst_dataset *data;
    mst_model *model;
    mst_result result;
    EXPECT_OK(mst_tensor_copy(MST_F32, MST_SHAPE(4, 2), x, &part[0]));
    EXPECT_OK(mst_tensor_copy(MST_F32, MST_SHAPE(4, 1), y, &part[1]));
    EXPECT_OK(mst_dataset_from_tensors(part, 2, &data));
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 8, MST_TANH);
    mst_dense(model, 1, MST_SIGMOID);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.05), .loss = MST_LOSS_BINARY_CROSSENTROPY,
                          .metric = {MST_METRIC_ACCURACY}, .seed = 1));
    EXPECT_OK(mst_fit(model, .data = data, .validation = data, .batch_size = 4, .epochs = 300));
    EXPECT_OK(mst_evaluate(model, data, 4, &result, NULL));
    assert_true(result.loss < 0.1);
    assert_true(result.metric[0] == 1);
    mst_model_destroy(model);
    mst_dataset_release(data);
    for (int i = 0; i < 2; i++) mst_tensor_release(part[i]);
}

static void labels_of_one_column_can_be_evaluated(void **state) {
    (void)state;
    enum { FEW = 6 };
    mst_tensor *part[2], *confusion;
    mst_dataset *data;
    mst_result result;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(FEW, FEATURES), &part[0]));
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SHAPE(FEW, 1), &part[1]));
    for (int i = 0; i < FEW; i++) mst_tensor_set(part[1], i, i % CLASSES);
    EXPECT_OK(mst_dataset_from_tensors(part, 2, &data));
    mst_model *model = compiled(mst_sgd(.learning_rate = 0.1), "cpu:2/1", 1);
    EXPECT_OK(mst_fit(model, .data = data, .validation = data, .batch_size = 4));
    EXPECT_OK(mst_evaluate(model, data, 4, &result, &confusion));
    double sum = 0;
    for (int64_t i = 0; i < mst_tensor_count(confusion); i++) sum += mst_tensor_get(confusion, i);
    assert_true(sum == FEW && mst_tensor_count(confusion) == CLASSES * CLASSES);
    mst_tensor_release(confusion);
    mst_model_destroy(model);
    mst_dataset_release(data);
    for (int i = 0; i < 2; i++) mst_tensor_release(part[i]);
}

/* Takes longer than the step may; *CONTEXT counts the calls under way. */
static mst_status map_slowly(const mst_array *in, mst_array *out, void *context) {
    atomic_int *running = context;
    atomic_fetch_add(running, 1);
    usleep(20000);
    memcpy(out[0].data, in[0].data, (size_t)in[0].count * sizeof(float));
    memcpy(out[1].data, in[1].data, sizeof(int32_t));
    atomic_fetch_sub(running, 1);
    return MST_OK;
}

static void no_row_is_made_behind_a_fit_whose_step_was_too_late(void **state) {
    (void)state;
    if (engine_compiles()) skip(); /* its steps begin when all rows are made */
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *mapped, *batches;
    const mst_spec specs[] = {{MST_F32, MST_SHAPE(FEATURES)}, {MST_I32, MST_SCALAR}};
    atomic_int running = 0;
    EXPECT_OK(mst_dataset_map(data, map_slowly, &running, specs, 2, &mapped));
    EXPECT_OK(mst_dataset_batch(mapped, 32, false, &batches));
    mst_model *model = training_model(8, CLASSES, 0);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.1), .strategy = {.num_shards = 2},
                          .session = {.devices = "cpu:2/1", .timeout = 0.1}));
    EXPECT_ERROR(mst_fit(model, .data = batches), MST_DEADLINE, "did not end in 0.1 s");
    assert_int_equal(atomic_load(&running), 0);
    mst_model_destroy(model);
    mst_dataset_release(batches);
    mst_dataset_release(mapped);
    mst_dataset_release(data);
}

static void replicas_in_sync_are_the_shards_of_a_batch(void **state) {
    (void)state;
    const struct {
        const char *devices;
        mst_strategy strategy;
        int replicas;
    } rows[] = {{"cpu:1/1", {.kind = MST_STRATEGY_ONE}, 1},
                {"cpu:2", {.kind = MST_STRATEGY_MIRRORED}, 2},
                {"cpu:2", {.kind = MST_STRATEGY_TOWERS, .num_shards = 4}, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mst_model *model = training_model(8, 3, 0);
        assert_int_equal(mst_model_num_replicas(model), 0);
        EXPECT_OK(mst_compile(model, .strategy = rows[i].strategy, .session = {.devices = rows[i].devices}));
        assert_int_equal(mst_model_num_replicas(model), rows[i].replicas);
        mst_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fit_learns_separable_classes),
        cmocka_unit_test(rows_of_one_number_are_flattened_to_one_column),
        cmocka_unit_test(models_of_the_mnist_form_have_its_variables),
        cmocka_unit_test(partial_batches_evaluate_like_the_whole),
        cmocka_unit_test(confusion_counts_labels_by_rows_and_predictions_by_columns),
        cmocka_unit_test(predictions_are_in_the_order_of_the_data_whatever_the_batch),
        cmocka_unit_test(dropout_acts_while_training_only),
        cmocka_unit_test(same_seed_gives_the_same_hash_and_others_do_not),
        cmocka_unit_test(hash_stays_when_nothing_is_trained),
        cmocka_unit_test(second_fit_goes_on_where_the_first_ended),
        cmocka_unit_test(steps_may_be_counted_in_place_of_epochs),
        cmocka_unit_test(batched_data_keeps_its_batches),
        cmocka_unit_test(a_row_is_mapped_once_an_epoch_and_weights_are_the_same),
        cmocka_unit_test(epochs_may_be_more_than_can_be_counted_in_steps),
        cmocka_unit_test(data_without_end_needs_a_number_of_steps),
        cmocka_unit_test(batch_larger_than_the_data_is_one_smaller_batch),
        cmocka_unit_test(impossible_batch_sizes_are_refused),
        cmocka_unit_test(validation_data_may_be_smaller_than_the_batch),
        cmocka_unit_test(validation_split_is_that_of_the_dataset_by_seed_and_class),
        cmocka_unit_test(validation_split_that_cannot_be_is_refused),
        cmocka_unit_test(class_that_a_validation_split_leaves_out_is_told),
        cmocka_unit_test(data_of_another_shape_is_refused),
        cmocka_unit_test(validation_data_that_does_not_fit_is_refused_before_training),
        cmocka_unit_test(models_must_have_layers_and_be_compiled),
        cmocka_unit_test(wrong_label_is_named_by_its_row_in_the_data_whatever_the_batches_and_shards),
        cmocka_unit_test(loss_that_is_not_a_number_stops_with_the_step_and_the_last_good_loss),
        cmocka_unit_test(accuracy_of_a_model_that_ends_in_sigmoid_is_that_of_probabilities),
        cmocka_unit_test(labels_of_one_column_can_be_evaluated),
        cmocka_unit_test(no_row_is_made_behind_a_fit_whose_step_was_too_late),
        cmocka_unit_test(replicas_in_sync_are_the_shards_of_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
