/* Tensors as a source of rows, and data specs: what each kind of spec reads, and what it says about itself. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/archive.h"
#include "support/expect.h"
#include "support/folder.h"
#include "support/pipeline.h"

static void tensors_are_shared_not_copied(void **state) {
    (void)state;
    mst_tensor *tensor;
    mst_dataset *dataset;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(4, 2, 3), &tensor));
    EXPECT_OK(mst_dataset_from_tensors(&tensor, 1, &dataset));
    assert_int_equal(mst_tensor_references(tensor), 2);
    assert_int_equal(mst_dataset_num_rows(dataset), 4);
    assert_int_equal(mst_dataset_num_components(dataset), 1);
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 0).shape, MST_SHAPE(2, 3)));
    mst_dataset_release(mst_dataset_retain(dataset));
    assert_int_equal(mst_tensor_references(tensor), 2);
    mst_dataset_release(dataset);
    assert_int_equal(mst_tensor_references(tensor), 1);
    mst_tensor_release(tensor);
}

static void tensors_that_do_not_form_rows_are_named(void **state) {
    (void)state;
    mst_tensor *four, *three, *none, *scalar;
    mst_dataset *dataset;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(4, 2), &four));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(3), &three));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(0, 2), &none));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SCALAR, &scalar));
    EXPECT_ERROR(mst_dataset_from_tensors((mst_tensor *[]){four, three}, 2, &dataset), MST_INVALID,
                 "component 1 has 3 rows, component 0 has 4");
    assert_null(dataset);
    EXPECT_ERROR(mst_dataset_from_tensors(&none, 1, &dataset), MST_INVALID, "component 0 has no rows");
    EXPECT_ERROR(mst_dataset_from_tensors(&scalar, 1, &dataset), MST_INVALID, "component 0 is a scalar");
    EXPECT_ERROR(mst_dataset_from_tensors(&scalar, 0, &dataset), MST_INVALID, "0 components");
    EXPECT_ERROR(mst_dataset_from_tensors((mst_tensor *[]){four, NULL}, 2, &dataset), MST_INVALID,
                 "component 1 is NULL");
    mst_tensor_release(four);
    mst_tensor_release(three);
    mst_tensor_release(none);
    mst_tensor_release(scalar);
}

/* A file of u8 with NUM_ROWS rows of NDIM - 1 further dimensions of 2. */
static const char *write_idx(const char *name, int ndim, uint32_t num_rows, bool gzip) {
    blob b = {0}, z = {0};
    blob_idx_u8(&b, ndim, (const uint32_t[]){num_rows, 2, 2}, 3);
    if (gzip) blob_gzip(&z, b.data, b.size);
    const char *path = gzip ? folder_write(name, z.data, z.size) : folder_write(name, b.data, b.size);
    blob_free(&b);
    blob_free(&z);
    return path;
}

static void idx_pair_gives_images_and_labels_as_stored(void **state) {
    (void)state;
    mst_dataset *dataset;
    EXPECT_OK(mst_dataset_from_idx(write_idx("i", 3, 5, false), write_idx("l.gz", 1, 5, true), &dataset));
    assert_int_equal(mst_dataset_num_rows(dataset), 5);
    assert_int_equal(mst_dataset_num_components(dataset), 2);
    assert_int_equal(mst_dataset_spec(dataset, 0).dtype, MST_U8);
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 0).shape, MST_SHAPE(2, 2)));
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 1).shape, MST_SCALAR));
    mst_dataset_release(dataset);
    EXPECT_OK(mst_dataset_from_idx(folder_path("i"), NULL, &dataset));
    assert_int_equal(mst_dataset_num_components(dataset), 1);
    mst_dataset_release(dataset);
}

static void idx_files_that_do_not_belong_together_are_named(void **state) {
    (void)state;
    mst_dataset *dataset;
    const char *images = write_idx("images", 3, 5, false), *labels = write_idx("labels", 1, 6, false);
    EXPECT_ERROR(mst_dataset_from_idx(images, labels, &dataset), MST_INVALID, "images' has 5 images and");
    assert_non_null(strstr(mst_error()->message, "labels' has 6 labels"));
    assert_null(dataset);
    EXPECT_ERROR(mst_dataset_from_idx(images, images, &dataset), MST_INVALID, "has 3 dimensions, labels have 1");
    EXPECT_ERROR(mst_dataset_from_idx(images, folder_path("none"), &dataset), MST_NOT_FOUND, "none': no such file");
}

static void add_array(zip_maker *zip, const char *name, const char *shape, size_t bytes) {
    blob npy = {0};
    char text[128];
    uint8_t data[64];
    for (size_t i = 0; i < bytes; i++) data[i] = (uint8_t)(i * 5);
    snprintf(text, sizeof text, "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }", shape);
    blob_npy(&npy, 1, text, data, bytes);
    zip_add(zip, name, &npy, 8);
    blob_free(&npy);
}

