/* Seeded trainings of several workers, on a simulated network (transport/sim.h) and in threads that take turns
 * (support/turns.h). Whatever is cut, killed and started again, every worker ends with the weights of one process.
 * Some of the jobs have parameter servers. If these are asynchronous, or do not wait for all workers, all workers
 * still end with the same weights. If no gradients are dropped, they end after as many steps as an undisturbed job.
 *
 *     test_cluster_simulated_training             some seeds
 *     test_cluster_simulated_training 0 100000    that many, from the first on
 *     MUSTER_SIM_SEED=4711 test_cluster_simulated_training    this one, and prints what happens */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/rng.h"
#include "muster/muster.h"
#include "muster/server.h"
#include "support/tasks.h"
#include "support/test.h"
#include "support/training.h"
#include "support/turns.h"
#include "transport/sim.h"

enum { SEEDS = 40, MOST_FAULTS = 5, WORKERS = 4, SERVERS = 3, TASKS = WORKERS + SERVERS };
enum { SHARDS = 4, ROWS = 24, BATCH = 8, EPOCHS = 2, STEPS = EPOCHS * ROWS / BATCH, FEATURES = 5, CLASSES = 3 };
enum { MESSAGES = 30 /* a little more than the messages that a worker sends each other one in an undisturbed job */ };

static const double PATIENCE = 100; /* seconds for which a process waits for workers that have ended */

/* A job that is disturbed; its seed says how. */
typedef struct job {
    uint64_t seed, draws;
    int workers;
    int servers; /* numbered after the workers; 0: the workers are alone */
    bool asynchronous;
    int aggregate;   /* 0: the servers wait for all workers; else for so many of them, and drop what comes later */
    int elastic_min; /* of mst_task_options */
    bool validates;  /* after each epoch */
    bool is_sharded; /* the optimizer's state, over the workers */
    double most_delay, most_pause;
    task_address address[TASKS];
    mst_sim_fault fault[MST_SIM_FAULTS_MOST];
    int num_faults;
    FILE *log;
    int64_t done; /* when the first worker had left; MST_NEVER: none has */
    mst_status status[TASKS];
    bool in_vain[TASKS];                     /* it was not killed, and waited for others until it was stopped */
    int64_t step[TASKS];                     /* after the last */
    char error[TASKS][1024], hex[TASKS][65]; /* servers have no weights of the model */
} job;

typedef struct task_thread {
    job *job;
    int number;
    pthread_t thread;
} task_thread;

static int count_tasks(const job *j) {
    return j->workers + j->servers;
}

static uint64_t draw(job *j, uint64_t n) {
    return mst_rng_below(j->seed, 1, j->draws++, n);
}

static double draw_seconds(job *j, double most) {
    const double part = (double)(1 + draw(j, 1000)) / 1000;
    return most * part * part;
}

static mst_sim_fault draw_fault(job *j) {
    const uint64_t others = (uint64_t)count_tasks(j) - 1;
    mst_sim_fault fault = {.task = (int32_t)draw(j, others + 1), .at = 1 + draw(j, MESSAGES * others)};
    const int32_t other = (int32_t)draw(j, others);
    fault.other = draw(j, 2) ? -1 : other + (other >= fault.task);
    fault.seconds = draw_seconds(j, 20);
    fault.silent = draw(j, 3) == 0;
    return fault;
}

static void make_job(job *j, uint64_t seed, FILE *log) {
    *j = (job){.seed = seed, .log = log, .done = MST_NEVER};
    j->workers = (int)(2 + draw(j, WORKERS - 1));
    if (draw(j, 2) == 0) j->servers = (int)(1 + draw(j, SERVERS));
    if (!j->servers && draw(j, 3) == 0) j->elastic_min = (int)(1 + draw(j, (uint64_t)j->workers));
    j->most_delay = draw_seconds(j, 0.5);
    j->most_pause = draw_seconds(j, 20);
    j->num_faults = (int)draw(j, MOST_FAULTS + 1);
    for (int i = 0; i < j->num_faults; i++) j->fault[i] = draw_fault(j);
    if (j->servers) {
        const uint64_t kind = draw(j, 4);
        j->asynchronous = kind == 0;
        if (kind == 1) j->aggregate = (int)(1 + draw(j, (uint64_t)j->workers - 1));
    }
    j->validates = draw(j, 2);
    j->is_sharded = !j->servers && !j->elastic_min && draw(j, 3) == 0;
    for (int i = 0; i < count_tasks(j); i++) snprintf(j->address[i], sizeof j->address[i], "task%d:1", i);
}

/* ---- a task ---- */

static bool is_over(void *context) {
    const task_thread *t = context;
    const int64_t done = t->job->done;
    return mst_sim_is_killed(t->number) || (done != MST_NEVER && mst_clock_now() - done > (int64_t)(PATIENCE * 1e9));
}

