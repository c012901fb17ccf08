/* Each op of the interpreter (support/hlo_interpreter.h), by examples. The results were computed by StableHLO's own
 * interpreter, and those of comparisons in total order by XLA. */
#include "support/hlo_interpreter.h"

#include <math.h>
#include <stdio.h>

#include "support/test.h"

enum { MOST = 4, TEXT = 8192 };

typedef struct example_array {
    const char *type, *value; /* "2xf32", "[1.0, 2.0]" */
} example_array;

typedef struct example {
    const char *op, *rest; /* without "stablehlo."; regions and attributes, if any */
    example_array given[MOST], result[MOST];
    bool rounds; /* results may differ in the last digits */
} example;

static const example examples[] = {
    {.op = "abs",
     .given = {{"7xf32", "[0.0, -0.0, 1.5, -2.5, 0x7F800000, 0xFF800000, 0x7FC00000]"}},
     .result = {{"7xf32", "[0.0, 0.0, 1.5, 2.5, 0x7F800000, 0x7F800000, 0x7FC00000]"}}},
    {.op = "ceil",
     .given = {{"7xf32", "[0.0, -0.0, 1.5, -2.5, 0x7F800000, 0xFF800000, 0x7FC00000]"}},
     .result = {{"7xf32", "[0.0, -0.0, 2.0, -2.0, 0x7F800000, 0xFF800000, 0x7FC00000]"}}},
    {.op = "floor",
     .given = {{"7xf32", "[0.0, -0.0, 1.5, -2.5, 0x7F800000, 0xFF800000, 0x7FC00000]"}},
     .result = {{"7xf32", "[0.0, -0.0, 1.0, -3.0, 0x7F800000, 0xFF800000, 0x7FC00000]"}}},
    {.op = "negate",
     .given = {{"7xf32", "[0.0, -0.0, 1.5, -2.5, 0x7F800000, 0xFF800000, 0x7FC00000]"}},
     .result = {{"7xf32", "[-0.0, 0.0, -1.5, 2.5, 0xFF800000, 0x7F800000, 0xFFC00000]"}}},
    {.op = "round_nearest_afz",
     .given = {{"7xf32", "[0.0, -0.0, 1.5, -2.5, 0x7F800000, 0xFF800000, 0x7FC00000]"}},
     .result = {{"7xf32", "[0.0, -0.0, 2.0, -3.0, 0x7F800000, 0xFF800000, 0x7FC00000]"}}},
    {.op = "round_nearest_even",
     .given = {{"7xf32", "[0.0, -0.0, 1.5, -2.5, 0x7F800000, 0xFF800000, 0x7FC00000]"}},
     .result = {{"7xf32", "[0.0, -0.0, 2.0, -2.0, 0x7F800000, 0xFF800000, 0x7FC00000]"}}},
    {.op = "sign",
     .given = {{"7xf32", "[0.0, -0.0, 1.5, -2.5, 0x7F800000, 0xFF800000, 0x7FC00000]"}},
     .result = {{"7xf32", "[0.0, -0.0, 1.0, -1.0, 1.0, -1.0, 0x7FC00000]"}}},
    {.op = "cosine",
     .given = {{"4xf32", "[0.0, 0.5, -0.5, 2.0]"}},
     .result = {{"4xf32", "[1.0, 0.87758255, 0.87758255, -0.41614684]"}},
     .rounds = true},
    {.op = "cbrt",
     .given = {{"5xf32", "[0.0, 0.5, -0.5, 2.0, 0x7F800000]"}},
     .result = {{"5xf32", "[0.0, 0.7937005, -0.7937005, 1.2599211, 0x7F800000]"}},
     .rounds = true},
    {.op = "exponential",
     .given = {{"5xf32", "[0.0, 0.5, -0.5, 2.0, 0x7F800000]"}},
     .result = {{"5xf32", "[1.0, 1.6487212, 0.60653067, 7.389056, 0x7F800000]"}},
     .rounds = true},
    {.op = "exponential_minus_one",
     .given = {{"5xf32", "[0.0, 0.5, -0.5, 2.0, 0x7F800000]"}},
     .result = {{"5xf32", "[0.0, 0.6487213, -0.39346933, 6.389056, 0x7F800000]"}},
     .rounds = true},
    {.op = "logistic",
     .given = {{"5xf32", "[0.0, 0.5, -0.5, 2.0, 0x7F800000]"}},
     .result = {{"5xf32", "[0.5, 0.62245935, 0.37754068, 0.880797, 1.0]"}},
     .rounds = true},
    {.op = "sine",
     .given = {{"4xf32", "[0.0, 0.5, -0.5, 2.0]"}},
     .result = {{"4xf32", "[0.0, 0.47942555, -0.47942555, 0.9092974]"}},
     .rounds = true},
    {.op = "tan",
     .given = {{"4xf32", "[0.0, 0.5, -0.5, 2.0]"}},
     .result = {{"4xf32", "[0.0, 0.5463025, -0.5463025, -2.1850398]"}},
     .rounds = true},
    {.op = "tanh",
     .given = {{"5xf32", "[0.0, 0.5, -0.5, 2.0, 0x7F800000]"}},
     .result = {{"5xf32", "[0.0, 0.46211717, -0.46211717, 0.9640276, 1.0]"}},
     .rounds = true},
    {.op = "log",
     .given = {{"6xf32", "[0.0, 0.25, 1.0, 3.0, 0x7F800000, -1.0]"}},
     .result = {{"6xf32", "[0xFF800000, -1.3862944, 0.0, 1.0986123, 0x7F800000, 0x7FC00000]"}},
     .rounds = true},
    {.op = "log_plus_one",
     .given = {{"6xf32", "[0.0, 0.25, 1.0, 3.0, 0x7F800000, -1.0]"}},
     .result = {{"6xf32", "[0.0, 0.22314355, 0.6931472, 1.3862944, 0x7F800000, 0xFF800000]"}},
     .rounds = true},
    {.op = "rsqrt",
     .given = {{"6xf32", "[0.0, 0.25, 1.0, 3.0, 0x7F800000, -1.0]"}},
     .result = {{"6xf32", "[0x7F800000, 2.0, 1.0, 0.57735026, 0.0, 0xFFC00000]"}},
     .rounds = true},
    {.op = "sqrt",
     .given = {{"6xf32", "[0.0, 0.25, 1.0, 3.0, 0x7F800000, -1.0]"}},
     .result = {{"6xf32", "[0.0, 0.5, 1.0, 1.7320508, 0x7F800000, 0xFFC00000]"}},
     .rounds = true},
    {.op = "exponential",
     .given = {{"2xf64", "[0.3, -1.7]"}},
     .result = {{"2xf64", "[1.3498588075760032, 0.18268352405273466]"}},
     .rounds = true},
    {.op = "tanh",
     .given = {{"2xf64", "[0.3, -1.7]"}},
     .result = {{"2xf64", "[0.2913126124515909, -0.935409070603099]"}},
     .rounds = true},
    {.op = "abs", .given = {{"3xi32", "[3, -3, -2147483648]"}}, .result = {{"3xi32", "[3, 3, -2147483648]"}}},
    {.op = "negate", .given = {{"3xui8", "[0, 1, 255]"}}, .result = {{"3xui8", "[0, 255, 1]"}}},
    {.op = "sign", .given = {{"3xi64", "[-7, 0, 9]"}}, .result = {{"3xi64", "[-1, 0, 1]"}}},
    {.op = "count_leading_zeros", .given = {{"3xui32", "[0, 1, 2147483648]"}}, .result = {{"3xui32", "[32, 31, 0]"}}},
    {.op = "popcnt", .given = {{"3xi64", "[-1, 0, 6]"}}, .result = {{"3xi64", "[64, 0, 2]"}}},
    {.op = "not", .given = {{"2xi1", "[true, false]"}}, .result = {{"2xi1", "[false, true]"}}},
    {.op = "not", .given = {{"2xui8", "[1, 254]"}}, .result = {{"2xui8", "[254, 1]"}}},
    {.op = "add",
     .given = {{"2xf32", "[1.6777216e+07, 1.5]"}, {"2xf32", "[1.0, 2.25]"}},
     .result = {{"2xf32", "[1.6777216e+07, 3.75]"}}},
    {.op = "add",
     .given = {{"2xbf16", "[256.0, 1.0]"}, {"2xbf16", "[1.0, 2.0]"}},
     .result = {{"2xbf16", "[256.0, 3.0]"}}},
    {.op = "add", .given = {{"2xui8", "[250, 1]"}, {"2xui8", "[10, 2]"}}, .result = {{"2xui8", "[4, 3]"}}},
    {.op = "add", .given = {{"1xi32", "[2147483647]"}, {"1xi32", "[1]"}}, .result = {{"1xi32", "[-2147483648]"}}},
    {.op = "add",
     .given = {{"4xi1", "[false, false, true, true]"}, {"4xi1", "[false, true, false, true]"}},
     .result = {{"4xi1", "[false, true, true, true]"}}},
    {.op = "subtract", .given = {{"1xui32", "[1]"}, {"1xui32", "[2]"}}, .result = {{"1xui32", "[4294967295]"}}},
    {.op = "multiply", .given = {{"2xi32", "[65536, -3]"}, {"2xi32", "[65536, 5]"}}, .result = {{"2xi32", "[0, -15]"}}},
    {.op = "multiply",
     .given = {{"1xui64", "[6364136223846793005]"}, {"1xui64", "[1442695040888963407]"}},
     .result = {{"1xui64", "[433315962919513059]"}}},
    {.op = "multiply",
     .given = {{"4xi1", "[false, false, true, true]"}, {"4xi1", "[false, true, false, true]"}},
     .result = {{"4xi1", "[false, false, false, true]"}}},
    {.op = "divide",
     .given = {{"4xf32", "[1.0, -1.0, 0.0, 7.0]"}, {"4xf32", "[0.0, 0.0, 0.0, 3.0]"}},
     .result = {{"4xf32", "[0x7F800000, 0xFF800000, 0x7FC00000, 2.3333333]"}}},
    {.op = "divide", .given = {{"3xi32", "[7, -7, 7]"}, {"3xi32", "[2, 2, -2]"}}, .result = {{"3xi32", "[3, -3, -3]"}}},
    {.op = "divide",
     .given = {{"1xui64", "[18446744073709551615]"}, {"1xui64", "[3]"}},
     .result = {{"1xui64", "[6148914691236517205]"}}},
    {.op = "remainder",
     .given = {{"2xf32", "[7.5, -7.5]"}, {"2xf32", "[2.0, 2.0]"}},
     .result = {{"2xf32", "[1.5, -1.5]"}}},
    {.op = "remainder",
     .given = {{"3xi32", "[7, -7, 7]"}, {"3xi32", "[3, 3, -3]"}},
     .result = {{"3xi32", "[1, -1, 1]"}}},
    {.op = "maximum",
     .given = {{"4xf32", "[1.0, 0x7FC00000, 2.0, -0.0]"}, {"4xf32", "[2.0, 1.0, 0x7FC00000, 0.0]"}},
     .result = {{"4xf32", "[2.0, 0x7FC00000, 0x7FC00000, 0.0]"}}},
    {.op = "minimum",
     .given = {{"4xf32", "[1.0, 0x7FC00000, 2.0, 0.0]"}, {"4xf32", "[2.0, 1.0, 0x7FC00000, -0.0]"}},
     .result = {{"4xf32", "[1.0, 0x7FC00000, 0x7FC00000, -0.0]"}}},
    {.op = "maximum", .given = {{"2xi32", "[-1, 5]"}, {"2xi32", "[1, 4]"}}, .result = {{"2xi32", "[1, 5]"}}},
    {.op = "minimum", .given = {{"2xui32", "[4294967295, 5]"}, {"2xui32", "[1, 4]"}}, .result = {{"2xui32", "[1, 4]"}}},
    {.op = "power",
     .given = {{"3xf32", "[2.0, -2.0, 9.0]"}, {"3xf32", "[10.0, 3.0, 0.5]"}},
     .result = {{"3xf32", "[1024.0, -8.0, 3.0]"}},
     .rounds = true},
    {.op = "power",
     .given = {{"4xi64", "[3, -2, 2, -1]"}, {"4xi64", "[4, 3, -1, -3]"}},
     .result = {{"4xi64", "[81, -8, 0, -1]"}}},
    {.op = "atan2",
     .given = {{"3xf32", "[1.0, -1.0, 0.0]"}, {"3xf32", "[1.0, 0.0, -1.0]"}},
     .result = {{"3xf32", "[0.7853982, -1.5707964, 3.1415927]"}},
     .rounds = true},
    {.op = "and", .given = {{"1xui32", "[12]"}, {"1xui32", "[10]"}}, .result = {{"1xui32", "[8]"}}},
    {.op = "or", .given = {{"1xui32", "[12]"}, {"1xui32", "[10]"}}, .result = {{"1xui32", "[14]"}}},
    {.op = "xor", .given = {{"1xui32", "[12]"}, {"1xui32", "[10]"}}, .result = {{"1xui32", "[6]"}}},
    {.op = "shift_left",
     .given = {{"3xui32", "[1, 1, 1]"}, {"3xui32", "[4, 31, 32]"}},
     .result = {{"3xui32", "[16, 2147483648, 0]"}}},
    {.op = "shift_right_logical",
     .given = {{"2xi32", "[-16, -16]"}, {"2xi32", "[2, 40]"}},
     .result = {{"2xi32", "[1073741820, 0]"}}},
    {.op = "shift_right_arithmetic",
     .given = {{"3xi32", "[-16, -16, 16]"}, {"3xi32", "[2, 40, 40]"}},
     .result = {{"3xi32", "[-4, -1, 0]"}}},
    {.op = "shift_right_arithmetic",
     .given = {{"2xui8", "[240, 112]"}, {"2xui8", "[2, 2]"}},
     .result = {{"2xui8", "[252, 28]"}}},
    {.op = "compare",
     .rest = "{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type "
             "FLOAT>}",
     .given = {{"3xf32", "[1.0, 0x7FC00000, -0.0]"}, {"3xf32", "[2.0, 1.0, 0.0]"}},
     .result = {{"3xi1", "[true, false, false]"}}},
    {.op = "compare",
     .rest = "{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type "
             "FLOAT>}",
     .given = {{"3xf32", "[1.0, 0x7FC00000, -0.0]"}, {"3xf32", "[2.0, 1.0, 0.0]"}},
     .result = {{"3xi1", "[true, true, false]"}}},
    {.op = "compare",
     .rest = "{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type "
             "TOTALORDER>}",
     .given = {{"4xf32", "[1.0, -0.0, 0.0, 0xFF800000]"}, {"4xf32", "[2.0, 0.0, -0.0, 0x7F800000]"}},
     .result = {{"4xi1", "[true, true, false, true]"}}},
    {.op = "compare",
     .rest = "{comparison_direction = #stablehlo<comparison_direction GT>}",
     .given = {{"1xui32", "[4294967295]"}, {"1xui32", "[1]"}},
     .result = {{"1xi1", "[true]"}}},
    {.op = "compare",
     .rest = "{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type "
             "SIGNED>}",
     .given = {{"1xi32", "[-1]"}, {"1xi32", "[1]"}},
     .result = {{"1xi1", "[false]"}}},
    {.op = "convert",
     .given = {{"5xf32", "[1.9, -1.9, 3.0e+09, 0x7FC00000, 0xFF800000]"}},
     .result = {{"5xi32", "[1, -1, 2147483647, 0, -2147483648]"}}},
    {.op = "convert", .given = {{"2xf32", "[-1.0, 300.0]"}}, .result = {{"2xui8", "[0, 255]"}}},
    {.op = "convert",
     .given = {{"3xf32", "[1.0039062, 1.0117188, 0.001]"}},
     .result = {{"3xbf16", "[1.0, 1.015625, 0.00099945068359375]"}}},
    {.op = "convert", .given = {{"1xf64", "[1.0039062500000002]"}}, .result = {{"1xbf16", "[1.0078125]"}}},
    {.op = "convert", .given = {{"2xi64", "[16777217, -5]"}}, .result = {{"2xf32", "[1.6777216e+07, -5.0]"}}},
    {.op = "convert", .given = {{"2xi32", "[-1, 256]"}}, .result = {{"2xui8", "[255, 0]"}}},
    {.op = "convert", .given = {{"3xf32", "[0.0, -0.5, 0x7FC00000]"}}, .result = {{"3xi1", "[false, true, true]"}}},
    {.op = "convert", .given = {{"2xui8", "[0, 7]"}}, .result = {{"2xi1", "[false, true]"}}},
    {.op = "convert", .given = {{"2xi1", "[true, false]"}}, .result = {{"2xf64", "[1.0, 0.0]"}}},
    {.op = "is_finite",
     .given = {{"7xf32", "[0.0, -0.0, 1.5, -2.5, 0x7F800000, 0xFF800000, 0x7FC00000]"}},
     .result = {{"7xi1", "[true, true, true, true, false, false, false]"}}},
    {.op = "select",
     .given = {{"2xi1", "[true, false]"}, {"2xf32", "[1.0, 2.0]"}, {"2xf32", "[3.0, 4.0]"}},
     .result = {{"2xf32", "[1.0, 4.0]"}}},
    {.op = "select",
     .given = {{"i1", "false"}, {"2xf32", "[1.0, 2.0]"}, {"2xf32", "[3.0, 4.0]"}},
     .result = {{"2xf32", "[3.0, 4.0]"}}},
    {.op = "clamp",
     .given = {{"f32", "-1.0"}, {"3xf32", "[-5.0, 0.5, 0x7FC00000]"}, {"f32", "1.0"}},
     .result = {{"3xf32", "[-1.0, 0.5, 0x7FC00000]"}}},
    {.op = "reduce_precision",
     .rest = "{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}",
     .given = {{"4xf32", "[1.0004883, 65535.0, 1.0e-08, 0x7FC00000]"}},
     .result = {{"4xf32", "[1.0, 0x7F800000, 0.0, 0x7FC00000]"}}},
    {.op = "constant",
     .rest = "{value = dense<[[1.5, -2.0], [0x7F800000, 3.0]]> : tensor<2x2xf32>}",
     .result = {{"2x2xf32", "[[1.5, -2.0], [0x7F800000, 3.0]]"}}},
    {.op = "iota", .rest = "{iota_dimension = 1 : i64}", .result = {{"2x3xi32", "[[0, 1, 2], [0, 1, 2]]"}}},
    {.op = "optimization_barrier",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}, {"2xi32", "[1, 2]"}},
     .result = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}, {"2xi32", "[1, 2]"}}},
    {.op = "reshape",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}},
     .result = {{"3x2xf32", "[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]"}}},
    {.op = "bitcast_convert", .given = {{"2xf32", "[1.0, -2.0]"}}, .result = {{"2xui32", "[1065353216, 3221225472]"}}},
    {.op = "bitcast_convert", .given = {{"1xui32", "[67305985]"}}, .result = {{"1x4xui8", "[[1, 2, 3, 4]]"}}},
    {.op = "bitcast_convert", .given = {{"1x2xui32", "[[1, 2]]"}}, .result = {{"1xui64", "[8589934593]"}}},
    {.op = "broadcast_in_dim",
     .rest = "{broadcast_dimensions = array<i64: 1>}",
     .given = {{"2xf32", "[1.0, 2.0]"}},
     .result = {{"2x2xf32", "[[1.0, 2.0], [1.0, 2.0]]"}}},
    {.op = "broadcast_in_dim",
     .rest = "{broadcast_dimensions = array<i64>}",
     .given = {{"f32", "3.0"}},
     .result = {{"2xf32", "[3.0, 3.0]"}}},
    {.op = "broadcast_in_dim",
     .rest = "{broadcast_dimensions = array<i64: 1, 0>}",
     .given = {{"2x1xi32", "[[1], [2]]"}},
     .result = {{"3x2xi32", "[[1, 2], [1, 2], [1, 2]]"}}},
    {.op = "transpose",
     .rest = "{permutation = array<i64: 1, 0>}",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}},
     .result = {{"3x2xf32", "[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]"}}},
    {.op = "reverse",
     .rest = "{dimensions = array<i64: 1>}",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}},
     .result = {{"2x3xf32", "[[2.0, 1.0, 0.0], [5.0, 4.0, 3.0]]"}}},
    {.op = "slice",
     .rest = "{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 3>, strides = array<i64: 2, 1>}",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}},
     .result = {{"1x2xf32", "[[1.0, 2.0]]"}}},
    {.op = "pad",
     .rest = "{edge_padding_low = array<i64: -1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 1>}",
     .given = {{"3xf32", "[1.0, 2.0, 3.0]"}, {"f32", "9.0"}},
     .result = {{"6xf32", "[9.0, 2.0, 9.0, 3.0, 9.0, 9.0]"}}},
    {.op = "concatenate",
     .rest = "{dimension = 1 : i64}",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}, {"2x1xf32", "[[7.0], [8.0]]"}},
     .result = {{"2x4xf32", "[[0.0, 1.0, 2.0, 7.0], [3.0, 4.0, 5.0, 8.0]]"}}},
    {.op = "dynamic_slice",
     .rest = "{slice_sizes = array<i64: 1, 2>}",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}, {"i64", "5"}, {"i64", "-3"}},
     .result = {{"1x2xf32", "[[3.0, 4.0]]"}}},
    {.op = "dynamic_update_slice",
     .given =
         {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}, {"1x2xf32", "[[8.0, 9.0]]"}, {"i32", "1"}, {"i32", "9"}},
     .result = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 8.0, 9.0]]"}}},
    {.op = "dot_general",
     .rest = "{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = "
             "[0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}, {"3x2xf32", "[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]"}},
     .result = {{"2x2xf32", "[[10.0, 13.0], [28.0, 40.0]]"}}},
    {.op = "dot_general",
     .rest = "{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], "
             "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}",
     .given = {{"2x2x2xi32", "[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]"},
               {"2x2x2xi32", "[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]"}},
     .result = {{"2x2x2xi32", "[[[4, 5], [12, 17]], [[38, 47], [54, 67]]]"}}},
    {.op = "convolution",
     .rest =
         "{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: "
         "4, 4>, padding = dense<0> : tensor<2x2xi64>, lhs_dilation = array<i64: 2, 2>, rhs_dilation = array<i64: 1, "
         "1>, window_reversal = array<i1: false, false>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}",
     .given = {{"1x4x4x1xf32",
                "[[[[1.0], [2.0], [5.0], [6.0]], [[3.0], [4.0], [7.0], [8.0]], [[10.0], [11.0], [14.0], [15.0]], "
                "[[12.0], [13.0], [16.0], [17.0]]]]"},
               {"3x3x1x1xf32",
                "[[[[1.0]], [[1.0]], [[1.0]]], [[[1.0]], [[1.0]], [[1.0]]], [[[1.0]], [[1.0]], [[1.0]]]]"}},
     .result = {{"1x2x2x1xf32", "[[[[10.0], [26.0]], [[46.0], [62.0]]]]"}}},
    {.op = "convolution",
     .rest = "{dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, padding = dense<[[1, 0]]> : "
             "tensor<1x2xi64>, window_reversal = array<i1: true>, feature_group_count = 2 : i64, batch_group_count = 1 "
             ": i64}",
     .given = {{"1x2x3xf32", "[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]]"}, {"2x1x2xf32", "[[[1.0, 10.0]], [[2.0, 3.0]]]"}},
     .result = {{"1x2x3xf32", "[[[0.0, 1.0, 12.0], [6.0, 17.0, 22.0]]]"}}},
    {.op = "convolution",
     .rest = "{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, rhs_dilation = array<i64: 2>, "
             "feature_group_count = 1 : i64, batch_group_count = 2 : i64}",
     .given = {{"2x3x1xf32", "[[[0.0], [1.0], [2.0]], [[3.0], [4.0], [5.0]]]"},
               {"2x1x2xf32", "[[[1.0, 10.0]], [[2.0, 3.0]]]"}},
     .result = {{"1x1x2xf32", "[[[4.0, 45.0]]]"}}},
    {.op = "reduce",
     .rest = "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = \"stablehlo.add\"(%x, %y) : (tensor<f32>, tensor<f32>) "
             "-> tensor<f32> \"stablehlo.return\"(%z) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>}",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}, {"f32", "10.0"}},
     .result = {{"2xf32", "[13.0, 22.0]"}}},
    {.op = "reduce",
     .rest =
         "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = \"stablehlo.maximum\"(%x, %y) : (tensor<f32>, tensor<f32>) "
         "-> tensor<f32> \"stablehlo.return\"(%z) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>}",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}, {"f32", "0xFF800000"}},
     .result = {{"3xf32", "[3.0, 4.0, 5.0]"}}},
    {.op = "reduce",
     .rest = "({ ^bb0(%x: tensor<i1>, %y: tensor<i1>): %z = \"stablehlo.and\"(%x, %y) : (tensor<i1>, tensor<i1>) -> "
             "tensor<i1> \"stablehlo.return\"(%z) : (tensor<i1>) -> () }) {dimensions = array<i64: 0, 1>}",
     .given = {{"2x2xi1", "[[true, false], [true, true]]"}, {"i1", "true"}},
     .result = {{"i1", "false"}}},
    {.op = "reduce",
     .rest =
         "({ ^bb0(%x: tensor<f32>, %i: tensor<i32>, %y: tensor<f32>, %j: tensor<i32>): %p = \"stablehlo.compare\"(%x, "
         "%y) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "
         "%q = \"stablehlo.select\"(%p, %x, %y) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32> %k = "
         "\"stablehlo.select\"(%p, %i, %j) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32> "
         "\"stablehlo.return\"(%q, %k) : (tensor<f32>, tensor<i32>) -> () }) {dimensions = array<i64: 0>}",
     .given = {{"4xf32", "[1.0, 4.0, 4.0, 2.0]"}, {"4xi32", "[0, 1, 2, 3]"}, {"f32", "0xFF800000"}, {"i32", "0"}},
     .result = {{"f32", "4.0"}, {"i32", "1"}}},
    {.op = "reduce_window",
     .rest = "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = \"stablehlo.add\"(%x, %y) : (tensor<f32>, tensor<f32>) "
             "-> tensor<f32> \"stablehlo.return\"(%z) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, "
             "window_strides = array<i64: 2, 1>, base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 1, "
             "1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}",
     .given = {{"2x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"}, {"f32", "0.0"}},
     .result = {{"1x4xf32", "[[3.0, 5.0, 5.0, 7.0]]"}}},
    {.op = "reduce_window",
     .rest =
         "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = \"stablehlo.maximum\"(%x, %y) : (tensor<f32>, tensor<f32>) "
         "-> tensor<f32> \"stablehlo.return\"(%z) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 3>}",
     .given = {{"4xf32", "[1.0, 5.0, 2.0, 3.0]"}, {"f32", "0xFF800000"}},
     .result = {{"2xf32", "[5.0, 5.0]"}}},
    {.op = "select_and_scatter",
     .rest = "({ ^bb0(%x: tensor<i64>, %y: tensor<i64>): %z = \"stablehlo.compare\"(%x, %y) {comparison_direction = "
             "#stablehlo<comparison_direction GE>} : (tensor<i64>, tensor<i64>) -> tensor<i1> \"stablehlo.return\"(%z) "
             ": (tensor<i1>) -> () }, { ^bb0(%x: tensor<i64>, %y: tensor<i64>): %z = \"stablehlo.add\"(%x, %y) : "
             "(tensor<i64>, tensor<i64>) -> tensor<i64> \"stablehlo.return\"(%z) : (tensor<i64>) -> () }) "
             "{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, "
             "0]]> : tensor<2x2xi64>}",
     .given = {{"4x2xi64", "[[1, 5], [2, 5], [3, 6], [4, 4]]"}, {"2x2xi64", "[[5, 6], [7, 8]]"}, {"i64", "0"}},
     .result = {{"4x2xi64", "[[0, 0], [0, 0], [5, 14], [7, 0]]"}}},
    {.op = "gather",
     .rest = "{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = "
             "[0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>, indices_are_sorted = false}",
     .given = {{"4x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]"},
               {"3xi32", "[2, -1, 9]"}},
     .result = {{"3x3xf32", "[[6.0, 7.0, 8.0], [0.0, 1.0, 2.0], [9.0, 10.0, 11.0]]"}}},
    {.op = "gather",
     .rest = "{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], start_index_map = [1, 0], index_vector_dim "
             "= 0>, slice_sizes = array<i64: 2, 2>}",
     .given = {{"4x3xf32", "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]"},
               {"2x2xi64", "[[0, 1], [2, 3]]"}},
     .result = {{"2x2x2xf32", "[[[6.0, 7.0], [7.0, 8.0]], [[9.0, 10.0], [10.0, 11.0]]]"}}},
    {.op = "scatter",
     .rest = "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = \"stablehlo.add\"(%x, %y) : (tensor<f32>, tensor<f32>) "
             "-> tensor<f32> \"stablehlo.return\"(%z) : (tensor<f32>) -> () }) {scatter_dimension_numbers = "
             "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = "
             "[0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}",
     .given = {{"3x3xf32", "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"},
               {"3xi32", "[2, 2, 5]"},
               {"3x3xf32", "[[1.0, 2.0, 3.0], [10.0, 20.0, 30.0], [7.0, 7.0, 7.0]]"}},
     .result = {{"3x3xf32", "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [11.0, 22.0, 33.0]]"}}},
    {.op = "scatter",
     .rest = "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): \"stablehlo.return\"(%y) : (tensor<f32>) -> () }) "
             "{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
             "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = "
             "false}",
     .given = {{"3x3xf32", "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"},
               {"3xi32", "[0, 1, -1]"},
               {"3x3xf32", "[[1.0, 2.0, 3.0], [10.0, 20.0, 30.0], [7.0, 7.0, 7.0]]"}},
     .result = {{"3x3xf32", "[[1.0, 2.0, 3.0], [10.0, 20.0, 30.0], [0.0, 0.0, 0.0]]"}}},
    {.op = "sort",
     .rest = "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>): %z = "
             "\"stablehlo.compare\"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type "
             "= #stablehlo<comparison_type TOTALORDER>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "
             "\"stablehlo.return\"(%z) : (tensor<i1>) -> () }) {dimension = 0 : i64, is_stable = true}",
     .given = {{"5xf32", "[3.0, 1.0, 2.0, 1.0, -5.0]"}, {"5xi32", "[0, 1, 2, 3, 4]"}},
     .result = {{"5xf32", "[-5.0, 1.0, 1.0, 2.0, 3.0]"}, {"5xi32", "[4, 1, 3, 2, 0]"}}},
    {.op = "sort",
     .rest =
         "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>): %z = \"stablehlo.compare\"(%x, "
         "%y) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type "
         "TOTALORDER>} : (tensor<f32>, tensor<f32>) -> tensor<i1> \"stablehlo.return\"(%z) : (tensor<i1>) -> () })",
     .given = {{"2x2xf32", "[[3.0, 1.0], [0.0, -1.0]]"}, {"2x2xi32", "[[0, 1], [2, 3]]"}},
     .result = {{"2x2xf32", "[[1.0, 3.0], [-1.0, 0.0]]"}, {"2x2xi32", "[[1, 0], [3, 2]]"}}},
};

