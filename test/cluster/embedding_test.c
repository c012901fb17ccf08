/* Training over tasks with sparse gradients. Only rows that have a gradient are sent, and each task ends with the
 * weights of one process, bit for bit, with and without parameter servers. The tasks are threads, each with a model,
 * a store and devices of its own. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/session.h"
#include "store/store.h"
#include "support/tasks.h"
#include "support/test.h"
#include "support/training.h"
#include "support/workers.h"

enum { ROWS = 90, BATCH = 20 /* the last batch has 10 rows */, LENGTH = 6, WORDS = 40, CLASSES = 5, STEPS = 10 };

/* What all tasks train, and the weights and losses that each ends with. */
typedef struct job {
    mst_optimizer optimizer;
    int64_t table; /* its number of rows; WORDS of them are used */
    float l2;
    int shards;
    const char *devices;
    mst_status status[WORKERS_MOST];
    char error[WORKERS_MOST][300];
    char hex[WORKERS_MOST][65];
    mst_result fitted[WORKERS_MOST];
} job;

/* A few words are in most shards, the others only in some. */
static mst_dataset *open_texts(void) {
    mst_tensor *tensor[2] = {engine_random(MST_F32, MST_SHAPE(ROWS, LENGTH), 0, 1, 4),
                             engine_tensor(MST_I32, MST_SHAPE(ROWS), NULL)};
    mst_dataset *data;
    for (int64_t i = 0; i < ROWS * LENGTH; i++) {
        const double x = mst_tensor_get(tensor[0], i);
        mst_tensor_set(tensor[0], i, (double)(int64_t)(x * x * x * WORDS));
    }
    for (int64_t i = 0; i < ROWS; i++)
        mst_tensor_set(tensor[1], i, (double)((int64_t)mst_tensor_get(tensor[0], i * LENGTH) % CLASSES));
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &data));
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return data;
}

/* Two tables; one is looked up twice. */
static mst_model *build_model(const job *j) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    const mst_output words = mst_input(model, MST_SHAPE(LENGTH));
    const mst_output a = mst_embedding(words, j->table, 9), b = mst_embedding(words, WORDS, 4);
    const mst_output both = mst_concatenate(MST_OUTPUTS(a, mst_share(a, words), b), .axis = 2);
    mst_dense(mst_dense(mst_flatten(both), 12, .activation = MST_RELU, .l2 = j->l2), CLASSES);
    return model;
}

static mst_model *make_model(const job *j, mst_shards window, mst_task_group *group) {
    mst_model *model = build_model(j);
    EXPECT_OK(mst_compile(model, .optimizer = j->optimizer,
                          .strategy = {.kind = MST_STRATEGY_MIRRORED,
                                       .num_shards = j->shards,
                                       .first_shard = window.first,
                                       .num_shards_here = window.count},
                          .session = {.devices = j->devices}, .seed = 5));
    mst_session_join(mst_model_session(model), group);
    return model;
}

/* A thread of the test cannot end it: the status is looked at afterwards. */
static void train(void *context, int number, mst_shards window, mst_task_group *group) {
    job *j = context;
    mst_dataset *data = open_texts();
    mst_model *model = make_model(j, window, group);
    mst_status status =
        mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = BATCH, .epochs = 2}, &j->fitted[number]);
    if (!status) status = mst_model_sha256(model, j->hex[number]);
    j->status[number] = status;
    if (status) snprintf(j->error[number], sizeof j->error[number], "%s", mst_error()->message);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

typedef struct rule {
    const char *name;
    mst_optimizer optimizer;
    float l2;
} rule;

