/* Reads tokenizer.json of Hugging Face's `tokenizers`, and vocab.json with merges.txt. Every member of the JSON is
 * either supported or known to have no effect on ids here. Any other member is an error that names it. */
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/no_memory.h"
#include "tokenizer/bpe_tokenizer.h"

enum { PLACE_SIZE = 96, VALUE_SIZE = 64 };

/* The error for member KEY of the part PLACE, such as "model", whose value is not supported. */
static mst_status not_taken(const char *place, const char *key, const json_t *value) {
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    const mst_status status = MST_FAIL(MST_UNIMPLEMENTED, "%s%s%s is %.*s, which is not taken", place,
                                       place[0] ? "." : "", key, VALUE_SIZE, text ? text : "a value");
    free(text);
    return status;
}

static mst_status corrupt(const char *place, const char *due) {
    return MST_FAIL(MST_CORRUPT, "%s is no %s, so this is no whole tokenizer.json", place, due);
}

/* Fails if PART, a JSON object, has a member that is not in the list KEYS, which ends with NULL. */
static mst_status check_keys(const char *place, const json_t *part, const char *const *keys) {
    const char *key;
    json_t *value;
    if (!json_is_object(part)) return corrupt(place, "object");
    json_object_foreach((json_t *)(uintptr_t)part, key, value) {
        int i = 0;
        while (keys[i] && strcmp(keys[i], key) != 0) i++;
        if (!keys[i] && !json_is_null(value)) return not_taken(place, key, value);
    }
    return MST_OK;
}

/* Sets OUT to the value of a bool member; to INITIAL if the member is missing. */
static mst_status read_flag(const char *place, const json_t *part, const char *key, bool initial, bool *out) {
    const json_t *value = json_object_get(part, key);
    *out = value ? json_is_true(value) : initial;
    return value && !json_is_boolean(value) ? not_taken(place, key, value) : MST_OK;
}

/* Fails if the member exists and is not false. */
static mst_status want_false(const char *place, const json_t *part, const char *key) {
    bool flag;
    MST_TRY(read_flag(place, part, key, false, &flag));
    return flag ? not_taken(place, key, json_object_get(part, key)) : MST_OK;
}

/* Fails if the member exists and is neither null nor an empty string nor 0. */
static mst_status want_nothing(const char *place, const json_t *part, const char *key) {
    const json_t *value = json_object_get(part, key);
    if (!value || json_is_null(value) || (json_is_string(value) && !json_string_length(value))) return MST_OK;
    return json_is_number(value) && json_number_value(value) == 0 ? MST_OK : not_taken(place, key, value);
}

static const char *type_of(const json_t *part) {
    const char *type = json_string_value(json_object_get(part, "type"));
    return type ? type : "";
}

static mst_string text_of(const json_t *string) {
    return (mst_string){json_string_value(string), json_string_length(string)};
}

/* ---- vocabulary ---- */

/* VALUE as an id; -1 if it is not one. */
static int64_t id_of(const json_t *value) {
    const json_int_t id = json_is_integer(value) ? json_integer_value(value) : -1;
    return id >= 0 && id < INT32_MAX ? id : -1;
}

static mst_status add_vocabulary(mst_token_table *table, const json_t *vocab) {
    const char *token;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)vocab, token, value)
        MST_TRY(mst_token_table_add(table, id_of(value), token, strlen(token)));
    return MST_OK;
}

/* Adds the tokens of the list ADDED that the model's vocabulary does not have. */
static mst_status add_others(mst_token_table *table, const json_t *added) {
    size_t i;
    json_t *item;
    json_array_foreach(added, i, item) {
        const mst_string text = text_of(json_object_get(item, "content"));
        const int64_t id = id_of(json_object_get(item, "id")),
                      known = mst_token_table_find(table, text.data, text.length);
        if (known != id) MST_TRY(mst_token_table_add(table, id, text.data, text.length));
    }
    return MST_OK;
}

static mst_status check_added(size_t i, const json_t *item) {
    static const char *const keys[] = {"id",     "content",    "single_word", "lstrip",
                                       "rstrip", "normalized", "special",     NULL};
    char place[PLACE_SIZE];
    snprintf(place, sizeof place, "added_tokens[%zu]", i);
    MST_TRY(check_keys(place, item, keys));
    MST_TRY(want_false(place, item, "single_word"));
    const bool complete =
        json_string_length(json_object_get(item, "content")) && id_of(json_object_get(item, "id")) >= 0;
    return complete ? MST_OK : corrupt(place, "token with its id");
}

