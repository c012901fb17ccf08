/** Constraints of weights (muster/constraint.h): their arithmetic, on the CPU and in StableHLO. docs/the-update.md
 *  shows their place in a step.
 *
 *  On the CPU a variable is cut into items. An item has all elements that its norms need, so items are constrained
 *  independently of each other. The cut and the order of the sums depend only on the shape and the constraint. */
#ifndef MUSTER_RULE_CONSTRAINT_H
#define MUSTER_RULE_CONSTRAINT_H

#include "muster/constraint.h"
#include "muster/hlo.h"

/** The names of the kinds, ended by NULL; "none" first. */
extern const char *const mst_constraint_names[];
/** The members of mst_constraint as options of a layer. */
extern const mst_field mst_constraint_fields[];
/** The same members as options of an op, whose options struct T has the member MEMBER, an mst_constraint. */
#define MST_CONSTRAINT_OP_FIELDS(T, member)                                               \
    MST_FIELD_ENUM(T, member.kind, 0, mst_constraint_names, "what its values must be"),   \
        MST_FIELD_F64(T, member.min_value, 0, 0, 0, "least norm"),                        \
        MST_FIELD_F64(T, member.max_value, 0, 0, 0, "largest norm"),                      \
        MST_FIELD_F64(T, member.rate, 0, 0, 0, "how much of the way to the wanted norm"), \
        MST_FIELD_AXES(T, member.axes, "along which a norm is summed"),                   \
        MST_FIELD_BOOL(T, member.whole, "one norm of all elements")

/** An error if CONSTRAINT has members that are out of range, or if a variable of DTYPE and SHAPE cannot have it. */
MST_CHECKED mst_status mst_constraint_check(const mst_constraint *constraint, mst_dtype dtype, mst_shape shape);
/** Whether norms are summed along axis 0 of SHAPE. CONSTRAINT has been checked. */
bool mst_constraint_sums_rows(const mst_constraint *constraint, mst_shape shape);

/** A dimension of a variable; its stride is in elements. */
typedef struct mst_constraint_dim {
    int64_t size, stride;
} mst_constraint_dim;

/** How variables of one shape are cut and constrained. Neighbouring dimensions that are all summed, or all kept, are
 *  first merged into one. The innermost dimension is then called the run. An item has one row for each combination of
 *  indices along the other summed dimensions. If the run is summed, a row is the whole run, and the item has one norm.
 *  If it is kept, a row is a block of the run, and each of its elements has a norm of its own. */
typedef struct mst_constraint_form {
    mst_constraint_kind kind;
    double min_value, max_value, rate;
    mst_axes axes;  /**< summed axes, each >= 0; none for non_neg */
    int64_t items;  /**< number of items; 0: the variable has no elements */
    int64_t rows;   /**< rows of each item */
    int64_t run;    /**< elements of the run */
    int64_t blocks; /**< blocks of a run; 1 if the run is summed */
    bool sums_run;  /**< the run is summed */
    int32_t num_kept, num_summed;
    mst_constraint_dim kept[MST_MAX_NDIM], summed[MST_MAX_NDIM]; /**< outermost first, without the run */
} mst_constraint_form;

/** Fills OUT. CONSTRAINT has been checked with SHAPE. */
void mst_constraint_form_make(const mst_constraint *constraint, mst_shape shape, mst_constraint_form *out);
/** Constrains items BEGIN to END - 1 of the variable W in place. */
void mst_constrain_f32(const mst_constraint_form *form, int64_t begin, int64_t end, float *w);
void mst_constrain_f64(const mst_constraint_form *form, int64_t begin, int64_t end, double *w);
/** Copies items BEGIN to END - 1 of FROM to TO, another copy of the variable; ELEMENT: the bytes of an element. */
void mst_constraint_copy(const mst_constraint_form *form, int64_t begin, int64_t end, const void *from, void *to,
                         size_t element);
/** As mst_constraint_copy, rounded to bf16. */
void mst_constraint_round(const mst_constraint_form *form, int64_t begin, int64_t end, const float *from, uint16_t *to);

/** The constrained W, a whole variable, in StableHLO. */
mst_hlo mst_constraint_lower(mst_lower *l, const mst_constraint_form *form, mst_hlo w);

#endif
