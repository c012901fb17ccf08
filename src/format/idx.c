/* Reads IDX (idx.h). The header is checked before memory is allocated. For a plain file, the shape in the header must
 * agree with the size of the file. For a gzip file, the elements must not be more than deflate can make of the file's
 * bytes. Elements are read straight into the tensor and swapped there to the byte order of this machine. */
#include "format/idx.h"

#include "format/byte_order.h"
#include "format/stream.h"

typedef struct reader {
    const mst_bytes *bytes;
    mst_stream *stream;
    mst_stream_kind kind;
    mst_dtype dtype;
    mst_shape shape;
    uint64_t header; /* size of the header in bytes */
} reader;

/* Offsets in messages count from the start of the decompressed data, where users can look after gunzip. */
static const char *inside(const reader *r) {
    return r->kind == MST_STREAM_GZIP ? " of the decompressed data" : "";
}

static mst_status read_bytes(reader *r, uint8_t *dst, size_t size) {
    size_t got;
    MST_TRY(mst_stream_read(r->stream, dst, size, &got));
    if (got < size)
        return MST_FAIL(MST_CORRUPT,
                        "'%s': ends at byte %llu%s, inside the IDX header: the file is incomplete, get it again",
                        r->bytes->name, (unsigned long long)(r->header + got), inside(r));
    r->header += size;
    return MST_OK;
}

static mst_status element_type(const reader *r, uint8_t code, mst_dtype *dtype) {
    switch (code) {
        case 0x08: *dtype = MST_U8; return MST_OK;
        case 0x0c: *dtype = MST_I32; return MST_OK;
        case 0x0d: *dtype = MST_F32; return MST_OK;
        case 0x0e: *dtype = MST_F64; return MST_OK;
        case 0x09:
        case 0x0b:
            return MST_FAIL(MST_UNIMPLEMENTED, "'%s': elements are %s, which is not supported: convert them to i32",
                            r->bytes->name, code == 0x09 ? "i8" : "i16");
        default:
            return MST_FAIL(MST_CORRUPT,
                            "'%s': unknown IDX element type 0x%02x at byte 2%s: the file is damaged, get it again",
                            r->bytes->name, code, inside(r));
    }
}

