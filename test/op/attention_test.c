/* Attention against the same made of other ops, over random shapes; its gradients, second ones too; and its bits, which
 * neither the number of rows nor that of threads may change. test/op/registry_test.c has single examples and gradients
 * by differences. */
#include <math.h>
#include <stdlib.h>

#include "support/test.h"

/* Sizes of one attention. */
typedef struct attention_case {
    int64_t batch, heads, key_heads, queries, keys, depth, columns;
    bool causal, masked;
} attention_case;

static int64_t drawn(unsigned *seed, int64_t most) {
    *seed = *seed * 1103515245 + 12345;
    return 1 + (int64_t)((*seed >> 16) % (unsigned)most);
}

static attention_case case_of(unsigned seed) {
    attention_case c = {.batch = drawn(&seed, 3), .key_heads = drawn(&seed, 3)};
    c.heads = c.key_heads * drawn(&seed, 3);
    c.queries = drawn(&seed, 70);
    c.keys = drawn(&seed, 210);
    c.depth = drawn(&seed, 40);
    c.columns = drawn(&seed, 40);
    c.causal = drawn(&seed, 2) == 1;
    c.masked = drawn(&seed, 2) == 1;
    return c;
}

static mst_value constant(mst_graph *graph, mst_dtype dtype, mst_shape shape, unsigned seed) {
    mst_tensor *tensor = engine_random(dtype, shape, -1, 1, seed);
    const mst_value value = mst_constant(graph, tensor);
    mst_tensor_release(tensor);
    return value;
}

enum { QUERY, KEY, VALUE, NUM_SOURCES };

static void sources_of(mst_graph *graph, mst_dtype dtype, const attention_case *c, mst_value *src) {
    src[QUERY] = constant(graph, dtype, MST_SHAPE(c->batch, c->heads, c->queries, c->depth), 1);
    src[KEY] = constant(graph, dtype, MST_SHAPE(c->batch, c->key_heads, c->keys, c->depth), 2);
    src[VALUE] = constant(graph, dtype, MST_SHAPE(c->batch, c->key_heads, c->keys, c->columns), 3);
}

/* A mask of each example that hides some keys, but never key 0. */
static mst_value mask_of(mst_graph *graph, const attention_case *c) {
    mst_tensor *mask = engine_tensor(MST_BOOL, MST_SHAPE(c->batch, 1, 1, c->keys), NULL);
    for (int64_t i = 0; i < c->batch * c->keys; i++) mst_tensor_set(mask, i, i % c->keys == 0 || i % 3 != 1);
    const mst_value value = mst_constant(graph, mask);
    mst_tensor_release(mask);
    return value;
}

/* X, [batch, key heads, ...], with each key head as often as heads share it. */
static mst_value repeated(mst_value x, const attention_case *c) {
    const mst_shape s = mst_value_spec(x).shape;
    const mst_shape wide = MST_SHAPE(s.dim[0], s.dim[1], c->heads / c->key_heads, s.dim[2], s.dim[3]);
    const mst_value one = mst_reshape(x, MST_SHAPE(s.dim[0], s.dim[1], 1, s.dim[2], s.dim[3]));
    return mst_reshape(mst_broadcast_to(one, wide), MST_SHAPE(s.dim[0], c->heads, s.dim[2], s.dim[3]));
}

/* The same by a softmax of all products. */
static mst_value by_softmax(const mst_value *src, mst_value mask, const attention_case *c) {
    mst_graph *graph = mst_value_graph(src[QUERY]);
    const mst_dtype dtype = mst_value_spec(src[QUERY]).dtype;
    const mst_value hidden = mst_scalar(graph, dtype, -INFINITY);
    mst_value p =
        mst_scale(mst_matmul(src[QUERY], repeated(src[KEY], c), .transpose_b = true), 1 / sqrt((double)c->depth));
    if (c->masked) p = mst_select(mst_broadcast_like(mask, p), p, mst_broadcast_like(hidden, p));
    if (c->causal) {
        const mst_value place = mst_expand_dims(mst_range(graph, dtype, 0, (double)c->queries, 1), 1);
        const mst_value behind = mst_greater(mst_range(graph, dtype, 0, (double)c->keys, 1), place);
        p = mst_select(mst_broadcast_like(behind, p), mst_broadcast_like(hidden, p), p);
    }
    return mst_matmul(mst_softmax(p), repeated(src[VALUE], c));
}

