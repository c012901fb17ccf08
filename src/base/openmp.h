/** The state of a thread while it calls a library that computes. OpenMP is limited to one thread: the library computes
 *  on the calling thread alone, and our teams share the work (base/team.h). So OpenMP never starts a thread; if it
 *  failed to start one, it would end the process. The calling thread handles no signals, because a handler could
 *  corrupt the heap (base/signal_mask.h). */
#ifndef MUSTER_BASE_OPENMP_H
#define MUSTER_BASE_OPENMP_H

#include "muster/status.h"

/** Limits OpenMP to one thread, and blocks signals, for the calling thread until mst_openmp_end. Call that after every
 *  call of this function, even a failed one. Only a thread of the library that stays in this state to its end may omit
 *  it. *BEFORE gets the number of OpenMP threads before the call, for mst_openmp_end. Both functions together make at
 *  most two system calls. A thread's first use of gcc's OpenMP allocates some hundred bytes, and would end the process
 *  if it could not. MST_OUT_OF_MEMORY if there is no memory for that. */
MST_CHECKED mst_status mst_openmp_begin(int *before);
void mst_openmp_end(int before);

#endif
