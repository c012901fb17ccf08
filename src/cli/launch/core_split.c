#include "cli/launch/core_split.h"

#include <stdio.h>

#include "muster/device.h"

/* The first hardware thread of the core that has THREAD; THREAD itself if the system does not tell. */
static int first_of_core(int thread) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", thread);
    FILE *file = fopen(path, "r");
    int first = thread;
    if (file) {
        if (fscanf(file, "%d", &first) != 1 || first < 0 || first >= CPU_SETSIZE) first = thread;
        fclose(file);
    }
    return first;
}

int split_cores(int count, cpu_set_t *part) {
    cpu_set_t allowed;
    /* core[i]: the first thread of the core that has thread I; number[i]: the number of the core whose first thread is
     * I, or -1 */
    int core[CPU_SETSIZE], number[CPU_SETSIZE], num_cores = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return 0;
    for (int i = 0; i < CPU_SETSIZE; i++) number[i] = -1;
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &allowed)) continue;
        core[i] = first_of_core((int)i);
        if (number[core[i]] < 0) number[core[i]] = num_cores++;
    }
    if (num_cores != mst_num_cores() || num_cores < count) return 0;
    for (int k = 0; k < count; k++) CPU_ZERO(&part[k]);
    /* core K is in part ((K + 1) * count - 1) / num_cores: parts of neighbours, whose sizes differ by one at most */
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed)) CPU_SET(i, &part[((number[core[i]] + 1) * count - 1) / num_cores]);
    return num_cores;
}
