/* A step that several tasks make together, each with some of the shards, gives the weights of one process, bit for
 * bit. The tasks are threads here, each with a model, a store and devices of its own. */
#include "support/training.h"
#include "run/session.h"
#include "support/test.h"
#include "support/workers.h"

enum { ROWS = 90, BATCH = 20 /* the last batch has 10 rows: shards of 3, 3, 2, 2 */, FEATURES = 30, CLASSES = 7 };

/* What all tasks train, and the weights and losses that each ends with. */
typedef struct job {
    mst_optimizer optimizer;
    int shards;
    const char *devices;
    bool normalized; /* has branches with synchronized batch normalization */
    mst_status status[WORKERS_MOST];
    char error[WORKERS_MOST][300];
    char hex[WORKERS_MOST][65];
    mst_result fitted[WORKERS_MOST], evaluated[WORKERS_MOST];
} job;

static mst_model *make_model(const job *j, mst_shards window, mst_task_group *group) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 70, .activation = MST_RELU, .l2 = 1e-2f);
    mst_output x = mst_dropout(model, .rate = 0.25f);
    if (j->normalized) {
        const mst_output a = mst_batch_normalization(mst_dense(x, 20, .no_bias = true), .synchronized = true);
        const mst_output b = mst_batch_normalization(mst_dense(x, 20), .synchronized = true, .no_scale = true);
        mst_batch_normalization(mst_merge(MST_OUTPUTS(a, b), MST_MERGE_ADD), .synchronized = true);
    }
    mst_dense(model, CLASSES, .l1 = 1e-3f);
    EXPECT_OK(mst_compile(model, .optimizer = j->optimizer,
                          .strategy = {.kind = MST_STRATEGY_MIRRORED,
                                       .num_shards = j->shards,
                                       .first_shard = window.first,
                                       .num_shards_here = window.count},
                          .metric = {MST_METRIC_ACCURACY}, .session = {.devices = j->devices}, .seed = 5));
    mst_session_join(mst_model_session(model), group);
    return model;
}

/* A thread of the test cannot end it: the status is looked at afterwards. */
static void train(void *context, int number, mst_shards window, mst_task_group *group) {
    job *j = context;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 3);
    mst_model *model = make_model(j, window, group);
    mst_status status =
        mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = BATCH, .epochs = 2}, &j->fitted[number]);
    if (!status) status = mst_evaluate(model, data, BATCH, &j->evaluated[number], NULL);
    if (!status) status = mst_model_sha256(model, j->hex[number]);
    j->status[number] = status;
    if (status) snprintf(j->error[number], sizeof j->error[number], "%s", mst_error()->message);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void expect_alike(const char *name, job one, const char *devices, int n, const int *count) {
    job many = one;
    if (engine_has_other_bits(devices)) return;
    one.devices = "cpu:1/1";
    many.devices = devices;
    for (int i = 0; i < n; i++) one.shards += count[i];
    many.shards = one.shards;
    train(&one, 0, (mst_shards){0, one.shards}, NULL);
    if (one.status[0]) fail_msg("%s: %s", name, one.error[0]);
    workers_run(n, count, train, &many);
    for (int i = 0; i < n; i++) {
        if (many.status[i]) fail_msg("%s: task %d: %s", name, i, many.error[i]);
        if (strcmp(many.hex[i], one.hex[0]) != 0)
            fail_msg("%s: task %d of %d gives %s, one process %s", name, i, n, many.hex[i], one.hex[0]);
        assert_true(many.fitted[i].loss == one.fitted[0].loss);
        assert_true(many.evaluated[i].loss == one.evaluated[0].loss);
        assert_true(many.evaluated[i].metric[0] == one.evaluated[0].metric[0]);
    }
}

static void expect_weights_of_one_process(const char *name, mst_optimizer optimizer, const char *devices, int n,
                                          const int *count) {
    expect_alike(name, (job){.optimizer = optimizer}, devices, n, count);
}

static void two_tasks_give_the_weights_of_one_process(void **state) {
    (void)state;
    const int count[] = {2, 2};
    expect_weights_of_one_process("sgd", mst_sgd(.learning_rate = 0.1), "cpu:1/1", 2, count);
    expect_weights_of_one_process("adam", mst_adam(.learning_rate = 0.01, .ema_decay = 0.99), "cpu:1/1", 2, count);
    expect_weights_of_one_process("clipped by a norm", mst_adam(.learning_rate = 0.01, .clip_global_norm = 0.05),
                                  "cpu:1/1", 2, count);
}

static void tasks_of_several_devices_give_the_weights_of_one_process(void **state) {
    (void)state;
    const int count[] = {4, 4};
    expect_weights_of_one_process("two devices", mst_adam(.learning_rate = 0.01), "cpu:2/1", 2, count);
    expect_weights_of_one_process("two islands", mst_adam(.learning_rate = 0.01), "island:2/1", 2, count);
    expect_weights_of_one_process("islands, clipped", mst_sgd(.learning_rate = 0.1, .clip_norm = 0.05), "island:2/1", 2,
                                  count);
}

static void uneven_windows_give_the_weights_of_one_process(void **state) {
    (void)state;
    expect_weights_of_one_process("2, 1, 1", mst_adam(.learning_rate = 0.01), "cpu:1/1", 3, (const int[]){2, 1, 1});
    expect_weights_of_one_process("3, 4", mst_adam(.learning_rate = 0.01), "cpu:1/1", 2, (const int[]){3, 4});
    expect_weights_of_one_process("1, 5, 1, 4", mst_adam(.learning_rate = 0.01), "cpu:1/1", 4,
                                  (const int[]){1, 5, 1, 4});
}

static void synchronized_statistics_are_those_of_all_tasks(void **state) {
    (void)state;
    const job normalized = {.optimizer = mst_sgd(.learning_rate = 0.1), .normalized = true};
    expect_alike("2, 2", normalized, "cpu:1/1", 2, (const int[]){2, 2});
    expect_alike("two devices", normalized, "cpu:2/1", 2, (const int[]){2, 4});
    expect_alike("two islands", normalized, "island:2/1", 2, (const int[]){2, 2});
    expect_alike("1, 3, 1", normalized, "cpu:1/1", 3, (const int[]){1, 3, 1});
}

static void part_of_the_shards_without_a_cluster_is_an_error(void **state) {
    (void)state;
    job alone = {.optimizer = mst_sgd(.learning_rate = 0.1), .shards = 4, .devices = "cpu:1/1"};
    train(&alone, 0, (mst_shards){0, 2}, NULL);
    assert_int_equal(alone.status[0], MST_INVALID);
    if (!strstr(alone.error[0], "shards 0 to 1 of 4")) fail_msg("%s", alone.error[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tasks_give_the_weights_of_one_process),
        cmocka_unit_test(tasks_of_several_devices_give_the_weights_of_one_process),
        cmocka_unit_test(uneven_windows_give_the_weights_of_one_process),
        cmocka_unit_test(synchronized_statistics_are_those_of_all_tasks),
        cmocka_unit_test(part_of_the_shards_without_a_cluster_is_an_error),
    };
    static const char *const names[] = {"inproc", "shm"};
    int failed = 0;
    for (int i = 0; i < 2; i++) {
        const mst_transport_type *type;
        const mst_status status = mst_transport_find(names[i], &type);
        if (status) print_error("transport %s is not tested: %s\n", names[i], mst_error()->message);
        failed += status != MST_OK && status != MST_UNAVAILABLE;
        if (status) continue;
        workers_use(type);
        failed += _cmocka_run_group_tests(names[i], tests, sizeof tests / sizeof *tests, NULL, NULL);
    }
    return failed;
}
