/** The time limits of tasks, in seconds, where nothing else is asked for. */
#ifndef MUSTER_TRANSPORT_TIME_LIMITS_H
#define MUSTER_TRANSPORT_TIME_LIMITS_H

enum {
    MST_TASK_TIMEOUT = 10,           /**< of silence, after which the other end of a connection is lost */
    MST_TASK_RECOVERY_TIMEOUT = 600, /**< in which a lost task may come back */
    MST_TASK_STEP_TIMEOUT = 600      /**< in which the others must come to a step, or to a collective */
};

#endif
