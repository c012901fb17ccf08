/* Random changes of pictures: they depend only on seed, pass and row, not on shards, threads or the place in the
 * pipeline. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include "data/pictures/picture.h"
#include "muster/dataset.h"
#include "support/expect.h"
#include "support/folder.h"
#include "support/pipeline.h"

enum {
    PICTURES = 40,
    HEIGHT = 6,
    WIDTH = 5,
    CHANNELS = 3,
    CROP = 4,
    OUT = CROP * CROP * CHANNELS,
    MOST_ELEMENTS = 256
};

/* ---- pictures, and what becomes of them ---- */

/* Rows of u8 [HEIGHT, WIDTH, CHANNELS], whose pixels all differ within a row, and the number of the row. */
static mst_dataset *pictures(int64_t n) {
    mst_tensor *tensor[2];
    mst_dataset *dataset;
    EXPECT_OK(mst_tensor_create(MST_U8, MST_SHAPE(n, HEIGHT, WIDTH, CHANNELS), &tensor[0]));
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SHAPE(n), &tensor[1]));
    uint8_t *pixel = mst_tensor_data(tensor[0]);
    for (int64_t i = 0; i < n; i++) {
        ((int64_t *)mst_tensor_data(tensor[1]))[i] = i;
        for (int j = 0; j < HEIGHT * WIDTH * CHANNELS; j++) *pixel++ = (uint8_t)(50 + i % 7 + j);
    }
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &dataset));
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    return dataset;
}

/* All random changes. */
static mst_dataset *augment(mst_dataset *d, uint64_t seed) {
    THEN(d, mst_dataset_random_flip(d, 0, MST_FLIP_BOTH, seed, &made));
    THEN(d, mst_dataset_random_rotation(d, 0, -0.1, 0.2, seed, NULL, &made));
    THEN(d, mst_dataset_random_zoom(d, 0, -0.3, 0.3, seed, &(mst_affine_options){.width_upper = 0.5}, &made));
    THEN(d, mst_dataset_random_translation(d, 0, -0.2, 0.2, seed, &(mst_affine_options){.fill_mode = MST_FILL_WRAP},
                                           &made));
    THEN(d, mst_dataset_random_crop(d, 0, CROP, CROP, 1, seed, &made));
    THEN(d, mst_dataset_random_brightness(d, 0, 0.2, seed, &made));
    THEN(d, mst_dataset_random_contrast(d, 0, 0.5, 1.5, seed, &made));
    return d;
}

/* The pictures that came out, by pass and number of the row. */
typedef struct gallery {
    uint8_t picture[4][PICTURES][OUT];
    int passes[PICTURES]; /* how often each came */
} gallery;

/* Adds the rest of IT; ends after STOP elements. */
static void collect(mst_iterator *it, int64_t stop, gallery *g) {
    const mst_batch *batch;
    for (int64_t i = 0; i < stop; i++) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        if (!batch) return;
        for (int64_t j = 0; j < mst_batch_size(batch); j++) {
            int64_t row;
            EXPECT_OK(mst_batch_copy(batch, 1, j, 1, &row));
            assert_in_range(row, 0, PICTURES - 1);
            assert_in_range(g->passes[row], 0, 3);
            EXPECT_OK(mst_batch_copy(batch, 0, j, 1, g->picture[g->passes[row]++][row]));
        }
    }
}

/* Of one epoch; gives up the reference to DATASET. */
static gallery *show(mst_dataset *dataset, int64_t epoch) {
    mst_iterator *it;
    gallery *g = calloc(1, sizeof *g);
    EXPECT_OK(mst_iterator_create(dataset, epoch, &it));
    collect(it, INT64_MAX, g);
    mst_iterator_destroy(it);
    mst_dataset_release(dataset);
    return g;
}

static void expect_same(gallery *got, const gallery *wanted) {
    for (int i = 0; i < PICTURES; i++) {
        assert_int_equal(got->passes[i], 1);
        assert_memory_equal(got->picture[0][i], wanted->picture[0][i], OUT);
    }
    free(got);
}

static int num_different(const gallery *a, const gallery *b) {
    int n = 0;
    for (int i = 0; i < PICTURES; i++) n += memcmp(a->picture[0][i], b->picture[0][i], OUT) != 0;
    return n;
}

