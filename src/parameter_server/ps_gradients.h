/** The gradients of a worker on their way to the parameter servers. Dense ones that each go to one server as a whole
 *  are made in the memory from which they are sent; of others the body is put together from pieces. */
#ifndef MUSTER_PARAMETER_SERVER_PS_GRADIENTS_H
#define MUSTER_PARAMETER_SERVER_PS_GRADIENTS_H

#include "messages/parcel.h"
#include "parameter_server/ps_part.h"

typedef struct mst_ps_gradients {
    const mst_ps_copies *copies; /**< the variables */
    int32_t num_leaves, num_pieces;
    mst_iov *piece;        /**< [num_ps][num_pieces]: what each server gets; some may have no bytes */
    int64_t *numbers;      /**< of the rows in them, where a gradient is cut */
    mst_mail_block *block; /**< in which the gradients of a step are made; NULL: none */
    size_t *offset;        /**< [num_leaves][variables]: of each in the block */
    size_t *begin;         /**< [num_ps + 1]: of what each server gets in it */
    bool is_in_block;      /**< all gradients of this step */
} mst_ps_gradients;

/** Of NUM_LEAVES parts of the gradients of all variables, in GRADIENTS, which are zeros. COPIES must stay as long.
 *  Freed also after an error. */
MST_CHECKED mst_status mst_ps_gradients_make(mst_ps_gradients *gradients, const mst_ps_copies *copies,
                                             int32_t num_leaves);
/** Before MAIL is closed. */
void mst_ps_gradients_free(mst_ps_gradients *gradients, mst_mail *mail);
/** Replaces the tensors of GRADIENT, as of mst_ps_client_update, by those in whose memory the gradients of the next
 *  step are best made. */
MST_CHECKED mst_status mst_ps_gradients_place(mst_ps_gradients *gradients, mst_mail *mail, mst_tensor **gradient);
/** Sees where the gradients of a step are, which stay there until the next one. */
MST_CHECKED mst_status mst_ps_gradients_list(mst_ps_gradients *gradients, mst_tensor *const *gradient);
/** Sends server P, which is task TO, its part of them. */
MST_CHECKED mst_status mst_ps_gradients_send(const mst_ps_gradients *gradients, mst_mail *mail, int32_t p, int32_t to,
                                             const mst_parcel_head *head);

#endif
