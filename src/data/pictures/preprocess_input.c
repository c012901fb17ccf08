/** Makes f32 of component COMPONENT, u8 pixels from 0 to 255, with the range and order that networks of
 *  keras.applications were trained on (their preprocess_input): x / 127.5 - 1; (x / 255 - mean) / deviation of each
 *  channel, with those of ImageNet; or blue, green, red less their means. The last two need red, green and blue in the
 *  last dimension, or pictures of one dimension whose pixels are so one after the other. Formula and numbers:
 *  keras/src/applications/imagenet_utils.py. Fails with MST_INVALID if COMPONENT is not u8, or has not the three
 *  channels. */
#ifdef MST_DATASET_HEADER
typedef enum mst_pixels { MST_PIXELS_TF = 0, MST_PIXELS_TORCH, MST_PIXELS_CAFFE } mst_pixels;
MST_API MST_CHECKED mst_status mst_dataset_preprocess_input(mst_dataset *dataset, int component, mst_pixels mode,
                                                            mst_dataset **out);
#endif
#include <stdio.h>

#include "base/argument.h"
#include "data/dataset.h"
#include "data/nested.h"

enum { RGB = 3, LEVELS = 256 };

typedef struct preprocess_input {
    mst_dataset base;
    mst_row_stage stage;
    mst_pixels mode;
    float of_level[RGB][LEVELS]; /* for each channel of the result */
} preprocess_input;

static mst_status preprocess_make(const mst_dataset *dataset, const mst_array *in, mst_array *out) {
    const preprocess_input *d = (const preprocess_input *)dataset;
    const uint8_t *src = in->data;
    float *dst = out->data;
    if (d->mode == MST_PIXELS_TF) {
        for (int64_t i = 0; i < in->count; i++) dst[i] = d->of_level[0][src[i]];
        return MST_OK;
    }
    for (int64_t i = 0; i < in->count; i += RGB)
        for (int c = 0; c < RGB; c++)
            dst[i + c] = d->of_level[c][src[i + (d->mode == MST_PIXELS_CAFFE ? RGB - 1 - c : c)]];
    return MST_OK;
}

static void preprocess_settings(const mst_dataset *dataset, char *text, size_t size) {
    const preprocess_input *d = (const preprocess_input *)dataset;
    snprintf(text, size, "component %d, mode %d", d->stage.component, (int)d->mode);
}

static const mst_dataset_type type = {.name = "preprocess_input", .settings = preprocess_settings};

/* Rounds as Keras does: each operation is computed in f32, one after the other. */
static float value_of(mst_pixels mode, int channel, int level) {
    static const float mean[RGB] = {0.485f, 0.456f, 0.406f}, deviation[RGB] = {0.229f, 0.224f, 0.225f};
    static const float bgr_mean[RGB] = {103.939f, 116.779f, 123.68f};
    const float x = (float)level;
    if (mode == MST_PIXELS_TF) return x / 127.5f - 1;
    if (mode == MST_PIXELS_CAFFE) return x - bgr_mean[channel];
    return (x / 255 - mean[channel]) / deviation[channel];
}

static mst_status preprocess_check(const mst_dataset *dataset, int component, mst_pixels mode) {
    MST_TRY(mst_dataset_want_rows(dataset, type.name));
    if (mode < MST_PIXELS_TF || mode > MST_PIXELS_CAFFE)
        return MST_FAIL(MST_INVALID, "%s: mode is %d: use MST_PIXELS_TF, ...", type.name, (int)mode);
    if (component < 0 || component >= dataset->num_components)
        return MST_FAIL(MST_INVALID, "%s: component %d, the dataset has 0 to %d", type.name, component,
                        dataset->num_components - 1);
    const mst_spec row = dataset->row[component];
    char text[MST_SHAPE_TEXT];
    if (row.dtype != MST_U8)
        return MST_FAIL(MST_INVALID, "%s: component %d is %s, u8 pixels from 0 to 255 are due", type.name, component,
                        mst_dtype_name(row.dtype));
    const int64_t last = row.shape.ndim ? row.shape.dim[row.shape.ndim - 1] : 0;
    if (mode != MST_PIXELS_TF && last != RGB && (row.shape.ndim != 1 || last < 1 || last % RGB))
        return MST_FAIL(
            MST_INVALID,
            "%s: component %d is %s: the last dimension must be 3, for red, green and blue: give such pictures, or "
            "take MST_PIXELS_TF, which is for gray ones too",
            type.name, component, mst_shape_print(row.shape, text, sizeof text));
    return MST_OK;
}

mst_status mst_dataset_preprocess_input(mst_dataset *dataset, int component, mst_pixels mode, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    preprocess_input *d;
    *out = NULL;
    MST_TRY(preprocess_check(dataset, component, mode));
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->mode = mode;
    for (int c = 0; c < RGB; c++)
        for (int level = 0; level < LEVELS; level++) d->of_level[c][level] = value_of(mode, c, level);
    d->stage = (mst_row_stage){.component = component, .make = preprocess_make};
    d->base.stage = &d->stage;
    d->base.row[component].dtype = MST_F32;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_preprocess_input(mst_dataset *dataset, int component, mst_pixels mode) {
    MST_DATASET_NEST(dataset, mst_dataset_preprocess_input(dataset, component, mode, &out));
}
