/* mst_dataset_cache_file: the first pass writes the rows to a file, and later passes read it. Every row comes once,
 * over epochs, parts, shards and restarts. Iterators, threads and processes that write at the same time do not
 * disturb each other. An incomplete file never gets the final name, whichever system call fails. A map that counts
 * its calls shows whether rows were made again or read. */
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "data/dataset.h"
#include "support/folder.h"
#include "support/ledger.h"
#include "support/pipeline.h"
#include "support/records.h"
#include "support/test.h"
#include "support/varied_rows.h"

enum { MOST = 4096, ROWS = 53 };

/* The tests run twice: with rows of one size, and with strings and rows of any length. */
static bool varies;

/* To wait for the disk takes most of the time of these tests. */
static int without_sync(mst_file_call call, size_t *size) {
    (void)size;
    return call == MST_FILE_SYNC ? -1 : 0;
}

static const char *cache_path(void) {
    return folder_path("rows.cache");
}

static bool is_there(void) {
    return access(cache_path(), F_OK) == 0;
}

/* Files in the test's folder, hidden ones too. */
static int num_files(void) {
    int count = 0;
    DIR *folder = opendir(folder_path(""));
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

typedef struct counter {
    atomic_int calls;
    int fails_at;     /* row; 0: none */
    int milliseconds; /* of a row */
} counter;

static mst_status count_row(const mst_array *in, mst_array *out, void *context) {
    counter *c = context;
    const int64_t row = *(const int64_t *)in[0].data / 10;
    if (c->fails_at && row == c->fails_at) return MST_FAIL(MST_CORRUPT, "row %d is not liked", (int)row);
    if (c->milliseconds) nanosleep(&(struct timespec){.tv_nsec = 1000000L * c->milliseconds}, NULL);
    memcpy(out[0].data, in[0].data, 16);
    *(uint8_t *)out[1].data = *(const uint8_t *)in[1].data;
    atomic_fetch_add(&c->calls, 1);
    return MST_OK;
}

static mst_dataset *mapped(int64_t rows, counter *c) {
    const mst_spec specs[] = {{MST_I64, MST_SHAPE(2)}, {MST_U8, MST_SCALAR}};
    mst_dataset *d = pipeline_numbers(rows);
    THEN(d, mst_dataset_map(d, count_row, c, specs, 2, &made));
    return d;
}

static mst_dataset *cached(int64_t rows, counter *c) {
    mst_dataset *d = mapped(rows, c);
    if (varies) d = varied_rows(d);
    THEN(d, mst_dataset_cache_file(d, cache_path(), &made));
    return varies ? varied_rows_checked(d) : d;
}

static void expect_all_in_order(mst_dataset *d, int64_t epoch, int64_t count) {
    int64_t rows[MOST];
    const int64_t got = pipeline_rows(d, epoch, rows, MOST, NULL);
    if (got < 0) fail_msg("%s", mst_error()->message);
    assert_int_equal(got, count);
    for (int64_t i = 0; i < count; i++) assert_int_equal(rows[i], i);
}

static void the_first_pass_writes_and_others_read(void **state) {
    (void)state;
    counter c = {0};
    mst_dataset *d = cached(ROWS, &c);
    assert_int_equal(mst_dataset_num_rows(d), ROWS);
    assert_false(is_there());
    expect_all_in_order(d, 3, ROWS);
    assert_true(is_there());
    assert_int_equal(num_files(), 1);
    assert_int_equal(c.calls, ROWS);
    for (int64_t epoch = 0; epoch < 3; epoch++) expect_all_in_order(d, epoch, ROWS);
    mst_dataset_release(d);
    d = cached(ROWS, &c); /* as in another process */
    expect_all_in_order(d, 0, ROWS);
    mst_dataset_release(d);
    assert_int_equal(c.calls, ROWS);
}

static void rows_can_be_had_in_any_order(void **state) {
    (void)state;
    counter c = {0};
    int64_t rows[MOST], again[MOST];
    int seen[ROWS] = {0};
    mst_dataset *d = cached(ROWS, &c);
    THEN(d, mst_dataset_shuffle(d, NULL, &made));
    assert_int_equal(pipeline_rows(d, 1, rows, MOST, NULL), ROWS);
    assert_int_equal(pipeline_rows(d, 1, again, MOST, NULL), ROWS);
    assert_memory_equal(rows, again, ROWS * sizeof *rows);
    for (int i = 0; i < ROWS; i++) seen[rows[i]]++;
    for (int i = 0; i < ROWS; i++) assert_int_equal(seen[i], 1);
    assert_int_equal(c.calls, ROWS);
    mst_dataset_release(d);
}

static void a_broken_pass_leaves_nothing(void **state) {
    (void)state;
    for (int64_t stop = 0; stop < ROWS; stop += 4) {
        counter c = {0};
        mst_iterator *it;
        const mst_batch *batch;
        mst_dataset *d = cached(ROWS, &c);
        THEN(d, mst_dataset_batch(d, 4, false, &made));
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        for (int64_t i = 0; i < stop; i += 4) EXPECT_OK(mst_iterator_next(it, &batch));
        assert_false(is_there());
        mst_iterator_destroy(it);
        mst_dataset_release(d);
        assert_int_equal(num_files(), 0);
        assert_int_equal(c.calls, stop);
    }
}

/* Otherwise it would be written again, over a file that may be good. */
static void a_file_that_cannot_be_looked_at_is_not_taken_for_missing(void **state) {
    (void)state;
    counter c = {0};
    mst_iterator *it;
    assert_int_equal(symlink(cache_path(), cache_path()), 0);
    mst_dataset *d = cached(ROWS, &c);
    EXPECT_ERROR(mst_iterator_create(d, 0, &it), MST_IO, "cannot be opened");
    mst_dataset_release(d);
}

static void passes_over_a_part_go_on_with_the_file(void **state) {
    (void)state;
    counter c = {0};
    int64_t rows[MOST];
    mst_dataset *d = cached(ROWS, &c);
    THEN(d, mst_dataset_take(d, 10, &made));
    THEN(d, mst_dataset_repeat(d, 5, &made));
    assert_int_equal(pipeline_rows(d, 0, rows, MOST, NULL), 50);
    for (int i = 0; i < 50; i++) assert_int_equal(rows[i], i % 10);
    assert_int_equal(c.calls, 10);
    mst_dataset_release(d);
}

static mst_status keep_even(const mst_array *in, bool *keep, void *context) {
    (void)context;
    *keep = *(const int64_t *)in[0].data % 2 == 0;
    return MST_OK;
}

static void a_number_of_rows_that_is_not_known_is_found(void **state) {
    (void)state;
    const int64_t counts[] = {20, 13};
    records_write(2, counts, MST_TFRECORD_GZIP);
    mst_dataset *d = records_open(NULL, true);
    THEN(d, mst_dataset_filter(d, keep_even, NULL, &made));
    THEN(d, mst_dataset_cache_file(d, cache_path(), &made));
    THEN(d, mst_dataset_batch(d, 4, false, &made));
    for (int pass = 0; pass < 3; pass++) {
        mst_iterator *it;
        int64_t ids[MOST];
        EXPECT_OK(mst_iterator_create(d, pass, &it));
        assert_int_equal(records_ids(it, INT64_MAX, ids, MOST), 17);
        for (int64_t i = 0; i < 17; i++) assert_int_equal(ids[i], 2 * i);
        mst_iterator_destroy(it);
        assert_true(is_there());
    }
    mst_dataset_release(d);
}

static void change_byte(const char *path, long at) {
    FILE *file = fopen(path, "r+b");
    fseek(file, at, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 0x10, file);
    fclose(file);
}

static void damaged_records_that_were_left_out_are_counted_in_every_pass(void **state) {
    (void)state;
    const int64_t counts[] = {9};
    const mst_tfrecord_options options = {.forward = true, .skip_corrupt = 2};
    records_write(1, counts, MST_TFRECORD_PLAIN);
    change_byte(folder_path("a-00"), 30);
    mst_dataset *d = records_open(&options, true);
    THEN(d, mst_dataset_cache_file(d, cache_path(), &made));
    for (int pass = 0; pass < 2; pass++) {
        mst_iterator *it;
        int64_t ids[MOST];
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        assert_int_equal(records_ids(it, INT64_MAX, ids, MOST), 8);
        assert_int_equal(ids[0], 1);
        assert_int_equal(mst_iterator_num_corrupt(it), 1);
        mst_iterator_destroy(it);
    }
    mst_dataset_release(d);
}

static void a_dataset_without_rows_has_a_file_too(void **state) {
    (void)state;
    mst_dataset *d = pipeline_numbers(3);
    THEN(d, mst_dataset_take(d, 0, &made));
    THEN(d, mst_dataset_cache_file(d, cache_path(), &made));
    for (int pass = 0; pass < 2; pass++) expect_all_in_order(d, 0, 0);
    assert_true(is_there());
    mst_dataset_release(d);
}

static void names_of_classes_stay(void **state) {
    (void)state;
    const char *const names[] = {"no", "yes"};
    mst_dataset *d = pipeline_numbers(2);
    if (varies) d = varied_rows(d);
    THEN(d, mst_dataset_name_classes(d, 1, names, 2, &made));
    THEN(d, mst_dataset_cache_file(d, cache_path(), &made));
    assert_string_equal(mst_dataset_class_name(d, 1, 1), "yes");
    mst_dataset_release(d);
}

/* ---- positions ---- */

typedef struct settings {
    int64_t buffer, shards, batch, prefetch;
    bool repeat_first;
} settings;

static const settings all_settings[] = {
    {0, 1, 0, 0, false}, {9, 1, 4, 0, true}, {20, 2, 5, 2, true}, {7, 3, 0, 0, false}, {100, 1, 6, 1, true}};
enum { SETTINGS = sizeof all_settings / sizeof *all_settings, EPOCHS = 2 };

typedef enum file_change { FILE_STAYS, FILE_GOES, FILE_COMES, FILE_CHANGES } file_change;

/* A pipeline, and what happens to its file between a save and a restore. */
typedef struct pipeline_case {
    const settings *s;
    file_change change;
    counter *c;
    int *round;
} pipeline_case;

static mst_dataset *build(const void *context, int64_t shard) {
    const pipeline_case *p = context;
    const settings *s = p->s;
    mst_dataset *d = cached(ROWS, p->c);
    const mst_shuffle_options options = {.buffer_size = s->buffer, .seed = 2};
    if (s->shards > 1) THEN(d, mst_dataset_shard(d, s->shards, shard, &made));
    if (s->repeat_first) THEN(d, mst_dataset_repeat(d, EPOCHS, &made));
    if (s->buffer) THEN(d, mst_dataset_shuffle(d, &options, &made));
    if (!s->repeat_first) THEN(d, mst_dataset_repeat(d, EPOCHS, &made));
    if (s->batch) THEN(d, mst_dataset_batch(d, s->batch, false, &made));
    if (s->prefetch) THEN(d, mst_dataset_prefetch(d, s->prefetch, &made));
    return d;
}

/* The file goes each time, or another completes it at the third restart. */
static void change_file(const void *context) {
    const pipeline_case *p = context;
    if (p->change == FILE_GOES) unlink(cache_path());
    if (p->change != FILE_COMES || ++*p->round != 3) return;
    mst_dataset *d = cached(ROWS, p->c);
    expect_all_in_order(d, 0, ROWS);
    mst_dataset_release(d);
}

static void check_all(void (*check)(const ledger *l)) {
    for (int change = FILE_STAYS; change < FILE_CHANGES; change++)
        for (const settings *s = all_settings; s < all_settings + SETTINGS; s++) {
            counter c = {0};
            int round = 0;
            check(&(const ledger){.build = build,
                                  .context = &(const pipeline_case){s, (file_change)change, &c, &round},
                                  .read = pipeline_read,
                                  .num_rows = ROWS,
                                  .num_shards = s->shards,
                                  .num_epochs = EPOCHS,
                                  .interrupt = change_file});
            unlink(cache_path());
            assert_int_equal(num_files(), 0);
        }
}

static void every_row_comes_once_over_epochs_shards_and_restarts(void **state) {
    (void)state;
    check_all(ledger_expect_each_row_once);
}

static void damaged_positions_do_no_harm(void **state) {
    (void)state;
    check_all(ledger_expect_no_harm_by_positions);
}

/* ---- several at once ---- */

static void two_iterators_write_at_once(void **state) {
    (void)state;
    counter c = {0};
    int64_t a[ROWS] = {0}, b[ROWS] = {0};
    mst_dataset *d = cached(ROWS, &c);
    mst_iterator *first, *second;
    EXPECT_OK(mst_iterator_create(d, 0, &first));
    EXPECT_OK(mst_iterator_create(d, 0, &second));
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(pipeline_read(first, 1, &a[i], 1), 1);
        assert_int_equal(pipeline_read(second, 1, &b[i], 1), 1);
        assert_true(a[i] == i && b[i] == i);
    }
    mst_iterator_destroy(first);
    mst_iterator_destroy(second);
    assert_int_equal(num_files(), 1);
    expect_all_in_order(d, 0, ROWS);
    mst_dataset_release(d);
}

