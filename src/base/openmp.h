/** What holds while a library computes for us. Its OpenMP has one thread: it computes on the calling thread alone, and
 *  our teams share the work (base/team.h). So no thread of OpenMP is ever started, whose failure to start would end the
 *  process. And the calling thread handles no signals, which could corrupt the heap (base/signal_mask.h). */
#ifndef MUSTER_BASE_OPENMP_H
#define MUSTER_BASE_OPENMP_H

#include "muster/status.h"

/** One thread of OpenMP, and no signals, for what the calling thread calls until mst_openmp_end. That follows every
 *  call of this one, also one that failed, but in a thread of the library that goes on like this to its end. *BEFORE:
 *  the number of threads until now. Both together make two system calls at most. The OpenMP of gcc ends the process
 *  where it does not get some hundred bytes at a thread's first call: here that is MST_OUT_OF_MEMORY. */
MST_CHECKED mst_status mst_openmp_begin(int *before);
void mst_openmp_end(int before);

#endif
