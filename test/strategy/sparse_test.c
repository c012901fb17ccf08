/* Gradients of gather: only the rows that they have are added up and sent, and rules that can leave the others alone do
 * so, under every strategy with the same bits. test/parity/sparse_test.py compares the values with TensorFlow's. */
#include <math.h>

#include "op/index/gather.h"
#include "op/state/sparse_gradient.h"
#include "support/sanitized.h"
#include "support/test.h"
#include "support/training.h"

#include "muster/store.h"

enum { ROWS = 5000, COLUMNS = 24, TAKEN = 40, STEPS = 3 };

typedef struct embedding {
    bool twice;    /* the table is used by two gathers */
    int64_t words; /* of so many different ones; 0: half of the table */
    mst_value table;
} embedding;

/* Words drawn in the graph: other ones in each shard and step. */
static void build_replica(void *context, mst_graph *graph, int shard, mst_replica *out) {
    embedding *e = context;
    (void)shard;
    e->table = mst_get_variable(graph, "table", MST_SHAPE(ROWS, COLUMNS), MST_F32,
                                mst_random_uniform_initializer(.low = -1, .high = 1));
    const int64_t high = e->words ? e->words : ROWS / 2;
    mst_value words = mst_random_uniform_int(graph, MST_SHAPE(TAKEN, 3), .high = high, .dtype = MST_I64);
    mst_value x = mst_reduce_mean(mst_gather(e->table, words, 0), .axes = MST_AXES(1));
    if (e->twice) {
        mst_value more = mst_random_uniform_int(graph, MST_SHAPE(TAKEN), .high = 9, .dtype = MST_I32);
        x = mst_add(x, mst_gather(e->table, more, 0));
    }
    mst_value w = mst_get_variable(graph, "w", MST_SHAPE(COLUMNS, 1), MST_F32, mst_constant_initializer(0.5));
    out->loss = mst_square(mst_reshape(mst_matmul(x, w), MST_SHAPE(TAKEN)));
}

typedef struct trained {
    mst_tensor *table;
    double loss;
} trained;

static trained train(embedding e, mst_optimizer optimizer, mst_strategy strategy, const char *devices) {
    trained result;
    mst_graph *g = engine_graph();
    mst_step_values values;
    mst_session *session = engine_session(g, devices);
    engine_build_step(g, session, &strategy, &optimizer, build_replica, &e, &values);
    mst_value fetch[] = {values.loss, values.train};
    for (int i = 0; i < STEPS; i++) {
        mst_tensor *got[2] = {NULL};
        EXPECT_OK(mst_session_run(session, NULL, 0, fetch, 2, got));
        result.loss = mst_tensor_get(got[0], 0);
        mst_tensor_release(got[0]);
    }
    EXPECT_OK(mst_session_get_variable(session, e.table, &result.table));
    engine_end(g, session);
    return result;
}

static const struct {
    const char *name;
    mst_optimizer optimizer;
} cases[] = {
    {"sgd", {.rule = "sgd", .learning_rate = 0.5}},
    {"momentum", {.rule = "sgd", .learning_rate = 0.5, .momentum = 0.9}},
    {"momentum with average and decay",
     {.rule = "sgd", .learning_rate = 0.5, .momentum = 0.9, .ema_decay = 0.9, .weight_decay = 0.01}},
    {"adagrad", {.rule = "adagrad", .learning_rate = 0.5}},
    {"rmsprop, clipped", {.rule = "rmsprop", .learning_rate = 0.1, .clip_global_norm = 0.01}},
    {"ftrl", {.rule = "ftrl", .learning_rate = 0.1, .clip_value = 0.001}},
    {"adam", {.rule = "adam", .learning_rate = 0.1}},
    {"adam, clipped", {.rule = "adam", .learning_rate = 0.1, .clip_norm = 0.01}},
    {"momentum, only its rows",
     {.rule = "sgd", .learning_rate = 0.5, .momentum = 0.9, .sparse = MST_SPARSE_TENSORFLOW}},
    {"momentum of TensorFlow 1", {.rule = "momentum", .learning_rate = 0.5}},
    {"adagrad, accumulated",
     {.rule = "adagrad", .learning_rate = 0.5, .clip_value = 0.001, .gradient_accumulation_steps = 2}},
    {"momentum, its rows, average and decay, accumulated",
     {.rule = "sgd",
      .learning_rate = 0.5,
      .momentum = 0.9,
      .ema_decay = 0.9,
      .weight_decay = 0.01,
      .sparse = MST_SPARSE_TENSORFLOW,
      .gradient_accumulation_steps = 2}},
    {"rmsprop, only its rows", {.rule = "rmsprop", .learning_rate = 0.1, .sparse = MST_SPARSE_TENSORFLOW}},
    {"adam, rows added first",
     {.rule = "adam", .learning_rate = 0.1, .clip_global_norm = 0.01, .sparse = MST_SPARSE_TENSORFLOW}},
};