/* A process may find the unfinished file of another one. A killed process leaves no file. */
static void processes_write_at_once(void **state) {
    (void)state;
    enum { PROCESSES = 4 };
    pid_t child[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        fflush(NULL);
        if ((child[p] = fork()) == 0) {
            counter c = {.milliseconds = 1};
            int64_t rows[MOST];
            mst_dataset *d = cached(ROWS, &c);
            for (int pass = 0; pass < 3; pass++)
                if (pipeline_rows(d, 0, rows, MOST, NULL) != ROWS) _exit(1);
            _exit(0);
        }
    }
    for (int p = 0; p < PROCESSES; p++) {
        int result;
        assert_int_equal(waitpid(child[p], &result, 0), child[p]);
        assert_int_equal(result, 0);
    }
    counter c = {0};
    mst_dataset *d = cached(ROWS, &c);
    expect_all_in_order(d, 0, ROWS);
    assert_int_equal(c.calls, 0);
    assert_int_equal(num_files(), 1);
    mst_dataset_release(d);
}

/* Takes D, whose thread is at work. */
static void expect_quick_end(mst_iterator *it, mst_dataset *d) {
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    mst_iterator_destroy(it);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    assert_true(ended.tv_sec - begun.tv_sec <= 2);
    mst_dataset_release(d);
    assert_int_equal(num_files(), 0);
}

