/** logical_xor: dst = either a or b, not both
 *
 *  a, b  shapes that broadcast as in NumPy, bool
 *  dst   bool, the broadcast shape; may alias either
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_logical_xor(mst_value a, mst_value b);
#endif
#include "op/elementwise/elementwise.h"

MST_BINARY(truth, uint8_t, uint8_t, uint8_t, !x != !y)
MST_REFERENCE([MST_BOOL] = truth)

static const mst_example examples[] = {
    {.num_src = 2,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){0, 0, 1, 1}},
             {.ndim = 1, .dim = {4}, .value = (const double[]){0, 1, 0, 1}}},
     .expect = {(const double[]){0, 1, 1, 0}}},
    {.name = "last axis",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){0, 1, 1, 1, 0, 0}},
             {.ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 1}}},
     .expect = {(const double[]){0, 0, 0, 1, 1, 1}}},
    {.name = "outer",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){0, 1}},
             {.ndim = 2, .dim = {1, 3}, .value = (const double[]){0, 1, 0}}},
     .expect = {(const double[]){0, 1, 0, 1, 0, 1}}},
    {.name = "scalar",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){0, 1, 0}}, {.value = (const double[]){1}}},
     .expect = {(const double[]){1, 0, 1}}},
    {.name = "empty", .num_src = 2, .src = {{.ndim = 2, .dim = {0, 3}}, {.ndim = 1, .dim = {3}}}},
    {.num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}, {.dtype = MST_F32, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.num_src = 2, .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
};

const mst_op mst_op_logical_xor = {
    .name = "logical_xor",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_BOOL),
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = mst_infer_binary,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_logical_xor(mst_value a, mst_value b) {
    return mst_call(NULL, &mst_op_logical_xor, 2, (const mst_value[]){a, b}, NULL);
}
