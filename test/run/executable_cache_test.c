/* Executables on disk: damaged files, processes that write at once or are killed, the bound, and folders and files that
 * others could have written. */
#include "run/executable_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "muster/compile_cache.h"
#include "run/backend.h"
#include "support/folder.h"
#include "support/test.h"

enum { OTHER = 65534, HEAD = 88, BYTES = 100, PATH = 700 };

/* ---- a cache, and the lines that it has written ---- */

typedef struct logged {
    mst_executable_cache *cache;
    FILE *file;
    char *text;
    size_t size;
} logged;

static void begin(logged *x, const char *folder, int64_t limit) {
    x->text = NULL;
    assert_non_null(x->file = open_memstream(&x->text, &x->size));
    EXPECT_OK(mst_executable_cache_open(folder, limit, x->file, &x->cache));
    fflush(x->file);
}

static void end(logged *x) {
    mst_executable_cache_close(x->cache);
    fclose(x->file);
    free(x->text);
}

/* The log is one warning with TEXT in it; NULL: it is empty. */
static void expect_said(const logged *x, const char *text) {
    const char *newline = strchr(x->text, '\n');
    if (!text && x->size) fail_msg("said: %s", x->text);
    if (!text) return;
    if (strncmp(x->text, "warning: ", 9) != 0 || !newline || newline[1] || !strstr(x->text, text))
        fail_msg("'%s' is not in one line in '%s'", text, x->text);
}

/* The key of a text. */
static mst_executable_key key_of(const char *text) {
    mst_executable_key key;
    mst_executable_key_make(&(mst_executable_source){text, "options", 7, "plugin 1.0", "kind"}, &key);
    return key;
}

/* The path of the file of TEXT in the folder NAME of the test. */
static void file_of(const char *name, const char *text, char path[PATH]) {
    char digits[MST_EXECUTABLE_KEY_TEXT];
    const mst_executable_key key = key_of(text);
    snprintf(path, PATH, "%s/%s.executable", folder_path(name), mst_executable_key_print(&key, digits));
}

/* Keeps SIZE bytes FILL. */
static void keep(const logged *x, const char *text, int fill, size_t size) {
    const mst_executable_key key = key_of(text);
    char *data = malloc(size + 1);
    assert_non_null(data);
    memset(data, fill, size);
    mst_executable_cache_keep(x->cache, &key, data, size);
    free(data);
}

/* The byte that all bytes of the executable of TEXT are, of which there are SIZE; -1: there is no executable. */
static int find(const logged *x, const char *text, size_t size) {
    const mst_executable_key key = key_of(text);
    void *data = &data;
    size_t got = 1;
    const bool found = mst_executable_cache_find(x->cache, &key, &data, &got);
    if (!found && (data || got)) return -2;
    if (!found) return -1;
    int fill = got == size && size ? *(unsigned char *)data : -3;
    for (size_t i = 0; i < got; i++)
        if (((unsigned char *)data)[i] != fill) fill = -4;
    free(data);
    return fill;
}

