/* A checkpoint, given by its prefix or by one of its files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "format/bundle.h"
#include "inspect/inspector.h"

enum { NOTE_SIZE = MST_REPORT_NAME + 64, MOST_SHOWN = 60 };
static const char index_suffix[] = ".index";

bool mst_checkpoint_is_there(const char *prefix) {
    char *path;
    if (asprintf(&path, "%s%s", prefix, index_suffix) < 0) return false;
    const bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* The prefix of the checkpoint to which PATH may belong: PATH without the suffix of an index or data file, if it has
 * one. The caller frees it. */
static char *prefix_of(const char *path) {
    const size_t size = strlen(path), suffix = sizeof index_suffix - 1;
    const char *data = strstr(path, ".data-");
    for (const char *next; data && (next = strstr(data + 1, ".data-"));) data = next;
    if (size > suffix && strcmp(path + size - suffix, index_suffix) == 0) return strndup(path, size - suffix);
    return data ? strndup(path, (size_t)(data - path)) : strdup(path);
}

/* Whether PATH ends with the magic number in the footer of a table. Data files have none, and are known by their
 * name. */
static bool has_magic(const char *path) {
    static const uint8_t magic[8] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
    uint8_t end[8] = {0};
    FILE *file = fopen(path, "rb");
    const bool read = file && fseek(file, -8, SEEK_END) == 0 && fread(end, 1, 8, file) == 8;
    if (file) fclose(file);
    return read && memcmp(end, magic, sizeof magic) == 0;
}

static mst_inspect_match inspect_checkpoint_knows(const mst_inspect_source *s) {
    if (s->is_folder) return MST_INSPECT_NO;
    if (s->is_file && has_magic(s->path)) return MST_INSPECT_SURE;
    char *prefix = prefix_of(s->path);
    const bool there = prefix && strlen(prefix) && mst_checkpoint_is_there(prefix);
    const bool by_name = prefix && strcmp(prefix, s->path) != 0;
    free(prefix);
    return !there ? MST_INSPECT_NO : !s->is_file ? MST_INSPECT_SURE : by_name ? MST_INSPECT_LIKELY : MST_INSPECT_NO;
}

/* ---- tensors ---- */

static json_t *print_other(mst_report *r, const mst_bundle_entry *e, const char *dtype, const char *note) {
    char name[MST_REPORT_NAME], shape[MST_SHAPE_TEXT];
    json_t *item = mst_report_item(r, "tensors");
    mst_report_set(r, item, "name", mst_report_string(e->key, e->key_size));
    mst_report_set(r, item, "dtype", json_string(dtype));
    mst_report_set(r, item, "shape", mst_report_shape(e->shape));
    mst_report_line(r, "%-24s %s %s%s", mst_report_name(e->key, e->key_size, name), dtype,
                    mst_shape_print(e->shape, shape, sizeof shape), note);
    return item;
}

/* Prints a tensor of strings. It reads only the first string, which also checks the checksum of all strings. */
static mst_status print_strings(mst_report *r, const mst_bundle *b, int64_t i, bool list) {
    char note[NOTE_SIZE], shown[MST_REPORT_NAME], *text = NULL;
    size_t size = 0;
    const mst_bundle_entry *e = mst_bundle_at(b, i);
    if (mst_shape_count(e->shape) > 0) MST_TRY(mst_bundle_read_string(b, i, 0, &text, &size));
    const bool graph = strcmp(e->key, MST_BUNDLE_OBJECT_GRAPH) == 0;
    if (graph)
        snprintf(note, sizeof note, "  %zu bytes", size);
    else
        snprintf(note, sizeof note, "  '%s%s'%s",
                 mst_report_name(text ? text : "", size < MOST_SHOWN ? size : MOST_SHOWN, shown),
                 size > MOST_SHOWN ? "..." : "", mst_shape_count(e->shape) > 1 ? ", ..." : "");
    json_t *item = list ? print_other(r, e, "string", note) : NULL;
    if (item && !graph) mst_report_set(r, item, "first", mst_report_string(text ? text : "", size));
    free(text);
    return MST_OK;
}

static mst_status print_tensor(mst_report *r, const mst_bundle *b, int64_t i, bool list) {
    char slices[48] = "", note[NOTE_SIZE], shown[MST_REPORT_NAME];
    mst_tensor *tensor;
    const mst_bundle_entry *e = mst_bundle_at(b, i);
    const char *object = mst_bundle_object_name(b, i);
    const int64_t count = e->sliced ? mst_bundle_num_slices(b, i) : 0;
    MST_TRY(mst_bundle_read(b, i, &tensor));
    if (e->sliced) snprintf(slices, sizeof slices, ", in %lld slices", (long long)count);
    snprintf(note, sizeof note, "%s%s%s", slices, object ? "  = " : "",
             object ? mst_report_name(object, strlen(object), shown) : "");
    if (list) {
        json_t *item = mst_report_tensor(r, e->key, tensor, note);
        if (object) mst_report_set(r, item, "object", mst_report_string(object, strlen(object)));
        if (e->sliced) mst_report_set(r, item, "slices", json_integer(count));
    }
    mst_tensor_release(tensor);
    return MST_OK;
}

static mst_status print_entry(mst_report *r, const mst_bundle *b, int64_t i, bool list) {
    const mst_bundle_entry *e = mst_bundle_at(b, i);
    char dtype[MST_BUNDLE_TYPE_TEXT];
    if (e->slice) return MST_OK; /* slices are read with their variable */
    if (e->type == MST_BUNDLE_STRING) return print_strings(r, b, i, list);
    if (e->dtype) return print_tensor(r, b, i, list);
    if (list) print_other(r, e, mst_bundle_type_name(e->type, dtype), ", which is not read here");
    return MST_OK;
}

mst_status mst_report_checkpoint(mst_report *report, const char *prefix, bool list) {
    mst_bundle *b;
    int64_t tensors = 0;
    const mst_status opened = mst_bundle_open(prefix, &b);
    for (int64_t i = 0; !opened && i < mst_bundle_count(b); i++) tensors += !mst_bundle_at(b, i)->slice;
    const int64_t files = opened ? 0 : mst_bundle_num_shards(b);
    if (list) {
        mst_report_title(report, "checkpoint", "%lld tensor%s in %lld data file%s", (long long)tensors,
                         tensors == 1 ? "" : "s", (long long)files, files == 1 ? "" : "s");
        mst_report_set(report, NULL, "prefix", mst_report_string(prefix, strlen(prefix)));
        mst_report_set(report, NULL, "data_files", json_integer(files));
    }
    MST_TRY(opened);
    for (int64_t i = 0; i < mst_bundle_count(b); i++) {
        const mst_status status = print_entry(report, b, i, list);
        if (status) mst_report_damage(report, status);
    }
    mst_bundle_close(b);
    return MST_OK;
}

static mst_status inspect_checkpoint_print(const mst_inspect_source *source, mst_report *report) {
    char *prefix = prefix_of(source->path);
    if (!prefix) return MST_NO_MEMORY("for looking at '%s'", source->path);
    const mst_status status = mst_report_checkpoint(report, prefix, true);
    free(prefix);
    return status;
}

const mst_inspector mst_inspector_checkpoint = {.name = "checkpoint",
                                                .suffixes = index_suffix,
                                                .knows = inspect_checkpoint_knows,
                                                .print = inspect_checkpoint_print};
