#include "parameter_server/update_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/json_text.h"
#include "base/no_memory.h"
#include "cluster/fingerprint.h"
#include "parameter_server/batch_position.h"

char *mst_update_log_path(const char *folder, int32_t number) {
    char *path;
    return asprintf(&path, "%s/updates-ps-%d.jsonl", folder, (int)number) < 0 ? NULL : path;
}

static const char *const event_names[] = {"update", "dropped", "late"}; /* by mst_logged_event */

/* ---- writing ---- */

static mst_status cannot_write(const mst_update_writer *w) {
    return MST_FAIL(MST_IO, "'%s': the log of updates cannot be written: %s", w->path, strerror(errno));
}

/* Ends a line, and flushes it: the line must be in the file before workers get the values of the update. */
static mst_status end_line(mst_update_writer *w) {
    return putc('\n', w->file) == EOF || fflush(w->file) != 0 ? cannot_write(w) : MST_OK;
}

/* Ends a line that was cut off, so that the next one is whole. */
static void end_cut_line(mst_update_writer *w) {
    if (fseek(w->file, -1, SEEK_END) == 0 && getc(w->file) != '\n') {
        fseek(w->file, 0, SEEK_END);
        putc('\n', w->file);
    }
}

mst_status mst_update_writer_open(mst_update_writer *w, const char *folder, int32_t number, const json_t *head,
                                  bool adds) {
    mst_update_writer_close(w);
    MST_TRY(mst_folder_make(folder));
    if (!(w->path = mst_update_log_path(folder, number))) return MST_NO_MEMORY("for a log of updates");
    if (!(w->file = fopen(w->path, adds ? "a+e" : "we"))) return cannot_write(w);
    if (adds) end_cut_line(w);
    if (json_dumpf(head, w->file, JSON_COMPACT)) return cannot_write(w);
    return end_line(w);
}

mst_status mst_update_writer_add(mst_update_writer *w, const mst_logged_gradients *g) {
    if (!w->file) return MST_OK;
    fprintf(w->file, "{\"event\":\"%s\",\"step\":%lld,\"worker\":%d,\"epoch\":%lld,\"batch\":%lld,\"read\":%lld}",
            event_names[g->event], (long long)g->step, (int)g->worker, (long long)mst_epoch_of_position(g->position),
            (long long)mst_batch_of_position(g->position), (long long)g->read);
    return end_line(w);
}

mst_status mst_update_writer_add_again(mst_update_writer *w, int64_t step, int32_t worker) {
    if (!w->file) return MST_OK;
    fprintf(w->file, "{\"event\":\"again\",\"step\":%lld,\"worker\":%d}", (long long)step, (int)worker);
    return end_line(w);
}

void mst_update_writer_close(mst_update_writer *w) {
    if (w->file) fclose(w->file);
    free(w->path);
    *w = (mst_update_writer){0};
}

/* ---- the line of the job ---- */

#define SAME_JOB "replay it with the same number of tasks and the same options"

static mst_status tell_difference(const mst_update_log *log, const char *key, const json_t *logged,
                                  const json_t *here) {
    char *there = logged ? json_dumps(logged, JSON_COMPACT | JSON_ENCODE_ANY) : NULL,
         *own = json_dumps(here, JSON_COMPACT | JSON_ENCODE_ANY);
    const mst_status status =
        strcmp(mst_fingerprint_words(key), key) != 0
            ? MST_FAIL(MST_INVALID, "'%s': %s differs between the job that wrote it and this one: " SAME_JOB, log->path,
                       mst_fingerprint_words(key))
            : MST_FAIL(MST_INVALID,
                       "'%s': \"%s\" was %.100s in the job that wrote it, and is %.100s in this one: " SAME_JOB,
                       log->path, key, there ? there : "not known", own ? own : "another");
    free(there);
    free(own);
    return status;
}

