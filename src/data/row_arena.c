#include "data/row_arena.h"

#include "base/no_memory.h"
#include "muster/dataset.h"

static _Thread_local mst_arena *lent;

mst_arena *mst_row_arena_lend(mst_arena *arena) {
    mst_arena *before = lent;
    lent = arena;
    return before;
}

void *mst_map_alloc(size_t size) {
    void *data = lent ? mst_arena_alloc(lent, size) : NULL;
    if (data) return data;
    if (lent)
        (void)!MST_NO_MEMORY("for %zu bytes of a row", size);
    else
        (void)!MST_FAIL(MST_INVALID, "mst_map_alloc: is for map functions, while they run");
    return NULL;
}
