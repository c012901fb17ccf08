#include "format/zip_write.h"

#include "base/file.h"
#include "base/long_work.h"
#include "module/module.h"

static mst_status put(void *sink, uint64_t offset, const void *data, size_t size) {
    return mst_file_put(sink, offset, data, size);
}

mst_status mst_zip_write(const char *path, const mst_zip_file *files, int64_t count) {
    const void *interface;
    mst_file file;
    MST_TRY(mst_module_interface("zip", &interface));
    MST_TRY(mst_file_create(path, &file));
    mst_long_work_begin(MST_LONG_WORK_WRITING, path, NULL, 0);
    const mst_status status = ((const mst_zip_library *)interface)->write(files, count, put, &file);
    mst_long_work_end();
    if (!status) return mst_file_commit(&file);
    mst_file_abandon(&file);
    return status;
}