static mst_status compare_heads(const mst_update_log *log, const json_t *line, const json_t *head) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)head, key, value) {
        const json_t *logged = json_object_get(line, key);
        if (!logged || !json_equal(logged, value)) return tell_difference(log, key, logged, value);
    }
    return MST_OK;
}

/* ---- reading ---- */

/* A file that is being read. */
typedef struct log_reader {
    mst_update_log *log;
    int64_t line; /* number of the line that is being read, from 1 */
    int64_t num_workers, first_step;
    int64_t room;  /* how many entries there is memory for */
    bool together; /* an update may use the gradients of several workers */
    int64_t *last; /* [num_workers]: index of the last entry of each worker; -1: none */
} log_reader;

static mst_status wrong_line(const log_reader *r, const char *why) {
    return MST_FAIL(MST_CORRUPT, "'%s', line %lld: %s: it is not a log of updates, or it was changed", r->log->path,
                    (long long)r->line, why);
}

static mst_status make_room_for_entry(log_reader *r) {
    mst_update_log *log = r->log;
    if (log->num_entries < r->room) return MST_OK;
    r->room = r->room ? 2 * r->room : 1024;
    mst_logged_gradients *entry = realloc(log->entry, (size_t)r->room * sizeof *entry);
    if (!entry) return MST_NO_MEMORY("for the log of updates '%s'", log->path);
    log->entry = entry;
    return MST_OK;
}

/* Whether gradients G make an update together with the entry before them. */
static bool joins_update(const log_reader *r, const mst_logged_gradients *g) {
    const mst_logged_gradients *before = r->log->num_entries ? &r->log->entry[r->log->num_entries - 1] : NULL;
    return r->together && before && before->event == MST_LOGGED_UPDATE && g->event == MST_LOGGED_UPDATE &&
           g->step == before->step && g->worker > before->worker;
}

/* Whether G may be the next entry. Steps rise by one; a worker computes from values that it has read after its last
 * update; and its batches are in order. */
static bool follows(const log_reader *r, const mst_logged_gradients *g) {
    const mst_update_log *log = r->log;
    const int64_t i = r->last[g->worker];
    const mst_logged_gradients *last = i >= 0 ? &log->entry[i] : NULL;
    const bool is_late = g->event == MST_LOGGED_LATE, is_update = g->event == MST_LOGGED_UPDATE;
    const bool no_late_before = log->num_in_order == log->num_entries;
    const int64_t oldest = last && last->event != MST_LOGGED_LATE ? last->step : r->first_step;
    return g->step == r->first_step + log->num_updates + (is_update && !joins_update(r, g)) &&
           (is_late || no_late_before) && (g->read >= oldest || (g->event == MST_LOGGED_DROPPED && g->read == -1)) &&
           g->read <= g->step - is_update &&
           (!last || g->position > last->position || (is_late && g->position == last->position));
}

static mst_status add_gradients(log_reader *r, const mst_logged_gradients *g) {
    mst_update_log *log = r->log;
    const bool is_next_step = g->event == MST_LOGGED_UPDATE && !joins_update(r, g);
    if (g->worker < 0 || g->worker >= r->num_workers || !follows(r, g))
        return wrong_line(r, "does not follow from the lines before it");
    if (r->last[g->worker] >= 0 && log->entry[r->last[g->worker]].position == g->position)
        return MST_OK; /* not a new entry: the gradients were dropped, sent again, and dropped again */
    MST_TRY(make_room_for_entry(r));
    log->num_updates += is_next_step;
    log->num_in_order += g->event != MST_LOGGED_LATE;
    log->entry[log->num_entries] = *g;
    *(r->last[g->worker] < 0 ? &log->first[g->worker] : &log->entry[r->last[g->worker]].later) = log->num_entries;
    r->last[g->worker] = log->num_entries++;
    return MST_OK;
}

