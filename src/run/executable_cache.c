/* Files of executables. Every call opens the folder anew and checks it. It then uses the descriptor of that folder, so
 * that nobody can replace the folder by another one meanwhile. Files in it are checked by their descriptors too:
 *
 *      find    open without following links -> owner and mode -> head -> bytes and their hash -> time of use
 *      keep    side file (base/file.h): head, bytes -> remove the least recently used -> fsync, rename
 *
 * The time of last use is the file's time of modification, since many systems keep no time of access. */
#include "run/executable_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/byte_count.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/private.h"
#include "base/wire_number.h"

static const char magic[] = "muster-exec\n", suffix[] = ".executable", source_magic[] = "muster-executable-1";
enum {
    VERSION = 1,
    MAGIC = sizeof magic - 1,
    AT_VERSION = MAGIC,
    AT_SIZE = AT_VERSION + 4,
    AT_KEY = AT_SIZE + 8,
    AT_HASH = AT_KEY + MST_EXECUTABLE_KEY,
    HEAD = AT_HASH + crypto_hash_sha256_BYTES,
    DIGITS = MST_EXECUTABLE_KEY_TEXT - 1,
    NAME = DIGITS + sizeof suffix
};
static const int64_t DEFAULT_LIMIT = (int64_t)1 << 30;

/* Kinds of problems; there is one warning for each. */
typedef enum cache_trouble {
    FOLDER_TROUBLE,
    READ_TROUBLE,
    DAMAGE,
    REFUSAL,
    WRITE_TROUBLE,
    TOO_LARGE,
    NUM_TROUBLES
} cache_trouble;

struct mst_executable_cache {
    char *folder; /* absolute; NULL: nothing is found or kept */
    size_t own;   /* offset in `folder`: names from here on must not be links; folders above are not checked */
    bool no_home; /* there is no folder, because the environment names none */
    int64_t limit;
    FILE *log;
    atomic_bool said[NUM_TROUBLES];
};

/* ---- keys ---- */

static void add_key_part(crypto_hash_sha256_state *hash, const void *data, size_t size) {
    unsigned char number[8];
    mst_put_number(number, size, sizeof number);
    crypto_hash_sha256_update(hash, number, sizeof number);
    if (size) crypto_hash_sha256_update(hash, data, size);
}

void mst_executable_key_make(const mst_executable_source *source, mst_executable_key *out) {
    crypto_hash_sha256_state hash;
    crypto_hash_sha256_init(&hash);
    add_key_part(&hash, source_magic, sizeof source_magic - 1);
    add_key_part(&hash, source->text, strlen(source->text));
    add_key_part(&hash, source->options, source->options_size);
    add_key_part(&hash, source->plugin, strlen(source->plugin));
    add_key_part(&hash, source->kind, strlen(source->kind));
    crypto_hash_sha256_final(&hash, out->byte);
}

const char *mst_executable_key_print(const mst_executable_key *key, char text[MST_EXECUTABLE_KEY_TEXT]) {
    return sodium_bin2hex(text, MST_EXECUTABLE_KEY_TEXT, key->byte, sizeof key->byte);
}

static void make_name(const mst_executable_key *key, char name[NAME]) {
    mst_executable_key_print(key, name);
    memcpy(name + DIGITS, suffix, sizeof suffix);
}

static bool is_name(const char *name) {
    return strspn(name, "0123456789abcdef") == DIGITS && strcmp(name + DIGITS, suffix) == 0;
}

/* ---- warnings ---- */

/* Warns of the calling thread's error, if it is the first of its kind. EFFECT is the consequence for the user. */
static void say_trouble(mst_executable_cache *cache, cache_trouble trouble, const char *effect) {
    char line[1400];
    if (atomic_exchange(&cache->said[trouble], true) || !cache->log) return;
    snprintf(line, sizeof line, "warning: %s: %s", mst_error()->message, effect);
    mst_make_plain(line);
    fprintf(cache->log, "%s\n", line);
    fflush(cache->log);
}