static mst_value by_op(const mst_value *src, mst_value mask, const attention_case *c) {
    return mst_scaled_dot_product_attention(src[QUERY], src[KEY], src[VALUE], .causal = c->causal,
                                            .mask = c->masked ? mask : MST_NONE);
}

/* The result of BUILD, and the gradients of a weighted sum of it. */
static void results(mst_graph *graph, mst_value (*build)(const mst_value *, mst_value, const attention_case *),
                    const mst_value *src, const attention_case *c, mst_value *out) {
    const mst_value y = build(src, mask_of(graph, c), c);
    const mst_value weights = constant(graph, mst_value_spec(y).dtype, mst_value_spec(y).shape, 4);
    out[NUM_SOURCES] = y;
    mst_gradients(mst_reduce_sum(mst_mul(y, weights)), src, NUM_SOURCES, out);
}

static void expect_case(unsigned seed) {
    const attention_case c = case_of(seed);
    mst_graph *graph = engine_graph();
    mst_value src[NUM_SOURCES], a[NUM_SOURCES + 1], b[NUM_SOURCES + 1];
    sources_of(graph, MST_F32, &c, src);
    results(graph, by_op, src, &c, a);
    results(graph, by_softmax, src, &c, b);
    EXPECT_OK(mst_graph_check(graph));
    mst_session *session = engine_session(graph, NULL);
    for (int i = 0; i <= NUM_SOURCES; i++) {
        mst_tensor *x = engine_fetch(session, NULL, 0, a[i]), *y = engine_fetch(session, NULL, 0, b[i]);
        const double far = engine_distance(x, y);
        if (!(far < 1e-5)) fail_msg("case %u, output %d: the distance is %g", seed, i, far);
        mst_tensor_release(x), mst_tensor_release(y);
    }
    engine_end(graph, session);
}

static void it_is_the_softmax_of_all_products_times_the_values(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) expect_case(seed);
}

/* The gradient of the sum of squares of all gradients. */
static void second_gradients_are_those_of_the_softmax(void **state) {
    const attention_case c = {2, 4, 2, 3, 5, 2, 3, true, true};
    (void)state;
    mst_graph *graph = engine_graph();
    mst_value src[NUM_SOURCES], first[NUM_SOURCES + 1], second[2][NUM_SOURCES];
    sources_of(graph, MST_F64, &c, src);
    for (int k = 0; k < 2; k++) {
        results(graph, k ? by_softmax : by_op, src, &c, first);
        mst_value sum = mst_reduce_sum(mst_square(first[QUERY]));
        for (int i = KEY; i < NUM_SOURCES; i++) sum = mst_add(sum, mst_reduce_sum(mst_square(first[i])));
        mst_gradients(sum, src, NUM_SOURCES, second[k]);
    }
    EXPECT_OK(mst_graph_check(graph));
    mst_session *session = engine_session(graph, NULL);
    for (int i = 0; i < NUM_SOURCES; i++) {
        mst_tensor *x = engine_fetch(session, NULL, 0, second[0][i]), *y = engine_fetch(session, NULL, 0, second[1][i]);
        assert_true(engine_distance(x, y) < 1e-10);
        mst_tensor_release(x), mst_tensor_release(y);
    }
    engine_end(graph, session);
}

