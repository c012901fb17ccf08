/** The stages in which a group adds up what its members have, and who makes which part of it.
 *
 *  Before the first stage each member has its leaves. A stage adds up neighbouring nodes of the tree
 *  (base/shard_tree.h) to larger ones, until the root is there. The elements of each node are cut into slots; a slot
 *  has an owner, to whom all that have its parts send them, and who adds them up.
 *
 *  Few members do all in one stage: there are as many slots as members, and each owns one of the root.
 *
 *  Many members halve. Stage s has 2^s slots, and makes the nodes in whose shards at most 2^s members have a part. The
 *  slot J of the stage before becomes the slots J and J + 2^(s-1): its left and its right half. Of 4 members:
 *
 *      elements     0        1/4       1/2       3/4       1
 *      before       |          0, 1, 2 and 3: own          |
 *      stage 1      |  0 and 2: slot 0  |  1 and 3: slot 1 |     nodes: 0 and 1 add up theirs, 2 and 3 theirs
 *      stage 2      | 0: slot 0 | 2: 2  | 1: slot 1 | 3: 3 |     node: the root
 *
 *  The owners of a node are 2^s neighbouring members, among them all that have shards in it; where these are fewer, the
 *  others help, so that nobody has to send more than a few messages in a stage. Member M owns slot M mod 2^s of each
 *  node: so what it owns lies in what it owned before. In the last stage all members are owners; slots that have no
 *  member of their number are the second ones of others.
 *
 *  The sum travels back from the last stage to the first: members M and M + 2^(s-1) of a block of 2^s give each other
 *  their slots of stage s, and have then what they owned in the stage before. */
#ifndef MUSTER_COLLECTIVE_STAGES_H
#define MUSTER_COLLECTIVE_STAGES_H

#include "base/shard_tree.h"
#include "muster/status.h"

/** Up to this many members do all in one stage. */
enum { MST_FEW_MEMBERS = 8 };

/** A node of the tree, as it is after a stage. */
typedef struct mst_stage_node {
    mst_shards shards;
    int32_t first_owner;               /**< a member; the others follow it */
    int32_t first_child, num_children; /**< among the nodes of the stage before */
} mst_stage_node;

typedef struct mst_stage {
    int32_t num_slots, num_owners; /**< of each node; no more owners than slots */
    int32_t num_nodes;
    mst_stage_node *node; /**< [num_nodes], from left to right all shards */
} mst_stage;

/** Stage 0 is what there is before the first: the leaves of all members, each with one slot. */
typedef struct mst_stages {
    int32_t num_members;
    int32_t num_stages; /**< without stage 0 */
    mst_stage stage[MST_SHARD_LEVELS + 1];
} mst_stages;

/** WINDOW: the shards of each member, from left to right all; OUT is zeroed. */
MST_CHECKED mst_status mst_stages_make(const mst_shards *window, int32_t num_members, int32_t num_shards,
                                       mst_stages *out);
void mst_stages_free(mst_stages *stages);

/** Who owns SLOT of NODE, one of STAGE's. */
int32_t mst_stage_owner(const mst_stage *stage, const mst_stage_node *node, int32_t slot);
/** The slot of the stage before in which SLOT of stage S lies. */
int32_t mst_stage_slot_before(const mst_stages *stages, int32_t s, int32_t slot);
/** Of UNITS in all, the first one of SLOT of stage S, and how many it has: none where there are more slots than
 *  units. */
void mst_stage_range(const mst_stages *stages, int32_t s, int32_t slot, int64_t units, int64_t *first, int64_t *count);
/** Who sends the sum in SLOT of stage S to MEMBER on the way back; -1: nobody, because MEMBER has it, or gets it in
 *  another stage. */
int32_t mst_stage_giver(const mst_stages *stages, int32_t s, int32_t slot, int32_t member);

/** Most leaves of a window: they grow up to the middle of it, and then shrink. */
enum { MST_MOST_LEAVES = 2 * MST_SHARD_LEVELS };
/** Fills OUT (NULL: only counts) with the largest nodes in WINDOW, from left to right; returns how many there are. */
int32_t mst_window_leaves(mst_shards window, int32_t num_shards, mst_shards *out);

#endif
