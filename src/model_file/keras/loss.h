/** Losses in the configuration of Keras' models. */
#ifndef MUSTER_MODEL_FILE_KERAS_LOSS_H
#define MUSTER_MODEL_FILE_KERAS_LOSS_H

#include <jansson.h>

#include "muster/loss.h"

/** "mse", "mean_squared_error", an object of the class MeanSquaredError, a function of the name, or a list of one of
 *  them. False if Muster has no such loss. *FROM_PROBABILITIES: of a cross entropy without from_logits. */
bool mst_keras_loss_read(const json_t *value, mst_loss *out, bool *from_probabilities);
/** The name of such a loss, also of one that Muster does not have; NULL if VALUE is none. */
const char *mst_keras_loss_name(const json_t *value);
/** To be released; FROM_LOGITS counts for cross entropies. */
json_t *mst_keras_loss_write(mst_loss loss, bool from_logits);

#endif
