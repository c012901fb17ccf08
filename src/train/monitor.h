/** The value that decides which epoch was the best: a loss or a metric by its name. */
#ifndef MUSTER_TRAIN_MONITOR_H
#define MUSTER_TRAIN_MONITOR_H

#include "muster/train.h"

/** Checks, before the first epoch, that the epochs of a fit will have a value NAME (NULL: "val_loss"). METRICS: names
 *  of the fit's metrics. VALIDATES: the fit has validation data. MST_INVALID if there will be no such value; the
 *  message names WHO, the callback, and the values that there will be. */
MST_CHECKED mst_status mst_monitor_check(const char *who, const char *name, const char *const *metrics, int num_metrics,
                                         bool validates);
/** The value of NAME ("loss", "val_loss", a metric, "val_" and a metric; NULL: "val_loss") at the end of an epoch.
 *  MST_INVALID if there is none; WHO is the name of the callback that asks for it. */
MST_CHECKED mst_status mst_monitor_value(const char *who, const char *name, const mst_train_state *state, double *out);
/** Whether NAME is a value of the validation data. */
bool mst_monitor_is_of_validation(const char *name);
/** NAME, or "val_loss" for NULL. */
const char *mst_monitor_name(const char *name);
/** Whether a callback has stopped training in the middle of the epoch. Then the values of STATE do not describe the
 *  whole epoch, which will end in a fit that is resumed. */
bool mst_monitor_is_cut_off(const mst_train_state *state);
/** Whether a larger value is better: MAXIMIZE is set, or the metric NAME of the fit says so. */
bool mst_monitor_larger_is_better(const char *name, const mst_train_state *state, bool maximize);

/** Stores a number under "WHO/MONITOR/WHAT", so that a training that is resumed finds it. */
MST_CHECKED mst_status mst_monitor_keep(mst_store *store, const char *who, const char *monitor, const char *what,
                                        double value);
/** Reads such a number. *OUT does not change if none was stored. */
MST_CHECKED mst_status mst_monitor_kept(mst_store *store, const char *who, const char *monitor, const char *what,
                                        double *out);

#endif
