/* Recurrent cells in StableHLO: a loop over the steps. Each step computes all rows of the batch. The products are the
 * same as in the kernel, in the same order of steps. */
#include "muster/ops.h"
#include "op/recurrent/recurrent.h"

/* ---- functions for the cells ---- */

mst_hlo mst_cell_parts(mst_lower *l, const mst_cell_step *step, mst_hlo x, int first, int count) {
    return mst_hlo_slice_axis(l, x, 1, first * step->units, (first + count) * step->units);
}

mst_hlo mst_cell_activate(mst_lower *l, int activation, mst_hlo x) {
    if (activation == MST_CELL_TANH) return mst_hlo_unary(l, "tanh", x);
    if (activation == MST_CELL_SIGMOID) return mst_hlo_unary(l, "logistic", x);
    if (activation == MST_CELL_RELU) return mst_hlo_binary(l, "maximum", x, mst_hlo_number_like(l, x, 0));
    return x;
}

mst_hlo mst_cell_slope(mst_lower *l, int activation, mst_hlo y, mst_hlo gradient) {
    if (activation == MST_CELL_LINEAR) return gradient;
    const mst_hlo number = mst_hlo_number_like(l, y, activation == MST_CELL_RELU ? 0 : 1);
    if (activation == MST_CELL_RELU) return mst_hlo_select(l, mst_hlo_compare(l, "GT", y, number), gradient, number);
    const mst_hlo slope = activation == MST_CELL_TANH
                              ? mst_hlo_binary(l, "subtract", number, mst_hlo_binary(l, "multiply", y, y))
                              : mst_hlo_binary(l, "multiply", y, mst_hlo_binary(l, "subtract", number, y));
    return mst_hlo_binary(l, "multiply", gradient, slope);
}

/* ---- the loop ---- */

/* Indices of the values that the loop passes from step to step, forward and backward. A value that a recurrence does
 * not have is a scalar 0. */
enum { PRODUCT, H_BEFORE, MEMORY_BEFORE, ALL_H, ALL_MEMORY, NUM_FORWARD };
enum { /* PRODUCT */ CARRY = 1, ALL_DSRC, ALL_DPRODUCT, PAST, PAST_MEMORY, NUM_BACKWARD };

typedef struct recurrence {
    const mst_cell *cell;
    const mst_recurrent_options *options;
    mst_dtype dtype;
    int64_t rows, steps, units;
    mst_hlo zero;
    mst_hlo left_out; /* bools [n, steps]: whether a step is skipped; MST_NO_HLO: no mask */
    mst_hlo dmemory;  /* MST_NO_HLO: none */
} recurrence;

static mst_cell_step new_step(const recurrence *r) {
    return (mst_cell_step){.units = r->units,
                           .activation = r->options->activation,
                           .recurrent_activation = r->options->recurrent_activation};
}

/* zeros [n, PARTS u] */
static mst_hlo zero_row(mst_lower *l, const recurrence *r, int parts) {
    return mst_hlo_fill(l, r->dtype, MST_SHAPE(r->rows, parts * r->units), 0);
}

/* zeros [n, steps, PARTS u] */
static mst_hlo zero_rows(mst_lower *l, const recurrence *r, int parts) {
    return mst_hlo_fill(l, r->dtype, MST_SHAPE(r->rows, r->steps, parts * r->units), 0);
}

/* ROW, [n, inner], times MATRIX. */
static mst_hlo product(mst_lower *l, const recurrence *r, mst_hlo row, mst_hlo matrix) {
    const mst_axes none = {.count = 0};
    return mst_hlo_dot(l, row, matrix, none, none, MST_AXES(1), MST_AXES(0), r->dtype);
}

/* The index of step STEP of the loop. The loop goes in the direction of the cell if FORWARD, else against it. */
static mst_hlo place_at(mst_lower *l, const recurrence *r, mst_hlo step, bool forward) {
    if (forward != r->options->reverse) return step;
    const mst_hlo last = mst_hlo_number_like(l, step, (double)(r->steps - 1));
    return mst_hlo_binary(l, "subtract", last, step);
}

