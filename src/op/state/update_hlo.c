#include "op/state/update_hlo.h"

#include "op/index/index_hlo.h"
#include "rule/accumulate.h"
#include "rule/gradient_clip.h"
#include "rule/moving_average.h"

/* The arrays of a step: of the whole variable, or only of its rows that have a gradient. */
typedef struct state {
    mst_hlo weight, slot[MST_RULE_SLOTS], gradient;
    mst_hlo squares; /* sums of the squares of the summands of `gradient`; MST_NO_HLO: use gradient^2 */
} state;

static mst_dtype dtype_of(const mst_lower *l, const mst_update_hlo *u) {
    return mst_hlo_spec(l, u->master.id ? u->master : u->weight).dtype;
}

static mst_hlo sum_of(mst_lower *l, mst_hlo x) {
    return mst_hlo_reduce_whole(l, "add", x, 0);
}

/* The weight to compute with: the master; where the rounded master differs from the weight, the weight, because it was
 * assigned since the last step. */
static mst_hlo weight_of(mst_lower *l, const mst_update_hlo *u) {
    if (!u->master.id) return u->weight;
    const mst_hlo rounded = mst_hlo_convert(l, u->master, mst_hlo_spec(l, u->weight).dtype);
    return mst_hlo_select(l, mst_hlo_compare(l, "EQ", rounded, u->weight), u->master,
                          mst_hlo_convert(l, u->weight, MST_F32));
}

/* ---- rows ---- */

/* Whether the step changes only the rows that have a gradient, as in the kernel. */
static bool takes_rows(const mst_update_hlo *u) {
    const mst_rule *rule = mst_rule_find(u->optimizer->rule);
    return u->rows.id && rule->rows_only && rule->rows_only(u->optimizer) && !mst_accumulates(u->optimizer) &&
           u->l1 == 0 && u->l2 == 0;
}

/* The numbers of the rows of the gradient, [n]. Unused rows get numbers of NUM_ROWS and more, outside the variable. */
static mst_hlo row_places(mst_lower *l, const mst_update_hlo *u) {
    const int64_t n = mst_hlo_spec(l, u->rows).shape.dim[0];
    const int64_t num_rows = mst_hlo_spec(l, u->weight).shape.dim[0];
    const mst_hlo order = mst_hlo_iota(l, MST_I64, MST_SHAPE(n), 0);
    const mst_hlo is_used = mst_hlo_compare(l, "LT", order, mst_hlo_slice_axis(l, u->numbers, 0, 0, 1));
    const mst_hlo behind = mst_hlo_binary(l, "add", order, mst_hlo_integer(l, MST_I64, num_rows));
    const mst_hlo place = mst_hlo_select(l, is_used, mst_hlo_slice_axis(l, u->numbers, 0, 1, 1 + n), behind);
    return mst_hlo_convert(l, place, mst_index_dtype(num_rows + n));
}

static mst_shape matrix_of(const mst_lower *l, mst_hlo variable) {
    const mst_shape shape = mst_hlo_spec(l, variable).shape;
    int64_t columns = 1;
    for (int i = 1; i < shape.ndim; i++) columns *= shape.dim[i];
    return MST_SHAPE(shape.dim[0], columns);
}

/* The columns of the gradient's rows from FIRST on, as many as the variable has. */
static mst_hlo take_columns(mst_lower *l, const mst_update_hlo *u, int64_t first) {
    return mst_hlo_slice_axis(l, u->rows, 1, first, first + matrix_of(l, u->weight).dim[1]);
}

static mst_hlo gather_rows(mst_lower *l, mst_hlo variable, mst_hlo places) {
    const mst_shape matrix = matrix_of(l, variable);
    const int64_t n = mst_hlo_spec(l, places).shape.dim[0];
    const mst_hlo_indexing indexing = mst_hlo_by_row(true, true);
    return mst_hlo_gather(l, mst_hlo_reshape(l, variable, matrix), places, &indexing, MST_SHAPE(1, matrix.dim[1]),
                          MST_SHAPE(n, matrix.dim[1]));
}

/* VARIABLE, with the rows at PLACES replaced by ROWS. */
static mst_hlo put_rows(mst_lower *l, mst_hlo variable, mst_hlo places, mst_hlo rows) {
    const mst_shape shape = mst_hlo_spec(l, variable).shape;
    const mst_hlo_indexing indexing = mst_hlo_by_row(true, true);
    const mst_hlo matrix = mst_hlo_reshape(l, variable, matrix_of(l, variable));
    return mst_hlo_reshape(l, mst_hlo_scatter(l, NULL, matrix, places, rows, &indexing), shape);
}

/* ---- a step ---- */

static mst_hlo zeros_of(mst_lower *l, const mst_update_hlo *u) {
    return mst_hlo_fill(l, dtype_of(l, u), mst_hlo_spec(l, u->weight).shape, 0);
}

/* The gradient as an array of the variable's shape. Sets *SQUARES to the sums of squares, if the rows have them, else
 * to MST_NO_HLO. */
