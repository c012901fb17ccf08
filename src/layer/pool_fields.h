/** Fields of the options that pooling layers share. The layer's file defines the macro FIELD(kind, member, ...). */
#ifndef MUSTER_LAYER_POOL_FIELDS_H
#define MUSTER_LAYER_POOL_FIELDS_H

#include "layer/type.h"
#include "op/conv/window.h"

/** The fields after those of the window. */
#define MST_POOL_FIELDS(FIELD)                                                         \
    FIELD(ENUM, padding, MST_PADDING_VALID, mst_window_paddings, "around the source"), \
        FIELD(STRING, name, "of the layer")

#define MST_POOL1D_FIELDS(FIELD)                     \
    FIELD(I32, pool_size, 2, 1, 1e6, "of a window"), \
        FIELD(I32, strides, 0, 0, 1e6, "from one window to the next; 0: the size"), MST_POOL_FIELDS(FIELD)

#define MST_POOL2D_FIELDS(FIELD)                                                      \
    FIELD(I32, pool_size, 2, 1, 1e6, "of a window"),                                  \
        FIELD(I32, pool_width, 0, 0, 1e6, "columns of a window; 0: as many as rows"), \
        FIELD(I32, strides, 0, 0, 1e6, "from one window to the next; 0: the size"),   \
        FIELD(I32, strides_width, 0, 0, 1e6, "the same along rows; 0: strides"), MST_POOL_FIELDS(FIELD)

#define MST_POOL3D_FIELDS(FIELD)                    \
    FIELD(AXES, pool_size, "of a window; none: 2"), \
        FIELD(AXES, strides, "from one window to the next; none: the size"), MST_POOL_FIELDS(FIELD)

/** The fields of a pooling over the whole axes. */
#define MST_GLOBAL_POOL_FIELDS(FIELD) \
    FIELD(BOOL, keep_dims, "keeps the axes, as dimensions of 1"), FIELD(STRING, name, "of the layer")

#endif
