/* Random graphs with dimensions that are known only when the placeholders are fed, and the same graphs with all
 * dimensions known: values, gradients, gradients of gradients and one step of an update have the same bits.
 *
 *   test_grad_open_dimensions                 some hundred graphs
 *   test_grad_open_dimensions SECONDS [SEED]  as many as there are in SECONDS, from SEED on */
#include "support/test.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/rng.h"

enum { MOST_VALUES = 24, NUM_INPUTS = 3, NUM_VARIABLES = 2, NUM_GRAPHS = 200 };

static uint64_t first_seed = 1;
static double seconds;

typedef struct builder {
    uint64_t seed, draw;
    bool open; /* the chosen dimensions are not known while building */
    mst_graph *graph;
    int num;
    mst_value value[MOST_VALUES];
    mst_shape shape[MOST_VALUES]; /* all dimensions known */
    const char *made[MOST_VALUES];
} builder;

static int below(builder *b, int n) {
    return (int)(mst_rng_mix(b->seed, ++b->draw) % (uint64_t)n);
}

static bool one_in(builder *b, int n) {
    return below(b, n) == 0;
}

static void add(builder *b, const char *made, mst_value value, mst_shape shape) {
    if (b->num == MOST_VALUES) return;
    b->value[b->num] = value;
    b->shape[b->num] = shape;
    b->made[b->num++] = made;
}

/* ---- ops; each draws the same numbers whether dimensions are open or not ---- */

static void add_unary(builder *b, int i) {
    static const struct {
        const char *name;
        mst_value (*make)(mst_value src);
    } ops[] = {{"tanh", mst_tanh},         {"sigmoid", mst_sigmoid},
               {"relu", mst_relu},         {"square", mst_square},
               {"softplus", mst_softplus}, {"sin", mst_sin},
               {"abs", mst_abs},           {"neg", mst_neg},
               {"swish", mst_swish},       {"erf", mst_erf},
               {"softmax", mst_softmax},   {"log_softmax", mst_log_softmax},
               {"identity", mst_identity}, {"ones_like", mst_ones_like}};
    const int k = below(b, sizeof ops / sizeof *ops);
    if (b->shape[i].ndim > 0) add(b, ops[k].name, ops[k].make(b->value[i]), b->shape[i]);
}

static mst_value safe_div(mst_value x, mst_value y) {
    return mst_div(x, mst_add(mst_square(y), mst_scalar(mst_value_graph(y), MST_F32, 1)));
}

static mst_value greater_of(mst_value x, mst_value y) {
    return mst_select(mst_greater(x, y), x, y);
}

static void add_binary(builder *b, int i, int j) {
    static const struct {
        const char *name;
        mst_value (*make)(mst_value x, mst_value y);
    } ops[] = {{"add", mst_add},     {"sub", mst_sub},
               {"mul", mst_mul},     {"maximum", mst_maximum},
               {"div", safe_div},    {"select", greater_of},
               {"atan2", mst_atan2}, {"squared_difference", mst_squared_difference}};
    const mst_shape *x = &b->shape[i], *y = &b->shape[j];
    const int k = below(b, sizeof ops / sizeof *ops), ndim = x->ndim > y->ndim ? x->ndim : y->ndim;
    mst_shape out = {.ndim = ndim};
    for (int d = 1; d <= ndim; d++) {
        const int64_t one = d <= x->ndim ? x->dim[x->ndim - d] : 1, other = d <= y->ndim ? y->dim[y->ndim - d] : 1;
        if (one != other && one != 1 && other != 1) return;
        out.dim[ndim - d] = one == 1 ? other : one;
    }
    if (mst_shape_count(out) <= 20000) add(b, ops[k].name, ops[k].make(b->value[i], b->value[j]), out);
}

static void add_reduction(builder *b, int i) {
    const mst_shape *x = &b->shape[i];
    mst_reduce_options o = {.src = b->value[i], .keep_dims = one_in(b, 2)};
    const int kind = below(b, 6);
    mst_shape out = {0};
    for (int d = 0; d < x->ndim; d++) {
        const bool reduced = one_in(b, 2);
        if (reduced) o.axes.axis[o.axes.count++] = d;
        if (!reduced) out.dim[out.ndim++] = x->dim[d];
        if (reduced && o.keep_dims) out.dim[out.ndim++] = 1;
    }
    if (o.axes.count == 0) return;
    switch (kind) {
        case 0: add(b, "reduce_sum", mst_reduce_sum_with(o), out); break;
        case 1: add(b, "reduce_max", mst_reduce_max_with(o), out); break;
        case 2: add(b, "reduce_min", mst_reduce_min_with(o), out); break;
        case 3: add(b, "reduce_prod", mst_reduce_prod_with(o), out); break;
        default: add(b, "reduce_mean", mst_reduce_mean_with(o), out); break;
    }
}

