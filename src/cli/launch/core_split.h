/** Gives each worker of this machine cores of its own, so that workers do not compete for processor time. */
#ifndef MUSTER_CLI_LAUNCH_CORE_SPLIT_H
#define MUSTER_CLI_LAUNCH_CORE_SPLIT_H

#include <sched.h>

/** Splits the physical cores that this process may use into COUNT parts of neighbouring cores, as equal as possible.
 *  All hardware threads of a core are in one part. Fills PART and returns the number of cores that were split. Returns
 *  0, without filling PART, if there are fewer cores than parts. It also returns 0 if a container limits the processor
 *  time of this process instead of its cores: then the kernel places the threads better. */
int split_cores(int count, cpu_set_t *part);

#endif
