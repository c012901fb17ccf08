/** What a user is told about the columns of a table: which numbers are in another notation, and which texts can hardly
 *  be categories. For data without a schema (NULL) nothing is printed. */
#ifndef MUSTER_CLI_COLUMN_NOTES_H
#define MUSTER_CLI_COLUMN_NOTES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

/** Prints "'price' with a decimal comma, 'born' as year and month", after BEFORE; false, and nothing, if there is no
 *  such column. */
bool column_notes_print(const char *schema, const char *before);
/** Adds the same to EVENT, as "columns_read": {"price": "with a decimal comma"}; nothing where there is none. */
void column_notes_add(const char *schema, json_t **event);
/** MST_INVALID, naming the column, where its name or one of its categories is not UTF-8: models and messages could not
 *  name it. */
MST_CHECKED mst_status column_notes_check(const char *schema);
/** Warns of each column of categories that look like dates, times or numbers, or of which there are more than half as
 *  many as ROWS (below 0: not known). Columns in the list of --categories (NULL: none) are left out. */
MST_CHECKED mst_status column_notes_warn(const char *schema, const char *categories, int64_t rows);

#endif