static void bits_do_not_depend_on_the_strategy(void **state) {
    (void)state;
    static const struct {
        mst_strategy_kind kind;
        const char *devices;
    } places[] = {{MST_STRATEGY_ONE, "cpu:1/1"},
                  {MST_STRATEGY_ONE, "cpu:1/2"},
                  {MST_STRATEGY_TOWERS, "cpu:2/1"},
                  {MST_STRATEGY_MIRRORED, "cpu:2/1"},
                  {MST_STRATEGY_MIRRORED, "cpu:4/1"},
                  {MST_STRATEGY_MIRRORED, "cpu:1/1,island:1/1"},
                  {MST_STRATEGY_TOWERS, "island:2/1"},
                  {MST_STRATEGY_MIRRORED, "island:4/1"},
                  {MST_STRATEGY_TOWERS, "island:1/1,cpu:3/1"},
                  {MST_STRATEGY_MIRRORED, "island:1/1,cpu:3/2"},
                  {MST_STRATEGY_MIRRORED, "cpu:2/1,island:2/1"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int twice = 0; twice < 2; twice++) {
            trained first = {NULL, 0};
            if (SANITIZED && twice != (int)(c % 2)) continue; /* half of them */
            for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
                if (engine_has_other_bits(places[p].devices)) continue;
                trained t =
                    train((embedding){.twice = twice}, mst_optimizer_named(cases[c].optimizer.rule, cases[c].optimizer),
                          (mst_strategy){.kind = places[p].kind, .num_shards = 4}, places[p].devices);
                if (p == 0) {
                    first = t;
                    continue;
                }
                if (!engine_same_bits(t.table, first.table) || t.loss != first.loss)
                    fail_msg("%s: strategy %d on %s gives another table", cases[c].name, (int)places[p].kind,
                             places[p].devices);
                mst_tensor_release(t.table);
            }
            mst_tensor_release(first.table);
        }
}

/* Domains have other shards, and not always a node of the tree: what they send is cut in other ways. */
static void expect_bits_of_any_domains(embedding e) {
    enum { SHARDS = 12 };
    static const struct {
        mst_strategy_kind kind;
        const char *devices;
    } places[] = {{MST_STRATEGY_ONE, "cpu:1/1"},
                  {MST_STRATEGY_MIRRORED, "island:3/1"},
                  {MST_STRATEGY_MIRRORED, "cpu:3/1,island:3/1"},
                  {MST_STRATEGY_MIRRORED, "island:1/1,cpu:5/1"},
                  {MST_STRATEGY_MIRRORED, "cpu:3/1,island:1/1"},
                  {MST_STRATEGY_MIRRORED, "island:6/1"},
                  {MST_STRATEGY_TOWERS, "cpu:3/1,island:3/1"},
                  {MST_STRATEGY_TOWERS, "island:1/1,cpu:5/1"}};
    const char *const rules[] = {"sgd", "adam"};
    for (size_t c = 0; c < 2; c++) {
        trained first = {NULL, 0};
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            if (engine_has_other_bits(places[p].devices)) continue;
            const mst_optimizer optimizer = {.learning_rate = 0.1, .clip_global_norm = 0.1};
            trained t = train(e, mst_optimizer_named(rules[c], optimizer),
                              (mst_strategy){.kind = places[p].kind, .num_shards = SHARDS}, places[p].devices);
            if (p == 0) {
                first = t;
                continue;
            }
            if (!engine_same_bits(t.table, first.table) || t.loss != first.loss)
                fail_msg("%s: strategy %d on %s gives another table", rules[c], (int)places[p].kind, places[p].devices);
            mst_tensor_release(t.table);
        }
        mst_tensor_release(first.table);
    }
}

