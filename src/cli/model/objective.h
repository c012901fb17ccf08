/** An objective: what one output of a model is trained for. It is a loss with the labels, the number of outputs and the
 *  metrics that fit it. */
#ifndef MUSTER_CLI_MODEL_OBJECTIVE_H
#define MUSTER_CLI_MODEL_OBJECTIVE_H

#include "muster/train.h"

typedef struct objective {
    mst_loss loss;
    int64_t outputs;                    /**< numbers that the output has for an example */
    mst_metric metric[MST_MAX_METRICS]; /**< ended by MST_METRIC_NONE */
    int64_t positive;                   /**< the class of precision, recall and so on (cli/model/positive_class.h), as
                                         *   MST_CLASS(i); 0: they are for all classes together */
    bool finished;                      /**< the model itself turns logits into probabilities (objective_finish) */
    int component;                      /**< the component of the data that has the labels */
    const char *output;                 /**< the name of the output; NULL: the model is made by the command */
    bool from_probabilities;            /**< the loss takes probabilities, though perhaps no softmax makes them */
    bool has_scores;                    /**< the outputs are shown as scores: they are no probabilities */
    mst_activation gives;               /**< MST_SIGMOID or MST_SOFTMAX: the network of the file ends in it */
    bool wants_logits;                  /**< the file says from_logits=True, though the model ends in the activation */
    double ignore_class;                /**< as in mst_compile: labels that do not count; 0: none, MST_ZERO: class 0 */
    double weight;                      /**< weight of this loss in the sum of all losses; MST_ZERO for 0 */
    const char *const *names;           /**< names of the classes, ended by NULL; NULL: not known */
    const char *const *columns; /**< names of a table's columns of labels, ended by NULL; NULL if there is only one */
    mst_shape row;              /**< the shape of this output for one example; a scalar unless the network is
                                         *   from a file */
} objective;

/** The name of loss I, for the choices of an option, and a text on the labels that it takes; NULL if I is past the
 *  last. */
const char *objective_loss(int i);
const char *objective_labels(int i);
/** Keras' short names of losses, each followed by the full name; ended by NULL. */
extern const char *const objective_short_losses[];
/** The loss with the full or short name WORD. MST_INVALID if there is none. */
MST_CHECKED mst_status objective_loss_named(const char *word, mst_loss *out);

/** Sets OUT to the objective of LOSS for the labels of DATA, component COMPONENT, and checks the first rows. CLASSES is
 *  the number of outputs. FREE: the user did not give CLASSES, so a loss that compares the elements of a label gets one
 *  output for each element instead. OUT->ignore_class is used, and kept. MST_INVALID if loss, labels and number of
 *  outputs do not fit together. */
MST_CHECKED mst_status objective_choose(mst_loss loss, mst_dataset *data, int component, int64_t classes, bool free,
                                        objective *out);
/** Whether the output has two or more dimensions per example, as a picture has. Then labels have the same shape; class
 *  numbers have this shape without its last dimension. */
bool objective_is_of_shape(const objective *objective);
/** For such an objective: MST_INVALID if the labels in DATA have another shape, or the loss does not take them. */
MST_CHECKED mst_status objective_check_shape(const objective *objective, mst_dataset *data);
/** Checks the first labels of DATA if the loss takes class numbers: MST_INVALID if one is no class of the model. */
MST_CHECKED mst_status objective_check_classes(const objective *objective, mst_dataset *data);
/** The same for all labels of DATA, in one pass over it. */
MST_CHECKED mst_status objective_check_every_class(const objective *objective, mst_dataset *data);
/** Reads TEXT, the value of --ignore-class, a whole number such as 255 (NULL: not given). OUT has the form of
 *  `ignore_class` in an objective. */
MST_CHECKED mst_status objective_read_ignored(const char *text, double *out);
/** Sets ignore_class in those of the N objectives of LIST whose labels are class numbers. MST_INVALID if IGNORE_CLASS
 *  is given and no objective has such labels. */
MST_CHECKED mst_status objective_set_ignored(double ignore_class, objective *list, int n);
/** The objective of LOSS with OUTPUTS outputs, without a look at data. */
objective objective_of(mst_loss loss, int64_t outputs);
/** Whether LOSS takes the labels of DATA, component COMPONENT, as classes: class numbers, or one-hot rows. */
bool objective_labels_are_classes(mst_loss loss, const mst_dataset *data, int component);
/** Writes the quoted name of a table's column of labels to NAME, which has room for MST_COLUMN_SHOWN bytes. Writes ""
 *  if DATA is not a table, or has several columns of labels. */
MST_CHECKED mst_status objective_label_column(const mst_dataset *data, char *name);
/** Reads the name of an output at the beginning of ITEM, "price=...", which is a part of the value of OPTION. *PLACE
 *  becomes the index of the output in LIST of N objectives, or -1 if ITEM has no name. *REST becomes the text after the
 *  '='. MST_INVALID if there is no such output; the message lists the outputs. */
MST_CHECKED mst_status objective_item(const char *option, const char *item, const objective *list, int n, int *place,
                                      const char **rest);
/** Fills the members of OUT that come from the N objectives of LIST, one for each output. */
void objective_compile(const objective *list, int n, mst_compile_options *out);
/** Counts the examples of each class in DATA, in one pass. Its labels, component COMPONENT, must be classes
 *  (objective_labels_are_classes). (*COUNT)[c] becomes the number of examples of class c; free *COUNT with free(). *NUM
 *  becomes the largest class + 1. MST_INVALID if a label is not a class below MOST; the message tells its row. */
MST_CHECKED mst_status objective_count(mst_loss loss, mst_dataset *data, int component, int64_t most, int64_t **count,
                                       int64_t *num);
/** Whether each example has one class, so that a confusion matrix can be counted and classes can have names. */
bool objective_has_classes(const objective *objective);
/** MST_INVALID if COUNT, the number of names in the file at PATH, is not the number of classes. */
MST_CHECKED mst_status objective_check_names(const objective *objective, const char *path, int64_t count);
/** The most likely class of row ROW of OUTPUTS, [n, outputs], after objective_finish. *PROBABILITY becomes its
 *  probability, or its score. */
int64_t objective_class(const objective *objective, const mst_tensor *outputs, int64_t row, double *probability);
/** Returns EXIT_DONE if COMMAND can count a confusion matrix for one of the N objectives of LIST. Else prints an error
 *  and returns EXIT_USAGE. */
int objective_check_confusion(const char *command, const objective *list, int n);
/** Adds the activation, if any, that LOSS needs after the last dense layer, such as a softmax if it takes
 *  probabilities. */
void objective_add_layers(mst_loss loss, mst_model *model);
/** The activation that turns logits into probabilities, if LOSS takes logits: softmax or sigmoid; else MST_LINEAR. */
mst_activation objective_finish_of(mst_loss loss);
/** Makes the model's OUTPUTS readable for the user: turns the logits of cross entropies into probabilities. */
void objective_finish(const objective *objective, mst_tensor *outputs);

#endif
