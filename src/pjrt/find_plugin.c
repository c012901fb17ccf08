#include "pjrt/find_plugin.h"

#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/no_memory.h"

/* Where the packages are in a folder: directly there if they were only unpacked, else as in a Python environment. */
#define PACKAGES "{,lib/python3*/site-packages/,lib64/python3*/site-packages/}"

static mst_status too_long(const char *path) {
    return MST_FAIL(MST_INVALID, "MUSTER_PJRT_PLUGIN: the path '%.100s...' is too long: name a link to it", path);
}

/* Writes FOLDER with its special characters escaped for glob. False if OUT, of SIZE bytes, is too small. */
static bool quote(const char *folder, char *out, size_t size) {
    size_t used = 0;
    for (; *folder && used + 2 < size; folder++) {
        if (strchr("\\*?[]{},~", *folder)) out[used++] = '\\';
        out[used++] = *folder;
    }
    out[used] = '\0';
    return !*folder;
}

/* Adds the files in FOLDER that match the pattern PLACE to FOUND. */
static mst_status look_at(const char *folder, const char *place, bool is_first, glob_t *found) {
    char quoted[MST_PJRT_PATH], pattern[2 * MST_PJRT_PATH];
    if (!quote(folder, quoted, sizeof quoted)) return too_long(folder);
    snprintf(pattern, sizeof pattern, "%s/" PACKAGES "%s", quoted, place);
    const int failed = glob(pattern, GLOB_BRACE | GLOB_NOSORT | (is_first ? 0 : GLOB_APPEND), NULL, found);
    return failed == GLOB_NOSPACE ? MST_NO_MEMORY("to look for a plugin") : MST_OK;
}

/* Whether A and B are the same file: lib64 may be a link to lib, so a file may be found twice. */
static bool is_same(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static mst_status choose(const char *type, const char *folder, const glob_t *found, char path[MST_PJRT_PATH]) {
    const char *first = found->gl_pathc ? found->gl_pathv[0] : NULL;
    if (!first)
        return MST_FAIL(MST_NOT_FOUND,
                        "MUSTER_PJRT_PLUGIN: the folder '%s' has no plugin for devices of the type '%s': install one "
                        "there, or name its file",
                        folder, type);
    for (size_t i = 1; i < found->gl_pathc; i++)
        if (!is_same(first, found->gl_pathv[i]))
            return MST_FAIL(
                MST_UNAVAILABLE,
                "MUSTER_PJRT_PLUGIN: the folder '%s' has several plugins for devices of the type '%s': name "
                "the file of one, such as '%s'",
                folder, type, first);
    if ((size_t)snprintf(path, MST_PJRT_PATH, "%s", first) < MST_PJRT_PATH) return MST_OK;
    return too_long(first);
}

static mst_status look_in(const char *type, const char *folder, const char *const *places, char path[MST_PJRT_PATH]) {
    glob_t found = {0};
    mst_status status = MST_OK;
    for (int i = 0; places[i] && !status; i++) status = look_at(folder, places[i], i == 0, &found);
    if (!status) status = choose(type, folder, &found, path);
    globfree(&found);
    return status;
}

/* secure_getenv is used because the environment of a setuid program is not trusted. */
mst_status mst_pjrt_find_plugin(const char *type, const char *const *places, char path[MST_PJRT_PATH]) {
    const char *named = secure_getenv("MUSTER_PJRT_PLUGIN");
    struct stat info;
    if (!named || !*named)
        return MST_FAIL(MST_UNAVAILABLE,
                        "devices of the type '%s' need a plugin of PJRT: set MUSTER_PJRT_PLUGIN to its file, or to the "
                        "folder of a Python environment that has it",
                        type);
    if (stat(named, &info))
        return MST_FAIL(MST_UNAVAILABLE, "MUSTER_PJRT_PLUGIN: '%s': %s: name a plugin of PJRT", named, strerror(errno));
    if (S_ISDIR(info.st_mode)) return look_in(type, named, places, path);
    /* a slash is needed: dlopen searches the system's folders for a name without one */
    if ((size_t)snprintf(path, MST_PJRT_PATH, "%s%s", strchr(named, '/') ? "" : "./", named) < MST_PJRT_PATH)
        return MST_OK;
    return too_long(named);
}
