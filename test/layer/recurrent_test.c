/* Layers over sequences: initial states, the order of steps, which steps attention sees, and mistakes. test/parity
 * compares values and files with Keras. */
#include <math.h>
#include <string.h>

#include "muster/ops.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 3, STEPS = 5, FEATURES = 4, UNITS = 6 };

static mst_model *new_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    return model;
}

/* Numbers of [ROWS, STEPS, FEATURES], from the last step to the first where REVERSED is true. */
static mst_tensor *sequences(bool reversed) {
    mst_tensor *x = engine_tensor(MST_F32, MST_SHAPE(ROWS, STEPS, FEATURES), NULL);
    for (int64_t row = 0; row < ROWS; row++)
        for (int64_t t = 0; t < STEPS; t++)
            for (int64_t i = 0; i < FEATURES; i++) {
                const int64_t at = reversed ? STEPS - 1 - t : t;
                mst_tensor_set(x, (row * STEPS + at) * FEATURES + i, sin((double)(row * 31 + t * 7 + i * 3)));
            }
    return x;
}

/* What MODEL gives for X with the initial values of seed 1; MODEL is destroyed, X released. */
static mst_tensor *given(mst_model *model, mst_tensor *x) {
    mst_graph *graph = engine_graph();
    mst_session *session;
    mst_tensor *y = NULL;
    mst_graph_set_seed(graph, 1);
    const mst_value out = mst_model_call(model, mst_constant(graph, x), false);
    EXPECT_OK(mst_graph_check(graph));
    EXPECT_OK(mst_session_create(graph, NULL, &session));
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(mst_session_run(session, NULL, 0, &out, 1, &y));
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    mst_tensor_release(x);
    mst_model_destroy(model);
    return y;
}

static void expect_near(const mst_tensor *a, int64_t at, const mst_tensor *b, int64_t to, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        assert_true(fabs(mst_tensor_get(a, at + i) - mst_tensor_get(b, to + i)) <= 1e-6);
}

enum { LSTM, GRU, SIMPLE_RNN, NUM_KINDS };

static mst_model *recurrent(int kind, bool sequences, bool backwards) {
    mst_model *model = new_model();
    if (kind == LSTM)
        mst_lstm(model, UNITS, .return_sequences = sequences, .go_backwards = backwards);
    else if (kind == GRU)
        mst_gru(model, UNITS, .return_sequences = sequences, .go_backwards = backwards);
    else
        mst_simple_rnn(model, UNITS, .return_sequences = sequences, .go_backwards = backwards);
    return model;
}

static void backwards_is_forwards_over_the_steps_turned_round(void **state) {
    (void)state;
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        mst_tensor *all = given(recurrent(kind, true, false), sequences(false));
        mst_tensor *all_back = given(recurrent(kind, true, true), sequences(true));
        mst_tensor *last = given(recurrent(kind, false, false), sequences(false));
        mst_tensor *last_back = given(recurrent(kind, false, true), sequences(true));
        assert_true(mst_shape_equal(mst_tensor_shape(all), MST_SHAPE(ROWS, STEPS, UNITS)));
        assert_true(mst_shape_equal(mst_tensor_shape(last), MST_SHAPE(ROWS, UNITS)));
        expect_near(all, 0, all_back, 0, ROWS * STEPS * UNITS);
        expect_near(last, 0, last_back, 0, ROWS * UNITS);
        for (int64_t row = 0; row < ROWS; row++)
            expect_near(last, row * UNITS, all, (row * STEPS + STEPS - 1) * UNITS, UNITS);
        mst_tensor_release(all), mst_tensor_release(all_back), mst_tensor_release(last), mst_tensor_release(last_back);
    }
}

static mst_tensor *first_value(mst_model *model, const char *weight) {
    const mst_weight *weights;
    int64_t count;
    mst_tensor *value = NULL, *x = sequences(false);
    mst_graph *graph = engine_graph();
    mst_session *session;
    const mst_value y = mst_model_call(model, mst_constant(graph, x), true);
    (void)y;
    EXPECT_OK(mst_model_weights(model, &weights, &count));
    EXPECT_OK(mst_session_create(graph, NULL, &session));
    EXPECT_OK(mst_session_init_variables(session));
    for (int64_t i = 0; i < count; i++)
        if (strcmp(weights[i].name, weight) == 0)
            EXPECT_OK(mst_store_get(mst_session_store(session), NULL, weight, &value));
    assert_non_null(value);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    mst_tensor_release(x);
    mst_model_destroy(model);
    return value;
}

static mst_model *lstm_with(mst_layer_lstm_options options) {
    mst_model *model = new_model();
    mst_input(model, MST_SHAPE(STEPS, FEATURES));
    options.units = UNITS;
    mst_layer_append("lstm", mst_source_model(model), &options);
    return model;
}

