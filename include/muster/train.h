/** Training a model: compile, fit, evaluate, predict. */
#ifndef MUSTER_TRAIN_H
#define MUSTER_TRAIN_H

#include <stdio.h>

#include "muster/dataset.h"
#include "muster/loss.h"
#include "muster/metric.h"
#include "muster/model.h"
#include "muster/session.h"
#include "muster/store.h"
#include "muster/strategy.h"
#include "muster/summary.h"
#include "muster/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A loss or a metric of your own: builds its value for each example, [n], from the labels and an output. */
typedef mst_value (*mst_example_function)(void *context, mst_value labels, mst_value predictions);

/** A metric of your own: the mean over the examples. */
typedef struct mst_custom_metric {
    const char *name;
    mst_example_function function;
    void *context;
} mst_custom_metric;

enum { MST_MAX_TARGET_METRICS = 8 };
/** What one output of a model with several is trained for. */
typedef struct mst_target {
    const char *output; /**< name of its layer; NULL: the output of this place */
    mst_loss loss;
    bool from_probabilities;
    mst_example_function loss_function; /**< in place of `loss` */
    void *loss_context;
    double weight; /**< of its loss in the sum of all; default 1; MST_ZERO for 0 */
    /** Of this output, in place of those of all outputs; ended by MST_METRIC_NONE. None: it has those of all. */
    mst_metric metric[MST_MAX_TARGET_METRICS];
    int64_t positive; /**< precision, recall, f1, auc, pr_auc: for this class, MST_CLASS(i); 0: all classes together */
    const double *class_weight; /**< [num_class_weights], as of mst_compile, for the loss of this output */
    int num_class_weights;
} mst_target;
enum { MST_MAX_TARGETS = 16, MST_MAX_CUSTOM_METRICS = 8 };

/** The loss of an example is that of its output, times the weights of its class (in training only, as in Keras) and of
 *  the example; of several outputs it is the sum of theirs, each times its target's weight. Metrics are without
 *  weights. With several outputs each metric is reported for each of them that has none of its own (.target),
 *  "OUTPUT_accuracy", and so is its loss, "OUTPUT_loss", without its target's weight. */
typedef struct mst_compile_options {
    int zero_;
    mst_optimizer optimizer;            /**< default mst_sgd(.learning_rate = 0.01) */
    mst_loss loss;                      /**< default sparse categorical cross entropy */
    bool from_probabilities;            /**< the model's outputs are probabilities, not logits */
    mst_example_function loss_function; /**< in place of `loss` */
    void *loss_context;
    /** For outputs to which the three above do not apply; they do apply to the output of an entry that is all zero. */
    mst_target target[MST_MAX_TARGETS];
    mst_metric metric[MST_MAX_METRICS]; /**< ended by MST_METRIC_NONE */
    int64_t positive;                   /**< as in mst_target, for the outputs to which `loss` applies */
    mst_custom_metric custom_metric[MST_MAX_CUSTOM_METRICS]; /**< ended by one without a function */
    /** [num_class_weights], of examples by their class: labels that are its number, one-hot, or with a binary cross
     *  entropy of one output 0 or 1. In training only: not in "val_loss" and in mst_evaluate. Of a model with one
     *  output; of others each .target has its own. */
    const double *class_weight;
    int num_class_weights;
    bool sample_weights;         /**< the last component of the data is the weight of each example */
    mst_strategy strategy;       /**< num_devices is taken from the session's devices */
    mst_session_options session; /**< devices, placement, limits */
    mst_precision precision;     /**< of products; default that of the session */
    mst_task *task; /**< with MST_STRATEGY_MULTI_WORKER: this process in its cluster; must outlive the model */
    uint64_t seed;  /**< of initial values, dropout and shuffling */
} mst_compile_options;
/** To be called before fit, evaluate and predict. Called again it keeps the weights, and begins anew with the optimizer
 *  and the data, as Keras does; on other devices or under another strategy too. */
