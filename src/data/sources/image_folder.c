#include "data/sources/image_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/cannot_open.h"
#include "base/folder.h"
#include "base/long_work.h"
#include "base/no_memory.h"
#include "format/image.h"

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_image(const char *name) {
    static const char *const endings[] = {".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".webp", ".gif", ".bmp", ".dib"};
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(ending, endings[i]) == 0) return true;
    return false;
}

/* Kinds of pictures that are not read. */
static const struct {
    const char *ending;
    enum { TIFF, HEIC, AVIF, PNM, NUM_OTHERS } kind;
} others[] = {{".tif", TIFF},  {".tiff", TIFF}, {".heic", HEIC}, {".heif", HEIC},
              {".avif", AVIF}, {".ppm", PNM},   {".pgm", PNM}};
enum { NUM_ENDINGS = sizeof others / sizeof *others };
static const char *const kind_names[NUM_OTHERS] = {"TIFF", "HEIC", "AVIF", "PNM"};

/* Files in a listing that are not taken: pictures of kinds that are not read, how many of each kind and the first of
 * them, which are an error; and others, which are counted. */
typedef struct left_out {
    mst_files_left_out files;
    int64_t count[NUM_OTHERS];
    char *path; /* path of the first; NULL: there is none */
    int kind;   /* kind of the first */
} left_out;

/* Notes NAME in DIR, which is a file without the suffix of a picture that is read. */
static mst_status note_other(left_out *left, const char *dir, const char *name) {
    const char *ending = strrchr(name, '.');
    size_t i = 0;
    while (i < NUM_ENDINGS && (!ending || strcasecmp(ending, others[i].ending) != 0)) i++;
    if (i == NUM_ENDINGS) {
        left->files.no_pictures++;
        return MST_OK;
    }
    left->count[others[i].kind]++;
    if (left->path) return MST_OK;
    left->kind = (int)others[i].kind;
    if (asprintf(&left->path, "%s/%s", dir, name) >= 0) return MST_OK;
    left->path = NULL;
    return MST_NO_MEMORY("for the name of a file");
}

/* MST_INVALID if LEFT has pictures, unless STATUS is an error already. Frees LEFT. */
static mst_status check_left_out(left_out *left, mst_status status) {
    char list[256] = "";
    for (int i = 0; i < NUM_OTHERS; i++) {
        const size_t used = strlen(list);
        if (left->count[i])
            snprintf(list + used, sizeof list - used, "%s%lld %s", used ? ", " : "", (long long)left->count[i],
                     kind_names[i]);
    }
    if (!status && left->path)
        status =
            MST_FAIL(MST_INVALID,
                     "'%s': %s pictures are not read, only %s (%s in all): convert them to one of these, or take them "
                     "out",
                     left->path, kind_names[left->kind], MST_IMAGE_FORMATS, list);
    free(left->path);
    return status;
}

static void free_names(char **names, int64_t n) {
    for (int64_t i = 0; i < n; i++) free(names[i]);
    free(names);
}

/* Adds NAME, or frees it if memory is short. The array is full when *N is 0 or a power of 2, and is doubled then. */
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

enum { A_FOLDER, A_FILE, AN_EMPTY_FILE, A_BROKEN_LINK };

/* What NAME in DIR is. A name that cannot be examined is an error: without its pictures this would be another data
 * set. */
static mst_status find_kind(DIR *list, const char *dir, const char *name, int *out) {
    struct stat info;
    *out = A_BROKEN_LINK;
    if (fstatat(dirfd(list), name, &info, 0) == 0)
        *out = S_ISDIR(info.st_mode) ? A_FOLDER : S_ISREG(info.st_mode) && !info.st_size ? AN_EMPTY_FILE : A_FILE;
    else if (errno != ENOENT)
        return MST_FAIL(MST_IO, "'%s/%s' cannot be looked at: %s", dir, name, strerror(errno));
    return MST_OK;
}

/* Sets *WANTED if NAME in DIR, which is of KIND, is a picture that is taken; otherwise counts it. */
static mst_status want_picture(left_out *left, const char *dir, const char *name, int kind, bool *wanted) {
    *wanted = kind == A_FILE && is_image(name);
    if (*wanted || kind == A_FOLDER) return MST_OK;
    if (!is_image(name)) return note_other(left, dir, name);
    if (kind == AN_EMPTY_FILE)
        left->files.empty++;
    else
        left->files.broken_links++;
    return MST_OK;
}

