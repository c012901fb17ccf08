/* Law 1: the same seed, global batch and number of shards gives the same weights, bit for bit, under each strategy and
 * for every number of devices that divides the shards. */
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 90, BATCH = 20 /* the last batch has 10 rows: shards of 3, 3, 2, 2 */, FEATURES = 30, CLASSES = 7 };

/* Trains with the options given, and the SHA-256 of the weights. */
static void train(mst_optimizer optimizer, mst_strategy_kind kind, const char *devices, int shards, int64_t batch,
                  uint64_t seed, char hex[65]) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 3);
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 70, .activation = MST_RELU, .l2 = 1e-2f);
    mst_dropout(model, .rate = 0); /* rate 0: a layer that must change nothing */
    mst_dense(model, CLASSES, .l1 = 1e-3f);
    EXPECT_OK(mst_compile(model, .optimizer = optimizer, .strategy = {.kind = kind, .num_shards = shards},
                          .session = {.devices = devices}, .seed = seed));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = batch, .epochs = 2));
    EXPECT_OK(mst_model_sha256(model, hex));
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static const struct {
    mst_strategy_kind kind;
    const char *devices;
} places[] = {
    {MST_STRATEGY_ONE, "cpu:1/1"},      {MST_STRATEGY_TOWERS, "cpu:1/1"},   {MST_STRATEGY_TOWERS, "cpu:2/1"},
    {MST_STRATEGY_TOWERS, "cpu:4/1"},   {MST_STRATEGY_MIRRORED, "cpu:1/1"}, {MST_STRATEGY_MIRRORED, "cpu:2/1"},
    {MST_STRATEGY_MIRRORED, "cpu:4/1"},
};

static void expect_one_answer(const char *name, mst_optimizer optimizer) {
    char wanted[65], got[65];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        train(optimizer, places[i].kind, places[i].devices, 4, BATCH, 1, i ? got : wanted);
        if (i && strcmp(got, wanted) != 0)
            fail_msg("%s: strategy %d on %s gives %s, one device %s", name, (int)places[i].kind, places[i].devices, got,
                     wanted);
    }
}

static void sgd_with_momentum_gives_one_answer(void **state) {
    (void)state;
    expect_one_answer("sgd", mst_sgd(.learning_rate = 0.1));
    expect_one_answer("momentum", mst_sgd(.learning_rate = 0.1, .momentum = 0.9, .nesterov = true));
    expect_one_answer("momentum of TensorFlow 1", mst_momentum(.learning_rate = 0.1));
}

static void adam_gives_one_answer(void **state) {
    (void)state;
    expect_one_answer("adam", mst_adam(.learning_rate = 0.01));
    expect_one_answer("adamw", mst_adamw(.learning_rate = 0.01, .amsgrad = true));
}

static void nadam_with_moving_average_gives_one_answer(void **state) {
    (void)state;
    expect_one_answer("nadam", mst_nadam(.learning_rate = 0.01, .ema_decay = 0.99, .ema_num_updates = true));
}

static void clipping_gives_one_answer(void **state) {
    (void)state;
    expect_one_answer("clip_value", mst_sgd(.learning_rate = 0.5, .clip_value = 0.01));
    expect_one_answer("clip_norm", mst_sgd(.learning_rate = 0.5, .momentum = 0.9, .clip_norm = 0.05));
    expect_one_answer("clip_global_norm", mst_adam(.learning_rate = 0.01, .clip_global_norm = 0.05));
}

static void accumulated_gradients_give_one_answer(void **state) {
    (void)state;
    expect_one_answer("adam", mst_adam(.learning_rate = 0.01, .gradient_accumulation_steps = 3));
    expect_one_answer("momentum, clip_norm", mst_sgd(.learning_rate = 0.5, .momentum = 0.9, .clip_norm = 0.05,
                                                     .weight_decay = 0.01, .gradient_accumulation_steps = 2));
    expect_one_answer("nadam, average", mst_nadam(.learning_rate = 0.01, .ema_decay = 0.9, .clip_global_norm = 0.05,
                                                  .gradient_accumulation_steps = 4));
}