/* Bools [n, 1]: which rows skip step T. */
static mst_hlo left_out_at(mst_lower *l, const recurrence *r, mst_hlo t) {
    return mst_hlo_reshape(l, mst_hlo_slice_at(l, r->left_out, 1, t), MST_SHAPE(r->rows, 1));
}

static void step_forward(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    const recurrence *r = context;
    const mst_hlo t = place_at(l, r, argument[0], true), *before = argument + 1;
    mst_cell_step s = new_step(r);
    s.src = mst_hlo_slice_at(l, l->src[0], 1, t);
    s.product = before[PRODUCT];
    s.h_before = before[H_BEFORE];
    s.memory_before = before[MEMORY_BEFORE];
    if (r->cell->has_bias) s.bias = l->src[2];
    r->cell->lower_forward(l, &s);
    if (r->left_out.id) {
        const mst_hlo left_out = left_out_at(l, r, t);
        s.h = mst_hlo_select(l, left_out, s.h_before, s.h);
        s.memory = mst_hlo_select(l, left_out, s.memory_before, s.memory);
    }
    result[PRODUCT] = product(l, r, s.h, l->src[1]);
    result[MEMORY_BEFORE] = r->cell->reads_memory || r->left_out.id ? s.memory : s.memory_before;
    result[H_BEFORE] = s.h;
    result[ALL_H] = mst_hlo_update_at(l, before[ALL_H], s.h, 1, t);
    result[ALL_MEMORY] = mst_hlo_update_at(l, before[ALL_MEMORY], s.memory, 1, t);
}

static void lower_forward(mst_lower *l, recurrence *r) {
    const bool keeps_memory = r->cell->reads_memory || r->left_out.id;
    const mst_hlo initial[NUM_FORWARD] = {
        [PRODUCT] = zero_row(l, r, r->cell->gates),
        [MEMORY_BEFORE] = keeps_memory ? zero_row(l, r, r->cell->memory) : r->zero,
        [H_BEFORE] = zero_row(l, r, 1),
        [ALL_H] = zero_rows(l, r, 1),
        [ALL_MEMORY] = zero_rows(l, r, r->cell->memory),
    };
    mst_hlo last[NUM_FORWARD];
    mst_hlo_repeat(l, r->steps, NUM_FORWARD, initial, step_forward, r, last);
    l->dst[0] = last[ALL_H];
    l->dst[1] = last[ALL_MEMORY];
}

/* ---- backward: sources are the recurrent kernel, transposed; h; memory; dh; dmemory; mask ---- */

/* X at the step before step T, in the direction of the cell; 0 if IS_FIRST. */
static mst_hlo step_before(mst_lower *l, const recurrence *r, mst_hlo x, mst_hlo t, mst_hlo is_first) {
    const mst_hlo one = mst_hlo_number_like(l, t, 1);
    const mst_hlo past = mst_hlo_binary(l, r->options->reverse ? "add" : "subtract", t, one);
    return mst_hlo_select(l, is_first, r->zero, mst_hlo_slice_at(l, x, 1, past));
}

/* Handles the rows that skip step T: their gradient goes past this step, to the step before. S is the step with its
 * results, BEFORE the values that the loop passed into the step. */
static void go_past(mst_lower *l, const recurrence *r, mst_hlo t, const mst_hlo *before, mst_cell_step *s,
                    mst_hlo *result) {
    const mst_hlo left_out = left_out_at(l, r, t);
    s->dsrc = mst_hlo_select(l, left_out, r->zero, s->dsrc);
    s->dproduct = mst_hlo_select(l, left_out, r->zero, s->dproduct);
    s->carry = mst_hlo_select(l, left_out, before[CARRY], s->carry);
    result[PAST] = mst_hlo_select(l, left_out, mst_hlo_binary(l, "add", s->dh, s->product), r->zero);
    if (r->dmemory.id) result[PAST_MEMORY] = mst_hlo_select(l, left_out, s->dmemory, r->zero);
}

