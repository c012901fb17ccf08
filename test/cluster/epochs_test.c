/* Callbacks and histories see the same epochs on every worker, and each epoch once, even if a task is lost. In one
 * case a step happens on one worker, and the other one is cut off before it knows of the step. It then gets the
 * state of the first, which may be at the end of the epoch. In another case the chief is killed at the end of an
 * epoch. The last tests show with which state a job begins. The workers are threads, each with a task of its own,
 * which talk over TCP. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "muster/muster.h"
#include "support/folder.h"
#include "support/lost_message.h"
#include "support/open_worker.h"
#include "support/test.h"
#include "support/training.h"

/* The place at which a process is killed. */
typedef enum moment { NEVER, STEP_END, BEFORE_ROW, AFTER_ROW, EPOCH_BEGIN } moment;

enum { KILLED = 9 /* exit status */ };
enum { WORKERS = 2, ROWS = 48, BATCH = 8, PER_EPOCH = ROWS / BATCH, EPOCHS = 3, TEXT = 2000 };

/* A job, and the moment at which it is disturbed. */
typedef struct job {
    int64_t steps;      /* 0: all epochs */
    int cut_off;        /* the worker that does not learn of a step; -1: none */
    int64_t at;         /* that step */
    double decay;       /* of the learning rate at the end of each epoch */
    double begins_with; /* likewise at the beginning */
    int64_t patience;   /* 0: without early stopping */
    const char *csv;    /* the rows of the chief; NULL: none */
    moment dies;        /* of the chief, with state->step == at */
    uint64_t seed;
    const mst_snapshot *begins[WORKERS]; /* NULL: with no checkpoint */
    mst_snapshot *kept;                  /* the state of the chief at the end */
    task_address address[WORKERS];
    mst_status status[WORKERS];
    char error[WORKERS][1024];
    char seen[WORKERS][TEXT]; /* by callbacks */
    char shown[WORKERS][TEXT];
    mst_history history[WORKERS];
    mst_result result[WORKERS];
    char hex[WORKERS][65];
} job;

typedef struct worker {
    job *job;
    int number;
    pthread_t thread;
} worker;

/* ---- callbacks ---- */

static void note(worker *w, const char *what, const mst_train_state *s) {
    char *seen = w->job->seen[w->number];
    const size_t used = strlen(seen);
    snprintf(seen + used, TEXT - used, "%s %d, step %d, %d examples, loss %.17g, val_loss %.17g, rate %g\n", what,
             (int)s->epoch, (int)s->step, (int)s->examples, s->loss, s->validation_loss, s->learning_rate);
}

static void die(const worker *w, moment moment, const mst_train_state *state) {
    if (w->number == 0 && w->job->dies == moment && state->step == w->job->at) _exit(KILLED);
}

static mst_status epoch_begin(void *context, mst_train_state *state) {
    worker *w = context;
    die(w, EPOCH_BEGIN, state);
    if (w->number != w->job->cut_off && state->step == w->job->at) lost_message_end(w->job->cut_off);
    note(w, "begin", state);
    if (state->step_in_epoch == 0) state->learning_rate *= w->job->begins_with; /* else it has begun before */
    return MST_OK;
}

static mst_status step_end(void *context, mst_train_state *state) {
    const worker *w = context;
    const job *j = w->job;
    die(w, STEP_END, state);
    if (w->number == j->cut_off && state->step == j->at - 1) lost_message_begin(w->number);
    /* within an epoch nobody waits before the next step */
    if (w->number != j->cut_off && state->step == j->at && j->at % PER_EPOCH) lost_message_end(j->cut_off);
    return MST_OK;
}

static mst_status epoch_end(void *context, mst_train_state *state) {
    worker *w = context;
    die(w, BEFORE_ROW, state);
    note(w, "end", state);
    state->learning_rate *= w->job->decay;
    return MST_OK;
}

static mst_status after_row(void *context, mst_train_state *state) {
    const worker *w = context;
    const job *j = w->job;
    die(w, AFTER_ROW, state);
    /* after an epoch with which training ends early, all wait for each other */
    if (j->patience && w->number != j->cut_off && state->step == j->at) lost_message_end(j->cut_off);
    return MST_OK;
}

/* ---- workers ---- */

