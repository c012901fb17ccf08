/** A loss with the labels, the number of outputs and the metric that fit it: what one output of a model is trained
 *  for. */
#ifndef MUSTER_CLI_MODEL_OBJECTIVE_H
#define MUSTER_CLI_MODEL_OBJECTIVE_H

#include "muster/train.h"

typedef struct objective {
    mst_loss loss;
    int64_t outputs;                    /**< of the last layer */
    mst_metric metric[MST_MAX_METRICS]; /**< ended by MST_METRIC_NONE */
    int64_t positive;                   /**< the class of precision, recall and so on (cli/model/positive_class.h) */
    bool finished;                      /**< the model does itself what objective_finish would */
    int component;                      /**< of the data: the labels */
    const char *output;                 /**< its name; NULL: the model is made by the command */
    bool from_probabilities;            /**< the loss is of probabilities, though no softmax may have made them */
    bool has_scores;                    /**< nothing makes probabilities of what the last layer gives */
    mst_activation gives;               /**< MST_SIGMOID or MST_SOFTMAX: the model ends in it, as its file says */
    bool wants_logits;                  /**< its file says from_logits=True, though the model ends in the activation */
    double weight;                      /**< of the loss in the sum of all; MST_ZERO for 0 */
    const char *const *names;           /**< of the classes, ended by NULL; NULL: not known */
    mst_shape row;                      /**< of an example of a network's output; else a scalar */
} objective;

/** Names of losses, for an option, and which labels they take; NULL past the last. */
const char *objective_loss(int i);
const char *objective_labels(int i);
/** Keras' short names of losses, each followed by the name, ended by NULL. */
extern const char *const objective_short_losses[];
/** The loss that WORD names, in full or in short. MST_INVALID where there is none. */
MST_CHECKED mst_status objective_loss_named(const char *word, mst_loss *out);

/** The objective of LOSS for the labels of DATA, component COMPONENT, whose first rows are checked. CLASSES is the
 *  number of outputs; where FREE (the user did not give it), it is the number of elements of a label instead, for
 *  losses that compare those. MST_INVALID where loss, labels and outputs do not fit. */
MST_CHECKED mst_status objective_choose(mst_loss loss, mst_dataset *data, int component, int64_t classes, bool free,
                                        objective *out);
/** Whether the outputs of an example, of two or more dimensions, such as a picture, are compared number by number with
 *  labels of the same shape. */
bool objective_is_of_shape(const objective *objective);
/** MST_INVALID where the labels of such an objective in DATA have another shape, or are not what its loss takes. */
MST_CHECKED mst_status objective_check_shape(const objective *objective, mst_dataset *data);
/** MST_INVALID where one of the first labels of DATA is a class number, with LOSS, that is not below CLASSES. */
MST_CHECKED mst_status objective_check_classes(mst_loss loss, int64_t classes, mst_dataset *data, int component);
/** The same of all labels of DATA, in one pass over it. */
MST_CHECKED mst_status objective_check_every_class(const objective *objective, mst_dataset *data);
/** The same as objective_choose without data, for OUTPUTS outputs. */
objective objective_of(mst_loss loss, int64_t outputs);
/** Whether the labels of DATA say with LOSS of which class an example is: as a number, or a one-hot row. */
bool objective_labels_are_classes(mst_loss loss, const mst_dataset *data, int component);
/** Writes the name, in quotes, of a table's column of labels to NAME, which has room for MST_COLUMN_SHOWN bytes; "":
 *  DATA is not a table, or has several such columns. */
MST_CHECKED mst_status objective_label_column(const mst_dataset *data, char *name);
/** Reads the name of an output at the beginning of ITEM, "price=...", of OPTION: *PLACE is the one of it in LIST of N
 *  objectives, -1 where ITEM has no name; *REST is what stands behind it. MST_INVALID, naming those that there are,
 *  where there is no such output. */
MST_CHECKED mst_status objective_item(const char *option, const char *item, const objective *list, int n, int *place,
                                      const char **rest);
/** Fills what MODEL is compiled for, N objectives of LIST, one for each output. */
void objective_compile(const objective *list, int n, mst_compile_options *out);
/** Counts the examples of each class in DATA, whose labels, component COMPONENT, are classes
 *  (objective_labels_are_classes): (*COUNT)[c] of class c, to be freed with free(), *NUM of them, one more than the
 *  largest. MST_INVALID, naming the row, where a label is none of at most MOST classes. One pass over the data. */
MST_CHECKED mst_status objective_count(mst_loss loss, mst_dataset *data, int component, int64_t most, int64_t **count,
                                       int64_t *num);
/** Whether an example is of one class: a confusion matrix can be counted, and classes can have names. */
bool objective_has_classes(const objective *objective);
/** MST_INVALID where COUNT names, those of the file at PATH, are not as many as there are classes. */
MST_CHECKED mst_status objective_check_names(const objective *objective, const char *path, int64_t count);
/** The most likely class of row ROW of OUTPUTS, [n, outputs], after objective_finish; and its probability, or
 *  its score. */
int64_t objective_class(const objective *objective, const mst_tensor *outputs, int64_t row, double *probability);
/** The error that COMMAND cannot count a confusion matrix for any of the N objectives of LIST: EXIT_USAGE; EXIT_DONE
 *  where it can. */
int objective_check_confusion(const char *command, const objective *list, int n);
/** Adds the layer that LOSS needs after the last dense layer, if any: softmax where it compares probabilities, ... */
void objective_add_layers(mst_loss loss, mst_model *model);
/** The activation, softmax or sigmoid, that makes probabilities of the logits that LOSS takes; MST_LINEAR: it takes
 *  none. */
mst_activation objective_finish_of(mst_loss loss);
/** Turns the model's OUTPUTS into what a user wants to see: logits of the cross entropies into probabilities. */
void objective_finish(const objective *objective, mst_tensor *outputs);

#endif
