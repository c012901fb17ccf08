/* Bytes of an Example that are not elements of u8 are recognised, and the error says what they are. */
#include "data/example_bytes.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

static void expect(const void *data, size_t size, mst_shape told, bool label, const char *why) {
    if (why)
        EXPECT_ERROR(mst_example_bytes_check("it", data, size, told, label), MST_INVALID, why);
    else
        EXPECT_OK(mst_example_bytes_check("it", data, size, told, label));
}

static const mst_shape none = {.ndim = 0};

static void elements_have_the_bytes_of_their_shape(void **state) {
    (void)state;
    static const uint8_t data[128] = {200};
    const mst_shape square = MST_SHAPE(4, 4);
    expect(data, 16, square, false, NULL);
    expect(data, 48, MST_SHAPE(4, 4, 3), false, NULL);
    expect(data, 48, square, false, "has 48 bytes, and the Example gives it the shape [4, 4], of 16 elements");
    expect(data, 17, square, false,
           "feature 'it' has 17 bytes, and the Example gives it the shape [4, 4], of 16 elements");
    expect(data, 80, square, false, "of 16 elements: write the shape that the bytes have");
    expect(data, 48, MST_SHAPE(16), false, "of 16 elements");
    expect(data, 15, square, false, "of 16 elements");
    expect(data, 32, square, false,
           "feature 'it' has 32 bytes and the shape [4, 4], which is 2 bytes for each element");
    expect(data, 64, square, false, "as of float32 or int32: bytes are read as uint8 alone");
    expect(data, 128, square, false, "as of float64 or int64");
    expect(data, 64, square, false, "or 'depth' where they are uint8 of several channels");
    expect(data, 128, MST_SHAPE(4, 4, 2), false, "the shape [4, 4, 2], which is 4 bytes for each element");
    for (size_t size = 0; size <= sizeof data; size++) expect(data, size, none, false, NULL);
}

static void serialized_tensors(void **state) {
    (void)state;
    static const uint8_t content[] = {8, 1, 18, 4, 18, 2, 8, 2, 34, 8, 0, 0, 128, 63, 0, 0, 0, 64};
    static const uint8_t list[] = {8, 9, 18, 0, 82, 1, 5}; /* int64_val */
    expect(content, sizeof content, none, false, "tf.io.serialize_tensor (float32)");
    expect(content, sizeof content, none, true, "tf.io.serialize_tensor (float32)");
    expect(list, sizeof list, none, false, "tf.io.serialize_tensor (int64)");
    for (size_t size = 0; size < sizeof content; size++)
        if (size != 8) expect(content, size, none, false, NULL);
    uint8_t other[sizeof content];
    memcpy(other, content, sizeof content);
    other[9] = 9; /* more than there is */
    expect(other, sizeof other, none, false, NULL);
}

static void pictures_and_texts(void **state) {
    (void)state;
    static const char *const jpeg = "\xff\xd8\xff\xe0......";
    expect("II*\0....", 8, none, true, "bytes of a TIFF file");
    expect(jpeg, 10, none, true, "a picture file, which is not read as a label");
    expect("dog", 3, none, true, "feature 'it' is text, 'dog': labels are numbers");
    expect("gr\xc3\xbcn", 5, none, true, "is text");
    expect("dog", 3, none, false, NULL);
    for (int c = 0; c < 256; c++) {
        const char one = (char)c;
        const bool printed = c >= ' ' && c < 0x7f;
        expect(&one, 1, none, true, printed ? "which may be a text or the number" : NULL);
        expect(&one, 1, none, false, NULL);
    }
    expect("A", 1, none, true, "feature 'it' is one byte, 'A', which may be a text or the number 65");
    expect("\1\0\0", 3, none, true, NULL);
    expect("do\xff", 3, none, true, NULL);
}

static void files_with_arrays(void **state) {
    (void)state;
    static const struct {
        const char *begin, *kind;
        size_t length;
        bool certain; /* also where a shape says that they are elements */
    } files[] = {{"\x93NUMPY\1\0", "bytes of a .npy file", 8, true},
                 {"\x89HDF\r\n\x1a\n", "bytes of an HDF5 file", 8, true},
                 {"PK\3\4", "bytes of a zip archive, as .npz is", 4, false},
                 {"\x1f\x8b\x8", "bytes of a gzip file", 3, false},
                 {"\x80\4", "an object of Python's pickle", 2, false}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char data[40] = "";
        memcpy(data, files[i].begin, files[i].length);
        data[sizeof data - 1] = '.';
        expect(data, sizeof data, none, false, files[i].kind);
        expect(data, sizeof data, none, true, files[i].kind);
        expect(data, sizeof data, MST_SHAPE(40), false, files[i].certain ? files[i].kind : NULL);
    }
}

enum { NUMBERS = 64 };

/* The COUNT arrays of SIZE bytes each must be recognised as numbers of KIND; NULL: numbers of one byte. */
static void expect_look(const void *data, size_t size, int count, const char *kind) {
    mst_number_look look = {0};
    char why[100];
    for (int i = 0; i < count; i++) mst_number_look_at(&look, (const char *)data + (size_t)i * size, size);
    if (!kind) {
        EXPECT_OK(mst_example_bytes_check_look("it", &look));
        return;
    }
    snprintf(why, sizeof why, "feature 'it' is bytes that look like numbers of %s", kind);
    EXPECT_ERROR(mst_example_bytes_check_look("it", &look), MST_INVALID, why);
}

