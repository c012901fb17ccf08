/* clang -fsanitize=fuzzer,address,undefined: what a task says of itself to those who ask. What is read is written as
 * the same bytes, and its own number is one of its tasks'. */
#include <string.h>

#include "cluster/task_report.h"
#include "memory.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_task_report report;
    char name[16], address[16];
    mst_task_device device;
    size_t bytes, at = 0, at_device = 0;
    int32_t count = 0;
    if (mst_task_report_decode(data, size, &report)) return;
    while (mst_task_report_next(&report, &at, name, address, sizeof name)) count++;
    while (mst_task_report_device(&report, &at_device, &device)) continue;
    if (report.self >= count || at != report.tasks_bytes || at_device != report.devices_bytes) __builtin_trap();
    void *again = mst_task_report_encode(&report, &bytes);
    if (again && (bytes != size || memcmp(again, data, size) != 0)) __builtin_trap();
    free(again);
}

FUZZ(read_input, 4, 1 << 10)
