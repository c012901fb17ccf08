/** What each output of a network of a file is trained for: by the command line, else by the file, else by its last
 *  layer. */
#ifndef MUSTER_CLI_MODEL_NETWORK_OBJECTIVES_H
#define MUSTER_CLI_MODEL_NETWORK_OBJECTIVES_H

#include "cli/model/network_end.h"
#include "cli/model/objective.h"
#include "muster/model_file.h"

/** What becomes of an output whose loss nothing tells. */
typedef enum unknown_loss {
    UNKNOWN_LOSS_FAILS,
    UNKNOWN_LOSS_SHOWS, /**< to predict: it is shown as it is */
    UNKNOWN_LOSS_TRAINS /**< numbers of one output are compared, as are float labels; else outputs are classes */
} unknown_loss;

typedef struct network_objectives {
    const char *path;                /**< of the network */
    const char *loss, *loss_weights; /**< as --loss and --loss-weights have them; NULL: not given */
    const network_ends *ends;
    const mst_model_compiled *compiled;
    unknown_loss unknown;
} network_objectives;

/** Fills OUT for each output. DATA may have no labels. MST_INVALID, naming what there is, where an option names an
 *  output that is not there, or is wrong. */
MST_CHECKED mst_status network_objectives_choose(const network_objectives *from, const mst_dataset *data,
                                                 objective *out);
/** Checks the labels of DATA for the N objectives of LIST, which network_objectives_choose has filled; WITH_CLASSES:
 *  also that the first class numbers are below the outputs. */
MST_CHECKED mst_status network_objectives_check(const objective *list, int n, mst_dataset *data, bool with_classes);
/** MST_INVALID where DATA, which DATA_NAME names, has inputs of other shapes than the network of PATH takes. */
MST_CHECKED mst_status network_inputs_check(const char *path, const network_ends *ends, const char *data_name,
                                            const mst_dataset *data);
/** How the data is opened that the network with ENDS takes: INPUTS and OUTPUTS get the names, MAX_ENDS each. */
void network_data_options(const network_ends *ends, const char **inputs, const char **outputs, mst_data_options *out);

#endif
