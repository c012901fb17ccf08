/* Tables and folders of pictures keep their values when they are written and read again, also by way of TFRecord. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "format/png_encode.h"
#include "muster/dataset.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/test.h"

enum { ROWS = 37, TEST_ROWS = 8, HEIGHT = 5, WIDTH = 4, MOST_FILE = 1 << 16 };

static const char *const classes[] = {"apple", "pear, green", "plum \"blue\""};

static const char *spec(const char *kind, const char *name) {
    static char text[4][4096];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "%s%s", kind, folder_path(name));
    return text[turn];
}

/* Row i has label i * 7 mod 3; its class has a name where NAMES are given. */
static mst_dataset *rows_of(mst_tensor *inputs, mst_dtype labels, const char *const *names) {
    mst_tensor *tensor[2] = {inputs, NULL};
    mst_dataset *dataset, *named;
    const int64_t count = mst_tensor_shape(inputs).dim[0];
    EXPECT_OK(mst_tensor_create(labels, MST_SHAPE(count), &tensor[1]));
    for (int64_t i = 0; i < count; i++) mst_tensor_set(tensor[1], i, (double)(i * 7 % 3));
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &dataset));
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    if (!names) return dataset;
    EXPECT_OK(mst_dataset_name_classes(dataset, 1, names, 3, &named));
    mst_dataset_release(dataset);
    return named;
}

static mst_dataset *pictures(int64_t count, int64_t channels, const char *const *names) {
    mst_tensor *pixels;
    EXPECT_OK(mst_tensor_create(MST_U8, MST_SHAPE(count, HEIGHT, WIDTH, channels), &pixels));
    uint8_t *data = mst_tensor_data(pixels);
    for (int64_t i = 0; i < mst_tensor_count(pixels); i++) data[i] = (uint8_t)(i * i % 251);
    return rows_of(pixels, MST_I64, names);
}

/* Numbers whose text is long, large, small and negative. */
static mst_dataset *table(int64_t count, mst_dtype labels, const char *const *names) {
    static const float odd[] = {0.1F, -0.0F, 1e-30F, 16777217.0F, 3.4028235e38F, 1.0F / 3, -7.25F, 1e-45F};
    mst_tensor *values;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(count, 3), &values));
    float *data = mst_tensor_data(values);
    for (int64_t i = 0; i < 3 * count; i++) data[i] = i < 8 ? odd[i] : (float)i * 0.37F;
    return rows_of(values, labels, names);
}

static void expect_same(mst_dataset *a, mst_dataset *b) {
    for (int c = 0; c < 2; c++) {
        mst_tensor *x = pipeline_column(a, c), *y = pipeline_column(b, c);
        assert_int_equal(mst_tensor_dtype(x), mst_tensor_dtype(y));
        assert_true(mst_shape_equal(mst_tensor_shape(x), mst_tensor_shape(y)));
        assert_memory_equal(mst_tensor_data(x), mst_tensor_data(y), mst_tensor_bytes(x));
        mst_tensor_release(x);
        mst_tensor_release(y);
    }
}

static void expect_classes(const mst_dataset *dataset, const char *const *names) {
    for (int i = 0; i < 3; i++) assert_string_equal(mst_dataset_class_name(dataset, 1, i), names[i]);
    assert_null(mst_dataset_class_name(dataset, 1, 3));
}

static size_t read_file(const char *path, char data[MOST_FILE]) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("there is no '%s'", path);
    const size_t size = fread(data, 1, MOST_FILE - 1, file);
    fclose(file);
    data[size] = '\0';
    return size;
}

static void expect_same_file(const char *a, const char *b) {
    static char data[2][MOST_FILE];
    const size_t size = read_file(folder_path(a), data[0]);
    assert_int_equal(read_file(folder_path(b), data[1]), size);
    assert_memory_equal(data[0], data[1], size);
}

/* Opens PART of FROM, and writes it as TO. */
static void convert(const char *from, const char *to, const mst_data_options *options, bool has_test) {
    mst_dataset *part[2] = {NULL, NULL};
    EXPECT_OK(mst_dataset_open_with(from, "train", options, &part[0]));
    if (has_test) EXPECT_OK(mst_dataset_open_with(from, "test", options, &part[1]));
    EXPECT_OK(mst_dataset_write(to, part[0], part[1], NULL));
    mst_dataset_release(part[0]);
    mst_dataset_release(part[1]);
}

/* ---- tables ---- */

