/** Losses in the configuration of Keras' models. */
#ifndef MUSTER_MODEL_FILE_KERAS_LOSS_H
#define MUSTER_MODEL_FILE_KERAS_LOSS_H

#include <jansson.h>

#include "muster/loss.h"

/** Reads a loss: "mse", "mean_squared_error", an object of the class MeanSquaredError, a function with the name, or a
 *  list with one of these. False if Muster has no such loss. *FROM_PROBABILITIES is set to true for a cross entropy
 *  without from_logits. */
bool mst_keras_loss_read(const json_t *value, mst_loss *out, bool *from_probabilities);
/** The name of the loss VALUE, even if Muster does not have it; NULL if VALUE is not a loss. */
const char *mst_keras_loss_name(const json_t *value);
/** The loss as JSON, to be released. FROM_LOGITS is used for cross entropies only. */
json_t *mst_keras_loss_write(mst_loss loss, bool from_logits);

#endif
