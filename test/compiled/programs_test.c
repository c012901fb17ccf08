/* The programs of a step do not depend on the number of devices: with 8 shards, 1, 2, 4 and 8 devices have the same
 * StableHLO. So the same executables compute them, and the weights have the same bits. The same holds for
 * evaluation. */
#include <stdio.h>

#include "support/hlo_case.h"
#include "support/networks.h"
#include "support/program_texts.h"
#include "support/test.h"

enum { SHARDS = 8 };

/* The results of a training. */
typedef struct outcome {
    program_texts texts;
    char sha[65];
    mst_result evaluated;
} outcome;

static outcome train(const network_run *run) {
    outcome x = {0};
    mst_model *model = network_compiled(run);
    mst_dataset *data = run->network->data(20);
    network_fit(model, run, NULL);
    program_texts_add(&x.texts, mst_model_session(model));
    EXPECT_OK(mst_evaluate(model, data, 20, &x.evaluated, NULL));
    program_texts_add(&x.texts, mst_model_session(model));
    EXPECT_OK(mst_model_sha256(model, x.sha));
    mst_model_destroy(model);
    mst_dataset_release(data);
    return x;
}

/* On each number of devices that divides RUN's shards; SHARDS if it has none. */
static void expect_one_set(const char *name, network_run run) {
    outcome wanted = {0};
    char what[128];
    if (!run.shards) run.shards = SHARDS;
    for (int devices = 1; devices <= run.shards; devices++) {
        char spec[16];
        if (run.shards % devices) continue;
        snprintf(spec, sizeof spec, "lagoon:%d", devices);
        snprintf(what, sizeof what, "%s, %s on %s", run.network->name, name, spec);
        run.devices = spec;
        outcome got = train(&run);
        if (devices == 1) {
            assert_true(got.texts.count > 2);
            wanted = got;
            continue;
        }
        program_texts_expect_same(what, &got.texts, &wanted.texts);
        if (strcmp(got.sha, wanted.sha) != 0) fail_msg("%s: other weights", what);
        assert_true(got.evaluated.loss == wanted.evaluated.loss);
        assert_true(got.evaluated.metric[0] == wanted.evaluated.metric[0]);
        program_texts_free(&got.texts);
    }
    program_texts_free(&wanted.texts);
}

static const struct {
    const char *name;
    mst_optimizer optimizer;
} ways[] = {
    {"sgd", {.rule = "sgd", .learning_rate = 0.1}},
    {"adam, clipped by global norm", {.rule = "adam", .learning_rate = 0.01, .clip_global_norm = 0.5}},
    {"momentum, clipped by norm, average",
     {.rule = "sgd", .learning_rate = 0.1, .momentum = 0.9, .clip_norm = 0.5, .ema_decay = 0.9}},
    {"adagrad, accumulated", {.rule = "adagrad", .learning_rate = 0.1, .gradient_accumulation_steps = 2}},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void expect_one_set_each_way(const network *network) {
    for (int w = 0; w < WAYS; w++)
        expect_one_set(ways[w].name, (network_run){.network = network, .optimizer = ways[w].optimizer});
}

static void dense_layers_have_one_set_of_programs(void **state) {
    (void)state;
    expect_one_set_each_way(&network_mlp);
}

static void sparse_gradients_have_one_set_of_programs(void **state) {
    (void)state;
    expect_one_set_each_way(&network_text);
}

static void convolutions_and_moving_statistics_have_one_set_of_programs(void **state) {
    (void)state;
    expect_one_set_each_way(&network_pictures);
}

static void synchronized_statistics_have_one_set_of_programs(void **state) {
    (void)state;
    expect_one_set(ways[0].name, (network_run){.network = &network_synchronized, .optimizer = ways[0].optimizer});
}

static void recurrent_layers_have_one_set_of_programs(void **state) {
    (void)state;
    expect_one_set(ways[1].name, (network_run){.network = &network_recurrent, .optimizer = ways[1].optimizer});
}

/* A tree with a leaf left over, and a batch with fewer rows than there are shards. */
static void any_number_of_shards_and_rows_has_one_set_of_programs(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++)
        expect_one_set(
            "6 shards",
            (network_run){
                .network = networks[n], .optimizer = ways[1].optimizer, .shards = 6, .rows = 17, .batch = 13});
}

static void checks_and_values_made_again_have_one_set_of_programs(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++) {
        network_run run = {.network = networks[n], .optimizer = ways[2].optimizer, .check_numerics = true};
        expect_one_set("check_numerics", run);
        run.recompute = true;
        expect_one_set("check_numerics and recompute", run);
    }
}

