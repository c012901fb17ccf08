/* muster-bench text_cnn: a small convolutional network on texts of 300 words, with batch 32 and Nadam. */
#include "bench/network.h"

enum { BATCH = 32, WORDS = 30982, VECTOR = 7, LENGTH = 300, CLASSES = 46, PARAMETERS = 332856 };
enum { FILTERS = 64, WINDOW = 5, MORE_FILTERS = 32, MORE_WINDOW = 3 };

static void build(mst_model *model) {
    mst_text_cnn(model, .input_shape = MST_SHAPE(LENGTH), .vocabulary_size = WORDS, .classes = CLASSES);
}

static mst_optimizer optimizer(void) {
    return mst_nadam(.learning_rate = 0.001);
}

static bare_convolution row(int length, int channels, int filters, int window) {
    return (bare_convolution){.n = BATCH,
                              .height = 1,
                              .width = length,
                              .channels = channels,
                              .filters = filters,
                              .groups = 1,
                              .window_height = 1,
                              .window_width = window,
                              .stride = 1};
}

/* A convolution, ReLU, and pooling by two. */
static bench_layer block(int length, int channels, int filters, int window) {
    return (bench_layer){.product = row(length, channels, filters, window),
                         .count = 1,
                         .behind = {BARE_RELU, BARE_MAX_POOL},
                         .pool_height = 1,
                         .pool_width = 2};
}

/* All but the embedding, for which oneDNN has no primitive. */
static int layers(bench_layer *layer) {
    const int first = (LENGTH - WINDOW + 1) / 2, second = (first - MORE_WINDOW + 1) / 2;
    layer[0] = block(LENGTH, VECTOR, FILTERS, WINDOW);
    layer[1] = block(first, FILTERS, MORE_FILTERS, MORE_WINDOW);
    layer[2] =
        (bench_layer){.product = row(1, second * MORE_FILTERS, CLASSES, 1), .count = 1, .behind = {BARE_SOFTMAX}};
    return 3;
}

static int run(const command_call *call) {
    const bench_network network = {
        .name = "text_cnn",
        .title = "text CNN, 30,982 x 7, 300 words, batch 32, Nadam, f32",
        .batch = BATCH,
        .classes = CLASSES,
        .parameters = PARAMETERS,
        .slots = 2,
        .input = {.dtype = MST_I32, .shape = MST_SHAPE(LENGTH)},
        .largest = WORDS,
        .build = build,
        .optimizer = optimizer,
        .layers = layers,
        .reach_bound = 0.85,
        .reach_peers = 5,
    };
    return bench_network_run(&network, call->options);
}

const command bench_text_cnn = {
    .name = "text_cnn",
    .summary = "a convolutional network on texts against its bare primitives, and against peers",
    .usage = "[options]",
    .notes = "Random texts of 300 of 30,982 words in memory, 46 classes, batch 32, Nadam, f32.",
    .sections = bench_network_sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
