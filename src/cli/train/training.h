/** One run of `muster train`: the state that its files share. */
#ifndef MUSTER_CLI_TRAIN_TRAINING_H
#define MUSTER_CLI_TRAIN_TRAINING_H

#include "cli/evaluate/evaluate.h"
#include "cli/model/application_pixels.h"
#include "cli/model/class_names.h"
#include "cli/model/label_kind.h"
#include "cli/model/model_note.h"
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
    const char *data;  /**< specification */
    model_note loaded; /**< what the file of --load notes; its texts may be options and `data` */
    char *devices;     /**< specification; owned */
    mst_device_info *device;
    int num_devices, idle_cores; /**< idle_cores: only set if the user did not choose the devices */
    int default_shards;          /**< of a training that begins here without --shards */
    int others;                  /**< number of running threads of other programs, if these keep all cores busy; else 0.
                                  *   Only set if idle_cores is */
    char *accelerators_problem;  /**< why the plugin that is configured is not used; owned; NULL: it is, or none is */
    mst_cluster *cluster;        /**< NULL: none */
    bool is_alone;               /**< the cluster has only this worker, which needs no task */
    mst_task *task;              /**< NULL: none */
    bool evaluates;              /**< this task is the evaluator of the job, and does not train */
    mst_strategy strategy;
    mst_precision precision; /**< the requested precision */
    mst_optimizer optimizer;
    mst_loss loss;                        /**< of --loss, if the command makes the model */
    label_kind labels;                    /**< without --loss: the kind of the labels of a table */
    objective objective[MST_MAX_TARGETS]; /**< of each output */
    int num_objectives;
    class_names names[MST_MAX_TARGETS];    /**< of the classes of each output; NULL: not known */
    class_names label_columns;             /**< of a table with several labels; else NULL */
    int64_t label_classes;                 /**< the number of classes in the labels; 0: not counted */
    double *class_weight[MST_MAX_TARGETS]; /**< of each output, [num_class_weights]; NULL: all are equal */
    int num_class_weights[MST_MAX_TARGETS];
    int64_t batch_size;
    application_pixels known_pixels;          /**< of loaded weights of keras.applications; they count for u8 inputs */
    mst_dtype stored_inputs[MST_MAX_TARGETS]; /**< dtypes of the train part's inputs before scaling */
    mst_dataset *train, *validation, *test;
    struct train_folds *folds; /**< --folds: this is the training of one fold; else NULL */
    char *validation_spec;     /**< the validation part that was found beside the train part; NULL: none. Owned */
    table_layers table;        /**< of the columns, at the beginning of the model */
    mst_model *model;
    bool is_application;         /**< a network of muster/applications.h */
    const char *network;         /**< file of --model or --load with the network; NULL: none. The members up to `schema`
                                  *   describe it */
    bool mixes_classes;          /**< labels, which are class numbers, became one-hot rows, to be mixed */
    bool has_weights;            /**< it is the file of --load and has weights */
    mst_model_compiled compiled; /**< the saved loss, and with --load the saved optimizer */
    network_ends ends;
    int64_t num_tokens; /**< rows of the embedding with which it begins; 0: it begins with another layer */
    char *schema;       /**< of the texts that it was trained on; its vocabulary is used. NULL: none. Owned */
    train_events events;
    mst_tensorboard log; /**< folder NULL: none */
    mst_csv_logger history;
    mst_callback history_rows;           /**< --history -: the callback of `history` */
    mst_checkpoint_manager *checkpoints; /**< NULL: no checkpoints, or with --elastic none by this worker now */
    char *checkpoint;                    /**< the newest one at the end; NULL: none. Owned */
    stand_in logs, rows, saves;          /**< with --elastic: the callbacks of log, history and checkpoints */
    bool writes;                         /**< this process writes the files at the end of training */
    bool has_told;                       /**< the user was told that another process has the folder of checkpoints */
    mst_snapshot *trained;               /**< the state before --use-ema, if it may have to be written; else NULL */
    mst_early_stopping stopping;
    mst_train_state best; /**< after the best epoch; without a model if another process made that epoch */
    mst_reduce_on_plateau plateau;
    name_map variables; /**< names of variables here and in a restored file */
    bool resumes;       /**< a checkpoint was restored, and its training resumes */
    bool new_rate;      /**< the training resumes with another learning rate than was given before */
    mst_result result;
    evaluation tested; /**< results on the test part; without examples if it was not evaluated */
    char sha256[65];
} training;

/** Whether the data are texts. */
bool training_has_texts(const training *t);
/** Whether the command numbers the words of these texts: a network may take texts as strings. */
bool training_numbers_words(const training *t);
/** The number of components of the data that are inputs. The components after them are labels. */
int training_num_inputs(const training *t);
/** Whether the loaded weights of keras.applications decide what becomes of the inputs. */
bool training_knows_pixels(const training *t);
/** What becomes of u8 inputs, by --pixels and --raw-pixels or known_pixels: PIXELS_UNIT, ...
 *  (cli/model/scale_inputs.h). */
int training_pixels(const training *t);

#endif