static const rule rules[] = {
    {"sgd", {.rule = "sgd", .learning_rate = 0.3}, 0},
    {"momentum", {.rule = "sgd", .learning_rate = 0.2, .momentum = 0.9, .ema_decay = 0.9}, 1e-2f},
    {"momentum, only its rows",
     {.rule = "sgd", .learning_rate = 0.2, .momentum = 0.9, .sparse = MST_SPARSE_TENSORFLOW},
     0},
    {"adam", {.rule = "adam", .learning_rate = 0.05}, 1e-2f},
    {"adam, only its rows", {.rule = "adam", .learning_rate = 0.05, .sparse = MST_SPARSE_TENSORFLOW}, 0},
    {"adagrad, by value", {.rule = "adagrad", .learning_rate = 0.2, .clip_value = 0.01}, 0},
    {"sgd, clipped by a norm", {.rule = "sgd", .learning_rate = 0.3, .clip_norm = 0.02}, 0},
    {"adam, clipped by the global norm", {.rule = "adam", .learning_rate = 0.05, .clip_global_norm = 0.02}, 1e-2f},
    {"adam, accumulated",
     {.rule = "adam", .learning_rate = 0.05, .clip_value = 0.01, .gradient_accumulation_steps = 3},
     0},
    {"adagrad, accumulated", {.rule = "adagrad", .learning_rate = 0.05, .gradient_accumulation_steps = 2}, 1e-2f},
};
enum { ACCUMULATED = 8 };

static job job_of(const rule *r, const char *devices, int n, const int *count) {
    job j = {.optimizer = mst_optimizer_named(r->optimizer.rule, r->optimizer),
             .table = 3000,
             .l2 = r->l2,
             .devices = devices};
    for (int i = 0; i < n; i++) j.shards += count[i];
    return j;
}

static void expect_weights_of_one_process(const rule *r, const char *devices, int n, const int *count) {
    if (engine_has_other_bits(devices)) return;
    job one = job_of(r, "cpu:1/1", n, count), many = job_of(r, devices, n, count);
    train(&one, 0, (mst_shards){0, one.shards}, NULL);
    if (one.status[0]) fail_msg("%s: %s", r->name, one.error[0]);
    workers_run(n, count, train, &many);
    for (int i = 0; i < n; i++) {
        if (many.status[i]) fail_msg("%s: task %d: %s", r->name, i, many.error[i]);
        if (strcmp(many.hex[i], one.hex[0]) != 0)
            fail_msg("%s: task %d of %d on %s gives %s, one process %s", r->name, i, n, devices, many.hex[i],
                     one.hex[0]);
        assert_true(many.fitted[i].loss == one.fitted[0].loss);
    }
}

static void any_rule_gives_the_weights_of_one_process(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        expect_weights_of_one_process(&rules[r], "cpu:1/1", 2, (const int[]){2, 2});
        expect_weights_of_one_process(&rules[r], "cpu:1/1", 3, (const int[]){1, 4, 2});
    }
}

static void any_devices_give_the_weights_of_one_process(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:2/1", "island:2/1", "cpu:1/1,island:1/1"};
    for (size_t r = 3; r < 8; r += 2)
        for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
            expect_weights_of_one_process(&rules[r], devices[d], 2, (const int[]){4, 4});
}

/* Of 11 shards one has no row of the last batch. */
static void many_tasks_give_the_weights_of_one_process(void **state) {
    (void)state;
    expect_weights_of_one_process(&rules[3], "cpu:1/1", 1, (const int[]){3});
    expect_weights_of_one_process(&rules[3], "cpu:1/1", 4, (const int[]){1, 5, 1, 4});
    expect_weights_of_one_process(&rules[7], "cpu:1/1", 9, (const int[]){1, 1, 2, 1, 1, 1, 1, 1, 1});
}

static long long bytes_sent(int64_t table) {
    const int count[] = {2, 2};
    job j = job_of(&rules[0], "cpu:1/1", 2, count);
    j.table = table;
    workers_run(2, count, train, &j);
    for (int i = 0; i < 2; i++)
        if (j.status[i]) fail_msg("task %d: %s", i, j.error[i]);
    return workers_sent_bytes();
}

static void what_is_sent_does_not_grow_with_the_table(void **state) {
    (void)state;
    const long long bytes = bytes_sent(WORDS);
    assert_true(bytes < 2 * STEPS * 20000);
    assert_int_equal(bytes_sent(300), bytes);
    assert_int_equal(bytes_sent(100000), bytes);
}

