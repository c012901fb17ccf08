/** Constraints of weights (muster/constraint.h): their arithmetic, on the CPU and in StableHLO. docs/the-update.md
 *  shows their place in a step.
 *
 *  On the CPU a variable is cut into items, each of which can be constrained by itself: it has all elements of some
 *  norms. The cut and the order of the sums depend on the shape alone. */
#ifndef MUSTER_RULE_CONSTRAINT_H
#define MUSTER_RULE_CONSTRAINT_H

#include "muster/constraint.h"
#include "muster/hlo.h"

/** The names of the kinds, ended by NULL; "none" first. */
extern const char *const mst_constraint_names[];
/** The members of mst_constraint as options of a layer. */
extern const mst_field mst_constraint_fields[];
/** The same as options of an op: MEMBER, an mst_constraint, is a member of its options T. */
#define MST_CONSTRAINT_OP_FIELDS(T, member)                                               \
    MST_FIELD_ENUM(T, member.kind, 0, mst_constraint_names, "what its values must be"),   \
        MST_FIELD_F64(T, member.min_value, 0, 0, 0, "least norm"),                        \
        MST_FIELD_F64(T, member.max_value, 0, 0, 0, "largest norm"),                      \
        MST_FIELD_F64(T, member.rate, 0, 0, 0, "how much of the way to the wanted norm"), \
        MST_FIELD_AXES(T, member.axes, "along which a norm is summed"),                   \
        MST_FIELD_BOOL(T, member.whole, "one norm of all elements")

/** An error if CONSTRAINT has members that are out of range, or if a variable of DTYPE and SHAPE cannot have it. */
MST_CHECKED mst_status mst_constraint_check(const mst_constraint *constraint, mst_dtype dtype, mst_shape shape);
/** Whether elements that differ in their place along axis 0 of SHAPE share a norm. CONSTRAINT has been checked. */
bool mst_constraint_sums_rows(const mst_constraint *constraint, mst_shape shape);

/** A dimension that items or rows are counted along. */
typedef struct mst_constraint_dim {
    int64_t size, stride;
} mst_constraint_dim;

/** How the variable of one shape is constrained. The innermost dimension, after neighbouring dimensions of one kind
 *  have become one, is a run. An item has one row for each place along the other summed dimensions: of the elements of
 *  a block of the run, each with a norm of its own, or of the whole run, whose elements share the norm. */
typedef struct mst_constraint_form {
    mst_constraint_kind kind;
    double min_value, max_value, rate;
    mst_axes axes;  /**< that are summed, from 0 on; none for non_neg */
    int64_t items;  /**< 0: the variable has no elements */
    int64_t rows;   /**< of each item */
    int64_t run;    /**< elements of the innermost dimension */
    int64_t blocks; /**< of a run: 1 if it is summed */
    bool sums_run;
    int32_t num_kept, num_summed;
    mst_constraint_dim kept[MST_MAX_NDIM], summed[MST_MAX_NDIM]; /**< outermost first, without the run */
} mst_constraint_form;

/** CONSTRAINT has been checked with SHAPE. */
void mst_constraint_form_make(const mst_constraint *constraint, mst_shape shape, mst_constraint_form *out);
/** Constrains items BEGIN to END - 1 of the variable W in place. */
void mst_constrain_f32(const mst_constraint_form *form, int64_t begin, int64_t end, float *w);
void mst_constrain_f64(const mst_constraint_form *form, int64_t begin, int64_t end, double *w);
/** Copies items BEGIN to END - 1 of FROM to TO, another copy of the variable; ELEMENT: the bytes of an element. */
void mst_constraint_copy(const mst_constraint_form *form, int64_t begin, int64_t end, const void *from, void *to,
                         size_t element);
/** The same, rounded to bf16. */
void mst_constraint_round(const mst_constraint_form *form, int64_t begin, int64_t end, const float *from, uint16_t *to);

/** The constrained W, a whole variable, in StableHLO. */
mst_hlo mst_constraint_lower(mst_lower *l, const mst_constraint_form *form, mst_hlo w);

#endif
