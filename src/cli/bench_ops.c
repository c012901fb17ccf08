/* muster bench ops: each op's kernel on one thread against its limit: the bytes it must move at the speed of a copy of
 * the same size, or the flops it must make at the speed of a large matrix product. Element-wise ops are found in the
 * registry; the others have a case here. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/bench.h"
#include "cli/command.h"
#include "muster/muster.h"

enum { ROWS = 1000, COLUMNS = 256, WIDE = 784, HIDDEN = 500, BATCH = 100, CLASSES = 10, MAX_SRC = 3 };

typedef struct inputs {
    mst_graph *graph;
    mst_value x;     /* f32 [ROWS, COLUMNS] */
    mst_value truth; /* bool [ROWS, COLUMNS], half of it true */
    mst_value index; /* i32 [ROWS] in [0, COLUMNS) */
} inputs;

typedef struct op_case {
    const char *name;
    mst_value (*build)(const inputs *in);
    double flops; /* 0: bytes are the limit */
} op_case;

/* a value of this shape that is not constant, so that nothing is folded away */
static mst_value variable(mst_graph *graph, mst_shape shape) {
    static int number;
    char name[32];
    snprintf(name, sizeof name, "v%d", number++);
    return mst_variable(graph, name, mst_random_uniform(graph, shape, .high = 1), .not_trainable = true);
}

#define CASE(name, expression)                \
    static mst_value name(const inputs *in) { \
        return (expression);                  \
    }
CASE(build_matmul,
     mst_matmul(variable(in->graph, MST_SHAPE(BATCH, WIDE)), variable(in->graph, MST_SHAPE(WIDE, HIDDEN))))
CASE(build_matmul_ta, mst_matmul(variable(in->graph, MST_SHAPE(BATCH, WIDE)),
                                 variable(in->graph, MST_SHAPE(BATCH, HIDDEN)), .transpose_a = true))
CASE(build_matmul_tb, mst_matmul(variable(in->graph, MST_SHAPE(BATCH, WIDE)),
                                 variable(in->graph, MST_SHAPE(HIDDEN, WIDE)), .transpose_b = true))
CASE(build_dense, mst_relu(mst_add(mst_matmul(variable(in->graph, MST_SHAPE(BATCH, WIDE)),
                                              variable(in->graph, MST_SHAPE(WIDE, HIDDEN))),
                                   variable(in->graph, MST_SHAPE(HIDDEN)))))
CASE(build_sum_all, mst_reduce_sum(in->x))
CASE(build_sum_rows, mst_reduce_sum(in->x, MST_AXES(1)))
CASE(build_sum_columns, mst_reduce_sum(in->x, MST_AXES(0)))
CASE(build_mean, mst_reduce_mean(in->x))
CASE(build_max_rows, mst_reduce_max(in->x, MST_AXES(1)))
CASE(build_min_rows, mst_reduce_min(in->x, MST_AXES(1)))
CASE(build_prod, mst_reduce_prod(in->x, MST_AXES(1)))
CASE(build_argmax, mst_argmax(in->x, .axis = -1))
CASE(build_log_softmax, mst_log_softmax(in->x))
CASE(build_cross_entropy, mst_sparse_softmax_cross_entropy(in->x, in->index))
CASE(build_transpose, mst_transpose(in->x))
CASE(build_tile, mst_tile(in->x, MST_SHAPE(1, 2)))
CASE(build_slice, mst_slice(in->x, MST_SHAPE(0, 1), MST_SHAPE(-1, COLUMNS / 2)))
CASE(build_concat, mst_concat(((const mst_value[]){in->x, in->x}), 2, 1))
CASE(build_gather, mst_gather(in->x, in->index, 0))
CASE(build_one_hot, mst_one_hot(in->index, COLUMNS))
CASE(build_l2_loss, mst_l2_loss(in->x))
CASE(build_add_n, mst_add_n((const mst_value[]){in->x, in->x, in->x, in->x}, 4))
CASE(build_bias, mst_add(in->x, variable(in->graph, MST_SHAPE(COLUMNS))))
CASE(build_uniform, mst_random_uniform(in->graph, MST_SHAPE(ROWS, COLUMNS)))
CASE(build_normal, mst_random_normal(in->graph, MST_SHAPE(ROWS, COLUMNS)))
CASE(build_truncated, mst_random_truncated_normal(in->graph, MST_SHAPE(ROWS, COLUMNS)))
CASE(build_top_k, mst_top_k(in->x, 5))

static const double PRODUCT_FLOPS = 2.0 * BATCH * WIDE * HIDDEN;

static int compare_cases(const void *a, const void *b) {
    return strcmp(((const op_case *)a)->name, ((const op_case *)b)->name);
}

