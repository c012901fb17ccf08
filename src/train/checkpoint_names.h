/** Names of entries in a store and in TensorFlow's checkpoints. */
#ifndef MUSTER_TRAIN_CHECKPOINT_NAMES_H
#define MUSTER_TRAIN_CHECKPOINT_NAMES_H

#include "base/arena.h"
#include "muster/store.h"

/** The name of entry I of SNAPSHOT in a file: "layer1/weights/m" becomes "layer1/weights/Adam". NULL if memory is
 *  out. */
const char *mst_checkpoint_file_name(mst_arena *arena, const mst_snapshot *snapshot, int64_t i);
/** The name in the file of a slot of zeros that TensorFlow 1 expects beside entry I, and that the store does not have:
 *  TensorFlow's RMSProp has a momentum slot even if the momentum is 0. "": there is none; NULL: memory is out. */
const char *mst_checkpoint_zero_slot(mst_arena *arena, const mst_snapshot *snapshot, int64_t i);

/** Whether the file has a tensor with this name. */
typedef bool (*mst_checkpoint_has)(const void *file, const char *name);
/** The name in a store of FILE_NAME, and in *KIND its kind, for a file without Muster's description of its entries. HAS
 *  and FILE: the other tensors of the file. NULL if memory is out; "" if no store has such an entry (beta1_power,
 *  save_counter). */
const char *mst_checkpoint_store_name(mst_arena *arena, const char *file_name, mst_checkpoint_has has, const void *file,
                                      mst_state_kind *kind);

#endif
