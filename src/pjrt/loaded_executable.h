/** Executables: programs that a plugin has compiled. An errand (run/errand.h) compiles them. Programs with the same
 *  text (StableHLO) are compiled once in a process, for all devices of a type. */
#ifndef MUSTER_PJRT_LOADED_EXECUTABLE_H
#define MUSTER_PJRT_LOADED_EXECUTABLE_H

#include "pjrt/client.h"
#include "run/executables.h"

/** The text of a program that is being compiled, or was. */
typedef struct mst_pjrt_executable mst_pjrt_executable;

/** Sets OUT to the executable of TEXT, and begins to compile it if nobody has yet. mst_pjrt_executable_put must
 *  follow. */
MST_CHECKED mst_status mst_pjrt_executable_get(const mst_pjrt_client *client, const char *text,
                                               mst_pjrt_executable **out);
/** Drops the caller's reference. The executable is kept for a while, because the next plan often has the same text.
 *  NULL is allowed. */
void mst_pjrt_executable_put(mst_pjrt_executable *executable);
/** Waits until it has been compiled, at most until DEADLINE (mst_backend_services), and sets OUT. An error names
 *  WHAT. */
MST_CHECKED mst_status mst_pjrt_executable_wait(mst_pjrt_executable *executable, int64_t deadline, const char *what,
                                                PJRT_LoadedExecutable **out);
/** Compiles SOURCE for another task of the cluster. *DATA, SIZE bytes, is freed with free(); NULL: the plugin cannot
 *  give them. MST_INVALID if plugin, kind of device or options of SOURCE are not those of this process. */
MST_CHECKED mst_status mst_pjrt_executable_compile(mst_pjrt_client *client, const mst_executable_source *source,
                                                   void **data, size_t *size);
/** The number of results of an executable whose compilation has been waited for. */
int mst_pjrt_executable_num_results(const mst_pjrt_executable *executable);
/** The device memory of such an executable beyond arguments and results: TEMPORARY bytes while it runs, and CODE bytes,
 *  constants included, while it is loaded. 0 also if the plugin does not say. */
void mst_pjrt_executable_inside(const mst_pjrt_executable *executable, int64_t *temporary, int64_t *code);
/** False if result I is known not to be an array of TYPE and this shape. Not all plugins say what a result is. */
bool mst_pjrt_executable_gives(const mst_pjrt_executable *executable, int i, PJRT_Buffer_Type type, int ndim,
                               const int64_t *dim);

#endif
