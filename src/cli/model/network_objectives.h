/** Chooses the objective of each output of a network from a file: its loss and its metrics. The command line decides,
 *  else the file, else the last layer. */
#ifndef MUSTER_CLI_MODEL_NETWORK_OBJECTIVES_H
#define MUSTER_CLI_MODEL_NETWORK_OBJECTIVES_H

#include "cli/model/network_end.h"
#include "cli/model/objective.h"
#include "muster/model_file.h"

/** How to treat an output if neither the user nor the file nor the last layer determines its loss. */
typedef enum unknown_loss {
    UNKNOWN_LOSS_FAILS,
    UNKNOWN_LOSS_SHOWS, /**< for prediction: the output is shown as it is */
    UNKNOWN_LOSS_TRAINS /**< for training: if the network has several outputs, an output with one number or with float
                         *   labels is a regression. Any other output has classes */
} unknown_loss;

typedef struct network_objectives {
    const char *path;                /**< of the network */
    const char *loss, *loss_weights; /**< the values of --loss and --loss-weights; NULL: not given */
    double ignore_class;             /**< labels that do not count, as in mst_compile */
    const network_ends *ends;
    const mst_model_compiled *compiled;
    unknown_loss unknown;
} network_objectives;

/** Fills OUT[i] for each output i. DATA may have no labels. MST_INVALID if an option is wrong, or names an output that
 *  does not exist; the message then lists the outputs. */
MST_CHECKED mst_status network_objectives_choose(const network_objectives *from, const mst_dataset *data,
                                                 objective *out);
/** Checks the labels of DATA for the N objectives of LIST, which network_objectives_choose has filled. WITH_CLASSES:
 *  also checks that the class numbers of the first rows are below the number of outputs. */
MST_CHECKED mst_status network_objectives_check(const objective *list, int n, mst_dataset *data, bool with_classes);
/** MST_INVALID if the network from PATH does not take inputs of the shapes in DATA. DATA_NAME is for the message. */
MST_CHECKED mst_status network_inputs_check(const char *path, const network_ends *ends, const char *data_name,
                                            const mst_dataset *data);
/** Fills OUT with options that open data for the network with ENDS. OUT points to INPUTS and OUTPUTS, which get the
 *  names of the network's inputs and outputs and have room for MAX_ENDS each. */
void network_data_options(const network_ends *ends, const char **inputs, const char **outputs, mst_data_options *out);

#endif
