/** The errors of files and folders that cannot be opened for reading: what is wrong, and what to do about it. */
#ifndef MUSTER_BASE_CANNOT_OPEN_H
#define MUSTER_BASE_CANNOT_OPEN_H

#include <sys/stat.h>

#include "muster/status.h"

/** Fails because PATH, which should be a KIND ("file", "folder", "file or folder"), could not be opened; errno says
 *  why. MST_NOT_FOUND if it is not there; MST_INVALID if KIND is "folder" and it is a file; else MST_IO. */
MST_CHECKED mst_status mst_cannot_open(const char *path, const char *kind);
/** MST_INVALID if INFO, the status of the file at PATH, is not that of a regular file. */
MST_CHECKED mst_status mst_want_regular_file(const char *path, const struct stat *info);

#endif
