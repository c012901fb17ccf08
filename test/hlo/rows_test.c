/* Sums of rows and of leaves, ops that only plans have, in StableHLO against their kernels. The sources are random:
 * empty ones, equal rows, and wrong row numbers are among them. */
#include <math.h>
#include <stdio.h>

#include "plan/ops.h"
#include "plan/plan.h"
#include "plan/update_ops.h"
#include "support/hlo_folder.h"
#include "support/plan_op.h"
#include "support/test.h"

enum { CASES = 80, MOST_LEAVES = 7, MOST_ROWS = 12 };

static unsigned seed;

/* A number from 0 to N - 1. */
static unsigned pick(unsigned n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
}

static mst_dtype pick_float(void) {
    return pick(2) ? MST_F32 : MST_F64;
}

/* ROWS rows, whose shape is one of some. */
static mst_shape pick_shape(int64_t rows) {
    switch (pick(6)) {
        case 0: return MST_SHAPE(rows);
        case 1: return MST_SHAPE(rows, 1);
        case 2: return MST_SHAPE(rows, 2, 2);
        case 3: return MST_SHAPE(rows, 0);
        default: return MST_SHAPE(rows, 3);
    }
}

static mst_tensor *random_tensor(mst_dtype dtype, mst_shape shape) {
    return engine_random(dtype, shape, -1, 1, pick(1u << 16));
}

/* ---- a node and its program ---- */

/* Rows that are not used hold anything in the kernel's output. In that of a program they are 0, and their number is
 * NONE. */
static void clear_unused(mst_tensor **dst, int64_t none) {
    const int64_t n = mst_tensor_count(dst[1]) - 1, used = (int64_t)mst_tensor_get(dst[1], 0);
    const int64_t width = n ? mst_tensor_count(dst[0]) / n : 0;
    for (int64_t i = used; i < n; i++) {
        mst_tensor_set(dst[1], 1 + i, (double)none);
        for (int64_t k = 0; k < width; k++) mst_tensor_set(dst[0], i * width + k, 0);
    }
}

/* NONE: the number of rows that are not used, if the outputs are rows. Releases P. */
static void check(plan_op *p, unsigned number, int64_t none) {
    char label[64];
    mst_tensor *dst[PLAN_OP_MOST_DST] = {NULL};
    plan_op_lower l;
    snprintf(label, sizeof label, "%s %u", p->op->name, number);
    hlo_case h = {.label = label, .culprit = p->op->name};
    if (p->op == &mst_op_sum_rows)
        h.tolerance = p->dst[0].dtype == MST_F64 ? 1e-10 : 1e-5; /* others add in its order */
    h.fails = plan_op_run(p, dst);
    plan_op_begin(p, &h, &l);
    EXPECT_OK(mst_hlo_program_op(h.program, &l.lower));
    if (!h.fails && p->num_dst == 2) clear_unused(dst, none);
    for (int i = 0; i < p->num_dst; i++) {
        if (h.fails) EXPECT_OK(mst_tensor_create(p->dst[i].dtype, p->dst[i].shape, &dst[i])); /* of no use */
        hlo_case_result(&h, l.dst[i], dst[i]);
    }
    hlo_case_finish(&h);
    hlo_folder_keep(&h);
    assert_true(hlo_case_agrees(&h));
    hlo_case_end(&h);
    op_case_release(dst, p->num_dst);
    plan_op_end(p);
}

/* The outputs: rows like those of SHAPE, or as long as WIDTH, if it is not 0; and their numbers. */
static void give_rows(plan_op *p, mst_dtype dtype, mst_shape shape, int64_t width, int64_t most) {
    shape.dim[0] = most;
    p->num_dst = 2;
    p->dst[0] = (mst_spec){.dtype = dtype, .shape = width ? MST_SHAPE(most, width) : shape};
    p->dst[1] = (mst_spec){.dtype = MST_I64, .shape = MST_SHAPE(1 + most)};
}

/* ---- sum_rows ---- */

typedef enum index_kind { ANY, SAME, EACH, WRONG, NUM_INDEX_KINDS } index_kind;

static double pick_index(index_kind kind, int64_t i, int64_t num_rows) {
    switch (kind) {
        case SAME: return (double)(num_rows - 1);
        case EACH: return (double)(i % num_rows);
        case WRONG:
            if (i == 1) return pick(2) ? -1 : (double)num_rows;
            return 0;
        default: return pick((unsigned)num_rows);
    }
}

