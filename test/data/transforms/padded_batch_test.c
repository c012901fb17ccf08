/* Batches of rows of different lengths, padded to the longest: their shapes and values, what later transforms see,
 * strings and features of Examples, restored positions, and errors that name the record. The elements of row I tell
 * I, and its lengths follow from I, so that a batch can be checked without a copy of the data. */
#include <stdio.h>

#include "data/dataset.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/records.h"
#include "support/test.h"

enum { ROWS = 23 };

/* Row i has i % 5 by 1 + i % 3 elements of value i. */
static mst_status make_block(const mst_array *in, mst_array *out, void *context) {
    const int64_t i = *(const int64_t *)in[0].data / 10, rows = i % 5, columns = 1 + i % 3;
    (void)context;
    out[0].count = rows * columns;
    out[0].shape = mst_shape_make(2, (const int64_t[]){rows, columns});
    if (!(out[0].data = mst_map_alloc((size_t)out[0].count * sizeof(float)))) return mst_error()->code;
    for (int64_t j = 0; j < out[0].count; j++) ((float *)out[0].data)[j] = (float)(i + 1);
    *(int64_t *)out[1].data = i;
    return MST_OK;
}

/* Components: f32 [-1, -1] and i64 [], the row's number. */
static mst_dataset *open_blocks(void) {
    static const mst_spec specs[] = {{MST_F32, {2, {-1, -1}}}, {MST_I64, {0, {0}}}};
    mst_dataset *d = pipeline_numbers(ROWS);
    THEN(d, mst_dataset_map(d, make_block, NULL, specs, 2, &made));
    return d;
}

/* The rows of a batch, padded with PAD to lengths WANT[0] and WANT[1], or where these are 0 to the longest row. */
static void expect_blocks(const mst_batch *batch, const int64_t *want, float pad) {
    mst_tensor *block, *number;
    EXPECT_OK(mst_batch_tensor(batch, 0, &block));
    EXPECT_OK(mst_batch_tensor(batch, 1, &number));
    int64_t most[2] = {0, 0};
    const int64_t n = mst_batch_size(batch), *id = mst_tensor_data(number);
    for (int64_t i = 0; i < n; i++) {
        if (id[i] % 5 > most[0]) most[0] = id[i] % 5;
        if (1 + id[i] % 3 > most[1]) most[1] = 1 + id[i] % 3;
    }
    for (int j = 0; j < 2; j++)
        if (want[j]) most[j] = want[j];
    const mst_shape expected = MST_SHAPE(n, most[0], most[1]);
    assert_true(mst_shape_equal(mst_tensor_shape(block), expected));
    assert_true(mst_shape_equal(mst_batch_shape(batch, 0), expected));
    for (int64_t i = 0; i < n; i++)
        for (int64_t row = 0; row < most[0]; row++)
            for (int64_t column = 0; column < most[1]; column++) {
                const bool inside = row < id[i] % 5 && column < 1 + id[i] % 3;
                const float value = ((float *)mst_tensor_data(block))[(i * most[0] + row) * most[1] + column];
                assert_true((double)value == (inside ? (double)(id[i] + 1) : (double)pad));
            }
    mst_tensor_release(block);
    mst_tensor_release(number);
}

/* All batches of an epoch of D, whose reference is taken; how many rows. */
static int64_t expect_all_blocks(mst_dataset *d, const int64_t *want, float pad) {
    mst_iterator *it;
    const mst_batch *batch;
    int64_t rows = 0;
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    for (;;) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        if (!batch) break;
        expect_blocks(batch, want, pad);
        rows += mst_batch_size(batch);
    }
    mst_iterator_destroy(it);
    mst_dataset_release(d);
    return rows;
}

