/* Batch norms whose output, or the gradient of whose source, is never written, since only convolutions read it: the
 * bits are those of the separate nodes. */
#include <string.h>

#include "support/test.h"

enum { NUM_INPUTS = 8, NUM_SOURCES = 7, NUM_FETCHES = 12, NUM_ALWAYS = 9 };

/* Two convolutions with a batch norm after each, and the gradients of a weighted sum of the output. After these come
 * the values that are not written unless they are fetched. */
typedef struct chain {
    mst_graph *graph;
    mst_value between, fetch[NUM_FETCHES];
    mst_feed feed[NUM_INPUTS];
} chain;

typedef struct form {
    mst_dtype dtype;
    int64_t batch, size;
    mst_value (*activation)(mst_value); /* NULL: none */
    bool pads, one_by_one, dense;       /* dense: windows at each pixel, not at every second */
} form;

static chain make_chain(const form *f) {
    chain b = {.graph = engine_graph()};
    const int64_t n = f->batch, size = f->size, last = f->one_by_one ? 96 : 8,
                  windows = f->one_by_one || f->dense ? size : size / 2;
    const mst_shape shape[NUM_INPUTS] = {
        MST_SHAPE(n, size, size, 3),
        MST_SHAPE(3, 3, 3, 8),
        MST_SHAPE(8),
        MST_SHAPE(8),
        f->one_by_one ? MST_SHAPE(1, 1, 8, 96) : MST_SHAPE(3, 3, 1, 8),
        MST_SHAPE(last),
        MST_SHAPE(last),
        MST_SHAPE(n, windows, windows, last),
    };
    static const char *const name[NUM_INPUTS] = {"x", "u", "gamma", "beta", "v", "gamma2", "beta2", "factors"};
    mst_value in[NUM_INPUTS];
    for (int i = 0; i < NUM_INPUTS; i++) {
        in[i] = mst_placeholder(b.graph, f->dtype, shape[i], name[i]);
        b.feed[i] = (mst_feed){.value = in[i], .tensor = engine_random(f->dtype, shape[i], -2, 4, 7 + (unsigned)i)};
    }
    const mst_value h = mst_convolve2d(in[0], in[1], .padding = MST_PADDING_SAME);
    const mst_value norm = mst_batch_norm(h, in[2], in[3]);
    b.between = f->activation ? f->activation(norm) : norm;
    mst_value y = b.between;
    if (f->pads) y = mst_pad(y, .before = MST_SHAPE(0, 0, 1, 0), .after = MST_SHAPE(0, 1, 0, 0));
    if (f->one_by_one)
        y = mst_convolve2d(y, in[4]);
    else if (f->pads)
        y = mst_convolve2d(y, in[4], .strides = MST_AXES(2), .groups = 8);
    else
        y = mst_convolve2d(y, in[4], .strides = MST_AXES(f->dense ? 1 : 2), .groups = 8, .padding = MST_PADDING_SAME);
    mst_value out = mst_batch_norm(y, in[5], in[6]), of[NUM_SOURCES + 2], gradient[NUM_SOURCES + 2];
    if (f->activation) out = f->activation(out);
    memcpy(of, in, NUM_SOURCES * sizeof *of);
    of[NUM_SOURCES] = h;
    of[NUM_SOURCES + 1] = y;
    mst_gradients(mst_reduce_sum(mst_mul(out, in[7])), of, NUM_SOURCES + 2, gradient);
    memcpy(b.fetch, gradient, NUM_SOURCES * sizeof *gradient);
    b.fetch[NUM_SOURCES] = mst_value_output(norm, 2);
    b.fetch[NUM_SOURCES + 1] = out;
    b.fetch[NUM_ALWAYS] = b.between;
    b.fetch[NUM_ALWAYS + 1] = gradient[NUM_SOURCES];
    b.fetch[NUM_ALWAYS + 2] = gradient[NUM_SOURCES + 1];
    return b;
}

