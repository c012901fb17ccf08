/* Byte pair encoding of one word, in O(n log n) for n bytes.
 *
 * The symbols of the word are a linked list. The possible merges are in a heap, ordered by rank, and by position where
 * ranks are equal. The first merge of the heap is made, which adds at most two new merges. Merges that have become
 * impossible stay in the heap. They are recognized when they come first, because the symbol is gone or has another rank
 * by then, and are dropped. */
#include "tokenizer/bpe.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "tokenizer/byte_level.h"

static const uint64_t FREE_PAIR = UINT64_MAX;
static const uint32_t NO_RANK = UINT32_MAX;

/* ---- the tables ---- */

void mst_bpe_find_bytes(mst_bpe *bpe) {
    for (int i = 0; i < 256; i++) {
        const uint8_t byte = (uint8_t)i;
        char text[MST_BYTE_LEVEL_MOST];
        const size_t n = mst_byte_level_write(&byte, 1, text);
        bpe->byte_id[i] = (int32_t)mst_token_table_find(&bpe->tokens, text, n);
    }
}

mst_status mst_bpe_make_merges(mst_bpe *bpe, int64_t count) {
    size_t slots = 16;
    while (slots < 2 * (size_t)count) slots *= 2;
    bpe->merge = malloc(slots * sizeof *bpe->merge);
    if (!bpe->merge) return MST_NO_MEMORY("for %lld merges", (long long)count);
    for (size_t i = 0; i < slots; i++) bpe->merge[i].pair = FREE_PAIR;
    bpe->num_slots = slots;
    return MST_OK;
}

/* The slot of PAIR in the hash table, or the free slot for it. */
static mst_bpe_merge *merge_of(const mst_bpe *bpe, uint64_t pair) {
    uint64_t hash = pair * 0x9e3779b97f4a7c15u; /* 2^64 / the golden ratio */
    hash ^= hash >> 32;
    size_t i = (size_t)hash & (bpe->num_slots - 1);
    while (bpe->merge[i].pair != pair && bpe->merge[i].pair != FREE_PAIR) i = (i + 1) & (bpe->num_slots - 1);
    return &bpe->merge[i];
}

static mst_status find_merged(const mst_bpe *bpe, mst_string left, mst_string right, int64_t *id) {
    char *text = malloc(left.length + right.length + 1);
    if (!text) return MST_NO_MEMORY("for a merge");
    memcpy(text, left.data, left.length);
    memcpy(text + left.length, right.data, right.length);
    *id = mst_token_table_find(&bpe->tokens, text, left.length + right.length);
    free(text);
    return MST_OK;
}

mst_status mst_bpe_add_merge(mst_bpe *bpe, uint32_t rank, mst_string left, mst_string right) {
    const int64_t a = mst_token_table_find(&bpe->tokens, left.data, left.length);
    const int64_t b = mst_token_table_find(&bpe->tokens, right.data, right.length);
    int64_t merged;
    MST_TRY(find_merged(bpe, left, right, &merged));
    if (a < 0 || b < 0 || merged < 0)
        return MST_FAIL(MST_CORRUPT, "the vocabulary lacks '%.*s%.*s' of the merge of '%.*s' and '%.*s'",
                        b < 0 && a >= 0 ? 0 : (int)left.length, left.data, a < 0 ? 0 : (int)right.length, right.data,
                        (int)left.length, left.data, (int)right.length, right.data);
    const uint64_t pair = (uint64_t)a << 32 | (uint64_t)b;
    *merge_of(bpe, pair) = (mst_bpe_merge){pair, rank, (int32_t)merged};
    return MST_OK;
}

void mst_bpe_free(mst_bpe *bpe) {
    mst_token_table_free(&bpe->tokens);
    free(bpe->merge);
    *bpe = (mst_bpe){.num_slots = 0};
}

/* ---- a word ---- */

static mst_status heap_push(mst_bpe_scratch *s, uint64_t entry) {
    MST_TRY(mst_grow(&s->heap, sizeof *s->heap, s->heap_count + 1, &s->heap_capacity));
    int64_t i = s->heap_count++;
    for (int64_t above; i > 0 && s->heap[above = (i - 1) / 2] > entry; i = above) s->heap[i] = s->heap[above];
    s->heap[i] = entry;
    return MST_OK;
}

