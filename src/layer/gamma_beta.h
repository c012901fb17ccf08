/** gamma and beta, the last step of layers that normalize: dst = gamma * normalized + beta. */
#ifndef MUSTER_LAYER_GAMMA_BETA_H
#define MUSTER_LAYER_GAMMA_BETA_H

#include "layer/type.h"
#include "muster/initializer.h"

/** The options of a layer that say which of them it has. */
typedef struct mst_gamma_beta {
    bool no_scale, no_center;          /**< leave gamma out, leave beta out */
    mst_initializer gamma_initializer; /**< default ones, also in place of glorot_uniform */
    mst_initializer beta_initializer;  /**< default zeros, likewise */
} mst_gamma_beta;

/** Those of OPTIONS, a pointer to the options of such a layer. */
#define MST_GAMMA_BETA(options)                                                 \
    (&(const mst_gamma_beta){.no_scale = (options)->no_scale,                   \
                             .no_center = (options)->no_center,                 \
                             .gamma_initializer = (options)->gamma_initializer, \
                             .beta_initializer = (options)->beta_initializer})

/** Declares gamma and beta, as far as the layer has them, as its next weights. SHAPE is that of each. */
void mst_gamma_beta_weights(mst_layer_call *call, const mst_gamma_beta *o, mst_shape shape);
/** GAMMA and BETA, which are the first weights; ones and zeros of SHAPE if the layer does not have them. */
void mst_gamma_beta_values(const mst_layer_call *call, const mst_gamma_beta *o, mst_shape shape, mst_value *gamma,
                           mst_value *beta);

#endif
