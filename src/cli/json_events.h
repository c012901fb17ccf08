/** Events: with --json standard output carries one JSON object a line, and nothing else. */
#ifndef MUSTER_CLI_JSON_EVENTS_H
#define MUSTER_CLI_JSON_EVENTS_H

#include <jansson.h>

#include "muster/status.h"

/** A JSON number, or null where VALUE is NaN or infinite, which JSON does not have. */
json_t *json_number(double value);
/** TEXT as a string; where it is not UTF-8, as names of files may be, each byte that is not ASCII as U+FFFD. */
json_t *json_text(const char *text);
/** Adds MEMBER, which is taken, to OBJECT under "PREFIXNAME". A failure (either NULL too) comes out of json_write. */
void json_add(json_t **object, const char *prefix, const char *name, json_t *member);
/** A new event of this name. */
json_t *json_event(const char *name);
/** Writes EVENT, which is taken, as one line. MST_IO where standard output does not take it, but MST_OK where its
 *  reader has left (signals_reader_left). */
MST_CHECKED mst_status json_write(json_t *event);
/** MST_IO where an earlier write to standard output failed, and its reader has not left. */
MST_CHECKED mst_status json_check_output(void);

#endif
