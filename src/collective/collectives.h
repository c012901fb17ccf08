/** Broadcast, all_gather, reduce_scatter and all_reduce over a group (collective/group.h). A call returns when it is
 *  done. Each call is a run of the group (mst_group_next_run), as is each step that exchanges data. All members must
 *  make the same runs in the same order.
 *
 *  All calls fail with MST_DEADLINE when DEADLINE passes. If a message is missing, the error names its sender. If the
 *  generation ends, they fail with the failure that has ended it. A call that fails ends the generation, since other
 *  members may wait for messages that this member has not sent. After the return the memory of the call is not used any
 *  more. */
#ifndef MUSTER_COLLECTIVE_COLLECTIVES_H
#define MUSTER_COLLECTIVE_COLLECTIVES_H

#include "collective/group.h"

/** Copies the BYTES of DATA of member ROOT to DATA of all others. The bytes travel in pieces from member to member;
 *  each member passes them on to two others. */
MST_CHECKED mst_status mst_group_broadcast(mst_task_group *group, int32_t root, void *data, size_t bytes,
                                           int64_t deadline);

/** DATA has a part of BYTES[m] bytes for each member m, one after another. The caller fills in its own part; the parts
 *  of the others are received. Up to MST_FEW_MEMBERS members (collective/stages.h) send their parts to all
 *  others. More members, N, make log2 N rounds, rounded up. In each round a member gets what another one has gathered
 *  so far. */
MST_CHECKED mst_status mst_group_all_gather(mst_task_group *group, const size_t *bytes, void *data, int64_t deadline);

/** As mst_group_all_gather, but only member ROOT gets the parts. On the other members DATA is just their own part. */
MST_CHECKED mst_status mst_group_gather(mst_task_group *group, int32_t root, const size_t *bytes, void *data,
                                        int64_t deadline);

/** DATA has a part of COUNT[m] elements of DTYPE (f32, f64, i32 or i64) for each member m, one after another. OUT gets
 *  the sum of the caller's part over all members. It is added up in the order of the fixed tree (base/shard_tree.h),
 *  with each member as one leaf. OUT must not overlap DATA. Integers wrap around. */
MST_CHECKED mst_status mst_group_reduce_scatter(mst_task_group *group, mst_dtype dtype, const int64_t *count,
                                                const void *data, void *out, int64_t deadline);

/** The COUNT elements of DATA become their sums over all members, with the bits of mst_group_reduce_scatter. */
MST_CHECKED mst_status mst_group_all_reduce(mst_task_group *group, mst_dtype dtype, void *data, int64_t count,
                                            int64_t deadline);

#endif
