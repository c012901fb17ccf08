/* Models as graphs of layers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "muster/ops.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 40, LEFT = 5, RIGHT = 3 };

static mst_model *new_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    return model;
}

/* The output for x filled with VALUE, of a model with one input of FEATURES features. */
static mst_value call_on(mst_graph *graph, mst_model *model, mst_shape shape, double value) {
    return mst_model_call(model, mst_fill(graph, MST_F32, shape, value), false);
}

static void check_is(mst_graph *graph, mst_value value, const double *expected, int count) {
    mst_session *session = engine_session(graph, NULL);
    EXPECT_OK(mst_session_init_variables(session));
    mst_tensor *tensor = engine_fetch(session, NULL, 0, value);
    assert_int_equal(mst_tensor_count(tensor), count);
    for (int i = 0; i < count; i++) assert_float_equal(mst_tensor_get(tensor, i), expected[i], 1e-6);
    mst_tensor_release(tensor);
    mst_session_destroy(session);
}

/* ---- graphs of layers ---- */

static void a_stack_and_the_same_written_as_a_graph_are_one_model(void **state) {
    (void)state;
    mst_tensor *predicted[2];
    mst_dataset *data = training_data(ROWS, LEFT, 3, 1);
    for (int i = 0; i < 2; i++) {
        mst_model *model = new_model();
        if (i == 0) {
            mst_flatten(model);
            mst_dense(model, 7, .activation = MST_TANH);
            mst_dropout(model, .rate = 0.25f);
            mst_dense(model, 3);
        } else {
            const mst_output x = mst_flatten(mst_input(model, MST_SHAPE(LEFT), .name = "features"));
            mst_output h = mst_dense(x, 7, .activation = MST_TANH);
            h = mst_dropout(h, .rate = 0.25f);
            mst_dense(h, 3);
        }
        EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.1), .seed = 5));
        EXPECT_OK(mst_fit(model, .data = data, .batch_size = 10, .epochs = 2));
        EXPECT_OK(mst_predict(model, data, 10, &predicted[i]));
        mst_model_destroy(model);
    }
    assert_memory_equal(mst_tensor_data(predicted[0]), mst_tensor_data(predicted[1]), mst_tensor_bytes(predicted[0]));
    for (int i = 0; i < 2; i++) mst_tensor_release(predicted[i]);
    mst_dataset_release(data);
}

static void a_shared_layer_has_one_set_of_weights(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_graph *graph = engine_graph();
    const mst_output a = mst_input(model, MST_SHAPE(2)), b = mst_input(model, MST_SHAPE(2));
    const mst_output x = mst_dense(a, 1, .kernel_initializer = mst_constant_initializer(3), .name = "shared");
    const mst_output last = mst_dense(a, 1, .name = "shared_2");
    mst_model_outputs(model, MST_OUTPUTS(x, mst_share(x, b), mst_share(x, a), last));
    static const char *const names[] = {"shared", "shared_1", "shared_3", "shared_2"};
    for (int i = 0; i < 4; i++) assert_string_equal(mst_model_output_name(model, i), names[i]);
    mst_model_outputs(model, MST_OUTPUTS(x, mst_share(x, b), mst_share(x, a)));
    assert_string_equal(mst_model_output_name(model, 2), "shared_2");
    const mst_value in[2] = {mst_fill(graph, MST_F32, MST_SHAPE(1, 2), 1),
                             mst_fill(graph, MST_F32, MST_SHAPE(1, 2), 2)};
    mst_value out[3];
    mst_model_call_all(model, in, 2, true, out, 3);
    assert_int_equal(mst_collection(graph, MST_VARIABLES, NULL, NULL, 0), 2);
    check_is(graph, mst_concat(out, 3, 1), (double[]){6, 12, 6}, 3);
    mst_model_destroy(model);
    mst_graph_destroy(graph);
}

static mst_value plus_one(mst_value y) {
    return mst_add(y, mst_ones_like(y));
}

