/* Files that are replaced as a whole: what the folder contains after a write, a failure or a killed process; links
 * and modes; and names that other processes use at the same time. */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* In a folder like /tmp. The test needs a second user, so it must run as root, and acts as `nobody`. */
static void link_of_another_user_in_a_shared_folder_is_not_followed(void **state) {
    (void)state;
    enum { OTHER = 65534 };
    if (geteuid() != 0) skip();
    char target[600], link[600];
    snprintf(target, sizeof target, "%s", folder_path("target"));
    snprintf(link, sizeof link, "%s", folder_path("shared/link"));
    EXPECT_OK(mst_file_write(target, "old", 3));
    assert_int_equal(mkdir(folder_path("shared"), 0700), 0);
    assert_int_equal(chmod(folder_path("shared"), 01777), 0);
    assert_int_equal(symlink("../target", link), 0);
    assert_int_equal(symlink("link", folder_path("shared/mine")), 0);
    assert_int_equal(lchown(link, OTHER, OTHER), 0);

    static const char wanted[] = "/shared/link' is a symbolic link that another user has made in a folder where all";
    EXPECT_ERROR(mst_file_write(link, "new", 3), MST_IO, wanted);
    EXPECT_ERROR(mst_file_check(link), MST_IO, wanted);
    EXPECT_ERROR(mst_file_write(folder_path("shared/mine"), "new", 3), MST_IO, wanted); /* leads to it */
    expect_content(target, "old");

    assert_int_equal(chmod(folder_path("shared"), 0777), 0); /* not sticky: all could replace any file there */
    EXPECT_OK(mst_file_write(link, "1", 1));
    assert_int_equal(chmod(folder_path("shared"), 01777), 0);
    assert_int_equal(chown(folder_path("shared"), OTHER, OTHER), 0); /* the owner of the folder has made it */
    EXPECT_OK(mst_file_write(link, "2", 1));
    assert_int_equal(chown(folder_path("shared"), 0, 0), 0);
    assert_int_equal(chown(folder_path(""), OTHER, OTHER), 0);
    assert_int_equal(chown(target, OTHER, OTHER), 0);
    assert_int_equal(seteuid(OTHER), 0); /* this user has made the link himself */
    EXPECT_OK(mst_file_write(link, "3", 1));
    assert_int_equal(seteuid(0), 0);
    expect_content(target, "3");
    struct stat info;
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
}

