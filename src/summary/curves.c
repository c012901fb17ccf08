/* The curves of a log: every folder with event files, at or below the given one, is a run. Each scalar tag of a run is
 * a series of points sorted by step.
 *
 * If training continued from an earlier step, older points of later steps are obsolete. So a new point removes points
 * of its own and later steps from its series. A start event, which has the step at which training was resumed, removes
 * points of this and later steps from all series of the run. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/argument.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "format/events.h"
#include "muster/summary.h"

enum { MOST_DEPTH = 16, MOST_LINKS = 1000 };

typedef struct series {
    char *run, *tag;
    int64_t count;
    int64_t *step;
    double *value, *wall_time;
    int64_t step_capacity, value_capacity, time_capacity;
} series;

struct mst_curves {
    series *series;
    int64_t count, capacity;
    int64_t num_files;
    int num_links; /* folders that were reached through links */
};

/* ---- points ---- */

/* Finds or makes the series of TAG in RUN, whose series begin at index FIRST; NULL if memory runs out. */
static series *curves_find(mst_curves *c, int64_t first, const char *run, const char *tag) {
    for (int64_t i = first; i < c->count; i++)
        if (strcmp(c->series[i].tag, tag) == 0) return &c->series[i];
    if (mst_grow(&c->series, sizeof *c->series, c->count + 1, &c->capacity)) return NULL;
    series *s = &c->series[c->count];
    *s = (series){.run = strdup(run), .tag = strdup(tag)};
    if (s->run && s->tag) {
        c->count++;
        return s;
    }
    free(s->run);
    free(s->tag);
    return NULL;
}

/* Removes the points of STEP and later. */
static void cut(series *s, int64_t step) {
    while (s->count > 0 && s->step[s->count - 1] >= step) s->count--;
}

static mst_status add_point(series *s, int64_t step, double value, double wall_time) {
    cut(s, step);
    MST_TRY(mst_grow(&s->step, sizeof *s->step, s->count + 1, &s->step_capacity));
    MST_TRY(mst_grow(&s->value, sizeof *s->value, s->count + 1, &s->value_capacity));
    MST_TRY(mst_grow(&s->wall_time, sizeof *s->wall_time, s->count + 1, &s->time_capacity));
    s->step[s->count] = step;
    s->value[s->count] = value;
    s->wall_time[s->count++] = wall_time;
    return MST_OK;
}

static bool is_start(const Muster__Event *event) {
    return event->what_case == MUSTER__EVENT__WHAT_SESSION_LOG &&
           event->session_log->status == MUSTER__SESSION_LOG__STATUS__START;
}

static mst_status add_event(mst_curves *c, int64_t first, const char *run, const Muster__Event *event) {
    if (is_start(event))
        for (int64_t i = first; i < c->count; i++) cut(&c->series[i], event->step);
    if (event->what_case != MUSTER__EVENT__WHAT_SUMMARY) return MST_OK;
    for (size_t i = 0; i < event->summary->n_value; i++) {
        double number;
        const Muster__Summary__Value *value = event->summary->value[i];
        if (!mst_event_scalar(value, &number)) continue;
        series *s = curves_find(c, first, run, value->tag);
        if (!s) return MST_NO_MEMORY("for a log");
        MST_TRY(add_point(s, event->step, number, event->wall_time));
    }
    return MST_OK;
}

/* ---- files and folders ---- */

static mst_status read_file(mst_curves *c, int64_t first, const char *run, const char *path) {
    mst_event_reader *reader;
    const Muster__Event *event;
    MST_TRY(mst_event_reader_open(path, &reader));
    mst_status status;
    while (!(status = mst_event_reader_next(reader, &event)) && event)
        if ((status = add_event(c, first, run, event))) break;
    mst_event_reader_close(reader);
    return status;
}

static mst_status read_files(mst_curves *c, const char *folder, const char *run) {
    char **files;
    const int64_t first = c->count;
    mst_status status = MST_OK;
    MST_TRY(mst_event_files_list(folder, &files));
    for (char **file = files; *file && !status; file++) {
        status = read_file(c, first, run, *file);
        c->num_files++;
    }
    mst_event_files_free(files);
    return status;
}

/* Limits the number of links that are followed: two links per level lead to 2^n folders n levels below. */
static mst_status count_link(mst_curves *c, const char *folder) {
    struct stat info;
    c->num_links += lstat(folder, &info) == 0 && S_ISLNK(info.st_mode);
    if (c->num_links <= MOST_LINKS) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "'%s': more than %d folders are read because links lead to them: take out links that lead to the "
                    "same folders",
                    folder, MOST_LINKS);
}

static mst_status read_folder(mst_curves *c, const char *folder, const char *run, int depth) {
    MST_TRY(count_link(c, folder));
    MST_TRY(read_files(c, folder, run));
    DIR *entries = depth < MOST_DEPTH ? opendir(folder) : NULL;
    mst_status status = MST_OK;
    for (struct dirent *entry; entries && !status && (entry = readdir(entries));) {
        char *path = NULL, *name = NULL;
        if (entry->d_name[0] == '.') continue;
        if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0) path = NULL;
        if (asprintf(&name, "%s%s%s", run, *run ? "/" : "", entry->d_name) < 0) name = NULL;
        if (!path || !name)
            status = MST_NO_MEMORY("for a log");
        else if (mst_is_folder(path))
            status = read_folder(c, path, name, depth + 1);
        free(path);
        free(name);
    }
    if (entries) closedir(entries);
    return status;
}

static int by_tag_and_run(const void *a, const void *b) {
    const series *x = a, *y = b;
    const int tags = strcmp(x->tag, y->tag);
    return tags ? tags : strcmp(x->run, y->run);
}

mst_status mst_curves_read(const char *folder, mst_curves **out) {
    if (MST_IS_NULL(folder) || MST_IS_NULL(out)) return MST_INVALID;
    mst_curves *c = *out = calloc(1, sizeof *c);
    if (!c) return MST_NO_MEMORY("for a log");
    mst_status status = read_folder(c, folder, "", 0);
    if (!status && c->num_files == 0)
        status = MST_FAIL(MST_NOT_FOUND, "'%s' %s: give the folder that --logdir wrote", folder,
                          mst_is_folder(folder) ? "has no event files" : "is no folder");
    if (c->count) qsort(c->series, (size_t)c->count, sizeof *c->series, by_tag_and_run);
    if (!status) return MST_OK;
    mst_curves_free(c);
    *out = NULL;
    return status;
}

void mst_curves_free(mst_curves *c) {
    for (int64_t i = 0; c && i < c->count; i++) {
        free(c->series[i].run);
        free(c->series[i].tag);
        free(c->series[i].step);
        free(c->series[i].value);
        free(c->series[i].wall_time);
    }
    if (c) free(c->series);
    free(c);
}

int64_t mst_curves_count(const mst_curves *curves) {
    if (MST_IS_NULL(curves)) return 0;
    return curves->count;
}

mst_curve mst_curves_get(const mst_curves *curves, int64_t i) {
    if (MST_IS_NULL(curves) || i < 0 || i >= curves->count) return (mst_curve){.run = "", .tag = ""};
    const series *s = &curves->series[i];
    return (mst_curve){
        .run = s->run, .tag = s->tag, .count = s->count, .step = s->step, .value = s->value, .wall_time = s->wall_time};
}
