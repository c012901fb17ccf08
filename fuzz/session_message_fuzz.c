/* clang -fsanitize=fuzzer,address,undefined: what is said of sessions over several tasks. What is read can be written,
 * and is read again. */
#include <stdlib.h>

#include "memory.h"
#include "sessions/session_message.h"

static bool read_all(const void *data, size_t size, mst_wire_writer *again) {
    mst_wire_reader r = {.at = data, .left = size};
    mst_open_message open;
    mst_task_devices devices;
    mst_failure failure;
    int32_t count;
    mst_open_message_get(&r, 3, &open);
    mst_task_devices_get(&r, &devices);
    mst_wire_get_failure(&r, &failure);
    mst_tensor **tensor = mst_tensors_get(&r, &count);
    const bool right = mst_wire_check_read(&r, "the fuzzer") == MST_OK;
    if (right) {
        mst_open_message_put(again, &open);
        mst_task_devices_put(again, &devices);
        mst_wire_put_failure(again, &failure);
        mst_wire_put_number(again, (uint64_t)count);
        for (int32_t i = 0; i < count; i++) mst_wire_put_optional(again, tensor[i]);
    }
    mst_tensors_free(tensor, count);
    free((void *)(uintptr_t)devices.device);
    return right;
}

static void read_input(const uint8_t *data, size_t size) {
    mst_wire_writer first = {0}, second = {0};
    if (read_all(data, size, &first) && !first.failed && !read_all(first.data, first.size, &second)) __builtin_trap();
    mst_wire_free(&first);
    mst_wire_free(&second);
}

FUZZ(read_input, 64, 1 << 16)
