/* The file of a user's token: where it is, who may read it, and that many processes may make it at the same time. */
#include "transport/user_token.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/test.h"

static void set_places(const char *state, const char *home, const char *runtime) {
    if (state)
        setenv("XDG_STATE_HOME", state, 1);
    else
        unsetenv("XDG_STATE_HOME");
    if (home)
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
    if (runtime)
        setenv("XDG_RUNTIME_DIR", runtime, 1);
    else
        unsetenv("XDG_RUNTIME_DIR");
}

static mode_t mode_of(const char *path) {
    struct stat s;
    return lstat(path, &s) ? 0 : s.st_mode & 07777;
}

static void token_is_made_once_and_is_its_owners_alone(void **state) {
    (void)state;
    mst_cluster_keys a, b;
    set_places(folder_path(""), NULL, NULL);
    EXPECT_OK(mst_user_token_read(&a));
    EXPECT_OK(mst_user_token_read(&b));
    assert_true(a.is_token);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(mode_of(folder_path("muster")), 0700);
    assert_int_equal(mode_of(folder_path("muster/token")), 0600);
    assert_int_equal(unlink(folder_path("muster/token")), 0);
    EXPECT_OK(mst_user_token_read(&b));
    assert_memory_not_equal(a.token, b.token, sizeof a.token);
}

static void places_are_tried_one_after_the_other(void **state) {
    (void)state;
    mst_cluster_keys keys;
    assert_int_equal(mkdir(folder_path("home"), 0755), 0);
    assert_int_equal(mkdir(folder_path("run"), 0700), 0);
    set_places("not/absolute", folder_path("home"), folder_path("run"));
    EXPECT_OK(mst_user_token_read(&keys));
    assert_int_equal(mode_of(folder_path("home/.local/state/muster/token")), 0600);
    assert_int_equal(mode_of(folder_path("home/.local/state")), 0700);
    set_places(NULL, folder_path("no home"), folder_path("run"));
    EXPECT_OK(mst_user_token_read(&keys));
    assert_int_equal(mode_of(folder_path("run/muster/token")), 0600);
}

static void what_others_could_use_is_refused(void **state) {
    (void)state;
    mst_cluster_keys keys;
    set_places(folder_path(""), NULL, NULL);
    EXPECT_OK(mst_user_token_read(&keys));
    assert_int_equal(chmod(folder_path("muster/token"), 0640), 0);
    EXPECT_ERROR(mst_user_token_read(&keys), MST_INVALID, "can be used by others: run 'chmod 600");
    assert_int_equal(chmod(folder_path("muster/token"), 0600), 0);
    assert_int_equal(chmod(folder_path("muster"), 0755), 0);
    EXPECT_ERROR(mst_user_token_read(&keys), MST_INVALID, "can be used by others: run 'chmod 700");
    assert_int_equal(chmod(folder_path("muster"), 0700), 0);
    EXPECT_OK(mst_user_token_read(&keys));
    if (geteuid() != 0) skip();
    assert_int_equal(chown(folder_path("muster/token"), 65534, 65534), 0);
    EXPECT_ERROR(mst_user_token_read(&keys), MST_INVALID, "belongs to user 65534, not to you");
    assert_int_equal(chown(folder_path("muster/token"), 0, 0), 0);
    assert_int_equal(chown(folder_path("muster"), 65534, 65534), 0);
    EXPECT_ERROR(mst_user_token_read(&keys), MST_INVALID, "belongs to user 65534, not to you");
}

static void links_are_not_followed(void **state) {
    (void)state;
    mst_cluster_keys keys;
    set_places(folder_path(""), NULL, NULL);
    assert_int_equal(mkdir(folder_path("elsewhere"), 0700), 0);
    assert_int_equal(symlink(folder_path("elsewhere"), folder_path("muster")), 0);
    EXPECT_ERROR(mst_user_token_read(&keys), MST_INVALID, "is a symbolic link: remove it");
    assert_int_equal(unlink(folder_path("muster")), 0);
    EXPECT_OK(mst_user_token_read(&keys));
    assert_int_equal(rename(folder_path("muster/token"), folder_path("elsewhere/token")), 0);
    assert_int_equal(symlink(folder_path("elsewhere/token"), folder_path("muster/token")), 0);
    EXPECT_ERROR(mst_user_token_read(&keys), MST_INVALID, "is a symbolic link: remove it");
}

static void damaged_token_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"", "short", "0123456789012345678901234567890123"};
    mst_cluster_keys keys;
    set_places(folder_path(""), NULL, NULL);
    EXPECT_OK(mst_user_token_read(&keys));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        folder_write_text("muster/token", texts[i]);
        EXPECT_ERROR(mst_user_token_read(&keys), MST_INVALID, "is damaged: remove it");
    }
}

static void processes_that_begin_together_have_one_token(void **state) {
    (void)state;
    enum { MANY = 32 };
    unsigned char first[MST_CURVE_KEY], token[MST_CURVE_KEY];
    int ends[2];
    set_places(folder_path(""), NULL, NULL);
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < MANY; i++)
        if (fork() == 0) {
            mst_cluster_keys keys = {.is_token = false};
            const bool read_it = mst_user_token_read(&keys) == MST_OK;
            _exit(!read_it || write(ends[1], keys.token, sizeof keys.token) != sizeof keys.token);
        }
    for (int i = 0; i < MANY; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
        assert_int_equal(read(ends[0], i ? token : first, sizeof token), sizeof token);
        if (i) assert_memory_equal(token, first, sizeof token);
    }
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(token_is_made_once_and_is_its_owners_alone),
        TEST_IN_FOLDER(places_are_tried_one_after_the_other),
        TEST_IN_FOLDER(what_others_could_use_is_refused),
        TEST_IN_FOLDER(links_are_not_followed),
        TEST_IN_FOLDER(damaged_token_is_refused),
        TEST_IN_FOLDER(processes_that_begin_together_have_one_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
