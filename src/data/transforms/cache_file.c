/** The rows of one pass over DATASET (epoch 0), kept in the file at PATH, as with tf.data's cache(filename). The first
 *  complete pass writes the file; later passes and later processes read it. Use it for slow parsing, decoding and maps
 *  of more rows than fit in memory. Must come before a shuffle that changes the order in each epoch. If the elements of
 *  DATASET are batches, the file has their rows, and each pass gives the same batches in the same order.
 *
 *  The file is written under another name, and renamed to PATH when the pass is complete. So a pass that is broken off
 *  leaves nothing at PATH. If several processes write at the same time, each writes a complete file, all with the same
 *  rows. An iterator that is restored in the middle of a first pass makes the rows before its position again.
 *
 *  The file is TFRecord: a line of text with the dtypes and shapes, a record for each row, and the number of rows. Rows
 *  may have strings and any length; then an iterator keeps the place of each row, 8 bytes.
 *
 *  Fails with MST_INVALID for a dataset without end. Iterating fails with MST_INVALID if the file comes from a dataset
 *  with other components or another number of rows, or if a batch before the last has fewer rows than the others
 *  (batches that are repeated), MST_CORRUPT if the file is damaged, MST_IO if it cannot be written. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_cache_file(mst_dataset *dataset, const char *path, mst_dataset **out);
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/argument.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "data/cancel.h"
#include "data/cursors/cursor.h"
#include "data/nested.h"
#include "data/team_fetch.h"
#include "data/transforms/packed_row.h"
#include "data/transforms/unbatch.h"
#include "format/tfrecord.h"
#include "graph/spec.h"

/* The file is a source of records. Its cursor is in one of three states:
 *
 *      nothing    there is no file at PATH, and none is being written: the first row that is asked for begins one
 *      writes     a file with another name has num_rows rows; asking for a later row makes and writes the rows up to it
 *      whole      the file is complete and has its name: rows are only read
 *
 * If all rows have one size, their places follow from their numbers. Otherwise the places are kept, 8 bytes each; in an
 * existing file they are found by reading the length of each row in turn. */

#define TITLE "muster cache of rows: "

/* MOST_ROWS, MOST_BYTES: how many rows, and bytes of rows, are made and written at a time at most. WINDOW: bytes that
 * are read at a time. WALK: the same if only lengths are read. */
enum {
    MOST_ROWS = 256,
    MOST_BYTES = 4 << 20,
    WINDOW = 256 << 10,
    WALK = 16 << 10,
    MOST_TITLE = 1 << 16,
    SPEC_TEXT = 256
};

/* The last record of the file. */
typedef struct summary {
    int64_t num_rows, num_corrupt;
} summary;

/* A source with one record for each packed row (data/transforms/packed_row.h); a dataset after it unpacks the rows. */
typedef struct source {
    mst_dataset base;
    mst_dataset *cached;
    mst_dataset *part; /* the dataset that records are made from: `cached`, or its rows packed if they differ in size */
    char *path, *title;
    uint64_t first; /* the byte at which row 0 begins */
    bool has_one_size;
    size_t row_bytes; /* if rows have one size */
} source;

typedef struct cursor {
    mst_cursor base;
    mst_cursor *part;      /* of source.part */
    mst_team_fetch *fetch; /* makes the rows of source.part */
    mst_bytes bytes;       /* reads the file, or the part of it that has been written */
    mst_file file;         /* the file that is being written */
    bool writes, whole;
    int64_t num_rows; /* number of rows in the file */
    int64_t position; /* number of the row that is given next */
    uint64_t *place;  /* [num_rows + 1] if rows differ in size: byte of each row, and the end of the last */
    int64_t place_capacity;
    /* for rows that are being written */
    int64_t *rows;   /* their numbers in source.part */
    void **column;   /* [num_components] their values */
    uint8_t *frames; /* their records, one after the other */
    int64_t frames_capacity;
} cursor;

static const source *source_of(const cursor *c) {
    return (const source *)c->base.dataset;
}

