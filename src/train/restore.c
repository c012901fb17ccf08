/* Writes the entries of a file to a store.
 *
 * Each entry of the store gets its value from the file, under its own name or under the name that a map gives for it.
 * In the map, the longest matching beginning of the name is used. Of the entries that only the file has, the state of
 * the training is added to the store; if no model has been built, all other entries are added too. A weight that is
 * missing or has another shape is an error, which is found before anything is written. All values are set in one turn
 * of the store (store/store.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/argument.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "graph/spec.h"
#include "store/store.h"
#include "strategy/strategy.h"
#include "strategy/weight_copies.h"
#include "train/checkpoint_file.h"
#include "train/restore.h"

enum { MOST_NAMES = 20 /* most names in a list of a message */, NAME_SIZE = 1024 };

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
    mst_state_info *entry; /* entries of the store */
    int64_t count;
    bool is_built; /* the store has weights, so a model was built */
    mst_restored *out;
    int64_t num_missing, num_left_over;
    const mst_tensor **used; /* values of the file that were taken */
    int64_t num_used;
    char *absent; /* weights that the file does not have */
    int64_t num_absent;
} restore;

static bool wants(const restore *r, mst_state_kind kind) {
    return r->options.kinds == 0 || r->options.kinds >> kind & 1;
}

/* Whether entries of KIND are made by a fit when it begins: position, sums and random state. They are restored even
 * into a store in which no fit has begun. */
static bool belongs_to_training(mst_state_kind kind) {
    return kind == MST_STATE_CURSOR || kind == MST_STATE_RANDOM || kind == MST_STATE_METRIC;
}

static mst_status list_name(char **list, int64_t *count, const char *name) {
    if ((*count)++ > MOST_NAMES) return MST_OK;
    if (*count > MOST_NAMES) return mst_text_add(list, ", ...");
    return mst_text_add(list, "%s%s", *count > 1 ? ", " : "", name);
}

/* The part of NAME after BASE: "" or "/more"; NULL if NAME is neither BASE nor below it. */
static const char *below(const char *name, const char *base) {
    const size_t size = strlen(base);
    const bool is_below = strncmp(name, base, size) == 0 && (!name[size] || name[size] == '/');
    return is_below ? name + size : NULL;
}

/* The name that an entry of the store has in the file. The map may have the whole name, or the part of it before a '/';
 * the longest match is used. */
static const char *name_in_file(const restore *r, const char *name, char text[NAME_SIZE]) {
    const mst_checkpoint_name *best = NULL;
    for (int i = 0; i < r->options.num_names; i++) {
        const mst_checkpoint_name *n = &r->options.names[i];
        if (below(name, n->store) && (!best || strlen(n->store) > strlen(best->store))) best = n;
    }
    if (!best) return name;
    snprintf(text, NAME_SIZE, "%s%s", best->file, below(name, best->store));
    return text;
}

/* The reverse of name_in_file: the name that an entry of the file gets in the store. */
static const char *name_in_store(const restore *r, const char *name, char text[NAME_SIZE]) {
    const mst_checkpoint_name *best = NULL;
    for (int i = 0; i < r->options.num_names; i++) {
        const mst_checkpoint_name *n = &r->options.names[i];
        if (below(name, n->file) && (!best || strlen(n->file) > strlen(best->file))) best = n;
    }
    if (!best) return name;
    snprintf(text, NAME_SIZE, "%s%s", best->store, below(name, best->file));
    return text;
}

/* The value of an entry of the file, which counts as used from now on. NULL: the file has no such entry. */
static mst_tensor *restore_take(restore *r, const char *container, const char *name) {
    mst_tensor *value = mst_snapshot_find(r->file, container, name);
    if (value) r->used[r->num_used++] = value;
    return value;
}

static bool is_used(const restore *r, const mst_tensor *value) {
    for (int64_t i = 0; i < r->num_used; i++)
        if (r->used[i] == value) return true;
    return false;
}

/* The value in the file for the entry NAME of KIND; NULL: there is none. If the options ask for averages, the value of
 * a weight is its moving average, if the file has that. */
static mst_tensor *value_for(restore *r, const char *container, const char *name, mst_state_kind kind) {
    char average[NAME_SIZE + 32], text[NAME_SIZE];
    const char *file_name = name_in_file(r, name, text);
    if (r->options.averages && kind == MST_STATE_WEIGHT) {
        snprintf(average, sizeof average, "%s/" MST_COPY_AVERAGE, file_name);
        mst_tensor *value = restore_take(r, container, average);
        if (value) return value;
    }
    return restore_take(r, container, file_name);
}

static mst_status wrong_shape(const restore *r, const mst_state_info *info, const mst_tensor *value) {
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    return MST_FAIL(MST_INVALID, "'%s': '%s' is %s%s, the model has %s%s: it is a checkpoint of another model", r->path,
                    info->name, mst_dtype_name(mst_tensor_dtype(value)),
                    mst_shape_print(mst_tensor_shape(value), have, sizeof have), mst_dtype_name(info->spec.dtype),
                    mst_shape_print(info->spec.shape, want, sizeof want));
}

