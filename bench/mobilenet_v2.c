/* muster-bench mobilenet_v2: MobileNetV2 on pictures of 224x224 with batch 16 and Adam. */
#include "bench/network.h"

enum { BATCH = 16, SIZE = 224, CLASSES = 1000, PARAMETERS = 3504872, WINDOW = 3, LAST = 1280 };

static void build(mst_model *model) {
    mst_mobilenet_v2(model, .classes = CLASSES);
}

static mst_optimizer optimizer(void) {
    return mst_adam(.learning_rate = 0.001);
}

/* A convolution, the batch norm that follows it, and the layer after that, or BARE_NO_LAYER. */
static void add(bench_layer *layer, int *count, const bare_convolution *product, bare_layer_kind behind) {
    layer[*count] =
        (bench_layer){.product = *product, .count = 1, .reads_input = *count == 0, .behind = {BARE_BATCH_NORM, behind}};
    ++*count;
}

static bare_convolution one_by_one(int size, int channels, int filters) {
    return (bare_convolution){.n = BATCH,
                              .height = size,
                              .width = size,
                              .channels = channels,
                              .filters = filters,
                              .groups = 1,
                              .window_height = 1,
                              .window_width = 1,
                              .stride = 1};
}

/* The odd row and column of zeros are at the bottom and right where windows are two apart. */
static bare_convolution three_by_three(int size, int channels, int filters, int groups, int stride) {
    const int before = stride == 1;
    return (bare_convolution){.n = BATCH,
                              .height = size,
                              .width = size,
                              .channels = channels,
                              .filters = filters,
                              .groups = groups,
                              .window_height = WINDOW,
                              .window_width = WINDOW,
                              .stride = stride,
                              .top = before,
                              .bottom = 1,
                              .left = before,
                              .right = 1};
}

/* Table 2 of Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018). */
static int layers(bench_layer *layer) {
    static const int stage[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                   {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    int count = 0, size = SIZE / 2, channels = 32;
    bare_convolution c = three_by_three(SIZE, 3, channels, 1, 2);
    add(layer, &count, &c, BARE_RELU6);
    for (size_t i = 0; i < sizeof stage / sizeof *stage; i++)
        for (int k = 0; k < stage[i][2]; k++) {
            const int wide = channels * stage[i][0], stride = k ? 1 : stage[i][3];
            c = one_by_one(size, channels, wide);
            if (stage[i][0] > 1) add(layer, &count, &c, BARE_RELU6);
            c = three_by_three(size, wide, wide, wide, stride);
            add(layer, &count, &c, BARE_RELU6);
            size /= stride;
            c = one_by_one(size, wide, stage[i][1]);
            add(layer, &count, &c, k ? BARE_ADD : BARE_NO_LAYER);
            channels = stage[i][1];
        }
    c = one_by_one(size, channels, LAST);
    add(layer, &count, &c, BARE_RELU6);
    layer[count - 1].behind[2] = BARE_AVERAGE_POOL;
    layer[count - 1].pool_height = layer[count - 1].pool_width = size;
    layer[count++] = (bench_layer){.product = one_by_one(1, LAST, CLASSES), .count = 1, .behind = {BARE_SOFTMAX}};
    return count;
}

static int run(const command_call *call) {
    const bench_network network = {
        .name = "mobilenet_v2",
        .title = "MobileNetV2, 224x224, batch 16, Adam, f32",
        .batch = BATCH,
        .classes = CLASSES,
        .parameters = PARAMETERS,
        .slots = 2,
        .input = {.dtype = MST_F32, .shape = MST_SHAPE(SIZE, SIZE, 3)},
        .largest = 1,
        .build = build,
        .optimizer = optimizer,
        .layers = layers,
        .reach_bound = 0.85,
        .reach_peers = 2.5,
        .reach_processes = 0.95,
        .reach_bf16 = 1.8,
        .reach_bf16_peers = 2,
    };
    return bench_network_run(&network, call->options);
}

const command bench_mobilenet_v2 = {
    .name = "mobilenet_v2",
    .summary = "MobileNetV2 against its bare primitives, and against peers",
    .usage = "[options]",
    .notes = "Random pictures of 224x224 in memory, 1,000 classes, batch 16, Adam, f32.",
    .sections = bench_network_sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
