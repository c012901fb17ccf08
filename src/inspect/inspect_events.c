/* Event files, and folders of logs. A run is a folder with event files; its name is its path below the inspected
 * folder. The files of a run are read in order. Each tag gets one row: its kind, the number of its values, the first
 * and the last step, and for a scalar the last value. Files that end within a record are counted as cut off. */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/no_memory.h"
#include "base/number.h"
#include "format/events.h"
#include "format/tfrecord.h"
#include "inspect/inspector.h"

enum { MOST_DEPTH = 16 };

/* The values of one tag in a run. */
typedef struct tag_row {
    char *run, *tag;
    const char *kind;           /* "scalar", ... */
    char plugin[32];            /* TensorBoard's plugin, which is stored only with the first value */
    int64_t count, first, last; /* number of values; the first and the last step */
    double value;               /* for a scalar: the last one */
} tag_row;

typedef struct log_summary {
    mst_report *report;
    tag_row *row;
    int64_t count, capacity, num_files, num_events, num_torn;
    int64_t begin; /* index of the first row of the current run */
} log_summary;

static bool is_event_file(const mst_inspect_source *s) {
    static const char version[] = "brain.Event:";
    uint64_t length;
    if (s->is_packed || s->size < MST_TFRECORD_HEADER || !mst_tfrecord_length(s->head, &length)) return false;
    const size_t end = length < s->size - MST_TFRECORD_HEADER ? (size_t)length + MST_TFRECORD_HEADER : s->size;
    for (size_t i = MST_TFRECORD_HEADER; i + sizeof version - 1 <= end && i < 64; i++)
        if (memcmp(s->head + i, version, sizeof version - 1) == 0) return true;
    return false;
}

static bool has_files(const char *folder, int depth) {
    char **files;
    if (mst_event_files_list(folder, &files)) return false;
    bool found = *files != NULL;
    mst_event_files_free(files);
    DIR *entries = !found && depth < MOST_DEPTH ? opendir(folder) : NULL;
    for (const struct dirent *entry; entries && !found && (entry = readdir(entries));) {
        char *path = NULL;
        struct stat info;
        if (entry->d_name[0] == '.' || asprintf(&path, "%s/%s", folder, entry->d_name) < 0) continue;
        found = lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && has_files(path, depth + 1);
        free(path);
    }
    if (entries) closedir(entries);
    return found;
}

static mst_inspect_match inspect_events_knows(const mst_inspect_source *s) {
    if (s->is_folder) return has_files(s->path, 0) ? MST_INSPECT_SURE : MST_INSPECT_NO;
    if (is_event_file(s)) return MST_INSPECT_SURE;
    return s->is_file && strstr(s->path, "tfevents") ? MST_INSPECT_POSSIBLE : MST_INSPECT_NO;
}

/* ---- values ---- */

static mst_status inspect_events_find(log_summary *l, const char *run, const char *tag, tag_row **out) {
    for (int64_t i = l->begin; i < l->count; i++)
        if (strcmp(l->row[i].tag, tag) == 0) {
            *out = &l->row[i];
            return MST_OK;
        }
    MST_TRY(mst_grow(&l->row, sizeof *l->row, l->count + 1, &l->capacity));
    tag_row *row = *out = &l->row[l->count];
    *row = (tag_row){.run = strdup(run), .tag = strdup(tag), .first = INT64_MAX, .last = INT64_MIN, .value = NAN};
    if (row->run && row->tag) {
        l->count++;
        return MST_OK;
    }
    free(row->run);
    free(row->tag);
    return MST_NO_MEMORY("for the tags of a log");
}

static mst_status inspect_events_add(log_summary *l, const char *run, const char *tag, const char *kind, int64_t step,
                                     tag_row **out) {
    MST_TRY(inspect_events_find(l, run, tag, out));
    tag_row *row = *out;
    row->kind = kind;
    row->count++;
    if (step < row->first) row->first = step;
    if (step > row->last) row->last = step;
    return MST_OK;
}

static mst_status add_value(log_summary *l, const char *run, const Muster__Summary__Value *value, int64_t step) {
    tag_row *row;
    double number;
    const bool is_scalar = mst_event_scalar(value, &number);
    const char *kind = is_scalar                                                   ? "scalar"
                       : value->value_case == MUSTER__SUMMARY__VALUE__VALUE_HISTO  ? "histogram"
                       : value->value_case == MUSTER__SUMMARY__VALUE__VALUE_TENSOR ? "tensor"
                                                                                   : "other";
    MST_TRY(inspect_events_add(l, run, value->tag, kind, step, &row));
    if (is_scalar) row->value = number;
    const Muster__SummaryMetadata__PluginData *plugin = value->metadata ? value->metadata->plugin_data : NULL;
    if (plugin && *plugin->plugin_name) snprintf(row->plugin, sizeof row->plugin, "%s", plugin->plugin_name);
    return MST_OK;
}

static mst_status add_event(log_summary *l, const char *run, const Muster__Event *event) {
    tag_row *row;
    l->num_events++;
    if (event->what_case == MUSTER__EVENT__WHAT_GRAPH_DEF)
        return inspect_events_add(l, run, MST_EVENT_GRAPH, "graph", event->step, &row);
    if (event->what_case == MUSTER__EVENT__WHAT_TAGGED_RUN_METADATA)
        return inspect_events_add(l, run, event->tagged_run_metadata->tag, "times of a step", event->step, &row);
    for (size_t i = 0; event->what_case == MUSTER__EVENT__WHAT_SUMMARY && i < event->summary->n_value; i++)
        MST_TRY(add_value(l, run, event->summary->value[i], event->step));
    return MST_OK;
}

/* ---- files ---- */