/* ---- opening ---- */

/* Sets PATH to the folder OWN in the user's cache folder; NULL: the environment names no such folder. The environment
 * of a setuid program is not used. */
static mst_status find_user_folder(const char *own, char **path) {
    const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    const bool has_base = base && base[0] == '/';
    *path = NULL;
    if (!has_base && (!home || home[0] != '/' || !mst_is_folder(home))) return MST_OK;
    if (asprintf(path, "%s%s/%s", has_base ? base : home, has_base ? "" : "/.cache", own) >= 0) return MST_OK;
    *path = NULL;
    return MST_NO_MEMORY("for the cache of executables");
}

/* Sets PATH to FOLDER as an absolute path that does not end in a slash. */
static mst_status make_absolute(const char *folder, char **path) {
    size_t length = strlen(folder);
    char *here = folder[0] == '/' ? strdup("") : getcwd(NULL, 0);
    if (!here)
        return MST_FAIL(MST_IO, "'%s': the current folder is not known: %s: give a path that begins with /", folder,
                        strerror(errno));
    while (length > 1 && folder[length - 1] == '/') length--;
    const int size = asprintf(path, "%s%s%.*s", here, *here ? "/" : "", (int)length, folder);
    free(here);
    if (size >= 0) return MST_OK;
    *path = NULL;
    return MST_NO_MEMORY("for the cache of executables");
}

static mst_status choose_folder(mst_executable_cache *cache, const char *folder) {
    static const char own[] = "muster/executables";
    if (folder && strcmp(folder, "off") == 0) return MST_OK;
    if (folder && *folder) {
        MST_TRY(make_absolute(folder, &cache->folder));
        cache->own = (size_t)(strrchr(cache->folder, '/') - cache->folder) + 1;
        return MST_OK;
    }
    MST_TRY(find_user_folder(own, &cache->folder));
    cache->no_home = !cache->folder;
    if (cache->folder) cache->own = strlen(cache->folder) - (sizeof own - 1);
    return MST_OK;
}

mst_status mst_executable_cache_open(const char *folder, int64_t limit, FILE *log, mst_executable_cache **out) {
    *out = NULL;
    if (limit < 0) return MST_FAIL(MST_INVALID, "compile cache: the limit is negative: give 0 for 1 GiB, or more");
    mst_executable_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return MST_NO_MEMORY("for the cache of executables");
    cache->limit = limit ? limit : DEFAULT_LIMIT;
    cache->log = log;
    const mst_status status = choose_folder(cache, folder);
    if (status)
        mst_executable_cache_close(cache);
    else
        *out = cache;
    return status;
}

void mst_executable_cache_close(mst_executable_cache *cache) {
    if (!cache) return;
    free(cache->folder);
    free(cache);
}

/* ---- the folder ---- */

static mst_status no_home_error(void) {
    return MST_FAIL(MST_IO,
                    "there is no folder for compiled programs: set XDG_CACHE_HOME to one, or give --compile-cache");
}

static mst_status folder_error(const char *verb, const char *path, int error) {
    return MST_FAIL(MST_IO, "the folder '%s' cannot be %s: %s", path, verb, strerror(error));
}

/* Opens the folder of CACHE. PATH is a copy of its path, which is changed. Folders before `own` in the path may be
 * links. If a folder is missing, makes it if MAKE, else returns MST_NOT_FOUND. */
