/* Strings in a pipeline: rows of tensors, maps, caches, zips, filters and prefetches pass them on whole, whichever
 * thread copies them. Strings that a map must not give are errors. */
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/team.h"
#include "data/dataset.h"
#include "support/pipeline.h"
#include "support/test.h"

static const char *const words[] = {"", "a", "bc", "def", "a longer one, of some words", "z", "yy"};
enum { ROWS = sizeof words / sizeof *words };

/* Components: string [] with words, i64 [] with their numbers. */
static mst_dataset *open_words(void) {
    mst_tensor *tensor[2];
    mst_dataset *dataset;
    mst_string string[ROWS];
    int64_t number[ROWS];
    for (int i = 0; i < ROWS; i++) {
        string[i] = mst_string_of(words[i]);
        number[i] = i;
    }
    EXPECT_OK(mst_tensor_copy(MST_STRING, MST_SHAPE(ROWS), string, &tensor[0]));
    EXPECT_OK(mst_tensor_copy(MST_I64, MST_SHAPE(ROWS), number, &tensor[1]));
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &dataset));
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    return dataset;
}

static void expect_text(mst_string got, const char *expected) {
    if (!mst_string_equal(got, mst_string_of(expected)))
        fail_msg("'%.*s' and not '%s'", (int)got.length, got.data ? got.data : "", expected);
}

/* Each batch of DATASET, of words and their numbers, EPOCHS times; the words are PREFIX and the word. */
static void expect_words(mst_dataset *dataset, const char *prefix, int64_t rows) {
    mst_iterator *it;
    const mst_batch *batch;
    int64_t seen = 0;
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    for (;;) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        if (!batch) break;
        const int64_t size = mst_batch_size(batch);
        mst_string string[ROWS], again[ROWS];
        int64_t number[ROWS];
        mst_tensor *tensor;
        EXPECT_OK(mst_batch_copy_all(batch, 0, size, (void *[]){string, number}));
        EXPECT_OK(mst_batch_copy(batch, 0, 0, size, again));
        EXPECT_OK(mst_batch_tensor(batch, 0, &tensor));
        for (int64_t i = 0; i < size; i++) {
            char expected[200];
            snprintf(expected, sizeof expected, "%s%s", prefix, words[number[i]]);
            expect_text(string[i], expected);
            expect_text(again[i], expected);
            expect_text(mst_tensor_get_string(tensor, i), expected);
        }
        mst_tensor_release(tensor);
        seen += size;
    }
    assert_int_equal(seen, rows);
    mst_iterator_destroy(it);
    mst_dataset_release(dataset);
}

static void rows_of_tensors_may_be_strings(void **state) {
    (void)state;
    mst_dataset *d = open_words();
    assert_int_equal(mst_dataset_spec(d, 0).dtype, MST_STRING);
    expect_words(d, "", ROWS);
    d = open_words();
    THEN(d, mst_dataset_shuffle(d, NULL, &made));
    THEN(d, mst_dataset_batch(d, 3, false, &made));
    expect_words(d, "", ROWS);
}

/* out: "<word>" made anew, number */
static mst_status put_before(const mst_array *in, mst_array *out, void *context) {
    const mst_string word = *(const mst_string *)in[0].data, prefix = mst_string_of(context);
    char *text = mst_map_alloc(prefix.length + word.length);
    if (!text) return mst_error()->code;
    memcpy(text, prefix.data, prefix.length);
    if (word.length) memcpy(text + prefix.length, word.data, word.length);
    *(mst_string *)out[0].data = (mst_string){text, prefix.length + word.length};
    *(int64_t *)out[1].data = *(const int64_t *)in[1].data;
    return MST_OK;
}

static const mst_spec word_specs[] = {{MST_STRING, {0}}, {MST_I64, {0}}};

static void maps_make_strings_of_strings(void **state) {
    (void)state;
    mst_dataset *d = open_words();
    THEN(d, mst_dataset_map(d, put_before, (void *)(uintptr_t) "<", word_specs, 2, &made));
    THEN(d, mst_dataset_map(d, put_before, (void *)(uintptr_t) ">", word_specs, 2, &made));
    mst_dataset *rows = mst_dataset_retain(d);
    expect_words(d, "><", ROWS);
    for (int behind = 0; behind < 2; behind++) {
        d = mst_dataset_retain(rows);
        THEN(d, mst_dataset_batch(d, 2, false, &made));
        THEN(d, mst_dataset_prefetch(d, 2, &made));
        if (behind) THEN(d, mst_dataset_map(d, put_before, (void *)(uintptr_t) "!", word_specs, 2, &made));
        if (behind) THEN(d, mst_dataset_prefetch(d, 1, &made));
        THEN(d, mst_dataset_repeat(d, 3, &made));
        expect_words(d, behind ? "!><" : "><", 3 * ROWS);
    }
    mst_dataset_release(rows);
}

