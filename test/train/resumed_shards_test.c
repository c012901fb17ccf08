/* A fit that is resumed keeps its number of shards, and ends with the bits of one that was not stopped: on other
 * devices, with workers in step, with parameter servers. Tasks are threads here. Only the chief has the checkpoint. */
#include <pthread.h>
#include <stdio.h>

#include "muster/muster.h"
#include "store/store.h"
#include "support/folder.h"
#include "support/open_worker.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 60, BATCH = 12, FEATURES = 6, CLASSES = 3, SHARDS = 6, STEPS = 14, STOPS_AT = 7, SECONDS = 20 };

/* ---- a fit ---- */

/* How a model is compiled and fitted. */
typedef struct setting {
    const char *devices;
    mst_strategy strategy;
    bool normalizes; /* over the whole batch */
    bool builds;     /* the steps are built before the state is restored */
    bool anew;       /* it does not resume */
    FILE *progress;
    bool shows; /* lines on `progress`, not only warnings */
} setting;

static mst_model *make_model(const setting *s) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 8, .activation = MST_TANH);
    if (s->normalizes) mst_batch_normalization(model, .synchronized = true);
    mst_dropout(model, .rate = 0.3f);
    mst_dense(model, CLASSES);
    return model;
}

static mst_status compile(mst_model *model, const setting *s, mst_task *task) {
    return mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .strategy = s->strategy, .task = task,
                       .session = {.devices = s->devices}, .seed = 5);
}

static mst_status fit(mst_model *model, const setting *s, const mst_callback *callback) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    const mst_status status = mst_fit(model, .data = data, .batch_size = BATCH, .steps = STEPS, .resume = !s->anew,
                                      .callbacks = callback, .num_callbacks = callback != NULL, .progress = s->progress,
                                      .progress_kind = s->shows ? MST_PROGRESS_LINES : MST_PROGRESS_NONE);
    mst_dataset_release(data);
    return status;
}

static mst_status stop(void *context, mst_train_state *state) {
    (void)context;
    state->stop = state->step == STOPS_AT;
    return MST_OK;
}

/* Fits in one process with SHARDS shards, and stops in the midst of an epoch. The folder "run" gets a checkpoint from
 * there. Then makes all steps, and returns the hash. */
static void begin(bool normalizes, char hex[65]) {
    const setting s = {.devices = "cpu:1/1", .strategy = {.num_shards = SHARDS}, .normalizes = normalizes};
    const mst_callback stops = {.step_end = stop};
    mst_model *model = make_model(&s);
    mst_snapshot *state;
    EXPECT_OK(compile(model, &s, NULL));
    EXPECT_OK(fit(model, &s, &stops));
    EXPECT_OK(mst_store_snapshot(mst_model_store(model), &state));
    EXPECT_OK(mst_checkpoint_write(folder_path("model.ckpt-7"), state, NULL));
    EXPECT_OK(fit(model, &s, NULL));
    EXPECT_OK(mst_model_sha256(model, hex));
    mst_snapshot_release(state);
    mst_model_destroy(model);
}

static mst_status evaluate(mst_model *model) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_result result;
    const mst_status status = mst_evaluate(model, data, BATCH, &result, NULL);
    mst_dataset_release(data);
    return status;
}

static mst_status build(mst_model *model) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    const mst_status status = mst_build(model, data, true);
    mst_dataset_release(data);
    return status ? status : evaluate(model);
}

/* Compiles MODEL, restores the checkpoint, and fits. */
static mst_status resume_in(mst_model *model, const setting *s) {
    MST_TRY(compile(model, s, NULL));
    if (s->builds) MST_TRY(build(model));
    MST_TRY(mst_checkpoint_restore(folder_path(""), mst_model_store(model), NULL, NULL));
    return fit(model, s, NULL);
}

/* The hash and the number of shards with which a fit that is resumed with S ends. */
static void resume(const setting *s, char hex[65], int *shards) {
    mst_model *model = make_model(s);
    EXPECT_OK(resume_in(model, s));
    EXPECT_OK(evaluate(model));
    EXPECT_OK(mst_model_sha256(model, hex));
    *shards = mst_model_num_replicas(model);
    mst_model_destroy(model);
}

