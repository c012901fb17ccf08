#include "tokenizer/token_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/farm_hash.h"
#include "base/no_memory.h"

/* Limits on ids, so that a small damaged file cannot demand much memory: ids may have gaps, but not too many. */
enum { MOST_IDS = 1 << 24, MOST_GAPS = 1 << 12 };

mst_status mst_token_table_make(mst_token_table *t, int64_t count, int64_t num_ids) {
    if (num_ids > MOST_IDS || num_ids > 2 * count + MOST_GAPS)
        return MST_FAIL(MST_CORRUPT, "id %lld is too large for a vocabulary of %lld tokens", (long long)num_ids - 1,
                        (long long)count);
    size_t slots = 16;
    while (slots < 2 * (size_t)count) slots *= 2;
    t->token = calloc((size_t)num_ids + 1, sizeof *t->token);
    t->slot = calloc(slots, sizeof *t->slot);
    if (!t->token || !t->slot) return MST_NO_MEMORY("for a vocabulary of %lld tokens", (long long)count);
    t->num_ids = num_ids;
    t->num_slots = slots;
    return MST_OK;
}

/* The slot of TOKEN in the hash table, or the free slot for it. */
static int32_t *slot_of(const mst_token_table *t, const char *token, size_t size) {
    size_t i = (size_t)mst_farm_hash(token, size) & (t->num_slots - 1);
    for (; t->slot[i]; i = (i + 1) & (t->num_slots - 1)) {
        const mst_string there = t->token[t->slot[i] - 1];
        if (there.length == size && memcmp(there.data, token, size) == 0) break;
    }
    return &t->slot[i];
}

mst_status mst_token_table_add(mst_token_table *t, int64_t id, const char *token, size_t size) {
    if (t->token[id].data)
        return MST_FAIL(MST_CORRUPT, "id %lld has two tokens, '%.80s' and '%.80s'", (long long)id, t->token[id].data,
                        token);
    int32_t *slot = slot_of(t, token, size);
    if (*slot)
        return MST_FAIL(MST_CORRUPT, "the token '%.80s' has two ids, %d and %lld", token, *slot - 1, (long long)id);
    char *copy = mst_arena_alloc(&t->arena, size + 1);
    if (!copy) return MST_NO_MEMORY("for a vocabulary");
    memcpy(copy, token, size);
    t->token[id] = (mst_string){copy, size};
    *slot = (int32_t)id + 1;
    t->count++;
    return MST_OK;
}

int64_t mst_token_table_find(const mst_token_table *t, const char *token, size_t size) {
    return t->num_slots ? *slot_of(t, token, size) - 1 : -1;
}

void mst_token_table_free(mst_token_table *t) {
    mst_arena_free(&t->arena);
    free(t->token);
    free(t->slot);
    *t = (mst_token_table){.count = 0};
}
