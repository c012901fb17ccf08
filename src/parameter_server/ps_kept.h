/** The state of the chief's callbacks, which is in its store beside the model: for example the best value seen and the
 *  weights of the best epoch. At the end of each epoch the chief sends this state to the first parameter server, which
 *  keeps it for workers that are started again. Their callbacks then go on like the callbacks of the chief. The state
 *  includes the number of shards of the chief (MST_STATE_SHARDS), which workers use when they join. It is sent as a
 *  snapshot (messages/state_message.h). */
#ifndef MUSTER_PARAMETER_SERVER_PS_KEPT_H
#define MUSTER_PARAMETER_SERVER_PS_KEPT_H

#include "muster/store.h"

/** Whether this entry of a state was written by a callback, or is the number of shards. Entries of the model, of the
 *  position in the data ("fit/...") and of the progress of servers are not. */
bool mst_ps_is_kept(const mst_state_info *info);
/** These return the entries of STORE or of STATE for which mst_ps_is_kept is true, in a snapshot that shares their
 *  tensors. *OUT belongs to the caller. */
MST_CHECKED mst_status mst_ps_kept_read(mst_store *store, mst_snapshot **out);
MST_CHECKED mst_status mst_ps_kept_select(const mst_snapshot *state, mst_snapshot **out);
/** Decodes the body of a message of kind MST_PS_KEPT. MST_CORRUPT if DATA is not a snapshot; MST_INVALID if it has an
 *  entry for which mst_ps_is_kept is false. */
MST_CHECKED mst_status mst_ps_kept_decode(const void *data, size_t bytes, mst_snapshot **out);

#endif
