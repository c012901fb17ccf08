/** The memory behind mst_map_alloc: maps and sources allocate outputs there whose length they find themselves. */
#ifndef MUSTER_DATA_ROW_ARENA_H
#define MUSTER_DATA_ROW_ARENA_H

#include "base/arena.h"

/** Lends ARENA to mst_map_alloc on this thread; NULL takes it back. Returns the arena that was lent before. */
mst_arena *mst_row_arena_lend(mst_arena *arena);

#endif
