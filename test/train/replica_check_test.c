/* A replica whose weights differ from those of the others ends the training with an error that names it. The replica
 * is a device of a mirrored training, or a worker, whose job ends on all workers. The test flips one bit in the
 * memory of a replica. The workers are threads here, each with a task of its own. */
#include <pthread.h>
#include <stdio.h>

#include "muster/muster.h"
#include "store/store.h"
#include "support/open_worker.h"
#include "support/test.h"
#include "support/training.h"

enum { WORKERS = 3, ROWS = 60, BATCH = 12, PER_EPOCH = ROWS / BATCH, FEATURES = 10, CLASSES = 3, SHARDS = 6 };

/* Which replica is damaged, and when. */
typedef struct damage {
    int worker;
    int64_t step;      /* after this one; 0: never */
    const char *place; /* end of the device's name; NULL: all of the worker's copies */
} damage;

typedef struct worker {
    const damage *damage;
    int number;
    int64_t every; /* steps between comparisons */
    const char *devices;
    mst_task *task;
    mst_status status;
    char error[1024], node[256], device[256], hex[65];
    int64_t last_step;
    task_address *address;
    pthread_barrier_t *ended;
    pthread_t thread;
} worker;

static bool ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Turns the lowest bit of the last element. */
static mst_status turn_bit(mst_store *store, const char *name, const char *place) {
    const mst_state *state = mst_store_find(store, "", name);
    int num_turned = 0;
    for (const mst_copy *copy = state->copies; copy; copy = copy->next) {
        if (copy->version != state->version || (place && !ends_with(copy->place, engine_here(place)))) continue;
        const mst_shape shape = state->spec.shape;
        mst_tensor *value = engine_tensor(state->spec.dtype, shape, NULL);
        uint32_t *bits = mst_tensor_data(value);
        const mst_array here = {bits, mst_tensor_count(value), state->spec.dtype, shape},
                        there = {copy->data, here.count, here.dtype, shape};
        MST_TRY(mst_domain_copy_array(&mst_domain_host, &here, copy->domain, &there, INT64_MAX));
        bits[here.count - 1] ^= 1;
        MST_TRY(mst_domain_copy_array(copy->domain, &there, &mst_domain_host, &here, INT64_MAX));
        mst_tensor_release(value);
        num_turned++;
    }
    return num_turned ? MST_OK : MST_FAIL(MST_NOT_FOUND, "no copy of '%s' is on %s", name, place ? place : "a device");
}

static mst_status damage_weights(void *context, mst_train_state *state) {
    worker *w = context;
    w->last_step = state->step;
    if (w->number != w->damage->worker || state->step != w->damage->step) return MST_OK;
    return turn_bit(mst_model_store(state->model), "dense_1/kernel", w->damage->place);
}

static mst_status fit(worker *w) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 3);
    const mst_callback callback = {.context = w, .step_end = damage_weights};
    const mst_strategy_kind kind = w->task ? MST_STRATEGY_MULTI_WORKER : MST_STRATEGY_MIRRORED;
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 8, .activation = MST_RELU);
    mst_dense(model, CLASSES);
    mst_status status =
        mst_compile(model, .optimizer = mst_adam(), .seed = 7, .strategy = {.kind = kind, .num_shards = SHARDS},
                    .task = w->task, .session = {.devices = w->devices});
    if (!status)
        status = mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 2, .check_replicas = w->every,
                         .callbacks = &callback, .num_callbacks = 1);
    if (status) {
        snprintf(w->error, sizeof w->error, "%s", mst_error()->message);
        snprintf(w->node, sizeof w->node, "%s", mst_error()->node);
        snprintf(w->device, sizeof w->device, "%s", mst_error()->device);
    } else {
        status = mst_model_sha256(model, w->hex);
    }
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status;
}

/* ---- devices ---- */

static worker train_alone(const damage *damage, const char *devices, int64_t every) {
    worker w = {.damage = damage, .devices = devices, .every = every};
    w.status = fit(&w);
    return w;
}

/* Devices that share memory make parts of an update for each other. So damage from before an update is gone after it,
 * or is on all of them. Islands make all of it themselves. */