static void bits_do_not_depend_on_which_shards_a_domain_has(void **state) {
    (void)state;
    expect_bits_of_any_domains((embedding){.twice = true});
    expect_bits_of_any_domains((embedding){.words = 300}); /* each word is only in some shards */
}

/* ---- by hand ---- */

typedef struct table {
    mst_graph *g;
    mst_session *session;
    mst_value variable, values, rows, gradient, train;
} table;

static table make_table(mst_optimizer optimizer, float l2) {
    table t = {.g = engine_graph()};
    t.variable = mst_get_variable(t.g, "table", MST_SHAPE(4, 2), MST_F64, mst_constant_initializer(1), .l2 = l2);
    t.values = mst_placeholder(t.g, MST_F64, MST_SHAPE(-1, 2), "values");
    t.rows = mst_placeholder(t.g, MST_I32, MST_SHAPE(-1), "rows");
    t.gradient = mst_gather_grad(t.values, t.rows, t.variable, 0);
    t.train = mst_apply_gradients(&optimizer, &t.gradient, &t.variable, 1, MST_NONE);
    t.session = engine_session(t.g, "cpu:1/1");
    EXPECT_OK(mst_session_init_variables(t.session));
    return t;
}

static mst_status step(table *t, int64_t n, const double *values, const int32_t *rows, mst_tensor **gradient) {
    mst_feed feed[2] = {{.value = t->values}, {.value = t->rows}};
    mst_tensor *got[2] = {NULL};
    EXPECT_OK(mst_tensor_copy(MST_F64, MST_SHAPE(n, 2), values, &feed[0].tensor));
    EXPECT_OK(mst_tensor_copy(MST_I32, MST_SHAPE(n), rows, &feed[1].tensor));
    mst_value fetch[] = {t->train, t->gradient};
    mst_status status = mst_session_run(t->session, feed, 2, fetch, gradient ? 2 : 1, got);
    if (gradient) *gradient = got[1];
    for (int i = 0; i < 2; i++) mst_tensor_release(feed[i].tensor);
    return status;
}

static void expect_table(table *t, const double *wanted) {
    mst_tensor *value;
    EXPECT_OK(mst_session_get_variable(t->session, t->variable, &value));
    for (int64_t i = 0; i < 8; i++) {
        const double got = mst_tensor_get(value, i);
        if (fabs(got - wanted[i]) > 1e-12) fail_msg("element %d is %g, not %g", (int)i, got, wanted[i]);
    }
    mst_tensor_release(value);
}

/* As Keras' SGD with tf.IndexedSlices. */
static void momentum_moves_all_rows(void **state) {
    (void)state;
    table t = make_table(mst_sgd(.learning_rate = 1, .momentum = 0.5), 0);
    EXPECT_OK(step(&t, 3, (double[]){1, 2, 3, 4, 5, 6}, (int32_t[]){2, 0, 2}, NULL));
    expect_table(&t, (double[]){-2, -3, 1, 1, -5, -7, 1, 1});
    EXPECT_OK(step(&t, 1, (double[]){1, 1}, (int32_t[]){2}, NULL));
    expect_table(&t, (double[]){-2 - 1.5, -3 - 2, 1, 1, -5 - 3 - 1, -7 - 4 - 1, 1, 1});
    engine_end(t.g, t.session);
}

