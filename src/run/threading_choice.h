/** The choice of threading: whether the devices of a plan run side by side, each on its thread, or one thread runs them
 *  one after the other.
 *
 *  Side by side is faster, but for one case: another program keeps one of the cores busy. Then a device is late, all
 *  others wait for it at each crossing, and a step can take longer than one thread needs for the work of all devices.
 *  So the time of a run is measured both ways, in windows of some milliseconds, and the faster one is taken:
 *
 *      together   until two windows in a row take longer than the last trial alone took; then a trial alone
 *      alone      a trial together after a pause, which doubles as long as it does not pay
 *
 *  The result is the same bits either way. */
#ifndef MUSTER_RUN_THREADING_CHOICE_H
#define MUSTER_RUN_THREADING_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/** All zero: no run has been measured. */
typedef struct mst_threading_choice {
    bool alone;        /**< the way that is taken */
    bool trial;        /**< this window tries the other one */
    bool begun;        /**< the first run, which touches memory for the first time, is over */
    int runs;          /**< of this window */
    int slow;          /**< windows together in a row that took longer than alone */
    int64_t spent;     /**< nanoseconds of this window */
    double cost[2];    /**< nanoseconds a run, in the last window together and alone; 0: not measured */
    int64_t pause;     /**< nanoseconds until the next trial, after this one */
    int64_t not_until; /**< when a trial may begin */
} mst_threading_choice;

/** Whether the next run is to be made by one thread alone. */
bool mst_threading_choice_is_alone(const mst_threading_choice *choice);
/** Adds a run that took so many nanoseconds, and ended NOW (mst_clock_now); ALONE: how it was made. */
void mst_threading_choice_add(mst_threading_choice *choice, bool alone, int64_t nanoseconds, int64_t now);

#endif