static void a_layer_is_built_on_a_value_too(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    const mst_value x = mst_fill(graph, MST_F32, MST_SHAPE(1, 2, 2), 1);
    mst_value y = mst_flatten(x);
    assert_int_equal(mst_value_spec(y).shape.ndim, 2);
    y = mst_dense(y, 3, .kernel_initializer = mst_ones_initializer(), .bias_initializer = mst_constant_initializer(-5));
    y = mst_activate(mst_dropout(y, .rate = 0), MST_RELU);
    assert_non_null(mst_graph_find(graph, "dense/kernel"));
    check_is(graph, mst_concat((mst_value[]){y, mst_activate(plus_one(y), MST_RELU)}, 2, 1),
             (double[]){0, 0, 0, 1, 1, 1}, 6);
    mst_graph_destroy(graph);
}

static void dense_maps_the_last_axis(void **state) {
    (void)state;
    const double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, y[4] = {7, 16, 25, 34}, kernel[3] = {1, 1, 1};
    for (int num_open = 0; num_open < 3; num_open++) { /* dimensions that are not known while building */
        mst_tensor *ones = engine_tensor(MST_F32, MST_SHAPE(3, 1), kernel);
        mst_tensor *value = engine_tensor(MST_F32, MST_SHAPE(2, 2, 3), x);
        mst_model *model = new_model();
        mst_graph *graph = engine_graph();
        mst_input(model, MST_SHAPE(num_open > 1 ? -1 : 2, 3));
        mst_dense(model, 1, .kernel_initializer = mst_tensor_initializer(ones),
                  .bias_initializer = mst_ones_initializer());
        const mst_value src =
            mst_placeholder(graph, MST_F32, MST_SHAPE(num_open > 0 ? -1 : 2, num_open > 1 ? -1 : 2, 3), "x");
        const mst_value dst = mst_model_call(model, src, true);
        const mst_value kernel_value = {.node = mst_graph_find(graph, "dense/kernel")};
        mst_value gradient;
        mst_gradients(mst_reduce_sum(dst), &kernel_value, 1, &gradient);
        mst_session *session = engine_session(graph, NULL);
        EXPECT_OK(mst_session_init_variables(session));
        const mst_feed feed = {.value = src, .tensor = value};
        mst_tensor *out = engine_fetch(session, &feed, 1, dst), *slope = engine_fetch(session, &feed, 1, gradient);
        assert_int_equal(mst_tensor_shape(out).ndim, 3);
        assert_int_equal(mst_tensor_shape(out).dim[1], 2);
        for (int i = 0; i < 4; i++) assert_float_equal(mst_tensor_get(out, i), y[i], 1e-6);
        for (int i = 0; i < 3; i++) assert_float_equal(mst_tensor_get(slope, i), 22.F + 4.F * (float)i, 1e-5);
        mst_tensor *all[] = {ones, value, out, slope};
        for (int i = 0; i < 4; i++) mst_tensor_release(all[i]);
        mst_session_destroy(session);
        mst_model_destroy(model);
        mst_graph_destroy(graph);
    }
}

