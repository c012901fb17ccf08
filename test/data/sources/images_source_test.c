/* Pictures as a source: PNG and JPEG files are decoded and resized to the values of TensorFlow, and sizes in headers
 * are not trusted. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/pictures/resize.h"
#include "format/image.h"
#include "format/png_encode.h"
#include "muster/dataset.h"
#include "support/expect.h"
#include "support/folder.h"

/* 16 rows of 32 pixels, the left half red and the right half blue. */
static const uint8_t jpeg[] = {
    0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x01, 0x01, 0x2c, 0x01, 0x2c, 0x00,
    0x00, 0xff, 0xdb, 0x00, 0x43, 0x00, 0x10, 0x0b, 0x0c, 0x0e, 0x0c, 0x0a, 0x10, 0x0e, 0x0d, 0x0e, 0x12, 0x11, 0x10,
    0x13, 0x18, 0x28, 0x1a, 0x18, 0x16, 0x16, 0x18, 0x31, 0x23, 0x25, 0x1d, 0x28, 0x3a, 0x33, 0x3d, 0x3c, 0x39, 0x33,
    0x38, 0x37, 0x40, 0x48, 0x5c, 0x4e, 0x40, 0x44, 0x57, 0x45, 0x37, 0x38, 0x50, 0x6d, 0x51, 0x57, 0x5f, 0x62, 0x67,
    0x68, 0x67, 0x3e, 0x4d, 0x71, 0x79, 0x70, 0x64, 0x78, 0x5c, 0x65, 0x67, 0x63, 0xff, 0xdb, 0x00, 0x43, 0x01, 0x11,
    0x12, 0x12, 0x18, 0x15, 0x18, 0x2f, 0x1a, 0x1a, 0x2f, 0x63, 0x42, 0x38, 0x42, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63,
    0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63,
    0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0x63,
    0x63, 0x63, 0x63, 0x63, 0x63, 0x63, 0xff, 0xc0, 0x00, 0x11, 0x08, 0x00, 0x10, 0x00, 0x20, 0x03, 0x01, 0x11, 0x00,
    0x02, 0x11, 0x01, 0x03, 0x11, 0x01, 0xff, 0xc4, 0x00, 0x15, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0xff, 0xc4, 0x00, 0x14, 0x10, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xc4, 0x00, 0x17, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x05, 0x06,
    0xff, 0xc4, 0x00, 0x14, 0x11, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0xff, 0xda, 0x00, 0x0c, 0x03, 0x01, 0x00, 0x02, 0x11, 0x03, 0x11, 0x00, 0x3f, 0x00, 0x8a, 0xcb,
    0x77, 0x80, 0x23, 0xaa, 0x09, 0xc8, 0x0b, 0x09, 0x7a, 0x8c, 0x02, 0x3a, 0xa0, 0x9c, 0x80, 0xff, 0xd9,
};

/* A PNG of one color. */
static void write_png(const char *name, int height, int width, int channels, const uint8_t *color) {
    uint8_t *pixels = malloc((size_t)(height * width * channels));
    void *data;
    size_t size;
    for (int i = 0; i < height * width * channels; i++) pixels[i] = color[i % channels];
    if (mst_png_encode(pixels, height, width, channels, &data, &size)) skip(); /* built without libspng */
    (void)folder_write(name, data, size);
    free(data);
    free(pixels);
}

static void make_folder(const char *name) {
    assert_int_equal(mkdir(folder_path(name), 0755), 0);
}

static void write_jpeg(const char *name, size_t size) {
    mst_image image;
    const mst_image_want want = {.channels = 3};
    if (mst_image_decode("jpeg", jpeg, sizeof jpeg, &want, &image) == MST_UNAVAILABLE) skip();
    free(image.pixels);
    (void)folder_write(name, jpeg, size);
}

static const uint8_t green[] = {0, 200, 0, 255}, gray[] = {90, 255};

static mst_tensor *row(mst_dataset *dataset, int64_t i, int component) {
    mst_iterator *it;
    const mst_batch *batch;
    mst_tensor *tensor;
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    EXPECT_OK(mst_iterator_skip(it, i));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_tensor(batch, component, &tensor));
    mst_iterator_destroy(it);
    return tensor;
}

static void expect_label(mst_dataset *dataset, int64_t i, int64_t label) {
    mst_tensor *tensor = row(dataset, i, 1);
    assert_int_equal(*(int64_t *)mst_tensor_data(tensor), label);
    mst_tensor_release(tensor);
}

