/** Finding the file of a plugin. */
#ifndef MUSTER_PJRT_FIND_PLUGIN_H
#define MUSTER_PJRT_FIND_PLUGIN_H

#include "muster/status.h"

enum { MST_PJRT_PATH = 4096 };

/** Writes the path of the plugin for devices of TYPE ("xla") to PATH. The environment variable MUSTER_PJRT_PLUGIN names
 *  a file, or a folder with a Python environment; PLACES, a list with NULL at its end, says where it may be in such a
 *  folder ("xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", with * for what differs). MST_NOT_FOUND: the folder has none.
 *  MST_UNAVAILABLE: the folder has several, the variable is not set, or what it names does not exist. */
MST_CHECKED mst_status mst_pjrt_find_plugin(const char *type, const char *const *places, char path[MST_PJRT_PATH]);

#endif
