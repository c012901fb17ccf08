/** Converts executables to bytes and back, to keep them on disk or send them to other tasks (run/executables.h). Call
 *  these functions in an errand (run/errand.h), since they may take long. */
#ifndef MUSTER_PJRT_EXECUTABLE_BYTES_H
#define MUSTER_PJRT_EXECUTABLE_BYTES_H

#include <stddef.h>

#include "pjrt/client.h"

/** Sets *DATA to the *SIZE bytes of EXECUTABLE, which the caller frees with free(). *DATA is NULL, with status MST_OK,
 *  if the plugin cannot convert executables to bytes or back. */
MST_CHECKED mst_status mst_pjrt_executable_save(const mst_pjrt_client *client, PJRT_LoadedExecutable *executable,
                                                void **data, size_t *size);
/** Loads the SIZE bytes of an executable. MST_CORRUPT if the plugin refuses them. */
MST_CHECKED mst_status mst_pjrt_executable_load(const mst_pjrt_client *client, const void *data, size_t size,
                                                PJRT_LoadedExecutable **out);

#endif
