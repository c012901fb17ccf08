/** `muster train` with a network from a file: --load FILE.keras, --save FILE.keras, --freeze. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_NETWORK_H
#define MUSTER_CLI_TRAIN_TRAIN_NETWORK_H

#include "cli/train/training.h"

/** Whether --load names a whole model, whose options are then checked. The functions below return an exit status, and
 *  have printed what was wrong. */
int train_network_find(training *t, train_options *o);
/** Loads it: network, weights, loss, optimizer with its state. A loss and an optimizer of the command line count. */
int train_network_load(training *t, train_options *o);
/** Freezes the layers of --freeze; the model has its layers. */
int train_network_freeze(const training *t);
/** Whether --save names a file of a whole model, or the weights of Keras. */
bool train_network_is_saved(const train_options *o);
/** Checks, before training, that the model can be saved so. */
int train_network_check_save(training *t);
mst_status train_network_save(const training *t);

#endif
