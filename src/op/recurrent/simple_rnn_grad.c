/** simple_rnn_grad: the gradient of simple_rnn, by backpropagation through time
 *
 *  recurrent  simple_rnn's, transposed: [units, units]
 *  h          output 0 of simple_rnn
 *  memory     output 1 of simple_rnn
 *  dh         gradient of h
 *  dmemory    gradient of the memory; optional
 *  mask       simple_rnn's; optional
 *  dsrc       output 0, [n, steps, units]: gradient of simple_rnn's src
 *  previous   output 1, like h: h of the step before, 0 at the first. The gradient of recurrent is previous^T dsrc
 */
#include "op/op.h"
#include "op/recurrent/recurrent.h"

static mst_status simple_rnn_grad_infer(mst_infer *c) {
    return mst_recurrent_grad_infer(c, &mst_cell_simple_rnn);
}

#define ARRAY(n, steps, wide) \
    { .ndim = 3, .dim = {n, steps, wide}, .low = 0.1, .high = 0.9 }
#define RECURRENT(units)                   \
    {                                      \
        .ndim = 2, .dim = { units, units } \
    }

static const double mask_values[] = {1, 0, 1, 0, 1, 1};
#define MASK \
    { .ndim = 2, .dim = {2, 3}, .value = mask_values, .no_grad = true }

static const mst_example simple_rnn_grad_examples[] = {
    {.name = "linear, one unit", /* step 1: 5; step 0: 4 + 2 * 5 */
     .num_src = 4,
     .src = {{.ndim = 2, .dim = {1, 1}, .value = (const double[]){2}},
             {.ndim = 3, .dim = {1, 2, 1}, .value = (const double[]){3, 7}},
             {.ndim = 3, .dim = {1, 2, 1}, .value = (const double[]){3, 7}},
             {.ndim = 3, .dim = {1, 2, 1}, .value = (const double[]){4, 5}}},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_LINEAR},
     .expect = {(const double[]){14, 5}, (const double[]){0, 3}}},
    {.name = "rows and units", .num_src = 4, .src = {RECURRENT(3), ARRAY(3, 4, 3), ARRAY(3, 4, 3), ARRAY(3, 4, 3)}},
    {.name = "with that of the memory, reversed",
     .num_src = 5,
     .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 2), ARRAY(2, 3, 2), ARRAY(2, 3, 2)},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "with a mask", .num_src = 5, .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 2), ARRAY(2, 3, 2), MASK}},
    {.name = "with that of the memory and a mask, reversed",
     .num_src = 6,
     .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 2), ARRAY(2, 3, 2), ARRAY(2, 3, 2), MASK},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "units that differ",
     .num_src = 4,
     .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 3), ARRAY(2, 3, 2)},
     .fails = MST_INVALID},
};

const mst_op mst_op_simple_rnn_grad = {
    .name = "simple_rnn_grad",
    .num_src = MST_VARIADIC,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .fields = mst_simple_rnn_fields,
    .options_size = sizeof(mst_recurrent_options),
    .infer = simple_rnn_grad_infer,
    .grad = mst_recurrent_no_second,
    .workspace = mst_recurrent_workspace,
    .reference = mst_recurrent_reference,
    .lower = mst_recurrent_lower,
    MST_EXAMPLES(simple_rnn_grad_examples),
};
