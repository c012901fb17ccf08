/** The order in which several items (files, datasets) are read in turn.
 *
 *      items A B C D, 2 slots, blocks of 2:   A A B B A A B B ...   A has ended:   C C B B C C ...
 *
 *  Each slot has one open item. When its turn comes, the item gives a block of elements. A slot whose item has ended
 *  takes the next item at its next turn. This is tf.data's deterministic interleave
 *  (core/kernels/data/interleave_dataset_op.cc). */
#ifndef MUSTER_DATA_CURSORS_TURNS_H
#define MUSTER_DATA_CURSORS_TURNS_H

#include "data/cursors/bookmark.h"

typedef struct mst_turns {
    int num_items, num_slots;
    int64_t block_length;
    int *item;     /**< [num_slots] the item of each slot; -1: none */
    int current;   /**< the slot whose turn it is */
    int next;      /**< the item that is opened next */
    int64_t given; /**< elements that the current slot has given since its turn began */
} mst_turns;

/** NUM_ITEMS, CYCLE_LENGTH and BLOCK_LENGTH must be at least 1. Free TURNS also after a failure. */
MST_CHECKED mst_status mst_turns_create(mst_turns *turns, int num_items, int64_t cycle_length, int64_t block_length);
void mst_turns_free(mst_turns *turns);
/** Starts again at the first item. */
void mst_turns_reset(mst_turns *turns);
/** The item whose turn it is, opened if need be; -1 if all have ended. It stays the same until one of the functions
 *  below is called. */
int mst_turns_item(mst_turns *turns);
/** How many elements the current item gives at most before the turn of the next one. */
int64_t mst_turns_left(const mst_turns *turns);
/** Notes that the current item gave N elements, at most mst_turns_left. */
void mst_turns_give(mst_turns *turns, int64_t n);
/** Notes that the current item has ended. */
void mst_turns_end(mst_turns *turns);

void mst_turns_save(const mst_turns *turns, mst_bookmark *bookmark);
MST_CHECKED mst_status mst_turns_restore(mst_turns *turns, mst_bookmark *bookmark);

#endif
