/** The default time limits of tasks, in seconds. */
#ifndef MUSTER_TRANSPORT_TIME_LIMITS_H
#define MUSTER_TRANSPORT_TIME_LIMITS_H

enum {
    MST_TASK_TIMEOUT = 10,           /**< a peer that is silent for so long is lost */
    MST_TASK_RECOVERY_TIMEOUT = 600, /**< a lost task may come back within this time */
    MST_TASK_STEP_TIMEOUT = 600      /**< the others must reach a step, or a collective, within this time */
};

#endif
