/** `muster train` with a network that is made as a whole: --model FILE.keras, which begins with new values,
 *  --load FILE.keras, --model lenet; and --save FILE.keras, --freeze. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_NETWORK_H
#define MUSTER_CLI_TRAIN_TRAIN_NETWORK_H

#include "cli/train/training.h"

/** Finds out whether --model or --load names a whole model or --model a well-known network (network, is_application),
 *  for which some options are not. The functions below return an exit status, and have printed what was wrong. */
int train_network_find(training *t, train_options *o);
/** Loads it: network and losses; of --load also weights, and the optimizer with its state. A loss and an optimizer of
 *  the command line count. */
int train_network_load(training *t, const train_options *o);
/** The optimizer of the file, where it has one; a warning where Muster does not have that. */
void train_network_take_optimizer(training *t);
/** Lets a network of --model learn what layers learn before training; the train part is open. */
int train_network_adapt(const training *t);
/** Chooses what each output is trained for; the train part is open. */
int train_network_objectives(training *t);
/** Checks that the network takes inputs and labels of the data. */
MST_CHECKED mst_status train_network_check_data(const training *t);
/** Freezes the layers of --freeze; the model has its layers. */
int train_network_freeze(const training *t);
/** Whether --save names a file of a whole model, or the weights of Keras. */
bool train_network_is_saved(const train_options *o);
/** Checks, before training, that the model can be saved so. */
int train_network_check_save(training *t);
mst_status train_network_save(const training *t);

#endif