/* Where updates are made in place, they are programs of their own, behind the gate. */
static void updates_in_place_have_one_set_of_programs(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++)
        for (int w = 1; w < WAYS - 1; w++)
            expect_one_set(ways[w].name, (network_run){.network = networks[n],
                                                       .optimizer = ways[w].optimizer,
                                                       .in_place = true,
                                                       .check_numerics = w == 2});
}

static void towers_have_one_set_of_programs(void **state) {
    (void)state;
    expect_one_set(
        "towers",
        (network_run){.network = &network_pictures, .optimizer = ways[1].optimizer, .kind = MST_STRATEGY_TOWERS});
}

static void products_of_bfloat16_have_one_set_of_programs(void **state) {
    (void)state;
    expect_one_set(
        ways[1].name,
        (network_run){.network = &network_pictures, .optimizer = ways[1].optimizer, .precision = MST_MIXED_BFLOAT16});
}

/* The texts differ in what products ask for, and in nothing else. The interpreter computes them in f32, as CPUs do. */
static void products_of_tensorfloat32_differ_in_what_they_ask_for(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++) {
        network_run run = {.network = networks[n], .optimizer = ways[0].optimizer, .devices = "lagoon:2", .shards = 2};
        int words = 0;
        outcome exact = train(&run), rounded;
        run.precision = MST_TENSORFLOAT32;
        rounded = train(&run);
        for (int64_t i = 0; i < exact.texts.count; i++) words += hlo_case_round(exact.texts.text[i]);
        assert_true(words > 0);
        program_texts_expect_same(networks[n]->name, &rounded.texts, &exact.texts);
        if (strcmp(rounded.sha, exact.sha) != 0) fail_msg("%s: other weights", networks[n]->name);
        program_texts_free(&exact.texts);
        program_texts_free(&rounded.texts);
    }
}

static void products_of_tensorfloat32_have_one_set_of_programs(void **state) {
    (void)state;
    expect_one_set(
        ways[1].name,
        (network_run){.network = &network_pictures, .optimizer = ways[1].optimizer, .precision = MST_TENSORFLOAT32});
}

static void cpus_compute_tensorfloat32_as_float32(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++) {
        network_run run = {.network = networks[n], .optimizer = ways[0].optimizer, .devices = "cpu:2/1"};
        char exact[65], rounded[65];
        double loss[2];
        network_train(&run, loss, exact);
        run.precision = MST_TENSORFLOAT32;
        network_train(&run, loss, rounded);
        if (strcmp(rounded, exact) != 0) fail_msg("%s: other weights", networks[n]->name);
    }
}

/* ---- steps built by hand, which fetch more than a fit does ---- */

typedef struct by_hand {
    mst_value w, b, mean, own;
} by_hand;

static void build_replica(void *context, mst_graph *g, int shard, mst_replica *out) {
    by_hand *x = context;
    (void)shard;
    const mst_value rows = mst_random_uniform(g, MST_SHAPE(3, 5), .low = -1);
    x->w = mst_get_variable(g, "w", MST_SHAPE(5, 4), MST_F32, mst_random_uniform_initializer(.high = 0.5));
    x->b = mst_get_variable(g, "b", MST_SHAPE(4), MST_F32, mst_zeros_initializer());
    x->mean = mst_get_variable(g, "mean", MST_SHAPE(5), MST_F32, mst_zeros_initializer(), .not_trainable = true);
    x->own = mst_get_variable(g, "own", MST_SHAPE(5), MST_F32, mst_ones_initializer(), .not_trainable = true);
    const mst_value centered = mst_sub(rows, mst_mul(x->mean, x->own));
    mst_replica_update(out, x->mean, mst_reduce_mean(rows, .axes = MST_AXES(0)), MST_JOIN_MEAN);
    out->loss = mst_reduce_mean(mst_square(mst_tanh(mst_add(mst_matmul(centered, x->w), x->b))), .axes = MST_AXES(1));
}

enum { MOST_FETCHES = 6 };

/* Fills FETCH, which has room for MOST_FETCHES, with values to fetch beside the step; returns their number. */
typedef int (*fetch_more)(mst_graph *g, const by_hand *x, const mst_step_values *values, mst_value *fetch);

static int fetch_old_weights(mst_graph *g, const by_hand *x, const mst_step_values *values, mst_value *fetch) {
    (void)g, (void)values;
    fetch[0] = mst_reduce_sum(mst_square(x->w));
    fetch[1] = mst_neg(x->mean);
    return 2;
}