static int count(const example_array *arrays) {
    int num = 0;
    while (num < MOST && arrays[num].type) num++;
    return num;
}

static hlo_program *parse(const char *text) {
    char error[256];
    hlo_program *program = hlo_parse(text, error, sizeof error);
    if (!program) fail_msg("%s in\n%s", error, text);
    return program;
}

static void run(const hlo_program *program, const hlo_array *args, int num_args, hlo_array *results) {
    char error[256];
    if (!hlo_run(program, args, num_args, results, error, sizeof error)) fail_msg("%s", error);
}

/* The array that a constant gives */
static hlo_array array_of(const example_array *a) {
    char text[TEXT];
    hlo_array array;
    snprintf(text, sizeof text,
             "module @m { func.func public @main() -> (tensor<%s>) {\n"
             "%%0 = \"stablehlo.constant\"() {value = dense<%s> : tensor<%s>} : () -> tensor<%s>\n"
             "\"func.return\"(%%0) : (tensor<%s>) -> () } }",
             a->type, a->value, a->type, a->type, a->type);
    hlo_program *program = parse(text);
    run(program, NULL, 0, &array);
    hlo_program_free(program);
    return array;
}

/* "tensor<2xf32>, tensor<f32>", with the names %a, %b, ... before the types where NAMES */
static void list_types(char *text, const example_array *arrays, bool names) {
    const int num = count(arrays);
    *text = '\0';
    for (int i = 0; i < num; i++) {
        char one[128];
        snprintf(one, sizeof one, "%stensor<%s>", i ? ", " : "", arrays[i].type);
        if (names) snprintf(one, sizeof one, "%s%%%c: tensor<%s>", i ? ", " : "", 'a' + i, arrays[i].type);
        strcat(text, one);
    }
}