MST_API MST_CHECKED mst_status mst_compile_with(mst_model *model, const mst_compile_options *options);
#define mst_compile(model, ...) mst_compile_with((model), &MST_NAMED(mst_compile_options, __VA_ARGS__))

/** Where training is; callbacks see it. */
typedef struct mst_train_state {
    mst_model *model;
    int64_t epoch, num_epochs; /**< from 0 */
    int64_t step_in_epoch, steps_per_epoch;
    int64_t step, num_steps; /**< updates made: global_step; and where training ends, -1 if that is not known */
    int64_t examples;        /**< of this epoch so far */
    double step_loss;        /**< of the last step */
    double loss;             /**< mean over the examples of the epoch so far */
    int num_shards;          /**< parts of a batch, each of one replica */
    int num_metrics;
    const char *metric_name[MST_MAX_METRICS];
    double metric[MST_MAX_METRICS]; /**< over the epoch so far */
    bool validates;                 /**< the fit has validation data */
    int64_t validation_steps;       /**< batches of that; 0: there is none, -1: their number is not known */
    bool has_validation;            /**< at the end of an epoch with validation data */
    double validation_loss, validation_metric[MST_MAX_METRICS];
    double learning_rate;    /**< a callback may set it, if the optimizer has no schedule; with parameter servers
                              *   one of the chief, those of other workers change no update */
    double seconds;          /**< since training began */
    double step_seconds;     /**< of the last step */
    double examples_per_sec; /**< without start-up and the first step */
    bool stop;               /**< a callback sets it: training ends cleanly after this step, if it is not the last */
    bool resumed;            /**< it goes on with a fit that was stopped */
    bool follows;            /**< the chief's callbacks decide when training ends: of a worker of parameter servers that
                              *   is not in step with it */
    bool failed;             /**< in train_end: it has ended with an error */
} mst_train_state;

/** Functions may be NULL. train_end is called once for each callback given to mst_fit, even if it fails before the
 *  first step. The state of the store goes to the next epoch after epoch_end: a fit that is resumed with a snapshot
 *  taken in epoch_end ends the epoch once more. On each worker of a cluster callbacks see an epoch begin and end once,
 *  even if another worker was lost meanwhile. A worker that comes back within an epoch sees it begin with
 *  step_in_epoch greater than 0, as a fit does that is resumed there. */
typedef struct mst_callback {
    void *context;
    mst_status (*train_begin)(void *context, mst_train_state *state);
    mst_status (*epoch_begin)(void *context, mst_train_state *state);
    mst_status (*step_end)(void *context, mst_train_state *state);
    mst_status (*epoch_end)(void *context, mst_train_state *state);
    mst_status (*train_end)(void *context, mst_train_state *state);
    /** Writes the settings of the callback to TEXT of SIZE bytes, if it changes the course of training or the weights:
     *  "early_stopping: patience 3". Workers that train together compare these texts, and their order. NULL: workers
     *  may differ in this callback, for example because it only writes files. */
    void (*settings)(const void *context, char *text, size_t size);
} mst_callback;

/** Stops when the monitored value has not improved by more than min_delta for `patience` epochs, as Keras does. A fit
 *  that is resumed goes on with what was the best so far, its weights included: they are in the store, and so in its
 *  snapshots and checkpoints. Give it before mst_checkpoint_callback, so that the last checkpoint has the best weights
 *  as the model's; a fit that is resumed from there goes on from the last ones, which are kept beside. */
