/* Dropout inside of recurrent layers. With a rate that drops nothing, a training step computes what it does without
 * dropout, though with other ops. */
#include <math.h>

#include "muster/ops.h"
#include "support/test.h"

enum { ROWS = 3, STEPS = 5, FEATURES = 4, UNITS = 6, NUM_KINDS = 3 };
static const float none = 1e-20f; /* drops no element: it is 0 as part of 2^32 */

typedef struct setting {
    float dropout, recurrent_dropout;
    bool backwards, masked;
} setting;

static void add(mst_model *model, int kind, const setting *s) {
#define OPTIONS                                                                    \
    .return_sequences = true, .go_backwards = s->backwards, .dropout = s->dropout, \
    .recurrent_dropout = s->recurrent_dropout
    if (s->masked) mst_masking(model);
    if (kind == 0)
        mst_lstm(model, UNITS, OPTIONS);
    else if (kind == 1)
        mst_gru(model, UNITS, OPTIONS);
    else
        mst_simple_rnn(model, UNITS, OPTIONS);
    if (s->masked) mst_global_average_pooling1d(model);
}

/* [ROWS, STEPS, FEATURES]; the second row lacks its last two steps, which are 0. */
static mst_tensor *sequences(void) {
    mst_tensor *x = engine_tensor(MST_F32, MST_SHAPE(ROWS, STEPS, FEATURES), NULL);
    for (int64_t i = 0; i < ROWS * STEPS * FEATURES; i++) {
        const int64_t step = i / FEATURES;
        mst_tensor_set(x, i, step == 2 * STEPS - 1 || step == 2 * STEPS - 2 ? 0 : sin((double)i * 7));
    }
    return x;
}

/* The layer's output in a training step, OUT[0], and the gradient of its squares for the source, OUT[1]. */
static void train(int kind, setting s, mst_tensor *out[2]) {
    mst_model *model;
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_tensor *x = sequences();
    EXPECT_OK(mst_model_create(&model));
    mst_input(model, MST_SHAPE(STEPS, FEATURES));
    add(model, kind, &s);
    mst_graph_set_seed(g, 1);
    const mst_value fed = mst_placeholder(g, MST_F32, MST_SHAPE(-1, STEPS, FEATURES));
    mst_value fetch[] = {mst_model_call(model, fed, true), MST_NONE};
    mst_gradients(mst_reduce_sum(mst_square(fetch[0])), &fed, 1, &fetch[1]);
    EXPECT_OK(mst_graph_check(g));
    EXPECT_OK(mst_session_create(g, NULL, &session));
    EXPECT_OK(mst_session_init_variables(session));
    out[0] = out[1] = NULL;
    EXPECT_OK(mst_session_run(session, &(mst_feed){.value = fed, .tensor = x}, 1, fetch, 2, out));
    mst_session_destroy(session);
    mst_graph_destroy(g);
    mst_tensor_release(x);
    mst_model_destroy(model);
}

static double difference(mst_tensor *a[2], mst_tensor *b[2]) {
    double most = 0;
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < mst_tensor_count(a[k]); i++)
            most = fmax(most, fabs(mst_tensor_get(a[k], i) - mst_tensor_get(b[k], i)));
        mst_tensor_release(a[k]);
        mst_tensor_release(b[k]);
    }
    return most;
}

static void a_rate_that_drops_nothing_changes_nothing(void **state) {
    (void)state;
    for (int kind = 0; kind < NUM_KINDS; kind++)
        for (int i = 0; i < 4; i++) {
            mst_tensor *with[2], *without[2];
            const bool backwards = i & 1, masked = i & 2;
            train(kind, (setting){none, none, backwards, masked}, with);
            train(kind, (setting){0, 0, backwards, masked}, without);
            assert_true(difference(with, without) < 1e-5);
        }
}

static void rates_drop_values_and_the_same_seed_the_same_ones(void **state) {
    (void)state;
    for (int kind = 0; kind < NUM_KINDS; kind++)
        for (int i = 1; i < 4; i++) {
            const setting s = {i & 1 ? 0.5f : 0, i & 2 ? 0.5f : 0, false, false};
            mst_tensor *with[2], *again[2], *without[2];
            train(kind, s, with);
            train(kind, s, again);
            train(kind, (setting){0, 0, false, false}, without);
            assert_true(engine_same_bits(with[0], again[0]) && engine_same_bits(with[1], again[1]));
            mst_tensor_release(again[0]);
            mst_tensor_release(again[1]);
            assert_true(difference(with, without) > 1e-2);
        }
}

/* With a mask for each feature that is the same in all steps, a dropped feature has no gradient in any step. */
static void a_feature_is_dropped_in_all_steps_or_in_none(void **state) {
    (void)state;
    mst_tensor *out[2];
    int dropped = 0;
    train(0, (setting){0.5f, 0, false, false}, out);
    for (int64_t n = 0; n < ROWS; n++)
        for (int64_t f = 0; f < FEATURES; f++) {
            int zeros = 0;
            for (int64_t t = 0; t < STEPS; t++) zeros += mst_tensor_get(out[1], (n * STEPS + t) * FEATURES + f) == 0;
            assert_true(zeros == 0 || zeros == STEPS);
            dropped += zeros > 0;
        }
    assert_in_range(dropped, 1, ROWS * FEATURES - 1);
    mst_tensor_release(out[0]);
    mst_tensor_release(out[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_that_drops_nothing_changes_nothing),
        cmocka_unit_test(rates_drop_values_and_the_same_seed_the_same_ones),
        cmocka_unit_test(a_feature_is_dropped_in_all_steps_or_in_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
