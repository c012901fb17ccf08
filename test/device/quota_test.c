/* Limits of control groups, from folders that look like those of Linux. */
#include "device/quota.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "support/folder.h"
#include "support/test.h"

static void make_folder(const char *name) {
    assert_int_equal(mkdir(folder_path(name), 0700), 0);
}

static void put(const char *name, const char *text) {
    folder_write(name, text, strlen(text));
}

static int quota(const char *membership) {
    char root[600], file[600];
    put("membership", membership);
    snprintf(root, sizeof root, "%s", folder_path(""));
    root[strlen(root) - (root[strlen(root) - 1] == '/')] = '\0';
    snprintf(file, sizeof file, "%s", folder_path("membership"));
    return mst_cpu_quota(root, file);
}

static void tightest_limit_of_the_groups_around_counts(void **state) {
    (void)state;
    make_folder("a");
    make_folder("a/b");
    put("a/cpu.max", "250000 100000\n");
    put("a/b/cpu.max", "800000 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 2);
    put("a/b/cpu.max", "max 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 2);
    put("a/b/cpu.max", "50000 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 1);
}

static void no_limit_is_no_limit(void **state) {
    (void)state;
    assert_int_equal(quota("0::/\n"), 0);
    put("cpu.max", "max 100000\n");
    assert_int_equal(quota("0::/\n"), 0);
    assert_int_equal(quota(""), 0);
    assert_int_equal(mst_cpu_quota(folder_path(""), folder_path("none")), 0);
}

static void container_sees_its_own_group_as_the_root(void **state) {
    (void)state;
    put("cpu.max", "300000 100000\n");
    assert_int_equal(quota("0::/\n"), 3);
}

static void version_1_has_two_files(void **state) {
    (void)state;
    make_folder("cpu");
    make_folder("cpu/job");
    put("cpu/job/cpu.cfs_quota_us", "400000\n");
    put("cpu/job/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota("7:memory:/other\n4:cpu,cpuacct:/job\n"), 4);
    put("cpu/job/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(quota("4:cpu,cpuacct:/job\n"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(tightest_limit_of_the_groups_around_counts),
        TEST_IN_FOLDER(no_limit_is_no_limit),
        TEST_IN_FOLDER(container_sees_its_own_group_as_the_root),
        TEST_IN_FOLDER(version_1_has_two_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
