/* Writes snapshots to files and reads them, in three formats: TensorFlow's bundles, safetensors, npz.
 *
 * A file that Muster wrote has a JSON object under STATE_KEY: the description. It has the container, name and kind in
 * the store of each tensor, and the store's notes. For files of other programs these are derived from the names of the
 * tensors (checkpoint_names.c). Several threads read the tensors and compute their checksums. */
#include "train/checkpoint_file.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/json_text.h"
#include "base/no_memory.h"
#include "device/domain.h"
#include "format/bundle.h"
#include "format/npz.h"
#include "format/safetensors.h"
#include "rule/accumulate.h"
#include "rule/rule.h"
#include "store/store.h"
#include "train/checkpoint_names.h"

static const char state_key[] = "_MUSTER_STATE"; /* in an npz archive it names an array of u8 */
static const char save_key[] = "save";
enum { VERSION = 1 };

mst_model_file mst_model_file_of(const char *path) {
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".safetensors") == 0) return MST_FILE_SAFETENSORS;
    return dot && strcmp(dot, ".npz") == 0 ? MST_FILE_NPZ : MST_FILE_CHECKPOINT;
}

mst_status mst_text_add(char **text, const char *format, ...) {
    char *more, *all;
    va_list list;
    va_start(list, format);
    const int size = vasprintf(&more, format, list);
    va_end(list);
    if (size < 0) return MST_NO_MEMORY("for a text");
    if (asprintf(&all, "%s%s", *text ? *text : "", more) < 0) all = NULL;
    free(more);
    if (!all) return MST_NO_MEMORY("for a text");
    free(*text);
    *text = all;
    return MST_OK;
}

/* ---- writing ---- */

/* The file to write: a path, or a name in an open folder. */
typedef struct target {
    const char *path;         /* in `folder` if that is not NULL, else the whole path */
    const mst_folder *folder; /* may be NULL */
    int64_t save;             /* number of the save in its folder; 0: it has none */
} target;

/* Makes the description of SNAPSHOT: its notes, and container, name and kind of its entries. NAMES are the names of the
 * entries in the file. The caller frees the text. NULL: memory is out, or a name or a note is not UTF-8. */
static char *checkpoint_file_describe(const mst_snapshot *snapshot, const char *const *names, int64_t save) {
    json_t *entries = json_object(), *notes = json_object();
    int failed = 0;
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++) {
        const mst_state_info info = mst_snapshot_info(snapshot, i);
        json_t *entry = json_pack("[s, s, s]", info.container, info.name, mst_state_kind_name(info.kind));
        failed |= json_object_set_new(entries, names[i], entry);
    }
    const char *key;
    for (int64_t i = 0; (key = mst_snapshot_note_key(snapshot, i)); i++)
        failed |= json_object_set_new(notes, key, json_string(mst_snapshot_note(snapshot, key)));
    json_t *whole = json_pack("{s:i, s:o, s:o}", "version", (int)VERSION, "entries", entries, "notes", notes);
    if (save) failed |= json_object_set_new(whole, save_key, json_integer(save));
    char *text = failed ? NULL : json_dumps(whole, JSON_COMPACT);
    json_decref(whole);
    return text;
}

static mst_status add_number(mst_bundle_writer *writer, const char *key, double value) {
    mst_tensor *tensor;
    MST_TRY(mst_tensor_create(MST_F32, MST_SCALAR, &tensor));
    mst_tensor_set(tensor, 0, value);
    const mst_status status = mst_bundle_writer_add(writer, key, tensor);
    mst_tensor_release(tensor);
    return status;
}

/* TensorFlow's Adam stores beta^(t + 1) after t updates. Computes these powers from global_step. */
static mst_status add_powers(mst_bundle_writer *writer, const mst_snapshot *snapshot, const mst_optimizer *optimizer) {
    const mst_tensor *step = mst_snapshot_find(snapshot, NULL, MST_STATE_GLOBAL_STEP);
    const mst_rule *rule = optimizer ? mst_rule_find(optimizer->rule) : NULL;
    if (!rule || !rule->keeps_powers || !step) return MST_OK;
    const mst_optimizer full = mst_optimizer_named(optimizer->rule, *optimizer);
    const double t = (double)mst_accumulated_updates(&full, (int64_t)mst_tensor_get(step, 0)) + 1;
    if (!mst_snapshot_find(snapshot, NULL, "beta1_power"))
        MST_TRY(add_number(writer, "beta1_power", pow(fabs(full.beta_1), t)));
    if (mst_snapshot_find(snapshot, NULL, "beta2_power")) return MST_OK;
    return add_number(writer, "beta2_power", pow(fabs(full.beta_2), t));
}