static void merges_join_element_by_element(void **state) {
    (void)state;
    static const struct {
        mst_merge_kind kind;
        const char *name;
        double expected;
    } cases[] = {
        {MST_MERGE_ADD, "add", 8},         {MST_MERGE_SUBTRACT, "subtract", -4}, {MST_MERGE_MULTIPLY, "multiply", 12},
        {MST_MERGE_AVERAGE, "average", 4}, {MST_MERGE_MAXIMUM, "maximum", 6},    {MST_MERGE_MINIMUM, "minimum", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_model *model = new_model();
        mst_graph *graph = engine_graph();
        const mst_output a = mst_input(model, MST_SHAPE(1)), b = mst_input(model, MST_SHAPE(1));
        mst_merge(MST_OUTPUTS(a, b), cases[i].kind);
        assert_string_equal(mst_model_output_name(model, 0), cases[i].name);
        const mst_value in[2] = {mst_fill(graph, MST_F32, MST_SHAPE(1, 1), 2),
                                 mst_fill(graph, MST_F32, MST_SHAPE(1, 1), 6)};
        mst_value out;
        mst_model_call_all(model, in, 2, false, &out, 1);
        check_is(graph, out, &cases[i].expected, 1);
        mst_model_destroy(model);
        mst_graph_destroy(graph);
    }
}

/* Batches meet, also where the number of examples is that of another dimension. */
static void merges_line_up_batches(void **state) {
    (void)state;
    enum { N = 3 };
    static const double wide[N * N * N], rows[N * N] = {1, 2, 3, 10, 20, 30, 100, 200, 300};
    for (int first = 0; first < 2; first++) {
        mst_model *model = new_model();
        mst_graph *graph = engine_graph();
        const mst_output a = mst_input(model, MST_SHAPE(N, N)), b = mst_input(model, MST_SHAPE(N));
        mst_merge(first ? MST_OUTPUTS(b, a) : MST_OUTPUTS(a, b), MST_MERGE_ADD);
        mst_tensor *tensor[2] = {engine_tensor(MST_F32, MST_SHAPE(N, N, N), wide),
                                 engine_tensor(MST_F32, MST_SHAPE(N, N), rows)};
        const mst_value in[2] = {mst_constant(graph, tensor[0]), mst_constant(graph, tensor[1])};
        mst_value out;
        double expected[N * N * N];
        for (int i = 0; i < N * N * N; i++) expected[i] = rows[i / (N * N) * N + i % N];
        mst_model_call_all(model, in, 2, false, &out, 1);
        check_is(graph, out, expected, N * N * N);
        for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
        mst_model_destroy(model);
        mst_graph_destroy(graph);
    }
}

static void concatenate_joins_along_an_axis(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_graph *graph = engine_graph();
    const mst_output a = mst_input(model, MST_SHAPE(1, 2)), b = mst_input(model, MST_SHAPE(2, 2));
    mst_model_outputs(model, MST_OUTPUTS(mst_concatenate(MST_OUTPUTS(a, b), .axis = 1)));
    const mst_value in[2] = {mst_fill(graph, MST_F32, MST_SHAPE(1, 1, 2), 1),
                             mst_fill(graph, MST_F32, MST_SHAPE(1, 2, 2), 2)};
    mst_value out;
    mst_model_call_all(model, in, 2, false, &out, 1);
    check_is(graph, out, (double[]){1, 1, 2, 2, 2, 2}, 6);
    mst_model_destroy(model);
    mst_graph_destroy(graph);
}

static void embedding_takes_rows_by_number(void **state) {
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        const double rows[6] = {0, 1, 10, 11, 20, 21}, ids[2] = {2, 0}, expected[4] = {20, 21, 0, 1};
        mst_model *model = new_model();
        mst_graph *graph = engine_graph();
        mst_tensor *table = engine_tensor(MST_F32, MST_SHAPE(3, 2), rows);
        mst_input(model, MST_SHAPE(2), .dtype = floats ? MST_F32 : MST_I32);
        mst_embedding(model, 3, 2, .initializer = mst_tensor_initializer(table));
        mst_tensor_release(table); /* the model retains it */
        mst_value y = mst_model_call(model, mst_values(graph, MST_I64, MST_SHAPE(1, 2), ids), false);
        check_is(graph, y, expected, 4);
        mst_model_destroy(model);
        mst_graph_destroy(graph);
    }
}

/* A fraction is cut, as in Keras; a cast alone would make row 0 of NaN. */
static void embedding_refuses_what_is_no_number(void **state) {
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY, 3, -1};
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        const bool is_good = i == sizeof bad / sizeof *bad;
        const double ids[2] = {1.75, is_good ? 0 : bad[i]};
        mst_model *model = new_model();
        mst_graph *graph = engine_graph();
        mst_tensor *out = NULL;
        mst_input(model, MST_SHAPE(2));
        mst_embedding(model, 3, 1);
        const mst_value y = mst_model_call(model, mst_values(graph, MST_F32, MST_SHAPE(1, 2), ids), false);
        mst_session *session = engine_session(graph, NULL);
        EXPECT_OK(mst_session_init_variables(session));
        if (is_good)
            mst_tensor_release(engine_fetch(session, NULL, 0, y));
        else
            EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, &out), MST_INVALID, "out of range: 0 to 2");
        if (i == 0 && !engine_compiles()) assert_non_null(strstr(mst_error()->message, "NaN"));
        mst_tensor_release(out);
        mst_session_destroy(session);
        mst_model_destroy(model);
        mst_graph_destroy(graph);
    }
}

