#include "format/zip_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/stream.h"
#include "module/module.h"

enum { STORED = 0, DEFLATE = 8 };

static mst_status get(const void *source, uint64_t offset, void *dst, size_t size, size_t *got) {
    return mst_bytes_read(source, offset, dst, size, got);
}

/* Adds the name of the file to the module's error STATUS. */
static mst_status in_file(const mst_bytes *bytes, mst_status status) {
    if (status != MST_CORRUPT) return mst_error_prefix("'%s'", bytes->name);
    return MST_FAIL(MST_CORRUPT, "'%s': %s: the archive is damaged or incomplete, get it again", bytes->name,
                    mst_error()->message);
}

/* Reads the names and sizes of all entries. The sum of the sizes is added to *BYTES. Entries that overlap in the file
 * are counted one by one. So the caller's limit of the sum also stops archives that unpack a few bytes again and
 * again. */
static mst_status read_entries(mst_zip *zip, uint64_t *bytes) {
    for (int64_t i = 0; i < zip->num_entries; i++) {
        mst_zip_stat stat;
        MST_TRY(zip->library->stat(zip->archive, i, &stat));
        if (!(zip->entry[i].name = strdup(stat.name))) return MST_NO_MEMORY("to read '%s'", zip->bytes->name);
        zip->entry[i].size = stat.size;
        if (__builtin_add_overflow(*bytes, stat.size, bytes)) *bytes = UINT64_MAX;
    }
    return MST_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

mst_status mst_zip_check_names(const mst_zip *zip) {
    const int64_t n = zip->num_entries;
    const char **name = malloc(((size_t)n + 1) * sizeof *name);
    mst_status status = MST_OK;
    if (!name) return MST_NO_MEMORY("to read '%s'", zip->bytes->name);
    for (int64_t i = 0; i < n; i++) name[i] = zip->entry[i].name;
    qsort(name, (size_t)n, sizeof *name, by_name);
    for (int64_t i = 1; i < n && !status; i++)
        if (strcmp(name[i - 1], name[i]) == 0)
            status = MST_FAIL(MST_CORRUPT,
                              "'%s': the zip archive has two entries of the name '%s', so it is not clear which one "
                              "counts: write the file again",
                              zip->bytes->name, name[i]);
    free(name);
    return status;
}

mst_status mst_zip_open(const mst_bytes *bytes, mst_zip *out) {
    const void *interface;
    uint64_t all = 0;
    *out = (mst_zip){.bytes = bytes};
    MST_TRY(mst_module_interface("zip", &interface));
    if (!(out->lock = malloc(sizeof(pthread_mutex_t)))) return MST_NO_MEMORY("to read '%s'", bytes->name);
    pthread_mutex_init(out->lock, NULL);
    out->library = interface;
    int64_t count = 0;
    mst_status status = out->library->open(bytes, get, bytes->size, &out->archive, &count);
    if (status) return in_file(bytes, status);
    if (!(out->entry = calloc((size_t)count + 1, sizeof *out->entry)))
        return MST_NO_MEMORY("to read '%s'", bytes->name);
    out->num_entries = count;
    status = read_entries(out, &all);
    if (status) return in_file(bytes, status);
    if (all / MST_DEFLATE_MAX_RATIO <= bytes->size) return mst_zip_check_names(out);
    return MST_FAIL(MST_CORRUPT,
                    "'%s': its entries hold more than %llu bytes can: the archive is damaged, get it again",
                    bytes->name, (unsigned long long)bytes->size);
}

void mst_zip_free(mst_zip *zip) {
    for (int64_t i = 0; i < zip->num_entries && zip->entry; i++) free(zip->entry[i].name);
    free(zip->entry);
    if (zip->archive) zip->library->close(zip->archive);
    if (zip->lock) pthread_mutex_destroy(zip->lock);
    free(zip->lock);
    *zip = (mst_zip){0};
}

const mst_zip_entry *mst_zip_find(const mst_zip *zip, const char *name) {
    for (int64_t i = 0; i < zip->num_entries; i++)
        if (strcmp(zip->entry[i].name, name) == 0) return &zip->entry[i];
    return NULL;
}

mst_status mst_zip_reader_open(const mst_zip *zip, const mst_zip_entry *entry, mst_zip_reader *out) {
    const char *file = zip->bytes->name;
    mst_zip_stat stat;
    *out = (mst_zip_reader){.zip = zip, .entry = entry};
    pthread_mutex_lock(zip->lock);
    const mst_status status = zip->library->stat(zip->archive, entry - zip->entry, &stat);
    if (status) return in_file(zip->bytes, status);
    if (stat.is_encrypted)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': entry '%s' is encrypted: unpack it first", file, entry->name);
    if (stat.method != STORED && stat.method != DEFLATE)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': entry '%s' uses compression method %d: write it stored or deflated",
                        file, entry->name, stat.method);
    const mst_status begun = zip->library->begin(zip->archive, entry - zip->entry);
    return begun ? in_file(zip->bytes, begun) : MST_OK;
}

void mst_zip_reader_close(mst_zip_reader *reader) {
    pthread_mutex_unlock(reader->zip->lock);
}

/* Adds the names of the file and of the entry to the module's error STATUS. */
static mst_status in_entry(const mst_zip_reader *r, mst_status status) {
    (void)!mst_error_prefix("entry '%s'", r->entry->name);
    return in_file(r->zip->bytes, status);
}

mst_status mst_zip_reader_read(mst_zip_reader *reader, void *dst, size_t size) {
    const mst_zip *zip = reader->zip;
    size_t got;
    const mst_status status = zip->library->read(zip->archive, dst, size, &got);
    if (status) return in_entry(reader, status);
    reader->done += got;
    if (got == size) return MST_OK;
    return MST_FAIL(MST_CORRUPT,
                    "'%s': entry '%s' ends after %llu bytes, %llu are due: the archive is damaged, get it again",
                    zip->bytes->name, reader->entry->name, (unsigned long long)reader->done,
                    (unsigned long long)(reader->done - got + size));
}

mst_status mst_zip_reader_finish(mst_zip_reader *reader) {
    const mst_zip *zip = reader->zip;
    uint8_t extra;
    size_t got;
    const mst_status status = zip->library->read(zip->archive, &extra, 1, &got);
    if (status) return in_entry(reader, status);
    if (!got && reader->done == reader->entry->size) return MST_OK;
    return MST_FAIL(
        MST_CORRUPT,
        "'%s': entry '%s' holds %s than the %llu bytes that the directory says: the archive is damaged, get "
        "it again",
        zip->bytes->name, reader->entry->name, reader->done < reader->entry->size ? "fewer" : "more",
        (unsigned long long)reader->entry->size);
}