/* Opens the file for writing like > in a shell. */
static void link_to_a_file_that_is_not_there_makes_that_file(void **state) {
    (void)state;
    assert_int_equal(mkdir(folder_path("a"), 0700), 0);
    assert_int_equal(symlink("../target", folder_path("a/link")), 0);
    EXPECT_OK(mst_file_write(folder_path("a/link"), "new", 3));
    expect_content(folder_path("target"), "new");
    assert_int_equal(symlink("loop", folder_path("loop")), 0);
    EXPECT_ERROR(mst_file_write(folder_path("loop"), "1", 1), MST_IO, "/loop' cannot be written: Too many levels");
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
static void leftover_of_a_killed_process_does_not_block_a_write(void **state) {
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

static void folders_and_missing_files_are_named(void **state) {
    (void)state;
    void *data = state;
    size_t size;
    EXPECT_ERROR(mst_file_read(folder_path("x"), most, &data, &size), MST_NOT_FOUND, "/x': no such file: check");
    assert_null(data);
    EXPECT_ERROR(mst_file_read(folder_path(""), most, &data, &size), MST_INVALID, "is a folder");
    assert_int_equal(mkfifo(folder_path("pipe"), 0600), 0);
    EXPECT_ERROR(mst_file_read(folder_path("pipe"), most, &data, &size), MST_INVALID, "pipe': is not a regular file");
    EXPECT_ERROR(mst_file_read(folder_write("large", "12345", 5), 4, &data, &size), MST_INVALID,
                 "large' has 5 bytes, at most 4 are possible");
    assert_null(data);
}

/* The umask belongs to the whole process: it cannot be read by setting it while another thread makes files. */
static _Atomic int calls_of_umask;
mode_t umask(mode_t mask) {
    calls_of_umask++;
    return (mode_t)syscall(SYS_umask, mask);
}

static void mode_is_what_the_umask_leaves_which_is_not_touched(void **state) {
    (void)state;
    struct stat info;
    const mode_t mask = umask(027);
    calls_of_umask = 0;
    EXPECT_OK(mst_file_check(folder_path("x")));
    EXPECT_OK(mst_file_write(folder_path("x"), "1", 1));
    assert_int_equal(calls_of_umask, 0);
    assert_int_equal(stat(folder_path("x"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(chmod(folder_path("x"), 0666), 0); /* stays, though the umask would take from it */
    EXPECT_OK(mst_file_write(folder_path("x"), "2", 1));
    assert_int_equal(stat(folder_path("x"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0666);
    umask(mask);
}

/* A file that nobody else may read is not open to others for a moment when it is replaced. */
static mode_t side_mode;
static int look_at_side(mst_file_call call, size_t *size) {
    struct dirent **list;
    struct stat info;
    (void)size;
    if (call != MST_FILE_WRITE) return 0;
    const int count = scandir(folder_path(""), &list, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (mst_file_is_side_name(list[i]->d_name) && stat(folder_path(list[i]->d_name), &info) == 0)
            side_mode = info.st_mode & 0777;
        free(list[i]);
    }
    free(list);
    return 0;
}

static void file_of_one_user_is_replaced_by_such_a_file(void **state) {
    (void)state;
    struct stat info;
    EXPECT_OK(mst_file_write(folder_path("x"), "1", 1));
    assert_int_equal(chmod(folder_path("x"), 0600), 0);
    mst_file_replace_fault(look_at_side);
    EXPECT_OK(mst_file_write(folder_path("x"), "2", 1));
    mst_file_replace_fault(NULL);
    assert_int_equal(side_mode, 0600);
    assert_int_equal(stat(folder_path("x"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void file_in_a_folder_replaces_a_link_and_stays_in_that_folder(void **state) {
    (void)state;
    mst_folder folder;
    mst_file file;
    assert_int_equal(mkdir(folder_path("a"), 0700), 0);
    folder_write("target", "old", 3);
    assert_int_equal(symlink("../target", folder_path("a/link")), 0);
    EXPECT_OK(mst_folder_open(folder_path("a"), &folder));
    EXPECT_OK(mst_file_write_in(&folder, "link", "new", 3));
    expect_content(folder_path("target"), "old");
    expect_content(folder_path("a/link"), "new");
    EXPECT_OK(mst_file_create_in(&folder, "x", &file));
    EXPECT_OK(mst_file_append(&file, "1", 1));
    assert_int_equal(rename(folder_path("a"), folder_path("b")), 0);
    assert_int_equal(mkdir(folder_path("a"), 0700), 0);
    EXPECT_OK(mst_file_commit(&file));
    expect_content(folder_path("b/x"), "1");
    EXPECT_OK(mst_file_remove_in(&folder, "x"));
    assert_int_not_equal(access(folder_path("b/x"), F_OK), 0);
    mst_folder_close(&folder);
}

static void file_that_is_being_written_cannot_be_claimed(void **state) {
    (void)state;
    mst_folder folder;
    mst_file file;
    EXPECT_OK(mst_folder_open(folder_path(""), &folder));
    EXPECT_OK(mst_file_create_in(&folder, "x", &file));
    assert_true(mst_file_is_side_name(file.side));
    assert_int_equal(mst_file_claim(&folder, file.side), -1);
    EXPECT_OK(mst_file_commit(&file));
    const int lock = mst_file_claim(&folder, "x");
    assert_true(lock >= 0);
    close(lock);
    assert_int_equal(symlink("x", folder_path("link")), 0);
    assert_int_equal(mst_file_claim(&folder, "link"), -1);
    assert_int_equal(mst_file_claim(&folder, "none"), -1);
    mst_folder_close(&folder);
}

/* Two processes with the same number, as in two containers. */
static void side_names_are_random(void **state) {
    (void)state;
    char name[2][MST_FILE_SIDE_SIZE];
    for (int i = 0; i < 2; i++) mst_file_side_name(name[i]);
    assert_string_not_equal(name[0], name[1]);
    assert_true(mst_file_is_side_name(name[0]));
    assert_false(mst_file_is_side_name(".muster-notes"));
    assert_false(mst_file_is_side_name(".muster-0123456789abcd"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(file_is_made_and_replaced),
        TEST_IN_FOLDER(failed_write_leaves_what_was_there),
        TEST_IN_FOLDER(symbolic_link_stays_and_its_target_is_replaced),
        TEST_IN_FOLDER(link_of_another_user_in_a_shared_folder_is_not_followed),
        TEST_IN_FOLDER(link_to_a_file_that_is_not_there_makes_that_file),
        TEST_IN_FOLDER(name_of_255_bytes_can_be_written),
        TEST_IN_FOLDER(leftover_of_a_killed_process_does_not_block_a_write),
        TEST_IN_FOLDER(path_without_a_folder_is_beside_the_program),
        TEST_IN_FOLDER(folders_and_missing_files_are_named),
        TEST_IN_FOLDER(mode_is_what_the_umask_leaves_which_is_not_touched),
        TEST_IN_FOLDER(file_of_one_user_is_replaced_by_such_a_file),
        TEST_IN_FOLDER(file_in_a_folder_replaces_a_link_and_stays_in_that_folder),
        TEST_IN_FOLDER(file_that_is_being_written_cannot_be_claimed),
        TEST_IN_FOLDER(side_names_are_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
