/** Training a model: compile, fit, evaluate, predict. */
#ifndef MUSTER_TRAIN_H
#define MUSTER_TRAIN_H

#pragma GCC system_header /* see muster/named.h */

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

/** A metric of your own, in one of two forms. `function`: the metric is the mean of its values over the examples.
 *  `counts`: its two values are added up over all batches and shards, and `result` computes the metric from the two
 *  sums. Errors in building it name the metric. */
typedef struct mst_custom_metric {
    const char *name; /**< default "custom_metric" */
    mst_example_function function;
    void *context;      /**< for all functions */
    const char *output; /**< the name of the output that it measures; NULL: all outputs */
    /** In place of `function`: builds two values of a batch, f64 of one shape, [] or [n]. */
    mst_metric_values (*counts)(void *context, mst_value labels, mst_value predictions);
    /** With `counts`: the metric from both, [N], each added up. NULL: sum / count of their first elements, 0 if the
     *  count is 0. */
    double (*result)(void *context, const double *sum, const double *count, int64_t n);
    /** Larger values are better: for early stopping and other callbacks that monitor it. False: smaller values are,
     *  unless `name` is the name of a metric of the library for which larger values are. */
    bool larger_is_better;
} mst_custom_metric;

enum { MST_MAX_TARGET_METRICS = 8 };
/** What one output of a model with several is trained for. */
typedef struct mst_target {
    const char *output; /**< name of its layer; NULL: the output with the index of this target */
    mst_loss loss;
    bool from_probabilities;
    double ignore_class;                /**< as in mst_compile */
    mst_example_function loss_function; /**< used instead of `loss` */
    void *loss_context;
    double weight; /**< weight of its loss in the sum of all losses; default 1; MST_ZERO for 0 */
    /** Metrics of this output, instead of those of all outputs; ended by MST_METRIC_NONE. Empty: those of all
     *  outputs. */
    mst_metric metric[MST_MAX_TARGET_METRICS];
    int64_t positive; /**< precision, recall, f1, auc, pr_auc: of this class, MST_CLASS(i); 0: of all together */
    const double *class_weight; /**< [num_class_weights], as in mst_compile, for the loss of this output */
    int num_class_weights;
} mst_target;
enum { MST_MAX_TARGETS = 16, MST_MAX_CUSTOM_METRICS = 8 };

/** Labels may have any number of dimensions, such as a class for each pixel, [height, width], for an output [height,
 *  width, classes]. The loss of an example is then the mean over its positions; metrics count positions.
 *
 *  The loss of an example is the loss of its output, times the weight of its class, times the weight of the example.
 *  The class counts only in training, as in Keras. With several outputs, the loss of an example is the sum of their
 *  losses, each times its target's weight. Metrics ignore weights. With several outputs, each metric is reported as
 *  "OUTPUT_accuracy" for each output that has no metrics of its own (.target). The loss of each output is reported as
 *  "OUTPUT_loss", without its target's weight. */
typedef struct mst_compile_options {
    int zero_;
    mst_optimizer optimizer; /**< default mst_sgd(.learning_rate = 0.01) */
    mst_loss loss;           /**< default sparse categorical cross entropy */
    bool from_probabilities; /**< the model's outputs are probabilities, not logits */
    /** The label of positions that do not count, such as -1 or 255, with the sparse categorical cross entropy: Keras'
     *  ignore_class. The loss of a batch is the mean over the positions that count. Metrics and confusion matrices skip
     *  the other positions too. 0: none; MST_ZERO: class 0. */
    double ignore_class;
    mst_example_function loss_function; /**< used instead of `loss` */
    void *loss_context;
    /** Targets of outputs. An output whose entry is all zero takes the options above, from `loss` to `loss_context`. */
    mst_target target[MST_MAX_TARGETS];
    mst_metric metric[MST_MAX_METRICS]; /**< ended by MST_METRIC_NONE */
    int64_t positive;                   /**< as in mst_target, for outputs to which `loss` applies */
    mst_custom_metric custom_metric[MST_MAX_CUSTOM_METRICS]; /**< ended by one with neither function nor counts */
    /** [num_class_weights]: weights of examples by their class. Labels are numbers of classes, one-hot, or, with a
     *  binary cross entropy of one output, 0 or 1. Each position of an example has the weight of its own class. Used
     *  only in training: not for "val_loss" and mst_evaluate. For a model with one output; with several, each .target
     *  has its own. */
    const double *class_weight;
    int num_class_weights;
    /** The last component of the data is the weight of each example: a number, or if labels have positions also one
     *  number for each position. */
    bool sample_weights;
    mst_strategy strategy;       /**< num_devices is taken from the session's devices */
    mst_session_options session; /**< devices, placement, limits */
    mst_precision precision;     /**< precision of products; default: that of the session */
    mst_task *task; /**< with MST_STRATEGY_MULTI_WORKER: this process in its cluster; must outlive the model */
    uint64_t seed;  /**< seed of initial values, dropout and shuffling */
} mst_compile_options;
/** Must be called before fit, evaluate and predict. A second call keeps the weights, but resets the optimizer's state
 *  and the position in the data, as Keras does. Devices and strategy may change. */
