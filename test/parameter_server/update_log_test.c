/* The log of the updates of a job with several servers, asynchronous or with backup workers, and its replay. The
 * tasks are threads, which talk as processes do. The gradients are not linear in the values of all servers: another
 * order of updates, or values of another step, would give other bits. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "muster/muster.h"
#include "parameter_server/batch_position.h"
#include "parameter_server/ps_client.h"
#include "store/store.h"
#include "strategy/update_graph.h"
#include "support/folder.h"
#include "support/tasks.h"
#include "support/test.h"

enum { WORKERS = 3, SERVERS = 2, ALL = WORKERS + SERVERS, UPDATES = 25, PER_EPOCH = 10, SECONDS = 20 };

static const char *const names[SERVERS] = {"w0", "w1"};

typedef struct logged_job {
    int num_workers;
    const char *update_log, *replay; /* folders; NULL: none */
    int64_t last_step;
    bool synchronous;
    int aggregate;     /* synchronous: gradients that make a step; 0: of all workers */
    bool collects;     /* the chief asks for all state from time to time */
    bool comes_late;   /* the last worker */
    int max_staleness; /* 0: any */
    int skipped;       /* the worker that leaves out a batch; -1: none */
    int updates;       /* of each worker */
    task_address address[ALL];
    float value[WORKERS][SERVERS]; /* at the end */
    char error[ALL][400];          /* of workers, then of servers; "": they end well */
} logged_job;

typedef struct logged_task {
    logged_job *job;
    int number;
    unsigned random;
    pthread_t thread;
} logged_task;

static mst_cluster *cluster_of(const logged_job *j, const char *name, int index) {
    char workers[WORKERS * 40] = "", servers[80];
    mst_cluster *cluster;
    for (int w = 0; w < j->num_workers; w++)
        snprintf(workers + strlen(workers), sizeof workers - strlen(workers), "%s%s", w ? "," : "",
                 j->address[SERVERS + w]);
    snprintf(servers, sizeof servers, "%s,%s", j->address[0], j->address[1]);
    EXPECT_OK(mst_cluster_from_hosts(servers, workers, name, index, &cluster));
    return cluster;
}

static void keep_error(logged_job *j, int task, mst_status status) {
    snprintf(j->error[task], sizeof j->error[task], "%s", status ? mst_error()->message : "");
}

static void *serve(void *context) {
    logged_task *t = context;
    mst_cluster *cluster = cluster_of(t->job, "ps", t->number);
    keep_error(t->job, WORKERS + t->number,
               mst_server_run(.cluster = cluster, .recovery_timeout = SECONDS, .update_log = t->job->update_log,
                              .replay_updates = t->job->replay));
    mst_cluster_release(cluster);
    return NULL;
}

/* ---- a worker ---- */

static mst_tensor *make_number(mst_dtype dtype, double value) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, MST_SCALAR, &tensor));
    mst_tensor_set(tensor, 0, value);
    return tensor;
}

static mst_store *make_store(void) {
    mst_store *store;
    mst_tensor *value = make_number(MST_F32, 0.75), *step = make_number(MST_I64, 0);
    EXPECT_OK(mst_store_create(&store));
    for (int p = 0; p < SERVERS; p++) EXPECT_OK(mst_store_set(store, NULL, names[p], MST_STATE_WEIGHT, value));
    EXPECT_OK(mst_store_set(store, NULL, MST_STATE_GLOBAL_STEP, MST_STATE_STEP, step));
    mst_tensor_release(value);
    mst_tensor_release(step);
    return store;
}

static float read_value(mst_store *store, int p) {
    mst_tensor *value;
    EXPECT_OK(mst_store_get(store, NULL, names[p], &value));
    const float number = (float)mst_tensor_get(value, 0);
    mst_tensor_release(value);
    return number;
}