static void schedules_give_one_answer(void **state) {
    (void)state;
    expect_one_answer("exponential decay",
                      mst_sgd(.schedule = mst_exponential_decay(.rate = 0.3, .decay_rate = 0.9, .decay_steps = 2)));
    expect_one_answer("warm-up", mst_rmsprop(.learning_rate = 0.01, .schedule = {.warmup_steps = 3}));
}

static void batches_smaller_than_the_shards_give_one_answer(void **state) {
    (void)state;
    char wanted[65], got[65];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        train(mst_sgd(.learning_rate = 0.1), places[i].kind, places[i].devices, 4, 3, 1, i ? got : wanted);
        if (i) assert_string_equal(got, wanted);
    }
}

/* On the number of devices given, of the type named. */
static void expect_place(mst_strategy_kind kind, const char *devices, int shards, const char *wanted) {
    char got[65];
    if (engine_has_other_bits(devices)) return;
    train(mst_adam(.learning_rate = 0.01), kind, devices, shards, BATCH, 1, got);
    if (strcmp(got, wanted) != 0)
        fail_msg("%d shards: strategy %d on %s gives %s, one device %s", shards, (int)kind, devices, got, wanted);
}

/* Numbers that are not powers of two: trees with a leaf left over, and cuts between devices that are not subtrees. The
 * last batch has fewer rows than there are shards of 12. */
static void any_number_of_shards_gives_one_answer_on_each_number_of_devices_that_divides_it(void **state) {
    (void)state;
    static const int shards[] = {6, 12};
    static const char *const types[] = {"cpu", "island"};
    for (int s = 0; s < 2; s++) {
        char wanted[65], devices[32];
        train(mst_adam(.learning_rate = 0.01), MST_STRATEGY_ONE, "cpu:1/1", shards[s], BATCH, 1, wanted);
        for (int count = 1; count <= shards[s]; count++) {
            for (int t = 0; t < 2 && shards[s] % count == 0; t++) {
                snprintf(devices, sizeof devices, "%s:%d/1", types[t], count);
                expect_place(MST_STRATEGY_TOWERS, devices, shards[s], wanted);
                expect_place(MST_STRATEGY_MIRRORED, devices, shards[s], wanted);
            }
        }
        expect_place(MST_STRATEGY_MIRRORED, "cpu:1/1,island:2/1", shards[s], wanted);
        expect_place(MST_STRATEGY_TOWERS, "cpu:2/1,island:4/1", shards[s], wanted);
        expect_place(MST_STRATEGY_MIRRORED, "island:2/1,cpu:4/1", shards[s], wanted);
    }
}

static void another_seed_gives_another_answer_and_the_same_seed_the_same(void **state) {
    (void)state;
    char a[65], b[65], c[65];
    train(mst_sgd(.learning_rate = 0.1), MST_STRATEGY_MIRRORED, "cpu:2/1", 2, BATCH, 1, a);
    train(mst_sgd(.learning_rate = 0.1), MST_STRATEGY_MIRRORED, "cpu:2/1", 2, BATCH, 1, b);
    train(mst_sgd(.learning_rate = 0.1), MST_STRATEGY_MIRRORED, "cpu:2/1", 2, BATCH, 2, c);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_with_momentum_gives_one_answer),
        cmocka_unit_test(adam_gives_one_answer),
        cmocka_unit_test(nadam_with_moving_average_gives_one_answer),
        cmocka_unit_test(clipping_gives_one_answer),
        cmocka_unit_test(accumulated_gradients_give_one_answer),
        cmocka_unit_test(schedules_give_one_answer),
        cmocka_unit_test(batches_smaller_than_the_shards_give_one_answer),
        cmocka_unit_test(any_number_of_shards_gives_one_answer_on_each_number_of_devices_that_divides_it),
        cmocka_unit_test(another_seed_gives_another_answer_and_the_same_seed_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
