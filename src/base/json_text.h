/** JSON as text. All JSON that is printed is written here. All JSON is read here, so that an object with the same key
 *  twice is an error everywhere. Some programs would take its first value, others its last. */
#ifndef MUSTER_BASE_JSON_TEXT_H
#define MUSTER_BASE_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/** Reads the object or list in the SIZE bytes of TEXT. Release it with json_decref. NULL if these are not one valid
 *  object or list; *ERROR then says why. ERROR may be NULL. */
json_t *mst_json_read(const char *text, size_t size, json_error_t *error);
/** Reads an object or list from a string. If TEXT is NULL, returns NULL. */
json_t *mst_json_read_string(const char *text, json_error_t *error);
/** Reads any value from a string, also a number or a string. */
json_t *mst_json_read_value(const char *text, json_error_t *error);

/** The text of VALUE on one line, to be freed. FLAGS are those of json_dumps. Characters with an effect on a terminal
 *  or on the direction of text (base/escape.h) are written in the form \u009b. A program reads the same text, but a
 *  terminal does not obey it. NULL if memory runs out, or VALUE is NULL. */
char *mst_json_line(const json_t *value, size_t flags);

#endif
