/* The interpreter of StableHLO text (support/hlo_interpreter.h): what it reads, what it refuses and with which words,
 * control flow, threads. Each op by itself: interpreter_ops_test.c. */
#include "support/hlo_interpreter.h"

#include <pthread.h>
#include <stdio.h>

#include "support/comma_locale.h"
#include "support/test.h"

enum { TEXT = 4096, ERROR = 256 };

/* One function of two arguments; the rest of its text is given. */
#define BEGIN "module @m {\n  func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> "
#define ONE BEGIN "(tensor<2xf32>) {\n"
#define RETURN "\"func.return\"(%r) : (tensor<2xf32>) -> ()\n}\n}\n"
#define CONSTANT(name, type, value) \
    "%" name " = \"stablehlo.constant\"() {value = dense<" value "> : tensor<" type ">} : () -> tensor<" type ">\n"
#define BINARY(result, op, x, y, type) \
    "%" result " = \"stablehlo." op "\"(%" x ", %" y ") : (tensor<" type ">, tensor<" type ">) -> tensor<" type ">\n"
#define LESS(result, x, y, type)                                 \
    "%" result " = \"stablehlo.compare\"(%" x ", %" y            \
    ") {comparison_direction = #stablehlo<comparison_direction " \
    "LT>} : (tensor<" type ">, tensor<" type ">) -> tensor<i1>\n"

static hlo_program *parse(const char *text) {
    char error[ERROR];
    hlo_program *program = hlo_parse(text, error, sizeof error);
    if (!program) fail_msg("%s in\n%s", error, text);
    return program;
}

static hlo_array floats(float *data, int64_t count) {
    return (hlo_array){.type = HLO_F32, .ndim = 1, .dim = {count}, .count = count, .data = data};
}

static void run(const hlo_program *program, const hlo_array *args, int num_args, hlo_array *results) {
    char error[ERROR];
    if (!hlo_run(program, args, num_args, results, error, sizeof error)) fail_msg("%s", error);
}

/* ---- constants ---- */

/* The only result of a program without arguments that returns a constant */
static hlo_array constant(const char *type, const char *value) {
    char text[TEXT];
    hlo_array array;
    snprintf(
        text, sizeof text,
        "module @m { func.func public @main() -> %s { %%0 = \"stablehlo.constant\"() {value = dense<%s> : %s} : () -> "
        "%s \"func.return\"(%%0) : (%s) -> () } }",
        type, value, type, type, type);
    hlo_program *program = parse(text);
    assert_int_equal(hlo_num_arguments(program), 0);
    run(program, NULL, 0, &array);
    hlo_program_free(program);
    return array;
}

#define EXPECT_CONSTANT(of, text, T, ...)                          \
    do {                                                           \
        const T want[] = {__VA_ARGS__};                            \
        hlo_array array = constant(of, text);                      \
        assert_int_equal(array.count, sizeof want / sizeof *want); \
        assert_int_equal(hlo_type_size(array.type), sizeof *want); \
        assert_memory_equal(array.data, want, sizeof want);        \
        hlo_array_free(&array);                                    \
    } while (0)

static void constants_have_the_values_of_their_text(void **state) {
    (void)state;
    EXPECT_CONSTANT("tensor<2x2xf32>", "[[1.0, -2.5], [1.0e-3, 3.]]", float, 1, -2.5f, 1e-3f, 3);
    EXPECT_CONSTANT("tensor<3xf32>", "0.1", float, 0.1f, 0.1f, 0.1f);
    EXPECT_CONSTANT("tensor<2xf32>", "[0x7FC00000, 0x80000000]", uint32_t, 0x7fc00000, 0x80000000);
    EXPECT_CONSTANT("tensor<2xf64>", "[0.1, 0x3FF0000000000000]", double, 0.1, 1);
    EXPECT_CONSTANT("tensor<3xbf16>", "[1.0, 1.00390625, 0xFF80]", uint16_t, 0x3f80, 0x3f80, 0xff80);
    EXPECT_CONSTANT("tensor<3xi1>", "[true, false, true]", uint8_t, 1, 0, 1);
    EXPECT_CONSTANT("tensor<3xi8>", "[-128, 127, 255]", int8_t, -128, 127, -1);
    EXPECT_CONSTANT("tensor<2xi16>", "[-32768, 0x7FFF]", int16_t, -32768, 32767);
    EXPECT_CONSTANT("tensor<i32>", "-2147483648", int32_t, INT32_MIN);
    EXPECT_CONSTANT("tensor<2xi64>", "[-9223372036854775808, 9223372036854775807]", int64_t, INT64_MIN, INT64_MAX);
    EXPECT_CONSTANT("tensor<ui8>", "255", uint8_t, 255);
    EXPECT_CONSTANT("tensor<ui16>", "65535", uint16_t, 65535);
    EXPECT_CONSTANT("tensor<ui32>", "0xFFFFFFFF", uint32_t, UINT32_MAX);
    EXPECT_CONSTANT("tensor<ui64>", "18446744073709551615", uint64_t, UINT64_MAX);
}

