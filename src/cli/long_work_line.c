#include "cli/long_work_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/byte_count.h"
#include "base/long_work.h"

static bool shows;

static void print_count(const mst_long_work *work, uint64_t count, char text[MST_BYTES_TEXT]) {
    if (work->unit)
        snprintf(text, MST_BYTES_TEXT, "%" PRIu64, count);
    else
        mst_bytes_print((int64_t)count, text, MST_BYTES_TEXT);
}

static void show_work(void *context, const mst_long_work *work, bool ended) {
    const bool terminal = isatty(STDERR_FILENO);
    bool *is_told = context;
    char done[MST_BYTES_TEXT], total[MST_BYTES_TEXT + sizeof " of "] = "";
    if (ended) *is_told = false;
    if (ended && terminal) fputs("\r\033[K", stderr);
    if (ended || (!terminal && *is_told)) return;
    *is_told = true;
    print_count(work, work->done, done);
    if (work->total) {
        strcpy(total, " of ");
        print_count(work, work->total, total + strlen(total));
    }
    fprintf(stderr, "%s%s '%s': %s%s%s%s%s", terminal ? "\r" : "", work->verb, work->path, done, total,
            work->unit ? " " : "", work->unit ? work->unit : "", terminal ? "\033[K" : "\n");
    fflush(stderr);
}

/* Whether the option NAME is a flag that is set, or the choice WORD. */
static bool option_says(const option_list *list, const void *values, const char *name, const char *word) {
    for (int i = 0; i < list->count; i++) {
        const option *o = &list->entry[i].option;
        const char *at = (const char *)values + o->offset;
        if (strcmp(o->name, name) != 0 || list->entry[i].common) continue;
        if (o->type == OPTION_FLAG) return *(const bool *)at;
        return o->type == OPTION_CHOICE && o->choices && strcmp(o->choices[*(const int *)(const void *)at], word) == 0;
    }
    return false;
}

void long_work_line_resume(void) {
    static bool is_told;
    if (shows) mst_long_work_watch(show_work, &is_told);
}

void long_work_line_pause(void) {
    mst_long_work_watch(NULL, NULL);
}

void long_work_line_show(const option_list *list, const void *values) {
    shows = !option_says(list, values, "json", "") && !option_says(list, values, "progress", "none");
    long_work_line_resume();
}
