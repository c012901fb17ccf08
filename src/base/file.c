/* Writing a file under a temporary side name, and reading a whole file.
 *
 *      FOLDER/.muster-7k2c...   -- fsync -->   -- rename -->   FOLDER/weights.npz   -- fsync of FOLDER
 *      locked with flock from its creation until the rename
 *
 * A reader sees the old file or the new one, never a part of it. The folder is opened once, and everything happens
 * inside it by its descriptor, even if it is renamed meanwhile. A process that dies leaves a file under a side name,
 * but no lock on it. So mst_file_claim can tell it from a file that is still being written.
 *
 * Each kind of call that changes the disk has one function (write_some, sync_file, rename_file, unlink_file). A test
 * can make these calls fail: train/checkpoint_test.c makes one after the other fail. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cannot_open.h"
#include "base/long_work.h"
#include "base/no_memory.h"

/* ---- writing ---- */

/* Length of the part of PATH that names the folder, including the last '/'. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static const char *what_to_do(int code) {
    switch (code) {
        case EACCES:
        case EPERM:
        case EROFS: return ": name a place where this user may write";
        case ENOSPC:
        case EDQUOT: return ": free some space, or name another place";
        case EISDIR: return ": remove it, or name another";
        default: return "";
    }
}

static mst_status write_fail(const char *path) {
    const int folder = (int)folder_length(path);
    if (errno == ENOENT && folder)
        return MST_FAIL(MST_IO, "'%s' cannot be written: there is no folder '%.*s': make it", path, folder, path);
    return MST_FAIL(MST_IO, "'%s' cannot be written: %s%s", path, strerror(errno), what_to_do(errno));
}

/* ---- symbolic links ---- */

/* Whether a link may be followed, by the rule of Linux' fs.protected_symlinks, even if that is off. In a folder with a
 * sticky bit where all may write, a link is followed only if this user or the owner of the folder has made it. A link
 * that another user has made could lead to a file that only this user may write, which would then be replaced. */
static bool may_follow(const mst_folder *folder, const struct stat *link) {
    struct stat info;
    if (fstat(folder->descriptor, &info)) return false;
    const bool shared = (info.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
    return !shared || link->st_uid == geteuid() || link->st_uid == info.st_uid;
}

/* Replaces *AT, the path of the link NAME of FOLDER, by the path to which it leads. */
static mst_status file_follow_link(const mst_folder *folder, const char *name, char **at) {
    char to[PATH_MAX];
    const ssize_t size = readlinkat(folder->descriptor, name, to, sizeof to - 1);
    if (size < 0) return write_fail(*at);
    to[size] = '\0';
    char *next = to[0] == '/' ? strdup(to) : mst_folder_join(folder, to);
    if (!next) return MST_NO_MEMORY("to write '%s'", *at);
    free(*at);
    *at = next;
    return MST_OK;
}

/* Follows the symbolic links in which the path *AT ends. *AT becomes the path of the file that is to be replaced, and
 * OUT its folder. The system resolves links in the path of the folder. After a failure OUT is closed. */
static mst_status open_target(char **at, mst_folder *out) {
    enum { MOST_LINKS = 40 }; /* the same as Linux */
    for (int links = 0; links <= MOST_LINKS; links++) {
        const char *name;
        struct stat info;
        MST_TRY(mst_folder_open_of(*at, out, &name));
        if (fstatat(out->descriptor, name, &info, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(info.st_mode)) return MST_OK;
        const mst_status status =
            may_follow(out, &info)
                ? file_follow_link(out, name, at)
                : MST_FAIL(MST_IO,
                           "'%s' is a symbolic link that another user has made in a folder where all may write: "
                           "name another file, or the one it leads to",
                           *at);
        mst_folder_close(out);
        if (status) return status;
    }
    errno = ELOOP;
    return write_fail(*at);
}

/* ---- calls that change or look at the disk, which a test can make fail ---- */

static _Atomic(mst_file_fault) fault;

void mst_file_replace_fault(mst_file_fault function) {
    atomic_store(&fault, function);
}

static int ask(mst_file_call call, size_t *size) {
    const mst_file_fault function = atomic_load(&fault);
    return function ? function(call, size) : 0;
}

/* Whether to make a call of kind CALL, of *SIZE bytes (SIZE may be NULL). If a test makes it fail, the result is false,
 * and errno is set. */
static bool may(mst_file_call call, size_t *size) {
    size_t none = 0;
    const int code = ask(call, size ? size : &none);
    if (code) errno = code;
    return code == 0;
}

/* Writes some of SIZE bytes. A write that a test makes fail after some bytes still writes those bytes, as on a full
 * disk. */
static ssize_t write_some(int file, uint64_t offset, const char *data, size_t size) {
    size_t wanted = size;
    if (may(MST_FILE_WRITE, &wanted)) return pwrite(file, data, wanted, (off_t)offset);
    const int code = errno;
    if (wanted < size && pwrite(file, data, wanted, (off_t)offset) < 0) return -1;
    errno = code;
    return -1;
}

static int sync_file(int file) {
    size_t none = 0;
    const int code = ask(MST_FILE_SYNC, &none);
    if (code > 0) errno = code;
    if (code == 0) return fsync(file);
    return code < 0 ? 0 : -1;
}

static int rename_file(int folder, const char *from, const char *to) {
    return may(MST_FILE_RENAME, NULL) ? renameat(folder, from, folder, to) : -1;
}

static int unlink_file(int folder, const char *name) {
    return may(MST_FILE_UNLINK, NULL) ? unlinkat(folder, name, 0) : -1;
}

/* Gets the status of NAME; a link is not followed. */
static int look_at(int folder, const char *name, struct stat *info) {
    return may(MST_FILE_LOOK, NULL) ? fstatat(folder, name, info, AT_SYMLINK_NOFOLLOW) : -1;
}

/* ---- one file, written to the side ---- */

static const char side_digits[] = "0123456789abcdefghijklmnopqrstuv";

void mst_file_side_name(char name[MST_FILE_SIDE_SIZE]) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) < 0) /* no random bytes: names are tried until one is free */
        random = (uint64_t)clock() * 6364136223846793005u + (uint64_t)getpid() + (uint64_t)(uintptr_t)name;
    char *at = name + snprintf(name, MST_FILE_SIDE_SIZE, MST_FILE_SIDE);
    for (; at < name + MST_FILE_SIDE_SIZE - 1; random >>= 5) *at++ = side_digits[random & 31];
    *at = '\0';
}

