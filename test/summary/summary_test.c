/* Writers: what callers put on the queue is in the file, even after failures, and each error is reported once. */
#include "muster/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "muster/ops.h"
#include "support/events.h"
#include "support/folder.h"
#include "support/test.h"

static mst_summary_writer *writer_in(const char *folder, mst_summary_options options) {
    mst_summary_writer *writer;
    EXPECT_OK(mst_summary_writer_create(folder_path(folder), &options, &writer));
    return writer;
}

/* The points of one tag. */
typedef struct points {
    const char *tag;
    double *value;
    int64_t *step;
    int count, most;
} points;

static void add_point(const Muster__Event *event, void *context) {
    points *p = context;
    if (event->what_case != MUSTER__EVENT__WHAT_SUMMARY || strcmp(event->summary->value[0]->tag, p->tag) != 0) return;
    assert_true(p->count < p->most);
    const bool scalar = event->summary->value[0]->value_case == MUSTER__SUMMARY__VALUE__VALUE_SIMPLE_VALUE;
    p->value[p->count] = scalar ? (double)event->summary->value[0]->simple_value : -1;
    p->step[p->count++] = event->step;
}

/* Values of the tag in the files of the folder, in order; -1 of one that is not a scalar. */
static int read_scalars(const char *folder, const char *tag, double *value, int64_t *step, int most) {
    points p = {.tag = tag, .value = value, .step = step, .most = most};
    each_event(folder, add_point, &p);
    return p.count;
}

static void flushed_entries_are_in_the_file(void **state) {
    (void)state;
    double value[4] = {0};
    int64_t step[4] = {0};
    mst_summary_writer *writer = writer_in("a/b", (mst_summary_options){.flush_seconds = 3600});
    mst_summary_scalar(writer, "loss", 0.5, 7);
    mst_summary_scalar(writer, "loss", NAN, 8);
    EXPECT_OK(mst_summary_flush(writer));
    assert_int_equal(read_scalars("a/b", "loss", value, step, 4), 2);
    assert_true(value[0] == 0.5 && step[0] == 7 && isnan(value[1]) && step[1] == 8);
    mst_summary_scalar(writer, "loss", 0.25, 9);
    EXPECT_OK(mst_summary_writer_close(writer));
    assert_int_equal(read_scalars("a/b", "loss", value, step, 4), 3);
    EXPECT_OK(mst_summary_writer_close(NULL));
}

static void waiting_entries_are_written_after_a_moment(void **state) {
    (void)state;
    double value[1];
    int64_t step[1];
    mst_summary_writer *writer = writer_in("", (mst_summary_options){.flush_seconds = 0.05});
    mst_summary_scalar(writer, "loss", 1, 1);
    for (int i = 0; i < 200 && read_scalars("", "loss", value, step, 1) == 0; i++) usleep(50000);
    assert_int_equal(read_scalars("", "loss", value, step, 1), 1);
    EXPECT_OK(mst_summary_writer_close(writer));
}

enum { THREADS = 4, EACH = 500 };

static void *push_many(void *context) {
    for (int i = 0; i < EACH; i++) mst_summary_scalar(context, "x", i, i);
    return NULL;
}

/* A queue that holds a few entries makes callers wait, and loses none. */
static void a_full_queue_makes_callers_wait(void **state) {
    (void)state;
    static double value[THREADS * EACH];
    static int64_t step[THREADS * EACH];
    pthread_t thread[THREADS];
    mst_summary_writer *writer = writer_in("", (mst_summary_options){.queue_bytes = 500, .flush_seconds = 3600});
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, push_many, writer), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    EXPECT_OK(mst_summary_writer_close(writer));
    assert_int_equal(read_scalars("", "x", value, step, THREADS * EACH), THREADS * EACH);
    double sum = 0;
    for (int i = 0; i < THREADS * EACH; i++) sum += value[i];
    assert_true(sum == THREADS * (EACH - 1) * EACH / 2.0);
}

/* A file that cannot grow: the error is told by the next flush, once, and calls go on. */
static void a_full_disk_is_told_once(void **state) {
    (void)state;
    const struct rlimit small = {.rlim_cur = 200, .rlim_max = RLIM_INFINITY};
    struct rlimit before;
    double value[64];
    int64_t step[64];
    signal(SIGXFSZ, SIG_IGN);
    mst_summary_writer *writer = writer_in("", (mst_summary_options){0});
    mst_summary_scalar(writer, "first", 1, 1);
    EXPECT_OK(mst_summary_flush(writer));
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 50; i++) mst_summary_scalar(writer, "more", i, i);
    const mst_status status = mst_summary_flush(writer);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_ERROR(status, MST_IO, "tfevents");
    mst_summary_scalar(writer, "later", 1, 1);
    EXPECT_OK(mst_summary_flush(writer));
    EXPECT_OK(mst_summary_writer_close(writer));
    assert_int_equal(read_scalars("", "first", value, step, 64), 1);
    assert_int_equal(read_scalars("", "later", value, step, 64), 0);
}

