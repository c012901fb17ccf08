/* Convolutions fused with the scaling and shifting of their channels, an addition and an activation. The bits are
 * those of the separate nodes, for batches, for one picture in bands of rows, and with fed and constant weights. */
#include <string.h>

#include "support/test.h"

enum { CHANNELS = 16, FILTERS = 96, NUM_FEEDS = 4, NUM_FETCHES = 3, NUM_APART = 5 };
typedef enum adding { NOTHING, BEFORE, BEHIND, ONE_ROW } adding;

typedef struct form {
    mst_dtype dtype;
    int64_t n, rows, columns;
    int window, stride;
    mst_value (*activation)(mst_value); /* NULL: none */
    bool scaled, turned, constant;      /* turned: padded with the channels first, as files of ONNX have it */
    adding adding;                      /* is the first or the second of what is added up; ONE_ROW: of another shape */
} form;

static mst_value turned_pad(mst_value x) {
    const mst_value first = mst_transpose(x, .perm = MST_AXES(0, 3, 1, 2));
    const mst_value padded = mst_pad(first, .before = MST_SHAPE(0, 0, 1, 0), .after = MST_SHAPE(0, 0, 2, 1));
    return mst_transpose(padded, .perm = MST_AXES(0, 2, 3, 1));
}

/* The other summand of SUM, which is fed. */
static mst_feed make_added(const form *f, mst_value sum) {
    mst_shape shape = mst_value_spec(sum).shape;
    if (f->adding == ONE_ROW) shape.dim[1] = 1;
    const mst_value value = mst_placeholder(mst_value_graph(sum), f->dtype, shape, NULL);
    return (mst_feed){.value = value, .tensor = engine_random(f->dtype, shape, -0.5, 0.5, 9)};
}

/* Fetches the end, and the gradients of its squares by the source and by what is added; with APART what is before the
 * end too, so that nothing is fused. */
static void run_form(const form *f, const char *devices, bool apart, mst_tensor *out[NUM_APART], char **log) {
    mst_graph *g = engine_graph();
    const mst_shape shape[NUM_FEEDS] = {MST_SHAPE(f->n, f->rows, f->columns, CHANNELS),
                                        MST_SHAPE(f->window, f->window, CHANNELS, FILTERS), MST_SHAPE(FILTERS),
                                        MST_SHAPE(FILTERS)};
    mst_value in[NUM_FEEDS];
    mst_feed feed[NUM_FEEDS], added;
    for (int i = 0; i < NUM_FEEDS; i++) {
        mst_tensor *tensor = engine_random(f->dtype, shape[i], -0.5, 0.5, 5 + (unsigned)i);
        in[i] = f->constant && i == 1 ? mst_constant(g, tensor) : mst_placeholder(g, f->dtype, shape[i], NULL);
        feed[i] = (mst_feed){.value = in[i], .tensor = tensor};
    }
    const mst_value src = f->turned ? turned_pad(in[0]) : in[0];
    const mst_value conv = mst_convolve2d(src, in[1], .strides = MST_AXES(f->stride),
                                          .padding = f->turned ? MST_PADDING_VALID : MST_PADDING_SAME);
    const mst_value scaled = f->scaled ? mst_mul(conv, in[2]) : conv, sum = mst_add(in[3], scaled);
    added = make_added(f, sum);
    const mst_value all = f->adding == NOTHING  ? sum
                          : f->adding == BEFORE ? mst_add(added.value, sum)
                                                : mst_add(sum, added.value);
    mst_value fetch[NUM_APART] = {f->activation ? f->activation(all) : all, in[0], all, scaled, src};
    const mst_value of[2] = {in[0], f->adding == NOTHING ? in[0] : added.value};
    mst_gradients(mst_reduce_sum(mst_square(fetch[0])), of, 2, &fetch[1]);
    fetch[NUM_FETCHES] = scaled;
    fetch[NUM_FETCHES + 1] = src;
    size_t size;
    FILE *file = open_memstream(log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = devices, .plan_log = file}, &session));
    const mst_feed fed[NUM_FEEDS + 1] = {added, feed[0], feed[2], feed[3], feed[1]}; /* a constant is not */
    EXPECT_OK(mst_session_run(session, fed, NUM_FEEDS + 1 - f->constant, fetch, apart ? NUM_APART : NUM_FETCHES, out));
    mst_tensor_release(added.tensor);
    for (int i = 0; i < NUM_FEEDS; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
    fclose(file);
}