/* Fills the table from the model's VOCAB and the list ADDED, which may be NULL. */
static mst_status read_tokens(mst_token_table *table, const json_t *vocab, const json_t *added) {
    int64_t num_ids = 0;
    const char *token;
    json_t *value;
    size_t i;
    if (!json_object_size(vocab)) return corrupt("model.vocab", "object of tokens with their ids");
    json_object_foreach((json_t *)(uintptr_t)vocab, token, value) {
        const int64_t id = id_of(value);
        if (id < 0) return MST_FAIL(MST_CORRUPT, "the token '%.80s' has no id: a whole number, 0 or above", token);
        if (id >= num_ids) num_ids = id + 1;
    }
    if (added && !json_is_null(added) && !json_is_array(added)) return corrupt("added_tokens", "list");
    json_array_foreach(added, i, value) {
        MST_TRY(check_added(i, value));
        const int64_t id = id_of(json_object_get(value, "id"));
        if (id >= num_ids) num_ids = id + 1;
    }
    MST_TRY(mst_token_table_make(table, (int64_t)(json_object_size(vocab) + json_array_size(added)), num_ids));
    MST_TRY(add_vocabulary(table, vocab));
    return add_others(table, added);
}

static mst_status take_added(mst_bpe_tokenizer *t, const json_t *list) {
    const size_t count = json_array_size(list);
    size_t i;
    json_t *item;
    mst_added_token *added = calloc(count + 1, sizeof *added);
    if (!added) return MST_NO_MEMORY("for added tokens");
    mst_status status = MST_OK;
    json_array_foreach(list, i, item) {
        mst_added_token *to = &added[i];
        to->id = (int32_t)id_of(json_object_get(item, "id"));
        to->text = t->bpe.tokens.token[to->id];
        if (!status) status = read_flag("added_tokens[]", item, "special", false, &to->special);
        if (!status) status = read_flag("added_tokens[]", item, "lstrip", false, &to->strip_left);
        if (!status) status = read_flag("added_tokens[]", item, "rstrip", false, &to->strip_right);
        if (!status) status = read_flag("added_tokens[]", item, "normalized", true, &to->is_late);
    }
    if (status) {
        free(added);
        return status;
    }
    return mst_bpe_tokenizer_add_tokens(t, added, (int64_t)count);
}

/* ---- model ---- */

/* Splits a merge into its two tokens. In JSON it is a string "a b" or a list of two strings. False: it is neither. */
static bool split_merge(const json_t *merge, mst_string *left, mst_string *right) {
    if (json_is_array(merge) && json_array_size(merge) == 2) {
        *left = text_of(json_array_get(merge, 0));
        *right = text_of(json_array_get(merge, 1));
        return left->data && right->data;
    }
    const mst_string text = text_of(merge);
    const char *space = text.data ? memchr(text.data, ' ', text.length) : NULL;
    if (!space) return false;
    *left = (mst_string){text.data, (size_t)(space - text.data)};
    *right = (mst_string){space + 1, text.length - left->length - 1};
    return !memchr(right->data, ' ', right->length);
}

static mst_status read_merges(mst_bpe *bpe, const json_t *merges) {
    size_t i;
    json_t *merge;
    if (!json_is_array(merges)) return corrupt("model.merges", "list");
    MST_TRY(mst_bpe_make_merges(bpe, (int64_t)json_array_size(merges)));
    json_array_foreach(merges, i, merge) {
        mst_string left, right;
        if (!split_merge(merge, &left, &right))
            return MST_FAIL(MST_CORRUPT, "model.merges[%zu] is no pair of tokens", i);
        if (mst_bpe_add_merge(bpe, (uint32_t)i, left, right)) return mst_error_prefix("model.merges[%zu]", i);
    }
    return MST_OK;
}

static mst_status read_unknown(mst_bpe *bpe, const json_t *model) {
    const json_t *unknown = json_object_get(model, "unk_token");
    const mst_string text = text_of(unknown);
    if (!unknown || json_is_null(unknown)) return MST_OK;
    bpe->unknown_id = text.data ? (int32_t)mst_token_table_find(&bpe->tokens, text.data, text.length) : -1;
    return bpe->unknown_id < 0 ? not_taken("model", "unk_token", unknown) : MST_OK;
}

