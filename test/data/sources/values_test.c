/* Values of rows: scales, casts and maps, copied row by row or by several threads, and errors that name the row. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <string.h>

#include "base/team.h"
#include "data/dataset.h"
#include "muster/op.h"
#include "support/expect.h"
#include "support/pipeline.h"

enum { ROWS = 10, WIDTH = 1037 };

/* Two components: [WIDTH] of a dtype with element i = i * 7 % 120 (less 60 where the dtype has a sign), and u8 [1]. */
static mst_dataset *values(mst_dtype dtype) {
    mst_tensor *tensor[2];
    mst_dataset *dataset;
    EXPECT_OK(mst_tensor_create(dtype, MST_SHAPE(ROWS, WIDTH), &tensor[0]));
    EXPECT_OK(mst_tensor_create(MST_U8, MST_SHAPE(ROWS, 1), &tensor[1]));
    bool sign = dtype != MST_U8 && dtype != MST_BOOL;
    for (int64_t i = 0; i < mst_tensor_count(tensor[0]); i++)
        mst_tensor_set(tensor[0], i, (double)(i * 7 % 120) - (sign ? 60 : 0));
    for (int64_t i = 0; i < ROWS; i++) mst_tensor_set(tensor[1], i, (double)i);
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &dataset));
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    return dataset;
}

static double value(mst_dtype dtype, int64_t i) {
    double v = (double)(i * 7 % 120) - (dtype != MST_U8 && dtype != MST_BOOL ? 60 : 0);
    return dtype == MST_BOOL ? v != 0 : v;
}

static void scale_casts_then_multiplies_for_every_pair_of_dtypes(void **state) {
    (void)state;
    for (mst_dtype from = MST_F32; from < MST_STRING; from++) {
        for (mst_dtype to = MST_F32; to < MST_STRING; to++) {
            mst_dataset *all = values(from), *scaled;
            double factor = mst_dtype_is_float(to) ? 1.0 / 255 : 1;
            if (from == MST_BF16 || to == MST_BF16 || (mst_dtype_is_float(from) && !mst_dtype_is_float(to))) {
                EXPECT_ERROR(mst_dataset_scale(all, 0, to, factor, &scaled), MST_INVALID, "use map");
                assert_null(scaled);
                mst_dataset_release(all);
                continue;
            }
            EXPECT_OK(mst_dataset_scale(all, 0, to, factor, &scaled));
            assert_int_equal(mst_dataset_spec(scaled, 0).dtype, to);
            mst_tensor *tensor = pipeline_column(scaled, 0);
            for (int64_t i = 0; i < ROWS * WIDTH; i++) {
                double v = value(from, i), expected = v * factor;
                if (to == MST_F32) expected = (double)((float)v * (float)factor);
                if (to == MST_U8) expected = (double)(uint8_t)(int64_t)v;
                if (to == MST_BOOL) expected = v != 0;
                assert_true(mst_tensor_get(tensor, i) == expected);
            }
            mst_tensor_release(tensor);
            mst_dataset_release(scaled);
            mst_dataset_release(all);
        }
    }
}

static void scales_follow_each_other_and_leave_other_components(void **state) {
    (void)state;
    mst_dataset *all = values(MST_U8), *once, *twice, *thrice, *other;
    EXPECT_OK(mst_dataset_scale(all, 0, MST_F32, 1.0 / 255, &once));
    EXPECT_OK(mst_dataset_scale(once, 1, MST_I32, 1, &other));
    EXPECT_OK(mst_dataset_scale(other, 0, MST_F64, 3, &twice));
    EXPECT_OK(mst_dataset_scale(twice, 0, MST_F32, 0.5, &thrice));
    mst_tensor *x = pipeline_column(thrice, 0), *y = pipeline_column(thrice, 1);
    assert_int_equal(mst_tensor_dtype(y), MST_I32);
    for (int64_t i = 0; i < ROWS * WIDTH; i++) {
        float first = (float)value(MST_U8, i) * (float)(1.0 / 255);
        assert_true(((float *)mst_tensor_data(x))[i] == (float)((double)first * 3) * 0.5f);
    }
    for (int64_t i = 0; i < ROWS; i++) assert_true(mst_tensor_get(y, i) == (double)i);
    mst_tensor_release(x);
    mst_tensor_release(y);
    mst_dataset_release(all);
    mst_dataset_release(once);
    mst_dataset_release(other);
    mst_dataset_release(twice);
    mst_dataset_release(thrice);
}