/* Adds the values and indices of one gather, whose rows are like those of ROW; returns how many there are. */
static int64_t add_gather(plan_op *p, mst_dtype dtype, mst_shape row, index_kind kind, int64_t num_rows) {
    const mst_shape shapes[] = {MST_SCALAR, MST_SHAPE(0), MST_SHAPE(1 + pick(MOST_ROWS)), MST_SHAPE(2, 3)};
    const mst_shape indices = shapes[pick(sizeof shapes / sizeof *shapes)];
    mst_tensor *index = engine_tensor(pick(2) ? MST_I32 : MST_I64, indices, NULL);
    mst_shape values = indices;
    for (int k = 1; k < row.ndim; k++) values.dim[values.ndim++] = row.dim[k];
    for (int64_t i = 0; i < mst_tensor_count(index); i++) mst_tensor_set(index, i, pick_index(kind, i, num_rows));
    plan_op_source(p, random_tensor(dtype, values));
    plan_op_source(p, index);
    return mst_tensor_count(index);
}

static void check_sum_rows(unsigned number) {
    const mst_dtype dtype = pick_float();
    const int64_t num_rows = 1 + pick(MOST_ROWS), pairs = 1 + pick(3);
    const mst_shape row = pick_shape(num_rows);
    const mst_sum_rows_options options = {.num_rows = num_rows, .squares = pick(2), .clip = pick(2) ? 0.3 : 0};
    const index_kind kind = (index_kind)pick(NUM_INDEX_KINDS);
    plan_op p = {.op = &mst_op_sum_rows, .options = &options};
    int64_t count = 0;
    for (int64_t i = 0; i < pairs; i++) count += add_gather(&p, dtype, row, kind, num_rows);
    give_rows(&p, dtype, row, options.squares ? 2 * mst_shape_count(row) / num_rows : 0,
              count < num_rows ? count : num_rows);
    check(&p, number, num_rows);
}

static void rows_are_added_up(void **state) {
    (void)state;
    seed = 1;
    for (unsigned i = 0; i < CASES; i++) check_sum_rows(i);
}

/* ---- merge_rows ---- */

/* Adds up to MOST rows of numbers below NUM_ROWS. Those that are not used are NaN, with numbers of no meaning. */
static void add_rows(plan_op *p, mst_dtype dtype, mst_shape row, int64_t num_rows, int64_t most) {
    mst_tensor *numbers = engine_tensor(MST_I64, MST_SHAPE(1 + most), NULL);
    const unsigned sparsity = 1 + pick(3);
    row.dim[0] = most;
    mst_tensor *rows = random_tensor(dtype, row);
    int64_t used = 0;
    for (int64_t i = 0; i < num_rows && used < most; i++)
        if (pick(sparsity) == 0) mst_tensor_set(numbers, ++used, (double)i);
    mst_tensor_set(numbers, 0, (double)used);
    for (int64_t i = used; i < most; i++) {
        mst_tensor_set(numbers, 1 + i, pick(2) ? -3.0 : (double)pick((unsigned)num_rows));
        for (int64_t k = 0; k < mst_tensor_count(rows) / most; k++)
            mst_tensor_set(rows, i * (mst_tensor_count(rows) / most) + k, NAN);
    }
    plan_op_source(p, rows);
    plan_op_source(p, numbers);
}

/* Cuts the tree over some shards into nodes; returns how many. */
static int32_t cut_tree(mst_shards *leaf, int32_t *num_shards) {
    int32_t count = 0;
    *num_shards = 1 + (int32_t)pick(MOST_LEAVES);
    for (int32_t first = 0; first < *num_shards; first += leaf[count++].count) {
        const int32_t end = first + 1 + (int32_t)pick((unsigned)(*num_shards - first));
        leaf[count] = mst_shards_within(first, end, *num_shards);
    }
    return count;
}

static void check_merge_rows(unsigned number) {
    const mst_dtype dtype = pick_float();
    const int64_t num_rows = 1 + pick(MOST_ROWS);
    const mst_shape row = pick_shape(num_rows);
    mst_shards leaf[MOST_LEAVES];
    mst_merge_rows_options options = {.leaf = leaf, .end_row = num_rows};
    const int32_t leaves = cut_tree(leaf, &options.num_shards);
    plan_op p = {.op = &mst_op_merge_rows, .options = &options};
    int64_t count = 0;
    for (int32_t i = 0; i < leaves; i++) {
        const int64_t most = pick((unsigned)num_rows + 1);
        add_rows(&p, dtype, row, num_rows, most);
        count += most;
    }
    if (pick(2)) {
        options.first_row = pick((unsigned)num_rows);
        options.end_row = options.first_row + 1 + pick((unsigned)(num_rows - options.first_row));
    }
    const int64_t range = options.end_row - options.first_row;
    give_rows(&p, dtype, row, 0, count < range ? count : range);
    check(&p, number, options.end_row);
}

