/* The devices of a session from a specification ("cpu:4/1"): names, numbers, threads, threads bound to cores, memory
 * limits, and specifications that are refused. */
#include <math.h>
#include <sched.h>

#include "support/test.h"

#include "device/device.h"

static void specification_gives_devices_with_full_names(void **state) {
    (void)state;
    mst_devices devices;
    EXPECT_OK(mst_devices_create("cpu:4/1", NULL, 0, NULL, &devices));
    assert_int_equal(devices.count, 4);
    assert_string_equal(devices.device[0].text, "/job:localhost/replica:0/task:0/device:CPU:0");
    assert_string_equal(devices.device[3].text, "/job:localhost/replica:0/task:0/device:CPU:3");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(devices.device[i].num_threads, 1);
        assert_int_equal(mst_devices_find(&devices, &devices.device[i].name), i);
    }
    mst_devices_free(&devices);
}

static void default_is_one_device_of_all_cores(void **state) {
    (void)state;
    static const char *const specs[] = {NULL, "", "cpu", "CPU", "cpu:1"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        mst_devices devices;
        EXPECT_OK(mst_devices_create(specs[i], NULL, 7, NULL, &devices));
        assert_int_equal(devices.count, 1);
        assert_int_equal(devices.device[0].num_threads, mst_num_cores());
        assert_int_equal(devices.device[0].first_core, 0);
        assert_int_equal(devices.device[0].memory_limit, 7);
        mst_devices_free(&devices);
    }
}

static void cores_are_shared_evenly_and_each_device_has_at_least_one_thread(void **state) {
    (void)state;
    int cores = mst_num_cores();
    for (int count = 1; count <= 9; count++) {
        char spec[16];
        mst_devices devices;
        snprintf(spec, sizeof spec, "cpu:%d", count);
        EXPECT_OK(mst_devices_create(spec, NULL, 0, NULL, &devices));
        assert_int_equal(devices.count, count);
        for (int i = 0; i < count; i++) {
            int share = cores / count > 0 ? cores / count : 1;
            assert_int_equal(devices.device[i].num_threads, share);
            assert_int_equal(devices.device[i].first_core, count <= cores ? i * share : -1);
        }
        mst_devices_free(&devices);
    }
}

static void visible_devices_are_numbered_anew(void **state) {
    (void)state;
    mst_devices devices;
    EXPECT_OK(mst_devices_create("cpu:4/1", NULL, 0, NULL, &devices));
    assert_int_equal(devices.count, 4);
    int core = devices.device[3].first_core;
    mst_devices_free(&devices);
    EXPECT_OK(mst_devices_create("cpu:4/1", "3,1", 0, NULL, &devices));
    assert_int_equal(devices.count, 2);
    assert_string_equal(devices.device[0].text, "/job:localhost/replica:0/task:0/device:CPU:0");
    assert_string_equal(devices.device[1].text, "/job:localhost/replica:0/task:0/device:CPU:1");
    assert_int_equal(devices.device[0].first_core, core);
    mst_devices_free(&devices);
    static const char *const bad[] = {"4", "0,0", "-1", "x", "1 0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(mst_devices_create("cpu:4/1", bad[i], 0, NULL, &devices), MST_INVALID);
        assert_null(devices.device);
    }
}

static void lists_continue_the_numbers_of_a_type(void **state) {
    (void)state;
    mst_devices devices;
    char text[512];
    EXPECT_OK(mst_devices_create("cpu:2/1,cpu/3", NULL, 0, NULL, &devices));
    assert_int_equal(devices.count, 3);
    assert_int_equal(devices.device[2].name.index, 2);
    assert_int_equal(devices.device[2].num_threads, 3);
    assert_non_null(strstr(mst_devices_list(&devices, text, sizeof text), "task:0/device:CPU:2"));
    mst_devices_free(&devices);
}

