/* Feeds and outputs of a run: tensors and functions that fill them, outputs that are written in place or replaced,
 * and feeds that are refused with the name of their placeholder. */
#include <stdatomic.h>

#include "support/test.h"

typedef struct fixture {
    mst_graph *graph;
    mst_value x, y;
    mst_session *session;
} fixture;

static fixture begin(void) {
    fixture f = {.graph = engine_graph()};
    f.x = engine_input(f.graph, "images", MST_SHAPE(-1, 3));
    f.y = mst_scale(f.x, 2);
    f.session = engine_session(f.graph, NULL);
    return f;
}

static void expect_refused(fixture *f, const mst_feed *feeds, int num_feeds, const char *text) {
    EXPECT_ERROR(mst_session_run(f->session, feeds, num_feeds, &f->y, 1, NULL), MST_INVALID, text);
}

static void feeds_of_a_wrong_dtype_or_shape_are_refused(void **state) {
    (void)state;
    fixture f = begin();
    const struct {
        mst_dtype dtype;
        mst_shape shape;
        const char *text;
    } bad[] = {
        {MST_F64, MST_SHAPE(2, 3), "feed of 'images' is f64[2, 3], must be f32[?, 3]"},
        {MST_U8, MST_SHAPE(2, 3), "feed of 'images' is u8[2, 3], must be f32[?, 3]"},
        {MST_F32, MST_SHAPE(2, 4), "feed of 'images' is f32[2, 4], must be f32[?, 3]"},
        {MST_F32, MST_SHAPE(6), "feed of 'images' is f32[6], must be f32[?, 3]"},
        {MST_F32, MST_SCALAR, "feed of 'images' is f32[], must be f32[?, 3]"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mst_feed feed = {.value = f.x, .tensor = engine_tensor(bad[i].dtype, bad[i].shape, NULL)};
        expect_refused(&f, &feed, 1, bad[i].text);
        mst_tensor_release(feed.tensor);
    }
    engine_end(f.graph, f.session);
}

static void missing_feed_names_its_placeholder(void **state) {
    (void)state;
    fixture f = begin();
    expect_refused(&f, NULL, 0, "placeholder 'images' is needed, but was not fed");
    assert_string_equal(mst_error()->node, "images");
    engine_end(f.graph, f.session);
}

static void value_fed_twice_is_refused(void **state) {
    (void)state;
    fixture f = begin();
    mst_feed feed = {.value = f.x, .tensor = engine_tensor(MST_F32, MST_SHAPE(1, 3), NULL)};
    expect_refused(&f, (mst_feed[]){feed, feed}, 2, "'images' is fed twice");
    mst_tensor_release(feed.tensor);
    engine_end(f.graph, f.session);
}

static mst_status fill(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    (void)first_row;
    if (*(float *)context == 0) return MST_FAIL(MST_IO, "the disk is gone");
    for (int64_t i = 0; i < mst_shape_count(spec->shape); i++) ((float *)dst)[i] = *(float *)context;
    return MST_OK;
}

static void feed_without_a_value_or_with_two_is_refused(void **state) {
    (void)state;
    fixture f = begin();
    float one = 1;
    mst_feed feed = {.value = f.x};
    expect_refused(&f, &feed, 1, "needs a tensor or a fill function");
    feed = (mst_feed){.value = f.x,
                      .tensor = engine_tensor(MST_F32, MST_SHAPE(1, 3), NULL),
                      .fill = fill,
                      .context = &one,
                      .spec = {.dtype = MST_F32, .shape = MST_SHAPE(1, 3)}};
    expect_refused(&f, &feed, 1, "needs a tensor or a fill function");
    mst_tensor_release(feed.tensor);
    engine_end(f.graph, f.session);
}

static void values_of_other_graphs_are_refused(void **state) {
    (void)state;
    fixture f = begin();
    mst_graph *other = engine_graph();
    mst_value z = engine_input(other, "z", MST_SHAPE(1));
    mst_feed feed = {.value = z, .tensor = engine_tensor(MST_F32, MST_SHAPE(1), NULL)};
    expect_refused(&f, &feed, 1, "feed 0 is no value of the session's graph");
    EXPECT_ERROR(mst_session_run(f.session, NULL, 0, &z, 1, NULL), MST_INVALID, "fetch 0 is no value");
    EXPECT_ERROR(mst_session_run(f.session, NULL, 0, &MST_NONE, 1, NULL), MST_INVALID, "fetch 0 is no value");
    mst_tensor_release(feed.tensor);
    mst_graph_destroy(other);
    engine_end(f.graph, f.session);
}

static void fill_functions_write_the_rows_of_each_run(void **state) {
    (void)state;
    fixture f = begin();
    float value = 1;
    mst_feed feed = {.value = f.x, .fill = fill, .context = &value};
    for (int64_t rows = 1; rows <= 3; rows++) {
        feed.spec = (mst_spec){.dtype = MST_F32, .shape = MST_SHAPE(rows, 3)};
        for (int i = 0; i < 2; i++, value += 1) {
            mst_tensor *got = engine_fetch(f.session, &feed, 1, f.y);
            assert_int_equal(mst_tensor_count(got), 3 * rows);
            assert_true(mst_tensor_get(got, 3 * rows - 1) == 2 * (double)value);
            mst_tensor_release(got);
        }
    }
    assert_int_equal(mst_session_num_plans(f.session), 3);
    feed.spec.shape = MST_SHAPE(-1, 3);
    assert_int_equal(mst_session_run(f.session, &feed, 1, &f.y, 1, NULL), MST_INVALID);
    engine_end(f.graph, f.session);
}

/* Element i of the value is i, whoever writes it. */
static mst_status fill_numbers(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    const int64_t row = mst_shape_count(spec->shape) / spec->shape.dim[0];
    for (int64_t i = 0; i < spec->shape.dim[0] * row; i++) ((float *)dst)[i] = (float)(first_row * row + i);
    atomic_fetch_add((atomic_int *)context, 1);
    return MST_OK;
}

static void rows_of_a_feed_with_a_grain_are_shared_by_the_threads(void **state) {
    (void)state;
    enum { ROWS = 1001, COLUMNS = 3 };
    atomic_int calls = 0;
    mst_graph *g = engine_graph();
    mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(-1, COLUMNS), "x");
    mst_session *session = engine_session(g, "cpu:1/4");
    mst_feed feed = {.value = x,
                     .fill = fill_numbers,
                     .context = &calls,
                     .spec = {.dtype = MST_F32, .shape = MST_SHAPE(ROWS, COLUMNS)}};
    for (feed.grain = 0; feed.grain <= 100; feed.grain += 50) {
        atomic_store(&calls, 0);
        mst_tensor *got = engine_fetch(session, &feed, 1, mst_neg(x));
        for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++) assert_true(mst_tensor_get(got, i) == (double)-i);
        mst_tensor_release(got);
        assert_in_range(atomic_load(&calls), feed.grain ? 4 : 1, feed.grain ? ROWS / feed.grain + 1 : 1);
    }
    engine_end(g, session);
}

