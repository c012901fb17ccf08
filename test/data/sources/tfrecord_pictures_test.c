/* tfrecord:FILE with Examples that hold PNG files: these are decoded and resized. Other bytes are elements of u8,
 * unless they look like numbers of several bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "format/png_encode.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/test.h"

enum { ROWS = 5, HEIGHT = 6, WIDTH = 4, BYTES = HEIGHT * WIDTH * 3 };

typedef enum content { PNG_FILES, PIXELS, NO_PICTURE_IN_ROW_3 } content;

/* Row I: the gray 40 * I, as CONTENT says it, twice, and the label I mod 2. */
static void write_records(const char *name, mst_tfrecord_compression compression, content content) {
    mst_tfrecord_writer *writer;
    EXPECT_OK(mst_tfrecord_writer_open(folder_path(name), compression, &writer));
    for (int i = 0; i < ROWS; i++) {
        uint8_t pixels[BYTES], record[2000];
        void *png;
        size_t size;
        memset(pixels, 40 * i, sizeof pixels);
        if (mst_png_encode(pixels, HEIGHT, WIDTH, 3, &png, &size)) skip(); /* built without libspng */
        const bool elements = content == PIXELS || (content == NO_PICTURE_IN_ROW_3 && i == 3);
        const int64_t label = i % 2;
        const mst_feature_data picture = {"image", MST_U8, elements ? pixels : png, elements ? BYTES : (int64_t)size};
        mst_feature_data features[] = {picture, picture, {"label", MST_I64, &label, 1}};
        features[1].name = "jmage";
        assert_true(mst_example_size(features, 3) <= sizeof record);
        mst_example_encode(features, 3, record);
        EXPECT_OK(mst_tfrecord_writer_add(writer, record, mst_example_size(features, 3)));
        free(png);
    }
    EXPECT_OK(mst_tfrecord_writer_commit(writer));
    mst_tfrecord_writer_close(writer);
}

static mst_status open_records(const char *name, const mst_data_options *options, mst_dataset **out) {
    char spec[4096];
    snprintf(spec, sizeof spec, "tfrecord:%s", folder_path(name));
    return mst_dataset_open_with(spec, "train", options, out);
}

static void expect_pictures(mst_dataset *rows, int component, mst_shape shape) {
    mst_tensor *pictures = pipeline_column(rows, component);
    assert_non_null(pictures);
    assert_true(mst_shape_equal(mst_dataset_spec(rows, component).shape, shape));
    const int64_t each = mst_shape_count(shape);
    assert_int_equal(mst_tensor_count(pictures), ROWS * each);
    for (int64_t i = 0; i < ROWS * each; i++)
        assert_int_equal(((const uint8_t *)mst_tensor_data(pictures))[i], 40 * (i / each));
    mst_tensor_release(pictures);
}

static void picture_files_are_decoded_and_resized(void **state) {
    (void)state;
    static const struct {
        mst_data_options options;
        mst_shape shape;
    } cases[] = {
        {{.image_size = 5}, {3, {5, 5, 3}}},
        {{.image_size = MST_IMAGE_SIZE_FIT}, {3, {4, 4, 3}}},
        {{.image_size = 3, .channels = 1}, {3, {3, 3, 1}}},
    };
    for (int compression = 0; compression < 2; compression++) {
        mst_dataset *rows;
        write_records("r", (mst_tfrecord_compression)compression, PNG_FILES);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            EXPECT_OK(open_records("r", &cases[i].options, &rows));
            assert_int_equal(mst_dataset_num_rows(rows), ROWS);
            expect_pictures(rows, 0, cases[i].shape);
            assert_int_equal(mst_dataset_spec(rows, 1).dtype, MST_I64);
            mst_dataset_release(rows);
        }
        EXPECT_OK(open_records("r", NULL, &rows));
        assert_true(mst_shape_equal(mst_dataset_spec(rows, 0).shape, MST_SHAPE(224, 224, 3)));
        mst_dataset_release(rows);
    }
}

static void each_of_several_inputs_may_be_pictures(void **state) {
    (void)state;
    static const char *const inputs[] = {"image", "jmage"}, *const outputs[] = {"label"};
    const mst_data_options options = {
        .image_size = 4, .inputs = inputs, .num_inputs = 2, .outputs = outputs, .num_outputs = 1};
    mst_dataset *rows;
    write_records("r", MST_TFRECORD_PLAIN, PNG_FILES);
    EXPECT_OK(open_records("r", &options, &rows));
    for (int i = 0; i < 2; i++) expect_pictures(rows, i, MST_SHAPE(4, 4, 3));
    mst_dataset_release(rows);
}

static void other_bytes_are_elements(void **state) {
    (void)state;
    mst_dataset *rows;
    write_records("r", MST_TFRECORD_PLAIN, PIXELS);
    for (int64_t size = MST_IMAGE_SIZE_FIT; size <= 0; size++) {
        EXPECT_OK(open_records("r", &(mst_data_options){.image_size = size}, &rows));
        expect_pictures(rows, 0, MST_SHAPE(BYTES));
        mst_dataset_release(rows);
    }
    EXPECT_ERROR(open_records("r", &(mst_data_options){.image_size = 5}, &rows), MST_INVALID,
                 "has no picture files to resize");
    EXPECT_ERROR(open_records("r", &(mst_data_options){.channels = 1}, &rows), MST_INVALID,
                 "has no picture files to resize");
    assert_null(rows);
}

/* Fails to copy the picture of row 3 in pass PASS of ROWS. IS_CACHED: its error names the row, else the record. Repeat
 * makes four passes of an epoch. */
