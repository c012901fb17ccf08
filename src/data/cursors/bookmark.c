#include "data/cursors/bookmark.h"

#include <stdlib.h>

#include "base/no_memory.h"

enum { FIRST_CAPACITY = 64 };

void mst_bookmark_put(mst_bookmark *bookmark, int64_t number) {
    if (bookmark->count == bookmark->capacity) {
        const int64_t capacity = bookmark->capacity ? 2 * bookmark->capacity : FIRST_CAPACITY;
        int64_t *grown = realloc(bookmark->number, (size_t)capacity * sizeof *grown);
        bookmark->no_memory |= !grown;
        if (!grown) return;
        bookmark->number = grown;
        bookmark->capacity = capacity;
    }
    bookmark->number[bookmark->count++] = number;
}

mst_status mst_bookmark_take(mst_bookmark *bookmark, int64_t low, int64_t high, int64_t *number) {
    if (bookmark->at < bookmark->count && bookmark->number[bookmark->at] >= low &&
        bookmark->number[bookmark->at] <= high) {
        *number = bookmark->number[bookmark->at++];
        return MST_OK;
    }
    return MST_FAIL(MST_CORRUPT, "iterator: the saved position is not one of this dataset (number %lld of it)",
                    (long long)bookmark->at);
}

void mst_bookmark_put_all(mst_bookmark *bookmark, const mst_bookmark *other) {
    mst_bookmark_put(bookmark, other->count);
    for (int64_t i = 0; i < other->count; i++) mst_bookmark_put(bookmark, other->number[i]);
    bookmark->no_memory |= other->no_memory;
}

mst_status mst_bookmark_take_all(mst_bookmark *bookmark, mst_bookmark *other) {
    int64_t count, number;
    MST_TRY(mst_bookmark_take(bookmark, 0, INT64_MAX, &count));
    for (int64_t i = 0; i < count; i++) {
        MST_TRY(mst_bookmark_take(bookmark, INT64_MIN, INT64_MAX, &number));
        mst_bookmark_put(other, number);
    }
    return other->no_memory ? MST_NO_MEMORY("for the position of an iterator") : MST_OK;
}

void mst_bookmark_free(mst_bookmark *bookmark) {
    free(bookmark->number);
    *bookmark = (mst_bookmark){0};
}