static void constants_may_be_empty(void **state) {
    static const char *const values[] = {"", "[[], []]", "1.0"};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        hlo_array array = constant("tensor<2x0xf32>", values[i]);
        assert_int_equal(array.ndim, 2);
        assert_int_equal(array.dim[0], 2);
        assert_int_equal(array.count, 0);
        hlo_array_free(&array);
    }
}

static void numbers_are_read_in_every_locale(void **state) {
    (void)state;
    if (!comma_locale_enter()) skip();
    EXPECT_CONSTANT("tensor<f32>", "1.5", float, 1.5f);
    setlocale(LC_ALL, "C");
}

/* ---- programs ---- */

static void arguments_and_results_have_types(void **state) {
    (void)state;
    hlo_program *program = parse(
        "// a comment\nmodule @a.b_1 {\tfunc.func public @main(%arg0: tensor<2x3xbf16> {tf.aliasing_output = 1 : i32},"
        "%x.y: tensor<i1>)\n-> (tensor<i1>, tensor<2x3xbf16>) { // another\n"
        "\"func.return\" ( %x.y , %arg0 ) : ( tensor<i1> , tensor<2x3xbf16> ) -> ( ) } } // the end");
    assert_int_equal(hlo_num_arguments(program), 2);
    assert_int_equal(hlo_num_results(program), 2);
    const hlo_array *type = hlo_argument(program, 0);
    assert_int_equal(type->type, HLO_BF16);
    assert_int_equal(type->ndim, 2);
    assert_int_equal(type->dim[1], 3);
    assert_int_equal(type->count, 6);
    assert_null(type->data);
    assert_int_equal(hlo_argument(program, 1)->type, HLO_I1);
    assert_int_equal(hlo_result(program, 0)->type, HLO_I1);
    assert_int_equal(hlo_donated_to(program, 0), 1);
    assert_int_equal(hlo_donated_to(program, 1), -1);
    assert_string_equal(hlo_type_name(HLO_BF16), "bf16");
    hlo_program_free(program);
}

/* Results are the caller's, even where two of them are one value, or an argument. */
static void results_are_arrays_of_their_own(void **state) {
    float a[] = {1, 2}, b[] = {10, 20};
    const hlo_array args[] = {floats(a, 2), floats(b, 2)};
    hlo_array results[4];
    (void)state;
    hlo_program *program = parse(BEGIN "(tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {\n" BINARY(
        "r", "add", "a", "b",
        "2xf32") CONSTANT("c", "2xf32",
                          "7.0") "\"func.return\"(%r, %r, %a, %c) : (tensor<2xf32>, tensor<2xf32>, "
                                 "tensor<2xf32>, tensor<2xf32>) -> ()\n}\n}\n");
    for (int i = 0; i < 2; i++) {
        run(program, args, 2, results);
        assert_float_equal(((float *)results[0].data)[1], 22, 0);
        assert_memory_equal(results[0].data, results[1].data, sizeof a);
        assert_memory_equal(results[2].data, a, sizeof a);
        assert_float_equal(((float *)results[3].data)[1], 7, 0);
        for (int k = 0; k < 4; k++) {
            memset(results[k].data, 0, sizeof a);
            hlo_array_free(&results[k]);
        }
    }
    hlo_program_free(program);
}