static bool is_there(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

static int count_files(const char *folder, bool (*is)(const char *name)) {
    DIR *list = opendir(folder);
    int count = 0;
    assert_non_null(list);
    for (const struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 (!is || is(entry->d_name));
    closedir(list);
    return count;
}

static mode_t mode_of(const char *path) {
    struct stat info;
    return lstat(path, &info) ? 0 : info.st_mode & 07777;
}

static void set_used(const char *path, time_t seconds) {
    const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* Thousands of files are written; that they are synced is tested elsewhere. */
static int skip_syncs(mst_file_call call, size_t *size) {
    (void)size;
    return call == MST_FILE_SYNC ? -1 : 0;
}

static void set_places(const char *cache, const char *home) {
    if (cache)
        setenv("XDG_CACHE_HOME", cache, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    if (home)
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
}

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
    logged x;
    char path[PATH];
    begin(&x, folder_path("a/b/c//"), 0);
    assert_int_equal(find(&x, "one", BYTES), -1);
    assert_false(is_there(folder_path("a"))); /* finding makes nothing */
    keep(&x, "one", 1, BYTES);
    keep(&x, "two", 2, BYTES);
    assert_int_equal(find(&x, "one", BYTES), 1);
    assert_int_equal(find(&x, "two", BYTES), 2);
    assert_int_equal(find(&x, "three", BYTES), -1);
    keep(&x, "one", 3, 2 * BYTES);
    assert_int_equal(find(&x, "one", 2 * BYTES), 3);
    keep(&x, "empty", 0, 0);
    const mst_executable_key empty = key_of("empty");
    void *data;
    size_t size = 1;
    assert_true(mst_executable_cache_find(x.cache, &empty, &data, &size));
    assert_int_equal(size, 0);
    free(data);
    file_of("a/b/c", "one", path);
    assert_int_equal(mode_of(path), 0600);
    assert_int_equal(mode_of(folder_path("a/b/c")), 0700);
    assert_int_equal(mode_of(folder_path("a")), 0700);
    assert_int_equal(count_files(folder_path("a/b/c"), NULL), 3);
    expect_said(&x, NULL);
    end(&x);
    begin(&x, folder_path("a/b/c"), 0); /* another process */
    assert_int_equal(find(&x, "two", BYTES), 2);
    expect_said(&x, NULL);
    end(&x);
}

/* Puts SIZE bytes in place of the file of "one": it is damaged, which is said, and replaced. */
static void expect_damaged(const char *path, const void *data, size_t size, const char *text) {
    logged x;
    const int file = open(path, O_WRONLY | O_TRUNC);
    assert_true(file >= 0);
    assert_int_equal(write(file, data, size), size);
    close(file);
    begin(&x, folder_path("c"), 0);
    if (find(&x, "one", BYTES) != -1) fail_msg("a damaged file of %zu bytes was found", size);
    expect_said(&x, text);
    keep(&x, "one", 7, BYTES);
    assert_int_equal(find(&x, "one", BYTES), 7);
    expect_said(&x, text);
    end(&x);
}

static void every_flipped_byte_and_every_cut_is_seen(void **state) {
    (void)state;
    logged x;
    char path[PATH], other[PATH];
    unsigned char whole[HEAD + BYTES + 1] = {0}, damaged[sizeof whole];
    mst_file_replace_fault(skip_syncs);
    begin(&x, folder_path("c"), 0);
    keep(&x, "one", 7, BYTES);
    keep(&x, "two", 8, BYTES);
    file_of("c", "one", path);
    const int file = open(path, O_RDONLY);
    assert_int_equal(read(file, whole, sizeof whole), HEAD + BYTES);
    close(file);
    for (size_t i = 0; i < HEAD + BYTES; i++)
        for (int bit = 0; bit < 8; bit += i < HEAD ? 1 : 7) {
            memcpy(damaged, whole, sizeof whole);
            damaged[i] ^= (unsigned char)(1 << bit);
            expect_damaged(path, damaged, HEAD + BYTES,
                           i < 12           ? "does not begin as such files do"
                           : i < 16         ? "another version has written it"
                           : i < 24         ? "its size is wrong"
                           : i < HEAD - 32u ? "it is that of another program"
                                            : "do not have the hash");
        }
    for (size_t size = 0; size < HEAD + BYTES; size++)
        expect_damaged(path, whole, size,
                       size < 12     ? "does not begin as such files do"
                       : size < HEAD ? "it is too short"
                                     : "its size is wrong");
    expect_damaged(path, whole, HEAD + BYTES + 1, "its size is wrong");
    file_of("c", "two", other);
    assert_int_equal(rename(other, path), 0); /* a good file under the name of another */
    assert_int_equal(find(&x, "one", BYTES), -1);
    expect_said(&x, "it is that of another program: the program is compiled anew, and the file replaced");
    assert_int_equal(find(&x, "one", BYTES), -1); /* once */
    expect_said(&x, "another program");
    mst_file_replace_fault(NULL);
    end(&x);
}

/* ---- the bound ---- */

static void those_used_least_recently_leave(void **state) {
    (void)state;
    static const char *const texts[] = {"0", "1", "2", "3"};
    logged x;
    char path[PATH];
    begin(&x, folder_path("c"), 4 * (HEAD + BYTES));
    for (int i = 0; i < 4; i++) {
        keep(&x, texts[i], i, BYTES);
        file_of("c", texts[i], path);
        set_used(path, 1000 + i);
    }
    for (int i = 3; i >= 0; i--) assert_int_equal(find(&x, texts[i], BYTES), i); /* all are used now */
    const int order[] = {2, 0, 3, 1};
    for (int i = 0; i < 4; i++) {
        file_of("c", texts[order[i]], path);
        set_used(path, 1000 + i);
    }
    assert_int_equal(find(&x, "2", BYTES), 2); /* the oldest becomes the newest */
    keep(&x, "4", 4, BYTES);
    assert_int_equal(find(&x, "0", BYTES), -1);
    keep(&x, "5", 5, BYTES + 1); /* one byte too much: two leave */
    assert_int_equal(find(&x, "3", BYTES), -1);
    assert_int_equal(find(&x, "1", BYTES), -1);
    assert_int_equal(find(&x, "2", BYTES), 2);
    assert_int_equal(find(&x, "4", BYTES), 4);
    assert_int_equal(find(&x, "5", BYTES + 1), 5);
    keep(&x, "5", 6, 3 * BYTES); /* it is not counted twice, so only one has to leave */
    assert_int_equal(count_files(folder_path("c"), NULL), 2);
    expect_said(&x, NULL);
    keep(&x, "6", 6, 4 * (HEAD + BYTES) - HEAD); /* it fills the cache */
    assert_int_equal(find(&x, "6", 4 * (HEAD + BYTES) - HEAD), 6);
    assert_int_equal(count_files(folder_path("c"), NULL), 1);
    expect_said(&x, NULL);
    keep(&x, "7", 7, 4 * (HEAD + BYTES) - HEAD + 1);
    assert_int_equal(count_files(folder_path("c"), NULL), 1);
    expect_said(&x, "is larger than the cache may be, 752 bytes");
    end(&x);
    begin(&x, folder_path("c"), 1);
    keep(&x, "0", 0, 0);
    expect_said(&x, "is larger than the cache may be");
    end(&x);
    begin(&x, folder_path("c"), HEAD + BYTES); /* a smaller limit than that of the process before */
    assert_int_equal(find(&x, "6", 4 * (HEAD + BYTES) - HEAD), -1);
    expect_said(&x, "larger than the whole cache");
    end(&x);
}

static void only_files_of_the_cache_leave(void **state) {
    (void)state;
    enum { COUNT = 6 };
    logged x;
    char path[COUNT][PATH], ours[PATH];
    begin(&x, folder_path("c"), HEAD + BYTES);
    keep(&x, "one", 1, BYTES);
    file_of("c", "one", ours);
    file_of("c", "other magic", path[0]);
    file_of("c", "link", path[1]);
    file_of("c", "folder", path[2]);
    file_of("c", "pipe", path[3]);
    snprintf(path[4], PATH, "%s", folder_path("c/weights.npz"));
    snprintf(path[5], PATH, "%s", folder_path("c/.muster-0123456789abc")); /* of a checkpoint, half written */
    char command[3 * PATH];
    snprintf(command, sizeof command, "cp '%s' '%s'; cp '%s' '%s'", ours, folder_path("target"), ours, path[4]);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "printf 'muster-exeC\\nand so on' | tee '%s' > '%s'", path[0], path[5]);
    assert_int_equal(system(command), 0);
    assert_int_equal(symlink(folder_path("target"), path[1]), 0);
    assert_int_equal(mkdir(path[2], 0700), 0);
    assert_int_equal(mkfifo(path[3], 0600), 0);
    for (int i = 0; i < COUNT; i++) set_used(path[i], 1000);
    set_used(folder_path("target"), 1000);
    keep(&x, "two", 2, BYTES);
    assert_false(is_there(ours));
    for (int i = 0; i < COUNT; i++)
        if (!is_there(path[i])) fail_msg("%s was removed", path[i]);
    assert_true(is_there(folder_path("target")));
    expect_said(&x, NULL);
    /* they are neither found nor in the way */
    assert_int_equal(find(&x, "link", BYTES), -1);
    expect_said(&x, "is a symbolic link: remove it");
    assert_int_equal(find(&x, "folder", BYTES), -1);
    assert_int_equal(find(&x, "pipe", BYTES), -1);
    keep(&x, "link", 3, BYTES);
    assert_int_equal(find(&x, "link", BYTES), 3);
    keep(&x, "pipe", 4, BYTES);
    assert_int_equal(find(&x, "pipe", BYTES), 4);
    assert_true(is_there(folder_path("target")));
    expect_said(&x, "is a symbolic link: remove it");
    end(&x);
    begin(&x, folder_path("c"), HEAD + BYTES);
    assert_int_equal(find(&x, "folder", BYTES), -1);
    expect_said(&x, "is no file: remove it");
    end(&x);
    begin(&x, folder_path("c"), HEAD + BYTES);
    keep(&x, "folder", 5, BYTES);
    expect_said(&x, "cannot be written: Is a directory: compiled programs are not kept");
    end(&x);
}

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
    logged x;
    char own[32];
    mst_file_replace_fault(skip_syncs);
    begin(&x, folder, 0);
    for (int i = 0; i < ROUNDS; i++) {
        const size_t size = LARGE + (size_t)(i % 3);
        snprintf(own, sizeof own, "own %d %d", number, i % 5);
        keep(&x, "shared", number, LARGE);
        keep(&x, own, number, size);
        if (find(&x, own, size) != number || find(&x, "shared", LARGE) < 0) return 1;
    }
    const int said = x.size > 0;
    end(&x);
    return said;
}

static void processes_write_the_same_and_different_keys_at_once(void **state) {
    (void)state;
    enum { PROCESSES = 6 };
    char path[PATH];
    snprintf(path, sizeof path, "%s", folder_path("c"));
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) _exit(write_and_read(i, path));
    expect_children_succeed(PROCESSES);
    assert_int_equal(count_files(path, mst_file_is_side_name), 0);
    assert_int_equal(count_files(path, NULL), 1 + 5 * PROCESSES);
}