static void folders_are_classes_and_files_rows(void **state) {
    (void)state;
    mst_dataset *dataset;
    make_folder("dog");
    make_folder("cat");
    make_folder(".hidden");
    write_png("dog/b.png", 4, 6, 4, green);
    write_png("dog/A.PNG", 4, 6, 2, gray);
    write_png("cat/z.png", 9, 2, 3, green);
    (void)folder_write("cat/notes.txt", "x", 1);
    (void)folder_write("cat/.png", "x", 1);
    EXPECT_OK(mst_dataset_from_images(folder_path(""), &(mst_images_options){.height = 3, .width = 5}, &dataset));
    assert_int_equal(mst_dataset_num_rows(dataset), 3);
    assert_int_equal(mst_dataset_spec(dataset, 0).dtype, MST_U8);
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 0).shape, MST_SHAPE(3, 5, 3)));
    assert_int_equal(mst_dataset_num_classes(dataset, 1), 2);
    assert_string_equal(mst_dataset_class_name(dataset, 1, 0), "cat");
    assert_string_equal(mst_dataset_class_name(dataset, 1, 1), "dog");
    expect_label(dataset, 0, 0);
    expect_label(dataset, 1, 1);
    expect_label(dataset, 2, 1);
    mst_tensor *cat = row(dataset, 0, 0), *dog = row(dataset, 1, 0);
    for (int i = 0; i < 45; i++) {
        assert_int_equal(((uint8_t *)mst_tensor_data(cat))[i], green[i % 3]);
        assert_int_equal(((uint8_t *)mst_tensor_data(dog))[i], 90);
    }
    mst_tensor_release(cat);
    mst_tensor_release(dog);
    mst_dataset_release(dataset);
}

static void a_large_jpeg_is_decoded_at_a_part_of_its_size(void **state) {
    (void)state;
    mst_image image;
    make_folder("a");
    write_jpeg("a/a.jpeg", sizeof jpeg);
    static const struct {
        int64_t least_height, least_width, height, width;
    } cases[] = {{0, 0, 16, 32}, {16, 20, 16, 32}, {8, 16, 8, 16}, {5, 5, 8, 16}, {4, 8, 4, 8}, {1, 1, 2, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mst_image_want want = {
            .channels = 3, .least_height = cases[i].least_height, .least_width = cases[i].least_width};
        EXPECT_OK(mst_image_decode("a.jpeg", jpeg, sizeof jpeg, &want, &image));
        assert_true(image.height == cases[i].height && image.width == cases[i].width);
        const uint8_t *last = image.pixels + 3 * (image.height * image.width - 1);
        assert_true(image.pixels[0] > 240 && image.pixels[2] < 15);
        assert_true(last[0] < 15 && last[2] > 240);
        free(image.pixels);
    }
    mst_dataset *dataset;
    EXPECT_OK(mst_dataset_from_images(folder_path(""), &(mst_images_options){.width = 4, .channels = 1}, &dataset));
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 0).shape, MST_SHAPE(4, 4, 1)));
    mst_tensor *tensor = row(dataset, 0, 0);
    const uint8_t *pixels = mst_tensor_data(tensor);
    assert_in_range(pixels[0], 74, 78); /* the luma of red, and of blue */
    assert_in_range(pixels[15], 27, 31);
    mst_tensor_release(tensor);
    mst_dataset_release(dataset);
}

static mst_image gray_image(const uint8_t *pixels, int64_t height, int64_t width) {
    return (mst_image){.pixels = (uint8_t *)(uintptr_t)pixels, .height = height, .width = width, .channels = 1};
}

