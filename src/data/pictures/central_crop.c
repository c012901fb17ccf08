/** Crops component COMPONENT, pictures [height, width, channels] or [height, width], to the HEIGHT x WIDTH pixels in
 *  the middle; see keras.layers.CenterCrop. If the number of rows or columns to remove is odd, one more is removed
 *  below or to the right. Fails with MST_INVALID if COMPONENT is not a picture, or is smaller. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_central_crop(mst_dataset *dataset, int component, int64_t height,
                                                        int64_t width, mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/picture.h"

static void central_crop_change(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in,
                                mst_array *out) {
    const mst_picture_size size = mst_picture_size_of(in);
    const int64_t height = out->shape.dim[0], width = out->shape.dim[1];
    (void)dataset, (void)key;
    mst_picture_crop(in->data, size, (size.height - height) / 2, (size.width - width) / 2, height, width, out->data);
}

static void central_crop_settings(const mst_dataset *dataset, char *text, size_t size) {
    mst_picture_settings(dataset, text, size, "%s", "");
}

static const mst_dataset_type type = {.name = "central_crop", .settings = central_crop_settings};

mst_status mst_dataset_central_crop(mst_dataset *dataset, int component, int64_t height, int64_t width,
                                    mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    mst_picture_dataset *d;
    *out = NULL;
    MST_TRY(mst_picture_want_box(dataset, type.name, component, 0, 0, 0, height, width));
    MST_TRY(mst_picture_derive(&type, sizeof *d, dataset, component, central_crop_change, &d));
    mst_picture_resize(&d->base, component, height, width);
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_central_crop(mst_dataset *dataset, int component, int64_t height, int64_t width) {
    MST_DATASET_NEST(dataset, mst_dataset_central_crop(dataset, component, height, width, &out));
}