/* Adds slots of zeros that the optimizers of TensorFlow 1 need. Muster's description does not list them, so Muster
 * skips them when it reads the file. */
static mst_status add_zero_slots(mst_bundle_writer *writer, const mst_snapshot *snapshot) {
    mst_arena arena = {0};
    mst_status status = MST_OK;
    for (int64_t i = 0; i < mst_snapshot_count(snapshot) && !status; i++) {
        const char *name = mst_checkpoint_zero_slot(&arena, snapshot, i);
        const mst_tensor *like = mst_snapshot_value(snapshot, i);
        mst_tensor *zeros;
        if (!name) status = MST_NO_MEMORY("for a checkpoint");
        if (!name || !*name) continue;
        status = mst_tensor_create(mst_tensor_dtype(like), mst_tensor_shape(like), &zeros);
        if (status) break;
        memset(mst_tensor_data(zeros), 0, mst_tensor_bytes(zeros));
        status = mst_bundle_writer_add(writer, name, zeros);
        mst_tensor_release(zeros);
    }
    mst_arena_free(&arena);
    return status;
}

static mst_status fill_bundle(mst_bundle_writer *writer, const mst_snapshot *snapshot, const char *const *names,
                              const char *description, const mst_optimizer *optimizer) {
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++)
        MST_TRY(mst_bundle_writer_add(writer, names[i], mst_snapshot_value(snapshot, i)));
    MST_TRY(mst_bundle_writer_add_string(writer, state_key, description, strlen(description)));
    MST_TRY(add_zero_slots(writer, snapshot));
    return add_powers(writer, snapshot, optimizer);
}

static mst_status write_bundle(const target *t, const mst_snapshot *snapshot, const char *const *names,
                               const char *description, const mst_optimizer *optimizer) {
    mst_bundle_writer *writer;
    MST_TRY(t->folder ? mst_bundle_writer_create_in(t->folder, t->path, &writer)
                      : mst_bundle_writer_create(t->path, &writer));
    const mst_status status = fill_bundle(writer, snapshot, names, description, optimizer);
    if (!status) return mst_bundle_writer_finish(writer);
    mst_bundle_writer_abandon(writer);
    return status;
}

static mst_status write_model(const char *path, const mst_snapshot *snapshot, const char *const *names,
                              const char *description) {
    const int64_t count = mst_snapshot_count(snapshot);
    mst_tensor *state = NULL;
    mst_named_tensor *tensors = calloc((size_t)count + 1, sizeof *tensors);
    if (!tensors) return MST_NO_MEMORY("to write '%s'", path);
    for (int64_t i = 0; i < count; i++)
        tensors[i] = (mst_named_tensor){.name = names[i], .tensor = mst_snapshot_value(snapshot, i)};
    mst_status status = MST_OK;
    if (mst_model_file_of(path) == MST_FILE_NPZ) {
        status = mst_tensor_copy(MST_U8, MST_SHAPE((int64_t)strlen(description)), description, &state);
        tensors[count] = (mst_named_tensor){.name = state_key, .tensor = state};
        if (!status) status = mst_npz_write(path, tensors, count + 1);
    } else {
        status = mst_safetensors_write(path, tensors, count, description);
    }
    mst_tensor_release(state);
    free(tensors);
    return status;
}

