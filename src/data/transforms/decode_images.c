/** Decodes component COMPONENT of DATASET, strings [] with the bytes of picture files. It becomes pictures of one
 *  size, [height, width, channels] of u8 or f32, decoded and resized as by mst_dataset_from_images. OPTIONS are those
 *  of mst_dataset_from_images, without like and schema; may be NULL. With .fit, the first row decides the size.
 *
 *      mst_dataset *rows = mst_data_parse_example(records, features, 2);
 *      mst_dataset *pictures = mst_data_decode_images(rows, 0, &(mst_images_options){.height = 64});
 *
 *  Pictures are decoded when a batch is copied, and only if this component is copied. Fails with MST_INVALID if the
 *  component is not one string per row, or if an option is not possible. Copying a row fails with MST_CORRUPT, naming
 *  the row, if its bytes are damaged or no picture, and with MST_UNAVAILABLE if the module of its
 *  format is missing. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_decode_images(mst_dataset *dataset, int component,
                                                         const mst_images_options *options, mst_dataset **out);
#endif
#include <stdio.h>

#include "base/argument.h"
#include "data/dataset.h"
#include "data/nested.h"
#include "data/pictures/decode.h"

typedef struct decode_images {
    mst_dataset base;
    mst_row_stage stage;
    mst_images_options o;
} decode_images;

static void decode_images_settings(const mst_dataset *dataset, char *text, size_t size) {
    const mst_images_options *o = &((const decode_images *)dataset)->o;
    snprintf(text, size, "component %d, resize %d%s", dataset->stage->component, (int)o->resize,
             o->whole ? ", whole" : "");
}

static const mst_dataset_type type = {.name = "decode_images", .settings = decode_images_settings};

static mst_status decode_image(const mst_dataset *dataset, const mst_array *in, mst_array *out) {
    const mst_string *bytes = in->data;
    return mst_picture_decode("picture", bytes->data, bytes->length, &((const decode_images *)dataset)->o, out->data);
}

static mst_status decode_images_check(const mst_dataset *dataset, int component, const mst_images_options *o) {
    MST_TRY(mst_dataset_want_rows(dataset, "decode_images"));
    if (component < 0 || component >= dataset->num_components)
        return MST_FAIL(MST_INVALID, "decode_images: component %d, the dataset has 0 to %d", component,
                        dataset->num_components - 1);
    const mst_spec row = dataset->row[component];
    if (row.dtype != MST_STRING || row.shape.ndim)
        return MST_FAIL(MST_INVALID, "decode_images: component %d is %s with %d dimensions, must be one string",
                        component, mst_dtype_name(row.dtype), row.shape.ndim);
    if (o->like || o->schema)
        return MST_FAIL(MST_INVALID, "decode_images: it makes pictures, no classes: leave like and schema out");
    return MST_OK;
}

/* Sets height and width to fit the picture in the first row. */
static mst_status fit_first(mst_dataset *dataset, int component, mst_images_options *o) {
    mst_iterator *it;
    const mst_batch *batch = NULL;
    mst_tensor *bytes = NULL;
    MST_TRY(mst_iterator_create(dataset, 0, &it));
    mst_status status = mst_iterator_next(it, &batch);
    if (!status && !batch) status = MST_FAIL(MST_INVALID, "decode_images: there is no row");
    if (!status) status = mst_batch_tensor(batch, component, &bytes);
    if (!status) {
        const mst_string *text = mst_tensor_data(bytes);
        status = mst_picture_fit("the first picture", text->data, text->length, o);
    }
    mst_tensor_release(bytes);
    mst_iterator_destroy(it);
    return status;
}

mst_status mst_dataset_decode_images(mst_dataset *dataset, int component, const mst_images_options *options,
                                     mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    mst_images_options o = options ? *options : (mst_images_options){.zero_ = 0};
    const bool fits = o.fit && !o.height && !o.width;
    decode_images *d;
    *out = NULL;
    MST_TRY(decode_images_check(dataset, component, &o));
    MST_TRY(mst_picture_fill_options("decode_images", &o));
    if (fits) MST_TRY(fit_first(dataset, component, &o));
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->o = o;
    d->base.row[component] = (mst_spec){o.dtype, MST_SHAPE(o.height, o.width, o.channels)};
    d->stage = (mst_row_stage){.component = component, .make = decode_image};
    d->base.stage = &d->stage;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_decode_images(mst_dataset *dataset, int component, const mst_images_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_decode_images(dataset, component, options, &out));
}
