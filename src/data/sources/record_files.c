/* A dataset of record files: finds and indexes the files, and reads records by their number (record_files.h). The
 * order over files is in record_files_cursor.c. */
#include "data/sources/record_files.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "data/row_hash.h"

/* The most bytes that are read at once for consecutive records. */
enum { WINDOW = 256 * 1024 };

/* ---- reading a record by its number ---- */

static int file_of(const mst_record_files *source, int64_t row) {
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

/* The byte of the file at which the record at PLACE ends, including its frame. */
static uint64_t end_of(const mst_record_files *s, const mst_record_place *place) {
    return place->offset + place->size + s->format->frame_size;
}

/* Where to end reading for ROWS[0], which is at PLACE: later ROWS that follow it directly in the file are included. */
static uint64_t window_end(const mst_record_files *s, const mst_record_place *place, const int64_t *rows, int64_t count,
                           int64_t left) {
    uint64_t end = end_of(s, place);
    for (int64_t i = 1; i < count && i < left && rows[i] == rows[0] + i; i++) {
        const uint64_t next = end_of(s, place + i);
        if (next - place->offset > WINDOW) break;
        end = next;
    }
    return end;
}

static mst_status fill_window(const mst_record_files *s, int file, uint64_t begin, uint64_t end,
                              mst_record_buffer *buffer) {
    const mst_bytes *bytes = &s->index[file].bytes;
    bool is_whole;
    MST_TRY(mst_record_buffer_fill(buffer, bytes, file, begin, end, &is_whole));
    if (is_whole) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "'%s': %s at byte %llu: the file became shorter after it was indexed", bytes->name,
                    s->format->record, (unsigned long long)begin);
}

static mst_status read_indexed(const mst_record_files *s, const int64_t *rows, int64_t count, mst_record_buffer *buffer,
                               mst_record *record) {
    const int64_t row = mst_row_number(rows[0]);
    if (row < 0 || row >= s->base.cardinality)
        return MST_FAIL(MST_INTERNAL, "%s: there is no %s %lld", s->base.type->name, s->format->record, (long long)row);
    const int file = file_of(s, row);
    const mst_record_index *index = &s->index[file];
    const mst_record_place *place = &index->place[row - s->first[file]];
    if (!buffer->data || buffer->file != file || place->offset < buffer->begin || end_of(s, place) > buffer->end) {
        const uint64_t end = window_end(s, place, rows, count, s->first[file + 1] - row);
        MST_TRY(fill_window(s, file, place->offset, end, buffer));
    }
    return s->format->unframe(index->bytes.name, place, buffer->data + (place->offset - buffer->begin), record);
}

mst_status mst_record_files_read(const mst_dataset *source, mst_cursor *base, const int64_t *rows, int64_t count,
                                 mst_record_buffer *buffer, mst_record *record) {
    const mst_record_files *s = (const mst_record_files *)source;
    if (!s->forward) return read_indexed(s, rows, count, buffer, record);
    const int64_t row = mst_row_number(rows[0]);
    const mst_pooled *entry = mst_record_pool_find(&((mst_record_files_cursor *)base)->pool, row);
    if (!entry)
        return MST_FAIL(MST_INTERNAL, "%s: %s %lld is not held", s->base.type->name, s->format->record, (long long)row);
    *record = entry->record;
    return MST_OK;
}

uint64_t mst_record_files_contents(const mst_dataset *source) {
    const mst_record_files *d = (const mst_record_files *)source;
    return mst_hash_files((const char *const *)d->path, d->num_files);
}

mst_status mst_record_files_explain(const mst_dataset *source, mst_cursor *base, int64_t row) {
    const mst_record_files *s = (const mst_record_files *)source;
    const char *record = s->format->record;
    if (!s->forward) {
        const int file = file_of(s, row);
        const int64_t number = row - s->first[file];
        if (s->format->numbers_records)
            return mst_error_prefix("'%s': %s %lld", s->path[file], record, (long long)number + 1);
        return mst_error_prefix("'%s': %s at byte %llu", s->path[file], record,
                                (unsigned long long)s->index[file].place[number].offset);
    }
    const mst_pooled *entry = mst_record_pool_find(&((mst_record_files_cursor *)base)->pool, row);
    return entry ? mst_error_prefix("'%s': %s at byte %llu", s->path[entry->file], record,
                                    (unsigned long long)entry->record.offset)
                 : mst_error_prefix("%s %lld", record, (long long)row);
}