static void rows_are_padded_to_the_longest_of_their_batch(void **state) {
    (void)state;
    static const int64_t longest[2] = {0, 0}, wide[2] = {0, 5}, both[2] = {7, 3};
    for (int64_t size = 1; size < 30; size += 4) {
        mst_dataset *d = open_blocks();
        THEN(d, mst_dataset_padded_batch(d, size, false, NULL, &made));
        const mst_spec spec = mst_dataset_spec(d, 0);
        assert_int_equal(spec.shape.ndim, 3);
        assert_int_equal(spec.shape.dim[1], -1);
        assert_int_equal(mst_dataset_cardinality(d), (ROWS + size - 1) / size);
        assert_int_equal(expect_all_blocks(d, longest, 0), ROWS);
        d = open_blocks();
        const mst_padding columns[] = {{.shape = MST_SHAPE(-1, 5), .value = -2}, {0}};
        THEN(d, mst_dataset_padded_batch(d, size, true, columns, &made));
        assert_int_equal(expect_all_blocks(d, wide, -2), ROWS / size * size);
        d = open_blocks();
        const mst_padding given[] = {{.shape = MST_SHAPE(7, 3), .value = 0.5}, {0}};
        THEN(d, mst_dataset_shuffle(d, NULL, &made));
        THEN(d, mst_dataset_padded_batch(d, size, false, given, &made));
        assert_int_equal(mst_dataset_spec(d, 0).shape.dim[1], 7);
        THEN(d, mst_dataset_prefetch(d, 2, &made));
        THEN(d, mst_dataset_repeat(d, 2, &made));
        assert_int_equal(expect_all_blocks(d, both, 0.5), 2 * ROWS);
    }
}

static void transforms_behind_see_the_shape_of_the_batch(void **state) {
    (void)state;
    static const int64_t longest[2] = {0, 0};
    for (int prefetch = 0; prefetch < 2; prefetch++) {
        mst_dataset *d = open_blocks();
        THEN(d, mst_dataset_scale(d, 0, MST_F64, 2, &made)); /* rows of any length */
        THEN(d, mst_dataset_padded_batch(d, 4, false, NULL, &made));
        if (prefetch) THEN(d, mst_dataset_prefetch(d, 1, &made));
        THEN(d, mst_dataset_scale(d, 0, MST_F32, 0.5, &made)); /* and of a batch */
        THEN(d, mst_dataset_scale(d, 1, MST_I32, 1, &made));
        THEN(d, mst_dataset_scale(d, 1, MST_I64, 1, &made));
        if (prefetch) THEN(d, mst_dataset_prefetch(d, 1, &made));
        assert_int_equal(expect_all_blocks(d, longest, 0), ROWS);
    }
}

static mst_status sum(const mst_array *in, mst_array *out, void *context) {
    float total = 0;
    ++*(int64_t *)context;
    if (in[0].shape.ndim != 2 || in[0].count != in[0].shape.dim[0] * in[0].shape.dim[1]) return MST_INTERNAL;
    for (int64_t i = 0; i < in[0].count; i++) total += ((const float *)in[0].data)[i];
    *(float *)out[0].data = total + (float)(in[0].count << 10);
    return MST_OK;
}

