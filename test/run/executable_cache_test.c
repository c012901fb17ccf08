/* Executables on disk: keys, damaged files, the limit of their size, the place of the folder, and how modules use
 * it. */
#include "run/executable_cache.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "muster/compile_cache.h"
#include "support/folder.h"
#include "support/kept.h"
#include "support/saving.h"
#include "support/test.h"

/* ---- keys ---- */

static void key_depends_on_each_part_and_on_where_it_ends(void **state) {
    (void)state;
    static const mst_executable_source sources[] = {
        {"text", "op\0ts", 5, "plugin", "kind"}, {"texts", "op\0ts", 5, "plugin", "kind"},
        {"text", "op\0tt", 5, "plugin", "kind"}, {"text", "op\0ts", 4, "plugin", "kind"},
        {"text", NULL, 0, "plugin", "kind"},     {"text", "op\0ts", 5, "plugin2", "kind"},
        {"text", "op\0ts", 5, "plugi", "nkind"}, {"text", "op\0ts", 5, "plugin", "kin"},
        {"text", "op\0ts", 5, "", "pluginkind"}, {"", "text", 4, "plugin", "kind"}};
    enum { COUNT = sizeof sources / sizeof *sources };
    mst_executable_key key[COUNT], again;
    for (int i = 0; i < COUNT; i++) {
        mst_executable_key_make(&sources[i], &key[i]);
        mst_executable_key_make(&sources[i], &again);
        assert_memory_equal(&key[i], &again, sizeof again);
        for (int j = 0; j < i; j++) assert_memory_not_equal(&key[i], &key[j], sizeof again);
    }
    char digits[MST_EXECUTABLE_KEY_TEXT]; /* as another program computes it: files stay valid */
    assert_string_equal(mst_executable_key_print(&key[0], digits),
                        "7ed79a45ba227418bbfad6b0df009c0ebcfdc92695d9d04106b74f10412df60d");
}

/* ---- a file ---- */

static void what_was_kept_is_found_by_its_key_alone(void **state) {
    (void)state;
    kept_cache x;
    char path[KEPT_PATH];
    kept_open(&x, folder_path("a/b/c//"), 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    assert_false(kept_is_there(folder_path("a"))); /* finding makes nothing */
    kept_put(&x, "one", 1, KEPT_BYTES);
    kept_put(&x, "two", 2, KEPT_BYTES);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), 1);
    assert_int_equal(kept_find(&x, "two", KEPT_BYTES), 2);
    assert_int_equal(kept_find(&x, "three", KEPT_BYTES), -1);
    kept_put(&x, "one", 3, 2 * KEPT_BYTES);
    assert_int_equal(kept_find(&x, "one", 2 * KEPT_BYTES), 3);
    kept_put(&x, "empty", 0, 0);
    const mst_executable_key empty = kept_key("empty");
    void *data;
    size_t size = 1;
    assert_true(mst_executable_cache_find(x.cache, &empty, &data, &size));
    assert_int_equal(size, 0);
    free(data);
    kept_path("a/b/c", "one", path);
    assert_int_equal(kept_mode(path), 0600);
    assert_int_equal(kept_mode(folder_path("a/b/c")), 0700);
    assert_int_equal(kept_mode(folder_path("a")), 0700);
    assert_int_equal(kept_count(folder_path("a/b/c"), NULL), 3);
    kept_expect_said(&x, NULL);
    kept_close(&x);
    kept_open(&x, folder_path("a/b/c"), 0); /* another process */
    assert_int_equal(kept_find(&x, "two", KEPT_BYTES), 2);
    kept_expect_said(&x, NULL);
    kept_close(&x);
}

