/* Graphs written and read: every op with its examples, options of every type, what belongs to the graph, and files that
 * are damaged or written by other programs. graphdef_examples_test.c has the graphs of whole programs. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "graph/graph.h"
#include "support/all_fields.h"
#include "support/folder.h"
#include "support/graph_pair.h"
#include "support/op_case.h"
#include "support/test.h"

/* ---- every op ---- */

static void check_case(op_case *c, op_source source) {
    mst_value fetches[OP_MOST_DST];
    if (op_case_build(c, source)) return; /* the registry test says whether it may fail */
    mst_graph *copy = graph_pair_copy(c->graph);
    mst_feed feeds[MST_EXAMPLE_SRC];
    const int num_feeds = source == OP_CONSTANT ? 0 : c->example->num_src;
    for (int i = 0; i < num_feeds; i++) feeds[i] = (mst_feed){.value = c->fed[i], .tensor = c->value[i]};
    for (int k = 0; k < c->num_dst; k++) fetches[k] = mst_value_output(c->out, k);
    graph_pair_run(c->graph, copy, NULL, 1, feeds, num_feeds, fetches, c->num_dst);
    /* gradients are built from what was read as from what was written */
    mst_value of[MST_EXAMPLE_SRC], slope[MST_EXAMPLE_SRC], of_copy[MST_EXAMPLE_SRC], slope_copy[MST_EXAMPLE_SRC];
    if (c->op->grad && mst_dtype_is_float(mst_value_spec(c->out).dtype)) {
        for (int i = 0; i < c->example->num_src; i++) {
            of[i] = c->src[i];
            of_copy[i] = graph_pair_value(copy, of[i]);
        }
        mst_gradients(c->out, of, c->example->num_src, slope);
        mst_gradients(graph_pair_value(copy, c->out), of_copy, c->example->num_src, slope_copy);
        if (!mst_graph_check(c->graph)) graph_pair_expect_same(c->graph, copy);
    }
    mst_graph_destroy(copy);
}

static void check_example(const mst_op *op, const mst_example *example, mst_dtype dtype) {
    op_case c;
    op_case_begin(&c, op, example, dtype, OP_AS_GIVEN);
    check_case(&c, OP_FED);
    check_case(&c, OP_FED_OPEN);
    check_case(&c, OP_CONSTANT);
    op_case_end(&c);
}

static void every_op_comes_back_with_its_examples(void **state) {
    (void)state;
    const mst_op *op;
    for (int i = 0; (op = mst_op_at(i)); i++) {
        for (int k = 0; k < op->num_examples; k++) {
            const mst_example *example = &op->examples[k];
            bool is_open = example->num_src == 0;
            for (int s = 0; s < example->num_src; s++) is_open |= example->src[s].dtype == MST_NO_DTYPE;
            for (int dtype = 1; dtype < MST_NUM_DTYPES; dtype++)
                if ((is_open || dtype == MST_F32) && (op_case_dtypes(op, example) & MST_DTYPE_BIT(dtype)))
                    check_example(op, example, (mst_dtype)dtype);
        }
    }
}

/* Ops whose examples cannot show them: state, and what only orders. */
static mst_graph *graph_of_state(mst_value *out) {
    mst_graph *g = engine_graph();
    mst_graph_set_seed(g, 0xfedcba9876543210u);
    mst_value w = MST_NONE, b = MST_NONE, sum = MST_NONE, count;
    mst_with_device (g, "/cpu:1") {
        w = mst_variable(g, "w", mst_random_normal(g, MST_SHAPE(2, 3), .seed = UINT64_MAX), .l1 = 0.1f, .l2 = -0.0f,
                         .constraint = mst_min_max_norm_constraint(.max_value = MST_ZERO, .axes = MST_AXES(-1, 0)));
        b = mst_variable(g, "scope/b", mst_fill(g, MST_F64, MST_SHAPE(3), 0.1), .not_trainable = true);
    }
    mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(-1, 2), "x");
    mst_with_name (g, "layer") sum = mst_add(mst_matmul(x, w), mst_cast(b, MST_F32));
    count = mst_variable(g, "count", mst_scalar(g, MST_I64, 0), .hidden = true, .kind = MST_STATE_STEP,
                         .container = "a 'b'\n");
    mst_value update = mst_assign_add(count, mst_scalar(g, MST_I64, 1)), last = MST_NONE;
    mst_with_control (g, update) {
        mst_with_control (g, sum) last = mst_group(&sum, 1);
        mst_rename(mst_no_op(g), "nothing");
    }
    mst_value halves = mst_split(sum, 3, 1);
    mst_collect(g, MST_LOSSES, mst_value_output(halves, 2));
    mst_collect(g, MST_LOSSES, halves);
    mst_collect(g, MST_LOSSES, mst_value_output(halves, 2));
    mst_collect(g, "of\tthe user", x);
    out[0] = sum;
    out[1] = count;
    out[2] = last;
    out[3] = mst_assign_sub(w, mst_ones_like(w));
    EXPECT_OK(mst_graph_check(g));
    return g;
}

