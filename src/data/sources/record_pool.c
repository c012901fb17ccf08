#include "data/sources/record_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

enum { FIRST_CAPACITY = 64 };

/* The place where the search for ROW starts. The factor is 2^64 divided by the golden ratio: it spreads neighbouring
 * rows over all places. */
static int64_t home(const mst_record_pool *pool, int64_t row) {
    return (int64_t)((uint64_t)row * 0x9e3779b97f4a7c15 >> 20) & (pool->capacity - 1);
}

static int64_t after(const mst_record_pool *pool, int64_t i) {
    return (i + 1) & (pool->capacity - 1);
}

mst_pooled *mst_record_pool_find(const mst_record_pool *pool, int64_t row) {
    if (!pool->capacity) return NULL;
    for (int64_t i = home(pool, row); pool->place[i].count; i = after(pool, i))
        if (pool->place[i].row == row) return &pool->place[i];
    return NULL;
}

static void record_pool_put(mst_record_pool *pool, const mst_pooled *entry) {
    int64_t i = home(pool, entry->row);
    while (pool->place[i].count) i = after(pool, i);
    pool->place[i] = *entry;
    pool->used++;
}

static mst_status record_pool_grow(mst_record_pool *pool) {
    if (2 * pool->used < pool->capacity) return MST_OK;
    mst_record_pool larger = {.capacity = pool->capacity ? 2 * pool->capacity : FIRST_CAPACITY};
    if (!(larger.place = calloc((size_t)larger.capacity, sizeof *larger.place))) return MST_NO_MEMORY("for records");
    for (int64_t i = 0; i < pool->capacity; i++)
        if (pool->place[i].count) record_pool_put(&larger, &pool->place[i]);
    free(pool->place);
    *pool = larger;
    return MST_OK;
}

mst_status mst_record_pool_add(mst_record_pool *pool, int64_t row, int64_t file, const mst_record *record) {
    mst_pooled *found = mst_record_pool_find(pool, row);
    if (found) {
        found->count++;
        return MST_OK;
    }
    MST_TRY(record_pool_grow(pool));
    void *copy = malloc(record->size + 1);
    if (!copy) return MST_NO_MEMORY("for a record of %zu bytes", record->size);
    memcpy(copy, record->data, record->size);
    record_pool_put(pool, &(mst_pooled){row, 1, file, {copy, record->size, record->offset}});
    return MST_OK;
}

/* Moves entries back to fill a gap, since probing stops at an empty place. */
static void close_gap(mst_record_pool *pool, int64_t gap) {
    for (int64_t i = after(pool, gap); pool->place[i].count; i = after(pool, i)) {
        const int64_t distance = (i - home(pool, pool->place[i].row)) & (pool->capacity - 1);
        if (distance < ((i - gap) & (pool->capacity - 1))) continue;
        pool->place[gap] = pool->place[i];
        pool->place[i].count = 0;
        gap = i;
    }
}

void mst_record_pool_drop(mst_record_pool *pool, int64_t row) {
    mst_pooled *found = mst_record_pool_find(pool, row);
    if (!found || --found->count) return;
    free((void *)(uintptr_t)found->record.data);
    pool->used--;
    close_gap(pool, found - pool->place);
}

void mst_record_pool_free(mst_record_pool *pool) {
    for (int64_t i = 0; i < pool->capacity; i++)
        if (pool->place[i].count) free((void *)(uintptr_t)pool->place[i].record.data);
    free(pool->place);
    *pool = (mst_record_pool){0};
}
