/* Batches that are made in advance for devices that compile: they are the same batches, and count only in the steps
 * that use them. */
#include <dirent.h>
#include <stdatomic.h>
#include <time.h>

#include "data/dataset.h"
#include "support/pipeline.h"
#include "support/test.h"
#include "support/training.h"
#include "train/step_batches.h"

enum { ROWS = 42, BATCH = 10 /* the last has 2, so that two of its shards have none */, FEATURES = 6, CLASSES = 3 };
enum { EPOCHS = 3, PER_EPOCH = 5, SHARDS = 4, NONE = -1 };

/* ---- data ---- */

/* What the map of the dataset has done, and what it should do. */
typedef struct mapping {
    atomic_int calls;
    atomic_int damaged;      /* the row in which it fails; NONE: none */
    atomic_int microseconds; /* that it takes for a row */
} mapping;

static void wait_microseconds(int microseconds) {
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000L}, NULL);
}

/* Component 2 of IN is the number of the row. */
static mst_status map_row(const mst_array *in, mst_array *out, void *context) {
    mapping *m = context;
    const int row = *(const int32_t *)in[2].data;
    wait_microseconds(atomic_load(&m->microseconds));
    atomic_fetch_add(&m->calls, 1);
    if (row == atomic_load(&m->damaged)) return MST_FAIL(MST_CORRUPT, "row %d is damaged", row);
    memcpy(out[0].data, in[0].data, FEATURES * sizeof(float));
    memcpy(out[1].data, in[1].data, sizeof(int32_t));
    return MST_OK;
}

/* Rows of this shape, LABELS, and numbers of rows. */
static mst_dataset *open_rows(mst_shape shape, mst_tensor **labels) {
    mst_tensor *flat[2], *number = engine_tensor(MST_I32, MST_SHAPE(ROWS), NULL), *shaped;
    mst_dataset *rows;
    training_tensors(ROWS, FEATURES, CLASSES, 1, flat);
    EXPECT_OK(mst_tensor_copy(MST_F32, shape, mst_tensor_data(flat[0]), &shaped));
    for (int i = 0; i < ROWS; i++) mst_tensor_set(number, i, i);
    EXPECT_OK(mst_dataset_from_tensors((mst_tensor *[]){shaped, flat[1], number}, 3, &rows));
    mst_tensor_release(flat[0]);
    mst_tensor_release(shaped);
    mst_tensor_release(number);
    *labels = flat[1];
    return rows;
}

/* Batches of rows in memory. */
static mst_dataset *open_in_memory(mst_tensor **labels) {
    mst_dataset *data = open_rows(MST_SHAPE(ROWS, FEATURES), labels);
    THEN(data, mst_dataset_batch(data, BATCH, false, &made));
    return data;
}

/* Batches of mapped rows. SHUFFLED: in another order in each epoch, and with random changes. */
static mst_dataset *open_mapped(mapping *m, bool shuffled) {
    const mst_spec specs[] = {{MST_F32, MST_SHAPE(FEATURES)}, {MST_I32, MST_SCALAR}};
    mst_tensor *labels;
    mst_dataset *data = open_rows(MST_SHAPE(ROWS, 2, FEATURES / 2), &labels);
    mst_tensor_release(labels);
    *m = (mapping){.damaged = NONE};
    if (shuffled) THEN(data, mst_dataset_random_brightness(data, 0, 0.5, 3, &made));
    THEN(data, mst_dataset_map(data, map_row, m, specs, 2, &made));
    if (shuffled) THEN(data, mst_dataset_shuffle(data, &(mst_shuffle_options){.seed = 7}, &made));
    THEN(data, mst_dataset_batch(data, BATCH, false, &made));
    return data;
}

/* ---- models ---- */

static mst_model *make_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 8, .activation = MST_TANH);
    mst_dropout(model, .rate = 0.3f);
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .metric = {MST_METRIC_ACCURACY},
                          .strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = SHARDS},
                          .session = {.devices = "lagoon:2/1"}, .seed = 5));
    return model;
}

/* Ends with the hash of the weights of MODEL. */
static void hash(mst_model *model, char hex[65]) {
    EXPECT_OK(mst_model_sha256(model, hex));
    mst_model_destroy(model);
}

/* The hash after a fit on DATA that nothing disturbs. */
static void fit_undisturbed(mst_dataset *data, char hex[65]) {
    mst_model *model = make_model();
    EXPECT_OK(mst_fit(model, .data = data, .epochs = EPOCHS, .batch_size = data->batch_size ? 0 : BATCH));
    hash(model, hex);
}