static void write_program(const example *e, char *text) {
    char arguments[512], given[512], result[512], names[32] = "", results[64] = "";
    list_types(arguments, e->given, true);
    list_types(given, e->given, false);
    list_types(result, e->result, false);
    for (int i = 0; i < count(e->given); i++) {
        const char name[] = {',', '%', (char)('a' + i), '\0'};
        strcat(names, i ? name : name + 1);
    }
    for (int i = 0; i < count(e->result); i++) {
        const char name[] = {',', '%', 'r', '#', (char)('0' + i), '\0'};
        strcat(results, i ? name : name + 1);
    }
    snprintf(text, TEXT,
             "module @m { func.func public @main(%s) -> (%s) {\n"
             "%%r:%d = \"stablehlo.%s\"(%s) %s : (%s) -> (%s)\n"
             "\"func.return\"(%s) : (%s) -> () } }",
             arguments, result, count(e->result), e->op, names, e->rest ? e->rest : "", given, result, results, result);
}

static double number_at(const hlo_array *array, int64_t i) {
    float f32;
    uint32_t wide;
    switch (array->type) {
        case HLO_F32: return (double)((const float *)array->data)[i];
        case HLO_F64: return ((const double *)array->data)[i];
        default: /* bf16 */
            wide = (uint32_t)((const uint16_t *)array->data)[i] << 16;
            memcpy(&f32, &wide, sizeof f32);
            return (double)f32;
    }
}

