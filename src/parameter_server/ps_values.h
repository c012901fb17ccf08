/** The values that parameter servers have sent last to a worker, on their way to its store. Those of variables that one
 *  server keeps whole, and whose gradients are dense, are read in the parcels that have brought them. */
#ifndef MUSTER_PARAMETER_SERVER_PS_VALUES_H
#define MUSTER_PARAMETER_SERVER_PS_VALUES_H

#include "messages/parcel.h"
#include "parameter_server/ps_client.h"
#include "parameter_server/ps_part.h"

typedef struct mst_ps_values {
    mst_ps_copies copies; /**< the variables. Where not_stored has it, a tensor is older than what has come last */
    mst_snapshot *snapshot;
    mst_tensor *step;      /**< its entry global_step */
    const void **in_place; /**< [copies.count] a value in one of the parcels; NULL: it is in the tensor */
    mst_parcel **parcel;   /**< [num_ps] that has values which have not come to the store; NULL: there is none */
    bool are_saved;        /**< the tensors have all that came last, since the store may have other values */
} mst_ps_values;

/** Memory for the variables of PROGRAM, in VALUES, which are zeros. Freed also after an error. */
MST_CHECKED mst_status mst_ps_values_make(mst_ps_values *values, const mst_ps_program *program, int32_t num_ps);
/** Before the mail is closed. */
void mst_ps_values_free(mst_ps_values *values);
/** Takes what server P has sent, and with it *PARCEL, which then is NULL, where its values are read there. */
MST_CHECKED mst_status mst_ps_values_take(mst_ps_values *values, mst_mail *mail, int32_t p, mst_parcel **parcel);
/** Gives STORE, which may have had others, the values that have come last, and STEP. */
MST_CHECKED mst_status mst_ps_values_store(mst_ps_values *values, mst_store *store, int64_t step);
/** Before STORE, which has them, gets others. */
MST_CHECKED mst_status mst_ps_values_save(mst_ps_values *values, mst_store *store);

#endif
