/** lstm_grad: the gradient of lstm, by backpropagation through time
 *
 *  recurrent  lstm's, transposed: [4 units, units]
 *  h          output 0 of lstm
 *  memory     output 1 of lstm
 *  dh         gradient of h
 *  dmemory    gradient of the memory; optional
 *  mask       lstm's; optional
 *  dsrc       output 0, [n, steps, 4 units]: gradient of lstm's src
 *  previous   output 1, like h: h of the step before, 0 at the first. The gradient of recurrent is previous^T dsrc
 */
#include "op/op.h"
#include "op/recurrent/recurrent.h"

static mst_status lstm_grad_infer(mst_infer *c) {
    return mst_recurrent_grad_infer(c, &mst_cell_lstm);
}

#define ARRAY(n, steps, wide) \
    { .ndim = 3, .dim = {n, steps, wide}, .low = 0.1, .high = 0.9 }
#define RECURRENT(units)                         \
    {                                            \
        .ndim = 2, .dim = { 4 * (units), units } \
    }

static const double mask_values[] = {1, 0, 1, 0, 1, 1};
#define MASK \
    { .ndim = 2, .dim = {2, 3}, .value = mask_values, .no_grad = true }

static const mst_example lstm_grad_examples[] = {
    {.name = "linear, one unit", /* do = c dh, dc = o dh; di = g dc, df = 0, dg = i dc */
     .num_src = 4,
     .src = {{.ndim = 2, .dim = {4, 1}, .value = (const double[]){1, 1, 1, 1}},
             {.ndim = 3, .dim = {1, 1, 1}, .value = (const double[]){6}},
             {.ndim = 3, .dim = {1, 1, 5}, .value = (const double[]){1, 2, 3, 2, 3}},
             {.ndim = 3, .dim = {1, 1, 1}, .value = (const double[]){10}}},
     .options = &(const mst_recurrent_options){.activation = MST_CELL_LINEAR, .recurrent_activation = MST_CELL_LINEAR},
     .expect = {(const double[]){60, 0, 20, 30}, (const double[]){0}}},
    {.name = "rows and units", .num_src = 4, .src = {RECURRENT(3), ARRAY(3, 4, 3), ARRAY(3, 4, 15), ARRAY(3, 4, 3)}},
    {.name = "with that of the memory, reversed",
     .num_src = 5,
     .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 10), ARRAY(2, 3, 2), ARRAY(2, 3, 10)},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "with a mask", .num_src = 5, .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 10), ARRAY(2, 3, 2), MASK}},
    {.name = "with that of the memory and a mask, reversed",
     .num_src = 6,
     .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 10), ARRAY(2, 3, 2), ARRAY(2, 3, 10), MASK},
     .options = &(const mst_recurrent_options){.reverse = true}},
    {.name = "rows that differ",
     .num_src = 4,
     .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(4, 3, 10), ARRAY(2, 3, 2)},
     .fails = MST_INVALID},
    {.name = "no gradient", .num_src = 3, .src = {RECURRENT(2), ARRAY(2, 3, 2), ARRAY(2, 3, 10)}, .fails = MST_INVALID},
};

const mst_op mst_op_lstm_grad = {
    .name = "lstm_grad",
    .num_src = MST_VARIADIC,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .fields = mst_recurrent_fields,
    .options_size = sizeof(mst_recurrent_options),
    .infer = lstm_grad_infer,
    .grad = mst_recurrent_no_second,
    .workspace = mst_recurrent_workspace,
    .reference = mst_recurrent_reference,
    .lower = mst_recurrent_lower,
    MST_EXAMPLES(lstm_grad_examples),
};
