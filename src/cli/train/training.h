/** One run of `muster train`: what its files share. */
#ifndef MUSTER_CLI_TRAIN_TRAINING_H
#define MUSTER_CLI_TRAIN_TRAINING_H

#include "cli/evaluate/evaluate.h"
#include "cli/model/class_names.h"
#include "cli/model/label_kind.h"
#include "cli/model/name_map.h"
#include "cli/model/network_end.h"
#include "cli/model/network_file.h"
#include "cli/model/objective.h"
#include "cli/model/table_layers.h"
#include "cli/train/stand_in.h"
#include "cli/train/train_events.h"
#include "cli/train/train_options.h"
#include "muster/checkpoint.h"
#include "muster/cluster.h"
#include "muster/device.h"
#include "muster/task.h"

typedef struct training {
    const train_options *o;
    const option_list *list;
    const char *data; /**< specification */
    char *devices;    /**< specification; owned */
    mst_device_info *device;
    int num_devices, idle_cores; /**< idle: only where the devices were chosen for the user */
    int others;                  /**< programs that keep all cores busy, likewise; 0: there are not so many */
    mst_cluster *cluster;        /**< NULL: none */
    bool is_alone;               /**< the cluster has only this worker, which needs no task */
    mst_task *task;              /**< NULL: none */
    bool evaluates;              /**< this task is the evaluator of the job, and does not train */
    mst_strategy strategy;
    mst_precision precision; /**< that was asked for */
    mst_optimizer optimizer;
    mst_loss loss;                        /**< of --loss, where the model is made by the command */
    label_kind labels;                    /**< without --loss: what the labels of a table are */
    objective objective[MST_MAX_TARGETS]; /**< of each output */
    int num_objectives;
    class_names names[MST_MAX_TARGETS];    /**< of the classes of each output; NULL where they are not known */
    int64_t label_classes;                 /**< that the labels have; 0: not counted */
    double *class_weight[MST_MAX_TARGETS]; /**< of each output, [num_class_weights]; NULL: all alike */
    int num_class_weights[MST_MAX_TARGETS];
    int64_t batch_size;
    mst_dtype stored_inputs[MST_MAX_TARGETS]; /**< of the train part, before they are scaled */
    mst_dataset *train, *validation, *test;
    table_layers table; /**< of the columns, at the beginning of the model */
    mst_model *model;
    bool is_application;         /**< a network of muster/applications.h */
    const char *network;         /**< the file of --model or --load that has the network; NULL: none. Of it are: */
    bool has_weights;            /**< of --load, with weights */
    mst_model_compiled compiled; /**< loss, and of --load the optimizer, that were saved with it */
    network_ends ends;
    int64_t num_tokens; /**< that an embedding at its beginning has rows for; 0: it begins with none */
    char *schema;       /**< of the texts that it was trained on, whose vocabulary counts; NULL: none. Owned */
    train_events events;
    mst_tensorboard log; /**< folder NULL: none */
    mst_csv_logger history;
    mst_checkpoint_manager *checkpoints; /**< NULL: none are written; with --elastic: not by this worker now */
    char *checkpoint;                    /**< the newest at the end; NULL: none. Owned */
    stand_in logs, rows, saves;          /**< with --elastic: the callbacks of log, history and checkpoints */
    bool writes;                         /**< this process writes the files at the end of training */
    bool has_told;                       /**< that another process has the folder of checkpoints */
    mst_snapshot *trained;               /**< the state before --use-ema, where it may have to be written; NULL: not */
    mst_early_stopping stopping;
    mst_reduce_on_plateau plateau;
    name_map variables; /**< what they are called in a file that is restored */
    bool resumes;       /**< a checkpoint has been restored, whose fit goes on */
    bool new_rate;      /**< with another learning rate than was given before */
    mst_result result;
    evaluation tested; /**< of the test part; with no examples where it was not measured */
    char sha256[65];
} training;

#endif