static mst_status read_model(mst_bpe_tokenizer *t, const json_t *model, const json_t *added) {
    static const char *const keys[] = {"type",
                                       "dropout",
                                       "unk_token",
                                       "continuing_subword_prefix",
                                       "fuse_unk",
                                       "byte_fallback",
                                       "ignore_merges",
                                       "end_of_word_suffix",
                                       "vocab",
                                       "merges",
                                       NULL};
    const json_t *type = json_object_get(model, "type"); /* missing in old files */
    if (type && strcmp(type_of(model), "BPE") != 0) return not_taken("model", "type", type);
    MST_TRY(check_keys("model", model, keys));
    MST_TRY(want_nothing("model", model, "dropout"));
    MST_TRY(want_nothing("model", model, "continuing_subword_prefix"));
    MST_TRY(want_nothing("model", model, "end_of_word_suffix"));
    MST_TRY(want_false("model", model, "fuse_unk"));
    MST_TRY(want_false("model", model, "byte_fallback"));
    MST_TRY(read_flag("model", model, "ignore_merges", false, &t->bpe.whole_words));
    MST_TRY(read_tokens(&t->bpe.tokens, json_object_get(model, "vocab"), added));
    mst_bpe_find_bytes(&t->bpe);
    MST_TRY(read_unknown(&t->bpe, model));
    MST_TRY(read_merges(&t->bpe, json_object_get(model, "merges")));
    return take_added(t, added);
}

/* ---- patterns that cut a text into words ---- */

static mst_status read_byte_level(mst_bpe_tokenizer *t, const char *place, const json_t *part) {
    static const char *const keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
    bool uses_pattern;
    MST_TRY(check_keys(place, part, keys));
    MST_TRY(read_flag(place, part, "add_prefix_space", true, &t->prefix_space));
    MST_TRY(read_flag(place, part, "use_regex", true, &uses_pattern));
    /* After another pre-tokenizer, the space would be added to each piece, not only to the text. */
    if (t->prefix_space && t->num_steps)
        return not_taken(place, "add_prefix_space", json_object_get(part, "add_prefix_space"));
    return uses_pattern ? mst_bpe_tokenizer_add_step(t, mst_bpe_gpt2_pattern, strlen(mst_bpe_gpt2_pattern), false)
                        : MST_OK;
}

static mst_status read_split(mst_bpe_tokenizer *t, const char *place, const json_t *part) {
    static const char *const keys[] = {"type", "pattern", "behavior", "invert", NULL};
    const json_t *pattern = json_object_get(json_object_get(part, "pattern"), "Regex");
    const json_t *behavior = json_object_get(part, "behavior");
    const char *name = json_string_value(behavior) ? json_string_value(behavior) : "";
    bool invert;
    MST_TRY(check_keys(place, part, keys));
    MST_TRY(read_flag(place, part, "invert", false, &invert));
    if (!json_is_string(pattern)) return not_taken(place, "pattern", json_object_get(part, "pattern"));
    const bool isolated = strcmp(name, "Isolated") == 0, removed = strcmp(name, "Removed") == 0 && invert;
    if (!isolated && !removed) return not_taken(place, invert ? "behavior with invert" : "behavior", behavior);
    const mst_string text = text_of(pattern);
    return mst_bpe_tokenizer_add_step(t, text.data, text.length, removed);
}

static mst_status read_digits(mst_bpe_tokenizer *t, const char *place, const json_t *part) {
    static const char *const keys[] = {"type", "individual_digits", NULL};
    bool each;
    MST_TRY(check_keys(place, part, keys));
    MST_TRY(read_flag(place, part, "individual_digits", false, &each));
    return mst_bpe_tokenizer_add_step(t, "\\p{N}+", each ? 5 : 6, false);
}

/* Reads one pre-tokenizer. *ENDS becomes true if it is ByteLevel, which must be the last. */
static mst_status read_one_pre_tokenizer(mst_bpe_tokenizer *t, const char *place, const json_t *part, bool *ends) {
    const char *type = type_of(part);
    if (*ends) return MST_FAIL(MST_UNIMPLEMENTED, "%s stands behind a ByteLevel, which is not taken", place);
    *ends = strcmp(type, "ByteLevel") == 0;
    if (*ends) return read_byte_level(t, place, part);
    if (strcmp(type, "Split") == 0) return read_split(t, place, part);
    if (strcmp(type, "Digits") == 0) return read_digits(t, place, part);
    return not_taken(place, "type", json_object_get(part, "type"));
}

