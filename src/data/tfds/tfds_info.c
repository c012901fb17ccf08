#include "data/tfds/tfds_info.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/no_memory.h"

enum { MOST_BYTES = 1 << 26, MOST_SHARDS = 99999, LIST_SIZE = 400 };

/* ---- files of JSON ---- */

static mst_status read_json(mst_tfds_info *info, const char *name, json_t **out) {
    void *data;
    size_t size;
    json_error_t error;
    *out = NULL;
    const char *path = mst_arena_print(&info->arena, "%s/%s", info->folder, name);
    if (!path) return MST_NO_MEMORY("for the name of a file");
    const mst_status status = mst_file_read(path, MOST_BYTES, &data, &size);
    if (status == MST_NOT_FOUND)
        return MST_FAIL(MST_NOT_FOUND,
                        "data: '%s' has no %s: tfds:DIR takes the folder of one version that TensorFlow Datasets made, "
                        "such as mnist/3.0.1",
                        info->folder, name);
    MST_TRY(status);
    *out = mst_json_read(data, size, &error);
    free(data);
    if (json_is_object(*out)) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "'%s': is no JSON object: make the folder again: line %d: %s", path, error.line,
                    error.text);
}

/* ---- splits ---- */

/* Whether TEXT may become a part of the name of a file in the folder. */
static bool is_plain_name(const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const size_t size = text ? strlen(text) : 0;
    return size > 0 && size <= 200 && *text != '.' && strspn(text, plain) == size;
}

static const json_t *find_split(const json_t *splits, const char *name) {
    size_t i;
    json_t *split;
    json_array_foreach(splits, i, split) {
        const char *found = json_string_value(json_object_get(split, "name"));
        if (found && strcmp(found, name) == 0) return split;
    }
    return NULL;
}

static mst_status no_split(const mst_tfds_info *info, const json_t *splits, bool test) {
    char list[LIST_SIZE] = "";
    size_t i;
    json_t *split;
    json_array_foreach(splits, i, split) {
        const char *name = json_string_value(json_object_get(split, "name"));
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%.60s", i ? ", " : "", name ? name : "?");
    }
    return MST_FAIL(MST_NOT_FOUND, "data: '%s' has no %s part: it has no split '%s': there are: %s", info->folder,
                    test ? "test" : "train", test ? "test' or 'validation" : "train", *list ? list : "none");
}

static mst_status broken_split(const char *name) {
    return MST_FAIL(MST_CORRUPT, "split '%s': the lengths of its shards are no list of numbers", name);
}

/* Lists the files NAME-SPLIT.tfrecord-00000-of-00002, ... */
static mst_status list_shards(mst_tfds_info *info, const char *name, const json_t *split) {
    const json_t *lengths = json_object_get(split, "shardLengths");
    const char *form = json_string_value(json_object_get(split, "filepathTemplate"));
    const size_t count = json_array_size(lengths);
    if (form && strcmp(form, "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}") != 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "split '%s': its files are named '%.100s', which is not read", name, form);
    if (count < 1 || count > MOST_SHARDS) return broken_split(name);
    info->path = mst_arena_alloc(&info->arena, count * sizeof *info->path);
    if (!info->path) return MST_NO_MEMORY("for the names of files");
    for (size_t i = 0; i < count; i++) {
        const json_t *length = json_array_get(lengths, i);
        const char *text = json_string_value(length);
        const int64_t n = text ? strtoll(text, NULL, 10) : json_is_integer(length) ? json_integer_value(length) : -1;
        if (n < 0 || __builtin_add_overflow(info->num_examples, n, &info->num_examples)) return broken_split(name);
        info->path[i] =
            mst_arena_print(&info->arena, "%s/%s-%s.tfrecord-%05zu-of-%05zu", info->folder, info->name, name, i, count);
        if (!info->path[i]) return MST_NO_MEMORY("for the names of files");
        info->num_paths++;
    }
    return MST_OK;
}

static mst_status take_info(mst_tfds_info *info, const json_t *json, bool test) {
    const json_t *splits = json_object_get(json, "splits");
    const char *name = json_string_value(json_object_get(json, "name"));
    const char *format = json_string_value(json_object_get(json, "fileFormat"));
    if (!is_plain_name(name)) return MST_FAIL(MST_CORRUPT, "the name of the data cannot be part of the names of files");
    if (format && *format && strcmp(format, "tfrecord") != 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "its files are of the format '%.50s': tfrecord is read", format);
    info->name = mst_arena_string(&info->arena, name);
    if (!info->name) return MST_NO_MEMORY("for the name of the data");
    const char *part = test ? "test" : "train";
    const json_t *split = find_split(splits, part);
    if (!split && test) split = find_split(splits, part = "validation");
    return split ? list_shards(info, part, split) : no_split(info, splits, test);
}

mst_status mst_tfds_read(const char *folder, bool test, mst_tfds_info *out) {
    json_t *info = NULL, *features = NULL;
    *out = (mst_tfds_info){.folder = NULL};
    out->folder = mst_arena_string(&out->arena, folder);
    if (!out->folder) return MST_NO_MEMORY("for the name of a folder");
    mst_status status = read_json(out, "dataset_info.json", &info);
    if (!status) status = read_json(out, "features.json", &features);
    if (!status && take_info(out, info, test))
        status =
            mst_error()->code == MST_NOT_FOUND ? MST_NOT_FOUND : mst_error_prefix("'%s/dataset_info.json'", folder);
    if (!status &&
        mst_tfds_features_read(features, json_object_get(info, "supervisedKeys"), &out->arena, &out->features))
        status = mst_error_prefix("'%s/features.json'", folder);
    json_decref(info);
    json_decref(features);
    return status;
}

void mst_tfds_free(mst_tfds_info *info) {
    mst_arena_free(&info->arena);
    *info = (mst_tfds_info){.folder = NULL};
}
