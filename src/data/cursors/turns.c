#include "data/cursors/turns.h"

#include <stdlib.h>

#include "base/no_memory.h"

mst_status mst_turns_create(mst_turns *turns, int num_items, int64_t cycle_length, int64_t block_length) {
    *turns = (mst_turns){.num_items = num_items, .block_length = block_length};
    turns->num_slots = cycle_length < num_items ? (int)cycle_length : num_items;
    turns->item = calloc((size_t)turns->num_slots, sizeof *turns->item);
    if (!turns->item) return MST_NO_MEMORY("to read %d in turn", turns->num_slots);
    mst_turns_reset(turns);
    return MST_OK;
}

void mst_turns_free(mst_turns *turns) {
    free(turns->item);
    *turns = (mst_turns){0};
}

void mst_turns_reset(mst_turns *turns) {
    for (int i = 0; i < turns->num_slots; i++) turns->item[i] = -1;
    turns->current = turns->next = 0;
    turns->given = 0;
}

static void next_turn(mst_turns *turns) {
    turns->given = 0;
    turns->current = turns->current + 1 < turns->num_slots ? turns->current + 1 : 0;
}

int mst_turns_item(mst_turns *turns) {
    for (int i = 0; i < turns->num_slots; i++) {
        int *item = &turns->item[turns->current];
        if (*item < 0 && turns->next < turns->num_items) *item = turns->next++;
        if (*item >= 0) return *item;
        next_turn(turns);
    }
    return -1;
}

/* With one slot there are no turns: the item is read to its end. */
int64_t mst_turns_left(const mst_turns *turns) {
    return turns->num_slots == 1 ? INT64_MAX : turns->block_length - turns->given;
}

void mst_turns_give(mst_turns *turns, int64_t n) {
    if (n >= turns->block_length - turns->given)
        next_turn(turns);
    else
        turns->given += n;
}

void mst_turns_end(mst_turns *turns) {
    turns->item[turns->current] = -1;
    next_turn(turns);
}

void mst_turns_save(const mst_turns *turns, mst_bookmark *bookmark) {
    mst_bookmark_put(bookmark, turns->num_slots);
    mst_bookmark_put(bookmark, turns->block_length);
    mst_bookmark_put(bookmark, turns->current);
    mst_bookmark_put(bookmark, turns->next);
    mst_bookmark_put(bookmark, turns->given);
    for (int i = 0; i < turns->num_slots; i++) mst_bookmark_put(bookmark, turns->item[i]);
}

mst_status mst_turns_restore(mst_turns *turns, mst_bookmark *bookmark) {
    int64_t number, current, next;
    MST_TRY(mst_bookmark_take(bookmark, turns->num_slots, turns->num_slots, &number));
    MST_TRY(mst_bookmark_take(bookmark, turns->block_length, turns->block_length, &number));
    MST_TRY(mst_bookmark_take(bookmark, 0, turns->num_slots - 1, &current));
    MST_TRY(mst_bookmark_take(bookmark, 0, turns->num_items, &next));
    MST_TRY(mst_bookmark_take(bookmark, 0, turns->block_length - 1, &turns->given));
    turns->current = (int)current;
    turns->next = (int)next;
    for (int i = 0; i < turns->num_slots; i++) {
        MST_TRY(mst_bookmark_take(bookmark, -1, next - 1, &number));
        turns->item[i] = (int)number;
    }
    return MST_OK;
}
