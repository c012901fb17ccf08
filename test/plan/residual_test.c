/* The pass residual: a batch norm adds the other summand of a residual block to its output, with the bits of
 * separate nodes. */
#include <stdio.h>
#include <string.h>

#include "support/test.h"

static mst_value numbers(mst_graph *g, mst_shape shape, unsigned seed) {
    mst_tensor *tensor = engine_random(MST_F32, shape, -1, 1, seed);
    const mst_value value = engine_count_stateful(mst_constant(g, tensor));
    mst_tensor_release(tensor);
    return value;
}

/* The first of FETCH, with the others. Returns whether a batch norm adds what is added. */
static bool run(mst_graph *g, const mst_value *fetch, int count, mst_tensor **out) {
    enum { MOST = 4 };
    mst_tensor *got[MOST] = {NULL};
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(
        g, &(mst_session_options){.devices = "cpu:1/1", .plan_log = file, .plan_pass = "residual"}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(mst_session_run(session, NULL, 0, fetch, count, got));
    mst_session_destroy(session);
    fclose(file);
    const bool found = strstr(log, "= batch_norm_add(") != NULL;
    free(log);
    *out = got[0];
    for (int i = 1; i < count; i++) mst_tensor_release(got[i]);
    return found;
}

typedef struct residual {
    mst_graph *graph;
    mst_value x, norm;
} residual;

static residual make(mst_shape shape) {
    residual r = {.graph = engine_graph()};
    const int64_t channels = shape.dim[shape.ndim - 1];
    r.x = numbers(r.graph, shape, 1);
    const mst_value gamma = numbers(r.graph, MST_SHAPE(channels), 2), beta = numbers(r.graph, MST_SHAPE(channels), 3);
    r.norm = mst_batch_norm(mst_mul(r.x, numbers(r.graph, shape, 4)), gamma, beta);
    return r;
}

static void expect_added(mst_shape shape, bool norm_first) {
    const residual r = make(shape);
    const mst_value sum = norm_first ? mst_add(r.norm, r.x) : mst_add(r.x, r.norm);
    mst_tensor *together, *apart;
    assert_true(run(r.graph, (const mst_value[]){sum, mst_value_output(r.norm, 1)}, 2, &together));
    assert_false(run(r.graph, (const mst_value[]){sum, r.norm}, 2, &apart));
    assert_true(engine_same_bits(together, apart));
    mst_tensor_release(together);
    mst_tensor_release(apart);
    mst_graph_destroy(r.graph);
}

static void what_is_added_is_added_by_the_batch_norm(void **state) {
    (void)state;
    expect_added(MST_SHAPE(2, 3, 3, 5), true);
    expect_added(MST_SHAPE(3, 40, 40, 7), false); /* several parts */
    expect_added(MST_SHAPE(4, 6), true);
}

static void other_sums_stay_nodes(void **state) {
    (void)state;
    enum { OF_THE_MEAN, OF_A_VARIABLE, TWICE, OF_ANOTHER_SHAPE, CASES };
    for (int i = 0; i < CASES; i++) {
        const mst_shape shape = MST_SHAPE(2, 3, 3, 5);
        const residual r = make(shape);
        const mst_value mean = mst_add(r.x, mst_value_output(r.norm, 1));
        const mst_value what = i == OF_THE_MEAN        ? mean
                               : i == OF_A_VARIABLE    ? mst_variable(r.graph, "v", numbers(r.graph, shape, 5))
                               : i == OF_ANOTHER_SHAPE ? numbers(r.graph, MST_SHAPE(5), 5)
                                                       : r.norm;
        mst_tensor *got;
        assert_false(run(r.graph, (const mst_value[]){mst_add(r.norm, what)}, 1, &got));
        mst_tensor_release(got);
        mst_graph_destroy(r.graph);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_added_by_the_batch_norm),
        cmocka_unit_test(other_sums_stay_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
