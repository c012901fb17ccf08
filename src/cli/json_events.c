#include "cli/json_events.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/no_memory.h"
#include "cli/signals.h"

enum { DIGITS = 10 }; /* significant digits of a number */

json_t *json_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_text(const char *text) {
    static const char replacement[] = "\xEF\xBF\xBD";
    json_t *string = json_string(text);
    char *copy = string ? NULL : malloc(strlen(text) * (sizeof replacement - 1) + 1), *end = copy;
    if (!copy) return string;
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x80)
            *end++ = *c;
        else
            end = stpcpy(end, replacement);
    }
    *end = '\0';
    string = json_string(copy);
    free(copy);
    return string;
}

void json_add(json_t **object, const char *prefix, const char *name, json_t *member) {
    char key[128];
    snprintf(key, sizeof key, "%s%s", prefix, name);
    if (json_object_set_new(*object, key, member) == 0) return;
    json_decref(*object);
    *object = NULL;
}

void json_add_measured(json_t **event, const char *prefix, double loss, const char *const *metric_name,
                       const double *metric, int count) {
    json_add(event, prefix, "loss", json_number(loss));
    for (int m = 0; m < count; m++) json_add(event, prefix, metric_name[m], json_number(metric[m]));
}

json_t *json_rate(double rate) {
    return rate > 0 ? json_number(rate) : json_null();
}

json_t *json_step(int64_t step) {
    return step ? json_integer(step) : json_null();
}

json_t *json_event(const char *name) {
    json_t *event = json_object();
    json_add(&event, "", "event", json_string(name));
    return event;
}

/* It is no error if the reader of a pipe has left, as with `| head`. Commands that write for a long time ask
 * signals_caught whether to end. */
static mst_status output_failed(void) {
    if (signals_reader_left()) return MST_OK;
    return MST_FAIL(MST_IO, "standard output: %s: nothing more could be written",
                    errno ? strerror(errno) : "a write failed");
}

mst_status json_check_output(void) {
    if (!ferror(stdout)) return MST_OK;
    errno = 0;
    return output_failed();
}

mst_status json_write(json_t *event) {
    char *text = mst_json_line(event, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    json_decref(event);
    if (!text) return MST_NO_MEMORY("for a line of JSON");
    errno = 0;
    bool failed = fputs(text, stdout) < 0 || fputc('\n', stdout) < 0 || fflush(stdout) != 0;
    free(text);
    return failed ? output_failed() : MST_OK;
}
