/* The messages for wrong labels, and rows with infinities or NaN. The examples of the ops test values and gradients. */
#include <math.h>

#include "support/test.h"

static void expect_label_error(mst_dtype dtype, double label, const char *message) {
    mst_graph *graph = engine_graph();
    mst_value logits = mst_fill(graph, MST_F32, MST_SHAPE(3, 4), 0);
    mst_value labels = mst_placeholder(.graph = graph, .dtype = dtype, .shape = MST_SHAPE(3));
    mst_value loss = mst_rename(mst_sparse_softmax_cross_entropy(logits, labels), "loss");
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *tensor = engine_tensor(dtype, MST_SHAPE(3), (const double[]){0, 3, label}), *output = NULL;
    EXPECT_ERROR(mst_session_run(session, &(mst_feed){.value = labels, .tensor = tensor}, 1, &loss, 1, &output),
                 MST_INVALID, engine_compiles() ? "'loss': a label is not one of the 4 classes, 0 to 3" : message);
    assert_string_equal(mst_error()->node, "loss");
    mst_tensor_release(tensor);
    mst_tensor_release(output);
    engine_end(graph, session);
}

static void a_label_that_is_no_class_is_named_with_its_row(void **state) {
    (void)state;
    expect_label_error(MST_I32, 4, "'loss': label 4 of row 2 is not one of the 4 classes, 0 to 3");
    expect_label_error(MST_I64, -1, "'loss': label -1 of row 2 is not one of the 4 classes, 0 to 3");
    expect_label_error(MST_U8, 255, "'loss': label 255 of row 2 is not one of the 4 classes, 0 to 3");
}

static mst_tensor *of_rows(mst_value (*op)(mst_value), mst_dtype dtype, const double *row) {
    mst_graph *graph = engine_graph();
    mst_value result = op(mst_values(graph, dtype, MST_SHAPE(2, 3), row));
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *tensor = engine_fetch(session, NULL, 0, result);
    engine_end(graph, session);
    return tensor;
}

static void nan_shows_in_its_row_only(void **state) {
    (void)state;
    for (mst_dtype dtype = MST_F32; dtype <= MST_F64; dtype++) {
        const double bad[] = {NAN, INFINITY};
        for (int i = 0; i < 2; i++) {
            mst_tensor *p = of_rows(mst_softmax, dtype, (const double[]){0, bad[i], 0, 0, 0, -INFINITY});
            for (int e = 0; e < 3; e++) assert_true(isnan(mst_tensor_get(p, e)));
            assert_true(mst_tensor_get(p, 3) == 0.5 && mst_tensor_get(p, 4) == 0.5 && mst_tensor_get(p, 5) == 0);
            mst_tensor_release(p);
            p = of_rows(mst_log_softmax, dtype, (const double[]){0, 0, bad[i], 0, -INFINITY, -INFINITY});
            for (int e = 0; e < 3; e++) assert_true(isnan(mst_tensor_get(p, e)));
            assert_true(mst_tensor_get(p, 3) == 0 && mst_tensor_get(p, 4) == -INFINITY);
            mst_tensor_release(p);
        }
    }
}

/* f32 rows use an exponential of their own. In f32 the difference to the maximum, up to 120, is off by up to 4e-6. */
static void f32_softmax_is_that_of_f64_rounded(void **state) {
    (void)state;
    enum { ROWS = 40, CLASSES = 37 };
    mst_graph *graph = engine_graph();
    mst_tensor *logits = engine_random(MST_F32, MST_SHAPE(ROWS, CLASSES), -60, 60, 3);
    mst_value src = mst_constant(graph, logits);
    mst_value wide = mst_softmax(mst_cast(src, MST_F64)), narrow = mst_softmax(src);
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *outputs[2] = {NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, (const mst_value[]){wide, narrow}, 2, outputs));
    for (int64_t i = 0; i < ROWS * CLASSES; i++) {
        const double want = mst_tensor_get(outputs[0], i), have = mst_tensor_get(outputs[1], i);
        assert_true(fabs(have - want) <= 5e-6 * want + 2e-38);
    }
    for (int i = 0; i < 2; i++) mst_tensor_release(outputs[i]);
    mst_tensor_release(logits);
    engine_end(graph, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_label_that_is_no_class_is_named_with_its_row),
        cmocka_unit_test(nan_shows_in_its_row_only),
        cmocka_unit_test(f32_softmax_is_that_of_f64_rounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