static void malformed_specifications_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"cpu:0",  "cpu:-1",     "cpu:", "cpu:two", "cpu:2/0",
                                      "cpu:2/", "cpu:2/x",    "npu",  "cpu:2x",  "cpu,,cpu",
                                      "npu:4",  "cpu:100000", ":2",   "/cpu",    "cpu:2/-1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mst_devices devices;
        EXPECT_ERROR(mst_devices_create(bad[i], NULL, 0, NULL, &devices), MST_INVALID, bad[i]);
        assert_null(devices.device);
    }
    mst_session *session;
    mst_graph *g = engine_graph();
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.devices = "npu:2"}, &session), MST_INVALID,
                 "no device type 'npu' here");
    assert_null(session);
    mst_graph_destroy(g);
}

static void devices_are_described_for_showing(void **state) {
    (void)state;
    mst_device_info info[2];
    int count;
    EXPECT_OK(mst_devices_describe("cpu:3/2", NULL, info, 2, &count));
    assert_int_equal(count, 3);
    assert_string_equal(info[1].name, "/job:localhost/replica:0/task:0/device:CPU:1");
    assert_int_equal(info[1].num_threads, 2);
    EXPECT_OK(mst_devices_describe("cpu:3", "2", info, 2, &count));
    assert_int_equal(count, 1);
    assert_string_equal(info[0].name, "/job:localhost/replica:0/task:0/device:CPU:0");
    assert_int_equal(mst_devices_describe("cpu:x", NULL, info, 2, &count), MST_INVALID);
    assert_int_equal(count, 0);
    EXPECT_ERROR(mst_devices_describe("cpu:3", "3", info, 2, &count), MST_INVALID, "from 0 to 2");
    assert_int_equal(count, 0);
}

static void session_shows_its_devices(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session = engine_session(g, "cpu:2/1");
    assert_int_equal(mst_session_num_devices(session), 2);
    assert_string_equal(mst_session_device(session, 1), "/job:localhost/replica:0/task:0/device:CPU:1");
    assert_string_equal(mst_session_device(session, 2), "");
    engine_end(g, session);
}

static void machine_has_cores_and_memory(void **state) {
    (void)state;
    mst_machine machine;
    mst_machine_read(&machine);
    assert_true(machine.num_cores >= 1 && machine.num_hardware_threads >= machine.num_cores);
    assert_true(machine.memory > 0);
    assert_true(strlen(machine.cpu) > 0 && strlen(machine.isa) > 0);
}

/* ---- memory limit ---- */

static mst_value large_graph(mst_graph *g) {
    mst_value x = mst_rename(mst_random_uniform(g, MST_SHAPE(1000, 250)), "numbers"); /* 1 MB */
    mst_value product = mst_rename(mst_matmul(x, mst_transpose(x)), "product");       /* 4 MB */
    return mst_reduce_sum(product);
}

static void step_over_the_memory_limit_fails_when_planned_and_names_the_largest(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value sum = large_graph(g);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .memory_limit = 3 << 20}, &session));
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &sum, 1, NULL), MST_OUT_OF_MEMORY, "largest: 'product' 3.8 MB");
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &sum, 1, NULL), MST_OUT_OF_MEMORY, "'numbers' 976.6 KB");
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &sum, 1, NULL), MST_OUT_OF_MEMORY, "the limit is 3.0 MB");
    assert_int_equal(mst_session_num_plans(session), 0);
    engine_end(g, session);
}

static void step_under_the_memory_limit_runs(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value sum = large_graph(g);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .memory_limit = 20000000}, &session));
    engine_run(session, sum);
    assert_true(mst_session_device_memory(session, 0) > 5000000);
    assert_true(mst_session_device_memory(session, 0) <= 20000000);
    engine_end(g, session);
}

