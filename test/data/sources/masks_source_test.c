/* Pictures with masks: pairs by name, class numbers as they are stored, sizes, and changes that move both alike. */
#include <stdio.h>
#include <sys/stat.h>

#include "format/png_encode.h"
#include "muster/dataset.h"
#include "support/folder.h"
#include "support/test.h"

enum { SIDE = 4 };

static void make_folder(const char *name) {
    assert_int_equal(mkdir(folder_path(name), 0755), 0);
}

/* A picture of HEIGHT x WIDTH pixels whose channels all are FACTOR * (number of the pixel). */
static void write_numbers(const char *name, int height, int width, int channels, int factor) {
    uint8_t pixels[1024];
    void *data;
    size_t size;
    for (int i = 0; i < height * width * channels; i++) pixels[i] = (uint8_t)(factor * (i / channels));
    if (mst_png_encode(pixels, height, width, channels, &data, &size)) skip(); /* built without libspng */
    (void)folder_write(name, data, size);
    free(data);
}

/* Pictures b and a/1 of numbers times 10, with their masks. */
static void write_pair(void) {
    make_folder("images"), make_folder("masks"), make_folder("images/a"), make_folder("masks/a");
    write_numbers("images/b.png", SIDE, SIDE, 3, 10);
    write_numbers("images/a/1.png", SIDE, SIDE, 3, 5);
    write_numbers("masks/b.png", SIDE, SIDE, 3, 1); /* of equal red, green and blue */
    write_numbers("masks/a/1.png", SIDE, SIDE, 1, 2);
}

static mst_status open_masks(int64_t size, mst_dataset **out) {
    return mst_dataset_from_masks(folder_path("images"), folder_path("masks"),
                                  &(mst_images_options){.height = size, .resize = MST_RESIZE_NEAREST}, out);
}

/* All rows of COMPONENT of DATA. */
static mst_tensor *rows_of(mst_dataset *data, int component) {
    mst_dataset *batches;
    mst_iterator *iterator;
    const mst_batch *batch;
    mst_tensor *tensor;
    EXPECT_OK(mst_dataset_batch(data, 100, false, &batches));
    EXPECT_OK(mst_iterator_create(batches, 0, &iterator));
    EXPECT_OK(mst_iterator_next(iterator, &batch));
    EXPECT_OK(mst_batch_tensor(batch, component, &tensor));
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    return tensor;
}

static void pictures_and_masks_are_paired_by_name(void **state) {
    (void)state;
    mst_dataset *data;
    int64_t n;
    write_pair();
    EXPECT_OK(open_masks(SIDE, &data));
    assert_int_equal(mst_dataset_num_rows(data), 2);
    mst_tensor *pictures = rows_of(data, 0), *masks = rows_of(data, 1);
    assert_true(mst_shape_equal(mst_tensor_shape(masks), MST_SHAPE(2, SIDE, SIDE)));
    assert_int_equal(mst_tensor_dtype(masks), MST_U8);
    for (int i = 0; i < SIDE * SIDE; i++) { /* a/1, then b */
        assert_true(mst_tensor_get(pictures, 3 * i) == 5 * i && mst_tensor_get(masks, i) == 2 * i);
        assert_true(mst_tensor_get(pictures, 3 * (SIDE * SIDE + i)) == 10 * i);
        assert_true(mst_tensor_get(masks, SIDE * SIDE + i) == i);
    }
    assert_non_null(strstr(mst_dataset_file_paths(data, &n)[0], "images/a/1.png"));
    mst_tensor_release(pictures);
    mst_tensor_release(masks);
    mst_dataset_release(data);
}

static void masks_are_resized_to_the_nearest_pixel_and_never_mixed(void **state) {
    (void)state;
    mst_dataset *data;
    write_pair();
    EXPECT_OK(open_masks(2, &data));
    mst_tensor *masks = rows_of(data, 1);
    static const int kept[] = {5, 7, 13, 15}; /* half-pixel centers: rows and columns 1 and 3 */
    for (int i = 0; i < 4; i++) assert_true(mst_tensor_get(masks, 4 + i) == kept[i]);
    mst_tensor_release(masks);
    mst_dataset_release(data);
}

static void changes_with_one_seed_move_both_alike(void **state) {
    (void)state;
    mst_dataset *data;
    write_pair();
    EXPECT_OK(open_masks(SIDE, &data));
    for (int seed = 0; seed < 8; seed++) {
        mst_dataset *changed = mst_dataset_retain(data);
        for (int c = 0; c < 2; c++) {
            mst_dataset *flipped, *cropped;
            EXPECT_OK(mst_dataset_random_flip(changed, c, MST_FLIP_BOTH, (uint64_t)seed, &flipped));
            EXPECT_OK(mst_dataset_random_crop(flipped, c, SIDE, SIDE, 2, (uint64_t)seed, &cropped));
            mst_dataset_release(changed);
            mst_dataset_release(flipped);
            changed = cropped;
        }
        mst_tensor *pictures = rows_of(changed, 0), *masks = rows_of(changed, 1);
        for (int i = SIDE * SIDE; i < 2 * SIDE * SIDE; i++)
            assert_true(mst_tensor_get(pictures, 3 * i) == 10 * mst_tensor_get(masks, i));
        mst_tensor_release(pictures);
        mst_tensor_release(masks);
        mst_dataset_release(changed);
    }
    mst_dataset_release(data);
}

static void what_has_no_partner_or_no_class_numbers_is_named(void **state) {
    (void)state;
    mst_dataset *data;
    write_pair();
    write_numbers("images/c.png", SIDE, SIDE, 3, 1);
    EXPECT_ERROR(open_masks(SIDE, &data), MST_INVALID, "images/c.png': has no mask of the same name");
    assert_null(data);
    (void)folder_write("masks/c.png", "GIF89a", 6);
    EXPECT_OK(open_masks(SIDE, &data)); /* a/1 is the first, and c is read later */
    mst_iterator *iterator;
    const mst_batch *batch;
    mst_tensor *masks;
    EXPECT_OK(mst_iterator_create(data, 0, &iterator));
    EXPECT_OK(mst_iterator_skip(iterator, 2));
    EXPECT_OK(mst_iterator_next(iterator, &batch));
    EXPECT_ERROR(mst_batch_tensor(batch, 1, &masks), MST_INVALID, "masks/c.png': masks must be PNG files");
    mst_iterator_destroy(iterator);
    mst_dataset_release(data);
    write_numbers("masks/d.png", SIDE, SIDE, 1, 1);
    EXPECT_ERROR(open_masks(SIDE, &data), MST_INVALID, "masks/d.png': has no picture of the same name");
    EXPECT_ERROR(mst_dataset_from_masks(folder_path("else"), folder_path("masks"), NULL, &data), MST_NOT_FOUND, "else");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(pictures_and_masks_are_paired_by_name),
        TEST_IN_FOLDER(masks_are_resized_to_the_nearest_pixel_and_never_mixed),
        TEST_IN_FOLDER(changes_with_one_seed_move_both_alike),
        TEST_IN_FOLDER(what_has_no_partner_or_no_class_numbers_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
