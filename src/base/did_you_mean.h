/** Finds the name that was probably meant by a misspelled word. */
#ifndef MUSTER_BASE_DID_YOU_MEAN_H
#define MUSTER_BASE_DID_YOU_MEAN_H

#include <stddef.h>

#define MST_DID_YOU_MEAN_TEXT 100

/** The first of NAMES (ended by NULL) with the fewest slips from WORD. A slip is a letter missing, added or wrong, or
 *  two neighbours swapped (Damerau-Levenshtein distance, each pair swapped at most once). Case is ignored, '-' equals
 *  '_', and if WORD has at least three letters, a name that begins with it counts as one slip away. NULL if the best
 *  name is more than 1 + length / 4 slips away: then WORD is probably another word. */
const char *mst_nearest(const char *word, const char *const *names);

/** Writes ": did you mean 'epochs'?", with the name of NAMES nearest to WORD, to TEXT of SIZE bytes. Writes "" if no
 *  name is near. Returns TEXT. It ends the message of an error:
 *
 *      char guess[MST_DID_YOU_MEAN_TEXT];
 *      return MST_FAIL(MST_INVALID, "there is no loss '%s'%s", name,
 *                      mst_did_you_mean(name, names, guess, sizeof guess));
 */
const char *mst_did_you_mean(const char *word, const char *const *names, char *text, size_t size);

#endif
