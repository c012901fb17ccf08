/* Reads archives: the end record, searched backwards from the end of the file; then the central directory, whole;
 * then of an entry its local header, for the place of its data, and the data as a stream.
 *
 * Nothing in a file is trusted: the directory and each entry must lie within the file, entries must not overlap, and
 * their sizes must be possible for deflate. So little input cannot expand without a bound. */
#include "format/zip_read.h"

#include <isa-l/crc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

enum {
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR64_SIZE = 20,
    CENTRAL_SIZE = 46,
    LOCAL_SIZE = 30,
    COMMENT_MAX = 65535,
    EXTRA_ZIP64 = 1,
    FLAG_ENCRYPTED = 1,
    STORED = 0,
    DEFLATE = 8,
    PIECE_SIZE = 1024 * 1024 /* the check sum finds it in the cache */
};

static const uint32_t end_magic = 0x06054b50, end64_magic = 0x06064b50, locator64_magic = 0x07064b50,
                      central_magic = 0x02014b50, local_magic = 0x04034b50;

static uint64_t little(const uint8_t *b, int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++) value |= (uint64_t)b[i] << (8 * i);
    return value;
}

static mst_status zip_read_corrupt(const mst_bytes *bytes, const char *what, uint64_t offset) {
    return MST_FAIL(MST_CORRUPT, "'%s': %s at byte %llu: the archive is damaged or incomplete, get it again",
                    bytes->name, what, (unsigned long long)offset);
}

static mst_status read_exactly(const mst_bytes *bytes, uint64_t offset, void *dst, size_t size, const char *what) {
    size_t got;
    MST_TRY(mst_bytes_read(bytes, offset, dst, size, &got));
    return got < size ? zip_read_corrupt(bytes, what, offset) : MST_OK;
}

typedef struct directory {
    uint64_t offset, size, num_entries;
} directory;

/* The end record is the last thing in the file but for a comment of unknown length. */
static mst_status find_end(const mst_bytes *bytes, uint8_t end[END_SIZE], uint64_t *offset) {
    size_t got, size = bytes->size < END_SIZE + COMMENT_MAX ? (size_t)bytes->size : END_SIZE + COMMENT_MAX;
    uint64_t start = bytes->size - size;
    uint8_t *tail = malloc(size + 1);
    if (!tail) return MST_NO_MEMORY("to read '%s'", bytes->name);
    mst_status status = mst_bytes_read(bytes, start, tail, size, &got);
    int64_t i = (int64_t)got - END_SIZE;
    while (!status && i >= 0 &&
           !(little(tail + i, 4) == end_magic && little(tail + i + 20, 2) <= got - (size_t)i - END_SIZE))
        i--;
    if (!status && i < 0)
        status = MST_FAIL(MST_CORRUPT,
                          "'%s': is not a zip archive, or is cut off: no end record in its last %zu bytes: check the "
                          "path or get it again",
                          bytes->name, got);
    if (!status) memcpy(end, tail + i, END_SIZE);
    *offset = status ? 0 : start + (uint64_t)i;
    free(tail);
    return status;
}

static mst_status find_directory(const mst_bytes *bytes, directory *d) {
    uint8_t end[END_SIZE], locator[LOCATOR64_SIZE], end64[END64_SIZE];
    uint64_t offset = 0;
    MST_TRY(find_end(bytes, end, &offset));
    *d = (directory){.num_entries = little(end + 10, 2), .size = little(end + 12, 4), .offset = little(end + 16, 4)};
    if (offset >= LOCATOR64_SIZE) {
        MST_TRY(read_exactly(bytes, offset - LOCATOR64_SIZE, locator, sizeof locator, "no ZIP64 locator"));
        if (little(locator, 4) == locator64_magic) {
            offset = little(locator + 8, 8);
            MST_TRY(read_exactly(bytes, offset, end64, sizeof end64, "no ZIP64 end record"));
            if (little(end64, 4) != end64_magic) return zip_read_corrupt(bytes, "no ZIP64 end record", offset);
            *d = (directory){
                .num_entries = little(end64 + 32, 8), .size = little(end64 + 40, 8), .offset = little(end64 + 48, 8)};
        }
    }
    if (d->offset > bytes->size || d->size > bytes->size - d->offset || d->num_entries > d->size / CENTRAL_SIZE)
        return zip_read_corrupt(bytes, "the archive's directory does not fit into the file", d->offset);
    return MST_OK;
}