static size_t frame_bytes(const source *s) {
    return s->row_bytes + MST_TFRECORD_FRAME;
}

/* The byte at which row ROW begins; if ROW is the number of rows, the byte at which they end. */
static uint64_t place_of(const cursor *c, int64_t row) {
    const source *s = source_of(c);
    return s->has_one_size ? s->first + (uint64_t)row * frame_bytes(s) : c->place[row];
}

/* Notes that row ROW begins at byte PLACE, if rows differ in size. The places of earlier rows must be known. */
static mst_status set_place(cursor *c, int64_t row, uint64_t place) {
    MST_TRY(mst_grow(&c->place, sizeof *c->place, row + 1, &c->place_capacity));
    c->place[row] = place;
    return MST_OK;
}

/* ---- a file that is there ---- */

static mst_status cache_file_damaged(const char *path, uint64_t offset, const char *what) {
    return MST_FAIL(MST_CORRUPT,
                    "cache: '%s' is damaged at byte %llu, %s: remove the file, and the next pass writes it", path,
                    (unsigned long long)offset, what);
}

/* Reads the record at OFFSET, with its frame, to BUFFER. *SIZE gets the size of its data, at most MOST. *IS_WHOLE is
 * false if there is no intact record. */
static mst_status read_frame(const mst_bytes *bytes, uint64_t offset, size_t most, uint8_t *buffer, uint64_t *size,
                             bool *is_whole) {
    size_t got;
    *is_whole = false;
    MST_TRY(mst_bytes_read(bytes, offset, buffer, MST_TFRECORD_FRAME + most, &got));
    if (got < MST_TFRECORD_FRAME || !mst_tfrecord_length(buffer, size) || *size > got - MST_TFRECORD_FRAME)
        return MST_OK;
    *is_whole = mst_tfrecord_is_intact(buffer + MST_TFRECORD_HEADER, (size_t)*size);
    return MST_OK;
}

static mst_status check_title(const source *s, const mst_bytes *bytes, uint8_t *buffer) {
    uint64_t size;
    bool is_whole;
    MST_TRY(read_frame(bytes, 0, MOST_TITLE, buffer, &size, &is_whole));
    const char *text = (const char *)buffer + MST_TFRECORD_HEADER;
    if (!is_whole || size < strlen(TITLE) || memcmp(text, TITLE, strlen(TITLE)) != 0)
        return MST_FAIL(MST_CORRUPT, "cache: '%s' is no cache, or is damaged: name another file, or remove it",
                        s->path);
    if (size == strlen(s->title) && memcmp(text, s->title, (size_t)size) == 0) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "cache: '%s' is of another dataset: its rows are %.*s, and those of this dataset %s: name another "
                    "file, or remove it",
                    s->path, (int)(size - strlen(TITLE)), text + strlen(TITLE), s->title + strlen(TITLE));
}

/* Reads the summary after the rows; *ROWS_END is the byte at which the rows end. */
static mst_status read_summary(const source *s, const mst_bytes *bytes, summary *end, uint64_t *rows_end) {
    uint8_t buffer[MST_TFRECORD_FRAME + sizeof *end];
    uint64_t size;
    bool is_whole = false;
    *rows_end = bytes->size - sizeof buffer;
    if (bytes->size >= s->first + sizeof buffer)
        MST_TRY(read_frame(bytes, *rows_end, sizeof *end, buffer, &size, &is_whole));
    if (!is_whole || size != sizeof *end) return cache_file_damaged(s->path, bytes->size, "where it ends too early");
    memcpy(end, buffer + MST_TFRECORD_HEADER, sizeof *end);
    return MST_OK;
}

/* Reads the header of the row at OFFSET, and sets *BYTES to the size of the row with its frame; to 0 if no row before
 * END can have that size. */
