/* State of devices that compile: snapshots and checkpoints, even while steps run, and stores that several sessions
 * share with CPUs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "store/store.h"
#include "support/folder.h"
#include "support/networks.h"
#include "support/test.h"

enum { SHARDS = 4, MOST_STEPS = 16 };

static const mst_optimizer adam = {.rule = "adam", .learning_rate = 0.02, .ema_decay = 0.9};

static network_run run_on(const char *devices, int epochs) {
    return (network_run){
        .network = &network_pictures, .optimizer = adam, .devices = devices, .shards = SHARDS, .epochs = epochs};
}

static network_run run_in_place_on(const char *devices, int epochs) {
    network_run run = run_on(devices, epochs);
    run.in_place = true;
    return run;
}

/* ---- snapshots ---- */

static int64_t step_of(const mst_snapshot *snapshot) {
    return (int64_t)mst_tensor_get(mst_snapshot_find(snapshot, "", MST_STATE_GLOBAL_STEP), 0);
}

/* Weights, slots and averages, which belong to one step. */
static void expect_state_of_step(const mst_snapshot *got, const mst_snapshot *wanted) {
    assert_int_equal(step_of(got), step_of(wanted));
    for (int64_t i = 0; i < mst_snapshot_count(wanted); i++) {
        const mst_state_info info = mst_snapshot_info(wanted, i);
        if (info.kind != MST_STATE_WEIGHT && info.kind != MST_STATE_SLOT && info.kind != MST_STATE_AVERAGE) continue;
        const mst_tensor *value = mst_snapshot_find(got, info.container, info.name);
        if (!value || !engine_same_bits(value, mst_snapshot_value(wanted, i)))
            fail_msg("'%s' is not that of step %lld", info.name, (long long)step_of(wanted));
    }
}

static mst_status keep_snapshot(void *context, mst_train_state *state) {
    mst_snapshot **kept = context;
    assert_in_range(state->step, 0, MOST_STEPS - 1);
    return mst_store_snapshot(mst_model_store(state->model), &kept[state->step]);
}

enum { MOST_TAKEN = 400 };

typedef struct watcher {
    mst_store *store;
    atomic_bool ends;
    atomic_int num_taken;
    mst_snapshot *taken[MOST_TAKEN]; /* compared later, by the thread of the test */
} watcher;

/* Takes snapshots as fast as it can, from the first step on. */
static void *take_snapshots(void *context) {
    watcher *w = context;
    for (int n = 0; n < MOST_TAKEN && !atomic_load(&w->ends);) {
        if (mst_store_snapshot(w->store, &w->taken[n])) continue;
        if (step_of(w->taken[n]) > 0)
            atomic_store(&w->num_taken, ++n);
        else
            mst_snapshot_release(w->taken[n]);
    }
    return NULL;
}

static mst_status await_snapshot(void *context, mst_train_state *state) {
    watcher *w = context;
    (void)state;
    while (!atomic_load(&w->num_taken)) usleep(100);
    return MST_OK;
}

/* A snapshot has the state of one step, whatever is on its way then. */
static void expect_snapshots_of_one_step(network_run run) {
    mst_snapshot *kept[MOST_STEPS] = {NULL};
    const mst_callback callback = {.context = kept, .step_end = keep_snapshot};
    mst_dataset *data = run.network->data(36);
    pthread_t thread;
    mst_model *first = network_compiled(&run), *second = network_compiled(&run);
    EXPECT_OK(mst_fit(first, .data = data, .batch_size = 24, .epochs = 6, .callbacks = &callback, .num_callbacks = 1));
    EXPECT_OK(mst_build(second, data, true));
    static watcher w;
    w = (watcher){.store = mst_model_store(second)};
    const mst_callback await = {.context = &w, .step_end = await_snapshot};
    assert_int_equal(pthread_create(&thread, NULL, take_snapshots, &w), 0);
    EXPECT_OK(mst_fit(second, .data = data, .batch_size = 24, .epochs = 6, .callbacks = &await, .num_callbacks = 1));
    atomic_store(&w.ends, true);
    pthread_join(thread, NULL);
    for (int i = 0; i < atomic_load(&w.num_taken); i++) {
        const int64_t step = step_of(w.taken[i]);
        assert_in_range(step, 1, MOST_STEPS - 1);
        assert_non_null(kept[step]);
        expect_state_of_step(w.taken[i], kept[step]);
        mst_snapshot_release(w.taken[i]);
    }
    for (int i = 0; i < MOST_STEPS; i++) mst_snapshot_release(kept[i]);
    mst_model_destroy(first);
    mst_model_destroy(second);
    mst_dataset_release(data);
}

