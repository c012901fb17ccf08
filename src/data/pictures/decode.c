#include "data/pictures/decode.h"

#include <stdlib.h>

#include "base/file.h"
#include "data/pictures/resize.h"
#include "format/image.h"

enum { DEFAULT_SIZE = 224, MOST_FIT_SIZE = 64, MOST_SIZE = 1 << 14 };

mst_status mst_picture_fill_options(const char *who, mst_images_options *o) {
    if (!o->height) o->height = o->width ? o->width : DEFAULT_SIZE;
    if (!o->width) o->width = o->height;
    if (!o->channels) o->channels = 3;
    if (!o->dtype) o->dtype = MST_U8;
    if (o->height < 1 || o->width < 1 || o->height > MOST_SIZE || o->width > MOST_SIZE)
        return MST_FAIL(MST_INVALID, "%s: height and width are %lld and %lld, 1 to %d are possible", who,
                        (long long)o->height, (long long)o->width, MOST_SIZE);
    if (o->channels != 1 && o->channels != 3)
        return MST_FAIL(MST_INVALID, "%s: channels is %d, 1 (gray) and 3 (red, green, blue) are possible", who,
                        o->channels);
    if (o->resize < MST_RESIZE_BILINEAR || o->resize > MST_RESIZE_NEAREST)
        return MST_FAIL(MST_INVALID, "%s: resize is %d: use MST_RESIZE_BILINEAR, ...", who, (int)o->resize);
    if (o->dtype != MST_U8 && o->dtype != MST_F32)
        return MST_FAIL(MST_INVALID, "%s: dtype is %s, u8 and f32 are possible", who, mst_dtype_name(o->dtype));
    if (o->skip_corrupt < 0)
        return MST_FAIL(MST_INVALID, "%s: skip_corrupt is %lld, must be at least 0", who, (long long)o->skip_corrupt);
    return MST_OK;
}

mst_status mst_picture_size(const char *path, int64_t *height, int64_t *width) {
    const mst_image_want want = {.channels = 3};
    mst_image image;
    void *data;
    size_t size;
    MST_TRY(mst_file_read(path, (size_t)MST_IMAGE_MOST_BYTES, &data, &size));
    const mst_status status = mst_image_decode(path, data, size, &want, &image);
    free(data);
    MST_TRY(status);
    free(image.pixels);
    *height = image.height;
    *width = image.width;
    return MST_OK;
}

mst_status mst_picture_fit(const char *name, const void *data, size_t size, mst_images_options *o) {
    const mst_image_want want = {.channels = 3};
    mst_image image;
    MST_TRY(mst_image_decode(name, data, size, &want, &image));
    free(image.pixels);
    const int64_t side = image.height < image.width ? image.height : image.width;
    o->height = o->width = side < MOST_FIT_SIZE ? side : MOST_FIT_SIZE;
    return MST_OK;
}

mst_status mst_picture_decode(const char *name, const void *data, size_t size, const mst_images_options *o, void *dst) {
    const mst_image_want want = {.channels = o->channels,
                                 .least_height = o->whole ? 0 : o->height,
                                 .least_width = o->whole ? 0 : o->width,
                                 .planes = !o->whole && o->resize == MST_RESIZE_BILINEAR};
    mst_image image;
    MST_TRY(mst_image_decode(name, data, size, &want, &image));
    const mst_status status = mst_resize(o->resize, &image, o->dtype, dst, o->height, o->width);
    free(image.pixels);
    return status;
}
