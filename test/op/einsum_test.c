/* einsum: the results of its equations, and the errors of wrong equations. */
#include <string.h>

#include "support/test.h"

enum { MOST = 3, MOST_ELEMENTS = 12 };

typedef struct einsum_case {
    const char *equation;
    int num_src;
    mst_shape src[MOST]; /* of 1, 2, 3, ... */
    mst_shape dst;
    double wanted[MOST_ELEMENTS];
} einsum_case;

#define SHAPE(...)                                                                        \
    {                                                                                     \
        .ndim = (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), .dim = { __VA_ARGS__ } \
    }

static const einsum_case cases[] = {
    {"ij,jk->ik", 2, {SHAPE(2, 3), SHAPE(3, 2)}, SHAPE(2, 2), {22, 28, 49, 64}},
    {"ij,jk", 2, {SHAPE(2, 3), SHAPE(3, 2)}, SHAPE(2, 2), {22, 28, 49, 64}},
    {"ij,jk->ki", 2, {SHAPE(2, 3), SHAPE(3, 2)}, SHAPE(2, 2), {22, 49, 28, 64}},
    {"ba", 1, {SHAPE(2, 3)}, SHAPE(3, 2), {1, 4, 2, 5, 3, 6}},
    {" i j -> j ", 1, {SHAPE(2, 2)}, SHAPE(2), {4, 6}},
    {"ii", 1, {SHAPE(3, 3)}, {.ndim = 0}, {15}},
    {"iij->ji", 1, {SHAPE(2, 2, 2)}, SHAPE(2, 2), {1, 7, 2, 8}},
    {"iii->i", 1, {SHAPE(2, 2, 2)}, SHAPE(2), {1, 8}},
    {"i,j->ij", 2, {SHAPE(2), SHAPE(3)}, SHAPE(2, 3), {1, 2, 3, 2, 4, 6}},
    {"ij,kl->l", 2, {SHAPE(1, 2), SHAPE(2, 2)}, SHAPE(2), {12, 18}},
    {"...i,i->...", 2, {SHAPE(2, 1, 2), SHAPE(2)}, SHAPE(2, 1), {5, 11}},
    {"i...,...->i...", 2, {SHAPE(2, 1), SHAPE(3)}, SHAPE(2, 3), {1, 2, 3, 2, 4, 6}},
    {"i,ij,j->", 3, {SHAPE(2), SHAPE(2, 2), SHAPE(2)}, {.ndim = 0}, {1 * 5 + 2 * 11}},
};

static mst_value counting(mst_graph *graph, mst_dtype dtype, mst_shape shape) {
    const mst_value numbers = mst_range(graph, dtype, 1, 1 + (double)mst_shape_count(shape), 1);
    return mst_reshape(numbers, shape);
}

static void equations_give_their_sums(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int whole = 0; whole < 2; whole++) {
            const einsum_case *c = &cases[i];
            mst_graph *graph = engine_graph();
            mst_value src[MOST];
            for (int k = 0; k < c->num_src; k++) src[k] = counting(graph, whole ? MST_I64 : MST_F64, c->src[k]);
            const mst_value value = mst_einsum(c->equation, src, c->num_src);
            EXPECT_OK(mst_graph_check(graph));
            assert_true(mst_shape_equal(mst_value_spec(value).shape, c->dst));
            mst_session *session = engine_session(graph, NULL);
            mst_tensor *got = engine_fetch(session, NULL, 0, value);
            for (int64_t e = 0; e < mst_tensor_count(got); e++)
                if (mst_tensor_get(got, e) != c->wanted[e])
                    fail_msg("%s: element %d is %g, must be %g", c->equation, (int)e, mst_tensor_get(got, e),
                             c->wanted[e]);
            mst_tensor_release(got);
            engine_end(graph, session);
        }
}

/* One of the lengths, that of the batch, is known only in the run. */
static void a_batch_may_be_of_any_length(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    const mst_value x = mst_placeholder(graph, MST_F32, MST_SHAPE(-1, 2, 2));
    const mst_value weights = mst_values(graph, MST_F32, MST_SHAPE(2, 3), (const double[]){1, 2, 3, 4, 5, 6});
    const mst_value product = mst_einsum("bij,jk->bik", (const mst_value[]){x, weights}, 2);
    assert_true(mst_shape_equal(mst_value_spec(product).shape, MST_SHAPE(-1, 2, 3)));
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *fed = engine_tensor(MST_F32, MST_SHAPE(2, 2, 2), (const double[]){1, 0, 0, 1, 1, 1, 2, 0});
    mst_tensor *got = engine_fetch(session, &(mst_feed){.value = x, .tensor = fed}, 1, product);
    const double wanted[] = {1, 2, 3, 4, 5, 6, 5, 7, 9, 2, 4, 6};
    for (int64_t e = 0; e < 12; e++) assert_true(mst_tensor_get(got, e) == wanted[e]);
    mst_tensor_release(got);
    mst_tensor_release(fed);
    engine_end(graph, session);
}

