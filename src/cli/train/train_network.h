/** `muster train` with a complete network: --model FILE.keras, which begins with new values, --load FILE.keras, or
 *  --model lenet. Also --save FILE.keras and --freeze. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_NETWORK_H
#define MUSTER_CLI_TRAIN_TRAIN_NETWORK_H

#include "cli/train/training.h"

/** Finds out whether --model or --load names a file of a whole model, or --model names a well-known network. Sets
 *  `network` and `is_application` by this. Refuses options that are not for these. Like the functions below that return
 *  int, prints errors and returns an exit status. */
int train_network_find(training *t, train_options *o);
/** Loads the network and its losses; with --load also the weights, and the optimizer with its state. A loss and an
 *  optimizer of the command line take precedence. */
int train_network_load(training *t, const train_options *o);
/** Takes the optimizer of the file if it has one. Warns if Muster does not have that optimizer. */
void train_network_take_optimizer(training *t);
/** Lets the Normalization layers of a network of --model learn from the train part, which must be open. */
int train_network_adapt(const training *t);
/** Chooses what each output is trained for. The train part must be open. */
int train_network_objectives(training *t);
/** Checks that the network takes the inputs and labels of the data. */
MST_CHECKED mst_status train_network_check_data(const training *t);
/** Freezes the layers of --freeze. The model must have its layers. */
int train_network_freeze(const training *t);
/** Whether --save names a file of a whole model, or the weights of Keras. */
bool train_network_is_saved(const train_options *o);
/** Checks before training that the model can be saved in the format of --save. */
int train_network_check_save(training *t);
mst_status train_network_save(const training *t);

#endif