static void wrong_scales_are_named(void **state) {
    (void)state;
    mst_dataset *all = values(MST_U8), *out;
    EXPECT_ERROR(mst_dataset_scale(all, 2, MST_F32, 1, &out), MST_INVALID, "component 2, the dataset has 0 to 1");
    EXPECT_ERROR(mst_dataset_scale(all, -1, MST_F32, 1, &out), MST_INVALID, "component -1");
    EXPECT_ERROR(mst_dataset_scale(all, 0, MST_I32, 2, &out), MST_INVALID, "factor is 2");
    EXPECT_ERROR(mst_dataset_scale(all, 0, MST_NO_DTYPE, 2, &out), MST_INVALID, "is no dtype");
    assert_int_equal(mst_dataset_spec(all, 7).dtype, MST_NO_DTYPE);
    mst_dataset_release(all);
}

/* in: f32 [WIDTH], u8 [1]; out: i64 [] with the label plus *context, f32 [WIDTH, 2] with (x, label), u8 [1] */
static mst_status pair_up(const mst_array *in, mst_array *out, void *context) {
    const float *x = in[0].data;
    uint8_t label = *(const uint8_t *)in[1].data;
    if (in[0].count != WIDTH || in[0].dtype != MST_F32 || out[1].count != 2 * WIDTH || out[0].shape.ndim != 0)
        return MST_FAIL(MST_INTERNAL, "wrong arrays");
    if (label == 8 && *(int64_t *)context == 0) return MST_FAIL(MST_CORRUPT, "label 8 is not liked");
    if (label == 8 && *(int64_t *)context == 1) return MST_NUMERICS;
    *(int64_t *)out[0].data = label + *(int64_t *)context;
    for (int64_t i = 0; i < WIDTH; i++) {
        ((float *)out[1].data)[2 * i] = x[i];
        ((float *)out[1].data)[2 * i + 1] = label;
    }
    *(uint8_t *)out[2].data = label;
    return MST_OK;
}

/* in: as pair_up's out; out: f32 [WIDTH] with x + label + in[0] */
static mst_status add_up(const mst_array *in, mst_array *out, void *context) {
    const float *pairs = in[1].data;
    (void)context;
    for (int64_t i = 0; i < WIDTH; i++)
        ((float *)out[0].data)[i] = pairs[2 * i] + pairs[2 * i + 1] + (float)*(const int64_t *)in[0].data;
    return MST_OK;
}

static mst_dataset *mapped(int64_t *context) {
    mst_dataset *all = values(MST_U8), *scaled, *pairs, *sums, *end;
    const mst_spec specs[] = {{MST_I64, MST_SCALAR}, {MST_F32, MST_SHAPE(WIDTH, 2)}, {MST_U8, MST_SHAPE(1)}};
    EXPECT_OK(mst_dataset_scale(all, 0, MST_F32, 0.5, &scaled));
    EXPECT_OK(mst_dataset_map(scaled, pair_up, context, specs, 3, &pairs));
    EXPECT_OK(mst_dataset_map(pairs, add_up, NULL, &(mst_spec){MST_F32, MST_SHAPE(WIDTH)}, 1, &sums));
    EXPECT_OK(mst_dataset_scale(sums, 0, MST_F64, 2, &end));
    mst_dataset_release(all);
    mst_dataset_release(scaled);
    mst_dataset_release(pairs);
    mst_dataset_release(sums);
    return end;
}