static void expect_failure(const setting *s, mst_status status, const char *part) {
    mst_model *model = make_model(s);
    EXPECT_ERROR(resume_in(model, s), status, part);
    mst_model_destroy(model);
}

/* ---- one process ---- */

static void number_is_kept_on_other_devices(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:2/1", "cpu:3/1", "cpu:6/1"};
    static const mst_strategy_kind kinds[] = {MST_STRATEGY_DEFAULT, MST_STRATEGY_ONE, MST_STRATEGY_TOWERS};
    char whole[65], hex[65];
    int shards;
    begin(false, whole);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            resume(&(setting){.devices = devices[i], .strategy = {.kind = kinds[k]}, .builds = i == k}, hex, &shards);
            assert_int_equal(shards, SHARDS);
            assert_string_equal(hex, whole);
        }
    resume(&(setting){.devices = "cpu:2/1", .strategy = {.num_shards = 2, .resumed_shards = MST_SHARDS_KEPT}}, hex,
           &shards);
    assert_int_equal(shards, SHARDS);
    assert_string_equal(hex, whole);
    resume(&(setting){.devices = "cpu:2/1", .strategy = {.num_shards = SHARDS, .resumed_shards = MST_SHARDS_SAME}}, hex,
           &shards);
    assert_string_equal(hex, whole);
}

static void another_number_is_told(void **state) {
    (void)state;
    static const mst_strategy strategies[] = {{.num_shards = 2}, {.resumed_shards = MST_SHARDS_NEW}};
    char whole[65], hex[65], text[200];
    int shards;
    begin(false, whole);
    for (int i = 0; i < 2; i++) {
        FILE *shown = fmemopen(text, sizeof text, "w");
        resume(&(setting){"cpu:2/1", strategies[i], .progress = shown}, hex, &shards);
        fclose(shown);
        assert_int_equal(shards, 2);
        assert_string_not_equal(hex, whole);
        assert_string_equal(text,
                            "warning: the training that is resumed had 6 shards, now 2: sums are added in another "
                            "order, so weights differ in their last digits\n");
    }
}

static void number_that_is_kept_is_told(void **state) {
    (void)state;
    static const struct {
        const char *devices;
        int num_shards;
        bool shows;
        const char *line;
    } cases[] = {
        {"cpu:1/1", 0, true, "the training that is resumed has 6 shards: they are kept, and run on 1 device\n"},
        {"cpu:2/1", 0, true, "the training that is resumed has 6 shards: they are kept, and run on 2 devices\n"},
        {"cpu:2/1", SHARDS, true, NULL}, /* the strategy's own */
        {"cpu:6/1", 0, true, NULL},
        {"cpu:2/1", 0, false, NULL}, /* warnings alone */
    };
    char whole[65], hex[65], text[2000];
    int shards;
    begin(false, whole);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *shown = fmemopen(text, sizeof text, "w");
        resume(&(setting){.devices = cases[i].devices,
                          .strategy = {.num_shards = cases[i].num_shards, .resumed_shards = MST_SHARDS_KEPT},
                          .progress = shown,
                          .shows = cases[i].shows},
               hex, &shards);
        fputc('\0', shown);
        fclose(shown);
        assert_int_equal(shards, SHARDS);
        if (cases[i].line)
            assert_non_null(strstr(text, cases[i].line));
        else
            assert_null(strstr(text, "kept"));
    }
}

static void number_that_cannot_be_taken_is_an_error(void **state) {
    (void)state;
    char whole[65];
    begin(false, whole);
    expect_failure(&(setting){.devices = "cpu:4/1"}, MST_INVALID,
                   "the training that is resumed has 6 shards, which 4 devices do not divide: take another number of "
                   "devices, or give a number of shards");
    expect_failure(&(setting){.devices = "cpu:2/1", .strategy = {.num_shards = 2, .resumed_shards = MST_SHARDS_SAME}},
                   MST_INVALID, "the training that is resumed has 6 shards, and the strategy 2: take the same number");
    expect_failure(&(setting){.devices = "cpu:2/1", .strategy = {.resumed_shards = (mst_resumed_shards)4}}, MST_INVALID,
                   "resumed_shards is 4, must be one of mst_resumed_shards");
}

