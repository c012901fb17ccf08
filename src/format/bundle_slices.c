/* Partitioned variables. The entry with the variable's name has the shape of the whole tensor and lists the slices, but
 * has no bytes. Each slice is an entry of its own. Its key encodes the name of the variable, and the range of the slice
 * in each dimension. Reading copies each slice to its place in the whole tensor, and checks that the slices together
 * have as many elements as the whole tensor. Sources: tensorflow/core/util/saved_tensor_slice_util.cc,
 * core/lib/strings/ordered_code.cc. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/bundle_inside.h"

/* The place of a slice in its tensor. */
typedef struct region {
    int64_t start[MST_MAX_NDIM], length[MST_MAX_NDIM];
} region;

/* The part of a slice's key that is still to be decoded. Keys are in an order-preserving code. Slices are found by
 * decoding the keys in the file, since there are too many possible slices to encode the key of each. */
typedef struct key_reader {
    const uint8_t *at, *end;
} key_reader;

/* Reads an unsigned number: one byte with the number of its bytes, then these bytes, big-endian. */
static bool read_number(key_reader *k, uint64_t *out) {
    *out = 0;
    if (k->at == k->end) return false;
    const uint8_t size = *k->at++;
    if (size > 8 || size > k->end - k->at) return false;
    for (int i = 0; i < size; i++) *out = *out << 8 | *k->at++;
    return true;
}

/* Reads a string, and compares it with NAME. In the code, 00 becomes 00 FF, and FF becomes FF 00; the end is 00 01. */
static bool read_name(key_reader *k, const char *name, size_t size) {
    size_t used = 0;
    while (k->end - k->at >= 1) {
        const uint8_t byte = *k->at++;
        if (byte == 0 || byte == 0xff) {
            if (k->at == k->end) return false;
            const uint8_t next = *k->at++;
            if (byte == 0 && next == 1) return used == size;
            if (next != (byte ? 0 : 0xff)) return false;
        }
        if (used == size || (uint8_t)name[used++] != byte) return false;
    }
    return false;
}

/* Reads a signed number. n ones and then a zero mean that it has n bytes; the remaining bits are the number:
 * 10xxxxxx, 110xxxxx xxxxxxxx, 1110xxxx ... If the number is negative, all bits are inverted. */
static bool read_signed(key_reader *k, int64_t *out) {
    if (k->at == k->end) return false;
    const uint8_t flip = *k->at & 0x80 ? 0 : 0xff;
    uint8_t bytes[10];
    int size = 0, have = 0;
    while (have * 8 == size && have < 10) { /* the leading ones may continue through whole bytes */
        if (k->at == k->end) return false;
        bytes[have] = *k->at++ ^ flip;
        while (size < (have + 1) * 8 && bytes[have] >> (7 - size % 8) & 1) size++;
        have++;
    }
    if (size > 10 || size > k->end - k->at + have) return false;
    for (; have < size; have++) bytes[have] = *k->at++ ^ flip;
    uint64_t value = 0;
    for (int i = 0; i < size; i++) {
        uint8_t byte = bytes[i];
        for (int bit = 0; bit < 8; bit++)
            if (8 * i + bit < size) byte &= (uint8_t) ~(0x80u >> bit);
        value = value << 8 | byte;
    }
    *out = (int64_t)(flip ? ~value : value);
    return true;
}

/* Whether the key of ENTRY says that it is a slice of WHOLE. Sets *OUT to the place of the slice. */
static bool read_slice_key(const mst_bundle_entry *entry, const mst_bundle_entry *whole, region *out) {
    key_reader k = {(const uint8_t *)entry->key, (const uint8_t *)entry->key + entry->key_size};
    uint64_t zero, ndim;
    if (!read_number(&k, &zero) || zero != 0 || !read_name(&k, whole->key, whole->key_size)) return false;
    if (!read_number(&k, &ndim) || ndim != (uint64_t)whole->shape.ndim) return false;
    for (int i = 0; i < whole->shape.ndim; i++) {
        if (!read_signed(&k, &out->start[i]) || !read_signed(&k, &out->length[i])) return false;
        if (out->length[i] < 0) { /* the whole dimension */
            out->start[i] = 0;
            out->length[i] = whole->shape.dim[i];
        }
    }
    return k.at == k.end;
}

/* Compares the key of ENTRY with the bytes with which the keys of all slices of WHOLE begin: the number zero, the name,
 * and the end of the name. Returns a number below, equal to or above 0, like memcmp. Entries are sorted by key, so the
 * slices of a variable are adjacent. */