static void the_forget_gate_begins_open(void **state) {
    (void)state;
    mst_tensor *bias = first_value(lstm_with((mst_layer_lstm_options){0}), "lstm/lstm_cell/bias");
    for (int64_t i = 0; i < 4 * UNITS; i++) assert_true(mst_tensor_get(bias, i) == (i / UNITS == 1 ? 1 : 0));
    mst_tensor_release(bias);
    bias = first_value(lstm_with((mst_layer_lstm_options){.no_unit_forget_bias = true}), "lstm/lstm_cell/bias");
    for (int64_t i = 0; i < 4 * UNITS; i++) assert_true(mst_tensor_get(bias, i) == 0);
    mst_tensor_release(bias);
    const mst_initializer ones = mst_ones_initializer(), half = mst_constant_initializer(0.5);
    bias = first_value(lstm_with((mst_layer_lstm_options){.bias_initializer = ones}), "lstm/lstm_cell/bias");
    for (int64_t i = 0; i < 4 * UNITS; i++) assert_true(mst_tensor_get(bias, i) == 1);
    mst_tensor_release(bias);
    bias = first_value(lstm_with((mst_layer_lstm_options){.bias_initializer = half}), "lstm/lstm_cell/bias");
    for (int64_t i = 0; i < 4 * UNITS; i++) assert_true(mst_tensor_get(bias, i) == (i / UNITS == 1 ? 1 : 0.5));
    mst_tensor_release(bias);
}

static void the_rows_of_a_recurrent_kernel_begin_orthogonal(void **state) {
    (void)state;
    mst_tensor *kernel = first_value(lstm_with((mst_layer_lstm_options){0}), "lstm/lstm_cell/recurrent_kernel");
    for (int64_t a = 0; a < UNITS; a++)
        for (int64_t b = 0; b <= a; b++) {
            double product = 0;
            for (int64_t i = 0; i < 4 * UNITS; i++)
                product += mst_tensor_get(kernel, a * 4 * UNITS + i) * mst_tensor_get(kernel, b * 4 * UNITS + i);
            assert_true(fabs(product - (a == b)) < 1e-6);
        }
    mst_tensor_release(kernel);
}

static mst_tensor *attended(bool causal, double last) {
    mst_model *model = new_model();
    mst_tensor *x = sequences(false);
    mst_tensor_set(x, STEPS * FEATURES - 1, last); /* of the last step of the first row */
    mst_multi_head_attention(model, 2, 3, .causal = causal);
    return given(model, x);
}

static void with_a_causal_mask_a_step_does_not_see_those_behind_it(void **state) {
    (void)state;
    for (int causal = 0; causal < 2; causal++) {
        mst_tensor *a = attended(causal, 0), *b = attended(causal, 2);
        double before = 0, there = 0;
        for (int64_t i = 0; i < STEPS * FEATURES; i++) {
            const double far = fabs(mst_tensor_get(a, i) - mst_tensor_get(b, i));
            if (i < (STEPS - 1) * FEATURES)
                before = fmax(before, far);
            else
                there = fmax(there, far);
        }
        assert_true(there > 1e-3);
        assert_true(causal ? before == 0 : before > 1e-3);
        mst_tensor_release(a), mst_tensor_release(b);
    }
}

static const mst_initializer SMALL = {.kind = MST_INITIALIZER_CONSTANT, .value = 0.1};

static mst_model *of_direction(int direction, bool sequences) {
    mst_model *model = new_model();
    if (direction < 2)
        mst_lstm(model, UNITS, .kernel_initializer = SMALL, .recurrent_initializer = SMALL,
                 .go_backwards = direction == 1, .return_sequences = sequences);
    else
        mst_bidirectional(model, UNITS, .kernel_initializer = SMALL, .recurrent_initializer = SMALL,
                          .return_sequences = sequences);
    return model;
}

static void both_directions_stand_beside_each_other_in_the_order_of_steps(void **state) {
    (void)state;
    for (int with_steps = 0; with_steps < 2; with_steps++) {
        mst_tensor *y[3];
        for (int i = 0; i < 3; i++) y[i] = given(of_direction(i, with_steps), sequences(false));
        const int64_t steps = with_steps ? STEPS : 1;
        for (int64_t row = 0; row < ROWS * steps; row++) {
            const int64_t back = row / steps * steps + steps - 1 - row % steps; /* backwards: in the order it goes */
            expect_near(y[2], row * 2 * UNITS, y[0], row * UNITS, UNITS);
            expect_near(y[2], (row * 2 + 1) * UNITS, y[1], back * UNITS, UNITS);
        }
        for (int i = 0; i < 3; i++) mst_tensor_release(y[i]);
    }
}

/* The first COUNT steps of sequences(false), with BEFORE steps of 7 before them and BEHIND steps of 7 after them. */
static mst_tensor *padded(int64_t before, int64_t count, int64_t behind) {
    const int64_t steps = before + count + behind;
    mst_tensor *all = sequences(false), *x = engine_tensor(MST_F32, MST_SHAPE(ROWS, steps, FEATURES), NULL);
    for (int64_t row = 0; row < ROWS; row++)
        for (int64_t t = 0; t < steps; t++)
            for (int64_t i = 0; i < FEATURES; i++)
                mst_tensor_set(x, (row * steps + t) * FEATURES + i,
                               t < before || t >= before + count
                                   ? 7
                                   : mst_tensor_get(all, (row * STEPS + t - before) * FEATURES + i));
    mst_tensor_release(all);
    return x;
}

