#include "tokenizer/tokenizer_text.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "tokenizer/tokenizer.h"

enum { BASE64 = sodium_base64_VARIANT_ORIGINAL };

static const char *const file_names[] = {mst_tokenizer_json_name, mst_tokenizer_vocab_name, mst_tokenizer_merges_name,
                                         mst_tokenizer_model_name, mst_tokenizer_config_name};
enum { NUM_NAMES = sizeof file_names / sizeof *file_names };

static json_t *file_to_json(const mst_tokenizer_file *file) {
    const size_t size = sodium_base64_encoded_len(file->size, BASE64);
    char *text = malloc(size);
    json_t *json = NULL;
    if (text) json = json_string(sodium_bin2base64(text, size, file->data, file->size, BASE64));
    free(text);
    return json;
}

json_t *mst_tokenizer_to_json(const mst_tokenizer *tokenizer) {
    const mst_tokenizer_files *files = &tokenizer->files;
    json_t *list = json_object();
    int failed = 0;
    for (int i = 0; i < files->num_files; i++)
        failed |= json_object_set_new(list, files->file[i].name, file_to_json(&files->file[i]));
    json_t *json = json_pack("{s:o}", "files", list);
    if (!failed) return json;
    json_decref(json);
    return NULL;
}

static mst_status wrong_file(const char *name) {
    return MST_FAIL(MST_INVALID,
                    "schema: its tokenizer's file '%.80s' is damaged: it must be the text of mst_dataset_schema", name);
}

static mst_status file_from_json(const char *name, const json_t *json, mst_tokenizer_files *files) {
    const char *text = json_string_value(json);
    const size_t length = json_string_length(json), most = length / 4 * 3 + 3;
    size_t size;
    int i = 0;
    while (i < NUM_NAMES && strcmp(file_names[i], name) != 0) i++;
    if (i == NUM_NAMES || !text || files->num_files == MST_TOKENIZER_MOST_FILES) return wrong_file(name);
    unsigned char *data = malloc(most + 1);
    if (!data) return MST_NO_MEMORY("for a tokenizer");
    files->file[files->num_files++] = (mst_tokenizer_file){.name = file_names[i], .data = data};
    if (sodium_base642bin(data, most, text, length, NULL, &size, NULL, BASE64) != 0) return wrong_file(name);
    data[size] = '\0';
    files->file[files->num_files - 1].size = size;
    return MST_OK;
}

mst_status mst_tokenizer_from_json(const json_t *json, mst_tokenizer **out) {
    const char *name;
    const json_t *list = json_object_get(json, "files");
    mst_tokenizer_files files = {.path = strdup("of the schema")};
    mst_status status = files.path ? MST_OK : MST_NO_MEMORY("for a tokenizer");
    json_t *file;
    *out = NULL;
    json_object_foreach((json_t *)(uintptr_t)list, name, file) if (!status) status = file_from_json(name, file, &files);
    if (!status && !files.num_files) status = wrong_file("");
    if (!status) return mst_tokenizer_make(&files, out);
    mst_tokenizer_files_free(&files);
    return status;
}

bool mst_tokenizer_equal(const mst_tokenizer *a, const mst_tokenizer *b) {
    bool equal = a->files.num_files == b->files.num_files;
    for (int i = 0; equal && i < a->files.num_files; i++) {
        const mst_tokenizer_file *x = &a->files.file[i], *y = mst_tokenizer_files_find(&b->files, x->name);
        equal = y && x->size == y->size && memcmp(x->data, y->data, x->size) == 0;
    }
    return equal;
}