static mst_status read_pre_tokenizer(mst_bpe_tokenizer *t, const json_t *part) {
    static const char *const keys[] = {"type", "pretokenizers", NULL};
    bool ends = false;
    if (strcmp(type_of(part), "Sequence") == 0) {
        size_t i;
        json_t *item;
        MST_TRY(check_keys("pre_tokenizer", part, keys));
        json_array_foreach(json_object_get(part, "pretokenizers"), i, item) {
            char place[PLACE_SIZE];
            snprintf(place, sizeof place, "pre_tokenizer.pretokenizers[%zu]", i);
            MST_TRY(read_one_pre_tokenizer(t, place, item, &ends));
        }
    } else if (json_is_object(part)) {
        MST_TRY(read_one_pre_tokenizer(t, "pre_tokenizer", part, &ends));
    }
    return ends ? MST_OK : MST_FAIL(MST_UNIMPLEMENTED, "pre_tokenizer has no ByteLevel, and no other BPE is taken");
}

/* ---- special tokens around a text ---- */

static mst_status add_around(mst_bpe_tokenizer *t, const char *place, bool behind, const json_t *ids) {
    size_t i;
    json_t *value;
    json_array_foreach(ids, i, value) {
        int *n = behind ? &t->num_behind : &t->num_before;
        const int64_t id = id_of(value);
        if (id < 0 || id >= t->bpe.tokens.num_ids || !t->bpe.tokens.token[id].data)
            return MST_FAIL(MST_CORRUPT, "%s names an id that is not in the vocabulary", place);
        if (*n == MST_BPE_MOST_AROUND)
            return MST_FAIL(MST_UNIMPLEMENTED, "%s puts more than %d tokens on a side", place, MST_BPE_MOST_AROUND);
        (behind ? t->behind : t->before)[(*n)++] = (int32_t)id;
    }
    return MST_OK;
}

/* Reads the template for a single text: a list of special tokens and of "A", which stands for the text. The template
 * for pairs of texts is not used. */
static mst_status read_template(mst_bpe_tokenizer *t, const char *place, const json_t *part) {
    static const char *const keys[] = {"type", "single", "pair", "special_tokens", NULL};
    const json_t *tokens = json_object_get(part, "special_tokens");
    int num_texts = 0;
    size_t i;
    json_t *item;
    MST_TRY(check_keys(place, part, keys));
    json_array_foreach(json_object_get(part, "single"), i, item) {
        const char *token = json_string_value(json_object_get(json_object_get(item, "SpecialToken"), "id"));
        const char *text = json_string_value(json_object_get(json_object_get(item, "Sequence"), "id"));
        const json_t *ids = token ? json_object_get(json_object_get(tokens, token), "ids") : NULL;
        if (text && strcmp(text, "A") == 0)
            num_texts++;
        else if (json_is_array(ids))
            MST_TRY(add_around(t, place, num_texts > 0, ids));
        else
            return not_taken(place, "single", item);
    }
    return num_texts == 1 ? MST_OK : not_taken(place, "single", json_object_get(part, "single"));
}

static mst_status read_one_post_processor(mst_bpe_tokenizer *t, const char *place, const json_t *part) {
    static const char *const keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
    const char *type = type_of(part);
    if (strcmp(type, "ByteLevel") == 0) return check_keys(place, part, keys); /* it changes offsets, not ids */
    if (strcmp(type, "TemplateProcessing") == 0 && !t->num_before && !t->num_behind)
        return read_template(t, place, part);
    return not_taken(place, "type", json_object_get(part, "type"));
}

static mst_status read_post_processor(mst_bpe_tokenizer *t, const json_t *part) {
    static const char *const keys[] = {"type", "processors", NULL};
    if (!part || json_is_null(part)) return MST_OK;
    if (strcmp(type_of(part), "Sequence") != 0) return read_one_post_processor(t, "post_processor", part);
    size_t i;
    json_t *item;
    MST_TRY(check_keys("post_processor", part, keys));
    json_array_foreach(json_object_get(part, "processors"), i, item) {
        char place[PLACE_SIZE];
        snprintf(place, sizeof place, "post_processor.processors[%zu]", i);
        MST_TRY(read_one_post_processor(t, place, item));
    }
    return MST_OK;
}

