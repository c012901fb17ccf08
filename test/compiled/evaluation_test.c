/* Evaluation, prediction and fetches on devices that compile give the numbers of CPUs, up to rounding, for batches
 * of any size and while training goes on. */
#include <math.h>
#include <stdio.h>

#include "support/networks.h"
#include "support/test.h"

enum { ROWS = 30, SHARDS = 4 };

static const mst_optimizer adam = {.rule = "adam", .learning_rate = 0.02};

/* A model on DEVICES with the weights of SOURCE, unless that is NULL: then it has been trained. */
static mst_model *model_on(const network *network, const char *devices, mst_model *source) {
    const network_run run = {.network = network, .optimizer = adam, .devices = devices, .shards = SHARDS, .epochs = 2};
    mst_model *model = network_compiled(&run);
    network_fit(model, &run, NULL);
    if (!source) return model;
    mst_snapshot *snapshot;
    EXPECT_OK(mst_store_snapshot(mst_model_store(source), &snapshot));
    EXPECT_OK(mst_store_restore(mst_model_store(model), snapshot));
    mst_snapshot_release(snapshot);
    return model;
}

static bool is_near(double got, double wanted) {
    return fabs(got - wanted) <= 1e-4 * fmax(1, fabs(wanted));
}

static void expect_evaluation(const char *name, mst_model *got, mst_model *wanted, const mst_dataset *data,
                              int64_t batch) {
    mst_result x, y;
    mst_tensor *a, *b;
    EXPECT_OK(mst_evaluate(got, data, batch, &x, NULL));
    EXPECT_OK(mst_evaluate(wanted, data, batch, &y, NULL));
    if (!is_near(x.loss, y.loss) || x.metric[0] != y.metric[0])
        fail_msg("%s, batches of %d: loss %g and accuracy %g, on CPUs %g and %g", name, (int)batch, x.loss, x.metric[0],
                 y.loss, y.metric[0]);
    EXPECT_OK(mst_predict(got, data, batch, &a));
    EXPECT_OK(mst_predict(wanted, data, batch, &b));
    if (!(engine_distance(a, b) <= 1e-4))
        fail_msg("%s, batches of %d: predictions differ by %g", name, (int)batch, engine_distance(a, b));
    mst_tensor_release(a);
    mst_tensor_release(b);
}

static void evaluation_and_prediction_are_those_of_cpus(void **state) {
    (void)state;
    static const int64_t batches[] = {ROWS, 8, 7, 1};
    for (int n = 0; networks[n]; n++) {
        mst_dataset *data = networks[n]->data(ROWS);
        mst_model *one = model_on(networks[n], "lagoon:2", NULL), *cpu = model_on(networks[n], "cpu:1/1", one);
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
            expect_evaluation(networks[n]->name, one, cpu, data, batches[b]);
        mst_model_destroy(one);
        mst_model_destroy(cpu);
        mst_dataset_release(data);
    }
}

/* After each step the model is evaluated and predicts. So do the weights not change by it. */
typedef struct watch {
    const mst_dataset *data;
    int steps;
} watch;

static mst_status evaluate_between(void *context, mst_train_state *state) {
    watch *w = context;
    mst_result result;
    mst_tensor *predicted;
    MST_TRY(mst_evaluate(state->model, w->data, 8, &result, NULL));
    MST_TRY(mst_predict(state->model, w->data, 16, &predicted));
    mst_tensor_release(predicted);
    w->steps++;
    return MST_OK;
}

static void evaluation_between_steps_changes_nothing(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++) {
        char sha[2][65];
        mst_dataset *data = networks[n]->data(ROWS);
        watch w = {.data = data};
        const mst_callback callback = {.context = &w, .step_end = evaluate_between};
        for (int watched = 0; watched < 2; watched++) {
            const network_run run = {
                .network = networks[n], .optimizer = adam, .devices = "lagoon:2", .shards = SHARDS};
            mst_model *model = network_compiled(&run);
            EXPECT_OK(mst_fit(model, .data = data, .batch_size = 12, .epochs = 2, .validation = data,
                              .callbacks = &callback, .num_callbacks = watched));
            EXPECT_OK(mst_model_sha256(model, sha[watched]));
            mst_model_destroy(model);
        }
        assert_string_equal(sha[0], sha[1]);
        assert_int_equal(w.steps, 6);
        mst_dataset_release(data);
    }
}