static void a_pipeline_ends_at_once_while_its_cache_is_written(void **state) {
    (void)state;
    counter c = {.milliseconds = 2};
    mst_dataset *d = cached(20000, &c);
    mst_iterator *it;
    THEN(d, mst_dataset_batch(d, 20000, false, &made));
    THEN(d, mst_dataset_prefetch(d, 1, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    for (int i = 0; i < 10000 && c.calls < 3; i++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    expect_quick_end(it, d);
    assert_true(c.calls >= 3 && c.calls < 20000);
}

/* Rows that only need to be copied; to write all of them, which shard asks for, takes far longer. */
static void a_pipeline_ends_at_once_while_rows_in_memory_are_written(void **state) {
    (void)state;
    mst_dataset *d = pipeline_numbers(1000);
    mst_iterator *it;
    THEN(d, mst_dataset_repeat(d, 200 * 1000, &made));
    if (varies) d = varied_rows(d);
    THEN(d, mst_dataset_cache_file(d, cache_path(), &made));
    if (varies) d = varied_rows_checked(d);
    THEN(d, mst_dataset_shard(d, 200 * 1000 * 1000, 200 * 1000 * 1000 - 1, &made));
    THEN(d, mst_dataset_batch(d, 1, false, &made));
    THEN(d, mst_dataset_prefetch(d, 1, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    for (int i = 0; i < 10000 && !num_files(); i++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    expect_quick_end(it, d);
}

/* ---- failures ---- */

static mst_status read_all(mst_dataset *d) {
    mst_iterator *it;
    const mst_batch *batch;
    MST_TRY(mst_iterator_create(d, 0, &it));
    mst_status status;
    int64_t value[2], expected = 0;
    while (!(status = mst_iterator_next(it, &batch)) && batch && !(status = mst_batch_copy(batch, 0, 0, 1, value)))
        assert_int_equal(value[0], 10 * expected++);
    if (!status) assert_int_equal(expected, ROWS);
    mst_iterator_destroy(it);
    return status;
}

static void a_failed_map_leaves_nothing_and_can_be_tried_again(void **state) {
    (void)state;
    counter c = {.fails_at = 30};
    mst_dataset *d = cached(ROWS, &c);
    EXPECT_ERROR(read_all(d), MST_CORRUPT, "row 30 is not liked");
    assert_int_equal(num_files(), 0);
    c.fails_at = 0;
    EXPECT_OK(read_all(d));
    assert_int_equal(num_files(), 1);
    mst_dataset_release(d);
}

typedef enum fault_way { WAY_FULL, WAY_READ_ONLY, WAY_DENIED, WAY_TORN, NUM_WAYS } fault_way;

static struct {
    fault_way way;
    int at, calls;
} fault;

/* Call number `at` fails, and so do later calls, except those that remove a file. A denied permission is denied only
 * once. A write to a full disk, and a torn write, writes half of its bytes. */
static int fail_at(mst_file_call call, size_t *size) {
    static const int codes[NUM_WAYS] = {ENOSPC, EROFS, EACCES, EIO};
    const int number = fault.calls++;
    if (number < fault.at && call == MST_FILE_SYNC) return -1;
    if (number < fault.at || call == MST_FILE_UNLINK || (fault.way == WAY_DENIED && number > fault.at)) return 0;
    if (call == MST_FILE_WRITE) *size = fault.way == WAY_FULL || fault.way == WAY_TORN ? *size / 2 : 0;
    return codes[fault.way];
}

static void whatever_call_fails_no_broken_file_gets_the_name(void **state) {
    (void)state;
    for (fault_way way = 0; way < NUM_WAYS; way++) {
        bool reached = true;
        int at = 0;
        for (; reached; at++) {
            counter c = {0};
            mst_dataset *d = cached(ROWS, &c);
            fault.way = way;
            fault.at = at;
            fault.calls = 0;
            mst_file_replace_fault(fail_at);
            const mst_status status = read_all(d);
            mst_file_replace_fault(without_sync);
            reached = fault.calls > at;
            if (!reached) EXPECT_OK(status);
            if (status) {
                assert_int_equal(status, MST_IO);
                assert_non_null(strstr(mst_error()->message, "rows.cache' cannot be written"));
                assert_int_equal(num_files(), 0);
            }
            EXPECT_OK(read_all(d)); /* and then it works */
            EXPECT_OK(read_all(d));
            assert_int_equal(num_files(), 1);
            mst_dataset_release(d);
            unlink(cache_path());
        }
        assert_true(at > ROWS);
    }
}

static void any_damage_is_told_with_what_to_do(void **state) {
    (void)state;
    counter c = {0};
    struct stat info;
    mst_dataset *d = cached(ROWS, &c);
    EXPECT_OK(read_all(d));
    assert_int_equal(stat(cache_path(), &info), 0);
    for (long i = 0; i < info.st_size; i++) {
        change_byte(cache_path(), i);
        EXPECT_ERROR(read_all(d), MST_CORRUPT, "remove");
        assert_non_null(strstr(mst_error()->message, "rows.cache"));
        change_byte(cache_path(), i);
    }
    EXPECT_OK(read_all(d));
    for (off_t size = info.st_size - 1; size >= 0; size--) {
        assert_int_equal(truncate(cache_path(), size), 0);
        EXPECT_ERROR(read_all(d), MST_CORRUPT, "remove");
    }
    assert_int_equal(c.calls, ROWS); /* a damaged file is never written over */
    mst_dataset_release(d);
}

static void a_file_of_something_else_is_told(void **state) {
    (void)state;
    counter c = {0};
    mst_dataset *d = cached(ROWS, &c), *other;
    EXPECT_OK(read_all(d));
    other = mapped(ROWS, &c);
    THEN(other, mst_dataset_scale(other, 0, MST_F32, 1, &made));
    THEN(other, mst_dataset_cache_file(other, cache_path(), &made));
    EXPECT_ERROR(read_all(other), MST_INVALID, "is of another dataset: its rows are i64[2], u8[]");
    if (varies) assert_non_null(strstr(mst_error()->message, "its rows are " VARIED_ROWS_TEXT ", and"));
    assert_non_null(
        strstr(mst_error()->message, "those of this dataset f32[2], u8[]: name another file, or remove it"));
    mst_dataset_release(other);
    other = cached(ROWS - 1, &c);
    EXPECT_ERROR(read_all(other), MST_INVALID, "it has 53 rows, and this dataset 52: name another file, or remove it");
    mst_dataset_release(other);
    (void)folder_write("rows.cache", "name,color\n1,red\n", 17);
    EXPECT_ERROR(read_all(d), MST_CORRUPT, "is no cache, or is damaged");
    unlink(cache_path());
    assert_int_equal(mkdir(cache_path(), 0755), 0);
    EXPECT_ERROR(read_all(d), MST_INVALID, "rows.cache': is a folder");
    mst_dataset_release(d);
}

static void datasets_that_cannot_be_cached_are_named(void **state) {
    (void)state;
    mst_dataset *out = NULL, *endless, *rows = pipeline_numbers(3);
    EXPECT_OK(mst_dataset_repeat(rows, -1, &endless));
    EXPECT_ERROR(mst_dataset_cache_file(endless, "a", &out), MST_INVALID, "put repeat behind cache");
    EXPECT_ERROR(mst_dataset_cache_file(rows, "", &out), MST_INVALID, "name of the file is empty");
    assert_null(out);
    EXPECT_OK(mst_dataset_cache_file(rows, folder_path("no/such/folder"), &out));
    mst_iterator *it;
    const mst_batch *batch;
    EXPECT_OK(mst_iterator_create(out, 0, &it));
    EXPECT_ERROR(mst_iterator_next(it, &batch), MST_IO, "no/such/folder' cannot be written");
    mst_iterator_destroy(it);
    mst_dataset_release(out);
    mst_dataset_release(endless);
    mst_dataset_release(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(the_first_pass_writes_and_others_read),
        TEST_IN_FOLDER(rows_can_be_had_in_any_order),
        TEST_IN_FOLDER(a_broken_pass_leaves_nothing),
        TEST_IN_FOLDER(a_file_that_cannot_be_looked_at_is_not_taken_for_missing),
        TEST_IN_FOLDER(passes_over_a_part_go_on_with_the_file),
        TEST_IN_FOLDER(a_number_of_rows_that_is_not_known_is_found),
        TEST_IN_FOLDER(damaged_records_that_were_left_out_are_counted_in_every_pass),
        TEST_IN_FOLDER(a_dataset_without_rows_has_a_file_too),
        TEST_IN_FOLDER(names_of_classes_stay),
        TEST_IN_FOLDER(every_row_comes_once_over_epochs_shards_and_restarts),
        TEST_IN_FOLDER(damaged_positions_do_no_harm),
        TEST_IN_FOLDER(two_iterators_write_at_once),
        TEST_IN_FOLDER(processes_write_at_once),
        TEST_IN_FOLDER(a_pipeline_ends_at_once_while_its_cache_is_written),
        TEST_IN_FOLDER(a_pipeline_ends_at_once_while_rows_in_memory_are_written),
        TEST_IN_FOLDER(a_failed_map_leaves_nothing_and_can_be_tried_again),
        TEST_IN_FOLDER(whatever_call_fails_no_broken_file_gets_the_name),
        TEST_IN_FOLDER(any_damage_is_told_with_what_to_do),
        TEST_IN_FOLDER(a_file_of_something_else_is_told),
        TEST_IN_FOLDER(datasets_that_cannot_be_cached_are_named),
    };
    mst_file_replace_fault(without_sync);
    const int failed = cmocka_run_group_tests_name("rows of one size", tests, NULL, NULL);
    varies = true;
    return cmocka_run_group_tests_name("rows of any length", tests, NULL, NULL) + failed;
}