/* A fill function's memory, and what it wrote there. */
typedef struct filled {
    const float *at; /* NULL: it was not called yet */
    float value;
} filled;

/* Fills a value that is one of two. If the other one is filled already, it must still be there. */
static mst_status fill_one_of_two(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    filled *own = ((filled **)context)[0], *other = ((filled **)context)[1];
    const int64_t count = mst_shape_count(spec->shape);
    (void)first_row;
    for (int64_t i = 0; i < count; i++) ((float *)dst)[i] = own->value;
    for (int64_t i = 0; i < count && other->at; i++)
        if (other->at[i] != other->value) return MST_FAIL(MST_INTERNAL, "the other fed value was written over");
    own->at = dst;
    return MST_OK;
}

static void fed_values_of_a_device_are_filled_in_memory_of_their_own(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1)), y = engine_input(g, "y", MST_SHAPE(-1));
    mst_session *session = engine_session(g, NULL);
    filled a = {.value = 2}, b = {.value = 3};
    mst_feed feed[] = {
        {.value = x, .fill = fill_one_of_two, .context = (filled *[]){&a, &b}, .spec = {MST_F32, MST_SHAPE(33)}},
        {.value = y, .fill = fill_one_of_two, .context = (filled *[]){&b, &a}, .spec = {MST_F32, MST_SHAPE(33)}}};
    mst_tensor *got = engine_fetch(session, feed, 2, mst_sub(x, y));
    assert_true(a.at && b.at);
    for (int64_t i = 0; i < 33; i++) assert_true(mst_tensor_get(got, i) == -1);
    mst_tensor_release(got);
    engine_end(g, session);
}

static void error_of_a_fill_function_ends_the_run_and_names_the_placeholder(void **state) {
    (void)state;
    fixture f = begin();
    float value = 0;
    mst_feed feed = {
        .value = f.x, .fill = fill, .context = &value, .spec = {.dtype = MST_F32, .shape = MST_SHAPE(2, 3)}};
    EXPECT_ERROR(mst_session_run(f.session, &feed, 1, &f.y, 1, NULL), MST_IO, "feeding 'images': the disk is gone");
    value = 3;
    mst_tensor *got = engine_fetch(f.session, &feed, 1, f.y);
    assert_true(mst_tensor_get(got, 0) == 6);
    mst_tensor_release(got);
    engine_end(f.graph, f.session);
}

static void batch_without_rows_is_a_batch(void **state) {
    (void)state;
    fixture f = begin();
    mst_feed feed = {.value = f.x, .tensor = engine_tensor(MST_F32, MST_SHAPE(0, 3), NULL)};
    mst_tensor *got = engine_fetch(f.session, &feed, 1, f.y);
    assert_true(mst_shape_equal(mst_tensor_shape(got), MST_SHAPE(0, 3)));
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(f.graph, f.session);
}

