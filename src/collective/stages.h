/** The stages in which a group adds up the leaves of its members, and which member makes which part of a sum.
 *
 *  Before the first stage each member has its leaves. A stage adds up neighbouring nodes of the tree
 *  (base/shard_tree.h) to larger ones; the last stage gives the root. The elements of each node are cut into slots: a
 *  slot is a range of elements, and one member, the slot's owner, makes the sum of these elements. The other members
 *  send the owner what they have of them.
 *
 *  Few members do everything in one stage: there are as many slots as members, and each owns one slot of the root.
 *
 *  Many members halve. Stage s has 2^s slots, and makes the nodes whose shards belong to at most 2^s members. Slot J of
 *  the previous stage becomes the slots J and J + 2^(s-1): its left and its right half. With 4 members:
 *
 *      elements     0        1/4       1/2       3/4       1
 *      before       |        0, 1, 2 and 3: their own      |
 *      stage 1      |  0 and 2: slot 0  |  1 and 3: slot 1 |     nodes: 0 and 1 add up theirs, 2 and 3 theirs
 *      stage 2      | 0: slot 0 | 2: 2  | 1: slot 1 | 3: 3 |     node: the root
 *
 *  The owners of a node are 2^s neighbouring members, including all members that have shards in it. If fewer members
 *  have shards in it, other members help, so that no member has to send more than a few messages in a stage. Member M
 *  owns slot M mod 2^s of its nodes, which lies within the slot that it owned before. In the last stage all members are
 *  owners. If there are more slots than members, a slot J that is not the number of a member is the second slot of
 *  member J - 2^(s-1).
 *
 *  The sum travels back from the last stage to the first. Members M and M + 2^(s-1) of a block of 2^s give each other
 *  their slots of stage s. Each then has the slot that it owned in the previous stage. */
#ifndef MUSTER_COLLECTIVE_STAGES_H
#define MUSTER_COLLECTIVE_STAGES_H

#include "base/shard_tree.h"
#include "muster/status.h"

/** Up to this number, members do everything in one stage. */
enum { MST_FEW_MEMBERS = 8 };

/** A node of the tree that a stage makes. */
typedef struct mst_stage_node {
    mst_shards shards;
    int32_t first_owner;               /**< a member; the other owners follow it */
    int32_t first_child, num_children; /**< index and number among the nodes of the previous stage */
} mst_stage_node;

typedef struct mst_stage {
    int32_t num_slots, num_owners; /**< of each node; at most as many owners as slots */
    int32_t num_nodes;
    mst_stage_node *node; /**< [num_nodes], together all shards from left to right */
} mst_stage;

/** Stage 0 is the state before the first stage: the leaves of all members, each with one slot. */
typedef struct mst_stages {
    int32_t num_members;
    int32_t num_stages; /**< without stage 0 */
    mst_stage stage[MST_SHARD_LEVELS + 1];
} mst_stages;

/** WINDOW: the shards of each member, together all shards from left to right. OUT must be zeroed. */
MST_CHECKED mst_status mst_stages_make(const mst_shards *window, int32_t num_members, int32_t num_shards,
                                       mst_stages *out);
void mst_stages_free(mst_stages *stages);

/** The owner of SLOT of NODE, which belongs to STAGE. */
int32_t mst_stage_owner(const mst_stage *stage, const mst_stage_node *node, int32_t slot);
/** The slot of the previous stage that contains SLOT of stage S. */
int32_t mst_stage_slot_before(const mst_stages *stages, int32_t s, int32_t slot);
/** Divides UNITS among the slots of stage S: SLOT has *COUNT of them, from *FIRST on. *COUNT is 0 for some slots if
 *  there are more slots than units. */
void mst_stage_range(const mst_stages *stages, int32_t s, int32_t slot, int64_t units, int64_t *first, int64_t *count);
/** The member that sends the sum in SLOT of stage S to MEMBER on the way back. -1: nobody, because MEMBER has the sum
 *  already, or gets it in another stage. */
int32_t mst_stage_giver(const mst_stages *stages, int32_t s, int32_t slot, int32_t member);

/** The most leaves of a window: two on each level of the tree. */
enum { MST_MOST_LEAVES = 2 * MST_SHARD_LEVELS };
/** Fills OUT (NULL: only counts) with the largest nodes in WINDOW, from left to right. Returns their number. */
int32_t mst_window_leaves(mst_shards window, int32_t num_shards, mst_shards *out);

#endif
