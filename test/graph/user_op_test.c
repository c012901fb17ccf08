/* A program's own ops that are incomplete, or whose functions return wrong results: each mistake is one clear error. */
#include "muster/muster.h"
#include "support/test.h"

static mst_status infer_like(mst_infer *c) {
    if (c->num_src) c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_status infer_fails(mst_infer *c) {
    (void)c;
    return MST_INVALID;
}

static mst_status infer_leaves_outputs(mst_infer *c) {
    (void)c;
    return MST_OK;
}

static mst_status infer_no_dtype(mst_infer *c) {
    c->dst[0] = (mst_spec){.dtype = (mst_dtype)99};
    return MST_OK;
}

static mst_status infer_many_dimensions(mst_infer *c) {
    c->dst[0] = (mst_spec){.dtype = MST_F32, .shape = {.ndim = 1000}};
    return MST_OK;
}

static mst_status infer_negative_dimension(mst_infer *c) {
    c->dst[0] = (mst_spec){.dtype = MST_F32, .shape = {.ndim = 1, .dim = {-7}}};
    return MST_OK;
}

static mst_status infer_too_large(mst_infer *c) {
    c->dst[0] = (mst_spec){.dtype = MST_F32, .shape = {.ndim = 2, .dim = {INT64_MAX, INT64_MAX}}};
    return MST_OK;
}

static mst_status copy(const mst_kernel_args *a) {
    memcpy(a->dst[0].data, a->src[0].data, (size_t)a->dst[0].count * mst_dtype_size(a->dst[0].dtype));
    return MST_OK;
}

static int count_none(const void *options, int num_src) {
    (void)options, (void)num_src;
    return 0;
}

static int count_negative(const void *options, int num_src) {
    (void)options, (void)num_src;
    return -3;
}

static const mst_op complete = {.name = "mine", .num_src = 1, .num_dst = 1, .infer = infer_like, .reference = copy};
static mst_op op;

/* A complete op, but for what the arguments set. */
#define OP(...) (op = complete, __VA_ARGS__, &op)

/* The op is refused when it is registered and when it is called. */
static void expect_refused(const mst_op *bad, const char *text) {
    EXPECT_ERROR(mst_register_op(bad), MST_INVALID, text);
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2));
    assert_true(mst_value_is_none(mst_call(g, bad, 1, &x, NULL)));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, text);
    mst_graph_destroy(g);
}

static void incomplete_op_is_refused_where_it_is_registered_and_where_it_is_called(void **state) {
    (void)state;
    struct pair {
        int64_t a, b;
    };
    static const mst_field fields[] = {MST_FIELD_I64(struct pair, a, 0, 0, 0, ""),
                                       MST_FIELD_I64(struct pair, b, 0, 0, 0, ""), MST_FIELD_END};
    expect_refused(OP(op.num_dst = 0), "op 'mine' has no outputs");
    expect_refused(OP(op.num_dst = -2), "op 'mine' has no outputs");
    expect_refused(OP(op.num_dst = MST_VARIADIC), "op 'mine' is variadic in outputs, but has no count_dst");
    expect_refused(OP(op.num_src = -2), "op 'mine' has a negative num_src");
    expect_refused(OP(op.infer = NULL), "op 'mine' has no infer");
    expect_refused(OP(op.reference = NULL), "op 'mine' has no reference kernel");
    expect_refused(OP(op.name = NULL), "an op of the name '(NULL)'");
    expect_refused(OP(op.name = ""), "an op of the name ''");
    expect_refused(OP(op.name = "a b"), "an op of the name 'a b'");
    expect_refused(OP(op.fields = fields, op.options_size = sizeof(int64_t)),
                   "op 'mine' has fields beyond its options_size");
    static const mst_field nested[] = {MST_FIELD_NESTED(struct pair, a, fields, ""), MST_FIELD_END};
    expect_refused(OP(op.fields = nested, op.options_size = sizeof(struct pair)),
                   "op 'mine' has a nested field, which only layers have");
}