static void layers_that_no_output_needs_are_not_built(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_graph *graph = engine_graph();
    const mst_output x = mst_input(model, MST_SHAPE(2));
    const mst_output used = mst_dense(x, 1, .name = "used");
    mst_dense(x, 4, .name = "unused");
    mst_model_outputs(model, MST_OUTPUTS(used));
    EXPECT_OK(mst_graph_check(mst_value_graph(call_on(graph, model, MST_SHAPE(1, 2), 1))));
    assert_non_null(mst_graph_find(graph, "used/kernel"));
    assert_null(mst_graph_find(graph, "unused/kernel"));
    mst_model_destroy(model);
    mst_graph_destroy(graph);
}

static mst_value doubled(void *context, mst_value x, bool training) {
    ++*(int *)context;
    return mst_scale(x, training ? 1 : 2);
}

static void a_lambda_sees_whether_it_is_training(void **state) {
    (void)state;
    int calls = 0;
    mst_model *model = new_model();
    mst_graph *graph = engine_graph();
    mst_lambda(model, doubled, &calls);
    check_is(graph, call_on(graph, model, MST_SHAPE(1), 4), (double[]){8}, 1);
    assert_int_equal(calls, 1);
    mst_model_destroy(model);
    mst_graph_destroy(graph);
}

static mst_value difference(void *context, const mst_value *src, int num_src, bool training) {
    (void)context, (void)training;
    assert_int_equal(num_src, 2);
    return mst_sub(src[0], src[1]);
}

static void a_lambda_joins_several_sources(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_graph *graph = engine_graph();
    const mst_output a = mst_input(model, MST_SHAPE(1)), b = mst_input(model, MST_SHAPE(1));
    mst_lambda(MST_OUTPUTS(a, b), NULL, .join = difference);
    mst_value out, in[2] = {mst_fill(graph, MST_F32, MST_SHAPE(1, 1), 7), mst_fill(graph, MST_F32, MST_SHAPE(1, 1), 2)};
    mst_model_call_all(model, in, 2, false, &out, 1);
    check_is(graph, out, (double[]){5}, 1);
    mst_lambda(MST_OUTPUTS(a, b), doubled, .name = "twice");
    mst_model_call_all(model, in, 2, false, &out, 1);
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID,
                 "lambda 'twice': its function takes 1 output, it is applied to 2");
    mst_lambda(a, doubled, .join = difference, .name = "both");
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "lambda 'both': has a function and a join");
    mst_model_destroy(model);
    mst_graph_destroy(graph);
}

/* ---- names, weights, summary ---- */

static void layers_are_named_by_type_and_number(void **state) {
    (void)state;
    mst_model *model = new_model();
    const mst_weight *weight;
    int64_t count;
    mst_input(model, MST_SHAPE(4));
    mst_dense(model, 3);
    mst_dense(model, 3, .name = "dense_2");
    mst_dense(model, 3, .no_bias = true);
    mst_dense(model, 3);
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    static const char *const names[] = {"dense/kernel",   "dense/bias",     "dense_2/kernel", "dense_2/bias",
                                        "dense_1/kernel", "dense_3/kernel", "dense_3/bias"};
    assert_int_equal(count, 7);
    for (int i = 0; i < 7; i++) {
        assert_string_equal(weight[i].name, names[i]);
        assert_true(strncmp(weight[i].name, weight[i].layer, strlen(weight[i].layer)) == 0);
        assert_true(weight[i].trainable);
    }
    assert_int_equal(weight[0].spec.shape.dim[0], 4);
    mst_model_destroy(model);
}

static char *summary(mst_model *model, const char *name) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    EXPECT_OK(mst_model_summary(model, name, file));
    fclose(file);
    return text;
}

