#include "model_file/huggingface/huggingface.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "device/device.h"
#include "model/model.h"
#include "model_file/huggingface/huggingface_files.h"
#include "model_file/huggingface/tensors.h"
#include "model_file/huggingface/token_network.h"
#include "store/store.h"
#include "strategy/weight_copies.h"
#include "tensor/tensor_check.h"

/* The name of the note, in the model's store, with the config.json that the model was read from. When the model is
 * saved, keys of this text that Muster does not use are written back. */
static const char config_note[] = "muster/huggingface";

enum { SHOWN = 128, FULL_NAME = MST_HUGGINGFACE_NAME + 16 };

/* ---- names ---- */

static bool is_in(const char *path, const char *name) {
    struct stat info;
    char *full = malloc(strlen(path) + strlen(name) + 2);
    if (full) sprintf(full, "%s/%s", path, name);
    const bool found = full && stat(full, &info) == 0 && S_ISREG(info.st_mode);
    free(full);
    return found;
}

bool mst_huggingface_is(const char *path) {
    return path && mst_is_folder(path) && is_in(path, mst_huggingface_config_name);
}

bool mst_huggingface_is_named(const char *path) {
    const size_t length = path ? strlen(path) : 0;
    return length && (path[length - 1] == '/' || mst_huggingface_is(path));
}

bool mst_huggingface_has_tokenizer(const char *path) {
    static const char *const names[] = {"tokenizer.json", "vocab.json", "tokenizer.model", "spiece.model"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_in(path, names[i])) return true;
    return false;
}

/* The name of a tensor in a file. */
static const char *full_name(const mst_gpt_network *config, const mst_huggingface_tensor *t, bool has_prefix,
                             char name[FULL_NAME]) {
    const bool prefixed = has_prefix && !t->has_no_prefix;
    snprintf(name, FULL_NAME, "%s%s", prefixed ? mst_huggingface_prefix(config) : "", t->name);
    return name;
}

/* ---- reading ---- */

typedef struct weight_reader {
    const mst_gpt_network *config;
    const mst_huggingface_files *files;
    bool has_prefix;    /* names of tensors begin with the prefix: the files are of a model that predicts tokens */
    mst_tensor *tensor; /* read last; it may have further parts, which are other weights */
    mst_snapshot *snapshot;
} weight_reader;

/* Finds the tensor: number *I of file *FILE. Its name is written to NAME. */
static mst_status find_tensor(const weight_reader *r, const mst_huggingface_tensor *t, char name[FULL_NAME],
                              int64_t *file, int64_t *i) {
    MST_TRY(mst_huggingface_find(r->files, full_name(r->config, t, r->has_prefix, name), file, i));
    if (*file >= 0) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "its files have no tensor '%s', which config.json needs", name);
}

static mst_status read_tensor(weight_reader *r, const mst_huggingface_tensor *t) {
    char name[FULL_NAME], have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    int64_t file, i;
    mst_tensor_release(r->tensor);
    r->tensor = NULL;
    MST_TRY(find_tensor(r, t, name, &file, &i));
    const char *file_name = r->files->file_name[file];
    const mst_shape shape = mst_safetensors_shape(r->files->file[file], i), due = mst_huggingface_tensor_shape(t);
    if (!mst_shape_equal(shape, due))
        return MST_FAIL(MST_INVALID, "'%s': tensor '%s' is %s, config.json needs %s: the files are of two models",
                        file_name, name, mst_shape_print(shape, have, sizeof have),
                        mst_shape_print(due, want, sizeof want));
    return mst_safetensors_read_f32(r->files->file[file], i, &r->tensor);
}

static mst_status read_weight(weight_reader *r, const mst_huggingface_tensor *t) {
    mst_tensor *weight;
    if (t->part == 0) MST_TRY(read_tensor(r, t));
    MST_TRY(mst_tensor_create_untouched(MST_F32, t->shape, &weight));
    mst_huggingface_take(t, mst_tensor_data(r->tensor), mst_tensor_data(weight));
    const mst_status status = mst_snapshot_add(r->snapshot, NULL, t->weight, MST_STATE_WEIGHT, weight);
    mst_tensor_release(weight);
    return status;
}

