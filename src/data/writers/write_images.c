/* Writes images:DIR, a folder of PNG files for each class: DIR/cat/00007.png has row 7. If there is a test part, they
 * are in DIR/train and DIR/test. The folder is made under another name beside DIR and renamed when it is complete, so
 * that no half-written DIR is ever visible. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/long_work.h"
#include "base/no_memory.h"
#include "data/writers/write.h"
#include "format/png_encode.h"

enum { PATH_SIZE = 4096, MOST_CLASSES = 100000, LEAST_DIGITS = 5, OPEN_FOLDERS = 16 };

/* The part (train or test) that is being written, and its folder. */
typedef struct part {
    const char *folder;
    mst_dataset *rows;
    mst_tensor *labels; /* the labels of all rows */
    int64_t num_classes;
    int row_digits, class_digits;
    uint8_t *pixels; /* the pixels of one row */
} part;

static int digits_of(int64_t n) {
    return snprintf(NULL, 0, "%" PRId64, n);
}

static mst_status failed(const char *path) {
    return MST_FAIL(MST_IO, "'%s': cannot be written: %s", path, strerror(errno));
}

/* ---- classes ---- */

static mst_status write_images_check(const mst_dataset *rows) {
    char shape[MST_SHAPE_TEXT];
    const mst_shape s = rows->row[0].shape;
    if (rows->num_components < 2)
        return MST_FAIL(MST_INVALID, "images: there are no labels, which tell the folder of a picture");
    if (rows->row[0].dtype != MST_U8 || s.ndim < 2 || s.ndim > 3 ||
        (s.ndim == 3 && s.dim[2] != 1 && s.dim[2] != 3 && s.dim[2] != 4))
        return MST_FAIL(MST_INVALID,
                        "images: inputs are %s %s: pictures are u8 [height, width] or [height, width, channels] "
                        "with 1, 3 or 4 channels",
                        mst_dtype_name(rows->row[0].dtype), mst_shape_print(s, shape, sizeof shape));
    if (mst_shape_count(rows->row[1].shape) == 1 && mst_convert_find(rows->row[1].dtype, MST_I64)) return MST_OK;
    return MST_FAIL(MST_INVALID, "images: labels are %s %s: the number of a class is due",
                    mst_dtype_name(rows->row[1].dtype), mst_shape_print(rows->row[1].shape, shape, sizeof shape));
}

/* Checks that the name of a class can be the name of one folder, which reading will find again. */
static mst_status check_name(const char *name) {
    if (*name && *name != '.' && strlen(name) < 256) return MST_OK;
    return MST_FAIL(MST_INVALID, "images: a class has the name '%.64s', which cannot be that of a folder: rename it",
                    name);
}

static mst_status class_path(const part *p, int64_t label, char path[PATH_SIZE]) {
    const char *name = mst_dataset_class_name(p->rows, 1, label);
    int size;
    if (name) {
        MST_TRY(check_name(name));
        size = snprintf(path, PATH_SIZE, "%s/%s", p->folder, name);
        for (char *c = path + strlen(p->folder) + 1; size < PATH_SIZE && (c = strchr(c, '/'));) *c = '_';
    } else {
        size = snprintf(path, PATH_SIZE, "%s/%0*" PRId64, p->folder, p->class_digits, label);
    }
    return size < 0 || size >= PATH_SIZE ? MST_FAIL(MST_INVALID, "data: the path of the folder is too long") : MST_OK;
}

static mst_status count_classes(part *p) {
    p->num_classes = mst_dataset_num_classes(p->rows, 1);
    const bool named = p->num_classes > 0;
    for (int64_t i = 0; i < mst_tensor_count(p->labels); i++) {
        const double label = mst_tensor_get(p->labels, i);
        if (label < 0 || label >= (double)(named ? p->num_classes : MOST_CLASSES))
            return MST_FAIL(MST_INVALID, "images: label %.0f of row %lld is of no class: 0 to %lld are possible", label,
                            (long long)i, (long long)(named ? p->num_classes : MOST_CLASSES) - 1);
        if (label >= (double)p->num_classes) p->num_classes = (int64_t)label + 1;
    }
    return MST_OK;
}

static mst_status make_folder(const char *path) {
    return mkdir(path, 0777) ? failed(path) : MST_OK;
}

/* Makes the folders of all classes, also of those without rows, so that the classes keep their numbers. */
static mst_status make_classes(const part *p) {
    char path[PATH_SIZE];
    for (int64_t i = 0; i < p->num_classes; i++) {
        MST_TRY(class_path(p, i, path));
        MST_TRY(make_folder(path));
    }
    return MST_OK;
}

/* ---- pictures ---- */

/* Writes a file without syncing it: all files are synced together at the end. */
static mst_status write_file(const char *path, const uint8_t *data, size_t size) {
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return failed(path);
    mst_status status = MST_OK;
    for (ssize_t written; size && !status; data += written, size -= (size_t)written) {
        written = write(file, data, size);
        if (written < 0 && errno == EINTR) written = 0;
        if (written < 0) {
            status = failed(path);
            break;
        }
    }
    if (close(file) && !status) status = failed(path);
    return status;
}

