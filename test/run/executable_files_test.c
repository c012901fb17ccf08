/* Executables on disk: processes that write at once or are killed, folders and files that others could have written,
 * and disks that fail. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "support/folder.h"
#include "support/kept.h"
#include "support/saving.h"
#include "support/test.h"

enum { OTHER = 65534 };

/* ---- several processes ---- */

static void expect_children_succeed(int count) {
    for (int i = 0; i < count; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
}

/* Processes keep and find executables of the same keys and of keys of their own. Whatever is found is whole. */
static int write_and_read(int number, const char *folder) {
    enum { ROUNDS = 40, LARGE = 100000 };
    kept_cache x;
    char own[32];
    mst_file_replace_fault(saving_without_sync);
    kept_open(&x, folder, 0);
    for (int i = 0; i < ROUNDS; i++) {
        const size_t size = LARGE + (size_t)(i % 3);
        snprintf(own, sizeof own, "own %d %d", number, i % 5);
        kept_put(&x, "shared", number, LARGE);
        kept_put(&x, own, number, size);
        if (kept_find(&x, own, size) != number || kept_find(&x, "shared", LARGE) < 0) return 1;
    }
    const int said = x.size > 0;
    kept_close(&x);
    return said;
}

static void processes_write_the_same_and_different_keys_at_once(void **state) {
    (void)state;
    enum { PROCESSES = 6 };
    char path[KEPT_PATH];
    snprintf(path, sizeof path, "%s", folder_path("c"));
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) _exit(write_and_read(i, path));
    expect_children_succeed(PROCESSES);
    assert_int_equal(kept_count(path, mst_file_is_side_name), 0);
    assert_int_equal(kept_count(path, NULL), 1 + 5 * PROCESSES);
}

/* The same where there is room for two only: what is found is whole, what is not has left. */
static int write_in_little_room(int number, const char *folder) {
    enum { ROUNDS = 100 };
    kept_cache x;
    mst_file_replace_fault(saving_without_sync);
    kept_open(&x, folder, 2 * (KEPT_HEAD + KEPT_BYTES));
    for (int i = 0; i < ROUNDS; i++) {
        const char text[] = {(char)('a' + (number + i) % 7), '\0'};
        kept_put(&x, text, text[0], KEPT_BYTES);
        const int found = kept_find(&x, text, KEPT_BYTES);
        if (found != -1 && found != text[0]) return 1;
    }
    const int said = x.size > 0;
    kept_close(&x);
    return said;
}

static void processes_that_make_room_at_once_do_not_disturb_each_other(void **state) {
    (void)state;
    enum { PROCESSES = 4 };
    char path[KEPT_PATH];
    kept_cache x;
    snprintf(path, sizeof path, "%s", folder_path("c"));
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) _exit(write_in_little_room(i, path));
    expect_children_succeed(PROCESSES);
    kept_open(&x, path, 2 * (KEPT_HEAD + KEPT_BYTES));
    kept_put(&x, "last", 1, KEPT_BYTES);
    kept_expect_said(&x, NULL);
    assert_in_range(kept_count(path, NULL), 1, 2);
    assert_int_equal(kept_count(path, mst_file_is_side_name), 0);
    kept_close(&x);
}

/* The call with number kill_at is not made: the process is killed. Of writes, half of the bytes are written before. */
static int kill_at, calls;
static bool is_half_written;
static int kill_here(mst_file_call call, size_t *size) {
    if (is_half_written || (++calls == kill_at && call != MST_FILE_WRITE)) kill(getpid(), SIGKILL);
    is_half_written = calls == kill_at;
    if (is_half_written) *size = *size / 2;
    return 0;
}

