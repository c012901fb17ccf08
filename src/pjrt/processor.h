/** The number of threads with which plugins use the processor of this machine. */
#ifndef MUSTER_PJRT_PROCESSOR_H
#define MUSTER_PJRT_PROCESSOR_H

/** The number of hardware threads on which the calling thread may run, at least 1. The thread of an errand is not bound
 *  to cores, so there it is the number for the whole process. A plugin for CPUs starts as many threads for each
 *  device. */
int mst_pjrt_num_threads(void);

#endif
