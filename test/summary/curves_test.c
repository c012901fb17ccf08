/* Reading the curves of a log: runs, tags, and what a resumed training replaced. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "muster/summary.h"
#include "support/folder.h"
#include "support/test.h"

static void write_points(const char *folder, int64_t resume, const char *tag, int64_t first, int64_t last,
                         double value) {
    mst_summary_writer *writer;
    const mst_summary_options options = {.resume_step = resume};
    EXPECT_OK(mst_summary_writer_create(folder_path(folder), &options, &writer));
    for (int64_t step = first; step <= last; step++) mst_summary_scalar(writer, tag, value, step);
    EXPECT_OK(mst_summary_writer_close(writer));
}

static void curves_are_in_order_of_tag_and_run(void **state) {
    (void)state;
    mst_curves *curves;
    write_points("b/train", 0, "loss", 1, 3, 0.5);
    write_points("a", 0, "loss", 1, 2, 0.25);
    write_points("", 0, "accuracy", 5, 5, 1);
    EXPECT_OK(mst_curves_read(folder_path(""), &curves));
    assert_int_equal(mst_curves_count(curves), 3);
    const mst_curve first = mst_curves_get(curves, 0), second = mst_curves_get(curves, 1),
                    third = mst_curves_get(curves, 2);
    assert_string_equal(first.tag, "accuracy");
    assert_string_equal(first.run, "");
    assert_string_equal(second.run, "a");
    assert_string_equal(third.run, "b/train");
    assert_true(third.count == 3 && third.step[2] == 3 && third.value[2] == 0.5 && third.wall_time[0] > 1e9);
    assert_int_equal(mst_curves_get(curves, 3).count, 0);
    mst_curves_free(curves);
}

static void a_resumed_training_replaces_later_points(void **state) {
    (void)state;
    mst_curves *curves;
    write_points("", 0, "loss", 1, 10, 1);
    write_points("", 6, "loss", 8, 9, 2); /* 6 and 7 are gone too */
    EXPECT_OK(mst_curves_read(folder_path(""), &curves));
    const mst_curve curve = mst_curves_get(curves, 0);
    const int64_t expected[] = {1, 2, 3, 4, 5, 8, 9};
    assert_int_equal(curve.count, 7);
    assert_memory_equal(curve.step, expected, sizeof expected);
    assert_true(curve.value[4] == 1 && curve.value[5] == 2);
    mst_curves_free(curves);
}

/* Two links in each of 16 folders, to the next one, are 2^16 ways. */
static void ways_by_links_are_bounded(void **state) {
    (void)state;
    mst_curves *curves;
    char name[32], next[32];
    write_points("a", 0, "loss", 1, 2, 0.25);
    assert_int_equal(symlink("a", folder_path("b")), 0);
    EXPECT_OK(mst_curves_read(folder_path(""), &curves));
    assert_int_equal(mst_curves_count(curves), 2);
    mst_curves_free(curves);
    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(mkdir(folder_path(name), 0755), 0);
        snprintf(next, sizeof next, "../%d", i + 1);
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "%d/%d", i, k);
            if (i < 15) assert_int_equal(symlink(next, folder_path(name)), 0);
        }
    }
    EXPECT_ERROR(mst_curves_read(folder_path(""), &curves), MST_INVALID, "folders are read because links lead to them");
}

static void folder_without_a_log_is_an_error(void **state) {
    (void)state;
    mst_curves *curves;
    EXPECT_ERROR(mst_curves_read(folder_path("none"), &curves), MST_NOT_FOUND, "is no folder");
    EXPECT_ERROR(mst_curves_read(folder_path(""), &curves), MST_NOT_FOUND, "has no event files");
    assert_null(curves);
    char record[40] = "these bytes are not those of a record..";
    folder_write("events.out.tfevents.1", record, sizeof record);
    EXPECT_ERROR(mst_curves_read(folder_path(""), &curves), MST_CORRUPT, "byte 0 is damaged");
    EXPECT_ERROR(mst_curves_read(NULL, &curves), MST_INVALID, "folder is NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(curves_are_in_order_of_tag_and_run),
        TEST_IN_FOLDER(a_resumed_training_replaces_later_points),
        TEST_IN_FOLDER(ways_by_links_are_bounded),
        TEST_IN_FOLDER(folder_without_a_log_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
