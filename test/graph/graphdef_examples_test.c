/* The graphs of the programs in examples/, and training steps under each strategy, written and read: the same plans and
 * the same bits, step by step. */
#include <stdio.h>

#include "support/graph_pair.h"
#include "support/test.h"

static void check(mst_graph *g, const char *devices, int times, const mst_feed *feeds, int num_feeds,
                  const mst_value *fetches, int num_fetches) {
    EXPECT_OK(mst_graph_check(g));
    mst_graph *copy = graph_pair_copy(g);
    graph_pair_run(g, copy, devices, times, feeds, num_feeds, fetches, num_fetches);
    mst_graph_destroy(copy);
}

/* ---- examples/placement.c ---- */

static void graph_with_placement_reads_back_and_runs_alike(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value w = MST_NONE, b = MST_NONE, sum = MST_NONE, product = MST_NONE, c = MST_NONE, large = MST_NONE;
    mst_with_device (g, "/cpu:0") {
        w = mst_variable(g, "w", mst_fill(g, MST_F32, MST_SHAPE(2, 2), 2));
        b = mst_get_variable(g, "b", MST_SHAPE(2, 2), .initializer = mst_constant_initializer(5));
        sum = mst_add(w, b);
    }
    mst_with_device (g, "/cpu:1") product = mst_mul(w, b);
    mst_value x = mst_rename(mst_values(g, MST_F32, MST_SHAPE(2, 3), (double[]){1, 2, 3, 4, 5, 6}), "a");
    mst_with_device (g, "/job:localhost/task:0/cpu:1") c = mst_rename(mst_add(x, x), "c");
    mst_with_device (g, "/cpu:1") {
        mst_value left = mst_random_uniform(g, MST_SHAPE(20, 100), .low = 0, .high = 3);
        large = mst_reduce_sum(mst_matmul(left, mst_random_uniform(g, MST_SHAPE(100, 30), .low = 0, .high = 3)));
    }
    check(g, "cpu:2/1", 2, NULL, 0, (mst_value[]){sum, product, c, large}, 4);
    mst_graph_destroy(g);
}

/* ---- examples/custom_op.c ---- */

typedef struct mish_options {
    float beta;
} mish_options;

static const mst_field mish_fields[] = {
    MST_FIELD_F32(mish_options, beta, 1, 0.01, 100, "sharpness of the bend at 0"),
    MST_FIELD_END,
};

static mst_status mish_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_value mish_grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->ddst[0], mst_scale(c->src[0], (double)((const mish_options *)c->options)->beta));
}

static mst_status mish_reference(const mst_kernel_args *a) {
    const float beta = ((const mish_options *)a->options)->beta;
    for (int64_t e = 0; e < a->dst[0].count; e++)
        ((float *)a->dst[0].data)[e] = beta * ((const float *)a->src[0].data)[e];
    return MST_OK;
}

static const mst_op mish_op = {.name = "mish",
                               .num_src = 1,
                               .num_dst = 1,
                               .dtypes = MST_DTYPE_BIT(MST_F32),
                               .fields = mish_fields,
                               .options_size = sizeof(mish_options),
                               .infer = mish_infer,
                               .grad = mish_grad,
                               .reference = mish_reference};

static mst_value mish(mst_value x, float beta) {
    return mst_call(NULL, &mish_op, 1, &x, &(mish_options){.beta = beta});
}

