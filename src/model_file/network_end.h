/** What stands at the ends of a network, for the command. */
#ifndef MUSTER_MODEL_FILE_NETWORK_END_H
#define MUSTER_MODEL_FILE_NETWORK_END_H

#include "muster/loss.h"
#include "muster/model.h"

typedef struct mst_network_end {
    mst_shape input; /**< of an example; -1: a dimension of any size */
    int64_t outputs; /**< numbers of an example */
    bool has_loss;   /**< it ends in a softmax or a sigmoid, for which there is a loss: */
    mst_loss loss;
    bool sees_logits[MST_NUM_LOSSES]; /**< which losses see logits in its outputs */
} mst_network_end;

/** Looks at the ends of MODEL, that of PATH. MST_INVALID where it has several inputs or outputs, or a size that is not
 *  known: the commands cannot use it. */
MST_API MST_CHECKED mst_status mst_network_end_of(const char *path, mst_model *model, mst_network_end *out);

#endif
