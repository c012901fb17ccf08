/* Ops of state in StableHLO: what an assignment writes to a variable is a result of its program; constants are in the
 * text, or sources. */
#include "graph/graph.h"
#include "hlo/hlo_program.h"
#include "support/hlo_interpreter.h"
#include "support/test.h"

enum { COUNT = 3 };

static const int32_t stored[COUNT] = {1, 2, INT32_MAX}, given[COUNT] = {10, -4, 1};

static hlo_array vector(const int32_t *data) {
    return (hlo_array){.type = HLO_I32, .ndim = 1, .dim = {COUNT}, .count = COUNT, .data = (void *)(uintptr_t)data};
}

/* Runs the node of VALUE as a program of one op on the first of ARGUMENT. The caller frees *RESULT. */
static int run(mst_value value, const hlo_array *argument, int num_arguments, hlo_array *result) {
    const mst_node *node = value.node;
    mst_spec src_spec[2];
    mst_hlo src[2], dst;
    mst_hlo_program *program;
    const char *text;
    char error[512];
    EXPECT_OK(mst_hlo_program_create(&program));
    for (int i = 0; i < node->num_src; i++) {
        src_spec[i] = mst_value_spec(node->src[i]);
        src[i] = mst_hlo_program_source(program, &src_spec[i]);
    }
    mst_lower l = {.op = node->op,
                   .options = node->options,
                   .name = node->name,
                   .num_src = node->num_src,
                   .src = src,
                   .src_spec = src_spec,
                   .num_dst = 1,
                   .dst = &dst,
                   .dst_spec = node->dst};
    EXPECT_OK(mst_hlo_program_op(program, &l));
    mst_hlo_program_result(program, dst);
    EXPECT_OK(mst_hlo_program_finish(program, &text));
    const int num_sources = mst_hlo_program_num_sources(program);
    assert_in_range(num_sources, 0, num_arguments);
    hlo_program *parsed = hlo_parse(text, error, sizeof error);
    if (!parsed || !hlo_run(parsed, argument, num_sources, result, error, sizeof error))
        fail_msg("%s in\n%s", error, text);
    hlo_program_free(parsed);
    mst_hlo_program_destroy(program);
    return num_sources;
}

/* ---- assignments ---- */

static void expect(mst_value value, const int32_t *wanted) {
    const hlo_array argument[] = {vector(stored), vector(given)};
    hlo_array result = {.data = NULL};
    assert_int_equal(run(value, argument, 2, &result), 2);
    assert_memory_equal(result.data, wanted, COUNT * sizeof *wanted);
    hlo_array_free(&result);
}

static void output_0_of_an_assignment_is_the_new_value(void **state) {
    (void)state;
    mst_graph *g;
    EXPECT_OK(mst_graph_create(&g));
    const mst_value variable = mst_variable(g, "v", mst_fill(g, MST_I32, MST_SHAPE(COUNT), 0));
    const mst_value value = mst_placeholder(g, MST_I32, MST_SHAPE(COUNT));
    expect(mst_assign(variable, value), given);
    expect(mst_assign_add(variable, value), (const int32_t[]){11, -2, INT32_MIN});
    expect(mst_assign_sub(variable, value), (const int32_t[]){-9, 6, INT32_MAX - 1});
    mst_graph_destroy(g);
}

/* ---- constants ---- */

/* A constant of DTYPE: in the text, or, if it has many elements, the one source of the program. */
static void check_constant(mst_dtype dtype, hlo_type type, mst_shape shape, bool is_source) {
    mst_graph *g;
    mst_tensor *tensor;
    EXPECT_OK(mst_graph_create(&g));
    EXPECT_OK(mst_tensor_create(dtype, shape, &tensor));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++)
        mst_tensor_set(tensor, i,
                       dtype == MST_BOOL ? (double)(i % 3 == 0)
                       : dtype == MST_U8 ? 255 - (double)i
                                         : 0.3 - 7.5 * (double)i);
    if (dtype == MST_I64) ((int64_t *)mst_tensor_data(tensor))[0] = INT64_MAX - 1;
    hlo_array argument = {
        .type = type, .ndim = shape.ndim, .count = mst_tensor_count(tensor), .data = mst_tensor_data(tensor)};
    for (int k = 0; k < shape.ndim; k++) argument.dim[k] = shape.dim[k];
    hlo_array result = {.data = NULL};
    assert_int_equal(run(mst_constant(g, tensor), &argument, 1, &result), is_source);
    assert_int_equal(result.type, type);
    assert_int_equal(result.count, argument.count);
    assert_memory_equal(result.data, argument.data, mst_tensor_bytes(tensor));
    hlo_array_free(&result);
    mst_tensor_release(tensor);
    mst_graph_destroy(g);
}

static void constants_are_in_the_text_or_sources(void **state) {
    (void)state;
    static const struct {
        mst_dtype dtype;
        hlo_type type;
    } of[] = {{MST_F32, HLO_F32}, {MST_F64, HLO_F64}, {MST_BF16, HLO_BF16}, {MST_I32, HLO_I32},
              {MST_I64, HLO_I64}, {MST_U8, HLO_UI8},  {MST_BOOL, HLO_I1}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        check_constant(of[i].dtype, of[i].type, MST_SCALAR, false);
        check_constant(of[i].dtype, of[i].type, MST_SHAPE(2, 3), false);
        check_constant(of[i].dtype, of[i].type, MST_SHAPE(4, 5), true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_0_of_an_assignment_is_the_new_value),
        cmocka_unit_test(constants_are_in_the_text_or_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
