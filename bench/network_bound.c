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

/* Whether a batch norm follows it, whose gradient reads its output again. */
static bool is_measured(const bench_layer *layer) {
    return layer->behind[0] == BARE_BATCH_NORM;
}

/* Products that are alike in one. */
static int join_products(bench_layer *layer, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < kept &&
               (memcmp(&layer[k].product, &layer[i].product, sizeof layer[i].product) != 0 ||
                layer[k].reads_input != layer[i].reads_input || is_measured(&layer[k]) != is_measured(&layer[i])))
            k++;
        if (k < kept)
            layer[k].count += layer[i].count;
        else
            layer[kept++] = layer[i];
    }
    return kept;
}

/* Layers other than products; layers that are alike are one with a count. */
typedef struct others {
    bare_layer layer[BENCH_MAX_LAYERS * BENCH_MAX_BEHIND];
    int count[BENCH_MAX_LAYERS * BENCH_MAX_BEHIND];
    int kept;
} others;

static bool are_alike(const bare_layer *a, const bare_layer *b) {
    return a->kind == b->kind && a->n == b->n && a->height == b->height && a->width == b->width &&
           a->channels == b->channels && a->window_height == b->window_height && a->window_width == b->window_width;
}

/* Adds the layers that follow a product. */
static void add_others(others *o, const bench_layer *l) {
    for (int i = 0; i < BENCH_MAX_BEHIND && l->behind[i]; i++) {
        const bool pools = l->behind[i] == BARE_MAX_POOL || l->behind[i] == BARE_AVERAGE_POOL;
        const bare_layer other = {.kind = l->behind[i],
                                  .n = l->product.n,
                                  .height = bare_convolution_rows(&l->product),
                                  .width = bare_convolution_columns(&l->product),
                                  .channels = l->product.filters,
                                  .window_height = pools ? l->pool_height : 0,
                                  .window_width = pools ? l->pool_width : 0};
        int k = 0;
        while (k < o->kept && !are_alike(&o->layer[k], &other)) k++;
        if (k == o->kept) o->layer[o->kept++] = other;
        o->count[k] += l->count;
    }
}

/* How each primitive is timed: in f32, or also in bf16, and then the faster of the two counts. */
typedef struct attempt {
    double seconds;
    bool is_bf16;
} attempt;

/* Of two measurements the lesser; one that is negative failed, and does not count. */
static double lesser(double x, double y) {
    return y < 0 || (x >= 0 && x < y) ? x : y;
}

static double product_call_seconds(const bare_convolution *product, bare_kind kind, const attempt *a,
                                   bare_memory *memory) {
    const double f32 = bare_convolution_seconds(product, kind, dnnl_f32, a->seconds, memory);
    return a->is_bf16 ? lesser(f32, bare_convolution_seconds(product, kind, dnnl_bf16, a->seconds, memory)) : f32;
}

static double layer_call_seconds(const bare_layer *layer, bool backward, const attempt *a, bare_memory *memory) {
    const double f32 = bare_layer_seconds(layer, backward, dnnl_f32, a->seconds, memory);
    return a->is_bf16 ? lesser(f32, bare_layer_seconds(layer, backward, dnnl_bf16, a->seconds, memory)) : f32;
}

/* Seconds of one thread for the products of a step. Negative where one failed. */
static double product_seconds(const bench_layer *layer, int count, const attempt *a, bare_memory *memory) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        for (int kind = BARE_FORWARD; kind <= BARE_WEIGHTS_GRAD; kind++) {
            if (kind == BARE_SRC_GRAD && layer[i].reads_input) continue;
            const double took = product_call_seconds(&layer[i].product, (bare_kind)kind, a, memory);
            if (took < 0) return took;
            sum += layer[i].count * took;
        }
    return sum;
}

/* The same for the other layers. */
static double other_seconds(const others *o, const attempt *a, bare_memory *memory) {
    double sum = 0;
    for (int i = 0; i < o->kept; i++)
        for (int backward = 0; backward < 2; backward++) {
            const double took = layer_call_seconds(&o->layer[i], backward, a, memory);
            if (took < 0) return took;
            sum += o->count[i] * took;
        }
    return sum;
}

/* Bytes that a step touches between two uses of an array: all bytes of the step, or enough of them to leave next to
 * nothing of the array in a cache of CACHE bytes. Twice CACHE bytes are not enough: a part of the array may stay. */
static size_t step_span(const bench_network *network, const bench_layer *layer, int count, size_t cache) {
    int64_t numbers = network->parameters * (2 + network->slots); /* with their gradients */
    for (int i = 0; i < count; i++) numbers += 2 * layer[i].count * bare_convolution_outputs(&layer[i].product);
    const size_t bytes = (size_t)numbers * sizeof(float), enough = 6 * cache;
    return bytes < enough ? bytes : enough;
}

/* Bytes that the gradients of batch norms must read beside the products. The gradient of a convolution's output is
 * computed from two arrays: the gradient of the batch norm's output, and the batch norm's input. In place of these two
 * the bare products read the convolution's gradient twice. If it fits into half of the cache, the second time is from
 * the cache; then the bytes of the batch norm's input are added here. All else that batch norms and activations read
 * and write is in the cache while the convolutions before and after them work on a part of it. */
static double norm_bytes(const bench_layer *layer, int count, size_t cache) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const double bytes = (double)bare_convolution_outputs(&layer[i].product) * sizeof(float);
        if (is_measured(&layer[i]) && bytes <= (double)cache / 2) sum += layer[i].count * bytes;
    }
    return sum;
}

/* False where a primitive failed or memory is short. */
static bool find_seconds(int64_t parameters, const bench_layer *product, int num_products, const others *o,
                         const attempt *a, bare_memory *memory, bench_network_seconds *out) {
    const double pass = pass_seconds(parameters, memory);
    const double products = product_seconds(product, num_products, a, memory);
    const double other = other_seconds(o, a, memory);
    *out = (bench_network_seconds){.all_layers = pass + products + other, .products = pass + products};
    return pass > 0 && products > 0 && other >= 0;
}

bool bench_network_bound_find(const bench_network *network, bool is_bf16, double seconds, size_t cache,
                              bench_network_bound *out) {
    const attempt tried = {.seconds = seconds, .is_bf16 = is_bf16};
    bench_layer layer[BENCH_MAX_LAYERS];
    others o;
    memset(layer, 0, sizeof layer);
    memset(&o, 0, sizeof o);
    int count = network->layers(layer);
    for (int i = 0; i < count; i++) add_others(&o, &layer[i]);
    count = join_products(layer, count);
    bare_memory memory = {.span = step_span(network, layer, count, cache)};
    bool good = find_seconds(network->parameters, layer, count, &o, &tried, &memory, &out->from_memory);
    out->memory_speed = bare_memory_speed(&memory);
    out->from_memory.products += norm_bytes(layer, count, cache) / out->memory_speed;
    memory.span = 0;
    good = good && find_seconds(network->parameters, layer, count, &o, &tried, &memory, &out->from_cache);
    bare_memory_free(&memory);
    return good && out->memory_speed > 0;
}
