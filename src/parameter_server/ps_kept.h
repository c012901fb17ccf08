/** What callbacks of the chief keep in its store beside the model, such as the best value that was seen and the weights
 *  of the best epoch. At the end of each epoch the chief gives it to the first parameter server, which keeps it for
 *  workers that are started again: their callbacks go on from there as those of the chief do. It travels as a snapshot
 *  (messages/state_message.h). */
#ifndef MUSTER_PARAMETER_SERVER_PS_KEPT_H
#define MUSTER_PARAMETER_SERVER_PS_KEPT_H

#include "muster/store.h"

/** Whether an entry of a state is such a one: neither the model's, nor of the position in the data, "fit/...", nor of
 *  the progress of servers. */
bool mst_ps_is_kept(const mst_state_info *info);
/** Those of STORE, and of STATE, whose tensors they share; *OUT is the caller's. */
MST_CHECKED mst_status mst_ps_kept_read(mst_store *store, mst_snapshot **out);
MST_CHECKED mst_status mst_ps_kept_select(const mst_snapshot *state, mst_snapshot **out);
/** From a message. MST_CORRUPT where DATA is none; MST_INVALID where it has entries of another kind. */
MST_CHECKED mst_status mst_ps_kept_decode(const void *data, size_t bytes, mst_snapshot **out);

#endif
