/* The module `zip`: ZIP archives by libzip. */
#include "format/zip_write.h"

#include <zip.h>

#include "module/module.h"

enum { DATE = 33 /* 1980-01-01, as MS-DOS counts */ };

/* What libzip writes to. It goes back in an archive to complete the header of a file whose check sum it did not
 * know. */
typedef struct target {
    mst_zip_put put;
    void *sink;
    uint64_t at, size;
    mst_status status; /* of the first failure */
    zip_error_t error;
} target;

static zip_int64_t zip_write_put(target *t, const void *data, zip_uint64_t size) {
    if (!t->status) t->status = t->put(t->sink, t->at, data, (size_t)size);
    if (t->status) {
        zip_error_set(&t->error, ZIP_ER_WRITE, 0);
        return -1;
    }
    t->at += size;
    if (t->at > t->size) t->size = t->at;
    return (zip_int64_t)size;
}

static zip_int64_t seek(target *t, void *data, zip_uint64_t size) {
    const zip_int64_t at = zip_source_seek_compute_offset(t->at, t->size, data, size, &t->error);
    if (at < 0) return -1;
    t->at = (uint64_t)at;
    return 0;
}

/* Answers libzip's questions about the target, which is a new archive: there is nothing to read. */
static zip_int64_t answer(void *context, void *data, zip_uint64_t size, zip_source_cmd_t command) {
    target *t = context;
    switch (command) {
        case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_WRITABLE;
        case ZIP_SOURCE_ERROR: return zip_error_to_data(&t->error, data, size);
        case ZIP_SOURCE_STAT:
            zip_stat_init(data);
            ((zip_stat_t *)data)->valid = ZIP_STAT_SIZE;
            ((zip_stat_t *)data)->size = 0;
            return sizeof(zip_stat_t);
        case ZIP_SOURCE_WRITE: return zip_write_put(t, data, size);
        case ZIP_SOURCE_TELL_WRITE: return (zip_int64_t)t->at;
        case ZIP_SOURCE_SEEK_WRITE: return seek(t, data, size);
        default: return 0;
    }
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
    zip_error_init(&t.error);
    zip_source_t *source = zip_source_function_create(answer, &t, &error);
    zip_t *archive = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error) : NULL;
    mst_status status = archive ? MST_OK : failed(zip_error_strerror(&error));
    if (!archive) zip_source_free(source);
    for (int64_t i = 0; i < count && !status; i++)
        if (!zip_write_add(archive, &files[i])) status = failed(zip_strerror(archive));
    if (!status && zip_close(archive)) status = t.status ? t.status : failed(zip_strerror(archive));
    if (status && archive) zip_discard(archive);
    zip_error_fini(&t.error);
    zip_error_fini(&error);
    return status;
}

static const mst_zip_writer writer = {.write = write_archive};

extern const mst_module mst_module_zip;
const mst_module mst_module_zip = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "zip", .version = MST_VERSION, .interface = &writer};