static mst_status measure_row(const cursor *c, uint64_t offset, uint64_t end, mst_record_buffer *window,
                              uint64_t *bytes) {
    const uint64_t left = end - offset;
    uint64_t length;
    bool is_whole = true;
    *bytes = 0;
    if (left < MST_TFRECORD_FRAME) return MST_OK;
    if (offset < window->begin || offset + MST_TFRECORD_HEADER > window->end)
        MST_TRY(mst_record_buffer_fill(window, &c->bytes, 0, offset, left < WALK ? end : offset + WALK, &is_whole));
    if (is_whole && mst_tfrecord_length(window->data + (offset - window->begin), &length) &&
        length <= left - MST_TFRECORD_FRAME)
        *bytes = length + MST_TFRECORD_FRAME;
    return MST_OK;
}

/* Finds the places of all rows, which end at byte END. */
static mst_status find_rows(cursor *c, uint64_t end, int64_t *count, mst_record_buffer *window) {
    uint64_t offset = source_of(c)->first, bytes;
    for (*count = 0; offset < end; offset += bytes) {
        MST_TRY(mst_cancel_check());
        MST_TRY(set_place(c, (*count)++, offset));
        MST_TRY(measure_row(c, offset, end, window, &bytes));
        if (!bytes) return cache_file_damaged(source_of(c)->path, offset, "where the length of a row is wrong");
    }
    return set_place(c, *count, end);
}

static mst_status count_rows(cursor *c, uint64_t end, int64_t *count) {
    const source *s = source_of(c);
    const uint64_t body = end - s->first;
    mst_record_buffer window = {0};
    if (s->has_one_size) {
        *count = body % frame_bytes(s) ? -1 : (int64_t)(body / frame_bytes(s));
        return MST_OK;
    }
    const mst_status status = find_rows(c, end, count, &window);
    mst_record_buffer_free(&window);
    return status;
}

static mst_status check_rows(cursor *c, summary *end) {
    const source *s = source_of(c);
    uint64_t rows_end;
    int64_t count;
    MST_TRY(read_summary(s, &c->bytes, end, &rows_end));
    MST_TRY(count_rows(c, rows_end, &count));
    if (count < 0 || count != end->num_rows)
        return cache_file_damaged(s->path, c->bytes.size, "where it ends too early");
    if (s->part->cardinality < 0 || s->part->cardinality == end->num_rows) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "cache: '%s' is of another dataset: it has %lld rows, and this dataset %lld: name another file, or "
                    "remove it",
                    s->path, (long long)end->num_rows, (long long)s->part->cardinality);
}

/* Opens the cache's file and checks it; does nothing if there is none. */
static mst_status find_file(cursor *c) {
    const source *s = source_of(c);
    summary end = {0};
    if (access(s->path, F_OK))
        return errno == ENOENT ? MST_OK
                               : MST_FAIL(MST_IO, "cache: '%s' cannot be opened: %s", s->path, strerror(errno));
    uint8_t *buffer = malloc(MST_TFRECORD_FRAME + MOST_TITLE);
    if (!buffer) return MST_NO_MEMORY("for a cache");
    mst_bytes_close(&c->bytes);
    mst_status status = mst_bytes_open(s->path, &c->bytes);
    if (!status) status = check_title(s, &c->bytes, buffer);
    if (!status) status = check_rows(c, &end);
    free(buffer);
    if (status) {
        mst_bytes_close(&c->bytes);
        return status;
    }
    c->whole = true;
    c->num_rows = end.num_rows;
    c->base.num_corrupt = end.num_corrupt;
    return MST_OK;
}

/* ---- a file that is written ---- */

/* Adds header and footer of a record to the SIZE bytes that have been written to PLACE, behind room for the header. */
static void frame(uint8_t *place, size_t size) {
    uint8_t *data = place + MST_TFRECORD_HEADER;
    mst_tfrecord_frame(data, size, place, data + size);
}

static mst_status cache_file_append(cursor *c, const void *data, size_t size) {
    MST_TRY(mst_file_append(&c->file, data, size));
    c->bytes.size += size;
    return MST_OK;
}

