/** The results of `muster doctor`: rows for each check, and with each finding what to do about it. */
#ifndef MUSTER_CLI_DOCTOR_DOCTOR_REPORT_H
#define MUSTER_CLI_DOCTOR_DOCTOR_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "muster/status.h"

typedef enum doctor_state {
    DOCTOR_OK,
    DOCTOR_NOTE,   /**< good to know, and nothing wrong */
    DOCTOR_FINDING /**< must be fixed */
} doctor_state;

typedef struct doctor_row {
    doctor_state state;
    char check[16];           /**< "port" */
    char task[64];            /**< "worker:1"; "all" */
    char text[600], fix[300]; /**< fix: what to do about a finding; "" for rows that are not findings */
} doctor_row;

/** A report is empty if zero-initialised; free it with doctor_report_free. */
typedef struct doctor_report {
    doctor_row *row;
    int count, findings;
    int room;    /**< how many rows there is memory for */
    bool failed; /**< there was no memory for a row */
} doctor_report;

enum { DOCTOR_TIME = 32 };
/** Writes SECONDS as "28 us", "3.25 ms" or "12 s" to TEXT, and returns TEXT. */
const char *doctor_time(double seconds, char text[DOCTOR_TIME]);

/** Adds a row whose text is FORMAT. TASK and FIX are copied; FIX may be NULL. Control characters become '?'. */
void doctor_add(doctor_report *report, doctor_state state, const char *check, const char *task, const char *fix,
                const char *format, ...) __attribute__((format(printf, 6, 7)));
void doctor_report_free(doctor_report *report);

/** The rows as JSON, for another task; NULL if memory is out. */
json_t *doctor_report_pack(const doctor_report *report);
/** Adds the rows that TASK has packed. Values that are not rows are skipped. */
void doctor_report_unpack(doctor_report *report, const json_t *rows, const char *task);

/** Prints one line per row and one more for its fix. ALL: prints all rows, not only the findings. JSON: prints the rows
 *  as objects. */
MST_CHECKED mst_status doctor_report_print(const doctor_report *report, bool all, bool json);

#endif