/* ---- the file ---- */

static mst_status read_whole(mst_bpe_tokenizer *t, const json_t *json) {
    static const char *const keys[] = {"version", "added_tokens", "pre_tokenizer", "post_processor", "decoder", "model",
                                       NULL};
    static const char *const decoder_keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
    const json_t *decoder = json_object_get(json, "decoder");
    MST_TRY(check_keys("", json, keys));
    MST_TRY(read_model(t, json_object_get(json, "model"), json_object_get(json, "added_tokens")));
    MST_TRY(read_pre_tokenizer(t, json_object_get(json, "pre_tokenizer")));
    MST_TRY(read_post_processor(t, json_object_get(json, "post_processor")));
    if (strcmp(type_of(decoder), "ByteLevel") != 0) return not_taken("", "decoder", decoder);
    return check_keys("decoder", decoder, decoder_keys);
}

mst_status mst_bpe_read_json(mst_bpe_tokenizer *t, const mst_tokenizer_file *file) {
    json_error_t error;
    json_t *json = mst_json_read(file->data, file->size, &error);
    if (!json) return MST_FAIL(MST_CORRUPT, "is no JSON: line %d: %s", error.line, error.text);
    const mst_status status = read_whole(t, json);
    json_decref(json);
    return status;
}

/* ---- vocab.json with merges.txt ---- */

/* Reads line by line: "a b"; the first line may be a comment, "#version: 0.2". */
static mst_status read_merge_lines(mst_bpe *bpe, const char *text, size_t size) {
    int64_t count = 1;
    uint32_t rank = 0;
    for (size_t i = 0; i < size; i++) count += text[i] == '\n';
    MST_TRY(mst_bpe_make_merges(bpe, count));
    const char *const end = text + size;
    int64_t number = 1;
    for (const char *line = text, *next; line < end; line = next, number++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        next = stop ? stop + 1 : end;
        if (!stop) stop = end;
        if (stop > line && stop[-1] == '\r') stop--;
        const size_t length = (size_t)(stop - line);
        if (!length || (length >= 8 && memcmp(line, "#version", 8) == 0)) continue;
        const char *space = memchr(line, ' ', length);
        if (!space || memchr(space + 1, ' ', (size_t)(stop - space - 1)))
            return MST_FAIL(MST_CORRUPT, "line %lld is no pair of tokens", (long long)number);
        const mst_string left = {line, (size_t)(space - line)}, right = {space + 1, (size_t)(stop - space - 1)};
        if (mst_bpe_add_merge(bpe, rank++, left, right)) return mst_error_prefix("line %lld", (long long)number);
    }
    return MST_OK;
}

static mst_status read_vocab(mst_bpe_tokenizer *t, const mst_tokenizer_file *vocab) {
    static const char special[] = "<|endoftext|>";
    json_error_t error;
    json_t *json = mst_json_read(vocab->data, vocab->size, &error);
    if (!json) return MST_FAIL(MST_CORRUPT, "is no JSON: line %d: %s", error.line, error.text);
    const mst_status status = read_tokens(&t->bpe.tokens, json, NULL);
    json_decref(json);
    MST_TRY(status);
    mst_bpe_find_bytes(&t->bpe);
    const int64_t id = mst_token_table_find(&t->bpe.tokens, special, strlen(special));
    mst_added_token *added = calloc(1, sizeof *added);
    if (!added) return MST_NO_MEMORY("for added tokens");
    if (id >= 0) *added = (mst_added_token){.text = t->bpe.tokens.token[id], .id = (int32_t)id, .special = true};
    return mst_bpe_tokenizer_add_tokens(t, added, id >= 0);
}

mst_status mst_bpe_read_vocab(mst_bpe_tokenizer *t, const mst_tokenizer_file *vocab, const mst_tokenizer_file *merges) {
    if (read_vocab(t, vocab)) return mst_error_prefix("%s", vocab->name);
    if (read_merge_lines(&t->bpe, merges->data, merges->size)) return mst_error_prefix("%s", merges->name);
    return mst_bpe_tokenizer_add_step(t, mst_bpe_gpt2_pattern, strlen(mst_bpe_gpt2_pattern), false);
}
