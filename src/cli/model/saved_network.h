/** Opens saved models that contain their network: files of whole models, and checkpoints of such models. */
#ifndef MUSTER_CLI_MODEL_SAVED_NETWORK_H
#define MUSTER_CLI_MODEL_SAVED_NETWORK_H

#include "cli/model/saved_model.h"
#include "muster/model_file.h"

/** Reads the whole model of --load, with its note. LIST tells which options were given. MST_INVALID if one of them is
 *  only for files of another kind. */
MST_CHECKED mst_status saved_network_load(const saved_options *o, const option_list *list, saved_model *out,
                                          mst_model_compiled *compiled);
/** Makes the network that is noted in the checkpoint at PATH. COMPILED gets the noted loss. */
MST_CHECKED mst_status saved_network_make(const char *path, saved_model *out, mst_model_compiled *compiled);
/** Chooses the loss and the metrics. The loss is the one that the user gives, else the loss of the file, else the loss
 *  that fits the last layer. */
MST_CHECKED mst_status saved_network_objectives(const saved_options *o, const option_list *list, const char *command,
                                                const mst_model_compiled *compiled, saved_model *out);

#endif
