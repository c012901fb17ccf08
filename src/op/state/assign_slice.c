/** assign_slice: variable[begin + i] = value[i] for each index i into value
 *
 *  variable  the output of mst_variable, which is written; or the output of an assignment, after which this one runs
 *  value     variable's dtype and number of dimensions; no dimension is longer than the variable's
 *  begin     i32, [dimensions]: the place of value's first element. A slice that would reach beyond the variable is
 *            moved until it fits, as in XLA's DynamicUpdateSlice
 *  dst       the variable after the write: a reader of dst gets the new value
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_assign_slice(mst_value variable, mst_value value, mst_value begin);
#endif
#include "graph/graph.h"
#include "op/op.h"
#include "op/shape/strided.h"
#include "op/state/assign.h"

static mst_status assign_slice_infer(mst_infer *c) {
    const mst_shape *whole = &c->src[0].shape, *part = &c->src[1].shape, *begin = &c->src[2].shape;
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    if (c->src[2].dtype != MST_I32 || begin->ndim != 1 || (begin->dim[0] >= 0 && begin->dim[0] != whole->ndim))
        return mst_infer_fail(c, "begin must be i32 with a number of each dimension");
    if (part->ndim != whole->ndim) return mst_infer_fail(c, "the slice must have as many dimensions as the variable");
    for (int k = 0; k < part->ndim; k++)
        if (whole->dim[k] >= 0 && part->dim[k] > whole->dim[k])
            return mst_infer_fail(c, "the slice is longer than the variable");
    c->dst[0] = c->src[0];
    return MST_OK;
}

static void assign_slice_lower(mst_lower *l) {
    mst_hlo start[MST_MAX_NDIM];
    for (int k = 0; k < l->src_spec[0].shape.ndim; k++)
        start[k] = mst_hlo_reshape(l, mst_hlo_slice_axis(l, l->src[2], 0, k, k + 1), (mst_shape){.ndim = 0});
    l->dst[0] = mst_hlo_dynamic_update(l, l->src[0], l->src[1], start);
}

static mst_status assign_slice_reference(const mst_kernel_args *a) {
    const mst_array *whole = &a->src[0], *part = &a->src[1];
    mst_shape begin = part->shape;
    for (int k = 0; k < begin.ndim; k++) {
        const int64_t wanted = ((const int32_t *)a->src[2].data)[k], most = whole->shape.dim[k] - part->shape.dim[k];
        begin.dim[k] = wanted < 0 ? 0 : wanted > most ? most : wanted;
    }
    return mst_slice_copy(a, whole, &begin, part, false);
}

/* source 0 must be a variable, which an example cannot give: test/run/variables_test.c tests the values */
static const mst_example assign_slice_examples[] = {
    {.num_src = 3,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}, {.dtype = MST_I32, .ndim = 1, .dim = {1}}},
     .fails = MST_INVALID},
    {.num_src = 3,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {1}}, {.dtype = MST_I32, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID}};

const mst_op mst_op_assign_slice = {
    .name = "assign_slice",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .flags = MST_OP_STATEFUL | MST_OP_VIEW | MST_OP_INFALLIBLE,
    .infer = assign_slice_infer,
    .writes = mst_assign_writes,
    .reference = assign_slice_reference,
    .lower = assign_slice_lower,
    MST_EXAMPLES(assign_slice_examples),
};

mst_value mst_assign_slice(mst_value variable, mst_value value, mst_value begin) {
    return mst_call_writer(&mst_op_assign_slice, variable, 2, (mst_value[]){value, begin});
}
