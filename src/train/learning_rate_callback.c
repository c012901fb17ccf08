/* The callback that sets the learning rate at the beginning of each epoch. */
#include <stdio.h>

#include "base/argument.h"
#include "muster/train.h"

static mst_status schedule_epoch_begin(void *context, mst_train_state *state) {
    const mst_learning_rate_scheduler *scheduler = context;
    if (!scheduler->schedule) return MST_FAIL(MST_INVALID, "learning rate scheduler: no schedule is given");
    if (state->step_in_epoch > 0)
        return MST_OK; /* training was resumed within an epoch: its rate was set when it began */
    state->learning_rate = scheduler->schedule(scheduler->context, state->epoch, state->learning_rate);
    return MST_OK;
}

/* The settings of callbacks, which workers compare. The schedule is a function, which cannot be compared, so the text
 * only says that there is one. */
static void schedule_settings(const void *context, char *text, size_t size) {
    (void)context;
    snprintf(text, size, "learning_rate_callback");
}

mst_callback mst_learning_rate_callback(mst_learning_rate_scheduler *scheduler) {
    if (MST_IS_NULL(scheduler)) return (mst_callback){0};
    return (mst_callback){.context = scheduler, .epoch_begin = schedule_epoch_begin, .settings = schedule_settings};
}
