/* The writer of StableHLO, used wrongly: each mistake is one error that names the node, and nothing crashes. Axes may
 * count from the end. */
#include <math.h>
#include <string.h>

#include "hlo/hlo_program.h"
#include "support/test.h"

enum { MUCH = 1000000 };

static mst_hlo x(mst_lower *l) { /* f32[2, 3] */
    return l->src[0];
}

static void nothing(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    (void)l, (void)context;
    result[0] = argument[0];
}

/* Keeps a value of the inside of a function. */
static void leak(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    *(mst_hlo *)context = mst_hlo_unary(l, "negate", argument[0]);
    result[0] = argument[0];
}

static void leaked(mst_lower *l) {
    mst_hlo inside, result;
    const mst_hlo initial = mst_hlo_number(l, MST_F32, 0), value = x(l);
    mst_hlo_reduce_all(l, 1, &value, &initial, MST_AXES(0), leak, &inside, &result);
    mst_hlo_unary(l, "negate", inside);
}

static void no_function(mst_lower *l) {
    mst_hlo result;
    const mst_hlo initial = mst_hlo_number(l, MST_F32, 0), value = x(l);
    mst_hlo_reduce_all(l, 1, &value, &initial, MST_AXES(0), NULL, NULL, &result);
}

static void no_values(mst_lower *l) {
    mst_hlo result;
    mst_hlo_sort(l, 0, NULL, 0, nothing, NULL, &result);
}

static void no_attributes(mst_lower *l) {
    const mst_hlo value = x(l);
    const mst_spec spec = mst_hlo_spec(l, value);
    mst_hlo result;
    mst_hlo_call(l, "negate", NULL, 1, &value, 1, &spec, &result);
}

static void no_operation(mst_lower *l) {
    mst_hlo_unary(l, NULL, x(l));
}

static void odd_operation(mst_lower *l) {
    mst_hlo_unary(l, "negate\"() : ", x(l));
}

static void none(mst_lower *l) {
    mst_hlo_unary(l, "negate", MST_NO_HLO);
}

static void foreign(mst_lower *l) {
    mst_hlo_unary(l, "negate", (mst_hlo){MUCH});
}

static void large_axis(mst_lower *l) {
    mst_hlo_reduce(l, "add", x(l), 0, MST_AXES(2));
}

static void low_axis(mst_lower *l) {
    mst_hlo_slice_axis(l, x(l), -3, 0, 1);
}

static void axis_twice(mst_lower *l) {
    mst_hlo_reduce_keep(l, "add", x(l), 0, MST_AXES(1, -1));
}

static void many_axes(mst_lower *l) {
    mst_hlo_reverse(l, x(l), (mst_axes){.count = MUCH});
}

static void many_dimensions(mst_lower *l) {
    mst_hlo_fill(l, MST_F32, (mst_shape){.ndim = MUCH}, 0);
}

static void negative_dimension(mst_lower *l) {
    mst_hlo_fill(l, MST_F32, MST_SHAPE(2, -1), 0);
}

static void no_combination(mst_lower *l) {
    mst_hlo_reduce(l, "subtract", x(l), 0, MST_AXES(0));
}

static void no_direction(mst_lower *l) {
    mst_hlo_compare(l, "BIGGER", x(l), x(l));
}

static void other_dtypes(mst_lower *l) {
    mst_hlo_binary(l, "add", x(l), mst_hlo_number(l, MST_I32, 1));
}

static void slice_beyond(mst_lower *l) {
    mst_hlo_slice_axis(l, x(l), 1, 1, 4);
}

static void slice_by_zero(mst_lower *l) {
    mst_hlo_slice(l, x(l), (const int64_t[]){0, 0}, (const int64_t[]){2, 3}, (const int64_t[]){1, 0});
}

static void slice_without_begin(mst_lower *l) {
    mst_hlo_slice(l, x(l), NULL, (const int64_t[]){2, 3}, NULL);
}

static void pad_with_integer(mst_lower *l) {
    mst_hlo_pad(l, x(l), mst_hlo_number(l, MST_I32, 0), NULL, NULL, NULL);
}

static void concat_of_none(mst_lower *l) {
    mst_hlo_concat(l, 0, NULL, 0);
}

static void concat_of_unlike(mst_lower *l) {
    mst_hlo_concat(l, 2, (const mst_hlo[]){x(l), mst_hlo_fill(l, MST_F32, MST_SHAPE(2, 4), 0)}, 0);
}

static void broadcast_of_three(mst_lower *l) {
    mst_hlo_broadcast(l, x(l), MST_SHAPE(4, 3));
}

static void integer_of_f32(mst_lower *l) {
    mst_hlo_integer(l, MST_F32, 1);
}

static void large_integer(mst_lower *l) {
    mst_hlo_integer(l, MST_I32, (int64_t)1 << 40);
}

