/** Arena: many small allocations that are freed together.
 *
 *      mst_arena.block                          blocks filled before
 *      +------+------+-------------+------+     +------+------+-------------+
 *      | next | size | allocations | free | --> | next | size | allocations | --> NULL
 *      +------+------+-------------+------+     +------+------+-------------+
 *                    |<-- used --->|
 *
 *  The first block has 4 KiB. Each new block has twice the size of the newest one, up to 64 KiB, or the size of the
 *  allocation if that needs more. An allocation that does not fit into the rest of the newest block goes into a new
 *  one. An allocation never moves.
 */
#ifndef MUSTER_BASE_ARENA_H
#define MUSTER_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_arena_block mst_arena_block;

/** An arena of zeros is empty. */
typedef struct mst_arena {
    mst_arena_block *block; /**< the newest block; NULL: none yet */
    size_t used;            /**< bytes of the newest block that are allocated */
} mst_arena;

/** SIZE zeroed bytes aligned to 16, or NULL if memory runs out. Valid until the arena is freed. */
void *mst_arena_alloc(mst_arena *arena, size_t size);
/** The next three copy SIZE bytes of DATA, copy the string TEXT, or print a new string. NULL if memory runs out. */
void *mst_arena_copy(mst_arena *arena, const void *data, size_t size);
char *mst_arena_string(mst_arena *arena, const char *text);
char *mst_arena_print(mst_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Bytes of memory that the arena takes. */
size_t mst_arena_bytes(const mst_arena *arena);
/** Frees all allocations, and keeps the largest block for the next ones. */
void mst_arena_clear(mst_arena *arena);
void mst_arena_free(mst_arena *arena);

/** Makes room for at least COUNT elements of SIZE bytes in an array, by realloc. DATA is the address of the array's
 *  pointer. *CAPACITY, the number of elements that have room, is doubled until it suffices. After MST_OUT_OF_MEMORY
 *  pointer and capacity are unchanged. */
MST_CHECKED mst_status mst_grow(void *data, size_t size, int64_t count, int64_t *capacity);

#endif