/* EQUATION of two sources whose shapes A and B may have lengths -1, run with FED_A and FED_B. */
static void expect_refused_in_the_run(const char *equation, mst_shape a, mst_shape b, mst_shape fed_a,
                                      mst_shape fed_b) {
    mst_graph *graph = engine_graph();
    const mst_value src[] = {mst_placeholder(graph, MST_F32, a), mst_placeholder(graph, MST_F32, b)};
    const mst_value sum = mst_einsum(equation, src, 2);
    EXPECT_OK(mst_graph_check(graph));
    mst_session *session = engine_session(graph, NULL);
    const mst_feed feeds[] = {{.value = src[0], .tensor = engine_tensor(MST_F32, fed_a, NULL)},
                              {.value = src[1], .tensor = engine_tensor(MST_F32, fed_b, NULL)}};
    mst_tensor *got = NULL;
    EXPECT_ERROR(mst_session_run(session, feeds, 2, &sum, 1, &got), MST_INVALID, "reshape");
    for (int i = 0; i < 2; i++) mst_tensor_release(feeds[i].tensor);
    engine_end(graph, session);
}

/* A length that only another axis tells: where it differs in the run, that is an error and no other sum. */
static void a_letter_has_one_length_in_the_run(void **state) {
    (void)state;
    expect_refused_in_the_run("ij,ij->", MST_SHAPE(-1, 4), MST_SHAPE(3, -1), MST_SHAPE(6, 4), MST_SHAPE(3, 8));
    expect_refused_in_the_run("i,i->i", MST_SHAPE(3), MST_SHAPE(-1), MST_SHAPE(3), MST_SHAPE(1));
    mst_graph *graph = engine_graph();
    const mst_value squares = mst_placeholder(graph, MST_F32, MST_SHAPE(-1, -1, 3)); /* [2, 6, 3] has 4 of 3 x 3 */
    assert_true(mst_value_is_none(mst_einsum("bii->b", &squares, 1)));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "the length of 'i' must be known for a diagonal");
    mst_graph_destroy(graph);
}

/* For sources of [2, 3]. */
static void expect_refused(const char *equation, int n, const char *text) {
    mst_graph *graph = engine_graph();
    const mst_value src[] = {counting(graph, MST_F32, MST_SHAPE(2, 3)), counting(graph, MST_F32, MST_SHAPE(2, 3))};
    assert_true(mst_value_is_none(mst_einsum(equation, src, n)));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, text);
    mst_graph_destroy(graph);
}

static void a_wrong_equation_is_refused_with_the_place(void **state) {
    (void)state;
    expect_refused("ij,jk->ik", 2, "einsum 'ij,jk->ik', character 4: 'j' is 2 long in ");
    expect_refused("ij,ij->iz", 2, "einsum 'ij,ij->iz', character 9: 'z' is in no source");
    expect_refused("ij,ij->ii", 2, "einsum 'ij,ij->ii', character 9: 'i' is in the output twice");
    expect_refused("ij->ij", 2, "einsum 'ij->ij', character 3: 2 sources, and letters for 1");
    expect_refused("ij,ij,ij->i", 2, "einsum 'ij,ij,ij->i', character 6: letters for more than 2 sources");
    expect_refused("ijk->i", 1, "einsum 'ijk->i', character 1: 3 letters for the 2 axes of ");
    expect_refused("i->i", 1, "einsum 'i->i', character 1: 1 letters for the 2 axes of ");
    expect_refused("i1->i", 1, "einsum 'i1->i', character 2: '1' is no letter");
    expect_refused("i..->i", 1, "einsum 'i..->i', character 2: '.' is part of no '...'");
    expect_refused("......->", 1, "einsum '......->', character 4: '...' a second time");
    expect_refused("...i->i", 1, "einsum '...i->i', character 7: the output has no '...'");
    expect_refused("ij-i", 1, "einsum 'ij-i', character 3: '-' is part of no '->'");
    expect_refused("ij->i,j", 1, "einsum 'ij->i,j', character 6: ',' in the output");
    expect_refused("ii->i", 1, "einsum 'ii->i', character 1: 'i' is 3 long in ");
    expect_refused("", 1, "einsum '', character 1: 0 letters for the 2 axes of ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations_give_their_sums),
        cmocka_unit_test(a_batch_may_be_of_any_length),
        cmocka_unit_test(a_letter_has_one_length_in_the_run),
        cmocka_unit_test(a_wrong_equation_is_refused_with_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