static mst_graph *update_of(int p) {
    mst_graph *graph, *update;
    const mst_optimizer optimizer = mst_sgd(.learning_rate = 0.05);
    EXPECT_OK(mst_graph_create(&graph));
    const mst_value variable = mst_variable(graph, names[p], mst_fill(graph, MST_F32, MST_SCALAR, 0));
    EXPECT_OK(
        mst_update_graph_create(&optimizer, &(mst_update_graph_variables){.variable = &variable, .count = 1}, &update));
    mst_graph_destroy(graph);
    return update;
}

static mst_status join(const logged_task *t, mst_store *store, mst_ps_client **client) {
    static const mst_fingerprint fingerprint = {.name = "program", .hash = 7};
    const mst_spec spec = {.dtype = MST_F32, .shape = MST_SCALAR};
    const mst_ps_variable variables[SERVERS] = {{.name = names[0], .spec = spec},
                                                {.name = names[1], .spec = spec, .ps = 1}};
    mst_cluster *cluster = cluster_of(t->job, "worker", t->number);
    mst_graph *const graph[SERVERS] = {update_of(0), update_of(1)};
    const mst_ps_program program = {.store = store,
                                    .variable = variables,
                                    .num_variables = SERVERS,
                                    .graph = graph,
                                    .synchronous = t->job->synchronous,
                                    .aggregate = t->job->aggregate,
                                    .staleness = t->job->max_staleness ? t->job->max_staleness : -1,
                                    .num_shards = t->job->num_workers,
                                    .num_leaves = 1,
                                    .last_step = t->job->last_step,
                                    .fingerprint = &fingerprint,
                                    .num_fingerprints = 1};
    const mst_task_options options = {.cluster = cluster, .recovery_timeout = SECONDS};
    int64_t position;
    EXPECT_OK(mst_ps_client_open(&options, &(mst_mail_options){.cluster = cluster}, client));
    const mst_status status = mst_ps_client_join(*client, &program, &position);
    for (int p = 0; p < SERVERS; p++) mst_graph_destroy(graph[p]);
    mst_cluster_release(cluster);
    return status;
}

/* The gradients that WORKER computes of its batch number BATCH, for the variable of server P. */
static float gradient_of(int p, int worker, int batch, float w0, float w1) {
    const float target = (float)(1 + (worker * 31 + batch) % 7) / 8;
    return p == 0 ? w0 * w1 - target : w1 - w0 * w0 * target;
}

/* Gradients of batch I: of the values of both servers. */
static mst_status make_update(const logged_task *t, mst_ps_client *client, mst_store *store, int i, int64_t *step) {
    const int64_t position = mst_batch_position(i / PER_EPOCH, i % PER_EPOCH);
    MST_TRY(mst_ps_client_use_values(client));
    const float w0 = read_value(store, 0), w1 = read_value(store, 1);
    mst_tensor *gradient[SERVERS] = {make_number(MST_F32, gradient_of(0, t->number, i, w0, w1)),
                                     make_number(MST_F32, gradient_of(1, t->number, i, w0, w1))};
    const mst_status status = mst_ps_client_update(client, position, gradient, step);
    for (int p = 0; p < SERVERS; p++) mst_tensor_release(gradient[p]);
    return status;
}

static mst_status make_updates(logged_task *t, mst_ps_client *client, mst_store *store) {
    const logged_job *j = t->job;
    int64_t step = 0;
    for (int i = 0; i < j->updates && (!j->last_step || step < j->last_step); i++) {
        usleep((unsigned)rand_r(&t->random) % 800);
        if (t->number == j->skipped && i == 3) continue;
        MST_TRY(make_update(t, client, store, i, &step));
        if (j->collects && t->number == 0 && i % 4 == 1) {
            usleep(1000); /* others make updates */
            MST_TRY(mst_ps_client_collect(client));
        }
    }
    return mst_ps_client_leave(client);
}

static void *work(void *context) {
    logged_task *t = context;
    mst_ps_client *client;
    mst_store *store = make_store();
    if (t->job->comes_late && t->number == WORKERS - 1) usleep(20000);
    mst_status status = join(t, store, &client);
    if (!status) status = make_updates(t, client, store);
    keep_error(t->job, t->number, status);
    for (int p = 0; p < SERVERS; p++) t->job->value[t->number][p] = read_value(store, p);
    mst_ps_client_close(client);
    mst_store_release(store);
    return NULL;
}

