/** Patterns that cut a text into words. The module `pcre2` (module/module.h) finds their matches by PCRE2, with the
 *  letters, digits and white space of Unicode. */
#ifndef MUSTER_TOKENIZER_PATTERN_H
#define MUSTER_TOKENIZER_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "muster/status.h"

/** A pattern that can be used by several threads, and the search of one thread. */
typedef struct mst_pattern mst_pattern;
typedef struct mst_pattern_search mst_pattern_search;

/** The interface of the module. */
typedef struct mst_pattern_library {
    /** Compiles the SIZE bytes at TEXT, in the notation of PCRE2. MST_INVALID if they are not a pattern. */
    mst_status (*compile)(const char *text, size_t size, mst_pattern **out);
    void (*free)(mst_pattern *pattern); /**< NULL is allowed */
    mst_status (*begin)(const mst_pattern *pattern, mst_pattern_search **out);
    /** Finds the first match from byte AT on in SIZE bytes of valid UTF-8: bytes FIRST to END - 1. *FOUND is false if
     *  there is none. MST_INVALID if the search takes too many steps. */
    mst_status (*next)(mst_pattern_search *search, const char *text, size_t size, size_t at, bool *found, size_t *first,
                       size_t *end);
    void (*end)(mst_pattern_search *search); /**< NULL is allowed */
} mst_pattern_library;

/** Translates a pattern of SIZE bytes from the notation of Oniguruma, which `tokenizers` uses, to the
 *  notation of PCRE2. The caller frees *OUT with free(). MST_UNIMPLEMENTED if it has notation that the two
 *  understand differently. */
MST_CHECKED mst_status mst_pattern_translate(const char *text, size_t size, char **out);

#endif
