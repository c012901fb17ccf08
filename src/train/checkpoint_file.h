/** A snapshot as a file, and the folder of a training's checkpoints. */
#ifndef MUSTER_TRAIN_CHECKPOINT_FILE_H
#define MUSTER_TRAIN_CHECKPOINT_FILE_H

#include "base/folder.h"
#include "muster/checkpoint.h"

/** What a file is, by its name. */
typedef enum mst_model_file { MST_FILE_CHECKPOINT, MST_FILE_SAFETENSORS, MST_FILE_NPZ } mst_model_file;
mst_model_file mst_model_file_of(const char *path);

/** The same as mst_checkpoint_write for the checkpoint NAME of FOLDER, which is the save of number SAVE there. */
MST_CHECKED mst_status mst_checkpoint_write_in(const mst_folder *folder, const char *name, const mst_snapshot *snapshot,
                                               const mst_optimizer *optimizer, int64_t save);
/** The number of the save that a checkpoint has inside; 0 where it has none, or is damaged. */
MST_CHECKED mst_status mst_checkpoint_read_save(const char *path, int64_t *out);

/** A checkpoint that is in a folder, or that its state file names. */
typedef struct mst_checkpoint_item {
    char *path;       /**< prefix */
    const char *name; /**< the last part of it */
    int64_t save;     /**< its number inside, where it was looked at: the saves of a folder are counted from 1 */
    int64_t step;     /**< of the name; -1: it has none */
    int64_t copy;     /**< the number after the step in the name; 0: none */
    double time;      /**< when it was written, in seconds since 1970 */
    bool in_state;    /**< the state file names it */
} mst_checkpoint_item;

/** Checkpoints, the oldest first. Zero-initialised is empty. */
typedef struct mst_checkpoint_list {
    mst_checkpoint_item *item;
    int64_t count, capacity;
    int64_t saves;         /**< how many there have been in the folder: the number of the last one */
    double last_preserved; /**< of the state file: when the last one was written that is kept for good */
} mst_checkpoint_list;

/** The checkpoints of FOLDER: those that its state file names, in that order, and others. A file's time tells nothing:
 *  a copy of a folder has other times. So the state file has the number of the last save, and each checkpoint its own.
 *  Others come after those of the state file where their number is larger (the process was killed before it could write
 *  the state file again), else before them, by number, then by step. Where the state file has no number, because it was
 *  written by hand or by TensorFlow, others come before. Where there is no state file, all are others. */
MST_CHECKED mst_status mst_checkpoint_list_read(const mst_folder *folder, mst_checkpoint_list *out);
/** Writes the state file: those of the list that are in_state. */
MST_CHECKED mst_status mst_checkpoint_list_write(const mst_folder *folder, const mst_checkpoint_list *list);
MST_CHECKED mst_status mst_checkpoint_list_add(mst_checkpoint_list *list, const mst_checkpoint_item *item);
/** Takes item I out, and frees it. */
void mst_checkpoint_list_drop(mst_checkpoint_list *list, int64_t i);
void mst_checkpoint_list_free(mst_checkpoint_list *list);

/** Reads the newest checkpoint of FOLDER that is not damaged; MST_NOT_FOUND where there is none. *PATH is its prefix
 *  and *DAMAGED (may come as "") what could not be read, both to be freed. */
MST_CHECKED mst_status mst_checkpoint_read_latest(const mst_folder *folder, mst_snapshot **out, char **path,
                                                  char **damaged);

/** Text that grows. */
MST_CHECKED mst_status mst_text_add(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