static void step_backward(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    const recurrence *r = context;
    const mst_hlo t = place_at(l, r, argument[0], false), *before = argument + 1;
    const mst_hlo last = mst_hlo_number_like(l, t, (double)(r->steps - 1));
    const mst_hlo is_first = mst_hlo_compare(l, "EQ", argument[0], last);
    mst_cell_step s = new_step(r);
    for (int k = 0; k < NUM_BACKWARD; k++) result[k] = before[k];
    s.product = before[PRODUCT];
    s.carry = before[CARRY];
    s.memory = mst_hlo_slice_at(l, l->src[2], 1, t);
    s.dh = mst_hlo_slice_at(l, l->src[3], 1, t);
    s.h_before = step_before(l, r, l->src[1], t, is_first);
    if (r->cell->reads_memory) s.memory_before = step_before(l, r, l->src[2], t, is_first);
    if (r->dmemory.id) s.dmemory = mst_hlo_slice_at(l, r->dmemory, 1, t);
    if (r->left_out.id) s.product = mst_hlo_binary(l, "add", s.product, before[PAST]);
    if (r->left_out.id && r->dmemory.id) s.dmemory = mst_hlo_binary(l, "add", s.dmemory, before[PAST_MEMORY]);
    r->cell->lower_backward(l, &s);
    if (r->left_out.id) go_past(l, r, t, before, &s, result);
    result[PRODUCT] = product(l, r, s.dproduct, l->src[0]);
    result[CARRY] = s.carry;
    result[ALL_DSRC] = mst_hlo_update_at(l, before[ALL_DSRC], s.dsrc, 1, t);
    if (r->cell->has_bias) result[ALL_DPRODUCT] = mst_hlo_update_at(l, before[ALL_DPRODUCT], s.dproduct, 1, t);
}

static void lower_backward(mst_lower *l, recurrence *r) {
    const bool reverse = r->options->reverse, has_mask = r->left_out.id, has_dmemory = r->dmemory.id;
    const mst_hlo initial[NUM_BACKWARD] = {
        [PRODUCT] = zero_row(l, r, 1),
        [CARRY] = zero_row(l, r, 1),
        [ALL_DSRC] = zero_rows(l, r, r->cell->gates),
        [ALL_DPRODUCT] = r->cell->has_bias ? zero_rows(l, r, r->cell->gates) : r->zero,
        [PAST] = has_mask ? zero_row(l, r, 1) : r->zero,
        [PAST_MEMORY] = has_mask && has_dmemory ? zero_row(l, r, r->cell->memory) : r->zero,
    };
    mst_hlo last[NUM_BACKWARD];
    mst_hlo_repeat(l, r->steps, NUM_BACKWARD, initial, step_backward, r, last);
    const int64_t one = reverse ? -1 : 1;
    l->dst[0] = last[ALL_DSRC];
    l->dst[1] = mst_hlo_pad(l, l->src[1], r->zero, (const int64_t[]){0, one, 0}, (const int64_t[]){0, -one, 0}, NULL);
    if (r->cell->has_bias) l->dst[2] = last[ALL_DPRODUCT];
}

void mst_recurrent_lower(mst_lower *l) {
    bool backward;
    const mst_cell *cell = mst_cell_of(l->op->name, &backward);
    const mst_spec *dst = &l->dst_spec[0], *last = &l->src_spec[l->num_src - 1];
    recurrence r = {.cell = cell,
                    .options = l->options,
                    .dtype = dst->dtype,
                    .rows = dst->shape.dim[0],
                    .steps = dst->shape.dim[1],
                    .units = l->src_spec[backward ? 0 : 1].shape.dim[backward ? 1 : 0]};
    if (mst_shape_count(dst->shape) == 0) {
        for (int k = 0; k < l->num_dst; k++) l->dst[k] = mst_hlo_fill(l, r.dtype, l->dst_spec[k].shape, 0);
        return;
    }
    const bool has_mask = l->num_src > (backward ? 4 : cell->has_bias ? 3 : 2) && last->shape.ndim == 2;
    r.zero = mst_hlo_number(l, r.dtype, 0);
    if (has_mask) r.left_out = mst_hlo_compare(l, "EQ", l->src[l->num_src - 1], r.zero);
    if (backward && l->num_src - has_mask > 4) r.dmemory = l->src[4];
    if (backward)
        lower_backward(l, &r);
    else
        lower_forward(l, &r);
}
