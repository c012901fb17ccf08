#include "cli/doctor/doctor_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/json_events.h"

enum { MOST_ROWS_OF_A_TASK = 100 };
static const char *const states[] = {"ok", "note", "finding"};

static doctor_row *next_row(doctor_report *report) {
    if (report->count == report->room) {
        const int room = report->room ? 2 * report->room : 32;
        doctor_row *bigger = realloc(report->row, (size_t)room * sizeof *bigger);
        report->failed |= !bigger;
        if (!bigger) return NULL;
        report->row = bigger;
        report->room = room;
    }
    return memset(&report->row[report->count++], 0, sizeof *report->row);
}

const char *doctor_time(double seconds, char text[DOCTOR_TIME]) {
    static const char *const unit[] = {"us", "ms", "s"};
    static const double most = 999.5; /* %.3g writes more than that as 1e+03 */
    double value = 1e6 * seconds;
    int i = 0;
    for (; value >= most && i < 2; i++) value /= 1000;
    snprintf(text, DOCTOR_TIME, value < most ? "%.3g %s" : "%.0f %s", value, unit[i]);
    return text;
}

void doctor_add(doctor_report *report, doctor_state state, const char *check, const char *task, const char *fix,
                const char *format, ...) {
    doctor_row *row = next_row(report);
    if (!row) return;
    row->state = state;
    report->findings += state == DOCTOR_FINDING;
    snprintf(row->check, sizeof row->check, "%s", check);
    snprintf(row->task, sizeof row->task, "%s", task);
    snprintf(row->fix, sizeof row->fix, "%s", fix ? fix : "");
    va_list list;
    va_start(list, format);
    vsnprintf(row->text, sizeof row->text, format, list);
    va_end(list);
    mst_make_plain(row->check); /* texts come from other machines */
    mst_make_plain(row->task);
    mst_make_plain(row->fix);
    mst_make_plain(row->text);
}

void doctor_report_free(doctor_report *report) {
    free(report->row);
    *report = (doctor_report){.row = NULL};
}

/* ---- between tasks ---- */

static json_t *pack_row(const doctor_row *row, const char *event) {
    json_t *object = event ? json_event(event) : json_object();
    json_add(&object, "", "check", json_text(row->check));
    json_add(&object, "", "task", json_text(row->task));
    json_add(&object, "", "state", json_string(states[row->state]));
    json_add(&object, "", "text", json_text(row->text));
    if (*row->fix) json_add(&object, "", "fix", json_text(row->fix));
    return object;
}

json_t *doctor_report_pack(const doctor_report *report) {
    json_t *rows = json_array();
    for (int i = 0; rows && i < report->count; i++) {
        if (json_array_append_new(rows, pack_row(&report->row[i], NULL)) == 0) continue;
        json_decref(rows);
        return NULL;
    }
    return rows;
}

void doctor_report_unpack(doctor_report *report, const json_t *rows, const char *task) {
    for (size_t i = 0; i < json_array_size(rows) && i < MOST_ROWS_OF_A_TASK; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *check = json_string_value(json_object_get(row, "check"));
        const char *state = json_string_value(json_object_get(row, "state"));
        const char *text = json_string_value(json_object_get(row, "text"));
        if (!check || !state || !text) continue;
        int known = DOCTOR_FINDING;
        while (known > 0 && strcmp(state, states[known]) != 0) known--;
        doctor_add(report, (doctor_state)known, check, task, json_string_value(json_object_get(row, "fix")), "%s",
                   text);
    }
}

/* ---- the screen ---- */

mst_status doctor_report_print(const doctor_report *report, bool all, bool json) {
    for (int i = 0; i < report->count; i++) {
        const doctor_row *row = &report->row[i];
        if (!all && row->state != DOCTOR_FINDING) continue;
        if (json) {
            MST_TRY(json_write(pack_row(row, "check")));
            continue;
        }
        printf("%-8s %-11s %-12s %s\n", states[row->state], row->check, row->task, row->text);
        if (*row->fix) printf("%-8s %-11s %-12s fix: %s\n", "", "", "", row->fix);
    }
    return json ? MST_OK : json_check_output();
}
