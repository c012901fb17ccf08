/* An op of your own: mish(x) = x * tanh(softplus(x)), with its gradient and its kernel, and a small network that uses
 * it to learn a sine. Nothing here is special to this program: an op of the library is written in the same way. */
#include <math.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

/* ---- the op ---- */

typedef struct mish_options {
    float beta; /* mish(x) = x * tanh(softplus(beta x) / beta) */
} mish_options;

static const mst_field fields[] = {
    MST_FIELD_F32(mish_options, beta, 1, 0.01, 100, "sharpness of the bend at 0"),
    MST_FIELD_END,
};

static mst_status infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    c->dst[0] = c->src[0];
    return MST_OK;
}

/* With t = tanh(softplus(beta x) / beta): d mish / dx = t + x (1 - t^2) sigmoid(beta x). Made of ops that have
 * gradients of their own, it can be differentiated again. */
static mst_value grad(mst_grad *c, int i) {
    (void)i;
    const mish_options *o = c->options;
    mst_value x = c->src[0], scaled = mst_scale(x, (double)o->beta);
    mst_value t = mst_tanh(mst_scale(mst_softplus(scaled), 1 / (double)o->beta));
    mst_value slope = mst_mul(mst_sub(mst_ones_like(t), mst_square(t)), mst_sigmoid(scaled));
    return mst_mul(c->ddst[0], mst_add(t, mst_mul(x, slope)));
}

static double mish_of(double x, double beta) {
    double softplus = fmax(beta * x, 0) + log1p(exp(-fabs(beta * x))); /* log(1 + e^(beta x)) without overflow */
    return x * tanh(softplus / beta);
}

static mst_status reference(const mst_kernel_args *a) {
    const double beta = (double)((const mish_options *)a->options)->beta;
    if (a->dst[0].dtype == MST_F32) {
        const float *src = a->src[0].data;
        float *dst = a->dst[0].data;
        for (int64_t i = 0; i < a->dst[0].count; i++) dst[i] = (float)mish_of((double)src[i], beta);
    } else {
        const double *src = a->src[0].data;
        double *dst = a->dst[0].data;
        for (int64_t i = 0; i < a->dst[0].count; i++) dst[i] = mish_of(src[i], beta);
    }
    return MST_OK;
}

static const mst_op mish_op = {
    .name = "mish",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .may_alias = true,
    .fields = fields,
    .options_size = sizeof(mish_options),
    .infer = infer,
    .grad = grad,
    .reference = reference,
};

static mst_value mish(mst_value x) {
    return mst_call(NULL, &mish_op, 1, &x, NULL); /* options NULL: the defaults of the table above */
}

/* ---- is the gradient right? ---- */

static double number(mst_session *session, mst_value fetch) {
    mst_tensor *output = NULL;
    check(mst_session_run(session, NULL, 0, &fetch, 1, &output));
    double value = mst_tensor_get(output, 0);
    mst_tensor_release(output);
    return value;
}

static void check_gradient(void) {
    static const double at = 0.7, step = 1e-5;
    mst_graph *g;
    mst_session *session;
    check(mst_graph_create(&g));
    mst_value x = mst_scalar(g, MST_F64, at), derivative;
    mst_gradients(mish(x), &x, 1, &derivative);
    check(mst_session_create(g, NULL, &session));
    double got = number(session, derivative), wanted = (mish_of(at + step, 1) - mish_of(at - step, 1)) / (2 * step);
    printf("mish'(%g) = %.8f, by differences %.8f\n", at, got, wanted);
    mst_session_destroy(session);
    mst_graph_destroy(g);
    if (fabs(got - wanted) > 1e-8) exit(1);
}

/* ---- a network that uses it ---- */

enum { POINTS = 256, STEPS = 1000, REPORT = 200 };

static double learn_sine(void) {
    mst_graph *g;
    mst_session *session;
    check(mst_graph_create(&g));
    mst_graph_set_seed(g, 1);
    mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(-1, 1), .name = "x");
    mst_value y = mst_placeholder(g, MST_F32, MST_SHAPE(-1, 1), .name = "y");
    mst_value hidden = mish(mst_dense(x, 32, .name = "hidden"));
    mst_value output = mst_dense(mish(mst_dense(hidden, 32, .name = "hidden2")), 1, .name = "output");
    mst_value loss = mst_reduce_mean(mst_squared_difference(output, y));
    mst_optimizer adam = mst_adam(.learning_rate = 0.01);
    mst_value train = mst_minimize(&adam, loss, NULL, 0, MST_NONE);
    /* one thread: a network this small has no work for more */
    check(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1"}, &session));
    check(mst_session_init_variables(session));

    mst_feed feeds[2] = {{.value = x}, {.value = y}};
    for (int i = 0; i < 2; i++) check(mst_tensor_create(MST_F32, MST_SHAPE(POINTS, 1), &feeds[i].tensor));
    for (int i = 0; i < POINTS; i++) {
        double at = -3 + 6.0 * i / (POINTS - 1);
        mst_tensor_set(feeds[0].tensor, i, at);
        mst_tensor_set(feeds[1].tensor, i, sin(at));
    }
    mst_tensor *outputs[2] = {NULL, NULL};
    double last = 0;
    for (int step = 1; step <= STEPS; step++) {
        check(mst_session_run(session, feeds, 2, MST_VALUES(loss, train), 2, outputs));
        last = mst_tensor_get(outputs[0], 0);
        if (step % REPORT == 0) printf("step %d: loss %.6f\n", step, last);
    }
    for (int i = 0; i < 2; i++) {
        mst_tensor_release(outputs[i]);
        mst_tensor_release(feeds[i].tensor);
    }
    mst_session_destroy(session);
    mst_graph_destroy(g);
    return last;
}

int main(void) {
    check(mst_register_op(&mish_op)); /* known by name from here on: for printing and mst_find_op */
    check_gradient();
    return learn_sine() < 0.01 ? 0 : 1;
}