/* After an error that says that devices do not divide the shards, the same model begins anew. */
static void fit_that_begins_has_the_number_of_the_strategy(void **state) {
    (void)state;
    setting s = {.devices = "cpu:4/1"};
    char whole[65];
    begin(false, whole);
    mst_model *model = make_model(&s);
    EXPECT_ERROR(resume_in(model, &s), MST_INVALID, "do not divide");
    s.anew = true;
    EXPECT_OK(fit(model, &s, NULL));
    assert_int_equal(mst_model_num_replicas(model), 4);
    s.anew = false; /* the number of the last fit counts */
    EXPECT_OK(fit(model, &s, NULL));
    assert_int_equal(mst_model_num_replicas(model), 4);
    mst_model_destroy(model);
}

static void set_entry(mst_store *store, mst_dtype dtype, double value) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, MST_SCALAR, &tensor));
    mst_tensor_set(tensor, 0, value);
    EXPECT_OK(mst_store_clear(store, 1u << MST_STATE_CURSOR));
    EXPECT_OK(mst_store_set(store, NULL, MST_STATE_SHARDS, MST_STATE_CURSOR, tensor));
    mst_tensor_release(tensor);
}

static void damaged_number_is_an_error(void **state) {
    (void)state;
    static const double numbers[] = {0, -1, 1e18, (1 << 20) + 1};
    const setting s = {.devices = "cpu:1/1"};
    char whole[65], text[100];
    int shards = 5;
    begin(false, whole);
    mst_model *model = make_model(&s);
    EXPECT_OK(compile(model, &s, NULL));
    mst_store *store = mst_model_store(model);
    EXPECT_OK(mst_checkpoint_restore(folder_path(""), store, NULL, NULL));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        set_entry(store, MST_I64, numbers[i]);
        snprintf(text, sizeof text, "'fit/num_shards' is %.0f, which is no number of shards", numbers[i]);
        EXPECT_ERROR(fit(model, &s, NULL), MST_CORRUPT, text);
    }
    mst_snapshot *damaged;
    EXPECT_OK(mst_store_snapshot(store, &damaged));
    EXPECT_OK(mst_checkpoint_write(folder_path("model.ckpt-8"), damaged, NULL));
    EXPECT_ERROR(mst_checkpoint_num_shards(folder_path("model.ckpt-8"), &shards), MST_CORRUPT, "no number of shards");
    mst_snapshot_release(damaged);
    mst_model_destroy(model);
}

static void checkpoint_says_the_number(void **state) {
    (void)state;
    char whole[65];
    int shards = 5;
    EXPECT_OK(mst_checkpoint_num_shards(folder_path("none"), &shards));
    assert_int_equal(shards, 0);
    EXPECT_OK(mst_checkpoint_num_shards(folder_path(""), &shards));
    assert_int_equal(shards, 0);
    begin(false, whole);
    EXPECT_OK(mst_checkpoint_num_shards(folder_path("model.ckpt-7"), &shards));
    assert_int_equal(shards, SHARDS);
    shards = 5;
    EXPECT_OK(mst_checkpoint_num_shards(folder_path(""), &shards));
    assert_int_equal(shards, SHARDS);
    mst_snapshot *empty; /* as of a program that has begun no fit */
    EXPECT_OK(mst_snapshot_create(&empty));
    EXPECT_OK(mst_checkpoint_write(folder_path("model.ckpt-8"), empty, NULL));
    EXPECT_OK(mst_checkpoint_num_shards(folder_path(""), &shards));
    assert_int_equal(shards, 0);
    mst_snapshot_release(empty);
    folder_write("model.ckpt-9.index", "damaged", 7);
    EXPECT_ERROR(mst_checkpoint_num_shards(folder_path("model.ckpt-9"), &shards), MST_CORRUPT, "model.ckpt-9");
    EXPECT_ERROR(mst_checkpoint_num_shards(NULL, &shards), MST_INVALID, "NULL");
}

/* ---- clusters ---- */

enum { WORKERS_MOST = 7, SERVERS_MOST = 2, TASKS_MOST = WORKERS_MOST + SERVERS_MOST };

typedef struct job {
    setting setting;
    int workers, servers;
    int elastic_min;
    mst_strategy other; /* of the last worker, if is_other */
    bool is_other;
    task_address address[TASKS_MOST]; /* of the workers, then of the servers */
    char hex[WORKERS_MOST][65], error[TASKS_MOST][1024];
    mst_status status[TASKS_MOST];
    int shards[WORKERS_MOST];
} job;