/* J: NULL where one process trains. */
static mst_strategy strategy_of(const job *j) {
    mst_strategy strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = SHARDS};
    if (!j) return strategy;
    strategy.kind = j->servers ? MST_STRATEGY_PARAMETER_SERVER : MST_STRATEGY_MULTI_WORKER;
    strategy.synchronous = j->servers && !j->asynchronous;
    strategy.replicas_to_aggregate = j->aggregate;
    strategy.sharded_state = j->is_sharded;
    return strategy;
}

static mst_status fit(mst_task *task, const job *j, int64_t *step, char hex[65]) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 3);
    mst_model *model = training_model(6, CLASSES, 0);
    mst_result result;
    mst_status status = mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .strategy = strategy_of(j),
                                    .task = task, .session = {.devices = "cpu:1/1"}, .seed = 5);
    const mst_fit_options options = {
        .data = data, .validation = j && j->validates ? data : NULL, .batch_size = BATCH, .epochs = EPOCHS};
    if (!status) status = mst_fit_with(model, &options, &result);
    const bool stopped = !status && result.step < STEPS; /* no error, as if a callback stops a fit */
    if (!status) *step = result.step;
    if (!status && !stopped) status = mst_model_sha256(model, hex);
    if (!status && task) status = mst_task_leave(task);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status;
}

