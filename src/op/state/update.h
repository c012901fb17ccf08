/** Options of the op update, which the plan makes out of apply_gradients. It is one optimizer step for the variables
 *  that some devices of one memory domain keep. Each device does its part.
 *
 *  Each variable is cut into units: runs of elements. The cut depends only on the shape. One device does all the work
 *  on a unit while the unit is in a cache, from the gradients of all shards to the new weight in all copies:
 *
 *    gradient   summed over the shards in the fixed tree (base/shard_tree.h)
 *    + penalty  l1 * sign(w) + l2 * w
 *    clipped    by value, or multiplied by a factor that was computed before
 *    rule       changes weight and slots (rule/rule.h)
 *    average    is updated with the new weight
 *
 *  The bits of a unit do not depend on the device that computes it.
 *
 *  If the tasks of a cluster divide the slots (sharded), a task updates only the units of its part. Before the gate it
 *  computes their new values (stage_update), which are sent to all tasks. Behind the gate it computes the values once
 *  more, and the slots. The units of other tasks are copied from the values that were received.
 */
#ifndef MUSTER_OP_UPDATE_H
#define MUSTER_OP_UPDATE_H

#include "base/shard_tree.h"
#include "muster/optimizer.h"
#include "rule/constraint.h"

/** Options of the op sum_rows: the sparse gradient of gather over axis 0, only the rows that were gathered. Sources
 *  come in pairs, one for each gather: values [.., columns...], and indices [..], i32 or i64. Rows with the same number
 *  are added in the order of the sources. Before that, each element is clipped to [-clip, clip], if clip is not 0.
 *
 *  dst 0  values [n, columns]; n is the number of all indices, or of rows of the variable if that is less. If
 *         squares is set, [n, 2 * columns]: each row has the sums of its clipped elements x, then the sums of x^2
 *  dst 1  i64 [1 + n]: the number of rows that are used, then their numbers, ascending
 *  fails  MST_INVALID if an index is out of range
 */
typedef struct mst_sum_rows_options {
    int zero_;
    int64_t num_rows; /**< of the variable */
    bool squares;
    double clip;
} mst_sum_rows_options;

/** Options of the op merge_rows: rows FIRST_ROW to END_ROW - 1 of the sum of sparse gradients. A row that a gradient
 *  does not have counts as 0. Sources come in pairs like the outputs of sum_rows: one pair for each element of `leaf`.
 *
 *  dst    like the outputs of sum_rows; n is the number of all rows of the sources, or END_ROW - FIRST_ROW if that is
 *         less
 */
typedef struct mst_merge_rows_options {
    int zero_;
    int32_t num_shards;     /**< of the tree */
    const mst_shards *leaf; /**< [num_src / 2]: the shards whose sum each pair is, from left to right in the tree */
    int64_t first_row, end_row;
} mst_merge_rows_options;

/** The forms in which sources give a gradient. A leaf is the sum over some neighbouring shards (`leaf` below). */
typedef enum mst_gradient_kind {
    MST_GRADIENT_DENSE = 0, /**< one source for each leaf and piece: elements */
    MST_GRADIENT_PRODUCT,   /**< two sources for each leaf: A [k, rows] and B [k, columns]; the gradient is A^T B */
    MST_GRADIENT_SPARSE     /**< two sources for each leaf, the outputs of sum_rows: values, and numbers of rows */
} mst_gradient_kind;

/** A range of elements of a variable's gradient: from FIRST to the beginning of the next piece. */
typedef struct mst_gradient_piece {
    int64_t first;
    int32_t source; /**< number of the source for the first leaf; the sources for the other leaves follow it */
} mst_gradient_piece;

/** One variable. `weight` to `staged` are numbers of sources of the node. */
typedef struct mst_update_variable {
    int32_t number;  /**< of the variable among all variables of apply_gradients */
    int32_t weight;  /**< the first of num_copies copies */
    int32_t slot;    /**< first of num_slots; with accumulation the last is the sum of gradients (rule/accumulate.h) */
    int32_t average; /**< the moving average; -1: none */
    int32_t master;  /**< the weight in f32, if the variable has another dtype; -1: none */
    int32_t staged;  /**< if sharded, for MST_UPDATE_STEP: the new values from all tasks, in the gradient's dtype */
    int64_t own_first, own_count; /**< sharded: this task's part; slots and gradient have only these elements */
    mst_gradient_kind kind;
    bool squares; /**< of a sparse gradient: each row has its sums, then its sums of squares: see sum_rows */
    bool clipped; /**< the gradients were clipped before they were added up */
    int32_t num_leaves;
    const mst_shards *leaf; /**< [num_leaves]: the shards whose sum each leaf is, from left to right in the tree */
    int32_t num_pieces;
    const mst_gradient_piece *piece; /**< at least one */
    float l1, l2;                    /**< factors of the penalty */
    bool undecayed;                  /**< weight_decay does not apply to it */
    /** The constraint on the values after the step; NULL: none. Programs of devices that compile apply it in the step;
     *  on other devices a node after this one applies it (plan/update_constraint.c). */
    const mst_constraint_form *constraint;
} mst_update_variable;

/** What an update node does. Only MST_UPDATE_STEP changes variables. */
typedef enum mst_update_purpose {
    MST_UPDATE_STEP = 0,  /**< the step; dst is the penalty of each unit, for the weights before the step */
    MST_UPDATE_NORMS,     /**< dst is the sum of squares of each unit's gradient plus penalty, f64 */
    MST_UPDATE_PENALTIES, /**< dst as for the step; gradients are not read */
    MST_UPDATE_STAGE      /**< of the op stage_update: outputs are new values of this task's part of each variable */
} mst_update_purpose;

typedef struct mst_update_options {
    int zero_;
    mst_update_purpose purpose;
    const mst_optimizer *optimizer;
    int32_t factors; /**< source f64 [all variables]: factors of the gradients, for clipping by norm; -1: none */
    int32_t num_variables, num_copies, num_slots, num_shards;
    bool sharded; /**< each task keeps the slots of its part of the variables (op/state/state_parts.h) */
    const mst_update_variable *variable;
} mst_update_options;

/** Source 0 is the output of update_scalars. */
enum { MST_UPDATE_SCALARS, MST_UPDATE_FIRST };

/** About how many elements a unit has: its weights, slots and gradient fit into a core's second-level cache. */
enum { MST_UNIT_ELEMENTS = 28 * 1024 };
/** The number of rows in a unit of a matrix [ROWS, COLUMNS]; the last unit may have fewer. */
int64_t mst_gradient_rows(int64_t rows, int64_t columns);
/** The number of elements in a unit of a variable. A matrix is cut between rows, so that a unit of its gradient can be
 *  computed as a separate matrix product. */
int64_t mst_unit_elements(mst_shape shape);
/** The number of units of a variable. */
int64_t mst_num_units(mst_shape shape);

/** Indices into the output of update_scalars. First come MST_RULE_SCALARS numbers of the rule. Then come the factor
 *  `rest` of the moving average (rule/moving_average.h), the learning rate, and the number of gradients whose mean is
 *  applied. If that number is 0, the step only adds its gradient to the sum of the earlier ones. */
enum { MST_SCALAR_AVERAGE = 8 /* MST_RULE_SCALARS */, MST_SCALAR_LEARNING_RATE, MST_SCALAR_GRADIENTS, MST_NUM_SCALARS };

#endif
