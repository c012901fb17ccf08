/** muster-bench gpt: a language model of 6 layers of 384 with GPT-2's vocabulary. Training, with 256 positions and
 *  batch 8, beside its bare products of matrices and beside PyTorch; and writing token by token, beside the time in
 *  which this machine reads all weights once. Windows of all that is compared alternate. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/simd.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/table.h"
#include "bench/tensorflow.h"
#include "muster/muster.h"

enum { LAYERS = 6, WIDTH = 384, HEADS = 6, POSITIONS = 256, BATCH = 8, VOCABULARY = 50257, ROUNDS = BENCH_ROUNDS };
enum { PROMPT = 8, FEW_TOKENS = 8, MOST_THREADS = 64 };
enum { KINDS = 2 }; /* one thread, all cores */
enum { TRAIN, PRODUCTS, TO_PRODUCTS, PEER, TO_PEER, WRITE, BOUND, TO_BOUND, APART };

#define TOKENS(key, what) BENCH_AT_LEAST(key, what, "tokens/s", 0)
static bench_row rows[KINDS * APART] = {
    TOKENS("train_one", "training, one thread"),
    TOKENS("train_bound_one", "its products alone, one thread"),
    BENCH_AT_LEAST("train_to_bound_one", "  one thread / products alone", "x", 0.7),
    TOKENS("train_peer_one", "PyTorch, one thread"),
    BENCH_AT_LEAST("train_to_peer_one", "  one thread / PyTorch", "x", 1.5),
    TOKENS("generate_one", "writing, one thread"),
    TOKENS("generate_bound_one", "weights read once a token, one thread"),
    BENCH_AT_LEAST("generate_to_bound_one", "  one thread / that", "x", 0.7),
    TOKENS("train_all", "training, all cores"),
    TOKENS("train_bound_all", "its products alone, all cores"),
    BENCH_AT_LEAST("train_to_bound_all", "  all cores / products alone", "x", 0.7),
    TOKENS("train_peer_all", "PyTorch, all cores"),
    BENCH_AT_LEAST("train_to_peer_all", "  all cores / PyTorch", "x", 1.5),
    TOKENS("generate_all", "writing, all cores"),
    TOKENS("generate_bound_all", "weights read once a token, all cores"),
    BENCH_AT_LEAST("generate_to_bound_all", "  all cores / that", "x", 0.7),
};

/* ---- bare products ---- */

/* The products of a forward pass, in a graph of their own. */
typedef struct products {
    mst_graph *graph;
    mst_session *session;
    mst_value all;
} products;

static mst_status products_make(const char *devices, products *p) {
    enum { ROWS = BATCH * POSITIONS, OF_BLOCK = 6 };
    static const int64_t size[][2] = {{WIDTH, WIDTH},     {WIDTH, WIDTH},     {WIDTH, WIDTH},     {WIDTH, WIDTH},
                                      {WIDTH, 4 * WIDTH}, {4 * WIDTH, WIDTH}, {WIDTH, VOCABULARY}};
    mst_value product[LAYERS * OF_BLOCK + 1];
    MST_TRY(mst_graph_create(&p->graph));
    for (int i = 0; i <= LAYERS * OF_BLOCK; i++) {
        const int64_t *s = size[i < LAYERS * OF_BLOCK ? i % OF_BLOCK : OF_BLOCK];
        const mst_value a = mst_variable(p->graph, NULL, mst_random_uniform(p->graph, MST_SHAPE(ROWS, s[0])));
        const mst_value b = mst_variable(p->graph, NULL, mst_random_uniform(p->graph, MST_SHAPE(s[0], s[1])));
        product[i] = mst_matmul(a, b);
    }
    p->all = mst_group(product, LAYERS * OF_BLOCK + 1);
    MST_TRY(mst_session_create(p->graph, &(mst_session_options){.devices = devices}, &p->session));
    return mst_session_init_variables(p->session);
}

static void products_free(products *p) {
    mst_session_destroy(p->session);
    mst_graph_destroy(p->graph);
}

/* Tokens a second if a step were its products alone: as many flops as three forward passes. */
static mst_status products_window(products *p, double seconds, double *rate) {
    int64_t runs = 0;
    const double began = bench_now();
    double now = began;
    while (runs == 0 || now - began < seconds) {
        MST_TRY(mst_session_run(p->session, NULL, 0, &p->all, 1, NULL));
        runs++;
        now = bench_now();
    }
    *rate = (double)(runs * BATCH * POSITIONS) / (now - began) / 3;
    return MST_OK;
}

