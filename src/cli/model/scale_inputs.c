#include "cli/model/scale_inputs.h"

#include <math.h>
#include <string.h>

#include "cli/command.h"

const char *const pixels_choices[] = {"0..1", "-1..1", "torch", "caffe", "raw", NULL};

int pixels_from_name(const char *name) {
    int i = 0;
    while (name && pixels_choices[i] && strcmp(name, pixels_choices[i]) != 0) i++;
    return name && pixels_choices[i] ? i : PIXELS_UNIT;
}

bool scale_inputs_divides(int pixels, mst_dtype dtype, const network_input *input) {
    return dtype == MST_U8 && pixels == PIXELS_UNIT && !(input && input->is_rescaled);
}

/* Fails if PIXELS is a mode that is only for red, green and blue, and SHAPE has no three channels. */
static mst_status want_colors(int pixels, mst_shape shape) {
    char text[MST_SHAPE_TEXT];
    const int64_t last = shape.ndim ? shape.dim[shape.ndim - 1] : 0;
    if (pixels == PIXELS_TF || last == 3 || (shape.ndim == 1 && last % 3 == 0)) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "--pixels %s: the pictures are %s, and this is for red, green and blue in the last dimension: take "
                    "--pixels 0..1 or --pixels -1..1, or pictures with colors",
                    pixels_choices[pixels], mst_shape_print(shape, text, sizeof text));
}

/* Scales the inputs by one of the modes of Keras' preprocess_input. */
static mst_status preprocess(int pixels, int component, mst_dataset **dataset) {
    static const mst_pixels mode[] = {
        [PIXELS_TF] = MST_PIXELS_TF, [PIXELS_TORCH] = MST_PIXELS_TORCH, [PIXELS_CAFFE] = MST_PIXELS_CAFFE};
    mst_dataset *made;
    MST_TRY(want_colors(pixels, mst_dataset_spec(*dataset, component).shape));
    if (mst_dataset_preprocess_input(*dataset, component, mode[pixels], &made))
        return mst_error_prefix("--pixels %s", pixels_choices[pixels]);
    mst_dataset_release(*dataset);
    *dataset = made;
    return MST_OK;
}

mst_status scale_inputs(int pixels, int component, const network_input *input, mst_dataset **dataset) {
    const mst_spec inputs = mst_dataset_spec(*dataset, component);
    const bool is_count = input && (input->is_tokens || (input->dtype && !mst_dtype_is_float(input->dtype)));
    if (pixels != PIXELS_UNIT && pixels != PIXELS_RAW && (inputs.dtype == MST_U8 || component == 0))
        return preprocess(pixels, component, dataset);
    /* numbers in f32 stay as they are, and so do tokens, which are the only inputs with classes */
    if (inputs.dtype == MST_F32 || mst_dataset_num_classes(*dataset, component)) return MST_OK;
    if (is_count && !mst_dtype_is_float(inputs.dtype)) return MST_OK; /* the model's input casts it */
    mst_dataset *scaled;
    const double factor = scale_inputs_divides(pixels, inputs.dtype, input) ? 1.0 / 255 : 1;
    MST_TRY(mst_dataset_scale(*dataset, component, MST_F32, factor, &scaled));
    mst_dataset_release(*dataset);
    *dataset = scaled;
    return MST_OK;
}

/* The largest number of the first rows. */
static mst_status find_largest(mst_dataset *data, int component, double *out) {
    enum { ROWS = 100 };
    mst_dataset *batches;
    mst_iterator *iterator = NULL;
    const mst_batch *batch = NULL;
    mst_tensor *rows = NULL;
    *out = -INFINITY;
    MST_TRY(mst_dataset_batch(data, ROWS, false, &batches));
    mst_status status = mst_iterator_create(batches, 0, &iterator);
    if (!status) status = mst_iterator_next(iterator, &batch);
    if (!status && batch) status = mst_batch_tensor(batch, component, &rows);
    for (int64_t i = 0; rows && i < mst_tensor_count(rows); i++) *out = fmax(*out, mst_tensor_get(rows, i));
    mst_tensor_release(rows);
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    return status;
}

mst_status scale_inputs_warn(const char *spec, int component, mst_dataset *data) {
    static const double MOST = 2; /* above 1, because sharpened pixels may exceed 1 a little */
    const mst_dtype dtype = mst_dataset_spec(data, component).dtype;
    double largest;
    if (dtype == MST_U8 || dtype == MST_STRING) return MST_OK;
    MST_TRY(find_largest(data, component, &largest));
    if (largest > MOST)
        command_warn(
            "'%s': the inputs are numbers up to %g, and the model was trained on pixels that were divided by 255: "
            "divide them too, or give them as u8, from 0 to 255, which is divided",
            spec, largest);
    return MST_OK;
}