static void resizing_has_the_values_of_tensorflow(void **state) {
    (void)state;
    static const uint8_t square[] = {0, 10, 20, 30}, line[] = {0, 30, 60};
    static const float larger[] = {0, 2.5f, 7.5f, 10, 5, 7.5f, 12.5f, 15, 15, 17.5f, 22.5f, 25, 20, 22.5f, 27.5f, 30};
    float dst[16];
    uint8_t rounded[16];
    const mst_image of_square = gray_image(square, 2, 2), of_line = gray_image(line, 1, 3);
    EXPECT_OK(mst_resize(MST_RESIZE_BILINEAR, &of_square, MST_F32, dst, 4, 4));
    assert_memory_equal(dst, larger, sizeof larger);
    EXPECT_OK(mst_resize(MST_RESIZE_BILINEAR, &of_square, MST_U8, rounded, 4, 4));
    for (int i = 0; i < 16; i++) assert_int_equal(rounded[i], lrintf(larger[i])); /* of two the even one */
    EXPECT_OK(mst_resize(MST_RESIZE_AREA, &of_square, MST_F32, dst, 1, 1));
    assert_true(dst[0] == 15);
    EXPECT_OK(mst_resize(MST_RESIZE_AREA, &of_line, MST_F32, dst, 1, 2));
    assert_float_equal(dst[0], 10, 1e-5);
    assert_float_equal(dst[1], 50, 1e-5);
    EXPECT_OK(mst_resize(MST_RESIZE_NEAREST, &of_line, MST_F32, dst, 1, 2));
    assert_true(dst[0] == 0 && dst[1] == 60);
}

/* Vector code against the formula, also where a group of columns ends in the middle or needs too many bytes. */
static void every_size_has_the_values_of_the_formula(void **state) {
    (void)state;
    enum { MOST = 70 };
    uint8_t src[2 * MOST * 3];
    float dst[2 * MOST * 3];
    for (int i = 0; i < 2 * MOST * 3; i++) src[i] = (uint8_t)(i * 89 + i * i);
    for (int channels = 1; channels <= 3; channels += 2)
        for (int width = 1; width <= MOST; width += 3)
            for (int wide = 1; wide <= MOST; wide += 1) {
                const mst_image image = {.pixels = src, .height = 2, .width = width, .channels = channels};
                const float scale = (float)width / (float)wide;
                EXPECT_OK(mst_resize(MST_RESIZE_BILINEAR, &image, MST_F32, dst, 2, wide));
                for (int i = 0; i < 2 * wide * channels; i++) {
                    const float at = ((float)(i / channels % wide) + 0.5f) * scale - 0.5f, floor = floorf(at);
                    const int left = floor < 0 ? 0 : (int)floor, right = (int)ceilf(at);
                    const uint8_t *row = src + i / channels / wide * width * channels + i % channels;
                    const float a = row[left * channels], b = row[(right < width ? right : width - 1) * channels];
                    assert_true(dst[i] == a + (b - a) * (at - floor));
                }
            }
}

/* Brightness of 4 x 4, colors of 2 x 2, both with rows that are longer than their samples. */
static void planes_become_rgb(void **state) {
    (void)state;
    uint8_t y[4 * 8], blue[2 * 8], red[2 * 8], dst[16 * 3];
    memset(y, 100, sizeof y);
    memset(blue, 128, sizeof blue);
    memset(red, 128, sizeof red);
    red[0] = red[8] = 178; /* the left half */
    const mst_image image = {.height = 4,
                             .width = 4,
                             .channels = 3,
                             .plane = {{y, 4, 4, 8, 1, 1}, {blue, 2, 2, 8, 2, 2}, {red, 2, 2, 8, 2, 2}}};
    EXPECT_OK(mst_resize(MST_RESIZE_BILINEAR, &image, MST_U8, dst, 4, 4));
    /* samples of color are in the middle of their pixels: the inner columns have a quarter of the other's */
    static const int added[] = {50, 38, 12, 0};
    for (int i = 0; i < 16; i++) {
        const double r = i % 4 == 1 ? 37.5 : i % 4 == 2 ? 12.5 : added[i % 4];
        assert_in_range(dst[3 * i], 100 + (int)(1.402 * r), 101 + (int)(1.402 * r));
        assert_in_range(dst[3 * i + 1], 99 - (int)(0.714136 * r), 100 - (int)(0.714136 * r));
        assert_int_equal(dst[3 * i + 2], 100);
    }
}

