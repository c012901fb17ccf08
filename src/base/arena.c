#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mst_arena_block {
    mst_arena_block *next;
    size_t size;
    max_align_t data[];
};

enum { FIRST_BLOCK = 4 * 1024, LARGEST_BLOCK = 64 * 1024, ALIGNMENT = 16 };

/* The size of a new block into which SIZE bytes fit. */
static size_t choose_block_size(const mst_arena *arena, size_t size) {
    size_t usual = arena->block ? 2 * arena->block->size : FIRST_BLOCK;
    if (usual > LARGEST_BLOCK) usual = LARGEST_BLOCK;
    return size > usual ? size : usual;
}

void *mst_arena_alloc(mst_arena *arena, size_t size) {
    if (size > SIZE_MAX / 2) return NULL; /* a negative number was converted; the check also prevents overflow below */
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!arena->block || arena->block->size - arena->used < size) {
        const size_t block_size = choose_block_size(arena, size);
        mst_arena_block *block = malloc(sizeof *block + block_size);
        if (!block) return NULL;
        block->next = arena->block;
        block->size = block_size;
        arena->block = block;
        arena->used = 0;
    }
    void *data = (char *)arena->block->data + arena->used;
    arena->used += size;
    return memset(data, 0, size);
}

void *mst_arena_copy(mst_arena *arena, const void *data, size_t size) {
    void *copy = mst_arena_alloc(arena, size);
    if (copy && size) memcpy(copy, data, size);
    return copy;
}

char *mst_arena_string(mst_arena *arena, const char *text) {
    return mst_arena_copy(arena, text, strlen(text) + 1);
}

char *mst_arena_print(mst_arena *arena, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int size = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = size < 0 ? NULL : mst_arena_alloc(arena, (size_t)size + 1);
    if (text) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}

size_t mst_arena_bytes(const mst_arena *arena) {
    size_t bytes = 0;
    for (const mst_arena_block *block = arena->block; block; block = block->next) bytes += sizeof *block + block->size;
    return bytes;
}

void mst_arena_clear(mst_arena *arena) {
    mst_arena_block *largest = arena->block;
    for (mst_arena_block *block = largest; block; block = block->next)
        if (block->size > largest->size) largest = block;
    while (arena->block) {
        mst_arena_block *next = arena->block->next;
        if (arena->block != largest) free(arena->block);
        arena->block = next;
    }
    if (largest) largest->next = NULL;
    arena->block = largest;
    arena->used = 0;
}

void mst_arena_free(mst_arena *arena) {
    while (arena->block) {
        mst_arena_block *next = arena->block->next;
        free(arena->block);
        arena->block = next;
    }
    arena->used = 0;
}

mst_status mst_grow(void *data, size_t size, int64_t count, int64_t *capacity) {
    if (count <= *capacity) return MST_OK;
    int64_t larger = *capacity ? *capacity : 16;
    while (larger < count) larger *= 2;
    void **array = data;
    void *grown = realloc(*array, (size_t)larger * size);
    if (!grown) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get %zu bytes of memory", (size_t)larger * size);
    *array = grown;
    *capacity = larger;
    return MST_OK;
}
