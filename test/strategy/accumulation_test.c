/* gradient_accumulation_steps: the variables stay for N - 1 steps, the N-th makes the update of the mean of N
 * gradients. Numbers are done by hand, or are those of an update without it from the mean of the gradients.
 * test/parity/updates_test.py compares with Keras. */
#include <math.h>

#include "support/test.h"
#include "support/training.h"

#include "muster/store.h"

/* ---- by hand ---- */

/* The gradient of w, which begins at 2, is fed. */
typedef struct fixture {
    mst_graph *graph;
    mst_value w, gradient, train;
    mst_session *session;
} fixture;

static fixture begin(mst_optimizer optimizer, float l2) {
    fixture f = {.graph = engine_graph()};
    f.w = mst_variable(f.graph, "w", mst_scalar(f.graph, MST_F64, 2), .l2 = l2);
    f.gradient = mst_placeholder(f.graph, MST_F64, mst_shape_make(0, NULL), "gradient");
    f.train = mst_apply_gradients(&optimizer, &f.gradient, &f.w, 1, MST_NONE);
    EXPECT_OK(mst_graph_check(f.graph));
    f.session = engine_session(f.graph, NULL);
    return f;
}

static void step(const fixture *f, double gradient) {
    const mst_feed feed = {.value = f->gradient, .tensor = engine_tensor(MST_F64, mst_shape_make(0, NULL), &gradient)};
    EXPECT_OK(mst_session_run(f->session, &feed, 1, &f->train, 1, NULL));
    mst_tensor_release(feed.tensor);
}

static void expect_weights(mst_optimizer optimizer, float l2, const double *gradient, const double *wanted, int steps) {
    fixture f = begin(optimizer, l2);
    for (int i = 0; i < steps; i++) {
        step(&f, gradient[i]);
        const double w = engine_number(f.session, f.w);
        if (!(fabs(w - wanted[i]) < 1e-12)) fail_msg("step %d: %.17g, not %.17g", i, w, wanted[i]);
    }
    assert_true(engine_number(f.session, mst_global_step(f.graph)) == steps);
    engine_end(f.graph, f.session);
}

static void every_nth_step_takes_the_mean(void **state) {
    (void)state;
    expect_weights(mst_sgd(.learning_rate = 0.5, .gradient_accumulation_steps = 2), 0, (double[]){1, 3, 5, -1, 7},
                   (double[]){2, 1, 1, 0, 0}, 5);
    /* m = -0.5 * 2 = -1, then -0.5 - 0.5 * 2 */
    expect_weights(mst_sgd(.learning_rate = 0.5, .momentum = 0.5, .gradient_accumulation_steps = 2), 0,
                   (double[]){1, 3, 5, -1}, (double[]){2, 1, 1, -0.5}, 4);
    /* 1 is no accumulation */
    expect_weights(mst_sgd(.learning_rate = 0.5, .gradient_accumulation_steps = 1), 0, (double[]){1, 3},
                   (double[]){1.5, 0}, 2);
}

/* The mean, and not each gradient, is clipped; the penalty and the decay of the weight come once. */
static void clipping_penalty_and_decay_come_once_for_the_mean(void **state) {
    (void)state;
    expect_weights(mst_sgd(.learning_rate = 1, .clip_value = 1.5, .gradient_accumulation_steps = 2), 0,
                   (double[]){4, -2, 4, 4}, (double[]){2, 1, 1, -0.5}, 4);
    expect_weights(mst_sgd(.learning_rate = 1, .clip_norm = 1.5, .gradient_accumulation_steps = 2), 0,
                   (double[]){4, -2, 4, 4}, (double[]){2, 1, 1, -0.5}, 4);
    expect_weights(mst_sgd(.learning_rate = 0.5, .gradient_accumulation_steps = 2), 1, (double[]){1, 3},
                   (double[]){2, 0}, 2);
    expect_weights(mst_sgd(.learning_rate = 0.5, .weight_decay = 0.5, .gradient_accumulation_steps = 2), 0,
                   (double[]){1, 3, 0, 0}, (double[]){2, 0.5, 0.5, 0.375}, 4);
}

/* Steps are counted one by one, as Keras's `_iterations`: the rate is that of the last step of N. */
static void schedule_sees_every_step(void **state) {
    (void)state;
    const mst_schedule halves = mst_piecewise_constant(.num_pieces = 3, .boundary = {0, 2}, .value = {9, 0.5, 0.25});
    expect_weights(mst_sgd(.schedule = halves, .gradient_accumulation_steps = 2), 0, (double[]){2, 2, 2, 2},
                   (double[]){2, 1, 1, 0.5}, 4);
}