typedef struct worker {
    job *job;
    int number;
    pthread_t thread;
} worker;

static const char *list(task_address *address, int count, char text[400]) {
    int used = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++) used += snprintf(text + used, 400 - (size_t)used, "%s%s", i ? "," : "", address[i]);
    return text;
}

static mst_cluster *cluster_of(job *j, const char *name, int index) {
    char servers[400], workers[400];
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_from_hosts(list(j->address + j->workers, j->servers, servers),
                                     list(j->address, j->workers, workers), name, index, &cluster));
    return cluster;
}

static mst_status open_task(const worker *w, mst_task **out) {
    job *j = w->job;
    const mst_task_options options = {.recovery_timeout = SECONDS, .elastic_min = j->elastic_min};
    if (!j->servers) return open_worker(j->address, j->workers, w->number, options, out);
    mst_cluster *cluster = cluster_of(j, "worker", w->number);
    const mst_status status = mst_task_open(out, .cluster = cluster, .recovery_timeout = SECONDS);
    mst_cluster_release(cluster);
    return status;
}

static mst_status train(worker *w, mst_model *model, mst_task *task) {
    job *j = w->job;
    setting s = j->setting;
    if (j->is_other && w->number == j->workers - 1) s.strategy = j->other;
    MST_TRY(compile(model, &s, task));
    if (s.builds) MST_TRY(build(model));
    if (w->number == 0) MST_TRY(mst_checkpoint_restore(folder_path(""), mst_model_store(model), NULL, NULL));
    MST_TRY(fit(model, &s, NULL));
    MST_TRY(fit(model, &s, NULL)); /* all steps are made, and the tasks have come together already */
    MST_TRY(evaluate(model));
    MST_TRY(mst_model_sha256(model, j->hex[w->number]));
    j->shards[w->number] = mst_model_num_replicas(model);
    return mst_task_leave(task);
}

static void keep_error(job *j, int i, mst_status status) {
    j->status[i] = status;
    snprintf(j->error[i], sizeof j->error[i], "%s", status ? mst_error()->message : "");
}

static void *work(void *context) {
    worker *w = context;
    mst_model *model = make_model(&w->job->setting);
    mst_task *task = NULL;
    mst_status status = open_task(w, &task);
    if (!status) status = train(w, model, task);
    keep_error(w->job, w->number, status);
    mst_model_destroy(model);
    mst_task_close(task);
    return NULL;
}

static void *serve(void *context) {
    const worker *w = context;
    job *j = w->job;
    mst_cluster *cluster = cluster_of(j, "ps", w->number - j->workers);
    keep_error(j, w->number, mst_server_run(.cluster = cluster, .recovery_timeout = SECONDS));
    mst_cluster_release(cluster);
    return NULL;
}

static void run_job(job *j) {
    worker tasks[TASKS_MOST];
    const int count = j->workers + j->servers;
    tasks_find_addresses(j->address, count);
    for (int i = count - 1; i >= 0; i--) { /* servers come first: a refused worker tries again after a second */
        tasks[i] = (worker){.job = j, .number = i};
        assert_int_equal(pthread_create(&tasks[i].thread, NULL, i < j->workers ? work : serve, &tasks[i]), 0);
    }
    for (int i = 0; i < count; i++) assert_int_equal(pthread_join(tasks[i].thread, NULL), 0);
}

/* WANTED: the hash; NULL: any, the same on all. */
static void expect_kept(job like, const char *wanted) {
    job j = like;
    run_job(&j);
    for (int i = 0; i < j.workers + j.servers; i++)
        if (j.status[i]) fail_msg("task %d of %d + %d: %s", i, j.workers, j.servers, j.error[i]);
    for (int i = 0; i < j.workers; i++) {
        assert_int_equal(j.shards[i], SHARDS);
        assert_string_equal(j.hex[i], wanted ? wanted : j.hex[0]);
    }
}

/* Every task ends with the error, which has PART. */
static void expect_refused(job like, const char *part) {
    job j = like;
    run_job(&j);
    for (int i = 0; i < j.workers + j.servers; i++) {
        assert_int_not_equal(j.status[i], MST_OK);
        if (!strstr(j.error[i], part)) fail_msg("task %d: not '%s': %s", i, part, j.error[i]);
    }
}