static void strings_are_cached_and_zipped(void **state) {
    (void)state;
    for (int parts = 1; parts < 3; parts++) {
        mst_dataset *d = open_words();
        THEN(d, mst_dataset_map(d, put_before, (void *)(uintptr_t) "<", word_specs, 2, &made));
        THEN(d, mst_dataset_cache(d, &made));
        mst_dataset *part[] = {d, d};
        THEN(d, mst_dataset_zip(part, parts, &made));
        THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.buffer_size = 3}, &made));
        if (parts == 2) {
            const mst_spec four[] = {word_specs[0], word_specs[1]};
            THEN(d, mst_dataset_map(d, put_before, (void *)(uintptr_t) "", four, 2, &made));
        }
        THEN(d, mst_dataset_batch(d, 4, false, &made));
        if (parts == 2) THEN(d, mst_dataset_prefetch(d, 2, &made));
        expect_words(d, "<", ROWS);
    }
    mst_dataset *d = open_words(), *mapped;
    EXPECT_OK(mst_dataset_map(d, put_before, (void *)(uintptr_t) "<", word_specs, 2, &mapped));
    mst_dataset_release(d);
    EXPECT_OK(mst_dataset_zip(&mapped, 1, &d));
    mst_dataset_release(mapped);
    THEN(d, mst_dataset_batch(d, 4, false, &made));
    expect_words(d, "<", ROWS);
}

static mst_status is_short(const mst_array *in, bool *keep, void *context) {
    *keep = ((const mst_string *)in[0].data)->length <= *(const size_t *)context;
    return MST_OK;
}

static atomic_int inside, most_inside;

/* put_before that takes a millisecond. */
static mst_status put_slowly(const mst_array *in, mst_array *out, void *context) {
    const int now = atomic_fetch_add(&inside, 1) + 1;
    int most = atomic_load(&most_inside);
    while (now > most && !atomic_compare_exchange_weak(&most_inside, &most, now)) continue;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    const mst_status status = put_before(in, out, context);
    atomic_fetch_sub(&inside, 1);
    return status;
}

/* Of a part of a zip, whose strings pass through two fetches, and of a padded batch. */
static void threads_of_a_prefetch_make_strings(void **state) {
    (void)state;
    const mst_prefetch_options three = {.threads = 3};
    for (int is_padded = 0; is_padded < 2; is_padded++) {
        mst_dataset *d = open_words(), *zipped;
        THEN(d, mst_dataset_repeat(d, 8, &made));
        if (is_padded) {
            THEN(d, mst_dataset_padded_batch(d, ROWS, false, NULL, &made));
            THEN(d, mst_dataset_map(d, put_slowly, (void *)(uintptr_t) "<", word_specs, 2, &made));
        } else {
            THEN(d, mst_dataset_map(d, put_slowly, (void *)(uintptr_t) "<", word_specs, 2, &made));
            EXPECT_OK(mst_dataset_zip(&d, 1, &zipped));
            mst_dataset_release(d);
            d = zipped;
            THEN(d, mst_dataset_batch(d, ROWS, false, &made));
        }
        THEN(d, mst_dataset_prefetch_with(d, 2, &three, &made));
        most_inside = 0;
        expect_words(d, "<", 8 * ROWS);
        assert_in_range(most_inside, 2, 3);
    }
}

static void filters_see_strings(void **state) {
    (void)state;
    size_t most = 3;
    mst_dataset *d = open_words();
    THEN(d, mst_dataset_filter(d, is_short, &most, &made));
    THEN(d, mst_dataset_batch(d, 4, false, &made));
    expect_words(d, "", ROWS - 1);
}

/* ---- parts of a batch ---- */

typedef struct part_copy {
    const mst_batch *batch;
    mst_string *string;
} part_copy;

static mst_status copy_part(void *context, int64_t begin, int64_t end, int member) {
    const part_copy *c = context;
    (void)member;
    return mst_batch_copy(c->batch, 0, begin, end - begin, c->string + begin);
}