/* ---- a job ---- */

static void run_job(logged_job *j) {
    static unsigned seed = 1;
    logged_task task[ALL];
    tasks_find_addresses(j->address, SERVERS + j->num_workers);
    for (int i = 0; i < SERVERS + j->num_workers; i++) {
        const bool is_server = i < SERVERS;
        task[i] = (logged_task){.job = j, .number = is_server ? i : i - SERVERS, .random = seed++};
        assert_int_equal(pthread_create(&task[i].thread, NULL, is_server ? serve : work, &task[i]), 0);
        if (i == SERVERS - 1) usleep(30000); /* wait until they listen: a refused worker tries again after a second */
    }
    for (int i = 0; i < SERVERS + j->num_workers; i++) pthread_join(task[i].thread, NULL);
}

static void expect_no_error(const logged_job *j) {
    for (int i = 0; i < ALL; i++)
        if (*j->error[i]) fail_msg("task %d ends with '%s'", i, j->error[i]);
    for (int w = 1; w < j->num_workers; w++) assert_memory_equal(j->value[w], j->value[0], sizeof j->value[0]);
}

/* All tasks say the same. */
static void expect_error(const logged_job *j, const char *says) {
    for (int i = 0; i < ALL; i++)
        if (!strstr(j->error[i], says) && (i < j->num_workers || i >= WORKERS))
            fail_msg("task %d ends with '%s', not '%s'", i, j->error[i], says);
}

static logged_job job_of(const char *update_log, const char *replay) {
    return (logged_job){.num_workers = WORKERS,
                        .update_log = update_log ? folder_path(update_log) : NULL,
                        .replay = replay ? folder_path(replay) : NULL,
                        .skipped = -1,
                        .updates = UPDATES};
}

