/* Data specs: one line of text that names a dataset. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/argument.h"
#include "base/nearest.h"
#include "data/tfrecord_spec.h"
#include "format/npz.h"
#include "muster/dataset.h"

enum { PATH_SIZE = 4096, WORD_SIZE = 64 };

typedef struct spec_kind {
    const char *name; /* with the colon where an argument follows */
    const char *form;
    mst_status (*open)(const char *argument, bool test, mst_dataset **out);
    mst_status (*open_with)(const char *argument, bool test, const mst_data_options *options, mst_dataset **out);
} spec_kind;

static const char fashion_mnist_folder[] = "/usr/share/datasets/fashion-mnist";

static bool is_folder(const char *path) {
    struct stat info;
    if (stat(path, &info)) return false;
    if (!S_ISDIR(info.st_mode)) errno = ENOTDIR;
    return S_ISDIR(info.st_mode);
}

/* The error where PATH cannot be examined, because of a permission or a loop of links: the file may exist. */
static mst_status cannot_look(const char *path) {
    return MST_FAIL(MST_IO, "data: '%s' cannot be reached: %s", path, strerror(errno));
}

/* The path of a file that may be plain or gzip; plain is taken where both are there. */
static mst_status find_file(const char *folder, const char *name, char path[PATH_SIZE]) {
    int size = snprintf(path, PATH_SIZE, "%s/%s.gz", folder, name);
    if (size < 0 || size >= PATH_SIZE)
        return MST_FAIL(MST_INVALID, "data: the path of folder '%.80s...' is too long", folder);
    path[size - 3] = '\0';
    if (access(path, F_OK) == 0) return MST_OK;
    if (errno != ENOENT) return cannot_look(path);
    path[size - 3] = '.';
    if (access(path, F_OK) == 0) return MST_OK;
    if (errno != ENOENT) return cannot_look(path);
    return MST_FAIL(MST_NOT_FOUND, "data: neither '%s' nor '%s.gz' is in folder '%s': check the folder", name, name,
                    folder);
}

static mst_status open_idx(const char *folder, bool test, mst_dataset **out) {
    char images[PATH_SIZE], labels[PATH_SIZE];
    if (!is_folder(folder) && errno != ENOENT && errno != ENOTDIR) return cannot_look(folder);
    if (!is_folder(folder))
        return MST_FAIL(MST_NOT_FOUND, "data: '%s' is no folder: idx:DIR takes the folder with the four MNIST files",
                        folder);
    MST_TRY(find_file(folder, test ? "t10k-images-idx3-ubyte" : "train-images-idx3-ubyte", images));
    MST_TRY(find_file(folder, test ? "t10k-labels-idx1-ubyte" : "train-labels-idx1-ubyte", labels));
    return mst_dataset_from_idx(images, labels, out);
}

static mst_status open_fashion_mnist(const char *argument, bool test, mst_dataset **out) {
    (void)argument;
    const char *folder = getenv("MUSTER_FASHION_MNIST");
    bool chosen = folder && *folder;
    if (!chosen) folder = fashion_mnist_folder;
    if (is_folder(folder)) return open_idx(folder, test, out);
    if (chosen)
        return MST_FAIL(MST_NOT_FOUND,
                        "data: '%s', which MUSTER_FASHION_MNIST names, is no folder: correct or unset it", folder);
    return MST_FAIL(MST_NOT_FOUND,
                    "data: Fashion-MNIST is not in '%s': install it (apt-get install dataset-fashion-mnist), or name "
                    "the folder of its files in MUSTER_FASHION_MNIST",
                    folder);
}