/* As Keras's: average += (1 - decay) * (w - average) each step. */
static void moving_average_follows_each_step(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 1, .ema_decay = 0.5, .gradient_accumulation_steps = 2), 0);
    static const double wanted[] = {2, 1.5, 1.25, 0.625};
    for (int i = 0; i < 4; i++) {
        step(&f, 1);
        assert_true(fabs(engine_number(f.session, mst_moving_average(f.w)) - wanted[i]) < 1e-12);
    }
    engine_end(f.graph, f.session);
}

/* Two optimizers that share the number of the step, as where two networks take turns: each counts its own gradients. */
static void each_optimizer_counts_its_own_gradients(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_optimizer sgd = mst_sgd(.learning_rate = 1, .gradient_accumulation_steps = 2);
    mst_value w[2], train[2];
    const mst_value one = mst_scalar(g, MST_F64, 1);
    for (int i = 0; i < 2; i++) {
        w[i] = mst_variable(g, i ? "b" : "a", mst_scalar(g, MST_F64, 5));
        train[i] = mst_apply_gradients(&sgd, &one, &w[i], 1, MST_NONE);
    }
    mst_session *session = engine_session(g, NULL);
    for (int i = 0; i < 8; i++) {
        engine_run(session, train[i % 2]);
        for (int k = 0; k < 2; k++) {
            const int runs = (i + 2 - k) / 2, updates = runs / 2;
            assert_true(engine_number(session, w[k]) == 5 - updates);
        }
    }
    engine_end(g, session);
}

/* ---- every rule ---- */

/* Every rule makes of N gradients the update that it makes of their mean without this option: the same bits, where the
 * rate does not depend on the step. */
static void every_rule_makes_the_update_of_the_mean(void **state) {
    (void)state;
    enum { N = 4, UPDATES = 5 };
    const char *name;
    for (int r = 0; (name = mst_optimizer_name(r)); r++) {
        mst_optimizer one = mst_optimizer_named(name, (mst_optimizer){.learning_rate = 0.1}), several = one;
        several.gradient_accumulation_steps = N;
        fixture a = begin(one, 0.125f), b = begin(several, 0.125f);
        for (int i = 0; i < UPDATES; i++) {
            const double before = engine_number(b.session, b.w);
            double sum = 0;
            for (int k = 0; k < N; k++) {
                assert_true(engine_number(b.session, b.w) == before);
                const double gradient = sin(7 * i + k);
                step(&b, gradient);
                sum = k < N - 1 ? sum + gradient : gradient + sum;
            }
            step(&a, sum / N);
            const double wanted = engine_number(a.session, a.w), got = engine_number(b.session, b.w);
            if (wanted != got || got == before) fail_msg("%s: update %d: %.17g, not %.17g", name, i, got, wanted);
        }
        engine_end(a.graph, a.session);
        engine_end(b.graph, b.session);
    }
}

/* ---- rows ---- */

enum { WORDS = 6, WIDTH = 3, TAKEN = 2, RUNS = 7 };

/* A table and its average after each step. The gradient is X in rows that change with the step, once as rows of a
 * gather, once dense. */
static void train_table(mst_optimizer optimizer, bool dense, mst_tensor *table[RUNS], mst_tensor *average[RUNS]) {
    mst_graph *g = engine_graph();
    mst_value t = mst_get_variable(g, "table", MST_SHAPE(WORDS, WIDTH), MST_F64, mst_constant_initializer(1));
    mst_value words = mst_placeholder(g, MST_I64, MST_SHAPE(TAKEN), "words");
    mst_value x = mst_placeholder(g, MST_F64, MST_SHAPE(TAKEN, WIDTH), "x");
    mst_value rows = dense ? mst_matmul(mst_one_hot(words, WORDS, .dtype = MST_F64), t) : mst_gather(t, words, 0);
    mst_value update = mst_minimize(&optimizer, mst_reduce_sum(mst_mul(rows, x)), NULL, 0, MST_NONE);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    for (int i = 0; i < RUNS; i++) {
        const double word[TAKEN] = {i % WORDS, (2 * i + 1) % WORDS};
        mst_feed feed[] = {{.value = words, .tensor = engine_tensor(MST_I64, MST_SHAPE(TAKEN), word)},
                           {.value = x, .tensor = engine_random(MST_F64, MST_SHAPE(TAKEN, WIDTH), -1, 1, (unsigned)i)}};
        EXPECT_OK(mst_session_run(session, feed, 2, &update, 1, NULL));
        EXPECT_OK(mst_session_get_variable(session, t, &table[i]));
        EXPECT_OK(mst_session_get_variable(session, mst_moving_average(t), &average[i]));
        for (int k = 0; k < 2; k++) mst_tensor_release(feed[k].tensor);
    }
    engine_end(g, session);
}

