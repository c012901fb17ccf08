/** Finding the file of a plugin. */
#ifndef MUSTER_PJRT_FIND_PLUGIN_H
#define MUSTER_PJRT_FIND_PLUGIN_H

#include "muster/status.h"

enum { MST_PJRT_PATH = 4096 };

/** Writes the path of the plugin for devices of TYPE ("xla") to PATH. The environment variable MUSTER_PJRT_PLUGIN names
 *  the plugin's file, or a folder with a Python environment. PLACES lists where the plugin may be among the packages of
 *  such a folder ("libtpu/libtpu.so"; * stands for any characters); NULL ends it. MST_NOT_FOUND: the folder has no
 *  plugin. MST_UNAVAILABLE: the folder has several, the variable is not set, or its file or folder does not exist.
 *  MST_INVALID: the path is too long. */
MST_CHECKED mst_status mst_pjrt_find_plugin(const char *type, const char *const *places, char path[MST_PJRT_PATH]);

#endif
