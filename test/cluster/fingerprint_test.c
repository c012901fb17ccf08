/* Fingerprints of two tasks: the error names the options that differ, and text that another task has sent is cut off
 * and made safe to print. */
#include "cluster/fingerprint.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

enum { TEXT = 1024 };

static void options_that_differ_are_named_with_both_values(void **state) {
    (void)state;
    const mst_fingerprint a[] = {mst_fingerprint_option("epochs", "3"),
                                 mst_fingerprint_option("seed", "7"),
                                 mst_fingerprint_option("momentum", "0.9"),
                                 {.name = "program", .hash = 1}};
    const mst_fingerprint b[] = {mst_fingerprint_option("epochs", "4"),
                                 mst_fingerprint_option("seed", "7"),
                                 mst_fingerprint_option("momentum", "not set"),
                                 {.name = "program", .hash = 2}};
    char text[TEXT];
    assert_false(mst_fingerprints_differ(a, 4, "x", a, 4, "y", text, sizeof text));
    assert_true(mst_fingerprints_differ(a, 4, "x", b, 4, "y", text, sizeof text));
    assert_string_equal(text,
                        "options differ between x and y: epochs 3 and 4, momentum 0.9 and not set: start all "
                        "tasks with the same command");
    assert_true(mst_fingerprints_differ(a + 3, 1, "x", b + 3, 1, "y", text, sizeof text));
    assert_string_equal(text, "the program's graph differs between x and y: start all tasks with the same command");
    assert_true(mst_fingerprints_differ(a, 3, "x", a, 4, "y", text, sizeof text));
    assert_non_null(strstr(text, "the version of Muster differs between x and y"));
}

static void what_one_task_has_alone_is_an_option_that_differs(void **state) {
    (void)state;
    const mst_fingerprint version = {.name = "version", .hash = 1}, other = {.name = "version", .hash = 2};
    const mst_fingerprint epochs = mst_fingerprint_option("epochs", "3");
    const mst_fingerprint flip = mst_fingerprint_option("random_flip", "left_right");
    const mst_fingerprint take = mst_fingerprint_option("take", "5");
    const mst_fingerprint data = {.name = "data", .hash = 1}, flipped = {.name = "data", .hash = 2};
    const mst_fingerprint a[] = {version, epochs, data}, b[] = {version, epochs, flip, flipped};
    const mst_fingerprint c[] = {version, epochs, take, flip, data}, d[] = {other, epochs, flip, flipped};
    char text[TEXT];
    assert_true(mst_fingerprints_differ(a, 3, "x", b, 4, "y", text, sizeof text));
    assert_string_equal(text,
                        "options differ between x and y: random_flip none and left_right: start all tasks with the "
                        "same command");
    assert_true(mst_fingerprints_differ(c, 5, "x", a, 3, "y", text, sizeof text));
    assert_non_null(strstr(text, "x and y: take 5 and none, random_flip left_right and none:"));
    assert_true(mst_fingerprints_differ(a, 3, "x", d, 4, "y", text, sizeof text));
    assert_non_null(strstr(text, "the version of Muster differs"));
    assert_false(mst_fingerprints_differ(c, 5, "x", c, 5, "y", text, sizeof text));
}

static void different_shards_are_asked_for(void **state) {
    (void)state;
    const mst_fingerprint a[] = {mst_fingerprint_option("epochs", "3"), mst_fingerprint_option("num_shards", "2")};
    const mst_fingerprint b[] = {mst_fingerprint_option("epochs", "3"), mst_fingerprint_option("num_shards", "4")};
    char text[TEXT];
    assert_true(mst_fingerprints_differ(a, 2, "x", b, 2, "y", text, sizeof text));
    assert_string_equal(
        text,
        "options differ between x and y: num_shards 2 and 4: start all tasks with the same command, and "
        "with --shards N if they have different numbers of devices");
}

