/** Checkpoints: saving a store to files and restoring it.
 *
 *  The files are TensorFlow's: PREFIX.index, PREFIX.data-00000-of-00001, and in the folder a file `checkpoint` that
 *  names the newest. Weights, slots, averages and global_step have the names that TensorFlow 1 gives them, so that
 *  tf.train.load_checkpoint and tf.train.Saver read them. The position in the data and the seed are stored as further
 *  entries.
 *
 *      mst_checkpoint_manager *manager;
 *      const mst_checkpoint_options options = {.directory = "run", .every_steps = 1000};
 *      MST_TRY(mst_checkpoint_manager_open(&options, &manager));
 *      mst_status status = mst_checkpoint_manager_restore(manager, mst_model_store(model), NULL, NULL);
 *      if (status && status != MST_NOT_FOUND) return status;
 *      const mst_callback save = mst_checkpoint_callback(manager);
 *      MST_TRY(mst_fit(model, .data = data, .epochs = 10, .resume = true, .callbacks = &save, .num_callbacks = 1));
 *      MST_TRY(mst_checkpoint_manager_close(manager));
 *
 *  A program may be killed at any moment. When it is started again, it continues from its last checkpoint. It ends with
 *  bit-identical weights, as if it had not been killed.
 */
#ifndef MUSTER_CHECKPOINT_H
#define MUSTER_CHECKPOINT_H

#include "muster/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one file --------------------------------------------------------------------------------------- */

/** Writes the entries of SNAPSHOT to PATH. If PATH ends in ".safetensors" or ".npz", it is a model file; an existing
 *  file is replaced, whole or not at all. Any other PATH is the prefix of a checkpoint, which must not exist yet
 *  (MST_EXISTS). OPTIMIZER (may be NULL) is the optimizer of the training. It gives the values beta1_power and
 *  beta2_power, which TensorFlow's Adam restores. */
MST_API MST_CHECKED mst_status mst_checkpoint_write(const char *path, const mst_snapshot *snapshot,
                                                    const mst_optimizer *optimizer);
/** Reads a checkpoint (its prefix) or a model file, Muster's or another program's, into a new snapshot owned by the
 *  caller. Entries have the names of a store; an entry whose name does not tell its kind is read as a weight.
 *  MST_NOT_FOUND if there is no such file, MST_CORRUPT if a check sum is wrong. */
MST_API MST_CHECKED mst_status mst_checkpoint_read(const char *path, mst_snapshot **out);

/** The entry named STORE in the store is named FILE in the file. This also renames the entries under it: "STORE/Adam"
 *  is "FILE/Adam". If several names match, the longest counts. */
typedef struct mst_checkpoint_name {
    const char *store, *file;
} mst_checkpoint_name;

typedef struct mst_restore_options {
    int zero_;
    unsigned kinds; /**< set of bits 1 << MST_STATE_...; entries of other kinds do not change. 0: all kinds */
    bool averages;  /**< weights are set from their moving averages, if the file has them */
    bool partial;   /**< weights that the file does not have keep their values; false: that is MST_NOT_FOUND */
    const mst_checkpoint_name *names; /**< renamings; NULL: names are the same */
    int num_names;
} mst_restore_options;

/** What a restore found. Texts are lists of names, with ", " between them, or "". */
typedef struct mst_restored {
    char *path;      /**< the file that was read */
    int64_t step;    /**< its global_step; 0 if it has none */
    int64_t count;   /**< entries that were set */
    char *missing;   /**< entries of the store that the file does not have */
    char *left_over; /**< entries of the file that the store does not have. If a store cannot have its dtype, the dtype
                          is added: "counts (int16, which is not read)" */
    char *damaged;   /**< newer checkpoints that could not be read, each with the reason; they are not deleted */
} mst_restored;
/** Frees the texts. */
MST_API void mst_restored_free(mst_restored *restored);

/** Sets the entries of STORE from PATH: a checkpoint, a model file, or, in a folder, the newest undamaged
 *  checkpoint. Sets all of them or none. If weights are missing, the error lists them and the entries that are left
 *  over. OPTIONS may be NULL. RESTORED (may be NULL) must be freed by the caller, also after a failure. MST_INVALID if
 *  an entry has another shape: the file belongs to another model. */
