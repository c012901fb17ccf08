#include "model_file/huggingface/huggingface_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/no_memory.h"
#include "model_file/huggingface/token_config.h"

const char mst_huggingface_config_name[] = "config.json", mst_huggingface_weights_name[] = "model.safetensors",
           mst_huggingface_index_name[] = "model.safetensors.index.json";

enum { MOST_FILES = 1000, SHOWN = 128 };

/* The largest sizes of files of JSON that are read. */
static const size_t most_config = (size_t)1 << 20, most_index = (size_t)1 << 26;

/* ---- config.json ---- */

static mst_status read_in(const mst_folder *folder, size_t most, const char *file, char **name, char **text,
                          size_t *size) {
    void *data = NULL;
    char *path = mst_folder_join(folder, file);
    if (!path) return MST_NO_MEMORY("for a path");
    const mst_status status = mst_file_read(path, most, &data, size);
    if (status) {
        free(path);
        return status;
    }
    *name = path;
    *text = data;
    (*text)[*size] = '\0';
    return MST_OK;
}

mst_status mst_huggingface_read_config(const char *path, mst_gpt_network *out, char **text) {
    mst_folder folder;
    char *name = NULL, *config = NULL;
    size_t size = 0;
    if (text) *text = NULL;
    MST_TRY(mst_folder_open(path, &folder));
    mst_status status = read_in(&folder, most_config, mst_huggingface_config_name, &name, &config, &size);
    mst_folder_close(&folder);
    if (!status) status = mst_huggingface_config_parse(name, config, size, out);
    free(name);
    if (!status && text)
        *text = config;
    else
        free(config);
    return status;
}

/* ---- tensors ---- */

static void add_file(mst_huggingface_files *f, const char *name, mst_safetensors *file) {
    f->file[f->num_files] = file;
    f->file_name[f->num_files++] = name;
}

static mst_status open_one(mst_huggingface_files *f) {
    mst_safetensors *file = NULL;
    char *path = mst_folder_join(&f->folder, mst_huggingface_weights_name);
    if (!path) return MST_NO_MEMORY("for a path");
    const mst_status status = mst_safetensors_open(path, &file);
    free(path);
    if (!status) add_file(f, mst_huggingface_weights_name, file);
    return status;
}

static int64_t file_number(const mst_huggingface_files *f, const char *name) {
    for (int64_t i = 0; i < f->num_files; i++)
        if (strcmp(f->file_name[i], name) == 0) return i;
    return -1;
}

static mst_status open_shard(mst_huggingface_files *f, const char *tensor, const char *name) {
    mst_safetensors *file = NULL;
    char shown[SHOWN];
    mst_escape_line(tensor, strlen(tensor), shown, sizeof shown);
    if (!name) return MST_FAIL(MST_CORRUPT, "the file of '%s' is no text: take the file as it was saved", shown);
    if (file_number(f, name) >= 0) return MST_OK;
    if (f->num_files == MOST_FILES)
        return MST_FAIL(MST_UNIMPLEMENTED, "it names more than %d files: save the model in fewer ones", MOST_FILES);
    if (mst_safetensors_open_inside(&f->folder, name, &file)) return mst_error_prefix("tensor '%s'", shown);
    add_file(f, name, file);
    return MST_OK;
}

static mst_status open_shards(mst_huggingface_files *f) {
    const char *tensor;
    json_t *map = json_object_get(f->index, "weight_map"), *name;
    if (!json_is_object(map)) return MST_FAIL(MST_CORRUPT, "it lacks \"weight_map\": take the file as it was saved");
    json_object_foreach(map, tensor, name) MST_TRY(open_shard(f, tensor, json_string_value(name)));
    return MST_OK;
}

static mst_status open_by_index(mst_huggingface_files *f) {
    char *path, *text;
    size_t size;
    json_error_t error;
    MST_TRY(read_in(&f->folder, most_index, mst_huggingface_index_name, &path, &text, &size));
    f->index = mst_json_read(text, size, &error);
    free(text);
    mst_status status = MST_OK;
    if (!f->index) status = MST_FAIL(MST_CORRUPT, "it is no JSON (%.80s): take the file as it was saved", error.text);
    if (!status) status = open_shards(f);
    if (status) (void)mst_error_prefix("'%s'", path);
    free(path);
    return status;
}

mst_status mst_huggingface_open(const char *path, mst_huggingface_files *out) {
    *out = (mst_huggingface_files){.num_files = 0};
    MST_TRY(mst_folder_open(path, &out->folder));
    out->file = calloc(MOST_FILES, sizeof(mst_safetensors *));
    out->file_name = calloc(MOST_FILES, sizeof(const char *));
    if (!out->file || !out->file_name) return MST_NO_MEMORY("for a model");
    bool found, is_pickled;
    MST_TRY(mst_file_is_there(&out->folder, mst_huggingface_weights_name, &found));
    if (found) return open_one(out);
    MST_TRY(mst_file_is_there(&out->folder, mst_huggingface_index_name, &found));
    if (found) return open_by_index(out);
    MST_TRY(mst_file_is_there(&out->folder, "pytorch_model.bin", &is_pickled));
    if (!is_pickled) MST_TRY(mst_file_is_there(&out->folder, "pytorch_model.bin.index.json", &is_pickled));
    return MST_FAIL(
        MST_NOT_FOUND, "'%s': has neither %s nor %s%s", path, mst_huggingface_weights_name, mst_huggingface_index_name,
        is_pickled ? "; pytorch_model.bin is a pickle, which can hold code: load it in transformers, and call "
                     "save_pretrained"
                   : ", so it has no weights");
}

void mst_huggingface_close(mst_huggingface_files *files) {
    for (int64_t i = 0; i < files->num_files; i++) mst_safetensors_close(files->file[i]);
    free(files->file);
    free(files->file_name);
    json_decref(files->index);
    mst_folder_close(&files->folder);
    *files = (mst_huggingface_files){.num_files = 0};
}

mst_status mst_huggingface_find(const mst_huggingface_files *files, const char *name, int64_t *file, int64_t *i) {
    const char *in = files->file_name[0];
    *file = -1;
    if (files->index) in = json_string_value(json_object_get(json_object_get(files->index, "weight_map"), name));
    if (!in) return MST_OK;
    const int64_t number = file_number(files, in);
    *i = mst_safetensors_find(files->file[number], name);
    if (*i >= 0) *file = number;
    if (*i >= 0 || !files->index) return MST_OK;
    return MST_FAIL(MST_CORRUPT,
                    "'%s': %s says that it has '%.200s', and it has not: take the files as they were saved", in,
                    mst_huggingface_index_name, name);
}
