/* Kernels whose work the threads of a device share give the same bits, and the same errors, with any number of
 * threads. The test runs every example of every op in the registry, on larger sources if the shapes allow it. */
#include <stdio.h>

#include "base/rng.h"
#include "base/team.h"
#include "muster/ops.h"
#include "op/index/gather.h"
#include "op/index/row_index.h"
#include "support/op_case.h"
#include "support/sanitized.h"
#include "support/test.h"

static const char *const devices[] = {"cpu:1/1", "cpu:1/3", "cpu:1/2", "cpu:1/5"};

enum {
    NUM_DEVICES = SANITIZED ? 2 : sizeof devices / sizeof *devices,
    LARGE = 1 << 17, /* bytes of the largest array, twice what must be shared */
    MOST = 1 << 19,  /* bytes: more is not worth the time */
    MOST_DST = 8,
    ONE_DTYPE = SANITIZED /* each example with its first dtype alone: op/registry runs all, and takes long enough */
};

/* ---- large sources ---- */

/* Which dimensions grow. Dimensions of one size grow together, so that they fit each other still; those of 1 do not. */
typedef enum growth { ALL, FIRST, LAST, ONE_SIZE, NUM_GROWTHS } growth;

typedef struct plan {
    growth growth;
    bool options; /* shapes among the options grow too */
    int64_t size; /* ONE_SIZE: the size that grows */
    int64_t factor;
} plan;

static int64_t grown(const plan *p, int64_t dim, int axis, int ndim) {
    const bool grows = p->growth == ALL || (p->growth == FIRST && axis == 0) ||
                       (p->growth == LAST && axis == ndim - 1) || (p->growth == ONE_SIZE && dim == p->size);
    return grows && dim > 1 ? dim * p->factor : dim;
}

static mst_shape grown_shape(const plan *p, mst_shape shape) {
    for (int k = 0; k < shape.ndim; k++) shape.dim[k] = grown(p, shape.dim[k], k, shape.ndim);
    return shape;
}

static mst_shape shape_of(const mst_example *example, int i) {
    return mst_shape_make(example->src[i].ndim, example->src[i].dim);
}

/* The given values again and again; else random ones, as in the examples' own test. */
static mst_tensor *source_value(const mst_op *op, const mst_example *example, int i, mst_dtype dtype, mst_shape shape) {
    double low = example->src[i].low, high = example->src[i].high;
    if (low == 0 && high == 0) {
        low = dtype == MST_U8 || dtype == MST_BOOL ? 0 : -2;
        high = dtype == MST_BOOL ? 1 : 2;
    }
    const int64_t num_given = mst_shape_count(shape_of(example, i));
    const mst_rng rng = mst_rng_make(mst_rng_hash_name(op->name), (uint64_t)i, (uint64_t)dtype);
    mst_tensor *tensor = engine_tensor(dtype, shape, NULL);
    const int64_t count = mst_tensor_count(tensor);
    double *unit = calloc((size_t)count + 1, sizeof *unit);
    assert_non_null(unit);
    mst_rng_fill_uniform_f64(&rng, 0, count, unit);
    for (int64_t e = 0; e < count; e++) {
        double x = low + (high - low) * unit[e];
        if (!mst_dtype_is_float(dtype)) x = low + (double)(int64_t)((high - low + 1) * unit[e]);
        if (example->src[i].value && num_given) x = example->src[i].value[e % num_given];
        engine_set(tensor, e, x);
    }
    free(unit);
    return tensor;
}

/* A copy of the example's options, whose shapes grow with the plan; owned by the caller. */
static void *grown_options(const mst_op *op, const mst_example *example, const plan *p) {
    char *options = calloc(1, op->options_size + 1);
    assert_non_null(options);
    if (example->options) memcpy(options, example->options, op->options_size);
    for (const mst_field *f = op->fields; f && f->name && p->options; f++) {
        void *at = options + f->offset;
        if (f->type == MST_FIELD_TYPE_SHAPE) *(mst_shape *)at = grown_shape(p, *(mst_shape *)at);
        if (op->num_src == 0 && strcmp(f->name, "limit") == 0) *(double *)at *= LARGE;
    }
    return options;
}

/* ---- one example ---- */

/* A graph for all examples of an op, and its sessions, whose threads are not cheap to start. */
typedef struct world {
    mst_graph *graph;
    mst_session *session[NUM_DEVICES];
} world;

