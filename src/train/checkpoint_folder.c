/* The checkpoints of a folder, and its state file, `checkpoint`. That file is a CheckpointState in protobuf's text
 * form; it lists the checkpoints by name, the newest last. checkpoint_file.h says in which order checkpoints are listed
 * that the state file does not name. Only the last part of a path in the state file is used, so a folder can be moved.
 * Source: tensorflow/python/checkpoint/checkpoint_management.py. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/number.h"
#include "train/checkpoint_file.h"

static const char state_name[] = "checkpoint", index_suffix[] = ".index";
static const char save_comment[] = "# save "; /* in the state file; the number of the last save follows */
enum { SUFFIX_SIZE = sizeof index_suffix - 1, STATE_MOST = 1 << 24 };

/* ---- lists ---- */

mst_status mst_checkpoint_list_add(mst_checkpoint_list *list, const mst_checkpoint_item *item) {
    MST_TRY(mst_grow(&list->item, sizeof *list->item, list->count + 1, &list->capacity));
    list->item[list->count] = *item;
    mst_checkpoint_item *added = &list->item[list->count];
    if (!(added->path = strdup(item->path))) return MST_NO_MEMORY("for a list of checkpoints");
    const char *slash = strrchr(added->path, '/');
    added->name = slash ? slash + 1 : added->path;
    list->count++;
    return MST_OK;
}

void mst_checkpoint_list_drop(mst_checkpoint_list *list, int64_t i) {
    free(list->item[i].path);
    memmove(&list->item[i], &list->item[i + 1], (size_t)(--list->count - i) * sizeof *list->item);
}

void mst_checkpoint_list_free(mst_checkpoint_list *list) {
    for (int64_t i = 0; i < list->count; i++) free(list->item[i].path);
    free(list->item);
    *list = (mst_checkpoint_list){.item = NULL};
}

/* Reads a number of at most 18 digits that ends at END. Returns the '-' before it; NULL if there is no such number. */
static const char *number_before(const char *begin, const char *end, int64_t *out) {
    const char *at = end;
    while (at > begin && isdigit((unsigned char)at[-1])) at--;
    if (at == end || end - at > 18 || at == begin || at[-1] != '-') return NULL;
    *out = strtoll(at, NULL, 10);
    return at - 1;
}

/* Reads the step in the name: "model.ckpt-1000" has step 1000, "model.ckpt-1000-2" is the third save of that step. */
static void read_step(mst_checkpoint_item *item) {
    const char *slash = strrchr(item->path, '/'), *name = slash ? slash + 1 : item->path;
    int64_t last, first;
    item->step = -1;
    item->copy = 0;
    const char *at = number_before(name, name + strlen(name), &last);
    if (!at) return;
    item->step = last;
    if (number_before(name, at, &first)) {
        item->step = first;
        item->copy = last;
    }
}

/* ---- the state file ---- */

/* Returns the string between quotes at TEXT, with its escapes replaced in place; NULL if there is none. */
static char *quoted(char *text) {
    while (*text == ' ' || *text == '\t') text++;
    const char quote = *text;
    if (quote != '"' && quote != '\'') return NULL;
    char *from = text + 1, *to = text + 1;
    while (*from && *from != quote) {
        if (*from == '\\' && from[1] >= '0' && from[1] <= '7') {
            int value = 0, digits = 0;
            for (from++; digits < 3 && *from >= '0' && *from <= '7'; digits++) value = value * 8 + (*from++ - '0');
            *to++ = (char)value;
            continue;
        }
        if (*from == '\\' && from[1]) from++;
        *to++ = *from++;
    }
    if (*from != quote) return NULL;
    *to = '\0';
    return text + 1;
}

/* The text after "NAME:" of LINE, or NULL. */
static char *field_of(char *line, const char *name) {
    while (*line == ' ') line++;
    const size_t size = strlen(name);
    return strncmp(line, name, size) == 0 && line[size] == ':' ? line + size + 1 : NULL;
}

/* Adds a path of the state file, unless the list has it already. Only the last part of the path is used, as the name of
 * a checkpoint of this folder: the folder may have been moved, and a file from elsewhere may name any path. */