static mst_status write_picture(const part *p, int64_t row) {
    char path[PATH_SIZE];
    void *png;
    size_t size;
    const mst_shape shape = p->rows->row[0].shape;
    MST_TRY(class_path(p, (int64_t)mst_tensor_get(p->labels, row), path));
    const size_t used = strlen(path);
    const int added = snprintf(path + used, sizeof path - used, "/%0*" PRId64 ".png", p->row_digits, row);
    if ((size_t)added >= sizeof path - used) return MST_FAIL(MST_INVALID, "data: the path of the folder is too long");
    MST_TRY(mst_png_encode(p->pixels, shape.dim[0], shape.dim[1], shape.ndim > 2 ? shape.dim[2] : 1, &png, &size));
    const mst_status status = write_file(path, png, size);
    free(png);
    return status;
}

static mst_status write_pictures(const part *p) {
    mst_iterator *it;
    mst_status status = MST_OK;
    MST_TRY(mst_iterator_create(p->rows, 0, &it));
    mst_long_work_begin(MST_LONG_WORK_WRITING, p->folder, "pictures", (uint64_t)mst_tensor_count(p->labels));
    for (int64_t row = 0; row < mst_tensor_count(p->labels) && !status; row++) {
        const mst_batch *batch;
        mst_long_work_step((uint64_t)row);
        status = mst_iterator_next(it, &batch);
        if (!status && !batch) status = MST_FAIL(MST_INTERNAL, "images: rows are missing");
        if (!status) status = mst_batch_copy(batch, 0, 0, 1, p->pixels);
        if (!status) status = write_picture(p, row);
    }
    mst_long_work_end();
    mst_iterator_destroy(it);
    return status;
}

static mst_status write_part(const char *folder, mst_dataset *rows, int64_t *num_classes) {
    part p = {.folder = folder, .rows = rows, .pixels = malloc(mst_dataset_row_bytes(rows, 0) + 1)};
    mst_status status = p.pixels ? MST_OK : MST_NO_MEMORY("for a picture");
    if (!status) status = mst_write_gather(rows, 1, &p.labels);
    if (!status) status = count_classes(&p);
    if (!status) {
        if (p.num_classes < *num_classes) p.num_classes = *num_classes;
        *num_classes = p.num_classes;
        p.class_digits = digits_of(p.num_classes - 1);
        p.row_digits = digits_of(mst_tensor_count(p.labels) - 1);
        if (p.row_digits < LEAST_DIGITS) p.row_digits = LEAST_DIGITS;
        status = make_classes(&p);
    }
    if (!status) status = write_pictures(&p);
    mst_tensor_release(p.labels);
    free(p.pixels);
    return status;
}

/* ---- folders ---- */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place) {
    (void)info, (void)type, (void)place;
    return remove(path);
}

/* An error if PATH exists and is not empty: its contents would be lost, or mixed with the new files. */
static mst_status check_free(const char *path) {
    DIR *folder = opendir(path);
    int entries = 0;
    if (!folder && errno == ENOENT) return MST_OK;
    if (!folder) return MST_FAIL(MST_INVALID, "'%s': is no folder that could be written: %s", path, strerror(errno));
    while (readdir(folder)) entries++;
    closedir(folder);
    if (entries <= 2) return MST_OK; /* . and .. */
    return MST_FAIL(MST_EXISTS, "'%s': is there and not empty: remove it, or name another folder", path);
}

static mst_status write_folders(const char *side, mst_dataset *train, mst_dataset *test) {
    char path[PATH_SIZE];
    int64_t num_classes = 0;
    if (!test) return write_part(side, train, &num_classes);
    snprintf(path, sizeof path, "%s/train", side);
    MST_TRY(make_folder(path));
    MST_TRY(write_part(path, train, &num_classes));
    snprintf(path, sizeof path, "%s/test", side);
    MST_TRY(make_folder(path));
    return write_part(path, test, &num_classes);
}

/* Syncs all files to disk, and then renames the folder. */
static mst_status commit(const char *side, const char *path) {
    const int folder = open(side, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = folder >= 0 && syncfs(folder) == 0;
    mst_status status = synced ? MST_OK : failed(side);
    if (folder >= 0) close(folder);
    if (!status && rename(side, path)) status = failed(path);
    if (!status) mst_file_sync_folder(path);
    return status;
}

static mst_status write_images(const char *argument, mst_dataset *train, mst_dataset *test,
                               const mst_write_options *options) {
    char path[PATH_SIZE], side[PATH_SIZE], name[MST_FILE_SIDE_SIZE];
    size_t size = strlen(argument);
    (void)options;
    while (size > 1 && argument[size - 1] == '/') size--;
    const int length = snprintf(path, sizeof path, "%.*s", (int)size, argument);
    const char *slash = strrchr(path, '/');
    const int begin = slash ? (int)(slash - path) + 1 : 0;
    if (length >= PATH_SIZE - 64) return MST_FAIL(MST_INVALID, "data: the path of the folder is too long");
    mst_file_side_name(name);
    snprintf(side, sizeof side, "%.*s%s", begin, path, name);
    MST_TRY(write_images_check(train));
    if (test) MST_TRY(write_images_check(test));
    MST_TRY(check_free(path));
    MST_TRY(make_folder(side));
    mst_status status = write_folders(side, train, test);
    if (!status) status = commit(side, path);
    if (status) nftw(side, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    return status;
}

const mst_data_writer mst_data_writer_images = {.name = "images:", .form = "images:DIR", .write = write_images};
