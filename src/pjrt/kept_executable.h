/** Executables that an earlier process has compiled (run/executable_cache.h). For errands: a disk may be slow. */
#ifndef MUSTER_PJRT_KEPT_EXECUTABLE_H
#define MUSTER_PJRT_KEPT_EXECUTABLE_H

#include "pjrt/client.h"
#include "run/executable_cache.h"

/** The executable of KEY; NULL: none was kept, or the plugin cannot load it, and it must be compiled. */
PJRT_LoadedExecutable *mst_pjrt_kept_find(const mst_pjrt_client *client, const mst_executable_key *key);
/** Keeps EXECUTABLE for the next process, if the plugin can. */
void mst_pjrt_kept_add(const mst_pjrt_client *client, const mst_executable_key *key, PJRT_LoadedExecutable *executable);

#endif