static void begin_world(world *w) {
    w->graph = engine_graph();
    for (int d = 0; d < NUM_DEVICES; d++)
        EXPECT_OK(mst_session_create(w->graph, &(mst_session_options){.devices = devices[d]}, &w->session[d]));
}

static void end_world(world *w) {
    for (int d = 0; d < NUM_DEVICES; d++) mst_session_destroy(w->session[d]);
    mst_graph_destroy(w->graph);
}

typedef struct one {
    const mst_op *op;
    const mst_example *example;
    mst_dtype dtype;
    mst_shape shape[MST_EXAMPLE_SRC];
    mst_feed feed[MST_EXAMPLE_SRC];
    mst_value out[MOST_DST];
    int num_dst;
    int64_t bytes; /* of the largest source or output */
} one;

static mst_dtype dtype_of(const one *c, int i) {
    return c->example->src[i].dtype ? c->example->src[i].dtype : c->dtype;
}

/* The number of products of an op with windows, about one for each element of the source and of the window. Large
 * windows over large pictures take seconds. */
static bool is_too_much_work(const one *c) {
    enum { MOST_PRODUCTS = 1 << 20 };
    if (!strstr(c->op->name, "conv") || c->example->num_src < 2 || !c->shape[0].ndim) return false;
    const int64_t channels = c->shape[0].dim[c->shape[0].ndim - 1];
    return mst_shape_count(c->shape[0]) * (mst_shape_count(c->shape[1]) / (channels ? channels : 1)) > MOST_PRODUCTS;
}

/* Adds the node and its sources to GRAPH; false where the op does not allow these shapes, or they are too large to be
 * worth the time. */
static bool build(one *c, const plan *p, mst_graph *graph) {
    mst_value src[MST_EXAMPLE_SRC];
    c->bytes = 0;
    for (int i = 0; i < c->example->num_src; i++) {
        c->shape[i] = grown_shape(p, shape_of(c->example, i));
        const int64_t bytes = mst_shape_count(c->shape[i]) * (int64_t)mst_dtype_size(dtype_of(c, i));
        if (bytes > MOST) return false;
        if (bytes > c->bytes) c->bytes = bytes;
        src[i] = mst_placeholder(.graph = graph, .dtype = dtype_of(c, i), .shape = c->shape[i]);
        c->feed[i].value = src[i];
    }
    if (is_too_much_work(c)) return false;
    void *options = grown_options(c->op, c->example, p);
    mst_value out = mst_call(graph, c->op, c->example->num_src, src, options);
    free(options);
    if (mst_graph_check(graph)) return false;
    c->num_dst = mst_node_num_dst(out.node);
    assert_in_range(c->num_dst, 1, MOST_DST);
    for (int k = 0; k < c->num_dst; k++) {
        c->out[k] = mst_value_output(out, k);
        const mst_spec spec = mst_value_spec(c->out[k]);
        const int64_t bytes = mst_shape_count(spec.shape) * (int64_t)mst_dtype_size(spec.dtype);
        if (bytes > MOST) return false;
        if (bytes > c->bytes) c->bytes = bytes;
    }
    return c->bytes > 0;
}

/* In a graph of its own: a mistake would stick. */
static bool can_build(one *c, const plan *p) {
    mst_graph *graph = engine_graph();
    const bool can = build(c, p, graph);
    mst_graph_destroy(graph);
    return can;
}

static mst_status run(const one *c, const world *w, int device, mst_tensor **outputs) {
    return mst_session_run(w->session[device], c->feed, c->example->num_src, c->out, c->num_dst, outputs);
}

static void release(mst_tensor **tensor, int count) {
    for (int k = 0; k < count; k++) mst_tensor_release(tensor[k]);
}

/* False where the op does not allow these shapes. */
static bool same_on_all(one *c, const plan *p, const world *w) {
    mst_tensor *wanted[MOST_DST] = {NULL};
    if (!can_build(c, p)) return false;
    assert_true(build(c, p, w->graph));
    for (int i = 0; i < c->example->num_src; i++)
        c->feed[i].tensor = source_value(c->op, c->example, i, dtype_of(c, i), c->shape[i]);
    const bool runs = !run(c, w, 0, wanted);
    for (int d = 1; d < NUM_DEVICES && runs; d++) {
        mst_tensor *got[MOST_DST] = {NULL};
        EXPECT_OK(run(c, w, d, got));
        for (int k = 0; k < c->num_dst; k++)
            if (!engine_same_bits(wanted[k], got[k]))
                fail_msg("%s, example %d '%s', %s, growth %d by %d: %s gives other bits than %s for output %d",
                         c->op->name, (int)(c->example - c->op->examples), c->example->name ? c->example->name : "",
                         c->dtype ? mst_dtype_name(c->dtype) : "", (int)p->growth, (int)p->factor, devices[d],
                         devices[0], k);
        release(got, c->num_dst);
    }
    if (runs) release(wanted, c->num_dst);
    for (int i = 0; i < c->example->num_src; i++) mst_tensor_release(c->feed[i].tensor);
    return runs;
}