static void add_matmul(builder *b, int i, int j) {
    const mst_shape *x = &b->shape[i], *y = &b->shape[j];
    const bool ta = one_in(b, 2), tb = one_in(b, 2);
    if (x->ndim != 2 || y->ndim != 2 || x->dim[ta ? 0 : 1] != y->dim[tb ? 1 : 0]) return;
    const mst_shape out = {.ndim = 2, .dim = {x->dim[ta ? 1 : 0], y->dim[tb ? 0 : 1]}};
    add(b, "matmul", mst_matmul(b->value[i], b->value[j], .transpose_a = ta, .transpose_b = tb), out);
}

/* Products of matrices whose leading dimension is broadcast. */
static void add_batch_matmul(builder *b, int i, int j) {
    const mst_shape *x = &b->shape[i], *y = &b->shape[j];
    if (x->ndim < 2 || x->ndim > 3 || y->ndim != 3 || x->dim[x->ndim - 1] != y->dim[1]) return;
    const int64_t one = x->ndim == 3 ? x->dim[0] : 1, other = y->dim[0];
    if (one != other && one != 1 && other != 1) return;
    const mst_shape out = {.ndim = 3, .dim = {one == 1 ? other : one, x->dim[x->ndim - 2], y->dim[2]}};
    if (mst_shape_count(out) <= 20000) add(b, "matmul", mst_matmul(b->value[i], b->value[j]), out);
}

static void add_loss(builder *b, int i, int j) {
    const mst_shape *x = &b->shape[i];
    mst_shape out = *x;
    if (x->ndim < 2 || !mst_shape_equal(*x, b->shape[j])) return;
    out.ndim--;
    const mst_value labels = mst_softmax(b->value[j]);
    switch (below(b, 4)) {
        case 0: add(b, "softmax_cross_entropy", mst_softmax_cross_entropy(b->value[i], labels), out); break;
        case 1: add(b, "sigmoid_cross_entropy", mst_sigmoid_cross_entropy(b->value[i], labels), *x); break;
        case 2: add(b, "l2_loss", mst_l2_loss(b->value[i]), (mst_shape){0}); break;
        default:
            add(b, "loss_reduce", mst_loss_reduce(b->value[i], b->value[j], MST_REDUCTION_WEIGHTED_MEAN),
                (mst_shape){0});
    }
}

static void add_picked(builder *b, int i) {
    const mst_shape *x = &b->shape[i];
    if (x->ndim == 0 || x->ndim > 3) return;
    const int axis = below(b, x->ndim);
    mst_shape out = *x;
    const mst_value same[2] = {b->value[i], b->value[i]};
    const mst_value indices =
        mst_values(b->graph, MST_I32, MST_SHAPE(4), (const double[]){0, (double)x->dim[axis] - 1, 0, 0});
    mst_pad_options pad = {.src = b->value[i], .before = {.ndim = x->ndim}, .after = {.ndim = x->ndim}};
    switch (below(b, 4)) {
        case 0:
            out.dim[axis] = 4;
            add(b, "gather", mst_gather(b->value[i], indices, axis), out);
            break;
        case 1:
            for (int d = x->ndim; d > axis; d--) out.dim[d] = out.dim[d - 1];
            out.dim[axis] = 2;
            out.ndim++;
            add(b, "stack", mst_stack(same, 2, axis), out);
            break;
        case 2:
            pad.before.dim[axis] = 1;
            pad.after.dim[axis] = 2;
            out.dim[axis] += 3;
            add(b, "pad", mst_pad_with(pad), out);
            break;
        default: add(b, "clip", mst_clip(b->value[i], -0.5, 0.5), out); break;
    }
}

static void add_moved(builder *b, int i) {
    const mst_shape *x = &b->shape[i];
    const int axis = x->ndim ? below(b, x->ndim) : 0;
    mst_shape out = *x, begin = {.ndim = x->ndim}, size = {.ndim = x->ndim};
    mst_shape times = {.ndim = x->ndim};
    mst_value same[2] = {b->value[i], b->value[i]};
    if (x->ndim == 0) return;
    switch (below(b, 7)) {
        case 0:
            for (int d = 0; d < x->ndim; d++) out.dim[d] = x->dim[x->ndim - 1 - d];
            add(b, "transpose", mst_transpose(b->value[i]), out);
            break;
        case 1:
            if (x->ndim >= 4) break;
            for (int d = x->ndim; d > axis; d--) out.dim[d] = out.dim[d - 1];
            out.dim[axis] = 1;
            out.ndim++;
            add(b, "expand_dims", mst_expand_dims(b->value[i], axis), out);
            break;
        case 2:
            out.dim[axis] *= 2;
            add(b, "concat", mst_concat(same, 2, axis), out);
            break;
        case 3:
            for (int d = 0; d < x->ndim; d++) size.dim[d] = -1;
            begin.dim[axis] = x->dim[axis] > 1;
            out.dim[axis] -= begin.dim[axis];
            add(b, "slice", mst_slice(b->value[i], begin, size), out);
            break;
        case 4:
            for (int d = 0; d < x->ndim; d++) times.dim[d] = d == axis ? 2 : 1;
            out.dim[axis] *= 2;
            add(b, "tile", mst_tile(b->value[i], times), out);
            break;
        case 5:
            out = (mst_shape){.ndim = 1, .dim = {mst_shape_count(*x)}};
            add(b, "reshape", mst_reshape(b->value[i], MST_SHAPE(-1)), out);
            break;
        default: add(b, "dropout", mst_dropout(b->value[i], .rate = 0.25), out); break;
    }
}

