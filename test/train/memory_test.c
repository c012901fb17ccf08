/* The device memory that training takes, and the bytes that it copies between memory domains. */
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 240, FEATURES = 64, CLASSES = 10, BATCH = 48, SHARDS = 4, MOST_DEVICES = 4 };

static const struct {
    mst_strategy_kind kind;
    const char *devices;
} places[] = {
    {MST_STRATEGY_ONE, "cpu:1/1"},
    {MST_STRATEGY_TOWERS, "cpu:2/1"},
    {MST_STRATEGY_MIRRORED, "cpu:2/1"},
    {MST_STRATEGY_MIRRORED, "cpu:4/1"},
    {MST_STRATEGY_ONE, "island:1/1"},
    {MST_STRATEGY_TOWERS, "island:2/1"},
    {MST_STRATEGY_MIRRORED, "island:2/1"},
    {MST_STRATEGY_MIRRORED, "island:4/1"},
    {MST_STRATEGY_TOWERS, "cpu:1/1,island:1/1"},
    {MST_STRATEGY_MIRRORED, "cpu:1/1,island:1/1"},
    {MST_STRATEGY_MIRRORED, "island:1/1,cpu:1/1"},
    {MST_STRATEGY_MIRRORED, "island:2/1,cpu:2/1"},
};
enum { NUM_PLACES = sizeof places / sizeof *places };

static mst_model *model_at(int place) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 100, .activation = MST_RELU);
    mst_dense(model, 50, .activation = MST_RELU);
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .metric = {MST_METRIC_ACCURACY},
                          .strategy = {.kind = places[place].kind, .num_shards = SHARDS},
                          .session = {.devices = places[place].devices}));
    return model;
}

/* ---- memory ---- */

/* The most bytes that each device of a session had. */
typedef struct peak {
    const mst_session *session;
    int num_devices;
    int64_t bytes[MOST_DEVICES];
} peak;

static mst_status look(void *context, mst_train_state *state) {
    peak *p = context;
    (void)state;
    for (int d = 0; d < p->num_devices; d++) {
        const int64_t bytes = mst_session_device_memory(p->session, d);
        if (bytes > p->bytes[d]) p->bytes[d] = bytes;
    }
    return MST_OK;
}

/* Trains; with VALIDATION (NULL: nothing of that) also validates, evaluates and predicts in batches of BATCH_SIZE. */
static peak measure(int place, const mst_dataset *data, const mst_dataset *validation, int64_t batch_size) {
    mst_model *model = model_at(place);
    peak p = {.session = mst_model_session(model), .num_devices = mst_session_num_devices(mst_model_session(model))};
    const mst_callback callback = {.context = &p, .step_end = look, .epoch_end = look};
    EXPECT_OK(mst_fit(model, .data = data, .validation = validation, .batch_size = BATCH, .epochs = 2,
                      .callbacks = &callback, .num_callbacks = 1));
    if (validation) {
        mst_tensor *predictions;
        EXPECT_OK(mst_evaluate(model, validation, batch_size, NULL, NULL));
        EXPECT_OK(look(&p, NULL));
        EXPECT_OK(mst_predict(model, validation, batch_size, &predictions));
        EXPECT_OK(look(&p, NULL));
        mst_tensor_release(predictions);
    }
    mst_model_destroy(model);
    return p;
}

static void validation_evaluation_and_prediction_fit_into_the_memory_of_training(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *test = training_data(ROWS, FEATURES, CLASSES, 2);
    for (int i = 0; i < NUM_PLACES; i++) {
        const peak alone = measure(i, data, NULL, 0);
        for (int64_t batch_size = BATCH; batch_size <= 2 * BATCH; batch_size += BATCH) {
            const peak all = measure(i, data, test, batch_size);
            for (int d = 0; d < alone.num_devices; d++)
                if (alone.bytes[d] == 0 || (double)all.bytes[d] > 1.1 * (double)alone.bytes[d])
                    fail_msg("strategy %d on %s, batches of %d: device %d has %lld bytes, %lld in training alone",
                             (int)places[i].kind, places[i].devices, (int)batch_size, d, (long long)all.bytes[d],
                             (long long)alone.bytes[d]);
        }
    }
    mst_dataset_release(data);
    mst_dataset_release(test);
}

/* ---- bytes that cross ---- */

typedef struct meter {
    mst_session *session;
    int64_t copied, steps;
} meter;

/* Between the ends of two steps, only one step runs. The first step also makes plans, and copies constants and first
 * values. */
static mst_status compare_bytes(void *context, mst_train_state *state) {
    meter *m = context;
    const int64_t before = m->copied;
    (void)state;
    m->copied = mst_session_copied_bytes(m->session);
    if (m->steps++ == 0) return MST_OK;
    const mst_plan_info info = mst_session_plan_info(m->session);
    if (m->copied - before != info.crossing_bytes)
        return mst_error_set(MST_INTERNAL, __FILE__, __LINE__, "step %lld copies %lld bytes, the plan says %lld",
                             (long long)m->steps, (long long)(m->copied - before), (long long)info.crossing_bytes);
    return MST_OK;
}

static void step_copies_the_bytes_that_its_plan_tells(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    for (int p = 0; p < NUM_PLACES; p++) {
        mst_model *model = model_at(p);
        meter m = {.session = mst_model_session(model)};
        const mst_callback callback = {.context = &m, .step_end = compare_bytes};
        if (mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 2, .callbacks = &callback, .num_callbacks = 1))
            fail_msg("strategy %d on %s: %s", (int)places[p].kind, places[p].devices, mst_error()->message);
        assert_int_equal(m.steps, 2 * ROWS / BATCH);
        const mst_plan_info info = mst_session_plan_info(m.session);
        assert_int_equal(info.crossing_bytes > 0, strstr(places[p].devices, "island") || engine_compiles());
        mst_model_destroy(model);
    }
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validation_evaluation_and_prediction_fit_into_the_memory_of_training),
        cmocka_unit_test(step_copies_the_bytes_that_its_plan_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