/* A program that fails without a close: what it put on the queue is written. */
static void waiting_entries_are_written_when_the_program_exits(void **state) {
    (void)state;
    double value[1];
    int64_t step[1];
    int status;
    const pid_t child = fork();
    if (child == 0) {
        mst_summary_writer *writer;
        mst_summary_options options = {.flush_seconds = 3600};
        if (mst_summary_writer_create(folder_path("run"), &options, &writer)) _exit(2);
        mst_summary_scalar(writer, "loss", 3, 4);
        exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_int_equal(read_scalars("run", "loss", value, step, 1), 1);
    assert_true(value[0] == 3 && step[0] == 4);
}

static void mistakes_come_out_of_flush(void **state) {
    (void)state;
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(2, 2), &tensor));
    mst_summary_writer *writer = writer_in("", (mst_summary_options){0});
    mst_summary_scalar(writer, "", 1, 1);
    EXPECT_ERROR(mst_summary_flush(writer), MST_INVALID, "a scalar without a tag");
    EXPECT_OK(mst_summary_flush(writer));
    mst_summary_histogram(writer, "h", NULL, 1);
    EXPECT_ERROR(mst_summary_flush(writer), MST_INVALID, "values is NULL");
    mst_summary_image(writer, "picture", tensor, 1);
    EXPECT_ERROR(mst_summary_flush(writer), MST_INVALID, "image 'picture' is f32[2, 2]");
    mst_summary_text(writer, "t", NULL, 1);
    EXPECT_ERROR(mst_summary_flush(writer), MST_INVALID, "text is NULL");
    mst_summary_hparams_columns(writer, NULL, 0, &(mst_hparam_metric){.group = "train"}, 1);
    EXPECT_ERROR(mst_summary_flush(writer), MST_INVALID, "metric 0 of the hyperparameters has no tag");
    mst_summary_hparams_columns(writer, &(mst_hparam){.number = 1}, 1, NULL, 0);
    EXPECT_ERROR(mst_summary_flush(writer), MST_INVALID, "hyperparameter 0 has no name");
    mst_summary_hparams(writer, &(mst_hparam){.number = 1}, 1);
    EXPECT_ERROR(mst_summary_writer_close(writer), MST_INVALID, "has no name");
    mst_tensor_release(tensor);
}

static void impossible_folders_and_options_are_errors(void **state) {
    (void)state;
    mst_summary_writer *writer = (mst_summary_writer *)state;
    folder_write("file", "x", 1);
    EXPECT_ERROR(mst_summary_writer_create(folder_path("file/run"), NULL, &writer), MST_INVALID, "is a file");
    assert_null(writer);
    EXPECT_ERROR(mst_summary_writer_create("", NULL, &writer), MST_INVALID, "empty");
    const mst_summary_options options = {.flush_seconds = -1};
    EXPECT_ERROR(mst_summary_writer_create(folder_path(""), &options, &writer), MST_INVALID, "flush_seconds");
}

static void writers_of_one_folder_have_files_of_their_own(void **state) {
    (void)state;
    double value[4] = {0};
    int64_t step[4] = {0};
    mst_summary_writer *a = writer_in("", (mst_summary_options){0}), *b = writer_in("", (mst_summary_options){0});
    mst_summary_scalar(a, "x", 1, 1);
    mst_summary_scalar(b, "x", 2, 2);
    EXPECT_OK(mst_summary_writer_close(b));
    EXPECT_OK(mst_summary_writer_close(a));
    assert_int_equal(read_scalars("", "x", value, step, 4), 2);
    assert_true(value[0] == 1 && value[1] == 2);
}

static bool below_3(void *context, const char *tag, int64_t step) {
    (void)context;
    return strcmp(tag, "x") != 0 || step < 3;
}

/* A resumed training: later points go, also half a record at the end, and the rest stays as it was. */
static void a_filtered_file_keeps_the_events_that_pass(void **state) {
    (void)state;
    double value[8];
    int64_t step[8];
    char **files;
    mst_summary_writer *writer = writer_in("", (mst_summary_options){0});
    for (int i = 0; i < 5; i++) mst_summary_scalar(writer, "x", i, i);
    mst_summary_scalar(writer, "other", 9, 4);
    EXPECT_OK(mst_summary_writer_close(writer));
    EXPECT_OK(mst_event_files_list(folder_path(""), &files));
    FILE *file = fopen(files[0], "ab");
    fwrite("half", 1, 4, file);
    fclose(file);
    mst_folder folder;
    EXPECT_OK(mst_folder_open(folder_path(""), &folder));
    EXPECT_OK(mst_event_files_filter(&folder, below_3, NULL));
    mst_folder_close(&folder);
    assert_int_equal(read_scalars("", "x", value, step, 8), 3);
    assert_int_equal(read_scalars("", "other", value, step, 8), 1);
    mst_event_reader *reader;
    const Muster__Event *event;
    EXPECT_OK(mst_event_reader_open(files[0], &reader));
    do EXPECT_OK(mst_event_reader_next(reader, &event));
    while (event);
    assert_false(mst_event_reader_is_torn(reader));
    mst_event_reader_close(reader);
    mst_event_files_free(files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(flushed_entries_are_in_the_file),
        TEST_IN_FOLDER(waiting_entries_are_written_after_a_moment),
        TEST_IN_FOLDER(a_full_queue_makes_callers_wait),
        TEST_IN_FOLDER(a_full_disk_is_told_once),
        TEST_IN_FOLDER(waiting_entries_are_written_when_the_program_exits),
        TEST_IN_FOLDER(mistakes_come_out_of_flush),
        TEST_IN_FOLDER(impossible_folders_and_options_are_errors),
        TEST_IN_FOLDER(writers_of_one_folder_have_files_of_their_own),
        TEST_IN_FOLDER(a_filtered_file_keeps_the_events_that_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
