/** Kinds of data: in "csv:FILE" it is "csv:", the beginning up to the colon. */
#ifndef MUSTER_CLI_SPEC_KIND_H
#define MUSTER_CLI_SPEC_KIND_H

#include <stdbool.h>

/** Whether SPEC is of KIND, such as "npz:". */
bool spec_is_of_kind(const char *spec, const char *kind);
/** Whether SPEC is of the kind "csv:". */
bool spec_is_table(const char *spec);
/** Whether SPEC is one long text, of which models predict the next token: "lines:" or "tokens:". */
bool spec_is_long_text(const char *spec);
/** Whether A and B are of one kind. */
bool spec_same_kind(const char *a, const char *b);

#endif