static mst_status fit(worker *w, mst_task *task, FILE *progress) {
    job *j = w->job;
    const int i = w->number;
    mst_dataset *data = training_data(ROWS, 10, 3, 3), *validation = training_data(20, 10, 3, 4);
    mst_model *model = training_model(8, 3, 0);
    mst_early_stopping stopping = {.patience = j->patience, .min_delta = 10, .restore_best_weights = true};
    mst_csv_logger csv = {.path = j->csv};
    mst_callback callbacks[4] = {
        {.context = w, .epoch_begin = epoch_begin, .step_end = step_end, .epoch_end = epoch_end}};
    int num_callbacks = 1;
    if (j->csv && i == 0) callbacks[num_callbacks++] = mst_csv_logger_callback(&csv);
    callbacks[num_callbacks++] = (mst_callback){.context = w, .epoch_end = after_row};
    if (j->patience) callbacks[num_callbacks++] = mst_early_stopping_callback(&stopping);
    const mst_fit_options options = {.data = data,
                                     .validation = validation,
                                     .batch_size = BATCH,
                                     .epochs = j->steps ? 0 : EPOCHS,
                                     .steps = j->steps,
                                     /* a comparison would wait for the worker that is cut off */
                                     .check_replicas = j->cut_off < 0 ? 1 : -1,
                                     .callbacks = callbacks,
                                     .num_callbacks = num_callbacks,
                                     .resume = j->begins[i] != NULL,
                                     .progress = progress,
                                     .history = &j->history[i]};
    mst_status status = mst_compile(model, .strategy = {.kind = MST_STRATEGY_MULTI_WORKER, .num_shards = 2},
                                    .task = task, .session = {.devices = "cpu:1/1"}, .seed = j->seed);
    if (!status && j->begins[i]) status = mst_build(model, data, true);
    if (!status && j->begins[i]) status = mst_store_restore(mst_model_store(model), j->begins[i]);
    if (!status) status = mst_fit_with(model, &options, &j->result[i]);
    if (i != j->cut_off && j->cut_off >= 0) lost_message_end(j->cut_off); /* if the last step does not end there */
    if (!status) status = mst_task_leave(task);
    if (!status) status = mst_model_sha256(model, j->hex[i]);
    if (!status && i == 0) status = mst_store_snapshot(mst_model_store(model), &j->kept);
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_dataset_release(validation);
    return status;
}

static void *work(void *context) {
    worker *w = context;
    job *j = w->job;
    mst_task *task = NULL;
    FILE *shown = fmemopen(j->shown[w->number], TEXT, "w");
    mst_status status =
        open_worker(j->address, WORKERS, w->number, (mst_task_options){.transport = "zmq", .log = shown}, &task);
    if (!status) status = fit(w, task, shown);
    j->status[w->number] = status;
    if (status) snprintf(j->error[w->number], sizeof j->error[w->number], "%s", mst_error()->message);
    mst_task_close(task);
    fclose(shown);
    return NULL;
}

static void run_job(job *j) {
    worker workers[WORKERS];
    tasks_find_addresses(j->address, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.job = j, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (int i = 0; i < WORKERS; i++)
        if (j->status[i]) fail_msg("worker %d: %s", i, j->error[i]);
}

/* ---- what must be the same ---- */

static void expect_same_history(const mst_history *got, const mst_history *wanted) {
    assert_int_equal(got->num_epochs, wanted->num_epochs);
    assert_int_equal(got->num_columns, wanted->num_columns);
    assert_memory_equal(got->value, wanted->value,
                        (size_t)(wanted->num_epochs * wanted->num_columns) * sizeof *wanted->value);
}

static void end_job(job *j) {
    for (int i = 0; i < WORKERS; i++) mst_history_free(&j->history[i]);
    mst_snapshot_release(j->kept);
    free(j);
}

static job *make_job(job like) {
    job *j = malloc(sizeof *j);
    assert_non_null(j);
    *j = like;
    return j;
}

/* How many lines of TEXT begin with BEGIN. */
static int num_lines(const char *text, const char *begin) {
    int count = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += strncmp(line, begin, strlen(begin)) == 0;
    }
    return count;
}

