/* Offsets of blocks in an arena. There are two ways; the one that needs less memory is taken:
 *
 *    in order   a walk along the program. A new block takes the smallest free hole that fits; a block that ends
 *               becomes a hole. Memory that was used last is used again soon, while it is in a cache.
 *    by size    the largest block first, each at the lowest offset that is free during its life. The small ones
 *               follow in order, at higher offsets. So small blocks do not split the space that large ones need. */
#include "plan/blocks.h"
#include "base/no_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* The number of blocks that are placed by size: the largest ones. The others are placed in order. */
enum { MOST_LARGE = 512 };

/* ---- in order ---- */

typedef struct hole {
    int64_t offset, size;
} hole;

typedef struct walk {
    hole *holes; /* sorted by offset */
    int64_t num_holes, hole_capacity;
    int64_t end; /* end of the arena so far */
} walk;

static mst_status give_back(walk *l, int64_t offset, int64_t size) {
    if (size == 0) return MST_OK;
    MST_TRY(mst_grow(&l->holes, sizeof *l->holes, l->num_holes + 1, &l->hole_capacity));
    int64_t low = 0, high = l->num_holes;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (l->holes[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    bool joins_left = low > 0 && l->holes[low - 1].offset + l->holes[low - 1].size == offset;
    bool joins_right = low < l->num_holes && offset + size == l->holes[low].offset;
    if (joins_left && joins_right) {
        l->holes[low - 1].size += size + l->holes[low].size;
        memmove(&l->holes[low], &l->holes[low + 1], (size_t)(--l->num_holes - low) * sizeof *l->holes);
    } else if (joins_left) {
        l->holes[low - 1].size += size;
    } else if (joins_right) {
        l->holes[low].offset = offset;
        l->holes[low].size += size;
    } else {
        memmove(&l->holes[low + 1], &l->holes[low], (size_t)(l->num_holes++ - low) * sizeof *l->holes);
        l->holes[low] = (hole){offset, size};
    }
    return MST_OK;
}

static int64_t blocks_take(walk *l, int64_t size) {
    int64_t best = -1;
    for (int64_t i = 0; i < l->num_holes; i++)
        if (l->holes[i].size >= size && (best < 0 || l->holes[i].size < l->holes[best].size)) best = i;
    if (best < 0) {
        int64_t offset = l->end;
        l->end += size;
        return offset;
    }
    int64_t offset = l->holes[best].offset;
    l->holes[best].offset += size;
    l->holes[best].size -= size;
    if (l->holes[best].size == 0)
        memmove(&l->holes[best], &l->holes[best + 1], (size_t)(--l->num_holes - best) * sizeof *l->holes);
    return offset;
}

/* The beginning or the end of a block at a place of the program. */
typedef struct event {
    int32_t place, block;
} event;

static int compare_events(const void *a, const void *b) {
    const event *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return x->block < y->block ? -1 : 1;
}

/* Places the blocks that have no offset yet (below 0), at offset FROM and above, in the order of the program. */
static mst_status place_in_order(mst_plan_block *blocks, int64_t count, int64_t from, int64_t *bytes) {
    walk w = {.end = from};
    event *begins = malloc(2 * ((size_t)count + 1) * sizeof *begins);
    if (!begins) return MST_NO_MEMORY("for a plan");
    event *ends = begins + count;
    int64_t num = 0, next = 0;
    for (int64_t i = 0; i < count; i++) {
        if (blocks[i].offset >= 0) continue;
        begins[num] = (event){blocks[i].begin, (int32_t)i};
        ends[num++] = (event){blocks[i].end, (int32_t)i};
    }
    qsort(begins, (size_t)num, sizeof *begins, compare_events);
    qsort(ends, (size_t)num, sizeof *ends, compare_events);
    mst_status status = MST_OK;
    for (int64_t i = 0; i < num && !status; i++) {
        for (; ends[next].place < begins[i].place && !status; next++) {
            const mst_plan_block *dead = &blocks[ends[next].block];
            status = give_back(&w, dead->offset, dead->bytes);
        }
        mst_plan_block *block = &blocks[begins[i].block];
        block->offset = blocks_take(&w, block->bytes);
    }
    *bytes = w.end;
    free(begins);
    free(w.holes);
    return status;
}

/* ---- by size ---- */

static int compare_sizes(const void *a, const void *b) {
    const mst_plan_block *const *x = a, *const *y = b;
    if ((*x)->bytes != (*y)->bytes) return (*x)->bytes > (*y)->bytes ? -1 : 1;
    return *x < *y ? -1 : *x > *y; /* ties: in the order of the program */
}

/* The lowest offset at which BLOCK overlaps no block of PLACED that lives at the same time. PLACED is sorted by
 * offset. */
static int64_t lowest(const mst_plan_block *block, mst_plan_block *const *placed, int64_t num_placed) {
    int64_t offset = 0;
    for (int64_t i = 0; i < num_placed; i++) {
        const mst_plan_block *other = placed[i];
        if (other->begin > block->end || block->begin > other->end) continue;
        if (other->offset >= offset + block->bytes) break;
        if (other->offset + other->bytes > offset) offset = other->offset + other->bytes;
    }
    return offset;
}

static mst_status place_by_size(mst_plan_block *blocks, int64_t count, int64_t *bytes) {
    const int64_t num_large = count < MOST_LARGE ? count : MOST_LARGE;
    mst_plan_block **sorted = malloc(((size_t)count + 1) * sizeof *sorted), *placed[MOST_LARGE];
    if (!sorted) return MST_NO_MEMORY("for a plan");
    for (int64_t i = 0; i < count; i++) {
        sorted[i] = &blocks[i];
        blocks[i].offset = -1;
    }
    qsort(sorted, (size_t)count, sizeof(mst_plan_block *), compare_sizes);
    int64_t end = 0;
    for (int64_t i = 0; i < num_large; i++) {
        mst_plan_block *block = sorted[i];
        block->offset = lowest(block, placed, i);
        if (block->offset + block->bytes > end) end = block->offset + block->bytes;
        int64_t at = i;
        for (; at > 0 && placed[at - 1]->offset > block->offset; at--) placed[at] = placed[at - 1];
        placed[at] = block;
    }
    free(sorted);
    return place_in_order(blocks, count, end, bytes);
}

mst_status mst_plan_place_blocks(mst_plan_block *blocks, int64_t count, int64_t *bytes) {
    int64_t in_order, by_size;
    int64_t *offset = malloc(((size_t)count + 1) * sizeof *offset);
    if (!offset) return MST_NO_MEMORY("for a plan");
    for (int64_t i = 0; i < count; i++) blocks[i].offset = -1;
    mst_status status = place_in_order(blocks, count, 0, &in_order);
    for (int64_t i = 0; i < count; i++) offset[i] = blocks[i].offset;
    if (!status) status = place_by_size(blocks, count, &by_size);
    /* a little more memory is better than leaving the order of the program */
    const bool smaller = !status && by_size < in_order - in_order / 16;
    if (!smaller)
        for (int64_t i = 0; i < count; i++) blocks[i].offset = offset[i];
    if (!status) *bytes = smaller ? by_size : in_order;
    free(offset);
    return status;
}
