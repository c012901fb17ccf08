/* Reductions and searches of many elements, which go in segments, against plain loops. */
#include <math.h>

#include "support/test.h"

typedef struct large_case {
    mst_shape shape;
    mst_axes axes; /* none: all */
} large_case;

static const large_case cases[] = {
    {{.ndim = 1, .dim = {50001}}, {.count = 0}},
    {{.ndim = 2, .dim = {3, 20003}}, {.count = 1, .axis = {1}}},
    {{.ndim = 2, .dim = {20003, 3}}, {.count = 1, .axis = {0}}},
    {{.ndim = 2, .dim = {20003, 3}}, {.count = 0}},
    {{.ndim = 2, .dim = {1031, 70}}, {.count = 1, .axis = {0}}},
    {{.ndim = 2, .dim = {300, 1100}}, {.count = 1, .axis = {0}}},
    {{.ndim = 2, .dim = {1100, 300}}, {.count = 1, .axis = {1}}},
    {{.ndim = 4, .dim = {2, 1301, 3, 7}}, {.count = 2, .axis = {1, 3}}},
    {{.ndim = 4, .dim = {2, 1301, 3, 7}}, {.count = 2, .axis = {0, 2}}},
    {{.ndim = 4, .dim = {41, 2, 53, 5}}, {.count = 2, .axis = {0, 2}}},
};

enum { NUM_CASES = sizeof cases / sizeof *cases };

/* The number of the output that element E goes to. */
static int64_t output_of(const large_case *c, int64_t e) {
    int64_t output = 0, step = 1;
    for (int k = c->shape.ndim - 1; k >= 0; k--) {
        bool reduced = c->axes.count == 0;
        for (int i = 0; i < c->axes.count; i++) reduced |= c->axes.axis[i] == k;
        if (!reduced) {
            output += e % c->shape.dim[k] * step;
            step *= c->shape.dim[k];
        }
        e /= c->shape.dim[k];
    }
    return output;
}

typedef struct totals {
    long double sum, product, most, least, count;
    bool all, any, has_nan;
} totals;

/* Of each output; owned by the caller. */
static totals *plain_totals(const large_case *c, const mst_tensor *x) {
    totals *t = calloc((size_t)mst_tensor_count(x), sizeof *t);
    assert_non_null(t);
    for (int64_t e = 0; e < mst_tensor_count(x); e++) {
        totals *o = &t[output_of(c, e)];
        const double value = mst_tensor_get(x, e);
        if (o->count == 0) *o = (totals){.product = 1, .most = -INFINITY, .least = INFINITY, .all = true};
        o->count++;
        o->sum += (long double)value;
        o->product *= (long double)value;
        o->most = (long double)value > o->most ? (long double)value : o->most;
        o->least = (long double)value < o->least ? (long double)value : o->least;
        o->all = o->all && value != 0;
        o->any = o->any || value != 0;
        o->has_nan = o->has_nan || isnan(value);
    }
    return t;
}

enum { SUM, MEAN, PRODUCT, MOST, LEAST, NUM_REDUCTIONS };

static void reduce_all_ways(const large_case *c, mst_tensor *x, mst_tensor **got) {
    mst_graph *g = engine_graph();
    mst_value v = mst_constant(g, x);
    const mst_value fetch[NUM_REDUCTIONS] = {
        mst_reduce_sum(.src = v, .axes = c->axes), mst_reduce_mean(.src = v, .axes = c->axes),
        mst_reduce_prod(.src = v, .axes = c->axes), mst_reduce_max(.src = v, .axes = c->axes),
        mst_reduce_min(.src = v, .axes = c->axes)};
    mst_session *session = engine_session(g, NULL);
    EXPECT_OK(mst_session_run(session, NULL, 0, fetch, NUM_REDUCTIONS, got));
    engine_end(g, session);
}

static void expect_near(double got, long double want, double tolerance) {
    const double distance = fabs(got - (double)want), scale = fmax(1, fabs((double)want));
    if (!(distance <= tolerance * scale)) fail_msg("%.17g, must be %.17g", got, (double)want);
}

