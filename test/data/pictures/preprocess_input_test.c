/* The ranges of pixels that networks of keras.applications take: values of Keras' preprocess_input. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "muster/dataset.h"
#include "support/expect.h"
#include "support/pipeline.h"

enum { VALUES = 6 };

/* One row of SHAPE, whose first values are those of two pixels. */
static mst_dataset *row_of(mst_dtype dtype, mst_shape shape) {
    static const uint8_t pixels[VALUES] = {255, 0, 128, 1, 17, 200};
    mst_tensor *tensor;
    mst_dataset *dataset;
    mst_shape rows = {.ndim = shape.ndim + 1, .dim = {1}};
    memcpy(rows.dim + 1, shape.dim, (size_t)shape.ndim * sizeof *shape.dim);
    EXPECT_OK(mst_tensor_create(dtype, rows, &tensor));
    memset(mst_tensor_data(tensor), 0, (size_t)mst_tensor_count(tensor) * mst_dtype_size(dtype));
    memcpy(mst_tensor_data(tensor), pixels, sizeof pixels);
    EXPECT_OK(mst_dataset_from_tensors(&tensor, 1, &dataset));
    mst_tensor_release(tensor);
    return dataset;
}

static void values_are_those_of_keras(void **state) {
    (void)state;
    static const float wanted[][VALUES] = {
        {1, -1, 0.003921628f, -0.992156863f, -0.866666675f, 0.568627477f},
        {2.24890828f, -2.03571415f, 0.426492572f, -2.10077929f, -1.73809516f, 1.68139446f},
        {24.060997f, -116.778999f, 131.320007f, 96.060997f, -99.7789993f, -122.68f},
    };
    for (int mode = MST_PIXELS_TF; mode <= MST_PIXELS_CAFFE; mode++) {
        mst_dataset *d = row_of(MST_U8, MST_SHAPE(1, 2, 3));
        mst_iterator *it;
        const mst_batch *batch;
        float got[VALUES];
        THEN(d, mst_dataset_preprocess_input(d, 0, (mst_pixels)mode, &made));
        assert_int_equal(mst_dataset_spec(d, 0).dtype, MST_F32);
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_batch_copy(batch, 0, 0, 1, got));
        for (int i = 0; i < VALUES; i++) assert_float_equal(got[i], wanted[mode][i], 1e-6f * (mode == 2 ? 100 : 1));
        mst_iterator_destroy(it);
        mst_dataset_release(d);
    }
}

static void other_inputs_are_refused(void **state) {
    (void)state;
    mst_dataset *f32 = row_of(MST_F32, MST_SHAPE(1, 2, 3)), *gray = row_of(MST_U8, MST_SHAPE(3, 2)), *made;
    EXPECT_ERROR(mst_dataset_preprocess_input(f32, 0, MST_PIXELS_TF, &made), MST_INVALID,
                 "component 0 is f32, u8 pixels from 0 to 255 are due");
    EXPECT_ERROR(mst_dataset_preprocess_input(gray, 0, MST_PIXELS_CAFFE, &made), MST_INVALID,
                 "the last dimension must be 3, for red, green and blue");
    EXPECT_ERROR(mst_dataset_preprocess_input(gray, 1, MST_PIXELS_TF, &made), MST_INVALID, "the dataset has 0 to 0");
    EXPECT_OK(mst_dataset_preprocess_input(gray, 0, MST_PIXELS_TF, &made));
    mst_dataset_release(made);
    mst_dataset_release(gray);
    mst_dataset_release(f32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_keras),
        cmocka_unit_test(other_inputs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