static void custom_op(bool train) {
    mst_graph *g = engine_graph();
    mst_graph_set_seed(g, 1);
    mst_value x = engine_input(g, "x", MST_SHAPE(-1, 1)), y = engine_input(g, "y", MST_SHAPE(-1, 1)), slope[8];
    mst_value hidden = mish(mst_dense(x, 32, .name = "hidden"), 0.3f);
    mst_value output = mst_dense(mish(mst_dense(hidden, 32, .name = "hidden2"), 0), 1, .name = "output");
    mst_value loss = mst_reduce_mean(mst_squared_difference(output, y)), weights[8];
    const int count = mst_collection(g, MST_TRAINABLE, NULL, weights, 8);
    mst_value fetches[10] = {loss, output};
    int num_fetches = 2;
    if (train) {
        mst_optimizer adam = mst_adam(.learning_rate = 0.01);
        fetches[num_fetches++] = mst_minimize(&adam, loss, NULL, 0, MST_NONE);
    } else {
        mst_gradients(loss, weights, count, slope);
        for (int i = 0; i < count; i++) fetches[num_fetches++] = slope[i];
    }
    mst_feed feeds[2] = {{.value = x, .tensor = engine_random(MST_F32, MST_SHAPE(16, 1), -3, 3, 1)},
                         {.value = y, .tensor = engine_random(MST_F32, MST_SHAPE(16, 1), -1, 1, 2)}};
    check(g, NULL, 3, feeds, 2, fetches, num_fetches);
    for (int i = 0; i < 2; i++) mst_tensor_release(feeds[i].tensor);
    mst_graph_destroy(g);
}

static void graph_of_a_custom_op_reads_back_and_trains_alike(void **state) {
    (void)state;
    EXPECT_OK(mst_register_op(&mish_op));
    custom_op(false);
    custom_op(true);
}

/* ---- examples/custom_loop.c ---- */

static void custom_loop(bool train) {
    mst_graph *g = engine_graph();
    mst_graph_set_seed(g, 1);
    mst_value inputs = engine_input(g, "inputs", MST_SHAPE(-1, 2));
    mst_value labels = mst_placeholder(g, MST_I32, MST_SHAPE(-1), "labels");
    mst_value h = mst_dense(inputs, 64, .name = "layer1", .activation = MST_RELU, .l2 = 0.01f);
    h = mst_dense(h, 64, .name = "layer2", .activation = MST_RELU);
    mst_value logits = mst_dense(h, 3, .name = "logits");
    mst_value losses = mst_loss_per_example(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, labels, logits, true);
    mst_metric_values loss = mst_metric_mean(losses);
    mst_metric_values correct =
        mst_metric_batch(.metric = MST_METRIC_SPARSE_ACCURACY, .labels = labels, .predictions = logits);
    mst_value fetches[5] = {loss.sum, loss.count, correct.sum, correct.count};
    mst_optimizer nadam = mst_nadam(.learning_rate = 0.002);
    if (train)
        fetches[4] = mst_minimize(&nadam, mst_loss_reduce(losses, MST_NONE, MST_REDUCTION_MEAN), NULL, 0, MST_NONE);
    mst_feed feeds[2] = {{.value = inputs, .tensor = engine_random(MST_F32, MST_SHAPE(32, 2), -1, 1, 1)},
                         {.value = labels, .tensor = engine_random(MST_I32, MST_SHAPE(32), 0, 3, 2)}};
    check(g, NULL, 3, feeds, 2, fetches, train ? 5 : 4);
    for (int i = 0; i < 2; i++) mst_tensor_release(feeds[i].tensor);
    mst_graph_destroy(g);
}

static void graph_of_a_custom_loop_reads_back_and_trains_alike(void **state) {
    (void)state;
    custom_loop(false);
    custom_loop(true);
}

/* ---- examples/mnist_towers.c ---- */

enum { TOWERS = 2, VARIABLES = 4, PIXELS = 16 };

static mst_value tower_layer(mst_graph *g, mst_value x, const char *name, int64_t inputs, int64_t outputs) {
    mst_value w = MST_NONE, b = MST_NONE;
    const mst_regularizer l2 = mst_l2_regularizer(1e-4);
    mst_with_variables (g, name, MST_REUSE_AUTO) {
        mst_with_device (g, "/cpu:0") {
            w = mst_get_variable(g, "weights", MST_SHAPE(inputs, outputs),
                                 .initializer = mst_truncated_normal_initializer(.stddev = 0.1));
            b = mst_get_variable(g, "biases", MST_SHAPE(outputs), .initializer = mst_zeros_initializer());
        }
        mst_collect(g, MST_LOSSES, mst_regularizer_value(&l2, w));
    }
    return mst_add(mst_matmul(x, w), b);
}