static void a_jpeg_is_left_as_planes_where_that_is_asked_for(void **state) {
    (void)state;
    const mst_image_want cases[] = {
        {.channels = 3, .planes = true},
        {.channels = 3, .least_height = 8, .least_width = 8, .planes = true},
        {.channels = 3, .least_height = 2, .least_width = 4, .planes = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_image image, whole;
        mst_image_want want = cases[i];
        const mst_status status = mst_image_decode("a.jpeg", jpeg, sizeof jpeg, &want, &image);
        if (status == MST_UNIMPLEMENTED) skip();
        EXPECT_OK(status);
        want.planes = false;
        EXPECT_OK(mst_image_decode("a.jpeg", jpeg, sizeof jpeg, &want, &whole));
        assert_non_null(image.plane[2].pixels);
        assert_null(whole.plane[0].pixels);
        assert_true(image.height == whole.height && image.width == whole.width);
        float *a = malloc(16 * 32 * 3 * sizeof *a), *b = malloc(16 * 32 * 3 * sizeof *b);
        EXPECT_OK(mst_resize(MST_RESIZE_BILINEAR, &image, MST_F32, a, 16, 32));
        EXPECT_OK(mst_resize(MST_RESIZE_BILINEAR, &whole, MST_F32, b, 16, 32));
        for (int j = 0; j < 16 * 32 * 3; j++) /* but at the edge between the colors */
            if (j / 3 % 32 < 10 || j / 3 % 32 > 21) assert_float_equal(a[j], b[j], 2.5);
        free(a);
        free(b);
        free(image.pixels);
        free(whole.pixels);
    }
}

static void damaged_files_are_named(void **state) {
    (void)state;
    mst_dataset *dataset;
    mst_iterator *it;
    const mst_batch *batch;
    uint8_t pixels[224 * 224 * 3];
    make_folder("a");
    write_png("a/1.png", 5, 5, 3, green);
    write_jpeg("a/2.jpg", sizeof jpeg - 6);
    (void)folder_write("a/3.jpg", "II*", 4);
    EXPECT_OK(mst_dataset_from_images(folder_path(""), NULL, &dataset));
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy(batch, 0, 0, 1, pixels));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_ERROR(mst_batch_copy(batch, 0, 0, 1, pixels), MST_CORRUPT,
                 "a/2.jpg': the JPEG is damaged or ends too early");
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_ERROR(mst_batch_copy(batch, 0, 0, 1, pixels), MST_CORRUPT,
                 "a/3.jpg': is no picture that is read (PNG, JPEG, WebP, GIF and BMP)");
    mst_iterator_destroy(it);
    mst_dataset_release(dataset);
    (void)folder_write("a/1.png", "\x89PNG\r\n\x1a\n", 8);
    EXPECT_ERROR(mst_dataset_from_images(folder_path(""), NULL, &dataset), MST_CORRUPT, "a/1.png': is no intact PNG");
    assert_null(dataset);
}

/* The image is complete before the check sum of the last chunk of pixels, and before the end of the file. */
static void every_check_sum_of_a_png_is_checked(void **state) {
    (void)state;
    enum { HEIGHT = 9, WIDTH = 7, END = 12 };
    uint8_t pixels[HEIGHT * WIDTH * 3];
    void *data;
    size_t size;
    mst_image image;
    const mst_image_want want = {.channels = 3};
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * i);
    if (mst_png_encode(pixels, HEIGHT, WIDTH, 3, &data, &size)) skip();
    uint8_t *png = data;
    EXPECT_OK(mst_image_decode("whole", png, size, &want, &image));
    assert_memory_equal(image.pixels, pixels, sizeof pixels);
    free(image.pixels);
    const uint8_t *chunk = memmem(png, size, "IDAT", 4);
    assert_non_null(chunk);
    for (size_t i = (size_t)(chunk - png) + 4; i < size - END; i++) { /* its bytes, and its check sum */
        png[i] ^= 1;
        EXPECT_ERROR(mst_image_decode("one bit", png, size, &want, &image), MST_CORRUPT, "'one bit': is no intact PNG");
        png[i] ^= 1;
    }
    EXPECT_ERROR(mst_image_decode("cut", png, size - END, &want, &image), MST_CORRUPT, "'cut': is no intact PNG");
    free(data);
}

/* Without it the others would be another data set; a link that leads nowhere is not a picture. */
static void pictures_that_cannot_be_looked_at_are_not_left_out(void **state) {
    (void)state;
    mst_dataset *dataset;
    make_folder("a");
    write_png("a/1.png", 5, 5, 3, green);
    assert_int_equal(symlink("nowhere.png", folder_path("a/2.png")), 0);
    EXPECT_OK(mst_dataset_from_images(folder_path(""), NULL, &dataset));
    assert_int_equal(mst_dataset_cardinality(dataset), 1);
    mst_dataset_release(dataset);
    assert_int_equal(symlink("3.png", folder_path("a/3.png")), 0);
    EXPECT_ERROR(mst_dataset_from_images(folder_path(""), NULL, &dataset), MST_IO, "a/3.png' cannot be looked at");
}

