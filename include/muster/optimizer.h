/** Optimizers, by the formulas of TensorFlow and Keras.
 *
 *  An mst_optimizer is a plain value: make one with mst_sgd(.learning_rate = 0.1, .momentum = 0.9) and hand it
 *  to mst_minimize or mst_fit. A member that is 0 takes the default of its optimizer; MST_ZERO is the number 0.
 *
 *  Step t (from 1) updates each element w of a variable, with gradient g and learning rate r:
 *
 *      sgd      m = momentum * m - r * g                            without momentum: w -= r * g
 *               w += m                                              nesterov: w += momentum * m - r * g
 *      adagrad  a += g^2                                            a = initial_accumulator before step 1
 *               w -= r * g / sqrt(a + epsilon)
 *      rmsprop  s = rho * s + (1 - rho) * g^2                       centered: c = rho * c + (1 - rho) * g
 *               d = r * g / sqrt(s + epsilon)                       centered: r * g / sqrt(s - c^2 + epsilon)
 *               w -= d                                              with momentum: m = momentum * m + d; w -= m
 *      adam     m += (g - m) * (1 - beta_1)
 *               v += (g^2 - v) * (1 - beta_2)                       amsgrad: the largest v so far in place of v below
 *               w -= r * sqrt(1 - beta_2^t) / (1 - beta_1^t) * m / (sqrt(v) + epsilon)
 *      adamw    adam, with weight_decay 0.004 by default
 *      nadam    m and v as adam; u(t) = beta_1 * (1 - 0.5 * 0.96^t), p(t) = u(1) * ... * u(t)
 *               mhat = u(t+1) * m / (1 - p(t+1)) + (1 - u(t)) * g / (1 - p(t))
 *               w -= r * mhat / (sqrt(v / (1 - beta_2^t)) + epsilon)
 *      ftrl     n = a + g^2, k(x) = x^-learning_rate_power          a = initial_accumulator before step 1
 *               l += g + 2 * l2_shrinkage * w - (k(n) - k(a)) / r * w
 *               w = (clip(l, -l1_strength, l1_strength) - l) / ((k(n) + beta) / r + 2 * l2_strength)
 *               a = n
 *
 *  m, v, s, c, l are 0 before step 1. They are those of Keras 3; what differs in TensorFlow and PyTorch stands at the
 *  top of each file of src/optimizer/rule/. Before, in this order: gradients of the shards are averaged, penalties
 *  of the variables added, and the result clipped; then weight_decay. After: the moving average.
 */
#ifndef MUSTER_OPTIMIZER_H
#define MUSTER_OPTIMIZER_H

#include "muster/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mst_epsilon {
    MST_EPSILON_HAT = 0,  /**< added to the uncorrected root, as TensorFlow and Keras do ("epsilon hat") */
    MST_EPSILON_CORRECTED /**< added to the bias-corrected root, as the paper's algorithm and PyTorch do */
} mst_epsilon;

/** All hyperparameters of all optimizers. One that is set and that the rule does not have is an error, MST_INVALID. */
typedef struct mst_optimizer {
    int zero_;
    const char *rule;           /**< "sgd", "adagrad", "rmsprop", "adam", "adamw", "nadam", "ftrl" */
    double learning_rate;       /**< step size; the default is the optimizer's Keras default */
    mst_schedule schedule;      /**< replaces learning_rate where it is set; its rate, if 0, is learning_rate */
    double momentum;            /**< sgd, rmsprop: default 0 */
    bool nesterov;              /**< sgd */
    double rho;                 /**< rmsprop: decay of the mean square, default 0.9 */
    bool centered;              /**< rmsprop */
    double beta_1, beta_2;      /**< adam family: 0.9, 0.999 */
    double epsilon;             /**< all but sgd, ftrl: default 1e-7 as in Keras; tf.train.AdamOptimizer has 1e-8 */
    mst_epsilon epsilon_kind;   /**< adam, adamw */
    bool amsgrad;               /**< adam, adamw: the largest v so far in place of v */
    double initial_accumulator; /**< adagrad, ftrl: default 0.1 */
    double learning_rate_power; /**< ftrl: default -0.5 */
    double l1_strength, l2_strength, l2_shrinkage, beta; /**< ftrl: default 0 */
    double weight_decay; /**< decoupled: w -= learning_rate * weight_decay * w before the update; adamw: 0.004 */
    /* at most one of the three, as in Keras */
    double clip_value;       /**< gradients limited to [-clip_value, clip_value] */
    double clip_norm;        /**< the gradient of each variable scaled to at most this norm */
    double clip_global_norm; /**< all gradients scaled together to at most this global norm */
    double ema_decay;        /**< > 0: keeps an exponential moving average of each variable: after the update
                                average -= (1 - ema_decay) * (average - w), in f32 as TensorFlow takes the factor */
    bool ema_num_updates;    /**< the decay is min(ema_decay, (1 + step) / (10 + step)) */
} mst_optimizer;

#define mst_sgd(...) (*mst_optimizer_fill("sgd", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#define mst_adagrad(...) (*mst_optimizer_fill("adagrad", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#define mst_rmsprop(...) (*mst_optimizer_fill("rmsprop", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#define mst_adam(...) (*mst_optimizer_fill("adam", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#define mst_adamw(...) (*mst_optimizer_fill("adamw", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#define mst_nadam(...) (*mst_optimizer_fill("nadam", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#define mst_ftrl(...) (*mst_optimizer_fill("ftrl", &MST_NAMED(mst_optimizer, __VA_ARGS__)))

/** OPTIMIZER with its rule set to NAME and every member that is 0 set to that rule's default. */
MST_API mst_optimizer mst_optimizer_named(const char *name, mst_optimizer optimizer);
/** The same in place; returns OPTIMIZER. So `&mst_sgd(.learning_rate = 0.1)` is a pointer to what the macro made. */
MST_API mst_optimizer *mst_optimizer_fill(const char *name, mst_optimizer *optimizer);
/** MST_INVALID, naming the member, where a hyperparameter is out of range or the rule is not known (naming the
 *  nearest one). */
MST_API MST_CHECKED mst_status mst_optimizer_check(const mst_optimizer *optimizer);
/** The name of the I-th optimizer in alphabetical order, NULL past the last. */
MST_API const char *mst_optimizer_name(int i);

/** The members of mst_optimizer but `schedule` (see mst_schedule_fields), with ranges; `initial` is the default where
 *  it is the same for all optimizers that have the member. */
MST_API extern const mst_field mst_optimizer_fields[];

#ifdef __cplusplus
}
#endif
#endif
