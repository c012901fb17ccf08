/** A snapshot as a file, and the folder of a training's checkpoints. */
#ifndef MUSTER_TRAIN_CHECKPOINT_FILE_H
#define MUSTER_TRAIN_CHECKPOINT_FILE_H

#include "muster/checkpoint.h"

/** What a file is, by its name. */
typedef enum mst_model_file { MST_FILE_CHECKPOINT, MST_FILE_SAFETENSORS, MST_FILE_NPZ } mst_model_file;
mst_model_file mst_model_file_of(const char *path);

/** A checkpoint that is in a folder, or that its state file names. */
typedef struct mst_checkpoint_item {
    char *path;    /**< prefix */
    int64_t step;  /**< of the name; -1: it has none */
    int64_t copy;  /**< the number behind the step, 0 where there is none */
    double time;   /**< when it was written, in seconds since 1970 */
    bool in_state; /**< the state file names it */
} mst_checkpoint_item;

/** Checkpoints, the oldest first. Zero-initialised is empty. */
typedef struct mst_checkpoint_list {
    mst_checkpoint_item *item;
    int64_t count, capacity;
    double last_preserved; /**< of the state file: when the last one was written that is kept for good */
} mst_checkpoint_list;

/** The checkpoints of FOLDER: those that its state file names, in that order; others before them, or after them where
 *  they were written later than the state file. MST_NOT_FOUND where there is no such folder. */
MST_CHECKED mst_status mst_checkpoint_list_read(const char *folder, mst_checkpoint_list *out);
/** Writes the state file: those of the list that are in_state. */
MST_CHECKED mst_status mst_checkpoint_list_write(const char *folder, const mst_checkpoint_list *list);
MST_CHECKED mst_status mst_checkpoint_list_add(mst_checkpoint_list *list, const mst_checkpoint_item *item);
/** Takes item I out, and frees it. */
void mst_checkpoint_list_drop(mst_checkpoint_list *list, int64_t i);
void mst_checkpoint_list_free(mst_checkpoint_list *list);

/** Reads the newest checkpoint of FOLDER that is not damaged; MST_NOT_FOUND where there is none. *PATH is its prefix and
 *  *DAMAGED (may come as "") what could not be read, both to be freed. */
MST_CHECKED mst_status mst_checkpoint_read_latest(const char *folder, mst_snapshot **out, char **path, char **damaged);

/** Text that grows. */
MST_CHECKED mst_status mst_text_add(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