static void plans_that_are_kept_stay_under_the_memory_limit(void **state) {
    (void)state;
    enum { LIMIT = 1 << 20, SIZES = 5 };
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1)),
              y = mst_reduce_sum(mst_matmul(mst_reshape(x, MST_SHAPE(-1, 1)), mst_reshape(x, MST_SHAPE(1, -1))));
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .memory_limit = LIMIT}, &session));
    for (int i = 0; i < 2 * SIZES; i++) {
        mst_feed feed = {.value = x, .tensor = engine_random(MST_F32, MST_SHAPE(400 + i % SIZES), 1, 1.5, 3)};
        mst_tensor_release(engine_fetch(session, &feed, 1, y)); /* a product of 0.6 MB */
        assert_in_range(mst_session_device_memory(session, 0), 600000, LIMIT);
        mst_tensor_release(feed.tensor);
    }
    assert_int_equal(mst_session_num_plans(session), SIZES); /* they share the memory of a step */
    engine_end(g, session);
}

static void variables_over_the_memory_limit_fail_when_planned(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_get_variable(g, "w", MST_SHAPE(1000, 1000), .initializer = mst_zeros_initializer());
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .memory_limit = 1 << 20}, &session));
    EXPECT_ERROR(mst_session_init_variables(session), MST_OUT_OF_MEMORY, "the limit is 1.0 MB");
    engine_end(g, session);
}

static void negative_limits_are_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.memory_limit = -1}, &session), MST_INVALID,
                 "memory_limit");
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.timeout = -1}, &session), MST_INVALID, "timeout");
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.timeout = NAN}, &session), MST_INVALID, "timeout");
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.timeout = INFINITY}, &session), MST_INVALID, "timeout");
    mst_graph_destroy(g);
}

static void pinned_threads_compute_the_same(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_value a = MST_NONE, b = MST_NONE;
    mst_with_device (g, "/cpu:0") a = mst_scale(mst_ones_like(mst_scalar(g, MST_F32, 0)), 2);
    mst_with_device (g, "/cpu:1") b = mst_scale(a, 3);
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:2/1", .pin_threads = true}, &session));
    assert_true(engine_number(session, b) == 6);
    engine_end(g, session);
}

