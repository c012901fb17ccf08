/* The pass narrow: what only convolutions of bf16 read is kept in bf16. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"

enum { MOST = 8 };

static bool here(void) {
    return mst_precision_here(MST_MIXED_BFLOAT16) == MST_MIXED_BFLOAT16;
}

static mst_value numbers(mst_graph *g, mst_shape shape, double scale, unsigned seed) {
    mst_tensor *tensor = engine_random(MST_F32, shape, -scale, scale, seed);
    const mst_value value = engine_count_stateful(mst_constant(g, tensor));
    mst_tensor_release(tensor);
    return value;
}

static mst_value rounded(mst_value value) {
    return mst_cast(mst_cast(value, MST_BF16), MST_F32);
}

/* A block of MobileNetV2: a convolution of single pixels to more channels, a depthwise one and one of single pixels to
 * fewer. A batch norm follows each, and relu6 follows the first two. */
typedef struct shape {
    int64_t n, height, width, in, wide, out;
    int stride;
} shape;

typedef struct block {
    mst_graph *graph;
    mst_value h, d;        /* what the first two convolutions give */
    mst_value fetch[MOST]; /* the output and all gradients */
    int count;
} block;

static mst_value constant(mst_graph *g, mst_shape shape, unsigned seed) {
    mst_tensor *tensor = engine_random(MST_F32, shape, 0.5, 1.5, seed);
    const mst_value value = mst_constant(g, tensor);
    mst_tensor_release(tensor);
    return value;
}

static mst_value norm_of(mst_graph *g, mst_value x, int64_t channels, unsigned seed) {
    return mst_batch_norm(x, constant(g, MST_SHAPE(channels), seed), constant(g, MST_SHAPE(channels), seed + 1));
}

/* With ROUNDING, casts in the graph round the values, and their gradients, that the plan should keep in bf16. */
static block make_block(const shape *s, bool rounding, mst_precision first, mst_precision second) {
    block b = {.graph = engine_graph()};
    mst_graph *g = b.graph;
    const mst_value of[] = {numbers(g, MST_SHAPE(s->n, s->height, s->width, s->in), 1, 1),
                            numbers(g, MST_SHAPE(1, 1, s->in, s->wide), 1, 2),
                            numbers(g, MST_SHAPE(3, 3, 1, s->wide), 1, 3),
                            numbers(g, MST_SHAPE(1, 1, s->wide, s->out), 1, 4)};
    const int count = sizeof of / sizeof *of;
    b.h = mst_convolve2d(of[0], of[1], .precision = first);
    if (rounding) b.h = rounded(b.h);
    b.d = mst_convolve2d(mst_relu6(norm_of(g, b.h, s->wide, 5)), of[2], .padding = MST_PADDING_SAME,
                         .strides = MST_AXES(s->stride), .groups = (int)s->wide);
    if (rounding) b.d = rounded(b.d);
    const mst_value p = mst_convolve2d(mst_relu6(norm_of(g, b.d, s->wide, 7)), of[3], .precision = second);
    b.fetch[0] = norm_of(g, p, s->out, 9);
    mst_tensor *factor = engine_random(MST_F32, mst_value_spec(p).shape, -1, 1, 11);
    mst_gradients(mst_reduce_sum(mst_mul(b.fetch[0], mst_constant(g, factor))), of, count, b.fetch + 1);
    mst_tensor_release(factor);
    b.count = count + 1;
    return b;
}

/* What FETCH give on DEVICES. Returns how often TEXT is in their plan as the pass leaves it; 0 where that is NULL. */
static int run(mst_graph *g, const char *devices, const mst_value *fetch, int count, const char *text,
               mst_tensor **out) {
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = devices, .plan_log = file, .plan_pass = "narrow"},
                                 &session));
    EXPECT_OK(mst_session_run(session, NULL, 0, fetch, count, out));
    mst_session_destroy(session);
    fclose(file);
    int found = 0;
    for (const char *at = log; text && (at = strstr(at, text)); at++) found++;
    free(log);
    return found;
}

static void release(mst_tensor **tensors, int count) {
    for (int i = 0; i < count; i++) mst_tensor_release(tensors[i]);
}

