/** Folders of files. */
#ifndef MUSTER_BASE_FOLDER_H
#define MUSTER_BASE_FOLDER_H

#include <stdbool.h>

#include "muster/status.h"

/** Whether PATH is a folder; else errno says why not. */
bool mst_is_folder(const char *path);

/** Makes the folder at PATH, and those above it that are missing; nothing where it is there. MST_IO or MST_INVALID,
 *  naming the path, where that cannot be. */
MST_CHECKED mst_status mst_folder_make(const char *path);

#endif
