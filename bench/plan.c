/* muster-bench plan: how plans, calls and state grow with the graph, the devices and the feeds. Models are made up:
 * what counts is the number of their variables, nodes and devices. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "bench/bench.h"
#include "bench/table.h"
#include "muster/muster.h"

enum { MANY_VARIABLES = 100000, LAYERS = 80, NODES_A_REPLICA = 1000, MANY_FEEDS = 2048, SNAPSHOT_PIECES = 256 };
enum { SNAPSHOT_PIECE_BYTES = 4 << 20, SNAPSHOT_ROUNDS = 5 };

/* A graph with its session; NULL after a failure. */
typedef struct bench {
    mst_graph *graph;
    mst_session *session;
} bench;

static mst_status begin(bench *b, const char *devices) {
    const mst_session_options options = {.devices = devices};
    *b = (bench){NULL, NULL};
    MST_TRY(mst_graph_create(&b->graph));
    return mst_session_create(b->graph, &options, &b->session);
}

static void end(bench *b) {
    mst_session_destroy(b->session);
    mst_graph_destroy(b->graph);
}

/* ---- the update of many variables ---- */

typedef struct update_time {
    double plan, step;
} update_time;

/* Adam on COUNT scalars, each its own variable. */
static mst_status update_variables(bench *b, int count, mst_value *variables, mst_value *terms, update_time *out) {
    enum { STEPS = 5 };
    char name[32];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "w%d", i);
        variables[i] = mst_variable(b->graph, name, mst_scalar(b->graph, MST_F32, 1));
        terms[i] = mst_square(variables[i]);
    }
    const mst_optimizer adam = mst_adam();
    const mst_value train = mst_minimize(&adam, mst_add_n(terms, count), variables, count, MST_NONE);
    MST_TRY(mst_graph_check(b->graph));
    MST_TRY(mst_session_init_variables(b->session));
    double started = bench_now();
    MST_TRY(mst_session_run(b->session, NULL, 0, &train, 1, NULL));
    out->plan = bench_now() - started;
    started = bench_now();
    for (int i = 0; i < STEPS; i++) MST_TRY(mst_session_run(b->session, NULL, 0, &train, 1, NULL));
    out->step = (bench_now() - started) / STEPS;
    return MST_OK;
}

static mst_status measure_update(int count, update_time *out) {
    bench b;
    mst_value *variables = malloc((size_t)count * sizeof *variables), *terms = malloc((size_t)count * sizeof *terms);
    mst_status status = begin(&b, "cpu:1/1");
    if (!status)
        status =
            variables && terms ? update_variables(&b, count, variables, terms, out) : MST_NO_MEMORY("for a benchmark");
    end(&b);
    free(variables);
    free(terms);
    return status;
}

/* ---- the plan of a mirrored step on many devices ---- */

/* 80 layers of a weight and a bias, and elementwise ops up to 1,000 nodes with the gradients. */
static void build_replica(void *context, mst_graph *graph, int shard, mst_replica *out) {
    (void)context, (void)shard;
    enum { WIDTH = 8, OPS = 2 };
    char name[32];
    mst_value x = mst_random_uniform(graph, MST_SHAPE(4, WIDTH));
    for (int i = 0; i < LAYERS; i++) {
        snprintf(name, sizeof name, "layer%d/weights", i);
        mst_value w = mst_get_variable(graph, name, MST_SHAPE(WIDTH, WIDTH), MST_F32, mst_constant_initializer(0.1));
        snprintf(name, sizeof name, "layer%d/biases", i);
        mst_value b = mst_get_variable(graph, name, MST_SHAPE(WIDTH), MST_F32, mst_zeros_initializer());
        x = mst_add(mst_matmul(x, w), b);
        for (int k = 0; k < OPS; k++) x = mst_tanh(x);
    }
    out->loss = mst_reduce_mean(mst_square(x), .axes = MST_AXES(1));
}