/* Row 2 comes up with 1 and 3: their squares are 10, and that of their sum is 16. */
static void a_row_that_comes_up_twice_counts_twice(void **state) {
    (void)state;
    const struct {
        mst_optimizer optimizer;
        double step;
    } twice[] = {
        {mst_adagrad(.learning_rate = 1, .initial_accumulator = 6, .epsilon = MST_ZERO), 4 / sqrt(6 + 10)},
        {mst_adagrad(.learning_rate = 1, .initial_accumulator = 9, .epsilon = MST_ZERO,
                     .sparse = MST_SPARSE_TENSORFLOW),
         4 / sqrt(9 + 16)},
        {mst_sgd(.learning_rate = 1, .clip_value = 2), 1 + 2},
        {mst_sgd(.learning_rate = 1, .clip_value = 2, .sparse = MST_SPARSE_TENSORFLOW), 2},
        {mst_sgd(.learning_rate = 1, .clip_norm = 2), 4 * 2 / sqrt(10)},
        {mst_sgd(.learning_rate = 1, .clip_global_norm = 2, .sparse = MST_SPARSE_TENSORFLOW), 2},
    };
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++) {
        table t = make_table(twice[i].optimizer, 0);
        EXPECT_OK(step(&t, 2, (double[]){1, 0, 3, 0}, (int32_t[]){2, 2}, NULL));
        expect_table(&t, (double[]){1, 1, 1, 1, 1 - twice[i].step, 1, 1, 1});
        engine_end(t.g, t.session);
    }
}

static void momentum_moves_only_the_rows_of_the_gradient(void **state) {
    (void)state;
    table t = make_table(mst_sgd(.learning_rate = 1, .momentum = 0.5, .sparse = MST_SPARSE_TENSORFLOW), 0);
    EXPECT_OK(step(&t, 3, (double[]){1, 2, 3, 4, 5, 6}, (int32_t[]){2, 0, 2}, NULL));
    expect_table(&t, (double[]){-2, -3, 1, 1, -5, -7, 1, 1});
    /* rows 0 and 2 have momentum, and row 0 none of this gradient */
    EXPECT_OK(step(&t, 1, (double[]){1, 1}, (int32_t[]){2}, NULL));
    expect_table(&t, (double[]){-2, -3, 1, 1, -5 - 3 - 1, -7 - 4 - 1, 1, 1});
    EXPECT_OK(step(&t, 0, (double[]){0}, (int32_t[]){0}, NULL));
    expect_table(&t, (double[]){-2, -3, 1, 1, -9, -12, 1, 1});
    engine_end(t.g, t.session);
}

static void weight_decay_and_penalty_reach_all_rows(void **state) {
    (void)state;
    table t = make_table(mst_sgd(.learning_rate = 1, .weight_decay = 0.5), 0);
    EXPECT_OK(step(&t, 1, (double[]){1, 2}, (int32_t[]){3}, NULL));
    expect_table(&t, (double[]){0.5, 0.5, 0.5, 0.5, 0.5, 0.5, -0.5, -1.5});
    engine_end(t.g, t.session);
    t = make_table(mst_sgd(.learning_rate = 1, .momentum = 0.5), 0.25f);
    EXPECT_OK(step(&t, 1, (double[]){1, 2}, (int32_t[]){3}, NULL));
    expect_table(&t, (double[]){0.75, 0.75, 0.75, 0.75, 0.75, 0.75, -0.25, -1.25});
    engine_end(t.g, t.session);
}

static void readers_of_a_sparse_gradient_get_it_dense(void **state) {
    (void)state;
    mst_tensor *gradient;
    table t = make_table(mst_sgd(.learning_rate = 1), 0);
    EXPECT_OK(step(&t, 3, (double[]){1, 2, 3, 4, 5, 6}, (int32_t[]){2, 0, 2}, &gradient));
    const double wanted[] = {3, 4, 0, 0, 6, 8, 0, 0};
    for (int64_t i = 0; i < 8; i++) assert_true(mst_tensor_get(gradient, i) == wanted[i]);
    expect_table(&t, (double[]){-2, -3, 1, 1, -5, -7, 1, 1});
    mst_tensor_release(gradient);
    engine_end(t.g, t.session);
}

static void index_out_of_range_changes_nothing(void **state) {
    (void)state;
    table t = make_table(mst_sgd(.learning_rate = 1), 0);
    EXPECT_ERROR(step(&t, 2, (double[]){1, 2, 3, 4}, (int32_t[]){1, 4}, NULL), MST_INVALID,
                 engine_compiles() ? "an index is not in [0, 4)" : "index 4 is not in [0, 4)");
    expect_table(&t, (double[]){1, 1, 1, 1, 1, 1, 1, 1});
    engine_end(t.g, t.session);
}