static void expect_numbers(const void *data, size_t size, const char *what) {
    uint8_t arrays[3 * 1024] = {0}, noise[2 * 1024];
    assert_true(size <= 1024);
    expect_look(data, size, 1, what);
    expect_look(data, size - 1, 1, NULL);
    memcpy(arrays + size, data, size);
    expect_look(arrays, size, 1, NULL);
    expect_look(arrays, size, 2, what); /* the first is zeros only */
    expect_look(arrays, size, 3, what);
    memcpy(noise, data, size);
    for (size_t i = 0; i < size; i++) noise[size + i] = (uint8_t)(i * i * 7 + 3);
    expect_look(noise, size, 2, NULL); /* the second is none */
}

/* Without a shape. */
static void numbers_of_several_bytes(void **state) {
    (void)state;
    float singles[NUMBERS], scaled[NUMBERS];
    double doubles[NUMBERS];
    int32_t integers[NUMBERS], negative[NUMBERS], both[NUMBERS];
    int64_t longs[NUMBERS], long_both[NUMBERS];
    uint16_t halves[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
        singles[i] = (float)(i % 10); /* among them zeros */
        scaled[i] = (float)(i * 37 % 256) / 255;
        doubles[i] = i % 2 ? -0.1 * i : 0.3 * i;
        integers[i] = i * 5;
        longs[i] = i * 30;
        negative[i] = -i * 500;
        both[i] = i * 37 % 200 - 100;
        long_both[i] = both[i];
        halves[i] = (uint16_t)(0x3000 + i * 49 + (i % 2 ? 0x8000 : 0));
    }
    expect_numbers(singles, sizeof singles, "float32 or float64");
    expect_numbers(scaled, sizeof scaled, "float32 or float64");
    expect_numbers(doubles, sizeof doubles, "float32 or float64");
    expect_numbers(integers, sizeof integers, "int32 or int64");
    expect_numbers(longs, sizeof longs, "int32 or int64");
    expect_numbers(negative, sizeof negative, "int32 or int64");
    expect_numbers(both, sizeof both, "int32 or int64");
    expect_numbers(long_both, sizeof long_both, "int32 or int64");
    expect_numbers(halves, sizeof halves, "float16");
}

static void few_numbers_may_be_anything(void **state) {
    (void)state;
    float singles[16];
    for (int i = 0; i < 16; i++) singles[i] = 0.1F * (float)(i + 1);
    expect_look(singles, sizeof singles, 1, "float32 or float64");
    expect_look(singles, sizeof singles / 2, 2, NULL);
}

/* Pictures are not taken for such numbers, whatever they show, even beside black ones. */
static void pictures_are_bytes(void **state) {
    (void)state;
    enum { SIDE = 28, PIXELS = SIDE * SIDE, KINDS = 17 };
    uint8_t pixels[2 * PIXELS] = {0};
    uint32_t random = 1;
    for (int level = 0; level < 256; level++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int i = 0; i < PIXELS; i++) {
                const int x = i % SIDE, y = i / SIDE;
                random = random * 1664525 + 1013904223;
                const int noise = (int)(random >> 24);
                const int shown[KINDS] = {level,                               /* even */
                                          level + noise % 8,                   /* noise */
                                          noise,                               /* nothing but noise */
                                          (x + y + level) % 256,               /* a gradient */
                                          x > 8 && x < 14 ? level : 0,         /* a stroke */
                                          (x / 2 + y / 2) % 2 ? level : 0,     /* a chessboard */
                                          x / 2 % 2 ? level : 255 - level / 3, /* stripes */
                                          x % 2 ? level : 255 - level / 3, x / 2 % 2 ? 0 : level,
                                          noise % 50 ? 0 : level, /* points */
                                          x == 8 ? level : 0,     /* a line */
                                          x == 9 ? level : 255,
                                          /* a bar with soft edges */
                                          x == 8 || x == 12 ? level
                                          : x > 8 && x < 12 ? 255
                                                            : 0,
                                          x == 8 || x == 12 ? level
                                          : x > 8 && x < 12 ? 0
                                                            : 255,
                                          noise > level ? 255 : 0, /* masks */
                                          noise > level, x * x + y * y > 2 * level ? 255 : x / 8};
                pixels[PIXELS + i] = (uint8_t)shown[kind];
            }
            expect_look(pixels + PIXELS, PIXELS, 1, NULL);
            expect_look(pixels, PIXELS, 2, NULL);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_have_the_bytes_of_their_shape),
        cmocka_unit_test(serialized_tensors),
        cmocka_unit_test(files_with_arrays),
        cmocka_unit_test(numbers_of_several_bytes),
        cmocka_unit_test(few_numbers_may_be_anything),
        cmocka_unit_test(pictures_are_bytes),
        cmocka_unit_test(pictures_and_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
