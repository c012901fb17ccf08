#include "transport/user_token.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/private.h"

enum { SECRET = MST_CURVE_KEY, FOLDER = 4096 };

static const char elsewhere[] = "set XDG_STATE_HOME to a folder of your own, or give --cluster-key FILE";

/* ---- the folder ---- */

/* Whether ERROR, an errno, says that the folder cannot exist at this place: then the next place is tried. */
static bool is_no_place(int error) {
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM || error == EROFS;
}

/* Opens the folder BASE/REST, and makes it if BASE exists. Writes its name to PATH. *OUT -1: the folder cannot be made
 * there. */
static mst_status open_folder(const char *base, const char *rest, char path[FOLDER], int *out) {
    struct stat s;
    *out = -1;
    if (!base || base[0] != '/' || snprintf(path, FOLDER, "%s/%s", base, rest) >= FOLDER) return MST_OK;
    if (stat(base, &s) || !S_ISDIR(s.st_mode)) return MST_OK;
    int error = mst_private_make_folders(path, strlen(base) + 1);
    if (!error && (*out = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0) error = errno;
    if (error == ELOOP || (error == ENOTDIR && lstat(path, &s) == 0 && S_ISLNK(s.st_mode)))
        return MST_FAIL(MST_INVALID, "the folder '%s' of this user's token is a symbolic link: remove it", path);
    if (is_no_place(error)) return MST_OK;
    if (error) return MST_FAIL(MST_IO, "cannot use the folder '%s' of this user's token: %s", path, strerror(error));
    if (fstat(*out, &s)) return MST_FAIL(MST_IO, "cannot read the folder '%s': %s", path, strerror(errno));
    return mst_private_check(&s, "the folder of this user's token", path, elsewhere, "");
}

/* Opens the first folder that exists or can be made. */
static mst_status find_folder(char path[FOLDER], int *out) {
    char own[64];
    const char *state = getenv("XDG_STATE_HOME");
    const bool has_state = state && state[0] == '/';
    snprintf(own, sizeof own, "muster-%ld", (long)geteuid());
    const struct {
        const char *base, *rest;
    } places[] = {{has_state ? state : getenv("HOME"), has_state ? "muster" : ".local/state/muster"},
                  {getenv("XDG_RUNTIME_DIR"), "muster"},
                  {"/tmp", own}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const mst_status status = open_folder(places[i].base, places[i].rest, path, out);
        if (status && *out >= 0) close(*out);
        if (status || *out >= 0) return status;
    }
    return MST_FAIL(MST_IO,
                    "there is no folder for this user's token, which keeps other users of the machine out: set "
                    "XDG_STATE_HOME to one that is there, or give --cluster-key FILE, or --insecure where all users "
                    "are trusted");
}

/* ---- the file ---- */

static const char name[] = "token";

static mst_status file_error(const char *folder, const char *verb) {
    if (errno == ELOOP)
        return MST_FAIL(MST_INVALID, "this user's token '%s/%s' is a symbolic link: remove it", folder, name);
    return MST_FAIL(MST_IO, "cannot %s this user's token '%s/%s': %s", verb, folder, name, strerror(errno));
}

/* Reads the token. *FOUND: whether there is one. */
static mst_status read_token(int folder, const char *path, unsigned char secret[SECRET], bool *found) {
    unsigned char bytes[SECRET + 1]; /* one byte more than a token has: a longer file is not a token */
    char file[FOLDER + sizeof name];
    struct stat s;
    *found = false;
    const int descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) return errno == ENOENT ? MST_OK : file_error(path, "read");
    snprintf(file, sizeof file, "%s/%s", path, name);
    mst_status status = fstat(descriptor, &s) ? file_error(path, "read") : MST_OK;
    if (!status && !S_ISREG(s.st_mode)) status = MST_FAIL(MST_INVALID, "this user's token '%s' is no file", file);
    if (!status)
        status = mst_private_check(&s, "this user's token", file, elsewhere,
                                   ", or remove it where somebody may have read it: a new one is made");
    const ssize_t size = status ? 0 : read(descriptor, bytes, sizeof bytes);
    if (size < 0) status = file_error(path, "read");
    if (!status && size != SECRET)
        status = MST_FAIL(MST_INVALID, "this user's token '%s' is damaged: remove it, and a new one is made", file);
    if (!status) memcpy(secret, bytes, SECRET);
    *found = !status;
    sodium_memzero(bytes, sizeof bytes);
    close(descriptor);
    return status;
}

/* Writes a whole token under a temporary name, and then renames it, unless another process was first. */
static mst_status make_token(int folder, const char *path) {
    unsigned char secret[SECRET];
    char own[64];
    snprintf(own, sizeof own, "%s-%08x%08x", name, randombytes_random(), randombytes_random());
    const int descriptor = openat(folder, own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor < 0) return file_error(path, "write");
    randombytes_buf(secret, sizeof secret);
    errno = ENOSPC;
    bool good = write(descriptor, secret, SECRET) == SECRET && fsync(descriptor) == 0;
    good = good && (linkat(folder, own, folder, name, 0) == 0 || errno == EEXIST);
    const mst_status status = good ? MST_OK : file_error(path, "write");
    sodium_memzero(secret, sizeof secret);
    close(descriptor);
    unlinkat(folder, own, 0);
    return status;
}

mst_status mst_user_token_read(mst_cluster_keys *out) {
    char path[FOLDER];
    int folder;
    bool found;
    if (sodium_init() < 0) return MST_FAIL(MST_IO, "token: the system gives no random numbers");
    MST_TRY(find_folder(path, &folder));
    sodium_memzero(out, sizeof *out);
    mst_status status = read_token(folder, path, out->token, &found);
    if (!status && !found) {
        status = make_token(folder, path);
        if (!status) status = read_token(folder, path, out->token, &found);
        if (!status && !found)
            status = MST_FAIL(MST_IO, "this user's token '%s/%s' was removed as soon as it was made", path, name);
    }
    close(folder);
    out->is_token = true;
    return status;
}
