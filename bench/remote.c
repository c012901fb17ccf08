/** muster-bench remote: a step of a small graph that lies on two task servers, each a process of this machine, beside
 *  the round trip of a message between two processes over TCP by ZeroMQ alone. The two take turns, so that each ratio
 *  is of neighbouring measurements. */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/table.h"
#include "bench/zmq_alone.h"
#include "cluster/free_ports.h"
#include "muster/muster.h"

enum { ROUNDS = 5, TASKS = 2, WIDTH = 16, MESSAGE = 64, BATCH = 100 };

enum { BARE, READ, STEP, READ_OF_BARE, STEP_OF_BARE, NUM_ROWS };
static bench_row rows[NUM_ROWS] = {
    [BARE] = BENCH_AT_MOST("bare", "64 bytes there and back between two processes, ZeroMQ over TCP", "us", 0),
    [READ] = BENCH_AT_MOST("read", "a run over two tasks that changes nothing", "us", 0),
    [STEP] = BENCH_AT_MOST("step", "a step over two tasks that changes a variable on each", "us", 0),
    [READ_OF_BARE] = BENCH_AT_MOST("read_of_bare", "a run that changes nothing: bare round trips", "", 3),
    [STEP_OF_BARE] = BENCH_AT_MOST("step_of_bare", "a step: bare round trips", "", 3),
};

/* ---- ZeroMQ alone ---- */

static mst_status measure_bare(bench_zmq *zmq, double seconds, double *microseconds) {
    const double began = bench_now();
    int64_t count = 0;
    while (bench_now() - began < seconds)
        for (int i = 0; i < BATCH; i++, count++) MST_TRY(bench_zmq_exchange(zmq));
    *microseconds = 1e6 * (bench_now() - began) / (double)count;
    return MST_OK;
}

/* ---- a graph on two tasks ---- */

typedef struct small {
    mst_graph *graph;
    mst_session *session;
    mst_value x, y, train;
    mst_tensor *value;
} small;

/* y = tanh(x a) b, with a on task 0 and b on task 1; a step adds to both. */
static mst_status build(small *s, const char *target) {
    MST_TRY(mst_graph_create(&s->graph));
    mst_graph *g = s->graph;
    mst_value hidden = MST_NONE, changes[TASKS];
    mst_with_device (g, "/job:local/task:0") {
        s->x = mst_placeholder(g, MST_F32, MST_SHAPE(1, WIDTH), .name = "x");
        const mst_value a = mst_variable(g, "a", mst_fill(g, MST_F32, MST_SHAPE(WIDTH, WIDTH), 0.01));
        hidden = mst_tanh(mst_matmul(s->x, a));
        changes[0] = mst_assign_add(a, mst_fill(g, MST_F32, MST_SHAPE(WIDTH, WIDTH), 1e-6));
    }
    mst_with_device (g, "/job:local/task:1") {
        const mst_value b = mst_variable(g, "b", mst_fill(g, MST_F32, MST_SHAPE(WIDTH, 1), 0.01));
        s->y = mst_matmul(hidden, b);
        changes[1] = mst_assign_add(b, mst_fill(g, MST_F32, MST_SHAPE(WIDTH, 1), 1e-6));
    }
    s->train = mst_group(changes, TASKS);
    MST_TRY(mst_graph_check(g));
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(1, WIDTH), &s->value));
    MST_TRY(mst_session_create(g, &(mst_session_options){.target = target, .timeout = 60}, &s->session));
    return mst_session_init_variables(s->session);
}

static void end(small *s) {
    mst_session_destroy(s->session);
    mst_graph_destroy(s->graph);
    mst_tensor_release(s->value);
}

static mst_status measure_runs(small *s, bool step, double seconds, double *microseconds) {
    const mst_feed feed = {.value = s->x, .tensor = s->value};
    const mst_value fetches[] = {s->y, s->train};
    mst_tensor *output[2] = {NULL, NULL};
    mst_status status = mst_session_run(s->session, &feed, 1, fetches, 1 + step, output); /* makes the plan */
    const double began = bench_now();
    int64_t count = 0;
    for (; !status && bench_now() - began < seconds; count++)
        status = mst_session_run(s->session, &feed, 1, fetches, 1 + step, output);
    *microseconds = 1e6 * (bench_now() - began) / (double)(count ? count : 1);
    mst_tensor_release(output[0]);
    return status;
}

/* ---- processes ---- */

typedef struct processes {
    pid_t pid[TASKS];
    int count;
    char target[64];
    bench_zmq zmq;
} processes;

static void end_all(processes *all) {
    bench_zmq_stop(&all->zmq);
    for (int i = 0; i < all->count; i++) {
        kill(all->pid[i], SIGTERM);
        waitpid(all->pid[i], NULL, 0);
    }
}

static mst_status start_all(processes *all) {
    char cluster[100], index[8];
    int port[TASKS];
    MST_TRY(mst_find_free_ports(TASKS, port));
    snprintf(cluster, sizeof cluster, "local=localhost:%d,localhost:%d", port[0], port[1]);
    snprintf(all->target, sizeof all->target, "tcp://localhost:%d", port[0]);
    for (int i = 0; i < TASKS; i++) {
        extern char **environ;
        char *const arguments[] = {"muster", "server",  "--cluster", cluster,   "--task-index",
                                   index,    "--quiet", "--devices", "cpu:1/1", NULL};
        snprintf(index, sizeof index, "%d", i);
        if (posix_spawn(&all->pid[all->count], BENCH_COMMAND, NULL, NULL, arguments, environ))
            return MST_FAIL(MST_IO, "remote: %s cannot be started", BENCH_COMMAND);
        all->count++;
    }
    return bench_zmq_start(MESSAGE, false, &all->zmq);
}

static mst_status measure(processes *all, small *s, double seconds, int rounds) {
    double bare, time;
    const double began = bench_now();
    for (int round = 0; round < rounds; round++) {
        bench_progress_round(round, rounds, began);
        for (int step = 0; step < 2; step++) {
            MST_TRY(measure_bare(&all->zmq, seconds / 2, &bare));
            MST_TRY(measure_runs(s, step, seconds, &time));
            bench_add(&rows[BARE], bare);
            bench_add(&rows[step ? STEP : READ], time);
            bench_add(&rows[step ? STEP_OF_BARE : READ_OF_BARE], time / bare);
        }
    }
    return MST_OK;
}

static int remote_run(const command_call *call) {
    const bench_options *o = call->options;
    processes all = {.count = 0};
    small s = {.graph = NULL};
    mst_status status = start_all(&all);
    if (!status) status = build(&s, all.target);
    if (!status) status = measure(&all, &s, bench_seconds(o) / 5, bench_rounds(o, ROUNDS));
    end(&s);
    end_all(&all);
    bench_progress_end();
    if (status) return command_fail_library(EXIT_FAILED, NULL);
    bench_print(rows, NUM_ROWS, o->json);
    return EXIT_DONE;
}

static const option options[] = {BENCH_COMMON_OPTIONS, {0}};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_remote = {
    .name = "remote",
    .summary = "a step of a small graph on two task servers, in round trips of ZeroMQ",
    .usage = "[options]",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .run = remote_run,
};
