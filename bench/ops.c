/* muster-bench ops: each op's kernel on one thread against its limit: the bytes it must move at the speed of a copy of
 * the same size, the flops it must make at the speed of a large matrix product, or a bare primitive of oneDNN; and what
 * it gains on a device of two threads. Element-wise ops are found in the registry; the others have a case here. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bare_convolution.h"
#include "bench/bench.h"
#include "muster/muster.h"

enum { ROWS = 1000, COLUMNS = 256, WIDE = 784, HIDDEN = 500, BATCH = 100, FEW = 16, MAX_SRC = 3 };

typedef struct inputs {
    mst_graph *graph;
    mst_value x;     /* f32 [ROWS, COLUMNS] */
    mst_value truth; /* bool [ROWS, COLUMNS], half of it true */
    mst_value index; /* i32 [ROWS] in [0, COLUMNS) */
    mst_value whole; /* i32 [ROWS, COLUMNS] in [0, COLUMNS) */
    mst_value class; /* i32 [ROWS * COLUMNS] in [0, FEW) */
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

/* the same of f64 */
static mst_value doubles(mst_graph *graph, const char *name, mst_shape shape) {
    return mst_variable(graph, name, mst_random_uniform(graph, shape, .dtype = MST_F64), .not_trainable = true);
}