MST_API MST_CHECKED mst_status mst_checkpoint_restore(const char *path, mst_store *store,
                                                      const mst_restore_options *options, mst_restored *restored);

/** Reads from a checkpoint the number of shards into which its fit cut the batches. PATH is the prefix of the
 *  checkpoint, or a folder, whose newest checkpoint is used. A resumed fit keeps this number itself, unless its
 *  strategy says otherwise (mst_resumed_shards). This function is for programs that need the number earlier, to choose
 *  devices or a batch size. Tensors are not read. *OUT is 0 if there is no checkpoint, or if it does not have the
 *  number. MST_CORRUPT if it is damaged. */
MST_API MST_CHECKED mst_status mst_checkpoint_num_shards(const char *path, int *out);

/* ---- the checkpoints of a training ------------------------------------------------------------------ */

typedef struct mst_checkpoint_options {
    int zero_;
    const char *directory;   /**< made if it does not exist */
    const char *prefix;      /**< default "model.ckpt": files are PREFIX-STEP.index and so on */
    int64_t every_steps;     /**< steps between checkpoints; may be given together with every_seconds */
    double every_seconds;    /**< seconds between checkpoints; 600 if neither is given */
    int64_t keep;            /**< number of newest checkpoints that are kept, default 5; negative: all */
    double keep_every_hours; /**< keeps one more checkpoint for each of these periods; 0: none */
    /** Also keeps the checkpoint of the best epoch, in the folder `best` of the directory. The best epoch has the
     *  smallest value of this loss or metric, or the largest if larger is better. "loss", "val_loss", the name of a
     *  metric, or "val_" and that name. NULL: none. */
    const char *monitor;
    bool maximize; /**< larger is better; not needed for metrics that say so, such as "accuracy" */
    bool anew;     /**< starts a new training: existing checkpoints in the directory are never deleted */
    const mst_optimizer *optimizer; /**< of the training, see mst_checkpoint_write; default: the model's optimizer */
} mst_checkpoint_options;

/** Writes the checkpoints of one folder, in a thread of its own. */
typedef struct mst_checkpoint_manager mst_checkpoint_manager;

/** Opens the folder. A second process, or a second manager, is refused with MST_UNAVAILABLE until the first is closed
 *  or its process ends, even by a crash. Incomplete files of a process that was killed are removed. */
MST_API MST_CHECKED mst_status mst_checkpoint_manager_open(const mst_checkpoint_options *options,
                                                           mst_checkpoint_manager **out);
/** Restores the newest undamaged checkpoint; MST_NOT_FOUND if the folder has none. */
MST_API MST_CHECKED mst_status mst_checkpoint_manager_restore(mst_checkpoint_manager *manager, mst_store *store,
                                                              const mst_restore_options *options,
                                                              mst_restored *restored);
/** Copies the store and returns while a thread writes it. Waits first if the previous save is still being written; an
 *  error of that save is returned here. */
MST_API MST_CHECKED mst_status mst_checkpoint_manager_save(mst_checkpoint_manager *manager, mst_store *store);
/** Waits until all saves are written. */
MST_API MST_CHECKED mst_status mst_checkpoint_manager_wait(mst_checkpoint_manager *manager);
/** Prefix of the newest checkpoint that this manager has written or restored, or NULL. Valid until the next one. */
MST_API const char *mst_checkpoint_manager_latest(mst_checkpoint_manager *manager);
/** Waits until all saves are written, and closes the manager, so that another may open the folder. NULL is allowed. */
MST_API MST_CHECKED mst_status mst_checkpoint_manager_close(mst_checkpoint_manager *manager);
/** Saves as the options say, and at the end of a training that did not fail. Training does not wait for writing. If a
 *  save is due while the previous one is still being written, it is made as soon as that has ended. */
MST_API mst_callback mst_checkpoint_callback(mst_checkpoint_manager *manager);

#ifdef __cplusplus
}
#endif
#endif