static void state_order_and_what_belongs_to_the_graph_come_back(void **state) {
    (void)state;
    mst_value out[4];
    mst_graph *g = graph_of_state(out), *copy = graph_pair_copy(g);
    mst_value w = {mst_graph_find(copy, "w"), 0};
    float l1, l2;
    mst_variable_penalty(w, &l1, &l2);
    assert_true(l1 == 0.1f && l2 == 0 && signbit(l2));
    const mst_constraint constraint = mst_variable_constraint(w);
    assert_true(constraint.kind == MST_CONSTRAINT_MIN_MAX_NORM && constraint.max_value == 0);
    assert_true(signbit(constraint.max_value) && constraint.axes.count == 2 && constraint.axes.axis[0] == -1);
    assert_string_equal(mst_value_name(mst_variable_initial(w)), "random_normal");
    assert_string_equal(mst_node_device(w.node), "/device:CPU:1");
    mst_value losses[4], layer[4];
    assert_int_equal(mst_collection(copy, MST_LOSSES, NULL, losses, 4), 3);
    assert_true(losses[0].index == 2 && losses[1].index == 0 && losses[2].index == 2);
    assert_int_equal(mst_collection(copy, "of\tthe user", NULL, layer, 4), 1);
    mst_tensor *x = engine_random(MST_F32, MST_SHAPE(4, 2), -1, 1, 3);
    graph_pair_run(
        g, copy, "cpu:2/1", 3,
        &(mst_feed){.value = mst_collection(g, "of\tthe user", NULL, layer, 4) ? layer[0] : MST_NONE, .tensor = x}, 1,
        out, 4);
    mst_tensor_release(x);
    mst_graph_destroy(copy);
    mst_graph_destroy(g);
}

static void names_made_after_reading_are_those_of_the_graph_that_was_written(void **state) {
    (void)state;
    mst_graph *g = engine_graph(), *graphs[2] = {g};
    mst_value x = engine_input(g, "x", MST_SHAPE(2)), slope;
    for (int i = 0; i < 3; i++)
        mst_with_name (g, "tower") mst_neg(mst_neg(x));
    mst_rename(mst_neg(x), "neg_7");
    mst_gradients(mst_reduce_sum(mst_square(x)), &x, 1, &slope);
    graphs[1] = graph_pair_copy(g);
    for (int i = 0; i < 2; i++) {
        mst_value y = {mst_graph_find(graphs[i], "x"), 0};
        mst_neg(y);
        mst_with_name (graphs[i], "tower") mst_neg(mst_neg(y));
        mst_gradients(mst_reduce_sum(mst_square(y)), &y, 1, &slope);
        mst_random_uniform(graphs[i], MST_SHAPE(2));
    }
    assert_non_null(mst_graph_find(graphs[1], "neg"));
    assert_non_null(mst_graph_find(graphs[1], "tower_3/neg_1"));
    graph_pair_expect_same(graphs[0], graphs[1]);
    for (int i = 0; i < 2; i++) mst_graph_destroy(graphs[i]);
}

/* ---- options of every type, ops of a program ---- */

static const mst_op *once(const mst_op *op) {
    if (mst_find_op(op->name) != op) EXPECT_OK(mst_register_op(op));
    return op;
}

