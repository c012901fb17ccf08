/* A snapshot from a file into a store: names, kinds, and what is missing or left over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "store/store.h"
#include "train/checkpoint_file.h"
#include "train/restore.h"

enum { MOST_NAMES = 20 /* of a list in a message */ };

void mst_restored_free(mst_restored *restored) {
    if (!restored) return;
    free(restored->path);
    free(restored->missing);
    free(restored->left_over);
    free(restored->damaged);
    *restored = (mst_restored){.path = NULL};
}

typedef struct restore {
    const char *path;
    mst_store *store;
    mst_restore_options options;
    const mst_snapshot *file;
    mst_snapshot *chosen;
    mst_state_info *entry; /* of the store */
    int64_t count;
    bool is_built; /* the store has weights: of a model that was built */
    mst_restored *out;
    int64_t num_missing, num_left_over;
} restore;

static bool wants(const restore *r, mst_state_kind kind) {
    return r->options.kinds == 0 || r->options.kinds >> kind & 1;
}

/* Position and random state are made by a fit when it begins: a store that has not begun one takes them all the same. */
static bool belongs_to_training(mst_state_kind kind) {
    return kind == MST_STATE_CURSOR || kind == MST_STATE_RANDOM || kind == MST_STATE_METRIC;
}

static mst_status list_name(char **list, int64_t *count, const char *name) {
    if ((*count)++ > MOST_NAMES) return MST_OK;
    if (*count > MOST_NAMES) return mst_text_add(list, ", ...");
    return mst_text_add(list, "%s%s", *count > 1 ? ", " : "", name);
}

/* The name of an entry of the store in the file. */
static const char *name_in_file(const restore *r, const char *name) {
    for (int i = 0; i < r->options.num_names; i++)
        if (strcmp(r->options.names[i].store, name) == 0) return r->options.names[i].file;
    return name;
}

/* The value for the entry NAME of KIND, or NULL. */
static mst_tensor *value_for(const restore *r, const char *container, const char *name, mst_state_kind kind) {
    char average[1024];
    const char *file_name = name_in_file(r, name);
    if (r->options.averages && kind == MST_STATE_WEIGHT) {
        snprintf(average, sizeof average, "%s/ExponentialMovingAverage", file_name);
        mst_tensor *value = mst_snapshot_find(r->file, container, average);
        if (value) return value;
    }
    return mst_snapshot_find(r->file, container, file_name);
}

static mst_status wrong_shape(const restore *r, const mst_state_info *info, const mst_tensor *value) {
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    return MST_FAIL(MST_INVALID, "'%s': '%s' is %s%s, the model has %s%s: it is a checkpoint of another model", r->path,
                    info->name, mst_dtype_name(mst_tensor_dtype(value)),
                    mst_shape_print(mst_tensor_shape(value), have, sizeof have), mst_dtype_name(info->spec.dtype),
                    mst_shape_print(info->spec.shape, want, sizeof want));
}

/* Entries of the store. */
static mst_status choose(restore *r) {
    for (int64_t i = 0; i < r->count; i++) {
        const mst_state_info *info = &r->entry[i];
        if (!wants(r, info->kind)) continue;
        mst_tensor *value = value_for(r, info->container, info->name, info->kind);
        if (!value) {
            if (info->kind == MST_STATE_WEIGHT && !r->options.partial)
                return MST_FAIL(MST_NOT_FOUND,
                                "'%s': has no '%s': it is a checkpoint of another model, or names differ", r->path,
                                info->name);
            if (!belongs_to_training(info->kind)) MST_TRY(list_name(&r->out->missing, &r->num_missing, info->name));
            continue;
        }
        if (mst_tensor_dtype(value) != info->spec.dtype || !mst_shape_equal(mst_tensor_shape(value), info->spec.shape))
            return wrong_shape(r, info, value);
        MST_TRY(mst_snapshot_add(r->chosen, info->container, info->name, info->kind, value));
    }
    return MST_OK;
}

static bool is_named(const restore *r, const char *file_name) {
    for (int i = 0; i < r->options.num_names; i++)
        if (strcmp(r->options.names[i].file, file_name) == 0) return true;
    return false;
}

