/** The last values that parameter servers have sent to a worker, on their way to its store. If one server keeps a whole
 *  variable, and its gradients are dense, the value stays in the message that has brought it until it is stored. */
#ifndef MUSTER_PARAMETER_SERVER_PS_VALUES_H
#define MUSTER_PARAMETER_SERVER_PS_VALUES_H

#include "messages/task_message.h"
#include "parameter_server/ps_client.h"
#include "parameter_server/ps_part.h"

typedef struct mst_ps_values {
    mst_ps_copies copies; /**< the variables. A tensor may be older than a value that is read in a message */
    mst_snapshot *snapshot;
    mst_tensor *step;      /**< its entry global_step */
    const void **in_place; /**< [copies.count] a value in one of the messages; NULL: it is in the tensor */
    /** [num_ps] A message with values that have not reached the store; NULL: there is none. */
    mst_task_message **message;
    bool are_saved; /**< the tensors have all last values: the store may have others */
} mst_ps_values;

/** Initialises VALUES, which must be zeros, with memory for the variables of PROGRAM. Free VALUES also after an
 *  error. */
MST_CHECKED mst_status mst_ps_values_make(mst_ps_values *values, const mst_ps_program *program, int32_t num_ps);
/** Frees the members. Call it before the mail is closed. */
void mst_ps_values_free(mst_ps_values *values);
/** Takes *MESSAGE, which has the values that server P has sent, and sets it to NULL. */
MST_CHECKED mst_status mst_ps_values_take(mst_ps_values *values, mst_mail *mail, int32_t p, mst_task_message **message);
/** Writes the last values, and STEP, to STORE, which may have had others. */
MST_CHECKED mst_status mst_ps_values_store(mst_ps_values *values, mst_store *store, int64_t step);
/** Call it before STORE, which has the last values, gets other ones. */
MST_CHECKED mst_status mst_ps_values_save(mst_ps_values *values, mst_store *store);

#endif