static mst_status append_record(cursor *c, const void *data, size_t size) {
    uint8_t *whole = malloc(size + MST_TFRECORD_FRAME);
    if (!whole) return MST_NO_MEMORY("for a cache");
    memcpy(whole + MST_TFRECORD_HEADER, data, size);
    frame(whole, size);
    const mst_status status = cache_file_append(c, whole, size + MST_TFRECORD_FRAME);
    free(whole);
    return status;
}

/* Begins to write the file. What has been written is read through a second descriptor, which stays open when the file
 * is complete. */
static mst_status begin_file(cursor *c) {
    const source *s = source_of(c);
    MST_TRY(mst_file_create(s->path, &c->file));
    c->writes = true;
    c->num_rows = 0;
    mst_bytes_close(&c->bytes);
    c->bytes.name = strdup(s->path);
    c->bytes.fd = dup(c->file.descriptor);
    if (!c->bytes.name || c->bytes.fd < 0) return MST_NO_MEMORY("for a cache");
    MST_TRY(c->part->type->start(c->part, 0));
    if (!s->has_one_size) MST_TRY(set_place(c, 0, s->first));
    return append_record(c, s->title, strlen(s->title));
}

static mst_status end_file(cursor *c) {
    const summary end = {c->num_rows, c->base.num_corrupt};
    MST_TRY(append_record(c, &end, sizeof end));
    MST_TRY(mst_file_commit(&c->file));
    c->writes = false;
    c->whole = true;
    return MST_OK;
}

/* Writes row I to TO: its components, which were fetched column by column, one after the other. */
static void join_row(const cursor *c, int64_t i, uint8_t *to) {
    const mst_dataset *part = source_of(c)->part;
    for (int k = 0; k < part->num_components; k++) {
        const size_t bytes = mst_dataset_row_bytes(part, k);
        if (bytes) memcpy(to, (const char *)c->column[k] + (size_t)i * bytes, bytes);
        to += bytes;
    }
}

static mst_status append_rows(cursor *c, int64_t n) {
    const source *s = source_of(c);
    for (int64_t i = 0; i < n; i++) {
        uint8_t *place = c->frames + (size_t)i * frame_bytes(s);
        join_row(c, i, place + MST_TFRECORD_HEADER);
        frame(place, s->row_bytes);
    }
    return cache_file_append(c, c->frames, (size_t)n * frame_bytes(s));
}

/* Appends N rows that were fetched packed. */
static mst_status append_packed_rows(cursor *c, int64_t n) {
    const mst_string *row = c->column[0];
    int64_t size = 0;
    for (int64_t i = 0; i < n; i++) size += (int64_t)row[i].length + MST_TFRECORD_FRAME;
    MST_TRY(mst_grow(&c->frames, 1, size, &c->frames_capacity));
    size = 0;
    for (int64_t i = 0; i < n; i++) {
        uint8_t *place = c->frames + size;
        memcpy(place + MST_TFRECORD_HEADER, row[i].data, row[i].length);
        frame(place, row[i].length);
        size += (int64_t)row[i].length + MST_TFRECORD_FRAME;
        MST_TRY(set_place(c, c->num_rows + i + 1, c->bytes.size + (uint64_t)size));
    }
    mst_team_fetch_forget_strings(c->fetch);
    return cache_file_append(c, c->frames, (size_t)size);
}

/* How many rows to make at a time. If rows differ in size, the mean size of the earlier rows is used. */
static int64_t most_rows(const cursor *c) {
    const source *s = source_of(c);
    uint64_t bytes = s->has_one_size ? frame_bytes(s) : MOST_BYTES;
    if (!s->has_one_size && c->num_rows) bytes = (c->bytes.size - s->first) / (uint64_t)c->num_rows;
    const uint64_t fit = MOST_BYTES / bytes;
    return fit < 1 ? 1 : fit > MOST_ROWS ? MOST_ROWS : (int64_t)fit;
}