static void maps_behind_see_padded_rows(void **state) {
    (void)state;
    int64_t calls = 0;
    float sums[ROWS];
    mst_dataset *d = open_blocks();
    mst_iterator *it;
    const mst_batch *batch;
    THEN(d, mst_dataset_padded_batch(d, ROWS, false, NULL, &made));
    THEN(d, mst_dataset_map(d, sum, &calls, &(mst_spec){MST_F32, MST_SCALAR}, 1, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy(batch, 0, 0, ROWS, sums));
    assert_int_equal(calls, ROWS);
    for (int64_t i = 0; i < ROWS; i++)
        assert_true((double)sums[i] == (double)(i % 5 * (1 + i % 3) * (i + 1) + (4 * 3 << 10)));
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

/* A list of i % 5 numbers i, and a picture [2, 2] of pixels i. */
static mst_status make_list_and_picture(const mst_array *in, mst_array *out, void *context) {
    const int64_t i = *(const int64_t *)in[0].data / 10, length = i % 5;
    (void)context;
    out[0].count = length;
    out[0].shape = mst_shape_make(1, &length);
    if (!(out[0].data = mst_map_alloc((size_t)(length + 1) * sizeof i))) return mst_error()->code;
    for (int64_t j = 0; j < length; j++) ((int64_t *)out[0].data)[j] = i;
    memset(out[1].data, (int)i, 4);
    return MST_OK;
}

/* Also where the lists are converted after that, in either order. */
static void changes_of_a_picture_behind_leave_the_padded_components(void **state) {
    (void)state;
    static const mst_spec specs[] = {{MST_I64, {1, {-1}}}, {MST_U8, {2, {2, 2}}}};
    for (int order = 0; order < 4; order++) {
        mst_dataset *d = pipeline_numbers(ROWS);
        mst_iterator *it;
        const mst_batch *batch;
        double list[ROWS * 4];
        uint8_t picture[ROWS * 2];
        THEN(d, mst_dataset_map(d, make_list_and_picture, NULL, specs, 2, &made));
        THEN(d, mst_dataset_padded_batch(d, ROWS, false, NULL, &made));
        if (order == 1) THEN(d, mst_dataset_prefetch(d, 1, &made));
        if (order % 2) THEN(d, mst_dataset_scale(d, 0, MST_F64, 1, &made));
        THEN(d, mst_dataset_crop(d, 1, 0, 0, 1, 2, &made));
        if (order % 2 == 0) THEN(d, mst_dataset_scale(d, 0, MST_F64, 1, &made));
        if (order == 2) THEN(d, mst_dataset_prefetch(d, 1, &made));
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        EXPECT_OK(mst_iterator_next(it, &batch));
        memset(list, 0xff, sizeof list);
        EXPECT_OK(mst_batch_copy_all(batch, 0, ROWS, (void *[]){list, picture}));
        for (int i = 0; i < ROWS; i++) {
            assert_int_equal(picture[2 * i], i);
            assert_int_equal(picture[2 * i + 1], i);
            for (int j = 0; j < 4; j++) assert_true(list[4 * i + j] == (j < i % 5 ? i : 0));
        }
        mst_iterator_destroy(it);
        mst_dataset_release(d);
    }
}

/* Parts of a batch are rows of one padded batch, whoever copies them and in whatever cut. */
static void shards_of_a_batch_have_one_length(void **state) {
    (void)state;
    mst_dataset *d = open_blocks();
    mst_iterator *it;
    const mst_batch *batch;
    THEN(d, mst_dataset_padded_batch(d, 8, false, NULL, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    for (;;) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        if (!batch) break;
        const mst_shape shape = mst_batch_shape(batch, 0);
        const int64_t n = mst_batch_size(batch), each = shape.dim[1] * shape.dim[2];
        float *whole = calloc((size_t)(n * each), sizeof *whole), *parts = calloc((size_t)(n * each), sizeof *parts);
        EXPECT_OK(mst_batch_copy(batch, 0, 0, n, whole));
        for (int64_t shards = 1; shards <= n; shards++) {
            memset(parts, 0, (size_t)(n * each) * sizeof *parts);
            for (int64_t s = 0; s < shards; s++) {
                const int64_t first = s * n / shards, end = (s + 1) * n / shards;
                EXPECT_OK(mst_batch_copy(batch, 0, first, end - first, parts + first * each));
            }
            assert_memory_equal(whole, parts, (size_t)(n * each) * sizeof *parts);
        }
        free(whole);
        free(parts);
    }
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

/* ---- strings and features of Examples ---- */

static const mst_feature list_and_id[] = {{.name = "list", .dtype = MST_I64, .shape = {1, {-1}}, .variable = true},
                                          {.name = "id", .dtype = MST_I64}};

static void features_have_lengths_of_their_own(void **state) {
    (void)state;
    static const int64_t counts[] = {9, 14};
    for (int compression = 0; compression < 2; compression++) {
        records_write(2, counts, (mst_tfrecord_compression)compression);
        mst_dataset *d = records_open(NULL, false), *rows;
        mst_iterator *it;
        const mst_batch *batch;
        int64_t seen = 0;
        EXPECT_OK(mst_dataset_parse_example(d, list_and_id, 2, &rows));
        mst_dataset_release(d);
        const mst_padding padding[] = {{.value = -1}, {0}, {0}};
        EXPECT_OK(mst_dataset_padded_batch(rows, 3, false, padding, &d));
        mst_dataset_release(rows);
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        for (;;) {
            EXPECT_OK(mst_iterator_next(it, &batch));
            if (!batch) break;
            int64_t list[3 * 4], length[3], id[3], longest = 0;
            EXPECT_OK(mst_batch_copy_all(batch, 0, mst_batch_size(batch), (void *[]){list, length, id}));
            const int64_t width = mst_batch_shape(batch, 0).dim[1];
            for (int64_t i = 0; i < mst_batch_size(batch); i++, seen++) {
                assert_int_equal(id[i], seen);
                assert_int_equal(length[i], id[i] % 5);
                if (length[i] > longest) longest = length[i];
                for (int64_t j = 0; j < width; j++) assert_int_equal(list[i * width + j], j < length[i] ? id[i] : -1);
            }
            assert_int_equal(width, longest);
        }
        assert_int_equal(seen, 23);
        mst_iterator_destroy(it);
        mst_dataset_release(d);
    }
}

static void rows_without_batches_are_tensors_of_their_own_length(void **state) {
    (void)state;
    static const int64_t count = 9;
    records_write(1, &count, MST_TFRECORD_PLAIN);
    mst_dataset *d = records_open(NULL, false);
    mst_iterator *it;
    const mst_batch *batch;
    THEN(d, mst_dataset_parse_example(d, list_and_id, 2, &made));
    assert_int_equal(mst_dataset_spec(d, 0).shape.dim[0], -1);
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    for (int64_t i = 0; i < count; i++) {
        mst_tensor *list;
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_batch_tensor(batch, 0, &list));
        assert_true(mst_shape_equal(mst_tensor_shape(list), MST_SHAPE(i % 5)));
        for (int64_t j = 0; j < i % 5; j++) assert_true(mst_tensor_get(list, j) == (double)i);
        mst_tensor_release(list);
    }
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

/* Record i has i % 4 words "i.0", "i.1", ..., and a name. */
static void write_texts(int64_t count) {
    mst_tfrecord_writer *writer;
    EXPECT_OK(mst_tfrecord_writer_open(folder_path("texts"), MST_TFRECORD_PLAIN, &writer));
    for (int64_t i = 0; i < count; i++) {
        char text[4][16], name[32];
        mst_string words[4], label = {name, (size_t)snprintf(name, sizeof name, "name of %d", (int)i)};
        for (int64_t j = 0; j < i % 4; j++)
            words[j] = (mst_string){text[j], (size_t)snprintf(text[j], sizeof text[j], "%d.%d", (int)i, (int)j)};
        const mst_feature_data features[] = {{"name", MST_STRING, &label, 1}, {"words", MST_STRING, words, i % 4}};
        const size_t size = mst_example_size(features, 2);
        void *data = malloc(size);
        mst_example_encode(features, 2, data);
        EXPECT_OK(mst_tfrecord_writer_add(writer, data, size));
        free(data);
    }
    EXPECT_OK(mst_tfrecord_writer_commit(writer));
    mst_tfrecord_writer_close(writer);
}

static void bytes_features_are_strings(void **state) {
    (void)state;
    enum { TEXTS = 11 };
    const char *path = folder_path("texts");
    const mst_feature features[] = {{.name = "name", .dtype = MST_STRING},
                                    {.name = "words", .dtype = MST_STRING, .shape = MST_SHAPE(-1), .variable = true},
                                    {.name = "lost", .dtype = MST_STRING, .has_default = true}};
    write_texts(TEXTS);
    for (int prefetch = 0; prefetch < 2; prefetch++) {
        mst_dataset *d;
        mst_iterator *it;
        const mst_batch *batch;
        int64_t seen = 0;
        EXPECT_OK(mst_dataset_from_tfrecord(&path, 1, NULL, &d));
        THEN(d, mst_dataset_parse_example(d, features, 3, &made));
        const mst_padding padding[] = {{0}, {.text = mst_string_of("-")}, {0}, {0}};
        THEN(d, mst_dataset_padded_batch(d, 4, false, padding, &made));
        if (prefetch) THEN(d, mst_dataset_prefetch(d, 2, &made));
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        for (;;) {
            EXPECT_OK(mst_iterator_next(it, &batch));
            if (!batch) break;
            mst_tensor *name, *words, *lost;
            EXPECT_OK(mst_batch_tensor(batch, 0, &name));
            EXPECT_OK(mst_batch_tensor(batch, 1, &words));
            EXPECT_OK(mst_batch_tensor(batch, 3, &lost));
            const int64_t width = mst_tensor_shape(words).dim[1];
            for (int64_t i = 0; i < mst_batch_size(batch); i++, seen++) {
                char expected[32];
                snprintf(expected, sizeof expected, "name of %d", (int)seen);
                assert_string_equal(mst_tensor_get_string(name, i).data, expected);
                assert_int_equal(mst_tensor_get_string(lost, i).length, 0);
                for (int64_t j = 0; j < width; j++) {
                    snprintf(expected, sizeof expected, "%d.%d", (int)seen, (int)j);
                    assert_string_equal(mst_tensor_get_string(words, i * width + j).data,
                                        j < seen % 4 ? expected : "-");
                }
            }
            mst_tensor_release(name);
            mst_tensor_release(words);
            mst_tensor_release(lost);
        }
        assert_int_equal(seen, TEXTS);
        mst_iterator_destroy(it);
        mst_dataset_release(d);
    }
}

/* ---- positions ---- */

static void restored_iterator_gives_what_would_have_followed(void **state) {
    (void)state;
    static const int64_t counts[] = {20, 31}, longest[2] = {0, 0};
    (void)longest;
    for (int variant = 0; variant < 4; variant++) {
        records_write(2, counts, variant % 2 ? MST_TFRECORD_GZIP : MST_TFRECORD_PLAIN);
        mst_dataset *d = records_open(NULL, false);
        THEN(d, mst_dataset_parse_example(d, list_and_id, 2, &made));
        THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.buffer_size = 9, .seed = 2}, &made));
        THEN(d, mst_dataset_padded_batch(d, 4, false, NULL, &made));
        if (variant / 2) THEN(d, mst_dataset_prefetch(d, 2, &made));
        THEN(d, mst_dataset_repeat(d, 2, &made));
        for (int64_t stop = 0; stop < 27; stop += 5) {
            mst_iterator *it, *again;
            mst_tensor *position;
            const mst_batch *a, *b;
            EXPECT_OK(mst_iterator_create(d, 3, &it));
            for (int64_t i = 0; i < stop; i++) EXPECT_OK(mst_iterator_next(it, &a));
            EXPECT_OK(mst_iterator_save(it, &position));
            EXPECT_OK(mst_iterator_restore(d, position, &again));
            for (;;) {
                EXPECT_OK(mst_iterator_next(it, &a));
                EXPECT_OK(mst_iterator_next(again, &b));
                assert_int_equal(a != NULL, b != NULL);
                if (!a) break;
                for (int c = 0; c < 3; c++) {
                    mst_tensor *x, *y;
                    EXPECT_OK(mst_batch_tensor(a, c, &x));
                    EXPECT_OK(mst_batch_tensor(b, c, &y));
                    assert_true(mst_shape_equal(mst_tensor_shape(x), mst_tensor_shape(y)));
                    if (mst_tensor_bytes(x))
                        assert_memory_equal(mst_tensor_data(x), mst_tensor_data(y), mst_tensor_bytes(x));
                    mst_tensor_release(x);
                    mst_tensor_release(y);
                }
            }
            mst_tensor_release(position);
            mst_iterator_destroy(it);
            mst_iterator_destroy(again);
        }
        mst_dataset_release(d);
    }
}

/* ---- errors ---- */

static void longer_rows_than_asked_for_are_named_by_their_record(void **state) {
    (void)state;
    static const int64_t count = 9;
    const mst_padding three[] = {{.shape = MST_SHAPE(3)}, {0}, {0}};
    for (int forward = 0; forward < 2; forward++) {
        records_write(1, &count, MST_TFRECORD_PLAIN);
        mst_dataset *d = records_open(&(mst_tfrecord_options){.forward = forward}, false);
        mst_iterator *it;
        const mst_batch *batch;
        THEN(d, mst_dataset_parse_example(d, list_and_id, 2, &made));
        THEN(d, mst_dataset_padded_batch(d, 3, false, three, &made));
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_ERROR(mst_iterator_next(it, &batch), MST_INVALID,
                     "padded_batch: component 0 has shape [4], which is more than [3]");
        assert_non_null(strstr(mst_error()->message, "a-00': record at byte "));
        assert_null(batch);
        mst_iterator_destroy(it);
        mst_dataset_release(d);
    }
}

static void wrong_paddings_are_named(void **state) {
    (void)state;
    mst_dataset *d = open_blocks(), *numbers = pipeline_numbers(4), *made;
    const mst_padding flat[] = {{.shape = MST_SHAPE(3)}, {0}}, small[] = {{.shape = MST_SHAPE(1)}, {0}},
                      value[] = {{0}, {.value = 0.5}}, large[] = {{.value = 1e300}, {0}},
                      negative[] = {{.shape = MST_SHAPE(-2, 1)}, {0}};
    EXPECT_ERROR(mst_dataset_padded_batch(d, 2, false, flat, &made), MST_INVALID,
                 "component 0 has shape [?, ?], which cannot be padded to [3]");
    EXPECT_ERROR(mst_dataset_padded_batch(d, 2, false, negative, &made), MST_INVALID, "cannot be padded to");
    EXPECT_ERROR(mst_dataset_padded_batch(numbers, 2, false, small, &made), MST_INVALID,
                 "component 0 has shape [2], which cannot be padded to [1]");
    EXPECT_ERROR(mst_dataset_padded_batch(d, 2, false, value, &made), MST_INVALID,
                 "component 1 is i64, which cannot hold the value 0.5");
    EXPECT_ERROR(mst_dataset_padded_batch(d, 2, false, large, &made), MST_INVALID, "cannot hold the value 1e+300");
    EXPECT_ERROR(mst_dataset_padded_batch(d, 0, false, NULL, &made), MST_INVALID, "size is 0");
    assert_null(made);
    THEN(d, mst_dataset_batch(d, 2, false, &made));
    EXPECT_ERROR(mst_dataset_padded_batch(d, 2, false, NULL, &made), MST_INVALID, "works on rows");
    EXPECT_ERROR(mst_dataset_prefetch(d, 2, &made), MST_INVALID, "component 0 has rows of different lengths: pad it");
    mst_iterator *it;
    const mst_batch *batch;
    mst_tensor *tensor;
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_ERROR(mst_batch_tensor(batch, 0, &tensor), MST_INVALID, "component 0 has rows of different lengths: pad it");
    EXPECT_OK(mst_batch_tensor(batch, 1, &tensor));
    mst_tensor_release(tensor);
    mst_iterator_destroy(it);
    mst_dataset_release(numbers);
    mst_dataset_release(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_padded_to_the_longest_of_their_batch),
        cmocka_unit_test(transforms_behind_see_the_shape_of_the_batch),
        cmocka_unit_test(maps_behind_see_padded_rows),
        cmocka_unit_test(changes_of_a_picture_behind_leave_the_padded_components),
        cmocka_unit_test(shards_of_a_batch_have_one_length),
        TEST_IN_FOLDER(features_have_lengths_of_their_own),
        TEST_IN_FOLDER(rows_without_batches_are_tensors_of_their_own_length),
        TEST_IN_FOLDER(bytes_features_are_strings),
        TEST_IN_FOLDER(restored_iterator_gives_what_would_have_followed),
        TEST_IN_FOLDER(longer_rows_than_asked_for_are_named_by_their_record),
        cmocka_unit_test(wrong_paddings_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
