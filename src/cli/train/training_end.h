/** The end of a training, noted in its folder of checkpoints, so that an evaluator knows that no other checkpoint
 *  comes: the file `.muster.ended`,
 *
 *      {"step": 300, "steps": 300, "epochs": 5, "stopped_early": false}
 *
 *  It is written behind the last checkpoint, and removed when a training begins in the folder or goes on there. A
 *  training that failed, or was interrupted by a signal, has not ended. */
#ifndef MUSTER_CLI_TRAIN_TRAINING_END_H
#define MUSTER_CLI_TRAIN_TRAINING_END_H

#include <stdint.h>

#include "cli/file_stamp.h"
#include "muster/status.h"

typedef struct training_end {
    int64_t step;          /**< updates made in all */
    int64_t steps, epochs; /**< --steps (0: not given) and --epochs of the training */
    bool stopped_early;    /**< by --patience: with the same options it may go on */
    file_stamp stamp;      /**< of a note that was read */
} training_end;

MST_CHECKED mst_status training_end_write(const char *folder, const training_end *end);
/** Removes the note, where there is one. */
MST_CHECKED mst_status training_end_remove(const char *folder);
/** Whether FOLDER has the note, which goes to *OUT; else *OUT is zeroed. */
bool training_end_read(const char *folder, training_end *out);

#endif