static const char *write_npz(const char *name, const char *const *arrays, const char *const *shapes,
                             const size_t *bytes, int n) {
    zip_maker zip = {0};
    for (int i = 0; i < n; i++) add_array(&zip, arrays[i], shapes[i], bytes[i]);
    zip_end(&zip);
    const char *path = folder_write(name, zip.file.data, zip.file.size);
    zip_free(&zip);
    return path;
}

static const char *write_mnist_npz(const char *name) {
    return write_npz(name, (const char *[]){"x_test.npy", "x_train.npy", "y_train.npy", "y_test.npy"},
                     (const char *[]){"(2, 2, 2)", "(4, 2, 2)", "(4,)", "(2,)"}, (const size_t[]){8, 16, 4, 2}, 4);
}

static void npz_arrays_become_components(void **state) {
    (void)state;
    mst_dataset *dataset;
    const char *path = write_mnist_npz("mnist.npz");
    EXPECT_OK(mst_dataset_from_npz(path, (const char *[]){"y_train", "x_train"}, 2, &dataset));
    assert_int_equal(mst_dataset_num_rows(dataset), 4);
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 1).shape, MST_SHAPE(2, 2)));
    mst_dataset_release(dataset);
    EXPECT_ERROR(mst_dataset_from_npz(path, (const char *[]){"x_train", "y_test"}, 2, &dataset), MST_INVALID,
                 "array 'y_test' has 2 rows and 'x_train' has 4");
    EXPECT_ERROR(mst_dataset_from_npz(path, (const char *[]){"x"}, 1, &dataset), MST_NOT_FOUND,
                 "no array 'x': it has x_test, x_train, y_train, y_test");
    EXPECT_ERROR(mst_dataset_from_npz(path, NULL, 0, &dataset), MST_INVALID, "0 arrays");
    path = write_npz("odd.npz", (const char *[]){"none.npy", "scalar.npy"}, (const char *[]){"(0, 3)", "()"},
                     (const size_t[]){0, 1}, 2);
    EXPECT_ERROR(mst_dataset_from_npz(path, (const char *[]){"none"}, 1, &dataset), MST_INVALID, "'none' has no rows");
    EXPECT_ERROR(mst_dataset_from_npz(path, (const char *[]){"scalar"}, 1, &dataset), MST_INVALID,
                 "'scalar' has no rows");
    assert_null(dataset);
}

static void expect_open(const char *spec, const char *part, int64_t num_rows) {
    mst_dataset *dataset;
    EXPECT_OK(mst_dataset_open(spec, part, &dataset));
    assert_int_equal(mst_dataset_num_rows(dataset), num_rows);
    assert_int_equal(mst_dataset_num_components(dataset), 2);
    mst_dataset_release(dataset);
}

static const char *spec_of(const char *kind, const char *path) {
    static char spec[600];
    snprintf(spec, sizeof spec, "%s%s", kind, path);
    return spec;
}

static void idx_spec_finds_the_four_files_plain_or_gzip(void **state) {
    (void)state;
    mst_dataset *dataset;
    write_idx("train-images-idx3-ubyte", 3, 6, false);
    write_idx("train-labels-idx1-ubyte.gz", 1, 6, true);
    write_idx("t10k-images-idx3-ubyte.gz", 3, 3, true);
    expect_open(spec_of("idx:", folder_path("")), "train", 6);
    EXPECT_ERROR(mst_dataset_open(spec_of("idx:", folder_path("")), "test", &dataset), MST_NOT_FOUND,
                 "neither 't10k-labels-idx1-ubyte' nor 't10k-labels-idx1-ubyte.gz' is in folder");
    write_idx("t10k-labels-idx1-ubyte", 1, 3, false);
    expect_open(spec_of("idx:", folder_path("")), "test", 3);
    EXPECT_ERROR(mst_dataset_open(spec_of("idx:", folder_path("no")), "test", &dataset), MST_NOT_FOUND,
                 "no' is no folder");
}

static void folder_that_cannot_be_reached_says_why(void **state) {
    (void)state;
    mst_dataset *dataset;
    char loop[600], file[640];
    snprintf(loop, sizeof loop, "%s", folder_path("loop"));
    assert_int_equal(symlink(loop, loop), 0);
    EXPECT_ERROR(mst_dataset_open(spec_of("idx:", loop), "test", &dataset), MST_IO,
                 "cannot be reached: Too many levels");
    assert_int_equal(unlink(loop), 0);
    assert_int_equal(mkdir(loop, 0700), 0);
    snprintf(file, sizeof file, "%s/train-images-idx3-ubyte", loop);
    assert_int_equal(symlink(file, file), 0);
    EXPECT_ERROR(mst_dataset_open(spec_of("idx:", loop), "train", &dataset), MST_IO,
                 "train-images-idx3-ubyte' cannot be reached: Too many levels");
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(loop), 0);
}