/* ---- parameter servers ---- */

enum { SECONDS = 30, LONG = 8 /* epochs after which the loss is small for any order of the workers' steps */ };
/* Microseconds after which servers listen: a worker that is refused tries again after a second. */
enum { HEAD_START = 30000 };

/* A job with parameter servers. */
typedef struct served_job {
    job *job;
    char ps_hosts[200], worker_hosts[200];
    bool synchronous;
    int64_t part_bytes;
    int replicas_to_aggregate;
    int epochs;
    int64_t steps[WORKERS_MOST]; /* that all workers had made when all had done their work */
} served_job;

typedef struct served_task {
    served_job *of;
    bool is_server;
    int number;
    pthread_t thread;
    mst_status status; /* of a server */
    char error[300];
} served_task;

static mst_status train_with_servers(const served_task *t, const mst_cluster *cluster, mst_model *model) {
    served_job *s = t->of;
    job *j = s->job;
    mst_dataset *data = open_texts();
    mst_task *task = NULL;
    mst_tensor *step = NULL;
    mst_status status = mst_task_open(&task, .cluster = cluster, .recovery_timeout = SECONDS);
    if (!status)
        status = mst_compile(model, .optimizer = j->optimizer,
                             .strategy = {.kind = MST_STRATEGY_PARAMETER_SERVER,
                                          .synchronous = s->synchronous,
                                          .replicas_to_aggregate = s->replicas_to_aggregate,
                                          .part_bytes = s->part_bytes,
                                          .num_shards = j->shards},
                             .task = task, .session = {.devices = j->devices}, .seed = 5);
    if (!status)
        status = mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = BATCH, .epochs = s->epochs},
                              &j->fitted[t->number]);
    if (!status) status = mst_task_leave(task);
    if (!status) status = mst_model_sha256(model, j->hex[t->number]);
    if (!status) status = mst_store_get(mst_model_store(model), NULL, MST_STATE_GLOBAL_STEP, &step);
    if (!status) s->steps[t->number] = (int64_t)mst_tensor_get(step, 0);
    mst_tensor_release(step);
    mst_task_close(task);
    mst_dataset_release(data);
    return status;
}

static void *run_served_task(void *context) {
    served_task *t = context;
    const served_job *s = t->of;
    mst_cluster *cluster;
    EXPECT_OK(
        mst_cluster_from_hosts(s->ps_hosts, s->worker_hosts, t->is_server ? "ps" : "worker", t->number, &cluster));
    if (t->is_server) {
        t->status = mst_server_run(.cluster = cluster, .recovery_timeout = SECONDS);
    } else {
        mst_model *model = build_model(s->job);
        t->status = train_with_servers(t, cluster, model);
        mst_model_destroy(model);
    }
    if (t->status) snprintf(t->error, sizeof t->error, "%s", mst_error()->message);
    mst_cluster_release(cluster);
    return NULL;
}

static void list_hosts(task_address *address, int n, char *out, size_t size) {
    size_t used = 0;
    for (int i = 0; i < n; i++) used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "," : "", address[i]);
}

/* Trains S with so many workers and servers, which all end without an error. */
static void train_served(served_job *s, int workers, int servers) {
    served_task task[WORKERS_MOST];
    task_address address[WORKERS_MOST];
    tasks_find_addresses(address, workers + servers);
    list_hosts(address, workers, s->worker_hosts, sizeof s->worker_hosts);
    list_hosts(address + workers, servers, s->ps_hosts, sizeof s->ps_hosts);
    for (int i = 0; i < workers + servers; i++) {
        task[i] = (served_task){.of = s, .is_server = i < servers, .number = i < servers ? i : i - servers};
        assert_int_equal(pthread_create(&task[i].thread, NULL, run_served_task, &task[i]), 0);
        if (i == servers - 1) usleep(HEAD_START);
    }
    for (int i = 0; i < workers + servers; i++) {
        pthread_join(task[i].thread, NULL);
        if (task[i].status)
            fail_msg("%s %d: %s", task[i].is_server ? "server" : "worker", task[i].number, task[i].error);
    }
}

