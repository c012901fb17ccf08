/* The shortest training: the network 784-500-10 learns Fashion-MNIST on two CPU devices. */
#include <stdio.h>

#include "muster/muster.h"

static mst_status run(void) {
    mst_model *m;
    mst_dataset *images = mst_data_scale(mst_data_open("fashion-mnist", "train"), 0, MST_F32, 1.0 / 255);
    MST_TRY(mst_model_create(&m));
    mst_flatten(m);
    mst_dense(m, 500, .activation = MST_RELU);
    mst_dense(m, 10);
    MST_TRY(mst_compile(m, .optimizer = mst_adam(), .metric = {MST_METRIC_ACCURACY}, .session = {.devices = "cpu:2"}));
    MST_TRY(mst_fit(m, .data = images, .batch_size = 200, .epochs = 3, .progress = stdout));
    mst_model_destroy(m);
    mst_dataset_release(images);
    return MST_OK;
}

int main(void) {
    if (run()) return fprintf(stderr, "error: %s\n", mst_error()->message), 1;
    return 0;
}
