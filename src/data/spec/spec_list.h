/** Lists and patterns of files in a data spec, for all kinds: "csv:a.csv,b.csv", "csv:data/2024-*.csv".
 *
 *  - What names data as a whole is no list: a file whose name has a comma or a star is that file.
 *  - Otherwise commas separate names. A name that is not there and has *, ? or [ is a pattern, which stands for the
 *    files that it matches, in the order of their names' bytes. One that matches nothing is an error.
 *  - A backslash before a comma or one of these characters makes it a part of the name.
 *
 *  The names of a list stand one after the other, with a line end between them. The readers of tables and of texts take
 *  such a list in place of a path.
 */
#ifndef MUSTER_DATA_SPEC_SPEC_LIST_H
#define MUSTER_DATA_SPEC_SPEC_LIST_H

#include "data/spec/data_spec.h"

/** The names that ARGUMENT of KIND stands for, with a line end between them, to be freed with free(). *OUT is NULL if
 *  it is no list, but one name as it is. MST_NOT_FOUND, naming the pattern, if one matches nothing. */
MST_CHECKED mst_status mst_spec_list_read(const mst_data_spec *kind, const char *argument, char **out);

#endif
