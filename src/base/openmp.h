/** OpenMP belongs to the libraries that we call: they compute on the calling thread alone, and our teams share the work
 *  (base/team.h). So no thread of OpenMP is ever started, whose failure to start would end the process. */
#ifndef MUSTER_BASE_OPENMP_H
#define MUSTER_BASE_OPENMP_H

#include "muster/status.h"

/** One thread of OpenMP for what the calling thread calls; *BEFORE is their number until now. The OpenMP of gcc ends
 *  the process where it does not get some hundred bytes at a thread's first call: here that is MST_OUT_OF_MEMORY. */
MST_CHECKED mst_status mst_openmp_begin(int *before);
void mst_openmp_end(int before);

#endif