/* The same where there is room for two only: what is found is whole, what is not has left. */
static int write_in_little_room(int number, const char *folder) {
    enum { ROUNDS = 100 };
    logged x;
    mst_file_replace_fault(skip_syncs);
    begin(&x, folder, 2 * (HEAD + BYTES));
    for (int i = 0; i < ROUNDS; i++) {
        const char text[] = {(char)('a' + (number + i) % 7), '\0'};
        keep(&x, text, text[0], BYTES);
        const int found = find(&x, text, BYTES);
        if (found != -1 && found != text[0]) return 1;
    }
    const int said = x.size > 0;
    end(&x);
    return said;
}

static void processes_that_make_room_at_once_do_not_disturb_each_other(void **state) {
    (void)state;
    enum { PROCESSES = 4 };
    char path[PATH];
    logged x;
    snprintf(path, sizeof path, "%s", folder_path("c"));
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) _exit(write_in_little_room(i, path));
    expect_children_succeed(PROCESSES);
    begin(&x, path, 2 * (HEAD + BYTES));
    keep(&x, "last", 1, BYTES);
    expect_said(&x, NULL);
    assert_in_range(count_files(path, NULL), 1, 2);
    assert_int_equal(count_files(path, mst_file_is_side_name), 0);
    end(&x);
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
    logged x;
    char path[PATH], folder[PATH];
    int old = 0, left = 0, number = 1, status = 0;
    snprintf(folder, sizeof folder, "%s", folder_path("c"));
    file_of("c", "one", path);
    for (; number < MOST; number++) {
        begin(&x, folder, 0);
        keep(&x, "one", 1, SIZE);
        expect_said(&x, NULL);
        /* what the process before had written was removed */
        assert_int_equal(count_files(folder, NULL), 1);
        const pid_t child = fork();
        if (child == 0) {
            kill_at = number;
            mst_file_replace_fault(kill_here);
            keep(&x, "one", 2, SIZE);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) break;
        left += count_files(folder, mst_file_is_side_name);
        const int found = find(&x, "one", SIZE);
        assert_in_range(found, 1, 2);
        old += found == 1;
        expect_said(&x, NULL);
        end(&x);
    }
    assert_int_equal(status, 0);
    assert_int_equal(find(&x, "one", SIZE), 2);
    end(&x);
    assert_in_range(number, 6, MOST - 1); /* create, two writes, sync, rename, sync of the folder */
    assert_true(old >= 4);
    assert_true(left >= 3);
}

