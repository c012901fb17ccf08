/** Writes ZIP archives to files by the module `zip`. */
#ifndef MUSTER_FORMAT_ZIP_WRITE_H
#define MUSTER_FORMAT_ZIP_WRITE_H

#include "format/zip_module.h"

/** Writes an archive of COUNT files to PATH, either completely or not at all. MST_UNAVAILABLE without the module. */
MST_CHECKED mst_status mst_zip_write(const char *path, const mst_zip_file *files, int64_t count);

#endif