/* Keras' order: farthest from the outputs first, without what no output needs; inputs are always there. */
static void layers_and_weights_are_in_keras_order(void **state) {
    (void)state;
    mst_model *model = new_model();
    const mst_weight *weight;
    int64_t count;
    const mst_output x = mst_input(model, MST_SHAPE(4), .name = "x"), y = mst_input(model, MST_SHAPE(2), .name = "y");
    mst_input(model, MST_SHAPE(3), .name = "alone");
    const mst_output head = mst_dense(x, 2, .name = "head", .no_bias = true);
    mst_dense(x, 5, .name = "unused");
    const mst_output low = mst_dense(y, 3, .name = "low", .no_bias = true);
    const mst_output high = mst_dense(low, 2, .name = "high", .no_bias = true);
    mst_model_outputs(model, MST_OUTPUTS(mst_merge(MST_OUTPUTS(head, high), MST_MERGE_ADD, .name = "sum")));
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    static const char *const names[] = {"low/kernel", "head/kernel", "high/kernel"};
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++) assert_string_equal(weight[i].name, names[i]);
    static const char *const lines[] = {"│ y (Input", "│ x (Input", "│ low (Den", "│ head (De",
                                        "│ high (De", "│ alone (I", "│ sum (Add"};
    char *text = summary(model, NULL);
    const char *at = text;
    assert_null(strstr(text, "unused"));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) assert_non_null(at = strstr(at, lines[i]));
    free(text);
    mst_model_destroy(model);
}

static void weights_are_those_in_the_store(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, LEFT, 3, 1);
    mst_model *model = training_model(4, 3, 0);
    const mst_weight *weight;
    int64_t count;
    EXPECT_ERROR(mst_model_weights(model, &weight, &count), MST_INVALID, "shapes of the model's inputs");
    EXPECT_OK(mst_compile(model, .seed = 1));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 10));
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    assert_int_equal(count, 4);
    for (int64_t i = 0; i < count; i++) {
        mst_tensor *value;
        EXPECT_OK(mst_store_get(mst_model_store(model), NULL, weight[i].name, &value));
        assert_true(mst_shape_equal(mst_tensor_shape(value), weight[i].spec.shape));
        mst_tensor_release(value);
    }
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void expect_summary(mst_model *model, const char *name, const char *expected) {
    char *text = summary(model, name);
    assert_string_equal(text, expected);
    free(text);
}

static void the_summary_of_a_stack_is_keras_table(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_input(model, MST_SHAPE(28, 28));
    mst_flatten(model);
    mst_dense(model, 500, .activation = MST_RELU, .name = "layer1");
    mst_dropout(model, .rate = 0.2f);
    mst_dense(model, 10);
    expect_summary(model, NULL,
                   "Model: \"sequential\"\n"
                   "┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓\n"
                   "┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃\n"
                   "┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩\n"
                   "│ flatten (Flatten)               │ (None, 784)            │             0 │\n"
                   "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                   "│ layer1 (Dense)                  │ (None, 500)            │       392,500 │\n"
                   "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                   "│ dropout (Dropout)               │ (None, 500)            │             0 │\n"
                   "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                   "│ dense (Dense)                   │ (None, 10)             │         5,010 │\n"
                   "└─────────────────────────────────┴────────────────────────┴───────────────┘\n"
                   " Total params: 397,510 (1.52 MB)\n"
                   " Trainable params: 397,510 (1.52 MB)\n"
                   " Non-trainable params: 0 (0.00 B)\n");
    mst_model_destroy(model);
}

