#include "pjrt/processor.h"

#include <sched.h>

int mst_pjrt_num_threads(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return 1; /* more hardware threads than CPU_SETSIZE */
    return CPU_COUNT(&allowed) > 0 ? CPU_COUNT(&allowed) : 1;
}