/* ---- measuring ---- */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Least seconds of one run that computes VALUE without handing it out. */
static double time_value(mst_session *session, mst_value value, double seconds) {
    mst_value fetch = mst_group(&value, 1);
    double best = -1, start = now();
    for (int i = 0; i < 3 || now() - start < seconds; i++) {
        double before = now();
        if (mst_session_run(session, NULL, 0, &fetch, 1, NULL)) return -1;
        double took = now() - before;
        if (i > 0 && (best < 0 || took < best)) best = took;
    }
    return best;
}

/* Bytes a second of copying as many bytes as the op moves. */
static double copy_speed(size_t bytes) {
    size_t half = bytes / 2 + 64;
    char *from = malloc(half), *to = malloc(half);
    double best = 1e9;
    for (int i = 0; from && to && i < 30; i++) {
        memset(from, i, 64);
        double before = now();
        memcpy(to, from, half);
        __asm__ volatile("" : : "r"(to) : "memory");
        double took = now() - before;
        if (i > 0 && took > 0 && took < best) best = took;
    }
    free(from);
    free(to);
    return (double)(2 * half) / best;
}

typedef struct bench {
    const bench_options *options;
    inputs in;
    mst_session *session;
    double overhead; /* seconds of a run that computes nothing */
    double flops;    /* a second, of a large matrix product */
    int num_measured;
} bench;

static size_t bytes_of(mst_value value) {
    mst_spec spec = mst_value_spec(value);
    return (size_t)mst_shape_count(spec.shape) * mst_dtype_size(spec.dtype);
}

static size_t bytes_moved(mst_value value) {
    size_t bytes = 0;
    for (int i = 0; i < mst_node_num_src(value.node); i++) bytes += bytes_of(mst_node_src(value.node, i));
    for (int i = 0; i < mst_node_num_dst(value.node); i++) bytes += bytes_of(mst_value_output(value, i));
    return bytes;
}

/* A graph of its own for each case: a mistake in one must not spoil the others. */
static mst_status begin(bench *b) {
    MST_TRY(mst_graph_create(&b->in.graph));
    MST_TRY(mst_session_create(b->in.graph, &(mst_session_options){.devices = "cpu:1/1"}, &b->session));
    b->in.x = variable(b->in.graph, MST_SHAPE(ROWS, COLUMNS));
    mst_value even = mst_random_uniform(b->in.graph, MST_SHAPE(ROWS, COLUMNS));
    b->in.truth = mst_variable(b->in.graph, "truth", mst_greater(even, mst_scalar(b->in.graph, MST_F32, 0.5)),
                               .not_trainable = true);
    b->in.index = mst_variable(b->in.graph, "index",
                               mst_cast(mst_random_uniform(b->in.graph, MST_SHAPE(ROWS), .high = COLUMNS), MST_I32),
                               .not_trainable = true);
    return mst_graph_check(b->in.graph);
}

static void end(bench *b) {
    mst_session_destroy(b->session);
    mst_graph_destroy(b->in.graph);
    b->session = NULL;
    b->in.graph = NULL;
}

static bool measure(bench *b, const char *name, mst_value value, double flops) {
    b->num_measured++;
    if (mst_graph_check(b->in.graph) || mst_session_init_variables(b->session)) return false;
    double took = time_value(b->session, value, b->options->seconds / 50) - b->overhead;
    if (took <= 0) return false;
    double limit = flops > 0 ? flops / b->flops : (double)bytes_moved(value) / copy_speed(bytes_moved(value));
    if (b->options->json)
        printf("{\"op\":\"%s\",\"us\":%.3f,\"limit_us\":%.3f,\"of_limit\":%.3f}\n", name, took * 1e6, limit * 1e6,
               limit / took);
    else
        printf("  %-30s %10.2f us   limit %10.2f us (%s)   %6.1f%%\n", name, took * 1e6, limit * 1e6,
               flops > 0 ? "flops" : "bytes", 100 * limit / took);
    return true;
}

/* ---- element-wise ops: any that may work in place, on the dtypes and options of their first example ---- */

static mst_value build_elementwise(bench *b, const mst_op *op) {
    const mst_example *example = op->num_examples ? &op->examples[0] : NULL;
    if (!example || !op->may_alias || op->num_src < 1 || op->num_src > MAX_SRC || example->fails) return MST_NONE;
    if (!(op->dtypes & (MST_FLOATS | MST_DTYPE_BIT(MST_BOOL)))) return MST_NONE;
    mst_value src[MAX_SRC];
    for (int i = 0; i < op->num_src; i++) {
        mst_dtype dtype = example->src[i].dtype;
        bool is_float = op->dtypes & MST_FLOATS;
        if (dtype == MST_BOOL || (!is_float && !dtype))
            src[i] = b->in.truth;
        else
            src[i] = b->in.x;
    }
    return mst_call(b->in.graph, op, op->num_src, src, example->options);
}