static void run_refuses_other_arguments(void **state) {
    float a[] = {1, 2};
    uint8_t truth = 2;
    hlo_array args[] = {floats(a, 2), floats(a, 2)}, result;
    char error[ERROR];
    (void)state;
    hlo_program *program = parse(ONE BINARY("r", "add", "a", "b", "2xf32") RETURN);
    assert_false(hlo_run(program, args, 1, &result, error, sizeof error));
    assert_string_equal(error, "there are 1 arguments, not 2");
    args[1].type = HLO_I32;
    assert_false(hlo_run(program, args, 2, &result, error, sizeof error));
    assert_string_equal(error, "argument 1 is tensor<2xi32>, not tensor<2xf32>");
    args[1] = floats(NULL, 2);
    assert_false(hlo_run(program, args, 2, &result, error, sizeof error));
    assert_string_equal(error, "argument 1 has no data");
    assert_null(result.data);
    hlo_program_free(program);
    program = parse(
        "module @m { func.func public @main(%a: tensor<i1>) -> tensor<i1> { \"func.return\"(%a) : (tensor<i1>) "
        "-> () } }");
    args[0] = (hlo_array){.type = HLO_I1, .count = 1, .data = &truth};
    assert_false(hlo_run(program, args, 1, &result, error, sizeof error));
    assert_string_equal(error, "argument 0: element 0 is neither 0 nor 1");
    hlo_program_free(program);
}

/* ---- regions ---- */

/* Swaps two carried values each round, and uses values from outside in both regions. */
#define LOOP                     \
    CONSTANT("zero", "i64", "0") \
    CONSTANT("one", "i64", "1") CONSTANT("five", "i64", "5")                                                          \
    "%w:3 = \"stablehlo.while\"(%zero, %a, %b) ({\n^bb0(%i: tensor<i64>, %x: tensor<2xf32>, %y: tensor<2xf32>):\n"    \
    LESS("p", "i", "five", "i64")                                                                                     \
    "\"stablehlo.return\"(%p) : (tensor<i1>) -> ()\n}, {\n"                                                           \
    "^bb0(%i: tensor<i64>, %x: tensor<2xf32>, %y: tensor<2xf32>):\n"                                                  \
    BINARY("j", "add", "i", "one", "i64") BINARY("z", "add", "x", "a", "2xf32")                                       \
    "\"stablehlo.return\"(%j, %y, %z) : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> ()\n})"                        \
    " : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>, tensor<2xf32>)\n"
#define LOOP_TEXT                                                \
    BEGIN "(tensor<2xf32>, tensor<2xf32>, tensor<i64>) {\n" LOOP \
          "\"func.return\"(%w#1, %w#2, %w#0) : (tensor<2xf32>, tensor<2xf32>, tensor<i64>) -> ()\n}\n}\n"

static void expect_loop(const hlo_program *program) {
    float a[] = {1, 2}, b[] = {10, 20};
    const hlo_array args[] = {floats(a, 2), floats(b, 2)};
    hlo_array results[3];
    run(program, args, 2, results);
    /* x, y = y, x + a: five times */
    assert_float_equal(((float *)results[0].data)[0], 12, 0);
    assert_float_equal(((float *)results[1].data)[0], 4, 0);
    assert_float_equal(((float *)results[1].data)[1], 8, 0);
    assert_int_equal(*(int64_t *)results[2].data, 5);
    for (int k = 0; k < 3; k++) hlo_array_free(&results[k]);
}

static void loops_carry_values_and_see_those_outside(void **state) {
    (void)state;
    hlo_program *program = parse(LOOP_TEXT);
    expect_loop(program);
    expect_loop(program);
    hlo_program_free(program);
}

/* The branches return a value from outside and one of their own. */
#define BRANCHES(op, type, value)                                                                               \
    ONE CONSTANT("which", type,                                                                                 \
                 value) "%r = \"stablehlo." op                                                                  \
                        "\"(%which) ({ \"stablehlo.return\"(%a) : (tensor<2xf32>) -> () }, {\n^here:\n" BINARY( \
                            "s", "add", "a", "b",                                                               \
                            "2xf32") "\"stablehlo.return\"(%s) : (tensor<2xf32>) -> () }) : (tensor<" type      \
                                     ">) -> (tensor<2xf32>)\n" RETURN

static void one_branch_is_run(void **state) {
    static const struct {
        const char *text;
        float want;
    } cases[] = {
        {BRANCHES("if", "i1", "true"), 1},  {BRANCHES("if", "i1", "false"), 11}, {BRANCHES("case", "i32", "0"), 1},
        {BRANCHES("case", "i32", "1"), 11}, {BRANCHES("case", "i32", "2"), 11},  {BRANCHES("case", "i32", "-1"), 11},
    };
    float a[] = {1, 2}, b[] = {10, 20};
    const hlo_array args[] = {floats(a, 2), floats(b, 2)};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hlo_array result;
        hlo_program *program = parse(cases[i].text);
        run(program, args, 2, &result);
        assert_float_equal(*(float *)result.data, cases[i].want, 0);
        hlo_array_free(&result);
        hlo_program_free(program);
    }
}

