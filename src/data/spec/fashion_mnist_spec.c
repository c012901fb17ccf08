/* fashion-mnist: the IDX files in the folder that the environment variable MUSTER_FASHION_MNIST names; if it is not
 * set, those that Debian's package dataset-fashion-mnist installs in /usr/share/datasets/fashion-mnist. */
#include <stdlib.h>

#include "base/folder.h"
#include "data/spec/data_spec.h"
#include "data/spec/list.h"

static const char debian_folder[] = "/usr/share/datasets/fashion-mnist";

/* Source: github.com/zalandoresearch/fashion-mnist, "Labels". */
static const char *const class_names[] = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                          "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

static mst_status open_folder(const char *folder, bool test, mst_dataset **out) {
    mst_dataset *rows;
    MST_TRY(mst_data_spec_idx.open(folder, test, &rows));
    const mst_status status =
        mst_dataset_name_classes(rows, 1, class_names, sizeof class_names / sizeof *class_names, out);
    mst_dataset_release(rows);
    return status;
}

static mst_status fashion_mnist_spec_open_part(const char *argument, bool test, mst_dataset **out) {
    (void)argument;
    const char *folder = getenv("MUSTER_FASHION_MNIST");
    const bool is_set = folder && *folder;
    if (!is_set) folder = debian_folder;
    if (mst_is_folder(folder)) return open_folder(folder, test, out);
    if (is_set)
        return MST_FAIL(MST_NOT_FOUND,
                        "data: '%s', which MUSTER_FASHION_MNIST names, is no folder: correct or unset it", folder);
    return MST_FAIL(MST_NOT_FOUND,
                    "data: Fashion-MNIST is not in '%s': install it (apt-get install dataset-fashion-mnist), or name "
                    "the folder of its files in MUSTER_FASHION_MNIST",
                    folder);
}

const mst_data_spec mst_data_spec_fashion_mnist = {
    .form = "fashion-mnist",
    .help = "Debian's dataset-fashion-mnist, or the folder in MUSTER_FASHION_MNIST",
    .takes = MST_SPEC_PICTURES,
    .open = fashion_mnist_spec_open_part,
};
