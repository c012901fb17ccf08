#include "tokenizer/bpe_tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "module/module.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/token_ids.h"

const char mst_bpe_gpt2_pattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/* ---- encoding ---- */

typedef struct encoding {
    const mst_bpe_tokenizer *t;
    bool plain;
    mst_bpe_scratch scratch;
    mst_pattern_search *search[MST_BPE_MOST_STEPS];
    mst_token_ids *ids;
} encoding;

static mst_status encode_words(encoding *e, int step, const char *text, size_t size);

/* Cuts TEXT by the pattern of step STEP and the steps after it, and encodes the pieces. After the last step, TEXT is a
 * word. */
static mst_status encode_piece(encoding *e, int step, const char *text, size_t size) {
    if (!size) return MST_OK;
    return step < e->t->num_steps ? encode_words(e, step, text, size)
                                  : mst_bpe_encode(&e->t->bpe, &e->scratch, text, size, e->ids);
}

static mst_status encode_words(encoding *e, int step, const char *text, size_t size) {
    const mst_bpe_step *s = &e->t->step[step];
    size_t done = 0, at = 0;
    while (at < size) {
        bool found;
        size_t first = size, end = size;
        MST_TRY(e->t->patterns->next(e->search[step], text, size, at, &found, &first, &end));
        if (!found) break;
        if (!s->matches_only) MST_TRY(encode_piece(e, step + 1, text + done, first - done));
        MST_TRY(encode_piece(e, step + 1, text + first, end - first));
        done = at = end;
        if (first != end) continue;
        do at++; /* an empty match: on to the next character */
        while (at < size && ((unsigned char)text[at] & 0xc0) == 0x80);
    }
    return s->matches_only ? MST_OK : encode_piece(e, step + 1, text + done, size - done);
}

/* Encodes the text between two added tokens. */
static mst_status encode_between(encoding *e, const char *text, size_t size) {
    if (!size || !e->t->prefix_space || text[0] == ' ') return encode_piece(e, 0, text, size);
    char *prefixed = malloc(size + 1);
    if (!prefixed) return MST_NO_MEMORY("for a text");
    prefixed[0] = ' ';
    memcpy(prefixed + 1, text, size);
    const mst_status status = encode_piece(e, 0, prefixed, size + 1);
    free(prefixed);
    return status;
}

/* Encodes TEXT with its added tokens. First searches for tokens that are not late; calls itself with LATE for the text
 * between them, to search for late tokens there. */
static mst_status encode_part(encoding *e, bool late, const char *text, size_t size) {
    for (size_t at = 0; at < size;) {
        const mst_added_match match = mst_added_tokens_next(&e->t->added, late, e->plain, text, size, at);
        const size_t before = match.first - at;
        MST_TRY(late ? encode_between(e, text + at, before) : encode_part(e, true, text + at, before));
        if (match.token) MST_TRY(mst_token_ids_append(e->ids, &match.token->id, 1));
        at = match.end;
    }
    return MST_OK;
}

static mst_status bpe_encode_text(encoding *e, const char *text, size_t size, bool add_special) {
    const mst_bpe_tokenizer *t = e->t;
    for (int i = 0; i < t->num_steps; i++) MST_TRY(t->patterns->begin(t->step[i].pattern, &e->search[i]));
    if (add_special) MST_TRY(mst_token_ids_append(e->ids, t->before, t->num_before));
    MST_TRY(encode_part(e, false, text, size));
    return add_special ? mst_token_ids_append(e->ids, t->behind, t->num_behind) : MST_OK;
}

static mst_status bpe_tokenizer_encode(const mst_tokenizer *base, const char *text, size_t size,
                                       const mst_encode_options *o, mst_token_ids *ids) {
    encoding e = {.t = (const mst_bpe_tokenizer *)base, .plain = o->plain, .ids = ids};
    const mst_status status = bpe_encode_text(&e, text, size, o->add_special);
    for (int i = 0; i < e.t->num_steps; i++) e.t->patterns->end(e.search[i]);
    mst_bpe_scratch_free(&e.scratch);
    return status;
}

/* ---- decoding ---- */

