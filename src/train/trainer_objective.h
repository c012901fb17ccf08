/** The objective of a training, losses and metrics: checks the options of mst_compile, and builds them in the graph of
 *  a replica. */
#ifndef MUSTER_TRAIN_TRAINER_OBJECTIVE_H
#define MUSTER_TRAIN_TRAINER_OBJECTIVE_H

#include "train/trainer.h"

/** Sets targets, measures, names of metrics and class weights from the options of mst_compile. */
MST_CHECKED mst_status mst_objective_make(mst_trainer *trainer);
/** "inputs", "labels", "weights"; if there are several, "input 'left'", "labels of 'out'". */
const char *mst_objective_component(const mst_trainer *trainer, int component, char text[160]);
/** MST_INVALID if labels of DATA are names of classes, but the loss of their output measures by how much numbers
 *  differ. */
MST_CHECKED mst_status mst_objective_check_labels(const mst_trainer *trainer, const mst_dataset *data);
/** Whether the labels of OUTPUT are class indices. */
bool mst_objective_has_classes(const mst_trainer *trainer, int output);
/** The component of the data that has the class of each example, as an index or a one-hot row. 0: there is none,
 *  because the loss of the first output takes no classes. */
int mst_objective_class_component(const mst_trainer *trainer);
/** Sets the losses and metrics of a replica, from its components VALUES and the model's OUTPUTS with their MASKS
 *  (MST_NONE: none). Positions that are masked count neither in losses nor in metrics. Weights of classes are
 *  used only if TRAINING. */
void mst_objective_build(mst_trainer *trainer, const mst_value *values, const mst_value *outputs,
                         const mst_value *masks, bool training, mst_replica *out);

/** The confusion matrix of a batch, for an OUTPUT whose loss takes classes; otherwise MST_NONE. Positions where MASK
 *  (MST_NONE: none) is false are left out. */
mst_value mst_objective_confusion(const mst_trainer *trainer, int output, mst_value labels, mst_value predictions,
                                  mst_value mask);

#endif