static job in_step(int workers, const char *devices) {
    return (job){.setting = {.devices = devices, .strategy = {.kind = MST_STRATEGY_MULTI_WORKER}}, .workers = workers};
}

static job served(int workers, bool synchronous) {
    return (job){.setting = {.devices = "cpu:1/1",
                             .strategy = {.kind = MST_STRATEGY_PARAMETER_SERVER, .synchronous = synchronous}},
                 .workers = workers,
                 .servers = SERVERS_MOST};
}

/* With 2 devices each of 2 workers has 3 shards, which one of its devices computes. */
static void workers_keep_the_number_of_the_chief(void **state) {
    (void)state;
    char whole[65];
    begin(false, whole);
    expect_kept(in_step(2, "cpu:1/1"), whole);
    expect_kept(in_step(2, "cpu:2/1"), whole);
    expect_kept(in_step(3, "cpu:2/1"), whole);
    expect_kept(in_step(4, "cpu:1/1"), whole);
    job elastic = in_step(2, "cpu:1/1"), sharded = elastic;
    elastic.elastic_min = 1;
    expect_kept(elastic, whole);
    if (engine_compiles()) return; /* there state is not sharded */
    sharded.setting.strategy.sharded_state = true;
    sharded.setting.builds = true; /* only then the store knows the parts of the slots that it is to restore */
    expect_kept(sharded, whole);
}

static void workers_keep_it_where_statistics_are_of_the_whole_batch(void **state) {
    (void)state;
    char whole[65];
    begin(true, whole);
    job normalizes = in_step(2, "cpu:1/1");
    normalizes.setting.normalizes = true;
    expect_kept(normalizes, whole);
}

static void workers_agree_on_an_error(void **state) {
    (void)state;
    char whole[65];
    begin(false, whole);
    expect_refused(in_step(7, "cpu:1/1"), "the training that is resumed has 6 shards, too few for 7 workers");
    job other = in_step(2, "cpu:1/1");
    other.is_other = true;
    other.other = (mst_strategy){.kind = MST_STRATEGY_MULTI_WORKER, .num_shards = 2};
    expect_refused(other,
                   "the workers do not agree on the number of shards: the state of the others is of a training "
                   "with 6, and the strategy here has 2");
    other.setting.strategy.num_shards = other.other.num_shards = 4;
    other.setting.strategy.resumed_shards = other.other.resumed_shards = MST_SHARDS_SAME;
    expect_refused(other, "the training that is resumed has 6 shards, and the strategy 4");
}

static void served_workers_keep_the_number_of_the_chief(void **state) {
    (void)state;
    char whole[65];
    begin(false, whole);
    expect_kept(served(1, true), whole);
    expect_kept(served(2, true), whole);
    expect_kept(served(4, true), whole);
    expect_kept(served(2, false), NULL);
    job wider = served(3, true);
    wider.setting.devices = "cpu:2/1";
    expect_kept(wider, whole);
}

static void served_workers_agree_on_an_error(void **state) {
    (void)state;
    char whole[65];
    begin(false, whole);
    expect_refused(served(7, true), "the training that is resumed has 6 shards, too few for 7 workers");
    job other = served(2, true);
    other.is_other = true;
    other.other = other.setting.strategy;
    other.other.num_shards = 2;
    expect_refused(other, "the workers do not agree on the number of shards");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(number_is_kept_on_other_devices),
        TEST_IN_FOLDER(another_number_is_told),
        TEST_IN_FOLDER(number_that_is_kept_is_told),
        TEST_IN_FOLDER(number_that_cannot_be_taken_is_an_error),
        TEST_IN_FOLDER(fit_that_begins_has_the_number_of_the_strategy),
        TEST_IN_FOLDER(damaged_number_is_an_error),
        TEST_IN_FOLDER(checkpoint_says_the_number),
        TEST_IN_FOLDER(workers_keep_the_number_of_the_chief),
        TEST_IN_FOLDER(workers_keep_it_where_statistics_are_of_the_whole_batch),
        TEST_IN_FOLDER(workers_agree_on_an_error),
        TEST_IN_FOLDER(served_workers_keep_the_number_of_the_chief),
        TEST_IN_FOLDER(served_workers_agree_on_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