static int fetch_new_weights(mst_graph *g, const by_hand *x, const mst_step_values *values, mst_value *fetch) {
    mst_with_control (g, values->train) {
        fetch[0] = mst_reduce_sum(mst_square(x->w));
        fetch[1] = mst_add(x->b, mst_reduce_mean(x->mean));
    }
    return 2;
}

/* All devices make the assignment; what is fetched, one of them only. */
static int fetch_what_is_assigned(mst_graph *g, const by_hand *x, const mst_step_values *values, mst_value *fetch) {
    (void)g, (void)values;
    const mst_value half = mst_scale(mst_tanh(x->own), 0.5), assigned = mst_assign(x->own, mst_exp(half));
    fetch[0] = half;
    fetch[1] = mst_neg(assigned);
    fetch[2] = assigned;
    return 3;
}

static int fetch_losses(mst_graph *g, const by_hand *x, const mst_step_values *values, mst_value *fetch) {
    (void)g, (void)x;
    fetch[0] = values->loss;
    fetch[1] = values->loss_sum;
    fetch[2] = values->num_examples;
    return 3;
}

static void expect_one_set_with(const char *name, fetch_more more) {
    program_texts wanted = {0};
    mst_tensor *first[MOST_FETCHES + 1] = {NULL};
    for (int devices = 1; devices <= SHARDS; devices *= 2) {
        char spec[24], what[64];
        by_hand x;
        program_texts got = {0};
        mst_value fetch[MOST_FETCHES + 1];
        mst_tensor *out[MOST_FETCHES + 1] = {NULL};
        mst_step_values values;
        snprintf(spec, sizeof spec, "lagoon:%d", devices);
        snprintf(what, sizeof what, "%s on %s", name, spec);
        mst_graph *g = engine_graph();
        mst_session *session = engine_session(g, spec);
        mst_strategy strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = SHARDS};
        const mst_optimizer optimizer = mst_adam(.learning_rate = 0.01, .clip_global_norm = 0.1);
        engine_build_step(g, session, &strategy, &optimizer, build_replica, &x, &values);
        const int count = more(g, &x, &values, fetch + 1);
        fetch[0] = values.train;
        for (int i = 0; i < 3; i++) EXPECT_OK(mst_session_run(session, NULL, 0, fetch, 1 + count, out));
        program_texts_add(&got, session);
        if (devices > 1) program_texts_expect_same(what, &got, &wanted);
        for (int i = 1; i <= count; i++)
            if (devices > 1 && !engine_same_bits(out[i], first[i])) fail_msg("%s: fetch %d differs", what, i);
        for (int i = 1; i <= count; i++) {
            if (devices > 1)
                mst_tensor_release(out[i]);
            else
                first[i] = out[i];
        }
        if (devices > 1)
            program_texts_free(&got);
        else
            wanted = got;
        engine_end(g, session);
    }
    program_texts_free(&wanted);
    for (int i = 1; i <= MOST_FETCHES; i++) mst_tensor_release(first[i]);
}

static void fetches_beside_a_step_change_no_device_alone(void **state) {
    (void)state;
    expect_one_set_with("old weights", fetch_old_weights);
    expect_one_set_with("new weights", fetch_new_weights);
    expect_one_set_with("losses", fetch_losses);
    expect_one_set_with("what is assigned", fetch_what_is_assigned);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_layers_have_one_set_of_programs),
        cmocka_unit_test(sparse_gradients_have_one_set_of_programs),
        cmocka_unit_test(convolutions_and_moving_statistics_have_one_set_of_programs),
        cmocka_unit_test(synchronized_statistics_have_one_set_of_programs),
        cmocka_unit_test(recurrent_layers_have_one_set_of_programs),
        cmocka_unit_test(fetches_beside_a_step_change_no_device_alone),
        cmocka_unit_test(any_number_of_shards_and_rows_has_one_set_of_programs),
        cmocka_unit_test(checks_and_values_made_again_have_one_set_of_programs),
        cmocka_unit_test(updates_in_place_have_one_set_of_programs),
        cmocka_unit_test(towers_have_one_set_of_programs),
        cmocka_unit_test(products_of_bfloat16_have_one_set_of_programs),
        cmocka_unit_test(products_of_tensorfloat32_differ_in_what_they_ask_for),
        cmocka_unit_test(products_of_tensorfloat32_have_one_set_of_programs),
        cmocka_unit_test(cpus_compute_tensorfloat32_as_float32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