static void expect_form_like_its_parts(const form *f) {
    char *log[3] = {NULL};
    mst_tensor *out[3][NUM_APART] = {{NULL}};
    run_form(f, "cpu:1/1", false, out[0], &log[0]);
    run_form(f, "cpu:1/3", false, out[1], &log[1]);
    run_form(f, "cpu:1/1", true, out[2], &log[2]);
    const char *fused = strstr(strstr(log[0], "after fuse"), " = fused_conv2d(");
    assert_non_null(fused);
    assert_int_equal(memmem(fused, strcspn(fused, "\n"), "residual", strlen("residual")) != NULL,
                     f->adding == BEFORE || f->adding == BEHIND);
    assert_null(strstr(log[2], " = fused_conv2d("));
    assert_true(!f->turned || !strstr(strstr(log[0], "after fuse"), " = pad("));
    if (f->constant && f->dtype == MST_F32 && engine_onednn_wants_blocks())
        assert_non_null(strstr(strstr(log[0], "after layout"), "/packed = constant("));
    for (int i = 0; i < NUM_FETCHES; i++) {
        assert_true(engine_same_bits(out[0][i], out[2][i]));
        assert_true(engine_same_bits(out[1][i], out[2][i]));
    }
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < NUM_APART; i++) mst_tensor_release(out[k][i]);
        free(log[k]);
    }
}

static void convolutions_give_the_bits_of_their_parts(void **state) {
    (void)state;
    static const form forms[] = {
        {MST_F32, 1, 41, 37, 3, 1, mst_relu6, true, false, true, NOTHING},
        {MST_F32, 1, 90, 37, 3, 2, mst_relu, false, true, true, NOTHING},
        {MST_F32, 1, 64, 37, 1, 1, NULL, true, false, false, NOTHING},
        {MST_F32, 1, 200, 37, 5, 1, mst_relu6, true, true, true, NOTHING},
        {MST_F32, 1, 29, 400, 1, 1, mst_relu, true, true, true, NOTHING}, /* as many zeros below as a band has rows */
        {MST_F32, 5, 17, 37, 3, 1, mst_relu, true, true, false, NOTHING},
        {MST_F32, 20, 9, 37, 3, 1, NULL, false, false, true, NOTHING},
        {MST_F64, 1, 7, 37, 3, 1, mst_relu6, true, true, true, NOTHING},
        {MST_F32, 1, 41, 37, 3, 1, mst_relu6, true, false, true, BEFORE},
        {MST_F32, 1, 90, 37, 3, 2, mst_relu, false, true, true, BEHIND},
        {MST_F32, 5, 17, 37, 1, 1, NULL, true, false, true, BEHIND},
        {MST_F32, 5, 17, 37, 3, 2, NULL, false, true, false, BEFORE},
        {MST_F32, 5, 17, 37, 3, 1, mst_relu, true, false, true, ONE_ROW}, /* is no residual */
        {MST_F64, 2, 7, 37, 3, 1, mst_relu6, true, true, true, BEHIND},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) expect_form_like_its_parts(&forms[i]);
}

/* The gradients by source and weights of a convolution over one axis, an activation and a pooling; with APART the
 * convolution, and the gradient of the activation, are fetched too, so that nothing is fused. */