static void pinning_ends_with_the_session(void **state) {
    (void)state;
    cpu_set_t before, during, after;
    mst_graph *g = engine_graph();
    mst_session *session;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:2/1", .pin_threads = true}, &session));
    assert_int_equal(sched_getaffinity(0, sizeof during, &during), 0);
    if (mst_num_cores() > 1) assert_false(CPU_EQUAL(&before, &during));
    engine_end(g, session);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

/* ---- devices of several tasks ---- */

enum { TASKS = 3, MOST = 4 };

typedef struct lists {
    mst_devices own;
    mst_device_description description[TASKS][MOST];
    mst_task_devices task[TASKS];
} lists;

static void describe_tasks(lists *l) {
    static const char *const specs[TASKS] = {"cpu:2/1", "cpu:1/1,cpu:2/1", "cpu:1/1"};
    for (int t = 0; t < TASKS; t++) {
        mst_device_name name;
        EXPECT_OK(mst_device_name_of_task("worker", t, &name));
        EXPECT_OK(mst_devices_create(specs[t], NULL, 0, &name, &l->own));
        l->task[t] = (mst_task_devices){l->own.count, l->description[t]};
        for (int i = 0; i < l->own.count; i++) l->description[t][i] = mst_device_describe(&l->own, i);
        if (t < TASKS - 1) mst_devices_free(&l->own);
    }
}

static void devices_of_tasks_are_one_list(void **state) {
    (void)state;
    lists l;
    describe_tasks(&l);
    mst_devices *d = &l.own;
    EXPECT_OK(mst_devices_join(d, l.task, TASKS, 2));
    assert_int_equal(d->count, 6);
    assert_string_equal(d->device[4].text, "/job:worker/replica:0/task:1/device:CPU:2");
    for (int i = 0; i < d->count; i++) {
        const int task = i < 2 ? 0 : i < 5 ? 1 : 2;
        assert_int_equal(d->device[i].task, task);
        assert_int_equal(mst_devices_find(d, &d->device[i].name), i);
        assert_int_equal(mst_device_is_here(d, i), task == 2);
        assert_ptr_equal(mst_device_host(d, i), d->device[i].domain); /* all of CPUs */
        for (int k = 0; k < i; k++)
            assert_int_equal(d->device[k].domain == d->device[i].domain, d->device[k].task == task);
    }
    assert_ptr_equal(d->device[5].domain, &mst_domain_host);
    mst_device_name name;
    EXPECT_OK(mst_device_name_parse("/job:worker/task:1/cpu:9", &name));
    mst_device_name_fill(&name, &d->device[0].name);
    assert_true(mst_devices_have_task(d, &name));
    void *nothing;
    EXPECT_ERROR(d->device[0].domain->type->alloc(d->device[0].domain, 1, &nothing), MST_INTERNAL, "another task");
    mst_devices_free(d);
}

static void devices_of_tasks_that_cannot_be_are_refused(void **state) {
    (void)state;
    lists l;
    static const struct {
        const char *name;
        int domain;
        const char *error;
    } bad[] = {{"/job:worker/replica:0/task:0/device:NONE:0", 0, "a type that is not known here"},
               {"/job:worker/replica:0/task:0/device:../X:0", 0, ""},
               {"/job:worker/task:0/device:CPU:0", 0, "no full name"},
               {"/device:CPU:0", 0, "no full name"},
               {"", 0, "no full name"},
               {"/job:worker/replica:0/task:0/device:CPU:0", 3, "cannot be"},
               {"/job:worker/replica:0/task:0/device:CPU:0", -1, "cannot be"},
               {"/job:worker/replica:0/task:0/device:CPU:1", 0, "two tasks have a device"}};
    describe_tasks(&l);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const mst_device_description right = l.description[0][0];
        memset(l.description[0][0].name, 0, sizeof right.name);
        memcpy(l.description[0][0].name, bad[i].name, strlen(bad[i].name));
        l.description[0][0].domain = bad[i].domain;
        EXPECT_ERROR(mst_devices_join(&l.own, l.task, TASKS, 2), MST_INVALID, bad[i].error);
        assert_int_equal(l.own.count, 1);
        l.description[0][0] = right;
    }
    memset(l.description[0][0].name, 'x', sizeof l.description[0][0].name);
    EXPECT_ERROR(mst_devices_join(&l.own, l.task, TASKS, 2), MST_INVALID, "cannot be");
    l.task[2].count = 0;
    EXPECT_ERROR(mst_devices_join(&l.own, l.task, TASKS, 2), MST_INVALID, "task 2 has no devices");
    EXPECT_ERROR(mst_devices_join(&l.own, l.task + 1, 1, 0), MST_INVALID, "not those that it has described");
    mst_devices_free(&l.own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specification_gives_devices_with_full_names),
        cmocka_unit_test(default_is_one_device_of_all_cores),
        cmocka_unit_test(cores_are_shared_evenly_and_each_device_has_at_least_one_thread),
        cmocka_unit_test(visible_devices_are_numbered_anew),
        cmocka_unit_test(lists_continue_the_numbers_of_a_type),
        cmocka_unit_test(malformed_specifications_are_refused),
        cmocka_unit_test(devices_are_described_for_showing),
        cmocka_unit_test(session_shows_its_devices),
        cmocka_unit_test(machine_has_cores_and_memory),
        cmocka_unit_test(step_over_the_memory_limit_fails_when_planned_and_names_the_largest),
        cmocka_unit_test(step_under_the_memory_limit_runs),
        cmocka_unit_test(plans_that_are_kept_stay_under_the_memory_limit),
        cmocka_unit_test(variables_over_the_memory_limit_fail_when_planned),
        cmocka_unit_test(negative_limits_are_refused),
        cmocka_unit_test(pinned_threads_compute_the_same),
        cmocka_unit_test(pinning_ends_with_the_session),
        cmocka_unit_test(devices_of_tasks_are_one_list),
        cmocka_unit_test(devices_of_tasks_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
