/** Networks with convolutions: a training step against the bare primitives that it cannot do without, and peers. */
#ifndef MUSTER_BENCH_NETWORK_H
#define MUSTER_BENCH_NETWORK_H

#include "bench/bare_convolution.h"
#include "bench/bare_layer.h"
#include "bench/bench.h"
#include "muster/muster.h"

enum { BENCH_MAX_BEHIND = 3 };
/** A layer that is a product: a convolution, or a dense layer, which is one of 1x1 on pictures of one pixel; and the
 *  layers after it up to the next product, except those for which oneDNN has no primitive. */
typedef struct bench_layer {
    bare_convolution product;
    int count;                                /**< layers that are alike */
    bool reads_input;                         /**< of the network, which needs no gradient */
    bare_layer_kind behind[BENCH_MAX_BEHIND]; /**< each reads what the one before gives; pooling is the last */
    int64_t pool_height, pool_width;          /**< of the windows, where pooling follows it */
} bench_layer;

enum { BENCH_MAX_LAYERS = 80 };
typedef struct bench_network {
    const char *name, *title;
    int64_t batch, classes, parameters; /**< trained */
    int64_t slots;                      /**< numbers that the optimizer keeps of each parameter */
    mst_spec input;                     /**< of one example */
    double largest;                     /**< inputs are below it */
    void (*build)(mst_model *model);
    mst_optimizer (*optimizer)(void);
    int (*layers)(bench_layer layer[BENCH_MAX_LAYERS]); /**< how many; may be alike */
    double reach_bound;                                 /**< of all layers */
    double reach_peers;
    double reach_processes; /**< of one thread, by mirrored replicas */
    double reach_bf16_peers;
    double reach_bf16; /**< of f32 */
} bench_network;

/** Of the benchmark of a network. */
extern const option_section bench_network_sections[];
/** Measures NETWORK as the benchmark of its name; the exit status. */
int bench_network_run(const bench_network *network, const bench_options *options);

#endif