static void snapshots_beside_steps_are_of_one_step(void **state) {
    (void)state;
    expect_snapshots_of_one_step(run_on("lagoon:2", 6));
    expect_snapshots_of_one_step(run_in_place_on("lagoon:2", 6));
}

/* ---- checkpoints ---- */

static mst_status save(void *context, mst_train_state *state) {
    mst_snapshot *snapshot;
    if (state->step != *(const int64_t *)context) return MST_OK;
    MST_TRY(mst_store_snapshot(mst_model_store(state->model), &snapshot));
    const mst_status status = mst_checkpoint_write(folder_path("saved"), snapshot, NULL);
    mst_snapshot_release(snapshot);
    return status;
}

/* Training that goes on from a checkpoint of an epoch's end has the weights of one that was never interrupted, on
 * another number of devices too. */
static void expect_to_go_on(network_run run) {
    static const char *const devices[] = {"lagoon:1", "lagoon:2", "lagoon:4"};
    int64_t at = 4; /* two epochs of two steps */
    char wanted[65], got[65];
    const mst_callback callback = {.context = &at, .step_end = save};
    mst_dataset *data = run.network->data(36);
    mst_model *whole = network_compiled(&run);
    EXPECT_OK(mst_fit(whole, .data = data, .batch_size = 24, .epochs = 4, .callbacks = &callback, .num_callbacks = 1));
    EXPECT_OK(mst_model_sha256(whole, wanted));
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        run.devices = devices[d];
        mst_model *model = network_compiled(&run);
        EXPECT_OK(mst_build(model, data, true));
        EXPECT_OK(mst_checkpoint_restore(folder_path("saved"), mst_model_store(model), NULL, NULL));
        EXPECT_OK(mst_fit(model, .data = data, .batch_size = 24, .epochs = 4, .resume = true));
        EXPECT_OK(mst_model_sha256(model, got));
        if (strcmp(got, wanted) != 0) fail_msg("other weights on %s", devices[d]);
        mst_model_destroy(model);
    }
    mst_model_destroy(whole);
    mst_dataset_release(data);
}

static void training_goes_on_from_a_checkpoint_on_other_devices(void **state) {
    (void)state;
    expect_to_go_on(run_on("lagoon:2", 4));
}

static void training_in_place_goes_on_from_a_checkpoint_on_other_devices(void **state) {
    (void)state;
    expect_to_go_on(run_in_place_on("lagoon:2", 4));
}

/* A checkpoint does not say where it was made. */
static void checkpoints_go_from_cpus_to_devices_that_compile_and_back(void **state) {
    (void)state;
    char sha[2][65];
    network_run run = run_on("cpu:1/1", 1);
    mst_dataset *data = run.network->data(36);
    mst_model *cpu = network_compiled(&run), *compiled, *again = network_compiled(&run);
    mst_snapshot *snapshot;
    run.devices = "lagoon:2";
    compiled = network_compiled(&run);
    network_fit(cpu, &run, NULL);
    EXPECT_OK(mst_build(compiled, data, true));
    EXPECT_OK(mst_build(again, data, true));
    EXPECT_OK(mst_store_snapshot(mst_model_store(cpu), &snapshot));
    EXPECT_OK(mst_checkpoint_write(folder_path("cpu"), snapshot, NULL));
    mst_snapshot_release(snapshot);
    EXPECT_OK(mst_checkpoint_restore(folder_path("cpu"), mst_model_store(compiled), NULL, NULL));
    EXPECT_OK(mst_store_snapshot(mst_model_store(compiled), &snapshot));
    EXPECT_OK(mst_checkpoint_write(folder_path("compiled"), snapshot, NULL));
    mst_snapshot_release(snapshot);
    EXPECT_OK(mst_checkpoint_restore(folder_path("compiled"), mst_model_store(again), NULL, NULL));
    EXPECT_OK(mst_model_sha256(cpu, sha[0]));
    EXPECT_OK(mst_model_sha256(again, sha[1]));
    assert_string_equal(sha[0], sha[1]);
    mst_model_destroy(cpu);
    mst_model_destroy(compiled);
    mst_model_destroy(again);
    mst_dataset_release(data);
}