/* Makes and writes up to N more rows. */
static mst_status write_some(cursor *c, int64_t n) {
    int64_t got;
    MST_TRY(mst_cancel_check());
    if (!c->writes) MST_TRY(begin_file(c));
    if (n > most_rows(c)) n = most_rows(c);
    MST_TRY(c->part->type->rows(c->part, c->rows, n, &got));
    c->base.num_corrupt = mst_cursor_base(c->part)->num_corrupt;
    const mst_element element = {.count = got, .rows = c->rows};
    mst_status status = mst_team_fetch_copy_all(c->fetch, &element, 0, got, c->column);
    mst_cursor_forget(c->part, c->rows, got);
    if (!status) status = source_of(c)->has_one_size ? append_rows(c, got) : append_packed_rows(c, got);
    MST_TRY(status);
    c->num_rows += got;
    return got < n || c->num_rows == source_of(c)->part->cardinality ? end_file(c) : MST_OK;
}

static void give_up_file(cursor *c) {
    mst_bytes_close(&c->bytes);
    if (c->writes) mst_file_abandon(&c->file);
    c->writes = c->whole = false;
    c->num_rows = 0;
}

/* Writes rows until the file has N, or all if there are fewer. After a failure the file is discarded. */
static mst_status reach(cursor *c, int64_t n) {
    while (!c->whole && c->num_rows < n) {
        if (write_some(c, n - c->num_rows) == MST_OK) continue;
        give_up_file(c);
        return mst_error_prefix("cache");
    }
    return MST_OK;
}

/* ---- order ---- */

static int64_t sum(int64_t a, int64_t b) {
    int64_t total;
    return __builtin_add_overflow(a, b, &total) ? INT64_MAX : total;
}

/* Moves to row POSITION. A file that this cursor is writing stays open. */
static mst_status start_at(cursor *c, int64_t position) {
    c->position = position;
    return c->whole || c->writes ? MST_OK : find_file(c);
}

static mst_status cache_file_start(mst_cursor *base, int64_t epoch) {
    (void)epoch;
    return start_at((cursor *)base, 0);
}

static mst_status cache_file_skip(mst_cursor *base, int64_t n, int64_t *skipped) {
    cursor *c = (cursor *)base;
    *skipped = 0;
    MST_TRY(reach(c, sum(c->position, n)));
    if (c->position < c->num_rows) *skipped = n < c->num_rows - c->position ? n : c->num_rows - c->position;
    c->position += *skipped;
    return MST_OK;
}

static mst_status cache_file_rows(mst_cursor *base, int64_t *rows, int64_t max, int64_t *got) {
    const int64_t position = ((const cursor *)base)->position;
    MST_TRY(cache_file_skip(base, max, got));
    for (int64_t i = 0; i < *got; i++) rows[i] = position + i;
    return MST_OK;
}

static void cache_file_save(const mst_cursor *base, mst_bookmark *bookmark) {
    mst_bookmark_put(bookmark, ((const cursor *)base)->position);
}

static mst_status cache_file_restore(mst_cursor *base, mst_bookmark *bookmark) {
    int64_t position;
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &position));
    return start_at((cursor *)base, position);
}

static mst_status keep(mst_cursor *base, const int64_t *rows, int64_t n) {
    cursor *c = (cursor *)base;
    int64_t last = 0;
    for (int64_t i = 0; i < n; i++) last = rows[i] > last ? rows[i] : last;
    MST_TRY(reach(c, sum(last, 1)));
    if (last < c->num_rows) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "iterator: the saved position holds row %lld, and there are %lld", (long long)last,
                    (long long)c->num_rows);
}

static void destroy_cursor(mst_cursor *base) {
    cursor *c = (cursor *)base;
    give_up_file(c);
    mst_team_fetch_destroy(c->fetch);
    mst_cursor_destroy(c->part);
    for (int i = 0; c->column && i < source_of(c)->part->num_components; i++) free(c->column[i]);
    free(c->column);
    free(c->place);
    free(c->rows);
    free(c->frames);
}

static const mst_cursor_type cursor_type = {.start = cache_file_start,
                                            .rows = cache_file_rows,
                                            .skip = cache_file_skip,
                                            .destroy = destroy_cursor,
                                            .save = cache_file_save,
                                            .restore = cache_file_restore,
                                            .keep = keep};