/* The step of MODEL for DATA. */
static mst_sharded_step *step_of(mst_model *model, const mst_dataset *data) {
    mst_trainer *trainer;
    EXPECT_OK(mst_build(model, data, true));
    EXPECT_OK(mst_trainer_of(model, &trainer));
    return &trainer->train;
}

static mst_step_batches *open_batches(const mst_sharded_step *step, mst_dataset *data) {
    mst_iterator *iterator;
    mst_step_batches *batches;
    EXPECT_OK(mst_iterator_create_window(data, 0, mst_trainer_window(step), &iterator));
    EXPECT_OK(mst_step_batches_create(step, iterator, &batches));
    return batches;
}

/* The next batch; NULL after the last one. */
static const mst_step_batch *next(mst_step_batches *batches) {
    const mst_step_batch *batch;
    EXPECT_OK(mst_step_batches_next(batches, &batch));
    return batch;
}

/* Waits until VALUE is at least WANTED. */
static void wait_for(const atomic_int *value, int wanted) {
    for (int i = 0; i < 10000 && atomic_load(value) < wanted; i++) wait_microseconds(1000);
    assert_true(atomic_load(value) >= wanted);
}

/* ---- the same batches ---- */

static const mst_batch *next_rows(mst_iterator *iterator) {
    const mst_batch *rows;
    EXPECT_OK(mst_iterator_next(iterator, &rows));
    return rows;
}

/* Trains without a thread: the devices copy the rows of each batch in its step. */
static void train_row_by_row(mst_dataset *data, char hex[65]) {
    mst_model *model = make_model();
    mst_sharded_step *step = step_of(model, data);
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        mst_iterator *iterator;
        EXPECT_OK(mst_iterator_create_window(data, epoch, mst_trainer_window(step), &iterator));
        for (const mst_batch *rows = next_rows(iterator); rows; rows = next_rows(iterator))
            EXPECT_OK(mst_trainer_run(step, &(mst_step_batch){.size = mst_batch_size(rows), .rows = rows}));
        mst_iterator_destroy(iterator);
    }
    hash(model, hex);
}

static void weights_are_those_of_rows_that_are_copied_in_the_step(void **state) {
    (void)state;
    char ahead[65], in_step[65];
    mapping m;
    mst_dataset *data = open_mapped(&m, true);
    fit_undisturbed(data, ahead);
    train_row_by_row(data, in_step);
    assert_string_equal(ahead, in_step);
    mst_dataset_release(data);
}

/* As map_row, with a third component whose length is that of a name. */
static mst_status name_row(const mst_array *in, mst_array *out, void *context) {
    const int64_t length = 1 + *(const int32_t *)in[2].data % 5;
    if (!(out[2].data = mst_map_alloc((size_t)length))) return mst_error()->code;
    out[2].count = out[2].shape.dim[0] = length;
    return map_row(in, out, context);
}

static void component_that_the_model_does_not_take_may_have_rows_of_any_length(void **state) {
    (void)state;
    const mst_spec specs[] = {{MST_F32, MST_SHAPE(FEATURES)}, {MST_I32, MST_SCALAR}, {MST_U8, MST_SHAPE(-1)}};
    char wanted[65], hex[65];
    mapping m;
    mst_tensor *labels;
    mst_dataset *plain = open_mapped(&m, false), *named = open_rows(MST_SHAPE(ROWS, FEATURES), &labels);
    THEN(named, mst_dataset_map(named, name_row, &m, specs, 3, &made));
    THEN(named, mst_dataset_batch(named, BATCH, false, &made));
    fit_undisturbed(plain, wanted);
    fit_undisturbed(named, hex);
    assert_string_equal(hex, wanted);
    mst_tensor_release(labels);
    mst_dataset_release(named);
    mst_dataset_release(plain);
}

static void a_batch_has_the_rows_and_numbers_of_its_shards(void **state) {
    (void)state;
    mst_model *model = make_model();
    mst_tensor *wanted;
    mst_dataset *data = open_in_memory(&wanted);
    const mst_sharded_step *step = step_of(model, data);
    mst_step_batches *batches = open_batches(step, data);
    int64_t first = 0;
    for (const mst_step_batch *batch = next(batches); batch; batch = next(batches)) {
        assert_true(!batch->rows && batch->size == (first + BATCH <= ROWS ? BATCH : ROWS - first));
        for (int s = 0; s < SHARDS; s++) {
            const mst_row_range rows = mst_trainer_rows(step, s, batch->size);
            const mst_tensor *labels = batch->tensor[2 * s + 1];
            assert_int_equal(mst_tensor_count(labels), rows.count);
            for (int64_t i = 0; i < rows.count; i++) {
                assert_int_equal(mst_step_batch_row(step, batch, rows.first + i), first + rows.first + i);
                assert_true(mst_tensor_get(labels, i) == mst_tensor_get(wanted, first + rows.first + i));
            }
        }
        first += batch->size;
    }
    assert_int_equal(first, ROWS);
    assert_null(next(batches));
    mst_step_batches_destroy(batches);
    mst_tensor_release(wanted);
    mst_dataset_release(data);
    mst_model_destroy(model);
}

