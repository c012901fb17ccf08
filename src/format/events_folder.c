/* Lists and filters the event files of a folder. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "format/events.h"
#include "format/tfrecord.h"

/* ---- list ---- */

static int is_event_file(const struct dirent *entry) {
    return strstr(entry->d_name, "tfevents") != NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

void mst_event_files_free(char **files) {
    for (char **file = files; file && *file; file++) free(*file);
    free(files);
}

mst_status mst_event_files_list(const char *folder, char ***out) {
    struct dirent **entry = NULL;
    *out = NULL;
    int count = scandir(folder, &entry, is_event_file, by_name);
    if (count < 0 && errno != ENOENT && errno != ENOTDIR)
        return MST_FAIL(MST_IO, "'%s' cannot be read: %s", folder, strerror(errno));
    if (count < 0) count = 0;
    char **files = calloc((size_t)count + 1, sizeof *files);
    bool complete = files != NULL;
    for (int i = 0; i < count; i++) {
        if (complete && asprintf(&files[i], "%s/%s", folder, entry[i]->d_name) < 0) {
            files[i] = NULL;
            complete = false;
        }
        free(entry[i]);
    }
    free(entry);
    *out = complete ? files : NULL;
    if (complete) return MST_OK;
    mst_event_files_free(files);
    return MST_NO_MEMORY("for the names of event files");
}

/* ---- filter ---- */

/* The records of a file that are kept, one after the other, framed as in the file. */
typedef struct kept {
    uint8_t *data;
    int64_t size, capacity;
} kept;

static mst_status keep(kept *k, const void *payload, size_t size) {
    MST_TRY(mst_grow(&k->data, 1, k->size + (int64_t)size + MST_TFRECORD_HEADER + MST_TFRECORD_FOOTER, &k->capacity));
    uint8_t *at = k->data + k->size;
    memcpy(at + MST_TFRECORD_HEADER, payload, size);
    mst_tfrecord_frame(payload, size, at, at + MST_TFRECORD_HEADER + size);
    k->size += (int64_t)size + MST_TFRECORD_HEADER + MST_TFRECORD_FOOTER;
    return MST_OK;
}

/* Whether to keep an event. FILTER decides on summaries, graphs and metadata of runs; other events are kept. A summary
 * of several values is kept only if FILTER keeps all of them. */
static bool wants(const Muster__Event *event, mst_event_filter filter, void *context) {
    if (event->what_case == MUSTER__EVENT__WHAT_TAGGED_RUN_METADATA)
        return filter(context, event->tagged_run_metadata->tag, event->step);
    if (event->what_case == MUSTER__EVENT__WHAT_GRAPH_DEF) return filter(context, MST_EVENT_GRAPH, event->step);
    if (event->what_case != MUSTER__EVENT__WHAT_SUMMARY) return true;
    for (size_t i = 0; i < event->summary->n_value; i++)
        if (!filter(context, event->summary->value[i]->tag, event->step)) return false;
    return true;
}

static mst_status filter_records(mst_event_reader *reader, mst_event_filter filter, void *context, kept *k,
                                 bool *changed) {
    const Muster__Event *event;
    for (;;) {
        MST_TRY(mst_event_reader_next(reader, &event));
        if (!event) break;
        size_t size;
        const void *payload = mst_event_reader_payload(reader, &size);
        if (wants(event, filter, context))
            MST_TRY(keep(k, payload, size));
        else
            *changed = true;
    }
    if (mst_event_reader_is_torn(reader)) *changed = true;
    return MST_OK;
}

static mst_status filter_file(const mst_folder *folder, const char *path, mst_event_filter filter, void *context) {
    mst_event_reader *reader;
    kept k = {0};
    bool changed = false;
    MST_TRY(mst_event_reader_open(path, &reader));
    mst_status status = filter_records(reader, filter, context, &k, &changed);
    mst_event_reader_close(reader);
    if (!status && changed) status = mst_file_write_in(folder, strrchr(path, '/') + 1, k.data, (size_t)k.size);
    free(k.data);
    return status;
}

mst_status mst_event_files_filter(const mst_folder *folder, mst_event_filter filter, void *context) {
    char **files;
    mst_status status = MST_OK;
    MST_TRY(mst_event_files_list(folder->path, &files));
    for (char **file = files; *file && !status; file++) status = filter_file(folder, *file, filter, context);
    mst_event_files_free(files);
    return status;
}
