/** Memory for the arrays of bare primitives. As in a step of training, others are touched between two uses of an array,
 *  and what does not fit into the cache beside these comes from memory. */
#ifndef MUSTER_BENCH_BARE_MEMORY_H
#define MUSTER_BENCH_BARE_MEMORY_H

#include <stddef.h>

#include "muster/muster.h"

enum { BARE_READ, BARE_WRITTEN, BARE_MEMORIES };

typedef struct bare_memory {
    size_t span; /**< bytes that are touched between two uses of an array; 0: the same array again and again */
    mst_tensor *tensor[BARE_MEMORIES];
} bare_memory;

/** At least SIZE bytes for arrays that are read, or written; filled with numbers from 0.5 to 1. NULL without memory.
 *  What was taken of the same kind before is gone. */
float *bare_memory_take(bare_memory *memory, int which, size_t size);
/** Most bytes a second of a = b + 2 c over arrays that take up the span together; negative without memory. */
double bare_memory_speed(bare_memory *memory);
void bare_memory_free(bare_memory *memory);

#endif