static void run_row(mst_value (*activation)(mst_value), int stride, bool apart, mst_tensor *out[NUM_APART],
                    char **log) {
    enum { NUM_SRC = 3 };
    mst_graph *g = engine_graph();
    const mst_shape shape[NUM_SRC] = {MST_SHAPE(5, 60, 7), MST_SHAPE(5, 7, 24), MST_SHAPE(24)};
    mst_value in[NUM_SRC], gradient[NUM_SRC + 1];
    mst_feed feed[NUM_SRC];
    size_t size;
    mst_session *session;
    FILE *file = open_memstream(log, &size);
    for (int i = 0; i < NUM_SRC; i++) {
        in[i] = mst_placeholder(g, MST_F32, shape[i], NULL);
        feed[i] = (mst_feed){.value = in[i], .tensor = engine_random(MST_F32, shape[i], -0.5, 0.5, 5 + (unsigned)i)};
    }
    const mst_value conv = mst_convolve1d(in[0], in[1]), y = activation(mst_add(conv, in[2]));
    const mst_value pooled = mst_max_pool1d(y, 2, .stride = stride);
    const mst_value of[] = {in[0], in[1], in[2], y};
    mst_gradients(mst_reduce_sum(mst_square(pooled)), of, NUM_SRC + 1, gradient);
    const mst_value fetch[NUM_APART] = {gradient[0], gradient[1], gradient[2], gradient[NUM_SRC], conv};
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/3", .plan_log = file}, &session));
    EXPECT_OK(mst_session_run(session, feed, NUM_SRC, fetch, apart ? NUM_APART : NUM_FETCHES, out));
    for (int i = 0; i < NUM_SRC; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
    fclose(file);
}

static void convolutions_over_one_axis_give_the_bits_of_their_parts(void **state) {
    (void)state;
    for (int form = 0; form < 4; form++) { /* windows of pairs, and windows that overlap */
        char *log[2] = {NULL};
        mst_tensor *out[2][NUM_APART] = {{NULL}};
        for (int apart = 0; apart < 2; apart++)
            run_row(form % 2 ? mst_relu6 : mst_relu, 1 + form / 2, apart, out[apart], &log[apart]);
        const char *fused = strstr(log[0], "after fuse");
        assert_non_null(strstr(fused, form % 2 ? ", activation=relu6}" : ", activation=relu}"));
        assert_null(strstr(fused, form % 2 ? " = relu6(" : " = relu("));
        assert_int_equal(strstr(fused, " = max_pool2d_relu_grad(") != NULL, form % 2 == 0);
        assert_null(strstr(log[1], "fused_conv2d"));
        assert_null(strstr(log[1], "max_pool2d_relu_grad"));
        for (int i = 0; i < NUM_FETCHES; i++) assert_true(engine_same_bits(out[0][i], out[1][i]));
        for (int apart = 0; apart < 2; apart++) {
            for (int i = 0; i < NUM_APART; i++) mst_tensor_release(out[apart][i]);
            free(log[apart]);
        }
    }
}

/* A value that another node reads too is written: here a sum that a second sum reads. */
static void what_is_read_twice_is_not_added_to_inside(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_tensor *tensor[3], *out[2] = {NULL}, *wanted = NULL;
    mst_value in[3];
    mst_feed feed[3];
    const mst_shape shape[3] = {MST_SHAPE(2, 5, 5, 8), MST_SHAPE(1, 1, 8, 8), MST_SHAPE(8)};
    for (int i = 0; i < 3; i++) {
        tensor[i] = engine_random(MST_F32, shape[i], -1, 1, 3 + (unsigned)i);
        in[i] = mst_placeholder(g, MST_F32, shape[i], NULL);
        feed[i] = (mst_feed){.value = in[i], .tensor = tensor[i]};
    }
    const mst_value sum = mst_add(mst_convolve2d(in[0], in[1]), in[2]);
    const mst_value twice = mst_add(sum, sum), fetch[2] = {mst_relu(mst_add(sum, in[0])), twice};
    mst_session *session = engine_session(g, "cpu:1/1");
    EXPECT_OK(mst_session_run(session, feed, 3, fetch, 1, &wanted));
    EXPECT_OK(mst_session_run(session, feed, 3, fetch, 2, out));
    assert_true(engine_same_bits(wanted, out[0]));
    for (int i = 0; i < 2; i++) mst_tensor_release(out[i]);
    mst_tensor_release(wanted);
    for (int i = 0; i < 3; i++) mst_tensor_release(tensor[i]);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(convolutions_give_the_bits_of_their_parts),
                                       cmocka_unit_test(convolutions_over_one_axis_give_the_bits_of_their_parts),
                                       cmocka_unit_test(what_is_read_twice_is_not_added_to_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