/* The mean of a variable's gradients over the towers, and the update by it. */
static mst_value average_and_update(mst_graph *g, mst_value slope[TOWERS][VARIABLES], const mst_value *variables,
                                    mst_value *average, bool train) {
    mst_value update = MST_NONE;
    mst_with_device (g, "/cpu:0") {
        for (int v = 0; v < VARIABLES; v++) {
            mst_value terms[TOWERS];
            for (int t = 0; t < TOWERS; t++) terms[t] = slope[t][v];
            average[v] = mst_reduce_mean(mst_stack(terms, TOWERS, 0), .axes = MST_AXES(0));
        }
        mst_optimizer sgd =
            mst_sgd(.schedule = mst_exponential_decay(.rate = 0.001, .decay_rate = 0.99, .decay_steps = 600),
                    .ema_decay = 0.99, .ema_num_updates = true);
        if (train) update = mst_apply_gradients(&sgd, average, variables, VARIABLES, mst_global_step(g));
    }
    return update;
}

static void towers(bool train) {
    mst_graph *g = engine_graph();
    mst_value slope[TOWERS][VARIABLES], variables[VARIABLES], losses[8], fetches[TOWERS + VARIABLES + 1] = {{0}};
    mst_feed feeds[2 * TOWERS] = {{.tensor = NULL}};
    mst_graph_set_seed(g, 1);
    for (int t = 0; t < TOWERS; t++) {
        char device[16], name[16], scope[32];
        snprintf(device, sizeof device, "/cpu:%d", t);
        snprintf(name, sizeof name, "GPU_%d", t);
        mst_with_device (g, device)
            mst_with_name (g, name) {
                mst_value images = mst_placeholder(g, MST_U8, MST_SHAPE(-1, 4, 4), "images");
                mst_value labels = mst_placeholder(g, MST_U8, MST_SHAPE(-1), "labels");
                mst_value pixels = mst_reshape(mst_cast(images, MST_F32), MST_SHAPE(-1, PIXELS));
                mst_value h = mst_relu(tower_layer(g, pixels, "layer1", PIXELS, 8));
                mst_value logits = tower_layer(g, h, "layer2", 8, 10);
                mst_collect(g, MST_LOSSES, mst_reduce_mean(mst_sparse_softmax_cross_entropy(logits, labels)));
                snprintf(scope, sizeof scope, "%s/", mst_name_scope(g));
                int count = mst_collection(g, MST_LOSSES, scope, losses, 8);
                fetches[t] = mst_add_n(losses, count);
                mst_collect(g, "tower_loss", fetches[t]);
                assert_int_equal(mst_collection(g, MST_TRAINABLE, NULL, variables, VARIABLES), VARIABLES);
                mst_gradients(fetches[t], variables, VARIABLES, slope[t]);
                feeds[2 * t] = (mst_feed){.value = images,
                                          .tensor = engine_random(MST_U8, MST_SHAPE(5, 4, 4), 0, 256, (unsigned)t)};
                feeds[2 * t + 1] =
                    (mst_feed){.value = labels, .tensor = engine_random(MST_U8, MST_SHAPE(5), 0, 10, (unsigned)t + 9)};
            }
    }
    fetches[TOWERS + VARIABLES] = average_and_update(g, slope, variables, fetches + TOWERS, train);
    check(g, "cpu:2/1", 3, feeds, 2 * TOWERS, fetches, TOWERS + VARIABLES + train);
    for (int i = 0; i < 2 * TOWERS; i++) mst_tensor_release(feeds[i].tensor);
    mst_graph_destroy(g);
}