/* Runs the chain, and fetches values FIRST to END - 1. */
static void run_chain(const form *f, const char *devices, int first, int end, mst_tensor *out[NUM_FETCHES],
                      char **log) {
    size_t size;
    mst_session *session;
    chain b = make_chain(f);
    FILE *file = open_memstream(log, &size);
    EXPECT_OK(mst_session_create(b.graph, &(mst_session_options){.devices = devices, .plan_log = file}, &session));
    EXPECT_OK(mst_session_run(session, b.feed, NUM_INPUTS, &b.fetch[first], end - first, &out[first]));
    for (int i = 0; i < NUM_INPUTS; i++) mst_tensor_release(b.feed[i].tensor);
    engine_end(b.graph, session);
    fclose(file);
}

static void expect_same_bits(int first, mst_tensor *const *got, mst_tensor *const *wanted) {
    for (int i = first; i < NUM_ALWAYS; i++) {
        assert_int_equal(mst_tensor_bytes(got[i]), mst_tensor_bytes(wanted[i]));
        if (memcmp(mst_tensor_data(got[i]), mst_tensor_data(wanted[i]), mst_tensor_bytes(got[i])) != 0)
            fail_msg("fetch %d: off by %g", i, engine_distance(got[i], wanted[i]));
    }
}

/* Where x has no gradient, that of u is still made part by part. */
static void expect_like_its_parts_without_x(const form *f, mst_tensor *const *wanted) {
    enum { FIRST = 1 };
    mst_tensor *three[NUM_FETCHES] = {NULL};
    char *log = NULL;
    run_chain(f, "cpu:1/3", FIRST, NUM_ALWAYS, three, &log);
    const char *after = strstr(log, "after norm_grads");
    const char *first = strstr(after, " = conv2d_grads(x, u, ");
    assert_non_null(first);
    assert_non_null(strstr(first, "weights_only"));
    assert_null(strstr(after, " = conv2d_weights_grad("));
    expect_same_bits(FIRST, three, wanted);
    for (int i = FIRST; i < NUM_ALWAYS; i++) mst_tensor_release(three[i]);
    free(log);
}

static void expect_chain_like_its_parts(const form *f) {
    mst_tensor *one[NUM_FETCHES] = {NULL}, *three[NUM_FETCHES] = {NULL}, *wanted[NUM_FETCHES] = {NULL};
    char *log = NULL, *again = NULL, *apart = NULL;
    run_chain(f, "cpu:1/1", 0, NUM_ALWAYS, one, &log);
    run_chain(f, "cpu:1/3", 0, NUM_ALWAYS, three, &again);
    run_chain(f, "cpu:1/1", 0, NUM_FETCHES, wanted, &apart);
    const char *after = strstr(log, "after norm_grads");
    assert_non_null(strstr(after, " = batch_norm_statistics("));
    assert_non_null(strstr(after, " = normalized_conv2d("));
    assert_non_null(strstr(after, " = batch_norm_grad_sums("));
    assert_non_null(strstr(after, " = conv2d_grads(x, u, "));
    static const char *const gone[] = {" = conv2d_src_grad(", " = conv2d_weights_grad(", " = batch_norm_grad(",
                                       " = normalized_conv2d_weights_grad(", " = fused_batch_norm_grad("};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) assert_null(strstr(after, gone[i]));
    /* Those of the last batch norm are a node; those of the one before are made with the gradients of the second
     * convolution. */
    const char *sums = strstr(after, " = batch_norm_grad_sums(");
    assert_true(strstr(sums + 1, " = batch_norm_grad_sums(") > strstr(after, "after halve"));
    const char *measured = strstr(log, "after measure");
    assert_non_null(strstr(measured, " = conv2d_statistics(x, u, gamma, beta)"));
    assert_null(strstr(measured, " = batch_norm_statistics("));
    assert_null(strstr(apart, "normalized_conv2d"));
    assert_null(strstr(apart, "conv2d_grads"));
    expect_same_bits(0, one, wanted);
    expect_same_bits(0, three, wanted);
    expect_like_its_parts_without_x(f, wanted);
    for (int i = 0; i < NUM_FETCHES; i++) {
        mst_tensor_release(one[i]);
        mst_tensor_release(three[i]);
        mst_tensor_release(wanted[i]);
    }
    free(log);
    free(again);
    free(apart);
}