static bool store_has(const restore *r, const char *container, const char *name) {
    int64_t low = 0, high = r->count; /* sorted by (container, name) */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        int order = strcmp(container, r->entry[middle].container);
        if (!order) order = strcmp(name, r->entry[middle].name);
        if (!order) return true;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Entries of the file that the store does not have: of a training's own kinds they are made, as is global_step; all are
 * where no model has been built, which will find them. */
static mst_status choose_others(restore *r) {
    for (int64_t i = 0; i < mst_snapshot_count(r->file); i++) {
        const mst_state_info info = mst_snapshot_info(r->file, i);
        if (!wants(r, info.kind) || store_has(r, info.container, info.name) || is_named(r, info.name)) continue;
        if (r->is_built && !belongs_to_training(info.kind) && info.kind != MST_STATE_STEP) {
            MST_TRY(list_name(&r->out->left_over, &r->num_left_over, info.name));
            continue;
        }
        mst_tensor *value = value_for(r, info.container, info.name, info.kind);
        MST_TRY(mst_snapshot_add(r->chosen, info.container, info.name, info.kind, value));
    }
    return MST_OK;
}

static mst_status run(restore *r) {
    MST_TRY(mst_text_add(&r->out->missing, "%s", ""));
    MST_TRY(mst_text_add(&r->out->left_over, "%s", ""));
    for (int64_t i = 0; i < r->count; i++) r->is_built |= r->entry[i].kind == MST_STATE_WEIGHT;
    MST_TRY(choose(r));
    MST_TRY(choose_others(r));
    r->out->count = mst_snapshot_count(r->chosen);
    if (r->out->count == 0)
        return MST_FAIL(MST_NOT_FOUND, "'%s': has no entry of the model: it is a checkpoint of another model", r->path);
    const char *key;
    for (int64_t i = 0; (key = mst_snapshot_note_key(r->file, i)); i++)
        MST_TRY(mst_snapshot_set_note(r->chosen, key, mst_snapshot_note(r->file, key)));
    const mst_tensor *step = mst_snapshot_find(r->file, NULL, MST_STATE_GLOBAL_STEP);
    r->out->step = step ? (int64_t)mst_tensor_get(step, 0) : 0;
    return mst_store_restore(r->store, r->chosen);
}

mst_status mst_restore_snapshot(const char *path, const mst_snapshot *file, mst_store *store,
                                const mst_restore_options *options, mst_restored *out) {
    restore r = {.path = path, .store = store, .file = file, .out = out};
    if (options) r.options = *options;
    mst_status status = mst_snapshot_create(&r.chosen);
    if (!status) status = mst_store_list(store, &r.entry, &r.count);
    if (!status) status = run(&r);
    mst_snapshot_release(r.chosen);
    free(r.entry);
    return status;
}

static mst_status read_any(const char *path, mst_snapshot **out, mst_restored *restored) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return mst_checkpoint_read_latest(path, out, &restored->path, &restored->damaged);
    const size_t size = strlen(path), suffix = sizeof ".index" - 1;
    const bool is_index = size > suffix && strcmp(path + size - suffix, ".index") == 0;
    restored->path = strndup(path, is_index ? size - suffix : size);
    if (!restored->path) return MST_NO_MEMORY("for a path");
    MST_TRY(mst_text_add(&restored->damaged, "%s", ""));
    return mst_checkpoint_read(restored->path, out);
}

mst_status mst_checkpoint_restore(const char *path, mst_store *store, const mst_restore_options *options,
                                  mst_restored *restored) {
    mst_restored none, *out = restored ? restored : &none;
    *out = (mst_restored){.path = NULL};
    if (MST_IS_NULL(path) || MST_IS_NULL(store)) return MST_INVALID;
    mst_snapshot *snapshot = NULL;
    mst_status status = read_any(path, &snapshot, out);
    if (!status) status = mst_restore_snapshot(out->path, snapshot, store, options, out);
    mst_snapshot_release(snapshot);
    if (!restored) mst_restored_free(out);
    return status;
}