typedef struct mst_early_stopping {
    int zero_;
    const char *monitor; /**< "loss", "val_loss", or a metric's name, with "val_" before it; default "val_loss" */
    double min_delta;
    int64_t patience;
    bool maximize;             /**< larger is better; default: as the metric says, for "accuracy" and the like */
    bool restore_best_weights; /**< training ends with the weights of the best epoch, whatever ended it */
    double best;               /**< state */
    int64_t best_epoch, waited, counted; /**< state; `counted`: epochs that the numbers before are of */
    bool has_best_weights, has_trained;
} mst_early_stopping;
MST_API mst_callback mst_early_stopping_callback(mst_early_stopping *state);
/** The learning rate of EPOCH (from 0), which begins with LEARNING_RATE. */
typedef double (*mst_epoch_schedule)(void *context, int64_t epoch, double learning_rate);
/** Sets the learning rate of each epoch, if the optimizer has no schedule. */
typedef struct mst_learning_rate_scheduler {
    void *context; /**< for `schedule` */
    mst_epoch_schedule schedule;
} mst_learning_rate_scheduler;
MST_API mst_callback mst_learning_rate_callback(mst_learning_rate_scheduler *scheduler);

/** Multiplies the learning rate by `factor` when the monitored value has not improved by more than min_delta for
 *  `patience` epochs, as Keras does, if the optimizer has no schedule. What it knows is in the store: a fit that is
 *  resumed goes on with it. Give it before mst_checkpoint_callback. Epochs in which nothing was validated do not count
 *  for a monitored "val_..." */
typedef struct mst_reduce_on_plateau {
    int zero_;
    const char *monitor;              /**< as of mst_early_stopping */
    double factor;                    /**< below 1; default 0.1 */
    int64_t patience;                 /**< default 10 */
    double min_delta;                 /**< default 1e-4; MST_ZERO for 0 */
    int64_t cooldown;                 /**< epochs after a reduction that are not counted */
    double min_learning_rate;         /**< it is not reduced further */
    bool maximize;                    /**< as of mst_early_stopping */
    double best;                      /**< state */
    int64_t waited, cooling, counted; /**< state; `counted`: epochs that the numbers before are of */
    double reduced;                   /**< state: what the last of them has set the learning rate to; 0: nothing */
} mst_reduce_on_plateau;
MST_API mst_callback mst_reduce_on_plateau_callback(mst_reduce_on_plateau *state);

/** Writes what Keras' TensorBoard callback writes, under its tags: to FOLDER/train and FOLDER/validation the loss and
 *  the metrics of each epoch, and what else is asked for. If asynchronous parameter servers keep the variables, the
 *  chief also writes how stale the gradients of each epoch were, as a histogram. In a fit that is resumed, what the
 *  folders have of later steps goes: curves go on without doubled points. docs/tensorboard.md shows it. */
typedef struct mst_tensorboard {
    int zero_;
    const char *folder;
    int64_t histograms_every; /**< epochs between histograms of the weights; 0: none */
    int64_t update_every;     /**< steps between points of batch_loss and batch metrics; 0: none */
    bool no_graph;
    /** Steps to trace, the first being 1: their times in the graph of TensorBoard, and FOLDER/trace-FIRST-LAST.json, a
     *  Chrome trace. Both 0: none. */
    int64_t profile_first, profile_last;
    const mst_hparam *hparams; /**< of this training, may be NULL */
    int num_hparams;
    struct mst_tensorboard_log *log; /**< state */
} mst_tensorboard;
MST_API mst_callback mst_tensorboard_callback(mst_tensorboard *tensorboard);

/** Writes a row of CSV for each epoch, as Keras' callback of that name does: epoch (from 0), loss, metrics, the same of
 *  the validation data with "val_" before it, learning_rate, and seconds since training began. An old file goes; but a
 *  fit that is resumed keeps the rows of the epochs before, and its seconds go on from theirs. */
typedef struct mst_csv_logger {
    int zero_;
    const char *path;
    FILE *file; /**< state */
    bool has_validation;
    double seconds_before;
} mst_csv_logger;
MST_API mst_callback mst_csv_logger_callback(mst_csv_logger *logger);

typedef enum mst_progress {
    MST_PROGRESS_AUTO = 0, /**< a bar if the output is a terminal, else a line per epoch */
    MST_PROGRESS_BAR,
    MST_PROGRESS_LINES, /**< `step 100, loss = 0.52, accuracy = 0.81 (91000.0 examples/sec; 0.002 sec/batch)`, where a
                             batch is that of one replica; and a line an epoch */
    MST_PROGRESS_NONE
} mst_progress;