static int compare_beginning(const mst_bundle_entry *entry, const mst_bundle_entry *whole) {
    const uint8_t *key = (const uint8_t *)entry->key;
    size_t used = 0;
    for (size_t i = 0; i < whole->key_size + 2; i++) {
        uint8_t code[2] = {0, 1}; /* the end of a string */
        size_t size = i == 0 ? 1 : 2;
        if (i > 0 && i <= whole->key_size) {
            const uint8_t byte = (uint8_t)whole->key[i - 1];
            size = byte == 0 || byte == 0xff ? 2 : 1;
            code[0] = byte;
            code[1] = byte ? 0 : 0xff;
        }
        for (size_t k = 0; k < size; k++, used++) {
            if (used == entry->key_size) return -1;
            if (key[used] != code[k]) return key[used] < code[k] ? -1 : 1;
        }
    }
    return 0;
}

/* The index of the first entry that may be a slice of WHOLE. */
static int64_t first_slice(const mst_bundle *b, const mst_bundle_entry *whole) {
    int64_t low = 0, high = b->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (compare_beginning(&b->entry[middle], whole) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool fits(const region *r, const mst_bundle_entry *whole, const mst_bundle_entry *slice) {
    if (slice->dtype != whole->dtype || slice->sliced || slice->shape.ndim != whole->shape.ndim) return false;
    for (int i = 0; i < whole->shape.ndim; i++)
        if (r->start[i] < 0 || r->start[i] > whole->shape.dim[i] || r->length[i] > whole->shape.dim[i] - r->start[i] ||
            slice->shape.dim[i] != r->length[i])
            return false;
    return true;
}

/* Copies the slice SRC to region R of the tensor DST, which has shape *SHAPE. ELEMENT: bytes per element. */
static void place(const mst_shape *shape, const region *r, size_t element, const char *src, char *dst) {
    int64_t index[MST_MAX_NDIM] = {0}, rows = 1;
    const int last = (shape->ndim <= MST_MAX_NDIM ? shape->ndim : MST_MAX_NDIM) - 1;
    for (int i = 0; i < last; i++) rows *= r->length[i];
    const size_t bytes = (last < 0 ? 1 : (size_t)r->length[last]) * element;
    for (int64_t row = 0; row < rows && bytes; row++, src += bytes) {
        int64_t offset = 0;
        for (int i = 0; i <= last; i++) offset = offset * shape->dim[i] + r->start[i] + index[i];
        memcpy(dst + (size_t)offset * element, src, bytes);
        for (int i = last - 1; i >= 0 && ++index[i] == r->length[i]; i--) index[i] = 0;
    }
}

static mst_status read_slice(const mst_bundle *b, int64_t i, const region *r, mst_tensor *tensor, int64_t *filled) {
    mst_tensor *slice;
    const mst_shape shape = mst_tensor_shape(tensor);
    MST_TRY(mst_bundle_read(b, i, &slice));
    *filled += mst_tensor_count(slice);
    place(&shape, r, mst_dtype_size(mst_tensor_dtype(tensor)), mst_tensor_data(slice), mst_tensor_data(tensor));
    mst_tensor_release(slice);
    return MST_OK;
}

mst_status mst_bundle_read_slices(const mst_bundle *b, int64_t i, mst_tensor *tensor) {
    const mst_bundle_entry *whole = &b->entry[i];
    int64_t filled = 0;
    for (int64_t k = first_slice(b, whole); k < b->count; k++) {
        const mst_bundle_entry *e = &b->entry[k];
        region r = {{0}, {0}};
        if (compare_beginning(e, whole)) break;
        if (!e->slice || !read_slice_key(e, whole, &r)) continue;
        if (!fits(&r, whole, e))
            return MST_FAIL(MST_CORRUPT, "'%s': a slice of '%.200s' does not fit into it: the checkpoint is damaged",
                            b->name, whole->key);
        if (mst_shape_count(e->shape) > mst_tensor_count(tensor) - filled)
            return MST_FAIL(MST_CORRUPT, "'%s': slices of '%.200s' overlap: the checkpoint is damaged", b->name,
                            whole->key);
        MST_TRY(read_slice(b, k, &r, tensor, &filled));
    }
    if (filled == mst_tensor_count(tensor)) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "'%s': the slices of '%.200s' have %lld elements, it has %lld: one is missing",
                    b->name, whole->key, (long long)filled, (long long)mst_tensor_count(tensor));
}

int64_t mst_bundle_num_slices(const mst_bundle *bundle, int64_t i) {
    int64_t count = 0;
    const mst_bundle_entry *whole = &bundle->entry[i];
    for (int64_t k = first_slice(bundle, whole); k < bundle->count; k++) {
        region r = {{0}, {0}};
        if (compare_beginning(&bundle->entry[k], whole)) break;
        count += bundle->entry[k].slice && read_slice_key(&bundle->entry[k], whole, &r);
    }
    return count;
}