static mst_status open_own(const mst_executable_cache *cache, char *path, bool make, mst_folder *out) {
    struct stat info;
    char *rest;
    path[cache->own - 1] = '\0';
    const int error = make && *path ? mst_private_make_folders(path, 1) : 0;
    if (error) return folder_error("made", path, error);
    MST_TRY(mst_folder_open(*path ? path : "/", out));
    mst_status status = MST_OK;
    const char *name = strtok_r(path + cache->own, "/", &rest);
    for (; name && !status; name = strtok_r(NULL, "/", &rest)) {
        mst_folder outer = *out;
        status = mst_folder_open_private_in(&outer, name, make, out);
        mst_folder_close(&outer);
    }
    if (!status && fstat(out->descriptor, &info)) status = folder_error("opened", out->path, errno);
    if (!status)
        status = mst_private_check(&info, "the folder of compiled programs", out->path,
                                   "name one of your own with --compile-cache, or set XDG_CACHE_HOME",
                                   " if it has nothing else, or name another one with --compile-cache");
    if (status) mst_folder_close(out);
    return status;
}

/* Opens the folder of CACHE. If it does not exist, makes it if MAKE, else returns MST_NOT_FOUND. All other errors are
 * reported as warnings. */
static mst_status open_cache_folder(mst_executable_cache *cache, bool make, mst_folder *out) {
    *out = (mst_folder){.path = NULL};
    mst_status status = MST_OK;
    if (cache->no_home) {
        status = no_home_error();
    } else {
        char *path = strdup(cache->folder);
        status = path ? open_own(cache, path, make, out) : MST_NO_MEMORY("for a path");
        free(path);
    }
    if (status && (make || status != MST_NOT_FOUND))
        say_trouble(cache, FOLDER_TROUBLE, "programs are compiled anew in each process");
    return status;
}

/* ---- files ---- */

/* Reads SIZE bytes of FILE from offset AT on, or fewer if the file ends before. Returns their number; -1: an error, in
 * errno. */