static void expect_weights_in_parts(const rule *r, const char *devices, int shards, int workers, int servers,
                                    int64_t part_bytes) {
    job one = job_of(r, "cpu:1/1", 1, &shards), many = job_of(r, devices, 1, &shards);
    served_job s = {.job = &many, .synchronous = true, .part_bytes = part_bytes, .epochs = 2};
    if (engine_has_other_bits(devices)) return;
    train(&one, 0, (mst_shards){0, shards}, NULL);
    if (one.status[0]) fail_msg("%s: %s", r->name, one.error[0]);
    train_served(&s, workers, servers);
    for (int i = 0; i < workers; i++)
        if (strcmp(many.hex[i], one.hex[0]) != 0)
            fail_msg("%s: worker %d of %d with %d servers gives %s, one process %s", r->name, i, workers, servers,
                     many.hex[i], one.hex[0]);
}

static void expect_served_weights(const rule *r, const char *devices, int shards, int workers, int servers) {
    expect_weights_in_parts(r, devices, shards, workers, servers, 0);
}

static void any_rule_gives_the_weights_of_one_process_with_servers(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        expect_served_weights(&rules[r], "cpu:1/1", 4, 2, 1);
        if (r % 2 && rules[r].optimizer.clip_global_norm == 0) expect_served_weights(&rules[r], "cpu:1/1", 7, 3, 2);
    }
}

static void any_devices_give_the_weights_of_one_process_with_servers(void **state) {
    (void)state;
    expect_served_weights(&rules[3], "cpu:2/1", 4, 2, 2);
    expect_served_weights(&rules[5], "cpu:1/1,island:1/1", 4, 1, 2);
}

/* Divides the rows of both tables and of the dense weights among the servers; with 4 bytes, those of biases too. */
static void variables_in_parts_have_the_weights_of_one_process(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        if (rules[r].optimizer.clip_norm > 0 || rules[r].optimizer.clip_global_norm > 0) continue;
        expect_weights_in_parts(&rules[r], "cpu:1/1", 4, 2, 3, 200);
    }
    expect_weights_in_parts(&rules[3], "cpu:1/1", 4, 1, 2, 4);
}

/* Each worker makes all steps of the data, and all end with the same weights, which are better than the first ones: of
 * five classes, these have a loss of 1.6. Adam may swing with old gradients, but its numbers stay numbers. */
static void asynchronous_workers_make_each_step_once(void **state) {
    (void)state;
    enum { NUM_WORKERS = 3 };
    const int shards = NUM_WORKERS;
    static const int taken[] = {3, 4, 5, ACCUMULATED};
    for (size_t t = 0; t < sizeof taken / sizeof *taken; t++) {
        const int r = taken[t];
        job j = job_of(&rules[r], "cpu:1/1", 1, &shards);
        served_job s = {.job = &j, .part_bytes = r == 4 ? 200 : 0, .epochs = LONG};
        train_served(&s, NUM_WORKERS, 2);
        for (int i = 0; i < NUM_WORKERS; i++) {
            assert_int_equal(s.steps[i], NUM_WORKERS * LONG * STEPS / 2);
            assert_string_equal(j.hex[i], j.hex[0]);
            const double most = strcmp(rules[r].optimizer.rule, "adam") == 0 ? 100 : 1.5;
            if (!(j.fitted[i].loss < most)) fail_msg("%s: worker %d ends with %g", rules[r].name, i, j.fitted[i].loss);
        }
    }
}