/* ---- the thread ---- */

static void one_batch_is_taken_ahead_and_no_more(void **state) {
    (void)state;
    mapping m;
    mst_model *model = make_model();
    mst_dataset *data = open_mapped(&m, false);
    mst_step_batches *batches = open_batches(step_of(model, data), data);
    for (int i = 0; i < 2; i++) {
        wait_for(&m.calls, (i + 1) * BATCH);
        wait_microseconds(20000);
        assert_int_equal(atomic_load(&m.calls), (i + 1) * BATCH);
        assert_int_equal(next(batches)->size, BATCH);
    }
    wait_for(&m.calls, 3 * BATCH);
    mst_step_batches_destroy(batches);
    mst_dataset_release(data);
    mst_model_destroy(model);
}

/* A step that has missed its deadline may still read the tensors of its batch. */
static void tensors_that_a_step_still_holds_are_not_written(void **state) {
    (void)state;
    mst_model *model = make_model();
    mst_tensor *labels;
    mst_dataset *data = open_in_memory(&labels);
    mst_step_batches *batches = open_batches(step_of(model, data), data);
    const mst_step_batch *batch = next(batches);
    mst_tensor *held = mst_tensor_retain(batch->tensor[0]), *copy;
    const mst_tensor *unheld = batch->tensor[2];
    EXPECT_OK(mst_tensor_copy(MST_F32, mst_tensor_shape(held), mst_tensor_data(held), &copy));
    for (int i = 0; i < 2; i++) batch = next(batches);
    assert_true(batch->tensor[0] != held && batch->tensor[2] == unheld);
    assert_true(engine_same_bits(held, copy) && !engine_same_bits(held, batch->tensor[0]));
    mst_step_batches_destroy(batches);
    assert_true(engine_same_bits(held, copy));
    mst_tensor_release(held);
    mst_tensor_release(copy);
    mst_tensor_release(labels);
    mst_dataset_release(data);
    mst_model_destroy(model);
}

static void thread_ends_within_a_batch(void **state) {
    (void)state;
    for (int ahead = 0; ahead < 2; ahead++) {
        mapping m;
        mst_model *model = make_model();
        mst_dataset *data = open_mapped(&m, false);
        if (ahead) THEN(data, mst_dataset_prefetch_with(data, 2, &(mst_prefetch_options){.threads = 1}, &made));
        const mst_sharded_step *step = step_of(model, data);
        atomic_store(&m.microseconds, 50000);
        mst_step_batches *batches = open_batches(step, data);
        wait_for(&m.calls, 1);
        mst_step_batches_destroy(batches);
        assert_in_range(atomic_load(&m.calls), 1, BATCH - 1);
        mst_dataset_release(data);
        mst_model_destroy(model);
    }
}

static int count_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    assert_non_null(tasks);
    while (readdir(tasks)) count++;
    closedir(tasks);
    return count;
}

/* Fails if there are still more threads than *CONTEXT after some seconds: a thread that was joined may be listed for a
 * moment. */
static mst_status expect_threads(void *context, mst_train_state *state) {
    (void)state;
    for (int i = 0; i < 10000 && count_threads() > *(int *)context; i++) wait_microseconds(1000);
    return count_threads() > *(int *)context ? MST_FAIL(MST_INTERNAL, "a thread is left") : MST_OK;
}

static void no_thread_is_left_after_an_epoch_with_its_validation(void **state) {
    (void)state;
    char alone[65], validated[65];
    mapping m;
    mst_dataset *data = open_mapped(&m, true);
    fit_undisturbed(data, alone);
    mst_model *model = make_model();
    EXPECT_OK(mst_evaluate(model, data, 0, NULL, NULL));
    int threads = count_threads();
    const mst_callback callback = {.context = &threads, .epoch_end = expect_threads, .train_end = expect_threads};
    EXPECT_OK(
        mst_fit(model, .data = data, .validation = data, .epochs = EPOCHS, .callbacks = &callback, .num_callbacks = 1));
    EXPECT_OK(mst_evaluate(model, data, 0, NULL, NULL));
    EXPECT_OK(expect_threads(&threads, NULL));
    hash(model, validated);
    assert_string_equal(validated, alone);
    mst_dataset_release(data);
}

