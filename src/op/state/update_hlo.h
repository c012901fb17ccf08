/** One step of an optimizer for one variable in StableHLO. It does to the whole variable what
 *  kernel/cpu/update_unit.inc does to a tile, in the same order.
 *
 *    gradient   of this step, or the mean over several steps (rule/accumulate.h)
 *    + penalty  l1 * sign(w) + l2 * w
 *    clipped    multiplied by a factor that was computed before, or by value
 *    decay      w -= learning_rate * weight_decay * w
 *    rule       changes weight and slots (rule/rule.h)
 *    average    follows the new weight (rule/moving_average.h)
 *    constraint changes the new weight (rule/constraint.h); in the kernel's place a node of its own does
 *
 *  The gradient has been summed over the shards before. Products (MST_GRADIENT_PRODUCT) and tasks that share slots out
 *  (`sharded` of mst_update_options) are not known here.
 */
#ifndef MUSTER_OP_UPDATE_HLO_H
#define MUSTER_OP_UPDATE_HLO_H

#include "muster/hlo.h"
#include "op/state/update.h"
#include "rule/rule.h"

/** A variable, its gradient, and what belongs to the step. T is the dtype in which the step computes, f32 or f64: that
 *  of the master if there is one, else of the weight. What is optional is MST_NO_HLO if there is none. */
typedef struct mst_update_hlo {
    const mst_optimizer *optimizer; /**< checked, with its defaults */
    double l1, l2;                  /**< penalty */
    /* Replaced by the new values. All have the shape of the variable. */
    mst_hlo weight;
    mst_hlo slot[MST_RULE_SLOTS + 1]; /**< of the rule; then, with accumulation, the sum of gradients */
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

/** The scalars of SCALARS, T [MST_NUM_SCALARS], which is a source of the program. */
void mst_update_scalars_lower(mst_lower *l, mst_hlo scalars, mst_hlo *scalar);
/** Replaces the variable and what is kept beside it by their values after the step, and sets `penalty`. */
void mst_update_lower(mst_lower *l, mst_update_hlo *update);
/** The sum of squares of the gradient with its penalty, from which the factor is computed: a scalar of f64. `factor` is
 *  not read, and nothing is replaced. */
mst_hlo mst_update_norm_lower(mst_lower *l, const mst_update_hlo *update);
/** The penalty alone, as mst_update_lower sets it. The gradient is not read, and nothing is replaced. */
mst_hlo mst_update_penalty_lower(mst_lower *l, const mst_update_hlo *update);

/** The op update: L has its options, mst_update_options, and its sources. Fills output 0, and WRITTEN[i] for each
 *  source i that the op writes: its value after the step. WRITTEN has an element for each source, and may be NULL for
 *  purposes that write nothing. Output 0 has the sum of a variable in its first unit, and 0 in its others: only the sum
 *  over units is of use. An error is kept in the program if there are several copies of a weight, several sources for a
 *  gradient, a product, or tasks that share slots out. */
void mst_update_node_lower(mst_lower *l, mst_hlo *written);

#endif
