#include "support/training.h"

#include "support/test.h"

void training_tensors(int64_t rows, int64_t features, int64_t classes, unsigned seed, mst_tensor *out[2]) {
    mst_tensor *direction = engine_random(MST_F32, MST_SHAPE(classes, features), -1, 1, 99);
    out[0] = engine_random(MST_F32, MST_SHAPE(rows, features), -1, 1, seed);
    out[1] = engine_tensor(MST_I32, MST_SHAPE(rows), NULL);
    for (int64_t i = 0; i < rows; i++) {
        double best = -1e30;
        for (int64_t c = 0; c < classes; c++) {
            double dot = 0;
            for (int64_t k = 0; k < features; k++)
                dot += mst_tensor_get(out[0], i * features + k) * mst_tensor_get(direction, c * features + k);
            if (dot <= best) continue;
            mst_tensor_set(out[1], i, (double)c);
            best = dot;
        }
        for (int64_t k = 0; k < features; k++) { /* a margin between the classes */
            int64_t at = (int64_t)mst_tensor_get(out[1], i) * features + k;
            mst_tensor_set(out[0], i * features + k,
                           mst_tensor_get(out[0], i * features + k) + mst_tensor_get(direction, at));
        }
    }
    mst_tensor_release(direction);
}

mst_dataset *training_data(int64_t rows, int64_t features, int64_t classes, unsigned seed) {
    mst_tensor *tensor[2];
    mst_dataset *data;
    training_tensors(rows, features, classes, seed, tensor);
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &data));
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return data;
}

mst_model *training_model(int64_t hidden, int64_t classes, float l2) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, hidden, .activation = MST_TANH, .l2 = l2);
    mst_dense(model, classes, .l2 = l2);
    return model;
}
