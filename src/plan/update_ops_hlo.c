/* Sums of rows and of leaves in StableHLO. Kernels on CPUs go from row to row. A program sorts all rows by their
 * numbers, which are their indices in the variable, and adds up rows of the same number (op/index/index_hlo.h). */
#include <stdlib.h>

#include "op/index/index_hlo.h"
#include "op/state/sparse_gradient.h"
#include "plan/update_ops.h"
#include "rule/gradient_clip.h"

/* Rows and their numbers, [n, width] and [n]. */
typedef struct row_list {
    int64_t count;
    mst_hlo rows, numbers;
} row_list;

/* Elements of a row of output 0. */
static int64_t row_width(const mst_lower *l) {
    const mst_shape *shape = &l->dst_spec[0].shape;
    int64_t width = 1;
    for (int i = 1; i < shape->ndim; i++) width *= shape->dim[i];
    return width;
}

/* Fills the outputs with LIST. Rows are in use if their number is below NONE. */
static void put_list(mst_lower *l, const row_list *list, int64_t none) {
    const mst_hlo numbers = mst_hlo_convert(l, list->numbers, MST_I64);
    const mst_hlo is_used = mst_hlo_compare(l, "LT", numbers, mst_hlo_integer(l, MST_I64, none));
    const mst_hlo used = mst_hlo_reduce_whole(l, "add", mst_hlo_convert(l, is_used, MST_I64), 0);
    const mst_hlo both[] = {mst_hlo_reshape(l, used, MST_SHAPE(1)), numbers};
    l->dst[0] = mst_hlo_reshape(l, list->rows, l->dst_spec[0].shape);
    l->dst[1] = mst_hlo_concat(l, 2, both, 0);
}

/* Fills the outputs with an empty list. */
static void put_none(mst_lower *l) {
    l->dst[0] = mst_hlo_fill(l, l->dst_spec[0].dtype, l->dst_spec[0].shape, 0);
    l->dst[1] = mst_hlo_fill(l, MST_I64, l->dst_spec[1].shape, 0);
}

/* ---- sum_rows ---- */

/* Pair I of the sources: its indices, with a check that they are valid, and its rows. */
static row_list take_pair(mst_lower *l, int i) {
    const mst_sum_rows_options *o = l->options;
    const int64_t count = mst_shape_count(l->src_spec[i + 1].shape), width = row_width(l);
    const int64_t columns = o->squares ? width / 2 : width;
    mst_hlo_fault(l, mst_hlo_outside(l, l->src[i + 1], o->num_rows), MST_INVALID, "an index is not in [0, %lld)",
                  (long long)o->num_rows);
    const mst_hlo numbers = mst_hlo_convert(l, l->src[i + 1], mst_index_dtype(o->num_rows + 1));
    mst_hlo rows = mst_hlo_reshape(l, l->src[i], MST_SHAPE(count, columns));
    if (o->clip > 0) rows = mst_clip_value_lower(l, rows, o->clip);
    if (o->squares) {
        const mst_hlo both[] = {rows, mst_hlo_binary(l, "multiply", rows, rows)};
        rows = mst_hlo_concat(l, 2, both, 1);
    }
    return (row_list){.count = count, .rows = rows, .numbers = mst_hlo_reshape(l, numbers, MST_SHAPE(count))};
}

/* The rows of all pairs; MEMORY has room for two values of each. */
static row_list take_pairs(mst_lower *l, mst_hlo *memory) {
    const int pairs = l->num_src / 2;
    mst_hlo *rows = memory, *numbers = memory + pairs;
    row_list all = {.count = 0};
    for (int i = 0; i < pairs; i++) {
        const row_list one = take_pair(l, 2 * i);
        rows[i] = one.rows;
        numbers[i] = one.numbers;
        all.count += one.count;
    }
    all.rows = mst_hlo_concat(l, pairs, rows, 0);
    all.numbers = mst_hlo_concat(l, pairs, numbers, 0);
    return all;
}

void mst_sum_rows_lower(mst_lower *l) {
    const mst_sum_rows_options *o = l->options;
    const int64_t bound = l->dst_spec[0].shape.dim[0];
    mst_hlo *memory = calloc((size_t)l->num_src + 1, sizeof *memory);
    if (!memory) {
        mst_hlo_fail(l, "cannot get memory");
        return;
    }
    row_list all = take_pairs(l, memory);
    free(memory);
    if (bound == 0) {
        put_none(l);
        return;
    }
    mst_hlo_sum_same(l, &all.numbers, &all.rows, o->num_rows, all.count, bound);
    all.count = bound;
    put_list(l, &all, o->num_rows);
}

/* ---- merge_rows ---- */

/* The rows of leaf I. Rows that are not in use, or not in the range from first_row to end_row - 1, get the number
 * end_row. */
