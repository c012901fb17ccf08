/** The last values that parameter servers have sent to a worker, before they are written to its store. If one server
 *  keeps the whole variable, and its gradients are dense, the value is not copied: it stays in the received message
 *  until it is written to the store. */
#ifndef MUSTER_PARAMETER_SERVER_PS_VALUES_H
#define MUSTER_PARAMETER_SERVER_PS_VALUES_H

#include "messages/task_message.h"
#include "parameter_server/ps_client.h"
#include "parameter_server/ps_part.h"

typedef struct mst_ps_values {
    mst_ps_copies copies; /**< the variables; a tensor may be older than the value that `in_place` points to */
    mst_snapshot *snapshot;
    mst_tensor *step;      /**< its entry global_step */
    const void **in_place; /**< [copies.count] a value in one of the messages; NULL: it is in the tensor */
    /** [num_ps] A message with values that have not reached the store; NULL: there is none. */
    mst_task_message **message;
    bool are_saved; /**< the tensors have all last values, so the store may be overwritten */
} mst_ps_values;

/** Initialises VALUES, which must be zeros, with memory for the variables of PROGRAM. Free VALUES also after an
 *  error. */
MST_CHECKED mst_status mst_ps_values_make(mst_ps_values *values, const mst_ps_program *program, int32_t num_ps);
/** Frees the members. Call it before the mail is closed. */
void mst_ps_values_free(mst_ps_values *values);
/** Takes *MESSAGE, which has the values that server P has sent, and sets it to NULL. */
MST_CHECKED mst_status mst_ps_values_take(mst_ps_values *values, mst_mail *mail, int32_t p, mst_task_message **message);
/** Writes the last values, and STEP, to STORE. */
MST_CHECKED mst_status mst_ps_values_store(mst_ps_values *values, mst_store *store, int64_t step);
/** Copies the last values from STORE to the tensors. Call it before STORE is overwritten with other values. */
MST_CHECKED mst_status mst_ps_values_save(mst_ps_values *values, mst_store *store);

#endif
