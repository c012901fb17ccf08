#include "sessions/part_states.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "store/store.h"

enum { EACH_ENTRY = 48 /* bytes of the shortest one in a message */ };

/* Reads an entry from R, and sets its value if R has one. *HAS: whether the entry has a value afterwards. */
static mst_status take_entry(mst_task_server *server, int64_t deadline, mst_wire_reader *r, bool *has) {
    const int64_t task = mst_wire_get_within(r, 0, server->num_tasks - 1);
    const char *container = mst_wire_get_text(r), *name = mst_wire_get_text(r);
    const mst_state_kind kind = (mst_state_kind)mst_wire_get_within(r, 0, MST_NUM_STATE_KINDS - 1);
    mst_tensor *value = mst_wire_get_optional(r);
    const bool is_own = task == server->self && !r->wrong && !r->no_memory;
    const mst_status status =
        is_own && value ? mst_store_write(server->store, container, name, kind, value, deadline) : MST_OK;
    const mst_state *state = is_own ? mst_store_find(server->store, container, name) : NULL;
    *has = state && mst_state_has_value(server->store, state);
    mst_tensor_release(value);
    return status;
}

mst_status mst_session_part_states_take(mst_task_server *server, double seconds, mst_wire_reader *r,
                                        mst_wire_writer *out) {
    const int64_t deadline = mst_clock_after(seconds);
    const int32_t count = mst_wire_get_count(r, EACH_ENTRY);
    bool *has = calloc((size_t)count + 1, sizeof *has);
    mst_status status = has ? MST_OK : MST_NO_MEMORY("for the variables of a session");
    for (int32_t i = 0; i < count && !status; i++) status = take_entry(server, deadline, r, &has[i]);
    if (!status) status = mst_wire_check_read(r, "the leader");
    if (!status) mst_wire_put_bytes(out, has, (size_t)count);
    free(has);
    return status;
}