static void map_changes_components_row_by_row_between_scales(void **state) {
    (void)state;
    int64_t context = 100;
    mst_dataset *dataset = mapped(&context);
    assert_int_equal(mst_dataset_num_components(dataset), 1);
    mst_tensor *tensor = pipeline_column(dataset, 0);
    assert_true(mst_shape_equal(mst_tensor_shape(tensor), MST_SHAPE(ROWS, WIDTH)));
    for (int64_t i = 0; i < ROWS * WIDTH; i++) {
        int64_t row = i / WIDTH;
        double label = (double)row;
        assert_true(mst_tensor_get(tensor, i) == 2 * (value(MST_U8, i) / 2 + label + label + 100));
    }
    mst_tensor_release(tensor);
    mst_dataset_release(dataset);
}

static void failing_map_names_the_row(void **state) {
    (void)state;
    for (int64_t context = 0; context < 2; context++) {
        mst_dataset *dataset = mapped(&context), *batches;
        mst_iterator *it;
        const mst_batch *batch;
        static double values[ROWS * WIDTH];
        EXPECT_OK(mst_dataset_batch(dataset, ROWS, false, &batches));
        EXPECT_OK(mst_iterator_create(batches, 0, &it));
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_batch_copy(batch, 0, 0, 8, values));
        if (context == 0)
            EXPECT_ERROR(mst_batch_copy(batch, 0, 7, 2, values), MST_CORRUPT, "map of row 8: label 8 is not liked");
        else
            EXPECT_ERROR(mst_batch_copy(batch, 0, 8, 1, values), MST_NUMERICS, "map: the function failed on row 8");
        EXPECT_OK(mst_batch_copy(batch, 0, 9, 1, values));
        mst_iterator_destroy(it);
        mst_dataset_release(batches);
        mst_dataset_release(dataset);
    }
}

static mst_status count_calls(const mst_array *in, mst_array *out, void *context) {
    ++*(int *)context;
    memcpy(out[0].data, in[0].data, WIDTH);
    memcpy(out[1].data, in[1].data, 1);
    return MST_OK;
}

