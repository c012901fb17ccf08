/** The nearest right spelling of a word. */
#ifndef MUSTER_BASE_NEAREST_H
#define MUSTER_BASE_NEAREST_H

/** The first of NAMES (ended by NULL) with the fewest slips from WORD: a letter missing, added, wrong, or two
 *  neighbours swapped (Damerau-Levenshtein distance, each pair swapped at most once). Letter case does not count, '-'
 *  is '_', and a name that begins with at least three letters of WORD is one slip away. NULL where the best needs
 *  more than 1 + length / 4 slips: then it is no slip but another word. */
const char *mst_nearest(const char *word, const char *const *names);

#endif