/* Output and gradients of a block against the graph that says what is rounded. The gradients of h and d are made of one
 * another: there sums are a bit different, and terms round the other way, by 2^-8 of them. The output and the last
 * gradient, of what no rounded gradient goes into, have equal bits. */
static void expect_block(shape s) {
    static const double TOLERANCE = 2e-2;
    mst_tensor *narrow[MOST] = {NULL}, *said[MOST] = {NULL}, *again[MOST] = {NULL};
    const block a = make_block(&s, false, MST_MIXED_BFLOAT16, MST_MIXED_BFLOAT16);
    const block b = make_block(&s, true, MST_MIXED_BFLOAT16, MST_MIXED_BFLOAT16);
    const int found = run(a.graph, "cpu:1/1", a.fetch, a.count, ": bf16[", narrow);
    assert_int_equal(found, here() ? 4 : 0); /* h, d and their gradients */
    run(b.graph, "cpu:1/1", b.fetch, b.count, NULL, said);
    run(a.graph, "cpu:1/2", a.fetch, a.count, NULL, again);
    for (int i = 0; i < a.count; i++) {
        double most = 1;
        for (int64_t k = 0; k < mst_tensor_count(said[i]); k++)
            if (fabs(mst_tensor_get(said[i], k)) > most) most = fabs(mst_tensor_get(said[i], k));
        if (here())
            for (int64_t k = 0; k < mst_tensor_count(said[i]); k++)
                assert_true(fabs(mst_tensor_get(narrow[i], k) - mst_tensor_get(said[i], k)) < TOLERANCE * most);
        if (here() && (i == 0 || i == a.count - 1)) assert_true(engine_same_bits(narrow[i], said[i]));
        assert_true(engine_same_bits(narrow[i], again[i]));
    }
    release(narrow, MOST);
    release(said, MOST);
    release(again, MOST);
    mst_graph_destroy(a.graph);
    mst_graph_destroy(b.graph);
}

static void a_block_is_that_of_rounded_numbers(void **state) {
    (void)state;
    expect_block((shape){.n = 3, .height = 9, .width = 7, .in = 6, .wide = 24, .out = 5, .stride = 1});
    expect_block((shape){.n = 2, .height = 8, .width = 8, .in = 16, .wide = 40, .out = 8, .stride = 2});
    expect_block((shape){.n = 17, .height = 5, .width = 6, .in = 3, .wide = 33, .out = 7, .stride = 1});
    expect_block((shape){.n = 4, .height = 56, .width = 28, .in = 8, .wide = 96, .out = 8, .stride = 1});
    /* more channels than are rounded at a time; a depthwise convolution that another kernel makes */
    expect_block((shape){.n = 1, .height = 3, .width = 3, .in = 4, .wide = 3000, .out = 4, .stride = 1});
    expect_block((shape){.n = 3, .height = 9, .width = 7, .in = 6, .wide = 24, .out = 5, .stride = 3});
}

/* What is fetched too, or what a convolution of f32 reads or makes. */
static void other_values_stay_as_they_are(void **state) {
    (void)state;
    const shape s = {.n = 2, .height = 8, .width = 8, .in = 16, .wide = 40, .out = 8, .stride = 1};
    static const struct {
        mst_precision first, second;
        bool fetched;
        int found;
    } cases[] = {
        {MST_FLOAT32, MST_FLOAT32, false, 0},
        {MST_MIXED_BFLOAT16, MST_FLOAT32, false, 2}, /* h and its gradient */
        {MST_FLOAT32, MST_MIXED_BFLOAT16, false, 2}, /* d and its gradient */
        {MST_MIXED_BFLOAT16, MST_MIXED_BFLOAT16, true, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_tensor *got[MOST] = {NULL};
        block b = make_block(&s, false, cases[i].first, cases[i].second);
        if (cases[i].fetched) b.fetch[b.count++] = b.h;
        assert_int_equal(run(b.graph, "cpu:1/1", b.fetch, b.count, ": bf16[", got), here() ? cases[i].found : 0);
        if (cases[i].fetched) assert_int_equal(mst_tensor_dtype(got[b.count - 1]), MST_F32);
        release(got, MOST);
        mst_graph_destroy(b.graph);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_that_of_rounded_numbers),
        cmocka_unit_test(other_values_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