static row_list take_leaf(mst_lower *l, int32_t i) {
    const mst_merge_rows_options *o = l->options;
    const mst_hlo numbers = l->src[2 * i + 1], none = mst_hlo_integer(l, MST_I64, o->end_row);
    row_list leaf = {.count = l->src_spec[2 * i + 1].shape.dim[0] - 1};
    const mst_hlo order = mst_hlo_iota(l, MST_I64, MST_SHAPE(leaf.count), 0);
    mst_hlo number = mst_hlo_slice_axis(l, numbers, 0, 1, 1 + leaf.count);
    mst_hlo is_there = mst_hlo_compare(l, "LT", order, mst_hlo_slice_axis(l, numbers, 0, 0, 1));
    if (o->first_row > 0) {
        const mst_hlo first = mst_hlo_integer(l, MST_I64, o->first_row);
        is_there = mst_hlo_binary(l, "and", is_there, mst_hlo_compare(l, "GE", number, first));
    }
    number = mst_hlo_select(l, is_there, mst_hlo_binary(l, "minimum", number, none), none);
    leaf.numbers = mst_hlo_convert(l, number, mst_index_dtype(o->end_row + 1));
    leaf.rows = mst_hlo_reshape(l, l->src[2 * i], MST_SHAPE(leaf.count, row_width(l)));
    return leaf;
}

/* The most rows of the range that COUNT rows can have. */
static int64_t limited(const mst_lower *l, int64_t count) {
    const mst_merge_rows_options *o = l->options;
    return count < o->end_row - o->first_row ? count : o->end_row - o->first_row;
}

/* The sum of two lists. No number occurs twice in the same list. */
static row_list add_lists(mst_lower *l, const row_list *left, const row_list *right) {
    const mst_merge_rows_options *o = l->options;
    const int64_t all = left->count + right->count;
    row_list sum = {.count = limited(l, all)};
    sum.rows = mst_hlo_concat(l, 2, (const mst_hlo[]){left->rows, right->rows}, 0);
    sum.numbers = mst_hlo_concat(l, 2, (const mst_hlo[]){left->numbers, right->numbers}, 0);
    mst_hlo_sum_same(l, &sum.numbers, &sum.rows, o->end_row, 2, sum.count);
    return sum;
}

void mst_merge_rows_lower(mst_lower *l) {
    const mst_merge_rows_options *o = l->options;
    row_list sum[MST_SHARD_LEVELS] = {{.count = 0}};
    int32_t height = 0;
    if (l->dst_spec[0].shape.dim[0] == 0) {
        put_none(l);
        return;
    }
    for (int32_t i = 0; i < l->num_src / 2; i++) {
        sum[height++] = take_leaf(l, i);
        for (mst_shards s = o->leaf[i]; height > 1 && mst_shards_is_right(s, o->num_shards);
             s = mst_shards_parent(s, o->num_shards)) {
            height--;
            sum[height - 1] = add_lists(l, &sum[height - 1], &sum[height]);
        }
    }
    if (l->num_src == 2) { /* one leaf: rows that are not in use are moved to the end, and become zeros */
        const int64_t count = limited(l, sum[0].count);
        mst_hlo_sum_same(l, &sum[0].numbers, &sum[0].rows, o->end_row, 1, count);
        sum[0].count = count;
    }
    put_list(l, &sum[0], o->end_row);
}

/* ---- check_rows ---- */

void mst_check_rows_lower(mst_lower *l) {
    const mst_check_rows_options *o = l->options;
    const int64_t bound = l->dst_spec[0].shape.dim[0], n = l->src_spec[1].shape.dim[0] - 1, width = row_width(l);
    mst_hlo numbers = mst_row_numbers_lower(l, l->src[1], bound, o->num_rows);
    if (bound == 0) {
        put_none(l);
        return;
    }
    const mst_hlo none = mst_hlo_integer(l, MST_I64, o->num_rows);
    numbers = mst_hlo_binary(l, "minimum", mst_hlo_slice_axis(l, numbers, 0, 0, bound), none);
    const mst_hlo rows = mst_hlo_slice_axis(l, mst_hlo_reshape(l, l->src[0], MST_SHAPE(n, width)), 0, 0, bound);
    const mst_hlo column = mst_hlo_reshape(l, numbers, MST_SHAPE(bound, 1));
    const mst_hlo is_used = mst_hlo_compare(l, "LT", column, none);
    const mst_hlo zero = mst_hlo_number(l, l->dst_spec[0].dtype, 0);
    const row_list list = {.count = bound, .rows = mst_hlo_select(l, is_used, rows, zero), .numbers = numbers};
    put_list(l, &list, o->num_rows);
}

/* ---- sum_leaves ---- */

void mst_sum_leaves_lower(mst_lower *l) {
    const mst_sum_leaves_options *o = l->options;
    mst_hlo sum[MST_SHARD_LEVELS];
    int32_t height = 0;
    for (int32_t i = 0; i < l->num_src; i++) {
        sum[height++] = l->src[i];
        for (mst_shards s = o->leaf[i]; height > 1 && mst_shards_is_right(s, o->num_shards);
             s = mst_shards_parent(s, o->num_shards)) {
            height--;
            sum[height - 1] = mst_hlo_binary(l, "add", sum[height - 1], sum[height]);
        }
    }
    l->dst[0] = sum[0];
}
