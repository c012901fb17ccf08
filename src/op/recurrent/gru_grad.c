/** gru_grad: the gradient of gru, by backpropagation through time
 *
 *  recurrent  gru's, transposed: [3 units, units]
 *  h          output 0 of gru
 *  memory     output 1 of gru
 *  dh         gradient of h
 *  dmemory    gradient of the memory; optional
 *  mask       gru's; optional
 *  dsrc       output 0, [n, steps, 3 units]: gradient of gru's src
 *  previous   output 1, like h: h of the step before, 0 at the first
 *  dproduct   output 2, like dsrc: gradient of h[t-1] recurrent. The gradient of recurrent is previous^T dproduct
 */
#include "op/op.h"
#include "op/recurrent/recurrent.h"

static mst_status gru_grad_infer(mst_infer *c) {
    return mst_recurrent_grad_infer(c, &mst_cell_gru);
}

#define ARRAY(n, steps, wide) \
    { .ndim = 3, .dim = {n, steps, wide}, .low = 0.1, .high = 0.9 }
#define RECURRENT(units)                         \
    {                                            \
        .ndim = 2, .dim = { 3 * (units), units } \
    }

static const double mask_values[] = {1, 0, 1, 0, 1, 1};
#define MASK \
    { .ndim = 2, .dim = {2, 3}, .value = mask_values, .no_grad = true }

static const mst_example gru_grad_examples[] = {
    {.name = "linear, one unit", /* z r c p = 3 4 6 1; h[-1] = 0: dz = -c dh, dc = (1 - z) dh, dr = p dc, dp = r dc */
     .num_src = 4,
     .src = {{.ndim = 2, .dim = {3, 1}, .value = (const double[]){1, 1, 1}},
             {.ndim = 3, .dim = {1, 1, 1}, .value = (const double[]){-12}},
             {.ndim = 3, .dim = {1, 1, 4}, .value = (const double[]){3, 4, 6, 1}},
             {.ndim = 3, .dim = {1, 1, 1}, .value = (const double[]){10}}},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_LINEAR, .recurrent_activation = MST_CELL_LINEAR},
     .expect = {(const double[]){-60, -20, -20}, (const double[]){0}, (const double[]){-60, -20, -80}}},
    {.name = "rows and units", .num_src = 4, .src = {RECURRENT(3), ARRAY(3, 4, 3), ARRAY(3, 4, 12), ARRAY(3, 4, 3)}},
    {.name = "with that of the memory, reversed",
     .num_src = 5,
     .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 8), ARRAY(2, 3, 2), ARRAY(2, 3, 8)},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "with a mask", .num_src = 5, .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 8), ARRAY(2, 3, 2), MASK}},
    {.name = "with that of the memory and a mask, reversed",
     .num_src = 6,
     .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 8), ARRAY(2, 3, 2), ARRAY(2, 3, 8), MASK},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "units that differ",
     .num_src = 4,
     .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 12), ARRAY(2, 3, 2)},
     .fails = MST_INVALID},
};

const mst_op mst_op_gru_grad = {
    .name = "gru_grad",
    .num_src = MST_VARIADIC,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .fields = mst_recurrent_fields,
    .options_size = sizeof(mst_recurrent_options),
    .infer = gru_grad_infer,
    .grad = mst_recurrent_no_second,
    .workspace = mst_recurrent_workspace,
    .reference = mst_recurrent_reference,
    .lower = mst_recurrent_lower,
    MST_EXAMPLES(gru_grad_examples),
};
