/* mix_up and cut_mix: what becomes of pictures and labels, and on what that depends. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "data/dataset.h"
#include "data/pictures/mix.h"
#include "support/expect.h"
#include "support/pipeline.h"

enum { ROWS = 23, SIZE = 10, SIDE = 6, PIXELS = SIDE * SIDE, BATCHES = 3 };

/* Row i is a picture of the value i + 1 and the label i. */
static mst_dataset *pictures(mst_dtype dtype) {
    mst_tensor *t[2];
    mst_dataset *d;
    EXPECT_OK(mst_tensor_create(dtype, MST_SHAPE(ROWS, SIDE, SIDE, 1), &t[0]));
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SHAPE(ROWS), &t[1]));
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t p = 0; p < PIXELS; p++) mst_tensor_set(t[0], i * PIXELS + p, (double)(i + 1));
        mst_tensor_set(t[1], i, (double)i);
    }
    EXPECT_OK(mst_dataset_from_tensors(t, 2, &d));
    for (int i = 0; i < 2; i++) mst_tensor_release(t[i]);
    return d;
}

static mst_dataset *batches_of(mst_dtype dtype, int64_t size) {
    mst_dataset *d = pictures(dtype);
    THEN(d, mst_dataset_one_hot(d, 1, ROWS, &made));
    THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.seed = 5}, &made));
    THEN(d, mst_dataset_batch(d, size, false, &made));
    return d;
}

static mst_dataset *mixed(bool cut, double strength, uint64_t seed) {
    mst_dataset *d = batches_of(MST_F32, SIZE);
    THEN(d, cut ? mst_dataset_cut_mix(d, strength, seed, &made) : mst_dataset_mix_up(d, strength, seed, &made));
    return d;
}

/* The rows of an epoch of D, and the size of each batch. Takes the reference of D. */
typedef struct epoch {
    float picture[ROWS][PIXELS], label[ROWS][ROWS];
    int64_t size[BATCHES];
} epoch;

static void read_from(mst_iterator *it, int64_t row, int64_t number, epoch *out) {
    const mst_batch *batch;
    for (; number < BATCHES; number++) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        out->size[number] = mst_batch_size(batch);
        EXPECT_OK(mst_batch_copy(batch, 0, 0, out->size[number], out->picture[row]));
        EXPECT_OK(mst_batch_copy(batch, 1, 0, out->size[number], out->label[row]));
        row += out->size[number];
    }
    EXPECT_OK(mst_iterator_next(it, &batch));
    assert_null(batch);
}

static void read_epoch(mst_dataset *d, int64_t number, epoch *out) {
    mst_iterator *it;
    memset(out, 0, sizeof *out);
    EXPECT_OK(mst_iterator_create(d, number, &it));
    read_from(it, 0, 0, out);
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

/* Finds the parts of a label: OWN is that of the batch without mixtures. *OTHER is OWN where it is its own partner. */
static float parts_of(const float *label, int64_t own, int64_t *other) {
    float sum = 0;
    *other = own;
    for (int64_t i = 0; i < ROWS; i++) {
        sum += label[i];
        if (i != own && label[i] > 0) *other = i;
    }
    assert_float_equal(sum, 1, 1e-6f);
    return label[own];
}

static int64_t class_of(const float *label) {
    int64_t i = 0;
    while (label[i] < 0.5f) i++;
    return i;
}

static void pictures_and_labels_are_mixed_alike(void **state) {
    (void)state;
    static epoch plain, found;
    read_epoch(batches_of(MST_F32, SIZE), 0, &plain);
    read_epoch(mixed(false, 0.4, 3), 0, &found);
    bool taken[ROWS] = {false};
    int64_t changed = 0, first = 0;
    for (int64_t b = 0; b < BATCHES; first += found.size[b++])
        for (int64_t i = first; i < first + found.size[b]; i++) {
            const int64_t own = class_of(plain.label[i]);
            int64_t other;
            const float weight = parts_of(found.label[i], own, &other);
            const float want = weight * (float)(own + 1) + (1 - weight) * (float)(other + 1);
            for (int p = 0; p < PIXELS; p++) assert_float_equal(found.picture[i][p], want, 1e-4f);
            bool in_batch = false;
            for (int64_t k = first; k < first + found.size[b]; k++) in_batch |= class_of(plain.label[k]) == other;
            assert_true(in_batch);
            assert_true(other == own || !taken[other]);
            if (other != own) taken[other] = true;
            changed += other != own;
        }
    assert_true(changed > ROWS / 3);
}

static void boxes_are_replaced_and_labels_follow_their_area(void **state) {
    (void)state;
    static epoch plain, found;
    read_epoch(batches_of(MST_F32, SIZE), 0, &plain);
    int64_t boxes = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        read_epoch(mixed(true, 1, seed), 0, &found);
        for (int64_t i = 0; i < ROWS; i++) {
            const int64_t own = class_of(plain.label[i]);
            int64_t other, columns[SIDE] = {0}, rows[SIDE] = {0}, replaced = 0;
            const float weight = parts_of(found.label[i], own, &other);
            for (int p = 0; p < PIXELS; p++) {
                const bool is_own = found.picture[i][p] == (float)(own + 1);
                assert_true(is_own || found.picture[i][p] == (float)(other + 1));
                if (is_own) continue;
                replaced++;
                columns[p % SIDE]++;
                rows[p / SIDE]++;
            }
            int64_t width = 0, height = 0;
            for (int k = 0; k < SIDE; k++) width += columns[k] > 0, height += rows[k] > 0;
            assert_int_equal(replaced, width * height); /* a box */
            boxes += replaced > 0 && replaced < PIXELS;
            if (other == own) continue;
            /* the box has sides of any length, of which whole pixels are replaced */
            const float side = sqrtf(1 - weight) * SIDE;
            assert_true(fabsf((float)width - side) <= 1 && fabsf((float)height - side) <= 1);
        }
    }
    assert_true(boxes > 20);
}