bool mst_file_is_side_name(const char *name) {
    const size_t prefix = sizeof MST_FILE_SIDE - 1;
    return strncmp(name, MST_FILE_SIDE, prefix) == 0 && strlen(name) == MST_FILE_SIDE_SIZE - 1 &&
           strspn(name + prefix, side_digits) == MST_FILE_SIDE_SIZE - 1 - prefix;
}

/* Locks the new FILE. False if another process has claimed it first (mst_file_claim): that process removes it. Where
 * files cannot be locked, the result is true. */
static bool lock_new(int file) {
    struct stat info;
    if (flock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) return false;
    return fstat(file, &info) || info.st_nlink > 0;
}

/* Makes a file in FOLDER with an unused name, and returns its descriptor; -1 after a failure. MODE is as for open: the
 * system applies the process' umask. */
static int create_side(int folder, mode_t mode, char side[MST_FILE_SIDE_SIZE]) {
    enum { TRIES = 100 };
    if (!may(MST_FILE_CREATE, NULL)) return -1;
    for (int i = 0; i < TRIES; i++) {
        mst_file_side_name(side);
        const int file = openat(folder, side, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (file < 0 && errno != EEXIST) return -1;
        if (file < 0) continue;
        if (lock_new(file)) return file;
        close(file);
    }
    errno = EEXIST;
    return -1;
}

/* Makes the side file of OUT, whose folder and path are set. The new file gets the permissions of the file that it
 * replaces; with IS_PRIVATE only its owner may use it. */
static mst_status file_create(mst_file *out, bool is_private) {
    const char *name = out->path + folder_length(out->path);
    struct stat old;
    const bool replaces =
        !is_private && fstatat(out->folder.descriptor, name, &old, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(old.st_mode);
    const mode_t mode = is_private ? 0600 : replaces ? old.st_mode & 0777 : 0666;
    out->descriptor = create_side(out->folder.descriptor, mode, out->side);
    if (out->descriptor >= 0 && ((!replaces && !is_private) || fchmod(out->descriptor, mode) == 0)) return MST_OK;
    const mst_status status = write_fail(out->path);
    mst_file_abandon(out);
    return status;
}

mst_status mst_file_create(const char *path, mst_file *out) {
    mst_folder folder;
    char *target = strdup(path);
    *out = (mst_file){.descriptor = -1};
    if (!target) return MST_NO_MEMORY("to write '%s'", path);
    const mst_status status = open_target(&target, &folder);
    *out = (mst_file){.descriptor = -1, .folder = folder, .path = target};
    if (!status) return file_create(out, false);
    errno = ENOENT;
    const bool has_no_folder = status == MST_NOT_FOUND;
    (void)(has_no_folder ? write_fail(out->path) : mst_error_prefix("'%s' cannot be written", path));
    mst_file_abandon(out);
    return has_no_folder ? MST_IO : status;
}

static mst_status file_create_in(const mst_folder *folder, const char *name, bool is_private, mst_file *out) {
    *out = (mst_file){.descriptor = -1, .path = mst_folder_join(folder, name)};
    if (!out->path) return MST_NO_MEMORY("to write '%s'", name);
    const mst_status status = mst_folder_copy(folder, &out->folder);
    if (!status) return file_create(out, is_private);
    mst_file_abandon(out);
    return status;
}

mst_status mst_file_create_in(const mst_folder *folder, const char *name, mst_file *out) {
    return file_create_in(folder, name, false, out);
}

mst_status mst_file_create_private_in(const mst_folder *folder, const char *name, mst_file *out) {
    return file_create_in(folder, name, true, out);
}

/* Tells the system to begin writing the bytes so far to the disk, so that the sync at the end has less to wait for. */
static void begin_writing_back(mst_file *file) {
    enum { PIECE = 32 << 20 };
    if (file->size - file->begun < PIECE) return;
    (void)sync_file_range(file->descriptor, (off_t)file->begun, (off_t)(file->size - file->begun),
                          SYNC_FILE_RANGE_WRITE);
    file->begun = file->size;
}

mst_status mst_file_put(mst_file *file, uint64_t offset, const void *data, size_t size) {
    enum { PIECE = 16 << 20 };
    const char *bytes = data;
    while (size) {
        const ssize_t wrote = write_some(file->descriptor, offset, bytes, size < PIECE ? size : PIECE);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote == 0) errno = ENOSPC; /* nothing was written: trying again would not help */
        if (wrote <= 0) return write_fail(file->path);
        bytes += wrote;
        size -= (size_t)wrote;
        offset += (uint64_t)wrote;
        if (offset > file->size) file->size = offset;
        begin_writing_back(file);
        mst_long_work_step_of(MST_LONG_WORK_WRITING, file->size);
    }
    return MST_OK;
}

mst_status mst_file_append(mst_file *file, const void *data, size_t size) {
    return mst_file_put(file, file->size, data, size);
}

static void forget(mst_file *file) {
    free(file->path);
    mst_folder_close(&file->folder);
    *file = (mst_file){.descriptor = -1};
}

void mst_file_abandon(mst_file *file) {
    if (file->descriptor >= 0) {
        (void)unlink_file(file->folder.descriptor, file->side);
        close(file->descriptor);
    }
    forget(file);
}

/* Errors are ignored: some file systems cannot sync a folder, and the file itself is complete. */
static void sync_folder(int folder) {
    const int file = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return;
    (void)sync_file(file);
    close(file);
}

/* The file is closed last, which releases its lock. By then it has its name. */
mst_status mst_file_commit(mst_file *file) {
    const char *name = file->path + folder_length(file->path);
    const int folder = file->folder.descriptor;
    if (sync_file(file->descriptor) || rename_file(folder, file->side, name)) {
        const mst_status status = write_fail(file->path);
        mst_file_abandon(file);
        return status;
    }
    sync_folder(folder);
    close(file->descriptor); /* all was synced, so closing cannot lose anything */
    forget(file);
    return MST_OK;
}

void mst_file_sync_folder(const char *path) {
    mst_folder folder;
    const char *name;
    if (mst_folder_open_of(path, &folder, &name)) return;
    sync_folder(folder.descriptor);
    mst_folder_close(&folder);
}

/* ---- removing ---- */

static mst_status remove_fail(const mst_folder *folder, const char *name) {
    const int code = errno;
    char *path = mst_folder_join(folder, name);
    const mst_status status = MST_FAIL(MST_IO, "'%s' cannot be removed: %s", path ? path : name, strerror(code));
    free(path);
    return status;
}

mst_status mst_file_remove(const char *path) {
    if (unlink_file(AT_FDCWD, path) == 0 || errno == ENOENT) return MST_OK;
    return MST_FAIL(MST_IO, "'%s' cannot be removed: %s", path, strerror(errno));
}

mst_status mst_file_remove_in(const mst_folder *folder, const char *name) {
    if (unlink_file(folder->descriptor, name) == 0 || errno == ENOENT) return MST_OK;
    return remove_fail(folder, name);
}

/* Opens the file for writing, because some network file systems lock only such files. */
int mst_file_claim(const mst_folder *folder, const char *name) {
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat info;
    if (look_at(folder->descriptor, name, &info) || !S_ISREG(info.st_mode)) return -1;
    int file = openat(folder->descriptor, name, O_RDWR | flags);
    if (file < 0 && errno == EACCES) file = openat(folder->descriptor, name, O_RDONLY | flags);
    if (file < 0) return -1;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    close(file);
    return -1;
}

mst_status mst_file_is_there(const mst_folder *folder, const char *name, bool *out) {
    struct stat info;
    *out = look_at(folder->descriptor, name, &info) == 0;
    if (*out || errno == ENOENT) return MST_OK;
    const int code = errno;
    char *path = mst_folder_join(folder, name);
    const mst_status status =
        MST_FAIL(MST_IO, "whether there is a '%s' cannot be found out: %s", path ? path : name, strerror(code));
    free(path);
    return status;
}

/* ---- whole files ---- */

static mst_status write_parts(mst_file *file, const mst_file_part *part, int num_parts) {
    mst_status status = MST_OK;
    uint64_t total = 0;
    for (int i = 0; i < num_parts; i++) total += part[i].size;
    mst_long_work_begin(MST_LONG_WORK_WRITING, file->path, NULL, total);
    for (int i = 0; i < num_parts && !status; i++) status = mst_file_append(file, part[i].data, part[i].size);
    mst_long_work_end();
    if (!status) return mst_file_commit(file);
    mst_file_abandon(file);
    return status;
}

mst_status mst_file_write_parts(const char *path, const mst_file_part *part, int num_parts) {
    mst_file file;
    MST_TRY(mst_file_create(path, &file));
    return write_parts(&file, part, num_parts);
}

mst_status mst_file_write(const char *path, const void *data, size_t size) {
    return mst_file_write_parts(path, &(mst_file_part){data, size}, 1);
}

mst_status mst_file_write_in(const mst_folder *folder, const char *name, const void *data, size_t size) {
    mst_file file;
    MST_TRY(mst_file_create_in(folder, name, &file));
    return write_parts(&file, &(mst_file_part){data, size}, 1);
}

mst_status mst_file_check(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return MST_FAIL(MST_INVALID, "'%s' is %s: name another", path,
                        S_ISDIR(info.st_mode) ? "a folder, where a file is to be written" : "no regular file");
    const char *base = path + folder_length(path);
    if (strlen(base) > NAME_MAX) return MST_FAIL(MST_INVALID, "'%.80s...': the name is too long", base);
    mst_file file;
    MST_TRY(mst_file_create(path, &file));
    mst_file_abandon(&file);
    return MST_OK;
}

/* ---- reading ---- */

static mst_status file_read_all(int file, const char *path, char *data, size_t size) {
    enum { PIECE = 16 << 20 };
    const size_t all = size;
    while (size) {
        mst_long_work_step(all - size);
        ssize_t got = read(file, data, size < PIECE ? size : PIECE);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return MST_FAIL(MST_IO, "'%s' cannot be read: %s", path, strerror(errno));
        if (got == 0) return MST_FAIL(MST_IO, "'%s' cannot be read: it became shorter meanwhile", path);
        data += got;
        size -= (size_t)got;
    }
    return MST_OK;
}

static mst_status read_whole(int file, const char *path, char *data, size_t size) {
    mst_long_work_begin(MST_LONG_WORK_READING, path, NULL, size);
    const mst_status status = file_read_all(file, path, data, size);
    mst_long_work_end();
    return status;
}

mst_status mst_file_read(const char *path, size_t most, void **data, size_t *size) {
    struct stat info;
    *data = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return mst_cannot_open(path, "file");
    mst_status status = MST_OK;
    void *bytes = NULL;
    if (fstat(file, &info))
        status = MST_FAIL(MST_IO, "'%s' cannot be read: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = mst_want_regular_file(path, &info);
    else if ((uint64_t)info.st_size > most)
        status =
            MST_FAIL(MST_INVALID, "'%s' has %lld bytes, at most %zu are possible", path, (long long)info.st_size, most);
    else if (!(bytes = malloc((size_t)info.st_size + 1)))
        status = MST_FAIL(MST_OUT_OF_MEMORY, "'%s' cannot be read: cannot get %lld bytes of memory", path,
                          (long long)info.st_size);
    else
        status = read_whole(file, path, bytes, (size_t)info.st_size);
    close(file);
    if (status) {
        free(bytes);
        return status;
    }
    *data = bytes;
    *size = (size_t)info.st_size;
    return MST_OK;
}

bool mst_file_reader_left(int descriptor) {
    struct pollfd output = {.fd = descriptor, .events = POLLOUT};
    return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP));
}
