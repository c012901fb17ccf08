/* clang -fsanitize=fuzzer,address,undefined: headers of messages between tasks. What is read is written as the same
 * bytes; what it says of the bytes behind it fits them. */
#include <string.h>

#include "memory.h"
#include "transport/wire_header.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_wire_header message;
    unsigned char again[MST_WIRE_HEADER_SIZE];
    const size_t header = size < MST_WIRE_HEADER_SIZE ? size : MST_WIRE_HEADER_SIZE, payload = size - header;
    if (mst_wire_header_decode(data, header, payload, &message)) return;
    if (message.offset > message.total || payload > message.total - message.offset) __builtin_trap();
    mst_wire_header_encode(&message, again);
    if (memcmp(again, data, sizeof again) != 0) __builtin_trap();
}

FUZZ(read_input, 16, 16 << 10)
