/* Segmentation: a U-Net learns a class for each pixel of pictures, from two folders of pictures and of their masks. A
 * mask is a PNG file of class numbers, with the name of its picture.
 *
 *      ./unet [IMAGES MASKS]
 *
 * Without folders, pictures of discs and squares on noise are made in memory: background 0, disc 1, square 2. */
#include <stdio.h>
#include <stdlib.h>

#include "muster/muster.h"

enum { SIDE = 32, PICTURES = 48, CLASSES = 3 };

static unsigned draw(unsigned most) {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % most;
}

/* A disc, or where NUMBER is odd a square of another color, on noise, and the classes of its pixels. */
static void draw_shape(int number, uint8_t *pixels, uint8_t *classes) {
    const int x0 = 10 + (int)draw(12), y0 = 10 + (int)draw(12), size = 5 + (int)draw(4);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const int dx = abs(x - x0), dy = abs(y - y0);
            const int inside = number % 2 ? dx < size && dy < size : dx * dx + dy * dy < size * size;
            *classes++ = (uint8_t)(inside ? 1 + number % 2 : 0);
            for (int c = 0; c < 3; c++) *pixels++ = (uint8_t)((inside && c != 2 * (number % 2) ? 120 : 0) + draw(100));
        }
}

static mst_dataset *make_shapes(void) {
    mst_tensor *pictures = NULL, *masks = NULL;
    mst_dataset *data = NULL;
    if (!mst_tensor_create(MST_U8, MST_SHAPE(PICTURES, SIDE, SIDE, 3), &pictures) &&
        !mst_tensor_create(MST_U8, MST_SHAPE(PICTURES, SIDE, SIDE), &masks)) {
        for (int i = 0; i < PICTURES; i++)
            draw_shape(i, (uint8_t *)mst_tensor_data(pictures) + i * SIDE * SIDE * 3,
                       (uint8_t *)mst_tensor_data(masks) + i * SIDE * SIDE);
        data = mst_data_from_tensors((mst_tensor *[]){pictures, masks}, 2);
    }
    mst_tensor_release(pictures);
    mst_tensor_release(masks);
    return data;
}

static mst_status train(mst_dataset *pictures, int64_t epochs) {
    mst_dataset *validation;
    mst_model *model;
    mst_result result;
    mst_dataset *training =
        mst_data_split(mst_dataset_retain(pictures), &(mst_split_options){.fraction = 0.25, .seed = 1}, &validation);
    const mst_shape shape = mst_dataset_spec(pictures, 0).shape;
    for (int i = 0; i < 2; i++) /* with one seed, a picture and its mask are mirrored together */
        training = mst_data_random_flip(training, i, MST_FLIP_LEFT_RIGHT, 1);
    training = mst_data_scale(training, 0, MST_F32, 1.0 / 255);
    validation = mst_data_scale(validation, 0, MST_F32, 1.0 / 255);
    mst_status status = mst_model_create(&model);
    if (!status) {
        mst_unet(model, .input_shape = shape, .alpha = 0.125, .classes = CLASSES);
        /* labels 255 do not count: many masks have them at borders that nobody could tell */
        status = mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .ignore_class = 255,
                             .metric = {MST_METRIC_ACCURACY, MST_METRIC_MEAN_IO_U}, .seed = 1);
    }
    if (!status)
        status = mst_fit(model, .data = training, .batch_size = 4, .epochs = epochs, .progress = stdout,
                         .progress_kind = MST_PROGRESS_LINES);
    if (!status) status = mst_evaluate(model, validation, 8, &result, NULL);
    if (!status) printf("of other pictures: accuracy %.3f, mean IoU %.3f\n", result.metric[0], result.metric[1]);
    mst_model_destroy(model);
    mst_dataset_release(validation);
    mst_dataset_release(training);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 1 && argc != 3) return puts("usage: unet [IMAGES MASKS]"), 2;
    mst_dataset *pictures =
        argc == 3 ? mst_data_from_masks(argv[1], argv[2], &(mst_images_options){.fit = true}) : make_shapes();
    mst_status status = mst_dataset_check(pictures);
    if (!status) status = train(pictures, 12);
    mst_dataset_release(pictures);
    if (status) fprintf(stderr, "error: %s\n", mst_error()->message);
    return status != MST_OK;
}