/* Fetches the gradients and the result of the first ROWS examples on DEVICES. */
static void fetch_rows(const attention_case *whole, int64_t rows, const char *devices, mst_tensor **out) {
    attention_case c = *whole;
    mst_graph *graph = engine_graph();
    mst_value src[NUM_SOURCES], all[NUM_SOURCES], value[NUM_SOURCES + 1];
    sources_of(graph, MST_F32, whole, all);
    for (int i = 0; i < NUM_SOURCES; i++) {
        mst_shape size = mst_value_spec(all[i]).shape;
        size.dim[0] = rows;
        src[i] = mst_slice(all[i], MST_SHAPE(0, 0, 0, 0), size);
    }
    c.batch = rows;
    results(graph, by_op, src, &c, value);
    EXPECT_OK(mst_graph_check(graph));
    mst_session *session = engine_session(graph, devices);
    for (int i = 0; i <= NUM_SOURCES; i++) out[i] = engine_fetch(session, NULL, 0, value[i]);
    engine_end(graph, session);
}

static void bits_depend_neither_on_threads_nor_on_other_rows(void **state) {
    static const attention_case cases[] = {{4, 4, 2, 45, 150, 17, 16, true, false},
                                           {4, 4, 4, 1, 150, 32, 24, false, true}};
    static const struct {
        const char *devices;
        int64_t rows;
    } ways[] = {{"cpu:1/2", 4}, {"cpu:1/8", 4}, {"cpu:1/1", 1}, {"cpu:1/3", 2}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mst_tensor *whole[NUM_SOURCES + 1], *part[NUM_SOURCES + 1];
        fetch_rows(&cases[k], 4, engine_here("cpu:1/1"), whole);
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            fetch_rows(&cases[k], ways[w].rows, engine_here(ways[w].devices), part);
            for (int i = 0; i <= NUM_SOURCES; i++) {
                assert_memory_equal(mst_tensor_data(part[i]), mst_tensor_data(whole[i]), mst_tensor_bytes(part[i]));
                mst_tensor_release(part[i]);
            }
        }
        for (int i = 0; i <= NUM_SOURCES; i++) mst_tensor_release(whole[i]);
    }
}

/* Products of turned steps depend on the distance of their positions alone. */
static void rotary_positions_turn_by_distance(void **state) {
    enum { STEPS = 6, DEPTH = 4 };
    (void)state;
    mst_graph *graph = engine_graph();
    const mst_value one = constant(graph, MST_F64, MST_SHAPE(1, DEPTH), 5),
                    two = constant(graph, MST_F64, MST_SHAPE(1, DEPTH), 6);
    const mst_value a = mst_rotary_embedding(mst_broadcast_to(one, MST_SHAPE(STEPS, DEPTH)));
    const mst_value b = mst_rotary_embedding(mst_broadcast_to(two, MST_SHAPE(STEPS, DEPTH)), .base = 10000);
    const mst_value late =
        mst_rotary_embedding(one, .positions = mst_values(graph, MST_F64, MST_SHAPE(1), ((const double[]){3})));
    const mst_value first = mst_slice(b, MST_SHAPE(1, 0), MST_SHAPE(1, DEPTH));
    EXPECT_OK(mst_graph_check(graph));
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *p = engine_fetch(session, NULL, 0, mst_matmul(a, b, .transpose_b = true));
    for (int i = 1; i < STEPS; i++)
        for (int j = 1; j < STEPS; j++)
            assert_true(fabs(mst_tensor_get(p, i * STEPS + j) - mst_tensor_get(p, (i - 1) * STEPS + j - 1)) < 1e-12);
    mst_tensor *x = engine_fetch(session, NULL, 0, a), *y = engine_fetch(session, NULL, 0, late);
    for (int i = 0; i < DEPTH; i++) assert_true(mst_tensor_get(x, 3 * DEPTH + i) == mst_tensor_get(y, i));
    mst_tensor *src = engine_fetch(session, NULL, 0, two), *turned = engine_fetch(session, NULL, 0, first);
    for (int i = 0; i < 2; i++) { /* pairs are elements i and i + 2; the second turns by 1 / 100 */
        const double t = i ? 0.01 : 1, u = mst_tensor_get(src, i), v = mst_tensor_get(src, i + 2);
        assert_true(fabs(mst_tensor_get(turned, i) - (u * cos(t) - v * sin(t))) < 1e-12);
        assert_true(fabs(mst_tensor_get(turned, i + 2) - (v * cos(t) + u * sin(t))) < 1e-12);
    }
    mst_tensor_release(p), mst_tensor_release(x), mst_tensor_release(y);
    mst_tensor_release(src), mst_tensor_release(turned);
    engine_end(graph, session);
}