static char *read_log(const char *folder, int server) {
    char name[100], *text = NULL;
    size_t size = 0;
    snprintf(name, sizeof name, "%s/updates-ps-%d.jsonl", folder, server);
    FILE *file = fopen(folder_path(name), "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    return text;
}

static void write_log(const char *folder, int server, const char *text) {
    char name[100];
    snprintf(name, sizeof name, "%s/updates-ps-%d.jsonl", folder, server);
    folder_write_text(name, text);
}

static void expect_same_logs(const char *a, const char *b) {
    for (int p = 0; p < SERVERS; p++) {
        char *first = read_log(a, p), *second = read_log(b, p);
        assert_string_equal(first, second);
        free(first);
        free(second);
    }
}

/* ---- the same bits ---- */

static void replays_have_the_bits_and_the_logs_of_the_job(void **state) {
    (void)state;
    logged_job first = job_of("log", NULL);
    first.collects = true;
    run_job(&first);
    expect_no_error(&first);
    for (int i = 0; i < 2; i++) {
        logged_job again = job_of("again", "log");
        run_job(&again);
        expect_no_error(&again);
        assert_memory_equal(again.value[0], first.value[0], sizeof first.value[0]);
        expect_same_logs("log", "again");
    }
    int alike = 0;
    for (int i = 0; i < 3; i++) {
        logged_job other = job_of(NULL, NULL);
        run_job(&other);
        expect_no_error(&other);
        alike += other.value[0][0] == first.value[0][0] && other.value[0][1] == first.value[0][1];
    }
    if (alike == 3) print_message("jobs without a replay have all had the same order, too\n");
}

/* Values that were sent late, because a worker came late or because staleness is limited. */
static void values_are_those_of_the_job_where_they_were_sent_late(void **state) {
    (void)state;
    logged_job first = job_of("log", NULL);
    first.comes_late = true;
    first.max_staleness = 2;
    run_job(&first);
    expect_no_error(&first);
    for (int in_turn = 0; in_turn < 2; in_turn++) {
        logged_job again = job_of("again", "log");
        again.max_staleness = in_turn ? first.max_staleness : 0;
        run_job(&again);
        expect_no_error(&again);
        assert_memory_equal(again.value[0], first.value[0], sizeof first.value[0]);
        expect_same_logs("log", "again");
    }
}

/* How many gradients the log of a server says to have been dropped. All others make one update, or with backup workers
 * COUNT together as long as there are so many workers. */
static int expect_gradients(const char *folder, int server, int count) {
    char *text = read_log(folder, server);
    static const char drop[] = "\n{\"event\":\"dropped\"";
    int updates = 0, steps = 0, dropped = 0, last = 0;
    for (const char *line = strchr(text, '\n'); line; line = strchr(line + 1, '\n')) {
        int step;
        dropped += strncmp(line, drop, sizeof drop - 1) == 0;
        if (sscanf(line, "\n{\"event\":\"update\",\"step\":%d", &step) != 1) continue;
        steps += step != last;
        last = step;
        updates++;
    }
    assert_int_equal(updates + dropped, WORKERS * UPDATES);
    assert_int_equal(steps, last);
    assert_true(updates <= count * steps && updates > (count - 1) * steps);
    free(text);
    return dropped;
}

/* Each worker computes a gradient for each batch, and all servers apply the same gradients. In the replay the log
 * decides which ones, and not their order of arrival. Whether gradients are dropped depends on timing, so jobs are run
 * until some are. */
static void replay_of_backup_workers_has_their_sets(void **state) {
    (void)state;
    int dropped = 0;
    for (int i = 0; i < 3 || (dropped == 0 && i < 60); i++) {
        logged_job first = job_of("log", NULL), again = job_of("again", "log");
        first.synchronous = again.synchronous = true;
        first.aggregate = again.aggregate = 2;
        first.collects = first.comes_late = i > 0;
        run_job(&first);
        expect_no_error(&first);
        dropped += expect_gradients("log", 0, 2);
        char *one = read_log("log", 0), *other = read_log("log", 1);
        assert_string_equal(strchr(one, '\n'), strchr(other, '\n'));
        free(one);
        free(other);
        run_job(&again);
        expect_no_error(&again);
        assert_memory_equal(again.value[0], first.value[0], sizeof first.value[0]);
        expect_same_logs("log", "again");
    }
}

/* How old the oldest gradients were in the log of a server. */
static int64_t most_staleness(const char *folder, int server) {
    char *text = read_log(folder, server);
    int64_t most = 0;
    int count = 0;
    for (char *line = strchr(text, '\n'); line; line = strchr(line + 1, '\n')) {
        long long step, read;
        if (sscanf(line, "\n{\"event\":\"update\",\"step\":%lld", &step) != 1) continue;
        assert_int_equal(sscanf(strstr(line, "\"read\":"), "\"read\":%lld", &read), 1);
        if (step - 1 - read > most) most = step - 1 - read;
        count++;
    }
    assert_int_equal(count, WORKERS * UPDATES);
    free(text);
    return most;
}

static void no_server_applies_gradients_that_are_staler_than_allowed(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        logged_job j = job_of("log", NULL);
        j.max_staleness = WORKERS - 1;
        run_job(&j);
        expect_no_error(&j);
        for (int p = 0; p < SERVERS; p++)
            if (most_staleness("log", p) > j.max_staleness)
                fail_msg("ps:%d has applied gradients that were %d steps old", p, (int)most_staleness("log", p));
    }
}

/* Gradients that come after the last step are dropped, by each server other ones. Whether any come late depends on
 * timing, so jobs are run until some have. */
static void replay_ends_with_the_last_step(void **state) {
    (void)state;
    int late = 0;
    for (int i = 0; i < 4 || (late == 0 && i < 60); i++) {
        logged_job first = job_of("log", NULL), again = job_of(NULL, "log");
        first.last_step = again.last_step = 31 + i % 4;
        first.max_staleness = 2;
        run_job(&first);
        expect_no_error(&first);
        run_job(&again);
        expect_no_error(&again);
        assert_memory_equal(again.value[0], first.value[0], sizeof first.value[0]);
        char *text = read_log("log", 1);
        late += strstr(text, "{\"event\":\"late\",") != NULL;
        free(text);
    }
    assert_true(late > 0);
}