/* ---- keys ---- */

static void pictures_do_not_depend_on_order_or_place_in_the_pipeline(void **state) {
    (void)state;
    enum { EPOCH = 3, CASES = 8 };
    gallery *wanted = show(augment(pictures(PICTURES), 1), EPOCH);
    for (int i = 0; i < CASES; i++) {
        mst_dataset *d = pictures(PICTURES);
        if (i == 0) THEN(d, mst_dataset_shuffle(d, NULL, &made));
        if (i == 1) THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.buffer_size = 7}, &made));
        if (i == 6) THEN(d, mst_dataset_batch(d, 9, false, &made));
        d = augment(d, 1);
        if (i == 2) THEN(d, mst_dataset_shuffle(d, NULL, &made));
        if (i == 3) THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.buffer_size = 7}, &made));
        if (i == 4 || i == 5) THEN(d, mst_dataset_batch(d, 7, false, &made));
        if (i == 5) THEN(d, mst_dataset_prefetch(d, 2, &made));
        if (i == 7) THEN(d, mst_dataset_scale(d, 1, MST_I64, 1, &made));
        expect_same(show(d, EPOCH), wanted);
    }
    free(wanted);
}

static void pictures_are_the_same_in_any_number_of_shards(void **state) {
    (void)state;
    gallery *wanted = show(augment(pictures(PICTURES), 1), 2);
    for (int64_t shards = 1; shards <= 4; shards *= 2) {
        for (int before = 0; before < 2; before++) {
            gallery *g = calloc(1, sizeof *g);
            for (int64_t s = 0; s < shards; s++) {
                mst_iterator *it;
                mst_dataset *d = pictures(PICTURES);
                if (before) THEN(d, mst_dataset_shard(d, shards, s, &made));
                d = augment(d, 1);
                if (!before) THEN(d, mst_dataset_shard(d, shards, s, &made));
                EXPECT_OK(mst_iterator_create(d, 2, &it));
                collect(it, INT64_MAX, g);
                mst_iterator_destroy(it);
                mst_dataset_release(d);
            }
            expect_same(g, wanted);
        }
    }
    free(wanted);
}

typedef struct part {
    const mst_batch *batch;
    int64_t first, count;
    uint8_t *dst;
    mst_status status;
} part;

static void *copy_part(void *argument) {
    part *p = argument;
    p->status = mst_batch_copy(p->batch, 0, p->first, p->count, p->dst + p->first * OUT);
    return NULL;
}

static void pictures_are_the_same_for_any_number_of_threads(void **state) {
    (void)state;
    uint8_t wanted[PICTURES * OUT], got[PICTURES * OUT];
    mst_dataset *d = augment(pictures(PICTURES), 1);
    mst_iterator *it;
    const mst_batch *batch;
    THEN(d, mst_dataset_shuffle(d, NULL, &made));
    THEN(d, mst_dataset_batch(d, PICTURES, false, &made));
    EXPECT_OK(mst_iterator_create(d, 5, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy(batch, 0, 0, PICTURES, wanted));
    for (int threads = 1; threads <= 4; threads *= 2) {
        pthread_t thread[4];
        part p[4];
        memset(got, 0, sizeof got);
        for (int t = 0; t < threads; t++) {
            p[t] = (part){batch, t * PICTURES / threads, PICTURES / threads, got, MST_OK};
            assert_int_equal(pthread_create(&thread[t], NULL, copy_part, &p[t]), 0);
        }
        for (int t = 0; t < threads; t++) {
            pthread_join(thread[t], NULL);
            assert_int_equal(p[t].status, MST_OK);
        }
        assert_memory_equal(got, wanted, sizeof got);
    }
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

static void epochs_and_seeds_differ(void **state) {
    (void)state;
    gallery *first = show(augment(pictures(PICTURES), 1), 0), *again = show(augment(pictures(PICTURES), 1), 0);
    gallery *next = show(augment(pictures(PICTURES), 1), 1), *seed = show(augment(pictures(PICTURES), 2), 0);
    assert_int_equal(num_different(first, again), 0);
    assert_true(num_different(first, next) > PICTURES - 4);
    assert_true(num_different(first, seed) > PICTURES - 4);
    free(first);
    free(again);
    free(next);
    free(seed);
}

/* Also if a shuffle mixes the passes. Then each picture still has the changes of each of its passes, in some order. */
static void repetition_r_is_epoch_r(void **state) {
    (void)state;
    enum { REPEAT = 3, EPOCH = 2 };
    gallery *epoch[REPEAT];
    for (int r = 0; r < REPEAT; r++) epoch[r] = show(augment(pictures(PICTURES), 1), EPOCH * REPEAT + r);
    for (int i = 0; i < 4; i++) {
        mst_dataset *d = pictures(PICTURES);
        if (i % 2) THEN(d, mst_dataset_repeat(d, REPEAT, &made));
        d = augment(d, 1);
        if (i % 2 == 0) THEN(d, mst_dataset_repeat(d, REPEAT, &made));
        if (i >= 2) THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.buffer_size = 70}, &made));
        gallery *got = show(d, EPOCH);
        int moved = 0;
        for (int row = 0; row < PICTURES; row++) {
            bool taken[REPEAT] = {false};
            assert_int_equal(got->passes[row], REPEAT);
            for (int j = 0; j < REPEAT; j++) {
                int r = 0;
                while (r < REPEAT && (taken[r] || memcmp(got->picture[j][row], epoch[r]->picture[0][row], OUT) != 0))
                    r++;
                assert_true(r < REPEAT);
                taken[r] = true;
                moved += r != j;
            }
        }
        assert_int_equal(moved > 0, i >= 2);
        free(got);
    }
    for (int r = 0; r < REPEAT; r++) free(epoch[r]);
}