/* A header that names 8000 x 8000 pixels, and no data. */
/* Reading a label must not decode the picture. */
static void labels_are_copied_without_decoding_pictures(void **state) {
    (void)state;
    mst_dataset *whole, *scaled, *flipped;
    mst_iterator *it;
    const mst_batch *batch;
    int64_t label = -1;
    float pixels[4 * 4 * 3];
    make_folder("a");
    make_folder("b");
    write_png("a/1.png", 5, 5, 3, green);
    (void)folder_write("b/1.jpg", "II*", 4);
    EXPECT_OK(mst_dataset_from_images(folder_path(""), &(mst_images_options){.width = 4}, &whole));
    EXPECT_OK(mst_dataset_scale(whole, 0, MST_F32, 1.0 / 255, &scaled));
    EXPECT_OK(mst_dataset_random_flip(scaled, 0, MST_FLIP_BOTH, 1, &flipped));
    EXPECT_OK(mst_iterator_create(flipped, 0, &it));
    EXPECT_OK(mst_iterator_skip(it, 1));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy(batch, 1, 0, 1, &label));
    assert_int_equal(label, 1);
    EXPECT_ERROR(mst_batch_copy(batch, 0, 0, 1, pixels), MST_CORRUPT, "b/1.jpg': is no picture that is read");
    mst_iterator_destroy(it);
    mst_dataset_release(whole);
    mst_dataset_release(scaled);
    mst_dataset_release(flipped);
}

static void sizes_in_headers_are_not_trusted(void **state) {
    (void)state;
    mst_image image;
    const mst_image_want wants[] = {{.channels = 3}, {.channels = 3, .least_height = 8, .least_width = 8}};
    static const uint8_t size[4] = {0x1f, 0x40, 0x1f, 0x40};
    uint8_t large[sizeof jpeg];
    memcpy(large, jpeg, sizeof jpeg);
    for (size_t i = 0; i + 9 < sizeof jpeg; i++)
        if (large[i] == 0xff && large[i + 1] == 0xc0) memcpy(large + i + 5, size, sizeof size);
    for (int i = 0; i < 2; i++) {
        const mst_status status = mst_image_decode("a.jpg", large, sizeof large, &wants[i], &image);
        if (status == MST_UNAVAILABLE) skip();
        assert_int_equal(status, MST_CORRUPT);
        assert_non_null(strstr(mst_error()->message, "cannot hold the 8000 x 8000 pixels"));
    }
}

static void parts_are_in_folders_and_have_the_same_classes(void **state) {
    (void)state;
    mst_dataset *dataset;
    char spec[512];
    snprintf(spec, sizeof spec, "images:%s", folder_path(""));
    make_folder("train");
    make_folder("train/ant");
    make_folder("train/bee");
    make_folder("test");
    make_folder("test/bee");
    write_png("train/ant/1.png", 5, 5, 3, green);
    write_png("train/bee/1.png", 5, 5, 3, green);
    write_png("test/bee/1.png", 5, 5, 3, green);
    const mst_data_options options = {.image_size = 7};
    EXPECT_OK(mst_dataset_open_with(spec, "train", &options, &dataset));
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 0).shape, MST_SHAPE(7, 7, 3)));
    assert_int_equal(mst_dataset_num_rows(dataset), 2);
    mst_dataset_release(dataset);
    EXPECT_OK(mst_dataset_open_with(spec, "test", NULL, &dataset));
    assert_true(mst_shape_equal(mst_dataset_spec(dataset, 0).shape, MST_SHAPE(224, 224, 3)));
    expect_label(dataset, 0, 1);
    assert_string_equal(mst_dataset_class_name(dataset, 1, 0), "ant");
    mst_dataset_release(dataset);
    make_folder("test/cow");
    write_png("test/cow/1.png", 5, 5, 3, green);
    EXPECT_ERROR(mst_dataset_open(spec, "test", &dataset), MST_INVALID, "class 'cow' was not there in training");
    /* other pictures, numbered by the schema of the training */
    EXPECT_OK(mst_dataset_from_images(folder_path("train"), NULL, &dataset));
    char *schema = strdup(mst_dataset_schema(dataset));
    mst_dataset_release(dataset);
    const mst_images_options later = {.schema = schema};
    EXPECT_ERROR(mst_dataset_from_images(folder_path("test"), &later, &dataset), MST_INVALID, "class 'cow'");
    make_folder("new");
    make_folder("new/bee");
    write_png("new/bee/1.png", 5, 5, 3, green);
    EXPECT_OK(mst_dataset_from_images(folder_path("new"), &later, &dataset));
    expect_label(dataset, 0, 1);
    assert_int_equal(mst_dataset_num_classes(dataset, 1), 2);
    assert_string_equal(mst_dataset_schema(dataset), schema);
    mst_dataset_release(dataset);
    free(schema);
    const char *const unsorted[] = {"[\"bee\", \"ant\"]", "[\"bee\", \"bee\"]"};
    for (int i = 0; i < 2; i++) {
        char text[128];
        snprintf(text, sizeof text,
                 "{\"columns\": [{\"name\": \"class\", \"type\": \"category\", \"categories\": %s}]}", unsorted[i]);
        EXPECT_ERROR(mst_dataset_from_images(folder_path("new"), &(mst_images_options){.schema = text}, &dataset),
                     MST_INVALID, "categories are not sorted, or one is there twice");
    }
    EXPECT_ERROR(mst_dataset_open_with("npz:a", "train", &options, &dataset), MST_INVALID, "image-size is for images");
}

