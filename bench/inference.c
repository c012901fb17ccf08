/** muster-bench inference: MobileNetV2 of a file of ONNX on one picture at a time, beside ONNX Runtime on the same
 *  file. Windows of both alternate. */
#include <stdio.h>

#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/table.h"
#include "bench/tensorflow.h"
#include "muster/muster.h"

enum { SIZE = 224, CHANNELS = 3, CLASSES = 1000, ROUNDS = BENCH_ROUNDS, WARM_RUNS = 5 };
enum { ONE, PEER_ONE, TO_PEER_ONE, ALL, PEER_ALL, TO_PEER_ALL, NUM_ROWS };
enum { THREADS_APART = 3 }; /* from a row of one thread to that of all cores */

static bench_row rows[NUM_ROWS] = {
    [ONE] = BENCH_RATE("one", "one thread"),
    [PEER_ONE] = BENCH_RATE("peer_one", "ONNX Runtime, one thread"),
    [TO_PEER_ONE] = BENCH_AT_LEAST("to_peer_one", "  one thread / ONNX Runtime", "x", 1),
    [ALL] = BENCH_RATE("all", "all cores"),
    [PEER_ALL] = BENCH_RATE("peer_all", "ONNX Runtime, all cores"),
    [TO_PEER_ALL] = BENCH_AT_LEAST("to_peer_all", "  all cores / ONNX Runtime", "x", 1),
};

/* A network with first values, in a file of ONNX. */
static mst_status write_network(const char *path) {
    mst_model *model = NULL;
    mst_tensor *pictures = NULL, *out = NULL;
    mst_dataset *data = NULL;
    mst_status status = mst_model_create(&model);
    if (!status) {
        mst_mobilenet_v2(model, .classes = CLASSES);
        status = mst_compile(model, .session = {.devices = "cpu:1/1"});
    }
    if (!status) status = mst_tensor_create(MST_F32, MST_SHAPE(1, SIZE, SIZE, CHANNELS), &pictures);
    if (!status) {
        data = mst_data_from_tensors(&pictures, 1);
        status = mst_predict(model, data, 1, &out);
    }
    if (!status) status = mst_model_save(model, path);
    mst_tensor_release(pictures);
    mst_tensor_release(out);
    mst_dataset_release(data);
    mst_model_destroy(model);
    return status;
}

typedef struct network {
    mst_graph *graph;
    mst_session *session[2]; /* of one thread, of all cores */
    mst_feed feed;
    mst_value fetch;
    mst_tensor *out;
} network;

static mst_status read_network(const char *path, int cores, network *n) {
    char whole[32];
    snprintf(whole, sizeof whole, "cpu:1/%d", cores);
    MST_TRY(mst_onnx_read(path, &n->graph));
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(1, CHANNELS, SIZE, SIZE), &n->feed.tensor));
    for (int64_t i = 0; i < mst_tensor_count(n->feed.tensor); i++)
        mst_tensor_set(n->feed.tensor, i, (double)(i % 97) / 97);
    n->feed.value = (mst_value){.node = mst_graph_find(n->graph, "input_layer")};
    n->fetch = (mst_value){.node = mst_graph_find(n->graph, "predictions")};
    if (!n->feed.value.node || !n->fetch.node) return MST_FAIL(MST_INTERNAL, "the file has other inputs or outputs");
    MST_TRY(mst_session_create(n->graph, &(mst_session_options){.devices = "cpu:1/1"}, &n->session[0]));
    return mst_session_create(n->graph, &(mst_session_options){.devices = whole}, &n->session[1]);
}

static void end_network(network *n) {
    for (int i = 0; i < 2; i++) mst_session_destroy(n->session[i]);
    mst_tensor_release(n->feed.tensor);
    mst_tensor_release(n->out);
    mst_graph_destroy(n->graph);
}

/* Pictures a second. */
static mst_status measure_window(network *n, mst_session *session, double seconds, double *rate) {
    int64_t count = -WARM_RUNS;
    double began = bench_now(), now = began;
    while (count <= 0 || now - began < seconds) {
        MST_TRY(mst_session_run(session, &n->feed, 1, &n->fetch, 1, &n->out));
        if (++count == 0) began = bench_now();
        now = bench_now();
    }
    *rate = (double)count / (now - began);
    return MST_OK;
}

static mst_status measure(network *n, const bench_tensorflow *peer, double seconds, int rounds) {
    static const char *const asked[] = {"one", "all"};
    const double began = bench_now();
    for (int round = 0; round < rounds; round++) {
        bench_progress_round(round, rounds, began);
        for (int i = 0; i < 2; i++) {
            bench_row *row = &rows[i * THREADS_APART];
            double rate;
            MST_TRY(measure_window(n, n->session[i], seconds, &rate));
            bench_add(&row[ONE], rate);
            const double other = peer->questions ? bench_tensorflow_ask(peer, asked[i], seconds) : 0;
            if (other <= 0) continue;
            bench_add(&row[PEER_ONE], other);
            bench_add(&row[TO_PEER_ONE], rate / other);
        }
    }
    return MST_OK;
}

static bool open_peer(const char *folder, const char *path, bench_tensorflow *out) {
    char arguments[512];
    snprintf(arguments, sizeof arguments, "'%s'", path);
    return bench_tensorflow_open("inference", "onnx", folder, "onnx_runtime.py", arguments, out);
}

static int run(const command_call *call) {
    const bench_options *o = call->options;
    mst_machine machine;
    network n = {.graph = NULL};
    bench_tensorflow peer = {.questions = NULL};
    char *folder = NULL, path[256] = "";
    bool good = true;
    mst_machine_read(&machine);
    if (!o->json)
        printf("MobileNetV2 of a file of ONNX, one picture of 224x224, f32; medians of %d rounds\n%s, %d cores, %s\n",
               bench_rounds(o, ROUNDS), machine.cpu, machine.num_cores, machine.isa);
    mst_status status = bench_folder_make(NULL, &folder);
    if (!status) {
        snprintf(path, sizeof path, "%s/network.onnx", folder);
        status = write_network(path);
    }
    if (!status) status = read_network(path, machine.num_cores, &n);
    if (!status && o->peers) good = open_peer(folder, path, &peer);
    if (!status) status = measure(&n, &peer, bench_seconds(o), bench_rounds(o, ROUNDS));
    if (peer.questions) good = bench_tensorflow_close(&peer) && good;
    end_network(&n);
    bench_folder_remove(folder);
    if (status) return command_fail(EXIT_FAILED, "inference: %s", mst_error()->message);
    bench_print(rows, NUM_ROWS, o->json);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static const option options[] = {
    BENCH_COMMON_OPTIONS,
    BENCH_PEERS_OPTION("also ONNX Runtime, in a virtual environment made under build/ of the source tree"),
    {0},
};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_inference = {
    .name = "inference",
    .summary = "MobileNetV2 on one picture at a time, and ONNX Runtime",
    .usage = "[options]",
    .notes = "A file of ONNX with first values, 224x224, 1,000 classes, f32.",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