/* Puts SIZE bytes in place of the file of "one": it is damaged, which is said, and replaced. */
static void expect_damaged(const char *path, const void *data, size_t size, const char *text) {
    kept_cache x;
    const int file = open(path, O_WRONLY | O_TRUNC);
    assert_true(file >= 0);
    assert_int_equal(write(file, data, size), size);
    close(file);
    kept_open(&x, folder_path("c"), 0);
    if (kept_find(&x, "one", KEPT_BYTES) != -1) fail_msg("a damaged file of %zu bytes was found", size);
    kept_expect_said(&x, text);
    kept_put(&x, "one", 7, KEPT_BYTES);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), 7);
    kept_expect_said(&x, text);
    kept_close(&x);
}

static void every_flipped_byte_and_every_cut_is_seen(void **state) {
    (void)state;
    kept_cache x;
    char path[KEPT_PATH], other[KEPT_PATH];
    unsigned char whole[KEPT_HEAD + KEPT_BYTES + 1] = {0}, damaged[sizeof whole];
    mst_file_replace_fault(saving_without_sync);
    kept_open(&x, folder_path("c"), 0);
    kept_put(&x, "one", 7, KEPT_BYTES);
    kept_put(&x, "two", 8, KEPT_BYTES);
    kept_path("c", "one", path);
    const int file = open(path, O_RDONLY);
    assert_int_equal(read(file, whole, sizeof whole), KEPT_HEAD + KEPT_BYTES);
    close(file);
    for (size_t i = 0; i < KEPT_HEAD + KEPT_BYTES; i++)
        for (int bit = 0; bit < 8; bit += i < KEPT_HEAD ? 1 : 7) {
            memcpy(damaged, whole, sizeof whole);
            damaged[i] ^= (unsigned char)(1 << bit);
            expect_damaged(path, damaged, KEPT_HEAD + KEPT_BYTES,
                           i < 12                ? "does not begin as such files do"
                           : i < 16              ? "another version has written it"
                           : i < 24              ? "its size is wrong"
                           : i < KEPT_HEAD - 32u ? "it is that of another program"
                                                 : "do not have the hash");
        }
    for (size_t size = 0; size < KEPT_HEAD + KEPT_BYTES; size++)
        expect_damaged(path, whole, size,
                       size < 12          ? "does not begin as such files do"
                       : size < KEPT_HEAD ? "it is too short"
                                          : "its size is wrong");
    expect_damaged(path, whole, KEPT_HEAD + KEPT_BYTES + 1, "its size is wrong");
    kept_path("c", "two", other);
    assert_int_equal(rename(other, path), 0); /* a good file under the name of another */
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    kept_expect_said(&x, "it is that of another program: the program is compiled anew, and the file replaced");
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1); /* once */
    kept_expect_said(&x, "another program");
    mst_file_replace_fault(NULL);
    kept_close(&x);
}

/* ---- the bound ---- */

