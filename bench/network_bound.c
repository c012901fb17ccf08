#include "bench/network_bound.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "bench/table.h"

/* Adam's work, or one alike. */
MST_SIMD static void update_pass(float *restrict w, float *restrict m, float *restrict v, const float *restrict g,
                                 int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        m[i] += 0.1F * (g[i] - m[i]);
        v[i] += 0.001F * (g[i] * g[i] - v[i]);
        w[i] -= 1e-9F * m[i] / (sqrtf(v[i]) + 1e-7F);
    }
}

/* Least seconds of a pass over the parameters and what the optimizer keeps of them; negative without memory. */
static double pass_seconds(int64_t count, bare_memory *memory) {
    enum { TIMES = 5, ARRAYS = 4 };
    const size_t numbers = (size_t)count * ARRAYS, copies = memory->span / (numbers * sizeof(float)) + 1;
    float *array = bare_memory_take(memory, BARE_WRITTEN, numbers * copies * sizeof *array);
    double least = -1;
    for (size_t i = 0; i < TIMES && array; i++) {
        float *w = array + i % copies * numbers;
        const double before = bench_now();
        update_pass(w, w + count, w + 2 * count, w + 3 * count, count);
        const double took = bench_now() - before;
        if (least < 0 || took < least) least = took;
    }
    return least;
}

/* Layers that are alike in one. */
static int join_layers(bench_layer *layer, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < kept && (memcmp(&layer[k].product, &layer[i].product, sizeof layer[i].product) != 0 ||
                            layer[k].reads_input != layer[i].reads_input || layer[k].measured != layer[i].measured))
            k++;
        if (k < kept)
            layer[k].count += layer[i].count;
        else
            layer[kept++] = layer[i];
    }
    return kept;
}

/* Seconds of one thread for the products of a step; each primitive is tried for SECONDS. Negative where it failed. */
static double product_seconds(const bench_layer *layer, int count, double seconds, bare_memory *memory) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        for (int kind = BARE_FORWARD; kind <= BARE_WEIGHTS_GRAD; kind++) {
            if (kind == BARE_SRC_GRAD && layer[i].reads_input) continue;
            const double took = bare_convolution_seconds(&layer[i].product, (bare_kind)kind, seconds, memory);
            if (took < 0) return took;
            sum += layer[i].count * took;
        }
    return sum;
}

/* Bytes that a step touches between two uses of an array: all that it has, or enough of them to leave next to nothing
 * of the array in a cache of CACHE bytes, which may keep a part of it when twice its size has gone through. */
static size_t step_span(const bench_network *network, const bench_layer *layer, int count, size_t cache) {
    int64_t numbers = network->parameters * (2 + network->slots); /* with their gradients */
    for (int i = 0; i < count; i++) numbers += 2 * layer[i].count * bare_convolution_outputs(&layer[i].product);
    const size_t bytes = (size_t)numbers * sizeof(float), enough = 6 * cache;
    return bytes < enough ? bytes : enough;
}

/* Bytes that the gradients of batch norms must read beside the products. The gradient of a convolution's output comes
 * of the gradient of the batch norm's output and of the batch norm's input; in place of these two the bare products
 * read it twice, the second time from the cache where it fits into half of that, and then the batch norm's input is to
 * be added. All else that batch norms and activations read and write is in the cache while the convolutions before and
 * behind them work on a part of it. */
static double norm_bytes(const bench_layer *layer, int count, size_t cache) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const double bytes = (double)bare_convolution_outputs(&layer[i].product) * sizeof(float);
        if (layer[i].measured && bytes <= (double)cache / 2) sum += layer[i].count * bytes;
    }
    return sum;
}

bool bench_network_bound_find(const bench_network *network, double seconds, size_t cache, bench_network_bound *out) {
    bench_layer layer[BENCH_MAX_LAYERS];
    memset(layer, 0, sizeof layer);
    const int count = join_layers(layer, network->layers(layer));
    const size_t span = step_span(network, layer, count, cache);
    bare_memory memory = {.span = span};
    const double pass = pass_seconds(network->parameters, &memory);
    const double products = product_seconds(layer, count, seconds, &memory);
    out->memory_speed = bare_memory_speed(&memory);
    out->from_memory = products + pass + norm_bytes(layer, count, cache) / out->memory_speed;
    memory.span = 0;
    const double cached_pass = pass_seconds(network->parameters, &memory);
    const double cached_products = product_seconds(layer, count, seconds, &memory);
    out->from_cache = cached_products + cached_pass;
    bare_memory_free(&memory);
    return pass > 0 && products > 0 && cached_pass > 0 && cached_products > 0 && out->memory_speed > 0;
}