static void damaged_device_is_named_at_the_end_of_the_epoch(void **state) {
    (void)state;
    static const struct {
        const char *devices;
        damage damage;
        const char *names[2];
    } cases[] = {{"cpu:2/1", {.step = PER_EPOCH, .place = "CPU:1"}, {"device:CPU:0", "device:CPU:1"}},
                 {"island:2/1", {.step = 2, .place = "ISLAND:0"}, {"device:ISLAND:0", "device:ISLAND:1"}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const worker w = train_alone(&cases[i].damage, cases[i].devices, 0);
        assert_int_equal(w.status, MST_CORRUPT);
        assert_int_equal(w.last_step, PER_EPOCH);
        if (!strstr(w.error, "after step 5 'dense_1/kernel' differs between /")) fail_msg("%s", w.error);
        for (int k = 0; k < 2; k++)
            if (!strstr(w.error, engine_here(cases[i].names[k]))) fail_msg("%s", w.error);
        assert_string_equal(w.node, "dense_1/kernel");
        assert_non_null(strstr(w.device, "/device:"));
    }
}

static void damaged_device_is_found_after_the_steps_that_were_asked_for(void **state) {
    (void)state;
    const damage damage = {.step = 2, .place = "ISLAND:2"};
    const worker w = train_alone(&damage, "island:3/1", 3);
    assert_int_equal(w.status, MST_CORRUPT);
    assert_int_equal(w.last_step, 2); /* callbacks do not see the step after which it was found */
    if (!strstr(w.error, "after step 3 ") || !strstr(w.error, "device:ISLAND:2")) fail_msg("%s", w.error);
}

static void nothing_is_compared_where_that_is_not_wanted(void **state) {
    (void)state;
    const damage damage = {.step = 2, .place = "ISLAND:1"}, none = {.step = 0};
    const worker w = train_alone(&damage, "island:2/1", -1);
    if (w.status) fail_msg("%s", w.error);
    EXPECT_ERROR(train_alone(&none, "cpu:1/1", -2).status, MST_INVALID, "check_replicas is -2");
}

static void comparing_changes_nothing(void **state) {
    (void)state;
    static const int64_t every[] = {-1, 0, 1};
    static const char *const devices[] = {"cpu:1/1", "cpu:2/1", "cpu:3/1", "island:2/1"};
    const damage none = {.step = 0};
    const worker first = train_alone(&none, "cpu:1/1", -1);
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (size_t e = 0; e < sizeof every / sizeof *every; e++) {
            if (engine_has_other_bits(devices[d])) continue;
            const worker w = train_alone(&none, devices[d], every[e]);
            if (w.status) fail_msg("%s: %s", devices[d], w.error);
            assert_string_equal(w.hex, first.hex);
        }
}

/* ---- workers ---- */

static mst_status open_and_fit(worker *w) {
    MST_TRY(open_worker(w->address, WORKERS, w->number, (mst_task_options){.cluster = NULL}, &w->task));
    MST_TRY(fit(w));
    return mst_task_leave(w->task);
}

static void *work(void *context) {
    worker *w = context;
    w->status = open_and_fit(w);
    pthread_barrier_wait(w->ended);
    mst_task_close(w->task);
    return NULL;
}

/* EVERY: of worker 0, and of the others. */
static void run_workers(const damage *damage, const char *devices, const int64_t every[2], worker *workers) {
    pthread_barrier_t ended;
    task_address address[WORKERS];
    tasks_find_addresses(address, WORKERS);
    pthread_barrier_init(&ended, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.damage = damage,
                              .number = i,
                              .every = every[i > 0],
                              .devices = devices,
                              .address = address,
                              .ended = &ended};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&ended);
}

static void expect_on_all(const worker *workers, mst_status status, const char *first, const char *second) {
    for (int i = 0; i < WORKERS; i++) {
        const worker *w = &workers[i];
        if (w->status != status || !strstr(w->error, first) || !strstr(w->error, second))
            fail_msg("worker %d: status %d, '%s'", i, (int)w->status, w->error);
    }
}

static void damaged_worker_is_named_on_all(void **state) {
    (void)state;
    for (int i = 0; i < WORKERS; i++) {
        const damage damage = {.worker = i, .step = 3};
        const int64_t every[2][2] = {{0, 0}, {2, 2}};
        worker workers[WORKERS];
        char text[100];
        run_workers(&damage, "cpu:1/1", every[i % 2], workers);
        snprintf(text, sizeof text, "after step %d 'dense_1/kernel' of worker:%d is not that of worker:%d and most",
                 5 - i % 2, i, i == 0);
        expect_on_all(workers, MST_CORRUPT, text, "go on from a checkpoint");
        for (int k = 0; k < WORKERS; k++) assert_string_equal(workers[k].node, "dense_1/kernel");
    }
}

static void damaged_device_of_a_worker_is_named_on_all(void **state) {
    (void)state;
    const damage damage = {.worker = 1, .step = PER_EPOCH, .place = "CPU:1"};
    worker workers[WORKERS];
    run_workers(&damage, "cpu:2/1", (const int64_t[]){0, 0}, workers);
    expect_on_all(workers, MST_CORRUPT, "after step 5 'dense_1/kernel' differs between /", " of worker:1: a device");
}

static void workers_compare_and_end_with_the_weights_of_one_process(void **state) {
    (void)state;
    const damage none = {.step = 0};
    worker workers[WORKERS];
    const worker alone = train_alone(&none, "cpu:1/1", -1);
    run_workers(&none, "cpu:1/1", (const int64_t[]){1, 1}, workers);
    for (int i = 0; i < WORKERS; i++) {
        if (workers[i].status) fail_msg("worker %d: %s", i, workers[i].error);
        assert_string_equal(workers[i].hex, alone.hex);
    }
}

static void workers_that_compare_at_other_steps_are_told_before_the_first(void **state) {
    (void)state;
    const damage none = {.step = 0};
    worker workers[WORKERS];
    run_workers(&none, "cpu:1/1", (const int64_t[]){1, 2}, workers);
    expect_on_all(workers, MST_INVALID, "options differ between task worker:0", ": check_replicas 1 and 2: ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_device_is_named_at_the_end_of_the_epoch),
        cmocka_unit_test(damaged_device_is_found_after_the_steps_that_were_asked_for),
        cmocka_unit_test(nothing_is_compared_where_that_is_not_wanted),
        cmocka_unit_test(comparing_changes_nothing),
        cmocka_unit_test(damaged_worker_is_named_on_all),
        cmocka_unit_test(damaged_device_of_a_worker_is_named_on_all),
        cmocka_unit_test(workers_compare_and_end_with_the_weights_of_one_process),
        cmocka_unit_test(workers_that_compare_at_other_steps_are_told_before_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
