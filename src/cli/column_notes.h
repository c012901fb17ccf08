/** Notes for the user about the columns of a table. They name columns of numbers in an unusual notation, and columns of
 *  texts that are unlikely to be categories. For data without a schema (NULL), nothing is printed. */
#ifndef MUSTER_CLI_COLUMN_NOTES_H
#define MUSTER_CLI_COLUMN_NOTES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

/** Prints BEFORE and the columns whose numbers are in an unusual notation, such as "'price' with a decimal comma,
 *  'born' as year and month". If there are none, prints nothing and returns false. */
bool column_notes_print(const char *schema, const char *before);
/** Adds the same columns to EVENT, as "columns_read": {"price": "with a decimal comma"}. Adds nothing if there are
 *  none. */
void column_notes_add(const char *schema, json_t **event);
/** Warns if the names of the columns look like a row. SCHEMA is as above. */
void column_notes_warn_of_header(const char *schema);
/** MST_INVALID, with a message that names the column, if the name of a column or one of its categories is not UTF-8:
 *  models and messages could not contain that text. */
MST_CHECKED mst_status column_notes_check(const char *schema);
/** Warns of columns whose categories are probably not meant as such: they look like dates, times or numbers; there are
 *  at least 10 and more than ROWS / 2 of them; two differ only in the spaces around them; or one of the classes says
 *  that the label is missing. ROWS below 0: not known. Skips the columns that CATEGORIES, the value of --categories,
 *  lists. NULL: none. */
MST_CHECKED mst_status column_notes_warn(const char *schema, const char *categories, int64_t rows);

#endif
