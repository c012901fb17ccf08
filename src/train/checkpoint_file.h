/** Snapshots in files, and the folder in which a training keeps its checkpoints. */
#ifndef MUSTER_TRAIN_CHECKPOINT_FILE_H
#define MUSTER_TRAIN_CHECKPOINT_FILE_H

#include "base/folder.h"
#include "muster/checkpoint.h"

/** The format of a model file or checkpoint, by the name of the file. */
typedef enum mst_model_file { MST_FILE_CHECKPOINT, MST_FILE_SAFETENSORS, MST_FILE_NPZ } mst_model_file;
mst_model_file mst_model_file_of(const char *path);

/** As mst_checkpoint_write, for the checkpoint NAME of FOLDER, which is save number SAVE of that folder. */
MST_CHECKED mst_status mst_checkpoint_write_in(const mst_folder *folder, const char *name, const mst_snapshot *snapshot,
                                               const mst_optimizer *optimizer, int64_t save);
/** Reads the save number that a checkpoint contains; 0 if it has none, or is damaged. */
MST_CHECKED mst_status mst_checkpoint_read_save(const char *path, int64_t *out);

/** Reads the entry NAME of a checkpoint or model file, an i64 of the default container, without its other tensors. *OUT
 *  is 0 if it has no such entry. */
MST_CHECKED mst_status mst_checkpoint_read_number(const char *path, const char *name, int64_t *out);
/** *PATH is the prefix of the newest checkpoint of FOLDER, which may be damaged. It is NULL if there is none, and
 *  belongs to the caller. */
MST_CHECKED mst_status mst_checkpoint_find_newest(const mst_folder *folder, char **path);

/** A checkpoint that is in a folder, or that the folder's state file names. */
typedef struct mst_checkpoint_item {
    char *path;       /**< prefix */
    const char *name; /**< the last part of it */
    int64_t save;     /**< number of the save in the folder, from 1; 0: none, or not read from the file yet */
    int64_t step;     /**< step in the name; -1: the name has none */
    int64_t copy;     /**< the number after the step in the name; 0: none */
    double time;      /**< when it was written, in seconds since 1970 */
    bool in_state;    /**< the state file names it */
} mst_checkpoint_item;

/** Checkpoints, the oldest first. Zero-initialised, it is empty. */
typedef struct mst_checkpoint_list {
    mst_checkpoint_item *item;
    int64_t count, capacity;
    int64_t saves;         /**< number of the last save in the folder */
    double last_preserved; /**< in the state file: time of the last checkpoint that is kept forever */
} mst_checkpoint_list;

/** Lists the checkpoints of FOLDER, the oldest first. Each checkpoint contains its save number, and the state file has
 *  the number of the last save. (Times of files are not used, since a copied folder has other times.) The order:
 *
 *      1. checkpoints that the state file does not name, except those of 3.
 *      2. checkpoints that the state file names, in the order of that file
 *      3. checkpoints with a larger number than the state file's: the process that saved them was killed before it
 *         could write the state file again
 *
 *  Within 1. and 3. the order is by save number, then by step. A state file written by hand or by TensorFlow has no
 *  number: then 3. is empty. */
MST_CHECKED mst_status mst_checkpoint_list_read(const mst_folder *folder, mst_checkpoint_list *out);
/** Writes the state file, with the items of the list that are in_state. */
MST_CHECKED mst_status mst_checkpoint_list_write(const mst_folder *folder, const mst_checkpoint_list *list);
MST_CHECKED mst_status mst_checkpoint_list_add(mst_checkpoint_list *list, const mst_checkpoint_item *item);
/** Removes item I from the list, and frees it. The checkpoint stays in the folder. */
void mst_checkpoint_list_drop(mst_checkpoint_list *list, int64_t i);
void mst_checkpoint_list_free(mst_checkpoint_list *list);

/** Reads the newest checkpoint of FOLDER that is not damaged; MST_NOT_FOUND if there is none. *PATH is its prefix.
 *  *DAMAGED lists newer checkpoints that could not be read; it may be "". The caller frees both. */
MST_CHECKED mst_status mst_checkpoint_read_latest(const mst_folder *folder, mst_snapshot **out, char **path,
                                                  char **damaged);

/** Appends text to *TEXT, which is reallocated. */
MST_CHECKED mst_status mst_text_add(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
