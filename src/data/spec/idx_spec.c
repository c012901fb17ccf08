/* idx:DIR: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte in DIR,
 * each plain or with ".gz". */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "data/spec/data_spec.h"

enum { PATH_SIZE = 4096 };

/* The error if PATH cannot be examined, because of a permission or a loop of links: the file may exist. */
static mst_status cannot_look(const char *path) {
    return MST_FAIL(MST_IO, "data: '%s' cannot be reached: %s", path, strerror(errno));
}

/* The path of a file that may be plain or gzip; plain is taken if both are there. */
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

static mst_status idx_spec_open_part(const char *folder, bool test, mst_dataset **out) {
    char images[PATH_SIZE], labels[PATH_SIZE];
    if (!mst_is_folder(folder) && errno != ENOENT && errno != ENOTDIR) return cannot_look(folder);
    if (!mst_is_folder(folder))
        return MST_FAIL(MST_NOT_FOUND, "data: '%s' is no folder: idx:DIR takes the folder with the four MNIST files",
                        folder);
    MST_TRY(find_file(folder, test ? "t10k-images-idx3-ubyte" : "train-images-idx3-ubyte", images));
    MST_TRY(find_file(folder, test ? "t10k-labels-idx1-ubyte" : "train-labels-idx1-ubyte", labels));
    return mst_dataset_from_idx(images, labels, out);
}

const mst_data_spec mst_data_spec_idx = {
    .form = "idx:DIR",
    .help = "the four MNIST files, plain or .gz",
    .takes = MST_SPEC_PICTURES,
    .suffix = "/",
    .open = idx_spec_open_part,
};
