/* Ops that are composed of other ops: values and gradients of glu are those of PyTorch 2. */
#include <math.h>

#include "support/test.h"

enum { ELEMENTS = 8 };

typedef struct glu_case {
    mst_axes axis;
    double wanted[ELEMENTS / 2];
    double gradient[ELEMENTS]; /* of the sum */
} glu_case;

static void expect_elements(mst_session *session, mst_value value, const double *wanted, int64_t count) {
    mst_tensor *got = engine_fetch(session, NULL, 0, value);
    assert_int_equal(mst_tensor_count(got), count);
    for (int64_t i = 0; i < count; i++)
        if (fabs(mst_tensor_get(got, i) - wanted[i]) > 1e-14)
            fail_msg("element %d is %.16g, must be %.16g", (int)i, mst_tensor_get(got, i), wanted[i]);
    mst_tensor_release(got);
}

static void glu_gates_one_half_with_the_other(void **state) {
    (void)state;
    const double x[ELEMENTS] = {1, -2, 3, 0.5, 0, 7, -1, 2};
    const glu_case cases[] = {
        {.wanted = {0.9525741268224334, -1.2449186624037092, 0.0, 6.165579545845176},
         .gradient = {0.9525741268224334, 0.6224593312018546, 0.045176659730912, -0.470007424403189, 0.2689414213699951,
                      0.8807970779778823, 0.0, 0.7349550978245463}},
        {.axis = MST_AXES(0),
         .wanted = {0.5, -1.9981778976111988, 0.8068242641099853, 0.44039853898894116},
         .gradient = {0.5, 0.9990889488055994, 0.2689414213699951, 0.8807970779778823, 0.25, -0.001820442360243568,
                      0.5898357997244456, 0.05249679270175331}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_graph *graph = engine_graph();
        const mst_value src = mst_values(graph, MST_F64, MST_SHAPE(2, 4), x);
        const mst_value value = mst_glu(src, .axis = cases[i].axis);
        mst_value gradient;
        mst_gradients(mst_reduce_sum(value), &src, 1, &gradient);
        mst_session *session = engine_session(graph, NULL);
        expect_elements(session, value, cases[i].wanted, ELEMENTS / 2);
        expect_elements(session, gradient, cases[i].gradient, ELEMENTS);
        engine_end(graph, session);
    }
}

static void l2_normalize_gives_length_one_or_nothing(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    const mst_value src = mst_values(graph, MST_F64, MST_SHAPE(2, 2), ((const double[]){3, -4, 0, 0}));
    mst_session *session = engine_session(graph, NULL);
    expect_elements(session, mst_l2_normalize(src, .axes = MST_AXES(-1)), (const double[]){0.6, -0.8, 0, 0}, 4);
    engine_end(graph, session);
}

static void glu_names_what_it_cannot_take(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    mst_glu(mst_fill(graph, MST_F32, MST_SHAPE(2, 3), 1));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "dimension 1, 3, does not divide into 2 parts");
    mst_graph_destroy(graph);
    graph = engine_graph();
    mst_glu(mst_fill(graph, MST_F32, MST_SHAPE(2, 2), 1), .axis = MST_AXES(0, 1));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "glu: 2 axes, must be one");
    mst_graph_destroy(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glu_gates_one_half_with_the_other),
        cmocka_unit_test(l2_normalize_gives_length_one_or_nothing),
        cmocka_unit_test(glu_names_what_it_cannot_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
