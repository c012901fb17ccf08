/* The system grants memory that does not exist, and ends the process when the memory is used. So large allocations are
 * first compared with the memory of the machine. */
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