/* The least factor that makes BYTES at least LARGE, where NUM dimensions grow. */
static int64_t factor_for(int64_t bytes, int num) {
    int64_t factor = 1, product;
    do {
        factor++;
        product = bytes;
        for (int k = 0; k < num; k++) product *= factor;
    } while (product < LARGE);
    return factor;
}

/* The plan of one way to grow; false where nothing grows. *GROWING: a bit for each dimension of the sources
 * that does. */
static bool make_plan(const one *c, growth growth, int64_t size, plan *out, uint64_t *growing) {
    int64_t most = 0;
    const plan twice = {.growth = growth, .size = size, .factor = 2};
    *out = twice;
    *growing = 0;
    for (int i = 0; i < c->example->num_src; i++) {
        const mst_shape shape = shape_of(c->example, i);
        const int64_t bytes = mst_shape_count(shape) * (int64_t)mst_dtype_size(dtype_of(c, i));
        int num = 0;
        for (int k = 0; k < shape.ndim; k++) {
            if (grown(&twice, shape.dim[k], k, shape.ndim) == shape.dim[k]) continue;
            *growing |= UINT64_C(1) << (i * MST_MAX_NDIM + k);
            num++;
        }
        if (num == 0 || bytes <= most) continue;
        most = bytes;
        out->factor = factor_for(bytes, num);
    }
    if (c->example->num_src > 0) return most > 0;
    out->factor = LARGE / 16; /* the shape is an option */
    return growth == FIRST;
}

/* How many ways to make the example large there are, each with the same bits on all devices. */
static int check_dtype(const mst_op *op, const mst_example *example, mst_dtype dtype, const world *w) {
    enum { MOST_SIZE = 16, MOST_PLANS = NUM_GROWTHS + MOST_SIZE };
    int large = 0, num = 0;
    uint64_t growing[MOST_PLANS];
    one c = {.op = op, .example = example, .dtype = dtype};
    same_on_all(&c, &(plan){.growth = ALL, .factor = 1}, w);
    for (growth growth = ALL; growth < (large ? ONE_SIZE : NUM_GROWTHS); growth++)
        for (int64_t size = 2; size <= (growth == ONE_SIZE ? MOST_SIZE : 2); size++) {
            plan p;
            if (!make_plan(&c, growth, size, &p, &growing[num])) continue;
            bool is_new = true;
            for (int k = 0; k < num; k++) is_new &= growing[k] != growing[num];
            if (!is_new) continue;
            num++;
            bool runs = same_on_all(&c, &p, w);
            p.options = true;
            if (!runs || op->num_src == 0) runs = same_on_all(&c, &p, w);
            large += runs && c.bytes >= LARGE;
        }
    return large;
}

static int check_example(const mst_op *op, const mst_example *example, const world *w) {
    bool is_open = false;
    int large = 0;
    if (example->fails) return 0;
    for (int i = 0; i < example->num_src; i++) is_open = is_open || example->src[i].dtype == MST_NO_DTYPE;
    if (!is_open) return check_dtype(op, example, MST_NO_DTYPE, w);
    for (int dtype = 1; dtype < MST_NUM_DTYPES && !(large && ONE_DTYPE); dtype++)
        if (op_case_dtypes(op, example) & MST_DTYPE_BIT(dtype)) large += check_dtype(op, example, (mst_dtype)dtype, w);
    return large;
}

/* Ops whose examples cannot be made large. */
static const char *const small[][2] = {
    {"apply_gradients", "its sources are variables: test/strategy/one_answer_test.c"},
    {"assign", "its source is a variable: below"},
    {"assign_add", "its source is a variable: below"},
    {"assign_slice", "its source is a variable: below"},
    {"assign_sub", "its source is a variable: below"},
    {"constant", "its value is an option"},
    {"leaf_rows", "rows after those that are used have any values: test/strategy/sparse_test.c"},
    {"placeholder", "does not run"},
    {"scan", "its body is an option: test/op/loop_test.c"},
    {"variable", "does not run"},
    {"while", "its body is an option: test/op/loop_test.c"},
};

