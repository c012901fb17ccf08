/* The staleness of gradients in an asynchronous job: what the server counts, what the chief receives, and what
 * TensorBoard shows. The tasks are threads, which talk as processes do. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "muster/muster.h"
#include "parameter_server/ps_client.h"
#include "store/store.h"
#include "strategy/update_graph.h"
#include "support/events.h"
#include "support/folder.h"
#include "support/tasks.h"
#include "support/test.h"
#include "support/training.h"

enum { WORKERS = 2, SERVER = WORKERS, TASKS, COUNT = 4, SECONDS = 20 };

static const mst_fingerprint fingerprint = {.name = "program", .hash = 7};

typedef struct stale_job {
    task_address address[TASKS];
    pthread_t server;
    mst_status status; /* of the server */
    char *log;         /* likewise */
    size_t log_size;
    int32_t most; /* max_staleness; -1: any */
} stale_job;

static mst_cluster *cluster_of(const stale_job *j, const char *name, int index) {
    char workers[80];
    mst_cluster *cluster;
    snprintf(workers, sizeof workers, "%s,%s", j->address[0], j->address[1]);
    EXPECT_OK(mst_cluster_from_hosts(j->address[SERVER], workers, name, index, &cluster));
    return cluster;
}

static void *serve(void *context) {
    stale_job *j = context;
    FILE *log = open_memstream(&j->log, &j->log_size);
    mst_cluster *cluster = cluster_of(j, "ps", 0);
    j->status = mst_server_run(.cluster = cluster, .recovery_timeout = SECONDS, .log = log);
    mst_cluster_release(cluster);
    fclose(log);
    return NULL;
}

static void begin(stale_job *j) {
    tasks_find_addresses(j->address, TASKS);
    assert_int_equal(pthread_create(&j->server, NULL, serve, j), 0);
    usleep(30000); /* wait until it listens: a refused worker tries again after a second */
}

/* The server's log has the line SAYS. */
static void end(stale_job *j, const char *says) {
    pthread_join(j->server, NULL);
    EXPECT_OK(j->status);
    if (!strstr(j->log, says)) fail_msg("the server says '%s', not '%s'", j->log, says);
    free(j->log);
}

/* ---- workers without a model ---- */

static mst_tensor *make_number(mst_dtype dtype, mst_shape shape, double value) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, shape, &tensor));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, value);
    return tensor;
}

/* A variable, and the number of updates that were made before the job. */
static mst_store *make_store(int64_t step) {
    mst_store *store;
    mst_tensor *value = make_number(MST_F32, MST_SHAPE(COUNT), 1), *at = make_number(MST_I64, MST_SCALAR, (double)step);
    EXPECT_OK(mst_store_create(&store));
    EXPECT_OK(mst_store_set(store, NULL, "w", MST_STATE_WEIGHT, value));
    EXPECT_OK(mst_store_set(store, NULL, MST_STATE_GLOBAL_STEP, MST_STATE_STEP, at));
    mst_tensor_release(value);
    mst_tensor_release(at);
    return store;
}

static mst_graph *update_of_variable(void) {
    mst_graph *graph, *update;
    const mst_optimizer optimizer = mst_sgd(.learning_rate = 0.5);
    EXPECT_OK(mst_graph_create(&graph));
    const mst_value variable = mst_variable(graph, "w", mst_fill(graph, MST_F32, MST_SHAPE(COUNT), 0));
    EXPECT_OK(
        mst_update_graph_create(&optimizer, &(mst_update_graph_variables){.variable = &variable, .count = 1}, &update));
    mst_graph_destroy(graph);
    return update;
}

static mst_ps_client *join(const stale_job *j, int worker, int64_t step, int64_t *position) {
    const mst_ps_variable variable = {.name = "w", .spec = {.dtype = MST_F32, .shape = MST_SHAPE(COUNT)}};
    mst_cluster *cluster = cluster_of(j, "worker", worker);
    mst_graph *const graph = update_of_variable();
    mst_store *store = make_store(step);
    const mst_ps_program program = {.store = store,
                                    .variable = &variable,
                                    .num_variables = 1,
                                    .graph = &graph,
                                    .staleness = j->most,
                                    .num_shards = WORKERS,
                                    .num_leaves = 1,
                                    .fingerprint = &fingerprint,
                                    .num_fingerprints = 1};
    const mst_task_options options = {.cluster = cluster, .recovery_timeout = SECONDS};
    mst_ps_client *client;
    EXPECT_OK(mst_ps_client_open(&options, &(mst_mail_options){.cluster = cluster}, &client));
    EXPECT_OK(mst_ps_client_join(client, &program, position));
    mst_graph_destroy(graph);
    mst_store_release(store);
    mst_cluster_release(cluster);
    return client;
}

