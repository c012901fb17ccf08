/** JSON as text. All of it is read here: a key that an object has twice is an error, as one program takes its first
 *  value and another its last. */
#ifndef MUSTER_BASE_JSON_TEXT_H
#define MUSTER_BASE_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/** The object or list in the SIZE bytes of TEXT, to be released with json_decref; NULL where there is none, and then
 *  *ERROR, which may be NULL, says why. */
json_t *mst_json_read(const char *text, size_t size, json_error_t *error);
/** The same of a string, which may be NULL: there is none in it. */
json_t *mst_json_read_string(const char *text, json_error_t *error);
/** The same of any value: a number or a string too. */
json_t *mst_json_read_value(const char *text, json_error_t *error);

#endif