/* A GPU that one task lacks may mean another number of shards too: the device is the cause. */
static void different_devices_are_told_first(void **state) {
    (void)state;
    const mst_fingerprint a[] = {mst_fingerprint_option("device GPU", "H200, gpu 0.81"),
                                 mst_fingerprint_option("num_shards", "2")};
    const mst_fingerprint b[] = {mst_fingerprint_option("num_shards", "4")};
    char text[TEXT];
    assert_true(mst_fingerprints_differ(a, 2, "x", b, 1, "y", text, sizeof text));
    assert_string_equal(text,
                        "options differ between x and y: device GPU H200, gpu 0.81 and none, num_shards 2 and 4: start "
                        "all tasks with the same command, where all have one kind of device and one plugin for it "
                        "(muster doctor --devices)");
}

static void a_long_list_is_cut_off(void **state) {
    (void)state;
    mst_fingerprint a[20], b[20];
    char text[TEXT], small[64];
    for (int i = 0; i < 20; i++) {
        char name[MST_FINGERPRINT_NAME];
        snprintf(name, sizeof name, "option_%d", i);
        a[i] = mst_fingerprint_option(name, "1");
        b[i] = mst_fingerprint_option(name, "2");
    }
    assert_true(mst_fingerprints_differ(a, 20, "x", b, 20, "y", text, sizeof text));
    assert_non_null(strstr(text, "option_5 1 and 2, and 14 more: start"));
    assert_true(mst_fingerprints_differ(a, 20, "x", b, 20, "y", small, sizeof small));
    assert_int_equal(strlen(small), sizeof small - 1);
}

static void a_value_that_is_cut_off_still_differs(void **state) {
    (void)state;
    const mst_fingerprint a =
        mst_fingerprint_option("path", "a/rather/long/path/of/many/folders/of/which/only/the/end/is/number/1");
    const mst_fingerprint b =
        mst_fingerprint_option("path", "a/rather/long/path/of/many/folders/of/which/only/the/end/is/number/2");
    char text[TEXT];
    assert_string_equal(a.value, b.value);
    assert_true(mst_fingerprints_differ(&a, 1, "x", &b, 1, "y", text, sizeof text));
}

static void machines_that_differ_are_a_warning_that_says_what_to_set(void **state) {
    (void)state;
    mst_fingerprint a[] = {mst_fingerprint_option("kernels", "AVX2"), mst_fingerprint_option("oneDNN", "AVX512_CORE"),
                           mst_fingerprint_option("processor", "A")};
    mst_fingerprint b[] = {a[0], mst_fingerprint_option("oneDNN", "AVX2"), a[2]};
    char text[TEXT];
    a[1].hash = 0x27, b[1].hash = 0x7;
    assert_false(mst_fingerprints_differ(a, 3, "x", b, 3, "y", text, sizeof text));
    assert_false(mst_fingerprints_warn(a, 3, "x", a, 3, "y", false, text, sizeof text));
    assert_true(mst_fingerprints_warn(a, 3, "x", b, 3, "y", false, text, sizeof text));
    assert_string_equal(text,
                        "instruction sets differ between x and y: oneDNN AVX512_CORE and AVX2: weights may get "
                        "other bits than those of one process: set DNNL_MAX_CPU_ISA=AVX2 in the environment of "
                        "all tasks");
    assert_false(mst_fingerprints_warn(a, 3, "x", b, 3, "y", true, text, sizeof text));
    assert_true(mst_fingerprints_instructions(a, 3) == 0x27 && mst_fingerprints_instructions(a, 1) == 0);
    mst_fingerprints_set_instructions(a, 3, 0x7, "AVX2");
    assert_true(mst_fingerprints_instructions(a, 3) == 0x7);
    assert_false(mst_fingerprints_warn(a, 3, "x", b, 3, "y", false, text, sizeof text));
    mst_fingerprints_set_instructions(a, 3, 0x27, "AVX512_CORE");
    b[1] = mst_fingerprint_option("oneDNN", "AVX2_VNNI"), b[1].hash = 0x407;
    b[2] = mst_fingerprint_option("processor", "B");
    assert_true(mst_fingerprints_warn(a, 3, "x", b, 3, "y", false, text, sizeof text));
    assert_non_null(strstr(text, ", processor A and B: "));
    assert_non_null(
        strstr(text, ": set DNNL_MAX_CPU_ISA=AVX2 in the environment of all tasks, and take machines of one"));
}