static void table_comes_back_with_its_bits_and_class_names(void **state) {
    (void)state;
    mst_dataset *train = table(ROWS, MST_I64, classes), *test = table(TEST_ROWS, MST_I64, classes), *got;
    EXPECT_OK(mst_dataset_write(spec("csv:", "t"), train, test, NULL));
    EXPECT_OK(mst_dataset_open(spec("csv:", "t"), "train", &got));
    expect_same(got, train);
    expect_classes(got, classes);
    mst_dataset_release(got);
    EXPECT_OK(mst_dataset_open(spec("csv:", "t"), "test", &got));
    expect_same(got, test);
    mst_dataset_release(got);
    mst_dataset_release(train);
    mst_dataset_release(test);
}

static void table_is_text_that_people_can_read(void **state) {
    (void)state;
    char text[MOST_FILE];
    mst_dataset *rows = table(3, MST_I64, classes);
    EXPECT_OK(mst_dataset_write(spec("csv:", "t.csv"), rows, NULL, NULL));
    (void)read_file(folder_path("t.csv"), text);
    assert_string_equal(text,
                        "x0,x1,x2,label\n0.1,-0,1e-30,apple\n16777216,3.4028235e+38,0.33333334,\"pear, green\"\n"
                        "-7.25,1e-45,2.96,\"plum \"\"blue\"\"\"\n");
    mst_dataset_release(rows);
}

static void labels_that_are_floats_stay_floats(void **state) {
    (void)state;
    mst_dataset *rows = table(ROWS, MST_F32, NULL), *got;
    EXPECT_OK(mst_dataset_write(spec("csv:", "t.csv"), rows, NULL, NULL));
    EXPECT_OK(mst_dataset_open(spec("csv:", "t.csv"), "train", &got));
    expect_same(got, rows);
    mst_dataset_release(got);
    mst_dataset_release(rows);
}

static void table_through_tfrecord_is_the_same_file(void **state) {
    (void)state;
    mst_dataset *train = table(ROWS, MST_I64, classes), *test = table(TEST_ROWS, MST_I64, classes);
    EXPECT_OK(mst_dataset_write(spec("csv:", "t"), train, test, NULL));
    convert(spec("csv:", "t"), spec("tfrecord:", "r"), NULL, true);
    convert(spec("tfrecord:", "r"), spec("csv:", "u"), NULL, true);
    expect_same_file("t-train.csv", "u-train.csv");
    expect_same_file("t-test.csv", "u-test.csv");
    mst_dataset_release(train);
    mst_dataset_release(test);
}

static void names_of_an_older_conversion_do_not_stay(void **state) {
    (void)state;
    mst_dataset *named = table(ROWS, MST_I64, classes), *plain = table(ROWS, MST_I64, NULL), *got;
    EXPECT_OK(mst_dataset_write(spec("tfrecord:", "r"), named, NULL, NULL));
    EXPECT_OK(mst_dataset_open(spec("tfrecord:", "r"), "train", &got));
    expect_classes(got, classes);
    mst_dataset_release(got);
    EXPECT_OK(mst_dataset_write(spec("tfrecord:", "r"), plain, NULL, NULL));
    EXPECT_OK(mst_dataset_open(spec("tfrecord:", "r"), "train", &got));
    assert_null(mst_dataset_class_name(got, 1, 0));
    mst_dataset_release(got);
    mst_dataset_release(named);
    mst_dataset_release(plain);
}

static void values_that_a_table_cannot_hold_are_named(void **state) {
    (void)state;
    static const char *const mixed[] = {"7", "b", "c"};
    mst_dataset *rows = table(ROWS, MST_I64, mixed), *plain = table(ROWS, MST_I64, NULL);
    EXPECT_ERROR(mst_dataset_write(spec("csv:", "t"), rows, NULL, NULL), MST_INVALID, "class '7' is a number");
    EXPECT_ERROR(mst_dataset_write(spec("csv:", "t.csv"), plain, plain, NULL), MST_INVALID, "t-train.csv");
    mst_dataset_release(rows);
    mst_tensor *values;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(3, 2), &values));
    mst_tensor_set(values, 5, NAN);
    rows = rows_of(values, MST_I64, NULL);
    EXPECT_ERROR(mst_dataset_write(spec("csv:", "n.csv"), rows, NULL, NULL), MST_UNIMPLEMENTED, "row 2 (column 1)");
    struct stat info;
    assert_int_not_equal(stat(folder_path("n.csv"), &info), 0);
    mst_dataset_release(rows);
    mst_dataset_release(plain);
}

/* ---- pictures ---- */

static void need_png(void) {
    void *data;
    size_t size;
    if (mst_png_encode("a", 1, 1, 1, &data, &size)) skip(); /* built without libspng */
    free(data);
}

