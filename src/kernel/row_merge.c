#include "kernel/row_merge.h"

#include <string.h>

#include "tensor/buffer.h"

/* A thread's workspace has first a stack of partial sums (row_merge.inc), then a place in each source. */
static size_t stack_bytes(const mst_row_merge *m) {
    const int32_t levels = mst_shards_levels(m->leaf, m->num_leaves, m->num_shards);
    return mst_align((size_t)levels * (size_t)m->columns * mst_dtype_size(m->dtype));
}

static int64_t *places(const mst_row_merge *m, void *workspace) {
    return (int64_t *)(void *)((char *)workspace + stack_bytes(m));
}

size_t mst_row_merge_workspace(const mst_row_merge *m) {
    return stack_bytes(m) + mst_align((size_t)m->num_leaves * sizeof(int64_t));
}

/* The indices of a source's rows. The element before them, [-1], is the number of rows. */
static const int64_t *numbers(const mst_row_merge *m, int32_t leaf) {
    return (const int64_t *)m->src[2 * leaf + 1].data + 1;
}

/* Sets the place of each source to its first row whose index is at least FIRST. */
static void find_row(const mst_row_merge *m, int64_t first, int64_t *place) {
    for (int32_t i = 0; i < m->num_leaves; i++) {
        const int64_t *number = numbers(m, i);
        int64_t low = 0, high = number[-1];
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            *(number[middle] < first ? &low : &high) = number[middle] < first ? middle + 1 : middle;
        }
        place[i] = low;
    }
}

int64_t mst_row_merge_list(const mst_row_merge *m, int64_t first_row, int64_t end_row, void *workspace, int64_t *out) {
    int64_t *place = places(m, workspace), count = 0;
    find_row(m, first_row, place);
    for (;; count++) {
        int64_t next = end_row;
        for (int32_t i = 0; i < m->num_leaves; i++) {
            const int64_t *number = numbers(m, i);
            if (place[i] < number[-1] && number[place[i]] < next) next = number[place[i]];
        }
        if (next == end_row) return count;
        out[count] = next;
        for (int32_t i = 0; i < m->num_leaves; i++) {
            const int64_t *number = numbers(m, i);
            place[i] += place[i] < number[-1] && number[place[i]] == next;
        }
    }
}

#define MST_TEMPLATE "kernel/row_merge.inc"
#include "base/floats.inc"

void mst_row_merge_sum(const mst_row_merge *m, const int64_t *number, int64_t begin, int64_t end, void *workspace,
                       void *out) {
    int64_t *place = places(m, workspace);
    if (begin == end) return;
    find_row(m, number[begin], place);
    (m->dtype == MST_F64 ? sum_all_f64 : sum_all_f32)(m, number, begin, end, place, workspace, out);
}