static mst_status cache_file_set_up(cursor *c) {
    const source *s = source_of(c);
    const int64_t most = s->has_one_size ? most_rows(c) : MOST_ROWS;
    c->bytes.fd = -1;
    c->rows = calloc((size_t)most, sizeof *c->rows);
    c->frames = malloc((size_t)most * frame_bytes(s));
    c->frames_capacity = most * (int64_t)frame_bytes(s);
    c->column = calloc((size_t)s->part->num_components, sizeof *c->column);
    bool enough = c->rows && c->frames && c->column;
    for (int i = 0; enough && i < s->part->num_components; i++)
        enough = (c->column[i] = malloc((size_t)most * mst_dataset_row_bytes(s->part, i) + 1)) != NULL;
    if (!enough) return MST_NO_MEMORY("for an iterator (cache)");
    MST_TRY(mst_cursor_open(s->part, &c->part));
    return mst_team_fetch_create(s->part, c->part, 0, &c->fetch);
}

static mst_status cache_file_open(const mst_dataset *dataset, mst_cursor **out) {
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof(cursor), dataset, out));
    const mst_status status = cache_file_set_up((cursor *)*out);
    if (!status) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return status;
}

/* ---- values ---- */

/* Reads ROWS[0] to BUFFER, and with it those of the next ROWS that follow it directly and fit in a window. */
static mst_status fill_window(const cursor *c, const int64_t *rows, int64_t count, mst_record_buffer *buffer) {
    const int64_t row = mst_row_number(rows[0]);
    const uint64_t begin = place_of(c, row);
    int64_t n = 1;
    bool is_whole;
    while (n < count && rows[n] == rows[0] + n && row + n < c->num_rows && place_of(c, row + n + 1) - begin <= WINDOW)
        n++;
    MST_TRY(mst_record_buffer_fill(buffer, &c->bytes, 0, begin, place_of(c, row + n), &is_whole));
    return is_whole ? MST_OK : cache_file_damaged(source_of(c)->path, begin, "where it became shorter");
}

static mst_status read_row(const mst_dataset *dataset, mst_cursor *base, const int64_t *rows, int64_t count,
                           mst_record_buffer *buffer, mst_record *record) {
    const source *s = (const source *)dataset;
    const cursor *c = (const cursor *)base;
    const int64_t row = mst_row_number(rows[0]);
    uint64_t length;
    if (row >= c->num_rows) return MST_FAIL(MST_INTERNAL, "cache: row %lld is not in the file", (long long)row);
    const uint64_t offset = place_of(c, row), end = place_of(c, row + 1);
    if (offset < buffer->begin || end > buffer->end) MST_TRY(fill_window(c, rows, count, buffer));
    const uint8_t *place = buffer->data + (offset - buffer->begin), *data = place + MST_TFRECORD_HEADER;
    const size_t size = (size_t)(end - offset) - MST_TFRECORD_FRAME;
    if (!mst_tfrecord_length(place, &length) || length != size || !mst_tfrecord_is_intact(data, size))
        return cache_file_damaged(s->path, offset, "where a check sum is wrong");
    *record = (mst_record){data, size, offset};
    return MST_OK;
}

static mst_status explain(const mst_dataset *dataset, mst_cursor *base, int64_t row) {
    (void)base;
    return mst_error_prefix("cache: '%s': row %lld", ((const source *)dataset)->path, (long long)row);
}

/* ---- datasets ---- */

static void cache_file_destroy(mst_dataset *dataset) {
    source *s = (source *)dataset;
    mst_dataset_release(s->part);
    mst_dataset_release(s->cached);
    free(s->path);
    free(s->title);
}

static const char *const *cache_file_classes(const mst_dataset *dataset, int component, int64_t *n) {
    return mst_dataset_classes(((const source *)dataset->upstream)->cached, component, n);
}

