/* Rows of many lengths for argmax, argmin, top_k, sort and select, whose loops cut rows into pieces. The results are
 * those of a plain search. */
#include <math.h>

#include "support/test.h"

enum { ROWS = 6, LONGEST = 100 };

/* Ties, an infinity, and from row 3 on one NaN, two, nothing else. */
static void fill(double *row, int64_t r, int64_t n) {
    for (int64_t i = 0; i < n; i++) row[i] = (double)((i * 37 + r * 11) % (r == 0 ? 3 : 53));
    if (r == 2) row[n / 2] = -INFINITY;
    if (r == 3) row[n - 1] = NAN;
    if (r >= 4) row[n / 3] = row[n / 2] = NAN;
    for (int64_t i = 0; r == 5 && i < n; i++) row[i] = NAN;
}

/* SIGN 1: the largest, -1: the least. NaN is never either, and of equals the first counts. */
static int64_t best_of(const double *row, int64_t n, double sign) {
    int64_t best = 0;
    double most = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        if (sign * row[i] > most) {
            best = i;
            most = sign * row[i];
        }
    return best;
}

static void argmax_and_argmin_give_the_first_of_equals(void **state) {
    (void)state;
    for (int64_t n = 1; n <= LONGEST; n++) {
        double value[ROWS * LONGEST];
        for (int64_t r = 0; r < ROWS; r++) fill(value + r * n, r, n);
        mst_graph *graph = engine_graph();
        mst_value x = mst_values(graph, MST_F32, MST_SHAPE(ROWS, n), value), most = mst_argmax(x, .axis = 1);
        mst_value least = mst_argmin(x, .axis = 1);
        mst_session *session = engine_session(graph, NULL);
        mst_tensor *got[2] = {NULL};
        EXPECT_OK(mst_session_run(session, NULL, 0, (const mst_value[]){most, least}, 2, got));
        for (int64_t r = 0; r < ROWS; r++) {
            assert_int_equal((int64_t)mst_tensor_get(got[0], r), best_of(value + r * n, n, 1));
            assert_int_equal((int64_t)mst_tensor_get(got[1], r), best_of(value + r * n, n, -1));
        }
        mst_tensor_release(got[0]);
        mst_tensor_release(got[1]);
        engine_end(graph, session);
    }
}

/* Of the elements of ROW that are not TAKEN the first of the largest (SIGN 1) or the least (-1), NaN last; takes it. */
static int64_t take_best(const double *row, int64_t n, double sign, bool *taken) {
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++)
        if (!taken[i] && (best < 0 || sign * row[i] > sign * row[best] || (isnan(row[best]) && !isnan(row[i]))))
            best = i;
    taken[best] = true;
    return best;
}

/* As many as there are: each index once, in order, NaN last. */
static void top_k_orders_a_row(void **state) {
    (void)state;
    for (int64_t n = 1; n <= LONGEST; n += 9) {
        double value[ROWS * LONGEST];
        for (int64_t r = 0; r < ROWS; r++) fill(value + r * n, r, n);
        const int64_t k = n / 2 + 1;
        mst_graph *graph = engine_graph();
        mst_value x = mst_values(graph, MST_F32, MST_SHAPE(ROWS, n), value), top = mst_top_k(x, .k = (int)k);
        mst_session *session = engine_session(graph, NULL);
        mst_tensor *index = engine_fetch(session, NULL, 0, mst_value_output(top, 1));
        for (int64_t r = 0; r < ROWS; r++) {
            bool taken[LONGEST] = {false};
            for (int64_t j = 0; j < k; j++)
                assert_int_equal((int64_t)mst_tensor_get(index, r * k + j), take_best(value + r * n, n, 1, taken));
        }
        mst_tensor_release(index);
        engine_end(graph, session);
    }
}