static void the_summary_of_a_graph_says_what_is_connected(void **state) {
    (void)state;
    mst_model *model = new_model();
    const mst_output a = mst_input(model, MST_SHAPE(16), .name = "left");
    const mst_output b = mst_input(model, MST_SHAPE(16), .name = "right");
    const mst_output d = mst_dense(a, 8, .name = "dense_3");
    const mst_output x = mst_merge(MST_OUTPUTS(d, mst_share(d, b)), MST_MERGE_ADD);
    const mst_output c =
        mst_concatenate(MST_OUTPUTS(x, a), .name = "a_name_that_is_rather_long_for_a_layer_in_this_table");
    mst_model_outputs(model, MST_OUTPUTS(mst_dense(c, 3, .name = "out"), mst_dense(x, 1, .name = "aux")));
    expect_summary(model, "functional_1",
                   "Model: \"functional_1\"\n"
                   "┏━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┓\n"
                   "┃ Layer (type)        ┃ Output Shape      ┃    Param # ┃ Connected to      ┃\n"
                   "┡━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━┩\n"
                   "│ left (InputLayer)   │ (None, 16)        │          0 │ -                 │\n"
                   "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                   "│ right (InputLayer)  │ (None, 16)        │          0 │ -                 │\n"
                   "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                   "│ dense_3 (Dense)     │ (None, 8)         │        136 │ left[0][0],       │\n"
                   "│                     │                   │            │ right[0][0]       │\n"
                   "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                   "│ add (Add)           │ (None, 8)         │          0 │ dense_3[0][0],    │\n"
                   "│                     │                   │            │ dense_3[1][0]     │\n"
                   "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                   "│ a_name_that_is_rat… │ (None, 24)        │          0 │ add[0][0],        │\n"
                   "│ (Concatenate)       │                   │            │ left[0][0]        │\n"
                   "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                   "│ out (Dense)         │ (None, 3)         │         75 │ a_name_that_is_r… │\n"
                   "├─────────────────────┼───────────────────┼────────────┼───────────────────┤\n"
                   "│ aux (Dense)         │ (None, 1)         │          9 │ add[0][0]         │\n"
                   "└─────────────────────┴───────────────────┴────────────┴───────────────────┘\n"
                   " Total params: 220 (880.00 B)\n"
                   " Trainable params: 220 (880.00 B)\n"
                   " Non-trainable params: 0 (0.00 B)\n");
    mst_model_destroy(model);
}

static void the_summary_says_what_is_not_known_yet(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, LEFT, 3, 1);
    mst_model *model = training_model(4, 3, 0);
    char *text = summary(model, NULL);
    assert_non_null(strstr(text, "│ dense (Dense)                   │ ?                      │   0 (unbuilt) │\n"));
    free(text);
    EXPECT_OK(mst_compile(model, .seed = 1));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 10));
    text = summary(model, NULL);
    assert_non_null(strstr(text, "│ dense (Dense)                   │ (None, 4)              │            24 │\n"));
    free(text);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* ---- errors ---- */

static void the_first_mistake_is_kept(void **state) {
    (void)state;
    mst_model *model = new_model(), *other = new_model();
    const mst_output x = mst_dense(model, 3, .name = "one");
    EXPECT_OK(mst_model_check(model));
    mst_dense(x, 4, .name = "one");
    mst_dense(model, 0);
    EXPECT_ERROR(mst_model_check(model), MST_EXISTS, "has a layer 'one' already");
    EXPECT_ERROR(mst_compile(model, .seed = 1), MST_EXISTS, "has a layer 'one' already");
    mst_model_destroy(model);

    const mst_output theirs = mst_dense(other, 3);
    model = new_model();
    mst_merge(MST_OUTPUTS(mst_dense(model, 3), theirs), MST_MERGE_ADD);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "output of another model");
    mst_model_destroy(model);

    model = new_model();
    mst_merge(MST_OUTPUTS(mst_dense(model, 3)), MST_MERGE_ADD);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "applied to 1 outputs, takes at least 2");
    mst_model_destroy(model);

    model = new_model();
    mst_dense(model, 3, .name = "a b");
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "name 'a b'");
    mst_model_destroy(model);

    model = new_model();
    mst_dropout(model, .rate = 1);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "rate is 1, must be between 0 and 1");
    mst_model_destroy(model);
    mst_model_destroy(other);
}

/* Names become paths and keys of files. */
static void names_that_no_file_can_have_are_refused(void **state) {
    static const char *const refused[] = {"../x", "a/../b", "a/..", ".", "..",   "a/./b", "/a",
                                          "a/",   "a//b",   "/",    "",  "a\nb", "a b",   "\x1b[1m"};
    static const char *const taken[] = {"a", "a/b", "a/b/c.d", "...", "a..b", ".a/b.", "-", "block_1/conv-2"};
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        mst_model *model = new_model();
        mst_dense(model, 3, .name = refused[i]);
        EXPECT_ERROR(mst_model_check(model), MST_INVALID, "use letters, digits, '_', '.' and '-', in parts");
        assert_null(strpbrk(mst_error()->message, "\n\x1b"));
        mst_model_destroy(model);
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        mst_model *model = new_model();
        mst_dense(model, 3, .name = taken[i]);
        EXPECT_OK(mst_model_check(model));
        mst_model_destroy(model);
    }
}