static void saved_positions_go_on_with_the_same_pictures(void **state) {
    (void)state;
    enum { STOP = 23 };
    for (int i = 0; i < 6; i++) {
        mst_dataset *d = pictures(PICTURES);
        mst_iterator *it;
        mst_tensor *position;
        gallery *whole = calloc(1, sizeof *whole), *first = calloc(1, sizeof *first),
                *skipped = calloc(1, sizeof *first);
        if (i == 2) THEN(d, mst_dataset_zip(&d, 1, &made));
        THEN(d, mst_dataset_repeat(d, 3, &made));
        d = augment(d, 1);
        if (i >= 1) THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.buffer_size = 50}, &made));
        if (i == 3) THEN(d, mst_dataset_zip(&d, 1, &made));
        if (i >= 4) THEN(d, mst_dataset_batch(d, 2, false, &made));
        if (i == 5) THEN(d, mst_dataset_prefetch(d, 3, &made));
        EXPECT_OK(mst_iterator_create(d, 1, &it));
        collect(it, STOP, whole);
        memcpy(first, whole, sizeof *first);
        EXPECT_OK(mst_iterator_save(it, &position));
        collect(it, INT64_MAX, whole);
        mst_iterator_destroy(it);
        EXPECT_OK(mst_iterator_restore(d, position, &it));
        mst_tensor_release(position);
        collect(it, INT64_MAX, first);
        mst_iterator_destroy(it);
        assert_memory_equal(whole, first, sizeof *whole);
        EXPECT_OK(mst_iterator_create(d, 1, &it));
        collect(it, 3, skipped);
        EXPECT_OK(mst_iterator_skip(it, STOP - 3));
        memset(first, 0, sizeof *first);
        collect(it, INT64_MAX, first);
        mst_iterator_destroy(it);
        for (int row = 0; row < PICTURES; row++) {
            assert_int_equal(whole->passes[row], 3);
            const int n = first->passes[row];
            for (int j = 0; j < n; j++)
                assert_memory_equal(first->picture[j][row], whole->picture[3 - n + j][row], OUT);
        }
        free(whole);
        free(first);
        free(skipped);
        mst_dataset_release(d);
    }
}

/* A zip numbers its rows in the order in which they come, so random changes must not depend on that number. */
static void a_zip_behind_a_shuffle_has_the_same_pictures(void **state) {
    (void)state;
    mst_dataset *d = pictures(PICTURES);
    THEN(d, mst_dataset_zip(&d, 1, &made));
    gallery *wanted = show(augment(d, 1), 1);
    for (int i = 0; i < 2; i++) {
        d = pictures(PICTURES);
        THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.seed = (uint64_t)i, .same_each_epoch = true}, &made));
        THEN(d, mst_dataset_zip(&d, 1, &made));
        expect_same(show(augment(d, 1), 1), wanted);
    }
    free(wanted);
}