static void update(mst_ps_client *client, int64_t position) {
    mst_tensor *gradient = make_number(MST_F32, MST_SHAPE(COUNT), 0.25);
    int64_t step;
    EXPECT_OK(mst_ps_client_update(client, position, &gradient, &step));
    mst_tensor_release(gradient);
}

/* WANTED: of staleness 0, 1, 2 and 3; there is no other. */
static void expect_counts(mst_ps_client *client, const int64_t wanted[4]) {
    int64_t count[MST_STALENESS_COUNTS];
    EXPECT_OK(mst_ps_client_staleness(client, count));
    for (int i = 0; i < MST_STALENESS_COUNTS; i++)
        if (count[i] != (i < 4 ? wanted[i] : 0)) fail_msg("%d gradients are %d updates old", (int)count[i], i);
}

static void *leave(void *client) {
    EXPECT_OK(mst_ps_client_leave(client));
    mst_ps_client_close(client);
    return NULL;
}

/* Each waits for the other. */
static void leave_both(mst_ps_client *a, mst_ps_client *b) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, leave, b), 0);
    leave(a);
    pthread_join(thread, NULL);
}

/* ---- what the chief hears ---- */

/* This thread has both clients, so that it decides whose gradients come first. */
static void each_gradient_is_counted_once_by_its_staleness(void **state) {
    (void)state;
    stale_job j = {.most = -1};
    int64_t a, b;
    begin(&j);
    mst_ps_client *chief = join(&j, 0, 100, &a), *other = join(&j, 1, 0, &b);
    update(chief, a++);   /* 0: nobody was before it */
    update(other, b++);   /* 1 */
    update(chief, a++);   /* 1 */
    update(chief, a++);   /* 0 */
    update(chief, a - 1); /* sent again, applied once */
    expect_counts(chief, (const int64_t[]){2, 2, 0, 0});
    update(chief, a++); /* 0 */
    update(other, b++); /* 3: the chief has made 3 */
    expect_counts(chief, (const int64_t[]){1, 0, 0, 1});
    expect_counts(chief, (const int64_t[]){0, 0, 0, 0});
    mst_ps_client_close(chief); /* started again, it counts from there on */
    update(other, b++);
    chief = join(&j, 0, 0, &a);
    assert_int_equal(a, 4);
    update(other, b++);
    update(chief, a++);
    expect_counts(chief, (const int64_t[]){1, 1, 0, 0});
    leave_both(chief, other);
    end(&j, "109 updates; gradients were 0.67 steps old on average, and 3 at most");
}

/* ---- a bound ---- */

enum { UPDATES = 60, EVERY = 20 };

typedef struct bounded_worker {
    mst_ps_client *client;
    int64_t position;
    int64_t count[MST_STALENESS_COUNTS]; /* the chief's */
    pthread_t thread;
} bounded_worker;

static void add_counts(bounded_worker *w) {
    int64_t count[MST_STALENESS_COUNTS];
    EXPECT_OK(mst_ps_client_staleness(w->client, count));
    for (int i = 0; i < MST_STALENESS_COUNTS; i++) {
        assert_true(count[i] >= 0);
        w->count[i] += count[i];
    }
}

static void *make_updates(void *context) {
    bounded_worker *w = context;
    for (int i = 1; i <= UPDATES; i++) {
        update(w->client, w->position++);
        if (i % EVERY == 0) add_counts(w);
    }
    return NULL;
}

static void counts_are_of_all_gradients_and_none_is_staler_than_allowed(void **state) {
    (void)state;
    stale_job j = {.most = 1};
    bounded_worker worker[WORKERS] = {0};
    int64_t sum = 0;
    begin(&j);
    for (int i = 0; i < WORKERS; i++) worker[i].client = join(&j, i, 0, &worker[i].position);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&worker[i].thread, NULL, make_updates, &worker[i]), 0);
    for (int i = 0; i < WORKERS; i++) pthread_join(worker[i].thread, NULL);
    add_counts(&worker[0]); /* all updates are made */
    for (int i = 0; i < MST_STALENESS_COUNTS; i++) {
        if (i > j.most && worker[0].count[i]) fail_msg("%d gradients are %d old", (int)worker[0].count[i], i);
        sum += worker[0].count[i];
    }
    assert_int_equal(sum, WORKERS * UPDATES);
    leave_both(worker[0].client, worker[1].client);
    end(&j, "120 updates; gradients were");
}

/* ---- TensorBoard ---- */

enum { ROWS = 48, BATCH = 8, PER_EPOCH = ROWS / BATCH, EPOCHS = 3 };

