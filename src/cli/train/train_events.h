/** What `muster train` does after each step and epoch: writes events, stops after a signal, checks standard output. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_EVENTS_H
#define MUSTER_CLI_TRAIN_TRAIN_EVENTS_H

#include "muster/train.h"

typedef struct train_events {
    bool json;
    int64_t every;     /**< steps between step events */
    double began;      /**< mst_clock_seconds() of the command's start */
    double first_step; /**< seconds from `began` to the end of the first step */
    int fold;          /**< --folds: the fold, from 1; 0: there are none */
    int64_t num_steps; /**< the steps made by this command */
    bool interrupted;  /**< a signal has come, perhaps only after the last step */
} train_events;

/** EVENTS must outlive training. */
mst_callback train_events_callback(train_events *events);

#endif