MST_API MST_CHECKED mst_status mst_compile_with(mst_model *model, const mst_compile_options *options);
#define mst_compile(model, ...) mst_compile_with((model), &MST_NAMED(mst_compile_options, __VA_ARGS__))

/** How far training has come; given to callbacks. */
typedef struct mst_train_state {
    mst_model *model;
    int64_t epoch, num_epochs; /**< from 0 */
    int64_t step_in_epoch, steps_per_epoch;
    int64_t step, num_steps; /**< updates made (global_step); step at which training ends, -1: not known */
    int64_t examples;        /**< examples of this epoch so far */
    double step_loss;        /**< of the last step */
    double loss;             /**< mean over the examples of the epoch so far */
    int num_shards;          /**< parts of a batch, one for each replica */
    int num_metrics;
    const char *metric_name[MST_MAX_METRICS];
    double metric[MST_MAX_METRICS]; /**< over the epoch so far */
    bool validates;                 /**< the fit has validation data */
    int64_t validation_steps;       /**< batches of the validation data; 0: there is none, -1: not known */
    bool has_validation;            /**< at the end of an epoch with validation data */
    double validation_loss, validation_metric[MST_MAX_METRICS];
    double learning_rate; /**< a callback may set it, if the optimizer has no schedule. With parameter servers only the
                           *   chief's callbacks change the updates */
    double seconds;       /**< since training began */
    double step_seconds;  /**< of the last step */
    double examples_per_sec; /**< without start-up and the first step */
    bool stop;               /**< set by a callback: training ends cleanly after this step, unless it is the last */
    bool resumed;            /**< this fit continues one that was stopped */
    bool follows;            /**< only the chief's callbacks decide when training ends: this is another worker, with
                           *   parameter servers that are asynchronous or have backup workers */
    bool failed;             /**< in train_end: training has ended with an error */
} mst_train_state;

/** Functions may be NULL. train_end is called once for each callback given to mst_fit, even if the fit fails before its
 *  first step. The position in the store moves to the next epoch only after epoch_end. A fit that is resumed from a
 *  snapshot taken in epoch_end therefore calls epoch_end for that epoch once more. On each worker of a cluster,
 *  epoch_begin and epoch_end are called once for each epoch, even if another worker was lost meanwhile. If a worker
 *  returns within an epoch, or a fit is resumed there, epoch_begin is called with step_in_epoch greater than 0. */
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

/** Stops when the monitored value has not improved by more than min_delta for `patience` epochs, as Keras does. The
 *  best value and the best weights so far are in the store, and so in its snapshots and checkpoints: a resumed fit
 *  continues with them. Put it before mst_checkpoint_callback in the list of callbacks. With restore_best_weights the
 *  last checkpoint then has the best weights as the model's weights. The last weights are stored beside them, and a fit
 *  that is resumed from this checkpoint continues from the last weights. */
