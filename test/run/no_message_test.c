/* Functions of the user that fail without recording an error: each failure has a message of its own, whatever failed
 * before. */
#include "muster/muster.h"
#include "support/test.h"
#include "support/training.h"

static mst_status infer(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_status kernel(const mst_kernel_args *a) {
    (void)a;
    return MST_NOT_FOUND;
}

static mst_status body(void *context, int64_t begin, int64_t end, int thread) {
    (void)context, (void)begin, (void)end, (void)thread;
    return MST_NOT_FOUND;
}

static mst_status shared_kernel(const mst_kernel_args *a) {
    return mst_parallel(a, 1000, 1, body, NULL);
}

static const mst_op bad = {.name = "bad", .num_src = 1, .num_dst = 1, .infer = infer, .reference = kernel},
                    bad_shared = {
                        .name = "bad", .num_src = 1, .num_dst = 1, .infer = infer, .reference = shared_kernel};

/* The last error has the code that the function is going to return. */
static void leave_an_old_error(void) {
    mst_error_set(MST_NOT_FOUND, "", 0, "an old error");
}

static void failing_kernel_without_a_message_is_named(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value y = mst_call_named(g, &bad, "worst", 1, (mst_value[]){engine_input(g, "x", MST_SHAPE(2))}, NULL);
    mst_session *s = engine_session(g, "cpu:1/1");
    mst_tensor *x = engine_tensor(MST_F32, MST_SHAPE(2), (const double[]){1, 2}), *out = NULL;
    const mst_feed feed = {.value = mst_node_src(mst_graph_find(g, "worst"), 0), .tensor = x};
    for (int i = 0; i < 2; i++) {
        leave_an_old_error();
        EXPECT_ERROR(mst_session_run(s, &feed, 1, &y, 1, &out), MST_NOT_FOUND,
                     "bad 'worst' failed (not found) without a message");
        assert_string_equal(mst_error()->node, "worst");
    }
    mst_tensor_release(x);
    mst_tensor_release(out);
    engine_end(g, s);
}

static void threads_of_a_device_give_the_same_message(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value y = mst_call_named(g, &bad_shared, "worst", 1, (mst_value[]){mst_global_step(g)}, NULL);
    mst_session *s = engine_session(g, "cpu:1/2");
    mst_tensor *out = NULL;
    leave_an_old_error();
    EXPECT_ERROR(mst_session_run(s, NULL, 0, &y, 1, &out), MST_NOT_FOUND, "not found, without a message");
    assert_string_equal(mst_error()->node, "worst");
    mst_tensor_release(out);
    engine_end(g, s);
}

static mst_status fill(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    (void)context, (void)spec, (void)first_row, (void)dst;
    return MST_NOT_FOUND;
}

static void message_of_a_feed_is_the_same_in_each_run(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2)), y = mst_neg(x);
    mst_session *s = engine_session(g, NULL);
    const mst_feed feed = {.value = x, .fill = fill, .spec = {MST_F32, MST_SHAPE(2)}};
    for (int i = 0; i < 3; i++) {
        mst_tensor *out = NULL;
        leave_an_old_error();
        assert_int_equal(mst_session_run(s, &feed, 1, &y, 1, &out), MST_NOT_FOUND);
        assert_string_equal(mst_error()->message, "feeding 'x': not found, without a message");
        assert_int_equal(mst_session_run(s, &feed, 1, &y, 1, &out), MST_NOT_FOUND);
        assert_string_equal(mst_error()->message, "feeding 'x': not found, without a message");
        mst_tensor_release(out);
    }
    engine_end(g, s);
}

static mst_status map(const mst_array *in, mst_array *out, void *context) {
    (void)in, (void)out, (void)context;
    return MST_NOT_FOUND;
}

static void message_of_a_map_is_the_same_for_each_row(void **state) {
    (void)state;
    const mst_spec row = {.dtype = MST_F32};
    mst_dataset *data = training_data(8, 2, 2, 1), *mapped;
    mst_iterator *it;
    const mst_batch *batch;
    float value;
    EXPECT_OK(mst_dataset_map(data, map, NULL, &row, 1, &mapped));
    EXPECT_OK(mst_iterator_create(mapped, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    leave_an_old_error();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mst_batch_copy(batch, 0, 0, 1, &value), MST_NOT_FOUND);
        assert_string_equal(mst_error()->message, "map: the function failed on row 0");
    }
    mst_iterator_destroy(it);
    mst_dataset_release(mapped);
    mst_dataset_release(data);
}

static mst_status fails(void *context, mst_train_state *state) {
    (void)context, (void)state;
    return MST_NOT_FOUND;
}

static void callback_has_a_message_wherever_it_fails(void **state) {
    (void)state;
    const mst_callback callbacks[] = {{.train_begin = fails},
                                      {.epoch_begin = fails},
                                      {.step_end = fails},
                                      {.epoch_end = fails},
                                      {.train_end = fails}};
    mst_dataset *data = training_data(8, 2, 2, 1);
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++) {
        mst_model *model = training_model(2, 2, 0);
        EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1/1"}));
        leave_an_old_error();
        EXPECT_ERROR(mst_fit(model, data, .batch_size = 4, .callbacks = &callbacks[i], .num_callbacks = 1),
                     MST_NOT_FOUND, "not found, without a message");
        mst_model_destroy(model);
    }
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_kernel_without_a_message_is_named),
        cmocka_unit_test(threads_of_a_device_give_the_same_message),
        cmocka_unit_test(message_of_a_feed_is_the_same_in_each_run),
        cmocka_unit_test(message_of_a_map_is_the_same_for_each_row),
        cmocka_unit_test(callback_has_a_message_wherever_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