void mst_record_files_destroy(mst_dataset *dataset) {
    mst_record_files *s = (mst_record_files *)dataset;
    for (int i = 0; i < s->num_files; i++) free(s->path[i]);
    for (int i = 0; s->index && i < s->num_files; i++) mst_record_index_close(&s->index[i]);
    free(s->path);
    free(s->index);
    free(s->first);
}

/* ---- files ---- */

static mst_status add_path(mst_record_files *s, const char *path) {
    char **grown = realloc(s->path, ((size_t)s->num_files + 1) * sizeof *grown);
    if (grown) s->path = grown;
    if (!grown || !(s->path[s->num_files] = strdup(path))) return MST_NO_MEMORY("for the names of files");
    s->num_files++;
    return MST_OK;
}

/* Adds the files that match PATTERN. If it has no wildcard, it is the name of one file; a '[' without ']' is none. */
static mst_status add_paths(mst_record_files *s, const char *pattern) {
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

/* Opens all files to check that this works, and finds out whether any of them can only be read forward. */
static mst_status look_at_files(mst_record_files *s) {
    s->forward = s->options.forward;
    for (int i = 0; i < s->num_files; i++) {
        void *reader;
        MST_TRY(s->format->open(s->path[i], &reader));
        s->forward |= s->format->is_compressed(reader);
        s->format->close(reader);
    }
    return MST_OK;
}

static mst_status index_files(mst_record_files *s) {
    s->index = calloc((size_t)s->num_files, sizeof *s->index);
    s->first = calloc((size_t)s->num_files + 1, sizeof *s->first);
    if (!s->index || !s->first) return MST_NO_MEMORY("for the index of %d files", s->num_files);
    for (int i = 0; i < s->num_files; i++) s->index[i].bytes.fd = -1;
    for (int i = 0; i < s->num_files; i++) {
        /* if damaged records may be skipped, all data is checked now; if not, damage is found when a record is read */
        MST_TRY(s->format->index(s->path[i], s->options.skip_corrupt > 0, s->options.skip_corrupt - s->base.num_corrupt,
                                 &s->index[i]));
        s->base.num_corrupt += s->index[i].num_corrupt;
        s->first[i + 1] = s->first[i] + s->index[i].count;
    }
    s->base.cardinality = s->first[s->num_files];
    return MST_OK;
}

static mst_status record_files_set_up(mst_record_files *s, const char *const *paths, int n) {
    s->base.row[0] = s->format->row;
    s->base.cardinality = MST_UNKNOWN_CARDINALITY;
    for (int i = 0; i < n; i++) MST_TRY(add_paths(s, paths[i]));
    MST_TRY(look_at_files(s));
    return s->forward ? MST_OK : index_files(s);
}

mst_status mst_record_files_create(const mst_record_format *format, const char *const *paths, int n,
                                   const mst_tfrecord_options *options, mst_dataset **out) {
    const char *name = format->source.name;
    mst_record_files *s;
    *out = NULL;
    if (n < 1) return MST_FAIL(MST_INVALID, "%s: %d paths, at least 1 is needed", name, n);
    for (int i = 0; i < n; i++)
        if (!paths[i]) return MST_FAIL(MST_INVALID, "%s: path %d is NULL", name, i);
    MST_TRY(mst_dataset_want_least(name, "cycle", options->cycle, 0));
    MST_TRY(mst_dataset_want_least(name, "block", options->block, 0));
    MST_TRY(mst_dataset_want_least(name, "skip_corrupt", options->skip_corrupt, 0));
    MST_TRY(mst_dataset_alloc(&format->source, sizeof *s, 1, &s));
    s->format = format;
    s->options = *options;
    if (!s->options.cycle) s->options.cycle = 1;
    if (!s->options.block) s->options.block = 1;
    mst_status status = record_files_set_up(s, paths, n);
    if (status)
        mst_dataset_release(&s->base);
    else
        *out = &s->base;
    return status;
}