/* Steps that only add touch the rows of their gradients alone; the update is that of the dense sum. */
static void rows_add_up_to_a_dense_sum(void **state) {
    (void)state;
    const mst_optimizer optimizers[] = {
        mst_adamw(.learning_rate = 0.1, .weight_decay = 0.1, .ema_decay = 0.9, .gradient_accumulation_steps = 3),
        mst_sgd(.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.1, .ema_decay = 0.9,
                .sparse = MST_SPARSE_TENSORFLOW, .gradient_accumulation_steps = 3),
        mst_adagrad(.learning_rate = 0.1, .clip_norm = 0.5, .ema_decay = 0.9, .gradient_accumulation_steps = 3)};
    for (size_t o = 0; o < sizeof optimizers / sizeof *optimizers; o++) {
        mst_tensor *table[2][RUNS], *average[2][RUNS];
        for (int dense = 0; dense < 2; dense++) train_table(optimizers[o], dense, table[dense], average[dense]);
        for (int i = 0; i < RUNS; i++) {
            assert_true(engine_distance(table[0][i], table[1][i]) < 1e-12);
            assert_true(engine_distance(average[0][i], average[1][i]) < 1e-12);
            if (i) assert_int_equal(engine_same_bits(table[0][i], table[0][i - 1]), i % 3 != 2);
        }
        for (int i = 0; i < 2 * RUNS; i++) {
            mst_tensor_release(table[i / RUNS][i % RUNS]);
            mst_tensor_release(average[i / RUNS][i % RUNS]);
        }
    }
}

/* ---- training ---- */

enum { ROWS = 80, FEATURES = 12, CLASSES = 4, EPOCHS = 3 };

/* The first weights after training in batches of so many rows. */
static mst_tensor *train(int64_t batch, int steps, char hex[65]) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 3);
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 20, .activation = MST_TANH, .l2 = 1e-2f);
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01, .gradient_accumulation_steps = steps),
                          .strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = 2},
                          .session = {.devices = "cpu:2/1"}, .seed = 5));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = batch, .epochs = EPOCHS, .no_shuffle = true));
    EXPECT_OK(mst_model_sha256(model, hex));
    mst_tensor *kernel;
    mst_value first;
    mst_collection(mst_model_graph(model), MST_TRAINABLE, NULL, &first, 1);
    EXPECT_OK(mst_session_get_variable(mst_model_session(model), first, &kernel));
    mst_model_destroy(model);
    mst_dataset_release(data);
    return kernel;
}

/* Four batches of 10 rows are one of 40, but for rounding. */
static void small_batches_train_as_a_large_one(void **state) {
    (void)state;
    char large[65], small[65], off[65], one[65];
    mst_tensor *wanted = train(40, 0, large), *got = train(10, 4, small);
    for (int64_t i = 0; i < mst_shape_count(mst_tensor_shape(wanted)); i++)
        if (!(fabs(mst_tensor_get(got, i) - mst_tensor_get(wanted, i)) < 1e-5))
            fail_msg("weight %d is %g, not %g", (int)i, mst_tensor_get(got, i), mst_tensor_get(wanted, i));
    mst_tensor_release(wanted);
    mst_tensor_release(got);
    mst_tensor_release(train(40, 1, one));
    mst_tensor_release(train(10, 0, off));
    assert_string_equal(one, large);
    assert_string_not_equal(off, small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_nth_step_takes_the_mean),
        cmocka_unit_test(clipping_penalty_and_decay_come_once_for_the_mean),
        cmocka_unit_test(schedule_sees_every_step),
        cmocka_unit_test(moving_average_follows_each_step),
        cmocka_unit_test(each_optimizer_counts_its_own_gradients),
        cmocka_unit_test(every_rule_makes_the_update_of_the_mean),
        cmocka_unit_test(rows_add_up_to_a_dense_sum),
        cmocka_unit_test(small_batches_train_as_a_large_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
