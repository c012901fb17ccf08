/* Sharded state: tasks that divide the optimizer's slots among themselves end with the weights of one process, bit
 * for bit, for every dtype. Each task keeps a part of the slots. Settings that do not allow it are one clear error.
 * The tasks are threads. */
#include "muster/store.h"
#include "run/session.h"
#include "store/store.h"
#include "support/test.h"
#include "support/training.h"
#include "support/workers.h"

enum { ROWS = 600, COLUMNS = 120, BATCH = 4, STEPS = 4, SHARDS = 6, MOST = 3 };

typedef struct job {
    mst_dtype dtype;
    mst_optimizer optimizer;
    const char *devices;
    int num_devices, num_tasks;
    bool looks_up; /* only some rows of the weights have gradients */
    mst_status status[MOST];
    char error[MOST][300];
    mst_tensor *weights[MOST], *average[MOST];
    int64_t slot_bytes[MOST];
} job;

static mst_value build_loss(const job *j, mst_graph *graph, mst_value w) {
    if (j->looks_up) {
        mst_value rows = mst_cast(mst_random_uniform(graph, MST_SHAPE(BATCH), .low = 0, .high = ROWS), MST_I32);
        return mst_reduce_mean(mst_square(mst_gather(w, rows, 0)), .axes = MST_AXES(1));
    }
    const mst_dtype dtype = j->dtype == MST_F64 ? MST_F64 : MST_F32;
    mst_value x = mst_cast(mst_random_uniform(graph, MST_SHAPE(BATCH, ROWS), .low = -1, .high = 1), dtype);
    mst_value y = mst_matmul(x, mst_cast(w, dtype));
    return mst_reduce_mean(mst_square(mst_add(y, mst_scalar(graph, dtype, 1))), .axes = MST_AXES(1));
}

static void build_replica(void *context, mst_graph *graph, int shard, mst_replica *out) {
    const job *j = context;
    (void)shard;
    mst_value w = mst_get_variable(graph, "w", MST_SHAPE(ROWS, COLUMNS), j->dtype,
                                   mst_random_uniform_initializer(.low = -1, .high = 1), .l2 = j->looks_up ? 0 : 0.01f);
    out->loss = build_loss(j, graph, w);
}

/* Keeps what a task ends with. */
static mst_status keep(job *j, int number, mst_store *store) {
    mst_state_info *list;
    int64_t count;
    MST_TRY(mst_store_list(store, &list, &count));
    for (int64_t i = 0; i < count; i++)
        if (list[i].kind == MST_STATE_SLOT && !strstr(list[i].name, "master")) j->slot_bytes[number] += list[i].bytes;
    free(list);
    if (j->optimizer.ema_decay > 0)
        MST_TRY(mst_store_get(store, NULL, "w/ExponentialMovingAverage", &j->average[number]));
    return mst_store_get(store, NULL, "w", &j->weights[number]);
}

static mst_status run(job *j, int number, mst_strategy *strategy, mst_graph *graph, mst_session *session) {
    mst_step_values values;
    const char *devices[8];
    for (int i = 0; i < j->num_devices; i++) devices[i] = mst_session_device(session, i);
    strategy->devices = devices;
    mst_strategy_build(graph, strategy, &j->optimizer, build_replica, j, &values);
    MST_TRY(mst_graph_check(graph));
    MST_TRY(mst_session_init_variables(session));
    for (int i = 0; i < STEPS; i++) MST_TRY(mst_session_run(session, NULL, 0, &values.train, 1, NULL));
    return keep(j, number, mst_session_store(session));
}

static void train(void *context, int number, mst_shards window, mst_task_group *group) {
    job *j = context;
    mst_graph *graph = NULL;
    mst_session *session = NULL;
    mst_strategy strategy = {.kind = group ? MST_STRATEGY_MULTI_WORKER : MST_STRATEGY_MIRRORED,
                             .num_devices = j->num_devices,
                             .num_shards = SHARDS,
                             .first_shard = window.first,
                             .num_shards_here = window.count,
                             .sharded_state = group != NULL,
                             .num_parts = group ? j->num_tasks : 0,
                             .part = group ? number : 0};
    mst_status status = mst_graph_create(&graph);
    if (!status) mst_graph_set_seed(graph, 7);
    if (!status) status = mst_session_create(graph, &(mst_session_options){.devices = j->devices}, &session);
    if (!status && group) mst_session_join(session, group);
    if (!status) status = run(j, number, &strategy, graph, session);
    j->status[number] = status;
    if (status) snprintf(j->error[number], sizeof j->error[number], "%s", mst_error()->message);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
}

static void end(job *j) {
    for (int i = 0; i < MOST; i++) {
        mst_tensor_release(j->weights[i]);
        mst_tensor_release(j->average[i]);
    }
}

static void run_tasks(job *j, int n) {
    int count[MOST];
    for (int i = 0; i < n; i++) count[i] = SHARDS / n;
    j->num_tasks = n;
    workers_run(n, count, train, j);
}

