/* clang -fsanitize=fuzzer,address,undefined: what callbacks of the chief keep, as parameter servers get it, and workers
 * that are started again. Nothing but such entries is taken; what is read can be written, and that is read again. */
#include "memory.h"
#include "messages/state_message.h"
#include "parameter_server/ps_kept.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_snapshot *kept, *again;
    void *bytes;
    size_t count;
    if (mst_ps_kept_decode(data, size, &kept)) return;
    for (int64_t i = 0; i < mst_snapshot_count(kept); i++) {
        const mst_state_info info = mst_snapshot_info(kept, i);
        if (!mst_ps_is_kept(&info)) __builtin_trap();
    }
    if (!mst_state_message_encode(kept, &bytes, &count)) {
        if (mst_ps_kept_decode(bytes, count, &again)) __builtin_trap();
        if (mst_state_hash(kept) != mst_state_hash(again)) __builtin_trap();
        mst_snapshot_release(again);
        free(bytes);
    }
    mst_snapshot_release(kept);
}

FUZZ(read_input, 64, 1 << 20)
