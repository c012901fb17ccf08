/** The fixed binary tree in which sums over shards are added, so that their bits depend only on the number of shards.
 *
 *  The left part of a node has as many shards as the largest power of two below the number of its shards. The right
 *  part has the rest. Every sum is left + right. The tree of 7 shards:
 *
 *              0..6
 *            /      \
 *        0..3        4..6             a node begins at a multiple of 2^k, which is its size rounded up to a power of
 *        /  \        /  \             two, and ends 2^k shards later, or at the last shard
 *     0..1  2..3  4..5   \
 *     / \   / \   / \     \
 *     0 1   2 3   4 5     6
 *
 *  Another device or task may make part of a sum if that part is a whole node. A task with a window of neighbouring
 *  shards adds up the largest nodes in it (mst_shards_within), and passes those on:
 *
 *     window 0..2    0..1, 2
 *     window 3..6          3, 4..6     the windows meet in 2..3: 2 + 3, then 0..1 + 2..3, then 0..3 + 4..6
 *
 *  Nodes that come from left to right are added with a stack and no recursion. A node that is a right part is added to
 *  the sum below it, and the sum stands for their parent:
 *
 *     for (int i = 0; i < num_nodes; i++) {
 *         push(node[i]);
 *         for (mst_shards s = node[i]; mst_shards_is_right(s, num_shards); s = mst_shards_parent(s, num_shards))
 *             the upper two of the stack become their sum
 *     }
 */
#ifndef MUSTER_BASE_SHARD_TREE_H
#define MUSTER_BASE_SHARD_TREE_H

#include <stdbool.h>
#include <stdint.h>

/** The most sums that are on the stack at once, for any number of shards. */
enum { MST_SHARD_LEVELS = 32 };

/** Shards FIRST to FIRST + COUNT - 1. In the functions below it is a node of the tree over NUM_SHARDS. */
typedef struct mst_shards {
    int32_t first, count;
} mst_shards;

/** Whether S is the right part of its parent. */
static inline bool mst_shards_is_right(mst_shards s, int32_t num_shards) {
    return s.first + s.count == num_shards ? s.first > 0 : (s.first & s.count) != 0;
}

/** The parent of S, which is not the root. */
static inline mst_shards mst_shards_parent(mst_shards s, int32_t num_shards) {
    if (mst_shards_is_right(s, num_shards)) {
        const int32_t first = s.first & (s.first - 1); /* FIRST without its lowest 1 bit */
        return (mst_shards){first, s.first + s.count - first};
    }
    const int32_t right = s.first + s.count, rest = num_shards - right;
    return (mst_shards){s.first, s.count + (rest < s.count ? rest : s.count)};
}

/** The largest node in the shards FIRST to END - 1 that begins at FIRST. */
static inline mst_shards mst_shards_within(int32_t first, int32_t end, int32_t num_shards) {
    mst_shards s = {first, 1};
    while (s.first + s.count < num_shards && !mst_shards_is_right(s, num_shards)) {
        const mst_shards parent = mst_shards_parent(s, num_shards);
        if (parent.count > end - first) break;
        s = parent;
    }
    return s;
}

/** The most sums that are on the stack at once while NODES are added up. NODES are consecutive nodes of the tree, and
 *  cover it from left to right. */
static inline int32_t mst_shards_levels(const mst_shards *nodes, int32_t num_nodes, int32_t num_shards) {
    int32_t height = 0, most = 0;
    for (int32_t i = 0; i < num_nodes; i++) {
        if (++height > most) most = height;
        for (mst_shards s = nodes[i]; mst_shards_is_right(s, num_shards); s = mst_shards_parent(s, num_shards))
            height--;
    }
    return most;
}

#endif
