/* npz:FILE: arrays x_train, y_train, x_test, y_test (as Keras' mnist.npz); or x and y, which are the train part. */
#include "data/spec/data_spec.h"
#include "format/npz.h"

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

static mst_status npz_spec_open_part(const char *path, bool test, mst_dataset **out) {
    const char *const *names;
    MST_TRY(choose_arrays(path, test, &names));
    return mst_dataset_from_npz(path, names, 2, out);
}

const mst_data_spec mst_data_spec_npz = {
    .form = "npz:FILE",
    .help = "x_train, y_train, x_test, y_test; or x, y",
    .suffix = ".npz",
    .open = npz_spec_open_part,
};
