/* The module `zip`: ZIP archives by libzip. */
#include "format/zip_module.h"

#include <stdlib.h>
#include <zip.h>

#include "base/no_memory.h"
#include "module/module.h"

enum { DATE = 33 /* 1980-01-01 in the format of MS-DOS */ };

/* libzip's position in an archive, and the first failure of a read or write there. */
typedef struct place {
    uint64_t at, size; /* the position, and the size of the archive */
    mst_status status; /* the first failure of mst_zip_get or mst_zip_put */
    zip_error_t error; /* the same for libzip */
} place;

static zip_int64_t fail_at(place *p, int code) {
    zip_error_set(&p->error, code, 0);
    return -1;
}

/* Answers the commands of libzip that are the same for reading and writing. SUPPORTS: a mask of supported commands. */
static zip_int64_t answer(place *p, zip_int64_t supports, uint64_t archive_size, void *data, zip_uint64_t size,
                          zip_source_cmd_t command) {
    zip_int64_t at;
    switch (command) {
        case ZIP_SOURCE_SUPPORTS: return supports;
        case ZIP_SOURCE_ERROR: return zip_error_to_data(&p->error, data, size);
        case ZIP_SOURCE_STAT:
            zip_stat_init(data);
            ((zip_stat_t *)data)->valid = ZIP_STAT_SIZE;
            ((zip_stat_t *)data)->size = archive_size;
            return sizeof(zip_stat_t);
        case ZIP_SOURCE_TELL:
        case ZIP_SOURCE_TELL_WRITE: return (zip_int64_t)p->at;
        case ZIP_SOURCE_SEEK:
        case ZIP_SOURCE_SEEK_WRITE:
            if ((at = zip_source_seek_compute_offset(p->at, p->size, data, size, &p->error)) < 0) return -1;
            p->at = (uint64_t)at;
            return 0;
        default: return 0;
    }
}

/* ---- writing ---- */

/* Where libzip writes. libzip writes the header of a file before it has the checksum, and later moves back to write the
 * complete header. */
typedef struct target {
    place place;
    mst_zip_put put;
    void *sink;
} target;

static zip_int64_t put_bytes(target *t, const void *data, zip_uint64_t size) {
    place *p = &t->place;
    if (!p->status) p->status = t->put(t->sink, p->at, data, (size_t)size);
    if (p->status) return fail_at(p, ZIP_ER_WRITE);
    p->at += size;
    if (p->at > p->size) p->size = p->at;
    return (zip_int64_t)size;
}

/* Answers libzip's commands for a new archive. There is nothing to read in it. */
static zip_int64_t answer_writer(void *context, void *data, zip_uint64_t size, zip_source_cmd_t command) {
    target *t = context;
    if (command == ZIP_SOURCE_WRITE) return put_bytes(t, data, size);
    return answer(&t->place, ZIP_SOURCE_SUPPORTS_WRITABLE, 0, data, size, command);
}

static bool zip_write_add(zip_t *archive, const mst_zip_file *file) {
    enum { MOST = sizeof file->piece / sizeof *file->piece };
    zip_buffer_fragment_t fragment[MOST];
    zip_uint64_t count = 0;
    for (; count < MOST && file->piece[count].size; count++)
        fragment[count] = (zip_buffer_fragment_t){(zip_uint8_t *)(uintptr_t)file->piece[count].data,
                                                  (zip_uint64_t)file->piece[count].size};
    zip_source_t *source = zip_source_buffer_fragment(archive, fragment, count, 0);
    const zip_int64_t i = source ? zip_file_add(archive, file->name, source, ZIP_FL_ENC_UTF_8) : -1;
    if (i < 0) {
        zip_source_free(source);
        return false;
    }
    return zip_set_file_compression(archive, (zip_uint64_t)i, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_dostime(archive, (zip_uint64_t)i, 0, DATE, 0) == 0;
}

static mst_status failed(const char *why) {
    return MST_FAIL(MST_IO, "cannot write a ZIP archive: %s", why);
}

static mst_status write_archive(const mst_zip_file *files, int64_t count, mst_zip_put put_function, void *sink) {
    target t = {.put = put_function, .sink = sink};
    zip_error_t error;
    zip_error_init(&error);
    zip_error_init(&t.place.error);
    zip_source_t *source = zip_source_function_create(answer_writer, &t, &error);
    zip_t *archive = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error) : NULL;
    mst_status status = archive ? MST_OK : failed(zip_error_strerror(&error));
    if (!archive) zip_source_free(source);
    for (int64_t i = 0; i < count && !status; i++)
        if (!zip_write_add(archive, &files[i])) status = failed(zip_strerror(archive));
    if (!status && zip_close(archive)) status = t.place.status ? t.place.status : failed(zip_strerror(archive));
    if (status && archive) zip_discard(archive);
    zip_error_fini(&t.place.error);
    zip_error_fini(&error);
    return status;
}

/* ---- reading ---- */