/* The memory of the rows still has negative integers from an earlier run, which are NaN as f32. There are fewer rows
 * than the memory has room for. */
static void check_numerics_looks_at_the_rows_that_are_there(void **state) {
    (void)state;
    enum { MANY = 1000 };
    mst_graph *g = engine_graph();
    mst_value table = mst_get_variable(g, "table", MST_SHAPE(MANY, 8), MST_F32, mst_constant_initializer(1));
    mst_value below =
        mst_reduce_max(mst_random_uniform_int(g, MST_SHAPE(100 * MANY), .low = -9, .high = -1, .dtype = MST_I64));
    mst_value words = mst_random_uniform_int(g, MST_SHAPE(MANY), .high = 2, .dtype = MST_I64);
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0.1);
    mst_value train = mst_minimize(&sgd, mst_reduce_sum(mst_gather(table, words, 0)), NULL, 0, MST_NONE);
    mst_session *session;
    EXPECT_OK(mst_graph_check(g));
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .check_numerics = true}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    mst_tensor_release(engine_fetch(session, NULL, 0, below));
    EXPECT_OK(mst_session_run(session, NULL, 0, &train, 1, NULL));
    engine_end(g, session);
}

/* ---- rows that are made in one graph and applied in another ---- */

static mst_tensor *doubles(mst_shape shape, const double *values) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_copy(MST_F64, shape, values, &tensor));
    return tensor;
}

static mst_tensor *numbers_of(int64_t count, const int64_t *numbers) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_copy(MST_I64, MST_SHAPE(count), numbers, &tensor));
    return tensor;
}

/* Two shards on two devices, whose values and indices are fed. */
static mst_row_values build_leaf(mst_graph *g, const char *type, const mst_leaf_rows_options *options, mst_feed *feed) {
    mst_value src[4];
    char device[32];
    for (int i = 0; i < 4; i += 2) {
        snprintf(device, sizeof device, "/device:%s:%d", type, i / 2);
        mst_with_device (g, engine_here(device)) {
            feed[i].value = mst_placeholder(g, MST_F64, MST_SHAPE(-1, 1), i ? "v1" : "v0");
            src[i] = mst_identity(feed[i].value);
            feed[i + 1].value = src[i + 1] = mst_placeholder(g, MST_I64, MST_SHAPE(-1), i ? "i1" : "i0");
        }
    }
    return mst_leaf_rows(src, 4, options);
}