static void killed_writer_leaves_the_old_file_or_the_new_one(void **state) {
    (void)state;
    enum { SIZE = 10000, MOST = 50 };
    kept_cache x;
    char path[KEPT_PATH], folder[KEPT_PATH];
    int old = 0, left = 0, number = 1, status = 0;
    snprintf(folder, sizeof folder, "%s", folder_path("c"));
    kept_path("c", "one", path);
    for (; number < MOST; number++) {
        kept_open(&x, folder, 0);
        kept_put(&x, "one", 1, SIZE);
        kept_expect_said(&x, NULL);
        /* what the process before had written was removed */
        assert_int_equal(kept_count(folder, NULL), 1);
        const pid_t child = fork();
        if (child == 0) {
            kill_at = number;
            mst_file_replace_fault(kill_here);
            kept_put(&x, "one", 2, SIZE);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) break;
        left += kept_count(folder, mst_file_is_side_name);
        const int found = kept_find(&x, "one", SIZE);
        assert_in_range(found, 1, 2);
        old += found == 1;
        kept_expect_said(&x, NULL);
        kept_close(&x);
    }
    assert_int_equal(status, 0);
    assert_int_equal(kept_find(&x, "one", SIZE), 2);
    kept_close(&x);
    assert_in_range(number, 6, MOST - 1); /* create, two writes, sync, rename, sync of the folder */
    assert_true(old >= 4);
    assert_true(left >= 3);
}

static void file_that_is_being_written_stays(void **state) {
    (void)state;
    kept_cache x;
    mst_folder folder;
    mst_file file;
    char path[KEPT_PATH];
    kept_open(&x, folder_path("c"), 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    EXPECT_OK(mst_folder_open(folder_path("c"), &folder));
    EXPECT_OK(mst_file_create_private_in(&folder, "x", &file));
    EXPECT_OK(mst_file_append(&file, "muster-exec\n", 12));
    snprintf(path, sizeof path, "%s/%s", folder_path("c"), file.side);
    assert_int_equal(kept_mode(path), 0600);
    kept_put(&x, "two", 1, KEPT_BYTES);
    assert_true(kept_is_there(path));
    EXPECT_OK(mst_file_commit(&file));
    mst_folder_close(&folder);
    kept_expect_said(&x, NULL);
    kept_close(&x);
}

/* ---- folders and files that are not this user's alone ---- */

static void what_others_can_use_is_refused(void **state) {
    (void)state;
    kept_cache x;
    char path[KEPT_PATH];
    kept_open(&x, folder_path("c"), 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    kept_path("c", "one", path);
    static const mode_t modes[] = {0755, 0770, 0702, 0710};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        kept_cache y;
        assert_int_equal(chmod(folder_path("c"), modes[i]), 0);
        kept_open(&y, folder_path("c"), 0);
        assert_int_equal(kept_find(&y, "one", KEPT_BYTES), -1);
        kept_put(&y, "two", 2, KEPT_BYTES);
        kept_expect_said(&y, "can be used by others: run 'chmod 700 ");
        kept_close(&y);
    }
    assert_int_equal(kept_count(folder_path("c"), NULL), 1);
    assert_int_equal(chmod(folder_path("c"), 0700), 0);
    kept_expect_said(&x, NULL);
    assert_int_equal(chmod(path, 0620), 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    kept_expect_said(&x, "can be used by others: run 'chmod 600 ");
    kept_put(&x, "one", 3, KEPT_BYTES); /* it is replaced by a file of this user alone */
    assert_int_equal(kept_mode(path), 0600);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), 3);
    kept_close(&x);
}