typedef struct mst_progress_state mst_progress_state;
/** A callback that shows progress on FILE; the state is freed at the end of training. EVERY: steps between lines. If
 *  the reader of FILE has left, as of `| head`, training stops, which is no error. */
MST_API MST_CHECKED mst_status mst_progress_callback(mst_progress kind, FILE *file, int64_t every, mst_callback *out);

typedef struct mst_fit_options {
    int zero_;
    /** Components: one for each input of the model in their order, the labels of each output, and with sample_weights
     *  the weights. Their dtypes are those of the data that the model was built for, or such as lose no bit on the way
     *  to these: labels u8 in place of i64, inputs u8 in place of f32. Rows are shuffled and batched here (those of
     *  which the number is not known in a buffer of 10000); batches are taken as they come (so shuffle before
     *  mst_dataset_batch, and add a prefetch after a map that is slow). */
    const mst_dataset *data;
    const mst_dataset *validation; /**< evaluated after each epoch; rows or batches */
    /** In place of .validation: this part of the rows of .data is evaluated after each epoch, and not trained on; above
     *  0, below 1. The rows are drawn by the seed of mst_compile, of each class its share where the loss of the first
     *  output is a cross entropy of classes (mst_dataset_split). A class that is missing in a part is told on
     *  .progress. The data must have rows, a known number of them, in an order that is the same in each epoch. */
    double validation_split;
    bool validation_last; /**< .validation_split takes the last rows, as Keras does */
    int64_t batch_size;   /**< global; default 32, or that of the data */
    int64_t epochs;       /**< default 1 */
    int64_t steps;        /**< > 0: number of steps in all, in place of epochs; for data without end */
    /** Goes on with the fit that the store is in the middle of, from the batch after its last: where it was stopped, or
     *  where the snapshot was taken that has been restored. Epochs and steps count from its beginning; the weights end
     *  with the bits of a fit that was not stopped. If there is none, it begins. */
    bool resume;
    bool no_shuffle;
    bool drop_remainder;
    /** Steps after which the replicas of the weights are compared, over the devices of a mirrored training and the
     *  workers of a cluster: if one has other bits, the fit ends with MST_CORRUPT, naming step, variable and device
     *  or worker, on all workers. 0: at the end of each epoch; -1: never. */
    int64_t check_replicas;
    const mst_callback *callbacks;
    int num_callbacks;
    FILE *progress; /**< where to show progress; NULL: nowhere */
    mst_progress progress_kind;
    struct mst_history *history; /**< gets a row for each epoch; may be NULL */
} mst_fit_options;

/** What the epochs of a fit gave, as Keras' history: columns "loss", each metric, "val_loss", each metric with "val_",
 *  "learning_rate". Zero-initialised is empty; mst_fit appends; to be freed with mst_history_free. */
typedef struct mst_history {
    int64_t num_epochs;
    int num_columns;
    const char **column; /**< [num_columns] */
    double *value;       /**< [num_epochs][num_columns] */
} mst_history;
/** The value of COLUMN in EPOCH (from 0); NaN where there is none. */
MST_API double mst_history_at(const mst_history *history, int64_t epoch, const char *column);
/** Frees what it holds, and makes it empty. */
MST_API void mst_history_free(mst_history *history);

typedef struct mst_result {
    int64_t step, epochs, examples;
    double loss; /**< of the last epoch */
    int num_metrics;
    const char *metric_name[MST_MAX_METRICS];
    double metric[MST_MAX_METRICS];
    double examples_per_sec;   /**< without start-up and the first step */
    double first_step_seconds; /**< from the call to the end of the first step */
    double seconds;
    double waited_for_data; /**< part of the time after the first step: reading, decoding, shuffling; from 0 to 1 */
    bool stopped;           /**< by a callback, before its last step */
    bool has_validation;    /**< of a fit: the last epoch was validated */
    double validation_loss, validation_metric[MST_MAX_METRICS]; /**< of the last epoch */
} mst_result;