static ssize_t read_up_to(int file, void *data, size_t size, off_t at) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(file, (char *)data + done, size - done, at + (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* Opens file NAME without following a link or waiting for a pipe's writer. Returns its descriptor; -1: an error, in
 * errno. */
static int open_file(const mst_folder *folder, const char *name) {
    return openat(folder->descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Whether the open FILE begins with the first bytes of this cache's files. A file that is BEING_WRITTEN may have only
 * some of these bytes. */
static bool has_magic(int file, bool being_written) {
    char text[MAGIC];
    const ssize_t got = read_up_to(file, text, MAGIC, 0);
    return got >= 0 && (got == MAGIC || being_written) && memcmp(text, magic, (size_t)got) == 0;
}

static void make_head(const mst_executable_key *key, const void *data, size_t size, unsigned char head[HEAD]) {
    memcpy(head, magic, MAGIC);
    mst_put_number(head + AT_VERSION, VERSION, 4);
    mst_put_number(head + AT_SIZE, size, 8);
    memcpy(head + AT_KEY, key->byte, sizeof key->byte);
    crypto_hash_sha256(head + AT_HASH, data, size);
}

/* ---- finding ---- */

/* Describes the mistake in HEAD, of which GOT bytes could be read; NULL: there is none. BYTES is the size of the whole
 * file. */
static const char *find_wrong_head(const unsigned char head[HEAD], size_t got, const mst_executable_key *key,
                                   uint64_t bytes) {
    if (got < MAGIC || memcmp(head, magic, MAGIC) != 0) return "it does not begin as such files do";
    if (got < HEAD) return "it is too short";
    const unsigned char *at = head + AT_VERSION;
    const uint64_t version = mst_get_number(&at, 4), size = mst_get_number(&at, 8);
    if (version != VERSION) return "another version has written it";
    if (memcmp(head + AT_KEY, key->byte, sizeof key->byte) != 0) return "it is that of another program";
    if (size != bytes - HEAD) return "its size is wrong";
    return NULL;
}

static mst_status damage(const char *path, const char *what) {
    return MST_FAIL(MST_CORRUPT, "'%s' is damaged: %s", path, what);
}

static mst_status read_error(const char *path, int error) {
    return MST_FAIL(MST_IO, "'%s' cannot be read: %s", path, strerror(error));
}

/* Reads the bytes after the HEAD of FILE, and compares their hash. */
static mst_status read_hashed(int file, const char *path, const unsigned char head[HEAD], size_t size, void **out) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    void *data = malloc(size ? size : 1);
    if (!data) return MST_NO_MEMORY("for '%s', %zu bytes", path, size);
    const ssize_t got = read_up_to(file, data, size, HEAD);
    mst_status status = got < 0 ? read_error(path, errno) : MST_OK;
    if (!status) {
        crypto_hash_sha256(hash, data, size);
        if ((size_t)got != size || memcmp(hash, head + AT_HASH, sizeof hash) != 0)
            status = damage(path, "its bytes do not have the hash that it names");
    }
    if (status)
        free(data);
    else
        *out = data;
    return status;
}

/* Checks and reads the open FILE, which is at PATH. */
static mst_status read_executable(const mst_executable_cache *cache, int file, const char *path,
                                  const mst_executable_key *key, void **data, size_t *size) {
    unsigned char head[HEAD];
    struct stat info;
    if (fstat(file, &info)) return read_error(path, errno);
    if (!S_ISREG(info.st_mode)) return MST_FAIL(MST_INVALID, "'%s' is no file: remove it", path);
    MST_TRY(mst_private_check(&info, "the compiled program", path, "remove it", ", or remove it"));
    if (info.st_size > cache->limit)
        return MST_FAIL(MST_INVALID, "'%s' is larger than the whole cache may be: give a larger limit", path);
    const ssize_t got = read_up_to(file, head, HEAD, 0);
    if (got < 0) return read_error(path, errno);
    const char *wrong = find_wrong_head(head, (size_t)got, key, (uint64_t)info.st_size);
    if (wrong) return damage(path, wrong);
    MST_TRY(read_hashed(file, path, head, (size_t)info.st_size - HEAD, data));
    *size = (size_t)info.st_size - HEAD;
    (void)futimens(file, NULL); /* on a disk that cannot be written it counts as used when it was written */
    return MST_OK;
}

/* Finds the executable with this key. Returns MST_NOT_FOUND if there is no file for it. All other errors are reported
 * as warnings. */
static mst_status find_in(mst_executable_cache *cache, const mst_folder *folder, const mst_executable_key *key,
                          void **data, size_t *size) {
    char name[NAME];
    make_name(key, name);
    const int file = open_file(folder, name), error = file < 0 ? errno : 0;
    if (error == ENOENT) return MST_NOT_FOUND;
    char *path = mst_folder_join(folder, name);
    mst_status status = path ? MST_OK : MST_NO_MEMORY("for a path");
    if (!status && error == ELOOP)
        status = MST_FAIL(MST_INVALID, "'%s' is a symbolic link: remove it", path);
    else if (!status)
        status = error ? read_error(path, error) : read_executable(cache, file, path, key, data, size);
    if (status == MST_CORRUPT)
        say_trouble(cache, DAMAGE, "the program is compiled anew, and the file replaced");
    else if (status)
        say_trouble(cache, READ_TROUBLE, "the program is compiled anew");
    free(path);
    if (file >= 0) close(file);
    return status;
}

bool mst_executable_cache_find(mst_executable_cache *cache, const mst_executable_key *key, void **data, size_t *size) {
    mst_folder folder;
    *data = NULL;
    *size = 0;
    if (!cache->folder && !cache->no_home) return false;
    if (open_cache_folder(cache, false, &folder)) return false;
    const mst_status status = find_in(cache, &folder, key, data, size);
    mst_folder_close(&folder);
    return status == MST_OK;
}

void mst_executable_cache_refuse(mst_executable_cache *cache, const mst_executable_key *key) {
    char name[NAME];
    if (!cache->folder) return;
    make_name(key, name);
    (void)mst_error_prefix("'%s/%s'", cache->folder, name);
    say_trouble(cache, REFUSAL, "the program is compiled anew, and the file replaced");
}

/* ---- removing ---- */

/* An executable in the folder. */
typedef struct cached {
    char name[NAME];
    int64_t size;
    struct timespec used;
} cached;

typedef struct cached_list {
    cached *item;
    int64_t count, capacity;
} cached_list;

/* Whether file NAME was written by this cache, for this user. */
static bool is_cached(const mst_folder *folder, const char *name, struct stat *info) {
    const int file = open_file(folder, name);
    if (file < 0) return false;
    const bool is =
        fstat(file, info) == 0 && S_ISREG(info->st_mode) && info->st_uid == geteuid() && has_magic(file, false);
    close(file);
    return is;
}

static mst_status add_cached(const mst_folder *folder, const char *name, cached_list *list) {
    struct stat info;
    if (!is_cached(folder, name, &info)) return MST_OK;
    MST_TRY(mst_grow(&list->item, sizeof *list->item, list->count + 1, &list->capacity));
    cached *x = &list->item[list->count++];
    *x = (cached){.size = info.st_size, .used = info.st_mtim};
    memcpy(x->name, name, NAME);
    return MST_OK;
}

/* Removes file NAME, a side name, if the process that wrote an executable to it is dead. */
static void remove_half_written(const mst_folder *folder, const char *name) {
    const int lock = mst_file_claim(folder, name);
    if (lock < 0) return;
    /* if it cannot be removed, the next call tries again */
    if (has_magic(lock, true)) (void)!mst_file_remove_in(folder, name);
    close(lock);
}

/* Lists all executables except the file OWN, and removes incomplete files of dead processes. */
static mst_status list_cached(const mst_folder *folder, const char *own, cached_list *list) {
    const struct dirent *entry = NULL;
    DIR *names = mst_folder_list(folder);
    if (!names) return folder_error("read", folder->path, errno);
    mst_status status = mst_folder_next(names, folder->path, &entry);
    while (!status && entry) {
        if (mst_file_is_side_name(entry->d_name))
            remove_half_written(folder, entry->d_name);
        else if (is_name(entry->d_name) && strcmp(entry->d_name, own) != 0)
            status = add_cached(folder, entry->d_name, list);
        if (!status) status = mst_folder_next(names, folder->path, &entry);
    }
    closedir(names);
    return status;
}

static int compare_times(const struct timespec *a, const struct timespec *b) {
    if (a->tv_sec != b->tv_sec) return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* Sorts the executable that was used last to the beginning. */
static int compare_cached(const void *left, const void *right) {
    const cached *a = left, *b = right;
    const int order = compare_times(&b->used, &a->used);
    return order ? order : strcmp(a->name, b->name);
}

/* Removes an executable, unless it was used or replaced since it was listed. */
static mst_status remove_cached(const mst_folder *folder, const cached *x) {
    struct stat info;
    if (!is_cached(folder, x->name, &info) || compare_times(&info.st_mtim, &x->used) != 0) return MST_OK;
    return mst_file_remove_in(folder, x->name);
}

/* Keeps the executables of LIST that were used last, as many as fit into ROOM bytes, and removes the others. */
static mst_status shrink(const mst_folder *folder, cached_list *list, int64_t room) {
    mst_status status = MST_OK;
    bool is_full = false;
    if (list->count) qsort(list->item, (size_t)list->count, sizeof *list->item, compare_cached);
    for (int64_t i = 0; i < list->count && !status; i++) {
        const cached *x = &list->item[i];
        is_full = is_full || x->size > room;
        if (is_full)
            status = remove_cached(folder, x);
        else
            room -= x->size;
    }
    return status;
}

/* ---- keeping ---- */

static mst_status write_side(mst_file *file, const mst_executable_key *key, const void *data, size_t size) {
    unsigned char head[HEAD];
    make_head(key, data, size, head);
    MST_TRY(mst_file_append(file, head, HEAD));
    return mst_file_append(file, data, size);
}

static mst_status keep_in(const mst_executable_cache *cache, const mst_folder *folder, const mst_executable_key *key,
                          const void *data, size_t size) {
    char name[NAME];
    mst_file file;
    cached_list list = {.count = 0};
    make_name(key, name);
    mst_status status = list_cached(folder, name, &list);
    if (!status) status = mst_file_create_private_in(folder, name, &file);
    if (!status) {
        status = write_side(&file, key, data, size);
        if (!status) status = shrink(folder, &list, cache->limit - HEAD - (int64_t)size);
        if (status)
            mst_file_abandon(&file);
        else
            status = mst_file_commit(&file);
    }
    free(list.item);
    return status;
}

static bool is_too_large(mst_executable_cache *cache, size_t size) {
    char text[2][MST_BYTES_TEXT];
    if (cache->limit >= HEAD && size <= (uint64_t)cache->limit - HEAD) return false;
    (void)MST_FAIL(MST_INVALID, "a compiled program of %s is larger than the cache may be, %s",
                   mst_bytes_print((int64_t)size, text[0], sizeof text[0]),
                   mst_bytes_print(cache->limit, text[1], sizeof text[1]));
    say_trouble(cache, TOO_LARGE, "it is not kept for the next process");
    return true;
}

void mst_executable_cache_keep(mst_executable_cache *cache, const mst_executable_key *key, const void *data,
                               size_t size) {
    mst_folder folder;
    if (!cache->folder && !cache->no_home) return;
    if (is_too_large(cache, size) || open_cache_folder(cache, true, &folder)) return;
    if (keep_in(cache, &folder, key, data, size))
        say_trouble(cache, WRITE_TROUBLE, "compiled programs are not kept for the next process");
    mst_folder_close(&folder);
}

/* ---- a look at the folder ---- */

/* Checks that FOLDER, which does not exist, can be made: its lowest parent folder that exists must be writable. PATH is
 * a copy of FOLDER, which is changed. */
static mst_status check_can_be_made(const char *folder, char *path) {
    int error = ENOENT;
    for (char *slash; error == ENOENT && (slash = strrchr(path, '/'));) {
        *slash = '\0';
        error = faccessat(AT_FDCWD, *path ? path : "/", W_OK | X_OK, AT_EACCESS) ? errno : 0;
    }
    return error ? folder_error("made", folder, error) : MST_OK;
}

static mst_status try_to_write(const mst_folder *folder) {
    mst_file file;
    MST_TRY(mst_file_create_private_in(folder, "trial", &file));
    const mst_status status = mst_file_append(&file, magic, MAGIC);
    mst_file_abandon(&file);
    return status;
}

static mst_status describe_folder(const mst_folder *folder, mst_compile_cache_info *out) {
    cached_list list = {.count = 0};
    mst_status status = list_cached(folder, "", &list);
    out->is_made = true;
    out->num_programs = list.count;
    for (int64_t i = 0; i < list.count; i++) out->bytes += list.item[i].size;
    free(list.item);
    if (!status) status = try_to_write(folder);
    return status;
}

mst_status mst_executable_cache_describe(const mst_executable_cache *cache, mst_compile_cache_info *out) {
    mst_folder folder;
    *out = (mst_compile_cache_info){.limit = cache->limit};
    if (cache->no_home) return no_home_error();
    if (!cache->folder) return MST_OK;
    snprintf(out->folder, sizeof out->folder, "%s", cache->folder);
    char *path = strdup(cache->folder);
    if (!path) return MST_NO_MEMORY("for a path");
    mst_status status = open_own(cache, path, false, &folder);
    if (!status) {
        status = describe_folder(&folder, out);
        mst_folder_close(&folder);
    } else if (status == MST_NOT_FOUND) {
        memcpy(path, cache->folder, strlen(cache->folder) + 1);
        status = check_can_be_made(cache->folder, path);
    }
    free(path);
    return status;
}