static void those_used_least_recently_leave(void **state) {
    (void)state;
    static const char *const texts[] = {"0", "1", "2", "3"};
    kept_cache x;
    char path[KEPT_PATH];
    kept_open(&x, folder_path("c"), 4 * (KEPT_HEAD + KEPT_BYTES));
    for (int i = 0; i < 4; i++) {
        kept_put(&x, texts[i], i, KEPT_BYTES);
        kept_path("c", texts[i], path);
        kept_set_used(path, 1000 + i);
    }
    for (int i = 3; i >= 0; i--) assert_int_equal(kept_find(&x, texts[i], KEPT_BYTES), i); /* all are used now */
    const int order[] = {2, 0, 3, 1};
    for (int i = 0; i < 4; i++) {
        kept_path("c", texts[order[i]], path);
        kept_set_used(path, 1000 + i);
    }
    assert_int_equal(kept_find(&x, "2", KEPT_BYTES), 2); /* the oldest becomes the newest */
    kept_put(&x, "4", 4, KEPT_BYTES);
    assert_int_equal(kept_find(&x, "0", KEPT_BYTES), -1);
    kept_put(&x, "5", 5, KEPT_BYTES + 1); /* one byte too much: two leave */
    assert_int_equal(kept_find(&x, "3", KEPT_BYTES), -1);
    assert_int_equal(kept_find(&x, "1", KEPT_BYTES), -1);
    assert_int_equal(kept_find(&x, "2", KEPT_BYTES), 2);
    assert_int_equal(kept_find(&x, "4", KEPT_BYTES), 4);
    assert_int_equal(kept_find(&x, "5", KEPT_BYTES + 1), 5);
    kept_put(&x, "5", 6, 3 * KEPT_BYTES); /* it is not counted twice, so only one has to leave */
    assert_int_equal(kept_count(folder_path("c"), NULL), 2);
    kept_expect_said(&x, NULL);
    kept_put(&x, "6", 6, 4 * (KEPT_HEAD + KEPT_BYTES) - KEPT_HEAD); /* it fills the cache */
    assert_int_equal(kept_find(&x, "6", 4 * (KEPT_HEAD + KEPT_BYTES) - KEPT_HEAD), 6);
    assert_int_equal(kept_count(folder_path("c"), NULL), 1);
    kept_expect_said(&x, NULL);
    kept_put(&x, "7", 7, 4 * (KEPT_HEAD + KEPT_BYTES) - KEPT_HEAD + 1);
    assert_int_equal(kept_count(folder_path("c"), NULL), 1);
    kept_expect_said(&x, "is larger than the cache may be, 752 bytes");
    kept_close(&x);
    kept_open(&x, folder_path("c"), 1);
    kept_put(&x, "0", 0, 0);
    kept_expect_said(&x, "is larger than the cache may be");
    kept_close(&x);
    kept_open(&x, folder_path("c"), KEPT_HEAD + KEPT_BYTES); /* a smaller limit than that of the process before */
    assert_int_equal(kept_find(&x, "6", 4 * (KEPT_HEAD + KEPT_BYTES) - KEPT_HEAD), -1);
    kept_expect_said(&x, "larger than the whole cache");
    kept_close(&x);
}

/* Another process uses an executable after this one has listed it. */
static char used_meanwhile[KEPT_PATH];
static int use_meanwhile(mst_file_call call, size_t *size) {
    (void)size;
    if (call == MST_FILE_WRITE) kept_set_used(used_meanwhile, 2000);
    return 0;
}

static void executable_that_is_used_meanwhile_stays(void **state) {
    (void)state;
    kept_cache x;
    kept_open(&x, folder_path("c"), 2 * (KEPT_HEAD + KEPT_BYTES));
    kept_put(&x, "0", 0, KEPT_BYTES);
    kept_put(&x, "1", 1, KEPT_BYTES);
    kept_path("c", "0", used_meanwhile);
    kept_set_used(used_meanwhile, 1000);
    mst_file_replace_fault(use_meanwhile);
    kept_put(&x, "2", 2, KEPT_BYTES);
    mst_file_replace_fault(NULL);
    assert_int_equal(kept_find(&x, "0", KEPT_BYTES), 0);
    kept_put(&x, "3", 3, KEPT_BYTES); /* is within the bound again */
    assert_int_equal(kept_count(folder_path("c"), NULL), 2);
    kept_expect_said(&x, NULL);
    kept_close(&x);
}