/* So does an interleave. */
static void an_interleave_behind_a_shuffle_has_the_same_pictures(void **state) {
    (void)state;
    mst_dataset *d = pictures(PICTURES);
    THEN(d, mst_dataset_interleave(&d, 1, NULL, &made));
    gallery *wanted = show(augment(d, 1), 1);
    for (int i = 0; i < 2; i++) {
        d = pictures(PICTURES);
        THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.seed = (uint64_t)i, .same_each_epoch = true}, &made));
        THEN(d, mst_dataset_interleave(&d, 1, NULL, &made));
        expect_same(show(augment(d, 1), 1), wanted);
    }
    free(wanted);
}

/* ---- distributions ---- */

/* u8 [1, 2] with 0 and 1, N times. */
static mst_dataset *pairs(int64_t n) {
    mst_tensor *tensor;
    mst_dataset *dataset;
    EXPECT_OK(mst_tensor_create(MST_U8, MST_SHAPE(n, 2, 2), &tensor));
    for (int64_t i = 0; i < 4 * n; i++) ((uint8_t *)mst_tensor_data(tensor))[i] = (uint8_t)(i % 4);
    EXPECT_OK(mst_dataset_from_tensors(&tensor, 1, &dataset));
    mst_tensor_release(tensor);
    return dataset;
}

/* Counts the values of the first element. */
static void count_first(mst_dataset *dataset, int64_t *count) {
    enum { BATCH = 1000 };
    mst_iterator *it;
    const mst_batch *batch;
    mst_tensor *tensor;
    THEN(dataset, mst_dataset_batch(dataset, BATCH, false, &made));
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    while (batch) {
        EXPECT_OK(mst_batch_tensor(batch, 0, &tensor));
        const uint8_t *value = mst_tensor_data(tensor);
        const int64_t each = mst_tensor_count(tensor) / mst_batch_size(batch);
        for (int64_t i = 0; i < mst_batch_size(batch); i++) count[value[i * each]]++;
        mst_tensor_release(tensor);
        EXPECT_OK(mst_iterator_next(it, &batch));
    }
    mst_iterator_destroy(it);
    mst_dataset_release(dataset);
}

static void half_of_the_pictures_are_flipped(void **state) {
    (void)state;
    int64_t one[256] = {0}, other[256] = {0}, both[256] = {0}, two[256] = {0};
    mst_dataset *d = pairs(10000); /* standard deviation of a half: 50; of a quarter: 43 */
    THEN(d, mst_dataset_random_flip(d, 0, MST_FLIP_LEFT_RIGHT, 1, &made));
    count_first(d, one);
    assert_in_range(one[1], 4800, 5200);
    assert_int_equal(one[0] + one[1], 10000);
    d = pairs(10000);
    THEN(d, mst_dataset_random_flip(d, 0, MST_FLIP_UP_DOWN, 1, &made));
    count_first(d, other);
    assert_in_range(other[2], 4800, 5200);
    assert_int_equal(other[0] + other[2], 10000);
    d = pairs(10000);
    THEN(d, mst_dataset_random_flip(d, 0, MST_FLIP_BOTH, 1, &made));
    count_first(d, both);
    for (int i = 0; i < 4; i++) assert_in_range(both[i], 2300, 2700);
    d = pairs(10000);
    THEN(d, mst_dataset_random_flip(d, 0, MST_FLIP_LEFT_RIGHT, 1, &made));
    THEN(d, mst_dataset_random_flip(d, 0, MST_FLIP_LEFT_RIGHT, 2, &made));
    count_first(d, two);
    assert_in_range(two[1], 4800, 5200);
}