static bool is_small(const char *name) {
    for (size_t k = 0; k < sizeof small / sizeof *small; k++)
        if (strcmp(small[k][0], name) == 0) return true;
    return false;
}

static void check_op(void **state) {
    const mst_op *op = *state;
    world w;
    int large = 0;
    if (op->flags & MST_OP_NO_VALUE) return;
    begin_world(&w);
    for (int i = 0; i < op->num_examples; i++) large += check_example(op, &op->examples[i], &w);
    end_world(&w);
    if (!large && !is_small(op->name)) fail_msg("no example of %s can be made large", op->name);
    if (large && is_small(op->name)) fail_msg("%s is among those that cannot be made large, but was", op->name);
}

/* ---- writers ---- */

typedef mst_value (*write_function)(mst_value variable, mst_value value);

/* A slice that is the whole. */
static mst_value assign_all(mst_value variable, mst_value value) {
    return mst_assign_slice(variable, value, mst_fill(mst_value_graph(value), MST_I32, MST_SHAPE(2), 0));
}

static mst_value variable_of(mst_graph *g, mst_tensor *initial) {
    return mst_variable(g, NULL, mst_constant(g, initial), .not_trainable = true);
}

static mst_tensor *written_on(write_function write, mst_tensor *initial, mst_tensor *value, const char *device) {
    mst_graph *g = engine_graph();
    mst_value variable = variable_of(g, initial), done = write(variable, mst_constant(g, value));
    mst_session *session = engine_session(g, device);
    engine_run(session, done);
    mst_tensor *result = engine_fetch(session, NULL, 0, variable);
    engine_end(g, session);
    return result;
}

static void writers_give_the_bits_of_one_thread(void **state) {
    (void)state;
    static const write_function writers[] = {mst_assign, mst_assign_add, mst_assign_sub, assign_all};
    static const double kept[] = {0, 1, 1, 0}, sign[] = {1, 1, -1, 1}; /* kept * variable + sign * value */
    for (int w = 0; w < 4; w++)
        for (mst_dtype dtype = MST_F32; dtype <= MST_U8; dtype++) {
            const mst_shape shape = MST_SHAPE(301, 257);
            mst_tensor *initial = engine_random(dtype, shape, 9, 100, 1), *value = engine_random(dtype, shape, 0, 9, 2);
            mst_tensor *wanted = written_on(writers[w], initial, value, devices[0]);
            for (int64_t e = 0; e < mst_tensor_count(wanted) && dtype != MST_F32; e += 1001)
                assert_true(mst_tensor_get(wanted, e) ==
                            kept[w] * mst_tensor_get(initial, e) + sign[w] * mst_tensor_get(value, e));
            for (int d = 1; d < NUM_DEVICES; d++) {
                mst_tensor *got = written_on(writers[w], initial, value, devices[d]);
                assert_true(engine_same_bits(wanted, got));
                mst_tensor_release(got);
            }
            release((mst_tensor *[]){initial, value, wanted}, 3);
        }
}

/* ---- products: large enough to be cut, along rows, columns and batches ---- */

typedef struct product_case {
    mst_shape a, b;
    bool transpose_a, transpose_b, fused;
} product_case;

