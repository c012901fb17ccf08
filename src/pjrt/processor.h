/** The processor of this machine, as plugins see it. */
#ifndef MUSTER_PJRT_PROCESSOR_H
#define MUSTER_PJRT_PROCESSOR_H

/** The number of hardware threads on which the calling thread may run, at least 1. On the thread of an errand that is
 *  the number for the whole process. A plugin for CPUs starts as many threads for each device. */
int mst_pjrt_num_threads(void);

#endif