static void file_that_is_being_written_stays(void **state) {
    (void)state;
    logged x;
    mst_folder folder;
    mst_file file;
    char path[PATH];
    begin(&x, folder_path("c"), 0);
    keep(&x, "one", 1, BYTES);
    EXPECT_OK(mst_folder_open(folder_path("c"), &folder));
    EXPECT_OK(mst_file_create_private_in(&folder, "x", &file));
    EXPECT_OK(mst_file_append(&file, "muster-exec\n", 12));
    snprintf(path, sizeof path, "%s/%s", folder_path("c"), file.side);
    assert_int_equal(mode_of(path), 0600);
    keep(&x, "two", 1, BYTES);
    assert_true(is_there(path));
    EXPECT_OK(mst_file_commit(&file));
    mst_folder_close(&folder);
    expect_said(&x, NULL);
    end(&x);
}

/* ---- folders and files that are not this user's alone ---- */

static void what_others_can_use_is_refused(void **state) {
    (void)state;
    logged x;
    char path[PATH];
    begin(&x, folder_path("c"), 0);
    keep(&x, "one", 1, BYTES);
    file_of("c", "one", path);
    static const mode_t modes[] = {0755, 0770, 0702, 0710};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        logged y;
        assert_int_equal(chmod(folder_path("c"), modes[i]), 0);
        begin(&y, folder_path("c"), 0);
        assert_int_equal(find(&y, "one", BYTES), -1);
        keep(&y, "two", 2, BYTES);
        expect_said(&y, "can be used by others: run 'chmod 700 ");
        end(&y);
    }
    assert_int_equal(count_files(folder_path("c"), NULL), 1);
    assert_int_equal(chmod(folder_path("c"), 0700), 0);
    expect_said(&x, NULL);
    assert_int_equal(chmod(path, 0620), 0);
    assert_int_equal(find(&x, "one", BYTES), -1);
    expect_said(&x, "can be used by others: run 'chmod 600 ");
    keep(&x, "one", 3, BYTES); /* it is replaced by a file of this user alone */
    assert_int_equal(mode_of(path), 0600);
    assert_int_equal(find(&x, "one", BYTES), 3);
    end(&x);
}

