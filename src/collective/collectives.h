/** Broadcast, all_gather, gather, reduce_scatter and all_reduce over a group (collective/group.h). A call returns when
 *  this member's part is done. Each call is a run of the group (mst_group_next_run), as is each step that exchanges
 *  data. All members must make the same runs in the same order.
 *
 *  All calls fail with MST_DEADLINE when DEADLINE passes. If a message has not come, the error names its sender. If the
 *  generation ends, they fail with the failure that has ended it. A call that fails ends the generation, since other
 *  members may wait for messages that this member has not sent. After the return the caller may free or reuse the
 *  memory that it has passed. */
#ifndef MUSTER_COLLECTIVE_COLLECTIVES_H
#define MUSTER_COLLECTIVE_COLLECTIVES_H

#include "collective/group.h"

/** Copies the BYTES of DATA of member ROOT to DATA of all other members. The bytes are sent in pieces along a binary
 *  tree: each member passes each piece on to at most two others. */
MST_CHECKED mst_status mst_group_broadcast(mst_task_group *group, int32_t root, void *data, size_t bytes,
                                           int64_t deadline);

/** DATA has a part of BYTES[m] bytes for each member m, one after another. The caller fills in its own part; the other
 *  parts are received. In a group of up to MST_FEW_MEMBERS (collective/stages.h), each member sends its part to all
 *  others. A larger group of N members makes ceil(log2 N) rounds; in each, a member receives what another member has
 *  gathered so far. */
MST_CHECKED mst_status mst_group_all_gather(mst_task_group *group, const size_t *bytes, void *data, int64_t deadline);

/** As mst_group_all_gather, but only member ROOT gets the parts. On the other members DATA is only their own part. */
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