static void add_random(builder *b) {
    const int i = below(b, b->num), j = below(b, b->num), kind = below(b, 13);
    if (kind < 2)
        add_unary(b, i);
    else if (kind < 5)
        add_binary(b, i, j);
    else if (kind < 6)
        add_reduction(b, i);
    else if (kind < 8)
        add_matmul(b, i, j);
    else if (kind < 10)
        add_moved(b, i);
    else if (kind < 11)
        add_batch_matmul(b, i, j);
    else if (kind < 12)
        add_loss(b, i, j);
    else
        add_picked(b, i);
}

/* ---- graphs ---- */

static mst_shape random_shape(builder *b) {
    static const int64_t sizes[] = {1, 3, 5, 17, 33, 5, 17};
    mst_shape shape = {.ndim = 1 + below(b, 3)};
    for (int d = 0; d < shape.ndim; d++) shape.dim[d] = sizes[below(b, sizeof sizes / sizeof *sizes)];
    return shape;
}

static void build(builder *b) {
    char name[16];
    const bool wide = one_in(b, 3); /* other dimensions than the first are open too */
    for (int i = 0; i < NUM_INPUTS; i++) {
        mst_shape shape = random_shape(b), asked = shape;
        for (int d = 0; d < shape.ndim; d++) {
            const bool open = d == 0 || (wide && one_in(b, 2));
            if (open && b->open) asked.dim[d] = -1;
        }
        snprintf(name, sizeof name, "x%d", i);
        add(b, "placeholder", mst_placeholder(b->graph, MST_F32, asked, name), shape);
    }
    for (int i = 0; i < NUM_VARIABLES; i++) {
        const mst_shape shape = random_shape(b);
        snprintf(name, sizeof name, "v%d", i);
        add(b, "variable",
            mst_variable(b->graph, name, mst_random_normal(b->graph, shape, .stddev = 0.5, .seed = 1 + (uint64_t)i),
                         .l2 = 0.01f),
            shape);
    }
    for (int tries = 0; tries < 40; tries++) add_random(b);
}

/* The sum of the means of the last values: each is reached. */
static mst_value target(builder *b) {
    mst_value sum = mst_scalar(b->graph, MST_F32, 0);
    for (int i = NUM_INPUTS; i < b->num; i++) sum = mst_add(sum, mst_reduce_mean(mst_tanh(b->value[i])));
    return sum;
}

enum { MOST_FETCHES = MOST_VALUES + 2 * (NUM_INPUTS + NUM_VARIABLES) + NUM_VARIABLES + 2 };

