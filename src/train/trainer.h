/** A trainer, made by mst_compile for a model. It has the graph, the session, and the steps that fit, evaluate and
 *  predict run. */
#ifndef MUSTER_TRAIN_TRAINER_H
#define MUSTER_TRAIN_TRAINER_H

#include <pthread.h>
#include <stdio.h>

#include "base/shard_rows.h"
#include "model/model.h"
#include "muster/train.h"
#include "train/cooperation.h"

struct mst_step_batch;

/** The rows of a batch that are fed to a placeholder: the context of its fill function. */
typedef struct mst_rows {
    struct mst_sharded_step *step;
    const mst_batch *batch; /**< NULL: no run of the step is under way, or its deadline has passed */
    int component;          /**< of the data */
    int64_t first;          /**< index in the batch of the first row that is fed */
} mst_rows;

/** A step over all shards: its placeholders and feeds, and its fetches and their last values. */
typedef struct mst_sharded_step {
    struct mst_trainer *trainer;
    bool training;
    mst_strategy strategy; /**< copy of the trainer's; for evaluating, each task of a cluster has all shards */
    mst_step_values values;
    mst_value *placeholder;   /**< [shards here][num_components] */
    mst_value *confusion;     /**< [num_outputs][shards here], of the evaluating step; MST_NONE: there are no classes */
    mst_feed *feed;           /**< like placeholder */
    mst_rows *rows;           /**< like placeholder */
    pthread_rwlock_t filling; /**< guards `rows`, which devices read while they copy rows */
    mst_value *fetch;
    mst_tensor **output;
    int num_fetches;
    /** [output]: index in `fetch` of its confusion matrix, which is behind the first num_fetches; 0: none. */
    int confusion_at[MST_MAX_OUTPUTS];
    int num_confusions;
    bool counts_confusion; /**< confusion matrices are fetched; element [i, j] counts examples of class i with class j
                                predicted */
    mst_tensor *divisor;   /**< fed: number of rows of the batch of all workers; NULL: nothing is fed */
    mst_tensor **gradient; /**< gradients of the step's values; a part of `output`. NULL: none */
    bool built;
} mst_sharded_step;

/** The shards that this task computes of STEP, which is built. */
mst_shard_window mst_trainer_window(const mst_sharded_step *step);

/** The rows of the shard with index SHARD among those of this task, in a batch of SIZE rows. */
mst_row_range mst_trainer_rows(const mst_sharded_step *step, int shard, int64_t size);

/** Fetches of a step, in this order:
 *
 *      evaluating   loss | examples | sum and count of each metric, of the batch | confusion matrices, if counted
 *      training     loss | examples | sum and count of each metric, of the epoch so far | sum of losses and examples of
 *                   the epoch so far | global_step before the step | the update | the position (mst_position_build) */
enum { MST_FETCH_LOSS, MST_FETCH_COUNT, MST_FETCH_METRICS };
/** The number of sums that an epoch of training keeps: of the metrics, of the losses, and of the examples. */
#define MST_NUM_SUMS(num_metrics) (2 * (num_metrics) + 2)

/** One of the numbers that are reported for an output: a metric of the library or of the user, or the output's loss. */
typedef struct mst_measure {
    int output;
    mst_metric metric;               /**< MST_METRIC_NONE: the number is `custom` or the loss */
    const mst_custom_metric *custom; /**< NULL: none */
    bool is_loss;                    /**< it is the loss of the output */
} mst_measure;
/** The value of MEASURE from its SUM and COUNT, as fetched from MST_FETCH_METRICS on. */
double mst_measure_result(const mst_measure *measure, const mst_tensor *sum, const mst_tensor *count);