/* ---- outputs ---- */

static void outputs_that_fit_are_written_in_place(void **state) {
    (void)state;
    fixture f = begin();
    mst_feed feed = {.value = f.x, .tensor = engine_tensor(MST_F32, MST_SHAPE(1, 3), (double[]){1, 2, 3})};
    mst_tensor *output = engine_tensor(MST_F32, MST_SHAPE(1, 3), NULL), *same = output;
    EXPECT_OK(mst_session_run(f.session, &feed, 1, &f.y, 1, &output));
    assert_ptr_equal(output, same);
    assert_true(mst_tensor_get(output, 2) == 6);
    mst_tensor_release(output);
    mst_tensor_release(feed.tensor);
    engine_end(f.graph, f.session);
}

static void outputs_that_do_not_fit_or_are_shared_are_replaced(void **state) {
    (void)state;
    fixture f = begin();
    mst_feed feed = {.value = f.x, .tensor = engine_tensor(MST_F32, MST_SHAPE(1, 3), (double[]){1, 2, 3})};
    mst_tensor *output = engine_tensor(MST_F32, MST_SHAPE(2, 3), NULL);
    EXPECT_OK(mst_session_run(f.session, &feed, 1, &f.y, 1, &output));
    assert_true(mst_shape_equal(mst_tensor_shape(output), MST_SHAPE(1, 3)));
    mst_tensor *held = mst_tensor_retain(output);
    mst_tensor_set(feed.tensor, 2, 100);
    EXPECT_OK(mst_session_run(f.session, &feed, 1, &f.y, 1, &output));
    assert_ptr_not_equal(output, held);
    assert_true(mst_tensor_get(held, 2) == 6);
    assert_true(mst_tensor_get(output, 2) == 200);
    mst_tensor_release(held);
    mst_tensor_release(output);
    mst_tensor_release(feed.tensor);
    engine_end(f.graph, f.session);
}

static void filled_feed_must_be_of_a_known_dtype_and_shape(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1)), y = mst_scale(x, 2);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = x, .fill = fill, .spec = {MST_F32, MST_SHAPE(-1)}};
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &y, 1, NULL), MST_INVALID, "feed of 'x': tensor: shape [?]");
    feed.spec = (mst_spec){(mst_dtype)77, MST_SHAPE(2)};
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &y, 1, NULL), MST_INVALID, "77 is no dtype");
    feed.spec = (mst_spec){MST_F32, {.ndim = MST_MAX_NDIM + 1}};
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &y, 1, NULL), MST_INVALID, "9 dimensions");
    engine_end(g, session);
}

static void output_may_be_a_tensor_that_is_fed(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2)), rows = engine_input(g, "rows", MST_SHAPE(-1));
    mst_value v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(2), 0));
    mst_value fetch[2] = {mst_scale(x, 10), mst_assign(v, x)}, sum = mst_reduce_sum(rows);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(2), (double[]){1, 2})};
    mst_tensor *output[2] = {feed.tensor, NULL}; /* fits, but is read after the first fetch is there */
    EXPECT_OK(mst_session_run(session, &feed, 1, fetch, 2, output));
    assert_true(mst_tensor_get(output[0], 1) == 20);
    assert_true(mst_tensor_get(output[1], 1) == 2);
    for (int i = 0; i < 2; i++) mst_tensor_release(output[i]);
    feed = (mst_feed){.value = rows, .tensor = engine_tensor(MST_F32, MST_SHAPE(3), (double[]){1, 2, 4})};
    output[0] = feed.tensor; /* does not fit, and goes, but not before it is read */
    EXPECT_OK(mst_session_run(session, &feed, 1, &sum, 1, output));
    assert_true(mst_tensor_get(output[0], 0) == 7);
    mst_tensor_release(output[0]);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(feeds_of_a_wrong_dtype_or_shape_are_refused),
        cmocka_unit_test(missing_feed_names_its_placeholder),
        cmocka_unit_test(value_fed_twice_is_refused),
        cmocka_unit_test(feed_without_a_value_or_with_two_is_refused),
        cmocka_unit_test(values_of_other_graphs_are_refused),
        cmocka_unit_test(fill_functions_write_the_rows_of_each_run),
        cmocka_unit_test(rows_of_a_feed_with_a_grain_are_shared_by_the_threads),
        cmocka_unit_test(fed_values_of_a_device_are_filled_in_memory_of_their_own),
        cmocka_unit_test(error_of_a_fill_function_ends_the_run_and_names_the_placeholder),
        cmocka_unit_test(batch_without_rows_is_a_batch),
        cmocka_unit_test(outputs_that_fit_are_written_in_place),
        cmocka_unit_test(outputs_that_do_not_fit_or_are_shared_are_replaced),
        cmocka_unit_test(filled_feed_must_be_of_a_known_dtype_and_shape),
        cmocka_unit_test(output_may_be_a_tensor_that_is_fed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
