#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cannot_open.h"
#include "base/ending.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "tokenizer/tokenizer.h"

static const size_t MOST_BYTES = (size_t)1 << 28; /* limit for a file; files of large vocabularies have 2^24 */

const char mst_tokenizer_json_name[] = "tokenizer.json", mst_tokenizer_vocab_name[] = "vocab.json",
           mst_tokenizer_merges_name[] = "merges.txt", mst_tokenizer_config_name[] = "tokenizer_config.json",
           mst_tokenizer_model_name[] = "tokenizer.model";

static mst_status read_as(mst_tokenizer_files *files, const char *path, const char *name) {
    mst_tokenizer_file *file = &files->file[files->num_files];
    MST_TRY(mst_file_read(path, MOST_BYTES, &file->data, &file->size));
    ((char *)file->data)[file->size] = '\0';
    file->name = name;
    files->num_files++;
    return MST_OK;
}

static char *join_name(const char *folder, size_t length, const char *name) {
    char *path = malloc(length + strlen(name) + 2);
    if (path) sprintf(path, "%.*s%s%s", (int)length, folder, length && folder[length - 1] != '/' ? "/" : "", name);
    return path;
}

/* Reads the file NAME of a folder, whose path has LENGTH bytes. *FOUND becomes whether the file exists. FOUND may be
 * NULL: then a missing file is an error. */
static mst_status read_in(mst_tokenizer_files *files, const char *folder, size_t length, const char *name,
                          bool *found) {
    char *path = join_name(folder, length, name);
    if (!path) return MST_NO_MEMORY("for a path");
    const bool is_there = access(path, F_OK) == 0;
    const mst_status status = found && !is_there ? MST_OK : read_as(files, path, name);
    if (found) *found = is_there;
    free(path);
    return status;
}

/* Reads the SentencePiece model that T5 and others call spiece.model, or else vocab.json and merges.txt. */
static mst_status read_other(mst_tokenizer_files *files, const char *folder, size_t length) {
    char *path = join_name(folder, length, "spiece.model");
    if (!path) return MST_NO_MEMORY("for a path");
    const bool is_there = access(path, F_OK) == 0;
    const mst_status status = is_there ? read_as(files, path, mst_tokenizer_model_name) : MST_OK;
    free(path);
    if (is_there) return status;
    bool found;
    MST_TRY(read_in(files, folder, length, mst_tokenizer_vocab_name, &found));
    return found ? read_in(files, folder, length, mst_tokenizer_merges_name, NULL)
                 : MST_FAIL(MST_NOT_FOUND,
                            "'%s': has no tokenizer: neither tokenizer.json, nor vocab.json and merges.txt, nor "
                            "tokenizer.model: check the path",
                            folder);
}

/* Reads the files of a folder. tokenizer.model is read even beside a tokenizer.json: this may be the same tokenizer
 * with a type of model that is not supported. Without tokenizer.json, an added_tokens.json is an error, because its
 * tokens are in none of the other files. */
static mst_status read_tokenizer_folder(mst_tokenizer_files *files, const char *folder) {
    static const char added[] = "added_tokens.json";
    const size_t length = strlen(folder);
    bool found;
    MST_TRY(read_in(files, folder, length, mst_tokenizer_model_name, &found));
    if (!found) MST_TRY(read_in(files, folder, length, mst_tokenizer_json_name, &found));
    if (!found) MST_TRY(read_other(files, folder, length));
    char *path = join_name(folder, length, added);
    if (!path) return MST_NO_MEMORY("for a path");
    const bool has_added = access(path, F_OK) == 0;
    free(path);
    if (has_added && strcmp(files->file[0].name, mst_tokenizer_json_name) != 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': has %s, which is taken only as a part of tokenizer.json", folder,
                        added);
    return read_in(files, folder, length, mst_tokenizer_config_name, &found);
}

/* Whether the file name of PATH is NAME, or ends in it, such as gpt2-vocab.json. */
static bool path_ends_in(const char *path, const char *name) {
    return strcmp(path, name) == 0 || mst_ends_in(path, name);
}

/* Reads vocab.json at PATH, and merges.txt beside it. If PATH is PREFIX-vocab.json, the other file is
 * PREFIX-merges.txt. */
static mst_status read_vocab_file(mst_tokenizer_files *files, const char *path) {
    MST_TRY(read_as(files, path, mst_tokenizer_vocab_name));
    char *merges = join_name(path, strlen(path), mst_tokenizer_merges_name);
    if (!merges) return MST_NO_MEMORY("for a path");
    memcpy(merges + strlen(path) - strlen(mst_tokenizer_vocab_name), mst_tokenizer_merges_name,
           strlen(mst_tokenizer_merges_name) + 1);
    const mst_status status = read_as(files, merges, mst_tokenizer_merges_name);
    free(merges);
    return status;
}

mst_status mst_tokenizer_files_read(const char *path, mst_tokenizer_files *out) {
    *out = (mst_tokenizer_files){.path = strdup(path)};
    if (!out->path) return MST_NO_MEMORY("for a path");
    if (access(path, F_OK) != 0) {
        const mst_status status = mst_cannot_open(path, "file or folder");
        (void)mst_error_prefix("tokenizer");
        return status;
    }
    if (mst_is_folder(path)) return read_tokenizer_folder(out, path);
    if (path_ends_in(path, mst_tokenizer_vocab_name)) return read_vocab_file(out, path);
    if (mst_ends_in(path, ".json")) return read_as(out, path, mst_tokenizer_json_name);
    if (mst_ends_in(path, ".model")) return read_as(out, path, mst_tokenizer_model_name);
    return MST_FAIL(MST_INVALID,
                    "'%s': is no tokenizer: tokenizer.json, vocab.json beside merges.txt, a SentencePiece model "
                    "(.model), or a folder with one of these is due",
                    path);
}

const mst_tokenizer_file *mst_tokenizer_files_find(const mst_tokenizer_files *files, const char *name) {
    for (int i = 0; i < files->num_files; i++)
        if (strcmp(files->file[i].name, name) == 0) return &files->file[i];
    return NULL;
}

void mst_tokenizer_files_free(mst_tokenizer_files *files) {
    for (int i = 0; i < files->num_files; i++) free(files->file[i].data);
    free(files->path);
    *files = (mst_tokenizer_files){.num_files = 0};
}
