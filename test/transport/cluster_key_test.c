/* The file of a cluster's key: who may read it, and which keys are made of its contents. */
#include "transport/cluster_key.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/test.h"

static void new_key_is_its_owners_alone_and_gives_all_the_same_pairs(void **state) {
    (void)state;
    const char *path = folder_path("key");
    struct stat file;
    mst_cluster_keys a, b;
    EXPECT_OK(mst_cluster_key_create(path));
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);
    EXPECT_OK(mst_cluster_key_read(path, &a));
    EXPECT_OK(mst_cluster_key_read(path, &b));
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_not_equal(&a.listener, &a.connector, sizeof a.listener);
}

static void two_keys_have_nothing_in_common(void **state) {
    (void)state;
    mst_cluster_keys a, b;
    EXPECT_OK(mst_cluster_key_create(folder_path("one")));
    EXPECT_OK(mst_cluster_key_create(folder_path("other")));
    EXPECT_OK(mst_cluster_key_read(folder_path("one"), &a));
    EXPECT_OK(mst_cluster_key_read(folder_path("other"), &b));
    assert_memory_not_equal(a.listener.public_key, b.listener.public_key, MST_CURVE_KEY);
    assert_memory_not_equal(a.connector.public_key, b.connector.public_key, MST_CURVE_KEY);
}

static void file_that_is_there_is_never_written_over(void **state) {
    (void)state;
    mst_cluster_keys before, after;
    const char *path = folder_path("kept");
    EXPECT_OK(mst_cluster_key_create(path));
    EXPECT_OK(mst_cluster_key_read(path, &before));
    EXPECT_ERROR(mst_cluster_key_create(path), MST_EXISTS, "name another file");
    EXPECT_OK(mst_cluster_key_read(path, &after));
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(symlink("nowhere", folder_path("dangling")), 0);
    EXPECT_ERROR(mst_cluster_key_create(folder_path("dangling")), MST_EXISTS, "name another file");
    EXPECT_ERROR(mst_cluster_key_create(folder_path("no/such/folder")), MST_IO, "cannot be written");
}

static void file_that_others_can_use_is_refused(void **state) {
    (void)state;
    static const mode_t modes[] = {0640, 0604, 0620, 0610, 0602, 0601};
    const char *path = folder_path("open");
    mst_cluster_keys keys;
    EXPECT_OK(mst_cluster_key_create(path));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        EXPECT_ERROR(mst_cluster_key_read(path, &keys), MST_INVALID, "chmod 600");
    }
    assert_int_equal(chmod(path, 0400), 0);
    EXPECT_OK(mst_cluster_key_read(path, &keys));
    if (geteuid() == 0) { /* nobody else can give a file away */
        assert_int_equal(chown(path, 1, (gid_t)-1), 0);
        EXPECT_ERROR(mst_cluster_key_read(path, &keys), MST_INVALID, "belongs to user 1");
    }
}

static void what_is_no_file_with_a_key_is_refused(void **state) {
    (void)state;
    static const char digits[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    static const char *const wrong[] = {"",
                                        "muster-cluster-key-1 ",
                                        "muster-cluster-key-2 %s\n",
                                        "muster-cluster-key-1 %s",
                                        "muster-cluster-key-1 %s\n\n",
                                        "muster-cluster-key-1 %.63s \n",
                                        "muster-cluster-key-1 %.63sg\n"};
    char text[200];
    mst_cluster_keys keys;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, wrong[i], digits);
        assert_int_equal(chmod(folder_write_text("wrong", text), 0600), 0);
        EXPECT_ERROR(mst_cluster_key_read(folder_path("wrong"), &keys), MST_INVALID, "is no cluster key");
    }
    snprintf(text, sizeof text, "muster-cluster-key-1 %s\n", digits);
    assert_int_equal(chmod(folder_write_text("good", text), 0600), 0);
    EXPECT_OK(mst_cluster_key_read(folder_path("good"), &keys));
    assert_int_equal(symlink("good", folder_path("link")), 0);
    EXPECT_ERROR(mst_cluster_key_read(folder_path("link"), &keys), MST_INVALID, "symbolic link");
    EXPECT_ERROR(mst_cluster_key_read(folder_path(""), &keys), MST_INVALID, "is a folder");
    assert_int_equal(mkfifo(folder_path("pipe"), 0600), 0);
    EXPECT_ERROR(mst_cluster_key_read(folder_path("pipe"), &keys), MST_INVALID, "no regular file");
    EXPECT_ERROR(mst_cluster_key_read(folder_path("missing"), &keys), MST_NOT_FOUND, "muster keygen");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(new_key_is_its_owners_alone_and_gives_all_the_same_pairs),
        TEST_IN_FOLDER(two_keys_have_nothing_in_common),
        TEST_IN_FOLDER(file_that_is_there_is_never_written_over),
        TEST_IN_FOLDER(file_that_others_can_use_is_refused),
        TEST_IN_FOLDER(what_is_no_file_with_a_key_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
