/* npz:FILE: arrays x_train, y_train, x_test, y_test (as Keras' mnist.npz); or x and y, which are the train part. Of
 * examples to be predicted there may be no labels: x_test without y_test, or x alone, which is what either part is. */
#include "data/spec/data_spec.h"
#include "format/npz.h"

static mst_status choose_arrays(const char *path, bool test, const char *const **names, int *count) {
    static const char *const parts[2][2] = {{"x_train", "y_train"}, {"x_test", "y_test"}};
    static const char *const whole[2] = {"x", "y"};
    mst_npz *npz;
    MST_TRY(mst_npz_open(path, &npz));
    bool has_parts = mst_npz_has(npz, "x_train") || mst_npz_has(npz, "x_test") || !mst_npz_has(npz, "x");
    *names = has_parts ? parts[test] : whole;
    const bool has_labels = mst_npz_has(npz, (*names)[1]) || (has_parts && !test);
    mst_npz_close(npz);
    *count = has_labels ? 2 : 1;
    if (!has_parts && test && has_labels)
        return MST_FAIL(MST_NOT_FOUND,
                        "'%s': has arrays x and y, which are the train part: add x_test and y_test for a test part",
                        path);
    return MST_OK;
}

static mst_status npz_spec_open_part(const char *path, bool test, mst_dataset **out) {
    const char *const *names;
    int count;
    MST_TRY(choose_arrays(path, test, &names, &count));
    return mst_dataset_from_npz(path, names, count, out);
}

const mst_data_spec mst_data_spec_npz = {
    .form = "npz:FILE",
    .help = "x_train, y_train, x_test, y_test; or x, y; to predict, x alone",
    .suffix = ".npz",
    .open = npz_spec_open_part,
};