static void every_place_of_a_crop_is_as_likely(void **state) {
    (void)state;
    int64_t count[256] = {0}, padded[256] = {0};
    mst_dataset *d = pairs(10000);
    THEN(d, mst_dataset_random_crop(d, 0, 1, 1, 0, 1, &made));
    assert_true(mst_shape_equal(mst_dataset_spec(d, 0).shape, MST_SHAPE(1, 1)));
    count_first(d, count);
    for (int i = 0; i < 4; i++) assert_in_range(count[i], 2300, 2700);
    d = pairs(9000);
    THEN(d, mst_dataset_random_crop(d, 0, 2, 2, 1, 1, &made));
    count_first(d, padded); /* 9 places; 5 of them and that at [0, 0] begin with a 0 */
    assert_in_range(padded[0], 5800, 6200);
    for (int i = 1; i < 4; i++) assert_in_range(padded[i], 850, 1150);
}

static void brightness_and_contrast_are_even_in_their_range(void **state) {
    (void)state;
    enum { N = 4000 };
    float *value = malloc(N * 2 * sizeof *value);
    for (int i = 0; i < 2; i++) {
        mst_tensor *tensor;
        mst_dataset *d;
        mst_iterator *it;
        const mst_batch *batch;
        EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(N, 1, 2), &tensor));
        for (int j = 0; j < 2 * N; j++) ((float *)mst_tensor_data(tensor))[j] = j % 2 ? 1 : -1;
        EXPECT_OK(mst_dataset_from_tensors(&tensor, 1, &d));
        mst_tensor_release(tensor);
        if (i == 0) THEN(d, mst_dataset_random_brightness(d, 0, 0.5, 3, &made));
        if (i == 1) THEN(d, mst_dataset_random_contrast(d, 0, 0.5, 1.5, 3, &made));
        THEN(d, mst_dataset_batch(d, N, false, &made));
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_batch_copy(batch, 0, 0, N, value));
        double sum = 0, least = 2, most = -2;
        for (int j = 0; j < N; j++) { /* the delta, or the factor - 1 */
            const double drawn = (double)value[2 * j + 1] - 1;
            sum += drawn;
            if (drawn < least) least = drawn;
            if (drawn > most) most = drawn;
            assert_float_equal(value[2 * j], (float)(i == 0 ? -1 + drawn : -1 - drawn), 1e-5);
        }
        assert_true(least >= -0.5 && least < -0.49 && most <= 0.5 && most > 0.49);
        assert_float_equal(sum / N, 0, 0.02);
        mst_iterator_destroy(it);
        mst_dataset_release(d);
    }
    free(value);
}

/* ---- pixels ---- */

static mst_array array(void *data, mst_dtype dtype, mst_shape shape) {
    return (mst_array){.data = data, .count = mst_shape_count(shape), .dtype = dtype, .shape = shape};
}

static void all_bytes_of_a_pixel_move_together(void **state) {
    (void)state;
    for (int64_t pixel = 1; pixel <= 13; pixel++) {
        uint8_t src[2 * 3 * 13], dst[2 * 3 * 13], crop[4 * 2 * 13];
        const mst_picture_size size = {2, 3, pixel};
        for (int i = 0; i < 2 * 3 * pixel; i++) src[i] = (uint8_t)(i + 1);
        for (int way = 0; way < 4; way++) {
            mst_picture_flip(src, size, way & 1, way & 2, dst);
            for (int y = 0; y < 2; y++)
                for (int x = 0; x < 3; x++)
                    assert_memory_equal(dst + (y * 3 + x) * pixel,
                                        src + ((way & 2 ? 1 - y : y) * 3 + (way & 1 ? 2 - x : x)) * pixel,
                                        (size_t)pixel);
        }
        mst_picture_crop(src, size, -1, 2, 4, 2, crop);
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 2; x++)
                for (int i = 0; i < pixel; i++)
                    assert_int_equal(crop[(y * 2 + x) * pixel + i],
                                     y >= 1 && y <= 2 && x == 0 ? src[((y - 1) * 3 + 2) * pixel + i] : 0);
    }
}