/* A loop in the body of a reduction: a[0] * b[0] + ... by repeated addition, with the accumulator carried */
static void regions_nest(void **state) {
    float a[] = {3, 4}, b[] = {0, 0};
    const hlo_array args[] = {floats(a, 2), floats(b, 2)};
    hlo_array result;
    (void)state;
    hlo_program *program = parse(
        BEGIN "tensor<f32> {\n" CONSTANT("init", "f32", "1.0") CONSTANT("one", "f32", "1.0")
        "%r = \"stablehlo.reduce\"(%a, %init) ({\n^bb0(%acc: tensor<f32>, %x: tensor<f32>):\n"
        "%w:2 = \"stablehlo.while\"(%one, %acc) ({\n^bb0(%i: tensor<f32>, %s: tensor<f32>):\n"
        LESS("p", "i", "x", "f32")
        "\"stablehlo.return\"(%p) : (tensor<i1>) -> ()\n}, {\n^bb0(%i: tensor<f32>, %s: tensor<f32>):\n"
        BINARY("j", "add", "i", "one", "f32") BINARY("t", "add", "s", "acc", "f32")
        "\"stablehlo.return\"(%j, %t) : (tensor<f32>, tensor<f32>) -> ()\n})"
        " : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)\n"
        "\"stablehlo.return\"(%w#1) : (tensor<f32>) -> ()\n}) {dimensions = array<i64: 0>}"
        " : (tensor<2xf32>, tensor<f32>) -> tensor<f32>\n\"func.return\"(%r) : (tensor<f32>) -> ()\n}\n}\n");
    run(program, args, 2, &result);
    assert_float_equal(*(float *)result.data, 12, 0); /* 1 * 3 * 4 */
    hlo_array_free(&result);
    hlo_program_free(program);
}

/* Integers: division by zero, the largest quotient, shifts by all bits and more */
static void integers_have_a_value_where_c_has_none(void **state) {
    static const struct {
        const char *op;
        int32_t x, y, want;
    } cases[] = {
        {"divide", 7, 0, -1},
        {"remainder", 7, 0, 7},
        {"divide", INT32_MIN, -1, INT32_MIN},
        {"remainder", INT32_MIN, -1, 0},
        {"shift_left", 1, 32, 0},
        {"shift_left", 1, -1, 0},
        {"shift_right_logical", -1, 32, 0},
        {"shift_right_arithmetic", -5, 77, -1},
        {"power", 2, -1, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t x = cases[i].x, y = cases[i].y;
        const hlo_array args[] = {{.type = HLO_I32, .count = 1, .data = &x}, {.type = HLO_I32, .count = 1, .data = &y}};
        hlo_array result;
        char text[TEXT];
        snprintf(text, sizeof text,
                 "module @m { func.func public @main(%%a: tensor<i32>, %%b: tensor<i32>) -> (tensor<i32>) { %%r = "
                 "\"stablehlo.%s\"(%%a, %%b) : (tensor<i32>, tensor<i32>) -> tensor<i32> \"func.return\"(%%r) : "
                 "(tensor<i32>) -> () } }",
                 cases[i].op);
        hlo_program *program = parse(text);
        run(program, args, 2, &result);
        if (*(int32_t *)result.data != cases[i].want) fail_msg("%s: %d", cases[i].op, *(int32_t *)result.data);
        hlo_array_free(&result);
        hlo_program_free(program);
    }
}

static void *run_often(void *program) {
    for (int i = 0; i < 200; i++) expect_loop(program);
    return NULL;
}

static void threads_share_a_program(void **state) {
    pthread_t thread[4];
    (void)state;
    hlo_program *program = parse(LOOP_TEXT);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, run_often, program), 0);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    hlo_program_free(program);
}

/* ---- bad texts ---- */

#define R "%r = \"stablehlo."
#define TYPES " : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"
#define UNARY " : (tensor<2xf32>) -> tensor<2xf32>\n"
#define BODY(op) \
    "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n" BINARY("z", op, "x", "y", "f32") "\"stablehlo.return\"(%z) : " \
    "(tensor<f32>) -> () })"