static void another_version_of_onednn_is_a_warning(void **state) {
    (void)state;
    const mst_fingerprint a[] = {mst_fingerprint_option("processor", "A"),
                                 mst_fingerprint_option("oneDNN version", "2.6.3")};
    mst_fingerprint b[] = {a[0], mst_fingerprint_option("oneDNN version", "3.7.2")};
    char text[TEXT];
    assert_false(mst_fingerprints_differ(a, 2, "x", b, 2, "y", text, sizeof text));
    assert_true(mst_fingerprints_warn(a, 2, "x", b, 2, "y", true, text, sizeof text));
    assert_string_equal(text,
                        "versions of a library differ between x and y: oneDNN version 2.6.3 and 3.7.2: weights may get "
                        "other bits than those of one process: install one version of oneDNN on all");
    b[0] = mst_fingerprint_option("processor", "B");
    assert_true(mst_fingerprints_warn(a, 2, "x", b, 2, "y", true, text, sizeof text));
    assert_string_equal(text,
                        "instruction sets differ between x and y: processor A and B, oneDNN version 2.6.3 and 3.7.2: "
                        "weights may get other bits than those of one process: take machines of one type, and install "
                        "one version of oneDNN on all");
}

/* Lists come from other tasks. */
static void long_lists_are_cut_off(void **state) {
    (void)state;
    mst_fingerprint a[MST_FINGERPRINTS_MOST], b[MST_FINGERPRINTS_MOST];
    char text[TEXT], value[MST_FINGERPRINT_VALUE];
    for (int i = 0; i < MST_FINGERPRINTS_MOST; i++) {
        memset(value, 'v', sizeof value - 1);
        value[sizeof value - 1] = '\0';
        a[i] = mst_fingerprint_option(i % 2 ? "processor" : "oneDNN version", value);
        value[0] = 'w';
        b[i] = mst_fingerprint_option(i % 2 ? "processor" : "oneDNN version", value);
    }
    assert_true(
        mst_fingerprints_warn(a, MST_FINGERPRINTS_MOST, "x", b, MST_FINGERPRINTS_MOST, "y", false, text, sizeof text));
    assert_true(strlen(text) < sizeof text);
}

static void what_another_task_has_sent_is_made_safe(void **state) {
    (void)state;
    static mst_fingerprint sent[MST_FINGERPRINTS_MOST + 1];
    mst_fingerprint out[MST_FINGERPRINTS_MOST];
    memset(&sent[0], 'x', sizeof sent[0]);
    sent[1] = mst_fingerprint_option("se\033ed", "\n3");
    assert_int_equal(mst_fingerprints_take(sent, 2 * sizeof *sent, out), 2);
    assert_int_equal(strlen(out[0].name), MST_FINGERPRINT_NAME - 1);
    assert_int_equal(strlen(out[0].value), MST_FINGERPRINT_VALUE - 1);
    assert_string_equal(out[1].name, "se?ed");
    assert_string_equal(out[1].value, "?3");
    assert_int_equal(mst_fingerprints_take(NULL, 0, out), 0);
    assert_int_equal(mst_fingerprints_take(sent, sizeof *sent - 1, out), -1);
    assert_int_equal(mst_fingerprints_take(sent, sizeof sent, out), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_differ_are_named_with_both_values),
        cmocka_unit_test(what_one_task_has_alone_is_an_option_that_differs),
        cmocka_unit_test(different_shards_are_asked_for),
        cmocka_unit_test(different_devices_are_told_first),
        cmocka_unit_test(a_long_list_is_cut_off),
        cmocka_unit_test(a_value_that_is_cut_off_still_differs),
        cmocka_unit_test(machines_that_differ_are_a_warning_that_says_what_to_set),
        cmocka_unit_test(another_version_of_onednn_is_a_warning),
        cmocka_unit_test(long_lists_are_cut_off),
        cmocka_unit_test(what_another_task_has_sent_is_made_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