static void products_give_the_bits_of_one_thread(void **state) {
    (void)state;
    static const product_case products[] = {
        {.a = {.ndim = 2, .dim = {100, 784}}, .b = {.ndim = 2, .dim = {784, 500}}, .fused = true},
        {.a = {.ndim = 2, .dim = {28, 698}}, .b = {.ndim = 2, .dim = {520, 698}}, .transpose_b = true},
        {.a = {.ndim = 2, .dim = {71, 438}}, .b = {.ndim = 2, .dim = {438, 608}}, .fused = true},
        {.a = {.ndim = 2, .dim = {190, 565}}, .b = {.ndim = 2, .dim = {565, 272}}},
        {.a = {.ndim = 2, .dim = {969, 898}}, .b = {.ndim = 2, .dim = {17, 898}}, .transpose_b = true, .fused = true},
        {.a = {.ndim = 2, .dim = {1501, 201}}, .b = {.ndim = 2, .dim = {201, 64}}},
        {.a = {.ndim = 2, .dim = {100, 784}}, .b = {.ndim = 2, .dim = {100, 500}}, .transpose_a = true},
        {.a = {.ndim = 2, .dim = {1, 1201}}, .b = {.ndim = 2, .dim = {1201, 997}}, .fused = true},
        {.a = {.ndim = 2, .dim = {1, 1201}}, .b = {.ndim = 2, .dim = {997, 1201}}, .transpose_b = true},
        {.a = {.ndim = 3, .dim = {9, 100, 130}}, .b = {.ndim = 3, .dim = {9, 130, 90}}},
        {.a = {.ndim = 3, .dim = {2, 170, 230}}, .b = {.ndim = 2, .dim = {230, 340}}},
    };
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const product_case *c = &products[i];
        mst_graph *g = engine_graph();
        mst_tensor *a = engine_random(MST_F32, c->a, -1, 1, 1), *b = engine_random(MST_F32, c->b, -1, 1, 2);
        mst_value x = mst_placeholder(.graph = g, .shape = c->a), y = mst_placeholder(.graph = g, .shape = c->b);
        mst_value out = mst_matmul(.a = x, .b = y, .transpose_a = c->transpose_a, .transpose_b = c->transpose_b);
        const mst_shape shape = mst_value_spec(out).shape;
        if (c->fused) out = mst_relu(mst_add(out, mst_fill(g, MST_F32, MST_SHAPE(shape.dim[1]), 0.25)));
        const mst_feed feeds[] = {{.value = x, .tensor = a}, {.value = y, .tensor = b}};
        mst_tensor *got[NUM_DEVICES];
        for (int d = 0; d < NUM_DEVICES; d++) {
            mst_session *session = engine_session(g, devices[d]);
            got[d] = engine_fetch(session, feeds, 2, out);
            mst_session_destroy(session);
            if (!engine_same_bits(got[0], got[d])) fail_msg("product %d: %s gives other bits", (int)i, devices[d]);
        }
        release(got, NUM_DEVICES);
        release((mst_tensor *[]){a, b}, 2);
        mst_graph_destroy(g);
    }
}

/* ---- errors: the first in order, whoever finds it ---- */

enum { NUMBERS = 20000, FIRST_BAD = 7321, SECOND_BAD = 19003, CLASSES = 9 };

/* NUMBERS times GOOD, but for two that are BAD; in rows of WIDTH. Variables, so that nothing is computed while
 * planning.
 */
static mst_value numbers(mst_graph *g, double good, double bad, int64_t width) {
    mst_shape shape = width > 1 ? MST_SHAPE(NUMBERS / width, width) : MST_SHAPE(NUMBERS);
    mst_tensor *tensor = engine_tensor(MST_I32, shape, NULL);
    for (int64_t i = 0; i < NUMBERS; i++) mst_tensor_set(tensor, i, i == FIRST_BAD || i == SECOND_BAD ? bad : good);
    mst_value value = variable_of(g, tensor);
    mst_tensor_release(tensor);
    return value;
}

static mst_value labels(mst_graph *g, int64_t width) {
    return numbers(g, 3, CLASSES, width);
}

static mst_value zeros(mst_graph *g, mst_dtype dtype, mst_shape shape) {
    mst_tensor *tensor = engine_tensor(dtype, shape, NULL);
    mst_value value = variable_of(g, tensor);
    mst_tensor_release(tensor);
    return value;
}

#define FAILING(name, expression)         \
    static mst_value name(mst_graph *g) { \
        return (expression);              \
    }
FAILING(divide, mst_div(zeros(g, MST_I32, MST_SHAPE(NUMBERS)), numbers(g, 1, 0, 1)))
FAILING(divide_down, mst_floor_div(zeros(g, MST_I32, MST_SHAPE(NUMBERS)), numbers(g, 1, 0, 1)))
FAILING(divide_rest, mst_mod(zeros(g, MST_I32, MST_SHAPE(NUMBERS)), numbers(g, 1, 0, 1)))
FAILING(raise_to, mst_pow(zeros(g, MST_I32, MST_SHAPE(NUMBERS)), numbers(g, 1, -1, 1)))
FAILING(gather, mst_gather(zeros(g, MST_F32, MST_SHAPE(CLASSES, 5)), labels(g, 1), 0))
FAILING(gather_grad, mst_gather_grad(zeros(g, MST_F32, MST_SHAPE(NUMBERS, 2)), labels(g, 1),
                                     zeros(g, MST_F32, MST_SHAPE(CLASSES, 2)), 0))