static void a_call_with_the_wrong_values_names_the_input(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_graph *graph = engine_graph();
    mst_dense(mst_input(model, MST_SHAPE(2, 3), .name = "image"), 1);
    mst_value y = call_on(graph, model, MST_SHAPE(1, 4, 3), 1);
    assert_true(mst_value_is_none(y));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "input 'image' is f32[1, 4, 3], examples must be f32[2, 3]");
    mst_graph_destroy(graph);
    graph = engine_graph();
    const mst_value two[2] = {mst_fill(graph, MST_F32, MST_SHAPE(1, 2, 3), 1), mst_fill(graph, MST_F32, MST_SCALAR, 1)};
    mst_model_call_all(model, two, 2, false, &y, 1);
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "it has 1 input and 1 output, and is called with 2 and 1");
    mst_graph_destroy(graph);
    mst_model_destroy(model);
}

static void a_call_of_a_model_that_has_failed_gives_the_graph_its_whole_error(void **state) {
    (void)state;
    enum { LONG = 700 };
    char name[LONG + 1] = "", message[2 * LONG];
    mst_model *model = new_model();
    mst_graph *graph = engine_graph();
    memset(name, 'a', LONG);
    name[LONG / 2] = ' ';
    mst_dense(model, 3, .name = name);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, name);
    const mst_error_info kept = *mst_error();
    snprintf(message, sizeof message, "%s", kept.message);
    assert_true(mst_value_is_none(call_on(graph, model, MST_SHAPE(1, 2), 1)));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, name);
    assert_string_equal(mst_error()->message, message);
    assert_string_equal(mst_error()->file, kept.file);
    assert_int_equal(mst_error()->line, kept.line);
    mst_graph_destroy(graph);
    mst_model_destroy(model);
}

static void a_layer_on_a_value_fails_with_the_error_of_the_layer_in_a_model(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_graph *graph = engine_graph();
    mst_dense(model, -1, .name = "wrong");
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "'wrong'");
    const mst_error_info kept = *mst_error();
    char message[512];
    snprintf(message, sizeof message, "%s", kept.message);
    assert_true(mst_value_is_none(mst_dense(engine_input(graph, "x", MST_SHAPE(1, 2)), -1, .name = "wrong")));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, message);
    assert_string_equal(mst_error()->file, kept.file);
    assert_int_equal(mst_error()->line, kept.line);
    mst_graph_destroy(graph);
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_and_the_same_written_as_a_graph_are_one_model),
        cmocka_unit_test(a_shared_layer_has_one_set_of_weights),
        cmocka_unit_test(a_layer_is_built_on_a_value_too),
        cmocka_unit_test(dense_maps_the_last_axis),
        cmocka_unit_test(merges_join_element_by_element),
        cmocka_unit_test(merges_line_up_batches),
        cmocka_unit_test(concatenate_joins_along_an_axis),
        cmocka_unit_test(embedding_takes_rows_by_number),
        cmocka_unit_test(embedding_refuses_what_is_no_number),
        cmocka_unit_test(layers_that_no_output_needs_are_not_built),
        cmocka_unit_test(a_lambda_sees_whether_it_is_training),
        cmocka_unit_test(a_lambda_joins_several_sources),
        cmocka_unit_test(layers_are_named_by_type_and_number),
        cmocka_unit_test(layers_and_weights_are_in_keras_order),
        cmocka_unit_test(weights_are_those_in_the_store),
        cmocka_unit_test(the_summary_of_a_stack_is_keras_table),
        cmocka_unit_test(the_summary_of_a_graph_says_what_is_connected),
        cmocka_unit_test(the_summary_says_what_is_not_known_yet),
        cmocka_unit_test(the_first_mistake_is_kept),
        cmocka_unit_test(names_that_no_file_can_have_are_refused),
        cmocka_unit_test(a_call_with_the_wrong_values_names_the_input),
        cmocka_unit_test(a_call_of_a_model_that_has_failed_gives_the_graph_its_whole_error),
        cmocka_unit_test(a_layer_on_a_value_fails_with_the_error_of_the_layer_in_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