/** The members of a trainer for sharded state (train/sharded_state.h). */
typedef struct mst_sharded_state {
    mst_value wants;  /**< placeholder: whether this worker asks that the chief collect all slots */
    mst_tensor *want; /**< the tensor that is fed to `wants` */
    int fetch;        /**< index of the fetch with the number of workers that ask for it */
    bool wants_next;  /**< the value to feed for the next step */
    FILE *kept;       /**< the chief's kept state; NULL: nothing was kept */
    bool has_kept;    /**< the file has a complete state */
    bool lost;        /**< this worker's state must not be used: the worker gets the chief's state */
} mst_sharded_state;

typedef struct mst_trainer {
    mst_model *model;
    mst_compile_options options;
    mst_strategy strategy;
    int asked_shards; /**< number of shards at compile: a resumed fit may use another (resumed_shards.h) */
    const mst_cooperation *cooperation; /**< how the tasks of this training work together */
    mst_cooperation_rules rules;
    const char **devices; /**< names of the strategy's devices; the strings belong to the session */
    mst_optimizer optimizer;
    mst_graph *graph;
    mst_session *session;
    int num_metrics;
    const char *metric_name[MST_MAX_METRICS];
    mst_measure measure[MST_MAX_METRICS];        /**< like metric_name */
    mst_arena names;                             /**< memory of metric_name */
    int num_inputs, num_outputs, num_components; /**< components of the data: inputs, labels, perhaps weights */
    mst_spec *row;                               /**< [num_components]: dtype and shape of a row, without the batch */
    mst_target *target;                          /**< [num_outputs] */
    int64_t *num_classes;                        /**< [num_outputs]: the last dimension of the output */
    mst_tensor **class_weight;                   /**< [num_outputs]; NULL: none */
    mst_sharded_step train, evaluate;
    mst_sharded_state sharded;
    bool is_left;       /**< a lost task has not come back; the state of this task is complete */
    mst_graph **update; /**< on the chief, [num_updates]: update of each parameter server (train/server_updates.h) */
    int num_updates;
    mst_value *predict; /**< [num_inputs], then [num_outputs]; NULL: not built */
} mst_trainer;

/** Calls the function SLOT of the table TRAINER->cooperation, which returns a status. MST_OK if the table has NULL for
 *  it. */
#define MST_COOPERATE(trainer, slot, ...) \
    ((trainer)->cooperation->slot ? (trainer)->cooperation->slot(__VA_ARGS__) : MST_OK)
/** Calls the function SLOT of the table TRAINER->cooperation, which returns bool. False if the table has NULL for
 *  it. */
#define MST_COOPERATION_SAYS(trainer, slot, ...) \
    ((trainer)->cooperation->slot && (trainer)->cooperation->slot(__VA_ARGS__))

/** The trainer of a compiled model; MST_INVALID if it is not compiled. */
MST_CHECKED mst_status mst_trainer_of(mst_model *model, mst_trainer **out);
/** A placeholder [n, ...] for any number of rows of dtype and shape ROW. */
mst_value mst_trainer_placeholder(mst_graph *graph, const mst_spec *row, const char *name);
/** Builds the step, if it is not built yet, and gives new variables their first values. */
MST_CHECKED mst_status mst_trainer_build(mst_trainer *trainer, mst_sharded_step *step, bool training);
/** Chooses how many devices the strategy uses: all devices of the session. In a cluster it is the largest number of
 *  them that divides the number of shards of this task. */
void mst_trainer_choose_devices(mst_trainer *trainer);
/** Replaces the graph of the trainer by a new one without steps, so that names of nodes can be used again. Values of
 *  the old graph become invalid. */
MST_CHECKED mst_status mst_trainer_empty_graph(mst_trainer *trainer);
/** As mst_trainer_build, for the outputs of mst_predict. */
MST_CHECKED mst_status mst_trainer_build_predict(mst_trainer *trainer);
/** Runs the step on a batch (train/step_batches.h), whose rows are divided among the shards. */
MST_CHECKED mst_status mst_trainer_run(mst_sharded_step *step, const struct mst_step_batch *batch);

#endif