static void float_reductions_of_many_elements(void **state) {
    (void)state;
    for (int i = 0; i < NUM_CASES; i++)
        for (mst_dtype dtype = MST_F32; dtype <= MST_F64; dtype++) {
            const double tolerance = dtype == MST_F32 ? 1e-7 : 1e-12;
            mst_tensor *x = engine_random(dtype, cases[i].shape, -1.01, 1.01, (unsigned)i),
                       *got[NUM_REDUCTIONS] = {NULL};
            totals *t = plain_totals(&cases[i], x);
            reduce_all_ways(&cases[i], x, got);
            for (int64_t o = 0; o < mst_tensor_count(got[SUM]); o++) {
                expect_near(mst_tensor_get(got[SUM], o), t[o].sum, tolerance);
                expect_near(mst_tensor_get(got[MEAN], o), t[o].sum / t[o].count, tolerance);
                expect_near(mst_tensor_get(got[PRODUCT], o), t[o].product, tolerance);
                expect_near(mst_tensor_get(got[MOST], o), t[o].most, 0);
                expect_near(mst_tensor_get(got[LEAST], o), t[o].least, 0);
            }
            free(t);
            for (int k = 0; k < NUM_REDUCTIONS; k++) mst_tensor_release(got[k]);
            mst_tensor_release(x);
        }
}

static void integer_reductions_of_many_elements_are_exact(void **state) {
    (void)state;
    static const mst_dtype dtypes[] = {MST_I32, MST_I64, MST_U8};
    for (int i = 0; i < NUM_CASES; i++)
        for (int d = 0; d < 3; d++) {
            const double low = dtypes[d] == MST_U8 ? 0 : -100;
            mst_tensor *x = engine_random(dtypes[d], cases[i].shape, low, 200, (unsigned)i),
                       *got[NUM_REDUCTIONS] = {NULL};
            totals *t = plain_totals(&cases[i], x);
            reduce_all_ways(&cases[i], x, got);
            for (int64_t o = 0; o < mst_tensor_count(got[SUM]); o++) {
                const int64_t sum = (int64_t)t[o].sum;
                expect_near(mst_tensor_get(got[SUM], o), dtypes[d] == MST_U8 ? (uint8_t)sum : sum, 0);
                const int64_t mean = sum / (int64_t)t[o].count;
                expect_near(mst_tensor_get(got[MEAN], o), (double)mean, 0);
                expect_near(mst_tensor_get(got[MOST], o), t[o].most, 0);
                expect_near(mst_tensor_get(got[LEAST], o), t[o].least, 0);
            }
            free(t);
            for (int k = 0; k < NUM_REDUCTIONS; k++) mst_tensor_release(got[k]);
            mst_tensor_release(x);
        }
}

static void one_nan_shows_in_its_output_alone(void **state) {
    (void)state;
    for (int i = 0; i < NUM_CASES; i++) {
        mst_tensor *x = engine_random(MST_F32, cases[i].shape, -2, 2, (unsigned)i), *got[NUM_REDUCTIONS] = {NULL};
        mst_tensor_set(x, mst_tensor_count(x) * 2 / 3, NAN);
        totals *t = plain_totals(&cases[i], x);
        reduce_all_ways(&cases[i], x, got);
        for (int k = 0; k < NUM_REDUCTIONS; k++) {
            for (int64_t o = 0; o < mst_tensor_count(got[k]); o++)
                assert_int_equal(isnan(mst_tensor_get(got[k], o)) != 0, t[o].has_nan);
            mst_tensor_release(got[k]);
        }
        free(t);
        mst_tensor_release(x);
    }
}

static void all_and_any_of_many_elements(void **state) {
    (void)state;
    for (int i = 0; i < NUM_CASES; i++)
        for (int rare = 0; rare < 2; rare++) { /* the value that is found in few places */
            mst_tensor *x = engine_tensor(MST_BOOL, cases[i].shape, NULL), *got[2] = {NULL};
            for (int64_t e = 0; e < mst_tensor_count(x); e++) mst_tensor_set(x, e, e % 4999 == 4000 ? rare : !rare);
            totals *t = plain_totals(&cases[i], x);
            mst_graph *g = engine_graph();
            mst_value v = mst_constant(g, x), all = mst_reduce_all(.src = v, .axes = cases[i].axes);
            mst_value any = mst_reduce_any(.src = v, .axes = cases[i].axes);
            mst_session *session = engine_session(g, NULL);
            EXPECT_OK(mst_session_run(session, NULL, 0, (mst_value[]){all, any}, 2, got));
            for (int64_t o = 0; o < mst_tensor_count(got[0]); o++) {
                assert_true(mst_tensor_get(got[0], o) == t[o].all);
                assert_true(mst_tensor_get(got[1], o) == t[o].any);
            }
            engine_end(g, session);
            mst_tensor_release(got[0]);
            mst_tensor_release(got[1]);
            mst_tensor_release(x);
            free(t);
        }
}

