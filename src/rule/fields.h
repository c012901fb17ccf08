/** The list of the members of mst_optimizer, except its schedule. Two tables of fields are made from it:
 *  mst_optimizer_fields (rule.c) and, with "optimizer." before each name, a part of the options of the op
 *  apply_gradients. */
#ifndef MUSTER_RULE_FIELDS_H
#define MUSTER_RULE_FIELDS_H

/** The largest decay. It is below 1, because an average with a decay of 1 would never change. */
#define MST_BELOW_1 (1 - 1e-12)

extern const char *const mst_epsilon_kinds[]; /**< by mst_epsilon_kind, ended by NULL */
extern const char *const mst_sparse_kinds[];  /**< by mst_sparse, ended by NULL */

/** ROW(member, type as in MST_FIELD_TYPE_..., default, lowest, highest, names of an enum, help) */
/* clang-format off */
#define MST_OPTIMIZER_FIELDS(ROW)                                                                           \
    ROW(rule, STRING, 0, 0, 0, NULL, "name of the optimizer"),                                              \
    ROW(learning_rate, F64, 0, 0, 1e9, NULL, "step size"),                                                  \
    ROW(momentum, F64, 0, 0, 1, NULL, "part of the last step that is made again: sgd, momentum, rmsprop"),            \
    ROW(nesterov, BOOL, 0, 0, 0, NULL, "looks ahead by the momentum: sgd, momentum"),                                 \
    ROW(rho, F64, 0.9, 0, MST_BELOW_1, NULL, "decay of the mean square, below 1: rmsprop"),                 \
    ROW(centered, BOOL, 0, 0, 0, NULL, "divides by the standard deviation: rmsprop"),                       \
    ROW(beta_1, F64, 0.9, 0, MST_BELOW_1, NULL, "decay of the mean gradient, below 1: adam, adamw, nadam"), \
    ROW(beta_2, F64, 0.999, 0, MST_BELOW_1, NULL, "decay of the mean square, below 1: adam, adamw, nadam"), \
    ROW(epsilon, F64, 1e-7, 0, 1e9, NULL, "keeps the divisor from 0"),                                      \
    ROW(epsilon_kind, ENUM, 0, 0, 0, mst_epsilon_kinds, "where epsilon is added: adam, adamw"),             \
    ROW(amsgrad, BOOL, 0, 0, 0, NULL, "divides by the largest mean square so far: adam, adamw"),            \
    ROW(initial_accumulator, F64, 0.1, 0, 1e9, NULL, "first sum of squares: adagrad, ftrl"),                \
    ROW(learning_rate_power, F64, -0.5, -10, 0, NULL, "how the rate falls with the sum of squares: ftrl"),  \
    ROW(l1_strength, F64, 0, 0, 1e9, NULL, "L1 penalty: ftrl"),                                             \
    ROW(l2_strength, F64, 0, 0, 1e9, NULL, "L2 penalty: ftrl"),                                             \
    ROW(l2_shrinkage, F64, 0, 0, 1e9, NULL, "L2 penalty of the gradient only: ftrl"),                       \
    ROW(beta, F64, 0, 0, 1e9, NULL, "first value of the inverse rate: ftrl"),                               \
    ROW(weight_decay, F64, 0, 0, 1e9, NULL, "w -= learning_rate * weight_decay * w before the update"),     \
    ROW(decay_kernels_only, BOOL, 0, 0, 0, NULL,                                                            \
        "weight_decay leaves out biases, the weights of normalizations, and embeddings"),                   \
    ROW(clip_value, F64, 0, 0, 1e30, NULL, "largest magnitude of a gradient's element"),                    \
    ROW(clip_norm, F64, 0, 0, 1e30, NULL, "largest norm of a variable's gradient"),                         \
    ROW(clip_global_norm, F64, 0, 0, 1e30, NULL, "largest norm of all gradients together"),                 \
    ROW(ema_decay, F64, 0, 0, MST_BELOW_1, NULL, "decay of the moving average of the weights, below 1"),    \
    ROW(ema_num_updates, BOOL, 0, 0, 0, NULL, "the moving average follows faster in the first steps"), \
    ROW(sparse, ENUM, 0, 0, 0, mst_sparse_kinds,                                                            \
        "rows of embeddings: all are updated (keras), or those of the batch (tensorflow)"),                 \
    ROW(gradient_accumulation_steps, I32, 0, 1, 1000000000, NULL,                                           \
        "the weights change every N-th step only, by the mean of N gradients: as a batch N times as large")
/* clang-format on */

#endif
