/** The note of the end of a training, by which an evaluator knows that no more checkpoints come. It is the file
 *  `.muster.ended` in the folder of checkpoints:
 *
 *      {"step": 300, "steps": 300, "epochs": 5, "stopped_early": false}
 *
 *  It is written after the last checkpoint, and removed when a training begins or resumes in the folder. A training
 *  that failed or was interrupted by a signal has not ended. */
#ifndef MUSTER_CLI_TRAIN_TRAINING_END_H
#define MUSTER_CLI_TRAIN_TRAINING_END_H

#include <stdint.h>

#include "cli/file_stamp.h"
#include "muster/status.h"

typedef struct training_end {
    int64_t step;          /**< the total number of updates */
    int64_t steps, epochs; /**< --steps (0: not given) and --epochs of the training */
    bool stopped_early;    /**< --patience stopped it, so with the same options it may resume */
    file_stamp stamp;      /**< the stamp of the file, in a note that was read */
} training_end;

MST_CHECKED mst_status training_end_write(const char *folder, const training_end *end);
/** Removes the note if there is one. */
MST_CHECKED mst_status training_end_remove(const char *folder);
/** Reads the note of FOLDER. Returns whether there is one; if not, *OUT is zeroed. */
bool training_end_read(const char *folder, training_end *out);

#endif