/* Of the columns of [LENGTH, ROWS], and of rows of the same. */
static void sort_along(mst_dtype dtype, int64_t n, bool down, bool descending) {
    double value[ROWS * LONGEST], turned[ROWS * LONGEST];
    for (int64_t r = 0; r < ROWS; r++) fill(value + r * n, r, n);
    for (int64_t i = 0; i < ROWS * n; i++) turned[i % n * ROWS + i / n] = value[i];
    mst_graph *graph = engine_graph();
    const mst_value x = down ? mst_values(graph, dtype, MST_SHAPE(n, ROWS), turned)
                             : mst_values(graph, dtype, MST_SHAPE(ROWS, n), value);
    const mst_axes axis = down ? MST_AXES(0) : (mst_axes){.count = 0};
    const mst_value fetch[] = {mst_sort(x, .axis = axis, .descending = descending),
                               mst_argsort(x, .axis = axis, .descending = descending)};
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *got[2] = {NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, fetch, 2, got));
    assert_int_equal(mst_tensor_dtype(got[1]), MST_I32);
    for (int64_t r = 0; r < ROWS; r++) {
        bool taken[LONGEST] = {false};
        for (int64_t j = 0; j < n; j++) {
            const int64_t at = down ? j * ROWS + r : r * n + j;
            const int64_t best = take_best(value + r * n, n, descending ? 1 : -1, taken);
            const double wanted = value[r * n + best], sorted = mst_tensor_get(got[0], at);
            assert_int_equal((int64_t)mst_tensor_get(got[1], at), best);
            assert_true(isnan(wanted) ? isnan(sorted) : sorted == wanted);
        }
    }
    mst_tensor_release(got[0]);
    mst_tensor_release(got[1]);
    engine_end(graph, session);
}

static void sort_orders_rows_and_columns(void **state) {
    (void)state;
    for (int64_t n = 1; n <= LONGEST; n += 33)
        for (int way = 0; way < 8; way++) sort_along(way & 1 ? MST_F64 : MST_F32, n, (way & 2) != 0, (way & 4) != 0);
}

static void sort_refuses_axes_that_are_not_there(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    mst_sort(mst_scalar(graph, MST_F32, 1));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "is a scalar");
    mst_graph_destroy(graph);
    graph = engine_graph();
    mst_argsort(mst_values(graph, MST_F32, MST_SHAPE(2), (const double[]){2, 1}), .axis = MST_AXES(1));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "argsort: give one axis, of the 1 of");
    mst_graph_destroy(graph);
}

/* Bit K of SHAPES: source K is a column, which stays at one element along a row. */
static void select_takes_from_rows_and_columns(void **state) {
    (void)state;
    for (int64_t n = 2; n < LONGEST; n += 7)
        for (unsigned shapes = 0; shapes < 7; shapes++) {
            double truth[ROWS * LONGEST], a[ROWS * LONGEST], b[ROWS * LONGEST];
            for (int i = 0; i < ROWS * LONGEST; i++) {
                truth[i] = i * 7 % 5 < 2;
                a[i] = i;
                b[i] = -1 - i;
            }
            mst_graph *graph = engine_graph();
            mst_value src[3];
            const double *value[3] = {truth, a, b};
            for (int k = 0; k < 3; k++)
                src[k] = mst_values(graph, k ? MST_F32 : MST_BOOL, MST_SHAPE(ROWS, shapes >> k & 1u ? 1 : n), value[k]);
            mst_session *session = engine_session(graph, NULL);
            mst_tensor *got = engine_fetch(session, NULL, 0, mst_select(src[0], src[1], src[2]));
            for (int64_t i = 0; i < ROWS * n; i++) {
                const double *from = truth[shapes & 1u ? i / n : i] != 0 ? a : b;
                const int64_t at = shapes >> (from == a ? 1 : 2) & 1u ? i / n : i;
                assert_true(mst_tensor_get(got, i) == from[at]);
            }
            mst_tensor_release(got);
            engine_end(graph, session);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(argmax_and_argmin_give_the_first_of_equals),
        cmocka_unit_test(top_k_orders_a_row),
        cmocka_unit_test(sort_orders_rows_and_columns),
        cmocka_unit_test(sort_refuses_axes_that_are_not_there),
        cmocka_unit_test(select_takes_from_rows_and_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