/* ---- the models ---- */

typedef struct gpt {
    mst_model *model;
    mst_dataset *data;
    products products;
    char devices[32];
} gpt;

static mst_status gpt_make(int threads, gpt *g) {
    mst_tensor *tokens[2] = {NULL, NULL};
    snprintf(g->devices, sizeof g->devices, "cpu:1/%d", threads);
    mst_status status = MST_OK;
    for (int i = 0; i < 2 && !status; i++) {
        status = mst_tensor_create(MST_I32, MST_SHAPE(BATCH, POSITIONS), &tokens[i]);
        for (int64_t k = 0; !status && k < BATCH * POSITIONS; k++)
            mst_tensor_set(tokens[i], k, (double)((k + i) * 7919 % VOCABULARY));
    }
    if (!status) status = mst_dataset_from_tensors(tokens, 2, &g->data);
    mst_tensor_release(tokens[0]);
    mst_tensor_release(tokens[1]);
    if (!status) status = products_make(g->devices, &g->products);
    if (!status) status = mst_model_create(&g->model);
    if (status) return status;
    mst_gpt(g->model, .layers = LAYERS, .width = WIDTH, .heads = HEADS, .vocabulary_size = VOCABULARY,
            .positions = POSITIONS);
    return mst_compile(g->model, .optimizer = mst_adamw(.learning_rate = 0.0003, .weight_decay = 0.01),
                       .loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, .session = {.devices = g->devices}, .seed = 1);
}

static void gpt_free(gpt *g) {
    mst_model_destroy(g->model);
    mst_dataset_release(g->data);
    products_free(&g->products);
}

/* Tokens of training a second. */
static mst_status train_window(gpt *g, double seconds, double *rate) {
    int64_t steps = 0;
    const double began = bench_now();
    double now = began;
    while (steps == 0 || now - began < seconds) {
        MST_TRY(mst_fit(g->model, .data = g->data, .batch_size = BATCH, .steps = 1));
        steps++;
        now = bench_now();
    }
    *rate = (double)(steps * BATCH * POSITIONS) / (now - began);
    return MST_OK;
}

/* New tokens a second, without the time of the prompt. */
static mst_status write_window(gpt *g, double seconds, double *rate) {
    int32_t prompt[PROMPT];
    double prompt_seconds = 0;
    int64_t count = 0, asked = FEW_TOKENS;
    double spent = 0;
    for (int i = 0; i < PROMPT; i++) prompt[i] = 7919 * i % VOCABULARY;
    while (count == 0 || spent < seconds) {
        mst_token_ids out = {.count = 0};
        const mst_generate_options o = {
            .max_tokens = asked, .temperature = MST_ZERO, .devices = g->devices, .prompt_seconds = &prompt_seconds};
        const double began = bench_now();
        const mst_status status = mst_generate(g->model, prompt, PROMPT, &o, &out);
        spent += bench_now() - began - prompt_seconds;
        count += out.count - 1;
        free(out.id);
        MST_TRY(status);
        asked = POSITIONS - PROMPT;
    }
    *rate = (double)count / spent;
    return MST_OK;
}

/* ---- the bound ---- */

MST_SIMD static float add_up(const float *x, int64_t count) {
    enum { PARTS = 64 };
    float sum[PARTS] = {0}, all = 0;
    for (int64_t i = 0; i + PARTS <= count; i += PARTS)
        for (int k = 0; k < PARTS; k++) sum[k] += x[i + k];
    for (int k = 0; k < PARTS; k++) all += sum[k];
    return all;
}

typedef struct reading {
    const float *from;
    int64_t count;
    volatile float sum;
} reading;

static void *read_part(void *context) {
    reading *r = context;
    r->sum = add_up(r->from, r->count);
    return NULL;
}

/* How often a second THREADS threads read COUNT floats. */
static double read_rate(const float *from, int64_t count, int threads) {
    enum { TIMES = 5 };
    double least = 0;
    for (int time = 0; time < TIMES; time++) {
        reading part[MOST_THREADS];
        pthread_t thread[MOST_THREADS];
        int started = 0;
        const double began = bench_now();
        for (int i = 0; i < threads; i++)
            part[i] = (reading){.from = from + count / threads * i, .count = count / threads};
        for (int i = 1; i < threads; i++) {
            if (pthread_create(&thread[i], NULL, read_part, &part[i])) break;
            started = i;
        }
        read_part(&part[0]);
        for (int i = 1; i <= started; i++) pthread_join(thread[i], NULL);
        const double took = bench_now() - began;
        if (time == 0 || took < least) least = took;
    }
    return 1 / least;
}