static void expect_row_3_named(mst_dataset *rows, int64_t pass, bool is_cached) {
    mst_iterator *it;
    const mst_batch *batch;
    mst_record record;
    uint8_t pixels[5 * 5 * 3];
    char place[4096] = "decode_images of row 3: ";
    mst_dataset *repeated = mst_data_repeat(mst_dataset_retain(rows), 4);
    EXPECT_OK(mst_iterator_create(repeated, pass / 4, &it));
    EXPECT_OK(mst_iterator_skip(it, pass % 4 * ROWS + 3));
    EXPECT_OK(mst_iterator_next(it, &batch));
    if (!is_cached) {
        EXPECT_OK(mst_batch_record(batch, 0, &record));
        assert_true(record.offset > 0);
        snprintf(place, sizeof place, "'%s': record at byte %llu: ", folder_path("r"),
                 (unsigned long long)record.offset);
    }
    EXPECT_ERROR(mst_batch_copy(batch, 0, 0, 1, pixels), MST_CORRUPT, place);
    assert_non_null(strstr(mst_error()->message, "is no picture that is read"));
    mst_iterator_destroy(it);
    mst_dataset_release(repeated);
}

static void a_row_that_is_no_picture_is_named_in_each_pass(void **state) {
    (void)state;
    const mst_feature image = {.name = "image", .dtype = MST_STRING};
    const mst_images_options options = {.height = 5};
    for (int compression = 0; compression < 2; compression++) {
        mst_dataset *rows;
        write_records("r", (mst_tfrecord_compression)compression, NO_PICTURE_IN_ROW_3);
        EXPECT_OK(open_records("r", &(mst_data_options){.image_size = 5}, &rows));
        for (int64_t pass = 0; pass < 6; pass++) expect_row_3_named(rows, pass, compression != 0);
        mst_dataset_release(rows);
        const char *path = folder_path("r");
        rows = mst_data_parse_example(mst_data_from_tfrecord(&path, 1, NULL), &image, 1);
        rows = mst_data_decode_images(rows, 0, &options);
        for (int64_t pass = 0; pass < 6; pass++) expect_row_3_named(rows, pass, false);
        mst_dataset_release(rows);
    }
}

/* Records of the inputs "image" and "jmage": floats by tobytes in all rows but the first ZEROS and the one that has
 * PIXELS, with a shape or without one. */
static void write_floats(mst_tfrecord_compression compression, int zeros, int pixels, bool told) {
    enum { FLOATS = 64 };
    mst_tfrecord_writer *writer;
    EXPECT_OK(mst_tfrecord_writer_open(folder_path("f"), compression, &writer));
    for (int i = 0; i < ROWS; i++) {
        static const float none[FLOATS];
        static const int64_t shape = sizeof none;
        float numbers[FLOATS];
        uint8_t bytes[sizeof numbers], record[2000];
        const int64_t label = i % 2;
        for (int k = 0; k < FLOATS; k++) numbers[k] = i < zeros ? 0 : 0.01F * (float)(k + i);
        memcpy(bytes, numbers, sizeof bytes);
        for (int k = 0; k < FLOATS && i == pixels; k++) memcpy(&bytes[4 * k], (uint8_t[]){1, 2, 3, 4}, 4);
        const mst_feature_data features[] = {{"image", MST_U8, bytes, sizeof bytes},
                                             {"jmage", MST_U8, none, sizeof none},
                                             {"label", MST_I64, &label, 1},
                                             {"shape", MST_I64, &shape, 1}};
        const size_t size = mst_example_size(features, told ? 4 : 3);
        assert_true(size <= sizeof record);
        mst_example_encode(features, told ? 4 : 3, record);
        EXPECT_OK(mst_tfrecord_writer_add(writer, record, size));
    }
    EXPECT_OK(mst_tfrecord_writer_commit(writer));
    mst_tfrecord_writer_close(writer);
}

/* The first record may be of zeros only; one that holds no such numbers is enough to tell. */
static void bytes_that_look_like_numbers_are_told(void **state) {
    (void)state;
    static const char *const inputs[] = {"jmage", "image"}, *const outputs[] = {"label"};
    const mst_data_options several = {.inputs = inputs, .num_inputs = 2, .outputs = outputs, .num_outputs = 1};
    mst_dataset *rows;
    for (int compression = 0; compression < 2; compression++) {
        for (int zeros = 0; zeros <= ROWS; zeros++) {
            for (int i = 0; i < 2; i++) {
                const mst_data_options *options = i ? &several : NULL;
                write_floats((mst_tfrecord_compression)compression, zeros, ROWS, false);
                if (zeros < ROWS) {
                    EXPECT_ERROR(open_records("f", options, &rows), MST_INVALID,
                                 "': feature 'image' is bytes that look like numbers of float32");
                } else {
                    EXPECT_OK(open_records("f", options, &rows));
                    mst_dataset_release(rows);
                }
                for (int told = 0; told < 2; told++) {
                    write_floats((mst_tfrecord_compression)compression, zeros, told ? ROWS : 2, told);
                    EXPECT_OK(open_records("f", options, &rows));
                    assert_int_equal(mst_dataset_num_rows(rows), ROWS);
                    mst_dataset_release(rows);
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(picture_files_are_decoded_and_resized),
        TEST_IN_FOLDER(each_of_several_inputs_may_be_pictures),
        TEST_IN_FOLDER(other_bytes_are_elements),
        TEST_IN_FOLDER(a_row_that_is_no_picture_is_named_in_each_pass),
        TEST_IN_FOLDER(bytes_that_look_like_numbers_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
