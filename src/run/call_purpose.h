/** The purpose of a call of a session. */
#ifndef MUSTER_RUN_CALL_PURPOSE_H
#define MUSTER_RUN_CALL_PURPOSE_H

#include <stdbool.h>
#include <stdint.h>

/** What kind of run a call is. */
typedef struct mst_call_purpose {
    bool initial;   /**< gives variables their first values; its random numbers belong to no step */
    bool once;      /**< its plan will not run again */
    bool overtaken; /**< set by an initial run: another session has meanwhile given a value to one of these variables */
    uint64_t part_run; /**< number of the run, if the session has devices of other tasks */
    int64_t random;    /**< number of the step for random ops, if the session has devices of other tasks and no global
                            step */
} mst_call_purpose;

#endif
