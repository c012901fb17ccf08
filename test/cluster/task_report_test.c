/* The report that a task sends to `muster top`: its documented bytes, and wrong reports, which are refused. */
#include "cluster/task_report.h"

#include "support/test.h"

static const mst_task_report sample = {.doing = MST_TASK_WAITS,
                                       .self = 1,
                                       .step = 500,
                                       .examples = 100000,
                                       .elapsed = 1000,
                                       .data = 20,
                                       .wait = 300,
                                       .whom = "worker:0",
                                       .whom_bytes = 8,
                                       .tasks = "worker:0 a:1\nworker:1 \n",
                                       .tasks_bytes = 23,
                                       .devices = "GPU:0 5 90 H200 X\nCPU:0 7 0 \n",
                                       .devices_bytes = 29};
enum { SIZE = MST_TASK_REPORT_HEAD + 8 + 23 + 29 };

/* Writes REPORT to BYTES, which has room for it; returns the size. */
static size_t written(const mst_task_report *report, unsigned char *bytes) {
    size_t size;
    void *data = mst_task_report_encode(report, &size);
    assert_non_null(data);
    assert_true(size <= SIZE);
    memcpy(bytes, data, size);
    free(data);
    return size;
}

static void report_is_as_documented(void **state) {
    (void)state;
    static const unsigned char wanted[SIZE] =
        "MSTP\x02\0\0\0\x01\0\0\0\x01\0\0\0\xf4\x01\0\0\0\0\0\0\xa0\x86\x01\0\0\0\0\0\xe8\x03\0\0\0\0\0\0"
        "\x14\0\0\0\0\0\0\0\x2c\x01\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x17\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
        "\x1d\0\0\0\0\0\0\0"
        "worker:0worker:0 a:1\nworker:1 \nGPU:0 5 90 H200 X\nCPU:0 7 0 \n";
    unsigned char bytes[SIZE];
    mst_task_report read;
    char name[20], address[20];
    size_t at = 0;
    assert_int_equal(written(&sample, bytes), SIZE);
    assert_memory_equal(bytes, wanted, SIZE);
    assert_null(mst_task_report_decode(bytes, SIZE, &read));
    assert_true(read.doing == MST_TASK_WAITS && read.self == 1 && read.step == 500 && read.examples == 100000);
    assert_true(read.elapsed == 1000 && read.data == 20 && read.wait == 300);
    assert_true(mst_task_report_next(&read, &at, name, address, sizeof name));
    assert_string_equal(name, "worker:0");
    assert_string_equal(address, "a:1");
    assert_true(mst_task_report_next(&read, &at, name, address, sizeof name));
    assert_string_equal(name, "worker:1");
    assert_string_equal(address, "");
    assert_false(mst_task_report_next(&read, &at, name, address, sizeof name));
    mst_task_device device;
    at = 0;
    assert_true(mst_task_report_device(&read, &at, &device));
    assert_string_equal(device.name, "GPU:0");
    assert_string_equal(device.kind, "H200 X");
    assert_true(device.in_use == 5 && device.limit == 90);
    assert_true(mst_task_report_device(&read, &at, &device));
    assert_string_equal(device.name, "CPU:0");
    assert_string_equal(device.kind, "");
    assert_true(device.in_use == 7 && device.limit == 0);
    assert_false(mst_task_report_device(&read, &at, &device));
}

static void report_that_is_cut_off_or_too_long_is_refused(void **state) {
    (void)state;
    unsigned char bytes[SIZE + 1] = {0};
    mst_task_report read;
    written(&sample, bytes);
    for (size_t size = 0; size <= SIZE + 1; size++)
        assert_true((mst_task_report_decode(bytes, size, &read) == NULL) == (size == SIZE));
    for (int i = 0; i < 8; i++) bytes[64 + i] = 0xff; /* the length of the second text */
    assert_non_null(strstr(mst_task_report_decode(bytes, SIZE, &read), "lengths"));
}

static void refuse(const mst_task_report *report) {
    unsigned char bytes[SIZE];
    mst_task_report read;
    const size_t size = written(report, bytes);
    assert_non_null(mst_task_report_decode(bytes, size, &read));
}

static void report_that_makes_no_sense_is_refused(void **state) {
    (void)state;
    const struct {
        size_t offset;
        int64_t value;
    } numbers[] = {{offsetof(mst_task_report, step), -2},    {offsetof(mst_task_report, examples), -2},
                   {offsetof(mst_task_report, elapsed), -1}, {offsetof(mst_task_report, data), 1001},
                   {offsetof(mst_task_report, wait), 1001},  {offsetof(mst_task_report, wait), -1}};
    mst_task_report r;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        r = sample;
        memcpy((char *)&r + numbers[i].offset, &numbers[i].value, sizeof numbers[i].value);
        refuse(&r);
    }
    r = sample;
    r.doing = MST_NUM_TASK_DOINGS;
    refuse(&r);
    for (r = sample, r.self = -1; r.self < 4; r.self += 3) refuse(&r); /* two tasks are listed */
}

/* A terminal obeys control characters. */
static void text_with_control_characters_is_refused(void **state) {
    (void)state;
    mst_task_report r = sample;
    r.whom = "work\033r:0";
    refuse(&r);
    r.whom = "work\nr:0";
    refuse(&r);
    r = sample;
    r.tasks = "worker:0 a:1\nworker:1 \r";
    refuse(&r);
    r.tasks = "worker:0_a:1\nworker:1 \n"; /* no address */
    refuse(&r);
}

static void devices_without_their_numbers_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"GPU:0 5 90 H200",  "GPU:0 5 90\n",
                                        "GPU:0 5 x kind\n", "GPU:0 5  kind\n",
                                        "GPU:0\n",          "G 5 99999999999999999999 \n",
                                        "GPU:0 -5 9 \n",    "\n"};
    mst_task_report r = sample;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        r.devices = wrong[i];
        r.devices_bytes = strlen(wrong[i]);
        refuse(&r);
    }
    r.devices = "GPU:0 5 9 k\033\n";
    r.devices_bytes = strlen(r.devices);
    refuse(&r);
}

static void other_version_is_named(void **state) {
    (void)state;
    unsigned char bytes[SIZE];
    mst_task_report read;
    written(&sample, bytes);
    bytes[4]++;
    assert_non_null(strstr(mst_task_report_decode(bytes, SIZE, &read), "version"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_is_as_documented),
        cmocka_unit_test(report_that_is_cut_off_or_too_long_is_refused),
        cmocka_unit_test(report_that_makes_no_sense_is_refused),
        cmocka_unit_test(text_with_control_characters_is_refused),
        cmocka_unit_test(devices_without_their_numbers_are_refused),
        cmocka_unit_test(other_version_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
