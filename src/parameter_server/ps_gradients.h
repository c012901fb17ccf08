/** The gradients of a worker on their way to the parameter servers. A dense gradient that goes to one server as a whole
 *  is computed in the memory from which it is sent. The bodies of others are assembled from pieces. */
#ifndef MUSTER_PARAMETER_SERVER_PS_GRADIENTS_H
#define MUSTER_PARAMETER_SERVER_PS_GRADIENTS_H

#include "messages/task_message.h"
#include "parameter_server/ps_part.h"

typedef struct mst_ps_gradients {
    const mst_ps_copies *copies; /**< the variables */
    int32_t num_leaves, num_pieces;
    mst_iov *piece;        /**< [num_ps][num_pieces]: what each server gets; some may have no bytes */
    int64_t *numbers;      /**< row numbers in the pieces, if a gradient is cut */
    mst_mail_block *block; /**< memory in which the gradients of a step are computed; NULL: none */
    size_t *offset;        /**< [num_leaves][variables]: offset of each gradient in the block */
    size_t *begin;         /**< [num_ps + 1]: the part of server P is at begin[P] to begin[P + 1] - 1 of the block */
    bool is_in_block;      /**< all gradients of this step are in the block */
} mst_ps_gradients;

/** Initialises GRADIENTS, which must be zeros, for NUM_LEAVES gradients of each variable. COPIES must outlive
 *  GRADIENTS. Free GRADIENTS also after an error. */
MST_CHECKED mst_status mst_ps_gradients_make(mst_ps_gradients *gradients, const mst_ps_copies *copies,
                                             int32_t num_leaves);
/** Frees the members. Call it before MAIL is closed. */
void mst_ps_gradients_free(mst_ps_gradients *gradients, mst_mail *mail);
/** Replaces the tensors of GRADIENT, as in mst_ps_client_update, by tensors in the memory that is best for the
 *  gradients of the next step. */
MST_CHECKED mst_status mst_ps_gradients_place(mst_ps_gradients *gradients, mst_mail *mail, mst_tensor **gradient);
/** Fills `piece` with the addresses of the gradients of a step. The gradients must stay there until the next step. */
MST_CHECKED mst_status mst_ps_gradients_list(mst_ps_gradients *gradients, mst_tensor *const *gradient);
/** Sends server P, which is task TO, its part of the gradients. */
MST_CHECKED mst_status mst_ps_gradients_send(const mst_ps_gradients *gradients, mst_mail *mail, int32_t p, int32_t to,
                                             const mst_task_message_head *head);

#endif
