/* WebP, GIF and BMP files: known pixels, and files that end too early or whose headers name sizes that cannot be. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "format/image.h"
#include "support/expect.h"

/* All three are the same picture of 2 rows of 3 pixels. */
static const uint8_t pixels[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30, 250, 128, 0, 255, 255, 255};
static const uint8_t grays[] = {76, 150, 29, 18, 150, 255};

static const uint8_t gif[] = {71,  73, 70, 56, 55, 97,  3, 0, 2, 0, 130, 0, 0,  255, 255, 255, 250, 128, 0, 0,
                              255, 0,  10, 20, 30, 255, 0, 0, 0, 0, 255, 0, 0,  0,   0,   0,   0,   44,  0, 0,
                              0,   0,  3,  0,  2,  0,   0, 8, 9, 0, 9,   8, 40, 48,  32,  0,   128, 128, 0, 59};
static const uint8_t webp[] = {82,  73,  70,  70,  66,  0,   0,   0,   87,  69,  66,  80,  86,  80,  56,
                               76,  54,  0,   0,   0,   47,  2,   64,  0,   0,   47,  64,  152, 109, 180,
                               65,  156, 229, 249, 127, 167, 65,  38,  109, 147, 191, 254, 125, 206, 193,
                               8,   178, 109, 54,  146, 251, 107, 93,  100, 243, 31,  104, 228, 145, 172,
                               249, 14,  4,   2,   148, 177, 226, 129, 109, 34,  250, 31,  227, 5};
static const uint8_t bmp[] = {66,  77,  78,  0,  0, 0, 0, 0, 0,   0, 54,  0, 0,   0, 40, 0,  0,  0, 3,   0,
                              0,   0,   2,   0,  0, 0, 1, 0, 24,  0, 0,   0, 0,   0, 24, 0,  0,  0, 196, 14,
                              0,   0,   196, 14, 0, 0, 0, 0, 0,   0, 0,   0, 0,   0, 30, 20, 10, 0, 128, 250,
                              255, 255, 255, 0,  0, 0, 0, 0, 255, 0, 255, 0, 255, 0, 0,  0,  0,  0};

/* Runs of 4 bits: six of the colors 1 and 2 in turn; the colors 1, 2, 3, 4, then two of 5 and 6; and an end. The colors
 * are gray. */
static const uint8_t runs[] = {6, 0x12, 0, 0, 0, 4, 0x12, 0x34, 2, 0x56, 0, 0, 6, 0x78, 0, 1};

static const struct {
    const char *name;
    const uint8_t *data;
    size_t size;
} files[] = {{"a.gif", gif, sizeof gif}, {"a.webp", webp, sizeof webp}, {"a.bmp", bmp, sizeof bmp}};
enum { NUM_FILES = 3, HEIGHT = 2, WIDTH = 3 };

static mst_status decode(const char *name, const uint8_t *data, size_t size, int channels, mst_image *out) {
    const mst_image_want want = {.channels = channels};
    return mst_image_decode(name, data, size, &want, out);
}

static bool is_there(int file) {
    mst_image image;
    const mst_status status = decode(files[file].name, files[file].data, files[file].size, 3, &image);
    free(image.pixels);
    return status != MST_UNAVAILABLE;
}

static void pixels_and_grays_are_known(void **state) {
    (void)state;
    for (int i = 0; i < NUM_FILES; i++) {
        if (!is_there(i)) continue; /* built without its library */
        for (int channels = 1; channels <= 3; channels += 2) {
            mst_image image;
            EXPECT_OK(decode(files[i].name, files[i].data, files[i].size, channels, &image));
            assert_int_equal(image.height, HEIGHT);
            assert_int_equal(image.width, WIDTH);
            assert_int_equal(image.channels, channels);
            assert_memory_equal(image.pixels, channels == 1 ? grays : pixels, (size_t)(HEIGHT * WIDTH * channels));
            free(image.pixels);
        }
    }
}

/* The last byte of a GIF says that no frame follows, and two bytes of these WebP and BMP files are padding. */
static void files_that_end_too_early_are_damaged(void **state) {
    (void)state;
    enum { UNUSED = 3 };
    for (int i = 0; i < NUM_FILES; i++) {
        if (!is_there(i)) continue;
        for (size_t size = 0; size + UNUSED < files[i].size; size++) {
            uint8_t *cut = malloc(size + 1); /* of this size, so that sanitizers see a read behind it */
            mst_image image;
            memcpy(cut, files[i].data, size);
            EXPECT_ERROR(decode("cut", cut, size, 3, &image), MST_CORRUPT, "'cut'");
            assert_null(image.pixels);
            free(cut);
        }
    }
}

