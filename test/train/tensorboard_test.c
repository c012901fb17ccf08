/* The TensorBoard callback: Keras' tags and folders, curves that go on where a fit is resumed, a profile. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/events.h"
#include "support/folder.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 40, BATCH = 10, FEATURES = 4, CLASSES = 3, PER_EPOCH = ROWS / BATCH };

/* ---- what is in a log ---- */

enum { MOST_POINTS = 200 };

typedef struct point {
    char tag[64];
    int64_t step;
    Muster__Summary__Value__ValueCase kind;
} point;

/* What counts of a folder. */
typedef struct content {
    int num_points, num_graphs, num_run_metadata, num_starts;
    point point[MOST_POINTS];
} content;

static void add_event(const Muster__Event *event, void *context) {
    content *c = context;
    c->num_graphs += event->what_case == MUSTER__EVENT__WHAT_GRAPH_DEF;
    c->num_run_metadata += event->what_case == MUSTER__EVENT__WHAT_TAGGED_RUN_METADATA;
    c->num_starts += event->what_case == MUSTER__EVENT__WHAT_SESSION_LOG;
    if (event->what_case != MUSTER__EVENT__WHAT_SUMMARY) return;
    assert_true(c->num_points < MOST_POINTS);
    point *p = &c->point[c->num_points++];
    snprintf(p->tag, sizeof p->tag, "%s", event->summary->value[0]->tag);
    p->step = event->step;
    p->kind = event->summary->value[0]->value_case;
}

static content read_log(const char *folder) {
    content c = {0};
    each_event(folder, add_event, &c);
    return c;
}

/* The steps of the tag are FIRST, FIRST + EVERY, ... LAST, each once and in order. */
static void expect_steps(const content *c, const char *tag, int64_t first, int64_t last, int64_t every) {
    int64_t next = first;
    for (int i = 0; i < c->num_points; i++) {
        if (strcmp(c->point[i].tag, tag) != 0) continue;
        if (c->point[i].step != next) fail_msg("%s: step %d, not %d", tag, (int)c->point[i].step, (int)next);
        next += every;
    }
    if (next != last + every) fail_msg("%s ends before step %d, not at %d", tag, (int)next, (int)last);
}

/* ---- training ---- */

static mst_model *compiled(void) {
    mst_model *model = training_model(8, CLASSES, 0);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.1), .metric = {MST_METRIC_ACCURACY},
                          .session = {.devices = "cpu:2/1"}, .strategy = {.num_shards = 2}));
    return model;
}

static mst_status fit(mst_model *model, int64_t epochs, bool resume, const mst_callback *callbacks, int count) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1), *validation = training_data(9, FEATURES, CLASSES, 2);
    const mst_status status =
        mst_fit(model, .data = data, .validation = validation, .batch_size = BATCH, .epochs = epochs, .resume = resume,
                .callbacks = callbacks, .num_callbacks = count);
    mst_dataset_release(data);
    mst_dataset_release(validation);
    return status;
}