static mst_status read_file(log_summary *l, const char *run, const char *path) {
    mst_event_reader *reader;
    const Muster__Event *event;
    MST_TRY(mst_event_reader_open(path, &reader));
    mst_status status;
    while (!(status = mst_event_reader_next(reader, &event)) && event)
        if ((status = add_event(l, run, event))) break;
    if (!status && mst_event_reader_is_torn(reader)) l->num_torn++;
    mst_event_reader_close(reader);
    l->num_files++;
    return status;
}

static mst_status read_run(log_summary *l, const char *folder, const char *run, int depth);

static mst_status read_below(log_summary *l, const char *folder, const char *run, const char *name, int depth) {
    char *path = NULL, *inner = NULL;
    struct stat info;
    mst_status status = MST_OK;
    if (asprintf(&path, "%s/%s", folder, name) < 0) path = NULL;
    if (asprintf(&inner, "%s%s%s", run, *run ? "/" : "", name) < 0) inner = NULL;
    if (!path || !inner)
        status = MST_NO_MEMORY("for a log");
    else if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
        status = read_run(l, path, inner, depth + 1);
    free(path);
    free(inner);
    return status;
}

static mst_status read_run(log_summary *l, const char *folder, const char *run, int depth) {
    char **files;
    mst_status status;
    MST_TRY(mst_event_files_list(folder, &files));
    l->begin = l->count;
    for (char **file = files; *file; file++)
        if ((status = read_file(l, run, *file))) mst_report_damage(l->report, status);
    mst_event_files_free(files);
    struct dirent **entry = NULL;
    const int count = depth < MOST_DEPTH ? scandir(folder, &entry, NULL, alphasort) : 0;
    status = MST_OK;
    for (int i = 0; i < count; i++) {
        if (!status && entry[i]->d_name[0] != '.') status = read_below(l, folder, run, entry[i]->d_name, depth);
        free(entry[i]);
    }
    free(entry);
    return status;
}

/* ---- report ---- */

static const char *kind_of(const tag_row *row) {
    static const char *const kinds[][2] = {
        {"scalars", "scalar"},  {"histograms", "histogram"}, {"images", "images"},   {"text", "text"},
        {"hparams", "hparams"}, {"audio", "audio"},          {"pr_curves", "curve"}, {"mesh", "mesh"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(row->plugin, kinds[i][0]) == 0) return kinds[i][1];
    return row->kind;
}

static void print_row(mst_report *r, const tag_row *row) {
    char name[MST_REPORT_NAME], steps[64], last[48] = "";
    json_t *item = mst_report_item(r, "tags");
    const bool is_scalar = strcmp(row->kind, "scalar") == 0;
    mst_report_set(r, item, "run", mst_report_string(row->run, strlen(row->run)));
    mst_report_set(r, item, "tag", mst_report_string(row->tag, strlen(row->tag)));
    mst_report_set(r, item, "kind", json_string(kind_of(row)));
    mst_report_set(r, item, "points", json_integer(row->count));
    mst_report_set(r, item, "first_step", json_integer(row->first));
    mst_report_set(r, item, "last_step", json_integer(row->last));
    if (is_scalar) mst_report_set(r, item, "last_value", mst_report_number(row->value));
    if (row->first == row->last)
        snprintf(steps, sizeof steps, "step %" PRId64, row->first);
    else
        snprintf(steps, sizeof steps, "steps %" PRId64 " to %" PRId64, row->first, row->last);
    if (is_scalar) mst_format(last, sizeof last, ", last value %.6g", row->value);
    mst_report_line(r, "%-24s %-9s  %" PRId64 " point%s, %s%s", mst_report_name(row->tag, strlen(row->tag), name),
                    kind_of(row), row->count, row->count == 1 ? "" : "s", steps, last);
}

static void print_log(mst_report *r, const log_summary *l, bool is_folder) {
    char name[MST_REPORT_NAME];
    if (is_folder)
        mst_report_title(r, "log folder", "%" PRId64 " event file%s, %" PRId64 " events", l->num_files,
                         l->num_files == 1 ? "" : "s", l->num_events);
    else
        mst_report_title(r, "event file", "%" PRId64 " events", l->num_events);
    mst_report_set(r, NULL, "files", json_integer(l->num_files));
    mst_report_set(r, NULL, "events", json_integer(l->num_events));
    mst_report_set(r, NULL, "torn", json_integer(l->num_torn));
    for (int64_t i = 0; i < l->count; i++) {
        const tag_row *row = &l->row[i];
        if (*row->run && (i == 0 || strcmp(row->run, l->row[i - 1].run) != 0))
            mst_report_line(r, "run %s", mst_report_name(row->run, strlen(row->run), name));
        print_row(r, row);
    }
    if (l->num_torn && !is_folder)
        mst_report_line(r, "ends in the middle of a record: it is still written, or its writer was killed");
    else if (l->num_torn)
        mst_report_line(r,
                        "%" PRId64
                        " of the files end in the middle of a record: still written, or the writer was "
                        "killed",
                        l->num_torn);
}

static mst_status inspect_events_print(const mst_inspect_source *source, mst_report *report) {
    log_summary l = {.report = report};
    const mst_status status = source->is_folder ? read_run(&l, source->path, "", 0) : read_file(&l, "", source->path);
    if (status) mst_report_damage(report, status);
    print_log(report, &l, source->is_folder);
    for (int64_t i = 0; i < l.count; i++) {
        free(l.row[i].run);
        free(l.row[i].tag);
    }
    free(l.row);
    return MST_OK;
}

const mst_inspector mst_inspector_events = {
    .name = "event files", .knows = inspect_events_knows, .print = inspect_events_print};