/* Where a step is made of the gradients of some of the workers, rows and their squares are scaled to those of all. */
static void backup_workers_end_with_the_others(void **state) {
    (void)state;
    const int shards = 3;
    for (size_t r = 3; r < 6; r++) {
        job j = job_of(&rules[r], "cpu:1/1", 1, &shards);
        served_job s = {.job = &j, .synchronous = true, .replicas_to_aggregate = 2, .epochs = LONG};
        train_served(&s, 3, 1);
        for (int i = 0; i < 3; i++) assert_string_equal(j.hex[i], j.hex[0]);
        if (!(j.fitted[0].loss < 1.5)) fail_msg("%s: ends with %g", rules[r].name, j.fitted[0].loss);
    }
}

/* ---- workers that are processes ---- */

enum { WORKERS = 2, EPOCHS = 60 };

static mst_status tell_step(void *context, mst_train_state *state) {
    (void)context, (void)state;
    return putchar('.') == EOF || fflush(stdout) ? MST_INTERNAL : MST_OK;
}

/* Trains as a worker (TASK NULL: alone), with parameter servers where SERVED; a point on the standard output for each
 * step, then the weights' hash. */
static mst_status train_in_process(mst_task *task, bool served, char hex[65]) {
    job j = job_of(&rules[3], "cpu:1/1", 1, (const int[]){4});
    mst_dataset *data = open_texts();
    mst_model *model = build_model(&j);
    mst_callback callback = {.step_end = tell_step};
    mst_status status = mst_compile(model, .optimizer = j.optimizer,
                                    .strategy = {.kind = served ? MST_STRATEGY_PARAMETER_SERVER
                                                         : task ? MST_STRATEGY_MULTI_WORKER
                                                                : MST_STRATEGY_MIRRORED,
                                                 .synchronous = served,
                                                 .num_shards = j.shards},
                                    .task = task, .session = {.devices = j.devices}, .seed = 5);
    if (!status)
        status = mst_fit(model, .data = data, .batch_size = BATCH, .epochs = EPOCHS, .callbacks = &callback,
                         .num_callbacks = task != NULL);
    if (!status) status = mst_model_sha256(model, hex);
    if (!status && task) status = mst_task_leave(task);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status;
}

/* What a task does: its job, number, and the addresses of all workers, then of the SERVERS servers. */
static int work(char *const *argument, int servers) {
    const char *const *address = (const char *const *)argument + 2;
    const mst_cluster_job jobs[] = {{.name = "worker", .num_tasks = WORKERS, .address = address},
                                    {.name = "ps", .num_tasks = servers, .address = address + WORKERS}};
    const mst_cluster_options options = {
        .jobs = jobs, .num_jobs = servers ? 2 : 1, .job_name = argument[0], .task_index = atoi(argument[1])};
    mst_cluster *cluster = NULL;
    mst_task *task = NULL;
    char hex[65] = "";
    mst_status status = mst_cluster_create(&options, &cluster);
    if (!status && strcmp(argument[0], "ps") == 0) {
        status = mst_server_run(.cluster = cluster, .timeout = 1, .recovery_timeout = 60);
    } else {
        if (!status) status = mst_task_open(&task, .cluster = cluster, .timeout = 1, .recovery_timeout = 60);
        if (!status) status = train_in_process(task, servers > 0, hex);
    }
    if (status) printf("error: %s", mst_error()->message);
    mst_task_close(task);
    mst_cluster_release(cluster);
    printf("%s\n", hex);
    return status != MST_OK;
}

typedef struct process {
    pid_t pid;
    int out;
} process;

static process start_process(const char *job, int number, const tasks *ports) {
    char text[8], *argument[8] = {"task", (char *)(uintptr_t)job, text};
    int ends[2];
    snprintf(text, sizeof text, "%d", number);
    for (int i = 0; i < ports->count; i++) argument[3 + i] = (char *)(uintptr_t)ports->address[i];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execv("/proc/self/exe", argument);
        _exit(127);
    }
    close(ends[1]);
    return (process){pid, ends[0]};
}

/* Waits until worker NUMBER has made AFTER steps more, and somewhat longer. */
static void await_steps(const process *p, int number, int after) {
    char byte;
    for (int step = 0; step < after; step++)
        if (read(p->out, &byte, 1) != 1 || byte != '.') fail_msg("worker %d ends before step %d", number, after);
    usleep((useconds_t)(mst_clock_now() % 3000));
}

