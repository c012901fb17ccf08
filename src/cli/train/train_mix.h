/** --mixup and --cutmix, which mix the rows of a batch and their labels. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_MIX_H
#define MUSTER_CLI_TRAIN_TRAIN_MIX_H

#include "cli/train/training.h"

/** Makes one-hot rows of class numbers in all parts, and the loss the one of such labels, if an option asks for
 *  mixtures. Call it when the objective is known. MST_INVALID if the data are not pictures with a class each. */
MST_CHECKED mst_status train_mix_labels(training *t);
/** Makes the train part batches of mixed rows, if an option asks for it. */
MST_CHECKED mst_status train_mix_batches(training *t);
/** The loss that is noted and saved: with class numbers as labels, as the data have them. */
mst_loss train_mix_saved_loss(const training *t);

#endif