/* Runs the graph and a step; fills GOT with values, gradients and the variables after it, and returns how many. */
static int run(builder *b, mst_tensor **got) {
    mst_value fetch[MOST_FETCHES], gradient[NUM_INPUTS + NUM_VARIABLES], again[NUM_INPUTS + NUM_VARIABLES];
    mst_feed feed[NUM_INPUTS];
    mst_session *session;
    int num = 0;
    b->graph = engine_graph();
    build(b);
    for (int i = 0; i < b->num; i++) fetch[num++] = b->value[i];
    const mst_value loss = target(b);
    mst_gradients(loss, b->value, NUM_INPUTS + NUM_VARIABLES, gradient);
    mst_value squares = mst_scalar(b->graph, MST_F32, 0);
    for (int i = 0; i < NUM_INPUTS + NUM_VARIABLES; i++) {
        if (mst_value_is_none(gradient[i])) continue;
        fetch[num++] = gradient[i];
        squares = mst_add(squares, mst_reduce_sum(mst_square(gradient[i])));
    }
    mst_gradients(squares, b->value, NUM_INPUTS + NUM_VARIABLES, again);
    for (int i = 0; i < NUM_INPUTS + NUM_VARIABLES; i++)
        if (!mst_value_is_none(again[i])) fetch[num++] = again[i];
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0.1);
    const mst_value train = mst_minimize(&sgd, loss, NULL, 0, MST_NONE);
    EXPECT_OK(mst_graph_check(b->graph));
    EXPECT_OK(mst_session_create(b->graph, &(mst_session_options){.devices = "cpu:1/1"}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    for (int i = 0; i < NUM_INPUTS; i++)
        feed[i] =
            (mst_feed){.value = b->value[i], .tensor = engine_random(MST_F32, b->shape[i], -1, 1, 7 + (unsigned)i)};
    engine_set_run(session, 0);
    EXPECT_OK(mst_session_run(session, feed, NUM_INPUTS, fetch, num, got));
    EXPECT_OK(mst_session_run(session, feed, NUM_INPUTS, &train, 1, NULL));
    for (int i = 0; i < NUM_VARIABLES; i++)
        EXPECT_OK(mst_session_get_variable(session, b->value[NUM_INPUTS + i], &got[num++]));
    for (int i = 0; i < NUM_INPUTS; i++) mst_tensor_release(feed[i].tensor);
    mst_session_destroy(session);
    return num;
}

/* The same bits; which NaN an operation gives of two is not told apart. */
static bool same(const mst_tensor *a, const mst_tensor *b) {
    if (engine_same_bits(a, b)) return true;
    if (!mst_shape_equal(mst_tensor_shape(a), mst_tensor_shape(b))) return false;
    for (int64_t i = 0; i < mst_tensor_count(a); i++) {
        const double x = mst_tensor_get(a, i), y = mst_tensor_get(b, i);
        if (!(x != x && y != y) && (x != y || signbit(x) != signbit(y))) return false;
    }
    return true;
}

static void expect_same(const builder *known, const builder *open, mst_tensor *const *a, mst_tensor *const *b,
                        int num) {
    for (int i = 0; i < num; i++) {
        if (same(a[i], b[i])) continue;
        char *text;
        EXPECT_OK(mst_graph_print(open->graph, &text));
        fputs(text, stderr);
        fail_msg("graph %llu: result %d (%s) of %d differs by %g", (unsigned long long)known->seed, i,
                 i < known->num ? known->made[i] : "gradient or variable", num, engine_distance(a[i], b[i]));
    }
}

static void open_dimensions_give_the_bits_of_known_ones(void **state) {
    (void)state;
    const int64_t end = mst_clock_now() + (int64_t)(seconds * 1e9);
    int64_t graphs = 0, results = 0;
    for (uint64_t seed = first_seed; seconds > 0 ? mst_clock_now() < end : graphs < NUM_GRAPHS; seed++, graphs++) {
        builder known = {.seed = seed}, open = {.seed = seed, .open = true};
        mst_tensor *a[MOST_FETCHES] = {NULL}, *b[MOST_FETCHES] = {NULL};
        const int num = run(&known, a);
        assert_int_equal(run(&open, b), num);
        assert_int_equal(known.draw, open.draw);
        expect_same(&known, &open, a, b, num);
        for (int i = 0; i < num; i++) {
            mst_tensor_release(a[i]);
            mst_tensor_release(b[i]);
        }
        results += num;
        mst_graph_destroy(known.graph);
        mst_graph_destroy(open.graph);
    }
    printf("graphs: %lld from seed %llu on, %lld results compared\n", (long long)graphs, (unsigned long long)first_seed,
           (long long)results);
}

static mst_status never_filled(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    (void)context, (void)spec, (void)first_row, (void)dst;
    abort();
}

/* The gradient of a mean divides by the number of elements. For this shape f32 cannot represent that number, so the
 * order of rounding matters. Only the shape is needed, and no such tensor is made. */
static void divisor_of_a_mean_is_rounded_once(void **state) {
    (void)state;
    const mst_shape shape = MST_SHAPE(3, 4097, 4099);
    double share[2];
    for (int open = 0; open < 2; open++) {
        mst_graph *g = engine_graph();
        mst_value x = mst_placeholder(g, MST_F32, open ? MST_SHAPE(-1, 4097, 4099) : shape, "x"), gradient;
        mst_gradients(mst_reduce_mean(x), &x, 1, &gradient);
        assert_string_equal(mst_node_op(gradient.node)->name, "broadcast_like");
        const mst_feed feed = {.value = x, .fill = never_filled, .spec = {MST_F32, shape}};
        mst_session *session = engine_session(g, NULL);
        mst_tensor *got = engine_fetch(session, &feed, 1, mst_node_src(gradient.node, 0));
        share[open] = mst_tensor_get(got, 0);
        mst_tensor_release(got);
        engine_end(g, session);
    }
    assert_true(share[0] == share[1]);
    assert_true(share[0] == (double)(1 / (float)(3.0 * 4097 * 4099)));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_dimensions_give_the_bits_of_known_ones),
        cmocka_unit_test(divisor_of_a_mean_is_rounded_once),
    };
    if (argc > 1) seconds = strtod(argv[1], NULL);
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