static const struct {
    const char *text, *error;
} bad[] = {
    {"", "line 1: expected 'module', found the end of the text"},
    {"module {", "line 1: expected '@', found '{'"},
    {"module @m attributes", "line 1: expected '{', found 'attributes"},
    {"module @m {\nfunc.func private @main", "line 2: expected 'public', found 'private"},
    {"module @m {\nfunc.func public @other", "line 2: expected '@main', found '@other'"},
    {ONE BINARY("r", "add", "a", "b", "2xf32") RETURN "x", "expected the end of the text, found 'x'"},
    /* types */
    {BEGIN "tensor<?xf32>", "line 2: a dimension is '?': shapes must be known"},
    {BEGIN "tensor<2xf31>", "line 2: unknown element type 'f31'"},
    {BEGIN "tensor<2x3>", "line 2: expected 'x' after a dimension"},
    {BEGIN "tensor<1x1x1x1x1x1x1x1x1x1x1x1x1xf32>", "line 2: a tensor has more than 12 dimensions"},
    {BEGIN "tensor<99999x99999xf32>", "line 2: a tensor has more than 2147483648 bytes"},
    {BEGIN "tensor<99999999999999999999xf32>", "line 2: the integer is too large"},
    /* names */
    {ONE R "add\"(%a, %c)" TYPES RETURN, "line 3: value %c is not defined"},
    {ONE BINARY("a", "add", "a", "b", "2xf32") RETURN, "value %a is defined twice"},
    {ONE R "add\"(%a, %a#1)" TYPES RETURN, "line 3: value %a has 1 results, not #1"},
    {ONE "%r:2 = \"stablehlo.add\"(%a, %b)" TYPES RETURN, "stablehlo.add: it has 1 results, but other names"},
    {ONE R "reduce\"(%a, %b) " BODY("add"), "line 3: stablehlo.reduce: attribute 'dimensions' is missing"},
    {ONE CONSTANT("i", "f32", "0.0") R
     "reduce\"(%a, %i) " BODY("add") " {dimensions = array<i64>}"
                                     " : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>\n\"func.return\"(%z",
     "value %z is not defined"},
    /* ops and attributes */
    {ONE R "bessel\"(%a)" UNARY RETURN, "line 3: unknown op 'stablehlo.bessel'"},
    {ONE R "custom_call\"(%a)" UNARY RETURN, "line 3: unknown op 'stablehlo.custom_call'"},
    {ONE "%r = \"chlo.erf\"(%a)" UNARY RETURN, "line 3: unknown op 'chlo.erf'"},
    {ONE "%r = stablehlo.add %a, %b : tensor<2xf32>", "line 3: expected '\"', found 'stablehlo.add"},
    {ONE R "add\"(%a, %b) {fast = true}" TYPES RETURN, "line 3: stablehlo.add: unknown attribute 'fast'"},
    {ONE R "add\"(%a, %b) {dimension = 1 : i64}" TYPES RETURN, "stablehlo.add: unknown attribute 'dimension'"},
    {ONE R "reverse\"(%a)" UNARY RETURN, "line 3: stablehlo.reverse: attribute 'dimensions' is missing"},
    {ONE R "reverse\"(%a) {dimensions = array<i64: 0>, dimensions = array<i64: 0>}" UNARY,
     "stablehlo.reverse: attribute 'dimensions' stands twice"},
    {ONE R "reverse\"(%a) {dimensions = dense<0> : tensor<1xi64>}" UNARY, "expected 'array', found 'dense<0>"},
    {ONE R "reverse\"(%a) {dimensions = array<i32: 0>}" UNARY, "line 3: expected 'i64', found 'i32: 0>}"},
    {ONE R "reverse\"(%a) {dimensions = array<i64: 1>}" UNARY RETURN,
     "line 3: stablehlo.reverse: dimensions has 1, but there are 1 dimensions"},
    {ONE R "reverse\"(%a) {dimensions = array<i64: 0, 0>}" UNARY RETURN, "stablehlo.reverse: dimensions has 0 twice"},
    {ONE R "iota\"() {iota_dimension = 0 : i32} : () -> tensor<2xf32>\n" RETURN, "line 3: expected 'i64', found 'i32}"},
    {ONE R "iota\"() {iota_dimension = 1 : i64} : () -> tensor<2xf32>\n" RETURN,
     "stablehlo.iota: iota_dimension is 1, but there are 1 dimensions"},
    {ONE R "compare\"(%a, %b) {comparison_direction = #stablehlo<comparison_direction LESS>}",
     "line 3: unknown comparison_direction 'LESS'"},
    {ONE R "compare\"(%a, %b) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = "
           "#stablehlo<comparison_type SIGNED>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>",
     "stablehlo.compare: compare_type is not that of f32"},
    /* operands and results */
    {ONE R "add\"(%a)" UNARY RETURN, "line 3: stablehlo.add: it has 1 operands, not 2"},
    {ONE R "add\"(%a, %b) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>\n" RETURN,
     "line 3: stablehlo.add: operand 1 is said to be tensor<2xi32>, but is tensor<2xf32>"},
    {ONE R "add\"(%a, %b) : (tensor<2xf32>) -> tensor<2xf32>\n" RETURN, "line 3: expected ',', found ') ->"},
    {ONE R "add\"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xbf16>\n" RETURN,
     "line 3: stablehlo.add: result 0 is tensor<2xbf16>, not tensor<2xf32>"},
    {ONE R "add\"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> ()\n" RETURN, "stablehlo.add: it has 0 results"},
    {ONE CONSTANT("c", "1xf32", "0.0") R "add\"(%a, %c) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>\n" RETURN,
     "line 4: stablehlo.add: operand 1 is tensor<1xf32>, not tensor<2xf32>"},
    {ONE R "and\"(%a, %b)" TYPES RETURN, "line 3: stablehlo.and: operands cannot be of type f32"},
    {ONE "\"func.return\"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> ()\n}\n}\n",
     "func.return: 2 values for 1 results"},
    {BEGIN "tensor<2xf64> {\n\"func.return\"(%a) : (tensor<2xf32>) -> () }",
     "func.return: result 0 is tensor<2xf32>, but tensor<2xf64> in the function's type"},
    {"module @m { func.func public @main(%a: tensor<f32> {tf.aliasing_output = 1 : i32}) -> tensor<f32> {"
     "\"func.return\"(%a) : (tensor<f32>) -> () }",
     "argument 0 is donated to result 1, which has not its type"},
    {"module @m { func.func public @main(%a: tensor<f32> {jax.buffer_donor = true}",
     "unknown attribute 'jax.buffer_donor' of an argument"},
    /* constants */
    {ONE CONSTANT("r", "2xf32", "1"), "a number of the constant is not written as f32, like 1.0 or 0x7FC0"},
    {ONE CONSTANT("r", "2xf32", "[1.0]"), "line 3: expected ',', found ']"},
    {ONE CONSTANT("r", "2xf32", "[1.0, 2.0, 3.0]"), "line 3: expected ']', found ', 3.0]"},
    {ONE CONSTANT("r", "2xf32", ""), "line 3: the constant has no elements, but 2 in its type"},
    {ONE CONSTANT("r", "2xf32", "1.0e39"), "a number of the constant is out of the range of f32"},
    {ONE CONSTANT("r", "2xbf16", "0x17FC0"), "the bits of a number of the constant are more than those of bf16"},
    {ONE CONSTANT("r", "2xi32", "1.5"), "line 3: a number of the constant is no integer"},
    {ONE CONSTANT("r", "2xui8", "256"), "line 3: a number of the constant is out of the range of ui8"},
    {ONE CONSTANT("r", "2xui8", "-1"), "line 3: a number of the constant is out of the range of ui8"},
    {ONE CONSTANT("r", "2xi64", "18446744073709551616"), "line 3: a number of the constant is too large"},
    {ONE CONSTANT("r", "2xi1", "1"), "line 3: expected 'true' or 'false', found '1>"},
    {ONE R "constant\"() {value = dense<1.0> : tensor<3xf32>} : () -> tensor<2xf32>\n" RETURN,
     "line 3: stablehlo.constant: result 0 is tensor<2xf32>, not tensor<3xf32>"},
    /* shapes */
    {ONE R "reshape\"(%a) : (tensor<2xf32>) -> tensor<3xf32>\n", "the result has 3 elements, the operand 2"},
    {ONE R "slice\"(%a) {start_indices = array<i64: 1>, limit_indices = array<i64: 3>, strides = array<i64: 1>}" UNARY,
     "stablehlo.slice: dimension 0: from 1 to 3 is not within 2"},
    {ONE R "slice\"(%a) {start_indices = array<i64: 0>, limit_indices = array<i64: 2>, strides = array<i64: 0>}" UNARY,
     "stablehlo.slice: strides has 0, which is not from 1 to 2147483648"},
    {ONE R "transpose\"(%a) {permutation = array<i64: 0, 1>}" UNARY, "permutation has 2 numbers, not 1"},
    {ONE R "broadcast_in_dim\"(%a) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf32>) -> tensor<2x3xf32>\n",
     "dimension 0 of the operand is neither 1 nor that of the result"},
    {ONE R "concatenate\"(%a, %b) {dimension = 0 : i64}" TYPES, "result 0 is tensor<2xf32>, not tensor<4xf32>"},
    {ONE R "dot_general\"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0]>}" TYPES,
     "stablehlo.dot_general: the operands have different numbers of contracting dimensions"},
    {ONE R "dot_general\"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<contracting = [0]>}" TYPES,
     "unknown part of an attribute 'contracting'"},
    {ONE R "dot_general\"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], "
           "rhs_contracting_dimensions = [0]>}" TYPES,
     "stablehlo.dot_general: result 0 is tensor<2xf32>, not tensor<f32>"},
    {ONE R "convolution\"(%a, %b) {dimension_numbers = #stablehlo.conv<[b, 0, 0, f]x", "stands twice"},
    {ONE R "convolution\"(%a, %b) {dimension_numbers = #stablehlo.conv<[b, 1, f]x", "is missing"},
    {ONE R "convolution\"(%a, %b) {dimension_numbers = #stablehlo.conv<[b, f, 0]x[i, o, 0]->[b, f, 0]>, "
           "feature_group_count = 1 : i64, batch_group_count = 1 : i64}" TYPES,
     "stablehlo.convolution: operand 0 has 1 dimensions"},
    {ONE R "gather\"(%a, %b) {dimension_numbers = #stablehlo.gather<index_vector_dim = 0>, slice_sizes = array<i64: "
           "1>}" TYPES,
     "stablehlo.gather: operand 1 is no array of integers"},
    {ONE CONSTANT("i", "1xi32", "0") R
     "gather\"(%a, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], "
     "start_index_map = [0]>, slice_sizes = array<i64: 0>} : (tensor<2xf32>, tensor<1xi32>) -> tensor<f32>\n",
     "stablehlo.gather: slice_sizes of dimension 0, left out, is not 1"},
    /* regions */
    {ONE CONSTANT("i", "f32", "0.0") R
     "reduce\"(%a, %i) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> "
     "tensor<f32>\n",
     "line 4: stablehlo.reduce: it has 0 regions, not 1"},
    {ONE CONSTANT("i", "i32", "0") R "reduce\"(%a, %i) " BODY("add") " {dimensions = array<i64: 0>} : (tensor<2xf32>, "
                                                                     "tensor<i32>) -> tensor<f32>\n",
     "line 4: stablehlo.reduce: operand 1 is tensor<i32>, not tensor<f32>"},
    {ONE CONSTANT("i", "f32", "0.0") R
     "reduce\"(%a, %i) ({ ^bb0(%x: tensor<f32>): \"stablehlo.return\"(%x) : "
     "(tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>\n",
     "stablehlo.reduce: region 0 has 1 arguments, not 2"},
    {ONE R "while\"(%a) ({ ^bb0(%x: tensor<2xf32>): \"stablehlo.return\"(%x) : (tensor<2xf32>) -> () }, { ^bb0(%x: "
           "tensor<2xf32>): \"stablehlo.return\"(%x) : (tensor<2xf32>) -> () })" UNARY,
     "stablehlo.while: value 0 returned by region 0 is tensor<2xf32>, not tensor<i1>"},
    {ONE R "while\"(%a) ({ ^bb0(%x: tensor<2xf32>): \"func.return\"(%x)", "line 3: unknown op 'func.return'"},
};