/* The weights that each token reads: all but the embedding of positions, of which it reads a row. */
static int64_t weights_read(mst_model *model) {
    const mst_weight *weight;
    int64_t count, all = 0;
    if (mst_model_weights(model, &weight, &count)) return 0;
    for (int64_t i = 0; i < count; i++)
        if (!strstr(weight[i].name, "position_embedding")) all += mst_shape_count(weight[i].spec.shape);
    return all;
}

/* ---- the benchmark ---- */

static mst_status measure_kind(gpt *g, int kind, int threads, const bench_tensorflow *peer, const float *memory,
                               double seconds) {
    double bare;
    bench_row *row = &rows[kind * APART];
    double rate, other = 0;
    MST_TRY(train_window(g, seconds, &rate));
    MST_TRY(products_window(&g->products, seconds / 2, &bare));
    bench_add(&row[TRAIN], rate);
    bench_add(&row[PRODUCTS], bare);
    bench_add(&row[TO_PRODUCTS], rate / bare);
    if (peer->questions) other = bench_tensorflow_ask(peer, kind ? "all" : "one", seconds);
    if (other > 0) {
        bench_add(&row[PEER], other);
        bench_add(&row[TO_PEER], rate / other);
    }
    MST_TRY(write_window(g, seconds / 2, &rate));
    const double bound = read_rate(memory, weights_read(g->model), threads);
    bench_add(&row[WRITE], rate);
    bench_add(&row[BOUND], bound);
    bench_add(&row[TO_BOUND], rate / bound);
    return MST_OK;
}

static mst_status measure(gpt *g, int cores, const bench_tensorflow *peer, const bench_options *o) {
    const int64_t count = weights_read(g->model);
    float *memory = malloc((size_t)count * sizeof *memory);
    if (!memory) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for %lld weights", (long long)count);
    for (int64_t i = 0; i < count; i++) memory[i] = (float)(i % 7);
    const double began = bench_now();
    mst_status status = MST_OK;
    for (int round = 0, rounds = bench_rounds(o, ROUNDS); round < rounds && !status; round++) {
        bench_progress_round(round, rounds, began);
        for (int kind = 0; kind < KINDS && !status; kind++)
            status = measure_kind(&g[kind], kind, kind ? cores : 1, peer, memory, bench_seconds(o));
    }
    free(memory);
    return status;
}

static int run(const command_call *call) {
    const bench_options *o = call->options;
    mst_machine machine;
    gpt g[KINDS] = {{.model = NULL}};
    bench_tensorflow peer = {.questions = NULL};
    char *folder = NULL;
    bool good = true;
    mst_machine_read(&machine);
    const int cores = machine.num_cores < MOST_THREADS ? machine.num_cores : MOST_THREADS;
    if (!o->json)
        printf(
            "GPT of %d x %d, %d positions, vocabulary %d, batch %d, AdamW, f32; medians of %d rounds\n%s, %d cores, "
            "%s\n",
            LAYERS, WIDTH, POSITIONS, VOCABULARY, BATCH, bench_rounds(o, ROUNDS), machine.cpu, cores, machine.isa);
    mst_status status = bench_folder_make(NULL, &folder);
    for (int kind = 0; kind < KINDS && !status; kind++) status = gpt_make(kind ? cores : 1, &g[kind]);
    if (!status && o->peers) good = bench_tensorflow_open("gpt", "pytorch", folder, "pytorch_gpt.py", "", &peer);
    if (!status) status = measure(g, cores, &peer, o);
    if (peer.questions) good = bench_tensorflow_close(&peer) && good;
    for (int kind = 0; kind < KINDS; kind++) gpt_free(&g[kind]);
    bench_folder_remove(folder);
    if (status) return command_fail(EXIT_FAILED, "gpt: %s", mst_error()->message);
    bench_print(rows, KINDS * APART, o->json);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static const option options[] = {
    BENCH_COMMON_OPTIONS, BENCH_PEERS_OPTION("also PyTorch, which is installed first"), {0}};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_gpt = {
    .name = "gpt",
    .summary = "a language model: training beside PyTorch, writing beside the speed of memory",
    .usage = "[options]",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
