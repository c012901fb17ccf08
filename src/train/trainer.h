/** What mst_compile makes of a model: graph, session, and the steps that fit, evaluate and predict run. */
#ifndef MUSTER_TRAIN_TRAINER_H
#define MUSTER_TRAIN_TRAINER_H

#include "model/model.h"
#include "muster/train.h"

/** Rows of one batch for one placeholder: what a feed's fill function gets. */
typedef struct mst_rows {
    const mst_batch *batch;
    int component;
    int64_t first;
} mst_rows;

/** A step over all shards, with what it is fed and what it gives. */
typedef struct mst_sharded_step {
    struct mst_trainer *trainer;
    bool training;
    mst_step_values values;
    mst_value *placeholder; /**< [num_shards][num_components] */
    mst_value *confusion;   /**< [num_shards], only when evaluating; none where there are no classes */
    mst_feed *feed;         /**< like placeholder */
    mst_rows *rows;         /**< like placeholder */
    mst_value *fetch;
    mst_tensor **output;
    int num_fetches;
    mst_value total_confusion;
    bool built;
} mst_sharded_step;

/** Fetches of a step, in order; then sum and count of each metric. When training, these are of the epoch so far, and
 *  the sum of its losses, its examples, global_step before the step and the update follow. */
enum { MST_FETCH_LOSS, MST_FETCH_COUNT, MST_FETCH_METRICS };
/** Sums of an epoch of training. */
#define MST_NUM_SUMS(num_metrics) (2 * (num_metrics) + 2)

/** One of the reported metrics. */
typedef struct mst_measure {
    int output;
    mst_metric metric;               /**< MST_METRIC_NONE: one of the two below */
    const mst_custom_metric *custom; /**< NULL: none */
    bool is_loss;                    /**< of the output */
} mst_measure;

typedef struct mst_trainer {
    mst_model *model;
    mst_compile_options options;
    mst_strategy strategy;
    const char **devices; /**< names, of the session; of the strategy */
    mst_optimizer optimizer;
    mst_graph *graph;
    mst_session *session;
    int num_metrics;
    const char *metric_name[MST_MAX_METRICS];
    mst_measure measure[MST_MAX_METRICS]; /**< like metric_name */
    mst_arena names;
    int num_inputs, num_outputs, num_components; /**< components of the data: inputs, labels, perhaps weights */
    mst_spec *row;                               /**< [num_components], without the batch */
    mst_target *target;                          /**< [num_outputs] */
    int64_t *num_classes;                        /**< [num_outputs], its last dimension */
    mst_tensor *class_weight;                    /**< NULL: none */
    mst_sharded_step train, evaluate;
    mst_value *predict; /**< [num_inputs], then [num_outputs]; NULL: not built */
} mst_trainer;

/* ---- what is trained for: objective.c ------------------------------------------------------------- */

/** Fills in target, measure, metric names and class weights from the options of compiling. */
MST_CHECKED mst_status mst_objective_make(mst_trainer *trainer);
/** "inputs", "labels", or where there are several "input 'left'", "labels of 'out'"; "weights". */
const char *mst_objective_component(const mst_trainer *trainer, int component, char text[160]);
/** Whether the labels of OUTPUT are numbers of classes. */
bool mst_objective_has_classes(const mst_trainer *trainer, int output);
/** The losses and metrics of a replica, from VALUES (its components) and the model's OUTPUTS. Weights of classes count in
 *  TRAINING only. */
void mst_objective_build(mst_trainer *trainer, const mst_value *values, const mst_value *outputs, bool training,
                         mst_replica *out);

/** The confusion matrix of a batch of a model with one output whose loss is one of classes; else MST_NONE. */
mst_value mst_objective_confusion(const mst_trainer *trainer, mst_value labels, mst_value predictions);

/** The trainer of a compiled model; MST_INVALID where it is not compiled. */
MST_CHECKED mst_status mst_trainer_of(mst_model *model, mst_trainer **out);
/** Checks that DATA has inputs and (where WITH_LABELS) labels like those seen before, and a batch that fits. */
MST_CHECKED mst_status mst_trainer_check_data(mst_trainer *trainer, const mst_dataset *data, bool with_labels,
                                              int64_t batch_size);
/** MST_INVALID where DATA has no end. */
MST_CHECKED mst_status mst_trainer_check_end(const mst_dataset *data);
/** A step copies each component of a batch by itself: records would be read, pictures decoded and rows mapped once for
 *  each of them. Where *BATCHES makes rows in such a way, a prefetch takes its place, whose threads make whole batches
 *  ahead, each row once. */
MST_CHECKED mst_status mst_trainer_read_ahead(mst_dataset **batches);
/** One pass over DATA: in batches of BATCH_SIZE, or in its own where it has batches. MST_INVALID where it has
 *  no end. */
MST_CHECKED mst_status mst_trainer_pass(const mst_dataset *data, int64_t batch_size, mst_iterator **out);
/** What rows of ROW are fed to, [n, ...]. */
mst_value mst_trainer_placeholder(mst_graph *graph, const mst_spec *row, const char *name);
/** Builds the step (once) and gives new variables their first values. */
MST_CHECKED mst_status mst_trainer_build(mst_trainer *trainer, mst_sharded_step *step, bool training);
/** Builds the outputs for mst_predict (once), likewise. */
MST_CHECKED mst_status mst_trainer_build_predict(mst_trainer *trainer);
/** Runs the step on a batch, each shard its rows. */
MST_CHECKED mst_status mst_trainer_run(mst_sharded_step *step, const mst_batch *batch);

double mst_clock(void); /**< seconds, monotonic */

/* ---- where training is: position.c ---------------------------------------------------------------- */

/** Entries "fit/..." and "random/seed" of the store. A step counts its batch itself, so that position and weights
 *  always belong together. */
typedef struct mst_position {
    bool begun;                      /**< there is one: a fit has been begun in this store */
    int64_t first_epoch, first_step; /**< where the fit began that is under way or ended last */
    int64_t epoch, batch;            /**< the next batch, and of which epoch; epochs count over all fits */
    int64_t seed;                    /**< of shuffling and random numbers */
    int64_t step;                    /**< global_step */
} mst_position;

/** Variables of the running sums of an epoch, and what a step adds to them; appends the fetches from MST_FETCH_METRICS
 *  on, and returns what a step must run beside its update. */
mst_value mst_position_build(mst_trainer *trainer, mst_sharded_step *step);
/** Where training is; all 0 before the first fit. */
MST_CHECKED mst_status mst_position_read(mst_trainer *trainer, mst_position *out);
/** The sums of the epoch so far. */
MST_CHECKED mst_status mst_position_sums(mst_trainer *trainer, double *out);
/** Sets it (but not global_step), and the sums of the epoch to 0. */
MST_CHECKED mst_status mst_position_begin_epoch(mst_trainer *trainer, const mst_position *position);

#endif