static void boxes_are_cropped(void **state) {
    (void)state;
    mst_dataset *box = pictures(2), *middle = pictures(2);
    THEN(box, mst_dataset_crop(box, 0, 1, 2, 5, 3, &made));
    THEN(middle, mst_dataset_central_crop(middle, 0, 3, 2, &made));
    mst_dataset *const cases[] = {box, middle};
    const int64_t height[] = {5, 3}, width[] = {3, 2}, left[] = {2, 1};
    for (int i = 0; i < 2; i++) {
        mst_iterator *it;
        const mst_batch *batch;
        uint8_t got[HEIGHT * WIDTH * CHANNELS];
        assert_true(mst_shape_equal(mst_dataset_spec(cases[i], 0).shape, MST_SHAPE(height[i], width[i], CHANNELS)));
        EXPECT_OK(mst_iterator_create(cases[i], 0, &it));
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_batch_copy(batch, 0, 0, 1, got));
        for (int64_t y = 0; y < height[i]; y++)
            for (int64_t x = 0; x < width[i] * CHANNELS; x++)
                assert_int_equal(got[y * width[i] * CHANNELS + x], 50 + ((1 + y) * WIDTH + left[i]) * CHANNELS + x);
        mst_iterator_destroy(it);
        mst_dataset_release(cases[i]);
    }
}

/* Values of tf.image.adjust_brightness and adjust_contrast; test/parity/augment_test.py compares many. */
static void u8_is_changed_as_tensorflow_does(void **state) {
    (void)state;
    uint8_t src[] = {0, 1, 100, 200, 254, 255}, dst[6];
    static const uint8_t brighter[] = {51, 52, 151, 251, 255, 255}, darker[] = {0, 0, 49, 149, 203, 204};
    mst_array in = array(src, MST_U8, MST_SHAPE(1, 6, 1)), out = array(dst, MST_U8, MST_SHAPE(1, 6, 1));
    mst_picture_brighten(&in, 0.2f, &out);
    assert_memory_equal(dst, brighter, 6);
    mst_picture_brighten(&in, -0.2f, &out);
    assert_memory_equal(dst, darker, 6);
    mst_picture_contrast(&in, 1, &out);
    assert_memory_equal(dst, src, 6);
    mst_picture_contrast(&in, 0, &out); /* the mean: 135 */
    for (int i = 0; i < 6; i++) assert_int_equal(dst[i], 135);
}

