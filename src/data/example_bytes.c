#include "data/example_bytes.h"

#include <string.h>

#include "base/utf8.h"
#include "data/pictures/other_picture.h"
#include "format/image.h"

/* ---- tf.io.serialize_tensor: a TensorProto (tensorflow/core/framework/tensor.proto) ---- */

typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static bool take_varint(bytes *b, uint64_t *out) {
    *out = 0;
    for (int shift = 0; b->at < b->end && shift < 64; shift += 7) {
        const uint8_t byte = *b->at++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

/* One field, of number *NUMBER; VALUE is that of an integer. */
static bool take_field(bytes *b, uint64_t *number, uint64_t *value) {
    enum { INTEGER = 0, EIGHT_BYTES = 1, LENGTH = 2, FOUR_BYTES = 5 };
    uint64_t key, size = 0;
    if (!take_varint(b, &key)) return false;
    *number = key >> 3;
    *value = 0;
    switch (key & 7) {
        case INTEGER: return take_varint(b, value);
        case EIGHT_BYTES: size = 8; break;
        case FOUR_BYTES: size = 4; break;
        case LENGTH:
            if (!take_varint(b, &size)) return false;
            break;
        default: return false;
    }
    if (size > (uint64_t)(b->end - b->at)) return false;
    b->at += size;
    return true;
}

/* The dtype of a TensorProto; NULL if the bytes are not one. It must consist of valid fields only, first the dtype and
 * the shape. */
static const char *serialized_dtype(const uint8_t *data, size_t size) {
    enum { DTYPE = 1, SHAPE = 2, MOST_FIELD = 17 };
    static const char *const dtypes[] = {NULL,   "float32", "float64", "int32", "uint8", "int16",
                                         "int8", "string",  NULL,      "int64", "bool"};
    bytes b = {data, data + size};
    uint64_t number, value, dtype;
    if (!take_field(&b, &number, &dtype) || number != DTYPE || dtype < 1 || dtype > 30) return NULL;
    if (!take_field(&b, &number, &value) || number != SHAPE || b.at == b.end) return NULL;
    while (b.at < b.end)
        if (!take_field(&b, &number, &value) || number < SHAPE || number > MOST_FIELD) return NULL;
    return dtype < sizeof dtypes / sizeof *dtypes && dtypes[dtype] ? dtypes[dtype] : "another dtype";
}

/* ---- texts ---- */

/* Whether the bytes are the name of a class: short printable text. A single byte is taken as a number. */
static bool is_text(const char *data, size_t size) {
    enum { MOST_NAME = 80 };
    if (size < 2 || size > MOST_NAME) return false;
    for (size_t i = 0; i < size;) {
        const size_t length = mst_utf8_size(data + i, size - i);
        if (!length || (unsigned char)data[i] < ' ') return false;
        i += length;
    }
    return true;
}

/* ---- elements ---- */

static const char *dtypes_of(int64_t each) {
    return each == 2 ? "int16, uint16 or float16" : each == 4 ? "float32 or int32" : "float64 or int64";
}

mst_status mst_example_bytes_check(const char *name, const void *data, size_t size, mst_shape told, bool label) {
    const char *dtype = serialized_dtype(data, size), *kind = mst_other_picture(data, size, size);
    char text[MST_SHAPE_TEXT];
    if (dtype)
        return MST_FAIL(
            MST_INVALID,
            "feature '%s' is bytes of tf.io.serialize_tensor (%s), which are not read: write its numbers, by "
            "tf.train.FloatList or Int64List, and 'shape'",
            name, dtype);
    if (kind)
        return MST_FAIL(MST_INVALID, "feature '%s' is bytes of a %s file, PNG and JPEG are read: convert the pictures",
                        name, kind);
    if (label && mst_image_begins(data, size))
        return MST_FAIL(MST_INVALID,
                        "feature '%s' is bytes of a picture file, which is not read as a label: write its pixels, by "
                        "tf.train.Int64List",
                        name);
    if (label && is_text(data, size))
        return MST_FAIL(MST_INVALID,
                        "feature '%s' is text, '%.*s': labels are numbers: write the number of the class, by "
                        "tf.train.Int64List, and the names of the classes to labels.txt",
                        name, size < 40 ? (int)size : 40, (const char *)data);
    const int64_t count = mst_shape_count(told), each = told.ndim && count > 0 ? (int64_t)size / count : 1;
    if (told.ndim && count > 0 && (int64_t)size == each * count && (each == 2 || each == 4 || each == 8))
        return MST_FAIL(MST_INVALID,
                        "feature '%s' has %zu bytes, %lld for each element of its shape %s: they are no uint8, perhaps "
                        "%s: write the numbers, by tf.train.FloatList or Int64List%s",
                        name, size, (long long)each, mst_shape_print(told, text, sizeof text), dtypes_of(each),
                        told.ndim == 2 ? "; uint8 of several channels need 'depth'" : "");
    return MST_OK;
}