static mst_status run_elementwise(bench *b, int *failed) {
    const mst_op *op;
    for (int i = 0; (op = mst_op_at(i)); i++) {
        if (b->options->op && strcmp(b->options->op, op->name) != 0) continue;
        MST_TRY(begin(b));
        mst_value value = build_elementwise(b, op);
        /* an op whose options are for other shapes than these is not element-wise */
        if (!mst_value_is_none(value)) *failed += !measure(b, op->name, value, 0);
        end(b);
    }
    return MST_OK;
}

static mst_status run_cases(bench *b, int *failed) {
    op_case cases[] = {{"matmul", build_matmul, PRODUCT_FLOPS},
                       {"matmul transpose_a", build_matmul_ta, PRODUCT_FLOPS},
                       {"matmul transpose_b", build_matmul_tb, PRODUCT_FLOPS},
                       {"fused_matmul relu", build_dense, PRODUCT_FLOPS},
                       {"reduce_sum", build_sum_all, 0},
                       {"reduce_sum rows", build_sum_rows, 0},
                       {"reduce_sum columns", build_sum_columns, 0},
                       {"reduce_mean", build_mean, 0},
                       {"reduce_max rows", build_max_rows, 0},
                       {"reduce_min rows", build_min_rows, 0},
                       {"reduce_prod rows", build_prod, 0},
                       {"argmax", build_argmax, 0},
                       {"log_softmax", build_log_softmax, 0},
                       {"sparse_softmax_cross_entropy", build_cross_entropy, 0},
                       {"transpose", build_transpose, 0},
                       {"tile", build_tile, 0},
                       {"slice", build_slice, 0},
                       {"concat", build_concat, 0},
                       {"gather", build_gather, 0},
                       {"one_hot", build_one_hot, 0},
                       {"l2_loss", build_l2_loss, 0},
                       {"add_n of 4", build_add_n, 0},
                       {"add of a row", build_bias, 0},
                       {"random_uniform", build_uniform, 0},
                       {"random_normal", build_normal, 0},
                       {"random_truncated_normal", build_truncated, 0},
                       {"top_k of 5", build_top_k, 0}};
    size_t count = sizeof cases / sizeof *cases;
    qsort(cases, count, sizeof *cases, compare_cases);
    for (size_t i = 0; i < count; i++) {
        if (b->options->op && strncmp(cases[i].name, b->options->op, strlen(b->options->op)) != 0) continue;
        MST_TRY(begin(b));
        *failed += !measure(b, cases[i].name, cases[i].build(&b->in), cases[i].flops);
        end(b);
    }
    return MST_OK;
}

/* What a run costs that computes nothing, and what the machine can do. */
static mst_status calibrate(bench *b) {
    enum { LARGE = 768 };
    MST_TRY(begin(b));
    mst_value square = variable(b->in.graph, MST_SHAPE(LARGE, LARGE)), product = mst_matmul(square, square);
    MST_TRY(mst_session_init_variables(b->session));
    b->overhead = time_value(b->session, mst_identity(b->in.x), b->options->seconds / 50);
    b->flops = 2.0 * LARGE * LARGE * LARGE / time_value(b->session, product, b->options->seconds / 10);
    end(b);
    return MST_OK;
}

static mst_status run_all(bench *b, int *failed) {
    MST_TRY(calibrate(b));
    if (!b->options->json)
        printf("one thread, f32 [%d, %d] unless a product; %.1f GFLOP/s at most\n", ROWS, COLUMNS, b->flops / 1e9);
    MST_TRY(run_elementwise(b, failed));
    return run_cases(b, failed);
}

static int unknown_op(const char *name) {
    enum { MOST_OPS = 1024 };
    const char *names[MOST_OPS + 1] = {NULL};
    const mst_op *op;
    for (int i = 0; i < MOST_OPS && (op = mst_op_at(i)); i++) names[i] = op->name;
    return command_unknown("op", name, names, "bench ops without --op lists those that are measured");
}

int bench_ops(const bench_options *options) {
    bench b = {.options = options};
    int failed = 0;
    if (options->op && !mst_find_op(options->op)) return unknown_op(options->op);
    mst_status status = run_all(&b, &failed);
    end(&b);
    if (status) return command_fail_library(EXIT_FAILED, NULL);
    if (!b.num_measured)
        return command_fail(EXIT_FAILED, "bench ops: '%s' is not measured: without --op there are those that are",
                            options->op);
    return failed ? command_fail(EXIT_FAILED, "bench ops: %d cases failed: %s", failed, mst_error()->message)
                  : EXIT_DONE;
}