static mst_hlo whole_gradient(mst_lower *l, const mst_update_hlo *u, mst_hlo *squares) {
    *squares = MST_NO_HLO;
    if (u->gradient.id) return mst_hlo_convert(l, u->gradient, dtype_of(l, u));
    const mst_hlo places = row_places(l, u);
    if (u->squares) *squares = put_rows(l, zeros_of(l, u), places, take_columns(l, u, matrix_of(l, u->weight).dim[1]));
    return put_rows(l, zeros_of(l, u), places, take_columns(l, u, 0));
}

/* GRADIENT + l2 * W + l1 * sign(W) */
static mst_hlo add_penalty(mst_lower *l, const mst_update_hlo *u, mst_hlo gradient, mst_hlo w) {
    const mst_dtype dtype = dtype_of(l, u);
    if (u->l2 != 0)
        gradient =
            mst_hlo_binary(l, "add", gradient, mst_hlo_binary(l, "multiply", w, mst_hlo_number(l, dtype, u->l2)));
    if (u->l1 == 0) return gradient;
    const mst_hlo sign = mst_hlo_unary(l, "sign", w);
    return mst_hlo_binary(l, "add", gradient, mst_hlo_binary(l, "multiply", sign, mst_hlo_number(l, dtype, u->l1)));
}

/* l1 * sum |W| + l2 / 2 * sum W^2 */
static mst_hlo penalty_of(mst_lower *l, const mst_update_hlo *u, mst_hlo w) {
    const mst_dtype dtype = dtype_of(l, u);
    mst_hlo penalty = mst_hlo_number(l, dtype, 0);
    if (u->l2 != 0) {
        const mst_hlo squares = sum_of(l, mst_hlo_binary(l, "multiply", w, w));
        penalty = mst_hlo_binary(l, "multiply", squares, mst_hlo_number(l, dtype, u->l2 / 2));
    }
    if (u->l1 == 0) return penalty;
    const mst_hlo sum = sum_of(l, mst_hlo_unary(l, "abs", w));
    return mst_hlo_binary(l, "add", penalty, mst_hlo_binary(l, "multiply", sum, mst_hlo_number(l, dtype, u->l1)));
}

static mst_hlo decayed(mst_lower *l, const mst_update_hlo *u, mst_hlo w) {
    if (u->optimizer->weight_decay == 0 || u->undecayed) return w;
    const mst_hlo decay = mst_hlo_number(l, dtype_of(l, u), u->optimizer->weight_decay);
    const mst_hlo rate = mst_hlo_binary(l, "multiply", u->scalar[MST_SCALAR_LEARNING_RATE], decay);
    return mst_hlo_binary(l, "subtract", w, mst_hlo_binary(l, "multiply", w, rate));
}

/* Replaces weight and slots in S by the new ones. Before, S has the decayed weight, and the gradient plus penalty, not
 * clipped yet. */
static void update(mst_lower *l, const mst_update_hlo *u, state *s) {
    const mst_optimizer *o = u->optimizer;
    const mst_rule *rule = mst_rule_find(o->rule);
    const int num_slots = rule->num_slots(o);
    mst_rule_hlo tile = {.weight = s->weight, .gradient = s->gradient};
    if (u->factor.id) tile.gradient = mst_hlo_binary(l, "multiply", tile.gradient, u->factor);
    if (o->clip_value > 0 && !u->clipped) tile.gradient = mst_clip_value_lower(l, tile.gradient, o->clip_value);
    tile.root = tile.gradient;
    if (s->squares.id && o->clip_global_norm == 0) { /* with clip_global_norm Keras adds rows up first, then squares */
        tile.root = mst_hlo_unary(l, "sqrt", s->squares);
        if (u->factor.id) tile.root = mst_hlo_binary(l, "multiply", tile.root, u->factor);
    }
    for (int k = 0; k < num_slots; k++) tile.slot[k] = s->slot[k];
    for (int k = 0; k < MST_RULE_SCALARS; k++) tile.scalar[k] = u->scalar[k];
    rule->lower(l, o, &tile);
    s->weight = tile.weight;
    for (int k = 0; k < num_slots; k++) s->slot[k] = tile.slot[k];
}

/* Applies the rule only to the rows that have a gradient; weight decay changes all rows. */
static void update_rows(mst_lower *l, mst_update_hlo *u, mst_hlo *w) {
    const int num_slots = mst_rule_find(u->optimizer->rule)->num_slots(u->optimizer);
    const mst_hlo places = row_places(l, u);
    *w = decayed(l, u, *w);
    state s = {.weight = gather_rows(l, *w, places), .gradient = take_columns(l, u, 0)};
    if (u->squares) s.squares = take_columns(l, u, matrix_of(l, u->weight).dim[1]);
    for (int k = 0; k < num_slots; k++) s.slot[k] = gather_rows(l, u->slot[k], places);
    update(l, u, &s);
    *w = put_rows(l, *w, places, s.weight);
    for (int k = 0; k < num_slots; k++) u->slot[k] = put_rows(l, u->slot[k], places, s.slot[k]);
}

