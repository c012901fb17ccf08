/** Whether other programs keep the cores of this machine busy, by the kernel's count of running threads. */
#ifndef MUSTER_BASE_BUSY_CORES_H
#define MUSTER_BASE_BUSY_CORES_H

#include <stdbool.h>

/** The number of threads of other programs that run or wait for a core at this moment; 0 if that is not known. PATH is
 *  "/proc/loadavg". Its fourth field begins with the number of all such threads (Linux, man 5 proc_loadavg). The
 *  calling thread is subtracted. Other threads of this process should sleep during the call, or they are counted
 *  too. */
int mst_others_running(const char *path);
/** Whether OTHERS, the number of threads of other programs, is at least HARDWARE_THREADS. Then threads that wait for
 *  each other often wait for one that has no core. False if HARDWARE_THREADS is 0. */
bool mst_cores_are_taken(int others, int hardware_threads);

#endif
