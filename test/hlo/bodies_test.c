/* scan and while in StableHLO: each loop of a graph as a program of its own, compared with what a session computes.
 * Nested bodies, gradients, open dimensions, and loops without steps; and a failure in a body, which must end the
 * loop. */
#include <stdio.h>

#include "graph/body.h"
#include "support/hlo_folder.h"
#include "support/test.h"

enum { MOST_FEEDS = 4 };

/* A graph and what is fed to it. */
typedef struct net {
    const char *label;
    mst_graph *graph;
    mst_session *session;
    mst_feed feed[MOST_FEEDS];
    int num_feeds;
} net;

static net begin(const char *label) {
    return (net){.label = label, .graph = engine_graph()};
}

/* A placeholder of SHAPE, which may be open, to which FED is fed. */
static mst_value input(net *n, mst_shape shape, mst_tensor *fed) {
    const mst_value value = mst_placeholder(n->graph, mst_tensor_dtype(fed), shape);
    n->feed[n->num_feeds++] = (mst_feed){.value = value, .tensor = fed};
    return value;
}

static mst_value numbers(net *n, mst_dtype dtype, mst_shape shape, const double *value) {
    return input(n, shape, engine_tensor(dtype, shape, value));
}

static mst_value number(net *n, mst_dtype dtype, double value) {
    return numbers(n, dtype, MST_SCALAR, &value);
}

static void end(net *n) {
    for (int i = 0; i < n->num_feeds; i++) mst_tensor_release(n->feed[i].tensor);
    engine_end(n->graph, n->session);
}

/* The program of NODE must give its outputs, or fail with FAILS and a message that names CULPRIT. */
static void check_node(net *n, mst_node *node, mst_status fails, const char *culprit) {
    mst_tensor *src[HLO_MOST_ARGUMENTS], *dst[HLO_MOST_RESULTS];
    const int num_dst = fails ? 0 : node->num_dst;
    for (int i = 0; i < node->num_src; i++) src[i] = engine_fetch(n->session, n->feed, n->num_feeds, node->src[i]);
    const bool is_f64 = mst_value_spec((mst_value){node, 0}).dtype == MST_F64;
    hlo_case h = {.label = n->label, .tolerance = is_f64 ? 1e-10 : 1e-5, .fails = fails, .culprit = culprit};
    EXPECT_OK(hlo_case_write(&h, node, src));
    for (int k = 0; k < num_dst; k++) {
        dst[k] = engine_fetch(n->session, n->feed, n->num_feeds, (mst_value){node, k});
        h.wanted[k] = hlo_value_of(dst[k]);
    }
    hlo_folder_keep(&h);
    assert_true(hlo_case_agrees(&h));
    hlo_case_end(&h);
    op_case_release(src, node->num_src);
    op_case_release(dst, num_dst);
}

/* Checks each loop of the graph, of which there must be COUNT. */
static void check(net *n, int count) {
    EXPECT_OK(mst_graph_check(n->graph));
    n->session = engine_session(n->graph, NULL);
    for (int64_t i = 0; i < n->graph->num_nodes; i++)
        if (mst_op_has_body(n->graph->node[i]->op)) {
            check_node(n, n->graph->node[i], MST_OK, NULL);
            count--;
        }
    assert_int_equal(count, 0);
    end(n);
}

/* LOOP must fail, in the session and in its program, with a message that has TEXT. */
static void check_failure(net *n, mst_value loop, const char *text) {
    EXPECT_OK(mst_graph_check(n->graph));
    n->session = engine_session(n->graph, NULL);
    EXPECT_ERROR(mst_session_run(n->session, n->feed, n->num_feeds, &loop, 1, NULL), MST_INVALID, text);
    check_node(n, loop.node, MST_INVALID, text);
    end(n);
}

/* ---- scan ---- */

/* The sum so far, and products of what came. */
static void add_up(mst_loop_step *s) {
    s->next[0] = mst_add(s->carry[0], s->x[0]);
    s->y[0] = s->next[0];
    s->y[1] = mst_mul(s->x[0], s->captured[0]);
}