static void bad_texts_are_refused_with_the_reason(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char error[ERROR];
        if (hlo_parse(bad[i].text, error, sizeof error)) fail_msg("accepted:\n%s", bad[i].text);
        if (!strstr(error, bad[i].error) || strncmp(error, "line ", 5) != 0)
            fail_msg("'%s' is not in '%s' of\n%s", bad[i].error, error, bad[i].text);
    }
}

/* A text with one of each form that attributes have */
static const char all_forms[] = BEGIN
    "(tensor<2xf32>, tensor<2xf32>, tensor<i64>, tensor<1x2x2x1xf32>, tensor<2x3xf32>, tensor<2xf32>) {\n" LOOP
    "%image = \"stablehlo.iota\"() {iota_dimension = 1 : i64} : () -> tensor<1x4x4x1xf32> // 0, 1, ...\n"
    CONSTANT("kernel", "1x1x1x1xf32", "[[[[0x3F800000]]]]")
    "%v = \"stablehlo.convolution\"(%image, %kernel) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->"
    "[b, 0, 1, f]>, window_strides = array<i64: 2, 2>, padding = dense<[[-1, 0], [0, 0]]> : tensor<2x2xi64>, "
    "window_reversal = array<i1: true, false>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, "
    "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGH>]} : (tensor<1x4x4x1xf32>, "
    "tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32>\n" CONSTANT("places", "2xi32", "[1, 0]")
    "%table = \"stablehlo.broadcast_in_dim\"(%a) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> "
    "tensor<2x3xf32>\n"
    "%g = \"stablehlo.gather\"(%table, %places) {dimension_numbers = #stablehlo.gather<offset_dims = [1], "
    "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>, "
    "indices_are_sorted = false} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>\n"
    "%s = \"stablehlo.scatter\"(%a, %places, %b) " BODY("add")
    " {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    "index_vector_dim = 1>, unique_indices = true} : (tensor<2xf32>, tensor<2xi32>, tensor<2xf32>) -> tensor<2xf32>\n"
    "\"func.return\"(%w#1, %w#2, %w#0, %v, %g, %s) : (tensor<2xf32>, tensor<2xf32>, tensor<i64>, tensor<1x2x2x1xf32>, "
    "tensor<2x3xf32>, tensor<2xf32>) -> ()\n}\n}";