static void what_belongs_to_another_user_is_refused(void **state) {
    (void)state;
    if (geteuid() != 0) skip();
    logged x;
    char path[PATH];
    begin(&x, folder_path("c"), 1);
    end(&x);
    begin(&x, folder_path("c"), 0);
    keep(&x, "one", 1, BYTES);
    file_of("c", "one", path);
    assert_int_equal(chown(path, OTHER, OTHER), 0);
    assert_int_equal(find(&x, "one", BYTES), -1);
    expect_said(&x, "belongs to user 65534, not to you: remove it: the program is compiled anew");
    keep(&x, "one", 2, BYTES);
    assert_int_equal(find(&x, "one", BYTES), 2);
    end(&x);
    assert_int_equal(chown(folder_path("c"), OTHER, OTHER), 0);
    begin(&x, folder_path("c"), 0);
    assert_int_equal(find(&x, "one", BYTES), -1);
    keep(&x, "two", 2, BYTES);
    expect_said(&x,
                "belongs to user 65534, not to you: name one of your own with --compile-cache, or set XDG_CACHE_HOME");
    assert_int_equal(count_files(folder_path("c"), NULL), 1);
    end(&x);
}

static void links_to_the_folder_are_not_followed(void **state) {
    (void)state;
    logged x;
    assert_int_equal(mkdir(folder_path("target"), 0700), 0);
    assert_int_equal(symlink("target", folder_path("c")), 0);
    begin(&x, folder_path("c/"), 0);
    assert_int_equal(find(&x, "one", BYTES), -1);
    keep(&x, "one", 1, BYTES);
    expect_said(&x, "/c' is a symbolic link, where a folder is needed: remove it");
    end(&x);
    assert_int_equal(symlink("nowhere", folder_path("d")), 0);
    begin(&x, folder_path("d"), 0);
    keep(&x, "one", 1, BYTES);
    expect_said(&x, "/d' is a symbolic link");
    end(&x);
    /* in the default place: the last two names may be no links, those before may */
    set_places(folder_path("cache"), NULL);
    assert_int_equal(symlink("target", folder_path("cache")), 0);
    begin(&x, NULL, 0);
    keep(&x, "one", 1, BYTES);
    assert_int_equal(find(&x, "one", BYTES), 1);
    assert_int_equal(mode_of(folder_path("target/muster/executables")), 0700);
    expect_said(&x, NULL);
    assert_int_equal(rename(folder_path("target/muster"), folder_path("elsewhere")), 0);
    assert_int_equal(symlink("../elsewhere", folder_path("target/muster")), 0);
    assert_int_equal(find(&x, "one", BYTES), -1);
    expect_said(&x, "/muster' is a symbolic link");
    end(&x);
    assert_int_equal(unlink(folder_path("target/muster")), 0);
    assert_int_equal(mkdir(folder_path("target/muster"), 0700), 0);
    assert_int_equal(symlink("../../elsewhere/executables", folder_path("target/muster/executables")), 0);
    begin(&x, "", 0);
    assert_int_equal(find(&x, "one", BYTES), -1);
    expect_said(&x, "/muster/executables' is a symbolic link");
    end(&x);
}

