#include "data/text/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "base/farm_hash.h"
#include "base/no_memory.h"

enum { FIRST_SLOTS = 4096, MOST_ENTRIES = INT32_MAX - MST_TOKEN_FIRST };
static const char unknown_token[] = "[UNK]";

struct mst_vocabulary_entry {
    const char *token; /* ends with a zero byte, its only one */
    size_t length;
    uint64_t hash;
    int64_t count;
};

/* The slot of TOKEN, or the free slot where it would be. At least half of the slots are free. */
static int32_t *find_slot(const mst_vocabulary *v, mst_string token, uint64_t hash) {
    size_t i = (size_t)hash & (v->num_slots - 1);
    for (; v->slot[i]; i = (i + 1) & (v->num_slots - 1)) {
        const mst_vocabulary_entry *entry = &v->entry[v->slot[i] - 1];
        if (entry->hash == hash && entry->length == token.length && memcmp(entry->token, token.data, token.length) == 0)
            break;
    }
    return &v->slot[i];
}

static mst_status grow_slots(mst_vocabulary *v) {
    const size_t more = v->num_slots ? 2 * v->num_slots : FIRST_SLOTS;
    int32_t *slot = calloc(more, sizeof *slot);
    if (!slot) return MST_NO_MEMORY("for a vocabulary of %lld tokens", (long long)v->num_entries);
    free(v->slot);
    v->slot = slot;
    v->num_slots = more;
    for (int64_t i = 0; i < v->num_entries; i++) {
        const mst_vocabulary_entry *entry = &v->entry[i];
        *find_slot(v, (mst_string){entry->token, entry->length}, entry->hash) = (int32_t)i + 1;
    }
    return MST_OK;
}

static mst_status add(mst_vocabulary *v, mst_string token, uint64_t hash) {
    if (v->num_entries >= MOST_ENTRIES) return MST_FAIL(MST_INVALID, "the texts have more than 2^31 different tokens");
    MST_TRY(mst_grow(&v->entry, sizeof *v->entry, v->num_entries + 1, &v->capacity));
    char *copy = mst_arena_alloc(&v->arena, token.length + 1);
    if (!copy) return MST_NO_MEMORY("for a vocabulary of %lld tokens", (long long)v->num_entries);
    if (token.length) memcpy(copy, token.data, token.length);
    v->entry[v->num_entries++] = (mst_vocabulary_entry){.token = copy, .length = token.length, .hash = hash};
    return MST_OK;
}

mst_status mst_vocabulary_count(mst_vocabulary *v, mst_string token, int32_t *entry) {
    if (2 * (size_t)v->num_entries >= v->num_slots) MST_TRY(grow_slots(v));
    const uint64_t hash = mst_farm_hash(token.data, token.length);
    int32_t *slot = find_slot(v, token, hash);
    if (!*slot) {
        MST_TRY(add(v, token, hash));
        *slot = (int32_t)v->num_entries;
    }
    *entry = *slot - 1;
    v->entry[*entry].count++;
    return MST_OK;
}

int32_t mst_vocabulary_find(const mst_vocabulary *v, mst_string token) {
    return v->num_slots ? *find_slot(v, token, mst_farm_hash(token.data, token.length)) - 1 : -1;
}

/* Orders by falling frequency; equally frequent tokens by their bytes, falling too. */
static int by_count(const void *a, const void *b) {
    const mst_vocabulary_entry *const *x = a, *const *y = b;
    const int order = strcmp((*y)->token, (*x)->token);
    return (*x)->count == (*y)->count ? order : (*x)->count < (*y)->count ? 1 : -1;
}

mst_status mst_vocabulary_rank(mst_vocabulary *v, int64_t max_tokens, bool keep_order) {
    const size_t n = (size_t)v->num_entries;
    const mst_vocabulary_entry **order = malloc((n + 1) * sizeof *order);
    v->number = malloc((n + 1) * sizeof *v->number);
    v->name = malloc((n + MST_TOKEN_FIRST) * sizeof *v->name);
    if (!order || !v->number || !v->name) {
        free(order);
        return MST_NO_MEMORY("for a vocabulary of %zu tokens", n);
    }
    int64_t num_order = 0;
    v->name[MST_TOKEN_PADDING] = "";
    v->name[MST_TOKEN_UNKNOWN] = unknown_token;
    v->num_names = MST_TOKEN_FIRST;
    for (size_t i = 0; i < n; i++) {
        v->number[i] = MST_TOKEN_UNKNOWN; /* stays for tokens beyond MAX_TOKENS and for "[UNK]" itself */
        if (strcmp(v->entry[i].token, unknown_token) != 0) order[num_order++] = &v->entry[i];
    }
    if (!keep_order) qsort(order, (size_t)num_order, sizeof *order, by_count);
    for (int64_t i = 0; i < num_order && (!max_tokens || v->num_names < max_tokens); i++) {
        v->number[order[i] - v->entry] = (int32_t)v->num_names;
        v->name[v->num_names++] = order[i]->token;
    }
    free(order);
    return MST_OK;
}

void mst_vocabulary_free(mst_vocabulary *v) {
    mst_arena_free(&v->arena);
    free(v->entry);
    free(v->slot);
    free(v->number);
    free(v->name);
    *v = (mst_vocabulary){.num_entries = 0};
}
