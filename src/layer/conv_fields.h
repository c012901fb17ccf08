/** Fields of the options that convolutions share. The layer's file defines the macro FIELD(kind, member, ...). */
#ifndef MUSTER_LAYER_CONV_FIELDS_H
#define MUSTER_LAYER_CONV_FIELDS_H

#include "layer/activation/activation.h"
#include "layer/initializer/initializer.h"
#include "op/conv/window.h"
#include "rule/constraint.h"

/** The fields of a window over rows and columns. PADDED says what is padded. */
#define MST_CONV2D_WINDOW_FIELDS(FIELD, padded)                                         \
    FIELD(I32, kernel_size, 0, 1, 1e6, "rows of a window"),                             \
        FIELD(I32, kernel_width, 0, 0, 1e6, "columns of a window; 0: as many as rows"), \
        FIELD(I32, strides, 1, 1, 1e6, "from one window to the next"),                  \
        FIELD(I32, strides_width, 0, 0, 1e6, "the same along rows; 0: strides"),        \
        FIELD(ENUM, padding, MST_PADDING_VALID, mst_window_paddings, padded),           \
        FIELD(I32, dilation_rate, 1, 1, 1e6, "between the elements of a window"),       \
        FIELD(I32, dilation_width, 0, 0, 1e6, "the same along rows; 0: dilation_rate")

/** The fields after those of the window. The names of the kernel's members begin with PREFIX. */
#define MST_CONV_FIELDS(FIELD, prefix)                                                                              \
    FIELD(ENUM, activation, 0, mst_activation_names, "of the output"), FIELD(BOOL, no_bias, "leaves the bias out"), \
        FIELD(NESTED, prefix##_initializer, mst_initializer_fields, "of the kernel"),                               \
        FIELD(NESTED, bias_initializer, mst_initializer_fields, "of the bias"),                                     \
        FIELD(F32, l1, 0, 0, 1e30, "penalty of the kernel's magnitudes"),                                           \
        FIELD(F32, l2, 0, 0, 1e30, "penalty of the kernel's squares"), FIELD(STRING, name, "of the layer"),         \
        FIELD(NESTED, prefix##_constraint, mst_constraint_fields, "of the kernel"),                                 \
        FIELD(NESTED, bias_constraint, mst_constraint_fields, "of the bias")

/** The same for separable convolutions, which have two kernels. */
#define MST_SEPARABLE_CONV_FIELDS(FIELD)                                                                            \
    FIELD(ENUM, activation, 0, mst_activation_names, "of the output"), FIELD(BOOL, no_bias, "leaves the bias out"), \
        FIELD(NESTED, depthwise_initializer, mst_initializer_fields, "of the depthwise kernel"),                    \
        FIELD(NESTED, pointwise_initializer, mst_initializer_fields, "of the pointwise kernel"),                    \
        FIELD(NESTED, bias_initializer, mst_initializer_fields, "of the bias"),                                     \
        FIELD(F32, depthwise_l1, 0, 0, 1e30, "penalty of the depthwise kernel's magnitudes"),                       \
        FIELD(F32, depthwise_l2, 0, 0, 1e30, "penalty of the depthwise kernel's squares"),                          \
        FIELD(F32, pointwise_l1, 0, 0, 1e30, "penalty of the pointwise kernel's magnitudes"),                       \
        FIELD(F32, pointwise_l2, 0, 0, 1e30, "penalty of the pointwise kernel's squares"),                          \
        FIELD(STRING, name, "of the layer"),                                                                        \
        FIELD(NESTED, depthwise_constraint, mst_constraint_fields, "of the depthwise kernel"),                      \
        FIELD(NESTED, pointwise_constraint, mst_constraint_fields, "of the pointwise kernel"),                      \
        FIELD(NESTED, bias_constraint, mst_constraint_fields, "of the bias")

#endif