/* A dropout too small to drop anything: the same result, made of other ops, with few heads of keys and with bools. */
static void with_dropout_it_is_made_of_other_ops(void **state) {
    const attention_case c = {2, 4, 2, 3, 5, 2, 3, true, true};
    (void)state;
    mst_graph *graph = engine_graph();
    mst_value src[NUM_SOURCES];
    sources_of(graph, MST_F64, &c, src);
    const mst_value mask = mask_of(graph, &c);
    const mst_value a = by_op(src, mask, &c);
    const mst_value b = mst_scaled_dot_product_attention(src[QUERY], src[KEY], src[VALUE], .causal = true, .mask = mask,
                                                         .dropout = 1e-12F);
    EXPECT_OK(mst_graph_check(graph));
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *x = engine_fetch(session, NULL, 0, a), *y = engine_fetch(session, NULL, 0, b);
    assert_true(engine_distance(x, y) < 1e-9);
    mst_tensor_release(x), mst_tensor_release(y);
    engine_end(graph, session);
}

/* Nothing comes of a query that a mask hides all keys from, nor goes back through it. */
static void a_query_that_sees_no_key_gives_zeros(void **state) {
    enum { QUERIES = 40, KEYS = 3, DEPTH = 2 };
    (void)state;
    for (int dtype = 0; dtype < 2; dtype++) {
        mst_graph *graph = engine_graph();
        const attention_case c = {1, 1, 1, QUERIES, KEYS, DEPTH, DEPTH, false, true};
        mst_value src[NUM_SOURCES], gradient[NUM_SOURCES];
        sources_of(graph, dtype ? MST_F64 : MST_F32, &c, src);
        const mst_value y = by_op(src, mst_fill(graph, MST_BOOL, MST_SHAPE(QUERIES, KEYS), 0), &c);
        mst_gradients(mst_reduce_sum(y), src, NUM_SOURCES, gradient);
        EXPECT_OK(mst_graph_check(graph));
        mst_session *session = engine_session(graph, NULL);
        for (int i = 0; i <= NUM_SOURCES; i++) {
            mst_tensor *x = engine_fetch(session, NULL, 0, i < NUM_SOURCES ? gradient[i] : y);
            for (int64_t k = 0; k < mst_tensor_count(x); k++) assert_true(mst_tensor_get(x, k) == 0);
            mst_tensor_release(x);
        }
        engine_end(graph, session);
    }
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    const mst_value x = mst_fill(graph, MST_F32, MST_SHAPE(2, 3, 4, 5), 1),
                    y = mst_fill(graph, MST_F32, MST_SHAPE(2, 2, 4, 5), 1);
    mst_scaled_dot_product_attention(x, y, y);
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "3 heads of queries are no multiple of 2 heads of keys");
    mst_graph_destroy(graph);
    graph = engine_graph();
    mst_rotary_embedding(mst_fill(graph, MST_F32, MST_SHAPE(4, 5), 1));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "an even depth");
    mst_graph_destroy(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_softmax_of_all_products_times_the_values),
        cmocka_unit_test(second_gradients_are_those_of_the_softmax),
        cmocka_unit_test(bits_depend_neither_on_threads_nor_on_other_rows),
        cmocka_unit_test(with_dropout_it_is_made_of_other_ops),
        cmocka_unit_test(a_query_that_sees_no_key_gives_zeros),
        cmocka_unit_test(rotary_positions_turn_by_distance),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