/* ---- places ---- */

static void folder_is_that_of_the_environment_if_none_is_given(void **state) {
    (void)state;
    logged x;
    assert_int_equal(mkdir(folder_path("home"), 0755), 0);
    set_places("not/absolute", folder_path("home"));
    begin(&x, NULL, 0);
    keep(&x, "one", 1, BYTES);
    assert_int_equal(count_files(folder_path("home/.cache/muster/executables"), NULL), 1);
    assert_int_equal(mode_of(folder_path("home/.cache/muster")), 0700);
    expect_said(&x, NULL);
    end(&x);
    static const char *const homes[] = {NULL, "", "relative", "/no such folder"};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        set_places(NULL, homes[i]);
        begin(&x, NULL, 0);
        assert_int_equal(find(&x, "one", BYTES), -1);
        keep(&x, "one", 1, BYTES);
        expect_said(&x, "there is no folder for compiled programs: set XDG_CACHE_HOME to one, or give --compile-cache");
        end(&x);
        begin(&x, folder_path("given"), 0); /* not needed then */
        keep(&x, "one", 1, BYTES);
        expect_said(&x, NULL);
        end(&x);
    }
    assert_false(is_there("/no such folder"));
}

static void off_finds_and_keeps_nothing(void **state) {
    (void)state;
    logged x;
    set_places(folder_path("cache"), folder_path(""));
    begin(&x, "off", 0);
    keep(&x, "one", 1, BYTES);
    assert_int_equal(find(&x, "one", BYTES), -1);
    expect_said(&x, NULL);
    assert_int_equal(count_files(folder_path(""), NULL), 0);
    end(&x);
}

static void relative_folder_is_where_the_process_was(void **state) {
    (void)state;
    logged x;
    char before[PATH];
    mst_executable_cache *cache = NULL;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder_path("")), 0);
    begin(&x, "./c", 0);
    assert_int_equal(chdir("/"), 0);
    keep(&x, "one", 1, BYTES);
    assert_int_equal(count_files(folder_path("c"), NULL), 1);
    expect_said(&x, NULL);
    end(&x);
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
    logged x;
    folder_write_text("c", "a file");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        begin(&x, folder_path(names[i]), 0);
        assert_int_equal(find(&x, "one", BYTES), -1); /* which is not the same as a folder that is not there */
        keep(&x, "one", 1, BYTES);
        expect_said(&x, i ? "Not a directory" : "/c' is a file, where a folder is needed: remove it");
        end(&x);
    }
    begin(&x, "/", 0); /* others can use it */
    keep(&x, "one", 1, BYTES);
    expect_said(&x, "");
    end(&x);
}

