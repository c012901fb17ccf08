/* The op update in StableHLO: the steps of the variables of a node, one after the other. */
#include <stdlib.h>

#include "op/state/update_hlo.h"

/* Whether the node can be written as StableHLO; if not, the program gets an error. */
static bool can_lower(mst_lower *l, bool writes) {
    const mst_update_options *o = l->options;
    if (o->sharded || o->purpose == MST_UPDATE_STAGE)
        mst_hlo_fail(l, "tasks share the slots of its variables, which only devices with kernels can do");
    else if (o->num_copies != 1)
        mst_hlo_fail(l, "has %d copies of each weight, and a program has one", o->num_copies);
    else if (o->purpose == MST_UPDATE_STEP && !writes)
        mst_hlo_fail(l, "its new weights have no place to go");
    else
        return true;
    return false;
}

static bool has_one_gradient(mst_lower *l, const mst_update_variable *v) {
    if (v->kind != MST_GRADIENT_PRODUCT && v->num_leaves == 1 && v->num_pieces == 1) return true;
    mst_hlo_fail(l, "the gradient of variable %d is a product or in several parts, and a program takes it as one sum",
                 v->number);
    return false;
}

/* The variable before the step, without its gradient. */
static mst_update_hlo take_variable(const mst_lower *l, const mst_update_variable *v, const mst_hlo *scalar) {
    const mst_update_options *o = l->options;
    mst_update_hlo u = {.optimizer = o->optimizer,
                        .l1 = (double)v->l1,
                        .l2 = (double)v->l2,
                        .weight = l->src[v->weight],
                        .squares = v->squares,
                        .clipped = v->clipped,
                        .undecayed = v->undecayed,
                        .constraint = v->constraint,
                        .scalar = scalar};
    for (int32_t k = 0; k < o->num_slots; k++) u.slot[k] = l->src[v->slot + k];
    if (v->average >= 0) u.average = l->src[v->average];
    if (v->master >= 0) u.master = l->src[v->master];
    return u;
}

static void take_gradient(mst_lower *l, const mst_update_variable *v, mst_dtype dtype, mst_update_hlo *u) {
    const mst_update_options *o = l->options;
    const mst_shape shape = l->src_spec[v->weight].shape;
    const int32_t first = v->piece[0].source;
    if (v->kind == MST_GRADIENT_SPARSE) {
        const int64_t n = l->src_spec[first + 1].shape.dim[0] - 1, columns = mst_shape_count(shape) / shape.dim[0];
        u->rows = mst_hlo_reshape(l, l->src[first], MST_SHAPE(n, v->squares ? 2 * columns : columns));
        u->numbers = l->src[first + 1];
    } else {
        u->gradient = mst_hlo_reshape(l, l->src[first], shape);
    }
    if (o->factors < 0) return;
    const mst_hlo factor = mst_hlo_slice_axis(l, l->src[o->factors], 0, v->number, v->number + 1);
    u->factor = mst_hlo_convert(l, mst_hlo_reshape(l, factor, MST_SCALAR), dtype);
}

static void put_variable(const mst_lower *l, const mst_update_variable *v, const mst_update_hlo *u, mst_hlo *written) {
    const mst_update_options *o = l->options;
    if (!written) return; /* the purpose writes nothing; for a step WRITTEN is not NULL */
    written[v->weight] = u->weight;
    for (int32_t k = 0; k < o->num_slots; k++) written[v->slot + k] = u->slot[k];
    if (v->average >= 0) written[v->average] = u->average;
    if (v->master >= 0) written[v->master] = u->master;
}

/* Writes the work on one variable. Returns a scalar: for MST_UPDATE_NORMS the sum of squares, else the penalty. */
static mst_hlo lower_variable(mst_lower *l, const mst_update_variable *v, const mst_hlo *scalar, mst_hlo *written) {
    const mst_update_options *o = l->options;
    const mst_dtype dtype = mst_hlo_spec(l, l->src[v->master >= 0 ? v->master : v->weight]).dtype;
    mst_update_hlo u = take_variable(l, v, scalar);
    if (o->purpose == MST_UPDATE_PENALTIES) return mst_update_penalty_lower(l, &u);
    if (!has_one_gradient(l, v)) return MST_NO_HLO;
    take_gradient(l, v, dtype, &u);
    if (o->purpose == MST_UPDATE_NORMS) return mst_update_norm_lower(l, &u);
    mst_update_lower(l, &u);
    put_variable(l, v, &u, written);
    return u.penalty;
}

/* An array of UNITS numbers, one for each unit: first SUM, then zeros. */
static mst_hlo spread(mst_lower *l, mst_hlo sum, int64_t units) {
    const mst_hlo first = mst_hlo_reshape(l, sum, MST_SHAPE(1));
    return mst_hlo_pad(l, first, mst_hlo_number_like(l, sum, 0), NULL, (const int64_t[]){units - 1}, NULL);
}

/* Writes the work on all variables. PART has room for one value of each variable. */
static void lower_variables(mst_lower *l, mst_hlo *part, mst_hlo *written) {
    const mst_update_options *o = l->options;
    const mst_update_variable *v = o->variable;
    const mst_dtype dtype = l->src_spec[v->master >= 0 ? v->master : v->weight].dtype;
    mst_hlo scalar[MST_NUM_SCALARS] = {MST_NO_HLO};
    int count = 0;
    if (o->purpose != MST_UPDATE_PENALTIES)
        mst_update_scalars_lower(l, mst_hlo_convert(l, l->src[MST_UPDATE_SCALARS], dtype), scalar);
    for (; v < o->variable + o->num_variables; v++) {
        const int64_t units = mst_num_units(l->src_spec[v->weight].shape);
        if (units)
            part[count++] = spread(l, lower_variable(l, v, scalar, written), units);
        else if (o->purpose == MST_UPDATE_STEP) { /* no elements: nothing changes */
            const mst_update_hlo u = take_variable(l, v, scalar);
            put_variable(l, v, &u, written);
        }
    }
    l->dst[0] = count ? mst_hlo_concat(l, count, part, 0) : mst_hlo_fill(l, l->dst_spec[0].dtype, MST_SHAPE(0), 0);
}

void mst_update_node_lower(mst_lower *l, mst_hlo *written) {
    const mst_update_options *o = l->options;
    if (!can_lower(l, written != NULL)) return;
    mst_hlo *part = calloc((size_t)o->num_variables, sizeof *part);
    if (!part) {
        mst_hlo_fail(l, "cannot get memory");
        return;
    }
    lower_variables(l, part, written);
    free(part);
}