FAILING(gather_last, mst_gather_last(zeros(g, MST_F32, MST_SHAPE(NUMBERS / 4, CLASSES)), labels(g, 4)))
FAILING(scatter_last, mst_scatter_last(zeros(g, MST_F32, MST_SHAPE(NUMBERS / 4, 4)), labels(g, 4),
                                       zeros(g, MST_F32, MST_SHAPE(NUMBERS / 4, CLASSES))))
FAILING(entropy, mst_sparse_softmax_cross_entropy(zeros(g, MST_F32, MST_SHAPE(NUMBERS, CLASSES)), labels(g, 1)))
FAILING(confusion, mst_confusion_matrix(labels(g, 1), zeros(g, MST_I32, MST_SHAPE(NUMBERS)), .num_classes = CLASSES))

static void the_error_is_the_first_on_any_number_of_threads(void **state) {
    (void)state;
    static mst_value (*const failing[])(mst_graph *) = {divide,      divide_down, divide_rest,  raise_to, gather,
                                                        gather_grad, gather_last, scatter_last, entropy,  confusion};
    for (size_t k = 0; k < sizeof failing / sizeof *failing; k++) {
        mst_graph *g = engine_graph();
        mst_value out = failing[k](g);
        EXPECT_OK(mst_graph_check(g));
        for (int d = 0; d < NUM_DEVICES; d++) {
            mst_session *session = engine_session(g, devices[d]);
            EXPECT_ERROR(mst_session_run(session, NULL, 0, &out, 1, NULL), MST_INVALID, "7321");
            mst_session_destroy(session);
        }
        mst_graph_destroy(g);
    }
}

/* ---- mst_parallel itself ---- */

typedef struct runs {
    int64_t n, grain;
    int threads;
    bool wrong;
    char done[1000];
} runs;

static mst_status note_run(void *context, int64_t begin, int64_t end, int thread) {
    runs *r = context;
    if (begin % r->grain || (end != r->n && end % r->grain) || thread < 0 || thread >= r->threads) r->wrong = true;
    for (int64_t i = begin; i < end; i++) r->done[i]++;
    return MST_OK;
}

static void runs_begin_at_multiples_of_the_grain(void **state) {
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        mst_team *team = NULL;
        if (threads > 1) EXPECT_OK(mst_team_create(threads, false, NULL, NULL, &team));
        const mst_kernel_args args = {.team = team, .num_threads = threads};
        for (int64_t n = 0; n <= 1000; n = n * 3 / 2 + 1)
            for (int64_t grain = 1; grain <= 1000; grain = grain * 2 + 1) {
                runs r = {.n = n, .grain = grain, .threads = threads};
                EXPECT_OK(mst_parallel(&args, n, grain, note_run, &r));
                assert_false(r.wrong);
                for (int64_t i = 0; i < 1000; i++) assert_int_equal(r.done[i], i < n);
            }
        mst_team_destroy(team);
    }
}

/* ---- the list ---- */

enum { MOST_OPS = 512, NAME_SIZE = 96 };

/* Arguments: names of the ops to test; none: all, and the rest. */
int main(int argc, char **argv) {
    static struct CMUnitTest tests[MOST_OPS + 4] = {
        cmocka_unit_test(runs_begin_at_multiples_of_the_grain),
        cmocka_unit_test(writers_give_the_bits_of_one_thread),
        cmocka_unit_test(products_give_the_bits_of_one_thread),
        cmocka_unit_test(the_error_is_the_first_on_any_number_of_threads),
    };
    static char name[MOST_OPS][NAME_SIZE];
    size_t count = argc < 2 ? 4 : 0;
    for (int i = 0; mst_op_at(i) && i < MOST_OPS; i++) {
        bool wanted = argc < 2;
        for (int k = 1; k < argc; k++) wanted = wanted || strcmp(argv[k], mst_op_at(i)->name) == 0;
        if (!wanted) continue;
        snprintf(name[i], NAME_SIZE, "%s_gives_the_bits_of_one_thread", mst_op_at(i)->name);
        tests[count++] = (struct CMUnitTest){
            .name = name[i], .test_func = check_op, .initial_state = (void *)(uintptr_t)mst_op_at(i)};
    }
    return _cmocka_run_group_tests("parallel", tests, count, NULL, NULL);
}
