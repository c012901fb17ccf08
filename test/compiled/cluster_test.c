/* Tasks of a cluster whose devices compile. They run the same programs as one process, for any number of tasks, and
 * end with its weights, bit for bit. The tasks are threads here, each with a model, a store and devices of its own. */
#include <stdio.h>

#include "run/session.h"
#include "support/networks.h"
#include "support/program_texts.h"
#include "support/test.h"
#include "support/workers.h"

enum { SHARDS = 8 };

/* What all tasks train, and what each ends with. */
typedef struct job {
    network_run run;
    mst_status status[WORKERS_MOST];
    char error[WORKERS_MOST][300], sha[WORKERS_MOST][65];
    program_texts texts[WORKERS_MOST];
    mst_result fitted[WORKERS_MOST], evaluated[WORKERS_MOST];
} job;

/* A thread of the test cannot end it: the status is looked at afterwards. */
static void train(void *context, int number, mst_shards window, mst_task_group *group) {
    job *j = context;
    network_run run = j->run;
    run.first_shard = window.first;
    run.num_shards_here = window.count;
    mst_dataset *data = run.network->data(36);
    mst_model *model = network_compiled(&run);
    mst_session_join(mst_model_session(model), group);
    mst_status status =
        mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = 24, .epochs = 2}, &j->fitted[number]);
    if (!status) program_texts_add(&j->texts[number], mst_model_session(model));
    if (!status) status = mst_evaluate(model, data, 24, &j->evaluated[number], NULL);
    if (!status) status = mst_model_sha256(model, j->sha[number]);
    j->status[number] = status;
    if (status) snprintf(j->error[number], sizeof j->error[number], "%s", mst_error()->message);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void expect_one_process(network_run run, const char *devices, int n, const int *count) {
    static job one, many;
    program_texts all = {0};
    char what[128];
    snprintf(what, sizeof what, "%s: %d tasks on %s", run.network->name, n, devices);
    run.kind = MST_STRATEGY_MIRRORED;
    run.shards = SHARDS;
    run.devices = "lagoon:1";
    one = (job){.run = run};
    train(&one, 0, (mst_shards){0, SHARDS}, NULL);
    if (one.status[0]) fail_msg("%s: %s", what, one.error[0]);
    run.devices = devices;
    many = (job){.run = run};
    workers_run(n, count, train, &many);
    assert_true(workers_sent_bytes() > 0);
    for (int i = 0; i < n; i++) {
        if (many.status[i]) fail_msg("%s: task %d: %s", what, i, many.error[i]);
        if (strcmp(many.sha[i], one.sha[0]) != 0) fail_msg("%s: task %d has other weights", what, i);
        assert_true(many.fitted[i].loss == one.fitted[0].loss);
        assert_true(many.evaluated[i].loss == one.evaluated[0].loss);
        assert_true(many.evaluated[i].metric[0] == one.evaluated[0].metric[0]);
        program_texts_join(&all, &many.texts[i]);
        program_texts_free(&many.texts[i]);
    }
    program_texts_expect_part(what, &all, &one.texts[0]);
    program_texts_free(&all);
    program_texts_free(&one.texts[0]);
}

static const struct {
    const char *name;
    mst_optimizer optimizer;
} ways[] = {
    {"momentum, clipped by norm", {.rule = "sgd", .learning_rate = 0.1, .momentum = 0.9, .clip_norm = 0.5}},
    {"adam, clipped by global norm, average",
     {.rule = "adam", .learning_rate = 0.01, .clip_global_norm = 0.5, .ema_decay = 0.9}},
    {"adagrad, accumulated", {.rule = "adagrad", .learning_rate = 0.1, .gradient_accumulation_steps = 2}},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void two_tasks_run_the_programs_of_one_process(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++)
        for (int w = 0; w < WAYS; w++)
            expect_one_process((network_run){.network = networks[n], .optimizer = ways[w].optimizer}, "lagoon:2", 2,
                               (const int[]){4, 4});
}

static void any_number_of_tasks_runs_the_programs_of_one_process(void **state) {
    (void)state;
    for (int n = 0; networks[n]; n++) {
        const network_run run = {.network = networks[n], .optimizer = ways[1].optimizer};
        expect_one_process(run, "lagoon:1", 3, (const int[]){2, 5, 1});
        expect_one_process(run, "lagoon:2", 3, (const int[]){2, 2, 4});
        expect_one_process(run, "lagoon:1", 8, (const int[]){1, 1, 1, 1, 1, 1, 1, 1});
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tasks_run_the_programs_of_one_process),
        cmocka_unit_test(any_number_of_tasks_runs_the_programs_of_one_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
