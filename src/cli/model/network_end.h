/** The inputs and outputs of a network from a file. */
#ifndef MUSTER_CLI_MODEL_NETWORK_END_H
#define MUSTER_CLI_MODEL_NETWORK_END_H

#include "muster/loss.h"
#include "muster/model.h"

enum { MAX_ENDS = 16 };

typedef struct network_input {
    const char *name; /**< owned by the model */
    mst_dtype dtype;  /**< MST_NO_DTYPE: the data decides */
    mst_shape shape;  /**< shape of an example; -1: a dimension of any size */
    bool is_tokens;   /**< only embeddings take it: its numbers are indices */
    bool is_rescaled; /**< a Rescaling or Normalization takes it: its pixels are from 0 to 255 */
} network_input;

typedef struct network_output {
    const char *name; /**< owned by the model */
    int64_t size;     /**< number of elements for an example; -1: it depends on the data */
    mst_shape shape;  /**< shape for an example */
    bool has_loss;    /**< it ends in a softmax or a sigmoid, and `loss` is the loss that fits it */
    mst_loss loss;
    bool sees_logits[MST_NUM_LOSSES]; /**< for each loss: whether the loss takes this output as logits */
} network_output;

typedef struct network_ends {
    int num_inputs, num_outputs;
    network_input input[MAX_ENDS];
    network_output output[MAX_ENDS];
} network_ends;

/** Describes the inputs and outputs of MODEL, which was read from PATH. MST_INVALID if it has too many of them, or an
 *  output of unknown size: then the commands cannot use it. */
MST_CHECKED mst_status network_ends_of(const char *path, mst_model *model, network_ends *out);
/** The same, but allows outputs of unknown size, which prediction can use. */
MST_CHECKED mst_status network_ends_of_any(const char *path, mst_model *model, network_ends *out);

#endif
