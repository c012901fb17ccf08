/* Convolutions with what scales and shifts their channels, and an activation: the bits of the parts, for batches and
 * for one picture in bands of rows, with weights that are fed and constant ones. */
#include <string.h>

#include "support/test.h"

enum { CHANNELS = 16, FILTERS = 96, NUM_FEEDS = 4, NUM_APART = 3 };

typedef struct form {
    mst_dtype dtype;
    int64_t n, rows, columns;
    int window, stride;
    mst_value (*activation)(mst_value); /* NULL: none */
    bool scaled, turned, constant;      /* turned: padded with the channels first, as files of ONNX have it */
} form;

static mst_value turned_pad(mst_value x) {
    const mst_value first = mst_transpose(x, .perm = MST_AXES(0, 3, 1, 2));
    const mst_value padded = mst_pad(first, .before = MST_SHAPE(0, 0, 1, 0), .after = MST_SHAPE(0, 0, 2, 1));
    return mst_transpose(padded, .perm = MST_AXES(0, 2, 3, 1));
}

/* Fetches the end, and with APART what is before it too, so that nothing is fused. */
static mst_tensor *run_form(const form *f, const char *devices, bool apart, char **log) {
    mst_graph *g = engine_graph();
    const mst_shape shape[NUM_FEEDS] = {MST_SHAPE(f->n, f->rows, f->columns, CHANNELS),
                                        MST_SHAPE(f->window, f->window, CHANNELS, FILTERS), MST_SHAPE(FILTERS),
                                        MST_SHAPE(FILTERS)};
    mst_value in[NUM_FEEDS];
    mst_feed feed[NUM_FEEDS];
    for (int i = 0; i < NUM_FEEDS; i++) {
        mst_tensor *tensor = engine_random(f->dtype, shape[i], -0.5, 0.5, 5 + (unsigned)i);
        in[i] = f->constant && i == 1 ? mst_constant(g, tensor) : mst_placeholder(g, f->dtype, shape[i], NULL);
        feed[i] = (mst_feed){.value = in[i], .tensor = tensor};
    }
    const mst_value src = f->turned ? turned_pad(in[0]) : in[0];
    const mst_value conv = mst_convolve2d(src, in[1], .strides = MST_AXES(f->stride),
                                          .padding = f->turned ? MST_PADDING_VALID : MST_PADDING_SAME);
    const mst_value scaled = f->scaled ? mst_mul(conv, in[2]) : conv, sum = mst_add(in[3], scaled);
    const mst_value fetch[NUM_APART] = {f->activation ? f->activation(sum) : sum, scaled, src};
    mst_tensor *out[NUM_APART] = {NULL};
    size_t size;
    FILE *file = open_memstream(log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = devices, .plan_log = file}, &session));
    const mst_feed fed[NUM_FEEDS] = {feed[0], feed[2], feed[3], feed[1]}; /* a constant is not */
    EXPECT_OK(mst_session_run(session, fed, NUM_FEEDS - f->constant, fetch, apart ? NUM_APART : 1, out));
    for (int i = 1; i < NUM_APART; i++) mst_tensor_release(out[i]);
    for (int i = 0; i < NUM_FEEDS; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
    fclose(file);
    return out[0];
}

static void expect_form_like_its_parts(const form *f) {
    char *log[3] = {NULL};
    mst_tensor *one = run_form(f, "cpu:1/1", false, &log[0]), *three = run_form(f, "cpu:1/3", false, &log[1]);
    mst_tensor *parts = run_form(f, "cpu:1/1", true, &log[2]);
    assert_non_null(strstr(log[0], " = fused_conv2d("));
    assert_null(strstr(log[2], " = fused_conv2d("));
    const char *fused = strstr(log[0], "after fuse");
    assert_true(!strstr(fused, " = transpose(") && !strstr(fused, " = pad("));
    if (f->constant && f->dtype == MST_F32 && engine_onednn_wants_blocks())
        assert_non_null(strstr(strstr(log[0], "after layout"), "/packed = constant("));
    assert_true(engine_same_bits(one, parts));
    assert_true(engine_same_bits(one, three));
    mst_tensor_release(one);
    mst_tensor_release(three);
    mst_tensor_release(parts);
    for (int i = 0; i < 3; i++) free(log[i]);
}

static void convolutions_give_the_bits_of_their_parts(void **state) {
    (void)state;
    static const form forms[] = {
        {MST_F32, 1, 41, 37, 3, 1, mst_relu6, true, false, true},
        {MST_F32, 1, 90, 37, 3, 2, mst_relu, false, true, true},
        {MST_F32, 1, 64, 37, 1, 1, NULL, true, false, false},
        {MST_F32, 1, 200, 37, 5, 1, mst_relu6, true, true, true},
        {MST_F32, 1, 29, 400, 1, 1, mst_relu, true, true, true}, /* as many zeros below as a band has rows */
        {MST_F32, 5, 17, 37, 3, 1, mst_relu, true, true, false},
        {MST_F32, 20, 9, 37, 3, 1, NULL, false, false, true},
        {MST_F64, 1, 7, 37, 3, 1, mst_relu6, true, true, true},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) expect_form_like_its_parts(&forms[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(convolutions_give_the_bits_of_their_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
