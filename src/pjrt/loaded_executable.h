/** Executables: programs that a plugin has compiled. An errand compiles each one on its own thread (run/errand.h).
 *  Programs with the same text (StableHLO) are compiled once in a process, for all devices of a type. */
#ifndef MUSTER_PJRT_LOADED_EXECUTABLE_H
#define MUSTER_PJRT_LOADED_EXECUTABLE_H

#include "pjrt/client.h"
#include "run/executables.h"

/** A program that is being compiled, or has been, with a count of its users. */
typedef struct mst_pjrt_executable mst_pjrt_executable;

/** Sets OUT to the executable of TEXT, with a reference for the caller, which mst_pjrt_executable_put drops. Begins to
 *  compile TEXT if that has not been done, or has failed. Does not wait. */
MST_CHECKED mst_status mst_pjrt_executable_get(const mst_pjrt_client *client, const char *text,
                                               mst_pjrt_executable **out);
/** Drops the caller's reference. The executable is kept for a while, because the next plan often has the same text.
 *  NULL is allowed. */
void mst_pjrt_executable_put(mst_pjrt_executable *executable);
/** Waits until EXECUTABLE has been compiled, at most until DEADLINE, a time of clock_now in mst_backend_services. Sets
 *  OUT to PJRT's object, which EXECUTABLE owns. WHAT ("compiling the program of node 'a'") is for the error message. */
MST_CHECKED mst_status mst_pjrt_executable_wait(mst_pjrt_executable *executable, int64_t deadline, const char *what,
                                                PJRT_LoadedExecutable **out);
/** Compiles SOURCE for another task of the cluster. Sets *DATA to the *SIZE bytes of the executable, which the caller
 *  frees with free(); NULL: the plugin cannot give them. MST_INVALID if SOURCE is for another plugin, kind of device or
 *  options than those of this process. */
MST_CHECKED mst_status mst_pjrt_executable_compile(mst_pjrt_client *client, const mst_executable_source *source,
                                                   void **data, size_t *size);
/** The number of results of EXECUTABLE. This function and those below need a wait that has succeeded. */
int mst_pjrt_executable_num_results(const mst_pjrt_executable *executable);
/** The device memory of EXECUTABLE beyond arguments and results: TEMPORARY bytes while it runs, and CODE bytes, with
 *  its constants, while it is loaded. 0 also if the plugin does not say. */
void mst_pjrt_executable_inside(const mst_pjrt_executable *executable, int64_t *temporary, int64_t *code);
/** Whether result I is an array of TYPE with the NDIM dimensions DIM. True if the plugin does not describe results. */
bool mst_pjrt_executable_gives(const mst_pjrt_executable *executable, int i, PJRT_Buffer_Type type, int ndim,
                               const int64_t *dim);

#endif