/* The job, undisturbed and with each of the workers cut off at step AT. */
static void expect_what_the_undisturbed_job_shows(job like, int64_t at) {
    job *wanted = make_job(like);
    wanted->cut_off = -1;
    run_job(wanted);
    for (int w = 0; w < WORKERS; w++) {
        job *got = make_job(like);
        got->cut_off = w;
        got->at = at;
        run_job(got);
        for (int i = 0; i < WORKERS; i++) {
            if (!strstr(got->shown[i], " back: going on after step")) fail_msg("not disturbed: %s", got->shown[i]);
            assert_string_equal(got->seen[i], wanted->seen[0]);
            assert_string_equal(got->hex[i], wanted->hex[0]);
            assert_int_equal(got->result[i].epochs, wanted->result[0].epochs);
            assert_true(got->result[i].loss == wanted->result[0].loss);
            expect_same_history(&got->history[i], &wanted->history[0]);
            assert_int_equal(num_lines(got->shown[i], "Epoch "), num_lines(wanted->shown[0], "Epoch "));
        }
        end_job(got);
    }
    end_job(wanted);
}

static void worker_that_drops_the_last_step_of_an_epoch_sees_the_epoch_end(void **state) {
    (void)state;
    expect_what_the_undisturbed_job_shows((job){.decay = 0.5, .begins_with = 0.75}, 2 * PER_EPOCH);
}

static void so_does_one_that_drops_the_last_step_of_all(void **state) {
    (void)state;
    expect_what_the_undisturbed_job_shows((job){.decay = 0.5, .begins_with = 1}, EPOCHS * PER_EPOCH);
    expect_what_the_undisturbed_job_shows((job){.steps = PER_EPOCH + 2, .decay = 1, .begins_with = 1}, PER_EPOCH + 2);
}

static void early_stopping_ends_the_job_with_the_best_weights_on_all(void **state) {
    (void)state;
    expect_what_the_undisturbed_job_shows((job){.patience = 1, .decay = 1, .begins_with = 1}, 2 * PER_EPOCH);
}

static void callbacks_see_an_epoch_begin_once_where_a_step_within_it_is_dropped(void **state) {
    (void)state;
    expect_what_the_undisturbed_job_shows((job){.decay = 0.5, .begins_with = 0.75}, PER_EPOCH + 3);
}

/* ---- a chief that is killed ---- */

/* A process of this program as the chief of the job; its exit status. */
static int run_chief(const job *j, moment dies) {
    char moment[8], at[24], decay[24], steps[24];
    snprintf(moment, sizeof moment, "%d", dies);
    snprintf(at, sizeof at, "%lld", (long long)j->at);
    snprintf(decay, sizeof decay, "%g", j->decay);
    snprintf(steps, sizeof steps, "%lld", (long long)j->steps);
    const char *const arguments[] = {"chief", j->address[0], j->address[1], j->csv, moment, at, decay, steps, NULL};
    pid_t pid;
    int status;
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char *const *)(uintptr_t)arguments, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int be_chief(char **argument) {
    job *j = calloc(1, sizeof *j);
    worker w = {.job = j, .number = 0};
    if (!j) return 1;
    *j = (job){.cut_off = -1, .begins_with = 0.75};
    for (int i = 0; i < WORKERS; i++) snprintf(j->address[i], sizeof j->address[i], "%s", argument[1 + i]);
    j->csv = argument[3];
    j->dies = (moment)atoi(argument[4]);
    j->at = atoi(argument[5]);
    j->decay = atof(argument[6]);
    j->steps = atoi(argument[7]);
    work(&w);
    if (j->status[0]) fprintf(stderr, "the chief: %s\n", j->error[0]);
    const int status = j->status[0] ? 1 : 0;
    mst_history_free(&j->history[0]);
    mst_snapshot_release(j->kept);
    free(j);
    return status;
}

/* The rows of a file without their last column, which is a time. */
static void read_rows(const char *path, char rows[TEXT]) {
    char line[256];
    size_t used = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && used < TEXT)
        used += (size_t)snprintf(rows + used, TEXT - used, "%.*s\n", (int)(strrchr(line, ',') - line), line);
    fclose(file);
}