static void expect_call_fails(const mst_op *bad, int num_src, const char *text) {
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2));
    assert_true(mst_value_is_none(mst_call(g, bad, num_src, &x, NULL)));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, text);
    mst_graph_destroy(g);
}

static void number_of_sources_and_outputs_is_checked_in_each_call(void **state) {
    (void)state;
    expect_call_fails(OP(op.num_src = MST_VARIADIC), -1, "mine: -1 sources, must be 0 or more");
    expect_call_fails(OP(op.num_src = MST_VARIADIC), INT32_MIN, "sources, must be 0 or more");
    expect_call_fails(OP(op.num_dst = MST_VARIADIC, op.count_dst = count_none), 1, "mine: count_dst gives 0 outputs");
    expect_call_fails(OP(op.num_dst = MST_VARIADIC, op.count_dst = count_negative), 1,
                      "mine: count_dst gives -3 outputs");
}

static void options_that_memory_cannot_hold_are_told_as_such(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    const mst_value x = engine_input(graph, "x", MST_SHAPE(2));
    mst_call(graph, OP(op.num_dst = MST_VARIADIC, op.count_dst = count_none, op.options_size = SIZE_MAX), 1, &x, NULL);
    EXPECT_ERROR(mst_graph_check(graph), MST_OUT_OF_MEMORY, "for node 'mine'");
    mst_graph_destroy(graph);
}

static void missing_output_of_a_node_is_refused_as_a_source(void **state) {
    (void)state;
    for (int32_t index = -1; index < 2; index += 2) {
        mst_graph *g = engine_graph();
        mst_value x = engine_input(g, "x", MST_SHAPE(2));
        x.index = index;
        assert_true(mst_value_is_none(mst_neg(x)));
        EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "of 'x', which has 1");
        mst_graph_destroy(g);
    }
}

static void result_of_infer_is_checked(void **state) {
    (void)state;
    expect_call_fails(OP(op.infer = infer_fails), 1, "mine 'mine': infer failed (invalid argument) without a message");
    expect_call_fails(OP(op.infer = infer_leaves_outputs), 1, "mine 'mine': infer gives output 0 no dtype");
    expect_call_fails(OP(op.infer = infer_no_dtype), 1, "mine 'mine': infer gives output 0 no dtype (99)");
    expect_call_fails(OP(op.infer = infer_many_dimensions), 1, "infer gives output 0 1000 dimensions");
    expect_call_fails(OP(op.infer = infer_negative_dimension), 1, "infer gives dimension 0 of output 0 the size -7");
    expect_call_fails(OP(op.infer = infer_too_large), 1, "too many elements");
}

static bool planning;

static mst_status infer_fails_when_planning(mst_infer *c) {
    if (planning) return MST_OK; /* and leaves the output as it is */
    c->dst[0] = c->src[0];
    return MST_OK;
}

static void result_of_infer_is_checked_again_in_a_plan(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value y =
        mst_call(g, OP(op.infer = infer_fails_when_planning), 1, (mst_value[]){mst_scalar(g, MST_F32, 1)}, NULL);
    EXPECT_OK(mst_graph_check(g));
    mst_session *s = engine_session(g, NULL);
    mst_tensor *out = NULL;
    planning = true;
    EXPECT_ERROR(mst_session_run(s, NULL, 0, &y, 1, &out), MST_INVALID, "infer gives output 0 no dtype");
    planning = false;
    EXPECT_OK(mst_session_run(s, NULL, 0, &y, 1, &out));
    mst_tensor_release(out);
    engine_end(g, s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incomplete_op_is_refused_where_it_is_registered_and_where_it_is_called),
        cmocka_unit_test(number_of_sources_and_outputs_is_checked_in_each_call),
        cmocka_unit_test(options_that_memory_cannot_hold_are_told_as_such),
        cmocka_unit_test(missing_output_of_a_node_is_refused_as_a_source),
        cmocka_unit_test(result_of_infer_is_checked),
        cmocka_unit_test(result_of_infer_is_checked_again_in_a_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