/* Row 3 comes up twice in the first shard, with 1 and -4, and once in the second, with 10. WANTED: the three rows. */
static void expect_leaf(const char *type, const mst_leaf_rows_options *options, int64_t width, const double *wanted) {
    const int64_t numbers[] = {3, 1, 3, 8};
    char devices[32];
    mst_graph *g = engine_graph();
    mst_feed feed[4] = {{.tensor = doubles(MST_SHAPE(3, 1), (double[]){1, 2, -4})},
                        {.tensor = numbers_of(3, (int64_t[]){3, 1, 3})},
                        {.tensor = doubles(MST_SHAPE(2, 1), (double[]){10, 5})},
                        {.tensor = numbers_of(2, (int64_t[]){3, 8})}};
    const mst_row_values rows = build_leaf(g, type, options, feed);
    snprintf(devices, sizeof devices, "%s:2/1", type);
    mst_session *session = engine_session(g, engine_here(devices));
    mst_tensor *got[2] = {NULL};
    EXPECT_OK(mst_session_run(session, feed, 4, (const mst_value[]){rows.rows, rows.numbers}, 2, got));
    for (int64_t i = 0; i < 4; i++) assert_int_equal(mst_tensor_get(got[1], i), numbers[i]);
    for (int64_t i = 0; i < 3 * width; i++) assert_true(mst_tensor_get(got[0], i) == wanted[i]);
    for (int i = 0; i < 2; i++) mst_tensor_release(got[i]);
    for (int i = 0; i < 4; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
}

static void rows_of_two_shards_are_added_up(void **state) {
    (void)state;
    static const char *const types[] = {"CPU", "island"};
    for (int d = 0; d < 2; d++) {
        expect_leaf(types[d], &(mst_leaf_rows_options){.num_rows = 9, .num_shards = 2}, 1, (double[]){2, 7, 5});
        expect_leaf(types[d], &(mst_leaf_rows_options){.num_rows = 9, .num_shards = 2, .clip = 3}, 1,
                    (double[]){2, 1 - 3 + 3, 3});
        expect_leaf(types[d], &(mst_leaf_rows_options){.num_rows = 9, .num_shards = 2, .squares = true}, 2,
                    (double[]){2, 4, 7, 1 + 16 + 100, 5, 25});
    }
}

/* Two of three rows are used. Fed rows are checked too, because the update uses them without a check. */
static void rows_that_are_given_are_applied(void **state) {
    (void)state;
    static const struct {
        int64_t numbers[4];
        const char *fails, *in_program; /* errors on devices with kernels, and on those that compile */
    } cases[] = {{{2, 0, 3, 9}, NULL, NULL},
                 {{0, 9, 9, 9}, NULL, NULL},
                 {{2, 0, 4, 0}, "row 4 after row 0 is not in [0, 4)", "numbers of rows are not in [0, 4), ascending"},
                 {{2, 3, 0, 0}, "row 0 after row 3 is not in [0, 4)", "numbers of rows are not in [0, 4), ascending"},
                 {{4, 0, 1, 2}, "there are to be 4 rows, but there is room for 3", "there is room for 3 rows only"},
                 {{-1, 0, 1, 2}, "there are to be -1 rows", "there is room for 3 rows only"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const mst_optimizer sgd = mst_sgd(.learning_rate = 1, .momentum = 0.5, .sparse = MST_SPARSE_TENSORFLOW);
        table t = {.g = engine_graph()};
        t.variable = mst_get_variable(t.g, "table", MST_SHAPE(4, 2), MST_F64, mst_constant_initializer(1));
        const mst_row_values given = {mst_placeholder(t.g, MST_F64, MST_SHAPE(-1, 2), "values"),
                                      mst_placeholder(t.g, MST_I64, MST_SHAPE(-1), "numbers")};
        t.gradient = mst_sparse_gradient(given, t.variable, NULL);
        t.train = mst_apply_gradients(&sgd, &t.gradient, &t.variable, 1, MST_NONE);
        t.session = engine_session(t.g, "cpu:1/1");
        EXPECT_OK(mst_session_init_variables(t.session));
        const mst_feed feed[] = {
            {.value = given.rows, .tensor = doubles(MST_SHAPE(3, 2), (double[]){1, 2, 3, 4, NAN, NAN})},
            {.value = given.numbers, .tensor = numbers_of(4, cases[c].numbers)}};
        const mst_status status = mst_session_run(t.session, feed, 2, &t.train, 1, NULL);
        if (cases[c].fails) EXPECT_ERROR(status, MST_INVALID, engine_compiles() ? cases[c].in_program : cases[c].fails);
        if (!cases[c].fails) EXPECT_OK(status);
        expect_table(&t,
                     c == 0 ? (const double[]){0, -1, 1, 1, 1, 1, -2, -3} : (const double[]){1, 1, 1, 1, 1, 1, 1, 1});
        for (int i = 0; i < 2; i++) mst_tensor_release(feed[i].tensor);
        engine_end(t.g, t.session);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_the_strategy),
        cmocka_unit_test(bits_do_not_depend_on_which_shards_a_domain_has),
        cmocka_unit_test(check_numerics_looks_at_the_rows_that_are_there),
        cmocka_unit_test(momentum_moves_all_rows),
        cmocka_unit_test(a_row_that_comes_up_twice_counts_twice),
        cmocka_unit_test(momentum_moves_only_the_rows_of_the_gradient),
        cmocka_unit_test(weight_decay_and_penalty_reach_all_rows),
        cmocka_unit_test(readers_of_a_sparse_gradient_get_it_dense),
        cmocka_unit_test(index_out_of_range_changes_nothing),
        cmocka_unit_test(rows_of_two_shards_are_added_up),
        cmocka_unit_test(rows_that_are_given_are_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