static void convolutions_of_batch_norms_give_the_bits_of_their_parts(void **state) {
    (void)state;
    static const form forms[] = {
        {MST_F32, 3, 6, mst_relu6, false, false, false},  {MST_F32, 5, 64, mst_relu6, true, false, false},
        {MST_F32, 5, 64, mst_relu6, false, true, false}, /* parts of two examples, two parts of the sums each */
        {MST_F32, 300, 6, mst_relu, false, true, false}, /* parts of the sums that lie in no parts of 75 examples */
        {MST_F32, 2, 6, NULL, true, false, false},        {MST_F32, 2, 7, NULL, false, false, true},
        {MST_F32, 17, 40, mst_relu6, false, false, true}, {MST_F64, 3, 6, mst_relu, true, false, false},
        {MST_F64, 3, 6, NULL, false, true, false},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) expect_chain_like_its_parts(&forms[i]);
}

/* The plan of a batch norm of X that a convolution reads; with ALSO something else reads it as well. */
static char *plan_of(mst_graph *g, mst_value x, bool also) {
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    const mst_value ones = mst_fill(g, MST_F32, MST_SHAPE(3), 1), norm = mst_batch_norm(x, ones, ones);
    const mst_value y[2] = {mst_convolve2d(norm, mst_random_uniform(g, MST_SHAPE(1, 1, 3, 4))), mst_neg(norm)};
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .plan_log = file}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(mst_session_run(session, NULL, 0, y, 1 + also, NULL));
    mst_session_destroy(session);
    fclose(file);
    return log;
}

static void batch_norms_that_others_read_or_that_read_variables_are_written(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = mst_random_uniform(g, MST_SHAPE(2, 3, 3, 3)), v = mst_variable(g, "v", x);
    char *alone = plan_of(g, x, false), *also = plan_of(g, x, true), *variable = plan_of(g, v, false);
    assert_non_null(strstr(alone, "batch_norm_statistics"));
    assert_null(strstr(also, "batch_norm_statistics"));
    assert_null(strstr(variable, "batch_norm_statistics"));
    free(alone);
    free(also);
    free(variable);
    mst_graph_destroy(g);
}

/* The first value fetched alone, and with the others, which must not change its bits. PLAN: that of the first. */
static void expect_same_alone(mst_graph *g, const mst_value *fetch, int count, char **plan) {
    enum { MOST = 4 };
    mst_tensor *alone = NULL, *all[MOST] = {NULL};
    mst_session *session;
    size_t size;
    FILE *file = open_memstream(plan, &size);
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .plan_log = file}, &session));
    EXPECT_OK(mst_session_run(session, NULL, 0, fetch, 1, &alone));
    mst_session_destroy(session);
    fclose(file);
    session = engine_session(g, NULL);
    EXPECT_OK(mst_session_run(session, NULL, 0, fetch, count, all));
    assert_true(engine_same_bits(alone, all[0]));
    for (int i = 0; i < count; i++) mst_tensor_release(all[i]);
    mst_tensor_release(alone);
    mst_session_destroy(session);
}

static mst_value numbers(mst_graph *g, mst_shape shape, unsigned seed) {
    mst_tensor *tensor = engine_random(MST_F64, shape, -1, 1, seed);
    const mst_value value = engine_count_stateful(mst_constant(g, tensor));
    mst_tensor_release(tensor);
    return value;
}