/* Applies the rule to all rows. With accumulation, a step that only adds its gradient to the sum does not change the
 * weight and the other slots. */
static void update_all(mst_lower *l, mst_update_hlo *u, mst_hlo *w) {
    const bool sums = mst_accumulates(u->optimizer);
    const int num_slots = mst_rule_find(u->optimizer->rule)->num_slots(u->optimizer);
    mst_hlo only_adds = MST_NO_HLO;
    state s;
    s.gradient = whole_gradient(l, u, &s.squares);
    if (sums) {
        const mst_hlo sum = u->slot[num_slots], number = u->scalar[MST_SCALAR_GRADIENTS];
        const mst_hlo zero = mst_hlo_number(l, dtype_of(l, u), 0);
        only_adds = mst_hlo_compare(l, "EQ", number, zero);
        u->slot[num_slots] = mst_hlo_select(l, only_adds, mst_hlo_binary(l, "add", sum, s.gradient), zero);
        s.gradient = mst_take_mean_lower(l, s.gradient, sum, number);
    }
    s.gradient = add_penalty(l, u, s.gradient, *w);
    s.weight = decayed(l, u, *w);
    for (int k = 0; k < num_slots; k++) s.slot[k] = u->slot[k];
    update(l, u, &s);
    *w = sums ? mst_hlo_select(l, only_adds, *w, s.weight) : s.weight;
    for (int k = 0; k < num_slots; k++)
        u->slot[k] = sums ? mst_hlo_select(l, only_adds, u->slot[k], s.slot[k]) : s.slot[k];
}

void mst_update_scalars_lower(mst_lower *l, mst_hlo scalars, mst_hlo *scalar) {
    for (int i = 0; i < MST_NUM_SCALARS; i++)
        scalar[i] = mst_hlo_reshape(l, mst_hlo_slice_axis(l, scalars, 0, i, i + 1), MST_SCALAR);
}

mst_hlo mst_update_penalty_lower(mst_lower *l, const mst_update_hlo *u) {
    return penalty_of(l, u, weight_of(l, u));
}

void mst_update_lower(mst_lower *l, mst_update_hlo *u) {
    mst_hlo w = weight_of(l, u);
    u->penalty = penalty_of(l, u, w);
    if (takes_rows(u))
        update_rows(l, u, &w);
    else
        update_all(l, u, &w);
    if (u->average.id) u->average = mst_moving_average_lower(l, u->average, w, u->scalar[MST_SCALAR_AVERAGE]);
    if (u->constraint) w = mst_constraint_lower(l, u->constraint, w);
    if (u->master.id) u->master = w;
    u->weight = mst_hlo_convert(l, w, mst_hlo_spec(l, u->weight).dtype);
}

/* ROWS, with the unused rows, whose elements are undefined, replaced by 0. */
static mst_hlo used_rows(mst_lower *l, const mst_update_hlo *u, mst_hlo rows) {
    const int64_t n = mst_hlo_spec(l, rows).shape.dim[0];
    const mst_hlo order = mst_hlo_iota(l, MST_I64, MST_SHAPE(n, 1), 0);
    const mst_hlo is_used = mst_hlo_compare(l, "LT", order, mst_hlo_slice_axis(l, u->numbers, 0, 0, 1));
    return mst_hlo_select(l, is_used, rows, mst_hlo_number(l, dtype_of(l, u), 0));
}

mst_hlo mst_update_norm_lower(mst_lower *l, const mst_update_hlo *u) {
    const bool sums = mst_accumulates(u->optimizer), whole = !u->rows.id || sums || u->l1 != 0 || u->l2 != 0;
    const mst_hlo number = u->scalar[MST_SCALAR_GRADIENTS];
    mst_hlo squares, gradient;
    if (!whole && u->squares) {
        squares = take_columns(l, u, matrix_of(l, u->weight).dim[1]);
        return sum_of(l, mst_hlo_convert(l, used_rows(l, u, squares), MST_F64));
    }
    gradient = whole ? whole_gradient(l, u, &squares) : used_rows(l, u, take_columns(l, u, 0));
    if (sums) {
        const int num_slots = mst_rule_find(u->optimizer->rule)->num_slots(u->optimizer);
        gradient = mst_take_mean_lower(l, gradient, u->slot[num_slots], number);
    }
    if (whole) gradient = add_penalty(l, u, gradient, weight_of(l, u));
    gradient = mst_hlo_convert(l, gradient, MST_F64);
    const mst_hlo norm = sum_of(l, mst_hlo_binary(l, "multiply", gradient, gradient));
    if (!sums) return norm;
    /* a step that only adds its gradient to the sum clips nothing */
    const mst_hlo only_adds = mst_hlo_compare(l, "EQ", number, mst_hlo_number(l, dtype_of(l, u), 0));
    return mst_hlo_select(l, only_adds, mst_hlo_number(l, MST_F64, 0), norm);
}