static void only_files_of_the_cache_leave(void **state) {
    (void)state;
    enum { COUNT = 7, OTHER = 65534 };
    kept_cache x;
    char path[COUNT][KEPT_PATH], ours[KEPT_PATH];
    kept_open(&x, folder_path("c"), KEPT_HEAD + KEPT_BYTES);
    kept_put(&x, "one", 1, KEPT_BYTES);
    kept_path("c", "one", ours);
    kept_path("c", "other magic", path[0]);
    kept_path("c", "link", path[1]);
    kept_path("c", "folder", path[2]);
    kept_path("c", "pipe", path[3]);
    snprintf(path[4], KEPT_PATH, "%s", folder_path("c/weights.npz"));
    snprintf(path[5], KEPT_PATH, "%s", folder_path("c/.muster-0123456789abc")); /* of a checkpoint, half written */
    kept_path("c", "another user's", path[6]);
    char command[4 * KEPT_PATH];
    snprintf(command, sizeof command, "tee '%s' '%s' '%s' < '%s' > /dev/null", folder_path("target"), path[4], path[6],
             ours);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "printf 'muster-exeC\\nand so on' | tee '%s' > '%s'", path[0], path[5]);
    assert_int_equal(system(command), 0);
    if (geteuid() != 0)
        assert_int_equal(unlink(path[6]), 0); /* there are no two users */
    else
        assert_int_equal(chown(path[6], OTHER, OTHER), 0);
    assert_int_equal(symlink(folder_path("target"), path[1]), 0);
    assert_int_equal(mkdir(path[2], 0700), 0);
    assert_int_equal(mkfifo(path[3], 0600), 0);
    const int count = geteuid() == 0 ? COUNT : COUNT - 1;
    for (int i = 0; i < count; i++) kept_set_used(path[i], 1000);
    kept_set_used(folder_path("target"), 1000);
    kept_put(&x, "two", 2, KEPT_BYTES);
    assert_false(kept_is_there(ours));
    for (int i = 0; i < count; i++)
        if (!kept_is_there(path[i])) fail_msg("%s was removed", path[i]);
    assert_true(kept_is_there(folder_path("target")));
    kept_expect_said(&x, NULL);
    /* they are neither found nor in the way */
    assert_int_equal(kept_find(&x, "link", KEPT_BYTES), -1);
    kept_expect_said(&x, "is a symbolic link: remove it");
    assert_int_equal(kept_find(&x, "folder", KEPT_BYTES), -1);
    assert_int_equal(kept_find(&x, "pipe", KEPT_BYTES), -1);
    kept_put(&x, "link", 3, KEPT_BYTES);
    assert_int_equal(kept_find(&x, "link", KEPT_BYTES), 3);
    kept_put(&x, "pipe", 4, KEPT_BYTES);
    assert_int_equal(kept_find(&x, "pipe", KEPT_BYTES), 4);
    assert_true(kept_is_there(folder_path("target")));
    kept_expect_said(&x, "is a symbolic link: remove it");
    kept_close(&x);
    kept_open(&x, folder_path("c"), KEPT_HEAD + KEPT_BYTES);
    assert_int_equal(kept_find(&x, "folder", KEPT_BYTES), -1);
    kept_expect_said(&x, "is no file: remove it");
    kept_close(&x);
    kept_open(&x, folder_path("c"), KEPT_HEAD + KEPT_BYTES);
    kept_put(&x, "folder", 5, KEPT_BYTES);
    kept_expect_said(&x, "Is a directory: remove it, or name another: compiled programs are not kept");
    kept_close(&x);
}

/* ---- places ---- */

static void folder_is_that_of_the_environment_if_none_is_given(void **state) {
    (void)state;
    kept_cache x;
    assert_int_equal(mkdir(folder_path("home"), 0755), 0);
    kept_set_places("not/absolute", folder_path("home"));
    kept_open(&x, NULL, 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    assert_int_equal(kept_count(folder_path("home/.cache/muster/executables"), NULL), 1);
    assert_int_equal(kept_mode(folder_path("home/.cache/muster")), 0700);
    kept_expect_said(&x, NULL);
    kept_close(&x);
    char none[KEPT_PATH];
    snprintf(none, sizeof none, "%s", folder_path("none"));
    const char *const homes[] = {NULL, "", "relative", none};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        kept_set_places(NULL, homes[i]);
        kept_open(&x, NULL, 0);
        assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
        kept_put(&x, "one", 1, KEPT_BYTES);
        kept_expect_said(
            &x, "there is no folder for compiled programs: set XDG_CACHE_HOME to one, or give --compile-cache");
        kept_close(&x);
        kept_open(&x, folder_path("given"), 0); /* not needed then */
        kept_put(&x, "one", 1, KEPT_BYTES);
        kept_expect_said(&x, NULL);
        kept_close(&x);
    }
    assert_false(kept_is_there(none));
}