static void copying_all_components_maps_each_row_once(void **state) {
    (void)state;
    static uint8_t x[ROWS * WIDTH], y[ROWS];
    int calls = 0;
    mst_dataset *all = values(MST_U8), *batches, *counted;
    mst_iterator *it;
    const mst_batch *batch;
    const mst_spec specs[] = {{MST_U8, MST_SHAPE(WIDTH)}, {MST_U8, MST_SHAPE(1)}};
    EXPECT_OK(mst_dataset_batch(all, ROWS, false, &batches));
    EXPECT_OK(mst_dataset_map(batches, count_calls, &calls, specs, 2, &counted)); /* rows of batches */
    assert_true(mst_shape_equal(mst_dataset_spec(counted, 0).shape, MST_SHAPE(ROWS, WIDTH)));
    EXPECT_OK(mst_iterator_create(counted, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    assert_int_equal(calls, 0);
    EXPECT_OK(mst_batch_copy_all(batch, 2, 5, (void *[]){x, y}));
    assert_int_equal(calls, 5);
    for (int64_t i = 0; i < 5 * WIDTH; i++) assert_true((double)x[i] == value(MST_U8, 2 * WIDTH + i));
    assert_int_equal(y[4], 6);
    EXPECT_OK(mst_batch_copy_all(batch, 0, 1, (void *[]){NULL, y}));
    assert_int_equal(y[0], 0);
    mst_iterator_destroy(it);
    mst_dataset_release(counted);
    mst_dataset_release(batches);
    mst_dataset_release(all);
}

/* ---- several threads ---- */

typedef struct shared_copy {
    const mst_batch *batch;
    double *dst;
    atomic_int runs;
} shared_copy;

static mst_status copy_rows(void *context, int64_t begin, int64_t end, int thread) {
    shared_copy *c = context;
    (void)thread;
    atomic_fetch_add(&c->runs, 1);
    return mst_batch_copy(c->batch, 0, begin, end - begin, c->dst + begin * WIDTH);
}

/* Rows that threads of a team copy are those that one thread copies, and so is the error. */
static void threads_share_the_rows_of_a_batch(void **state) {
    (void)state;
    enum { THREADS = 3 };
    mst_team *team;
    EXPECT_OK(mst_team_create(THREADS, false, NULL, NULL, &team));
    const mst_kernel_args args = {.team = team, .num_threads = THREADS};
    for (int64_t liked = 0; liked < 2; liked++) { /* context of the map: 0 fails on row 8 */
        static double one[ROWS * WIDTH], many[ROWS * WIDTH];
        int64_t context = liked ? 100 : 0;
        mst_dataset *dataset = mapped(&context), *batches;
        mst_iterator *it;
        shared_copy copy = {.dst = many};
        EXPECT_OK(mst_dataset_batch(dataset, ROWS, false, &batches));
        EXPECT_OK(mst_iterator_create(batches, 0, &it));
        EXPECT_OK(mst_iterator_next(it, &copy.batch));
        assert_int_equal(mst_batch_grain(copy.batch, 0), 1);
        for (int k = 0; k < 50 && liked; k++) {
            memset(many, 0, sizeof many);
            EXPECT_OK(mst_batch_copy(copy.batch, 0, 0, ROWS, one));
            EXPECT_OK(mst_parallel(&args, ROWS, mst_batch_grain(copy.batch, 0), copy_rows, &copy));
            assert_memory_equal(one, many, sizeof one);
        }
        if (!liked)
            EXPECT_ERROR(mst_parallel(&args, ROWS, 1, copy_rows, &copy), MST_CORRUPT, "map of row 8: label 8 is not");
        assert_true(copy.runs > 1);
        mst_iterator_destroy(it);
        mst_dataset_release(batches);
        mst_dataset_release(dataset);
    }
    mst_team_destroy(team);
}

/* Rows without a map are worth a run where they are many bytes together. */
static void few_bytes_are_copied_by_one_thread(void **state) {
    (void)state;
    mst_dataset *all = values(MST_F32), *batches;
    mst_iterator *it;
    const mst_batch *batch;
    EXPECT_OK(mst_dataset_batch(all, ROWS, false, &batches));
    EXPECT_OK(mst_iterator_create(batches, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    assert_in_range(mst_batch_grain(batch, 0), 1, ROWS - 1);
    assert_true(mst_batch_grain(batch, 1) > ROWS);
    mst_iterator_destroy(it);
    mst_dataset_release(batches);
    mst_dataset_release(all);
}

static void wrong_maps_are_named(void **state) {
    (void)state;
    mst_dataset *all = values(MST_U8), *batches, *out;
    EXPECT_OK(mst_dataset_batch(all, 2, false, &batches));
    EXPECT_ERROR(mst_dataset_map(all, NULL, NULL, &(mst_spec){MST_U8, MST_SCALAR}, 1, &out), MST_INVALID, "is NULL");
    EXPECT_ERROR(mst_dataset_map(all, add_up, NULL, NULL, 0, &out), MST_INVALID, "0 outputs");
    EXPECT_ERROR(mst_dataset_map(all, add_up, NULL, &(mst_spec){MST_U8, MST_SHAPE(-2)}, 1, &out), MST_INVALID,
                 "possible size");
    EXPECT_ERROR(mst_dataset_map(batches, add_up, NULL, &(mst_spec){MST_U8, MST_SHAPE(-1)}, 1, &out), MST_INVALID,
                 "[?]: each dimension must be known (its length can be found before batch only)");
    EXPECT_ERROR(mst_dataset_map(all, add_up, NULL, &(mst_spec){MST_NO_DTYPE, MST_SCALAR}, 1, &out), MST_INVALID,
                 "no dtype");
    assert_null(out);
    mst_dataset_release(batches);
    mst_dataset_release(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scale_casts_then_multiplies_for_every_pair_of_dtypes),
        cmocka_unit_test(scales_follow_each_other_and_leave_other_components),
        cmocka_unit_test(wrong_scales_are_named),
        cmocka_unit_test(map_changes_components_row_by_row_between_scales),
        cmocka_unit_test(failing_map_names_the_row),
        cmocka_unit_test(copying_all_components_maps_each_row_once),
        cmocka_unit_test(threads_share_the_rows_of_a_batch),
        cmocka_unit_test(few_bytes_are_copied_by_one_thread),
        cmocka_unit_test(wrong_maps_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