enum { MEAN = NUM_KINDS, BOTH, NUM_MASKED };

static mst_model *masked(int kind, bool backwards) {
    mst_model *model = new_model();
    mst_masking(model, .mask_value = 7);
    if (kind == LSTM)
        mst_lstm(model, UNITS, .kernel_initializer = SMALL, .go_backwards = backwards);
    else if (kind == GRU)
        mst_gru(model, UNITS, .kernel_initializer = SMALL, .go_backwards = backwards);
    else if (kind == SIMPLE_RNN)
        mst_simple_rnn(model, UNITS, .kernel_initializer = SMALL, .go_backwards = backwards);
    else if (kind == BOTH)
        mst_bidirectional(model, UNITS, .cell = MST_RECURRENT_GRU, .merge_mode = MST_MERGE_MODE_MUL);
    else
        mst_global_average_pooling1d(mst_dropout(model, .rate = 0.5F));
    return model;
}

static void steps_that_a_mask_leaves_out_change_nothing(void **state) {
    (void)state;
    for (int kind = 0; kind < NUM_MASKED; kind++)
        for (int backwards = 0; backwards < 2; backwards++) {
            mst_tensor *y = given(masked(kind, backwards), padded(0, 3, 0));
            mst_tensor *longer = given(masked(kind, backwards), padded(2, 3, 4));
            expect_near(longer, 0, y, 0, mst_tensor_count(y));
            mst_tensor_release(y), mst_tensor_release(longer);
        }
}

static void expect_no_mask(mst_model *model, const char *message) {
    mst_graph *graph = engine_graph();
    mst_value y = mst_model_call(model, mst_fill(graph, MST_I32, MST_SHAPE(2, 8), 1), true);
    (void)y;
    EXPECT_ERROR(mst_graph_check(graph), MST_UNIMPLEMENTED, message);
    mst_graph_destroy(graph);
    mst_model_destroy(model);
}

static void masks_that_would_be_lost_are_told(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_input(model, MST_SHAPE(8), .dtype = MST_I32);
    mst_embedding(model, 4, 3, .mask_zero = true);
    mst_lstm(model, 3, .return_sequences = true, .name = "tags");
    expect_no_mask(model, "output 'tags' has a mask, which a loss of your own would not know");
    model = new_model();
    mst_input(model, MST_SHAPE(8), .dtype = MST_I32);
    mst_embedding(model, 4, 3, .mask_zero = true);
    mst_batch_normalization(model, .name = "norm");
    expect_no_mask(model, "batch_normalization 'norm': its source has a mask");
}

static void expect_refusal(mst_model *model, mst_shape shape, const char *message) {
    mst_graph *graph = engine_graph();
    mst_value y = mst_model_call(model, mst_fill(graph, MST_F32, shape, 1), true);
    (void)y;
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, message);
    mst_graph_destroy(graph);
    mst_model_destroy(model);
}

static void mistakes_name_the_layer_and_what_it_needs(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_lstm(model, 3, .name = "remember");
    expect_refusal(model, MST_SHAPE(2, 8), "lstm 'remember': needs [n, steps, features]");
    mst_gru(model = new_model(), 3, .name = "remember");
    expect_refusal(model, MST_SHAPE(2, 8), "gru 'remember': needs [n, steps, features]");
    mst_simple_rnn(model = new_model(), 3, .name = "remember");
    expect_refusal(model, MST_SHAPE(2, 8), "simple_rnn 'remember': needs [n, steps, features]");
    mst_bidirectional(model = new_model(), 3, .name = "remember");
    expect_refusal(model, MST_SHAPE(2, 8), "lstm 'forward_lstm': needs [n, steps, features]");
    mst_masking(model = new_model(), .name = "leave");
    expect_refusal(model, MST_SHAPE(2, 8), "masking 'leave': needs [n, steps, features]");
    mst_multi_head_attention(model = new_model(), 2, 3, .name = "look");
    expect_refusal(model, MST_SHAPE(2, 8), "multi_head_attention 'look': needs [n, steps, features]");
    mst_lstm(model = new_model(), 3, .bias_initializer = mst_he_normal_initializer(), .name = "remember");
    EXPECT_ERROR(mst_model_check(model), MST_UNIMPLEMENTED, "give no_unit_forget_bias");
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backwards_is_forwards_over_the_steps_turned_round),
        cmocka_unit_test(the_forget_gate_begins_open),
        cmocka_unit_test(the_rows_of_a_recurrent_kernel_begin_orthogonal),
        cmocka_unit_test(with_a_causal_mask_a_step_does_not_see_those_behind_it),
        cmocka_unit_test(both_directions_stand_beside_each_other_in_the_order_of_steps),
        cmocka_unit_test(steps_that_a_mask_leaves_out_change_nothing),
        cmocka_unit_test(masks_that_would_be_lost_are_told),
        cmocka_unit_test(mistakes_name_the_layer_and_what_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