/* ---- what does not count ---- */

static mst_status count_step(void *context, mst_train_state *state) {
    *(int64_t *)context = state->step;
    return MST_OK;
}

/* Fits DATA, which fails with TEXT after STEPS steps, then REPAIRs it and goes on. */
static void expect_uncounted(mst_dataset *data, int64_t steps, const char *text, void (*repair)(void *context),
                             void *context, const char wanted[65]) {
    char hex[65];
    int64_t made = 0;
    mst_model *model = make_model();
    const mst_callback callback = {.context = &made, .step_end = count_step};
    const mst_status status =
        mst_fit(model, .data = data, .epochs = EPOCHS, .callbacks = &callback, .num_callbacks = 1);
    assert_true(status && strstr(mst_error()->message, text));
    assert_int_equal(made, steps);
    repair(context);
    EXPECT_OK(mst_fit(model, .data = data, .epochs = EPOCHS, .resume = true));
    hash(model, hex);
    assert_string_equal(hex, wanted);
}

static void repair_map(void *context) {
    atomic_store(&((mapping *)context)->damaged, NONE);
}

static void error_of_a_record_comes_with_its_step(void **state) {
    (void)state;
    char wanted[65];
    mapping m;
    mst_dataset *data = open_mapped(&m, false);
    fit_undisturbed(data, wanted);
    for (int row = 0; row < ROWS; row += 7) {
        char text[40];
        atomic_store(&m.damaged, row);
        snprintf(text, sizeof text, "row %d is damaged", row);
        expect_uncounted(data, row / BATCH, text, repair_map, &m, wanted);
    }
    mst_dataset_release(data);
}

typedef struct wrong_label {
    mst_tensor *labels;
    int row, right;
} wrong_label;

static void repair_label(void *context) {
    const wrong_label *w = context;
    mst_tensor_set(w->labels, w->row, w->right);
}

static void batch_ahead_of_a_step_that_fails_is_taken_again(void **state) {
    (void)state;
    char wanted[65];
    wrong_label w;
    mst_dataset *data = open_in_memory(&w.labels);
    fit_undisturbed(data, wanted);
    for (w.row = 3; w.row < ROWS; w.row += 11) {
        char text[40];
        w.right = (int)mst_tensor_get(w.labels, w.row);
        mst_tensor_set(w.labels, w.row, CLASSES);
        snprintf(text, sizeof text, "label 3 of row %d of the data", w.row);
        expect_uncounted(data, w.row / BATCH, text, repair_label, &w, wanted);
    }
    mst_tensor_release(w.labels);
    mst_dataset_release(data);
}

static mst_status stop_at(void *context, mst_train_state *state) {
    state->stop = state->step == *(int *)context;
    return MST_OK;
}

static void batch_ahead_of_a_stop_is_taken_again(void **state) {
    (void)state;
    char wanted[65], hex[65];
    mapping m;
    mst_dataset *data = open_mapped(&m, true);
    fit_undisturbed(data, wanted);
    for (int step = 1; step <= 2 * PER_EPOCH; step += 3) {
        mst_model *model = make_model();
        mst_result result;
        const mst_callback callback = {.context = &step, .step_end = stop_at};
        EXPECT_OK(mst_fit_with(
            model, &(mst_fit_options){.data = data, .epochs = EPOCHS, .callbacks = &callback, .num_callbacks = 1},
            &result));
        assert_true(result.stopped && result.step == step);
        EXPECT_OK(mst_fit(model, .data = data, .epochs = EPOCHS, .resume = true));
        hash(model, hex);
        assert_string_equal(hex, wanted);
    }
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_those_of_rows_that_are_copied_in_the_step),
        cmocka_unit_test(component_that_the_model_does_not_take_may_have_rows_of_any_length),
        cmocka_unit_test(a_batch_has_the_rows_and_numbers_of_its_shards),
        cmocka_unit_test(one_batch_is_taken_ahead_and_no_more),
        cmocka_unit_test(tensors_that_a_step_still_holds_are_not_written),
        cmocka_unit_test(thread_ends_within_a_batch),
        cmocka_unit_test(no_thread_is_left_after_an_epoch_with_its_validation),
        cmocka_unit_test(error_of_a_record_comes_with_its_step),
        cmocka_unit_test(batch_ahead_of_a_step_that_fails_is_taken_again),
        cmocka_unit_test(batch_ahead_of_a_stop_is_taken_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
