#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support/folder.h"
#include "support/test.h"

static const size_t most = (size_t)1 << 20;

static void expect_content(const char *path, const char *wanted) {
    void *data;
    size_t size;
    EXPECT_OK(mst_file_read(path, most, &data, &size));
    assert_int_equal(size, strlen(wanted));
    assert_memory_equal(data, wanted, size);
    free(data);
}

static void expect_alone(const char *name) {
    char command[600];
    snprintf(command, sizeof command, "test \"$(ls -A '%s')\" = '%s'", folder_path(""), name);
    assert_int_equal(system(command), 0);
}

static void file_is_made_and_replaced(void **state) {
    (void)state;
    const char *path = folder_path("x");
    EXPECT_OK(mst_file_write(path, "first", 5));
    expect_content(path, "first");
    EXPECT_OK(mst_file_write(path, "", 0));
    expect_content(path, "");
    EXPECT_OK(mst_file_write(path, "the second", 10));
    expect_content(path, "the second");
    expect_alone("x");
    struct stat info;
    const mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0666 & ~mask);
}

static void failed_write_leaves_what_was_there(void **state) {
    (void)state;
    EXPECT_ERROR(mst_file_write(folder_path("none/x"), "1", 1), MST_IO, "there is no folder");
    assert_int_equal(mkdir(folder_path("x"), 0700), 0);
    EXPECT_ERROR(mst_file_write(folder_path("x"), "1", 1), MST_IO, "/x' cannot be written: Is a directory");
    expect_alone("x");
}

static void symbolic_link_stays_and_its_target_is_replaced(void **state) {
    (void)state;
    char target[600], link[600];
    snprintf(target, sizeof target, "%s", folder_path("target"));
    snprintf(link, sizeof link, "%s", folder_path("link"));
    EXPECT_OK(mst_file_write(target, "old", 3));
    assert_int_equal(chmod(target, 0640), 0);
    assert_int_equal(symlink("target", link), 0);
    EXPECT_OK(mst_file_check(link));
    EXPECT_OK(mst_file_write(link, "new", 3));
    struct stat info;
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    expect_content(target, "new");
    assert_int_equal(stat(target, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

static void name_of_255_bytes_can_be_written(void **state) {
    (void)state;
    char name[256];
    memset(name, 'x', 255);
    name[255] = '\0';
    char path[900];
    snprintf(path, sizeof path, "%s", folder_path(name));
    EXPECT_OK(mst_file_check(path));
    EXPECT_OK(mst_file_write(path, "1", 1));
    expect_alone(name);
}

/* In a container each process may have the number 1. */
static void leftover_of_a_process_that_was_killed_is_no_hindrance(void **state) {
    (void)state;
    const int process[] = {1, (int)getpid()};
    char name[64];
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "x.tmp-%d", process[i]);
        folder_write(name, "half", 4);
        assert_int_equal(chmod(folder_path(name), 0), 0);
    }
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(mst_file_check(folder_path("x")));
        EXPECT_OK(mst_file_write(folder_path("x"), "whole", 5));
    }
    expect_content(folder_path("x"), "whole");
}

static void path_without_a_folder_is_beside_the_program(void **state) {
    (void)state;
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder_path("")), 0);
    EXPECT_OK(mst_file_write("x", "here", 4));
    assert_int_equal(chdir(before), 0);
    expect_content(folder_path("x"), "here");
}

static void what_is_no_file_is_told(void **state) {
    (void)state;
    void *data = state;
    size_t size;
    EXPECT_ERROR(mst_file_read(folder_path("x"), most, &data, &size), MST_NOT_FOUND, "/x' cannot be opened: No such");
    assert_null(data);
    EXPECT_ERROR(mst_file_read(folder_path(""), most, &data, &size), MST_INVALID, "is no regular file");
    assert_int_equal(mkfifo(folder_path("pipe"), 0600), 0);
    EXPECT_ERROR(mst_file_read(folder_path("pipe"), most, &data, &size), MST_INVALID, "pipe' is no regular file");
    EXPECT_ERROR(mst_file_read(folder_write("large", "12345", 5), 4, &data, &size), MST_INVALID,
                 "large' has 5 bytes, at most 4 are possible");
    assert_null(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(file_is_made_and_replaced),
        TEST_IN_FOLDER(failed_write_leaves_what_was_there),
        TEST_IN_FOLDER(symbolic_link_stays_and_its_target_is_replaced),
        TEST_IN_FOLDER(name_of_255_bytes_can_be_written),
        TEST_IN_FOLDER(leftover_of_a_process_that_was_killed_is_no_hindrance),
        TEST_IN_FOLDER(path_without_a_folder_is_beside_the_program),
        TEST_IN_FOLDER(what_is_no_file_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