/* Replaces the lines after the first one. */
static void replace_updates(const char *folder, int server, const char *updates) {
    char *text = read_log(folder, server), *changed;
    assert_true(asprintf(&changed, "%.*s%s", (int)(strchr(text, '\n') + 1 - text), text, updates) > 0);
    write_log(folder, server, changed);
    free(changed);
    free(text);
}

#define LINE(event, step, worker, batch, read)                                                         \
    "{\"event\":\"" event "\",\"step\":" #step ",\"worker\":" #worker ",\"epoch\":0,\"batch\":" #batch \
    ",\"read\":" #read "}\n"

/* Worker 0 computes the gradients of its second batch with the values of server 0 at step 2 and of server 1 at step 1.
 * Server 1 applies them, server 0 has made its last step then. */
static void gradients_that_one_server_drops_are_of_the_logged_values_of_both(void **state) {
    (void)state;
    logged_job any = job_of("log", NULL), again = job_of(NULL, "log");
    any.last_step = again.last_step = 3;
    run_job(&any);
    replace_updates("log", 0,
                    LINE("update", 1, 0, 0, 0) LINE("update", 2, 1, 0, 0) LINE("update", 3, 2, 0, 0)
                        LINE("late", 3, 0, 1, 2));
    replace_updates("log", 1,
                    LINE("update", 1, 0, 0, 0) LINE("update", 2, 0, 1, 1) LINE("update", 3, 1, 0, 0)
                        LINE("late", 3, 2, 0, 0));
    run_job(&again);
    expect_no_error(&again);
    const float rate = 0.05f, first = 0.75f;
    float w0 = first - rate * (gradient_of(0, 0, 0, first, first) + gradient_of(0, 1, 0, first, first)),
          w1 = first - rate * gradient_of(1, 0, 0, first, first);
    w1 -= rate * (gradient_of(1, 0, 1, w0, w1) + gradient_of(1, 1, 0, first, first));
    w0 -= rate * gradient_of(0, 2, 0, first, first);
    assert_float_equal(again.value[0][0], w0, 1e-6);
    assert_float_equal(again.value[0][1], w1, 1e-6);
}

static void line_that_was_cut_off_is_ignored(void **state) {
    (void)state;
    logged_job first = job_of("log", NULL), again = job_of(NULL, "log");
    first.updates = again.updates = 5;
    run_job(&first);
    for (int p = 0; p < SERVERS; p++) {
        char *text = read_log("log", p), *longer;
        assert_true(asprintf(&longer, "%s{\"event\":\"update\",\"st", text) > 0);
        write_log("log", p, longer);
        free(longer);
        free(text);
    }
    run_job(&again);
    expect_no_error(&again);
    assert_memory_equal(again.value[0], first.value[0], sizeof first.value[0]);
}

/* ---- what does not fit ---- */

/* Another job, made of AGAIN, is an error on all tasks. */
static void expect_refusal(logged_job again, const char *says) {
    again.updates = 5;
    run_job(&again);
    expect_error(&again, says);
}

static void job_that_does_not_fit_its_log_is_an_error_on_all_tasks(void **state) {
    (void)state;
    logged_job first = job_of("log", NULL), again = job_of(NULL, "log");
    first.updates = 5;
    run_job(&first);
    expect_no_error(&first);
    again.num_workers = 2;
    expect_refusal(again, "\"workers\" was 3 in the job that wrote it, and is 2 in this one");
    again.num_workers = 3;
    again.last_step = 12;
    expect_refusal(again, "\"last_step\" was 0 in the job that wrote it, and is 12 in this one");
    again.last_step = 0;
    again.skipped = 1;
    expect_refusal(again, "has sent the gradients of epoch 0, batch 4, computed with the values of step");
    again.skipped = -1;
    again.synchronous = true;
    expect_refusal(again, "is for asynchronous training or backup workers");
    again.synchronous = false;
    again.replay = folder_path("none");
    expect_refusal(again, "none/updates-ps-");
}

