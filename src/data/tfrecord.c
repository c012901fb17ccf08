/* Source: records of TFRecord files. */
#include "data/tfrecord.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"

/* At most so many bytes are read at once for records that follow each other. */
enum { WINDOW = 256 * 1024 };

/* ---- reading a record by its number ---- */

int mst_tfrecord_file_of(const mst_tfrecord_source *source, int64_t row) {
    int low = 0, high = source->num_files - 1;
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (source->first[middle] <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The end of what is read for ROWS[0], which is at PLACE: with the next of them as long as they follow each other. */
static uint64_t window_end(const mst_record_place *place, const int64_t *rows, int64_t count, int64_t left) {
    uint64_t end = place->offset + place->size + MST_TFRECORD_FRAME;
    for (int64_t i = 1; i < count && i < left && rows[i] == rows[0] + i && place[i].offset == end; i++) {
        const uint64_t next = end + place[i].size + MST_TFRECORD_FRAME;
        if (next - place->offset > WINDOW) break;
        end = next;
    }
    return end;
}

static mst_status fill_window(const mst_tfrecord_index *index, uint64_t begin, uint64_t end,
                              mst_record_buffer *buffer) {
    const size_t size = (size_t)(end - begin);
    size_t got;
    buffer->begin = buffer->end = 0;
    if (size > buffer->capacity) {
        uint8_t *data = realloc(buffer->data, size);
        if (!data) return MST_NO_MEMORY("for a record of %zu bytes of '%s'", size, index->bytes.name);
        buffer->data = data;
        buffer->capacity = size;
    }
    MST_TRY(mst_bytes_read(&index->bytes, begin, buffer->data, size, &got));
    if (got < size)
        return mst_tfrecord_corrupt(index->bytes.name, begin, "", "the file became shorter after it was indexed");
    buffer->begin = begin;
    buffer->end = end;
    return MST_OK;
}

static mst_status read_indexed(const mst_tfrecord_source *s, const int64_t *rows, int64_t count,
                               mst_record_buffer *buffer, mst_record *record) {
    const int64_t row = mst_row_number(rows[0]);
    if (row < 0 || row >= s->base.cardinality)
        return MST_FAIL(MST_INTERNAL, "tfrecord: there is no record %lld", (long long)row);
    const int file = mst_tfrecord_file_of(s, row);
    const mst_tfrecord_index *index = &s->index[file];
    const mst_record_place *place = &index->place[row - s->first[file]];
    const uint64_t end = place->offset + place->size + MST_TFRECORD_FRAME;
    if (buffer->file != file || place->offset < buffer->begin || end > buffer->end) {
        MST_TRY(fill_window(index, place->offset, window_end(place, rows, count, s->first[file + 1] - row), buffer));
        buffer->file = file;
    }
    const uint8_t *frame = buffer->data + (place->offset - buffer->begin);
    uint64_t length;
    if (!mst_tfrecord_length(frame, &length) || length != place->size)
        return mst_tfrecord_corrupt(index->bytes.name, place->offset, "", "the check sum of its length is wrong");
    if (!mst_tfrecord_is_intact(frame + MST_TFRECORD_HEADER, (size_t)place->size))
        return mst_tfrecord_corrupt(index->bytes.name, place->offset, "", "the check sum of its data is wrong");
    *record = (mst_record){frame + MST_TFRECORD_HEADER, (size_t)place->size, place->offset};
    return MST_OK;
}

static mst_status read_record(const mst_dataset *source, mst_cursor *base, const int64_t *rows, int64_t count,
                              mst_record_buffer *buffer, mst_record *record) {
    const mst_tfrecord_source *s = (const mst_tfrecord_source *)source;
    if (!s->forward) return read_indexed(s, rows, count, buffer, record);
    const mst_pooled *entry = mst_record_pool_find(&((mst_tfrecord_cursor *)base)->pool, mst_row_number(rows[0]));
    if (!entry) return MST_FAIL(MST_INTERNAL, "tfrecord: record %lld is not held", (long long)mst_row_number(rows[0]));
    *record = entry->record;
    return MST_OK;
}

static mst_status explain(const mst_dataset *source, mst_cursor *base, int64_t row) {
    const mst_tfrecord_source *s = (const mst_tfrecord_source *)source;
    if (!s->forward) {
        const int file = mst_tfrecord_file_of(s, row);
        return mst_error_prefix("'%s': record at byte %llu", s->path[file],
                                (unsigned long long)s->index[file].place[row - s->first[file]].offset);
    }
    const mst_pooled *entry = mst_record_pool_find(&((mst_tfrecord_cursor *)base)->pool, row);
    return entry ? mst_error_prefix("'%s': record at byte %llu", s->path[entry->file],
                                    (unsigned long long)entry->record.offset)
                 : mst_error_prefix("record %lld", (long long)row);
}

static void destroy(mst_dataset *dataset) {
    mst_tfrecord_source *s = (mst_tfrecord_source *)dataset;
    for (int i = 0; i < s->num_files; i++) free(s->path[i]);
    for (int i = 0; s->index && i < s->num_files; i++) mst_tfrecord_index_close(&s->index[i]);
    free(s->path);
    free(s->index);
    free(s->first);
}

static const mst_dataset_type type = {.name = "from_tfrecord",
                                      .destroy = destroy,
                                      .open = mst_tfrecord_cursor_open,
                                      .read = read_record,
                                      .explain = explain};

/* ---- files ---- */

static mst_status add_path(mst_tfrecord_source *s, const char *path) {
    char **grown = realloc(s->path, ((size_t)s->num_files + 1) * sizeof *grown);
    if (grown) s->path = grown;
    if (!grown || !(s->path[s->num_files] = strdup(path))) return MST_NO_MEMORY("for the names of files");
    s->num_files++;
    return MST_OK;
}

/* A name that is a pattern too is taken as a name where there is such a file. */
static mst_status add_paths(mst_tfrecord_source *s, const char *pattern) {
    glob_t found;
    if (!strpbrk(pattern, "*?[")) return add_path(s, pattern);
    const int failed = glob(pattern, GLOB_NOMAGIC, NULL, &found);
    if (failed == GLOB_NOSPACE) return MST_NO_MEMORY("for the names of files");
    if (failed) return MST_FAIL(MST_NOT_FOUND, "no file matches '%s': check the folder and the pattern", pattern);
    mst_status status = MST_OK;
    for (size_t i = 0; i < found.gl_pathc && !status; i++) status = add_path(s, found.gl_pathv[i]);
    globfree(&found);
    return status;
}

/* Whether a file can only be read forward; also that all of them can be opened. */
static mst_status look_at_files(mst_tfrecord_source *s) {
    s->forward = s->options.forward;
    for (int i = 0; i < s->num_files; i++) {
        mst_tfrecord_reader *reader;
        MST_TRY(mst_tfrecord_reader_open(s->path[i], &reader));
        s->forward |= mst_tfrecord_reader_compression(reader) != MST_TFRECORD_PLAIN;
        mst_tfrecord_reader_close(reader);
    }
    return MST_OK;
}

static mst_status index_files(mst_tfrecord_source *s) {
    s->index = calloc((size_t)s->num_files, sizeof *s->index);
    s->first = calloc((size_t)s->num_files + 1, sizeof *s->first);
    if (!s->index || !s->first) return MST_NO_MEMORY("for the index of %d files", s->num_files);
    for (int i = 0; i < s->num_files; i++) s->index[i].bytes.fd = -1;
    for (int i = 0; i < s->num_files; i++) {
        /* one that must not be left out is found when all data is checked, and else when it is read */
        MST_TRY(mst_tfrecord_index_open(s->path[i], s->options.skip_corrupt > 0,
                                        s->options.skip_corrupt - s->base.num_corrupt, &s->index[i]));
        s->base.num_corrupt += s->index[i].num_corrupt;
        s->first[i + 1] = s->first[i] + s->index[i].count;
    }
    s->base.cardinality = s->first[s->num_files];
    return MST_OK;
}

static mst_status set_up(mst_tfrecord_source *s, const char *const *paths, int n) {
    const int64_t unknown = -1;
    s->base.row[0] = (mst_spec){MST_U8, mst_shape_make(1, &unknown)};
    s->base.cardinality = MST_UNKNOWN_CARDINALITY;
    for (int i = 0; i < n; i++) MST_TRY(add_paths(s, paths[i]));
    MST_TRY(look_at_files(s));
    return s->forward ? MST_OK : index_files(s);
}

mst_status mst_dataset_from_tfrecord(const char *const *paths, int n, const mst_tfrecord_options *options,
                                     mst_dataset **out) {
    if ((n > 0 && MST_IS_NULL(paths)) || MST_IS_NULL(out)) return MST_INVALID;
    static const mst_tfrecord_options defaults;
    mst_tfrecord_source *s;
    *out = NULL;
    if (!options) options = &defaults;
    if (n < 1) return MST_FAIL(MST_INVALID, "from_tfrecord: %d paths, at least 1 is needed", n);
    for (int i = 0; i < n; i++)
        if (!paths[i]) return MST_FAIL(MST_INVALID, "from_tfrecord: path %d is NULL", i);
    MST_TRY(mst_dataset_want_least("from_tfrecord", "cycle", options->cycle, 0));
    MST_TRY(mst_dataset_want_least("from_tfrecord", "block", options->block, 0));
    MST_TRY(mst_dataset_want_least("from_tfrecord", "skip_corrupt", options->skip_corrupt, 0));
    MST_TRY(mst_dataset_alloc(&type, sizeof *s, 1, &s));
    s->options = *options;
    if (!s->options.cycle) s->options.cycle = 1;
    if (!s->options.block) s->options.block = 1;
    mst_status status = set_up(s, paths, n);
    if (status)
        mst_dataset_release(&s->base);
    else
        *out = &s->base;
    return status;
}
