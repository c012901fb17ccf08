#include "data/text/text_schema.h"

#include <jansson.h>
#include <string.h>

#include "base/argument.h"
#include "base/json_text.h"
#include "base/no_memory.h"
#include "tensor/tokens.h"
#include "tokenizer/tokenizer_text.h"

static const char key[] = "text", tokenizer_key[] = "tokenizer";

bool mst_text_schema_is(const char *text) {
    json_error_t error;
    json_t *json = text ? mst_json_read_string(text, &error) : NULL;
    const bool is = json_is_object(json_object_get(json, key));
    json_decref(json);
    return is;
}

static mst_status wrong(const char *what) {
    return MST_FAIL(MST_INVALID, "schema: %s: it must be the text of mst_dataset_schema", what);
}

static mst_status read_name(const json_t *text, const char *member, const char *const *names, int *out) {
    const char *name = json_string_value(json_object_get(text, member));
    for (*out = 0; name && names[*out]; ++*out)
        if (strcmp(names[*out], name) == 0) return MST_OK;
    return wrong("it does not say how texts become tokens");
}

static mst_status read_vocabulary(const json_t *list, mst_vocabulary *vocabulary) {
    const size_t n = json_array_size(list);
    if (!n) return wrong("it has no vocabulary");
    for (size_t i = 0; i < n; i++) {
        int32_t entry;
        const char *token = json_string_value(json_array_get(list, i));
        if (!token) return wrong("a token of its vocabulary is no text");
        MST_TRY(mst_vocabulary_count(vocabulary, mst_string_of(token), &entry));
        if (entry != (int32_t)i) return wrong("a token of its vocabulary is there twice");
    }
    return mst_vocabulary_rank(vocabulary, 0, true);
}

static mst_status read_text_member(const json_t *text, mst_text_options *o, mst_vocabulary *vocabulary,
                                   mst_tokenizer **tokenizer) {
    const json_t *files = json_object_get(text, tokenizer_key);
    int standardize = 0, split = 0;
    if (!json_is_object(text)) return wrong("it is not of texts");
    if (!files) MST_TRY(read_name(text, "standardize", mst_text_standardize_names, &standardize));
    if (!files) MST_TRY(read_name(text, "split", mst_text_split_names, &split));
    o->standardize = (mst_text_standardize)standardize;
    o->split = (mst_text_split)split;
    o->sequence_length = json_integer_value(json_object_get(text, "sequence_length"));
    if (o->sequence_length < 1) return wrong("it has no length of texts");
    o->pad_front = json_is_true(json_object_get(text, "pad_front"));
    o->truncate_front = json_is_true(json_object_get(text, "truncate_front"));
    return files ? mst_tokenizer_from_json(files, tokenizer)
                 : read_vocabulary(json_object_get(text, "vocabulary"), vocabulary);
}

mst_status mst_text_schema_read(const char *text, mst_text_options *o, mst_vocabulary *vocabulary,
                                mst_tokenizer **tokenizer) {
    json_error_t error;
    json_t *json = mst_json_read_string(text, &error);
    *tokenizer = NULL;
    const mst_status status =
        json ? read_text_member(json_object_get(json, key), o, vocabulary, tokenizer) : wrong("it is no JSON");
    json_decref(json);
    return status;
}

mst_status mst_schema_tokenizer(const char *schema, mst_tokenizer **out) {
    mst_text_options o = {.component = 0};
    mst_vocabulary words = {0};
    if (MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (!mst_text_schema_is(schema)) return MST_OK;
    const mst_status status = mst_text_schema_read(schema, &o, &words, out);
    mst_vocabulary_free(&words);
    return status;
}

/* How texts become tokens, and the tokens; NULL if memory runs out. */
static json_t *write_words(const mst_text_options *o, const mst_vocabulary *vocabulary) {
    json_t *list = json_array();
    int failed = 0;
    for (int64_t i = MST_TOKEN_FIRST; i < vocabulary->num_names; i++)
        failed |= json_array_append_new(list, json_string(vocabulary->name[i]));
    json_t *text = json_pack("{s:s,s:s,s:o}", "standardize", mst_text_standardize_names[o->standardize], "split",
                             mst_text_split_names[o->split], "vocabulary", list);
    if (!failed) return text;
    json_decref(text);
    return NULL;
}

mst_status mst_text_schema_write(const char *base, const mst_text_options *o, const mst_vocabulary *vocabulary,
                                 const mst_tokenizer *tokenizer, char **out) {
    json_error_t error;
    json_t *json = base ? mst_json_read_string(base, &error)
                        : json_pack("{s:[{s:s,s:s}]}", "columns", "name", "text", "type", "text");
    json_t *text =
        tokenizer ? json_pack("{s:o}", tokenizer_key, mst_tokenizer_to_json(tokenizer)) : write_words(o, vocabulary);
    json_t *sizes =
        json_pack("{s:i,s:I,s:b,s:b}", "component", o->component, "sequence_length", (json_int_t)o->sequence_length,
                  "pad_front", o->pad_front, "truncate_front", o->truncate_front);
    int failed = json_object_update(text, sizes);
    json_decref(sizes);
    failed |= json_object_set_new(json, key, text);
    *out = failed ? NULL : json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return *out ? MST_OK : MST_NO_MEMORY("for a schema");
}
