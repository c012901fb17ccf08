#include "data/pictures/mask_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "data/pictures/decode.h"
#include "data/pictures/resize.h"
#include "format/image.h"
#include "format/png_encode.h"

/* ---- names ---- */

/* The length of the folder part of PATH, with its slash. */
static size_t folder_size(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The length of the folder, with its slash, that all paths are in. */
static size_t common_folder(const char *const *paths, int64_t count) {
    size_t common = count > 0 ? folder_size(paths[0]) : 0;
    for (int64_t i = 1; i < count; i++) {
        size_t same = 0;
        while (same < common && paths[i][same] == paths[0][same]) same++;
        while (same > 0 && paths[0][same - 1] != '/') same--;
        common = same;
    }
    return common;
}

/* The part of PATH within one of the folders ROOTS; its last part if no root is a folder above it. */
static const char *path_within(const char *path, const char *const *roots, int num_roots) {
    for (int i = 0; i < num_roots; i++) {
        size_t size = strlen(roots[i]);
        while (size > 1 && roots[i][size - 1] == '/') size--;
        if (strncmp(path, roots[i], size) != 0) continue;
        if (path[size] == '/' || roots[i][size - 1] == '/') return path + size + strspn(path + size, "/");
    }
    return path + folder_size(path);
}

/* Whether NAME is a path that stays within its folder. */
static bool stays_within(const char *name) {
    for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
        const size_t size = strcspn(part, "/");
        if (!size || (size == 1 && *part == '.') || (size == 2 && part[0] == '.' && part[1] == '.')) return false;
    }
    return true;
}

/* PART with the suffix of a PNG in place of its own. NULL: memory runs out. */
static char *with_suffix(const char *part) {
    const char *dot = strrchr(part + folder_size(part), '.');
    char *name;
    return asprintf(&name, "%.*s.png", dot ? (int)(dot - part) : (int)strlen(part), part) < 0 ? NULL : name;
}

typedef struct mask_place {
    const char *name, *path;
    dev_t device;
    ino_t number;
} mask_place;

static int mask_compare_names(const void *a, const void *b) {
    return strcmp(((const mask_place *)a)->name, ((const mask_place *)b)->name);
}

static int mask_compare_files(const void *a, const void *b) {
    const mask_place *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static mst_status check_twins(mask_place *places, int64_t count) {
    qsort(places, (size_t)count, sizeof *places, mask_compare_names);
    for (int64_t i = 1; i < count; i++)
        if (strcmp(places[i - 1].name, places[i].name) == 0)
            return MST_FAIL(MST_INVALID,
                            "'%s' and '%s' would have one mask, '%s': call one of them otherwise, or name their folder",
                            places[i - 1].path, places[i].path, places[i].name);
    return MST_OK;
}

/* Fails if a mask in FOLDER would replace one of the pictures. */
static mst_status check_pictures(mask_place *places, int64_t count, const mst_mask_names *names, const char *folder) {
    struct stat info;
    const char *slash = *folder && folder[strlen(folder) - 1] == '/' ? "" : "/";
    for (int64_t i = 0; i < count; i++)
        if (!stat(places[i].path, &info)) places[i].device = info.st_dev, places[i].number = info.st_ino;
    qsort(places, (size_t)count, sizeof *places, mask_compare_files);
    for (int64_t i = 0; i < count; i++) {
        char *path;
        if (asprintf(&path, "%s%s%s", folder, slash, names->name[i]) < 0)
            return MST_NO_MEMORY("for the name of a mask");
        const bool is_there = stat(path, &info) == 0;
        const int error = is_there ? 0 : errno;
        free(path);
        if (error && error != ENOENT && error != ENOTDIR)
            return MST_FAIL(MST_IO, "'%s%s%s': cannot be looked at (%s): name another folder", folder, slash,
                            names->name[i], strerror(error));
        const mask_place key = {.device = info.st_dev, .number = info.st_ino};
        if (is_there && bsearch(&key, places, (size_t)count, sizeof *places, mask_compare_files))
            return MST_FAIL(MST_INVALID,
                            "'%s%s%s' is one of the pictures, and a mask would replace it: name another folder", folder,
                            slash, names->name[i]);
    }
    return MST_OK;
}

mst_status mst_mask_names_make(const char *const *paths, int64_t count, const char *const *roots, int num_roots,
                               const char *folder, mst_mask_names *out) {
    const size_t common = num_roots ? 0 : common_folder(paths, count);
    mask_place *places = calloc((size_t)count + 1, sizeof *places);
    *out = (mst_mask_names){.name = calloc((size_t)count + 1, sizeof *out->name)};
    mst_status status = places && out->name ? MST_OK : MST_NO_MEMORY("for the names of masks");
    for (int64_t i = 0; i < count && !status; i++) {
        const char *part = num_roots ? path_within(paths[i], roots, num_roots) : paths[i] + common;
        if (!stays_within(part))
            status = MST_FAIL(MST_INVALID, "'%s': its mask would be outside of '%s': name pictures of one folder",
                              paths[i], folder);
        else if (!(out->name[i] = with_suffix(part)))
            status = MST_NO_MEMORY("for the name of a mask");
        else
            places[out->count++] = (mask_place){.name = out->name[i], .path = paths[i]};
    }
    if (!status) status = check_twins(places, count);
    if (!status) status = check_pictures(places, count, out, folder);
    free(places);
    return status;
}

void mst_mask_names_free(mst_mask_names *names) {
    for (int64_t i = 0; i < names->count; i++) free(names->name[i]);
    free(names->name);
    *names = (mst_mask_names){.count = 0};
}

/* ---- files ---- */

/* Writes to the file NAME, which may have folders in it. FOLDER is open and stays so. */
static mst_status write_within(const mst_folder *folder, const char *name, const void *data, size_t size) {
    const char *slash = strchr(name, '/');
    char part[256];
    mst_folder inner;
    if (!slash) return mst_file_write_in(folder, name, data, size);
    if ((size_t)(slash - name) >= sizeof part) return MST_FAIL(MST_INVALID, "'%s': the name is too long", name);
    snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
    MST_TRY(mst_folder_open_in(folder, part, &inner));
    const mst_status status = write_within(&inner, slash + 1, data, size);
    mst_folder_close(&inner);
    return status;
}

static mst_status write_png(const char *folder, const char *name, const uint8_t *pixels, int64_t height,
                            int64_t width) {
    mst_folder open;
    void *png;
    size_t size;
    MST_TRY(mst_folder_make(folder));
    MST_TRY(mst_png_encode(pixels, height, width, 1, &png, &size));
    mst_status status = mst_folder_open(folder, &open);
    if (!status) {
        status = write_within(&open, name, png, size);
        mst_folder_close(&open);
    }
    free(png);
    return status;
}

mst_status mst_mask_write(const char *folder, const char *name, const char *picture, uint8_t *classes, int64_t height,
                          int64_t width) {
    int64_t own_height, own_width;
    MST_TRY(mst_picture_size(picture, &own_height, &own_width));
    const mst_image image = {.pixels = classes, .height = height, .width = width, .channels = 1};
    uint8_t *resized = malloc((size_t)(own_height * own_width));
    if (!resized) return MST_NO_MEMORY("for a mask");
    mst_status status = mst_resize(MST_RESIZE_NEAREST, &image, MST_U8, resized, own_height, own_width);
    if (!status) status = write_png(folder, name, resized, own_height, own_width);
    free(resized);
    return status;
}