static mst_status write_target(const target *t, const mst_snapshot *snapshot, const mst_optimizer *optimizer) {
    mst_arena arena = {.block = NULL};
    const char *path = t->path;
    const int64_t count = mst_snapshot_count(snapshot);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    mst_status status = names ? MST_OK : MST_NO_MEMORY("to write '%s'", path);
    for (int64_t i = 0; i < count && !status; i++)
        if (!(names[i] = mst_checkpoint_file_name(&arena, snapshot, i))) status = MST_NO_MEMORY("to write '%s'", path);
    char *description = status ? NULL : checkpoint_file_describe(snapshot, names, t->save);
    if (!status && !description)
        status =
            MST_FAIL(MST_INVALID, "'%s' cannot be written: a name or note is not UTF-8, or there is no memory", path);
    if (!status)
        status = t->folder || mst_model_file_of(path) == MST_FILE_CHECKPOINT
                     ? write_bundle(t, snapshot, names, description, optimizer)
                     : write_model(path, snapshot, names, description);
    free(description);
    free(names);
    mst_arena_free(&arena);
    return status;
}

mst_status mst_checkpoint_write(const char *path, const mst_snapshot *snapshot, const mst_optimizer *optimizer) {
    if (MST_IS_NULL(path) || MST_IS_NULL(snapshot)) return MST_INVALID;
    return write_target(&(target){.path = path}, snapshot, optimizer);
}

mst_status mst_checkpoint_write_in(const mst_folder *folder, const char *name, const mst_snapshot *snapshot,
                                   const mst_optimizer *optimizer, int64_t save) {
    return write_target(&(target){.folder = folder, .path = name, .save = save}, snapshot, optimizer);
}

/* ---- reading ---- */

/* An open file of one of the three formats, and its description. */
typedef struct reader {
    const char *path;
    mst_model_file kind;
    mst_bundle *bundle;
    mst_safetensors *safetensors;
    mst_npz *npz;
    json_t *state; /* the description; NULL: the file has none */
    mst_arena arena;
} reader;

static bool reader_has(const void *file, const char *name) {
    const reader *r = file;
    if (r->kind == MST_FILE_CHECKPOINT) return mst_bundle_find(r->bundle, name) >= 0;
    return r->kind == MST_FILE_NPZ ? mst_npz_has(r->npz, name) : mst_safetensors_has(r->safetensors, name);
}

static int64_t reader_count(const reader *r) {
    if (r->kind == MST_FILE_CHECKPOINT) return mst_bundle_count(r->bundle);
    return r->kind == MST_FILE_NPZ ? mst_npz_num_arrays(r->npz) : mst_safetensors_count(r->safetensors);
}

/* The name of entry I. NULL: it is not an entry of a store. */
static const char *reader_name(const reader *r, int64_t i) {
    if (r->kind == MST_FILE_NPZ)
        return strcmp(mst_npz_name(r->npz, i), state_key) == 0 ? NULL : mst_npz_name(r->npz, i);
    if (r->kind == MST_FILE_SAFETENSORS) return mst_safetensors_name(r->safetensors, i);
    const mst_bundle_entry *e = mst_bundle_at(r->bundle, i);
    if (e->slice || strcmp(e->key, state_key) == 0 || strcmp(e->key, MST_BUNDLE_OBJECT_GRAPH) == 0) return NULL;
    const char *name = mst_bundle_object_name(r->bundle, i);
    return name ? name : e->key;
}

static mst_status reader_read(const reader *r, int64_t i, mst_tensor **out) {
    if (r->kind == MST_FILE_CHECKPOINT) return mst_bundle_read(r->bundle, i, out);
    if (r->kind == MST_FILE_SAFETENSORS) return mst_safetensors_read(r->safetensors, i, out);
    return mst_npz_read(r->npz, mst_npz_name(r->npz, i), out);
}

/* Reads the text of the description to *OUT, which the caller frees; NULL if the file has none. */
static mst_status read_description(const reader *r, char **out, size_t *size) {
    mst_tensor *state;
    *out = NULL;
    if (r->bundle) {
        const int64_t i = mst_bundle_find(r->bundle, state_key);
        return i < 0 ? MST_OK : mst_bundle_read_string(r->bundle, i, 0, out, size);
    }
    if (r->safetensors) {
        const char *text = mst_safetensors_metadata(r->safetensors, "muster");
        if (!text) return MST_OK;
        *size = strlen(text);
        return (*out = strdup(text)) ? MST_OK : MST_NO_MEMORY("to read '%s'", r->path);
    }
    if (!mst_npz_has(r->npz, state_key)) return MST_OK;
    MST_TRY(mst_npz_read(r->npz, state_key, &state));
    *size = mst_tensor_bytes(state);
    *out = strndup(mst_tensor_data(state), *size);
    mst_tensor_release(state);
    return *out ? MST_OK : MST_NO_MEMORY("to read '%s'", r->path);
}

