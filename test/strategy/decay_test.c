/* Which variables the weight decay of an optimizer reaches: without a gradient, they shrink by it alone. */
#include "support/test.h"

enum { KERNEL, BIAS, EMBEDDINGS, NUM_VARIABLES };
static const char *const names[] = {"dense/kernel", "dense/bias", "words/embeddings"};

/* Makes a step without a gradient on ones, and compares the first number of each variable. */
static void expect_weights(mst_optimizer optimizer, mst_dtype dtype, const char *devices, const double *wanted) {
    mst_graph *graph = engine_graph();
    mst_value variable[NUM_VARIABLES], gradient[NUM_VARIABLES];
    for (int i = 0; i < NUM_VARIABLES; i++) {
        const mst_shape shape = i == BIAS ? MST_SHAPE(3) : MST_SHAPE(2, 3);
        variable[i] = mst_variable(graph, names[i], mst_fill(graph, dtype, shape, 1));
        gradient[i] = mst_fill(graph, dtype, shape, 0);
    }
    const mst_value train = mst_apply_gradients(&optimizer, gradient, variable, NUM_VARIABLES, MST_NONE);
    EXPECT_OK(mst_graph_check(graph));
    mst_session *session = engine_session(graph, devices);
    engine_run(session, train);
    for (int i = 0; i < NUM_VARIABLES; i++) {
        mst_tensor *got = engine_fetch(session, NULL, 0, variable[i]);
        for (int64_t k = 0; k < mst_tensor_count(got); k++)
            if (mst_tensor_get(got, k) != wanted[i])
                fail_msg("%s is %g, must be %g", names[i], mst_tensor_get(got, k), wanted[i]);
        mst_tensor_release(got);
    }
    engine_end(graph, session);
}

static void decay_reaches_all_variables_or_kernels_only(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const mst_dtype dtype = i ? MST_F64 : MST_F32;
        expect_weights(mst_sgd(.learning_rate = 0.5, .weight_decay = 0.5), dtype, NULL,
                       (const double[]){0.75, 0.75, 0.75});
        expect_weights(mst_sgd(.learning_rate = 0.5, .weight_decay = 0.5, .decay_kernels_only = true), dtype, NULL,
                       (const double[]){0.75, 1, 1});
        expect_weights(mst_adamw(.learning_rate = 0.5, .weight_decay = 0.25, .decay_kernels_only = true), dtype, NULL,
                       (const double[]){0.875, 1, 1});
        expect_weights(mst_sgd(.learning_rate = 0.5, .decay_kernels_only = true), dtype, NULL,
                       (const double[]){1, 1, 1});
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decay_reaches_all_variables_or_kernels_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