static void squares_of_many_elements(void **state) {
    (void)state;
    mst_tensor *x = engine_random(MST_F32, MST_SHAPE(50001), -2, 2, 1),
               *y = engine_random(MST_F32, MST_SHAPE(90, 91), 0, 3, 2);
    long double of_x = 0, of_y = 0;
    for (int64_t e = 0; e < mst_tensor_count(x); e++)
        of_x += (long double)(mst_tensor_get(x, e) * mst_tensor_get(x, e));
    for (int64_t e = 0; e < mst_tensor_count(y); e++)
        of_y += (long double)(mst_tensor_get(y, e) * mst_tensor_get(y, e));
    mst_graph *g = engine_graph();
    mst_value values[] = {mst_constant(g, y), mst_constant(g, x), mst_fill(g, MST_F32, MST_SHAPE(0), 1),
                          mst_constant(g, y)};
    mst_value loss = mst_l2_loss(values[1]), norm = mst_global_norm(values, 4);
    mst_session *session = engine_session(g, NULL);
    expect_near(engine_number(session, loss), of_x / 2, 1e-7);
    expect_near(engine_number(session, norm), sqrtl(of_x + 2 * of_y), 1e-7);
    engine_end(g, session);
    mst_tensor_release(x);
    mst_tensor_release(y);
}

/* ---- searches ---- */

/* Ties, infinities and NaN: column C of OUTER has few different values, and from number 1 on NaN at its ends. */
static double search_value(int64_t column, int64_t i, int64_t size) {
    if (column % 3 >= 1 && (i == 0 || i == size - 1)) return NAN;
    if (column % 3 == 2) return i % 2 ? NAN : -INFINITY;
    return (double)((i * 7919 + column * 31) % 1009);
}

static int64_t plain_search(int64_t column, int64_t size, double sign) {
    int64_t best = 0;
    double most = -INFINITY;
    for (int64_t i = 0; i < size; i++) {
        const double x = sign * search_value(column, i, size);
        if (!(x > most)) continue;
        best = i;
        most = x;
    }
    return best;
}

static void argmax_and_argmin_of_many_elements_give_the_first(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{1, 70001, 1}, {3, 40001, 1}, {1, 40001, 3},
                                       {2, 20001, 3}, {2, 1001, 70}, {3, 500, 200}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t outer = sizes[k][0], size = sizes[k][1], inner = sizes[k][2];
        mst_tensor *x = engine_tensor(MST_F32, MST_SHAPE(outer, size, inner), NULL), *got[2] = {NULL};
        for (int64_t e = 0; e < mst_tensor_count(x); e++)
            mst_tensor_set(x, e, search_value(e / (size * inner) * inner + e % inner, e / inner % size, size));
        mst_graph *g = engine_graph();
        mst_value v = mst_constant(g, x), most = mst_argmax(v, .axis = 1),
                  least = mst_argmin(v, .axis = 1, .dtype = MST_I32);
        mst_session *session = engine_session(g, NULL);
        EXPECT_OK(mst_session_run(session, NULL, 0, (mst_value[]){most, least}, 2, got));
        for (int64_t o = 0; o < outer * inner; o++) {
            assert_int_equal((int64_t)mst_tensor_get(got[0], o), plain_search(o, size, 1));
            assert_int_equal((int64_t)mst_tensor_get(got[1], o), plain_search(o, size, -1));
        }
        engine_end(g, session);
        mst_tensor_release(got[0]);
        mst_tensor_release(got[1]);
        mst_tensor_release(x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_reductions_of_many_elements),
        cmocka_unit_test(integer_reductions_of_many_elements_are_exact),
        cmocka_unit_test(one_nan_shows_in_its_output_alone),
        cmocka_unit_test(all_and_any_of_many_elements),
        cmocka_unit_test(squares_of_many_elements),
        cmocka_unit_test(argmax_and_argmin_of_many_elements_give_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
