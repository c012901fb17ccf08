/** Constraints: changes to the values of a weight after each step of an optimizer, by the formulas of Keras 3
 *  (keras/src/constraints/constraints.py).
 *
 *      non_neg        w = max(w, 0)
 *      max_norm       w = w * clip(norm, 0, max_value) / (1e-7 + norm)
 *      unit_norm      w = w / (1e-7 + norm)
 *      min_max_norm   w = w * (rate * clip(norm, min_value, max_value) + (1 - rate) * norm) / (1e-7 + norm)
 *
 *  where norm = sqrt(sum w^2), summed along `axes`. The kernel of a dense layer is [inputs, units], so axis 0 gives a
 *  norm for each unit; the kernel of a conv2d is [rows, columns, channels, filters], so axes 0, 1 and 2 give a norm for
 *  each filter.
 *
 *  Constraints are applied at the end of each training step, after the optimizer's formula and the moving average, to
 *  the weights that the step trains. With gradient_accumulation_steps they are also applied in steps without an update,
 *  as in Keras. Initial values are not constrained.
 *
 *  An mst_constraint is a plain value, which needs no freeing. One whose members are all 0 constrains nothing. */
#ifndef MUSTER_CONSTRAINT_H
#define MUSTER_CONSTRAINT_H

#pragma GCC system_header /* see muster/named.h */

#include "muster/op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mst_constraint_kind {
    MST_CONSTRAINT_NONE = 0,
    MST_CONSTRAINT_NON_NEG,
    MST_CONSTRAINT_MAX_NORM,
    MST_CONSTRAINT_UNIT_NORM,
    MST_CONSTRAINT_MIN_MAX_NORM
} mst_constraint_kind;

typedef struct mst_constraint {
    int zero_;
    mst_constraint_kind kind;
    double min_value; /**< min_max_norm: default 0 */
    double max_value; /**< max_norm: default 2; min_max_norm: default 1; MST_ZERO for 0 */
    double rate;      /**< min_max_norm: default 1; MST_ZERO for 0 */
    mst_axes axes;    /**< along which a norm is summed, from the end if below 0; default axis 0 */
    bool whole;       /**< one norm of all elements, instead of `axes` */
} mst_constraint;

/** The constraints as values: `mst_dense(x, 10, .kernel_constraint = mst_max_norm_constraint(.max_value = 3))`. */
#define mst_non_neg_constraint(...) MST_CONSTRAINT_(NON_NEG, __VA_ARGS__)
#define mst_max_norm_constraint(...) MST_CONSTRAINT_(MAX_NORM, __VA_ARGS__)
#define mst_unit_norm_constraint(...) MST_CONSTRAINT_(UNIT_NORM, __VA_ARGS__)
#define mst_min_max_norm_constraint(...) MST_CONSTRAINT_(MIN_MAX_NORM, __VA_ARGS__)
#define MST_CONSTRAINT_(name, ...) MST_NAMED_WITH(mst_constraint, kind, MST_CONSTRAINT_##name, __VA_ARGS__)

/** "max_norm", ... */
MST_API const char *mst_constraint_name(mst_constraint_kind kind);

#ifdef __cplusplus
}
#endif
#endif
