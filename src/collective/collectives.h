/** Broadcast, all_gather, reduce_scatter and all_reduce over a group (collective/group.h): calls that return when they
 *  are done. All members make the same calls in the same order as their other runs; each takes runs of its
 *  own.
 *
 *  All fail with MST_DEADLINE where DEADLINE passes, naming a member from which nothing has come, or with the failure
 *  with which the generation ended. A call that fails ends the generation: others may have been left without what they
 *  wait for. Its memory is not used any more when it returns. */
#ifndef MUSTER_COLLECTIVE_COLLECTIVES_H
#define MUSTER_COLLECTIVE_COLLECTIVES_H

#include "collective/group.h"

/** The BYTES of member ROOT come to DATA of all others. They travel in pieces from member to member, each of which
 *  passes them on to two others. */
MST_CHECKED mst_status mst_group_broadcast(mst_task_group *group, int32_t root, void *data, size_t bytes,
                                           int64_t deadline);

/** DATA has a part of BYTES[m] bytes for each member m, one behind the other; the caller's is there before, those of
 *  the others come. Of more than MST_FEW_MEMBERS (collective/stages.h) each takes part in log2 N rounds, in which it
 *  gets what another one has gathered. */
MST_CHECKED mst_status mst_group_all_gather(mst_task_group *group, const size_t *bytes, void *data, int64_t deadline);

/** The same for member ROOT alone: DATA of the others is their part, which goes to it. */
MST_CHECKED mst_status mst_group_gather(mst_task_group *group, int32_t root, const size_t *bytes, void *data,
                                        int64_t deadline);

/** DATA has a part of COUNT[m] elements of DTYPE (f32, f64, i32 or i64) for each member m, one behind the other. OUT,
 *  which is none of DATA, gets the sum of the caller's part over all members: that of the fixed tree
 *  (base/shard_tree.h) in which each member is one leaf. Integers wrap around. */
MST_CHECKED mst_status mst_group_reduce_scatter(mst_task_group *group, mst_dtype dtype, const int64_t *count,
                                                const void *data, void *out, int64_t deadline);

/** The COUNT elements of DATA become their sums over all members, with the bits of mst_group_reduce_scatter. */
MST_CHECKED mst_status mst_group_all_reduce(mst_task_group *group, mst_dtype dtype, void *data, int64_t count,
                                            int64_t deadline);

#endif