/* The gradient of a convolution over three axes has the op of that over two. */
static void the_weights_of_a_convolution_over_three_axes_get_their_gradient(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    char *plan;
    const mst_value x = numbers(g, MST_SHAPE(2, 3, 4, 5, 2), 1), weights = numbers(g, MST_SHAPE(2, 2, 2, 2, 3), 2);
    const mst_value norm = mst_batch_norm(x, numbers(g, MST_SHAPE(2), 3), numbers(g, MST_SHAPE(2), 4));
    const mst_value y = mst_convolve3d(norm, weights);
    mst_value gradient;
    mst_gradients(mst_reduce_sum(mst_mul(y, numbers(g, MST_SHAPE(2, 2, 3, 4, 3), 5))), &weights, 1, &gradient);
    expect_same_alone(g, (const mst_value[]){gradient, norm}, 2, &plan);
    assert_null(strstr(plan, "batch_norm_statistics"));
    free(plan);
    mst_graph_destroy(g);
}

/* h = conv2d(x, u), relu(batch_norm(h)), conv2d of that, and the gradients of a weighted sum of what comes out. */
typedef struct small {
    mst_graph *graph;
    mst_value h, norm, out;
    mst_value of[2]; /* the gradients of x and u */
} small;

static small make_small(void) {
    small s = {.graph = engine_graph()};
    mst_graph *g = s.graph;
    const mst_value of[] = {numbers(g, MST_SHAPE(2, 4, 4, 3), 1), numbers(g, MST_SHAPE(3, 3, 3, 2), 2)};
    s.h = mst_convolve2d(of[0], of[1]);
    s.norm = mst_relu(mst_batch_norm(s.h, numbers(g, MST_SHAPE(2), 3), numbers(g, MST_SHAPE(2), 4)));
    s.out = mst_convolve2d(s.norm, numbers(g, MST_SHAPE(1, 1, 2, 3), 5));
    mst_gradients(mst_reduce_sum(mst_mul(s.out, numbers(g, MST_SHAPE(2, 2, 2, 3), 6))), of, 2, s.of);
    return s;
}

/* Gradients that something comes after stay nodes of their own; what comes after the output of a batch norm comes after
 * its statistics. */
static void what_comes_after_a_node_comes_after_what_that_becomes(void **state) {
    (void)state;
    for (int which = 0; which < 3; which++) {
        const small s = make_small();
        const mst_value first = which == 2 ? s.norm : s.of[which];
        mst_value later = MST_NONE;
        char *plan;
        mst_with_control (s.graph, first) later = mst_neg(s.out);
        later = mst_add(mst_reduce_sum(later), mst_add(mst_reduce_sum(s.of[0]), mst_reduce_sum(s.of[1])));
        expect_same_alone(s.graph, (const mst_value[]){later, s.norm}, 2, &plan);
        if (which < 2)
            assert_null(strstr(plan, " = conv2d_grads("));
        else
            assert_null(strstr(strstr(plan, "after norms"), " = identity("));
        assert_non_null(strstr(plan, " = normalized_conv2d("));
        free(plan);
        mst_graph_destroy(s.graph);
    }
}

/* If gamma is computed from the output of the convolution, it needs the whole output before the statistics. */
static void a_gamma_that_follows_from_the_convolution_is_waited_for(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    char *plan;
    const mst_value h = mst_convolve2d(numbers(g, MST_SHAPE(2, 4, 4, 3), 1), numbers(g, MST_SHAPE(3, 3, 3, 2), 2));
    const mst_value zeros = mst_fill(g, MST_F64, MST_SHAPE(2), 0);
    const mst_value norm = mst_batch_norm(h, mst_reduce_max(h, MST_AXES(0, 1, 2)), zeros);
    const mst_value y = mst_convolve2d(norm, numbers(g, MST_SHAPE(1, 1, 2, 3), 3));
    expect_same_alone(g, (const mst_value[]){y, norm}, 2, &plan);
    assert_non_null(strstr(strstr(plan, "after measure"), " = batch_norm_statistics("));
    free(plan);
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_of_batch_norms_give_the_bits_of_their_parts),
        cmocka_unit_test(batch_norms_that_others_read_or_that_read_variables_are_written),
        cmocka_unit_test(the_weights_of_a_convolution_over_three_axes_get_their_gradient),
        cmocka_unit_test(a_gamma_that_follows_from_the_convolution_is_waited_for),
        cmocka_unit_test(what_comes_after_a_node_comes_after_what_that_becomes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
