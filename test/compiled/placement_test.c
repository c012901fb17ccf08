/* Graphs over devices that compile and the CPU beside them: variables on one and products on the other, ops without
 * StableHLO, and values that cross in both directions during a step. */
#include <math.h>
#include <stdio.h>

#include "support/networks.h"
#include "support/test.h"
#include "support/training.h"

enum { STEPS = 5 };

/* ---- by hand ---- */

/* w and b are on WHERE[0], w + b on WHERE[1] and w * b on WHERE[2]. */
typedef struct graph {
    mst_graph *g;
    mst_session *session;
    mst_value w, b, sum, product, loss, train;
} graph;

static graph build(const char *devices, const char *const where[3]) {
    graph x = {.g = engine_graph()};
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0.1, .momentum = 0.9);
    mst_with_device (x.g, where[0]) {
        x.w = mst_variable(x.g, "w", mst_values(x.g, MST_F32, MST_SHAPE(3), (double[]){1, 2, 3}));
        x.b = mst_variable(x.g, "b", mst_values(x.g, MST_F32, MST_SHAPE(3), (double[]){0.5, -1, 2}));
    }
    mst_with_device (x.g, where[1]) x.sum = mst_add(x.w, x.b);
    mst_with_device (x.g, where[2]) x.product = mst_mul(x.w, x.b);
    mst_with_device (x.g, where[1]) x.loss = mst_reduce_mean(mst_square(mst_sub(x.product, mst_scale(x.sum, 0.5))));
    x.train = mst_minimize(&sgd, x.loss, NULL, 0, MST_NONE);
    x.session = engine_session(x.g, devices);
    return x;
}

static void run(graph *x, double loss[STEPS], mst_tensor *out[4]) {
    const mst_value fetch[] = {x->sum, x->product, x->w, x->b};
    for (int i = 0; i < STEPS; i++) {
        loss[i] = engine_number(x->session, x->loss);
        engine_run(x->session, x->train);
    }
    for (int i = 0; i < 4; i++) out[i] = engine_fetch(x->session, NULL, 0, fetch[i]);
    engine_end(x->g, x->session);
}

static void variables_and_products_may_be_anywhere(void **state) {
    (void)state;
    static const char *const places[][3] = {{"/cpu:0", "/lagoon:0", "/lagoon:1"},
                                            {"/lagoon:1", "/cpu:0", "/lagoon:0"},
                                            {"/lagoon:0", "/lagoon:1", "/cpu:0"},
                                            {"/lagoon:1", "/lagoon:0", "/lagoon:0"}};
    double wanted[STEPS], got[STEPS];
    mst_tensor *wanted_out[4], *out[4];
    graph cpu = build("cpu:1/1", (const char *const[]){"/cpu:0", "/cpu:0", "/cpu:0"});
    run(&cpu, wanted, wanted_out);
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        graph x = build("lagoon:2,cpu:1/1", places[p]);
        run(&x, got, out);
        for (int i = 0; i < STEPS; i++)
            if (!(fabs(got[i] - wanted[i]) <= 1e-5 * fabs(wanted[i])))
                fail_msg("place %d, step %d: loss %g, on a CPU %g", (int)p, i, got[i], wanted[i]);
        for (int i = 0; i < 4; i++) {
            if (!(engine_distance(out[i], wanted_out[i]) <= 1e-5)) fail_msg("place %d: fetch %d differs", (int)p, i);
            mst_tensor_release(out[i]);
        }
    }
    for (int i = 0; i < 4; i++) mst_tensor_release(wanted_out[i]);
}

/* A value that hops between the CPU and two devices. */
static void a_chain_over_all_devices_has_the_values_of_one(void **state) {
    (void)state;
    static const char *const hops[] = {"/cpu:0", "/lagoon:0", "/lagoon:1", "/cpu:0", "/lagoon:1", "/lagoon:0"};
    enum { HOPS = 24 };
    mst_tensor *fed = engine_random(MST_F32, MST_SHAPE(7, 5), -1, 1, 3), *out[2];
    for (int compiled = 0; compiled < 2; compiled++) {
        mst_graph *g = engine_graph();
        const mst_value x = engine_input(g, "x", MST_SHAPE(7, 5));
        mst_value y = x, before = x;
        for (int i = 0; i < HOPS; i++)
            mst_with_device (g, compiled ? hops[i % 6] : "/cpu:0") {
                const mst_value next = mst_tanh(mst_add(mst_scale(y, 1.1), mst_reshape(before, MST_SHAPE(7, 5))));
                before = mst_reshape(y, MST_SHAPE(35));
                y = next;
            }
        mst_session *session = engine_session(g, compiled ? "lagoon:2,cpu:1/1" : "cpu:1/1");
        out[compiled] = engine_fetch(session, &(mst_feed){.value = x, .tensor = fed}, 1, y);
        engine_end(g, session);
    }
    assert_true(engine_distance(out[1], out[0]) <= 1e-5);
    for (int i = 0; i < 2; i++) mst_tensor_release(out[i]);
    mst_tensor_release(fed);
}

/* ---- ops without text ---- */

static mst_status like_source(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_status triple(const mst_kernel_args *a) {
    for (int64_t i = 0; i < a->dst[0].count; i++) ((float *)a->dst[0].data)[i] = 3 * ((const float *)a->src[0].data)[i];
    return MST_OK;
}

static mst_value triple_grad(mst_grad *c, int i) {
    (void)i;
    return mst_scale(c->ddst[0], 3);
}

static const mst_op triple_op = {.name = "test_triple",
                                 .num_src = 1,
                                 .num_dst = 1,
                                 .dtypes = MST_DTYPE_BIT(MST_F32),
                                 .infer = like_source,
                                 .grad = triple_grad,
                                 .reference = triple};

static mst_value triple_layer(void *context, mst_value src, bool training) {
    (void)context, (void)training;
    return mst_call(mst_value_graph(src), &triple_op, 1, &src, NULL);
}

static mst_model *build_triple(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 8, .activation = MST_TANH);
    mst_lambda(model, triple_layer);
    mst_dense(model, 3);
    return model;
}

static mst_dataset *vectors(int64_t rows) {
    return training_data(rows, 12, 3, 3);
}

/* A user's op in the middle of a model: each shard goes to the CPU for it, and back. */
static void an_op_without_text_in_a_model_runs_on_the_cpu(void **state) {
    (void)state;
    static const network tripled = {"tripled", build_triple, vectors};
    double wanted[6], got[6];
    char first[65], sha[65];
    network_run run = {.network = &tripled,
                       .optimizer = {.rule = "adam", .learning_rate = 0.01},
                       .devices = "cpu:1/1",
                       .shards = 4,
                       .epochs = 3};
    network_train(&run, wanted, sha);
    for (int devices = 1; devices <= 4; devices *= 2) {
        char spec[16];
        snprintf(spec, sizeof spec, "lagoon:%d", devices);
        run.devices = spec;
        network_train(&run, got, devices == 1 ? first : sha);
        if (devices > 1) assert_string_equal(sha, first);
        for (int i = 0; i < 6; i++)
            if (!(fabs(got[i] - wanted[i]) <= 1e-4 * fabs(wanted[i])))
                fail_msg("%s, step %d: loss %g, on CPUs %g", spec, i, got[i], wanted[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_and_products_may_be_anywhere),
        cmocka_unit_test(a_chain_over_all_devices_has_the_values_of_one),
        cmocka_unit_test(an_op_without_text_in_a_model_runs_on_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
