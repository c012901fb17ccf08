/** What recurrent layers have in common: options under Keras' names, weights, and which steps they give. */
#ifndef MUSTER_LAYER_RECURRENT_H
#define MUSTER_LAYER_RECURRENT_H

#include "layer/type.h"

/** "lstm_cell/kernel" [features, WIDE], with the penalty, and "lstm_cell/recurrent_kernel" [units, WIDE], as the first
 *  two weights; CELL is "lstm_cell". */
MST_CHECKED mst_status mst_recurrent_weights(mst_layer_call *call, const char *const names[2], int64_t units,
                                             int64_t wide, mst_initializer kernel, mst_initializer recurrent, float l1,
                                             float l2);
/** What the layer gives of H, [n, steps, units], which is in the order of the source: all steps in the order in which
 *  the layer went through them, or the last one that it came to. */
mst_value mst_recurrent_steps(mst_value h, bool return_sequences, bool go_backwards);

#endif