static void scans_carry_a_value_and_stack_others(void **state) {
    static const mst_dtype dtypes[] = {MST_F32, MST_F64, MST_I32, MST_I64};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int reverse = 0; reverse < 2; reverse++) {
            net n = begin(reverse ? "running sums, reversed" : "running sums");
            const mst_value x = numbers(&n, dtypes[d], MST_SHAPE(4), (double[]){1, 2, 3, 4});
            const mst_value five = number(&n, dtypes[d], 5);
            (void)mst_scan(add_up, .carry = {five}, .x = {x}, .captured = {five}, .reverse = reverse);
            check(&n, 1);
        }
}

static void scans_take_any_number_of_steps(void **state) {
    (void)state;
    for (int steps = 0; steps < 4; steps++) {
        net n = begin("open dimensions");
        const mst_value x = input(&n, MST_SHAPE(-1, -1), engine_random(MST_F32, MST_SHAPE(steps, 3), -1, 1, 1));
        const mst_value first = input(&n, MST_SHAPE(-1), engine_random(MST_F32, MST_SHAPE(3), -1, 1, 2));
        const mst_value sum = mst_scan(add_up, .carry = {first}, .x = {x}, .captured = {first});
        mst_value gradient[2];
        mst_gradients(mst_mul(sum, sum), (mst_value[]){first, x}, 2, gradient);
        check(&n, 2);
    }
}

/* Fibonacci's numbers: carries that change places. */
static void swap(mst_loop_step *s) {
    s->next[0] = s->carry[1];
    s->next[1] = mst_add(s->carry[0], s->carry[1]);
    s->y[0] = s->carry[0];
}

static void carries_may_change_places(void **state) {
    (void)state;
    net n = begin("Fibonacci");
    (void)mst_scan(swap, .carry = {number(&n, MST_I64, 0), number(&n, MST_I64, 1)}, .num_steps = 8);
    check(&n, 1);
}

/* A row: the running sum of its elements, from the last of the row before on. */
static void add_row(mst_loop_step *s) {
    const mst_value inner =
        mst_scan(add_up, .carry = {s->carry[0]}, .x = {s->x[0]}, .captured = {s->captured[0]}, .reverse = true);
    s->next[0] = inner;
    s->y[0] = mst_value_output(inner, 1);
}

static void scans_may_be_nested_and_have_gradients(void **state) {
    (void)state;
    net n = begin("a scan in a scan");
    const mst_value x = numbers(&n, MST_F32, MST_SHAPE(2, 3), (double[]){1, 2, 3, 4, 5, 6});
    const mst_value first = number(&n, MST_F32, 0), ten = number(&n, MST_F32, 10);
    const mst_value sum = mst_scan(add_row, .carry = {first}, .x = {x}, .captured = {ten});
    mst_value gradient;
    mst_gradients(mst_square(mst_value_output(sum, 1)), &x, 1, &gradient);
    check(&n, 2);
}

static void cell(mst_loop_step *s) {
    s->next[0] = mst_tanh(mst_add(s->x[0], mst_matmul(s->carry[0], s->captured[0])));
    s->y[0] = s->next[0];
}

static void cells_have_gradients_of_first_and_second_order(void **state) {
    enum { STEPS = 5, ROWS = 3, UNITS = 4 };
    (void)state;
    for (int reverse = 0; reverse < 2; reverse++) {
        net n = begin("a cell");
        const mst_value x =
            input(&n, MST_SHAPE(-1, ROWS, UNITS), engine_random(MST_F64, MST_SHAPE(STEPS, ROWS, UNITS), -1, 1, 3));
        const mst_value w =
            input(&n, MST_SHAPE(UNITS, UNITS), engine_random(MST_F64, MST_SHAPE(UNITS, UNITS), -1, 1, 4));
        const mst_value h = input(&n, MST_SHAPE(ROWS, UNITS), engine_random(MST_F64, MST_SHAPE(ROWS, UNITS), -1, 1, 5));
        const mst_value last = mst_scan(cell, .carry = {h}, .x = {x}, .captured = {w}, .reverse = reverse);
        mst_value first[2], second[2];
        mst_gradients(mst_square(mst_value_output(last, 1)), (mst_value[]){x, w}, 2, first);
        mst_gradients(mst_square(first[1]), (mst_value[]){x, w}, 2, second);
        check(&n, 4);
    }
}