/* CLIP: all gradients together are clipped by their norm, so that every device needs something of all. */
static mst_status plan_mirrored(bench *b, int devices, bool clip, mst_plan_info *out) {
    const char **names = malloc((size_t)devices * sizeof *names);
    if (!names) return MST_NO_MEMORY("for a benchmark");
    for (int i = 0; i < devices; i++) names[i] = mst_session_device(b->session, i);
    const mst_strategy strategy = {.kind = MST_STRATEGY_MIRRORED, .num_devices = devices, .devices = names};
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0.01, .momentum = 0.9, .clip_global_norm = clip ? 1 : 0);
    mst_step_values values;
    mst_strategy_build(b->graph, &strategy, &sgd, build_replica, NULL, &values);
    mst_status status = mst_graph_check(b->graph);
    if (!status) status = mst_session_init_variables(b->session);
    const mst_value fetch[] = {values.train, values.loss};
    mst_tensor *loss[2] = {NULL};
    if (!status) status = mst_session_run(b->session, NULL, 0, fetch, 2, loss);
    mst_tensor_release(loss[1]);
    *out = mst_session_plan_info(b->session);
    free(names);
    return status;
}

static mst_status measure_mirrored(int devices, const char *type, bool clip, mst_plan_info *out) {
    bench b;
    char list[64];
    snprintf(list, sizeof list, "%s:%d/1", type, devices);
    mst_status status = begin(&b, list);
    if (!status) status = plan_mirrored(&b, devices, clip, out);
    end(&b);
    return status;
}

/* ---- calls ---- */

/* Seconds of a call, the best of some rounds: a call that is interrupted says nothing of the others. */
static mst_status time_calls(mst_session *session, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                             int num_fetches, double *out) {
    enum { ROUNDS = 20 };
    const double least = 0.02;
    MST_TRY(mst_session_run(session, feeds, num_feeds, fetches, num_fetches, NULL));
    *out = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t calls = 0;
        const double started = bench_now();
        double elapsed = 0;
        while (elapsed < least) {
            for (int i = 0; i < 16; i++, calls++)
                MST_TRY(mst_session_run(session, feeds, num_feeds, fetches, num_fetches, NULL));
            elapsed = bench_now() - started;
        }
        if (elapsed / (double)calls < *out) *out = elapsed / (double)calls;
    }
    return MST_OK;
}

/* Of a graph without nodes, and of one with a number on each device. */
static mst_status measure_calls(const char *devices, double *empty, double *one_each) {
    bench b;
    mst_status status = begin(&b, devices);
    if (!status) status = time_calls(b.session, NULL, 0, NULL, 0, empty);
    mst_value fetch[2];
    const int count = status ? 0 : mst_session_num_devices(b.session);
    for (int i = 0; i < count; i++)
        mst_with_device (b.graph, mst_session_device(b.session, i)) fetch[i] = mst_random_uniform(b.graph, MST_SCALAR);
    if (!status) status = time_calls(b.session, NULL, 0, fetch, count, one_each);
    end(&b);
    return status;
}

/* NUMBER fed to COUNT placeholders, which are summed. */
static mst_status time_feeds(bench *b, mst_tensor *number, int count, mst_feed *feeds, mst_value *values, double *out) {
    for (int i = 0; i < count; i++) {
        values[i] = mst_placeholder(b->graph, MST_F32, MST_SCALAR, NULL);
        feeds[i] = (mst_feed){.value = values[i], .tensor = number};
    }
    const mst_value sum = mst_add_n(values, count);
    MST_TRY(mst_graph_check(b->graph));
    return time_calls(b->session, feeds, count, &sum, 1, out);
}

static mst_status measure_feeds(int count, double *out) {
    bench b;
    mst_tensor *number = NULL;
    mst_feed *feeds = calloc((size_t)count, sizeof *feeds);
    mst_value *values = calloc((size_t)count, sizeof *values);
    mst_status status = begin(&b, "cpu:1/1");
    if (!status) status = mst_tensor_create(MST_F32, MST_SCALAR, &number);
    if (!status)
        status = feeds && values ? time_feeds(&b, number, count, feeds, values, out) : MST_NO_MEMORY("for a benchmark");
    end(&b);
    mst_tensor_release(number);
    free(feeds);
    free(values);
    return status;
}

/* ---- a snapshot while training ---- */

