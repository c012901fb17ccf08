/** A primitive of oneDNN by itself: one thread, every array in the layout of the primitive, nothing rearranged. */
#ifndef MUSTER_BENCH_BARE_PRIMITIVE_H
#define MUSTER_BENCH_BARE_PRIMITIVE_H

#include <dnnl.h>

#include "bench/bare_memory.h"

typedef struct bare_operand {
    int argument;      /**< DNNL_ARG_...; 0 after the last operand */
    bool written;      /**< else read */
    bool just_touched; /**< by a training step right before: in the cache as far as it fits */
} bare_operand;
enum { BARE_MAX_OPERANDS = 11 };

/** Makes the description of a primitive from WHAT. */
typedef dnnl_status_t (*bare_describe)(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const void *what);

/** Least seconds of one execution, tried for SECONDS and at least three times; negative where oneDNN fails or memory is
 *  short. Operands that the primitive does not have are left out. The arrays are in MEMORY: with a span of 0 each has
 *  one place, and is in the cache as far as it fits; else there are copies of all but what is just_touched, which take
 *  turns. */
double bare_primitive_seconds(bare_describe describe, const void *what, const bare_operand *operand, double seconds,
                              bare_memory *memory);

#endif
