/** The state of a thread while it calls a library that computes. OpenMP has one thread: the library computes on the
 *  calling thread alone, and our teams share the work (base/team.h). So OpenMP never starts a thread; if it could not
 *  start one, it would end the process. The calling thread handles no signals, which could corrupt the heap
 *  (base/signal_mask.h). */
#ifndef MUSTER_BASE_OPENMP_H
#define MUSTER_BASE_OPENMP_H

#include "muster/status.h"

/** Sets one thread of OpenMP, and no signals, for the calling thread until mst_openmp_end. Call that after every call
 *  of this function, also after one that failed; only a thread of the library that stays in this state to its end may
 *  omit it. *BEFORE: the number of threads so far. Both together make at most two system calls. The OpenMP of gcc ends
 *  the process if a thread's first call does not get some hundred bytes: here that is MST_OUT_OF_MEMORY. */
MST_CHECKED mst_status mst_openmp_begin(int *before);
void mst_openmp_end(int before);

#endif
