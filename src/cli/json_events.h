/** Events: with --json, standard output carries one JSON object per line and nothing else. */
#ifndef MUSTER_CLI_JSON_EVENTS_H
#define MUSTER_CLI_JSON_EVENTS_H

#include <jansson.h>
#include <stdint.h>

#include "muster/status.h"

/** A JSON number; null if VALUE is NaN or infinite, which JSON does not have. */
json_t *json_number(double value);
/** TEXT as a JSON string. If it is not UTF-8, as file names may be, each byte that is not ASCII becomes U+FFFD. */
json_t *json_text(const char *text);
/** Adds MEMBER to OBJECT under the key PREFIX followed by NAME, and takes ownership of MEMBER. MEMBER and *OBJECT may
 *  be NULL after an earlier failure. A failure is reported by json_write. */
void json_add(json_t **object, const char *prefix, const char *name, json_t *member);
/** Adds LOSS and the COUNT values METRIC, each under PREFIX followed by its name. */
void json_add_measured(json_t **event, const char *prefix, double loss, const char *const *metric_name,
                       const double *metric, int count);
/** Examples per second; null if RATE is 0, as after the first step, when it is not known yet. */
json_t *json_rate(double rate);
/** A step as a number; null if STEP is 0, as of a file that has none. */
json_t *json_step(int64_t step);
/** A new event with this name. */
json_t *json_event(const char *name);
/** Writes EVENT as one line, and takes ownership of it. MST_IO if standard output cannot be written, but MST_OK if its
 *  reader has left (signals_reader_left). */
MST_CHECKED mst_status json_write(json_t *event);
/** MST_IO if an earlier write to standard output failed although its reader has not left. */
MST_CHECKED mst_status json_check_output(void);

#endif
