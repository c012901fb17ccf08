/* The CPU that is added to a list of devices that compile: its place in the list and its name, that it is not
 * counted, and how other tasks see it. */
#include "support/test.h"

#include "device/device.h"
#include "support/compiling.h"

static void list_of_devices_that_compile_ends_in_the_cpu(void **state) {
    (void)state;
    mst_devices devices;
    char text[512];
    EXPECT_OK(mst_devices_create("accel:2/1", NULL, 7, NULL, &devices));
    assert_int_equal(devices.count, 3);
    assert_int_equal(mst_devices_num_listed(&devices), 2);
    const mst_device *host = &devices.device[2];
    assert_string_equal(host->text, "/job:localhost/replica:0/task:0/device:CPU:0");
    assert_true(host->added && !devices.device[0].added && !devices.device[1].added);
    assert_ptr_equal(host->domain, &mst_domain_host);
    assert_ptr_not_equal(devices.device[0].domain, devices.device[1].domain);
    assert_int_equal(host->num_threads, mst_num_cores());
    assert_int_equal(host->first_core, 0);
    assert_int_equal(host->memory_limit, 0);
    assert_int_equal(devices.device[1].memory_limit, 7);
    assert_int_equal(mst_devices_find(&devices, &host->name), 2);
    for (int i = 0; i < 3; i++) assert_int_equal(mst_device_host_device(&devices, i), 2);
    assert_int_equal(mst_devices_listed(&devices, 1), 1);
    assert_int_equal(mst_devices_listed(&devices, 2), -1);
    assert_int_equal(mst_devices_listed(&devices, -1), -1);
    assert_non_null(strstr(mst_devices_list(&devices, text, sizeof text), "ACCEL:1, /job:localhost"));
    assert_non_null(strstr(text, "CPU:0"));
    mst_devices_free(&devices);
}

static void cpu_that_is_listed_is_the_host(void **state) {
    (void)state;
    mst_devices devices;
    EXPECT_OK(mst_devices_create("accel,cpu:2/1,accel", NULL, 7, NULL, &devices));
    assert_int_equal(devices.count, 4);
    assert_int_equal(mst_devices_num_listed(&devices), 4);
    for (int i = 0; i < 4; i++) assert_int_equal(mst_device_host_device(&devices, i), 1);
    assert_int_equal(devices.device[1].memory_limit, 7);
    mst_devices_free(&devices);
}

static void lists_of_other_devices_stay_as_they_are(void **state) {
    (void)state;
    mst_devices devices;
    EXPECT_OK(mst_devices_create("cpu:2/1", NULL, 0, NULL, &devices));
    assert_int_equal(devices.count, 2);
    assert_int_equal(mst_device_host_device(&devices, 1), 0);
    mst_devices_free(&devices);
}

static void visible_devices_are_chosen_among_those_that_are_listed(void **state) {
    (void)state;
    mst_devices devices;
    EXPECT_OK(mst_devices_create("accel:3/1", "2,0", 0, NULL, &devices));
    assert_int_equal(devices.count, 3);
    assert_int_equal(devices.device[0].domain->index, 2);
    assert_string_equal(devices.device[1].text, "/job:localhost/replica:0/task:0/device:ACCEL:1");
    assert_true(devices.device[2].added);
    mst_devices_free(&devices);
    EXPECT_ERROR(mst_devices_create("accel:3/1", "3", 0, NULL, &devices), MST_INVALID, "places from 0 to 2");
    EXPECT_OK(mst_devices_create("cpu,accel:2/1", "1", 0, NULL, &devices)); /* the CPU listed is not visible */
    assert_int_equal(devices.count, 2);
    assert_true(devices.device[1].added);
    mst_devices_free(&devices);
    EXPECT_OK(mst_devices_create("cpu/1,accel:2/1", "0", 0, NULL, &devices)); /* no device compiles */
    assert_int_equal(devices.count, 1);
    mst_devices_free(&devices);
}