static void folder_that_is_removed_is_made_again(void **state) {
    (void)state;
    logged x;
    char command[PATH];
    begin(&x, folder_path("c"), 0);
    keep(&x, "one", 1, BYTES);
    snprintf(command, sizeof command, "rm -r '%s'", folder_path("c"));
    assert_int_equal(system(command), 0);
    assert_int_equal(find(&x, "one", BYTES), -1);
    keep(&x, "one", 2, BYTES);
    assert_int_equal(find(&x, "one", BYTES), 2);
    expect_said(&x, NULL);
    end(&x);
}

/* ---- disks ---- */

static void folder_that_cannot_be_written_or_opened_is_said(void **state) {
    (void)state;
    if (geteuid() != 0) skip(); /* who becomes another user, whom modes bind */
    logged x;
    assert_int_equal(chmod(folder_path(""), 0777), 0);
    assert_int_equal(mkdir(folder_path("closed"), 0700), 0);
    assert_int_equal(seteuid(OTHER), 0);
    begin(&x, folder_path("c"), 0);
    keep(&x, "one", 1, BYTES);
    assert_int_equal(chmod(folder_path("c"), 0500), 0);
    assert_int_equal(find(&x, "one", BYTES), 1);
    keep(&x, "two", 1, BYTES);
    keep(&x, "two", 1, BYTES);
    expect_said(&x, "cannot be written: Permission denied: compiled programs are not kept for the next process");
    end(&x);
    begin(&x, folder_path("closed/c"), 0);
    assert_int_equal(find(&x, "one", BYTES), -1);
    keep(&x, "one", 1, BYTES);
    expect_said(&x, "closed/c' cannot be opened: Permission denied");
    end(&x);
    assert_int_equal(chmod(folder_path("c"), 0), 0);
    begin(&x, folder_path("c"), 0);
    assert_int_equal(find(&x, "one", BYTES), -1);
    expect_said(&x, "cannot be read: Permission denied: the program is compiled anew");
    end(&x);
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
            logged x;
            begin(&x, folder_path("c"), 2 * (HEAD + BYTES));
            keep(&x, "0", 1, BYTES); /* so that one leaves */
            keep(&x, "1", 1, BYTES);
            keep(&x, "one", 1, BYTES);
            expect_said(&x, NULL);
            calls = 0;
            fail_with = errors[e];
            mst_file_replace_fault(fail_here);
            keep(&x, "one", 2, 2 * BYTES);
            mst_file_replace_fault(NULL);
            if (calls < fail_at) {
                assert_int_equal(find(&x, "one", 2 * BYTES), 2);
                end(&x);
                break;
            }
            const int found = find(&x, "one", BYTES);
            if (x.size) assert_int_equal(found, 1);
            if (!x.size) assert_int_equal(find(&x, "one", 2 * BYTES), 2); /* only the folder was not synced */
            keep(&x, "one", 3, BYTES);
            assert_int_equal(find(&x, "one", BYTES), 3);
            if (x.size) expect_said(&x, strerror(errors[e]));
            assert_int_equal(count_files(folder_path("c"), mst_file_is_side_name), 0);
            end(&x);
            assert_in_range(fail_at, 1, 40);
        }
}

/* In a child: a real disk, of which 64 KB are left, or files of at most that size. */
static int fill_disk(const char *folder) {
    enum { ROOM = 65536 };
    logged x;
    const bool is_small = unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                          mount("tmpfs", folder, "tmpfs", 0, "size=65536,mode=0700") == 0;
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {ROOM, ROOM};
    if (!is_small && setrlimit(RLIMIT_FSIZE, &limit)) return 1;
    begin(&x, folder, 0);
    keep(&x, "one", 1, BYTES);
    keep(&x, "large", 2, 2 * ROOM);
    keep(&x, "large", 2, 2 * ROOM);
    if (find(&x, "one", BYTES) != 1 || find(&x, "large", 2 * ROOM) != -1) return 2;
    const char *newline = strchr(x.text, '\n');
    if (!newline || newline[1] || !strstr(x.text, is_small ? "No space left" : "File too large")) return 3;
    if (count_files(folder, NULL) != 1) return 4;
    keep(&x, "two", 3, BYTES);
    if (find(&x, "two", BYTES) != 3) return 5;
    end(&x);
    return 0;
}

