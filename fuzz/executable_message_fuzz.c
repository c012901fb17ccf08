/* clang -fsanitize=fuzzer,address,undefined: messages by which workers share executables, and the sources in them. What
 * is read is written, and that is the same. */
#include <string.h>

#include "memory.h"
#include "messages/executable_message.h"

static void read_message(const uint8_t *data, size_t size) {
    static uint8_t again[MST_EXECUTABLE_MESSAGE_HEAD + MST_EXECUTABLE_PIECE];
    mst_executable_message message;
    if (!mst_executable_message_decode(data, size, &message)) return;
    if (mst_executable_message_encode(&message, again) != size || memcmp(again, data, size) != 0) __builtin_trap();
}

static void read_source(const uint8_t *data, size_t size) {
    mst_executable_order order;
    void *again;
    size_t length;
    if (mst_executable_source_decode(data, size, &order) || mst_executable_source_encode(&order, &again, &length))
        return;
    if (length != size || memcmp(again, data, size) != 0) __builtin_trap();
    free(again);
}

static void read_input(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1); /* so that what is read behind it is found */
    if (!copy) return;
    memcpy(copy, data, size);
    read_message(copy, size);
    read_source(copy, size);
    free(copy);
}

FUZZ(read_input, 2, 1 << 10)