/* Lists the names in DIR: of folders if LEFT is NULL, else of pictures. The names are sorted; free them. Adds files
 * that are not taken to LEFT. */
static mst_status list(const char *dir, char ***names, int64_t *n, left_out *left) {
    mst_status status = MST_OK;
    DIR *open = opendir(dir);
    if (!open) return mst_cannot_open(dir, "folder");
    for (const struct dirent *entry; !status;) {
        bool wanted = false;
        int kind;
        status = mst_folder_next(open, dir, &entry);
        if (status || !entry) break;
        if (entry->d_name[0] == '.') {
            if (left && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) left->files.hidden++;
            continue;
        }
        status = find_kind(open, dir, entry->d_name, &kind);
        if (!status && left)
            status = want_picture(left, dir, entry->d_name, kind, &wanted);
        else if (!status)
            wanted = kind == A_FOLDER;
        if (!status && wanted) status = image_folder_add(names, n, strdup(entry->d_name));
    }
    closedir(open);
    if (*n > 1) qsort(*names, (size_t)*n, sizeof **names, compare);
    return status;
}

/* A listing in progress of a folder and its subfolders. */
typedef struct listing {
    mst_image_folder *out;
    left_out *left;
    int64_t num_links; /* links to folders followed so far: two links per level lead to 2^n folders n levels below */
} listing;
enum { MOST_LINKS = 10000 };

/* The current folder and those above it. A link back to any of them would be followed forever. */
typedef struct way {
    const struct way *above; /* the folder above; NULL: none */
    dev_t device;
    ino_t number;
} way;

/* Fills HERE for the folder DIR, which lies in ABOVE. MST_INVALID for a link to a folder that DIR lies in. */
static mst_status find_here(listing *w, const char *dir, const way *above, way *here) {
    struct stat info, link;
    if (stat(dir, &info) || lstat(dir, &link)) return mst_cannot_open(dir, "folder");
    *here = (way){above, info.st_dev, info.st_ino};
    for (; above; above = above->above)
        if (above->device == here->device && above->number == here->number)
            return MST_FAIL(MST_INVALID, "'%s': is a link to a folder that it lies in itself: remove the link", dir);
    w->num_links += S_ISLNK(link.st_mode);
    if (w->num_links > MOST_LINKS)
        return MST_FAIL(MST_INVALID,
                        "'%s': more than %d folders are listed because links lead to them: take out links that lead to "
                        "the same folders",
                        dir, MOST_LINKS);
    return MST_OK;
}

static mst_status add_pictures(listing *w, const char *dir, const way *above);

static mst_status add_below(listing *w, const char *dir, const way *here) {
    char **names = NULL;
    int64_t n = 0;
    mst_status status = list(dir, &names, &n, NULL);
    for (int64_t i = 0; i < n && !status; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", dir, names[i]) < 0) path = NULL;
        status = path ? add_pictures(w, path, here) : MST_NO_MEMORY("for the name of a folder");
        free(path);
    }
    free_names(names, n);
    return status;
}

/* Adds the pictures in DIR, then those of its subfolders. */
static mst_status add_pictures(listing *w, const char *dir, const way *above) {
    char **names = NULL;
    int64_t n = 0;
    way here;
    mst_status status = list(dir, &names, &n, w->left);
    if (!status) status = find_here(w, dir, above, &here);
    for (int64_t i = 0; i < n && !status; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", dir, names[i]) < 0) path = NULL;
        status = image_folder_add(&w->out->path, &w->out->num_files, path);
    }
    free_names(names, n);
    return status ? status : add_below(w, dir, &here);
}

static mst_status list_class(mst_image_folder *folder, const char *dir, int64_t label, left_out *left) {
    const int64_t before = folder->num_files;
    char *sub = NULL;
    if (asprintf(&sub, "%s/%s", dir, folder->class_name[label]) < 0) return MST_NO_MEMORY("for the name of a folder");
    mst_status status = add_pictures(&(listing){.out = folder, .left = left}, sub, NULL);
    free(sub);
    int64_t *grown = realloc(folder->label, (size_t)(folder->num_files + 1) * sizeof *grown);
    if (grown) folder->label = grown;
    if (!status && !grown) status = MST_NO_MEMORY("for the labels of pictures");
    for (int64_t i = before; i < folder->num_files && !status; i++) folder->label[i] = label;
    return status;
}