/* Of each class the pictures are those of FROM with its label, in their order. */
static void expect_class_after_class(mst_dataset *from, mst_dataset *folder) {
    mst_tensor *pixels = pipeline_column(from, 0), *labels = pipeline_column(from, 1),
               *got = pipeline_column(folder, 0);
    const mst_shape shape = mst_tensor_shape(pixels);
    const size_t bytes = mst_tensor_bytes(pixels) / (size_t)shape.dim[0];
    int64_t row = 0;
    assert_true(mst_shape_equal(shape, mst_tensor_shape(got)));
    for (int label = 0; label < 3; label++)
        for (int64_t i = 0; i < shape.dim[0]; i++)
            if ((int)mst_tensor_get(labels, i) == label)
                assert_memory_equal((char *)mst_tensor_data(got) + (size_t)row++ * bytes,
                                    (char *)mst_tensor_data(pixels) + (size_t)i * bytes, bytes);
    assert_int_equal(row, shape.dim[0]);
    mst_tensor_release(pixels);
    mst_tensor_release(labels);
    mst_tensor_release(got);
}

static void pictures_come_back_class_after_class(void **state) {
    (void)state;
    need_png();
    for (int channels = 1; channels <= 3; channels += 2) {
        const mst_images_options o = {.height = HEIGHT, .width = WIDTH, .channels = channels};
        const char *name = channels == 1 ? "gray" : "color";
        mst_dataset *rows = pictures(ROWS, channels, classes), *got;
        EXPECT_OK(mst_dataset_write(spec("images:", name), rows, NULL, NULL));
        EXPECT_OK(mst_dataset_from_images(folder_path(name), &o, &got));
        expect_class_after_class(rows, got);
        expect_classes(got, classes);
        mst_dataset_release(got);
        mst_dataset_release(rows);
    }
}

static void pictures_are_named_after_their_rows(void **state) {
    (void)state;
    struct stat info;
    need_png();
    mst_dataset *rows = pictures(ROWS, 3, NULL);
    EXPECT_OK(mst_dataset_write(spec("images:", "p/"), rows, rows, NULL));
    assert_int_equal(stat(folder_path("p/train/1/00001.png"), &info), 0);
    assert_int_equal(stat(folder_path("p/train/0/00036.png"), &info), 0);
    assert_int_equal(stat(folder_path("p/test/2/00002.png"), &info), 0);
    mst_dataset_release(rows);
}

static void pictures_through_tfrecord_are_the_same_files(void **state) {
    (void)state;
    need_png();
    mst_tensor *pixels;
    const mst_data_options o = {.image_size = 6};
    EXPECT_OK(mst_tensor_create(MST_U8, MST_SHAPE(3, 6, 6, 3), &pixels));
    for (int64_t i = 0; i < mst_tensor_count(pixels); i++) mst_tensor_set(pixels, i, (double)(i * i % 251));
    mst_dataset *rows = rows_of(pixels, MST_I64, classes); /* one picture of each class, in their order */
    EXPECT_OK(mst_dataset_write(spec("images:", "a"), rows, rows, NULL));
    convert(spec("images:", "a"), spec("tfrecord:", "r"), &o, true);
    convert(spec("tfrecord:", "r"), spec("images:", "b"), NULL, true);
    for (int i = 0; i < 3; i++) {
        char a[128], b[128];
        snprintf(a, sizeof a, "a/train/%s/0000%d.png", classes[i], i);
        snprintf(b, sizeof b, "b/train/%s/0000%d.png", classes[i], i);
        expect_same_file(a, b);
    }
    mst_dataset_release(rows);
}

static void gray_pictures_are_read_as_such(void **state) {
    (void)state;
    need_png();
    const mst_data_options gray = {.image_size = 8, .channels = 1}, odd = {.channels = 2};
    mst_dataset *rows = pictures(ROWS, 1, NULL), *got;
    EXPECT_OK(mst_dataset_write(spec("images:", "g"), rows, NULL, NULL));
    EXPECT_OK(mst_dataset_open_with(spec("images:", "g"), "train", &gray, &got));
    assert_true(mst_shape_equal(mst_dataset_spec(got, 0).shape, MST_SHAPE(8, 8, 1)));
    mst_dataset_release(got);
    EXPECT_ERROR(mst_dataset_open_with(spec("images:", "g"), "train", &odd, &got), MST_INVALID, "channels is 2");
    EXPECT_ERROR(mst_dataset_open_with("idx:a", "train", &gray, &got), MST_INVALID, "for images:DIR");
    mst_dataset_release(rows);
}

static int entries_of(const char *path) {
    int count = -2; /* . and .. */
    DIR *folder = opendir(path);
    while (folder && readdir(folder)) count++;
    if (folder) closedir(folder);
    return count;
}

