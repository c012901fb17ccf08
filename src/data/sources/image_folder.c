#include "data/sources/image_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/folder.h"
#include "base/no_memory.h"

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_image(const char *name) {
    static const char *const endings[] = {".png", ".jpg", ".jpeg"};
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(ending, endings[i]) == 0) return true;
    return false;
}

static void free_names(char **names, int64_t n) {
    for (int64_t i = 0; i < n; i++) free(names[i]);
    free(names);
}

static mst_status image_folder_add(char ***names, int64_t *n, char *name) {
    char **grown = (*n & (*n - 1)) ? *names : realloc(*names, (size_t)(*n ? 2 * *n : 1) * sizeof *grown);
    if (grown) *names = grown;
    if (grown && name) {
        grown[(*n)++] = name;
        return MST_OK;
    }
    free(name);
    return MST_NO_MEMORY("for the names of files");
}

/* Whether NAME in DIR is a folder, or else a file. A link that leads nowhere is neither; what cannot be looked at is
 * not left out: the other pictures would be another data set. */
static mst_status is_of_kind(DIR *list, const char *dir, const char *name, bool folder, bool *out) {
    struct stat info;
    *out = fstatat(dirfd(list), name, &info, 0) == 0;
    if (!*out && errno != ENOENT)
        return MST_FAIL(MST_IO, "'%s/%s' cannot be looked at: %s", dir, name, strerror(errno));
    *out = *out && S_ISDIR(info.st_mode) == folder;
    return MST_OK;
}

/* Names in DIR of folders, or else of pictures; sorted, and to be freed. */
static mst_status list(const char *dir, bool folders, char ***names, int64_t *n) {
    mst_status status = MST_OK;
    DIR *open = opendir(dir);
    if (!open)
        return MST_FAIL(errno == ENOENT    ? MST_NOT_FOUND
                        : errno == ENOTDIR ? MST_INVALID
                                           : MST_IO,
                        "'%s': cannot be read as a folder of pictures: %s: check the path", dir, strerror(errno));
    for (const struct dirent *entry; !status;) {
        bool wanted;
        status = mst_folder_next(open, dir, &entry);
        if (status || !entry) break;
        if (entry->d_name[0] == '.' || (!folders && !is_image(entry->d_name))) continue;
        status = is_of_kind(open, dir, entry->d_name, folders, &wanted);
        if (!status && wanted) status = image_folder_add(names, n, strdup(entry->d_name));
    }
    closedir(open);
    if (*n > 1) qsort(*names, (size_t)*n, sizeof **names, compare);
    return status;
}

/* Adds the pictures of the folder DIR itself. */
static mst_status add_pictures(mst_image_folder *folder, const char *dir) {
    char **names = NULL;
    int64_t n = 0;
    mst_status status = list(dir, false, &names, &n);
    for (int64_t i = 0; i < n && !status; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", dir, names[i]) < 0) path = NULL;
        status = image_folder_add(&folder->path, &folder->num_files, path);
    }
    free_names(names, n);
    return status;
}

static mst_status list_class(mst_image_folder *folder, const char *dir, int64_t label) {
    const int64_t before = folder->num_files;
    char *sub = NULL;
    if (asprintf(&sub, "%s/%s", dir, folder->class_name[label]) < 0) return MST_NO_MEMORY("for the name of a folder");
    mst_status status = add_pictures(folder, sub);
    free(sub);
    int64_t *grown = realloc(folder->label, (size_t)(folder->num_files + 1) * sizeof *grown);
    if (grown) folder->label = grown;
    if (!status && !grown) status = MST_NO_MEMORY("for the labels of pictures");
    for (int64_t i = before; i < folder->num_files && !status; i++) folder->label[i] = label;
    return status;
}

mst_status mst_image_folder_list(const char *dir, mst_image_folder *out) {
    *out = (mst_image_folder){0};
    MST_TRY(list(dir, true, &out->class_name, &out->num_classes));
    for (int64_t i = 0; i < out->num_classes; i++) MST_TRY(list_class(out, dir, i));
    if (out->num_files) return MST_OK;
    return MST_FAIL(MST_NOT_FOUND, "'%s': has no folder with .png, .jpg or .jpeg files: a folder for each class is due",
                    dir);
}

static mst_status take_path(mst_image_folder *folder, const char *path) {
    const int64_t before = folder->num_files;
    struct stat info;
    if (stat(path, &info))
        return MST_FAIL(errno == ENOENT || errno == ENOTDIR ? MST_NOT_FOUND : MST_IO, "'%s': %s", path,
                        strerror(errno));
    if (!S_ISDIR(info.st_mode)) return image_folder_add(&folder->path, &folder->num_files, strdup(path));
    MST_TRY(add_pictures(folder, path));
    if (folder->num_files > before) return MST_OK;
    return MST_FAIL(MST_NOT_FOUND, "'%s': the folder has no .png, .jpg or .jpeg files of its own", path);
}

mst_status mst_image_folder_take(const char *const *paths, int n, mst_image_folder *out) {
    *out = (mst_image_folder){0};
    for (int i = 0; i < n; i++) MST_TRY(take_path(out, paths[i]));
    return out->num_files ? MST_OK : MST_FAIL(MST_INVALID, "there are no pictures: name files or folders");
}

mst_status mst_image_folder_name_classes(mst_image_folder *folder, const char *const *names, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        MST_TRY(image_folder_add(&folder->class_name, &folder->num_classes, strdup(names[i])));
    return MST_OK;
}

mst_status mst_image_folder_match(mst_image_folder *folder, const char *dir, const mst_image_folder *like) {
    for (int64_t i = 0; i < folder->num_files; i++) {
        char **name = &folder->class_name[folder->label[i]];
        char **found = bsearch(name, like->class_name, (size_t)like->num_classes, sizeof *name, compare);
        if (!found) return MST_FAIL(MST_INVALID, "'%s': class '%s' was not there in training", dir, *name);
        folder->label[i] = found - like->class_name;
    }
    return MST_OK;
}

void mst_image_folder_free(mst_image_folder *folder) {
    free_names(folder->class_name, folder->num_classes);
    free_names(folder->path, folder->num_files);
    free(folder->label);
    *folder = (mst_image_folder){0};
}