/* Fields that do not fit into 32 bits are all ones, and stand in the ZIP64 extra field in this order. */
static bool read_zip64(mst_zip_entry *entry, const uint8_t *extra, size_t size) {
    uint64_t *const field[] = {&entry->size, &entry->compressed_size, &entry->offset};
    bool wanted = false;
    for (int i = 0; i < 3; i++) wanted |= *field[i] == UINT32_MAX;
    while (wanted && size >= 4) {
        size_t length = (size_t)little(extra + 2, 2);
        if (length > size - 4) return false;
        if (little(extra, 2) == EXTRA_ZIP64) {
            size_t used = 4;
            for (int i = 0; i < 3; i++) {
                if (*field[i] != UINT32_MAX) continue;
                if (used + 8 > length + 4) return false;
                *field[i] = little(extra + used, 8);
                used += 8;
            }
            return true;
        }
        extra += 4 + length;
        size -= 4 + length;
    }
    return true;
}

static mst_status read_entry(const mst_zip *zip, const directory *d, const uint8_t *data, uint64_t *used,
                             mst_zip_entry *entry) {
    const uint8_t *b = data + *used;
    uint64_t at = d->offset + *used, left = d->size - *used;
    if (left < CENTRAL_SIZE || little(b, 4) != central_magic)
        return zip_read_corrupt(zip->bytes, "an entry of the archive's directory is due, something else is found", at);
    size_t name_size = (size_t)little(b + 28, 2), extra_size = (size_t)little(b + 30, 2);
    uint64_t whole = CENTRAL_SIZE + name_size + extra_size + little(b + 32, 2);
    if (left < whole) return zip_read_corrupt(zip->bytes, "an entry of the archive's directory is cut off", at);
    entry->flags = (int)little(b + 8, 2);
    entry->method = (int)little(b + 10, 2);
    entry->crc = (uint32_t)little(b + 16, 4);
    entry->compressed_size = little(b + 20, 4);
    entry->size = little(b + 24, 4);
    entry->offset = little(b + 42, 4);
    if (!read_zip64(entry, b + CENTRAL_SIZE + name_size, extra_size))
        return zip_read_corrupt(zip->bytes, "a ZIP64 field is cut off", at);
    if (!(entry->name = calloc(name_size + 1, 1))) return MST_NO_MEMORY("to read '%s'", zip->bytes->name);
    memcpy(entry->name, b + CENTRAL_SIZE, name_size);
    *used += whole;
    return MST_OK;
}

static mst_status read_directory(mst_zip *zip, const directory *d, uint8_t *data) {
    uint64_t used = 0;
    MST_TRY(read_exactly(zip->bytes, d->offset, data, (size_t)d->size, "the archive's directory is cut off"));
    for (; (uint64_t)zip->num_entries < d->num_entries; zip->num_entries++)
        MST_TRY(read_entry(zip, d, data, &used, &zip->entry[zip->num_entries]));
    return MST_OK;
}