static void folder_that_cannot_be_written_leaves_nothing(void **state) {
    (void)state;
    static const char *const hidden[] = {"a", "b", ".c"}, *const same[] = {"a", "c_d", "c/d"};
    mst_dataset *rows = pictures(ROWS, 3, hidden), *alike = pictures(ROWS, 3, same), *two = pictures(ROWS, 2, NULL),
                *values = table(ROWS, MST_I64, NULL);
    EXPECT_ERROR(mst_dataset_write(spec("images:", "p"), rows, NULL, NULL), MST_INVALID, "'.c'");
    EXPECT_ERROR(mst_dataset_write(spec("images:", "p"), alike, NULL, NULL), MST_IO, "c_d");
    EXPECT_ERROR(mst_dataset_write(spec("images:", "p"), two, NULL, NULL), MST_INVALID, "inputs are u8 [5, 4, 2]");
    EXPECT_ERROR(mst_dataset_write(spec("images:", "p"), values, NULL, NULL), MST_INVALID, "inputs are f32 [3]");
    assert_int_equal(entries_of(folder_path("")), 0);
    mst_dataset_release(rows);
    mst_dataset_release(alike);
    mst_dataset_release(two);
    mst_dataset_release(values);
}

static void folder_that_is_there_stays(void **state) {
    (void)state;
    need_png();
    mst_dataset *rows = pictures(ROWS, 3, NULL);
    assert_int_equal(mkdir(folder_path("p"), 0755), 0);
    EXPECT_OK(mst_dataset_write(spec("images:", "p"), rows, NULL, NULL)); /* it was empty */
    (void)folder_write("p/0/mine.txt", "mine", 4);
    EXPECT_ERROR(mst_dataset_write(spec("images:", "p"), rows, NULL, NULL), MST_EXISTS, "not empty");
    expect_same_file("p/0/mine.txt", "p/0/mine.txt");
    (void)folder_write("file", "x", 1);
    EXPECT_ERROR(mst_dataset_write(spec("images:", "file"), rows, NULL, NULL), MST_INVALID, "is no folder");
    assert_int_equal(entries_of(folder_path("")), 2);
    mst_dataset_release(rows);
}

/* ---- IDX and NPZ ---- */

static void idx_through_tfrecord_is_the_same_file(void **state) {
    (void)state;
    mst_dataset *rows = pictures(ROWS, 1, NULL);
    EXPECT_OK(mst_dataset_write(spec("idx:", "a"), rows, rows, NULL));
    convert(spec("idx:", "a"), spec("tfrecord:", "r"), NULL, true);
    convert(spec("tfrecord:", "r"), spec("idx:", "b"), NULL, true);
    expect_same_file("a/train-images-idx3-ubyte", "b/train-images-idx3-ubyte");
    expect_same_file("a/train-labels-idx1-ubyte", "b/train-labels-idx1-ubyte");
    expect_same_file("a/t10k-images-idx3-ubyte", "b/t10k-images-idx3-ubyte");
    mst_dataset_release(rows);
}

static void npz_through_tfrecord_is_the_same_file(void **state) {
    (void)state;
    mst_dataset *rows = table(ROWS, MST_I64, NULL);
    EXPECT_OK(mst_dataset_write(spec("npz:", "a.npz"), rows, rows, NULL));
    convert(spec("npz:", "a.npz"), spec("tfrecord:", "r"), NULL, true);
    convert(spec("tfrecord:", "r"), spec("npz:", "b.npz"), NULL, true);
    expect_same_file("a.npz", "b.npz");
    mst_dataset_release(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(table_comes_back_with_its_bits_and_class_names),
        TEST_IN_FOLDER(table_is_text_that_people_can_read),
        TEST_IN_FOLDER(labels_that_are_floats_stay_floats),
        TEST_IN_FOLDER(table_through_tfrecord_is_the_same_file),
        TEST_IN_FOLDER(names_of_an_older_conversion_do_not_stay),
        TEST_IN_FOLDER(values_that_a_table_cannot_hold_are_named),
        TEST_IN_FOLDER(pictures_come_back_class_after_class),
        TEST_IN_FOLDER(pictures_are_named_after_their_rows),
        TEST_IN_FOLDER(pictures_through_tfrecord_are_the_same_files),
        TEST_IN_FOLDER(gray_pictures_are_read_as_such),
        TEST_IN_FOLDER(folder_that_cannot_be_written_leaves_nothing),
        TEST_IN_FOLDER(folder_that_is_there_stays),
        TEST_IN_FOLDER(idx_through_tfrecord_is_the_same_file),
        TEST_IN_FOLDER(npz_through_tfrecord_is_the_same_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