static const char *schema(const mst_dataset *dataset) {
    return mst_dataset_schema(((const source *)dataset->upstream)->cached);
}

static mst_dataset *const *cache_file_parts(const mst_dataset *dataset, int *n) {
    *n = 1;
    return &((const source *)dataset)->cached;
}

static const mst_dataset_type source_type = {.name = "cache_file",
                                             .destroy = cache_file_destroy,
                                             .open = cache_file_open,
                                             .read = read_row,
                                             .explain = explain,
                                             .parts = cache_file_parts,
                                             .keeps_rows = true};
static const mst_dataset_type view_type = {
    .name = "cache_file", .classes = cache_file_classes, .schema = schema, .keeps_rows = true};

static mst_status cache_file_check(const mst_dataset *dataset, const char *path) {
    MST_TRY(mst_dataset_check(dataset));
    if (!*path) return MST_FAIL(MST_INVALID, "cache: the name of the file is empty");
    if (dataset->cardinality == MST_INFINITE)
        return MST_FAIL(MST_INVALID, "cache: the dataset has no end: put repeat behind cache");
    return MST_OK;
}

/* Makes the text "muster cache of rows: f32[28, 28], i64[]"; NULL if there is no memory. */
static char *title_of(const mst_dataset *dataset) {
    char *title = NULL, text[SPEC_TEXT];
    size_t size;
    FILE *out = open_memstream(&title, &size);
    if (!out) return NULL;
    fputs(TITLE, out);
    for (int i = 0; i < dataset->num_components; i++)
        fprintf(out, "%s%s", i ? ", " : "", mst_spec_print(&dataset->row[i], text, sizeof text));
    const bool failed = ferror(out);
    if (fclose(out) == 0 && !failed && size <= MOST_TITLE) return title;
    free(title);
    return NULL;
}

static mst_status make_source(mst_dataset *dataset, const char *path, mst_dataset **out) {
    static const int64_t any = -1;
    source *s;
    MST_TRY(mst_dataset_alloc(&source_type, sizeof *s, 1, &s));
    *out = &s->base;
    s->base.row[0] = (mst_spec){MST_U8, mst_shape_make(1, &any)};
    s->base.cardinality = dataset->cardinality;
    s->base.num_corrupt = dataset->num_corrupt;
    s->cached = mst_dataset_retain(dataset);
    s->has_one_size = mst_packed_rows_have_one_size(dataset);
    if (s->has_one_size)
        s->part = mst_dataset_retain(dataset);
    else
        MST_TRY(mst_dataset_pack(dataset, &s->part));
    for (int i = 0; i < dataset->num_components && s->has_one_size; i++)
        s->row_bytes += mst_dataset_row_bytes(dataset, i);
    s->path = strdup(path);
    s->title = title_of(dataset);
    if (!s->path || !s->title) return MST_NO_MEMORY("for a dataset (cache)");
    s->first = strlen(s->title) + MST_TFRECORD_FRAME;
    return MST_OK;
}

static mst_status cache_rows(mst_dataset *dataset, const char *path, mst_dataset **out) {
    mst_dataset *records = NULL;
    mst_status status = make_source(dataset, path, &records);
    if (!status) status = mst_dataset_unpack(&view_type, records, dataset, out);
    mst_dataset_release(records);
    return status;
}

mst_status mst_dataset_cache_file(mst_dataset *dataset, const char *path, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    mst_dataset *rows, *kept;
    *out = NULL;
    MST_TRY(cache_file_check(dataset, path));
    if (!dataset->batch_size) return cache_rows(dataset, path, out);
    MST_TRY(mst_dataset_unbatch(dataset, &rows));
    mst_status status = cache_rows(rows, path, &kept);
    mst_dataset_release(rows);
    MST_TRY(status);
    status = mst_dataset_rebatch(kept, dataset, out);
    mst_dataset_release(kept);
    return status;
}

mst_dataset *mst_data_cache_file(mst_dataset *dataset, const char *path) {
    MST_DATASET_NEST(dataset, mst_dataset_cache_file(dataset, path, &out));
}