typedef struct mst_early_stopping {
    int zero_;
    const char *monitor; /**< "loss", "val_loss", or a metric's name, with "val_" before it; default "val_loss" */
    double min_delta;
    int64_t patience;
    bool maximize;             /**< larger is better; not needed for metrics that say so, such as "accuracy" */
    bool restore_best_weights; /**< training ends with the weights of the best epoch, whatever ends it */
    double best;               /**< state */
    int64_t best_epoch, waited, counted; /**< state; `counted`: number of epochs considered so far */
    bool has_best_weights, has_trained;
} mst_early_stopping;
MST_API mst_callback mst_early_stopping_callback(mst_early_stopping *state);
/** Returns the learning rate of EPOCH (from 0). LEARNING_RATE is the rate before. */
typedef double (*mst_epoch_schedule)(void *context, int64_t epoch, double learning_rate);
/** Sets the learning rate of each epoch; for optimizers without a schedule. */
typedef struct mst_learning_rate_scheduler {
    void *context; /**< for `schedule` */
    mst_epoch_schedule schedule;
} mst_learning_rate_scheduler;
MST_API mst_callback mst_learning_rate_callback(mst_learning_rate_scheduler *scheduler);

/** Multiplies the learning rate by `factor` when the monitored value has not improved by more than min_delta for
 *  `patience` epochs, as Keras does. It is for optimizers without a schedule. Its state is in the store: a resumed fit
 *  continues with it. Put it before mst_checkpoint_callback in the list of callbacks. For a monitored "val_...", epochs
 *  without validation do not count. */
typedef struct mst_reduce_on_plateau {
    int zero_;
    const char *monitor;              /**< as in mst_early_stopping */
    double factor;                    /**< below 1; default 0.1 */
    int64_t patience;                 /**< default 10 */
    double min_delta;                 /**< default 1e-4; MST_ZERO for 0 */
    int64_t cooldown;                 /**< epochs after a reduction that do not count */
    double min_learning_rate;         /**< lower limit of the learning rate */
    bool maximize;                    /**< as in mst_early_stopping */
    double best;                      /**< state */
    int64_t waited, cooling, counted; /**< state; `counted`: number of epochs considered so far */
    double reduced;                   /**< state: learning rate set after the last epoch; 0: none */
} mst_reduce_on_plateau;
MST_API mst_callback mst_reduce_on_plateau_callback(mst_reduce_on_plateau *state);

/** Writes what Keras' TensorBoard callback writes, under its tags: the loss and the metrics of each epoch, and further
 *  values that the options select. They go to FOLDER/train and FOLDER/validation. With asynchronous parameter servers,
 *  the chief also writes a histogram of the staleness of each epoch's gradients. A resumed fit makes TensorBoard drop
 *  points of later steps, so curves have no doubled points. docs/tensorboard.md shows examples. */
typedef struct mst_tensorboard {
    int zero_;
    const char *folder;
    int64_t histograms_every; /**< epochs between histograms of the weights; 0: none */
    int64_t update_every;     /**< steps between points of batch_loss and batch metrics; 0: none */
    bool no_graph;
    /** Steps to trace, counted from 1: their times in TensorBoard's graph, and FOLDER/trace-FIRST-LAST.json, a Chrome
     *  trace. Both 0: none. */
    int64_t profile_first, profile_last;
    const mst_hparam *hparams; /**< hyperparameters of this training; may be NULL */
    int num_hparams;
    struct mst_tensorboard_log *log; /**< state */
} mst_tensorboard;
MST_API mst_callback mst_tensorboard_callback(mst_tensorboard *tensorboard);

/** Writes a row of CSV for each epoch, as Keras' callback of that name does. The columns are epoch (from 0), loss,
 *  metrics, the same for the validation data with "val_" before the names, learning_rate, and seconds since training
 *  began. An old file is replaced. A resumed fit keeps the rows of earlier epochs, and continues their seconds. */
typedef struct mst_csv_logger {
    int zero_;
    const char *path;
    FILE *stream; /**< gets the rows of this fit in place of a file at PATH; it is not closed */
    FILE *file;   /**< state */
    bool has_validation;
    double seconds_before;
} mst_csv_logger;
MST_API mst_callback mst_csv_logger_callback(mst_csv_logger *logger);

typedef enum mst_progress {
    MST_PROGRESS_AUTO = 0, /**< a bar if the output is a terminal, else a line per epoch */
    MST_PROGRESS_BAR,
    /** `step 100, loss = 0.5213, accuracy = 0.8123 (91000.0 examples/sec; 0.002 sec/batch)`: means over the epoch so
     *  far, counting batches of one replica; and a line per epoch */
    MST_PROGRESS_LINES,
    MST_PROGRESS_NONE
} mst_progress;

