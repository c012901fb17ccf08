/** Reads and writes the weights of a model and the state of its optimizer at the places where Keras keeps them. */
#ifndef MUSTER_MODEL_FILE_KERAS_WEIGHTS_H
#define MUSTER_MODEL_FILE_KERAS_WEIGHTS_H

#include "model_file/keras/network.h"
#include "model_file/keras/tree.h"
#include "muster/model_file.h"
#include "muster/optimizer.h"

/** Adds TENSOR, converted to DTYPE, to SNAPSHOT as the entry NAME. */
MST_CHECKED mst_status mst_keras_entry_add(mst_snapshot *snapshot, const char *name, mst_state_kind kind,
                                           mst_tensor *tensor, mst_dtype dtype);

/** Sets all weights of MODEL from TREE, or none after a failure. TREE may have the layout of Keras 3 or of .h5. NETWORK
 *  is the order of the layers in the file. NAME is the name of the file, for messages. */
MST_CHECKED mst_status mst_keras_weights_read(const char *name, const mst_keras_tree *tree,
                                              const mst_keras_network *network, mst_model *model);
/** Adds the weights to TREE in the layout of Keras 3. */
MST_CHECKED mst_status mst_keras_weights_write(mst_model *model, const mst_keras_network *network,
                                               mst_keras_tree *tree);

/** Adds the weights to TREE in the layout of .h5 files of whole models. */
MST_CHECKED mst_status mst_keras_weights_write_h5(mst_model *model, const mst_keras_network *network,
                                                  mst_keras_tree *tree);

/** Sets the state of OPTIMIZER for MODEL's weights, and its learning rate, from TREE. *FOUND becomes whether TREE has
 *  all of it in the order of Keras 3. If not, nothing is set. */
MST_CHECKED mst_status mst_keras_state_read(const mst_keras_tree *tree, const mst_keras_network *network,
                                            mst_model *model, mst_optimizer *optimizer, bool *found);
MST_CHECKED mst_status mst_keras_state_write(mst_model *model, const mst_keras_network *network,
                                             const mst_optimizer *optimizer, mst_keras_tree *tree);
/** The same in the layout of .h5. */
MST_CHECKED mst_status mst_keras_state_write_h5(mst_model *model, const mst_keras_network *network,
                                                const mst_optimizer *optimizer, mst_keras_tree *tree);

/** Whether TREE has state of an optimizer beyond a step and a learning rate, even if Muster cannot read it. */
bool mst_keras_has_state(const mst_keras_tree *tree);

/** Reads an optimizer from Keras' OBJECT, which has class_name and config. If Muster does not have it, or not with all
 *  its settings, *OUT has no rule, and NOTE tells why. Else NOTE tells what is computed in another way, or is "". */
void mst_keras_optimizer_read(const json_t *object, mst_optimizer *out, char note[MST_OPTIMIZER_NOTE]);
/** Makes Keras' *OBJECT for OPTIMIZER. MST_UNIMPLEMENTED if Keras has no such optimizer. */
MST_CHECKED mst_status mst_keras_optimizer_write(const mst_optimizer *optimizer, json_t **object);
/** Whether Keras has this optimizer. */
MST_API bool mst_keras_has_optimizer(const mst_optimizer *optimizer);

#endif
