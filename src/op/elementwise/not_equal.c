/** not_equal: dst = a != b
 *
 *  a, b  shapes that broadcast as in NumPy, of one dtype
 *  dst   bool, the broadcast shape; may alias either where they are bool
 *
 *  Strings are equal where they have the same length and the same bytes.
 *  NaN is equal to nothing, not even to itself.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_not_equal(mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

MST_EQUALITY(x != y, !mst_string_equal(x, y))

static const mst_example examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 1}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){0, 0, 1}}},
     .expect = {(const double[]){0, 1, 0}}},
    {.name = "last axis",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){0, 1, 1, 1, 0, 0}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){0, 0, 1}}},
     .expect = {(const double[]){0, 1, 0, 1, 0, 1}}},
    {.name = "outer",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 1}},
             {.ndim = 2, .dim = {1, 3}, .value = (const double[]){0, 0, 1}}},
     .expect = {(const double[]){1, 1, 0, 1, 1, 0}}},
    {.name = "scalar",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 1}}, {.value = (const double[]){1}}},
     .expect = {(const double[]){1, 0, 0}}},
    {.num_src = 2,
     .dtypes = MST_FLOATS | MST_INDICES,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){-3, 4, 7}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){2, -5, 7}}},
     .expect = {(const double[]){1, 1, 0}}},
    {.num_src = 2,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {2}, .value = (const double[]){200, 100}},
             {.dtype = MST_U8, .ndim = 1, .dim = {2}, .value = (const double[]){100, 200}}},
     .expect = {(const double[]){1, 1}}},
    {.name = "NaN",
     .num_src = 2,
     .dtypes = MST_FLOATS,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){NAN, 1, NAN, 0}},
             {.ndim = 1, .dim = {4}, .value = (const double[]){1, NAN, NAN, -0.0}}},
     .expect = {(const double[]){1, 1, 1, 0}}},
    {.name = "empty", .num_src = 2, .src = {{.ndim = 2, .dim = {0, 3}}, {.ndim = 1, .dim = {3}, .low = 1, .high = 3}}},
    {.num_src = 2, .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
    {.num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}, {.dtype = MST_I32, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_not_equal = {
    .name = "not_equal",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES | MST_DTYPE_BIT(MST_STRING),
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_comparison,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_not_equal(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_not_equal, 2, (const mst_value[]){a, b}, NULL);
}
