/* Activations of layers. */
#include "muster/layer.h"

#include <math.h>

#include "support/test.h"

/* Values of Keras 3's activations of the same names. */
static void each_activation_has_the_values_of_keras(void **state) {
    (void)state;
    enum { COUNT = 4 };
    static const double source[COUNT] = {-2, -0.5, 0.5, 7};
    static const struct {
        mst_activation activation;
        double wanted[COUNT];
    } rows[] = {
        {MST_LINEAR, {-2, -0.5, 0.5, 7}},
        {MST_RELU, {0, 0, 0.5, 7}},
        {MST_RELU6, {0, 0, 0.5, 6}},
        {MST_LEAKY_RELU, {-0.4, -0.1, 0.5, 7}},
        {MST_ELU, {-0.86466471676, -0.39346934029, 0.5, 7}},
        {MST_GELU, {-0.04550026390, -0.15426876936, 0.34573123064, 6.99999999999}},
        {MST_GELU_TANH, {-0.04540230591, -0.15428599018, 0.34571400982, 7}},
        {MST_SOFTPLUS, {0.12692801104, 0.47407698418, 0.97407698418, 7.00091146645}},
        {MST_SWISH, {-0.23840584404, -0.18877033440, 0.31122966560, 6.99362264164}},
        {MST_TANH, {-0.96402758008, -0.46211715726, 0.46211715726, 0.99999833695}},
        {MST_SIGMOID, {0.11920292202, 0.37754066880, 0.62245933120, 0.99908894881}},
        {MST_SOFTMAX, {0.00012314136, 0.00055188131, 0.00150016892, 0.99782480841}},
        {MST_EXPONENTIAL, {0.13533528324, 0.60653065971, 1.64872127070, 1096.63315842846}},
        {MST_HARD_SIGMOID, {0.16666666667, 0.41666666667, 0.58333333333, 1.00000000000}},
        {MST_HARD_SIGMOID_KERAS2, {0.1, 0.4, 0.6, 1}}, /* Keras 2's hard_sigmoid */
        {MST_HARD_SILU, {-0.33333333333, -0.20833333333, 0.29166666667, 7.00000000000}},
        {MST_MISH, {-0.25250148270, -0.22074377465, 0.37524521130, 6.99998837981}},
        {MST_SELU, {-1.52016646860, -0.69175818780, 0.52535049368, 7.35490691149}},
        {MST_SOFTSIGN, {-0.66666666667, -0.33333333333, 0.33333333333, 0.87500000000}},
        {MST_LOG_SOFTMAX, {-9.00217756076, -7.50217756076, -6.50217756076, -0.00217756076}},
    };
    for (size_t a = 0; a < sizeof rows / sizeof *rows; a++) {
        mst_graph *g = engine_graph();
        mst_value x = engine_input(g, "x", MST_SHAPE(1, COUNT)), y = mst_activate(x, rows[a].activation);
        EXPECT_OK(mst_graph_check(g));
        mst_tensor *fed = engine_tensor(MST_F32, MST_SHAPE(1, COUNT), source), *out = NULL;
        mst_session *session = engine_session(g, NULL);
        EXPECT_OK(mst_session_run(session, &(mst_feed){.value = x, .tensor = fed}, 1, &y, 1, &out));
        for (int i = 0; i < COUNT; i++)
            if (!(fabs(mst_tensor_get(out, i) - rows[a].wanted[i]) < 1e-6 * (1 + fabs(rows[a].wanted[i]))))
                fail_msg("%s of %g: %.9g, must be %.9g", mst_activation_name(rows[a].activation), source[i],
                         mst_tensor_get(out, i), rows[a].wanted[i]);
        mst_tensor_release(fed);
        mst_tensor_release(out);
        engine_end(g, session);
    }
}

static void an_activation_that_is_none_is_an_error(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_activate(engine_input(g, "x", MST_SHAPE(1)), (mst_activation)99);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "is none of its values");
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_activation_has_the_values_of_keras),
        cmocka_unit_test(an_activation_that_is_none_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