static void a_text_cut_anywhere_is_refused(void **state) {
    char *text = malloc(sizeof all_forms), error[ERROR];
    (void)state;
    assert_non_null(text);
    hlo_program_free(parse(all_forms));
    for (size_t n = 0; n < sizeof all_forms - 1; n++) {
        char *cut = malloc(n + 1); /* so that a sanitizer sees who reads behind its end */
        assert_non_null(cut);
        memcpy(cut, all_forms, n);
        cut[n] = '\0';
        if (hlo_parse(cut, error, sizeof error)) fail_msg("accepted without all but %zu characters", n);
        assert_memory_equal(error, "line ", 5);
        free(cut);
    }
    free(text);
}

/* Whether a changed text is taken or not, nothing else happens; every program taken can be freed. */
static void a_text_changed_anywhere_is_harmless(void **state) {
    static const char others[] = "%\"(){}<>[]:,#-0x9a ";
    char text[sizeof all_forms], error[ERROR];
    (void)state;
    for (size_t n = 0; n < sizeof all_forms - 1; n++) {
        memcpy(text, all_forms, sizeof text);
        text[n] = others[n % (sizeof others - 1)];
        hlo_program_free(hlo_parse(text, error, sizeof error));
        memcpy(text, all_forms, sizeof text);
        memmove(text + n, text + n + 1, sizeof text - n - 1);
        hlo_program_free(hlo_parse(text, error, sizeof error));
    }
}

