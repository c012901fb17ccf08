/* npz:FILE: the arrays x_train, y_train, x_test, y_test. */
#include "data/writers/write.h"
#include "format/npz.h"

static mst_status write_arrays(const char *path, mst_dataset *train, mst_dataset *test,
                               const mst_write_options *options) {
    static const char *const names[2][2] = {{"x_train", "y_train"}, {"x_test", "y_test"}};
    mst_dataset *const parts[2] = {train, test};
    mst_tensor *tensor[4] = {NULL, NULL, NULL, NULL};
    mst_named_tensor array[4];
    int count = 0;
    mst_status status = MST_OK;
    (void)options;
    for (int part = 0; part < 2; part++)
        for (int c = 0; c < 2 && parts[part] && c < parts[part]->num_components && !status; c++) {
            status = mst_write_gather(parts[part], c, &tensor[count]);
            array[count] = (mst_named_tensor){names[part][c], tensor[count]};
            count++;
        }
    if (!status) status = mst_npz_write(path, array, count);
    for (int i = 0; i < count; i++) mst_tensor_release(tensor[i]);
    return status;
}

static const char *const npz_files[] = {"", NULL};

const mst_data_writer mst_data_writer_npz = {
    .name = "npz:", .form = "npz:FILE", .files = npz_files, .write = write_arrays};
