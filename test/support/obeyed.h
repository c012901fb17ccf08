/** What a terminal would obey in a text, or show in another order than it stands there. */
#ifndef MUSTER_TEST_SUPPORT_OBEYED_H
#define MUSTER_TEST_SUPPORT_OBEYED_H

#include <stdbool.h>
#include <stddef.h>

/** Names of files that hold such characters: a control character of C0, one of C1 (U+009B), U+202E and U+2066, ends of
 *  lines and paragraphs, bytes that are not UTF-8. Ended by NULL. */
extern const char *const obeyed_names[];
/** Whether the SIZE bytes of TEXT have such a character; with LINES, '\n' does not count. */
bool has_obeyed(const char *text, size_t size, bool lines);

#endif
