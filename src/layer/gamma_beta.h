/** The weights gamma and beta of layers that normalize. Their last step is dst = gamma * normalized + beta. */
#ifndef MUSTER_LAYER_GAMMA_BETA_H
#define MUSTER_LAYER_GAMMA_BETA_H

#include "layer/type.h"
#include "muster/initializer.h"
#include "rule/constraint.h"

/** The fields of their constraints. The layer's file defines the macro FIELD(kind, member, ...). */
#define MST_GAMMA_BETA_CONSTRAINT_FIELDS(FIELD)                         \
    FIELD(NESTED, gamma_constraint, mst_constraint_fields, "of gamma"), \
        FIELD(NESTED, beta_constraint, mst_constraint_fields, "of beta")

/** The options of such a layer that decide which of the two it has, and their initial values. */
typedef struct mst_gamma_beta {
    bool no_scale, no_center;          /**< leave gamma out, leave beta out */
    mst_initializer gamma_initializer; /**< default ones; glorot_uniform counts as not given */
    mst_initializer beta_initializer;  /**< default zeros; glorot_uniform counts as not given */
    mst_constraint gamma_constraint, beta_constraint;
} mst_gamma_beta;

/** The mst_gamma_beta made from OPTIONS, a pointer to the options of such a layer. */
#define MST_GAMMA_BETA(options)                                                 \
    (&(const mst_gamma_beta){.no_scale = (options)->no_scale,                   \
                             .no_center = (options)->no_center,                 \
                             .gamma_initializer = (options)->gamma_initializer, \
                             .beta_initializer = (options)->beta_initializer,   \
                             .gamma_constraint = (options)->gamma_constraint,   \
                             .beta_constraint = (options)->beta_constraint})

/** Declares gamma and beta, those that the layer has, as its next weights. Each has the shape SHAPE. */
void mst_gamma_beta_weights(mst_layer_call *call, const mst_gamma_beta *o, mst_shape shape);
/** Sets GAMMA and BETA to the first weights of the layer, or to ones and zeros of SHAPE if it does not have them. */
void mst_gamma_beta_values(const mst_layer_call *call, const mst_gamma_beta *o, mst_shape shape, mst_value *gamma,
                           mst_value *beta);

#endif