typedef struct snapshot_job {
    mst_store *store;
    atomic_int phase; /* 0: not begun, 1: under way, 2: done */
    mst_status status;
    char message[256];
    double seconds;
} snapshot_job;

static void *take_snapshot(void *context) {
    snapshot_job *job = context;
    mst_snapshot *snapshot = NULL;
    const double started = bench_now();
    atomic_store(&job->phase, 1);
    job->status = mst_store_snapshot(job->store, &snapshot);
    job->seconds = bench_now() - started;
    if (job->status) snprintf(job->message, sizeof job->message, "%s", mst_error()->message);
    atomic_store(&job->phase, 2);
    mst_snapshot_release(snapshot);
    return NULL;
}

static mst_status fill_store(mst_store *store) {
    mst_tensor *piece;
    char name[32];
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(SNAPSHOT_PIECE_BYTES / 4), &piece));
    mst_status status = MST_OK;
    for (int i = 0; i < SNAPSHOT_PIECES && !status; i++) {
        snprintf(name, sizeof name, "piece%d", i);
        status = mst_store_set(store, NULL, name, MST_STATE_WEIGHT, piece);
    }
    mst_tensor_release(piece);
    return status;
}

/* Seconds that memcpy takes for as much memory, which has been touched. */
static double time_copy(void) {
    static void *(*volatile copy)(void *, const void *, size_t) = memcpy; /* not to be left out */
    const size_t bytes = (size_t)SNAPSHOT_PIECES * SNAPSHOT_PIECE_BYTES;
    char *from = malloc(bytes), *to = malloc(bytes);
    double seconds = 0;
    if (from && to) {
        memset(from, 1, bytes);
        memset(to, 2, bytes);
        const double started = bench_now();
        copy(to, from, bytes);
        seconds = bench_now() - started;
    }
    free(from);
    free(to);
    return seconds;
}

/* The longest time that a step took while another thread took a snapshot. */
static mst_status measure_snapshot(double *longest) {
    bench b;
    mst_status status = begin(&b, "cpu:1/1");
    mst_value train = MST_NONE;
    if (!status) status = fill_store(mst_session_store(b.session));
    if (!status) {
        mst_value w = mst_variable(b.graph, "w", mst_fill(b.graph, MST_F32, MST_SHAPE(1000), 1));
        const mst_optimizer sgd = mst_sgd(.learning_rate = 0.01);
        train = mst_minimize(&sgd, mst_reduce_sum(mst_square(w)), NULL, 0, MST_NONE);
        status = mst_session_init_variables(b.session);
    }
    if (!status) status = mst_session_run(b.session, NULL, 0, &train, 1, NULL);
    snapshot_job job = {.store = b.session ? mst_session_store(b.session) : NULL};
    pthread_t thread;
    *longest = 0;
    if (!status && pthread_create(&thread, NULL, take_snapshot, &job) == 0) {
        while (atomic_load(&job.phase) < 2 && !status) {
            const double started = bench_now();
            status = mst_session_run(b.session, NULL, 0, &train, 1, NULL);
            const double seconds = bench_now() - started;
            if (atomic_load(&job.phase) > 0 && seconds > *longest) *longest = seconds;
        }
        pthread_join(thread, NULL);
        if (job.status && !status) status = mst_error_set(job.status, __FILE__, __LINE__, "%s", job.message);
    }
    end(&b);
    return status;
}

/* ---- the table ---- */

enum {
    UPDATE_PLAN,
    UPDATE_PLAN_GROWTH,
    UPDATE_STEP,
    UPDATE_STEP_GROWTH,
    MIRRORED_FIRST,
    MIRRORED_8,
    MIRRORED_64,
    MIRRORED_256,
    MIRRORED_GROWTH,
    CLIPPED_64,
    CLIPPED_256,
    CLIPPED_GROWTH,
    EMPTY_ONE,
    EMPTY_TWO,
    NUMBER_ONE,
    NUMBER_TWO,
    FEEDS,
    FEEDS_GROWTH,
    SNAPSHOT,
    NUM_ROWS
};