static int by_offset(const void *a, const void *b) {
    const mst_zip_entry *left = *(const mst_zip_entry *const *)a, *right = *(const mst_zip_entry *const *)b;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

/* Entries that share bytes could be unpacked to far more than the file holds. */
static mst_status check_overlap(const mst_zip *zip) {
    const mst_zip_entry **sorted = malloc(((size_t)zip->num_entries + 1) * sizeof *sorted);
    if (!sorted) return MST_NO_MEMORY("to read '%s'", zip->bytes->name);
    for (int64_t i = 0; i < zip->num_entries; i++) sorted[i] = &zip->entry[i];
    if (zip->num_entries) qsort(sorted, (size_t)zip->num_entries, sizeof *sorted, by_offset);
    mst_status status = MST_OK;
    for (int64_t i = 1; i < zip->num_entries && !status; i++) {
        const uint64_t distance = sorted[i]->offset - sorted[i - 1]->offset;
        if (distance < LOCAL_SIZE || sorted[i - 1]->compressed_size > distance - LOCAL_SIZE)
            status = zip_read_corrupt(zip->bytes, "an entry lies in another", sorted[i]->offset);
    }
    free(sorted);
    return status;
}

mst_status mst_zip_open(const mst_bytes *bytes, mst_zip *out) {
    directory d;
    *out = (mst_zip){.bytes = bytes};
    MST_TRY(find_directory(bytes, &d));
    uint8_t *data = malloc((size_t)d.size + 1);
    out->entry = calloc((size_t)d.num_entries + 1, sizeof *out->entry);
    mst_status status = data && out->entry ? read_directory(out, &d, data) : MST_NO_MEMORY("to read '%s'", bytes->name);
    free(data);
    if (!status) status = check_overlap(out);
    return status;
}

void mst_zip_free(mst_zip *zip) {
    for (int64_t i = 0; i < zip->num_entries; i++) free(zip->entry[i].name);
    free(zip->entry);
    *zip = (mst_zip){0};
}

const mst_zip_entry *mst_zip_find(const mst_zip *zip, const char *name) {
    for (int64_t i = 0; i < zip->num_entries; i++)
        if (strcmp(zip->entry[i].name, name) == 0) return &zip->entry[i];
    return NULL;
}

mst_status mst_zip_reader_open(const mst_zip *zip, const mst_zip_entry *entry, mst_zip_reader *out) {
    const mst_bytes *bytes = zip->bytes;
    uint8_t local[LOCAL_SIZE];
    *out = (mst_zip_reader){.entry = entry, .bytes = bytes};
    if (entry->flags & FLAG_ENCRYPTED)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': entry '%s' is encrypted: unpack it first", bytes->name, entry->name);
    if (entry->method != STORED && entry->method != DEFLATE)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': entry '%s' uses compression method %d: write it stored or deflated",
                        bytes->name, entry->name, entry->method);
    MST_TRY(read_exactly(bytes, entry->offset, local, sizeof local, "an entry's header is cut off"));
    if (little(local, 4) != local_magic)
        return zip_read_corrupt(bytes, "an entry's header is due, something else is found", entry->offset);
    uint64_t start = entry->offset + LOCAL_SIZE + little(local + 26, 2) + little(local + 28, 2);
    if (start > bytes->size || entry->compressed_size > bytes->size - start)
        return zip_read_corrupt(bytes, "an entry does not fit into the file", entry->offset);
    bool stored = entry->method == STORED;
    if (stored ? entry->size != entry->compressed_size : entry->size / MST_DEFLATE_MAX_RATIO > entry->compressed_size)
        return zip_read_corrupt(bytes, "an entry's sizes contradict each other", entry->offset);
    return mst_stream_create(bytes, start, entry->compressed_size, stored ? MST_STREAM_PLAIN : MST_STREAM_DEFLATE,
                             &out->stream);
}

void mst_zip_reader_close(mst_zip_reader *reader) {
    mst_stream_destroy(reader->stream);
    *reader = (mst_zip_reader){0};
}

mst_status mst_zip_reader_read(mst_zip_reader *reader, void *dst, size_t size) {
    size_t done = 0, got = 1;
    while (done < size && got) {
        uint8_t *piece = (uint8_t *)dst + done;
        size_t want = size - done < PIECE_SIZE ? size - done : PIECE_SIZE;
        if (mst_stream_read(reader->stream, piece, want, &got))
            return mst_error_prefix("entry '%s'", reader->entry->name);
        reader->crc = crc32_gzip_refl(reader->crc, piece, got);
        reader->done += got;
        done += got;
    }
    if (done == size) return MST_OK;
    return MST_FAIL(MST_CORRUPT,
                    "'%s': entry '%s' ends after %llu bytes, %llu are due: the archive is damaged, get it again",
                    reader->bytes->name, reader->entry->name, (unsigned long long)reader->done,
                    (unsigned long long)(reader->done - done + size));
}

mst_status mst_zip_reader_finish(mst_zip_reader *reader) {
    uint8_t extra;
    size_t got;
    if (mst_stream_read(reader->stream, &extra, 1, &got)) return mst_error_prefix("entry '%s'", reader->entry->name);
    if (got || reader->done != reader->entry->size)
        return MST_FAIL(MST_CORRUPT,
                        "'%s': entry '%s' holds %s than the %llu bytes that the directory says: the archive is "
                        "damaged, get it again",
                        reader->bytes->name, reader->entry->name, reader->done < reader->entry->size ? "fewer" : "more",
                        (unsigned long long)reader->entry->size);
    if (reader->crc != reader->entry->crc)
        return MST_FAIL(
            MST_CORRUPT,
            "'%s': the check sum of entry '%s' does not match its data: the archive is damaged, get it again",
            reader->bytes->name, reader->entry->name);
    return MST_OK;
}