static void what_belongs_to_another_user_is_refused(void **state) {
    (void)state;
    if (geteuid() != 0) skip();
    kept_cache x;
    char path[KEPT_PATH];
    kept_open(&x, folder_path("c"), 1);
    kept_close(&x);
    kept_open(&x, folder_path("c"), 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    kept_path("c", "one", path);
    assert_int_equal(chown(path, OTHER, OTHER), 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    kept_expect_said(&x, "belongs to user 65534, not to you: remove it: the program is compiled anew");
    kept_put(&x, "one", 2, KEPT_BYTES);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), 2);
    kept_close(&x);
    assert_int_equal(chown(folder_path("c"), OTHER, OTHER), 0);
    kept_open(&x, folder_path("c"), 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    kept_put(&x, "two", 2, KEPT_BYTES);
    kept_expect_said(
        &x, "belongs to user 65534, not to you: name one of your own with --compile-cache, or set XDG_CACHE_HOME");
    assert_int_equal(kept_count(folder_path("c"), NULL), 1);
    kept_close(&x);
}

static void links_to_the_folder_are_not_followed(void **state) {
    (void)state;
    kept_cache x;
    assert_int_equal(mkdir(folder_path("target"), 0700), 0);
    assert_int_equal(symlink("target", folder_path("c")), 0);
    kept_open(&x, folder_path("c/"), 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    kept_put(&x, "one", 1, KEPT_BYTES);
    kept_expect_said(&x, "/c' is a symbolic link, where a folder is needed: remove it");
    kept_close(&x);
    assert_int_equal(symlink("nowhere", folder_path("d")), 0);
    kept_open(&x, folder_path("d"), 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    kept_expect_said(&x, "/d' is a symbolic link");
    kept_close(&x);
    /* in the default place: the last two names may be no links, those before may */
    kept_set_places(folder_path("cache"), NULL);
    assert_int_equal(symlink("target", folder_path("cache")), 0);
    kept_open(&x, NULL, 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), 1);
    assert_int_equal(kept_mode(folder_path("target/muster/executables")), 0700);
    kept_expect_said(&x, NULL);
    assert_int_equal(rename(folder_path("target/muster"), folder_path("elsewhere")), 0);
    assert_int_equal(symlink("../elsewhere", folder_path("target/muster")), 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    kept_expect_said(&x, "/muster' is a symbolic link");
    kept_close(&x);
    assert_int_equal(unlink(folder_path("target/muster")), 0);
    assert_int_equal(mkdir(folder_path("target/muster"), 0700), 0);
    assert_int_equal(symlink("../../elsewhere/executables", folder_path("target/muster/executables")), 0);
    kept_open(&x, "", 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    kept_expect_said(&x, "/muster/executables' is a symbolic link");
    kept_close(&x);
}

/* ---- disks ---- */

static void folder_that_cannot_be_written_or_opened_is_said(void **state) {
    (void)state;
    if (geteuid() != 0) skip(); /* runs as another user, because modes of files do not bind root */
    kept_cache x;
    assert_int_equal(chmod(folder_path(""), 0777), 0);
    assert_int_equal(mkdir(folder_path("closed"), 0700), 0);
    assert_int_equal(seteuid(OTHER), 0);
    kept_open(&x, folder_path("c"), 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    assert_int_equal(chmod(folder_path("c"), 0500), 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), 1);
    kept_put(&x, "two", 1, KEPT_BYTES);
    kept_put(&x, "two", 1, KEPT_BYTES);
    kept_expect_said(&x,
                     "Permission denied: name a place where this user may write: compiled programs are not kept for "
                     "the next process");
    kept_close(&x);
    kept_open(&x, folder_path("closed/c"), 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    assert_true(x.size > 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    kept_expect_said(&x, "closed/c' cannot be opened: Permission denied");
    kept_close(&x);
    assert_int_equal(chmod(folder_path("c"), 0), 0);
    kept_open(&x, folder_path("c"), 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    kept_expect_said(&x, "cannot be read: Permission denied: the program is compiled anew");
    kept_close(&x);
    assert_int_equal(seteuid(0), 0);
}

/* Call number fail_at fails with fail_with; a write first writes half of its bytes. */
static int fail_at, fail_with;
static int fail_here(mst_file_call call, size_t *size) {
    if (++calls != fail_at) return 0;
    if (call == MST_FILE_WRITE) *size /= 2;
    return fail_with;
}

static void each_call_that_fails_leaves_what_was_there(void **state) {
    (void)state;
    static const int errors[] = {ENOSPC, EIO};
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
        for (fail_at = 1;; fail_at++) {
            kept_cache x;
            kept_open(&x, folder_path("c"), 2 * (KEPT_HEAD + KEPT_BYTES));
            kept_put(&x, "0", 1, KEPT_BYTES); /* so that one leaves */
            kept_put(&x, "1", 1, KEPT_BYTES);
            kept_put(&x, "one", 1, KEPT_BYTES);
            kept_expect_said(&x, NULL);
            calls = 0;
            fail_with = errors[e];
            mst_file_replace_fault(fail_here);
            kept_put(&x, "one", 2, 2 * KEPT_BYTES);
            mst_file_replace_fault(NULL);
            if (calls < fail_at) {
                assert_int_equal(kept_find(&x, "one", 2 * KEPT_BYTES), 2);
                kept_close(&x);
                break;
            }
            const int found = kept_find(&x, "one", KEPT_BYTES);
            if (x.size) assert_int_equal(found, 1);
            if (!x.size) assert_int_equal(kept_find(&x, "one", 2 * KEPT_BYTES), 2); /* only the folder was not synced */
            kept_put(&x, "one", 3, KEPT_BYTES);
            assert_int_equal(kept_find(&x, "one", KEPT_BYTES), 3);
            if (x.size) kept_expect_said(&x, strerror(errors[e]));
            assert_int_equal(kept_count(folder_path("c"), mst_file_is_side_name), 0);
            kept_close(&x);
            assert_in_range(fail_at, 1, 40);
        }
}

/* In a child: a real disk, of which 64 KB are left, or files of at most that size. */
static int fill_disk(const char *folder) {
    enum { ROOM = 65536 };
    kept_cache x;
    const bool is_small = unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                          mount("tmpfs", folder, "tmpfs", 0, "size=65536,mode=0700") == 0;
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {ROOM, ROOM};
    if (!is_small && setrlimit(RLIMIT_FSIZE, &limit)) return 1;
    kept_open(&x, folder, 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    kept_put(&x, "large", 2, 2 * ROOM);
    kept_put(&x, "large", 2, 2 * ROOM);
    if (kept_find(&x, "one", KEPT_BYTES) != 1 || kept_find(&x, "large", 2 * ROOM) != -1) return 2;
    const char *newline = strchr(x.text, '\n');
    if (!newline || newline[1] || !strstr(x.text, is_small ? "No space left" : "File too large")) return 3;
    if (kept_count(folder, NULL) != 1) return 4;
    kept_put(&x, "two", 3, KEPT_BYTES);
    if (kept_find(&x, "two", KEPT_BYTES) != 3) return 5;
    kept_close(&x);
    return 0;
}

static void full_disk_is_said_once(void **state) {
    (void)state;
    char path[KEPT_PATH];
    assert_int_equal(mkdir(folder_path("c"), 0700), 0);
    snprintf(path, sizeof path, "%s", folder_path("c"));
    if (fork() == 0) _exit(fill_disk(path));
    expect_children_succeed(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(processes_write_the_same_and_different_keys_at_once),
        TEST_IN_FOLDER(processes_that_make_room_at_once_do_not_disturb_each_other),
        TEST_IN_FOLDER(killed_writer_leaves_the_old_file_or_the_new_one),
        TEST_IN_FOLDER(file_that_is_being_written_stays),
        TEST_IN_FOLDER(what_others_can_use_is_refused),
        TEST_IN_FOLDER(what_belongs_to_another_user_is_refused),
        TEST_IN_FOLDER(links_to_the_folder_are_not_followed),
        TEST_IN_FOLDER(folder_that_cannot_be_written_or_opened_is_said),
        TEST_IN_FOLDER(each_call_that_fails_leaves_what_was_there),
        TEST_IN_FOLDER(full_disk_is_said_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