/* the same of numbers from LOW to HIGH - 1 */
static mst_value integers(mst_graph *graph, const char *name, mst_shape shape, int low, int high) {
    return mst_variable(graph, name, mst_random_uniform_int(graph, shape, .low = low, .high = high),
                        .not_trainable = true);
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
CASE(build_matmul_f64,
     mst_matmul(doubles(in->graph, "a", MST_SHAPE(FEW, COLUMNS)), doubles(in->graph, "b", MST_SHAPE(COLUMNS, ROWS))))
CASE(build_sum_all, mst_reduce_sum(in->x))
CASE(build_sum_rows, mst_reduce_sum(in->x, MST_AXES(1)))
CASE(build_sum_columns, mst_reduce_sum(in->x, MST_AXES(0)))
CASE(build_sum_narrow, mst_reduce_sum(variable(in->graph, MST_SHAPE(ROWS *COLUMNS / FEW, FEW)), MST_AXES(0)))
CASE(build_sum_to_like, mst_sum_to_like(in->x, variable(in->graph, MST_SHAPE(COLUMNS))))
CASE(build_mean, mst_reduce_mean(in->x))
CASE(build_max_rows, mst_reduce_max(in->x, MST_AXES(1)))
CASE(build_max_columns, mst_reduce_max(in->x, MST_AXES(0)))
CASE(build_min_rows, mst_reduce_min(in->x, MST_AXES(1)))
CASE(build_prod, mst_reduce_prod(in->x, MST_AXES(1)))
CASE(build_prod_others, mst_call_text(NULL, "reduce_prod_others", NULL, 1, &in->x, "axes=[1]"))
CASE(build_all, mst_reduce_all(in->truth))
CASE(build_any, mst_reduce_any(in->truth, MST_AXES(1)))
CASE(build_argmax, mst_argmax(in->x, .axis = -1))
CASE(build_argmax_columns, mst_argmax(in->x, .axis = 0))
CASE(build_argmin_all, mst_argmin(mst_reshape(in->x, MST_SHAPE(-1))))
CASE(build_log_softmax, mst_log_softmax(in->x))
CASE(build_cross_entropy, mst_softmax_cross_entropy(in->x, in->x))
CASE(build_sparse_cross_entropy, mst_sparse_softmax_cross_entropy(in->x, in->index))
CASE(build_transpose, mst_transpose(in->x))
CASE(build_tile, mst_tile(in->x, MST_SHAPE(1, 2)))
CASE(build_tile_grad,
     mst_call_text(NULL, "tile_grad", NULL, 2,
                   (const mst_value[]){in->x, variable(in->graph, MST_SHAPE(ROWS, COLUMNS / 2))}, "multiples=[1, 2]"))
CASE(build_pad, mst_pad(in->x, .before = MST_SHAPE(1, 1), .after = MST_SHAPE(1, 1)))
CASE(build_slice, mst_slice(in->x, MST_SHAPE(0, 1), MST_SHAPE(-1, COLUMNS / 2)))
CASE(build_slice_grad,
     mst_call_text(NULL, "slice_grad", NULL, 2,
                   (const mst_value[]){in->x, variable(in->graph, MST_SHAPE(ROWS, 2 * COLUMNS))}, "begin=[0, 1]"))
CASE(build_strided_slice, mst_strided_slice(in->x, .strides = MST_AXES(1, 2)))
CASE(build_concat, mst_concat(((const mst_value[]){in->x, in->x}), 2, 1))
CASE(build_concat_first, mst_concat(((const mst_value[]){in->x, in->x}), 2, 0))
CASE(build_stack, mst_stack(((const mst_value[]){in->x, in->x}), 2, 1))
CASE(build_split, mst_split(in->x, 2, 1))
CASE(build_unstack, mst_unstack(variable(in->graph, MST_SHAPE(ROWS, 2, COLUMNS)), 1))
CASE(build_broadcast, mst_broadcast_to(variable(in->graph, MST_SHAPE(COLUMNS)), MST_SHAPE(ROWS, COLUMNS)))
CASE(build_cast, mst_cast(in->x, MST_I32))
CASE(build_gather, mst_gather(in->x, in->index, 0))
CASE(build_gather_grad, mst_call_text(NULL, "gather_grad", NULL, 3, (const mst_value[]){in->x, in->index, in->x}, NULL))
CASE(build_gather_last, mst_call_text(NULL, "gather_last", NULL, 2, (const mst_value[]){in->x, in->whole}, NULL))
CASE(build_scatter_last,
     mst_call_text(NULL, "scatter_last", NULL, 3, (const mst_value[]){in->x, in->whole, in->x}, NULL))
CASE(build_one_hot, mst_one_hot(in->index, COLUMNS))
CASE(build_in_top_k, mst_in_top_k(in->x, in->index, COLUMNS))
CASE(build_confusion, mst_confusion_matrix(in->class, in->class, .num_classes = FEW))
CASE(build_l2_loss, mst_l2_loss(in->x))
CASE(build_global_norm, mst_global_norm(((const mst_value[]){in->x, variable(in->graph, MST_SHAPE(COLUMNS))}), 2))
CASE(build_add_n, mst_add_n((const mst_value[]){in->x, in->x, in->x, in->x}, 4))
CASE(build_bias, mst_add(in->x, variable(in->graph, MST_SHAPE(COLUMNS))))
CASE(build_add_i32, mst_add(in->whole, in->whole))
CASE(build_div_i32, mst_div(in->whole, integers(in->graph, "divisor", MST_SHAPE(ROWS, COLUMNS), 1, COLUMNS)))
CASE(build_uniform, mst_random_uniform(in->graph, MST_SHAPE(ROWS, COLUMNS)))
CASE(build_uniform_int, mst_random_uniform_int(in->graph, MST_SHAPE(ROWS, COLUMNS), .high = COLUMNS))
CASE(build_normal, mst_random_normal(in->graph, MST_SHAPE(ROWS, COLUMNS)))
CASE(build_truncated, mst_random_truncated_normal(in->graph, MST_SHAPE(ROWS, COLUMNS)))
CASE(build_top_k, mst_top_k(in->x, 5))
CASE(build_sort, mst_sort(in->x))

/* ---- convolutions: two layers of MobileNetV2, one of each kind, and one of a text CNN, forward and backward ---- */

static const bare_convolution convolutions[] = {
    {.n = 16,
     .height = 112,
     .width = 112,
     .channels = 3,
     .filters = 32,
     .groups = 1,
     .window_height = 3,
     .window_width = 3,
     .stride = 2,
     .bottom = 1,
     .right = 1},
    {.n = 16,
     .height = 28,
     .width = 28,
     .channels = 192,
     .filters = 32,
     .groups = 1,
     .window_height = 1,
     .window_width = 1,
     .stride = 1},
    {.n = 16,
     .height = 28,
     .width = 28,
     .channels = 192,
     .filters = 192,
     .groups = 192,
     .window_height = 3,
     .window_width = 3,
     .stride = 1,
     .top = 1,
     .bottom = 1,
     .left = 1,
     .right = 1},
    {.n = 32,
     .height = 1,
     .width = 300,
     .channels = 7,
     .filters = 64,
     .groups = 1,
     .window_height = 1,
     .window_width = 5,
     .stride = 1},
};
static const char *const convolution_names[] = {"3x3 of 3, strided", "1x1 of 192", "depthwise 3x3 of 192", "1x5 of 7"};
enum { NUM_CONVOLUTIONS = sizeof convolutions / sizeof *convolutions };

static mst_value build_convolution(mst_graph *graph, const bare_convolution *c, bare_kind kind) {
    const mst_value src = variable(graph, MST_SHAPE(c->n, c->height, c->width, c->channels));
    const mst_value weights =
        variable(graph, MST_SHAPE(c->window_height, c->window_width, c->channels / c->groups, c->filters));
    char options[160];
    snprintf(options, sizeof options, "strides=[%d], pads=[%d, %d, %d, %d], groups=%d", (int)c->stride, (int)c->top,
             (int)c->bottom, (int)c->left, (int)c->right, (int)c->groups);
    const mst_value dst = mst_call_text(NULL, "conv2d", NULL, 2, (const mst_value[]){src, weights}, options);
    if (kind == BARE_FORWARD) return dst;
    const mst_value gradient = variable(graph, mst_value_spec(dst).shape);
    return mst_call_text(NULL, kind == BARE_SRC_GRAD ? "conv2d_src_grad" : "conv2d_weights_grad", NULL, 3,
                         (const mst_value[]){src, weights, gradient}, options);
}

static const double PRODUCT_FLOPS = 2.0 * BATCH * WIDE * HIDDEN;

/* ---- measuring ---- */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Least seconds of one run of FETCH, which hands nothing out; negative where it fails. */
static double time_fetch(mst_session *session, mst_value fetch, double seconds) {
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

enum { ONE, TWO, NUM_SESSIONS }; /* of a device with one thread, and with two */

typedef struct bench {
    const bench_options *options;
    inputs in;
    mst_session *session[NUM_SESSIONS];
    double overhead[NUM_SESSIONS]; /* seconds of a run that computes nothing */
    double flops;                  /* a second, of a large matrix product */
    int num_measured;
} bench;

/* Least seconds of one run that computes VALUE, on one thread and on two. They take turns, so that what else the
 * machine does disturbs both. */
static bool time_value(bench *b, mst_value value, double seconds, double took[NUM_SESSIONS]) {
    enum { TURNS = 5 };
    mst_value fetch = mst_group(&value, 1);
    for (int turn = 0; turn < TURNS; turn++)
        for (int s = 0; s < NUM_SESSIONS; s++) {
            const double now_took = time_fetch(b->session[s], fetch, seconds / (TURNS * NUM_SESSIONS));
            if (now_took < 0) return false;
            if (turn == 0 || now_took < took[s]) took[s] = now_took;
        }
    return true;
}

static size_t bytes_of(mst_value value) {
    mst_spec spec = mst_value_spec(value);
    return (size_t)mst_shape_count(spec.shape) * mst_dtype_size(spec.dtype);
}

/* Sources and outputs, each once. */
static size_t bytes_moved(mst_value value) {
    size_t bytes = 0;
    for (int i = 0; i < mst_node_num_src(value.node); i++) {
        bool is_new = true;
        for (int k = 0; k < i; k++) is_new &= mst_node_src(value.node, k).node != mst_node_src(value.node, i).node;
        if (is_new && !(mst_node_op(value.node)->shape_only >> i & 1u)) bytes += bytes_of(mst_node_src(value.node, i));
    }
    for (int i = 0; i < mst_node_num_dst(value.node); i++) bytes += bytes_of(mst_value_output(value, i));
    return bytes;
}

/* A graph of its own for each case: a mistake in one must not spoil the others. */
static mst_status begin(bench *b) {
    MST_TRY(mst_graph_create(&b->in.graph));
    static const char *const devices[NUM_SESSIONS] = {"cpu:1/1", "cpu:1/2"};
    for (int s = 0; s < NUM_SESSIONS; s++)
        MST_TRY(mst_session_create(b->in.graph, &(mst_session_options){.devices = devices[s]}, &b->session[s]));
    b->in.x = variable(b->in.graph, MST_SHAPE(ROWS, COLUMNS));
    mst_value even = mst_random_uniform(b->in.graph, MST_SHAPE(ROWS, COLUMNS));
    b->in.truth = mst_variable(b->in.graph, "truth", mst_greater(even, mst_scalar(b->in.graph, MST_F32, 0.5)),
                               .not_trainable = true);
    b->in.index = integers(b->in.graph, "index", MST_SHAPE(ROWS), 0, COLUMNS);
    b->in.whole = integers(b->in.graph, "whole", MST_SHAPE(ROWS, COLUMNS), 0, COLUMNS);
    b->in.class = integers(b->in.graph, "class", MST_SHAPE(ROWS * COLUMNS), 0, FEW);
    return mst_graph_check(b->in.graph);
}

static void end(bench *b) {
    for (int s = 0; s < NUM_SESSIONS; s++) {
        mst_session_destroy(b->session[s]);
        b->session[s] = NULL;
    }
    mst_graph_destroy(b->in.graph);
    b->in.graph = NULL;
}

static mst_status init_variables(bench *b) {
    for (int s = 0; s < NUM_SESSIONS; s++) MST_TRY(mst_session_init_variables(b->session[s]));
    return MST_OK;
}

/* The limit is BARE seconds, or else that of FLOPS, or else that of bytes. */
static bool measure(bench *b, const char *name, mst_value value, double flops, double bare) {
    double took[NUM_SESSIONS];
    b->num_measured++;
    if (mst_graph_check(b->in.graph) || init_variables(b)) return false;
    if (!time_value(b, value, bench_seconds(b->options) / 25, took)) return false;
    for (int s = 0; s < NUM_SESSIONS; s++) took[s] -= b->overhead[s];
    if (took[ONE] <= 0 || took[TWO] <= 0) return false;
    double limit = bare;
    const char *bound = bare > 0 ? "bare" : flops > 0 ? "flops" : "bytes";
    if (bare <= 0) limit = flops > 0 ? flops / b->flops : (double)bytes_moved(value) / copy_speed(bytes_moved(value));
    if (b->options->json)
        printf(
            "{\"op\":\"%s\",\"us\":%.3f,\"limit_us\":%.3f,\"limit\":\"%s\",\"of_limit\":%.3f,\"us_two_threads\":%.3f,"
            "\"gain_two_threads\":%.3f}\n",
            name, took[ONE] * 1e6, limit * 1e6, bound, limit / took[ONE], took[TWO] * 1e6, took[ONE] / took[TWO]);
    else
        printf("  %-40s %10.2f us   limit %10.2f us (%s)   %6.1f%%   2 threads %5.2f times\n", name, took[ONE] * 1e6,
               limit * 1e6, bound, 100 * limit / took[ONE], took[ONE] / took[TWO]);
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
        if (!mst_value_is_none(value)) *failed += !measure(b, op->name, value, 0, 0);
        end(b);
    }
    return MST_OK;
}

static mst_status run_cases(bench *b, int *failed) {
    op_case cases[] = {{"add of a row", build_bias, 0},
                       {"add of i32", build_add_i32, 0},
                       {"add_n of 4", build_add_n, 0},
                       {"argmax", build_argmax, 0},
                       {"argmax columns", build_argmax_columns, 0},
                       {"argmin of all", build_argmin_all, 0},
                       {"broadcast_to", build_broadcast, 0},
                       {"cast to i32", build_cast, 0},
                       {"concat", build_concat, 0},
                       {"concat first axis", build_concat_first, 0},
                       {"confusion_matrix", build_confusion, 0},
                       {"div of i32", build_div_i32, 0},
                       {"fused_matmul relu", build_dense, PRODUCT_FLOPS},
                       {"gather", build_gather, 0},
                       {"gather_grad", build_gather_grad, 0},
                       {"gather_last", build_gather_last, 0},
                       {"global_norm", build_global_norm, 0},
                       {"in_top_k", build_in_top_k, 0},
                       {"l2_loss", build_l2_loss, 0},
                       {"log_softmax", build_log_softmax, 0},
                       {"matmul", build_matmul, PRODUCT_FLOPS},
                       {"matmul of f64", build_matmul_f64, 2.0 * FEW * ROWS * COLUMNS},
                       {"matmul transpose_a", build_matmul_ta, PRODUCT_FLOPS},
                       {"matmul transpose_b", build_matmul_tb, PRODUCT_FLOPS},
                       {"one_hot", build_one_hot, 0},
                       {"pad", build_pad, 0},
                       {"random_normal", build_normal, 0},
                       {"random_truncated_normal", build_truncated, 0},
                       {"random_uniform", build_uniform, 0},
                       {"random_uniform_int", build_uniform_int, 0},
                       {"reduce_all", build_all, 0},
                       {"reduce_any rows", build_any, 0},
                       {"reduce_max columns", build_max_columns, 0},
                       {"reduce_max rows", build_max_rows, 0},
                       {"reduce_mean", build_mean, 0},
                       {"reduce_min rows", build_min_rows, 0},
                       {"reduce_prod rows", build_prod, 0},
                       {"reduce_prod_others rows", build_prod_others, 0},
                       {"reduce_sum", build_sum_all, 0},
                       {"reduce_sum columns", build_sum_columns, 0},
                       {"reduce_sum narrow columns", build_sum_narrow, 0},
                       {"reduce_sum rows", build_sum_rows, 0},
                       {"scatter_last", build_scatter_last, 0},
                       {"slice", build_slice, 0},
                       {"slice_grad", build_slice_grad, 0},
                       {"softmax_cross_entropy", build_cross_entropy, 0},
                       {"sort", build_sort, 0},
                       {"sparse_softmax_cross_entropy", build_sparse_cross_entropy, 0},
                       {"split", build_split, 0},
                       {"stack", build_stack, 0},
                       {"strided_slice", build_strided_slice, 0},
                       {"sum_to_like a row", build_sum_to_like, 0},
                       {"tile", build_tile, 0},
                       {"tile_grad", build_tile_grad, 0},
                       {"top_k of 5", build_top_k, 0},
                       {"transpose", build_transpose, 0},
                       {"unstack", build_unstack, 0}};
    size_t count = sizeof cases / sizeof *cases;
    for (size_t i = 0; i < count; i++) {
        if (b->options->op && strncmp(cases[i].name, b->options->op, strlen(b->options->op)) != 0) continue;
        MST_TRY(begin(b));
        *failed += !measure(b, cases[i].name, cases[i].build(&b->in), cases[i].flops, 0);
        end(b);
    }
    return MST_OK;
}

static mst_status run_convolutions(bench *b, int *failed) {
    static const char *const ops[] = {"conv2d", "conv2d_src_grad", "conv2d_weights_grad"};
    for (int i = 0; i < NUM_CONVOLUTIONS; i++)
        for (bare_kind kind = BARE_FORWARD; kind <= BARE_WEIGHTS_GRAD; kind++) {
            char name[64];
            snprintf(name, sizeof name, "%s %s", ops[kind], convolution_names[i]);
            if (b->options->op && strcmp(b->options->op, ops[kind]) != 0) continue;
            bare_memory memory = {.span = 0};
            const double bare =
                bare_convolution_seconds(&convolutions[i], kind, dnnl_f32, bench_seconds(b->options) / 25, &memory);
            bare_memory_free(&memory);
            MST_TRY(begin(b));
            *failed += !measure(b, name, build_convolution(b->in.graph, &convolutions[i], kind), 0, bare);
            end(b);
        }
    return MST_OK;
}

/* What a run costs that computes nothing, and what the machine can do. */
static mst_status calibrate(bench *b) {
    enum { LARGE = 768 };
    MST_TRY(begin(b));
    double took[NUM_SESSIONS];
    mst_value square = variable(b->in.graph, MST_SHAPE(LARGE, LARGE)), product = mst_matmul(square, square);
    MST_TRY(init_variables(b));
    if (!time_value(b, mst_identity(b->in.x), bench_seconds(b->options) / 25, b->overhead) ||
        !time_value(b, product, bench_seconds(b->options) / 5, took))
        return mst_error()->code;
    b->flops = 2.0 * LARGE * LARGE * LARGE / took[ONE];
    end(b);
    return MST_OK;
}

static mst_status run_all(bench *b, int *failed) {
    MST_TRY(calibrate(b));
    if (!b->options->json)
        printf("one thread, f32 [%d, %d] unless a product; %.1f GFLOP/s at most\n", ROWS, COLUMNS, b->flops / 1e9);
    MST_TRY(run_elementwise(b, failed));
    MST_TRY(run_convolutions(b, failed));
    return run_cases(b, failed);
}

static int unknown_op(const char *name) {
    enum { MOST_OPS = 1024 };
    const char *names[MOST_OPS + 1] = {NULL};
    const mst_op *op;
    for (int i = 0; i < MOST_OPS && (op = mst_op_at(i)); i++) names[i] = op->name;
    return command_unknown("op", name, names, "muster-bench ops without --op lists those that are measured");
}

static int run(const command_call *call) {
    const bench_options *options = call->options;
    bench b = {.options = options};
    int failed = 0;
    if (options->op && !mst_find_op(options->op)) return unknown_op(options->op);
    mst_status status = run_all(&b, &failed);
    end(&b);
    if (status) return command_fail_library(EXIT_FAILED, NULL);
    if (!b.num_measured)
        return command_fail(EXIT_FAILED, "ops: '%s' is not measured: without --op there are those that are",
                            options->op);
    return failed ? command_fail(EXIT_FAILED, "ops: %d cases failed: %s", failed, mst_error()->message) : EXIT_DONE;
}

static const option options[] = {
    BENCH_COMMON_OPTIONS,
    {"op", OPTION_TEXT, offsetof(bench_options, op), "NAME", .help = "only this op"},
    {0},
};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_ops = {
    .name = "ops",
    .summary = "each op's kernel against its limit of bytes or flops, and what two threads gain",
    .usage = "[options]",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
