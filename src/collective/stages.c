#include "collective/stages.h"

#include <stdlib.h>

#include "base/no_memory.h"

int32_t mst_window_leaves(mst_shards window, int32_t num_shards, mst_shards *out) {
    int32_t count = 0;
    for (int32_t at = window.first, end = at + window.count; at < end; count++) {
        const mst_shards leaf = mst_shards_within(at, end, num_shards);
        if (out) out[count] = leaf;
        at += leaf.count;
    }
    return count;
}

/* The member whose window contains SHARD. */
static int32_t member_of(const mst_shards *window, int32_t num_members, int32_t shard) {
    int32_t low = 0, high = num_members;
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        *(window[middle].first <= shard ? &low : &high) = middle;
    }
    return low;
}

static mst_status alloc_nodes(int32_t count, mst_stage *stage) {
    stage->node = calloc(count > 0 ? (size_t)count : 1, sizeof *stage->node);
    return stage->node ? MST_OK : MST_NO_MEMORY("for the stages of a sum over %d nodes", count);
}

static mst_status make_leaves(const mst_shards *window, int32_t num_members, int32_t num_shards, mst_stage *stage) {
    int32_t count = 0;
    for (int32_t m = 0; m < num_members; m++) count += mst_window_leaves(window[m], num_shards, NULL);
    MST_TRY(alloc_nodes(count, stage));
    stage->num_slots = stage->num_owners = 1;
    for (int32_t m = 0; m < num_members; m++) {
        mst_shards leaf[MST_MOST_LEAVES];
        const int32_t num_leaves = mst_window_leaves(window[m], num_shards, leaf);
        for (int32_t i = 0; i < num_leaves; i++)
            stage->node[stage->num_nodes++] = (mst_stage_node){.shards = leaf[i], .first_owner = m};
    }
    return MST_OK;
}

/* The largest node that contains NODE and in which at most MOST members have shards. */
static mst_shards climb(mst_shards node, const mst_shards *window, int32_t num_members, int32_t num_shards,
                        int32_t most) {
    while (node.count < num_shards) {
        const mst_shards up = mst_shards_parent(node, num_shards);
        const int32_t first = member_of(window, num_members, up.first);
        if (member_of(window, num_members, up.first + up.count - 1) - first >= most) break;
        node = up;
    }
    return node;
}

/* Makes the nodes of STAGE: each has at most as many members as the stage has slots. */
static mst_status make_stage(const mst_shards *window, int32_t num_members, int32_t num_shards, const mst_stage *before,
                             mst_stage *stage) {
    MST_TRY(alloc_nodes(before->num_nodes, stage));
    stage->num_owners = stage->num_slots < num_members ? stage->num_slots : num_members;
    for (int32_t i = 0; i < before->num_nodes;) {
        mst_stage_node *n = &stage->node[stage->num_nodes++];
        n->shards = climb(before->node[i].shards, window, num_members, num_shards, stage->num_slots);
        const int32_t first = member_of(window, num_members, n->shards.first), last = num_members - stage->num_owners;
        n->first_owner = first < last ? first : last;
        n->first_child = i;
        for (const int32_t end = n->shards.first + n->shards.count;
             i < before->num_nodes && before->node[i].shards.first < end; i++)
            n->num_children++;
    }
    return MST_OK;
}

mst_status mst_stages_make(const mst_shards *window, int32_t num_members, int32_t num_shards, mst_stages *out) {
    out->num_members = num_members;
    mst_status status = make_leaves(window, num_members, num_shards, &out->stage[0]);
    for (int64_t slots = 1; slots < num_members && !status;) {
        mst_stage *stage = &out->stage[++out->num_stages];
        slots = num_members <= MST_FEW_MEMBERS ? num_members : 2 * slots;
        stage->num_slots = (int32_t)slots;
        status = make_stage(window, num_members, num_shards, stage - 1, stage);
    }
    if (status) mst_stages_free(out);
    return status;
}

void mst_stages_free(mst_stages *stages) {
    for (int32_t s = 0; s <= stages->num_stages; s++) free(stages->stage[s].node);
    *stages = (mst_stages){0};
}

int32_t mst_stage_owner(const mst_stage *stage, const mst_stage_node *node, int32_t slot) {
    const int32_t slots = stage->num_slots, first = node->first_owner;
    /* the last stage, with more slots than members: slot J has owner J, or the owner of slot J - slots / 2 */
    if (stage->num_owners < slots) return slot < stage->num_owners ? slot : slot - slots / 2;
    return first + (slot - first % slots + slots) % slots;
}

int32_t mst_stage_slot_before(const mst_stages *stages, int32_t s, int32_t slot) {
    return slot % stages->stage[s - 1].num_slots;
}

void mst_stage_range(const mst_stages *stages, int32_t s, int32_t slot, int64_t units, int64_t *first, int64_t *count) {
    /* Pieces are the slots of the last stage, the smallest ones. Stage T cuts each slot of the previous stage, which
     * has `before` slots, into slots / before parts. SLOT lies in part number slot % slots / before. */
    const int32_t pieces = stages->stage[stages->num_stages].num_slots;
    int32_t piece = 0, num_pieces = pieces;
    for (int32_t t = 1; t <= s; t++) {
        const int32_t slots = stages->stage[t].num_slots, before = stages->stage[t - 1].num_slots;
        num_pieces = pieces / slots;
        piece += slot % slots / before * num_pieces;
    }
    *first = units * piece / pieces;
    *count = units * (piece + num_pieces) / pieces - *first;
}

int32_t mst_stage_giver(const mst_stages *stages, int32_t s, int32_t slot, int32_t member) {
    const mst_stage *stage = &stages->stage[s];
    const int32_t slots = stage->num_slots, before = stage[-1].num_slots;
    const bool is_own = slot % slots == member % slots || slot >= stages->num_members;
    if (slot % before != member % before || is_own) return -1;
    const int32_t giver = member - member % slots + slot;
    return giver < stages->num_members ? giver : giver - slots;
}