static void pixels_of_u8_become_f32(void **state) {
    (void)state;
    static epoch bytes, floats;
    mst_dataset *d = batches_of(MST_U8, SIZE);
    THEN(d, mst_dataset_mix_up(d, 0.4, 3, &made));
    assert_int_equal(mst_dataset_spec(d, 0).dtype, MST_F32);
    read_epoch(d, 0, &bytes);
    read_epoch(mixed(false, 0.4, 3), 0, &floats);
    assert_memory_equal(&bytes, &floats, sizeof bytes);
}

static void epochs_and_seeds_draw_other_numbers(void **state) {
    (void)state;
    static epoch a, b;
    for (int cut = 0; cut < 2; cut++) {
        read_epoch(mixed(cut, 1, 3), 1, &a);
        read_epoch(mixed(cut, 1, 3), 1, &b);
        assert_memory_equal(&a, &b, sizeof a);
        read_epoch(mixed(cut, 1, 4), 1, &b);
        assert_memory_not_equal(&a, &b, sizeof a);
        read_epoch(mixed(cut, 1, 3), 2, &b);
        assert_memory_not_equal(&a, &b, sizeof a);
    }
}

/* Each of three tasks has the rows of its shards, with the values of one process, also behind a prefetch. */
static void tasks_have_the_rows_of_one_process(void **state) {
    (void)state;
    static epoch whole;
    for (int cut = 0; cut < 2; cut++) {
        read_epoch(mixed(cut, 1, 3), 0, &whole);
        for (int32_t task = 0; task < 6; task++) {
            const mst_shard_window window = {.shards = {.first = task % 3, .count = 1}, .num_shards = 3};
            mst_dataset *d = mixed(cut, 1, 3);
            mst_iterator *it;
            const mst_batch *batch;
            int64_t first = 0;
            if (task >= 3) THEN(d, mst_dataset_prefetch(d, 2, &made));
            EXPECT_OK(mst_iterator_create_window(d, 0, window, &it));
            for (int64_t b = 0; b < BATCHES; first += whole.size[b++]) {
                static float picture[ROWS][PIXELS], label[ROWS][ROWS];
                EXPECT_OK(mst_iterator_next(it, &batch));
                const mst_row_range rows = mst_shard_window_rows(window, whole.size[b]);
                EXPECT_OK(mst_batch_copy(batch, 0, rows.first, rows.count, picture));
                EXPECT_OK(mst_batch_copy(batch, 1, rows.first, rows.count, label));
                const size_t count = (size_t)rows.count;
                assert_memory_equal(picture, whole.picture[first + rows.first], count * sizeof *picture);
                assert_memory_equal(label, whole.label[first + rows.first], count * sizeof *label);
            }
            mst_iterator_destroy(it);
            mst_dataset_release(d);
        }
    }
}

static void a_saved_position_goes_on_with_the_same_rows(void **state) {
    (void)state;
    static epoch whole, rest;
    for (int cut = 0; cut < 2; cut++) {
        mst_iterator *it, *again;
        mst_tensor *position;
        const mst_batch *batch;
        read_epoch(mixed(cut, 1, 3), 2, &whole);
        mst_dataset *d = mixed(cut, 1, 3), *other = mixed(cut, 1, 3);
        EXPECT_OK(mst_iterator_create(d, 2, &it));
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_iterator_save(it, &position));
        EXPECT_OK(mst_iterator_restore(other, position, &again));
        rest = whole;
        memset(rest.picture[SIZE], 0, (ROWS - SIZE) * sizeof *rest.picture);
        read_from(again, SIZE, 1, &rest);
        assert_memory_equal(&rest, &whole, sizeof rest);
        mst_iterator_destroy(again);
        mst_iterator_destroy(it);
        mst_tensor_release(position);
        mst_dataset_release(d);
        mst_dataset_release(other);
    }
}

