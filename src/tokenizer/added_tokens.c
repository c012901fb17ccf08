#include "tokenizer/added_tokens.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer/white_space.h"

static int by_text(const void *a, const void *b) {
    const mst_added_token *x = a, *y = b;
    if (x->is_late != y->is_late) return x->is_late ? 1 : -1;
    const size_t least = x->text.length < y->text.length ? x->text.length : y->text.length;
    const int order = memcmp(x->text.data, y->text.data, least);
    return order ? order : (x->text.length > y->text.length) - (x->text.length < y->text.length);
}

void mst_added_tokens_order(mst_added_tokens *tokens, mst_added_token *token, int64_t count) {
    *tokens = (mst_added_tokens){.token = token, .count = count};
    qsort(token, (size_t)count, sizeof *token, by_text);
    while (tokens->num_early < count && !token[tokens->num_early].is_late) tokens->num_early++;
    for (int64_t i = 0; i < count; i++) tokens->begins[token[i].is_late][(unsigned char)token[i].text.data[0]] = true;
}

/* The index of the first token whose byte I is at least BYTE; END if there is none. Searches the sorted tokens FIRST to
 * END - 1, which have the same first I bytes. */
static int64_t first_with(const mst_added_token *token, int64_t first, int64_t end, size_t i, int byte) {
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        const mst_string text = token[middle].text;
        if (i < text.length && (unsigned char)text.data[i] >= byte)
            end = middle;
        else
            first = middle + 1;
    }
    return first;
}

/* The longest of the sorted tokens FIRST to END - 1 with which TEXT begins; NULL: there is none. Each byte of the text
 * narrows the range to the tokens that also have this byte. */
static const mst_added_token *longest(const mst_added_token *token, int64_t first, int64_t end, const char *text,
                                      size_t size) {
    const mst_added_token *found = NULL;
    for (size_t i = 0; i < size && first < end; i++) {
        const int byte = (unsigned char)text[i];
        first = first_with(token, first, end, i, byte);
        end = first_with(token, first, end, i, byte + 1);
        if (first < end && token[first].text.length == i + 1) found = &token[first];
    }
    return found;
}

mst_added_match mst_added_tokens_next(const mst_added_tokens *tokens, bool late, bool plain, const char *text,
                                      size_t size, size_t at) {
    const int64_t first = late ? tokens->num_early : 0, end = late ? tokens->count : tokens->num_early;
    const size_t begin = at;
    while (first < end && at < size) {
        const mst_added_token *token = NULL;
        if (tokens->begins[late][(unsigned char)text[at]])
            token = longest(tokens->token, first, end, text + at, size - at);
        if (!token) {
            at++;
            continue;
        }
        mst_added_match match = {token, at, at + token->text.length};
        at = match.end;
        if (plain && token->special) continue;
        if (token->strip_left) match.first -= mst_white_space_behind(text + begin, match.first - begin);
        if (token->strip_right) match.end += mst_white_space_before(text + match.end, size - match.end);
        return match;
    }
    return (mst_added_match){NULL, size, size};
}

void mst_added_tokens_free(mst_added_tokens *tokens) {
    free(tokens->token);
    *tokens = (mst_added_tokens){.count = 0};
}