static bool is_float(hlo_type type) {
    return type == HLO_F32 || type == HLO_F64 || type == HLO_BF16;
}

/* The same number with the same sign, or both NaN, or nearly the same where they are rounded */
static bool same_number(double x, double want, hlo_type type, bool rounds) {
    const double error = rounds ? (type == HLO_F64 ? 1e-15 : 1e-6) : 0;
    if (isnan(x) || isnan(want)) return isnan(x) && isnan(want);
    return x == want ? signbit(x) == signbit(want) : fabs(x - want) <= error * fabs(want);
}

static void expect_array(const example *e, const hlo_array *array, const hlo_array *want) {
    const size_t size = hlo_type_size(want->type);
    assert_int_equal(array->type, want->type);
    assert_int_equal(array->count, want->count);
    assert_int_equal(array->ndim, want->ndim);
    for (int64_t i = 0; i < want->count; i++) {
        const size_t at = (size_t)i * size;
        if (is_float(want->type) ? !same_number(number_at(array, i), number_at(want, i), want->type, e->rounds)
                                 : memcmp((char *)array->data + at, (char *)want->data + at, size) != 0)
            fail_msg("%s %s: element %d differs", e->op, e->rest ? e->rest : "", (int)i);
    }
}

static void ops_have_the_values_of_the_specification(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *e = &examples[i];
        const int num_given = count(e->given), num_results = count(e->result);
        hlo_array given[MOST], result[MOST];
        char text[TEXT];
        write_program(e, text);
        hlo_program *program = parse(text);
        for (int k = 0; k < num_given; k++) given[k] = array_of(&e->given[k]);
        run(program, given, num_given, result);
        for (int k = 0; k < num_results; k++) {
            hlo_array want = array_of(&e->result[k]);
            expect_array(e, &result[k], &want);
            hlo_array_free(&want);
            hlo_array_free(&result[k]);
        }
        for (int k = 0; k < num_given; k++) hlo_array_free(&given[k]);
        hlo_program_free(program);
    }
}

/* Each op of the table has its own number of operands: one less or more is refused. */
static void ops_refuse_other_numbers_of_operands(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        example e = examples[i];
        char text[TEXT], error[256];
        const int num = count(e.given);
        if (num == 0) continue;
        if (!strcmp(e.op, "optimization_barrier")) continue; /* any number of them */
        e.given[num - 1] = (example_array){0};
        write_program(&e, text);
        assert_null(hlo_parse(text, error, sizeof error));
        if (!strstr(error, "line 2: ")) fail_msg("%s without an operand: %s", e.op, error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_have_the_values_of_the_specification),
        cmocka_unit_test(ops_refuse_other_numbers_of_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