static mst_status add_path(mst_checkpoint_list *list, const mst_folder *folder, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (!*name) return MST_OK;
    mst_checkpoint_item item = {.path = mst_folder_join(folder, name), .in_state = true};
    if (!item.path) return MST_NO_MEMORY("for a list of checkpoints");
    mst_status status = MST_OK;
    bool there = false;
    for (int64_t i = 0; i < list->count; i++) there |= strcmp(list->item[i].path, item.path) == 0;
    read_step(&item);
    if (!there) status = mst_checkpoint_list_add(list, &item);
    free(item.path);
    return status;
}

static double number_of(const char *text) {
    double value = 0;
    while (*text == ' ') text++;
    return mst_number_parse_f64(text, &value) ? value : 0;
}

static int64_t count_of(const char *text) {
    const double value = number_of(text);
    return value >= 1 && value < 1e15 ? (int64_t)value : 0;
}

/* Parses the state file. The newest checkpoint is the last of the list; it is added if the list lacks it. */
static mst_status parse_state(char *text, const mst_folder *folder, mst_checkpoint_list *list) {
    char *newest = NULL, *rest = NULL;
    int64_t timestamps = 0;
    for (char *line = strtok_r(text, "\n\r", &rest); line; line = strtok_r(NULL, "\n\r", &rest)) {
        char *value;
        if ((value = field_of(line, "all_model_checkpoint_paths")) && (value = quoted(value)))
            MST_TRY(add_path(list, folder, value));
        else if ((value = field_of(line, "model_checkpoint_path")))
            newest = quoted(value);
        else if ((value = field_of(line, "all_model_checkpoint_timestamps")) && timestamps < list->count)
            list->item[timestamps++].time = number_of(value);
        else if ((value = field_of(line, "last_preserved_timestamp")))
            list->last_preserved = number_of(value);
        else if (strncmp(line, save_comment, sizeof save_comment - 1) == 0)
            list->saves = count_of(line + sizeof save_comment - 1);
    }
    return newest ? add_path(list, folder, newest) : MST_OK;
}

/* Reads the state file, if there is one. *THERE: whether it exists. A file that is no state file is ignored. */
static mst_status read_state(const mst_folder *folder, mst_checkpoint_list *list, bool *there) {
    void *data;
    size_t size;
    char *path = mst_folder_join(folder, state_name);
    if (!path) return MST_NO_MEMORY("for a path");
    mst_status status = mst_file_read(path, STATE_MOST, &data, &size);
    free(path);
    *there = status == MST_OK;
    if (status) return status == MST_NOT_FOUND || status == MST_INVALID ? MST_OK : status;
    char *text = data; /* there is room for one more byte */
    text[size] = '\0';
    status = parse_state(text, folder, list);
    free(data);
    return status;
}

static mst_status add_quoted(char **text, const char *field, const char *name) {
    MST_TRY(mst_text_add(text, "%s: \"", field));
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        if (*c == '"' || *c == '\\')
            MST_TRY(mst_text_add(text, "\\%c", *c));
        else
            MST_TRY(mst_text_add(text, *c < ' ' ? "\\%03o" : "%c", *c));
    }
    return mst_text_add(text, "\"\n");
}

/* Writes the paths without the folder, so that the folder can be moved. */
static mst_status print_state(const mst_checkpoint_list *list, char **text) {
    char number[MST_NUMBER_TEXT];
    const mst_checkpoint_item *newest = NULL;
    for (int64_t i = 0; i < list->count; i++)
        if (list->item[i].in_state) newest = &list->item[i];
    if (!newest) return mst_text_add(text, "%s", "");
    MST_TRY(add_quoted(text, "model_checkpoint_path", newest->name));
    for (int64_t i = 0; i < list->count; i++)
        if (list->item[i].in_state) MST_TRY(add_quoted(text, "all_model_checkpoint_paths", list->item[i].name));
    for (int64_t i = 0; i < list->count; i++)
        if (list->item[i].in_state)
            MST_TRY(mst_text_add(text, "all_model_checkpoint_timestamps: %s\n",
                                 mst_number_print_f64(list->item[i].time, number)));
    MST_TRY(mst_text_add(text, "last_preserved_timestamp: %s\n", mst_number_print_f64(list->last_preserved, number)));
    return mst_text_add(text, "%s%lld\n", save_comment, (long long)list->saves);
}

