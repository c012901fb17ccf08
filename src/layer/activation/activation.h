/** Activations. Each is one file of this folder. From these files the build makes the enum mst_activation
 *  (muster/activations.h) and the tables below. */
#ifndef MUSTER_LAYER_ACTIVATION_ACTIVATION_H
#define MUSTER_LAYER_ACTIVATION_ACTIVATION_H

#include "muster/layer.h"
#include "muster/ops.h"

typedef struct mst_activation_form {
    mst_value (*build)(mst_value x);
} mst_activation_form;

/** All activations, indexed by mst_activation. */
extern const mst_activation_form *const mst_activation_table[];
/** Their names, ended by NULL. */
extern const char *const mst_activation_names[];

/** activation(x); an error value if ACTIVATION is not a valid activation. */
mst_value mst_activation_build(mst_value x, mst_activation activation);

#endif
