/** Keras 3 lists, among the layers of a functional model, the ops that compute the masks of Embedding and Masking:
 *
 *      mask of an Embedding    NotEqual(src, 0)
 *      mask of a Masking       Any(NotEqual(src, mask_value))
 *
 *  In the file, the call of a layer that uses a mask has the mask as an argument. In Muster, masks are passed from
 *  layer to layer automatically, so these ops are dropped. */
#ifndef MUSTER_MODEL_FILE_KERAS_MASK_OPS_H
#define MUSTER_MODEL_FILE_KERAS_MASK_OPS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "graph/names.h"
#include "muster/status.h"

typedef struct mst_keras_masks {
    const json_t *layers;   /**< of the file */
    const mst_names *names; /**< of the layers, with their indices */
    bool *known;            /**< [layers] whether the layer is an op that makes the mask of an Embedding or Masking */
} mst_keras_masks;

/** Whether CLASS_NAME is the class of such an op. */
bool mst_keras_is_mask_op(const char *class_name);
/** Finds such ops in LAYERS. Free OUT also after a failure. MST_UNIMPLEMENTED if there are too many. */
MST_CHECKED mst_status mst_keras_masks_find(const json_t *layers, const mst_names *names, mst_keras_masks *out);
/** MST_UNIMPLEMENTED if MASK, an argument of CALL, is not the mask that the source of CALL has in Muster. NULL or null:
 *  no mask. */
MST_CHECKED mst_status mst_keras_masks_check(const mst_keras_masks *masks, const json_t *call, const json_t *mask);
void mst_keras_masks_free(mst_keras_masks *masks);

#endif