static void a_fit_writes_what_keras_writes(void **state) {
    (void)state;
    mst_model *model = compiled();
    const mst_hparam hparams[] = {{.name = "units", .number = 8}};
    mst_tensorboard log = {
        .folder = folder_path(""), .histograms_every = 2, .update_every = 2, .hparams = hparams, .num_hparams = 1};
    const mst_callback callback = mst_tensorboard_callback(&log);
    EXPECT_OK(fit(model, 4, false, &callback, 1));
    const content train = read_log("train"), validation = read_log("validation"), root = read_log("");
    expect_steps(&train, "epoch_loss", 0, 3, 1);
    expect_steps(&train, "epoch_accuracy", 0, 3, 1);
    expect_steps(&train, "epoch_learning_rate", 0, 3, 1);
    expect_steps(&train, "batch_loss", 2, 4 * PER_EPOCH, 2);
    expect_steps(&train, "batch_accuracy", 2, 4 * PER_EPOCH, 2);
    expect_steps(&validation, "epoch_loss", 0, 3, 1);
    expect_steps(&validation, "evaluation_loss_vs_iterations", PER_EPOCH, 4 * PER_EPOCH, PER_EPOCH);
    expect_steps(&validation, "evaluation_accuracy_vs_iterations", PER_EPOCH, 4 * PER_EPOCH, PER_EPOCH);
    expect_steps(&root, "_hparams_/session_start_info", 0, 0, 1);
    expect_steps(&root, "_hparams_/experiment", 0, 0, 1); /* once, with the first epoch */
    expect_steps(&root, "_hparams_/session_end_info", 0, 0, 1);
    int histograms = 0;
    for (int i = 0; i < train.num_points; i++) {
        const point *p = &train.point[i];
        const char *end = strrchr(p->tag, '/');
        if (!end) continue;
        assert_string_equal(end, "/histogram");
        assert_true(p->kind == MUSTER__SUMMARY__VALUE__VALUE_HISTO && p->step % 2 == 0);
        histograms++;
    }
    assert_int_equal(histograms, 2 * 4); /* epochs 0 and 2, kernels and biases of 2 layers */
    assert_true(train.num_graphs == 1 && train.num_starts == 0 && validation.num_graphs == 0);
    mst_model_destroy(model);
}

/* ---- resuming ---- */

typedef struct keeper {
    int64_t at;
    mst_snapshot *snapshot;
} keeper;

static mst_status keep(void *context, mst_train_state *state) {
    keeper *k = context;
    return state->step == k->at ? mst_store_snapshot(mst_model_store(state->model), &k->snapshot) : MST_OK;
}

/* The log goes on to the end of epoch 3; the snapshot is of the middle of an epoch before, or of its end. */
static void resume_from(int64_t step) {
    mst_model *first = compiled(), *second = compiled();
    keeper k = {.at = step};
    mst_tensorboard log = {.folder = folder_path("run"), .histograms_every = 1, .update_every = 1};
    const mst_callback callbacks[] = {{.context = &k, .step_end = keep}, mst_tensorboard_callback(&log)};
    EXPECT_OK(fit(first, 4, false, callbacks, 2));
    EXPECT_OK(mst_store_restore(mst_model_store(second), k.snapshot));
    const mst_callback again = mst_tensorboard_callback(&log);
    EXPECT_OK(fit(second, 6, true, &again, 1));
    const content train = read_log("run/train"), validation = read_log("run/validation");
    expect_steps(&train, "epoch_loss", 0, 5, 1);
    expect_steps(&train, "batch_loss", 1, 6 * PER_EPOCH, 1);
    expect_steps(&validation, "epoch_loss", 0, 5, 1);
    expect_steps(&validation, "evaluation_loss_vs_iterations", PER_EPOCH, 6 * PER_EPOCH, PER_EPOCH);
    assert_int_equal(train.num_starts, 2);
    assert_int_equal(train.num_graphs, 1);
    mst_snapshot_release(k.snapshot);
    mst_model_destroy(first);
    mst_model_destroy(second);
}

static void a_resumed_fit_has_no_doubled_points(void **state) {
    (void)state;
    resume_from(2 * PER_EPOCH + 2);
}

static void a_fit_resumed_in_its_first_epoch_has_no_doubled_points(void **state) {
    (void)state;
    resume_from(1);
}