static bench_row rows[NUM_ROWS] = {
    [UPDATE_PLAN] = BENCH_AT_MOST("update_plan", "Adam on 100,000 variables: plan and first step", "s", 0),
    [UPDATE_PLAN_GROWTH] = BENCH_AT_MOST("update_plan_growth", "  time a variable, 100,000 / 25,000", "x", 1.5),
    [UPDATE_STEP] = BENCH_AT_MOST("update_step", "Adam on 100,000 variables: a step", "s", 0),
    [UPDATE_STEP_GROWTH] = BENCH_AT_MOST("update_step_growth", "  time a variable, 100,000 / 25,000", "x", 1.5),
    [MIRRORED_FIRST] = BENCH_AT_MOST("mirrored_1", "plan, mirrored, 160 variables, 1 device", "s", 0),
    [MIRRORED_8] = BENCH_AT_MOST("mirrored_8", "plan, mirrored, 160 variables, 8 devices", "s", 0),
    [MIRRORED_64] = BENCH_AT_MOST("mirrored_64", "plan, mirrored, 160 variables, 64 devices", "s", 2),
    [MIRRORED_256] = BENCH_AT_MOST("mirrored_256", "plan, mirrored, 160 variables, 256 devices", "s", 8),
    [MIRRORED_GROWTH] = BENCH_AT_MOST("mirrored_growth", "  time a device, 256 / 64", "x", 1.5),
    [CLIPPED_64] = BENCH_AT_MOST("clipped_64", "  clipped by the global norm, 64 devices", "s", 2),
    [CLIPPED_256] = BENCH_AT_MOST("clipped_256", "  clipped by the global norm, 256 devices", "s", 8),
    [CLIPPED_GROWTH] = BENCH_AT_MOST("clipped_growth", "  time a device, 256 / 64", "x", 1.5),
    [EMPTY_ONE] = BENCH_AT_MOST("empty_one", "a call of an empty graph, one device", "us", 1),
    [EMPTY_TWO] = BENCH_AT_MOST("empty_two", "a call of an empty graph, two devices", "us", 5),
    [NUMBER_ONE] = BENCH_AT_MOST("number_one", "a call that makes a number, one device", "us", 0),
    [NUMBER_TWO] = BENCH_AT_MOST("number_two", "a call that makes a number on each of two devices", "us", 5),
    [FEEDS] = BENCH_AT_MOST("feeds", "a call with 2,048 feeds", "us", 0),
    [FEEDS_GROWTH] = BENCH_AT_MOST("feeds_growth", "  time a feed, 2,048 / 512", "x", 1.5),
    [SNAPSHOT] = BENCH_AT_MOST("snapshot", "longest step during a snapshot of 1 GiB / copy of 1 GiB", "x", 1.2),
};

static mst_status measure_updates(void) {
    update_time small = {0}, large = {0};
    MST_TRY(measure_update(MANY_VARIABLES / 4, &small));
    MST_TRY(measure_update(MANY_VARIABLES, &large));
    bench_add(&rows[UPDATE_PLAN], large.plan);
    bench_add(&rows[UPDATE_PLAN_GROWTH], large.plan / (4 * small.plan));
    bench_add(&rows[UPDATE_STEP], large.step);
    bench_add(&rows[UPDATE_STEP_GROWTH], large.step / (4 * small.step));
    return MST_OK;
}

static void print_plan(int devices, const char *type, bool clip, const mst_plan_info *info, bool json) {
    if (json)
        printf(
            "{\"key\":\"plan_%s%s_%d\",\"nodes\":%lld,\"waits\":%lld,\"crossings\":%lld,\"crossing_bytes\":%lld,"
            "\"arena_bytes\":%lld,\"plan_bytes\":%lld,\"seconds\":%.6g}\n",
            clip ? "clipped_" : "", type, devices, (long long)info->nodes, (long long)info->waits,
            (long long)info->crossings, (long long)info->crossing_bytes, (long long)info->arena_bytes,
            (long long)info->plan_bytes, info->seconds);
    else
        printf("  %s:%-6d %9lld %9lld %10lld %11.3f %11.3f %10.3f %9.3f\n", type, devices, (long long)info->nodes,
               (long long)info->waits, (long long)info->crossings, (double)info->crossing_bytes / 1e6,
               (double)info->arena_bytes / 1e6, (double)info->plan_bytes / 1e6, info->seconds);
}

