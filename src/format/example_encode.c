/* Writes tf.train.Example as TensorFlow does, with floats and integers packed. */
#include <string.h>

#include "format/example.h"

static size_t varint_size(uint64_t value) {
    size_t size = 1;
    for (; value >= 0x80; value >>= 7) size++;
    return size;
}

/* The size of a field with SIZE bytes, including its tag and length. */
static size_t field_size(size_t size) {
    return 1 + varint_size(size) + size;
}

static uint64_t integer(const mst_feature_data *f, int64_t i) {
    if (f->dtype == MST_I32) return (uint64_t)(int64_t)((const int32_t *)f->data)[i];
    if (f->dtype == MST_BOOL) return ((const uint8_t *)f->data)[i];
    return (uint64_t)((const int64_t *)f->data)[i];
}

/* The size of the packed numbers. For MST_U8, the size of the one value of a BytesList, which has all elements. Not for
 * MST_STRING. */
static size_t packed_size(const mst_feature_data *f) {
    size_t size = 0;
    if (f->dtype == MST_U8) return (size_t)f->count;
    if (f->dtype == MST_F32) return (size_t)f->count * 4;
    for (int64_t i = 0; i < f->count; i++) size += varint_size(integer(f, i));
    return size;
}

/* The size of the list in a Feature. An empty list of numbers takes no bytes. For MST_U8, the BytesList has its one
 * value even if this value is empty. */
static size_t list_size(const mst_feature_data *f) {
    if (f->dtype == MST_STRING) {
        size_t size = 0;
        for (int64_t i = 0; i < f->count; i++) size += field_size(((const mst_string *)f->data)[i].length);
        return size;
    }
    const size_t size = packed_size(f);
    return size || f->dtype == MST_U8 ? field_size(size) : 0;
}

static size_t entry_size(const mst_feature_data *f) {
    return field_size(strlen(f->name)) + field_size(field_size(list_size(f)));
}

static size_t entries_size(const mst_feature_data *features, int n) {
    size_t size = 0;
    for (int i = 0; i < n; i++) size += field_size(entry_size(&features[i]));
    return size;
}

static bool can_write(mst_dtype dtype) {
    return dtype == MST_U8 || dtype == MST_F32 || dtype == MST_I64 || dtype == MST_I32 || dtype == MST_BOOL ||
           dtype == MST_STRING;
}

size_t mst_example_size(const mst_feature_data *features, int num_features) {
    for (int i = 0; i < num_features; i++)
        if (!can_write(features[i].dtype) || !features[i].name || features[i].count < 0) return 0;
    return field_size(entries_size(features, num_features));
}

static uint8_t *put_varint(uint8_t *at, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *put_head(uint8_t *at, int number, size_t size) {
    *at++ = (uint8_t)MST_WIRE_TAG(number, MST_WIRE_BYTES);
    return put_varint(at, size);
}

static uint8_t *put_bytes(uint8_t *at, const void *data, size_t size) {
    if (size) memcpy(at, data, size);
    return at + size;
}

static uint8_t *put_floats(uint8_t *at, const mst_feature_data *f) {
    for (int64_t i = 0; i < f->count; i++) {
        uint32_t bits;
        memcpy(&bits, (const float *)f->data + i, 4);
        for (int shift = 0; shift < 32; shift += 8) *at++ = (uint8_t)(bits >> shift);
    }
    return at;
}

static uint8_t *put_list(uint8_t *at, const mst_feature_data *f) {
    if (!list_size(f)) return at;
    if (f->dtype == MST_STRING) {
        for (int64_t i = 0; i < f->count; i++) {
            const mst_string string = ((const mst_string *)f->data)[i];
            at = put_bytes(put_head(at, 1, string.length), string.data, string.length);
        }
        return at;
    }
    at = put_head(at, 1, packed_size(f));
    if (f->dtype == MST_U8) return put_bytes(at, f->data, (size_t)f->count);
    if (f->dtype == MST_F32) return put_floats(at, f);
    for (int64_t i = 0; i < f->count; i++) at = put_varint(at, integer(f, i));
    return at;
}

void mst_example_encode(const mst_feature_data *features, int num_features, void *dst) {
    uint8_t *at = put_head(dst, 1, entries_size(features, num_features));
    for (int i = 0; i < num_features; i++) {
        const mst_feature_data *f = &features[i];
        const mst_feature_kind kind = f->dtype == MST_U8 || f->dtype == MST_STRING ? MST_FEATURE_BYTES
                                      : f->dtype == MST_F32                        ? MST_FEATURE_FLOATS
                                                                                   : MST_FEATURE_INTEGERS;
        at = put_head(at, 1, entry_size(f));
        at = put_head(at, 1, strlen(f->name));
        at = put_bytes(at, f->name, strlen(f->name));
        at = put_head(at, 2, field_size(list_size(f)));
        at = put_head(at, (int)kind, list_size(f));
        at = put_list(at, f);
    }
}
