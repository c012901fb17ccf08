/** JSON as text. What is printed is written here. All JSON is read here, so that an object with the same key twice is
 *  an error everywhere: some programs would take the first value, others the last. */
#ifndef MUSTER_BASE_JSON_TEXT_H
#define MUSTER_BASE_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/** The object or list in the SIZE bytes of TEXT, to be released with json_decref; NULL if there is none, and then
 *  *ERROR, which may be NULL, says why. */
json_t *mst_json_read(const char *text, size_t size, json_error_t *error);
/** The same from a string; a TEXT of NULL gives NULL. */
json_t *mst_json_read_string(const char *text, json_error_t *error);
/** The same for any value: also a number or a string. */
json_t *mst_json_read_value(const char *text, json_error_t *error);

/** The text of VALUE on one line, to be freed; FLAGS are those of json_dumps. Characters with an effect on a terminal
 *  or on the direction of text (base/escape.h) are written as \u009b: a program reads the same text, a terminal that
 *  the line is printed on does not obey it. NULL if memory is out, or VALUE is NULL. */
char *mst_json_line(const json_t *value, size_t flags);

#endif