/* "task0:1,task1:1" */
static void join_addresses(const job *j, int first, int count, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (int i = first; i < first + count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", j->address[i]);
}

static mst_status make_cluster(const job *j, int number, mst_cluster **out) {
    char workers[WORKERS * sizeof(task_address)], servers[SERVERS * sizeof(task_address)];
    const bool is_worker = number < j->workers;
    join_addresses(j, 0, j->workers, workers, sizeof workers);
    join_addresses(j, j->workers, j->servers, servers, sizeof servers);
    return mst_cluster_from_hosts(j->servers ? servers : NULL, workers, is_worker ? "worker" : "ps",
                                  is_worker ? number : number - j->workers, out);
}

static mst_status train(task_thread *t, const mst_cluster *cluster) {
    job *j = t->job;
    mst_task *task;
    MST_TRY(mst_task_open(&task, .cluster = cluster, .transport = "sim", .insecure = true,
                          .elastic_min = j->elastic_min, .log = j->log, .stop = is_over, .context = t));
    const mst_status status = fit(task, j, &j->step[t->number], j->hex[t->number]);
    const bool killed = mst_sim_is_killed(t->number);
    j->in_vain[t->number] = status == MST_CANCELLED && !killed;
    if (!status && j->done == MST_NEVER) j->done = mst_clock_now();
    mst_task_close(task);
    return killed ? MST_CANCELLED : status;
}

static mst_status serve(task_thread *t, const mst_cluster *cluster) {
    return mst_server_run(.cluster = cluster, .transport = "sim", .insecure = true, .devices = "cpu:1/1",
                          .log = t->job->log, .stop = is_over, .context = t);
}

/* A process. */
static mst_status live(task_thread *t) {
    mst_cluster *cluster;
    MST_TRY(make_cluster(t->job, t->number, &cluster));
    const mst_status status = (t->number < t->job->workers ? train : serve)(t, cluster);
    mst_cluster_release(cluster);
    return status;
}

static void pause_for(double seconds) {
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* The body of a process; if it is killed, it is started again. */
static void *work(void *context) {
    task_thread *t = context;
    job *j = t->job;
    mst_status status;
    do {
        pause_for(draw_seconds(j, j->most_pause));
        status = live(t);
    } while (status == MST_CANCELLED && j->done == MST_NEVER);
    j->status[t->number] = status;
    if (status) snprintf(j->error[t->number], sizeof j->error[t->number], "%s", mst_error()->message);
    return NULL;
}

/* ---- a seed ---- */

static char one_process[65];

/* Whether worker I has the weights of all others that have some. */
static bool is_alike(const job *j, int i) {
    bool alike = true;
    for (int w = 0; w < j->workers; w++) alike &= !j->hex[w][0] || strcmp(j->hex[w], j->hex[i]) == 0;
    return alike && j->hex[i][0];
}

/* Whether process I ended as it should. A task that was away when the others finished gets an error that says so, or
 * waits in vain. With parameter servers it does not wait in vain if it has all weights. It may lack the weights only if
 * not all workers must take part. */
static bool ended_well(const job *j, int i) {
    const bool late = j->done != MST_NEVER && (j->status[i] == MST_CANCELLED || j->status[i] == MST_UNAVAILABLE);
    if (j->status[i] && !late) return false;
    if (j->servers && j->hex[i][0] && j->in_vain[i]) return false;
    if (i >= j->workers) return true;
    if (late && !j->hex[i][0]) return j->elastic_min || j->asynchronous || j->aggregate;
    if (j->asynchronous && j->step[i] != j->workers * STEPS) return false;
    if (j->asynchronous || j->aggregate) return is_alike(j, i);
    return strcmp(j->hex[i], one_process) == 0;
}

/* How its servers work, for messages. */
static const char *kind_of(const job *j) {
    return j->asynchronous ? "asynchronous " : j->aggregate ? "impatient " : "";
}

static int count_wrong(const job *j) {
    int wrong = 0;
    for (int i = 0; i < count_tasks(j); i++) {
        if (ended_well(j, i)) continue;
        wrong++;
        fprintf(stderr,
                "MUSTER_SIM_SEED=%" PRIu64 " replays this: task %d of %d workers and %d %sservers ends at step %" PRId64
                " with weights '%s', error '%s'\n",
                j->seed, i, j->workers, j->servers, kind_of(j), j->step[i], j->hex[i], j->error[i]);
    }
    return wrong;
}

/* The order of messages and threads that the seed has led to. */
typedef struct history {
    uint64_t messages, num_messages, turns, num_turns;
} history;

static int run_seed(uint64_t seed, FILE *log, history *out) {
    job j;
    task_thread tasks[TASKS];
    turns_begin(seed);
    make_job(&j, seed, log);
    EXPECT_OK(mst_sim_begin(
        &(mst_sim_options){.seed = seed, .most_delay = j.most_delay, .fault = j.fault, .num_faults = j.num_faults}));
    for (int i = 0; i < count_tasks(&j); i++) {
        tasks[i] = (task_thread){.job = &j, .number = i};
        assert_int_equal(pthread_create(&tasks[i].thread, NULL, work, &tasks[i]), 0);
    }
    for (int i = 0; i < count_tasks(&j); i++) pthread_join(tasks[i].thread, NULL);
    out->messages = mst_sim_history(&out->num_messages);
    mst_sim_end();
    out->turns = turns_history(&out->num_turns);
    if (log)
        fprintf(log, "seed %" PRIu64 ": %" PRIu64 " messages, %" PRIu64 " turns, %.3f s\n", seed, out->num_messages,
                out->num_turns, mst_clock_seconds() - 1e9);
    turns_end();
    return count_wrong(&j);
}

static void one_process_trains(void **state) {
    (void)state;
    int64_t step;
    EXPECT_OK(fit(NULL, NULL, &step, one_process));
}

static uint64_t first_seed, num_seeds = SEEDS;

static void every_seed_ends_with_the_weights_of_one_process(void **state) {
    (void)state;
    history h;
    int wrong = 0;
    for (uint64_t seed = first_seed; seed < first_seed + num_seeds; seed++) wrong += run_seed(seed, NULL, &h);
    assert_int_equal(wrong, 0);
}

static void seed_does_the_same_again(void **state) {
    (void)state;
    history h[2];
    for (uint64_t seed = first_seed; seed < first_seed + 2; seed++) {
        for (int i = 0; i < 2; i++) assert_int_equal(run_seed(seed, NULL, &h[i]), 0);
        assert_memory_equal(&h[0], &h[1], sizeof h[0]);
    }
}

/* The chief is lost as it leaves, which one of two servers does not hear; the other ends. (While jobs are drawn as they
 * are.) */
static void server_hears_that_all_have_left(void **state) {
    (void)state;
    history h;
    assert_int_equal(run_seed(2302, NULL, &h), 0);
}

/* A worker is cut off as a server says that all have done their work. (Likewise.) */
static void worker_that_was_cut_off_at_the_end_waits_for_no_server(void **state) {
    (void)state;
    static const uint64_t seeds[] = {408, 637, 914, 941};
    history h;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) assert_int_equal(run_seed(seeds[i], NULL, &h), 0);
}

static void seed_is_replayed(void **state) {
    history h;
    assert_int_equal(run_seed(strtoull(*state, NULL, 10), stderr, &h), 0);
}

int main(int argc, char **argv) {
    char *seed = getenv("MUSTER_SIM_SEED");
    const struct CMUnitTest replay[] = {cmocka_unit_test(one_process_trains),
                                        cmocka_unit_test_prestate(seed_is_replayed, seed)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_trains),
        cmocka_unit_test(every_seed_ends_with_the_weights_of_one_process),
        cmocka_unit_test(seed_does_the_same_again),
        cmocka_unit_test(server_hears_that_all_have_left),
        cmocka_unit_test(worker_that_was_cut_off_at_the_end_waits_for_no_server),
    };
    if (seed) return cmocka_run_group_tests(replay, NULL, NULL);
    if (argc > 1) first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2) num_seeds = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
