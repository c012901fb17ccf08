/** Executables: programs that a plugin has compiled. Equal texts are compiled once in a process, for all devices of a
 *  type, by an errand (run/errand.h). */
#ifndef MUSTER_PJRT_LOADED_EXECUTABLE_H
#define MUSTER_PJRT_LOADED_EXECUTABLE_H

#include "pjrt/client.h"
#include "run/executables.h"

/** A text that is compiled, or was. */
typedef struct mst_pjrt_executable mst_pjrt_executable;

/** Sets OUT to the executable of TEXT, and begins to compile it if nobody has yet. mst_pjrt_executable_put must
 *  follow. */
MST_CHECKED mst_status mst_pjrt_executable_get(const mst_pjrt_client *client, const char *text,
                                               mst_pjrt_executable **out);
/** The caller needs it no more. It is kept for a while, because the next plan often has the same text. NULL is
 *  allowed. */
void mst_pjrt_executable_put(mst_pjrt_executable *executable);
/** Waits until it has been compiled, at most until DEADLINE (mst_backend_services), and sets OUT. The message says that
 *  WHAT has failed. */
MST_CHECKED mst_status mst_pjrt_executable_wait(mst_pjrt_executable *executable, int64_t deadline, const char *what,
                                                PJRT_LoadedExecutable **out);
/** Compiles SOURCE for another task of the cluster. *DATA, SIZE bytes, is freed with free(); NULL: the plugin cannot
 *  give them. MST_INVALID if SOURCE is for another plugin, kind of device or other options than here. */
MST_CHECKED mst_status mst_pjrt_executable_compile(mst_pjrt_client *client, const mst_executable_source *source,
                                                   void **data, size_t *size);
/** The number of results of an executable for which somebody has waited. */
int mst_pjrt_executable_num_results(const mst_pjrt_executable *executable);
/** What a run of such an executable takes of the device's memory beyond arguments and results: TEMPORARY bytes while it
 *  runs, and CODE bytes as long as it is loaded, constants among them. 0: plugins need not say it. */
void mst_pjrt_executable_inside(const mst_pjrt_executable *executable, int64_t *temporary, int64_t *code);
/** Whether result I may be an array of TYPE and shape; plugins need not say what it is. */
bool mst_pjrt_executable_gives(const mst_pjrt_executable *executable, int i, PJRT_Buffer_Type type, int ndim,
                               const int64_t *dim);

#endif