static mst_status read_state(reader *r) {
    char *text;
    size_t size = 0;
    json_error_t error;
    MST_TRY(read_description(r, &text, &size));
    if (text) r->state = mst_json_read(text, strnlen(text, size), &error);
    const bool damaged = text && !r->state;
    free(text);
    return damaged ? MST_FAIL(MST_CORRUPT, "'%s': its description of the entries is damaged", r->path) : MST_OK;
}

static mst_status read_notes(const reader *r, mst_snapshot *snapshot) {
    json_t *notes = json_object_get(r->state, "notes"), *note;
    const char *key;
    json_object_foreach(notes, key, note) if (json_is_string(note))
        MST_TRY(mst_snapshot_set_note(snapshot, key, json_string_value(note)));
    return MST_OK;
}

static bool kind_of(const char *name, mst_state_kind *out) {
    for (int k = 0; name && k < MST_NUM_STATE_KINDS; k++)
        if (strcmp(mst_state_kind_names[k], name) == 0) {
            *out = (mst_state_kind)k;
            return true;
        }
    return false;
}

/* Finds the container, name and kind that entry NAME of the file has in a store. The name is "" if it is not an entry
 * of a store. */
static mst_status identify(reader *r, const char *name, const char **container, const char **store_name,
                           mst_state_kind *kind) {
    const json_t *entry = json_object_get(json_object_get(r->state, "entries"), name);
    *container = json_string_value(json_array_get(entry, 0));
    *store_name = json_string_value(json_array_get(entry, 1));
    if (*container && *store_name && kind_of(json_string_value(json_array_get(entry, 2)), kind)) return MST_OK;
    *container = *store_name = "";
    if (r->state) return MST_OK; /* an entry that only TensorFlow needs */
    *store_name = mst_checkpoint_store_name(&r->arena, name, reader_has, r, kind);
    return *store_name ? MST_OK : MST_NO_MEMORY("to read '%s'", r->path);
}

/* An entry of the file that is an entry of a store. */
typedef struct wanted {
    int64_t i; /* index in the file */
    const char *container, *name;
    mst_state_kind kind;
    mst_tensor *value;
} wanted;

typedef struct checkpoint_file_work {
    const reader *reader;
    wanted *entry;
} checkpoint_file_work;

static mst_status read_some(void *context, int64_t begin, int64_t end, int member) {
    const checkpoint_file_work *w = context;
    (void)member;
    for (int64_t k = begin; k < end; k++) MST_TRY(reader_read(w->reader, w->entry[k].i, &w->entry[k].value));
    return MST_OK;
}

/* Reads the tensors, and computes their checksums, with several threads. */
static mst_status checkpoint_file_read_all(const reader *r, wanted *entry, int64_t count) {
    checkpoint_file_work w = {.reader = r, .entry = entry};
    return mst_copy_parallel(INT64_MAX, count, read_some, &w);
}

/* Sets *OUT to true if entry I of a TensorFlow checkpoint has a dtype that a store cannot have. The entry is then
 * skipped, and its name is noted. */
static mst_status leave_out(const reader *r, int64_t i, const char *name, mst_snapshot *snapshot, bool *out) {
    char dtype[MST_BUNDLE_TYPE_TEXT];
    const mst_bundle_entry *e = r->kind == MST_FILE_CHECKPOINT ? mst_bundle_at(r->bundle, i) : NULL;
    *out = e && (e->type == MST_BUNDLE_STRING || !e->dtype);
    return *out ? mst_snapshot_leave_out(snapshot, name, mst_bundle_type_name(e->type, dtype)) : MST_OK;
}

/* Lists the entries of the file that are entries of a store. */
static mst_status identify_all(reader *r, mst_snapshot *snapshot, wanted *entry, int64_t *count) {
    for (int64_t i = 0; i < reader_count(r); i++) {
        const char *name = reader_name(r, i);
        wanted *e = &entry[*count];
        bool is_out;
        if (!name) continue;
        MST_TRY(leave_out(r, i, name, snapshot, &is_out));
        if (is_out) continue;
        e->i = i;
        MST_TRY(identify(r, name, &e->container, &e->name, &e->kind));
        *count += *e->name != '\0';
    }
    return MST_OK;
}

