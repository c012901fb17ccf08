/* Pictures from a folder: DIR/CLASS/FILE, PNG or JPEG. A fifth of them is kept for validation, the others are mirrored
 * and moved at random, others in each epoch; at the end some are named.
 *
 *      ./pictures DIR
 *
 * Where DIR is not there, it is made first, with pictures of bars that lie or stand. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "muster/muster.h"

enum { SIDE = 24, PICTURES = 200, SHOWN = 5 };

/* A bright bar through a picture of noise, along it or across. */
static void draw(uint8_t *pixels, int number) {
    static unsigned state = 1;
    const int place = 4 + number * 7 % (SIDE - 8);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            for (int c = 0; c < 3; c++) {
                const int at = number % 2 ? x : y;
                state = state * 1664525u + 1013904223u;
                pixels[(y * SIDE + x) * 3 + c] = (uint8_t)((at / 3 == place / 3 ? 150 : 0) + (state >> 24) % 100);
            }
}

static mst_status make_folder(const char *spec) {
    static const char *const names[] = {"lies", "stands"};
    mst_tensor *tensor[2];
    MST_TRY(mst_tensor_create(MST_U8, MST_SHAPE(PICTURES, SIDE, SIDE, 3), &tensor[0]));
    MST_TRY(mst_tensor_create(MST_I64, MST_SHAPE(PICTURES), &tensor[1]));
    for (int i = 0; i < PICTURES; i++) {
        draw((uint8_t *)mst_tensor_data(tensor[0]) + i * SIDE * SIDE * 3, i);
        mst_tensor_set(tensor[1], i, i % 2);
    }
    mst_dataset *data = mst_data_name_classes(mst_data_from_tensors(tensor, 2), 1, names, 2);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    const mst_status status = mst_dataset_write(spec, data, NULL, NULL);
    mst_dataset_release(data);
    return status;
}

static void add_layers(mst_model *model, int64_t classes) {
    mst_flatten(model);
    mst_dense(model, 64, .activation = MST_RELU);
    mst_dense(model, classes);
}

static mst_status show(mst_model *model, mst_dataset *pictures) {
    mst_tensor *outputs;
    const int64_t classes = mst_dataset_num_classes(pictures, 1);
    mst_dataset *few = mst_data_take(mst_data_shuffle(mst_dataset_retain(pictures), .seed = 1), SHOWN);
    const mst_status status = mst_predict(model, few, SHOWN, &outputs);
    mst_dataset_release(few);
    MST_TRY(status);
    for (int64_t i = 0; i < mst_tensor_shape(outputs).dim[0]; i++) {
        int64_t best = 0;
        for (int64_t c = 1; c < classes; c++)
            if (mst_tensor_get(outputs, i * classes + c) > mst_tensor_get(outputs, i * classes + best)) best = c;
        printf("picture %d: %s\n", (int)i, mst_dataset_class_name(pictures, 1, best));
    }
    mst_tensor_release(outputs);
    return MST_OK;
}

static mst_status train(mst_dataset *pictures) {
    mst_dataset *validation;
    mst_model *model;
    /* of each class its share: before the random changes, which are for training alone */
    mst_dataset *training = mst_data_split(mst_dataset_retain(pictures),
                                           &(mst_split_options){.fraction = 0.2, .seed = 1, .labels = 1}, &validation);
    training = mst_data_random_flip(training, 0, MST_FLIP_LEFT_RIGHT, 1);
    training = mst_data_random_crop(training, 0, SIDE, SIDE, 2, 1);
    training = mst_data_scale(training, 0, MST_F32, 1.0 / 255);
    validation = mst_data_scale(validation, 0, MST_F32, 1.0 / 255);
    mst_status status = mst_model_create(&model);
    if (!status) {
        add_layers(model, mst_dataset_num_classes(pictures, 1));
        status = mst_compile(model, .optimizer = mst_adam(), .metric = {MST_METRIC_ACCURACY}, .seed = 1);
    }
    if (!status)
        status = mst_fit(model, .data = training, .validation = validation, .batch_size = 20, .epochs = 15,
                         .progress = stdout);
    if (!status) status = show(model, validation);
    mst_model_destroy(model);
    mst_dataset_release(validation);
    mst_dataset_release(training);
    return status;
}

int main(int argc, char **argv) {
    char spec[4096];
    struct stat there;
    if (argc != 2) return puts("usage: pictures DIR"), 2;
    snprintf(spec, sizeof spec, "images:%s", argv[1]);
    mst_status status = stat(argv[1], &there) ? make_folder(spec) : MST_OK;
    if (!status) {
        mst_dataset *pictures = mst_data_from_images(argv[1], &(mst_images_options){.height = SIDE, .width = SIDE});
        status = mst_dataset_check(pictures);
        if (!status) status = train(pictures);
        mst_dataset_release(pictures);
    }
    if (status) fprintf(stderr, "error: %s\n", mst_error()->message);
    return status != MST_OK;
}