static uint64_t heap_pop(mst_bpe_scratch *s) {
    const uint64_t first = s->heap[0], last = s->heap[--s->heap_count];
    int64_t i = 0;
    for (int64_t below = 1; below < s->heap_count; below = 2 * i + 1) {
        if (below + 1 < s->heap_count && s->heap[below + 1] < s->heap[below]) below++;
        if (s->heap[below] >= last) break;
        s->heap[i] = s->heap[below];
        i = below;
    }
    s->heap[i] = last;
    return first;
}

/* Adds the merge of symbol I with the next symbol to the heap, if that pair can be merged. */
static mst_status consider(const mst_bpe *bpe, mst_bpe_scratch *s, int32_t i) {
    mst_bpe_symbol *symbol = &s->symbol[i];
    symbol->rank = NO_RANK;
    if (symbol->next < 0 || !bpe->num_slots) return MST_OK;
    const uint64_t pair = (uint64_t)(uint32_t)symbol->id << 32 | (uint32_t)s->symbol[symbol->next].id;
    const mst_bpe_merge *merge = merge_of(bpe, pair);
    if (merge->pair == FREE_PAIR) return MST_OK;
    symbol->rank = merge->rank;
    symbol->merged = merge->merged;
    return heap_push(s, (uint64_t)merge->rank << 32 | (uint32_t)i);
}

static mst_status join_next(const mst_bpe *bpe, mst_bpe_scratch *s, int32_t i) {
    mst_bpe_symbol *left = &s->symbol[i], *right = &s->symbol[left->next];
    left->id = left->merged;
    left->next = right->next;
    right->id = -1;
    right->rank = NO_RANK;
    if (left->next >= 0) s->symbol[left->next].previous = i;
    if (left->previous >= 0) MST_TRY(consider(bpe, s, left->previous));
    return consider(bpe, s, i);
}

static mst_status make_symbols(const mst_bpe *bpe, mst_bpe_scratch *s, const char *word, size_t size) {
    MST_TRY(mst_grow(&s->symbol, sizeof *s->symbol, (int64_t)size, &s->symbol_capacity));
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)word[i];
        const int32_t id = bpe->byte_id[byte] < 0 ? bpe->unknown_id : bpe->byte_id[byte];
        if (id < 0)
            return MST_FAIL(MST_INVALID, "the vocabulary has no token for the byte 0x%02x, and none for unknown ones",
                            (unsigned)byte);
        s->symbol[i] = (mst_bpe_symbol){
            .id = id, .previous = (int32_t)i - 1, .next = i + 1 < size ? (int32_t)i + 1 : -1, .rank = NO_RANK};
    }
    return MST_OK;
}

static mst_status append_id(mst_token_ids *ids, int64_t id) {
    MST_TRY(mst_grow(&ids->id, sizeof *ids->id, ids->count + 1, &ids->capacity));
    ids->id[ids->count++] = (int32_t)id;
    return MST_OK;
}

/* Sets *ID to the token that is the whole word; -1: there is none. */
static mst_status find_word(const mst_bpe *bpe, mst_bpe_scratch *s, const char *word, size_t size, int64_t *id) {
    MST_TRY(mst_grow(&s->text, 1, MST_BYTE_LEVEL_MOST * (int64_t)size, &s->text_capacity));
    const size_t n = mst_byte_level_write((const uint8_t *)word, size, s->text);
    *id = mst_token_table_find(&bpe->tokens, s->text, n);
    return MST_OK;
}

mst_status mst_bpe_encode(const mst_bpe *bpe, mst_bpe_scratch *s, const char *word, size_t size, mst_token_ids *ids) {
    if (!size) return MST_OK;
    int64_t whole = -1;
    if (bpe->whole_words) MST_TRY(find_word(bpe, s, word, size, &whole));
    if (whole >= 0) return append_id(ids, whole);
    MST_TRY(make_symbols(bpe, s, word, size));
    s->heap_count = 0;
    for (size_t i = 0; i < size; i++) MST_TRY(consider(bpe, s, (int32_t)i));
    while (s->heap_count) {
        const uint64_t entry = heap_pop(s);
        const int32_t i = (int32_t)(uint32_t)entry;
        if (s->symbol[i].rank == (uint32_t)(entry >> 32) && s->symbol[i].id >= 0) MST_TRY(join_next(bpe, s, i));
    }
    for (int32_t i = 0; i >= 0; i = s->symbol[i].next) MST_TRY(append_id(ids, s->symbol[i].id));
    return MST_OK;
}

void mst_bpe_scratch_free(mst_bpe_scratch *s) {
    free(s->symbol);
    free(s->heap);
    free(s->text);
    *s = (mst_bpe_scratch){.heap_count = 0};
}
