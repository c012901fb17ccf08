/** Memory that shows who leaves it: a guarded block lies between pages that nobody may touch, surrounded by NaN. A
 *  touch is noted and let through: whoever made it goes on, and afterwards it is counted what was written. */
#ifndef MUSTER_TEST_SUPPORT_GUARDED_H
#define MUSTER_TEST_SUPPORT_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct guarded guarded;

/** A block of at most MOST bytes, for the whole process. */
guarded *guarded_create(const char *name, size_t most);
/** BYTES of NaN that end at the page that nobody may touch (AT_END) or begin right after one; NULL: more than there is.
 *  What the block was used for before is over. */
void *guarded_place(guarded *g, size_t bytes, bool at_end);
/** Where the block is. */
void *guarded_data(const guarded *g);
/** Whether it was left since it was placed; then what happened is added to TEXT of SIZE bytes. */
bool guarded_was_left(guarded *g, char *text, size_t size);
/** From now on faults are caught, until another takes their handlers, and nothing is placed any more. */
void guarded_begin(void);
/** What is printed where the process dies of a fault at an address outside all blocks. */
void guarded_describe(const char *what_runs);

#endif
