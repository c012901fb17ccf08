/** Optimizers, by the formulas of TensorFlow and Keras.
 *
 *  An mst_optimizer is a plain value: make one with mst_sgd(.learning_rate = 0.1, .momentum = 0.9) and hand it
 *  to mst_minimize or mst_fit. A member that is 0 takes the default of its optimizer; MST_ZERO is the number 0. The
 *  optimizers, with their formulas and macros, are in muster/optimizers.h.
 *
 *  A step does the following, in this order. The gradients of the shards are averaged (with
 *  gradient_accumulation_steps, those of several steps); penalties of the variables are added; the result is clipped;
 *  weight_decay; the optimizer's formula; the moving average.
 */
#ifndef MUSTER_OPTIMIZER_H
#define MUSTER_OPTIMIZER_H

#include "muster/optimizers.h"
#include "muster/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mst_epsilon {
    MST_EPSILON_HAT = 0,  /**< added to the uncorrected root, as TensorFlow and Keras do ("epsilon hat") */
    MST_EPSILON_CORRECTED /**< added to the bias-corrected root, as the paper's algorithm and PyTorch do */
} mst_epsilon;

/** How sparse gradients are used. A sparse gradient has only some rows of a variable, such as the rows of an embedding,
 *  or of any gather. */
typedef enum mst_sparse {
    /** As Keras 3 with TensorFlow: every row is updated. Rows without a gradient are updated with a gradient of 0, so
     *  momentum still moves them. If a row occurs several times in a batch, each of its gradients is clipped by
     *  value, and squared (for norms and for adagrad, ftrl, rmsprop and the adam family), before they are added up. */
    MST_SPARSE_KERAS = 0,
    /** As the optimizers of TensorFlow 1 and their kernels: sgd, adagrad, rmsprop and ftrl do not change rows without a
     *  gradient, nor their slots. If a row occurs several times, its gradients are added up first. */
    MST_SPARSE_TENSORFLOW
} mst_sparse;

/** All hyperparameters of all optimizers. Setting one that the rule does not have is an error, MST_INVALID. */
typedef struct mst_optimizer {
    int zero_;
    const char *rule;           /**< "sgd", "adam", ...: mst_optimizer_name lists them */
    double learning_rate;       /**< step size; the default is the optimizer's Keras default */
    mst_schedule schedule;      /**< if set, replaces learning_rate; a rate of 0 stands for learning_rate */
    double momentum;            /**< sgd, rmsprop: default 0; momentum: 0.9 */
    bool nesterov;              /**< sgd, momentum */
    double rho;                 /**< rmsprop: decay of the mean square, default 0.9 */
    bool centered;              /**< rmsprop */
    double beta_1, beta_2;      /**< adam family: 0.9, 0.999 */
    double epsilon;             /**< all except sgd, ftrl: default 1e-7 as in Keras; tf.train.AdamOptimizer has 1e-8 */
    mst_epsilon epsilon_kind;   /**< adam, adamw */
    bool amsgrad;               /**< adam, adamw: uses the largest v so far instead of v */
    double initial_accumulator; /**< adagrad, ftrl: default 0.1 */
    double learning_rate_power; /**< ftrl: default -0.5 */
    double l1_strength, l2_strength, l2_shrinkage, beta; /**< ftrl: default 0 */
    double weight_decay; /**< decoupled: w -= learning_rate * weight_decay * w before the update; adamw: 0.004 */
    /** weight_decay leaves out variables of fewer than two dimensions, such as biases and the weights of
     *  normalizations, and those whose own name is "embeddings". */
    bool decay_kernels_only;
    /* at most one of these three, as in Keras */
    double clip_value;       /**< gradients limited to [-clip_value, clip_value] */
    double clip_norm;        /**< the gradient of each variable scaled to at most this norm */
    double clip_global_norm; /**< all gradients scaled together to at most this global norm */
    double ema_decay;        /**< > 0: keeps an exponential moving average of each variable. After the update:
                                     average -= (1 - ema_decay) * (average - w); the factor is f32, as in TensorFlow */
    bool ema_num_updates;    /**< the decay is min(ema_decay, (1 + step) / (10 + step)) */
    mst_sparse sparse;       /**< for rows of embeddings; the rule momentum always works like TensorFlow 1 */
    /** N > 1: the gradients of N steps are added up, and every N-th step makes one update from their mean. In between,
     *  variables do not change. As in Keras, every step counts for global_step, schedules and the moving average, while
     *  the rule counts updates. The sum is dense: all rows of embeddings are updated. Default: 1, no sum. */
    int gradient_accumulation_steps;
} mst_optimizer;

/** OPTIMIZER with its rule set to NAME and every member that is 0 set to that rule's default. */
MST_API mst_optimizer mst_optimizer_named(const char *name, mst_optimizer optimizer);
/** As mst_optimizer_named, in place; returns OPTIMIZER. `&mst_sgd(.learning_rate = 0.1)` is thus a valid pointer. */
MST_API mst_optimizer *mst_optimizer_fill(const char *name, mst_optimizer *optimizer);
/** MST_INVALID, naming the member, if a hyperparameter is out of range or the rule is not known (naming the
 *  nearest one). */
MST_API MST_CHECKED mst_status mst_optimizer_check(const mst_optimizer *optimizer);
/** The name of the I-th optimizer in alphabetical order, NULL past the last. */
MST_API const char *mst_optimizer_name(int i);

/** The members of mst_optimizer except `schedule` (see mst_schedule_fields), with ranges. `initial` is the default if
 *  it is the same for all optimizers that have the member. */
MST_API extern const mst_field mst_optimizer_fields[];

#ifdef __cplusplus
}
#endif
#endif