static void kill_process(process *p) {
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    close(p->out);
}

/* Kills worker NUMBER at some time in a step, and starts it again. */
static void kill_worker(process *p, int number, const tasks *ports, int after) {
    await_steps(p, number, after);
    kill_process(p);
    *p = start_process("worker", number, ports);
}

static void expect_end(process *p, int number, const char *wanted) {
    char text[4096];
    size_t length = 0;
    int status;
    for (ssize_t more; (more = read(p->out, text + length, sizeof text - 1 - length)) > 0;) length += (size_t)more;
    text[length] = 0;
    waitpid(p->pid, &status, 0);
    close(p->out);
    if (!strstr(text, wanted)) fail_msg("worker %d: not %s but '%s'", number, wanted, text);
}

static void worker_that_is_killed_and_comes_back_changes_nothing(void **state) {
    (void)state;
    char wanted[65];
    process worker[WORKERS];
    tasks ports;
    const mst_transport_type *zmq;
    if (mst_transport_find("zmq", &zmq)) skip();
    EXPECT_OK(train_in_process(NULL, false, wanted));
    tasks_make(&ports, zmq, WORKERS, NULL);
    for (int i = 0; i < WORKERS; i++) worker[i] = start_process("worker", i, &ports);
    for (int i = 0; i < 2 * WORKERS; i++) kill_worker(&worker[i % 2], i % 2, &ports, 10 + 5 * i);
    for (int i = 0; i < WORKERS; i++) expect_end(&worker[i], i, wanted);
    tasks_close(&ports);
}

/* A worker that comes back gets whole tables, and so do all from a server that does. */
static void task_with_servers_that_is_killed_and_comes_back_changes_nothing(void **state) {
    (void)state;
    enum { SERVERS = 2, SERVER = WORKERS };
    char wanted[65];
    process task[WORKERS + SERVERS];
    tasks ports;
    const mst_transport_type *zmq;
    if (mst_transport_find("zmq", &zmq)) skip();
    EXPECT_OK(train_in_process(NULL, false, wanted));
    tasks_make(&ports, zmq, WORKERS + SERVERS, NULL);
    for (int i = 0; i < SERVERS; i++) task[SERVER + i] = start_process("ps", i, &ports);
    usleep(HEAD_START);
    for (int i = 0; i < WORKERS; i++) task[i] = start_process("worker", i, &ports);
    for (int i = 0; i < WORKERS; i++) kill_worker(&task[i], i, &ports, 10);
    await_steps(&task[0], 0, 20);
    kill_process(&task[SERVER + 1]);
    task[SERVER + 1] = start_process("ps", 1, &ports);
    for (int i = 0; i < WORKERS; i++) expect_end(&task[i], i, wanted);
    for (int i = 0; i < SERVERS; i++) expect_end(&task[SERVER + i], SERVER + i, "");
    tasks_close(&ports);
}

int main(int argc, char **argv) {
    if (argc >= 3 + WORKERS) return work(argv + 1, argc - 3 - WORKERS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_rule_gives_the_weights_of_one_process),
        cmocka_unit_test(any_devices_give_the_weights_of_one_process),
        cmocka_unit_test(many_tasks_give_the_weights_of_one_process),
        cmocka_unit_test(what_is_sent_does_not_grow_with_the_table),
        cmocka_unit_test(any_rule_gives_the_weights_of_one_process_with_servers),
        cmocka_unit_test(any_devices_give_the_weights_of_one_process_with_servers),
        cmocka_unit_test(variables_in_parts_have_the_weights_of_one_process),
        cmocka_unit_test(asynchronous_workers_make_each_step_once),
        cmocka_unit_test(backup_workers_end_with_the_others),
        cmocka_unit_test(worker_that_is_killed_and_comes_back_changes_nothing),
        cmocka_unit_test(task_with_servers_that_is_killed_and_comes_back_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