static void expect_the_same(const char *name, const job *like, int n, const char *devices, int num_devices) {
    job one = *like, many = *like;
    one.devices = "cpu:1/1";
    one.num_devices = 1;
    many.devices = devices;
    many.num_devices = num_devices;
    train(&one, 0, (mst_shards){0, SHARDS}, NULL);
    if (one.status[0]) fail_msg("%s: %s", name, one.error[0]);
    run_tasks(&many, n);
    int64_t bytes = 0;
    for (int i = 0; i < n; i++) {
        if (many.status[i]) fail_msg("%s: task %d: %s", name, i, many.error[i]);
        if (!engine_same_bits(many.weights[i], one.weights[0])) fail_msg("%s: task %d of %d: other bits", name, i, n);
        if (one.average[0] && !engine_same_bits(many.average[i], one.average[0]))
            fail_msg("%s: task %d of %d: another average", name, i, n);
        bytes += many.slot_bytes[i];
        if (one.slot_bytes[0]) assert_in_range(many.slot_bytes[i], 1, one.slot_bytes[0] * 2 / 3);
    }
    assert_int_equal(bytes, one.slot_bytes[0]);
    end(&one);
    end(&many);
}

static void bits_are_those_of_one_process(void **state) {
    (void)state;
    static const struct {
        const char *name;
        job job;
    } cases[] = {
        {"adam", {.dtype = MST_F32, .optimizer = {.rule = "adam", .learning_rate = 0.01}}},
        {"adam in f64",
         {.dtype = MST_F64, .optimizer = {.rule = "adam", .learning_rate = 0.01, .clip_global_norm = 0.1}}},
        {"momentum in bf16",
         {.dtype = MST_BF16, .optimizer = {.rule = "sgd", .learning_rate = 0.1, .momentum = 0.9, .ema_decay = 0.9}}},
        {"ftrl in bf16, decayed", {.dtype = MST_BF16, .optimizer = {.rule = "ftrl", .weight_decay = 0.01}}},
        {"adam, accumulated",
         {.dtype = MST_F32, .optimizer = {.rule = "adam", .clip_norm = 0.1, .gradient_accumulation_steps = 2}}},
        {"ftrl in bf16, accumulated",
         {.dtype = MST_BF16, .optimizer = {.rule = "ftrl", .gradient_accumulation_steps = 3}}},
        {"sgd has no slots", {.dtype = MST_F32, .optimizer = {.rule = "sgd", .learning_rate = 0.1}}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        expect_the_same(cases[c].name, &cases[c].job, 2, "cpu:1/1", 1);
        expect_the_same(cases[c].name, &cases[c].job, 3, "cpu:2/1", 2);
    }
}

static void expect_refusal(job j, const char *message) {
    run_tasks(&j, 2);
    for (int i = 0; i < 2; i++) {
        if (!strstr(j.error[i], message)) fail_msg("task %d: '%s'", i, j.error[i]);
        assert_int_equal(j.status[i], MST_UNIMPLEMENTED);
    }
    end(&j);
}

static void what_it_is_not_for_is_an_error(void **state) {
    (void)state;
    const job like = {.dtype = MST_F32, .optimizer = {.rule = "adam"}, .devices = "cpu:1/1", .num_devices = 1};
    job rows = like, islands = like;
    rows.looks_up = true;
    expect_refusal(rows, "the gradient of 'w' has only some of its rows (an embedding)");
    islands.devices = "island:3/1";
    islands.num_devices = 3;
    expect_refusal(islands, "sharded state is for devices that share one memory");
    mst_strategy strategy = {.kind = MST_STRATEGY_MIRRORED, .sharded_state = true};
    EXPECT_ERROR(mst_strategy_resolve(&strategy), MST_INVALID, "strategy mirrored: sharded_state");
    strategy = (mst_strategy){.kind = MST_STRATEGY_MULTI_WORKER, .sharded_state = true, .num_parts = 2, .part = 2};
    EXPECT_ERROR(mst_strategy_resolve(&strategy), MST_INVALID, "strategy: part 2 of 2");
}

/* An entry that is a part takes it out of a whole value, and gives the whole back until it changes. */
static void an_entry_takes_its_part_of_a_whole(void **state) {
    (void)state;
    mst_store *store;
    mst_state *entry;
    mst_snapshot *file, *got;
    mst_tensor *whole = engine_random(MST_F32, MST_SHAPE(4, 5), -1, 1, 3), *part;
    EXPECT_OK(mst_store_create(&store));
    EXPECT_OK(mst_store_declare(store, NULL, "w/m", MST_STATE_SLOT, &(mst_spec){MST_F32, MST_SHAPE(7)}, &entry));
    mst_store_set_part(store, NULL, "w/m", MST_SHAPE(4, 5), 6);
    assert_false(mst_store_has_wholes(store));
    EXPECT_OK(mst_snapshot_create(&file));
    EXPECT_OK(mst_snapshot_add(file, NULL, "w/m", MST_STATE_SLOT, whole));
    EXPECT_OK(mst_store_restore(store, file));
    EXPECT_OK(mst_store_get(store, NULL, "w/m", &part));
    assert_memory_equal(mst_tensor_data(part), (float *)mst_tensor_data(whole) + 6, 7 * sizeof(float));
    assert_true(mst_store_has_wholes(store));
    EXPECT_OK(mst_store_snapshot_wholes(store, &got));
    assert_true(engine_same_bits(mst_snapshot_find(got, NULL, "w/m"), whole));
    mst_snapshot_release(got);
    mst_store_drop_wholes(store);
    EXPECT_OK(mst_store_snapshot_wholes(store, &got));
    assert_null(mst_snapshot_find(got, NULL, "w/m"));
    mst_snapshot_release(got);
    mst_snapshot_release(file);
    mst_tensor_release(part);
    mst_tensor_release(whole);
    mst_store_release(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_one_process),
        cmocka_unit_test(what_it_is_not_for_is_an_error),
        cmocka_unit_test(an_entry_takes_its_part_of_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