/* The rows of the job whose chief dies at MOMENT of step AT and is started again; NEVER: that does not. */
static void rows_of_chief(job like, moment moment, int64_t at, char rows[TEXT]) {
    job *j = make_job(like);
    worker other = {.job = j, .number = 1};
    j->cut_off = -1;
    j->at = at;
    j->csv = folder_path("rows.csv");
    remove(j->csv);
    tasks_find_addresses(j->address, WORKERS);
    assert_int_equal(pthread_create(&other.thread, NULL, work, &other), 0);
    int status = run_chief(j, moment);
    if (moment) {
        assert_int_equal(status, KILLED);
        status = run_chief(j, NEVER);
    }
    assert_int_equal(pthread_join(other.thread, NULL), 0);
    if (j->status[1]) fail_msg("worker 1: %s", j->error[1]);
    assert_int_equal(status, 0);
    read_rows(j->csv, rows);
    end_job(j);
}

static void expect_rows_of_a_chief_that_lives(job like, const moment *moments, int64_t at) {
    char wanted[TEXT], got[TEXT];
    rows_of_chief(like, NEVER, at, wanted);
    for (; *moments; moments++) {
        rows_of_chief(like, *moments, at, got);
        if (strcmp(got, wanted) != 0) fail_msg("moment %d of step %d:\n%s\nnot\n%s", *moments, (int)at, got, wanted);
    }
}

static void chief_writes_each_epoch_once_whenever_it_is_killed(void **state) {
    (void)state;
    const job whole = {.decay = 0.5, .begins_with = 0.75},
              part = {.decay = 1, .begins_with = 0.75, .steps = PER_EPOCH + 2};
    const moment at_an_end[] = {STEP_END, BEFORE_ROW, AFTER_ROW, EPOCH_BEGIN, NEVER};
    const moment at_the_last_end[] = {STEP_END, BEFORE_ROW, AFTER_ROW, NEVER};
    const moment at_the_beginning[] = {EPOCH_BEGIN, NEVER};
    expect_rows_of_a_chief_that_lives(whole, at_the_beginning, 0);
    expect_rows_of_a_chief_that_lives(whole, at_an_end, PER_EPOCH);
    expect_rows_of_a_chief_that_lives(whole, at_the_last_end, EPOCHS * PER_EPOCH);
    expect_rows_of_a_chief_that_lives(part, at_the_last_end, PER_EPOCH + 2);
}

/* ---- how a job begins ---- */

static job *trained(int64_t steps, uint64_t seed) {
    job *j = make_job((job){.cut_off = -1, .steps = steps, .decay = 1, .begins_with = 1, .seed = seed});
    run_job(j);
    return j;
}

static void expect_said(const job *j, const char *text, bool wanted) {
    for (int i = 0; i < WORKERS; i++) {
        const char *first = strstr(j->shown[i], text);
        if (!!first != wanted || (first && strstr(first + 1, text))) fail_msg("worker %d: %s", i, j->shown[i]);
    }
}

static void job_that_begins_anew_begins_with_the_checkpoint_of_the_chief(void **state) {
    (void)state;
    job *chief = trained(PER_EPOCH + 2, 1), *later = trained(PER_EPOCH + 4, 2), *wanted = trained(0, 1);
    job *j = make_job((job){.cut_off = -1, .decay = 1, .begins_with = 1, .seed = 1});
    j->begins[0] = chief->kept;
    j->begins[1] = later->kept;
    run_job(j);
    for (int i = 0; i < WORKERS; i++) assert_string_equal(j->hex[i], wanted->hex[0]);
    expect_said(j, "worker:1 came with a later state (12 steps and starts of epochs) than worker:0 (10)", true);
    end_job(j);
    j = make_job((job){.cut_off = -1, .decay = 1, .begins_with = 1, .seed = 1});
    j->begins[1] = chief->kept; /* the chief has none */
    run_job(j);
    for (int i = 0; i < WORKERS; i++) assert_string_equal(j->hex[i], wanted->hex[0]);
    expect_said(j, "came with a later state", false);
    end_job(j);
    end_job(chief);
    end_job(later);
    end_job(wanted);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worker_that_drops_the_last_step_of_an_epoch_sees_the_epoch_end),
        cmocka_unit_test(so_does_one_that_drops_the_last_step_of_all),
        cmocka_unit_test(early_stopping_ends_the_job_with_the_best_weights_on_all),
        cmocka_unit_test(callbacks_see_an_epoch_begin_once_where_a_step_within_it_is_dropped),
        TEST_IN_FOLDER(chief_writes_each_epoch_once_whenever_it_is_killed),
        cmocka_unit_test(job_that_begins_anew_begins_with_the_checkpoint_of_the_chief),
    };
    if (argc > 1) return be_chief(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
