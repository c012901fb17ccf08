/* Training on devices that compile has the losses of training on CPUs, step by step, up to rounding: with dropout,
 * whose masks are equal, penalties, clipping, sparse gradients, moving statistics, recurrent layers, and batches that
 * are not full. */
#include <math.h>

#include "support/networks.h"
#include "support/test.h"

enum { EPOCHS = 3, MOST_STEPS = 2 * EPOCHS, SHARDS = 4 };

static void expect_losses_of_cpus(const char *name, network_run run, double tolerance) {
    double wanted[MOST_STEPS], got[MOST_STEPS];
    char sha[65];
    run.epochs = EPOCHS;
    run.shards = SHARDS;
    run.devices = "cpu:1/1";
    network_train(&run, wanted, sha);
    run.devices = "lagoon:2";
    network_train(&run, got, sha);
    for (int i = 0; i < MOST_STEPS; i++)
        if (!(fabs(got[i] - wanted[i]) <= tolerance * fabs(wanted[i])))
            fail_msg("%s, %s: step %d has loss %.9g, on CPUs %.9g", run.network->name, name, i, got[i], wanted[i]);
    if (wanted[MOST_STEPS - 1] == wanted[0]) fail_msg("%s, %s: nothing was trained", run.network->name, name);
}

static const struct {
    const char *name;
    mst_optimizer optimizer;
} ways[] = {
    {"sgd", {.rule = "sgd", .learning_rate = 0.1}},
    {"nesterov, clipped by value",
     {.rule = "sgd", .learning_rate = 0.05, .momentum = 0.9, .nesterov = true, .clip_value = 0.05}},
    {"momentum, clipped by norm, average",
     {.rule = "sgd", .learning_rate = 0.1, .momentum = 0.9, .clip_norm = 0.5, .ema_decay = 0.9}},
    {"adam, clipped by global norm", {.rule = "adam", .learning_rate = 0.01, .clip_global_norm = 0.5}},
    {"adamw", {.rule = "adamw", .learning_rate = 0.01, .weight_decay = 0.01}},
    {"rmsprop, accumulated", {.rule = "rmsprop", .learning_rate = 0.01, .gradient_accumulation_steps = 2}},
    {"adagrad", {.rule = "adagrad", .learning_rate = 0.1}},
    {"ftrl", {.rule = "ftrl", .learning_rate = 0.1}},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void any_network_and_rule_has_the_losses_of_cpus(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++)
        for (int w = 0; w < WAYS; w++)
            expect_losses_of_cpus(ways[w].name, (network_run){.network = networks[n], .optimizer = ways[w].optimizer},
                                  1e-4);
}

/* Rows that are not in a batch: their slots stay. */
static void rules_of_tensorflow_for_rows_have_the_losses_of_cpus(void **state) {
    (void)state;
    for (int w = 0; w < WAYS; w++) {
        network_run run = {.network = &network_text, .optimizer = ways[w].optimizer};
        run.optimizer.sparse = MST_SPARSE_TENSORFLOW;
        expect_losses_of_cpus(ways[w].name, run, 1e-4);
    }
}

/* CPUs round only some of the factors, or none without instructions for it: then only the size can be compared. */
static void products_of_bfloat16_have_nearly_the_losses_of_cpus(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++)
        expect_losses_of_cpus(
            "bfloat16",
            (network_run){.network = networks[n], .optimizer = ways[0].optimizer, .precision = MST_MIXED_BFLOAT16},
            3e-2);
}

/* With one shard the whole step is one program. */
static void a_single_shard_has_the_losses_of_cpus(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++) {
        double wanted[2], got[2];
        char sha[65];
        network_run run = {.network = networks[n], .optimizer = ways[3].optimizer, .devices = "cpu:1/1"};
        network_train(&run, wanted, sha);
        run.devices = "lagoon:1";
        network_train(&run, got, sha);
        for (int i = 0; i < 2; i++)
            if (!(fabs(got[i] - wanted[i]) <= 1e-4 * fabs(wanted[i])))
                fail_msg("%s: step %d has loss %.9g, on CPUs %.9g", run.network->name, i, got[i], wanted[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_network_and_rule_has_the_losses_of_cpus),
        cmocka_unit_test(rules_of_tensorflow_for_rows_have_the_losses_of_cpus),
        cmocka_unit_test(products_of_bfloat16_have_nearly_the_losses_of_cpus),
        cmocka_unit_test(a_single_shard_has_the_losses_of_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