typedef struct mst_progress_state mst_progress_state;
/** Makes a callback that shows progress on FILE. Its state is freed at the end of training. EVERY: steps between
 *  lines. If FILE is a pipe whose other end is closed, as by `| head`, training stops without an error. */
MST_API MST_CHECKED mst_status mst_progress_callback(mst_progress kind, FILE *file, int64_t every, mst_callback *out);

typedef struct mst_fit_options {
    int zero_;
    /** Components: the inputs of the model in their order, the labels of each output, and with sample_weights the
     *  weights. Their dtypes are those of the data that the model was built for, or dtypes that convert to these
     *  without loss: labels may be u8 instead of i64, and inputs u8 instead of f32. If the elements are rows, fit
     *  shuffles and batches them; if their number is not known, it shuffles in a buffer of 10000. If the elements are
     *  batches, fit uses them in their order: shuffle before mst_dataset_batch, and add a prefetch after a slow map. */
    const mst_dataset *data;
    const mst_dataset *validation; /**< evaluated after each epoch; rows or batches */
    /** Instead of .validation: this part of the rows of .data (above 0, below 1) is evaluated after each epoch, and not
     *  trained on. The rows are drawn by the seed of mst_compile. If the loss of the first output is a cross entropy of
     *  classes, each class keeps its share (mst_dataset_split). A class that is missing in a part is reported on
     *  .progress. The data must have rows, a known number of them, in an order that is the same in each epoch. */
    double validation_split;
    bool validation_last; /**< .validation_split takes the last rows, as Keras does */
    int64_t batch_size;   /**< of the global batch; default 32, or the batch size of batched data */
    int64_t epochs;       /**< default 1 */
    int64_t steps;        /**< > 0: total number of steps, instead of epochs; for data without end */
    /** Continues an interrupted fit, whose state is in the store. It begins with the batch after the one at which that
     *  fit was stopped, or at which the restored snapshot was taken. Epochs and steps count from that fit's beginning.
     *  The weights end with the bits of an uninterrupted fit. Devices that compile may have to compile programs anew,
     *  which may change a bit: that is reported on .progress. If the store has no such fit, a new one begins.
     *
     *  If the strategy has another number of shards, its .resumed_shards says which number is used. If the old number
     *  is used, the graph is rebuilt: values taken from mst_model_graph before are then invalid. In a cluster, workers
     *  get the state and the number of shards of the chief. MST_INVALID if there are fewer shards than workers, or the
     *  number of devices does not divide the number of shards; in a cluster a task then uses fewer of its devices. */
    bool resume;
    bool no_shuffle;
    bool drop_remainder;
    /** Steps between comparisons of the replicas of the weights, over the devices of a mirrored training and the
     *  workers of a cluster. If one has other bits, the fit ends on all workers with MST_CORRUPT, naming step, variable
     *  and device or worker. Value 0: once at the end of each epoch; -1: never. */
    int64_t check_replicas;
    const mst_callback *callbacks;
    int num_callbacks;
    FILE *progress; /**< where to show progress and warnings; NULL: nowhere */
    mst_progress progress_kind;
    struct mst_history *history; /**< gets a row for each epoch; may be NULL */
} mst_fit_options;

/** The values of the epochs of fits, as Keras' history. The columns are "loss", each metric, "val_loss", each metric
 *  with "val_", and "learning_rate". Zero-initialised, it is empty. mst_fit appends to it. Free it with
 *  mst_history_free. */
typedef struct mst_history {
    int64_t num_epochs;
    int num_columns;
    const char **column; /**< [num_columns] */
    double *value;       /**< [num_epochs][num_columns] */
} mst_history;
/** The value of COLUMN in EPOCH (from 0); NaN if there is none. */
MST_API double mst_history_at(const mst_history *history, int64_t epoch, const char *column);
/** Frees the values, and makes the history empty. */
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
    double waited_for_data; /**< fraction of the time after the first step: reading, decoding, shuffling */
    bool stopped;           /**< stopped by a callback before its last step */
    bool has_validation;    /**< of a fit: the last epoch was validated */
    double validation_loss, validation_metric[MST_MAX_METRICS]; /**< of the last epoch */
} mst_result;