static void threads_copy_strings_of_one_batch(void **state) {
    (void)state;
    enum { MANY = 2000 };
    mst_dataset *d = open_words();
    mst_iterator *it;
    const mst_batch *batch;
    THEN(d, mst_dataset_repeat(d, -1, &made));
    THEN(d, mst_dataset_map(d, put_before, (void *)(uintptr_t) "<", word_specs, 2, &made));
    THEN(d, mst_dataset_batch(d, MANY, false, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    mst_team *team;
    EXPECT_OK(mst_team_create(4, false, NULL, NULL, &team));
    mst_string *string = calloc(MANY, sizeof *string);
    for (int turn = 0; turn < 5; turn++) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        part_copy c = {batch, string};
        EXPECT_OK(mst_team_run(team, MANY, 100, copy_part, &c));
        for (int64_t i = 0; i < MANY; i++) {
            char expected[200];
            snprintf(expected, sizeof expected, "<%s", words[(i + turn * MANY) % ROWS]);
            expect_text(string[i], expected);
        }
    }
    free(string);
    mst_team_destroy(team);
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

/* ---- errors ---- */

static mst_status no_bytes(const mst_array *in, mst_array *out, void *context) {
    (void)in, (void)context;
    *(mst_string *)out[0].data = (mst_string){NULL, 3};
    return MST_OK;
}

static mst_status no_length(const mst_array *in, mst_array *out, void *context) {
    (void)in, (void)context;
    out[0].count = 3;
    return MST_OK;
}

static mst_status nothing(const mst_array *in, mst_array *out, void *context) {
    (void)in, (void)out, (void)context;
    return MST_OK;
}

/* The first row of DATASET, whose reference is taken. */
static mst_status first_row(mst_dataset *d, mst_tensor **out) {
    mst_iterator *it;
    const mst_batch *batch;
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    const mst_status status = mst_batch_tensor(batch, 0, out);
    mst_iterator_destroy(it);
    mst_dataset_release(d);
    return status;
}

/* Sizes that came of negative lengths. */
static mst_status ask_for_too_much(const mst_array *in, mst_array *out, void *context) {
    (void)in, (void)out, (void)context;
    if (mst_map_alloc((size_t)-1) || mst_map_alloc((size_t)-40)) return MST_INTERNAL;
    return mst_error()->code;
}

static void missing_memory_is_an_error(void **state) {
    (void)state;
    mst_dataset *d = open_words();
    mst_iterator *it;
    const mst_batch *batch;
    mst_string word;
    THEN(d, mst_dataset_map(d, ask_for_too_much, NULL, word_specs, 2, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_ERROR(mst_batch_copy(batch, 0, 0, 1, &word), MST_OUT_OF_MEMORY, "bytes of a row");
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

static void wrong_strings_of_a_map_are_named(void **state) {
    (void)state;
    const mst_spec open = {MST_I64, MST_SHAPE(-1)};
    mst_tensor *tensor;
    mst_dataset *d = open_words();
    THEN(d, mst_dataset_map(d, no_bytes, NULL, word_specs, 1, &made));
    EXPECT_ERROR(first_row(d, &tensor), MST_INVALID, "string 0 has 3 bytes, and its data is NULL");
    assert_null(tensor);
    d = open_words();
    THEN(d, mst_dataset_map(d, no_length, NULL, &open, 1, &made));
    EXPECT_ERROR(first_row(d, &tensor), MST_INVALID, "output 0 has shape [?] and 3 elements, [?] is declared");
    d = open_words();
    THEN(d, mst_dataset_map(d, nothing, NULL, word_specs, 1, &made));
    EXPECT_OK(first_row(d, &tensor));
    expect_text(mst_tensor_get_string(tensor, 0), "");
    mst_tensor_release(tensor);
    assert_null(mst_map_alloc(1));
    assert_non_null(strstr(mst_error()->message, "mst_map_alloc: is for map functions"));
}

static void strings_are_no_numbers(void **state) {
    (void)state;
    mst_dataset *d = open_words(), *made;
    EXPECT_ERROR(mst_dataset_scale(d, 0, MST_F32, 1, &made), MST_INVALID, "component 0 is string");
    EXPECT_ERROR(mst_dataset_scale(d, 1, MST_STRING, 1, &made), MST_INVALID, "cannot become string");
    EXPECT_ERROR(mst_dataset_write("npz:a.npz", d, NULL, NULL), MST_UNIMPLEMENTED, "component 0 is string");
    EXPECT_ERROR(mst_dataset_parse_example(d, &(mst_feature){.name = "a", .dtype = MST_I64}, 1, &made), MST_INVALID,
                 "no records");
    mst_dataset_release(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_tensors_may_be_strings),
        cmocka_unit_test(maps_make_strings_of_strings),
        cmocka_unit_test(strings_are_cached_and_zipped),
        cmocka_unit_test(threads_of_a_prefetch_make_strings),
        cmocka_unit_test(filters_see_strings),
        cmocka_unit_test(threads_copy_strings_of_one_batch),
        cmocka_unit_test(wrong_strings_of_a_map_are_named),
        cmocka_unit_test(missing_memory_is_an_error),
        cmocka_unit_test(strings_are_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
