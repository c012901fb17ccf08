#include "transport/cluster_key.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/private.h"

static const char head[] = "muster-cluster-key-1 ";
enum { SECRET = 32, HEAD = sizeof head - 1, DIGITS = 2 * SECRET, FILE_SIZE = HEAD + DIGITS + 1 };

static mst_status start_sodium(void) {
    return sodium_init() < 0 ? MST_FAIL(MST_IO, "cluster key: the system gives no random numbers") : MST_OK;
}

/* ---- writing ---- */

static mst_status create_error(const char *path) {
    if (errno == EEXIST)
        return MST_FAIL(MST_EXISTS, "'%s' is there already, and may be the key of a cluster: name another file", path);
    if (errno == ENOENT || errno == ENOTDIR)
        return MST_FAIL(MST_IO, "'%s' cannot be written: its folder is not there: make it, or name another", path);
    if (errno == EACCES || errno == EROFS)
        return MST_FAIL(MST_IO, "'%s' cannot be written: %s: name a place where this user may write", path,
                        strerror(errno));
    return MST_FAIL(MST_IO, "'%s' cannot be written: %s", path, strerror(errno));
}

static bool write_whole(int descriptor, const char *text) {
    const ssize_t written = write(descriptor, text, FILE_SIZE);
    if (written >= 0 && written != FILE_SIZE) errno = ENOSPC;
    return written == FILE_SIZE && fsync(descriptor) == 0;
}

mst_status mst_cluster_key_create(const char *path) {
    unsigned char secret[SECRET];
    char text[FILE_SIZE + 1];
    MST_TRY(start_sodium());
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor < 0) return create_error(path);
    randombytes_buf(secret, sizeof secret);
    memcpy(text, head, HEAD);
    sodium_bin2hex(text + HEAD, DIGITS + 1, secret, sizeof secret);
    text[FILE_SIZE - 1] = '\n';
    const bool good = write_whole(descriptor, text);
    const mst_status status = good ? MST_OK : create_error(path);
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(text, sizeof text);
    close(descriptor);
    if (!good) unlink(path);
    return status;
}

/* ---- reading ---- */

static mst_status open_error(const char *path) {
    if (errno == ELOOP) return MST_FAIL(MST_INVALID, "cluster key '%s' is a symbolic link: name the file itself", path);
    if (errno == ENOENT || errno == ENOTDIR)
        return MST_FAIL(MST_NOT_FOUND,
                        "there is no cluster key '%s': make one with 'muster keygen %s', and copy it to every task's "
                        "machine",
                        path, path);
    if (errno == EACCES)
        return MST_FAIL(MST_IO, "cluster key '%s': permission denied: make it readable for this user alone", path);
    return MST_FAIL(MST_IO, "cannot read the cluster key '%s': %s", path, strerror(errno));
}

static mst_status check_file(int descriptor, const char *path) {
    struct stat file;
    if (fstat(descriptor, &file)) return open_error(path);
    if (!S_ISREG(file.st_mode))
        return MST_FAIL(MST_INVALID, "cluster key '%s' is %s: give the file that 'muster keygen FILE' made", path,
                        S_ISDIR(file.st_mode) ? "a folder" : "no regular file");
    return mst_private_check(&file, "cluster key", path, "take a copy of your own",
                             ", and make a new key where somebody may have read it");
}

static bool is_key(const char *text, ssize_t size, unsigned char secret[SECRET]) {
    size_t bytes;
    if (size != FILE_SIZE || memcmp(text, head, HEAD) != 0 || text[FILE_SIZE - 1] != '\n') return false;
    return sodium_hex2bin(secret, SECRET, text + HEAD, DIGITS, NULL, &bytes, NULL) == 0 && bytes == SECRET;
}

static mst_status read_secret(int descriptor, const char *path, unsigned char secret[SECRET]) {
    char text[FILE_SIZE + 1]; /* one byte more than a key file has: a longer file is not a key */
    MST_TRY(check_file(descriptor, path));
    const ssize_t size = read(descriptor, text, sizeof text);
    const bool good = is_key(text, size, secret);
    sodium_memzero(text, sizeof text);
    if (size < 0) return open_error(path);
    return good ? MST_OK
                : MST_FAIL(MST_INVALID, "'%s' is no cluster key, or is damaged: make one with 'muster keygen FILE'",
                           path);
}

static void make_pair(const unsigned char secret[SECRET], const char *side, mst_curve_pair *out) {
    unsigned char seed[crypto_box_SEEDBYTES];
    crypto_generichash(seed, sizeof seed, (const unsigned char *)side, strlen(side), secret, SECRET);
    crypto_box_seed_keypair(out->public_key, out->secret_key, seed);
    sodium_memzero(seed, sizeof seed);
}

mst_status mst_cluster_key_read(const char *path, mst_cluster_keys *out) {
    unsigned char secret[SECRET];
    MST_TRY(start_sodium());
    /* O_NONBLOCK: a named pipe is opened, and refused, without waiting for its writer */
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) return open_error(path);
    const mst_status status = read_secret(descriptor, path, secret);
    close(descriptor);
    if (status) return status;
    out->is_token = false;
    memset(out->token, 0, sizeof out->token);
    make_pair(secret, "muster cluster key: listener", &out->listener);
    make_pair(secret, "muster cluster key: connector", &out->connector);
    sodium_memzero(secret, sizeof secret);
    return MST_OK;
}
