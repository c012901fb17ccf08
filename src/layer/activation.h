/** Activations: the functions behind the option of that name of many layers. */
#ifndef MUSTER_LAYER_ACTIVATION_H
#define MUSTER_LAYER_ACTIVATION_H

#include "muster/layer.h"

/** The names of mst_activation, ended by NULL. */
extern const char *const mst_activation_names[];

/** activation(x) */
mst_value mst_activation_build(mst_value x, mst_activation activation);

#endif
