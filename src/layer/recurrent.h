/** What recurrent layers have in common: options with Keras' names, weights, and the choice of the returned steps. */
#ifndef MUSTER_LAYER_RECURRENT_H
#define MUSTER_LAYER_RECURRENT_H

#include "layer/type.h"
#include "muster/layers.h"
#include "rule/constraint.h"

/** The fields after those of the cell. The layer's file defines the macro FIELD(kind, member, ...). */
#define MST_RECURRENT_FIELDS(FIELD)                                                                                 \
    FIELD(BOOL, return_sequences, "gives all steps"), FIELD(BOOL, go_backwards, "from the last step to the first"), \
        FIELD(BOOL, no_bias, "leaves the biases out"),                                                              \
        FIELD(NESTED, kernel_initializer, mst_initializer_fields, "of the kernel"),                                 \
        FIELD(NESTED, recurrent_initializer, mst_initializer_fields, "of the recurrent kernel"),                    \
        FIELD(NESTED, bias_initializer, mst_initializer_fields, "of the biases"),                                   \
        FIELD(F32, l1, 0, 0, 1e30, "penalty of the kernel's magnitudes"),                                           \
        FIELD(F32, l2, 0, 0, 1e30, "penalty of the kernel's squares"), FIELD(STRING, name, "of the layer"),         \
        FIELD(F32, dropout, 0, 0, 0x1.fffffep-1, "part of the features that is dropped, below 1"),                  \
        FIELD(F32, recurrent_dropout, 0, 0, 0x1.fffffep-1, "part of the state that is dropped, below 1"),           \
        FIELD(NESTED, kernel_constraint, mst_constraint_fields, "of the kernel"),                                   \
        FIELD(NESTED, recurrent_constraint, mst_constraint_fields, "of the recurrent kernel"),                      \
        FIELD(NESTED, bias_constraint, mst_constraint_fields, "of the biases")

/** The options of such a layer for its first two weights, the kernel and the recurrent kernel. */
typedef struct mst_recurrent_kernels {
    mst_initializer kernel_initializer, recurrent_initializer;
    float l1, l2; /**< penalty of the kernel */
    mst_constraint kernel_constraint, recurrent_constraint;
} mst_recurrent_kernels;
/** The mst_recurrent_kernels made from OPTIONS, a pointer to the options of such a layer. */
#define MST_RECURRENT_KERNELS(options)                                                         \
    (&(const mst_recurrent_kernels){.kernel_initializer = (options)->kernel_initializer,       \
                                    .recurrent_initializer = (options)->recurrent_initializer, \
                                    .l1 = (options)->l1,                                       \
                                    .l2 = (options)->l2,                                       \
                                    .kernel_constraint = (options)->kernel_constraint,         \
                                    .recurrent_constraint = (options)->recurrent_constraint})
/** Declares the first two weights, [features, WIDE] and [UNITS, WIDE]. NAMES are their names, such as
 *  "lstm_cell/kernel" and "lstm_cell/recurrent_kernel". */
MST_CHECKED mst_status mst_recurrent_weights(mst_layer_call *call, const char *const names[2], int64_t units,
                                             int64_t wide, const mst_recurrent_kernels *kernels);
/** In training, the source with dropout of this RATE: each feature of an example is dropped in all steps of the
 *  sequence, or in none. Otherwise the source itself. */
mst_value mst_recurrent_source(const mst_layer_call *call, float rate);

/** A recurrent layer with dropout of its state. `bias` is added to the product with the kernel, and may be MST_NONE.
 *  `recurrent_bias` is added to the product with the recurrent kernel; only gru has it. */
typedef struct mst_recurrent_dropping {
    mst_recurrent_cell cell;
    int64_t units;
    mst_cell_activation activation, recurrent_activation;
    float dropout, recurrent_dropout;
    bool reverse;
    mst_value kernel, recurrent, bias, recurrent_bias;
} mst_recurrent_dropping;
/** The outputs of all steps in a training step, [n, steps, units], in the order of the source. As in Keras, each gate
 *  of lstm and gru has a mask of its own for the source, and one for the state; a mask is the same in all steps. */
mst_value mst_recurrent_dropped(const mst_layer_call *call, const mst_recurrent_dropping *dropping);
/** The mask of the source, in the dtype of the source. MST_NONE: it has none. */
mst_value mst_recurrent_mask(const mst_layer_call *call);
/** The layer's output, made from H [n, steps, units], whose steps are in the order of the source. It has all steps in
 *  the order of processing, or only the last processed step. */
mst_value mst_recurrent_steps(mst_value h, bool return_sequences, bool go_backwards);

#endif