static bool is_listed(const weight_reader *r, const mst_huggingface_tensor *list, int64_t count, const char *name) {
    char full[FULL_NAME];
    for (int64_t i = 0; i < count; i++)
        if (strcmp(full_name(r->config, &list[i], r->has_prefix, full), name) == 0) return true;
    return false;
}

/* MST_UNIMPLEMENTED if the files have tensors that are not in LIST: they describe another network. NUM_LISTED is the
 * number of tensors in LIST. */
static mst_status check_others(const weight_reader *r, const mst_huggingface_tensor *list, int64_t count,
                               int64_t num_listed) {
    const mst_huggingface_files *files = r->files;
    char shown[SHOWN];
    int64_t num_others = -num_listed;
    for (int64_t f = 0; f < files->num_files; f++)
        for (int64_t i = 0; i < mst_safetensors_count(files->file[f]); i++)
            num_others += !mst_huggingface_is_left_out(r->config, mst_safetensors_name(files->file[f], i));
    if (num_others == 0) return MST_OK;
    for (int64_t f = 0; f < files->num_files; f++)
        for (int64_t i = 0; i < mst_safetensors_count(files->file[f]); i++) {
            const char *name = mst_safetensors_name(files->file[f], i);
            if (mst_huggingface_is_left_out(r->config, name) || is_listed(r, list, count, name)) continue;
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "'%s': has tensor '%s', which this network does not have: GPT-2 and Llama that predict the "
                            "next token are read",
                            files->file_name[f], mst_escape_line(name, strlen(name), shown, sizeof shown));
        }
    return MST_OK;
}

static mst_status find_prefix(weight_reader *r, const mst_huggingface_tensor *first) {
    char name[FULL_NAME];
    int64_t file, i;
    MST_TRY(mst_huggingface_find(r->files, full_name(r->config, first, true, name), &file, &i));
    r->has_prefix = file >= 0;
    if (r->has_prefix) return MST_OK;
    MST_TRY(mst_huggingface_find(r->files, first->name, &file, &i));
    r->has_prefix = file < 0; /* neither is there: the error has the usual name */
    return MST_OK;
}

/* Fails if the machine has too little memory. The weights are in memory twice while they are set. */
static mst_status check_memory(const mst_huggingface_tensor *list, int64_t count) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t size;
        MST_TRY(mst_tensor_check(MST_F32, list[i].shape, &size));
        if (__builtin_add_overflow(bytes, 2 * size * (int64_t)sizeof(float), &bytes)) bytes = INT64_MAX;
    }
    return mst_host_check(bytes, "the weights of the model", "take a smaller model");
}

static mst_status read_list(weight_reader *r, const mst_huggingface_tensor *list, int64_t count) {
    int64_t num_listed = 0;
    MST_TRY(find_prefix(r, list));
    for (int64_t i = 0; i < count; i++) {
        char name[FULL_NAME];
        int64_t file, k;
        num_listed += list[i].part == 0;
        MST_TRY(find_tensor(r, &list[i], name, &file, &k));
    }
    MST_TRY(check_others(r, list, count, num_listed));
    MST_TRY(check_memory(list, count));
    for (int64_t i = 0; i < count; i++) MST_TRY(read_weight(r, &list[i]));
    return MST_OK;
}

