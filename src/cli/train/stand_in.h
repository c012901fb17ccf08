/** Work that the chief does for all workers, such as writing checkpoints. In a job with --elastic, while the chief is
 *  away, the first of the workers that train does this work. So each worker has the callbacks for it. Each of them is
 *  wrapped in a callback that runs it only while this worker is the first.
 *
 *      events of fit  ->  is this worker the first now?  ->  begin the work, go on with it, or end it
 */
#ifndef MUSTER_CLI_TRAIN_STAND_IN_H
#define MUSTER_CLI_TRAIN_STAND_IN_H

#include "muster/task.h"
#include "muster/train.h"

typedef struct stand_in {
    mst_task *task;
    mst_callback work; /**< its train_begin is called when this worker begins the work, also in the midst of training */
    /** Makes WORK ready to begin. MST_UNAVAILABLE: another worker has not ended it yet, so `open` is called again
     *  later. STATE->resumed is true if training had begun before, and another worker did the work. NULL: WORK is
     *  always ready. */
    mst_status (*open)(void *context, const mst_train_state *state, mst_callback *work);
    /** Ends the work because another worker takes it over. NULL: train_end of WORK ends it. */
    mst_status (*close)(void *context);
    void *context;
    uint32_t since; /**< mst_task_first_since when this worker began the work; 0: it does not do the work */
    bool is_late;   /**< it began the work after training had begun, so the work sees a resumed training */
} stand_in;

/** The callback that runs the work of S, which must live as long as the callback. */
mst_callback stand_in_callback(stand_in *s);

#endif