static void off_finds_and_keeps_nothing(void **state) {
    (void)state;
    kept_cache x;
    kept_set_places(folder_path("cache"), folder_path(""));
    kept_open(&x, "off", 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    kept_expect_said(&x, NULL);
    assert_int_equal(kept_count(folder_path(""), NULL), 0);
    kept_close(&x);
}

static void relative_folder_is_where_the_process_was(void **state) {
    (void)state;
    kept_cache x;
    char before[KEPT_PATH];
    mst_executable_cache *cache = NULL;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder_path("")), 0);
    kept_open(&x, "./c", 0);
    assert_int_equal(chdir("/"), 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    assert_int_equal(kept_count(folder_path("c"), NULL), 1);
    kept_expect_said(&x, NULL);
    kept_close(&x);
    assert_int_equal(mkdir(folder_path("gone"), 0700), 0);
    assert_int_equal(chdir(folder_path("gone")), 0);
    assert_int_equal(rmdir(folder_path("gone")), 0);
    EXPECT_ERROR(mst_executable_cache_open("c", 0, NULL, &cache), MST_IO, "the current folder is not known");
    assert_null(cache);
    EXPECT_ERROR(mst_executable_cache_open("/c", -1, NULL, &cache), MST_INVALID, "the limit is negative");
    assert_int_equal(chdir(before), 0);
}

static void file_in_place_of_a_folder_is_named(void **state) {
    (void)state;
    static const char *const names[] = {"c", "c/d", "c/d/e"};
    static const char *const said[] = {"/c' is a file, where a folder is needed: remove it",
                                       "/c' is a file, where a folder is needed: name another",
                                       "/c/d': a part of the path is a file: name another"};
    kept_cache x;
    folder_write_text("c", "a file");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kept_open(&x, folder_path(names[i]), 0);
        assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
        assert_true(x.size > 0); /* which is not the same as a folder that is not there */
        kept_put(&x, "one", 1, KEPT_BYTES);
        kept_expect_said(&x, said[i]);
        kept_close(&x);
    }
    kept_open(&x, "/", 0); /* others can use it */
    kept_put(&x, "one", 1, KEPT_BYTES);
    kept_expect_said(&x, "");
    kept_close(&x);
}

static void folder_that_is_removed_is_made_again(void **state) {
    (void)state;
    kept_cache x;
    char command[KEPT_PATH];
    kept_open(&x, folder_path("c"), 0);
    kept_put(&x, "one", 1, KEPT_BYTES);
    snprintf(command, sizeof command, "rm -r '%s'", folder_path("c"));
    assert_int_equal(system(command), 0);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), -1);
    kept_put(&x, "one", 2, KEPT_BYTES);
    assert_int_equal(kept_find(&x, "one", KEPT_BYTES), 2);
    kept_expect_said(&x, NULL);
    kept_close(&x);
}

/* ---- the cache of the process ---- */

static atomic_bool stop;
static void *use_cache(void *context) {
    int *wrong = context;
    while (!atomic_load(&stop)) {
        mst_executable_key key;
        void *data;
        size_t size;
        mst_executable_key_make(&(mst_executable_source){"text", "", 0, "plugin", "kind"}, &key);
        mst_executable_keep(&key, "executable", 10);
        if (mst_executable_find(&key, &data, &size)) *wrong += size != 10 || memcmp(data, "executable", 10) != 0;
        free(data);
    }
    return NULL;
}

