/** The C side of loops_test.py: `parity_loops < CASES.json` computes each case of a JSON array and prints one JSON line
 *  a case. TENSOR is that of json_case.h.
 *
 *      {"kind": "scan", "x": TENSOR, "h": TENSOR, "weights": [TENSOR, TENSOR], "reverse": false}
 *      {"kind": "while", "x": TENSOR, "limit": TENSOR}
 *
 *  The answer is a list "values": the last carries, and of a scan all y, the gradients of a loss by x, h and the
 *  weights, and those of the sum of their squares.
 */
#include <stdio.h>

#include "json_case.h"
#include "muster/session.h"

enum { MOST = 4 };

/* h' = tanh(x + h a), m' = m sigmoid(h' b) + h'; y = h' m' */
static void cell(mst_loop_step *s) {
    const mst_value h = mst_tanh(mst_add(s->x[0], mst_matmul(s->carry[0], s->captured[0])));
    s->next[0] = h;
    s->next[1] = mst_add(mst_mul(s->carry[1], mst_sigmoid(mst_matmul(h, s->captured[1]))), h);
    s->y[0] = mst_mul(h, s->next[1]);
}

static mst_value is_large(mst_loop_step *s) {
    return mst_greater(mst_reduce_max(s->carry[0]), s->captured[0]);
}

static void shrink(mst_loop_step *s) {
    s->next[0] = mst_sub(s->carry[0], mst_scale(mst_sin(s->carry[0]), 0.25));
    s->next[1] = mst_add(s->carry[1], mst_ones_like(s->carry[1]));
}

typedef struct loop {
    mst_graph *graph;
    mst_session *session;
    int num_feeds, num_fetches;
    mst_feed feed[MOST];
    mst_value fetch[4 * MOST];
    mst_tensor *output[4 * MOST];
} loop;

static mst_status input(loop *l, const json_t *j, mst_value *out) {
    mst_feed *f = &l->feed[l->num_feeds++];
    MST_TRY(tensor_of(j, &f->tensor));
    f->value = *out = mst_placeholder(l->graph, mst_tensor_dtype(f->tensor), mst_tensor_shape(f->tensor));
    return MST_OK;
}

static mst_status build_scan(loop *l, const json_t *c) {
    const json_t *weights = json_object_get(c, "weights");
    mst_value src[4], gradient[4], square[4];
    MST_TRY(input(l, json_object_get(c, "x"), &src[0]));
    MST_TRY(input(l, json_object_get(c, "h"), &src[1]));
    for (int i = 0; i < 2; i++) MST_TRY(input(l, json_array_get(weights, (size_t)i), &src[2 + i]));
    const mst_value last =
        mst_scan(cell, .carry = {src[1], mst_ones_like(src[1])}, .x = {src[0]}, .captured = {src[2], src[3]},
                 .reverse = json_is_true(json_object_get(c, "reverse")));
    const mst_value memory = mst_value_output(last, 1), y = mst_value_output(last, 2);
    const mst_value loss = mst_add(mst_reduce_sum(mst_square(y)), mst_reduce_sum(mst_mul(last, memory)));
    mst_gradients(loss, src, 4, gradient);
    for (int i = 0; i < 3; i++) l->fetch[l->num_fetches++] = mst_value_output(last, i);
    for (int i = 0; i < 4; i++) {
        l->fetch[l->num_fetches++] = gradient[i];
        square[i] = mst_reduce_sum(mst_square(gradient[i]));
    }
    mst_gradients(mst_add_n(square, 4), src, 4, &l->fetch[l->num_fetches]);
    l->num_fetches += 4;
    return MST_OK;
}

static mst_status build_while(loop *l, const json_t *c) {
    mst_value x, limit;
    MST_TRY(input(l, json_object_get(c, "x"), &x));
    MST_TRY(input(l, json_object_get(c, "limit"), &limit));
    const mst_value last =
        mst_while(is_large, shrink, .carry = {x, mst_scalar(l->graph, MST_I32, 0)}, .captured = {limit});
    for (int i = 0; i < 2; i++) l->fetch[l->num_fetches++] = mst_value_output(last, i);
    return MST_OK;
}

static mst_status run_case(loop *l, const json_t *c, json_t *out) {
    MST_TRY(mst_graph_create(&l->graph));
    const bool is_scan = strcmp(json_string_value(json_object_get(c, "kind")), "scan") == 0;
    MST_TRY(is_scan ? build_scan(l, c) : build_while(l, c));
    MST_TRY(mst_graph_check(l->graph));
    MST_TRY(mst_session_create(l->graph, &(mst_session_options){.devices = "cpu:1"}, &l->session));
    MST_TRY(mst_session_run(l->session, l->feed, l->num_feeds, l->fetch, l->num_fetches, l->output));
    json_t *list = json_array();
    for (int i = 0; i < l->num_fetches; i++) json_array_append_new(list, values(l->output[i]));
    json_object_set_new(out, "values", list);
    return MST_OK;
}

static void loop_end(loop *l) {
    for (int i = 0; i < l->num_feeds; i++) mst_tensor_release(l->feed[i].tensor);
    for (int i = 0; i < l->num_fetches; i++) mst_tensor_release(l->output[i]);
    mst_session_destroy(l->session);
    mst_graph_destroy(l->graph);
}

int main(void) {
    json_error_t error;
    json_t *cases = json_loadf(stdin, 0, &error), *c;
    size_t i;
    json_array_foreach(cases, i, c) {
        loop l = {0};
        json_t *out = json_object();
        if (run_case(&l, c, out)) json_object_set_new(out, "error", json_string(mst_error()->message));
        json_dumpf(out, stdout, JSON_REAL_PRECISION(17));
        putchar('\n');
        json_decref(out);
        loop_end(&l);
    }
    json_decref(cases);
    return 0;
}
