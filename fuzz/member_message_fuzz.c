/* clang -fsanitize=fuzzer,address,undefined: messages between the members of a cluster, of which an input is what lies
 * behind the mark and the version. What is read is written, and that is read as the same. */
#include <string.h>

#include "membership/member_message.h"
#include "memory.h"

enum { TASKS = 3, MARK = 4 };

static size_t again(const uint8_t *data, size_t size, uint8_t *out) {
    mst_member_status member_status[TASKS] = {0};
    mst_member_message message;
    if (mst_member_message_decode(data, size, TASKS, member_status, &message)) return 0;
    return mst_member_message_encode(&message, TASKS, out);
}

static void read_input(const uint8_t *data, size_t size) {
    uint8_t once[MST_MEMBER_MESSAGE_MOST(TASKS)], twice[MST_MEMBER_MESSAGE_MOST(TASKS)];
    uint8_t *message = malloc(MARK + size); /* so that what is read behind it is found */
    if (!message) return;
    memcpy(message, (const uint8_t[MARK]){'M', 'S', 'T', MST_MEMBER_MESSAGE_VERSION}, MARK);
    memcpy(message + MARK, data, size);
    const size_t length = again(message, MARK + size, once);
    free(message);
    if (!length) return;
    if (length != MARK + size || again(once, length, twice) != length || memcmp(once, twice, length) != 0)
        __builtin_trap();
}

FUZZ(read_input, 1, 1 << 10)
