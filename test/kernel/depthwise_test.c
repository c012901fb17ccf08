/* 3x3 depthwise convolutions and their gradients, computed row by row, compared with the reference kernels of the ops.
 * The cases have strides, zero padding, and pictures smaller than the window. */
#include "kernel/cpu/base/depthwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

enum { MOST_SIDE = 9, MOST_PADS = 2, TAPS = MST_DEPTHWISE_TAPS };

typedef struct pictures {
    mst_conv conv;
    int64_t src_count, dst_count, weights_count;
    float *src, *weights, *gradient; /* random inputs; gradient: of the output */
    float *made, *wanted;            /* the rows under test and of the reference kernel; large enough for any result */
    mst_row_ring source, output;     /* the last rows read of src, and of gradient */
    void *memory[2];                 /* of the two rings */
} pictures;

static mst_window window_of(int64_t in, int64_t stride, int64_t before, int64_t after) {
    mst_window w = {.in = in, .size = MST_DEPTHWISE_SIZE, .stride = stride, .dilation = 1, .before = before};
    w.after = after;
    w.out = in + before + after < w.size ? 0 : (in + before + after - w.size) / stride + 1;
    return w;
}

static float *random_array(int64_t count, unsigned seed) {
    mst_tensor *tensor = engine_random(MST_F32, MST_SHAPE(count), -2, 2, seed);
    float *array = malloc((size_t)count * sizeof *array);
    assert_non_null(array);
    memcpy(array, mst_tensor_data(tensor), (size_t)count * sizeof *array);
    mst_tensor_release(tensor);
    return array;
}

static pictures begin(mst_window height, mst_window width, int64_t channels) {
    static const mst_window flat = {.in = 1, .out = 1, .size = 1, .stride = 1, .dilation = 1};
    pictures p = {.conv = {.n = 1, .in_channels = channels, .out_channels = channels, .groups = channels}};
    p.conv.depth = flat;
    p.conv.window[0] = height;
    p.conv.window[1] = width;
    p.src_count = height.in * width.in * channels;
    p.dst_count = height.out * width.out * channels;
    p.weights_count = TAPS * channels;
    p.src = random_array(p.src_count, 1);
    p.weights = random_array(p.weights_count, 2);
    p.gradient = random_array(p.dst_count, 3);
    const int64_t most = p.src_count + p.dst_count + p.weights_count;
    p.made = calloc((size_t)most, sizeof *p.made);
    p.wanted = calloc((size_t)most, sizeof *p.wanted);
    p.source = mst_depthwise_source(&p.conv);
    p.output = mst_depthwise_gradient(&p.conv);
    p.memory[0] = malloc(mst_row_ring_bytes(&p.source));
    p.memory[1] = malloc(mst_row_ring_bytes(&p.output));
    assert_true(p.made && p.wanted && p.memory[0] && p.memory[1]);
    mst_row_ring_begin(&p.source, p.memory[0]);
    mst_row_ring_begin(&p.output, p.memory[1]);
    return p;
}

static void end(pictures *p) {
    float *const arrays[] = {p->src, p->weights, p->gradient, p->made, p->wanted};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(p->memory[0]);
    free(p->memory[1]);
}

/* Puts row Y of ARRAY into RING. */
static void read_row(const mst_row_ring *ring, const float *array, int64_t y) {
    mst_row_ring_read(ring, (mst_kept_array){.data = (void *)(uintptr_t)array}, NULL,
                      (mst_batch_limits){-INFINITY, INFINITY}, 0, y);
}

static void expect_wanted(const pictures *p, int64_t count, const char *what) {
    for (int64_t i = 0; i < count; i++)
        if (!(fabsf(p->made[i] - p->wanted[i]) <= 1e-4F))
            fail_msg("%s of %lld x %lld by %lld, element %lld: %g, not %g", what, (long long)p->conv.window[0].in,
                     (long long)p->conv.window[1].in, (long long)p->conv.window[0].stride, (long long)i,
                     (double)p->made[i], (double)p->wanted[i]);
}

static mst_conv_arrays arrays_of(const pictures *p, const float *src) {
    return (mst_conv_arrays){
        .conv = p->conv, .src = src, .weights = p->weights, .gradient = p->gradient, .dst = p->wanted};
}

static void expect_output(const pictures *p) {
    const mst_window *h = &p->conv.window[0];
    const mst_conv_arrays reference = arrays_of(p, p->src);
    int64_t read = 0;
    for (int64_t y = 0; y < h->out; y++) {
        for (; read < h->in && read < y * h->stride - h->before + h->size; read++) read_row(&p->source, p->src, read);
        mst_depthwise_row(&p->conv, &p->source, p->weights, y, p->made + y * (p->dst_count / h->out));
    }
    mst_conv_rows_f32(&reference, 0, h->out);
    expect_wanted(p, p->dst_count, "output");
}

static void expect_source_gradient(const pictures *p) {
    const mst_window *h = &p->conv.window[0];
    const mst_conv_arrays reference = arrays_of(p, NULL);
    int64_t read = 0;
    for (int64_t y = 0; y < h->in; y++) {
        for (; read < h->out && read * h->stride <= y + h->before; read++) read_row(&p->output, p->gradient, read);
        mst_depthwise_source_row(&p->conv, &p->output, p->weights, y, p->made + y * (p->src_count / h->in));
    }
    mst_conv_src_grad_rows_f32(&reference, 0, h->in);
    expect_wanted(p, p->src_count, "gradient of the source");
}

static void expect_weights_gradient(const pictures *p) {
    const mst_window *h = &p->conv.window[0];
    const mst_conv_arrays reference = arrays_of(p, p->src);
    int64_t read = 0;
    memset(p->made, 0, (size_t)p->weights_count * sizeof *p->made);
    for (int64_t y = 0; y < h->out; y++) {
        for (; read < h->in && read < y * h->stride - h->before + h->size; read++) read_row(&p->source, p->src, read);
        read_row(&p->output, p->gradient, y);
        mst_depthwise_weights_row(&p->conv, &p->source, &p->output, y, p->made);
    }
    mst_conv_weights_grad_rows_f32(&reference, 0, TAPS); /* rows are [depth, height, width, channels] */
    expect_wanted(p, p->weights_count, "gradient of the weights");
}

static void expect_like_references(mst_window height, mst_window width, int64_t channels) {
    pictures p = begin(height, width, channels);
    expect_output(&p);
    expect_source_gradient(&p);
    expect_weights_gradient(&p);
    end(&p);
}

/* All combinations of height, width and padding would be too many pictures. So the width is derived from the height and
 * its padding, and takes each value up to MOST_SIDE. */
static void rows_are_those_of_the_references(void **state) {
    static const int64_t channels[] = {8, 20, 33};
    int64_t pictures = 0;
    (void)state;
    for (int64_t stride = 1; stride <= 2; stride++)
        for (int64_t side = 1; side <= MOST_SIDE; side++)
            for (int64_t before = 0; before <= MOST_PADS; before++)
                for (int64_t after = 0; after <= MOST_PADS; after++) {
                    const mst_window height = window_of(side, stride, before, after);
                    const mst_window width = window_of(1 + (side * 5 + before) % MOST_SIDE, stride, after, before);
                    if (height.out == 0 || width.out == 0) continue;
                    expect_like_references(height, width, channels[pictures++ % 3]);
                }
    assert_true(pictures > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
