/** One step of an optimizer for one variable in StableHLO. It does to the whole variable what
 *  kernel/cpu/update_unit.inc does to a tile, in the same order.
 *
 *    gradient   of this step, or the mean over several steps (rule/accumulate.h)
 *    + penalty  l1 * sign(w) + l2 * w
 *    clipped    multiplied by a factor that was computed before, or by value
 *    decay      w -= learning_rate * weight_decay * w
 *    rule       changes weight and slots (rule/rule.h)
 *    average    follows the new weight (rule/moving_average.h)
 *    constraint changes the new weight (rule/constraint.h); on devices with kernels a separate node does this
 *
 *  The gradient has been summed over the shards before. Gradients as products (MST_GRADIENT_PRODUCT) and tasks that
 *  divide the slots (`sharded` of mst_update_options) are not supported here.
 */
#ifndef MUSTER_OP_UPDATE_HLO_H
#define MUSTER_OP_UPDATE_HLO_H

#include "muster/hlo.h"
#include "op/state/update.h"
#include "rule/rule.h"

/** A variable, its gradient, and the settings of the step. T is the dtype of the computation, f32 or f64: the dtype of
 *  the master if there is one, else of the weight. An optional value is MST_NO_HLO if there is none. */
typedef struct mst_update_hlo {
    const mst_optimizer *optimizer; /**< checked, with its defaults */
    double l1, l2;                  /**< factors of the penalty */
    /* Replaced by the new values. All have the shape of the variable. */
    mst_hlo weight;
    mst_hlo slot[MST_RULE_SLOTS + 1]; /**< slots of the rule; then, with accumulation, the sum of gradients */
    mst_hlo average;                  /**< optional */
    mst_hlo master;                   /**< optional: the weight in f32, if the weight is bf16 */
    /* The gradient: either GRADIENT or ROWS and NUMBERS. */
    mst_hlo gradient; /**< summed over the shards, of the shape of the variable, T or bf16 */
    mst_hlo rows;     /**< T [n, columns], or [n, 2 columns] with SQUARES: see sum_rows in op/state/update.h */
    mst_hlo numbers;  /**< i64 [1 + n]: the number of rows that are used, then their numbers, ascending */
    bool squares, clipped, undecayed;
    const mst_constraint_form *constraint; /**< NULL: none */
    mst_hlo factor;        /**< optional: a scalar of T by which the gradient is multiplied (clipping by norm) */
    const mst_hlo *scalar; /**< [MST_NUM_SCALARS]: scalars of T, as update_scalars computes them */
    mst_hlo penalty;       /**< result: a scalar of T, l1 * sum |w| + l2 / 2 * sum w^2 of the weight before */
} mst_update_hlo;

/** Sets SCALAR [MST_NUM_SCALARS] to the elements of SCALARS, T [MST_NUM_SCALARS], which is a source of the program. */
void mst_update_scalars_lower(mst_lower *l, mst_hlo scalars, mst_hlo *scalar);
/** Replaces weight, slots, average and master by their values after the step, and sets `penalty`. */
void mst_update_lower(mst_lower *l, mst_update_hlo *update);
/** The sum of squares of the gradient plus penalty, a scalar of f64, from which `factor` is computed later. `factor` is
 *  not read, and nothing is replaced. */
mst_hlo mst_update_norm_lower(mst_lower *l, const mst_update_hlo *update);
/** Only the penalty, as mst_update_lower sets it. The gradient is not read, and no member is replaced. */
mst_hlo mst_update_penalty_lower(mst_lower *l, const mst_update_hlo *update);

/** Writes the op update: L has its options, mst_update_options, and its sources. Fills output 0. Sets WRITTEN[i], for
 *  each source i that the op writes, to the value after the step. WRITTEN has an element for each source, and may be
 *  NULL for purposes that write nothing. Output 0 has one number per unit, but only their sum is of use: the number of
 *  a variable's first unit is the sum of the variable, and the others are 0. An error is kept in the program if there
 *  are several copies of a weight, several sources for a gradient, a product, or tasks that divide the slots. */
void mst_update_node_lower(mst_lower *l, mst_hlo *written);

#endif
