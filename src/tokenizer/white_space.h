/** White space of Unicode (the property White_Space) in UTF-8. */
#ifndef MUSTER_TOKENIZER_WHITE_SPACE_H
#define MUSTER_TOKENIZER_WHITE_SPACE_H

#include <stddef.h>

/** The number of bytes of white space at the beginning of TEXT, SIZE bytes of valid UTF-8. */
size_t mst_white_space_before(const char *text, size_t size);
/** The number of bytes of white space at the end of TEXT. */
size_t mst_white_space_behind(const char *text, size_t size);

#endif