/* The product forward, and the two of the gradient. */
static void products_in_bodies_have_the_precision_of_the_session(void **state) {
    enum { STEPS = 5, ROWS = 3, UNITS = 4 };
    int words = 0;
    (void)state;
    net n = begin("a cell in f32");
    const mst_value x =
        input(&n, MST_SHAPE(STEPS, ROWS, UNITS), engine_random(MST_F32, MST_SHAPE(STEPS, ROWS, UNITS), -1, 1, 3));
    const mst_value w = input(&n, MST_SHAPE(UNITS, UNITS), engine_random(MST_F32, MST_SHAPE(UNITS, UNITS), -1, 1, 4));
    const mst_value h = input(&n, MST_SHAPE(ROWS, UNITS), engine_random(MST_F32, MST_SHAPE(ROWS, UNITS), -1, 1, 5));
    const mst_value last = mst_scan(cell, .carry = {h}, .x = {x}, .captured = {w});
    mst_value gradient[2];
    mst_gradients(mst_square(mst_value_output(last, 1)), (mst_value[]){x, w}, 2, gradient);
    EXPECT_OK(mst_graph_check(n.graph));
    n.session = engine_session(n.graph, NULL);
    for (int64_t i = 0; i < n.graph->num_nodes; i++) {
        const mst_node *node = n.graph->node[i];
        mst_tensor *src[HLO_MOST_ARGUMENTS];
        if (!mst_op_has_body(node->op)) continue;
        for (int k = 0; k < node->num_src; k++) src[k] = engine_fetch(n.session, n.feed, n.num_feeds, node->src[k]);
        words += hlo_case_expect_rounded(n.label, node, src);
        op_case_release(src, node->num_src);
    }
    assert_in_range(words, 6, 8); /* two for each product, one of which may be computed again */
    end(&n);
}

/* ---- while ---- */

static mst_value is_small(mst_loop_step *s) {
    return mst_less(s->carry[0], s->captured[0]);
}

static void double_it(mst_loop_step *s) {
    s->next[0] = mst_add(s->carry[0], s->carry[0]);
    s->next[1] = mst_add(s->carry[1], s->captured[1]);
}

static void while_goes_on_as_long_as_its_condition_holds(void **state) {
    static const mst_dtype dtypes[] = {MST_F32, MST_F64, MST_I32, MST_I64};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        net n = begin("doubled while small");
        const mst_value limit = number(&n, dtypes[d], 100), three = number(&n, dtypes[d], 3);
        const mst_value zero = number(&n, MST_I32, 0), one = number(&n, MST_I32, 1);
        (void)mst_while(is_small, double_it, .carry = {three, zero}, .captured = {limit, one});
        (void)mst_while(is_small, double_it, .carry = {limit, zero}, .captured = {three, one});
        check(&n, 2);
    }
}

static void a_limit_that_is_just_enough_is_no_error(void **state) {
    (void)state;
    net n = begin("six steps");
    const mst_value limit = number(&n, MST_I32, 100), three = number(&n, MST_I32, 3);
    const mst_value zero = number(&n, MST_I32, 0), one = number(&n, MST_I32, 1);
    (void)mst_while(is_small, double_it, .carry = {three, zero}, .captured = {limit, one}, .limit = 6);
    check(&n, 1);
    n = begin("five steps of six");
    const mst_value most = number(&n, MST_I32, 100), first = number(&n, MST_I32, 3);
    const mst_value count = number(&n, MST_I32, 0), unit = number(&n, MST_I32, 1);
    check_failure(&n, mst_while(is_small, double_it, .carry = {first, count}, .captured = {most, unit}, .limit = 5),
                  "its condition still holds after 5 steps: give it a higher .limit");
}