/* ---- sessions ---- */

/* What a replica has and a step gives, all fetched at once. */
enum { FETCHES = 6 };

typedef struct fetched {
    mst_value hidden[SHARDS], w;
} fetched;

static void build_replica(void *context, mst_graph *g, int shard, mst_replica *out) {
    fetched *f = context;
    const mst_value x = mst_random_uniform(g, MST_SHAPE(5, 8), .low = -1);
    f->w = mst_get_variable(g, "w", MST_SHAPE(8, 3), MST_F32, mst_random_uniform_initializer(.high = 0.5));
    f->hidden[shard] = mst_tanh(mst_matmul(x, f->w));
    out->loss = mst_reduce_mean(mst_square(f->hidden[shard]), .axes = MST_AXES(1));
}

static void run_fetches(const char *devices, mst_tensor *out[FETCHES]) {
    fetched f;
    mst_step_values values;
    mst_graph *g = engine_graph();
    mst_session *session = engine_session(g, devices);
    mst_strategy strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = SHARDS};
    engine_build_step(g, session, &strategy, &adam, build_replica, &f, &values);
    const mst_value fetch[FETCHES] = {f.hidden[0], f.hidden[SHARDS - 1], f.w,
                                      values.loss, values.train,         mst_reduce_max(f.hidden[1])};
    for (int i = 0; i < FETCHES; i++) out[i] = NULL;
    for (int step = 0; step < 3; step++) EXPECT_OK(mst_session_run(session, NULL, 0, fetch, FETCHES, out));
    engine_end(g, session);
}

static void fetches_from_inside_a_step_are_those_of_cpus(void **state) {
    (void)state;
    mst_tensor *wanted[FETCHES], *got[FETCHES];
    run_fetches("cpu:1/1", wanted);
    for (int devices = 1; devices <= SHARDS; devices *= 2) {
        char spec[16];
        snprintf(spec, sizeof spec, "lagoon:%d", devices);
        run_fetches(spec, got);
        for (int i = 0; i < FETCHES; i++) {
            if (!(engine_distance(got[i], wanted[i]) <= 1e-5)) fail_msg("%s: fetch %d differs", spec, i);
            mst_tensor_release(got[i]);
        }
    }
    for (int i = 0; i < FETCHES; i++) mst_tensor_release(wanted[i]);
}

/* ---- lengths that differ ---- */

/* Sequences of any length: each batch has its own, and so its own programs. */
static void lengths_that_differ_give_the_numbers_of_cpus(void **state) {
    (void)state;
    static const int64_t lengths[] = {3, 7, 3, 1, 5, 7};
    mst_graph *g[2];
    mst_session *session[2];
    mst_value x[2], y[2];
    for (int i = 0; i < 2; i++) {
        g[i] = engine_graph();
        x[i] = engine_input(g[i], "x", MST_SHAPE(-1, -1, 4));
        const mst_value w = mst_variable(g[i], "w", mst_random_uniform(g[i], MST_SHAPE(4, 5)));
        const mst_value h = mst_tanh(mst_matmul(mst_reshape(x[i], MST_SHAPE(-1, 4)), w));
        y[i] = mst_reduce_sum(mst_square(h), .axes = MST_AXES(0));
        session[i] = engine_session(g[i], i ? "lagoon:1" : "cpu:1/1");
    }
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        mst_tensor *fed = engine_random(MST_F32, MST_SHAPE(2, lengths[k], 4), -1, 1, (unsigned)k), *out[2];
        for (int i = 0; i < 2; i++)
            out[i] = engine_fetch(session[i], &(mst_feed){.value = x[i], .tensor = fed}, 1, y[i]);
        if (!(engine_distance(out[1], out[0]) <= 1e-5)) fail_msg("length %d differs", (int)lengths[k]);
        for (int i = 0; i < 2; i++) mst_tensor_release(out[i]);
        mst_tensor_release(fed);
    }
    for (int i = 0; i < 2; i++) engine_end(g[i], session[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_and_prediction_are_those_of_cpus),
        cmocka_unit_test(evaluation_between_steps_changes_nothing),
        cmocka_unit_test(fetches_from_inside_a_step_are_those_of_cpus),
        cmocka_unit_test(lengths_that_differ_give_the_numbers_of_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