static void job_with_more_or_fewer_batches_than_its_log_is_an_error_on_all_tasks(void **state) {
    (void)state;
    logged_job first = job_of("log", NULL), again = job_of(NULL, "log");
    first.updates = 4;
    run_job(&first);
    expect_refusal(again, "has no more gradients of this worker in its 12 updates");
    first.updates = 6;
    run_job(&first);
    expect_refusal(again, "has ended without sending the gradients of epoch");
}

/* OTHER replaces line LINE (from 1) of the log of server 1, or is appended to it (0). */
static void replay_with_line(const char *text, int line, const char *other, const char *says) {
    char *changed = malloc(strlen(text) + strlen(other) + 1);
    const char *at = text + (line ? 0 : strlen(text));
    for (int i = 1; i < line; i++) at = strchr(at, '\n') + 1;
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, other, line ? strchr(at, '\n') + 1 : "");
    write_log("log", 1, changed);
    free(changed);
    expect_refusal(job_of(NULL, "log"), says);
}

static void log_that_was_changed_is_an_error_on_all_tasks(void **state) {
    (void)state;
    logged_job first = job_of("log", NULL);
    first.updates = 5;
    run_job(&first);
    char *text = read_log("log", 1);
    replay_with_line(text, 3, "{\"event\":\n", "line 3: is no JSON");
    replay_with_line(text, 3, "", "line 3: does not follow from the lines before it");
    replay_with_line(text, 1, "", "line 1: does not say 'begin'");
    replay_with_line(text, 4, "{\"event\":\"update\",\"step\":3}\n", "line 4: its numbers are missing or wrong");
    replay_with_line(text, 0, "{\"event\":\"again\",\"step\":15,\"worker\":1}\n",
                     "line 17: a worker was lost and started again: only an undisturbed job can be replayed");
    replay_with_line(text, 0, "{\"event\":\"begin\",\"round\":2}\n", "line 17: a server was lost and started again");
    free(text);
}

/* ---- a worker that is started again ---- */

static void worker_that_is_started_again_is_noted(void **state) {
    (void)state;
    logged_job j = job_of("log", NULL);
    logged_task server[SERVERS], worker = {.job = &j, .random = 1};
    j.num_workers = 1;
    j.updates = 2;
    tasks_find_addresses(j.address, SERVERS + 1);
    for (int p = 0; p < SERVERS; p++) {
        server[p] = (logged_task){.job = &j, .number = p};
        assert_int_equal(pthread_create(&server[p].thread, NULL, serve, &server[p]), 0);
    }
    mst_store *store = make_store();
    mst_ps_client *client;
    EXPECT_OK(join(&worker, store, &client));
    mst_ps_client_close(client);
    mst_store_release(store);
    work(&worker);
    for (int p = 0; p < SERVERS; p++) pthread_join(server[p].thread, NULL);
    char *text = read_log("log", 0);
    assert_non_null(strstr(text,
                           "\n{\"event\":\"again\",\"step\":0,\"worker\":0}\n{\"event\":\"update\",\"step\":1,"
                           "\"worker\":0,\"epoch\":0,\"batch\":0,\"read\":0}\n"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(replays_have_the_bits_and_the_logs_of_the_job),
        TEST_IN_FOLDER(replay_of_backup_workers_has_their_sets),
        TEST_IN_FOLDER(values_are_those_of_the_job_where_they_were_sent_late),
        TEST_IN_FOLDER(no_server_applies_gradients_that_are_staler_than_allowed),
        TEST_IN_FOLDER(replay_ends_with_the_last_step),
        TEST_IN_FOLDER(gradients_that_one_server_drops_are_of_the_logged_values_of_both),
        TEST_IN_FOLDER(line_that_was_cut_off_is_ignored),
        TEST_IN_FOLDER(job_that_does_not_fit_its_log_is_an_error_on_all_tasks),
        TEST_IN_FOLDER(job_with_more_or_fewer_batches_than_its_log_is_an_error_on_all_tasks),
        TEST_IN_FOLDER(log_that_was_changed_is_an_error_on_all_tasks),
        TEST_IN_FOLDER(worker_that_is_started_again_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