typedef struct fitting {
    stale_job job;
    int max_staleness;  /* 0: any */
    const char *folder; /* of the log */
    atomic_bool other_is_done;
} fitting;

static bool is_last(const mst_train_state *state) {
    return state->epoch == EPOCHS - 1 && state->step_in_epoch == PER_EPOCH;
}

/* Without a bound the chief's last step ends when the other worker has made all of its own. */
static mst_status await_other(void *context, mst_train_state *state) {
    fitting *f = context;
    while (is_last(state) && !f->max_staleness && !atomic_load(&f->other_is_done)) usleep(1000);
    return MST_OK;
}

static mst_status tell_end(void *context, mst_train_state *state) {
    fitting *f = context;
    if (is_last(state)) atomic_store(&f->other_is_done, true);
    return MST_OK;
}

static void fit(fitting *f, int worker) {
    mst_cluster *cluster = cluster_of(&f->job, "worker", worker);
    mst_dataset *data = training_data(ROWS, 10, 3, 3);
    mst_model *model = training_model(8, 3, 0);
    mst_tensorboard log = {.folder = f->folder, .no_graph = true};
    const mst_callback callbacks[] = {{.context = f, .step_end = worker ? tell_end : await_other},
                                      mst_tensorboard_callback(&log)};
    mst_task *task;
    EXPECT_OK(mst_task_open(&task, .cluster = cluster, .recovery_timeout = SECONDS));
    EXPECT_OK(mst_compile(
        model, .strategy = {.kind = MST_STRATEGY_PARAMETER_SERVER, .num_shards = 2, .max_staleness = f->max_staleness},
        .task = task, .session = {.devices = "cpu:1/1"}));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = EPOCHS, .callbacks = callbacks,
                      .num_callbacks = worker ? 1 : 2));
    EXPECT_OK(mst_task_leave(task));
    mst_model_destroy(model);
    mst_task_close(task);
    mst_dataset_release(data);
    mst_cluster_release(cluster);
}

static void *fit_other(void *context) {
    fit(context, 1);
    return NULL;
}

typedef struct histograms {
    int64_t next_epoch;
    double total, most;
} histograms;

static void add_histogram(const Muster__Event *event, void *context) {
    histograms *h = context;
    if (event->what_case != MUSTER__EVENT__WHAT_SUMMARY) return;
    const Muster__Summary__Value *value = event->summary->value[0];
    if (strcmp(value->tag, "staleness") != 0) return;
    assert_int_equal(value->value_case, MUSTER__SUMMARY__VALUE__VALUE_HISTO);
    assert_int_equal(event->step, h->next_epoch++);
    const Muster__HistogramProto *histo = value->histo;
    double num = 0, sum = 0, squares = 0;
    assert_int_equal(histo->n_bucket, histo->n_bucket_limit);
    for (size_t i = 0; i < histo->n_bucket; i++) {
        const double staleness = histo->min + (double)i; /* each has its bucket */
        assert_true(histo->bucket_limit[i] == staleness + 0.5);
        num += histo->bucket[i];
        sum += histo->bucket[i] * staleness;
        squares += histo->bucket[i] * staleness * staleness;
    }
    assert_true(histo->bucket[0] > 0 && histo->bucket[histo->n_bucket - 1] > 0);
    assert_true(histo->max == histo->min + (double)histo->n_bucket - 1);
    assert_true(num == histo->num && sum == histo->sum && squares == histo->sum_squares);
    assert_true(num >= PER_EPOCH); /* the chief's own are among them */
    h->total += num;
    if (histo->max > h->most) h->most = histo->max;
}

static void tensorboard_shows_the_counts_of_each_epoch(void **state) {
    (void)state;
    for (int bound = 0; bound < 2; bound++) {
        fitting f = {.max_staleness = bound, .folder = folder_path(bound ? "bounded" : "log")};
        histograms h = {0};
        pthread_t other;
        begin(&f.job);
        assert_int_equal(pthread_create(&other, NULL, fit_other, &f), 0);
        fit(&f, 0);
        pthread_join(other, NULL);
        end(&f.job, "36 updates; gradients were");
        each_event(bound ? "bounded/train" : "log/train", add_histogram, &h);
        assert_int_equal(h.next_epoch, EPOCHS);
        if (bound)
            assert_true(h.most <= bound && h.total <= WORKERS * EPOCHS * PER_EPOCH);
        else
            assert_true(h.total == WORKERS * EPOCHS * PER_EPOCH);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gradient_is_counted_once_by_its_staleness),
        cmocka_unit_test(counts_are_of_all_gradients_and_none_is_staler_than_allowed),
        TEST_IN_FOLDER(tensorboard_shows_the_counts_of_each_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
