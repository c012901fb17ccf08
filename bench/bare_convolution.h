/** Convolutions as bare primitives of oneDNN: one thread, every array in the layout that the primitive likes best,
 *  nothing rearranged. */
#ifndef MUSTER_BENCH_BARE_CONVOLUTION_H
#define MUSTER_BENCH_BARE_CONVOLUTION_H

#include <dnnl.h>
#include <stdint.h>

#include "bench/bare_memory.h"

typedef enum bare_kind { BARE_FORWARD, BARE_SRC_GRAD, BARE_WEIGHTS_GRAD } bare_kind;

typedef struct bare_convolution {
    int64_t n, height, width, channels, filters, groups;
    int64_t window_height, window_width, stride;
    int64_t top, bottom, left, right; /* zeros around the source */
} bare_convolution;

/** Least seconds of one execution with factors and output of TYPE, tried for SECONDS; negative where oneDNN has
 *  none. The arrays are in MEMORY: with a span of 0 in the cache as far as they fit; else in copies that take turns,
 *  but for what a step of training has touched right before, the input or the gradient of the output. */
double bare_convolution_seconds(const bare_convolution *convolution, bare_kind kind, dnnl_data_type_t type,
                                double seconds, bare_memory *memory);
/** Of the output: its height, its width, and how many numbers are in it. */
int64_t bare_convolution_rows(const bare_convolution *convolution);
int64_t bare_convolution_columns(const bare_convolution *convolution);
int64_t bare_convolution_outputs(const bare_convolution *convolution);

#endif
