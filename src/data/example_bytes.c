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

/* Reads one field: its number, and its value if that is an integer. */
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

/* The dtype in a serialized TensorProto; NULL if the bytes are not one. To count as a TensorProto, the bytes must be
 * valid fields throughout, beginning with the dtype and the shape. */
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

/* ---- other files ---- */

/* The kind of array file that begins like the bytes; NULL: none. CERTAIN: only kinds whose first bytes are very
 * unlikely to occur as numbers. */
static const char *array_file(const char *data, size_t size, bool certain) {
    enum { CERTAIN_LENGTH = 6 };
    static const struct {
        const char *name, *begin;
        size_t length;
    } kinds[] = {{"a .npy file of NumPy", "\x93NUMPY", 6},
                 {"an HDF5 file", "\211HDF\r\n\x1a\n", 8},
                 {"a zip archive, as .npz is", "PK\3\4", 4},
                 {"a gzip file", "\x1f\x8b\b", 3}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((!certain || kinds[i].length >= CERTAIN_LENGTH) && size > kinds[i].length &&
            memcmp(data, kinds[i].begin, kinds[i].length) == 0)
            return kinds[i].name;
    const bool is_pickle =
        size > 2 && (uint8_t)data[0] == 0x80 && data[1] >= 2 && data[1] <= 5 && data[size - 1] == '.';
    return is_pickle && !certain ? "an object of Python's pickle" : NULL;
}

/* ---- texts ---- */

/* Whether the bytes may be the name of a class: short printable text. */
static bool is_text(const char *data, size_t size) {
    enum { MOST_NAME = 80 };
    if (size < 1 || size > MOST_NAME) return false;
    for (size_t i = 0; i < size;) {
        const size_t length = mst_utf8_size(data + i, size - i);
        if (!length || (unsigned char)data[i] < ' ' || data[i] == 0x7f) return false;
        i += length;
    }
    return true;
}

/* Refuses a label that is text. One byte may be a text or a number; it is refused too, with another message. */
static mst_status check_text_label(const char *name, const char *data, size_t size) {
    enum { MOST_SHOWN = 40 };
    if (!is_text(data, size)) return MST_OK;
    if (size == 1)
        return MST_FAIL(MST_INVALID,
                        "feature '%s' is one byte, '%c', which may be a text or the number %d: write the number of the "
                        "class by tf.train.Int64List",
                        name, data[0], data[0]);
    return MST_FAIL(MST_INVALID,
                    "feature '%s' is text, '%.*s': labels are numbers: write the number of the class, by "
                    "tf.train.Int64List, and the names of the classes to labels.txt",
                    name, size < MOST_SHOWN ? (int)size : MOST_SHOWN, data);
}

/* ---- elements ---- */

static const char *dtypes_of(int64_t each) {
    return each == 2 ? "int16, uint16 or float16" : each == 4 ? "float32 or int32" : "float64 or int64";
}

/* Checks the SIZE bytes against TOLD, the shape that the Example gives for them. */
static mst_status check_count(const char *name, size_t size, mst_shape told) {
    char text[MST_SHAPE_TEXT];
    const int64_t count = mst_shape_count(told), each = (int64_t)size / count, rest = (int64_t)size % count;
    mst_shape_print(told, text, sizeof text);
    if (!rest && each == 1) return MST_OK;
    if (!rest && (each == 2 || each == 4 || each == 8))
        return MST_FAIL(MST_INVALID,
                        "feature '%s' has %zu bytes and the shape %s, which is %lld bytes for each element, as of %s: "
                        "bytes are read as uint8 alone: write the numbers by tf.train.FloatList or Int64List%s",
                        name, size, text, (long long)each, dtypes_of(each),
                        told.ndim == 2 ? ", or 'depth' where they are uint8 of several channels" : "");
    return MST_FAIL(MST_INVALID,
                    "feature '%s' has %zu bytes, and the Example gives it the shape %s, of %lld elements: write the "
                    "shape that the bytes have; a size that is not theirs, as of a picture before it was resized, "
                    "needs another name",
                    name, size, text, (long long)count);
}

mst_status mst_example_bytes_check(const char *name, const void *data, size_t size, mst_shape told, bool label) {
    const bool fits = told.ndim > 0 && mst_shape_count(told) == (int64_t)size;
    const char *dtype = serialized_dtype(data, size), *kind = mst_other_picture(data, size);
    const char *file = array_file(data, size, fits);
    if (dtype)
        return MST_FAIL(
            MST_INVALID,
            "feature '%s' is bytes of tf.io.serialize_tensor (%s), which are not read: write its numbers, by "
            "tf.train.FloatList or Int64List, and 'shape'",
            name, dtype);
    if (kind)
        return MST_FAIL(MST_INVALID,
                        "feature '%s' is bytes of a %s file, which is not read, only %s: convert the pictures", name,
                        kind, MST_IMAGE_FORMATS);
    if (file)
        return MST_FAIL(MST_INVALID,
                        "feature '%s' is bytes of %s, which are not read: write its numbers, by tf.train.FloatList or "
                        "Int64List, and 'shape'",
                        name, file);
    if (label && mst_image_begins(data, size))
        return MST_FAIL(MST_INVALID,
                        "feature '%s' is bytes of a picture file, which is not read as a label: write its pixels, by "
                        "tf.train.Int64List",
                        name);
    if (label) MST_TRY(check_text_label(name, data, size));
    return told.ndim > 0 ? check_count(name, size, told) : MST_OK;
}

mst_status mst_example_bytes_check_look(const char *name, const mst_number_look *look) {
    const char *numbers = mst_number_look_kind(look);
    if (!numbers) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "feature '%s' is bytes that look like numbers of %s, and bytes are read as uint8 alone: write the "
                    "numbers, by tf.train.FloatList or Int64List; where they are uint8, write 'shape' beside them",
                    name, numbers);
}