/** Trains the model; RESULT may be NULL. With parameter servers it returns when all workers have made their last step.
 *  A loss that is NaN or Inf ends training with MST_NUMERICS, naming the step and the last good loss. */
MST_API MST_CHECKED mst_status mst_fit_with(mst_model *model, const mst_fit_options *options, mst_result *result);
#define mst_fit(model, ...) mst_fit_with((model), &MST_NAMED(mst_fit_options, __VA_ARGS__), NULL)

/** Checks that a fit of the compiled MODEL will have a value NAME to monitor. That is "loss" or a metric; or, if it
 *  VALIDATES, one of these with "val_" before it. If not, MST_INVALID lists the values that there are. Callbacks that
 *  monitor something call it before the first epoch. */
MST_API MST_CHECKED mst_status mst_model_check_monitor(mst_model *model, const char *name, bool validates);

/** Builds the graph, as fit does (TRAINING), or else as mst_evaluate does, or as mst_predict does if DATA
 *  has no labels. Gives initial values to variables that have none. A checkpoint can then be compared with
 *  the model's state. */
MST_API MST_CHECKED mst_status mst_build(mst_model *model, const mst_dataset *data, bool training);

/** Computes loss and metrics over DATA, in batches of BATCH_SIZE rows (0: in its own batches). CONFUSION (may be NULL)
 *  receives an i64 [classes, classes] tensor, owned by the caller: rows are labels, columns predictions. It is NULL if
 *  the loss is not one of classes, or the model has several outputs. The class of a one-hot row or a distribution is
 *  that of its largest value; a single binary output gives [2, 2]. */
MST_API MST_CHECKED mst_status mst_evaluate(mst_model *model, const mst_dataset *data, int64_t batch_size,
                                            mst_result *result, mst_tensor **confusion);
/** As mst_evaluate, for a model with several outputs: CONFUSION[i] (CONFUSION may be NULL) for each of NUM_OUTPUTS. */
MST_API MST_CHECKED mst_status mst_evaluate_all(mst_model *model, const mst_dataset *data, int64_t batch_size,
                                                mst_result *result, mst_tensor **confusion, int num_outputs);
/** Computes the model's outputs for all rows, [n, ...], owned by the caller. DATA and BATCH_SIZE are as in
 *  mst_evaluate; labels are not needed. */
MST_API MST_CHECKED mst_status mst_predict(mst_model *model, const mst_dataset *data, int64_t batch_size,
                                           mst_tensor **out);

/** As mst_predict, for a model with several outputs: OUT[i] for each of NUM_OUTPUTS. */
MST_API MST_CHECKED mst_status mst_predict_all(mst_model *model, const mst_dataset *data, int64_t batch_size,
                                               mst_tensor **out, int num_outputs);

/** Hex SHA-256 (64 digits and a 0) of the logical weights sorted by name: for each its name, dtype name and shape as
 *  text, then its little-endian bytes. */
MST_API MST_CHECKED mst_status mst_model_sha256(mst_model *model, char hex[65]);
/** Replaces the weights by their moving averages, which the optimizer (.ema_decay) has kept. MST_NOT_FOUND if it has
 *  kept none. With parameter servers, call it after mst_fit, which brings the averages to every worker. */
MST_API MST_CHECKED mst_status mst_model_use_averages(mst_model *model);
/** The store with all state of the model: weights, optimizer, position in the data (entries of the container "fit"),
 *  seed. Snapshots of it can be taken while fit runs. They can be restored into another model with the same layers,
 *  compiled or not. The reference belongs to the model. */
MST_API mst_store *mst_model_store(mst_model *model);
/** Graph and session of a compiled model, for everything that the functions above do not do. */
MST_API mst_graph *mst_model_graph(mst_model *model);
MST_API mst_session *mst_model_session(mst_model *model);
/** The number of replicas, which is the number of shards into which each batch of training is cut, over the devices of
 *  all workers. It is 0 if MODEL is not compiled. A resumed fit may change it to the number of its checkpoint, which
 *  mst_checkpoint_num_shards reads earlier. */
MST_API int mst_model_num_replicas(const mst_model *model);

#ifdef __cplusplus
}
#endif
#endif
