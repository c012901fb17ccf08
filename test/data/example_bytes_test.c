/* Bytes that are no elements of u8 are told by what they are. */
#include "data/example_bytes.h"

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
    expect(data, 48, square, false, NULL); /* three channels, as ever */
    expect(data, 17, square, false, NULL);
    expect(data, 32, square, false, "feature 'it' has 32 bytes, 2 for each element of its shape [4, 4]");
    expect(data, 64, square, false, "perhaps float32 or int32");
    expect(data, 128, square, false, "perhaps float64 or int64");
    expect(data, 64, square, false, "need 'depth'");
    expect(data, 128, MST_SHAPE(4, 4, 2), false, "4 for each element of its shape [4, 4, 2]");
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
    static const char *const gif = "GIF89a.........", *const jpeg = "\xff\xd8\xff\xe0......";
    static const uint8_t bmp[30] = {'B', 'M', 30}, no_bmp[30] = {'B', 'M', 31};
    expect(gif, 15, none, false, "bytes of a GIF file");
    expect("RIFF\1\2\3\4WEBPVP8 ", 16, none, false, "bytes of a WebP file");
    expect("II*\0....", 8, none, true, "bytes of a TIFF file");
    expect(bmp, sizeof bmp, none, false, "bytes of a BMP file");
    expect(no_bmp, sizeof no_bmp, none, false, NULL);
    expect(jpeg, 10, none, true, "a picture file, which is not read as a label");
    expect("dog", 3, none, true, "feature 'it' is text, 'dog': labels are numbers");
    expect("gr\xc3\xbcn", 5, none, true, "is text");
    expect("dog", 3, none, false, NULL);
    expect("A", 1, none, true, NULL);
    expect("\1\0\0", 3, none, true, NULL);
    expect("do\xff", 3, none, true, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_have_the_bytes_of_their_shape),
        cmocka_unit_test(serialized_tensors),
        cmocka_unit_test(pictures_and_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