static mst_status choose_arrays(const char *path, bool test, const char *const **names) {
    static const char *const parts[2][2] = {{"x_train", "y_train"}, {"x_test", "y_test"}};
    static const char *const whole[2] = {"x", "y"};
    mst_npz *npz;
    MST_TRY(mst_npz_open(path, &npz));
    bool has_parts = mst_npz_has(npz, "x_train") || mst_npz_has(npz, "x_test") || !mst_npz_has(npz, "x");
    mst_npz_close(npz);
    if (!has_parts && test)
        return MST_FAIL(MST_NOT_FOUND,
                        "'%s': has arrays x and y, which are the train part: add x_test and y_test for a test part",
                        path);
    *names = has_parts ? parts[test] : whole;
    return MST_OK;
}

static mst_status open_npz(const char *path, bool test, mst_dataset **out) {
    const char *const *names;
    MST_TRY(choose_arrays(path, test, &names));
    return mst_dataset_from_npz(path, names, 2, out);
}

static const spec_kind kinds[] = {
    {"fashion-mnist", "fashion-mnist", open_fashion_mnist, NULL},
    {"idx:", "idx:DIR", open_idx, NULL},
    {"npz:", "npz:FILE", open_npz, NULL},
    {"tfrecord:", "tfrecord:PREFIX", NULL, mst_tfrecord_spec_open},
    {"images:", "images:DIR", NULL, NULL},
};

enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

static mst_status unknown(const char *spec) {
    const char *names[NUM_KINDS + 1] = {NULL};
    char word[WORD_SIZE];
    size_t length = strlen(spec), size = strcspn(spec, ":");
    size += spec[size] == ':';
    if (is_folder(spec))
        return MST_FAIL(MST_INVALID, "data: '%s' names no kind of data: for a folder of IDX files write 'idx:%s'", spec,
                        spec);
    if (length > 4 && strcmp(spec + length - 4, ".npz") == 0 && !spec[size])
        return MST_FAIL(MST_INVALID, "data: '%s' names no kind of data: for a NumPy archive write 'npz:%s'", spec,
                        spec);
    for (int i = 0; i < NUM_KINDS; i++) names[i] = kinds[i].name;
    snprintf(word, sizeof word, "%.*s", size < WORD_SIZE ? (int)size : 0, spec);
    const char *nearest = mst_nearest(word, names);
    for (int i = 0; nearest && i < NUM_KINDS; i++)
        if (nearest == kinds[i].name)
            return MST_FAIL(MST_INVALID, "data: unknown spec '%s': did you mean '%s'?", spec, kinds[i].form);
    return MST_FAIL(MST_INVALID, "data: unknown spec '%s': use fashion-mnist, idx:DIR, npz:FILE or tfrecord:PREFIX",
                    spec);
}

mst_status mst_dataset_open(const char *spec, const char *part, mst_dataset **out) {
    return mst_dataset_open_with(spec, part, NULL, out);
}

mst_status mst_dataset_open_with(const char *spec, const char *part, const mst_data_options *options,
                                 mst_dataset **out) {
    if (MST_IS_NULL(spec) || MST_IS_NULL(part) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    bool test = strcmp(part, "test") == 0;
    if (!test && strcmp(part, "train") != 0)
        return MST_FAIL(MST_INVALID, "data: unknown part '%s': use \"train\" or \"test\"", part);
    for (int i = 0; i < NUM_KINDS; i++) {
        size_t size = strlen(kinds[i].name);
        bool takes_argument = kinds[i].name[size - 1] == ':';
        if (strncmp(spec, kinds[i].name, size) != 0 || (!takes_argument && spec[size])) continue;
        if (!kinds[i].open && !kinds[i].open_with)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "data: '%s' is not supported yet: use fashion-mnist, idx:DIR, npz:FILE or tfrecord:PREFIX",
                            spec);
        if (takes_argument && !spec[size])
            return MST_FAIL(MST_INVALID, "data: '%s' names nothing after the colon: write %s", spec, kinds[i].form);
        if (kinds[i].open_with) return kinds[i].open_with(spec + size, test, options, out);
        if (options && options->skip_corrupt)
            return MST_FAIL(MST_INVALID, "data: '%s' has no records of which damaged ones could be skipped", spec);
        return kinds[i].open(spec + size, test, out);
    }
    return unknown(spec);
}