static bool has_islands(void) {
    bench b;
    const bool has = begin(&b, "island:1") == MST_OK;
    end(&b);
    return has;
}

/* Plans over CPU devices; seconds of each go to the rows from FIRST on. */
static mst_status measure_cpu_plans(const int *devices, int count, bool clip, bool json, int first) {
    for (int i = 0; i < count; i++) {
        mst_plan_info info = {0};
        bench_progress("a plan over %d devices", devices[i]);
        MST_TRY(measure_mirrored(devices[i], "cpu", clip, &info));
        bench_progress_end();
        print_plan(devices[i], "cpu", clip, &info, json);
        bench_add(&rows[first + i], info.seconds);
    }
    return MST_OK;
}

static mst_status measure_plans(bool json) {
    static const int devices[] = {1, 8, 64, 256};
    if (!json)
        printf(
            "mirrored, 160 variables, about %d nodes a replica\n  devices        nodes     waits  crossings  MB "
            "crossing"
            "   MB of step MB of plan   seconds\n",
            NODES_A_REPLICA);
    MST_TRY(measure_cpu_plans(devices, 4, false, json, MIRRORED_FIRST));
    bench_add(&rows[MIRRORED_GROWTH], bench_median(&rows[MIRRORED_256]) / (4 * bench_median(&rows[MIRRORED_64])));
    if (!json) printf(" clipped by the global norm\n");
    MST_TRY(measure_cpu_plans(devices + 2, 2, true, json, CLIPPED_64));
    bench_add(&rows[CLIPPED_GROWTH], bench_median(&rows[CLIPPED_256]) / (4 * bench_median(&rows[CLIPPED_64])));
    const bool islands = has_islands();
    if (!islands && !json) printf("  island: the module is not there\n");
    for (int count = 2; count <= 8 && islands; count *= 2) {
        mst_plan_info info = {0};
        MST_TRY(measure_mirrored(count, "island", false, &info));
        print_plan(count, "island", false, &info, json);
    }
    return MST_OK;
}

static mst_status measure_all_calls(void) {
    double empty = 0, number = 0, few = 0, many = 0, longest = 0;
    MST_TRY(measure_calls("cpu:1/1", &empty, &number));
    bench_add(&rows[EMPTY_ONE], empty * 1e6);
    bench_add(&rows[NUMBER_ONE], number * 1e6);
    MST_TRY(measure_calls("cpu:2/1", &empty, &number));
    bench_add(&rows[EMPTY_TWO], empty * 1e6);
    bench_add(&rows[NUMBER_TWO], number * 1e6);
    MST_TRY(measure_feeds(MANY_FEEDS / 4, &few));
    MST_TRY(measure_feeds(MANY_FEEDS, &many));
    bench_add(&rows[FEEDS], many * 1e6);
    bench_add(&rows[FEEDS_GROWTH], many / (4 * few));
    for (int round = 0; round < SNAPSHOT_ROUNDS; round++) {
        MST_TRY(measure_snapshot(&longest));
        const double copy = time_copy();
        if (copy > 0) bench_add(&rows[SNAPSHOT], longest / copy);
    }
    return MST_OK;
}

static int run(const command_call *call) {
    const bench_options *options = call->options;
    mst_status status = measure_plans(options->json);
    fflush(stdout);
    bench_progress("plans of updates");
    if (!status) status = measure_updates();
    bench_print(rows, NUM_ROWS, options->json);
    bench_progress("calls and snapshots");
    if (!status) status = measure_all_calls();
    bench_progress_end();
    bench_print(rows, NUM_ROWS, options->json);
    return status ? command_fail(EXIT_FAILED, "plan: %s", mst_error()->message) : EXIT_DONE;
}

static const option options[] = {
    BENCH_COMMON_OPTIONS,
    {0},
};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_plan = {
    .name = "plan",
    .summary = "how plans, calls and snapshots grow with the graph and the devices",
    .usage = "[options]",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
