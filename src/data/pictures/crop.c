/** Crops component COMPONENT, pictures [height, width, channels] or [height, width], to the box of HEIGHT x WIDTH
 *  pixels whose first pixel is [TOP, LEFT]; see tf.image.crop_to_bounding_box. Fails with MST_INVALID if COMPONENT is
 *  no picture, or if the box is not inside it. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_crop(mst_dataset *dataset, int component, int64_t top, int64_t left,
                                                int64_t height, int64_t width, mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/picture.h"

typedef struct crop {
    mst_picture_dataset base;
    int64_t top, left;
} crop;

static void crop_change(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in, mst_array *out) {
    const crop *d = (const crop *)dataset;
    (void)key;
    mst_picture_crop(in->data, mst_picture_size_of(in), d->top, d->left, out->shape.dim[0], out->shape.dim[1],
                     out->data);
}

static void crop_settings(const mst_dataset *dataset, char *text, size_t size) {
    const crop *d = (const crop *)dataset;
    mst_picture_settings(dataset, text, size, "top %lld, left %lld", (long long)d->top, (long long)d->left);
}

static const mst_dataset_type type = {.name = "crop", .settings = crop_settings};

mst_status mst_dataset_crop(mst_dataset *dataset, int component, int64_t top, int64_t left, int64_t height,
                            int64_t width, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    crop *d;
    *out = NULL;
    MST_TRY(mst_picture_want_box(dataset, type.name, component, 0, top, left, height, width));
    MST_TRY(mst_picture_derive(&type, sizeof *d, dataset, component, crop_change, &d));
    d->top = top;
    d->left = left;
    mst_picture_resize(&d->base.base, component, height, width);
    *out = &d->base.base;
    return MST_OK;
}

mst_dataset *mst_data_crop(mst_dataset *dataset, int component, int64_t top, int64_t left, int64_t height,
                           int64_t width) {
    MST_DATASET_NEST(dataset, mst_dataset_crop(dataset, component, top, left, height, width, &out));
}