static mst_status read_gradients_of(log_reader *r, json_t *line, mst_logged_event event) {
    json_int_t step, worker, epoch, batch, read;
    if (json_unpack(line, "{s:I, s:I, s:I, s:I, s:I}", "step", &step, "worker", &worker, "epoch", &epoch, "batch",
                    &batch, "read", &read) ||
        worker < 0 || worker > INT32_MAX || epoch < 0 || epoch > INT32_MAX || batch < 0 || batch > UINT32_MAX)
        return wrong_line(r, "its numbers are missing or wrong");
    return add_gradients(r, &(mst_logged_gradients){.step = step,
                                                    .position = mst_batch_position(epoch, batch),
                                                    .read = read,
                                                    .worker = (int32_t)worker,
                                                    .event = event,
                                                    .later = INT64_MAX});
}

static mst_status read_event(log_reader *r, json_t *line, const json_t *head) {
    const char *event = json_string_value(json_object_get(line, "event"));
    if (!event) return wrong_line(r, "has no event");
    if (r->line == 1)
        return strcmp(event, "begin") == 0 ? compare_heads(r->log, line, head) : wrong_line(r, "does not say 'begin'");
    for (int e = MST_LOGGED_UPDATE; e <= MST_LOGGED_LATE; e++)
        if (strcmp(event, event_names[e]) == 0) return read_gradients_of(r, line, (mst_logged_event)e);
    if (strcmp(event, "begin") != 0 && strcmp(event, "again") != 0) return wrong_line(r, "has an unknown event");
    return MST_FAIL(MST_INVALID,
                    "'%s', line %lld: a %s was lost and started again: only an undisturbed job can be replayed",
                    r->log->path, (long long)r->line, *event == 'b' ? "server" : "worker");
}

static mst_status read_lines(log_reader *r, const char *text, size_t size, const json_t *head) {
    const char *end;
    mst_status status = MST_OK;
    for (; !status && (end = memchr(text, '\n', size)); size -= (size_t)(end + 1 - text), text = end + 1) {
        json_error_t error;
        json_t *line = mst_json_read(text, (size_t)(end - text), &error);
        r->line++;
        status = line ? read_event(r, line, head) : wrong_line(r, "is no JSON");
        json_decref(line);
    }
    return status || r->line ? status : wrong_line(r, "there is none");
}

static mst_status read_log_text(log_reader *r, const char *text, size_t size, const json_t *head) {
    mst_update_log *log = r->log;
    r->first_step = json_integer_value(json_object_get(head, "step"));
    r->num_workers = json_integer_value(json_object_get(head, "workers"));
    r->together = json_object_get(head, "aggregate") != NULL;
    log->first = calloc((size_t)r->num_workers + 1, sizeof *log->first);
    r->last = calloc((size_t)r->num_workers + 1, sizeof *r->last);
    if (!log->first || !r->last) return MST_NO_MEMORY("for a log of updates");
    for (int64_t w = 0; w < r->num_workers; w++) log->first[w] = r->last[w] = -1;
    MST_TRY(read_lines(r, text, size, head));
    for (int64_t w = 0; w < r->num_workers; w++)
        *(r->last[w] < 0 ? &log->first[w] : &log->entry[r->last[w]].later) = log->num_entries;
    return MST_OK;
}

mst_status mst_update_log_read(const char *folder, int32_t number, const json_t *head, mst_update_log *out) {
    static const size_t MOST_BYTES = (size_t)1 << 36;
    log_reader r = {.log = out};
    void *text;
    size_t size;
    *out = (mst_update_log){.path = mst_update_log_path(folder, number)};
    if (!out->path) return MST_NO_MEMORY("for a log of updates");
    MST_TRY(mst_file_read(out->path, MOST_BYTES, &text, &size));
    const mst_status status = read_log_text(&r, text, size, head);
    free(r.last);
    free(text);
    return status;
}

void mst_update_log_free(mst_update_log *log) {
    free(log->path);
    free(log->entry);
    free(log->first);
    *log = (mst_update_log){0};
}
