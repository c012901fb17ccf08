/* A recurrent net with a cell of its own, which no layer has, as a loop in the graph: mst_scan. The task: of 20 numbers
 * two are marked; what is their sum? The net sees one number at a time, and has to remember.
 *
 * The cell has one gate (a "minimal gated unit"): with u = [x, h],
 *     f = sigmoid(u W_f + b_f),  h' = (1 - f) h + f tanh([x, f h] W_h + b_h)
 *
 * Usage: recurrent [UPDATES]   (default 1500)
 */
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 20, BATCH = 64, UNITS = 32, INPUTS = 2, WIDE = INPUTS + UNITS };

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

/* ---- data ---- */

static double number(void) {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24);
}

/* X [steps, batch, 2]: numbers in [0, 1), and marks, one in each half; SUMS [batch, 1]. */
static void fill(mst_tensor *x, mst_tensor *sums) {
    for (int row = 0; row < BATCH; row++) {
        const int half = STEPS / 2, first = (int)(number() * half), second = half + (int)(number() * half);
        double sum = 0;
        for (int t = 0; t < STEPS; t++) {
            const double value = number(), mark = t == first || t == second;
            mst_tensor_set(x, (t * BATCH + row) * INPUTS, value);
            mst_tensor_set(x, (t * BATCH + row) * INPUTS + 1, mark);
            sum += mark * value;
        }
        mst_tensor_set(sums, row, sum);
    }
}

/* ---- graph ---- */

static mst_value affine(mst_value x, mst_value h, mst_value weights, mst_value bias) {
    return mst_add(mst_matmul(mst_concat(MST_VALUES(x, h), 2, 1), weights), bias);
}

/* One step: carry is h, captured are the weights. */
static void cell(mst_loop_step *s) {
    const mst_value x = s->x[0], h = s->carry[0];
    const mst_value gate = mst_sigmoid(affine(x, h, s->captured[0], s->captured[1]));
    const mst_value proposed = mst_tanh(affine(x, mst_mul(gate, h), s->captured[2], s->captured[3]));
    s->next[0] = mst_add(h, mst_mul(gate, mst_sub(proposed, h)));
}

static mst_value build(mst_graph *g, mst_value x, mst_value sums, mst_value *train) {
    const mst_value gate = mst_get_variable(g, "gate/kernel", MST_SHAPE(WIDE, UNITS));
    const mst_value gate_bias = mst_get_variable(g, "gate/bias", MST_SHAPE(UNITS),
                                                 .initializer = mst_constant_initializer(-1)); /* remembers at first */
    const mst_value kernel = mst_get_variable(g, "kernel", MST_SHAPE(WIDE, UNITS));
    const mst_value bias = mst_get_variable(g, "bias", MST_SHAPE(UNITS), .initializer = mst_zeros_initializer());
    const mst_value zeros = mst_values(g, MST_F32, MST_SHAPE(BATCH, UNITS), (double[BATCH * UNITS]){0});
    const mst_value last = mst_scan(cell, .carry = {zeros}, .x = {x}, .captured = {gate, gate_bias, kernel, bias});
    const mst_value loss = mst_reduce_mean(mst_square(mst_sub(mst_dense(last, 1, .name = "sum"), sums)));
    const mst_optimizer adam = mst_adam(.learning_rate = 0.005);
    *train = mst_minimize(&adam, loss, NULL, 0, MST_NONE);
    return loss;
}

/* ---- training ---- */

static void train(mst_graph *g, mst_session *session, int updates) {
    const mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(STEPS, BATCH, INPUTS), .name = "x");
    const mst_value sums = mst_placeholder(g, MST_F32, MST_SHAPE(BATCH, 1), .name = "sums");
    mst_value step;
    const mst_value loss = build(g, x, sums, &step);
    check(mst_graph_check(g));
    check(mst_session_init_variables(session));
    mst_feed feeds[] = {{.value = x}, {.value = sums}};
    check(mst_tensor_create(MST_F32, MST_SHAPE(STEPS, BATCH, INPUTS), &feeds[0].tensor));
    check(mst_tensor_create(MST_F32, MST_SHAPE(BATCH, 1), &feeds[1].tensor));
    mst_tensor *out[2] = {NULL, NULL};
    double mean = 0;
    for (int i = 1; i <= updates; i++) {
        fill(feeds[0].tensor, feeds[1].tensor);
        check(mst_session_run(session, feeds, 2, MST_VALUES(loss, step), 2, out));
        mean += mst_tensor_get(out[0], 0);
        if (i % 100) continue;
        printf("update %4d: mean squared error %.4f (always to say 1: 0.1667)\n", i, mean / 100);
        mean = 0;
    }
    for (int i = 0; i < 2; i++) mst_tensor_release(out[i]);
    for (int i = 0; i < 2; i++) mst_tensor_release(feeds[i].tensor);
}

int main(int argc, char **argv) {
    mst_graph *graph;
    mst_session *session;
    check(mst_graph_create(&graph));
    check(mst_session_create(graph, NULL, &session));
    train(graph, session, argc > 1 ? atoi(argv[1]) : 1500);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    return 0;
}