/* A log folder from somebody else: an event file in it is a link to another log's. */
static void a_log_that_goes_on_changes_no_file_of_another(void **state) {
    (void)state;
    char **files;
    mst_model *first = compiled(), *second = compiled();
    mst_snapshot *start;
    mst_tensorboard log = {.folder = folder_path("other")};
    const mst_callback callback = mst_tensorboard_callback(&log);
    keeper k = {.at = 1};
    const mst_callback callbacks[] = {{.context = &k, .step_end = keep}, callback};
    EXPECT_OK(fit(first, 2, false, callbacks, 2));
    start = k.snapshot;
    EXPECT_OK(mst_event_files_list(folder_path("other/train"), &files));
    assert_int_equal(mkdir(folder_path("run"), 0700), 0);
    assert_int_equal(mkdir(folder_path("run/train"), 0700), 0);
    assert_int_equal(symlink(files[0], folder_path("run/train/events.out.tfevents.1.host")), 0);
    log.folder = folder_path("run");
    EXPECT_OK(mst_store_restore(mst_model_store(second), start));
    EXPECT_OK(fit(second, 3, true, &callback, 1));
    const content other = read_log("other/train"), run = read_log("run/train");
    expect_steps(&other, "epoch_loss", 0, 1, 1);
    expect_steps(&run, "epoch_loss", 0, 2, 1);
    mst_event_files_free(files);
    mst_snapshot_release(start);
    mst_model_destroy(first);
    mst_model_destroy(second);
}

static void a_part_of_the_log_that_is_a_link_is_refused(void **state) {
    (void)state;
    mst_model *model = compiled();
    mst_tensorboard log = {.folder = folder_path("")};
    const mst_callback callback = mst_tensorboard_callback(&log);
    assert_int_equal(mkdir(folder_path("other"), 0700), 0);
    assert_int_equal(symlink("other", folder_path("train")), 0);
    EXPECT_ERROR(fit(model, 1, false, &callback, 1), MST_INVALID, "train' is a symbolic link");
    assert_int_equal(rmdir(folder_path("other")), 0);
    mst_model_destroy(model);
}

static void a_second_fit_is_not_taken_for_a_resumed_one(void **state) {
    (void)state;
    mst_model *model = compiled();
    mst_tensorboard log = {.folder = folder_path("")};
    const mst_callback callback = mst_tensorboard_callback(&log);
    EXPECT_OK(fit(model, 2, false, &callback, 1));
    EXPECT_OK(fit(model, 2, false, &callback, 1));
    const content train = read_log("train");
    assert_int_equal(train.num_starts, 0);
    int points = 0;
    for (int i = 0; i < train.num_points; i++) points += strcmp(train.point[i].tag, "epoch_loss") == 0;
    assert_int_equal(points, 4);
    mst_model_destroy(model);
}

/* ---- failures ---- */

static mst_status stop_with_error(void *context, mst_train_state *state) {
    (void)context;
    return state->step == 6 ? MST_FAIL(MST_CANCELLED, "enough") : MST_OK;
}

static void points_written_before_a_failure_are_there(void **state) {
    (void)state;
    mst_model *model = compiled();
    mst_tensorboard log = {.folder = folder_path(""), .update_every = 1, .profile_first = 5, .profile_last = 100};
    const mst_callback callbacks[] = {mst_tensorboard_callback(&log), {.step_end = stop_with_error}};
    EXPECT_ERROR(fit(model, 4, false, callbacks, 2), MST_CANCELLED, "enough");
    const content train = read_log("train");
    expect_steps(&train, "batch_loss", 1, 6, 1);
    assert_int_equal(access(folder_path("trace-5-100.json"), R_OK), 0);
    assert_null(log.log);
    mst_model_destroy(model);
}

static void wrong_options_are_errors_before_the_first_step(void **state) {
    (void)state;
    static const struct {
        mst_tensorboard log;
        const char *message;
    } cases[] = {{{0}, "no folder is given"},
                 {{.folder = "x", .update_every = -1}, "must not be negative"},
                 {{.folder = "x", .profile_first = 3, .profile_last = 2}, "steps 3 to 2"},
                 {{.folder = "x", .profile_last = 2}, "steps 0 to 2"}};
    mst_model *model = compiled();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_tensorboard log = cases[i].log;
        const mst_callback callback = mst_tensorboard_callback(&log);
        EXPECT_ERROR(fit(model, 1, false, &callback, 1), MST_INVALID, cases[i].message);
    }
    folder_write("file", "x", 1);
    mst_tensorboard log = {.folder = folder_path("file")};
    const mst_callback callback = mst_tensorboard_callback(&log);
    EXPECT_ERROR(fit(model, 1, false, &callback, 1), MST_INVALID, "is a file");
    mst_model_destroy(model);
}