/* Reads the weights of a network of CONFIG from the folder PATH into STORE. */
static mst_status read_weights(const char *path, const mst_gpt_network *config, mst_store *store) {
    mst_huggingface_files files;
    mst_huggingface_tensor *list = NULL;
    weight_reader reader = {.config = config, .files = &files};
    int64_t count = 0;
    mst_status status = mst_huggingface_open(path, &files);
    if (!status) status = mst_huggingface_tensors(config, &list, &count);
    if (!status) status = mst_snapshot_create(&reader.snapshot);
    if (!status) status = read_list(&reader, list, count);
    mst_tensor_release(reader.tensor);
    if (!status) status = mst_weight_copies_add(store, reader.snapshot);
    if (!status) status = mst_store_restore(store, reader.snapshot);
    mst_snapshot_release(reader.snapshot);
    mst_huggingface_close(&files);
    free(list);
    return status;
}

/* Such networks are trained with the loss of the next token. */
static mst_model_compiled loss_of_tokens(void) {
    return (mst_model_compiled){.has_loss = true, .loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY};
}

mst_status mst_huggingface_load(const char *path, bool network_only, mst_model *model, mst_model_compiled *compiled) {
    mst_gpt_network config;
    const int64_t most = MST_HUGGINGFACE_POSITIONS;
    char *text;
    MST_TRY(mst_huggingface_read_config(path, &config, &text));
    mst_status status = mst_huggingface_network_add(model, &config, config.positions < most ? config.positions : most);
    if (!status && !network_only) status = read_weights(path, &config, model->store);
    if (!status) status = mst_store_set_note(model->store, config_note, text); /* also if only the network is read */
    if (!status && compiled) *compiled = loss_of_tokens();
    free(text);
    return status;
}

mst_status mst_huggingface_load_weights(mst_model *model, const char *path) {
    mst_gpt_network config;
    MST_TRY(mst_huggingface_network_read(model, &config));
    return read_weights(path, &config, model->store);
}

/* ---- writing ---- */

mst_status mst_huggingface_check(const mst_model *model) {
    mst_gpt_network config;
    return mst_huggingface_network_read(model, &config);
}

/* The tensors of a file while they are made. */
typedef struct weight_writer {
    const mst_gpt_network *config;
    mst_named_tensor *named; /* [count] */
    char (*name)[FULL_NAME]; /* [count] */
    mst_tensor **tensor;     /* [count] */
    int64_t count;
} weight_writer;

/* Adds a new tensor for T, unless it is a further part of the one before. */
static mst_status begin_tensor(weight_writer *w, const mst_huggingface_tensor *t) {
    if (t->part) return MST_OK;
    const int64_t i = w->count;
    MST_TRY(mst_tensor_create_untouched(MST_F32, mst_huggingface_tensor_shape(t), &w->tensor[i]));
    full_name(w->config, t, true, w->name[i]);
    w->named[i] = (mst_named_tensor){w->name[i], w->tensor[i]};
    w->count++;
    return MST_OK;
}

static mst_status write_weight(weight_writer *w, const mst_huggingface_tensor *t, mst_store *store) {
    mst_tensor *weight;
    MST_TRY(begin_tensor(w, t));
    MST_TRY(mst_store_get(store, NULL, t->weight, &weight));
    mst_status status = MST_OK;
    if (mst_tensor_dtype(weight) != MST_F32 || !mst_shape_equal(mst_tensor_shape(weight), t->shape))
        status = MST_FAIL(MST_INVALID, "weight '%s' has another dtype or shape than its layer", t->weight);
    else
        mst_huggingface_give(t, mst_tensor_data(weight), mst_tensor_data(w->tensor[w->count - 1]));
    mst_tensor_release(weight);
    return status;
}

static mst_status collect_weights(weight_writer *w, mst_store *store) {
    mst_huggingface_tensor *list;
    int64_t count;
    MST_TRY(mst_huggingface_tensors(w->config, &list, &count));
    w->named = calloc((size_t)count, sizeof *w->named);
    w->name = calloc((size_t)count, sizeof *w->name);
    w->tensor = calloc((size_t)count, sizeof(mst_tensor *));
    mst_status status = w->named && w->name && w->tensor ? MST_OK : MST_NO_MEMORY("to write a model");
    for (int64_t i = 0; i < count && !status; i++) status = write_weight(w, &list[i], store);
    free(list);
    return status;
}