/* A BMP of 6 x 3 pixels of 4 bits whose pixels are PIXELS, with 16 grays. */
static size_t make_bmp(uint8_t out[256], const uint8_t *runs_of, size_t size, uint8_t compression) {
    enum { HEADER = 54, COLORS = 16 };
    const uint8_t header[HEADER] = {'B', 'M', 0, 0, 0, 0, 0, 0, 0, 0, HEADER + 4 * COLORS, 0, 0, 0, 40, 0, 0, 0, 6, 0,
                                    0,   0,   3, 0, 0, 0, 1, 0, 4, 0, compression};
    memcpy(out, header, HEADER);
    for (int i = 0; i < COLORS; i++) memset(out + HEADER + 4 * i, 10 * i, 4);
    memcpy(out + HEADER + 4 * COLORS, runs_of, size);
    return HEADER + 4 * COLORS + size;
}

static void runs_are_read_from_the_lowest_row_up(void **state) {
    (void)state;
    static const uint8_t wanted[] = {70, 80, 70, 80, 70, 80, 10, 20, 30, 40, 50, 60, 10, 20, 10, 20, 10, 20};
    uint8_t data[256];
    mst_image image;
    const size_t size = make_bmp(data, runs, sizeof runs, 2);
    EXPECT_OK(decode("runs", data, size, 1, &image));
    assert_memory_equal(image.pixels, wanted, sizeof wanted);
    free(image.pixels);
    for (size_t cut = size - sizeof runs; cut < size - 2; cut++)
        EXPECT_ERROR(decode("runs", data, cut, 1, &image), MST_CORRUPT, "it ends");
    EXPECT_ERROR(decode("runs", data, make_bmp(data, runs, sizeof runs, 5), 1, &image), MST_UNIMPLEMENTED,
                 "a BMP of 4 bits of a pixel and the compression 5 is not read");
}

static void sizes_that_cannot_be_are_refused_before_memory_is_taken(void **state) {
    (void)state;
    uint8_t data[256];
    mst_image image;
    memcpy(data, bmp, sizeof bmp);
    data[20] = data[24] = 0x7f; /* 8,323,075 x 8,323,074 pixels */
    EXPECT_ERROR(decode("large", data, sizeof bmp, 3, &image), MST_CORRUPT, "it ends in its pixels");
    const size_t size = make_bmp(data, runs, sizeof runs, 2);
    data[20] = data[24] = 0x7f;
    EXPECT_ERROR(decode("large", data, size, 3, &image), MST_CORRUPT, "is larger than is possible");
    memcpy(data, gif, sizeof gif);
    data[7] = data[9] = 0xff; /* 65,283 x 65,282 pixels */
    if (is_there(0))
        EXPECT_ERROR(decode("large", data, sizeof gif, 3, &image), MST_CORRUPT, "is larger than is possible");
    memcpy(data, webp, sizeof webp);
    data[22] = data[23] = 0xff; /* 16,383 x 1,024 pixels at least */
    data[24] = 0xf;
    if (is_there(1)) EXPECT_ERROR(decode("large", data, sizeof webp, 3, &image), MST_CORRUPT, "'large'");
}

static void colors_that_a_table_has_not_are_damage(void **state) {
    (void)state;
    uint8_t data[256];
    mst_image image;
    const size_t size = make_bmp(data, runs, sizeof runs, 2);
    data[46] = 4; /* colors used: 0 to 3, though there are more; the pixels are where they were */
    EXPECT_ERROR(decode("few", data, size, 3, &image), MST_CORRUPT, "a pixel has a color that its table has not");
    memcpy(data, gif, sizeof gif);
    memmove(data + 13 + 6, data + 13 + 24, sizeof gif - 13 - 24);
    data[10] = 128; /* two colors */
    if (is_there(0)) EXPECT_ERROR(decode("few", data, sizeof gif - 18, 3, &image), MST_CORRUPT, "its table has 2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_and_grays_are_known),
        cmocka_unit_test(files_that_end_too_early_are_damaged),
        cmocka_unit_test(runs_are_read_from_the_lowest_row_up),
        cmocka_unit_test(sizes_that_cannot_be_are_refused_before_memory_is_taken),
        cmocka_unit_test(colors_that_a_table_has_not_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