static void options_of_every_type_come_back_to_the_last_bit(void **state) {
    (void)state;
    enum { TIMES = 500 };
    const mst_rng rng = mst_rng_make(7, 8, 9);
    const mst_op *op = once(&all_op);
    mst_graph *g = engine_graph();
    mst_value parts = mst_split(mst_fill(g, MST_F32, MST_SHAPE(2), 1), 2, 0);
    for (uint64_t i = 0; i < TIMES; i++) {
        uint32_t word[16];
        char string[13];
        all_options options;
        mst_rng_blocks(&rng, i, 4, 0, word);
        all_options_random(word, string, &options);
        options.initial = mst_value_output(parts, (int)(word[0] >> 5 & 1));
        const bool full = word[0] & 4;
        options.tensor = full ? engine_random(MST_BOOL, MST_SHAPE(3), 0, 2, word[1])
                              : engine_random(MST_F64, MST_SHAPE(3, 0, 2), 0, 1, 1);
        mst_call(g, op, (int)(i % 3), (mst_value[]){parts, mst_value_output(parts, 1)}, &options);
        mst_tensor_release(options.tensor);
    }
    mst_call(g, op, 0, NULL, NULL);
    mst_call(g, op, 0, NULL, &(all_options){.text = "", .rate = -0.0f, .factor = -0.0});
    mst_call(g, op, 0, NULL, &(all_options){.rate = NAN, .factor = -NAN, .large = INT64_MIN, .axis = INT32_MIN});
    mst_call(g, op, 0, NULL, &(all_options){.shape = MST_SHAPE(INT64_MAX, INT64_MIN, -2, 0, 1, 2, 3, -1)});
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(graph_pair_copy(g));
    mst_graph_destroy(g);
}

static void option_that_is_a_pointer_is_an_error_that_names_it(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    void *data;
    size_t size;
    mst_call_named(g, &all_op, "n", 0, NULL, &(all_options){.pointer = g});
    EXPECT_ERROR(mst_graph_encode(g, &data, &size), MST_INVALID,
                 "node 'n': option pointer of all_fields is a pointer, which cannot be written");
    assert_string_equal(mst_error()->node, "n");
    assert_null(data);
    EXPECT_ERROR(mst_graph_write(g, folder_path("g")), MST_INVALID, "/g': node 'n': option pointer");
    mst_graph_destroy(g);
}