static void cache_of_the_process_can_be_changed_while_it_is_used(void **state) {
    (void)state;
    enum { THREADS = 3, CHANGES = 100 };
    pthread_t thread[THREADS];
    int wrong[THREADS] = {0};
    mst_executable_key key;
    void *data;
    size_t size;
    kept_set_places(folder_path("default"), NULL);
    mst_executable_key_make(&(mst_executable_source){"text", "", 0, "plugin", "kind"}, &key);
    assert_false(mst_executable_find(&key, &data, &size));
    assert_null(data);
    mst_executable_keep(&key, "default", 7);
    assert_true(mst_executable_find(&key, &data, &size));
    assert_int_equal(size, 7);
    free(data);
    assert_int_equal(kept_count(folder_path("default/muster/executables"), NULL), 1);
    EXPECT_ERROR(mst_compile_cache_set("/x", -1, NULL), MST_INVALID, "the limit is negative");
    EXPECT_OK(mst_compile_cache_set(folder_path("a"), 0, NULL));
    mst_file_replace_fault(saving_without_sync);
    assert_false(mst_executable_find(&key, &data, &size));
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, use_cache, &wrong[i]), 0);
    for (int i = 0; i < CHANGES; i++) EXPECT_OK(mst_compile_cache_set(folder_path(i % 2 ? "a" : "b"), 0, NULL));
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
    mst_file_replace_fault(NULL);
    EXPECT_OK(mst_compile_cache_set("off", 0, NULL));
    assert_false(mst_executable_find(&key, &data, &size));
}

static void folder_is_described_and_nothing_is_left_in_it(void **state) {
    (void)state;
    mst_compile_cache_info info;
    mst_executable_key key;
    FILE *file;
    EXPECT_OK(mst_compile_cache_set("off", 0, NULL));
    EXPECT_OK(mst_compile_cache_describe(&info));
    assert_string_equal(info.folder, "");
    EXPECT_OK(mst_compile_cache_set(folder_path("d/e"), 1 << 20, NULL));
    EXPECT_OK(mst_compile_cache_describe(&info));
    assert_string_equal(info.folder, folder_path("d/e"));
    assert_false(info.is_made);
    assert_int_equal(access(folder_path("d"), F_OK), -1);
    mst_executable_key_make(&(mst_executable_source){"text", "", 0, "plugin", "kind"}, &key);
    mst_executable_keep(&key, "1234567", 7);
    EXPECT_OK(mst_compile_cache_describe(&info));
    assert_true(info.is_made);
    assert_int_equal(info.num_programs, 1);
    assert_in_range(info.bytes, 7, 200);
    assert_int_equal(info.limit, 1 << 20);
    assert_int_equal(kept_count(folder_path("d/e"), NULL), 1);
    assert_int_equal(chmod(folder_path("d/e"), 0755), 0);
    EXPECT_ERROR(mst_compile_cache_describe(&info), MST_INVALID, "can be used by others: run 'chmod 700");
    assert_non_null(file = fopen(folder_path("file"), "w"));
    fclose(file);
    EXPECT_OK(mst_compile_cache_set(folder_path("file/d"), 0, NULL));
    assert_int_not_equal(mst_compile_cache_describe(&info), MST_OK);
    EXPECT_OK(mst_compile_cache_set("off", 0, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_depends_on_each_part_and_on_where_it_ends),
        TEST_IN_FOLDER(what_was_kept_is_found_by_its_key_alone),
        TEST_IN_FOLDER(every_flipped_byte_and_every_cut_is_seen),
        TEST_IN_FOLDER(those_used_least_recently_leave),
        TEST_IN_FOLDER(executable_that_is_used_meanwhile_stays),
        TEST_IN_FOLDER(only_files_of_the_cache_leave),
        TEST_IN_FOLDER(folder_is_that_of_the_environment_if_none_is_given),
        TEST_IN_FOLDER(off_finds_and_keeps_nothing),
        TEST_IN_FOLDER(relative_folder_is_where_the_process_was),
        TEST_IN_FOLDER(file_in_place_of_a_folder_is_named),
        TEST_IN_FOLDER(folder_that_is_removed_is_made_again),
        TEST_IN_FOLDER(cache_of_the_process_can_be_changed_while_it_is_used),
        TEST_IN_FOLDER(folder_is_described_and_nothing_is_left_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