mst_status mst_checkpoint_list_write(const mst_folder *folder, const mst_checkpoint_list *list) {
    char *text = NULL;
    mst_status status = print_state(list, &text);
    if (!status) status = mst_file_write_in(folder, state_name, text, strlen(text));
    free(text);
    return status;
}

/* ---- the folder ---- */

static int by_save(const void *a, const void *b) {
    const mst_checkpoint_item *x = a, *y = b;
    if (x->save != y->save) return x->save > y->save ? 1 : -1;
    if (x->step != y->step) return x->step > y->step ? 1 : -1;
    if (x->copy != y->copy) return x->copy > y->copy ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Adds the file NAME of FOLDER if it is the index of a checkpoint with a step, and KNOWN does not have that
 * checkpoint. */
static mst_status add_file(mst_checkpoint_list *list, const mst_checkpoint_list *known, const mst_folder *folder,
                           const char *name) {
    struct stat info;
    const size_t size = strlen(name);
    if (size <= SUFFIX_SIZE || strcmp(name + size - SUFFIX_SIZE, index_suffix) != 0) return MST_OK;
    char *path = mst_folder_join(folder, name);
    if (!path) return MST_NO_MEMORY("for a list of checkpoints");
    mst_checkpoint_item item = {.path = path};
    if (fstatat(folder->descriptor, name, &info, 0) == 0)
        item.time = (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
    path[strlen(path) - SUFFIX_SIZE] = '\0';
    read_step(&item);
    bool there = item.step < 0;
    for (int64_t i = 0; i < known->count; i++) there |= strcmp(known->item[i].path, path) == 0;
    mst_status status = there ? MST_OK : mst_checkpoint_read_save(path, &item.save);
    if (!status && !there) status = mst_checkpoint_list_add(list, &item);
    free(path);
    return status;
}

static mst_status read_folder(const mst_folder *folder, const mst_checkpoint_list *known, mst_checkpoint_list *out) {
    DIR *directory = mst_folder_list(folder);
    mst_status status = MST_OK;
    if (!directory) return MST_FAIL(MST_IO, "'%s': %s", folder->path, strerror(errno));
    for (const struct dirent *entry; !status;) {
        status = mst_folder_next(directory, folder->path, &entry);
        if (status || !entry) break;
        status = add_file(out, known, folder, entry->d_name);
    }
    closedir(directory);
    if (out->count) qsort(out->item, (size_t)out->count, sizeof *out->item, by_save);
    return status;
}

/* Merges STATE, the checkpoints of the state file, with OTHERS, which are only in the folder. LAST: save number of the
 * last one in the state file; 0: not known. */
static mst_status merge(const mst_checkpoint_list *state, const mst_checkpoint_list *others, int64_t last,
                        mst_checkpoint_list *out) {
    for (int64_t i = 0; i < others->count; i++)
        if (last == 0 || others->item[i].save <= last) MST_TRY(mst_checkpoint_list_add(out, &others->item[i]));
    for (int64_t i = 0; i < state->count; i++) MST_TRY(mst_checkpoint_list_add(out, &state->item[i]));
    for (int64_t i = 0; i < others->count; i++)
        if (last > 0 && others->item[i].save > last) {
            MST_TRY(mst_checkpoint_list_add(out, &others->item[i]));
            out->item[out->count - 1].in_state = true;
        }
    out->last_preserved = state->last_preserved;
    return MST_OK;
}

static int64_t last_save(const mst_checkpoint_list *list) {
    int64_t last = list->saves;
    for (int64_t i = 0; i < list->count; i++)
        if (list->item[i].save > last) last = list->item[i].save;
    return last;
}

/* If the state file does not have the number of the last save, reads the save numbers of its checkpoints from the
 * checkpoints. */
static mst_status read_saves(mst_checkpoint_list *state) {
    for (int64_t i = 0; state->saves == 0 && i < state->count; i++)
        MST_TRY(mst_checkpoint_read_save(state->item[i].path, &state->item[i].save));
    return MST_OK;
}

mst_status mst_checkpoint_list_read(const mst_folder *folder, mst_checkpoint_list *out) {
    mst_checkpoint_list state = {.item = NULL}, others = {.item = NULL};
    bool there;
    *out = (mst_checkpoint_list){.item = NULL};
    mst_status status = read_state(folder, &state, &there);
    if (!status) status = read_saves(&state);
    if (!status) status = read_folder(folder, &state, &others);
    if (!status) status = merge(&state, &others, state.saves, out);
    if (!status) out->saves = last_save(&state) > last_save(&others) ? last_save(&state) : last_save(&others);
    mst_checkpoint_list_free(&state);
    mst_checkpoint_list_free(&others);
    if (status) mst_checkpoint_list_free(out);
    return status;
}

/* ---- the newest ---- */

static mst_status has_index(const char *prefix, bool *out) {
    char *path;
    struct stat info;
    if (asprintf(&path, "%s%s", prefix, index_suffix) < 0) return MST_NO_MEMORY("for a path");
    *out = stat(path, &info) == 0;
    const mst_status status =
        *out || errno == ENOENT ? MST_OK : MST_FAIL(MST_IO, "'%s' cannot be read: %s", path, strerror(errno));
    free(path);
    return status;
}

mst_status mst_checkpoint_find_newest(const mst_folder *folder, char **path) {
    mst_checkpoint_list list;
    *path = NULL;
    mst_status status = mst_checkpoint_list_read(folder, &list);
    bool there = false;
    for (int64_t i = list.count - 1; i >= 0 && !there && !status; i--) {
        status = has_index(list.item[i].path, &there);
        if (there && !(*path = strdup(list.item[i].path))) status = MST_NO_MEMORY("for a path");
    }
    mst_checkpoint_list_free(&list);
    return status;
}

/* Whether a checkpoint whose reading fails with STATUS is skipped: yes if it is damaged, no if memory is out or a disk
 * fails. */
static bool is_damage(mst_status status) {
    return status == MST_CORRUPT || status == MST_NOT_FOUND || status == MST_INVALID || status == MST_UNIMPLEMENTED;
}

static mst_status read_newest(const mst_checkpoint_list *list, mst_snapshot **out, char **path, char **damaged) {
    mst_status status = MST_NOT_FOUND;
    for (int64_t i = list->count - 1; i >= 0; i--) {
        const char *prefix = list->item[i].path;
        bool there;
        MST_TRY(has_index(prefix, &there));
        if (!there) continue;
        status = mst_checkpoint_read(prefix, out);
        if (!status) {
            *path = strdup(prefix);
            return *path ? MST_OK : MST_NO_MEMORY("for a path");
        }
        if (!is_damage(status)) return status;
        char reason[1024];
        snprintf(reason, sizeof reason, "%s", mst_error()->message);
        MST_TRY(mst_text_add(damaged, "%s%s", *damaged && **damaged ? "; " : "", reason));
    }
    return status;
}

mst_status mst_checkpoint_read_latest(const mst_folder *folder, mst_snapshot **out, char **path, char **damaged) {
    mst_checkpoint_list list;
    *out = NULL;
    *path = NULL;
    *damaged = NULL;
    MST_TRY(mst_text_add(damaged, "%s", ""));
    mst_status status = mst_checkpoint_list_read(folder, &list);
    if (!status) status = read_newest(&list, out, path, damaged);
    mst_checkpoint_list_free(&list);
    if (status && is_damage(status))
        status =
            **damaged
                ? MST_FAIL(MST_CORRUPT, "'%s': no checkpoint can be read: %s", folder->path, *damaged)
                : MST_FAIL(
                      MST_NOT_FOUND,
                      "'%s': there is no checkpoint in it: give the folder that a training saved its checkpoints to",
                      folder->path);
    if (status) {
        mst_snapshot_release(*out);
        *out = NULL;
    }
    return status;
}
