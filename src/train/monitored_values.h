/** The variables of a monitored session: whether they have values, and a copy of all of them for saving and
 *  restoring. */
#ifndef MUSTER_TRAIN_MONITORED_VALUES_H
#define MUSTER_TRAIN_MONITORED_VALUES_H

#include "muster/session.h"

typedef struct mst_monitored_values {
    mst_value *variable, *input, *assign; /**< [count]; a run of `assign` sets the variables to the values fed to
                                           *   `input` */
    unsigned char *has;                   /**< [count]: has a value; set by mst_monitored_values_missing */
    int count;
    mst_value step;  /**< global_step, one of the variables */
    mst_store *kept; /**< the copy: an entry for each variable */
    bool is_whole;   /**< all entries of the copy have values */
} mst_monitored_values;

/** Lists the variables of GRAPH, and adds the nodes that set them. */
MST_CHECKED mst_status mst_monitored_values_open(mst_graph *graph, mst_monitored_values *out);
void mst_monitored_values_free(mst_monitored_values *values);
/** Sets *MISSING to the number of variables without a value, and *FIRST to the name of the first one. */
MST_CHECKED mst_status mst_monitored_values_missing(mst_monitored_values *values, mst_session *session, int *missing,
                                                    const char **first);
/** Copies the values of all variables to `kept`, at one moment between two runs. *STEP: global_step at that moment. */
MST_CHECKED mst_status mst_monitored_values_keep(mst_monitored_values *values, mst_session *session, int64_t *step);
/** Sets all variables that have a value in the copy, in one run. */
MST_CHECKED mst_status mst_monitored_values_set(const mst_monitored_values *values, mst_session *session);
/** Reads global_step. */
MST_CHECKED mst_status mst_monitored_values_step(const mst_monitored_values *values, mst_session *session,
                                                 int64_t *step);

#endif
