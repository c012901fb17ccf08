/** The value that decides which epoch was the best: a loss or a metric by its name. */
#ifndef MUSTER_TRAIN_MONITOR_H
#define MUSTER_TRAIN_MONITOR_H

#include "muster/train.h"

/** MST_INVALID, naming WHO and what there is, if no epoch of a fit with these METRICS (names) will have a value of
 *  NAME (NULL: "val_loss"); VALIDATES: it has validation data. To be asked before the first epoch. */
MST_CHECKED mst_status mst_monitor_check(const char *who, const char *name, const char *const *metrics, int num_metrics,
                                         bool validates);
/** The value of NAME ("loss", "val_loss", a metric, "val_" and a metric; NULL: "val_loss") at the end of an epoch.
 *  MST_INVALID if there is none; WHO is who asks for it. */
MST_CHECKED mst_status mst_monitor_value(const char *who, const char *name, const mst_train_state *state, double *out);
/** Whether NAME is a value of the validation data. */
bool mst_monitor_is_of_validation(const char *name);
/** NAME, or "val_loss" for NULL. */
const char *mst_monitor_name(const char *name);
/** Whether the epoch was ended in its middle, by a callback that stopped training: it says nothing of the whole epoch,
 *  which a fit that is resumed ends. */
bool mst_monitor_is_cut_off(const mst_train_state *state);
/** Whether larger is better: MAXIMIZE, or the metric NAME of the fit says so. */
bool mst_monitor_larger_is_better(const char *name, const mst_train_state *state, bool maximize);

/** Keeps a number in the store, so that a training that is resumed finds it: entry "WHO/MONITOR/WHAT". */
MST_CHECKED mst_status mst_monitor_keep(mst_store *store, const char *who, const char *monitor, const char *what,
                                        double value);
/** Leaves *OUT as it is where nothing was kept. */
MST_CHECKED mst_status mst_monitor_kept(mst_store *store, const char *who, const char *monitor, const char *what,
                                        double *out);

#endif