static void other_components_stay(void **state) {
    (void)state;
    mst_dataset *d = augment(pictures(PICTURES), 1);
    mst_iterator *it;
    const mst_batch *batch;
    uint8_t alone[PICTURES * OUT], together[PICTURES * OUT];
    int64_t rows[PICTURES];
    THEN(d, mst_dataset_batch(d, PICTURES, false, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy(batch, 0, 0, PICTURES, alone));
    EXPECT_OK(mst_batch_copy_all(batch, 0, PICTURES, (void *[]){together, rows}));
    assert_memory_equal(alone, together, sizeof alone);
    for (int i = 0; i < PICTURES; i++) assert_int_equal(rows[i], i);
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

/* Threads of a prefetch share them. */
static void random_changes_make_rows_worth_a_prefetch(void **state) {
    (void)state;
    mst_dataset *d = pictures(4);
    assert_false(mst_dataset_makes_rows(d));
    THEN(d, mst_dataset_scale(d, 0, MST_F32, 1, &made));
    assert_false(mst_dataset_makes_rows(d));
    THEN(d, mst_dataset_random_flip(d, 0, MST_FLIP_BOTH, 0, &made));
    assert_true(mst_dataset_makes_rows(d));
    mst_dataset_release(d);
}

static mst_status no_map(const mst_array *in, mst_array *out, void *context) {
    (void)in, (void)out, (void)context;
    return MST_INTERNAL;
}

static void impossible_arguments_are_named(void **state) {
    (void)state;
    mst_dataset *d = pictures(4), *numbers = pipeline_numbers(4), *ahead = pictures(4), *padded = pictures(4),
                *sizes = pipeline_numbers(4), *out;
    EXPECT_ERROR(mst_dataset_random_flip(d, 2, MST_FLIP_BOTH, 0, &out), MST_INVALID, "component 2");
    EXPECT_ERROR(mst_dataset_random_flip(d, 1, MST_FLIP_BOTH, 0, &out), MST_INVALID, "component 1 is i64[]");
    assert_null(out);
    EXPECT_ERROR(mst_dataset_random_flip(d, 0, (mst_flip)3, 0, &out), MST_INVALID, "flip is 3");
    EXPECT_ERROR(mst_dataset_central_crop(numbers, 0, 1, 1, &out), MST_INVALID, "central_crop: component 0 is i64[2]");
    EXPECT_ERROR(mst_dataset_random_crop(d, 0, HEIGHT + 3, 2, 1, 0, &out), MST_INVALID, "not inside of 8 x 7 pixels");
    EXPECT_ERROR(mst_dataset_random_crop(d, 0, 2, 2, -1, 0, &out), MST_INVALID, "padding is -1");
    EXPECT_ERROR(mst_dataset_random_crop(d, 0, 0, 2, 0, 0, &out), MST_INVALID, "height is 0");
    EXPECT_ERROR(mst_dataset_crop(d, 0, 1, 0, HEIGHT, 1, &out), MST_INVALID, "at [1, 0] is not inside of 6 x 5");
    EXPECT_ERROR(mst_dataset_crop(d, 0, 0, INT64_MAX, 1, INT64_MAX, &out), MST_INVALID, "not inside");
    EXPECT_ERROR(mst_dataset_crop(d, 0, -1, 0, 1, 1, &out), MST_INVALID, "not inside");
    EXPECT_ERROR(mst_dataset_random_brightness(d, 0, -0.1, 0, &out), MST_INVALID, "max_delta is -0.1");
    EXPECT_ERROR(mst_dataset_random_contrast(d, 0, 2, 1, 0, &out), MST_INVALID, "lower is 2, 0 to 1");
    THEN(padded, mst_dataset_padded_batch(padded, 2, false, NULL, &made));
    EXPECT_ERROR(mst_dataset_random_flip(padded, 0, MST_FLIP_BOTH, 0, &out), MST_INVALID, "before padded_batch");
    EXPECT_OK(mst_dataset_central_crop(padded, 0, 1, 1, &out));
    mst_dataset_release(out);
    mst_dataset_release(padded);
    THEN(sizes, mst_dataset_map(sizes, no_map, NULL, &(mst_spec){MST_U8, MST_SHAPE(-1, 4, 3)}, 1, &made));
    EXPECT_ERROR(mst_dataset_random_flip(sizes, 0, MST_FLIP_BOTH, 0, &out), MST_INVALID, "component 0 is u8[?, 4, 3]");
    THEN(sizes, mst_dataset_padded_batch(sizes, 2, false, NULL, &made));
    EXPECT_ERROR(mst_dataset_central_crop(sizes, 0, 1, 1, &out), MST_INVALID, "pictures are of one size");
    mst_dataset_release(sizes);
    THEN(ahead, mst_dataset_batch(ahead, 2, false, &made));
    THEN(ahead, mst_dataset_prefetch(ahead, 2, &made));
    EXPECT_ERROR(mst_dataset_random_flip(ahead, 0, MST_FLIP_BOTH, 0, &out), MST_INVALID, "before prefetch");
    EXPECT_OK(mst_dataset_central_crop(ahead, 0, 1, 1, &out));
    mst_dataset_release(out);
    mst_dataset_release(ahead);
    mst_dataset_release(numbers);
    mst_dataset_release(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_do_not_depend_on_order_or_place_in_the_pipeline),
        cmocka_unit_test(pictures_are_the_same_in_any_number_of_shards),
        cmocka_unit_test(pictures_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(epochs_and_seeds_differ),
        cmocka_unit_test(repetition_r_is_epoch_r),
        cmocka_unit_test(saved_positions_go_on_with_the_same_pictures),
        cmocka_unit_test(a_zip_behind_a_shuffle_has_the_same_pictures),
        cmocka_unit_test(an_interleave_behind_a_shuffle_has_the_same_pictures),
        cmocka_unit_test(half_of_the_pictures_are_flipped),
        cmocka_unit_test(every_place_of_a_crop_is_as_likely),
        cmocka_unit_test(brightness_and_contrast_are_even_in_their_range),
        cmocka_unit_test(all_bytes_of_a_pixel_move_together),
        cmocka_unit_test(boxes_are_cropped),
        cmocka_unit_test(u8_is_changed_as_tensorflow_does),
        cmocka_unit_test(other_components_stay),
        cmocka_unit_test(random_changes_make_rows_worth_a_prefetch),
        cmocka_unit_test(impossible_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
