/* Labels that are names of classes: losses that measure distances between numbers refuse them. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "muster/data.h"
#include "muster/layers.h"
#include "muster/train.h"
#include "support/expect.h"

/* Four rows of two numbers, whose labels are two names. */
static mst_dataset *named_rows(void) {
    static const char *const names[] = {"often", "rare"};
    const float inputs[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int64_t labels[4] = {0, 1, 0, 1};
    mst_tensor *part[2];
    mst_dataset *rows, *named;
    EXPECT_OK(mst_tensor_copy(MST_F32, MST_SHAPE(4, 2), inputs, &part[0]));
    EXPECT_OK(mst_tensor_copy(MST_I64, MST_SHAPE(4), labels, &part[1]));
    EXPECT_OK(mst_dataset_from_tensors(part, 2, &rows));
    EXPECT_OK(mst_dataset_name_classes(rows, 1, names, 2, &named));
    mst_dataset_release(rows);
    for (int i = 0; i < 2; i++) mst_tensor_release(part[i]);
    return named;
}

/* The losses that measure, and no other, refuse names: in training and where a model is evaluated. */
static void losses_that_measure_numbers_refuse_names(void **state) {
    (void)state;
    mst_dataset *data = named_rows();
    for (int loss = 0; mst_loss_name((mst_loss)loss); loss++) {
        const char *name = mst_loss_name((mst_loss)loss);
        const bool measures = strstr(name, "error") || strcmp(name, "huber") == 0 || strcmp(name, "poisson") == 0;
        const bool one_hot = loss == MST_LOSS_CATEGORICAL_CROSSENTROPY || loss == MST_LOSS_KL_DIVERGENCE;
        mst_model *model;
        mst_result result;
        assert_int_equal(mst_loss_measures((mst_loss)loss), measures);
        if (one_hot) continue;
        EXPECT_OK(mst_model_create(&model));
        mst_dense(model, loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY ? 2 : 1);
        EXPECT_OK(mst_compile(model, .loss = (mst_loss)loss));
        if (measures) {
            EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = 2), MST_INVALID,
                         "labels are names of classes, such as 'often', and the loss ");
            EXPECT_ERROR(mst_evaluate(model, data, 2, &result, NULL), MST_INVALID, name);
        } else {
            EXPECT_OK(mst_fit(model, .data = data, .batch_size = 2));
        }
        mst_model_destroy(model);
    }
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(losses_that_measure_numbers_refuse_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