static void graph_of_towers_reads_back_and_trains_alike(void **state) {
    (void)state;
    towers(false);
    towers(true);
}

/* ---- examples/mnist_fit.c: the step that mst_fit builds, under each strategy ---- */

enum { MOST_SHARDS = 4 };

typedef struct network {
    mst_value x[MOST_SHARDS], y[MOST_SHARDS];
} network;

static void build_replica(void *context, mst_graph *graph, int shard, mst_replica *out) {
    network *n = context;
    n->x[shard] = mst_placeholder(graph, MST_F32, MST_SHAPE(-1, 4, 4), "x");
    n->y[shard] = mst_placeholder(graph, MST_U8, MST_SHAPE(-1), "y");
    mst_value h = mst_reshape(n->x[shard], MST_SHAPE(-1, PIXELS));
    h = mst_dropout(mst_dense(h, 8, .name = "dense", .activation = MST_RELU, .l2 = 1e-4f), .rate = 0.25f);
    mst_value logits = mst_dense(h, 10, .name = "dense_1");
    out->loss = mst_loss_per_example(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, n->y[shard], logits, true);
    mst_metric_values correct =
        mst_metric_batch(.metric = MST_METRIC_SPARSE_ACCURACY, .labels = n->y[shard], .predictions = logits);
    out->num_metrics = 1;
    out->metric_sum[0] = correct.sum;
    out->metric_count[0] = correct.count;
}

static void step_of(mst_strategy strategy, const char *devices, bool train) {
    mst_graph *g = engine_graph();
    network n;
    mst_step_values values;
    mst_optimizer adam = mst_adam(.learning_rate = 0.01, .ema_decay = 0.99, .gradient_accumulation_steps = 2);
    mst_graph_set_seed(g, 3);
    mst_strategy_build(g, &strategy, train ? &adam : NULL, build_replica, &n, &values);
    EXPECT_OK(mst_strategy_resolve(&strategy));
    mst_feed feeds[2 * MOST_SHARDS] = {{.tensor = NULL}};
    for (int s = 0; s < strategy.num_shards; s++) {
        feeds[2 * s] =
            (mst_feed){.value = n.x[s], .tensor = engine_random(MST_F32, MST_SHAPE(3, 4, 4), 0, 1, (unsigned)s)};
        feeds[2 * s + 1] =
            (mst_feed){.value = n.y[s], .tensor = engine_random(MST_U8, MST_SHAPE(3), 0, 10, (unsigned)s + 9)};
    }
    mst_value fetches[] = {values.loss, values.num_examples, values.metric_sum[0], values.metric_count[0],
                           values.train};
    check(g, devices, 3, feeds, 2 * strategy.num_shards, fetches, train ? 5 : 4);
    for (int i = 0; i < 2 * strategy.num_shards; i++) mst_tensor_release(feeds[i].tensor);
    mst_graph_destroy(g);
}

static void step_of_each_strategy_reads_back(void **state) {
    (void)state;
    for (int train = 0; train < 2; train++) {
        step_of((mst_strategy){.kind = MST_STRATEGY_ONE}, NULL, train);
        step_of((mst_strategy){.kind = MST_STRATEGY_ONE, .num_shards = 4}, NULL, train);
        step_of((mst_strategy){.kind = MST_STRATEGY_TOWERS, .num_devices = 2, .num_shards = 4}, "cpu:2/1", train);
        step_of((mst_strategy){.kind = MST_STRATEGY_MIRRORED, .num_devices = 2, .num_shards = 4}, "cpu:2/1", train);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_with_placement_reads_back_and_runs_alike),
        cmocka_unit_test(graph_of_a_custom_op_reads_back_and_trains_alike),
        cmocka_unit_test(graph_of_a_custom_loop_reads_back_and_trains_alike),
        cmocka_unit_test(graph_of_towers_reads_back_and_trains_alike),
        cmocka_unit_test(step_of_each_strategy_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
