/* Checks before large allocations that the machine has enough memory. Linux lets a process allocate more memory than
 * exists, and kills it when it uses the memory. */
#include "base/byte_count.h"
#include "device/device.h"

mst_status mst_host_check(int64_t more, const char *what, const char *advice) {
    const int64_t memory = mst_host_memory(), has = memory > 0 ? mst_process_memory() : 0;
    char need[MST_BYTES_TEXT], limit[MST_BYTES_TEXT];
    if (memory <= 0 || more <= memory - has) return MST_OK;
    mst_bytes_print_two(more, memory, need, limit);
    return MST_FAIL(MST_OUT_OF_MEMORY, "%s need %s, and this machine, or its container (cgroup), has %s: %s", what,
                    need, limit, advice);
}
