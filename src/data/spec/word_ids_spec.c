/* word-ids:FILE: texts as lists of word numbers, as in Keras' reuters.npz and imdb.npz, which become rows of one
 * length. The schema records how they were numbered and padded, so that other data are treated alike. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/no_memory.h"
#include "data/schema.h"
#include "data/sources/word_ids_source.h"
#include "data/spec/data_spec.h"

/* The part of the schema about word numbers:
 *
 *     {"columns": [{"name": "text", "type": "word ids"}],
 *      "word_ids": {"num_words": 1000, "sequence_length": 300, "pad_front": false}} */
typedef struct word_ids_form {
    json_int_t num_words, sequence_length;
    int pad_front;
} word_ids_form;

static mst_status read_form(const char *schema, word_ids_form *out) {
    json_error_t error;
    json_t *json = mst_json_read_string(schema, &error);
    const int failed = json_unpack(json_object_get(json, "word_ids"), "{s:I, s:I, s:b}", "num_words", &out->num_words,
                                   "sequence_length", &out->sequence_length, "pad_front", &out->pad_front);
    json_decref(json);
    if (!failed && out->num_words > 0 && out->sequence_length > 0) return MST_OK;
    return MST_FAIL(MST_INVALID, "schema: it is not of numbers of words: the model was trained on other data");
}

static mst_status write_form(const word_ids_form *form, char **out) {
    json_t *json =
        json_pack("{s:[{s:s, s:s}], s:{s:I, s:I, s:b}}", "columns", "name", "text", "type", "word ids", "word_ids",
                  "num_words", form->num_words, "sequence_length", form->sequence_length, "pad_front", form->pad_front);
    *out = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return *out ? MST_OK : MST_NO_MEMORY("for a schema");
}

/* Names each number by its digits: such files do not have the words. */
static mst_status name_numbers(mst_dataset *rows, int64_t n, mst_dataset **out) {
    enum { DIGITS = 12 };
    char(*digits)[DIGITS] = malloc((size_t)n * sizeof *digits);
    const char **name = malloc((size_t)n * sizeof *name);
    mst_status status = digits && name ? MST_OK : MST_NO_MEMORY("for numbers of words");
    for (int64_t i = 0; i < n && !status; i++) {
        snprintf(digits[i], DIGITS, "%d", (int32_t)i);
        name[i] = digits[i];
    }
    if (!status) status = mst_dataset_name_classes(rows, 0, name, n, out);
    free(digits);
    free(name);
    return status;
}

static mst_status finish_rows(mst_dataset *rows, const word_ids_form *form, mst_dataset **out) {
    const mst_pad_sequences_options o = {
        .length = form->sequence_length, .pad_back = !form->pad_front, .truncate_back = true};
    mst_dataset *padded, *named;
    char *schema;
    MST_TRY(mst_dataset_pad_sequences(rows, &o, &padded));
    mst_status status = name_numbers(padded, form->num_words, &named);
    mst_dataset_release(padded);
    MST_TRY(status);
    status = write_form(form, &schema);
    if (!status) status = mst_dataset_add_schema(named, schema, out);
    mst_dataset_release(named);
    return status;
}

static mst_status word_ids_spec_open_part(const char *path, bool test, const mst_data_options *options,
                                          mst_dataset **out) {
    word_ids_form form = {.num_words = options ? options->max_tokens : 0,
                          .sequence_length = options ? options->sequence_length : 0,
                          .pad_front = options && options->pad_front};
    mst_dataset *rows;
    if (options && options->schema) MST_TRY(read_form(options->schema, &form));
    MST_TRY(mst_dataset_from_word_ids(path, &(mst_word_ids_options){.test = test, .num_words = form.num_words}, &rows));
    if (!form.num_words) form.num_words = mst_word_ids_num_words(rows);
    if (!form.sequence_length) form.sequence_length = mst_word_ids_longest(rows);
    const mst_status status = finish_rows(rows, &form, out);
    mst_dataset_release(rows);
    return status;
}

const mst_data_spec mst_data_spec_word_ids = {
    .form = "word-ids:FILE",
    .help = "texts as numbers of words in an npz file, such as Keras' reuters.npz and imdb.npz",
    .takes = MST_SPEC_TEXTS,
    .open_with = word_ids_spec_open_part,
};