/* ---- several sessions of one store ---- */

static mst_session *session_on(mst_graph *g, const char *devices, mst_store *store) {
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = devices, .store = store}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    return session;
}

/* Two on devices that compile, one of them with a copy on each device, and one on a CPU. */
static void sessions_of_one_store_see_what_the_others_write(void **state) {
    (void)state;
    static const char *const devices[] = {"lagoon:2", "cpu:1/1", "lagoon:1"};
    enum { SESSIONS = 3, COUNT = 6 };
    mst_graph *g[SESSIONS];
    mst_session *session[SESSIONS];
    mst_value grow[SESSIONS], sum[SESSIONS];
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    for (int i = 0; i < SESSIONS; i++) {
        g[i] = engine_graph();
        const mst_value w = mst_variable(g[i], "w", mst_fill(g[i], MST_F32, MST_SHAPE(COUNT), 1));
        if (i == 0) mst_variable_mirror(w, "/lagoon:0,/lagoon:1");
        grow[i] = mst_assign(w, mst_add(mst_scale(w, 0.5), mst_fill(g[i], MST_F32, MST_SHAPE(COUNT), i)));
        sum[i] = mst_reduce_sum(w);
        session[i] = session_on(g[i], devices[i], store);
    }
    double wanted = 1;
    for (int k = 0; k < 12; k++) {
        engine_run(session[k % SESSIONS], grow[k % SESSIONS]);
        wanted = wanted / 2 + k % SESSIONS;
        for (int i = 0; i < SESSIONS; i++) {
            const float now = (float)wanted; /* exact: few bits */
            assert_true(engine_number(session[i], sum[i]) == COUNT * (double)now);
        }
    }
    for (int i = 0; i < SESSIONS; i++) engine_end(g[i], session[i]);
    mst_store_release(store);
}

/* Each of four threads adds to a variable of its own on the same devices, and reads one that all share. */
enum { THREADS = 4, RUNS = 60 };

typedef struct client {
    mst_session *session;
    mst_value grow, sum;
    int number, wrong;
} client;

static void *add_often(void *context) {
    client *c = context;
    for (int i = 0; i < RUNS; i++) {
        if (mst_session_run(c->session, NULL, 0, &c->grow, 1, NULL)) c->wrong++;
        mst_tensor *sum = NULL;
        if (mst_session_run(c->session, NULL, 0, &c->sum, 1, &sum)) c->wrong++;
        if (sum && mst_tensor_get(sum, 0) != 4 * 3 * (i + 1)) c->wrong++;
        mst_tensor_release(sum);
    }
    return NULL;
}

static void sessions_of_one_store_run_side_by_side(void **state) {
    (void)state;
    mst_graph *g[THREADS];
    client c[THREADS];
    pthread_t thread[THREADS];
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    for (int i = 0; i < THREADS; i++) {
        char name[8];
        snprintf(name, sizeof name, "v%d", i);
        g[i] = engine_graph();
        const mst_value own = mst_variable(g[i], name, mst_fill(g[i], MST_F32, MST_SHAPE(4), 0));
        const mst_value shared = mst_variable(g[i], "shared", mst_fill(g[i], MST_F32, MST_SHAPE(4), 3));
        c[i] = (client){.number = i, .grow = mst_assign_add(own, shared), .sum = mst_reduce_sum(own)};
        c[i].session = session_on(g[i], "lagoon:2", store);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, add_often, &c[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(c[i].wrong, 0);
        engine_end(g[i], c[i].session);
    }
    mst_store_release(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_beside_steps_are_of_one_step),
        TEST_IN_FOLDER(training_goes_on_from_a_checkpoint_on_other_devices),
        TEST_IN_FOLDER(training_in_place_goes_on_from_a_checkpoint_on_other_devices),
        TEST_IN_FOLDER(checkpoints_go_from_cpus_to_devices_that_compile_and_back),
        cmocka_unit_test(sessions_of_one_store_see_what_the_others_write),
        cmocka_unit_test(sessions_of_one_store_run_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