static mst_value is_not_0(mst_loop_step *s) {
    return mst_not_equal(s->carry[0], s->captured[0]);
}

static void subtract(mst_loop_step *s) {
    s->next[0] = mst_sub(s->carry[0], s->captured[1]);
}

/* Counts down from x, and adds x to the carry. */
static void count_down(mst_loop_step *s) {
    const mst_value zero = s->captured[0], one = s->captured[1];
    s->y[0] = mst_while(is_not_0, subtract, .carry = {s->x[0]}, .captured = {zero, one}, .name = "down");
    s->next[0] = mst_add(s->carry[0], s->x[0]);
}

static void while_may_be_in_a_scan(void **state) {
    (void)state;
    net n = begin("a while in a scan");
    const mst_value x = numbers(&n, MST_I32, MST_SHAPE(3), (double[]){3, 0, 5});
    const mst_value zero = number(&n, MST_I32, 0), one = number(&n, MST_I32, 1);
    (void)mst_scan(count_down, .carry = {zero}, .x = {x}, .captured = {zero, one});
    check(&n, 1);
}

/* ---- what fails ---- */

/* dividend / x, in the carry */
static void divide(mst_loop_step *s) {
    s->next[0] = mst_floor_div(s->captured[0], s->x[0]);
}

/* The same where nothing needs it. */
static void divide_in_vain(mst_loop_step *s) {
    (void)mst_floor_div(s->captured[0], s->x[0]);
    s->next[0] = mst_add(s->carry[0], s->x[0]);
}

static void a_step_that_fails_fails_the_scan(void **state) {
    (void)state;
    net n = begin("a division by 0 in a scan");
    const mst_value x = numbers(&n, MST_I32, MST_SHAPE(3), (double[]){3, 0, 5});
    const mst_value one = number(&n, MST_I32, 1);
    check_failure(&n, mst_scan(divide, .carry = {one}, .x = {x}, .captured = {one}), "integer division by zero");
    n = begin("no division by 0 in a scan");
    const mst_value good = numbers(&n, MST_I32, MST_SHAPE(3), (double[]){3, -7, 5});
    (void)mst_scan(divide, .carry = {number(&n, MST_I32, 1)}, .x = {good}, .captured = {number(&n, MST_I32, 100)});
    check(&n, 1);
}

static void what_nothing_needs_does_not_fail(void **state) {
    (void)state;
    net n = begin("a division by 0 in vain");
    const mst_value x = numbers(&n, MST_I32, MST_SHAPE(3), (double[]){3, 0, 5}), one = number(&n, MST_I32, 1);
    (void)mst_scan(divide_in_vain, .carry = {one}, .x = {x}, .captured = {one});
    check(&n, 1);
}

/* 6 / carry, then 6 / (6 / carry), ...: never 0 */
static void divide_by_itself(mst_loop_step *s) {
    s->next[0] = mst_floor_div(s->captured[1], s->carry[0]);
}

/* Divides by 0, and never comes to an end with what a program makes of that. */
static void divide_by_0(mst_loop_step *s) {
    s->next[0] = mst_add(mst_floor_div(s->captured[1], s->captured[0]), s->captured[1]);
}

static mst_value is_not_its_share(mst_loop_step *s) {
    return mst_not_equal(mst_floor_div(s->captured[1], s->carry[0]), s->captured[0]);
}

static void a_failure_ends_a_loop_that_would_go_on(void **state) {
    const int64_t limit = (int64_t)9e15;
    (void)state;
    net n = begin("a division by 0 in the body of a while");
    const mst_value zero = number(&n, MST_I32, 0), six = number(&n, MST_I32, 6);
    check_failure(&n, mst_while(is_not_0, divide_by_0, .carry = {six}, .captured = {zero, six}, .limit = limit),
                  "integer division by zero");
    n = begin("an endless loop without a failure");
    const mst_value none = number(&n, MST_I32, 0), all = number(&n, MST_I32, 6), two = number(&n, MST_I32, 2);
    check_failure(&n, mst_while(is_not_0, divide_by_itself, .carry = {two}, .captured = {none, all}, .limit = 1000),
                  "its condition still holds after 1000 steps");
}