struct mst_zip_archive {
    place place;
    const void *source;
    mst_zip_get get;
    zip_t *zip;
    zip_file_t *file; /* the file being read; may be NULL */
};

static zip_int64_t get_bytes(mst_zip_archive *a, void *data, zip_uint64_t size) {
    place *p = &a->place;
    size_t got = 0;
    if (!p->status) p->status = a->get(a->source, p->at, data, (size_t)size, &got);
    if (p->status) return fail_at(p, ZIP_ER_READ);
    p->at += got;
    return (zip_int64_t)got;
}

static zip_int64_t answer_reader(void *context, void *data, zip_uint64_t size, zip_source_cmd_t command) {
    mst_zip_archive *a = context;
    if (command == ZIP_SOURCE_READ) return get_bytes(a, data, size);
    if (command == ZIP_SOURCE_OPEN) a->place.at = 0;
    return answer(&a->place, ZIP_SOURCE_SUPPORTS_SEEKABLE, a->place.size, data, size, command);
}

/* The error that GET returned, or else libzip's error. */
static mst_status cannot_read(const mst_zip_archive *a, zip_error_t *error) {
    if (a->place.status) return a->place.status;
    switch (zip_error_code_zip(error)) {
        case ZIP_ER_MEMORY: return MST_NO_MEMORY("to read an archive");
#ifdef ZIP_ER_TRUNCATED_ZIP /* from libzip 1.11 on; earlier versions give ZIP_ER_NOZIP */
        case ZIP_ER_TRUNCATED_ZIP:
#endif
        case ZIP_ER_NOZIP: return MST_FAIL(MST_CORRUPT, "this is not a zip archive, or it is cut off");
        case ZIP_ER_CRC: return MST_FAIL(MST_CORRUPT, "the check sum does not match the data");
        default: return MST_FAIL(MST_CORRUPT, "%s", zip_error_strerror(error));
    }
}

static void close_archive(mst_zip_archive *a) {
    if (!a) return;
    if (a->file) zip_fclose(a->file);
    if (a->zip) zip_discard(a->zip);
    zip_error_fini(&a->place.error);
    free(a);
}

static mst_status open_archive(const void *source, mst_zip_get get, uint64_t size, mst_zip_archive **out,
                               int64_t *count) {
    mst_zip_archive *a = calloc(1, sizeof *a);
    zip_error_t error;
    *out = NULL;
    if (!a) return MST_NO_MEMORY("for an archive");
    *a = (mst_zip_archive){.place = {.size = size}, .source = source, .get = get};
    zip_error_init(&a->place.error);
    zip_error_init(&error);
    /* libzip would accept an empty file as an archive without entries */
    if (!size) zip_error_set(&error, ZIP_ER_NOZIP, 0);
    zip_source_t *from = size ? zip_source_function_create(answer_reader, a, &error) : NULL;
    a->zip = from ? zip_open_from_source(from, ZIP_RDONLY, &error) : NULL;
    const mst_status status = a->zip ? MST_OK : cannot_read(a, &error);
    if (!a->zip) zip_source_free(from);
    zip_error_fini(&error);
    if (status) {
        close_archive(a);
        return status;
    }
    *count = zip_get_num_entries(a->zip, 0);
    *out = a;
    return MST_OK;
}

static mst_status stat_entry(mst_zip_archive *a, int64_t entry, mst_zip_stat *out) {
    enum { NEEDED = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD };
    zip_stat_t stat;
    if (zip_stat_index(a->zip, (zip_uint64_t)entry, ZIP_FL_ENC_RAW, &stat) || (stat.valid & NEEDED) != NEEDED)
        return cannot_read(a, zip_get_error(a->zip));
    const bool is_encrypted = (stat.valid & ZIP_STAT_ENCRYPTION_METHOD) && stat.encryption_method != ZIP_EM_NONE;
    *out = (mst_zip_stat){stat.name, stat.size, stat.comp_size, stat.comp_method, is_encrypted};
    return MST_OK;
}

static mst_status begin_entry(mst_zip_archive *a, int64_t entry) {
    if (a->file) zip_fclose(a->file);
    a->file = zip_fopen_index(a->zip, (zip_uint64_t)entry, 0);
    return a->file ? MST_OK : cannot_read(a, zip_get_error(a->zip));
}

static mst_status read_bytes(mst_zip_archive *a, void *dst, size_t size, size_t *got) {
    zip_int64_t n = 1;
    for (*got = 0; *got < size && n > 0; *got += n > 0 ? (size_t)n : 0)
        n = zip_fread(a->file, (char *)dst + *got, size - *got);
    return n < 0 ? cannot_read(a, zip_file_get_error(a->file)) : MST_OK;
}

static const mst_zip_library library = {.write = write_archive,
                                        .open = open_archive,
                                        .stat = stat_entry,
                                        .begin = begin_entry,
                                        .read = read_bytes,
                                        .close = close_archive};

extern const mst_module mst_module_zip;
const mst_module mst_module_zip = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "zip", .version = MST_VERSION, .interface = &library};
