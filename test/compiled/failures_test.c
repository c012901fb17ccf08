/* A program that fails anywhere in a training changes nothing. All entries of the store keep the bits from before
 * the step, and one error names node and device. The next step runs as if the failed one had not been tried. With
 * two tasks this holds for both, even if the update fails after the gradients were exchanged.
 *
 * MUSTER_LAGOON_FAIL chooses, at the start of a process, which run of a program fails. So each training is a process
 * of its own: this program, with arguments. It prints how many steps failed, and a hash of the state at the end. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/byte_hash.h"
#include "run/session.h"
#include "support/members.h"
#include "support/networks.h"
#include "support/state.h"
#include "support/test.h"

enum { STEPS = 2, SHARDS = 4, ROWS = 6, FEATURES = 5, CLASSES = 3, TASKS = 2, WORDS = 20, WIDTH = 3 };

/* ---- what is trained: a model with batch norm of both kinds, of random rows, and a table of words ---- */

typedef struct training {
    mst_graph *graph;
    mst_session *session;
    mst_model *model;
    mst_step_values values;
    mst_status status; /* of the last step */
    char message[1024], node[256], device[256];
} training;

static void build_replica(void *context, mst_graph *g, int shard, mst_replica *out) {
    training *t = context;
    (void)shard;
    const mst_value numbers = mst_random_uniform(g, MST_SHAPE(ROWS, FEATURES), .low = -1);
    const mst_value words = mst_random_uniform_int(g, MST_SHAPE(ROWS), .high = WORDS, .dtype = MST_I64);
    const mst_value table =
        mst_get_variable(g, "table", MST_SHAPE(WORDS, WIDTH), MST_F32, mst_random_uniform_initializer(.high = 1));
    const mst_value x = mst_concat((const mst_value[]){numbers, mst_gather(table, words, 0)}, 2, 1);
    const mst_value labels = mst_random_uniform_int(g, MST_SHAPE(ROWS), .high = CLASSES, .dtype = MST_I64);
    out->loss = mst_sparse_softmax_cross_entropy(mst_model_call(t->model, x, true), labels);
}

static void begin(training *t, mst_shards window, mst_task_group *group) {
    const mst_optimizer adam = mst_adam(.learning_rate = 0.05, .clip_global_norm = 0.5);
    mst_strategy strategy = {.kind = MST_STRATEGY_MIRRORED,
                             .num_shards = SHARDS,
                             .first_shard = window.first,
                             .num_shards_here = window.count};
    *t = (training){.graph = engine_graph()};
    EXPECT_OK(mst_model_create(&t->model));
    mst_dense(t->model, 8, .activation = MST_TANH, .l2 = 1e-3f);
    mst_batch_normalization(t->model, .momentum = 0.9f);
    mst_batch_normalization(mst_dense(t->model, 6), .synchronized = true);
    mst_dense(t->model, CLASSES);
    EXPECT_OK(mst_session_create(t->graph, &(mst_session_options){.devices = "lagoon:2"}, &t->session));
    mst_session_join(t->session, group);
    engine_build_step(t->graph, t->session, &strategy, &adam, build_replica, t, &t->values);
}

static void end(training *t) {
    mst_session_destroy(t->session);
    mst_model_destroy(t->model);
    mst_graph_destroy(t->graph);
}

/* One step; its error is kept. */
static void step(training *t) {
    const mst_value fetch[] = {t->values.train, t->values.loss};
    mst_tensor *out[2] = {NULL};
    t->status = mst_session_run(t->session, NULL, 0, fetch, 2, out);
    mst_tensor_release(out[1]);
    if (!t->status) return;
    snprintf(t->message, sizeof t->message, "%s", mst_error()->message);
    snprintf(t->node, sizeof t->node, "%s", mst_error()->node);
    snprintf(t->device, sizeof t->device, "%s", mst_error()->device);
}

/* The step that ran the program that fails. */
static void expect_error(const training *t) {
    if (t->status != MST_UNAVAILABLE || !strstr(t->message, "program failed") || strchr(t->message, '\n') ||
        !*t->node || !strstr(t->device, "/device:LAGOON:") || !strstr(t->message, t->node))
        fail_msg("status %d at '%s' on '%s': '%s'", (int)t->status, t->node, t->device, t->message);
}

/* A hash of all that the steps have made. */
static uint64_t hash_of(const training *t) {
    mst_snapshot *snapshot = state_of(mst_session_store(t->session));
    uint64_t hash = 1;
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++) {
        const mst_tensor *value = mst_snapshot_value(snapshot, i);
        if (strcmp(mst_snapshot_info(snapshot, i).name, MST_STATE_RUNS) == 0) continue;
        hash = 31 * hash + mst_byte_hash(mst_tensor_data(value), mst_tensor_bytes(value));
    }
    mst_snapshot_release(snapshot);
    return hash;
}

/* ---- one process ---- */

static int train_alone(uint64_t *hash) {
    training t;
    int failed = 0;
    begin(&t, (mst_shards){0, SHARDS}, NULL);
    for (int made = 0; made < STEPS;) {
        mst_snapshot *before = state_of(mst_session_store(t.session)), *after;
        step(&t);
        if (t.status) {
            expect_error(&t);
            after = state_of(mst_session_store(t.session));
            state_expect_same("failed step", after, before, true);
            mst_snapshot_release(after);
            failed++;
        } else {
            made++;
        }
        mst_snapshot_release(before);
    }
    *hash = hash_of(&t);
    end(&t);
    return failed;
}

/* ---- two tasks ---- */

static void step_together(member *m) {
    training *t = m->context;
    step(t);
    /* as the membership does when a task cannot go on */
    for (int i = 0; i < m->all->count && t->status; i++) member_end(&m->all->member[i], m->self);
}