static void full_disk_is_said_once(void **state) {
    (void)state;
    char path[PATH];
    assert_int_equal(mkdir(folder_path("c"), 0700), 0);
    snprintf(path, sizeof path, "%s", folder_path("c"));
    if (fork() == 0) _exit(fill_disk(path));
    expect_children_succeed(1);
}

/* ---- the cache of the process, as modules use it ---- */

static atomic_bool stop;
static void *use_services(void *context) {
    const mst_backend_services *services = &mst_backend_services_here;
    int *wrong = context;
    while (!atomic_load(&stop)) {
        mst_executable_key key;
        void *data;
        size_t size;
        services->executable_key(&(mst_executable_source){"text", "", 0, "plugin", "kind"}, &key);
        services->executable_keep(&key, "executable", 10);
        if (services->executable_find(&key, &data, &size)) *wrong += size != 10 || memcmp(data, "executable", 10) != 0;
        free(data);
    }
    return NULL;
}

static void cache_of_the_process_can_be_changed_while_it_is_used(void **state) {
    (void)state;
    enum { THREADS = 3, CHANGES = 100 };
    pthread_t thread[THREADS];
    int wrong[THREADS] = {0};
    const mst_backend_services *services = &mst_backend_services_here;
    mst_executable_key key;
    void *data;
    size_t size;
    set_places(folder_path("default"), NULL);
    services->executable_key(&(mst_executable_source){"text", "", 0, "plugin", "kind"}, &key);
    assert_false(services->executable_find(&key, &data, &size));
    assert_null(data);
    services->executable_keep(&key, "default", 7);
    assert_true(services->executable_find(&key, &data, &size));
    assert_int_equal(size, 7);
    free(data);
    assert_int_equal(count_files(folder_path("default/muster/executables"), NULL), 1);
    EXPECT_ERROR(mst_compile_cache_set("/x", -1, NULL), MST_INVALID, "the limit is negative");
    EXPECT_OK(mst_compile_cache_set(folder_path("a"), 0, NULL));
    mst_file_replace_fault(skip_syncs);
    assert_false(services->executable_find(&key, &data, &size));
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, use_services, &wrong[i]), 0);
    for (int i = 0; i < CHANGES; i++) EXPECT_OK(mst_compile_cache_set(folder_path(i % 2 ? "a" : "b"), 0, NULL));
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
    mst_file_replace_fault(NULL);
    EXPECT_OK(mst_compile_cache_set("off", 0, NULL));
    assert_false(services->executable_find(&key, &data, &size));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_depends_on_each_part_and_on_where_it_ends),
        TEST_IN_FOLDER(what_was_kept_is_found_by_its_key_alone),
        TEST_IN_FOLDER(every_flipped_byte_and_every_cut_is_seen),
        TEST_IN_FOLDER(those_used_least_recently_leave),
        TEST_IN_FOLDER(only_files_of_the_cache_leave),
        TEST_IN_FOLDER(processes_write_the_same_and_different_keys_at_once),
        TEST_IN_FOLDER(processes_that_make_room_at_once_do_not_disturb_each_other),
        TEST_IN_FOLDER(killed_writer_leaves_the_old_file_or_the_new_one),
        TEST_IN_FOLDER(file_that_is_being_written_stays),
        TEST_IN_FOLDER(what_others_can_use_is_refused),
        TEST_IN_FOLDER(what_belongs_to_another_user_is_refused),
        TEST_IN_FOLDER(links_to_the_folder_are_not_followed),
        TEST_IN_FOLDER(folder_is_that_of_the_environment_if_none_is_given),
        TEST_IN_FOLDER(off_finds_and_keeps_nothing),
        TEST_IN_FOLDER(relative_folder_is_where_the_process_was),
        TEST_IN_FOLDER(file_in_place_of_a_folder_is_named),
        TEST_IN_FOLDER(folder_that_is_removed_is_made_again),
        TEST_IN_FOLDER(folder_that_cannot_be_written_or_opened_is_said),
        TEST_IN_FOLDER(each_call_that_fails_leaves_what_was_there),
        TEST_IN_FOLDER(full_disk_is_said_once),
        TEST_IN_FOLDER(cache_of_the_process_can_be_changed_while_it_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