/** Trains; RESULT may be NULL. With parameter servers it returns when all workers have made their last step. A loss
 *  that is NaN or Inf ends it with MST_NUMERICS, naming the step and the last good loss. */
MST_API MST_CHECKED mst_status mst_fit_with(mst_model *model, const mst_fit_options *options, mst_result *result);
#define mst_fit(model, ...) mst_fit_with((model), &MST_NAMED(mst_fit_options, __VA_ARGS__), NULL)

/** MST_INVALID, naming what there is, if no epoch of a fit of the compiled MODEL will have a value NAME to be
 *  monitored: "loss", a metric, or if it VALIDATES one of these with "val_" before it. Callbacks that monitor
 *  something ask before the first epoch. */
MST_API MST_CHECKED mst_status mst_model_check_monitor(mst_model *model, const char *name, bool validates);

/** Builds what a fit of DATA would (TRAINING), or evaluating it, or, if it has no labels, predicting, and gives
 *  variables without a value their first one: so that a checkpoint can be compared with what is there. */
MST_API MST_CHECKED mst_status mst_build(mst_model *model, const mst_dataset *data, bool training);

/** Loss and metrics over a data set, in batches of BATCH_SIZE rows, or (BATCH_SIZE 0) in those it has; CONFUSION (may
 *  be NULL) receives an i64 [classes, classes] tensor, rows labels, columns predictions, owned by the caller: of class
 *  numbers, of one-hot rows or distributions by their largest number, of a single binary output [2, 2]; NULL if the
 *  loss is none of these, or the model has several outputs. */
MST_API MST_CHECKED mst_status mst_evaluate(mst_model *model, const mst_dataset *data, int64_t batch_size,
                                            mst_result *result, mst_tensor **confusion);
/** The same of a model with several outputs: CONFUSION[i] (CONFUSION may be NULL) for each, NUM_OUTPUTS in all. */
MST_API MST_CHECKED mst_status mst_evaluate_all(mst_model *model, const mst_dataset *data, int64_t batch_size,
                                                mst_result *result, mst_tensor **confusion, int num_outputs);
/** The model's outputs for all rows, [n, ...]; owned by the caller. DATA and BATCH_SIZE as in mst_evaluate, labels are
 *  not needed. */
MST_API MST_CHECKED mst_status mst_predict(mst_model *model, const mst_dataset *data, int64_t batch_size,
                                           mst_tensor **out);

/** The same of a model with several outputs: OUT[i] for each, NUM_OUTPUTS in all. */
MST_API MST_CHECKED mst_status mst_predict_all(mst_model *model, const mst_dataset *data, int64_t batch_size,
                                               mst_tensor **out, int num_outputs);

/** Hex SHA-256 (64 digits and a 0) of the logical weights sorted by name: for each its name, dtype name and shape as
 *  text, then its little-endian bytes. */
MST_API MST_CHECKED mst_status mst_model_sha256(mst_model *model, char hex[65]);
/** The weights become the moving averages that the optimizer (.ema_decay) has kept of them; MST_NOT_FOUND if it has
 *  none. With parameter servers, call it after mst_fit, which brings the averages to every worker. */
MST_API MST_CHECKED mst_status mst_model_use_averages(mst_model *model);
/** All state of the model: weights, optimizer, position in the data (entries of the container "fit"), seed. Snapshots
 *  of it can be taken while fit runs, and restored into another model, compiled or not, with the same layers. The
 *  model's reference. */
MST_API mst_store *mst_model_store(mst_model *model);
/** Graph and session of a compiled model, for what the functions above do not do. */
MST_API mst_graph *mst_model_graph(mst_model *model);
MST_API mst_session *mst_model_session(mst_model *model);
/** Replicas in sync: the shards into which each batch of training is cut, over the devices of all workers. 0 if
 *  MODEL is not compiled. */
MST_API int mst_model_num_replicas(const mst_model *model);

#ifdef __cplusplus
}
#endif
#endif