static mst_status add_entry(const reader *r, const wanted *e, mst_snapshot *snapshot) {
    const mst_status status = mst_snapshot_add(snapshot, e->container, e->name, e->kind, e->value);
    return status == MST_EXISTS ? MST_FAIL(MST_CORRUPT, "'%s': has two entries '%.200s'", r->path, e->name) : status;
}

static mst_status read_entries(reader *r, mst_snapshot *snapshot) {
    int64_t count = 0;
    wanted *entry = calloc((size_t)reader_count(r) + 1, sizeof *entry);
    if (!entry) return MST_NO_MEMORY("to read '%s'", r->path);
    mst_status status = identify_all(r, snapshot, entry, &count);
    if (!status) status = checkpoint_file_read_all(r, entry, count);
    for (int64_t k = 0; k < count; k++) {
        if (!status) status = add_entry(r, &entry[k], snapshot);
        mst_tensor_release(entry[k].value);
    }
    free(entry);
    return status;
}

static mst_status open_reader(reader *r) {
    switch (r->kind) {
        case MST_FILE_SAFETENSORS: MST_TRY(mst_safetensors_open(r->path, &r->safetensors)); break;
        case MST_FILE_NPZ: MST_TRY(mst_npz_open(r->path, &r->npz)); break;
        default: MST_TRY(mst_bundle_open(r->path, &r->bundle)); break;
    }
    return read_state(r);
}

static void close_reader(reader *r) {
    mst_bundle_close(r->bundle);
    mst_safetensors_close(r->safetensors);
    mst_npz_close(r->npz);
    json_decref(r->state);
    mst_arena_free(&r->arena);
}

mst_status mst_checkpoint_read(const char *path, mst_snapshot **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    reader r = {.path = path, .kind = mst_model_file_of(path)};
    *out = NULL;
    mst_snapshot *snapshot = NULL;
    mst_status status = open_reader(&r);
    if (!status) status = mst_snapshot_create(&snapshot);
    if (!status) status = read_entries(&r, snapshot);
    if (!status) status = read_notes(&r, snapshot);
    close_reader(&r);
    if (status)
        mst_snapshot_release(snapshot);
    else
        *out = snapshot;
    return status;
}

/* Reads entry I, if it is an i64. */
static mst_status checkpoint_file_read_number(reader *r, int64_t i, int64_t *out) {
    mst_tensor *value;
    MST_TRY(reader_read(r, i, &value));
    const bool is_number = mst_tensor_dtype(value) == MST_I64 && mst_tensor_count(value) == 1;
    if (is_number) memcpy(out, mst_tensor_data(value), sizeof *out);
    mst_tensor_release(value);
    return is_number ? MST_OK : MST_FAIL(MST_CORRUPT, "'%s': '%s' is no i64", r->path, reader_name(r, i));
}

mst_status mst_checkpoint_read_number(const char *path, const char *name, int64_t *out) {
    reader r = {.path = path, .kind = mst_model_file_of(path)};
    *out = 0;
    mst_status status = open_reader(&r);
    for (int64_t i = 0; !status && i < reader_count(&r); i++) {
        const char *container, *entry, *key = reader_name(&r, i);
        mst_state_kind kind;
        if (!key || strcmp(key, name) != 0) continue;
        status = identify(&r, key, &container, &entry, &kind);
        if (!status && !*container && strcmp(entry, name) == 0) status = checkpoint_file_read_number(&r, i, out);
    }
    close_reader(&r);
    return status;
}

mst_status mst_checkpoint_read_save(const char *path, int64_t *out) {
    reader r = {.path = path, .kind = MST_FILE_CHECKPOINT};
    const mst_status status = open_reader(&r);
    const json_int_t save = json_integer_value(json_object_get(r.state, save_key));
    *out = save > 0 ? save : 0;
    close_reader(&r);
    return status == MST_IO || status == MST_OUT_OF_MEMORY ? status : MST_OK;
}
