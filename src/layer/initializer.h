/** Initializers as options of layers. */
#ifndef MUSTER_LAYER_INITIALIZER_H
#define MUSTER_LAYER_INITIALIZER_H

#include "muster/initializer.h"
#include "muster/op.h"

/** The fields of mst_initializer. */
extern const mst_field mst_initializer_fields[];

#endif
