/** What `muster doctor` has found: a row for each check, with what to do where it has found something. */
#ifndef MUSTER_CLI_DOCTOR_DOCTOR_REPORT_H
#define MUSTER_CLI_DOCTOR_DOCTOR_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "muster/status.h"

typedef enum doctor_state {
    DOCTOR_OK,
    DOCTOR_NOTE,   /**< good to know, and nothing wrong */
    DOCTOR_FINDING /**< must be mended */
} doctor_state;

typedef struct doctor_row {
    doctor_state state;
    char check[16];           /**< "port" */
    char task[64];            /**< "worker:1"; "all" */
    char text[600], fix[300]; /**< FIX: what to do; "" but of findings */
} doctor_row;

/** Zero-initialised is empty; freed by doctor_report_free. */
typedef struct doctor_report {
    doctor_row *row;
    int count, room, findings;
    bool failed; /**< there was no memory for a row */
} doctor_report;

/** Adds a row whose text is FORMAT. TASK and FIX are copied; FIX may be NULL. Control characters become '?'. */
void doctor_add(doctor_report *report, doctor_state state, const char *check, const char *task, const char *fix,
                const char *format, ...) __attribute__((format(printf, 6, 7)));
void doctor_report_free(doctor_report *report);

/** The rows as JSON, for another task; NULL where there is no memory. */
json_t *doctor_report_pack(const doctor_report *report);
/** Adds the rows that TASK has packed; what is none is left out. */
void doctor_report_unpack(doctor_report *report, const json_t *rows, const char *task);

/** Prints the rows, a line for each and one more for a fix; ALL: not findings alone. JSON: as objects. */
MST_CHECKED mst_status doctor_report_print(const doctor_report *report, bool all, bool json);

#endif