/* MST_INVALID if there are pictures in DIR itself, which belong to no class. */
static mst_status check_stray(const char *dir, left_out *left) {
    char **names = NULL;
    int64_t n = 0;
    mst_status status = list(dir, &names, &n, left);
    if (!status && n)
        status = MST_FAIL(MST_INVALID,
                          "'%s/%s': is a picture beside the folders of the classes, the first of %lld there: move each "
                          "into the folder of its class",
                          dir, names[0], (long long)n);
    free_names(names, n);
    return status;
}

/* MST_INVALID if all folders are named like parts of a data set, as in DIR/Training/cat: these are no classes. */
static mst_status check_parts(const char *dir, const mst_image_folder *folder) {
    static const char *const parts[] = {"train", "training", "test", "testing", "val", "valid", "validation", "eval"};
    int64_t num_parts = 0;
    for (int64_t i = 0; i < folder->num_classes; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            num_parts += strcasecmp(folder->class_name[i], parts[k]) == 0;
    if (num_parts < 2 || num_parts < folder->num_classes) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "'%s': its folders '%s' and '%s' are parts of the data, not classes: call them train and test, or "
                    "give one of them",
                    dir, folder->class_name[0], folder->class_name[1]);
}

static mst_status list_classes(const char *dir, mst_image_folder *out, left_out *left) {
    MST_TRY(list(dir, &out->class_name, &out->num_classes, NULL));
    mst_status status = MST_OK;
    mst_long_work_begin(MST_LONG_WORK_READING, dir, "folders", (uint64_t)out->num_classes);
    for (int64_t i = 0; i < out->num_classes && !status; i++) {
        mst_long_work_step((uint64_t)i);
        status = list_class(out, dir, i, left);
    }
    mst_long_work_end();
    return status;
}

mst_status mst_image_folder_list(const char *dir, mst_image_folder *out) {
    left_out left = {.path = NULL};
    *out = (mst_image_folder){0};
    mst_status status = list_classes(dir, out, &left);
    const bool found = out->num_files;
    if (!status && found) status = check_stray(dir, &left);
    out->has_pictures = found || left.path;
    out->left_out = left.files;
    MST_TRY(check_left_out(&left, status));
    if (found) return check_parts(dir, out);
    return MST_FAIL(MST_NOT_FOUND, "'%s': has no folder with pictures: a folder for each class is due", dir);
}

mst_status mst_image_folder_check_classes(const char *dir, const mst_image_folder *folder) {
    for (int64_t i = 0; i < folder->num_classes; i++) {
        int64_t count = 0;
        for (int64_t k = 0; k < folder->num_files; k++) count += folder->label[k] == i;
        if (!count)
            return MST_FAIL(MST_INVALID,
                            "'%s/%s': is the folder of a class, and has no pictures: fill it, or remove it", dir,
                            folder->class_name[i]);
    }
    return MST_OK;
}

static mst_status take_path(mst_image_folder *folder, const char *path, left_out *left) {
    const int64_t before = folder->num_files;
    struct stat info;
    if (stat(path, &info)) return mst_cannot_open(path, "file or folder");
    if (!S_ISDIR(info.st_mode)) return image_folder_add(&folder->path, &folder->num_files, strdup(path));
    MST_TRY(add_pictures(&(listing){.out = folder, .left = left}, path, NULL));
    if (folder->num_files > before || left->path) return MST_OK;
    return MST_FAIL(MST_NOT_FOUND, "'%s': the folder has no pictures, PNG, JPEG, WebP, GIF or BMP: check the path",
                    path);
}

mst_status mst_image_folder_take(const char *const *paths, int n, mst_image_folder *out) {
    left_out left = {.path = NULL};
    mst_status status = MST_OK;
    *out = (mst_image_folder){0};
    for (int i = 0; i < n && !status; i++) status = take_path(out, paths[i], &left);
    out->left_out = left.files;
    MST_TRY(check_left_out(&left, status));
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
