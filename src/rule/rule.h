/** The arithmetic of one optimizer over a run of elements: one file each in src/rule/.
 *
 *  A rule knows nothing of graphs, devices or variables. The kernel of the op update (kernel/cpu/update.c) walks the
 *  variables in tiles that stay in the first-level cache. For each it adds up the gradient, clips it (gradient_clip.h)
 *  and decays the weight, calls the rule, and lets the moving average follow (moving_average.h). Results must not
 *  depend on where tiles begin: element by element only. */
#ifndef MUSTER_RULE_RULE_H
#define MUSTER_RULE_RULE_H

#include "graph/field.h"
#include "muster/optimizer.h"

/* Most slots of a variable, numbers of a step, and members of mst_optimizer including the NULL that ends them. */
#define MST_RULE_SLOTS 3 /* beside them may be the sum of gradients (accumulate.h) */
#define MST_RULE_SCALARS 8
#define MST_RULE_TAKES 8

/** A run of elements of one variable that a rule updates in one call. */
typedef struct mst_rule_tile {
    int64_t count;
    void *weight;               /**< read and written */
    void *slot[MST_RULE_SLOTS]; /**< read and written */
    const void *gradient;       /**< averaged, clipped, penalties added */
    const void *root;     /**< like gradient, for its square: the root of the sum of the squares of what was added up
                                   (of rows that come several times, MST_SPARSE_KERAS), else the gradient itself */
    const double *scalar; /**< what `scalars` computed for this step */
} mst_rule_tile;

/** `slot_initial` and `next_state` may be NULL; no other function may. */
typedef struct mst_rule {
    const char *name;
    const char *takes[MST_RULE_TAKES]; /**< members of mst_optimizer that not all rules have, ended by NULL */
    /** Number of slot variables with these hyperparameters (sgd without momentum: 0). */
    int (*num_slots)(const mst_optimizer *optimizer);
    const char *slot_name[MST_RULE_SLOTS]; /**< as in TensorFlow: "m", "v", "momentum", "accumulator" */
    /** Initial value of all elements of a slot; NULL: 0. */
    double (*slot_initial)(const mst_optimizer *optimizer, int slot);
    /** Fills zero members with this optimizer's defaults. */
    void (*defaults)(mst_optimizer *optimizer);
    double initial_state; /**< of one number kept per optimizer, in f32 precision (Nadam's product) */
    /** The number after step T (1 for the first); NULL where none is kept. */
    double (*next_state)(const mst_optimizer *optimizer, int64_t t, double state);
    /** Everything that is the same for all elements of step T (1 for the first), given the state after it. */
    void (*scalars)(const mst_optimizer *optimizer, double learning_rate, int64_t t, double state, double *scalar);
    bool squares; /**< reads `root` */
    /** Of a gradient that has only some rows of a variable (that of gather), whether the rule leaves the other rows of
     *  weight and slots as they are: where a gradient of 0 changes nothing, or as TensorFlow's kernels
     *  ResourceSparseApply... do (core/kernels/training_ops.cc). Else, also where this is NULL, they are updated with a
     *  gradient of 0: Adam's means decay in all rows. */
    bool (*rows_only)(const mst_optimizer *optimizer);
    /** Whether TensorFlow's kernel keeps beta_1^t and beta_2^t in variables: checkpoints then hold them too. */
    bool keeps_powers;
    /** weight_decay, clipping, L1, L2 and moving averages are not the rule's: the caller does them. */
    void (*update_f32)(const mst_optimizer *optimizer, const mst_rule_tile *tile);
    void (*update_f64)(const mst_optimizer *optimizer, const mst_rule_tile *tile);
} mst_rule;

/** All rules, ended by NULL; made by CMake from the files of src/rule/. */
extern const mst_rule *const mst_rule_table[];
const mst_rule *mst_rule_find(const char *name);

/** What is done with the rows of a sparse gradient before those of one number are added up, as in Keras
 *  (MST_SPARSE_KERAS): their squares are added up too, where the rule or clipping by norm reads these, and they are
 *  clipped to [-clip, clip], where that is not 0. */
typedef struct mst_row_steps {
    bool squares;
    double clip;
} mst_row_steps;
/** OPTIMIZER is checked, with its defaults. A penalty makes the gradient dense, and so does a sum over several steps:
 *  none of this applies there. */
mst_row_steps mst_rule_row_steps(const mst_optimizer *optimizer, bool has_penalty);

#endif