static void list_without_values(mst_lower *l) {
    mst_hlo_list(l, MST_I32, 3, NULL);
}

static void other_bits(mst_lower *l) {
    mst_hlo_bits(l, x(l), MST_HLO_U64);
}

static void float_start(mst_lower *l) {
    const mst_hlo zero = mst_hlo_number(l, MST_F32, 0);
    mst_hlo_dynamic_slice(l, x(l), (const mst_hlo[]){zero, zero}, MST_SHAPE(1, 1));
}

static void empty_window(mst_lower *l) {
    mst_hlo_reduce_window(l, "add", x(l), 0, &(const mst_hlo_window){.size = {0, 1}});
}

static void no_window(mst_lower *l) {
    mst_hlo_reduce_window(l, "add", x(l), 0, NULL);
}

static void window_of_many(mst_lower *l) {
    mst_hlo_convolve(l, x(l), x(l),
                     &(const mst_hlo_convolution){.dimensions = "[b, f]x[i, o]->[b, f]", .num_spatial = 60});
}

static void convolution_without_list(mst_lower *l) {
    mst_hlo_convolve(l, x(l), x(l), &(const mst_hlo_convolution){.num_spatial = 1});
}

static void product_of_unlike(mst_lower *l) {
    const mst_axes no_axes = {.count = 0};
    mst_hlo_dot(l, x(l), x(l), no_axes, no_axes, MST_AXES(1), MST_AXES(0), MST_F32);
}

static void many_indices(mst_lower *l) {
    const mst_hlo_indexing indexing = {.offset = {.count = MUCH}};
    mst_hlo_gather(l, x(l), x(l), &indexing, MST_SHAPE(1, 1), MST_SHAPE(1));
}

static void fault_of_floats(mst_lower *l) {
    mst_hlo_fault(l, x(l), MST_INVALID, "never");
}

static void fault_without_status(mst_lower *l) {
    mst_hlo_fault(l, mst_hlo_compare(l, "GT", x(l), x(l)), MST_OK, "never");
}

static const struct {
    const char *name;
    void (*lower)(mst_lower *l);
} mistakes[] = {
#define MISTAKE(name) \
    { #name, name }
    MISTAKE(leaked),
    MISTAKE(no_function),
    MISTAKE(no_values),
    MISTAKE(no_attributes),
    MISTAKE(no_operation),
    MISTAKE(odd_operation),
    MISTAKE(none),
    MISTAKE(foreign),
    MISTAKE(large_axis),
    MISTAKE(low_axis),
    MISTAKE(axis_twice),
    MISTAKE(many_axes),
    MISTAKE(many_dimensions),
    MISTAKE(negative_dimension),
    MISTAKE(no_combination),
    MISTAKE(no_direction),
    MISTAKE(other_dtypes),
    MISTAKE(slice_beyond),
    MISTAKE(slice_by_zero),
    MISTAKE(slice_without_begin),
    MISTAKE(pad_with_integer),
    MISTAKE(concat_of_none),
    MISTAKE(concat_of_unlike),
    MISTAKE(broadcast_of_three),
    MISTAKE(integer_of_f32),
    MISTAKE(large_integer),
    MISTAKE(list_without_values),
    MISTAKE(other_bits),
    MISTAKE(float_start),
    MISTAKE(empty_window),
    MISTAKE(no_window),
    MISTAKE(window_of_many),
    MISTAKE(convolution_without_list),
    MISTAKE(product_of_unlike),
    MISTAKE(many_indices),
    MISTAKE(fault_of_floats),
    MISTAKE(fault_without_status),
};

/* Writes an op f32[2, 3] -> f32[2, 3] by LOWER, and then its source as the output. */
static mst_status write_op(void (*lower)(mst_lower *l), const char **text, mst_hlo_program **program) {
    const mst_spec spec = {.dtype = MST_F32, .shape = MST_SHAPE(2, 3)};
    const mst_op op = {.name = "odd", .lower = lower};
    mst_hlo dst;
    EXPECT_OK(mst_hlo_program_create(program));
    const mst_hlo src = mst_hlo_program_source(*program, &spec);
    mst_lower l = {.op = &op,
                   .name = "a node",
                   .num_src = 1,
                   .src = &src,
                   .src_spec = &spec,
                   .num_dst = 1,
                   .dst = &dst,
                   .dst_spec = &spec};
    MST_TRY(mst_hlo_program_op(*program, &l));
    mst_hlo_program_result(*program, dst);
    return mst_hlo_program_finish(*program, text);
}

static void test_a_mistake_is_one_error_that_names_the_node(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const char *text;
        mst_hlo_program *program;
        const mst_status status = write_op(mistakes[i].lower, &text, &program);
        if (!status || !strstr(mst_error()->message, "odd 'a node'") || strchr(mst_error()->message, '\n'))
            fail_msg("%s: %s", mistakes[i].name, status ? mst_error()->message : "no error");
        /* a mistake that only left the output empty is not what was looked for */
        if (strstr(mst_error()->message, "not there") && mistakes[i].lower != none && mistakes[i].lower != foreign)
            fail_msg("%s: %s", mistakes[i].name, mst_error()->message);
        mst_hlo_program_destroy(program);
    }
}