/* ---- profile ---- */

static int count_phase(const json_t *events, const char *phase, const char *name) {
    size_t i;
    json_t *event;
    int count = 0;
    json_array_foreach(events, i, event) {
        if (strcmp(json_string_value(json_object_get(event, "ph")), phase) != 0) continue;
        count += !name || strcmp(json_string_value(json_object_get(event, "name")), name) == 0;
    }
    return count;
}

enum { MOST_LANES = 5 };

/* Slices of a lane follow each other; arrows that begin also end. */
static void expect_order(const json_t *events, int num_lanes) {
    double end[MOST_LANES] = {0};
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event) {
        if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0) continue;
        const int lane = (int)json_integer_value(json_object_get(event, "tid"));
        const double begin = json_number_value(json_object_get(event, "ts"));
        assert_in_range(lane, 0, num_lanes - 1);
        assert_true(begin >= end[lane] - 0.002);
        end[lane] = begin + json_number_value(json_object_get(event, "dur"));
    }
    assert_int_equal(count_phase(events, "s", NULL), count_phase(events, "f", NULL));
}

/* A device that compiles has a second lane, of its programs; the first has their starts. Beside the devices there is
 * the CPU. */
static void a_profile_has_a_lane_for_each_device(void **state) {
    (void)state;
    const bool compiles = engine_compiles();
    const int num_lanes = compiles ? 5 : 2;
    const char *update = compiles ? "program_2" : "update/apply_gradients/step";
    mst_model *model = compiled();
    mst_tensorboard log = {.folder = folder_path(""), .profile_first = 2, .profile_last = 4};
    const mst_callback callback = mst_tensorboard_callback(&log);
    EXPECT_OK(fit(model, 2, false, &callback, 1));
    const content train = read_log("train");
    assert_int_equal(train.num_run_metadata, 3);
    json_t *root = json_load_file(folder_path("trace-2-4.json"), 0, NULL);
    const json_t *events = json_object_get(root, "traceEvents");
    assert_int_equal(count_phase(events, "M", "thread_name"), num_lanes);
    assert_int_equal(count_phase(events, "X", update) % 3, 0);
    assert_true(count_phase(events, "X", update) > 0);
    for (int shard = 0; shard < 2; shard++) {
        char name[32];
        snprintf(name, sizeof name, "shard_%d/program_0", shard);
        assert_int_equal(count_phase(events, "X", name), compiles ? 2 * 3 : 0);
    }
    /* for devices that compile a batch is copied while the step before runs */
    assert_int_equal(count_phase(events, "X", "replica_0/inputs"), compiles ? 0 : 3);
    assert_true(count_phase(events, "C", NULL) > 0 && count_phase(events, "s", "transfer") > 0);
    expect_order(events, num_lanes);
    json_decref(root);
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_fit_writes_what_keras_writes),
        TEST_IN_FOLDER(a_resumed_fit_has_no_doubled_points),
        TEST_IN_FOLDER(a_fit_resumed_in_its_first_epoch_has_no_doubled_points),
        TEST_IN_FOLDER(a_log_that_goes_on_changes_no_file_of_another),
        TEST_IN_FOLDER(a_part_of_the_log_that_is_a_link_is_refused),
        TEST_IN_FOLDER(a_second_fit_is_not_taken_for_a_resumed_one),
        TEST_IN_FOLDER(points_written_before_a_failure_are_there),
        TEST_IN_FOLDER(wrong_options_are_errors_before_the_first_step),
        TEST_IN_FOLDER(a_profile_has_a_lane_for_each_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