/* The distributions whose integrals have a closed form: uniform for 1, the arcsine's for 1/2. Also the variance,
 * 1 / (4 (2 alpha + 1)), which a small alpha brings near to 1/4. */
static void weights_have_the_beta_distribution(void **state) {
    (void)state;
    enum { DRAWS = 40000 };
    static const double alphas[] = {1, 0.5, 0.2, 1e-6};
    for (size_t a = 0; a < sizeof alphas / sizeof *alphas; a++) {
        double sum = 0, squares = 0, below = 0;
        for (uint64_t i = 0; i < DRAWS; i++) {
            const mst_rng rng = mst_rng_make(7, i, 0);
            const double x = mst_mix_beta(&rng, alphas[a]);
            assert_true(x >= 0 && x <= 1);
            sum += x;
            squares += (x - 0.5) * (x - 0.5);
            below += x < 0.1;
        }
        assert_true(fabs(sum / DRAWS - 0.5) < 0.01);
        assert_true(fabs(squares / DRAWS - 0.25 / (2 * alphas[a] + 1)) < 0.004);
        if (a == 0) assert_true(fabs(below / DRAWS - 0.1) < 0.006);
        if (a == 1) assert_true(fabs(below / DRAWS - 2 / acos(-1) * asin(sqrt(0.1))) < 0.008);
    }
}

static void what_cannot_be_mixed_is_refused(void **state) {
    (void)state;
    mst_dataset *d = pictures(MST_F32), *made;
    EXPECT_ERROR(mst_dataset_mix_up(d, 0.2, 1, &made), MST_INVALID, "mix_up: mixes the rows of a batch: put it behind");
    assert_null(made);
    EXPECT_ERROR(mst_dataset_one_hot(d, 0, 3, &made), MST_INVALID, "one_hot: component 0 is f32, whole numbers");
    EXPECT_ERROR(mst_dataset_one_hot(d, 2, 3, &made), MST_INVALID, "one_hot: component 2, the dataset has 0 to 1");
    EXPECT_ERROR(mst_dataset_one_hot(d, 1, 0, &made), MST_INVALID, "one_hot: classes is 0");
    THEN(d, mst_dataset_batch(d, 4, false, &made));
    EXPECT_ERROR(mst_dataset_cut_mix(d, 1, 1, &made), MST_INVALID, "cut_mix: labels are i64, rows of f32 are due: ");
    mst_dataset_release(d);
    d = batches_of(MST_F32, 4);
    EXPECT_ERROR(mst_dataset_mix_up(d, 0, 1, &made), MST_INVALID, "mix_up: alpha is 0, above 0 and at most 1");
    EXPECT_ERROR(mst_dataset_cut_mix(d, 1.5, 1, &made), MST_INVALID, "cut_mix: factor is 1.5, above 0 and at most 1");
    THEN(d, mst_dataset_prefetch(d, 1, &made));
    EXPECT_ERROR(mst_dataset_mix_up(d, 0.2, 1, &made), MST_INVALID, "put mix_up before prefetch");
    mst_dataset_release(d);
}

static void numbers_that_are_no_class_are_named(void **state) {
    (void)state;
    mst_dataset *d = pictures(MST_F32);
    mst_iterator *it;
    const mst_batch *batch;
    static float label[ROWS][ROWS];
    THEN(d, mst_dataset_one_hot(d, 1, ROWS - 1, &made));
    THEN(d, mst_dataset_batch(d, ROWS, false, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_ERROR(mst_batch_copy(batch, 1, 0, ROWS, label), MST_INVALID, "one_hot: the number 22, 0 to 21 are possible");
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_and_labels_are_mixed_alike),
        cmocka_unit_test(boxes_are_replaced_and_labels_follow_their_area),
        cmocka_unit_test(pixels_of_u8_become_f32),
        cmocka_unit_test(epochs_and_seeds_draw_other_numbers),
        cmocka_unit_test(tasks_have_the_rows_of_one_process),
        cmocka_unit_test(a_saved_position_goes_on_with_the_same_rows),
        cmocka_unit_test(weights_have_the_beta_distribution),
        cmocka_unit_test(what_cannot_be_mixed_is_refused),
        cmocka_unit_test(numbers_that_are_no_class_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