static void cpu_that_is_added_is_not_counted(void **state) {
    (void)state;
    mst_device_info info[3] = {{.num_threads = -1}, {.num_threads = -1}, {.num_threads = -1}};
    int count;
    EXPECT_OK(mst_devices_describe("accel:2/1", NULL, info, 3, &count));
    assert_int_equal(count, 2);
    assert_string_equal(info[1].name, "/job:localhost/replica:0/task:0/device:ACCEL:1");
    assert_true(info[1].compiles);
    assert_int_equal(info[2].num_threads, -1);
    EXPECT_OK(mst_devices_describe("cpu:2/1", NULL, info, 3, &count));
    assert_false(info[1].compiles);
    mst_graph *g = engine_graph();
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "accel:2/1"}, &session));
    assert_int_equal(mst_session_num_devices(session), 2);
    assert_string_equal(mst_session_device(session, 1), "/job:localhost/replica:0/task:0/device:ACCEL:1");
    assert_string_equal(mst_session_device(session, 2), "");
    assert_int_equal(mst_session_device_memory(session, 2), 0);
    engine_end(g, session);
}

static void cpu_that_is_added_runs_what_names_it(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_value y = MST_NONE;
    mst_with_device (g, "/cpu:0") y = mst_neg(mst_square(mst_scalar(g, MST_F32, 3)));
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "accel", .memory_limit = 1}, &session));
    assert_true(engine_number(session, y) == -9); /* and has no limit */
    engine_end(g, session);
}

/* ---- other tasks ---- */

enum { TASKS = 2, MOST = 4 };

static void describe(const char *spec, int task, mst_device_description *out, mst_task_devices *devices,
                     mst_devices *own) {
    mst_device_name name;
    EXPECT_OK(mst_device_name_of_task("worker", task, &name));
    EXPECT_OK(mst_devices_create(spec, NULL, 0, &name, own));
    for (int i = 0; i < own->count; i++) out[i] = mst_device_describe(own, i);
    *devices = (mst_task_devices){own->count, out};
}

static void tasks_know_the_cpu_of_each_other_and_do_not_count_it(void **state) {
    (void)state;
    mst_device_description description[TASKS][MOST];
    mst_task_devices task[TASKS];
    mst_devices other, own;
    describe("accel:2/1", 0, description[0], &task[0], &other);
    describe("accel", 1, description[1], &task[1], &own);
    mst_devices_free(&other);
    EXPECT_OK(mst_devices_join(&own, task, TASKS, 1));
    assert_int_equal(own.count, 5);
    assert_int_equal(mst_devices_num_listed(&own), 3);
    assert_string_equal(own.device[2].text, "/job:worker/replica:0/task:0/device:CPU:0");
    assert_true(own.device[2].added && own.device[4].added);
    assert_ptr_equal(own.device[2].domain, mst_device_host(&own, 0));
    for (int i = 0; i < 5; i++) assert_int_equal(mst_device_host_device(&own, i), i < 3 ? 2 : 4);
    assert_int_equal(mst_devices_listed(&own, 2), 3);
    mst_devices_free(&own);
}

static void task_without_the_cpu_is_refused(void **state) {
    (void)state;
    mst_device_description description[TASKS][MOST];
    mst_task_devices task[TASKS];
    mst_devices other, own;
    describe("accel", 0, description[0], &task[0], &other);
    describe("cpu:1/1", 1, description[1], &task[1], &own);
    mst_devices_free(&other);
    task[0].count = 1;
    EXPECT_ERROR(mst_devices_join(&own, task, TASKS, 1), MST_INVALID,
                 "/job:worker/replica:0/task:0/device:ACCEL:0 compiles, and its task describes no CPU");
    mst_devices_free(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_of_devices_that_compile_ends_in_the_cpu),
        cmocka_unit_test(cpu_that_is_listed_is_the_host),
        cmocka_unit_test(lists_of_other_devices_stay_as_they_are),
        cmocka_unit_test(visible_devices_are_chosen_among_those_that_are_listed),
        cmocka_unit_test(cpu_that_is_added_is_not_counted),
        cmocka_unit_test(cpu_that_is_added_runs_what_names_it),
        cmocka_unit_test(tasks_know_the_cpu_of_each_other_and_do_not_count_it),
        cmocka_unit_test(task_without_the_cpu_is_refused),
    };
    return cmocka_run_group_tests(tests, compiling_register, NULL);
}
