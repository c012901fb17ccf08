/* clang -fsanitize=fuzzer,address,undefined: heads of messages between workers and parameter servers. What is read is
 * written as the same bytes; a body that is said to be here is. */
#include <string.h>

#include "memory.h"
#include "parameter_server/ps_message.h"

static void read_input(const uint8_t *data, size_t size) {
    enum { MOST = 1 << 20 };
    unsigned char again[MST_TASK_MESSAGE_HEAD];
    mst_task_message_head head;
    size_t bytes;
    uint64_t run;
    if (mst_task_message_head_decode(&mst_ps_protocol, data, size, MOST, &head, &bytes, &run)) return;
    if (bytes > MOST || size != sizeof again + (run ? 0 : bytes)) __builtin_trap();
    mst_task_message_head_encode(&head, bytes, run, again);
    if (memcmp(again, data, sizeof again) != 0) __builtin_trap();
}

FUZZ(read_input, 0, 1 << 10)
