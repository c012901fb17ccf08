/** Which variables each parameter server keeps, and the graph with which it makes its update; the chief sends both. */
#ifndef MUSTER_TRAIN_SERVER_UPDATES_H
#define MUSTER_TRAIN_SERVER_UPDATES_H

#include "parameter_server/ps_client.h"
#include "train/trainer.h"

/** Chooses for each variable of the training step which of NUM_PS servers keeps it. *OUT has the order of train.values;
 *  free it with free(). MST_INVALID or MST_UNIMPLEMENTED if the strategy or the optimizer does not fit the servers and
 *  workers. */
MST_CHECKED mst_status mst_server_updates_divide(const mst_trainer *trainer, int num_ps, mst_ps_variable **out);
/** On the chief: makes the graphs of all servers for VARIABLE, unless they exist; they belong to the trainer. */
MST_CHECKED mst_status mst_server_updates_make(mst_trainer *trainer, const mst_ps_variable *variable, int num_ps);
void mst_server_updates_free(mst_trainer *trainer);
/** Adds the slots that the servers will keep to the store, with their first values, so that slots of a checkpoint can
 *  be restored there. Call it once, after the variables have values. */
MST_CHECKED mst_status mst_server_updates_init(const mst_trainer *trainer);

#endif
