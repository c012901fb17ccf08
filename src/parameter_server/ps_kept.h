/** What callbacks of the chief keep in its store beside the model, such as the best value seen and the weights of the
 *  best epoch. At the end of each epoch the chief gives it to the first parameter server, which keeps it for workers
 *  that are started again. Their callbacks then go on like those of the chief. The number of shards of the chief
 *  (MST_STATE_SHARDS) is kept with it: workers that join take it. It travels as a snapshot
 *  (messages/state_message.h). */
#ifndef MUSTER_PARAMETER_SERVER_PS_KEPT_H
#define MUSTER_PARAMETER_SERVER_PS_KEPT_H

#include "muster/store.h"

/** Whether a callback keeps this entry of a state, or it is the number of shards. Such an entry does not belong to the
 *  model, the position in the data ("fit/...") or the progress of servers. */
bool mst_ps_is_kept(const mst_state_info *info);
/** These return the entries of STORE or of STATE that callbacks keep, in a snapshot that shares their tensors. *OUT
 *  belongs to the caller. */
MST_CHECKED mst_status mst_ps_kept_read(mst_store *store, mst_snapshot **out);
MST_CHECKED mst_status mst_ps_kept_select(const mst_snapshot *state, mst_snapshot **out);
/** Decodes a message. MST_CORRUPT if DATA is not one; MST_INVALID if it has entries that callbacks do not keep. */
MST_CHECKED mst_status mst_ps_kept_decode(const void *data, size_t bytes, mst_snapshot **out);

#endif
