/** What the chief does for all in a job with --elastic, such as to write checkpoints: while it is away the first of the
 *  workers that train stands in for it. So each worker has the callbacks that do it, each within one that lets it work
 *  only where this worker is the first.
 *
 *      events of fit  ->  is this worker the first now?  ->  begin the work, go on with it, or end it
 */
#ifndef MUSTER_CLI_TRAIN_STAND_IN_H
#define MUSTER_CLI_TRAIN_STAND_IN_H

#include "muster/task.h"
#include "muster/train.h"

typedef struct stand_in {
    mst_task *task;
    mst_callback
        work; /**< its train_begin is called where this worker begins to do it, also in the midst of training */
    /** Makes WORK ready to begin. MST_UNAVAILABLE: another worker has not ended it yet; `open` is then called again.
     *  STATE is resumed if training began before, with the work of another worker. NULL: WORK is always ready. */
    mst_status (*open)(void *context, const mst_train_state *state, mst_callback *work);
    /** Ends the work where another worker is to do it; NULL: by its train_end. */
    mst_status (*close)(void *context);
    void *context;
    uint32_t since; /**< as of mst_task_first_since when it began; 0: this worker does not do it */
    bool is_late;   /**< ... after training had begun: for the work training has been resumed */
} stand_in;

/** S must stay as long as the callback. */
mst_callback stand_in_callback(stand_in *s);

#endif