static void a_condition_may_fail(void **state) {
    (void)state;
    for (int first = 0; first < 4; first += 3) { /* at once, or after three steps */
        net n = begin("a division by 0 in the condition of a while");
        const mst_value six = number(&n, MST_I32, 6), one = number(&n, MST_I32, 1), carry = number(&n, MST_I32, first);
        check_failure(&n, mst_while(is_not_its_share, subtract, .carry = {carry}, .captured = {six, one}),
                      "integer division by zero");
    }
}

/* Divides by x, and counts down by the quotient. */
static void count_down_by(mst_loop_step *s) {
    const mst_value by = mst_floor_div(s->captured[1], s->x[0]);
    s->next[0] = mst_while(is_not_0, subtract, .carry = {s->captured[1]}, .captured = {s->captured[0], by},
                           .limit = (int64_t)9e15);
}

static void a_loop_ends_at_once_after_a_failure_before_it(void **state) {
    (void)state;
    net n = begin("a division by 0 before a while");
    const mst_value x = numbers(&n, MST_I64, MST_SHAPE(3), (double[]){3, 0, 2});
    const mst_value zero = number(&n, MST_I64, 0), six = number(&n, MST_I64, 6);
    check_failure(&n, mst_scan(count_down_by, .carry = {zero}, .x = {x}, .captured = {zero, six}),
                  "integer division by zero");
}

static void the_message_names_the_loops(void **state) {
    (void)state;
    net n = begin("an endless while in a scan");
    const mst_value x = numbers(&n, MST_I32, MST_SHAPE(2), (double[]){3, 5}), zero = number(&n, MST_I32, 0);
    const mst_value loop = mst_scan(count_down, .carry = {zero}, .x = {x}, .captured = {zero, zero}, .name = "outer");
    n.session = engine_session(n.graph, NULL);
    mst_tensor *src[4];
    for (int i = 0; i < 4; i++) src[i] = engine_fetch(n.session, n.feed, n.num_feeds, loop.node->src[i]);
    hlo_case h = {.label = n.label};
    EXPECT_OK(hlo_case_write(&h, loop.node, src));
    assert_int_equal(mst_hlo_program_num_faults(h.program), 1);
    EXPECT_ERROR(mst_hlo_program_fault(h.program, 1), MST_INVALID,
                 "in scan 'outer': while 'down': its condition still holds after 1000000 steps: give it a higher "
                 ".limit");
    hlo_case_end(&h);
    op_case_release(src, 4);
    end(&n);
}

static int close_folder(void **state) {
    (void)state;
    hlo_folder_end();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_carry_a_value_and_stack_others),
        cmocka_unit_test(scans_take_any_number_of_steps),
        cmocka_unit_test(carries_may_change_places),
        cmocka_unit_test(scans_may_be_nested_and_have_gradients),
        cmocka_unit_test(cells_have_gradients_of_first_and_second_order),
        cmocka_unit_test(products_in_bodies_have_the_precision_of_the_session),
        cmocka_unit_test(while_goes_on_as_long_as_its_condition_holds),
        cmocka_unit_test(a_limit_that_is_just_enough_is_no_error),
        cmocka_unit_test(while_may_be_in_a_scan),
        cmocka_unit_test(a_step_that_fails_fails_the_scan),
        cmocka_unit_test(what_nothing_needs_does_not_fail),
        cmocka_unit_test(a_failure_ends_a_loop_that_would_go_on),
        cmocka_unit_test(a_condition_may_fail),
        cmocka_unit_test(a_loop_ends_at_once_after_a_failure_before_it),
        cmocka_unit_test(the_message_names_the_loops),
    };
    return cmocka_run_group_tests(tests, NULL, close_folder);
}
