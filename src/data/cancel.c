#include "data/cancel.h"

static _Thread_local const atomic_bool *watched;

const atomic_bool *mst_cancel_watch(const atomic_bool *flag) {
    const atomic_bool *before = watched;
    watched = flag;
    return before;
}

mst_status mst_cancel_check(void) {
    if (!watched || !atomic_load_explicit(watched, memory_order_relaxed)) return MST_OK;
    return MST_FAIL(MST_CANCELLED, "iterator: it was destroyed");
}