static void npz_spec_takes_the_names_of_keras_or_x_and_y(void **state) {
    (void)state;
    mst_dataset *dataset;
    const char *path = write_mnist_npz("mnist.npz");
    expect_open(spec_of("npz:", path), "train", 4);
    expect_open(spec_of("npz:", path), "test", 2);
    path = write_npz("xy.npz", (const char *[]){"x.npy", "y.npy"}, (const char *[]){"(3, 2)", "(3,)"},
                     (const size_t[]){6, 3}, 2);
    expect_open(spec_of("npz:", path), "train", 3);
    EXPECT_ERROR(mst_dataset_open(spec_of("npz:", path), "test", &dataset), MST_NOT_FOUND, "x_test and y_test");
    path = write_npz("x.npz", (const char *[]){"x.npy"}, (const char *[]){"(3, 2)"}, (const size_t[]){6}, 1);
    for (int i = 0; i < 2; i++) { /* to be predicted, without labels */
        EXPECT_OK(mst_dataset_open(spec_of("npz:", path), i ? "test" : "train", &dataset));
        assert_int_equal(mst_dataset_num_components(dataset), 1);
        assert_int_equal(mst_dataset_num_rows(dataset), 3);
        mst_dataset_release(dataset);
    }
    path = write_npz("no.npz", (const char *[]){"z.npy"}, (const char *[]){"(3,)"}, (const size_t[]){3}, 1);
    EXPECT_ERROR(mst_dataset_open(spec_of("npz:", path), "train", &dataset), MST_NOT_FOUND,
                 "no array 'x_train': it has z");
}

static void fashion_mnist_spec_reads_the_folder_of_the_environment(void **state) {
    (void)state;
    mst_dataset *dataset;
    write_idx("train-images-idx3-ubyte.gz", 3, 6, true);
    write_idx("train-labels-idx1-ubyte.gz", 1, 6, true);
    assert_int_equal(setenv("MUSTER_FASHION_MNIST", folder_path(""), 1), 0);
    expect_open("fashion-mnist", "train", 6);
    assert_int_equal(setenv("MUSTER_FASHION_MNIST", folder_path("gone"), 1), 0);
    EXPECT_ERROR(mst_dataset_open("fashion-mnist", "train", &dataset), MST_NOT_FOUND,
                 "which MUSTER_FASHION_MNIST names");
    assert_int_equal(unsetenv("MUSTER_FASHION_MNIST"), 0);
    if (access("/usr/share/datasets/fashion-mnist", F_OK) == 0) {
        expect_open("fashion-mnist", "train", 60000);
        expect_open("fashion-mnist", "test", 10000);
    } else {
        EXPECT_ERROR(mst_dataset_open("fashion-mnist", "train", &dataset), MST_NOT_FOUND, "dataset-fashion-mnist");
    }
}

static void other_specs_name_the_nearest_right_one(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"fashon-mnist", "did you mean 'fashion-mnist'"},
                                           {"fashion_mnist", "did you mean 'fashion-mnist'"},
                                           {"ixd:/data", "did you mean 'idx:DIR'"},
                                           {"npy:/data/a", "did you mean 'npz:FILE'"},
                                           {"tfrecords:a", "did you mean 'tfrecord:PREFIX'"},
                                           {"", "unknown spec '': use csv:FILE, fashion-mnist"},
                                           {"a.npz", "write 'npz:a.npz'"},
                                           {"idx:", "write idx:DIR"},
                                           {"fashion-mnist2", "did you mean 'fashion-mnist'"}};
    mst_dataset *dataset;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        EXPECT_ERROR(mst_dataset_open(cases[i][0], "train", &dataset), MST_INVALID, cases[i][1]);
    EXPECT_ERROR(mst_dataset_open(folder_path(""), "train", &dataset), MST_INVALID, "write 'idx:");
    EXPECT_ERROR(mst_dataset_open("image:a", "train", &dataset), MST_INVALID, "did you mean 'images:DIR'");
    EXPECT_ERROR(mst_dataset_open("fashion-mnist", "trian", &dataset), MST_INVALID, "unknown part 'trian'");
    assert_null(dataset);
}

static void every_kind_of_spec_says_what_it_is(void **state) {
    (void)state;
    mst_dataset *dataset;
    int count = 0;
    for (const char *form; (form = mst_dataset_form(count)); count++) {
        assert_non_null(mst_dataset_form_help(count));
        assert_int_not_equal(mst_dataset_open(form, "train", &dataset), MST_UNIMPLEMENTED);
        mst_dataset_release(dataset);
    }
    assert_true(count >= 3);
    assert_null(mst_dataset_form_help(count));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_shared_not_copied),
        cmocka_unit_test(tensors_that_do_not_form_rows_are_named),
        TEST_IN_FOLDER(idx_pair_gives_images_and_labels_as_stored),
        TEST_IN_FOLDER(idx_files_that_do_not_belong_together_are_named),
        TEST_IN_FOLDER(npz_arrays_become_components),
        TEST_IN_FOLDER(idx_spec_finds_the_four_files_plain_or_gzip),
        TEST_IN_FOLDER(folder_that_cannot_be_reached_says_why),
        TEST_IN_FOLDER(npz_spec_takes_the_names_of_keras_or_x_and_y),
        TEST_IN_FOLDER(fashion_mnist_spec_reads_the_folder_of_the_environment),
        cmocka_unit_test(every_kind_of_spec_says_what_it_is),
        TEST_IN_FOLDER(other_specs_name_the_nearest_right_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
