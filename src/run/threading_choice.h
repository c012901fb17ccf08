/** The choice of threading: the devices of a plan run together, each on its thread, or one thread runs them one after
 *  the other (alone).
 *
 *  Together is faster, except when another program keeps one of the cores busy. Then a device is late, and all others
 *  wait for it wherever they need its values. A step can then take longer than one thread needs for the work of all
 *  devices. So the time of a run is measured in both modes, as the mean over a window: all runs within some
 *  milliseconds. The faster mode is taken:
 *
 *      together   stays until two windows in a row took longer than the last trial of alone; then tries alone
 *      alone      tries together after a pause; the pause doubles after each trial that was not faster
 *
 *  The result is the same bits either way. */
#ifndef MUSTER_RUN_THREADING_CHOICE_H
#define MUSTER_RUN_THREADING_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/** All zeros: no run has been measured. */
typedef struct mst_threading_choice {
    bool alone;        /**< the present mode: one thread runs all devices */
    bool trial;        /**< this window is a trial of the other mode */
    bool begun;        /**< the first run is over; it touches memory for the first time, and is not measured */
    int runs;          /**< runs in this window so far */
    int slow;          /**< number of windows in a row that took longer together than alone */
    int64_t spent;     /**< nanoseconds of these runs */
    double cost[2];    /**< nanoseconds per run in the last window of each mode: together, alone; 0: not measured */
    int64_t pause;     /**< nanoseconds from this trial to the next */
    int64_t not_until; /**< earliest time of the next trial */
} mst_threading_choice;

/** Whether one thread runs all devices in the next run. */
bool mst_threading_choice_is_alone(const mst_threading_choice *choice);
/** Adds a run that took NANOSECONDS and ended at NOW (mst_clock_now). ALONE: one thread ran all devices. */
void mst_threading_choice_add(mst_threading_choice *choice, bool alone, int64_t nanoseconds, int64_t now);

#endif
