/** Cores of their own for the workers of this machine, so that the threads of one do not take the time of another. */
#ifndef MUSTER_CLI_LAUNCH_CORE_SPLIT_H
#define MUSTER_CLI_LAUNCH_CORE_SPLIT_H

#include <sched.h>

/** Splits the physical cores that this process may use into COUNT parts, as equal as can be, each of neighbours, with
 *  all hardware threads of a core in one part. Fills PART and returns the number of cores that were split; 0, and PART
 *  is not filled, where there are fewer cores than parts, or where a container gives this process a share of the time
 *  of the cores and not cores: then the kernel places the threads better. */
int split_cores(int count, cpu_set_t *part);

#endif