static void regions_nest_to_a_limit(void **state) {
    static const char begin[] = "\"stablehlo.if\"(%p) ({\n";
    char error[ERROR], *text = malloc(TEXT + 100000 * sizeof begin);
    (void)state;
    assert_non_null(text);
    char *at = text + sprintf(text, "module @m { func.func public @main(%%p: tensor<i1>) -> () {\n");
    for (int i = 0; i < 100000; i++) at += sprintf(at, "%s", begin);
    assert_null(hlo_parse(text, error, sizeof error));
    assert_string_equal(error, "line 65: regions are nested more than 64 deep");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_have_the_values_of_their_text),
        cmocka_unit_test(constants_may_be_empty),
        cmocka_unit_test(numbers_are_read_in_every_locale),
        cmocka_unit_test(arguments_and_results_have_types),
        cmocka_unit_test(results_are_arrays_of_their_own),
        cmocka_unit_test(run_refuses_other_arguments),
        cmocka_unit_test(loops_carry_values_and_see_those_outside),
        cmocka_unit_test(one_branch_is_run),
        cmocka_unit_test(regions_nest),
        cmocka_unit_test(integers_have_a_value_where_c_has_none),
        cmocka_unit_test(threads_share_a_program),
        cmocka_unit_test(bad_texts_are_refused_with_the_reason),
        cmocka_unit_test(a_text_cut_anywhere_is_refused),
        cmocka_unit_test(a_text_changed_anywhere_is_harmless),
        cmocka_unit_test(regions_nest_to_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