static void from_the_end(mst_lower *l) {
    const mst_hlo sum = mst_hlo_reduce_keep(l, "add", x(l), 0, MST_AXES(-1));
    const mst_hlo first = mst_hlo_slice_axis(l, x(l), -2, 0, 1);
    l->dst[0] = mst_hlo_binary(l, "add", mst_hlo_broadcast(l, sum, MST_SHAPE(2, 3)), first);
}

static void test_axes_may_count_from_the_end(void **state) {
    (void)state;
    const char *text;
    mst_hlo_program *program;
    EXPECT_OK(write_op(from_the_end, &text, &program));
    assert_non_null(strstr(text, "dimensions = array<i64: 1>"));
    assert_non_null(strstr(text, "limit_indices = array<i64: 1, 3>"));
    mst_hlo_program_destroy(program);
}

static void numbers(mst_lower *l) {
    mst_hlo_number(l, MST_I32, -0.25);
    mst_hlo_number(l, MST_I64, -0.0);
    mst_hlo_number(l, MST_I32, -2147483647.3);
    mst_hlo_number(l, MST_I32, -INFINITY);
    l->dst[0] = x(l);
}

static void test_integers_are_rounded_and_limited(void **state) {
    (void)state;
    const char *text;
    mst_hlo_program *program;
    EXPECT_OK(write_op(numbers, &text, &program));
    assert_null(strstr(text, "<-0>"));
    assert_non_null(strstr(text, "dense<-2147483647>"));
    assert_non_null(strstr(text, "dense<-2147483648>"));
    mst_hlo_program_destroy(program);
}

static void long_list(mst_lower *l) {
    static const double value[40] = {1, 2, 3};
    mst_hlo_list(l, MST_F32, 16, value);
    mst_hlo_list(l, MST_I32, 40, value);
    l->dst[0] = x(l);
}

static void test_long_constants_are_sources(void **state) {
    (void)state;
    const char *text;
    mst_hlo_program *program;
    EXPECT_OK(write_op(long_list, &text, &program));
    assert_int_equal(mst_hlo_program_num_sources(program), 2);
    const mst_hlo_source *source = mst_hlo_program_source_at(program, 1);
    assert_int_equal(source->kind, MST_HLO_SOURCE_TENSOR);
    assert_true(mst_tensor_get(source->tensor, 2) == 3);
    mst_hlo_program_destroy(program);
}

/* A program of two sources, the second of another shape; result 1 takes the memory of source FROM. */
static mst_status write_donation(int from, bool twice, const char **text, mst_hlo_program **program) {
    const mst_spec spec[2] = {{.dtype = MST_F32, .shape = MST_SHAPE(2, 3)}, {.dtype = MST_F32, .shape = MST_SHAPE(3)}};
    EXPECT_OK(mst_hlo_program_create(program));
    const mst_hlo src[2] = {mst_hlo_program_source(*program, &spec[0]), mst_hlo_program_source(*program, &spec[1])};
    mst_hlo_program_result(*program, src[1]);
    mst_hlo_program_donate(*program, src[from], src[0]);
    if (twice) mst_hlo_program_donate(*program, src[from], src[0]);
    return mst_hlo_program_finish(*program, text);
}

static void test_a_result_takes_the_memory_of_a_source_of_its_type(void **state) {
    (void)state;
    const char *text;
    mst_hlo_program *program;
    EXPECT_OK(write_donation(0, false, &text, &program));
    assert_non_null(strstr(text, "%a0: tensor<2x3xf32> {tf.aliasing_output = 1 : i32}, %a1: tensor<3xf32>)"));
    assert_int_equal(mst_hlo_program_source_at(program, 0)->taken_by, 2);
    assert_int_equal(mst_hlo_program_source_at(program, 1)->taken_by, 0);
    mst_hlo_program_destroy(program);
    EXPECT_ERROR(write_donation(1, false, &text, &program), MST_INTERNAL, "takes the memory");
    mst_hlo_program_destroy(program);
    EXPECT_ERROR(write_donation(0, true, &text, &program), MST_INTERNAL, "takes the memory");
    mst_hlo_program_destroy(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_mistake_is_one_error_that_names_the_node),
        cmocka_unit_test(test_axes_may_count_from_the_end),
        cmocka_unit_test(test_integers_are_rounded_and_limited),
        cmocka_unit_test(test_long_constants_are_sources),
        cmocka_unit_test(test_a_result_takes_the_memory_of_a_source_of_its_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