/* Lists an entry that the file does not have. A missing weight is an error, which is reported when all are known. */
static mst_status add_missing(restore *r, const mst_state_info *info) {
    char text[NAME_SIZE], *name;
    if (info->kind != MST_STATE_WEIGHT || r->options.partial)
        return belongs_to_training(info->kind) ? MST_OK : list_name(&r->out->missing, &r->num_missing, info->name);
    const char *file_name = name_in_file(r, info->name, text);
    const bool renamed = strcmp(file_name, info->name) != 0;
    if (asprintf(&name, renamed ? "'%s' for '%s'" : "'%s'", file_name, info->name) < 0)
        return MST_NO_MEMORY("for a text");
    const mst_status status = list_name(&r->absent, &r->num_absent, name);
    free(name);
    return status;
}

/* Chooses a value of the file for each entry of the store. */
static mst_status choose(restore *r) {
    for (int64_t i = 0; i < r->count; i++) {
        const mst_state_info *info = &r->entry[i];
        if (!wants(r, info->kind)) continue;
        mst_tensor *value = value_for(r, info->container, info->name, info->kind);
        if (!value) {
            MST_TRY(add_missing(r, info));
            continue;
        }
        const mst_spec spec = {mst_tensor_dtype(value), mst_tensor_shape(value)};
        const mst_state *state = mst_store_find(r->store, info->container, info->name);
        if (!mst_spec_equal(&spec, &info->spec) && !(state && mst_state_takes_whole(state, &spec)))
            return wrong_shape(r, info, value);
        MST_TRY(mst_snapshot_add(r->chosen, info->container, info->name, info->kind, value));
    }
    return MST_OK;
}

/* Returns one error for all missing weights, which also lists the weights of the file that were not used. */
static mst_status check_absent(const restore *r) {
    char *others = NULL;
    int64_t count = 0;
    mst_status status = MST_OK;
    if (!r->num_absent) return MST_OK;
    for (int64_t i = 0; i < mst_snapshot_count(r->file) && !status; i++) {
        const mst_state_info info = mst_snapshot_info(r->file, i);
        char text[NAME_SIZE], shape[MST_SHAPE_TEXT];
        if (info.kind != MST_STATE_WEIGHT || is_used(r, mst_snapshot_value(r->file, i))) continue;
        snprintf(text, sizeof text, "'%.900s' %s", info.name, mst_shape_print(info.spec.shape, shape, sizeof shape));
        status = list_name(&others, &count, text);
    }
    if (!status)
        status = MST_FAIL(MST_NOT_FOUND, "'%s': has no %s%s%s: it is a checkpoint of another model, or names differ",
                          r->path, r->absent, others ? "; left over is " : "", others ? others : "");
    free(others);
    return status;
}

/* Checks that each name of the map is the name of an entry, or the beginning of such names. A misspelled name would
 * otherwise be reported as an entry that the file lacks. */
static mst_status check_names(const restore *r) {
    for (int i = 0; i < r->options.num_names; i++) {
        const mst_checkpoint_name *name = &r->options.names[i];
        if (!name->store || !name->file || !*name->store || !*name->file)
            return MST_FAIL(MST_INVALID, "restore: name %d of the map is empty", i);
        bool found = !r->is_built;
        for (int64_t k = 0; k < r->count && !found; k++) found = below(r->entry[k].name, name->store) != NULL;
        if (!found)
            return MST_FAIL(MST_INVALID, "'%s': the map of names has '%s', and the model has no such weight", r->path,
                            name->store);
    }
    return MST_OK;
}