static void free_writer(weight_writer *w) {
    for (int64_t i = 0; i < w->count; i++) mst_tensor_release(w->tensor[i]);
    free(w->tensor);
    free(w->name);
    free(w->named);
}

/* MST_EXISTS if the folder has an index, which names other files with weights. */
static mst_status check_no_index(const mst_folder *folder, const char *path) {
    bool found;
    MST_TRY(mst_file_is_there(folder, mst_huggingface_index_name, &found));
    return found ? MST_FAIL(MST_EXISTS,
                            "'%s': has weights in several files (%s), beside which one file would be "
                            "another model: give a new folder",
                            path, mst_huggingface_index_name)
                 : MST_OK;
}

/* Both files are complete before one of them gets its name. The config is the last: a folder without it is no model. */
static mst_status write_files(const mst_folder *folder, const weight_writer *w, const char *config) {
    mst_file weights, text;
    MST_TRY(mst_file_create_in(folder, mst_huggingface_weights_name, &weights));
    mst_status status = mst_safetensors_append(&weights, w->named, w->count, "format", "pt");
    if (!status) status = mst_file_create_in(folder, mst_huggingface_config_name, &text);
    if (status) {
        mst_file_abandon(&weights);
        return status;
    }
    status = mst_file_append(&text, config, strlen(config));
    if (!status) status = mst_file_append(&text, "\n", 1);
    if (!status) status = mst_file_commit(&weights);
    if (!status) return mst_file_commit(&text);
    mst_file_abandon(&weights);
    mst_file_abandon(&text);
    return status;
}

/* Writes the files to FOLDER. If W is NULL, only checks that this is possible. */
static mst_status use_folder(const mst_folder *folder, const char *path, const weight_writer *w, const char *config) {
    mst_file file;
    MST_TRY(check_no_index(folder, path));
    if (w) return write_files(folder, w, config);
    MST_TRY(mst_file_create_in(folder, mst_huggingface_config_name, &file));
    mst_file_abandon(&file);
    return MST_OK;
}

/* A folder that was made here is removed after a failure, and after a check. */
static mst_status with_folder(const char *path, const weight_writer *w, const char *config) {
    const bool is_new = !mst_is_folder(path);
    mst_folder folder;
    MST_TRY(mst_folder_make(path));
    mst_status status = mst_folder_open(path, &folder);
    if (!status) {
        status = use_folder(&folder, path, w, config);
        mst_folder_close(&folder);
    }
    if (is_new && (status || !w)) rmdir(path); /* fails if it is not empty */
    return status;
}

mst_status mst_huggingface_check_folder(const char *path) {
    return with_folder(path, NULL, NULL);
}

/* The input of a Llama may have been made shorter than the number of positions in its config BASE. Then CONFIG gets the
 * number in BASE. */
static void keep_positions(const char *base, mst_gpt_network *config) {
    mst_gpt_network old;
    if (!base || !config->is_llama || mst_huggingface_config_parse("", base, strlen(base), &old)) return;
    if (old.is_llama && old.positions > config->positions) config->positions = old.positions;
}

static mst_status save(mst_model *model, const char *path, const char *base) {
    mst_gpt_network config;
    char *text = NULL;
    MST_TRY(mst_huggingface_network_read(model, &config));
    keep_positions(base, &config);
    weight_writer writer = {.config = &config};
    mst_status status = mst_huggingface_config_print(&config, base, &text);
    if (!status) status = collect_weights(&writer, model->store);
    if (!status) status = with_folder(path, &writer, text);
    free_writer(&writer);
    free(text);
    return status;
}

mst_status mst_huggingface_save(mst_model *model, const char *path) {
    char *base = NULL;
    if (mst_store_get_note(model->store, config_note, &base)) base = NULL;
    const mst_status status = save(model, path, base);
    free(base);
    return status;
}
