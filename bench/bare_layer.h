/** Layers other than convolutions as bare primitives of oneDNN, one forward and one backward, with one thread. */
#ifndef MUSTER_BENCH_BARE_LAYER_H
#define MUSTER_BENCH_BARE_LAYER_H

#include <dnnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/bare_memory.h"

typedef enum bare_layer_kind {
    BARE_NO_LAYER,
    BARE_BATCH_NORM, /**< of training: finds the statistics; with scale and shift */
    BARE_RELU,
    BARE_RELU6,
    BARE_ADD, /**< of two arrays, as residual blocks end; backward, of the two gradients of the block's input */
    BARE_MAX_POOL,
    BARE_AVERAGE_POOL,
    BARE_SOFTMAX /**< over the channels */
} bare_layer_kind;

typedef struct bare_layer {
    bare_layer_kind kind;
    int64_t n, height, width, channels;  /**< of the input */
    int64_t window_height, window_width; /**< of pooling, whose windows stand side by side */
} bare_layer;

/** Least seconds of one execution, forward or BACKWARD, of arrays of TYPE, in the faster of two layouts: [n, height,
 *  width, channels], and the channels in blocks of the length of a vector register, as convolutions like it. Each is
 *  tried for SECONDS. Negative where oneDNN fails or memory is short. MEMORY as for bare_convolution_seconds. */
double bare_layer_seconds(const bare_layer *layer, bool backward, dnnl_data_type_t type, double seconds,
                          bare_memory *memory);

#endif