/* Both tasks have failed, and changed nothing; one says why. */
static void expect_failure_of_both(training *t, mst_snapshot *const *before) {
    int causes = 0;
    for (int i = 0; i < TASKS; i++) {
        if (!t[i].status) fail_msg("task %d made a step that task %d did not: '%s'", i, 1 - i, t[1 - i].message);
        if (strstr(t[i].message, "program failed")) {
            expect_error(&t[i]);
            causes++;
        }
        mst_snapshot *after = state_of(mst_session_store(t[i].session));
        state_expect_same(i ? "failed step, task 1" : "failed step, task 0", after, before[i], true);
        mst_snapshot_release(after);
    }
    if (causes != 1) fail_msg("%d causes: '%s' and '%s'", causes, t[0].message, t[1].message);
}

static int train_together(uint64_t *hash) {
    static members all;
    static training t[TASKS];
    const mst_shards window[TASKS] = {{0, SHARDS / 2}, {SHARDS / 2, SHARDS / 2}};
    int failed = 0;
    members_open_windows(&all, &mst_transport_inproc, TASKS, window);
    for (int i = 0; i < TASKS; i++) {
        begin(&t[i], window[i], all.member[i].group);
        all.member[i].context = &t[i];
    }
    for (int made = 0; made < STEPS;) {
        mst_snapshot *before[TASKS];
        for (int i = 0; i < TASKS; i++) before[i] = state_of(mst_session_store(t[i].session));
        members_run(&all, step_together);
        if (t[0].status || t[1].status) {
            expect_failure_of_both(t, before);
            members_begin(&all, (uint32_t)++failed + 1);
        } else {
            made++;
        }
        for (int i = 0; i < TASKS; i++) mst_snapshot_release(before[i]);
    }
    *hash = hash_of(&t[0]);
    if (hash_of(&t[1]) != *hash) fail_msg("the tasks end with different state");
    for (int i = 0; i < TASKS; i++) end(&t[i]);
    members_close(&all);
    return failed;
}

/* ---- a fit, which takes its batches ahead ---- */

/* Each fit that fails is resumed. */
static int fit(uint64_t *hash) {
    const network_run run = {.network = &network_pictures,
                             .optimizer = {.rule = "adam", .learning_rate = 0.01},
                             .devices = "lagoon:2",
                             .shards = SHARDS};
    char sha[65];
    int failed = 0;
    mst_model *model = network_compiled(&run);
    mst_dataset *data = run.network->data(36);
    for (mst_status status = MST_UNAVAILABLE; status;) {
        status = mst_fit(model, .data = data, .batch_size = 24, .epochs = 2, .resume = failed > 0);
        if (!status) continue;
        if (status != MST_UNAVAILABLE || !strstr(mst_error()->message, "program failed"))
            fail_msg("status %d: '%s'", (int)status, mst_error()->message);
        failed++;
    }
    EXPECT_OK(mst_model_sha256(model, sha));
    *hash = mst_byte_hash(sha, 64);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return failed;
}

/* ---- a process for each run that fails ---- */

static int run_child(const char *mode) {
    uint64_t hash;
    const int failed = strcmp(mode, "together") == 0 ? train_together(&hash)
                       : strcmp(mode, "fit") == 0    ? fit(&hash)
                                                     : train_alone(&hash);
    printf("%d %llx\n", failed, (unsigned long long)hash);
    return 0;
}

/* Trains in a process in which run number N fails; 0: none. Returns how many steps failed. */
static int train(const char *mode, int n, unsigned long long *hash) {
    char text[1024], number[16];
    int out[2], status, failed = -1;
    size_t length = 0;
    assert_int_equal(pipe(out), 0);
    snprintf(number, sizeof number, "%d", n);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        if (n) setenv("MUSTER_LAGOON_FAIL", number, 1);
        execl("/proc/self/exe", "failures", mode, NULL);
        _exit(127);
    }
    close(out[1]);
    for (ssize_t more; (more = read(out[0], text + length, sizeof text - 1 - length)) > 0;) length += (size_t)more;
    text[length] = '\0';
    close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) || sscanf(text, "%d %llx", &failed, hash) != 2)
        fail_msg("%s, run %d: status 0x%x, '%s'", mode, n, (unsigned)status, text);
    return failed;
}

/* Trainings in which run number 1, 1 + EVERY and so on fail. Each ends like the training of mode LIKE without a
 * failure. */
static void expect_nothing_lost(const char *mode, const char *like, int every) {
    unsigned long long wanted, hash;
    int last = 0, failed = 1;
    assert_int_equal(train(like, 0, &wanted), 0);
    for (int n = 1; failed; n += every) {
        failed = train(mode, n, &hash);
        if (failed > 1) fail_msg("%s, run %d: %d steps failed", mode, n, failed);
        if (hash != wanted) fail_msg("%s, run %d: the training ends with other bits", mode, n);
        last = n;
    }
    assert_true(last > STEPS * SHARDS); /* the programs of shards alone are as many */
}

static void program_that_fails_changes_nothing(void **state) {
    (void)state;
    expect_nothing_lost("alone", "alone", 1);
}

static void program_that_fails_on_one_of_two_tasks_changes_nothing_on_both(void **state) {
    (void)state;
    expect_nothing_lost("together", "alone", 1);
}

static void fit_that_fails_and_is_resumed_gives_the_same_weights(void **state) {
    (void)state;
    expect_nothing_lost("fit", "fit", 5);
}

int main(int argc, char **argv) {
    if (argc == 2) return run_child(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_that_fails_changes_nothing),
        cmocka_unit_test(program_that_fails_on_one_of_two_tasks_changes_nothing_on_both),
        cmocka_unit_test(fit_that_fails_and_is_resumed_gives_the_same_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