static mst_status read_header(reader *r) {
    uint8_t magic[4];
    MST_TRY(read_bytes(r, magic, sizeof magic));
    if (magic[0] || magic[1])
        return MST_FAIL(
            MST_CORRUPT,
            "'%s': is not an IDX file: it begins with %02x %02x %02x %02x%s where 00 00 is due: check the path",
            r->bytes->name, magic[0], magic[1], magic[2], magic[3],
            r->kind == MST_STREAM_GZIP ? " (decompressed)" : "");
    MST_TRY(element_type(r, magic[2], &r->dtype));
    if (magic[3] < 1 || magic[3] > MST_MAX_NDIM)
        return MST_FAIL(MST_CORRUPT,
                        "'%s': %d dimensions at byte 3%s, 1 to %d are possible: the file is damaged, get it again",
                        r->bytes->name, magic[3], inside(r), MST_MAX_NDIM);
    r->shape.ndim = magic[3];
    for (int i = 0; i < r->shape.ndim; i++) {
        uint8_t b[4];
        MST_TRY(read_bytes(r, b, sizeof b));
        r->shape.dim[i] = (int64_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
        if (r->shape.dim[i] == 0)
            return MST_FAIL(MST_CORRUPT, "'%s': dimension %d at byte %d%s is 0, there is no data: get the file again",
                            r->bytes->name, i, 4 + 4 * i, inside(r));
    }
    return MST_OK;
}

/* Checks that the file can hold as many elements as the header says. *SIZE becomes their size in bytes. */
static mst_status check_size(const reader *r, uint64_t *size) {
    char text[MST_SHAPE_TEXT];
    const char *shape = mst_shape_print(r->shape, text, sizeof text);
    bool overflow = false;
    *size = mst_dtype_size(r->dtype);
    for (int i = 0; i < r->shape.ndim; i++) overflow |= __builtin_mul_overflow(*size, (uint64_t)r->shape.dim[i], size);
    if (overflow || *size > INT64_MAX / 2)
        return MST_FAIL(MST_CORRUPT,
                        "'%s': the header's shape %s%s is larger than any file: it is damaged, get it again",
                        r->bytes->name, shape, inside(r));
    uint64_t holds = r->bytes->size - (r->kind == MST_STREAM_PLAIN ? r->header : 0);
    if (r->kind == MST_STREAM_PLAIN && holds > *size)
        return MST_FAIL(MST_CORRUPT,
                        "'%s': %llu bytes too many after byte %llu, where %s%s ends: the file is damaged, get it again",
                        r->bytes->name, (unsigned long long)(holds - *size), (unsigned long long)(r->header + *size),
                        mst_dtype_name(r->dtype), shape);
    uint64_t most = r->kind == MST_STREAM_PLAIN ? holds : holds * MST_DEFLATE_MAX_RATIO;
    if (*size > most)
        return MST_FAIL(
            MST_CORRUPT,
            "'%s': truncated: the header says %s%s, %llu bytes, the file of %llu bytes cannot hold them: get it again",
            r->bytes->name, mst_dtype_name(r->dtype), shape, (unsigned long long)*size,
            (unsigned long long)r->bytes->size);
    return MST_OK;
}

static mst_status read_elements(reader *r, uint64_t size, mst_tensor *tensor) {
    size_t got, more;
    uint8_t extra;
    MST_TRY(mst_stream_read(r->stream, mst_tensor_data(tensor), (size_t)size, &got));
    if (got < size)
        return MST_FAIL(MST_CORRUPT,
                        "'%s': truncated at byte %llu%s: %llu bytes of elements are due, %llu are there: get it again",
                        r->bytes->name, (unsigned long long)(r->header + got), inside(r), (unsigned long long)size,
                        (unsigned long long)got);
    MST_TRY(mst_stream_read(r->stream, &extra, 1, &more)); /* reading to the end also checks the CRC of gzip */
    if (more)
        return MST_FAIL(MST_CORRUPT,
                        "'%s': more bytes than the header says follow byte %llu%s: the file is damaged, get it again",
                        r->bytes->name, (unsigned long long)(r->header + size), inside(r));
    mst_swap_big_endian(mst_tensor_data(tensor), mst_tensor_count(tensor), mst_dtype_size(r->dtype));
    return MST_OK;
}

static mst_status idx_parse(const mst_bytes *bytes, reader *r, mst_tensor **out) {
    uint8_t magic[2] = {0};
    size_t got;
    uint64_t size;
    r->bytes = bytes;
    if (bytes->size == 0) return MST_FAIL(MST_CORRUPT, "'%s': is empty: get it again", bytes->name);
    MST_TRY(mst_bytes_read(bytes, 0, magic, sizeof magic, &got));
    r->kind = magic[0] == 0x1f && magic[1] == 0x8b ? MST_STREAM_GZIP : MST_STREAM_PLAIN;
    MST_TRY(mst_stream_create(bytes, 0, bytes->size, r->kind, &r->stream));
    MST_TRY(read_header(r));
    MST_TRY(check_size(r, &size));
    if (mst_tensor_create(r->dtype, r->shape, out)) return mst_error_prefix("reading '%s'", bytes->name);
    return read_elements(r, size, *out);
}

static mst_status idx_read_all(mst_bytes *bytes, mst_status opened, mst_tensor **out) {
    reader r = {0};
    *out = NULL;
    mst_status status = opened ? opened : idx_parse(bytes, &r, out);
    if (status) {
        mst_tensor_release(*out);
        *out = NULL;
    }
    mst_stream_destroy(r.stream);
    mst_bytes_close(bytes);
    return status;
}

mst_status mst_idx_read(const char *path, mst_tensor **out) {
    mst_bytes bytes;
    mst_status opened = mst_bytes_open(path, &bytes);
    return idx_read_all(&bytes, opened, out);
}

mst_status mst_idx_parse(const char *name, const void *data, size_t size, mst_tensor **out) {
    mst_bytes bytes;
    mst_status opened = mst_bytes_of_memory(name, data, size, &bytes);
    return idx_read_all(&bytes, opened, out);
}
