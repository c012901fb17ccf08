/** A rule is the arithmetic of one optimizer over neighbouring elements; src/rule/ has one file for each optimizer.
 *
 *  A rule does not depend on graphs, devices or variables. The kernel of the op update (kernel/cpu/update.c) goes
 *  through the variables in tiles that fit in the first-level cache. For each tile it sums the gradient over the
 *  shards, clips it (gradient_clip.h), decays the weight, calls the rule, and updates the moving average
 *  (moving_average.h). A rule computes each element independently of the others, so that results do not depend on where
 *  tiles begin. */
#ifndef MUSTER_RULE_RULE_H
#define MUSTER_RULE_RULE_H

#include "graph/field.h"
#include "muster/hlo.h"
#include "muster/optimizer.h"

/* Largest numbers of slots of a variable, of scalars of a step, and of entries of `takes` with the NULL at its end. */
#define MST_RULE_SLOTS 3 /* not counting the sum of gradients (accumulate.h) */
#define MST_RULE_SCALARS 8
#define MST_RULE_TAKES 8

/** A run of elements of one variable that a rule updates in one call. */
typedef struct mst_rule_tile {
    int64_t count;
    void *weight;               /**< read and written */
    void *slot[MST_RULE_SLOTS]; /**< read and written */
    const void *gradient;       /**< averaged, clipped, penalties added */
    const void *root;     /**< the value that the rule squares: usually `gradient`. With MST_SPARSE_KERAS, for rows that
                                   occur several times: sqrt(the sum of their squared gradients) */
    const double *scalar; /**< computed by `scalars` for this step */
} mst_rule_tile;

/** As mst_rule_tile, in StableHLO, for devices that compile: whole arrays of one shape and dtype, f32 or f64. */
typedef struct mst_rule_hlo {
    mst_hlo weight;                   /**< replaced by the new value */
    mst_hlo slot[MST_RULE_SLOTS];     /**< replaced by the new values */
    mst_hlo gradient, root;           /**< as above */
    mst_hlo scalar[MST_RULE_SCALARS]; /**< scalars of the dtype of the weight, sources of the program: their values
                                           change from step to step, its text does not */
} mst_rule_hlo;

/** `slot_initial`, `next_state` and `rows_only` may be NULL; no other function may. */
typedef struct mst_rule {
    const char *name;
    const char *takes[MST_RULE_TAKES]; /**< members of mst_optimizer that this rule takes and not all
                                             rules do; ended by NULL */
    /** Number of slot variables with these hyperparameters (sgd without momentum: 0). */
    int (*num_slots)(const mst_optimizer *optimizer);
    const char *slot_name[MST_RULE_SLOTS]; /**< as in TensorFlow: "m", "v", "momentum", "accumulator" */
    /** Initial value of all elements of a slot; NULL: 0. */
    double (*slot_initial)(const mst_optimizer *optimizer, int slot);
    /** Fills zero members with this optimizer's defaults. */
    void (*defaults)(mst_optimizer *optimizer);
    double initial_state; /**< initial value of the one number kept per optimizer, in f32 precision (Nadam's product) */
    /** The value after step T of the number that is kept, from STATE, its value before. T is 1 for the first step.
     *  NULL: the rule keeps no number. */
    double (*next_state)(const mst_optimizer *optimizer, int64_t t, double state);
    /** Computes SCALAR: the values that are the same for all elements in step T (1 for the first). STATE is the kept
     *  number after step T. */
    void (*scalars)(const mst_optimizer *optimizer, double learning_rate, int64_t t, double state, double *scalar);
    bool squares; /**< the rule reads `root` */
    /** How the rule treats a gradient that has only some rows of a variable, such as the gradient of gather. True: the
     *  other rows of weight and slots do not change. This is so if a gradient of 0 changes nothing, or if the
     *  optimizer follows TensorFlow's kernels ResourceSparseApply... (core/kernels/training_ops.cc), which skip these
     *  rows. False, or NULL: the other rows are updated with a gradient of 0. An example is Adam, whose means decay in
     *  all rows. */
    bool (*rows_only)(const mst_optimizer *optimizer);
    /** Whether TensorFlow's kernel keeps beta_1^t and beta_2^t in variables: checkpoints then hold them too. */
    bool keeps_powers;
    /** Update the elements of TILE. The caller does weight_decay, clipping, L1, L2 and moving averages. */
    void (*update_f32)(const mst_optimizer *optimizer, const mst_rule_tile *tile);
    void (*update_f64)(const mst_optimizer *optimizer, const mst_rule_tile *tile);
    /** Writes the same formula in StableHLO. */
    void (*lower)(mst_lower *l, const mst_optimizer *optimizer, mst_rule_hlo *tile);
} mst_rule;

/** All rules, ended by NULL; made by CMake from the files of src/rule/. */
extern const mst_rule *const mst_rule_table[];
MST_API const mst_rule *mst_rule_find(const char *name);

/** How rows of a sparse gradient that have the same index are combined, as in Keras (MST_SPARSE_KERAS). `clip`: before
 *  they are added up, their elements are clipped to [-clip, clip]; 0: no clipping. `squares`: their squares are added
 *  up too, for the rule or for clipping by norm. */
typedef struct mst_row_steps {
    bool squares;
    double clip;
} mst_row_steps;
/** OPTIMIZER has been checked and has its defaults. With a penalty or with gradient accumulation all members are 0,
 *  because these make the gradient dense. */
mst_row_steps mst_rule_row_steps(const mst_optimizer *optimizer, bool has_penalty);

#endif