static void pictures_have_a_size_that_fits_the_first_one(void **state) {
    (void)state;
    static const struct {
        int height, width;
        int64_t side;
    } cases[] = {{20, 30, 20}, {100, 90, 64}};
    for (int i = 0; i < 2; i++) {
        mst_dataset *dataset;
        if (i == 0) make_folder("fit");
        write_png("fit/1.png", cases[i].height, cases[i].width, 3, (const uint8_t[]){1, 2, 3});
        EXPECT_OK(mst_dataset_from_images(folder_path(""), &(mst_images_options){.fit = true}, &dataset));
        assert_true(mst_shape_equal(mst_dataset_spec(dataset, 0).shape, MST_SHAPE(cases[i].side, cases[i].side, 3)));
        mst_dataset_release(dataset);
    }
}

static void impossible_arguments_are_named(void **state) {
    (void)state;
    mst_dataset *dataset;
    EXPECT_ERROR(mst_dataset_from_images(folder_path("none"), NULL, &dataset), MST_NOT_FOUND, "none'");
    EXPECT_ERROR(mst_dataset_from_images(folder_path(""), NULL, &dataset), MST_NOT_FOUND, "has no folder with");
    EXPECT_ERROR(mst_dataset_from_images(folder_write("f", "x", 1), NULL, &dataset), MST_INVALID, "folder");
    EXPECT_ERROR(mst_dataset_from_images("x", &(mst_images_options){.channels = 2}, &dataset), MST_INVALID,
                 "channels is 2");
    EXPECT_ERROR(mst_dataset_from_images("x", &(mst_images_options){.height = -1}, &dataset), MST_INVALID,
                 "height and width");
    EXPECT_ERROR(mst_dataset_from_images("x", &(mst_images_options){.dtype = MST_I64}, &dataset), MST_INVALID,
                 "dtype is i64");
    EXPECT_ERROR(mst_dataset_open("images:/none", "test", &dataset), MST_NOT_FOUND,
                 "'/none': no such folder: check the path");
    folder_write("a/p", "x", 1);
    char spec[256];
    snprintf(spec, sizeof spec, "images:%s", folder_path(""));
    EXPECT_ERROR(mst_dataset_open(spec, "test", &dataset), MST_NOT_FOUND,
                 "has no test part: it needs the folders train and test");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(folders_are_classes_and_files_rows),
        TEST_IN_FOLDER(a_large_jpeg_is_decoded_at_a_part_of_its_size),
        cmocka_unit_test(resizing_has_the_values_of_tensorflow),
        cmocka_unit_test(every_size_has_the_values_of_the_formula),
        cmocka_unit_test(planes_become_rgb),
        cmocka_unit_test(a_jpeg_is_left_as_planes_where_that_is_asked_for),
        TEST_IN_FOLDER(damaged_files_are_named),
        cmocka_unit_test(every_check_sum_of_a_png_is_checked),
        TEST_IN_FOLDER(pictures_that_cannot_be_looked_at_are_not_left_out),
        TEST_IN_FOLDER(labels_are_copied_without_decoding_pictures),
        cmocka_unit_test(sizes_in_headers_are_not_trusted),
        TEST_IN_FOLDER(parts_are_in_folders_and_have_the_same_classes),
        TEST_IN_FOLDER(pictures_have_a_size_that_fits_the_first_one),
        TEST_IN_FOLDER(impossible_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