static void sums_of_rows_are_merged(void **state) {
    (void)state;
    seed = 2;
    for (unsigned i = 0; i < CASES; i++) check_merge_rows(i);
}

/* ---- check_rows ---- */

static void spoil(mst_tensor *numbers, int64_t num_rows) {
    const int64_t n = mst_tensor_count(numbers) - 1, used = (int64_t)mst_tensor_get(numbers, 0);
    switch (pick(5)) {
        case 0: mst_tensor_set(numbers, 0, (double)n + 1); break;
        case 1: mst_tensor_set(numbers, 0, -1); break;
        case 2:
            if (used > 1) mst_tensor_set(numbers, used, mst_tensor_get(numbers, used - 1));
            break;
        case 3:
            if (used > 0) mst_tensor_set(numbers, used, (double)num_rows);
            break;
        default:
            if (used > 0) mst_tensor_set(numbers, 1, -1);
            break;
    }
}

static void check_check_rows(unsigned number) {
    const mst_dtype dtype = pick_float();
    const int64_t num_rows = 1 + pick(MOST_ROWS), most = pick(MOST_ROWS + 2);
    const mst_shape row = pick_shape(num_rows);
    const mst_check_rows_options options = {.num_rows = num_rows};
    plan_op p = {.op = &mst_op_check_rows, .options = &options};
    add_rows(&p, dtype, row, num_rows, most);
    if (pick(2)) spoil(p.src[1], num_rows);
    give_rows(&p, dtype, row, 0, most < num_rows ? most : num_rows);
    check(&p, number, num_rows);
}

static void numbers_of_rows_are_checked(void **state) {
    (void)state;
    seed = 3;
    for (unsigned i = 0; i < CASES; i++) check_check_rows(i);
}

/* ---- sum_leaves, piece ---- */

static void leaves_are_added_up(void **state) {
    (void)state;
    seed = 4;
    for (unsigned i = 0; i < CASES; i++) {
        mst_shards leaf[MOST_LEAVES];
        mst_sum_leaves_options options = {.leaf = leaf};
        const int32_t leaves = cut_tree(leaf, &options.num_shards);
        plan_op p = {.op = &mst_op_sum_leaves, .options = &options, .num_dst = 1};
        p.dst[0] = (mst_spec){.dtype = pick_float(), .shape = MST_SHAPE(pick(5))};
        for (int32_t k = 0; k < leaves; k++) plan_op_source(&p, random_tensor(p.dst[0].dtype, p.dst[0].shape));
        check(&p, i, 0);
    }
}

/* A piece is a view, for which there is no kernel. */
static void a_piece_is_a_run_of_elements(void **state) {
    (void)state;
    seed = 5;
    for (unsigned i = 0; i < CASES; i++) {
        const mst_shape shape = pick_shape(1 + pick(MOST_ROWS));
        const int64_t count = mst_shape_count(shape), offset = pick((unsigned)count + 1);
        const mst_piece_options options = {.offset = offset};
        plan_op p = {.op = &mst_op_piece, .options = &options, .num_dst = 1};
        p.dst[0] = (mst_spec){.dtype = pick_float(), .shape = MST_SHAPE(pick((unsigned)(count - offset) + 1))};
        plan_op_source(&p, random_tensor(p.dst[0].dtype, shape));
        plan_op_lower l;
        hlo_case h = {.label = "piece"};
        mst_tensor *wanted = engine_tensor(p.dst[0].dtype, p.dst[0].shape, NULL);
        for (int64_t k = 0; k < mst_tensor_count(wanted); k++)
            mst_tensor_set(wanted, k, mst_tensor_get(p.src[0], offset + k));
        plan_op_begin(&p, &h, &l);
        EXPECT_OK(mst_hlo_program_op(h.program, &l.lower));
        hlo_case_result(&h, l.dst[0], wanted);
        hlo_case_finish(&h);
        hlo_folder_keep(&h);
        assert_true(hlo_case_agrees(&h));
        hlo_case_end(&h);
        mst_tensor_release(wanted);
        plan_op_end(&p);
    }
}

static int close_folder(void **state) {
    (void)state;
    hlo_folder_end();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_added_up),
        cmocka_unit_test(sums_of_rows_are_merged),
        cmocka_unit_test(numbers_of_rows_are_checked),
        cmocka_unit_test(leaves_are_added_up),
        cmocka_unit_test(a_piece_is_a_run_of_elements),
    };
    return cmocka_run_group_tests(tests, NULL, close_folder);
}