static bool store_has(const restore *r, const char *container, const char *name) {
    int64_t low = 0, high = r->count; /* the entries are sorted by (container, name) */
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

/* Chooses the entries that only the file has and that are added to the store: state of the training and global_step. If
 * no model has been built yet, all other entries are added too, and the model will find them. */
static mst_status choose_others(restore *r) {
    for (int64_t i = 0; i < mst_snapshot_count(r->file); i++) {
        const mst_state_info info = mst_snapshot_info(r->file, i);
        char text[NAME_SIZE];
        if (!wants(r, info.kind) || is_used(r, mst_snapshot_value(r->file, i))) continue;
        const bool stored = store_has(r, info.container, info.name);
        /* the value was not used: the weight got its average instead */
        if (stored && name_in_file(r, info.name, text) == info.name) continue;
        if (stored || (r->is_built && !belongs_to_training(info.kind) && info.kind != MST_STATE_STEP)) {
            MST_TRY(list_name(&r->out->left_over, &r->num_left_over, info.name));
            continue;
        }
        const char *name = name_in_store(r, info.name, text);
        mst_tensor *value = value_for(r, info.container, name, info.kind);
        MST_TRY(value ? mst_snapshot_add(r->chosen, info.container, name, info.kind, value)
                      : list_name(&r->out->left_over, &r->num_left_over, info.name));
    }
    const char *name, *dtype;
    for (int64_t i = 0; (name = mst_snapshot_left_out(r->file, i, &dtype)); i++) {
        char text[NAME_SIZE];
        snprintf(text, sizeof text, "%.900s (%s, which is not read)", name, dtype);
        MST_TRY(list_name(&r->out->left_over, &r->num_left_over, text));
    }
    return MST_OK;
}

static mst_status restore_run(restore *r) {
    MST_TRY(mst_text_add(&r->out->missing, "%s", ""));
    MST_TRY(mst_text_add(&r->out->left_over, "%s", ""));
    for (int64_t i = 0; i < r->count; i++) r->is_built |= r->entry[i].kind == MST_STATE_WEIGHT;
    MST_TRY(check_names(r));
    MST_TRY(choose(r));
    MST_TRY(check_absent(r));
    MST_TRY(choose_others(r));
    r->out->count = mst_snapshot_count(r->chosen);
    if (r->out->count == 0)
        return MST_FAIL(MST_NOT_FOUND, "'%s': has no entry of the model: it is a checkpoint of another model", r->path);
    const char *key;
    for (int64_t i = 0; (key = mst_snapshot_note_key(r->file, i)); i++)
        MST_TRY(mst_snapshot_set_note(r->chosen, key, mst_snapshot_note(r->file, key)));
    const mst_tensor *step = mst_snapshot_find(r->file, NULL, MST_STATE_GLOBAL_STEP);
    r->out->step = step ? (int64_t)mst_tensor_get(step, 0) : 0;
    MST_TRY(mst_weight_copies_add(r->store, r->chosen));
    return mst_store_restore(r->store, r->chosen);
}

mst_status mst_restore_snapshot(const char *path, const mst_snapshot *file, mst_store *store,
                                const mst_restore_options *options, mst_restored *out) {
    restore r = {.path = path, .store = store, .file = file, .out = out};
    if (options) r.options = *options;
    mst_status status = mst_snapshot_create(&r.chosen);
    if (!status) status = mst_store_list(store, &r.entry, &r.count);
    r.used = calloc((size_t)(r.count + mst_snapshot_count(file)) + 1, sizeof *r.used);
    if (!status && !r.used) status = MST_NO_MEMORY("to read '%s'", path);
    if (!status) status = restore_run(&r);
    free(r.absent);
    free(r.used);
    mst_snapshot_release(r.chosen);
    free(r.entry);
    return status;
}

/* Refuses a path that is neither a model file nor the prefix of a checkpoint. */
static mst_status check_prefix(const char *path) {
    char *index;
    if (asprintf(&index, "%s.index", path) < 0) return MST_NO_MEMORY("for a path");
    const int code = access(index, F_OK) ? errno : 0;
    free(index);
    if (code == 0) return MST_OK;
    if (code != ENOENT && code != ENOTDIR)
        return MST_FAIL(MST_IO, "'%s.index' cannot be opened: %s", path, strerror(code));
    return MST_FAIL(MST_NOT_FOUND,
                    "'%s': %s: give FILE.safetensors, FILE.npz, the prefix of a checkpoint or the folder of some", path,
                    access(path, F_OK) ? "there is no such file, checkpoint or folder" : "is no checkpoint");
}

static mst_status read_folder(const char *path, mst_snapshot **out, mst_restored *restored) {
    mst_folder folder;
    MST_TRY(mst_folder_open(path, &folder));
    const mst_status status = mst_checkpoint_read_latest(&folder, out, &restored->path, &restored->damaged);
    mst_folder_close(&folder);
    return status;
}

static mst_status read_any(const char *path, mst_snapshot **out, mst_restored *restored) {
    if (mst_is_folder(path)) return read_folder(path, out, restored);
    const size_t size = strlen(path), suffix = sizeof ".index" - 1;
    const bool is_index = size > suffix && strcmp(path + size - suffix, ".index") == 0;
    restored->path = strndup(path, is_index ? size - suffix : size);
    if (!restored->path) return MST_NO_MEMORY("for a path");
    MST_TRY(mst_text_add(&restored->damaged, "%s", ""));
    if (mst_model_file_of(restored->path) == MST_FILE_CHECKPOINT) MST_TRY(check_prefix(restored->path));
    return mst_checkpoint_read(restored->path, out);
}

static mst_status find_newest(const char *path, char **out) {
    mst_folder folder;
    MST_TRY(mst_folder_open(path, &folder));
    const mst_status status = mst_checkpoint_find_newest(&folder, out);
    mst_folder_close(&folder);
    return status;
}

mst_status mst_checkpoint_num_shards(const char *path, int *out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    const bool is_folder = mst_is_folder(path);
    char *newest = NULL;
    int64_t number = 0;
    *out = 0;
    if (is_folder) MST_TRY(find_newest(path, &newest));
    mst_status status = MST_OK;
    if (newest || !is_folder) status = mst_checkpoint_read_number(newest ? newest : path, MST_STATE_SHARDS, &number);
    if (!status && (number < 0 || number > MST_SHARDS_MOST))
        status = MST_FAIL(MST_CORRUPT, "'%s': '%s' is %lld, which is no number of shards", newest ? newest : path,
                          MST_STATE_SHARDS, (long long)number);
    if (!status) *out = (int)number;
    free(newest);
    return status == MST_NOT_FOUND ? MST_OK : status;
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