static mst_status bpe_tokenizer_decode(const mst_tokenizer *base, const int32_t *ids, int64_t n,
                                       const mst_decode_options *o, char **text, size_t *size) {
    const mst_bpe_tokenizer *t = (const mst_bpe_tokenizer *)base;
    const mst_token_table *table = &t->bpe.tokens;
    size_t most = 1;
    for (int64_t i = 0; i < n; i++)
        if (__builtin_add_overflow(most, table->token[ids[i]].length, &most)) return MST_NO_MEMORY("for a text");
    char *dst = malloc(most);
    if (!dst) return MST_NO_MEMORY("for a text");
    size_t length = 0;
    for (int64_t i = 0; i < n; i++) {
        const mst_string token = table->token[ids[i]];
        const uint8_t kind = t->kind[ids[i]];
        size_t got = token.length;
        if (kind == MST_BPE_SPECIAL && !o->keep_special) continue;
        if (kind != MST_BPE_PLAIN || !mst_byte_level_read(token.data, token.length, dst + length, &got)) {
            memcpy(dst + length, token.data, token.length);
            got = token.length;
        }
        length += got;
    }
    *text = dst;
    *size = length;
    return MST_OK;
}

static int64_t bpe_tokenizer_num_ids(const mst_tokenizer *base) {
    return ((const mst_bpe_tokenizer *)base)->bpe.tokens.num_ids;
}

static const char *bpe_tokenizer_token(const mst_tokenizer *base, int64_t id) {
    return ((const mst_bpe_tokenizer *)base)->bpe.tokens.token[id].data;
}

static int64_t bpe_tokenizer_find(const mst_tokenizer *base, const char *token) {
    return mst_token_table_find(&((const mst_bpe_tokenizer *)base)->bpe.tokens, token, strlen(token));
}

static void bpe_tokenizer_free(mst_tokenizer *base) {
    mst_bpe_tokenizer *t = (mst_bpe_tokenizer *)base;
    for (int i = 0; i < t->num_steps; i++) t->patterns->free(t->step[i].pattern);
    mst_added_tokens_free(&t->added);
    mst_bpe_free(&t->bpe);
    free(t->kind);
    free(t);
}

static const mst_tokenizer_type bpe_type = {.encode = bpe_tokenizer_encode,
                                            .decode = bpe_tokenizer_decode,
                                            .num_ids = bpe_tokenizer_num_ids,
                                            .token = bpe_tokenizer_token,
                                            .find = bpe_tokenizer_find,
                                            .free = bpe_tokenizer_free};

/* ---- making ---- */

mst_status mst_bpe_tokenizer_create(mst_bpe_tokenizer **out) {
    const void *patterns;
    MST_TRY(mst_module_interface("pcre2", &patterns));
    *out = calloc(1, sizeof **out);
    if (!*out) return MST_NO_MEMORY("for a tokenizer");
    (*out)->base.type = &bpe_type;
    (*out)->patterns = patterns;
    (*out)->bpe.unknown_id = -1;
    return MST_OK;
}

mst_status mst_bpe_tokenizer_add_step(mst_bpe_tokenizer *t, const char *pattern, size_t size, bool matches_only) {
    char *translated;
    if (t->num_steps == MST_BPE_MOST_STEPS)
        return MST_FAIL(MST_UNIMPLEMENTED, "there are more than %d patterns", MST_BPE_MOST_STEPS);
    MST_TRY(mst_pattern_translate(pattern, size, &translated));
    const mst_status status = t->patterns->compile(translated, strlen(translated), &t->step[t->num_steps].pattern);
    free(translated);
    MST_TRY(status);
    t->step[t->num_steps++].matches_only = matches_only;
    return MST_OK;
}

mst_status mst_bpe_tokenizer_add_tokens(mst_bpe_tokenizer *t, mst_added_token *added, int64_t count) {
    mst_added_tokens_order(&t->added, added, count);
    t->kind = calloc((size_t)t->bpe.tokens.num_ids + 1, 1);
    if (!t->kind) return MST_NO_MEMORY("for a vocabulary");
    for (int64_t i = 0; i < count; i++) t->kind[added[i].id] = added[i].special ? MST_BPE_SPECIAL : MST_BPE_ADDED;
    return MST_OK;
}