static mst_status infer_like(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_status copy_kernel(const mst_kernel_args *a) {
    memcpy(a->dst[0].data, a->src[0].data, (size_t)a->dst[0].count * mst_dtype_size(a->dst[0].dtype));
    return MST_OK;
}

static void op_that_is_not_registered_is_an_error_that_says_so(void **state) {
    (void)state;
    static const mst_op op = {.name = "late_op",
                              .num_src = 1,
                              .num_dst = 1,
                              .dtypes = MST_ALL_DTYPES,
                              .infer = infer_like,
                              .reference = copy_kernel};
    mst_graph *g = engine_graph(), *copy;
    void *data;
    size_t size;
    mst_call_named(g, &op, "n", 1, (mst_value[]){mst_scalar(g, MST_F32, 1)}, NULL);
    EXPECT_OK(mst_graph_encode(g, &data, &size));
    EXPECT_ERROR(mst_graph_decode(data, size, &copy), MST_INVALID,
                 "node 'n': its op 'late_op' is not known here: one of a program must be registered with "
                 "mst_register_op");
    assert_null(copy);
    assert_string_equal(mst_error()->node, "n");
    EXPECT_OK(mst_register_op(&op));
    EXPECT_OK(mst_graph_decode(data, size, &copy));
    graph_pair_expect_same(g, copy);
    mst_graph_destroy(copy);
    free(data);
    mst_graph_destroy(g);
}

static void op_with_the_name_of_another_is_not_written(void **state) {
    (void)state;
    static const mst_op op = {.name = "relu",
                              .num_src = 1,
                              .num_dst = 1,
                              .dtypes = MST_ALL_DTYPES,
                              .infer = infer_like,
                              .reference = copy_kernel};
    mst_graph *g = engine_graph();
    void *data;
    size_t size;
    mst_call(g, &op, 1, (mst_value[]){mst_scalar(g, MST_F32, 1)}, NULL);
    EXPECT_ERROR(mst_graph_encode(g, &data, &size), MST_INVALID, "node 'relu': its op has the name of another");
    mst_graph_destroy(g);
}

/* ---- files ---- */

static void files_are_written_whole_or_not_at_all(void **state) {
    (void)state;
    mst_value out[4];
    mst_graph *g = graph_of_state(out), *copy;
    const char *path = folder_path("model.graph");
    EXPECT_OK(mst_graph_write(g, path));
    EXPECT_OK(mst_graph_write(g, path));
    EXPECT_OK(mst_graph_read(path, &copy));
    graph_pair_expect_same(g, copy);
    mst_graph_destroy(copy);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    /* a graph that is wrong leaves the old file */
    mst_value_fail(g, MST_INVALID, "the first mistake");
    EXPECT_ERROR(mst_graph_write(g, path), MST_INVALID, "model.graph': the first mistake");
    EXPECT_OK(mst_graph_read(path, &copy));
    mst_graph_destroy(copy);
    mst_graph_destroy(g);
    /* nothing else is left beside it */
    char command[600];
    snprintf(command, sizeof command, "test \"$(ls '%s')\" = model.graph", folder_path(""));
    assert_int_equal(system(command), 0);
}

static void errors_of_files_name_them(void **state) {
    (void)state;
    mst_graph *g = engine_graph(), *copy = g;
    mst_no_op(g);
    EXPECT_ERROR(mst_graph_write(g, folder_path("none/x")), MST_IO, "none/x' cannot be written");
    EXPECT_ERROR(mst_graph_read(folder_path("none"), &copy), MST_NOT_FOUND, "none': no such file");
    assert_null(copy);
    EXPECT_ERROR(mst_graph_read(folder_path(""), &copy), MST_INVALID, "is a folder");
    EXPECT_ERROR(mst_graph_read(folder_write("text", "this is no graph", 16), &copy), MST_CORRUPT, "/text': ");
    EXPECT_ERROR(mst_graph_read(folder_write("empty", "", 0), &copy), MST_CORRUPT, "there is no node in it");
    assert_null(copy);
    mst_graph_destroy(g);
    g = engine_graph();
    EXPECT_ERROR(mst_graph_write(g, folder_path("x")), MST_INVALID, "the graph has no nodes to write");
    mst_graph_destroy(g);
}

/* ---- damage ---- */

/* An error with a message, or a graph that can be written. */
static void expect_error_or_graph(const void *data, size_t size) {
    mst_graph *graph = (mst_graph *)(uintptr_t)data;
    void *again;
    size_t size_again;
    /* a buffer of just this size, so that the address sanitizer sees a read over its end */
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    if (size) memcpy(exact, data, size);
    const mst_status status = mst_graph_decode(exact, size, &graph);
    free(exact);
    if (status) {
        assert_null(graph);
        assert_true(status == MST_CORRUPT || status == MST_INVALID);
        if (mst_error()->code != status || !*mst_error()->message || strchr(mst_error()->message, '\n'))
            fail_msg("'%s' with the message '%s'", mst_status_name(status), mst_error()->message);
        return;
    }
    EXPECT_OK(mst_graph_check(graph));
    EXPECT_OK(mst_graph_encode(graph, &again, &size_again));
    free(again);
    mst_graph_destroy(graph);
}

static void every_truncation_is_an_error_or_a_smaller_graph(void **state) {
    (void)state;
    mst_value out[4];
    mst_graph *g = graph_of_state(out);
    void *data;
    size_t size;
    EXPECT_OK(mst_graph_encode(g, &data, &size));
    for (size_t length = 0; length < size; length++) expect_error_or_graph(data, length);
    free(data);
    mst_graph_destroy(g);
}

static void every_flipped_bit_is_an_error_or_a_graph(void **state) {
    (void)state;
    mst_value out[4];
    mst_graph *g = graph_of_state(out);
    uint8_t *data;
    size_t size;
    EXPECT_OK(mst_graph_encode(g, (void **)&data, &size));
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = data[i];
        for (int bit = 0; bit < 8; bit++) {
            data[i] = (uint8_t)(byte ^ 1u << bit);
            expect_error_or_graph(data, size);
        }
        data[i] = (uint8_t)~byte;
        expect_error_or_graph(data, size);
        data[i] = byte;
    }
    free(data);
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_comes_back_with_its_examples),
        cmocka_unit_test(state_order_and_what_belongs_to_the_graph_come_back),
        cmocka_unit_test(names_made_after_reading_are_those_of_the_graph_that_was_written),
        cmocka_unit_test(options_of_every_type_come_back_to_the_last_bit),
        TEST_IN_FOLDER(option_that_is_a_pointer_is_an_error_that_names_it),
        cmocka_unit_test(op_that_is_not_registered_is_an_error_that_says_so),
        cmocka_unit_test(op_with_the_name_of_another_is_not_written),
        TEST_IN_FOLDER(files_are_written_whole_or_not_at_all),
        TEST_IN_FOLDER(errors_of_files_name_them),
        cmocka_unit_test(every_truncation_is_an_error_or_a_smaller_graph),
        cmocka_unit_test(every_flipped_bit_is_an_error_or_a_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
