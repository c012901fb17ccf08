/* images:DIR: pictures in class folders, DIR/train/CLASS/FILE and DIR/test/CLASS/FILE; or DIR/CLASS/FILE,
 * which is the train part. */
#include <stdio.h>

#include "base/folder.h"
#include "data/sources/image_folder.h"
#include "data/spec/data_spec.h"
#include "data/spec/validation_part.h"

enum { PATH_SIZE = 4096 };

static mst_status images_spec_open_part(const char *folder, bool test, const mst_data_options *options,
                                        mst_dataset **out) {
    char train_path[PATH_SIZE], test_path[PATH_SIZE];
    const bool fit = options && options->image_size == MST_IMAGE_SIZE_FIT;
    const int64_t size = options && !fit ? options->image_size : 0;
    mst_images_options o = {.height = size,
                            .width = size,
                            .fit = fit,
                            .channels = options ? (int)options->channels : 0,
                            .schema = options ? options->schema : NULL,
                            .skip_corrupt = options ? options->skip_corrupt : 0};
    const int length = snprintf(train_path, PATH_SIZE, "%s/train", folder);
    if (length < 0 || length >= PATH_SIZE)
        return MST_FAIL(MST_INVALID, "data: the path of folder '%.80s...' is too long", folder);
    snprintf(test_path, PATH_SIZE, "%s/test", folder);
    const bool has_parts = mst_is_folder(train_path);
    if (!mst_is_folder(folder)) return mst_dataset_from_images(folder, &o, out); /* fails and says why */
    if (!test) return mst_dataset_from_images(has_parts ? train_path : folder, &o, out);
    /* with a schema, DIR/CLASS may be a test part on its own */
    const bool is_whole = o.schema && (!options->parts_only || (has_parts && mst_is_folder(test_path)));
    if (is_whole || (options && options->whole_file && !has_parts))
        return mst_dataset_from_images(mst_is_folder(test_path) ? test_path : folder, &o, out);
    if (!has_parts || !mst_is_folder(test_path))
        return MST_FAIL(MST_NOT_FOUND, "data: '%s' has no test part: it needs the folders train and test", folder);
    o.like = train_path;
    return mst_dataset_from_images(test_path, &o, out);
}

static bool has_classes(const char *folder) {
    mst_image_folder files = {.num_classes = 0};
    const bool has = !mst_image_folder_list(folder, &files);
    mst_image_folder_free(&files);
    return has;
}

static bool images_spec_holds(const char *path) {
    char train_path[PATH_SIZE];
    const int length = snprintf(train_path, PATH_SIZE, "%s/train", path);
    if (length < 0 || length >= PATH_SIZE || !mst_is_folder(path)) return false;
    return has_classes(mst_is_folder(train_path) ? train_path : path);
}

const mst_data_spec mst_data_spec_images = {
    .form = "images:DIR",
    .help =
        "PNG, JPEG, WebP, GIF and BMP files in a folder for each class; or DIR/train/CLASS, DIR/val/CLASS, "
        "DIR/test/CLASS",
    .holds = images_spec_holds,
    .takes = MST_SPEC_SKIP_CORRUPT | MST_SPEC_IMAGE_SIZE | MST_SPEC_PICTURES,
    .validation = mst_validation_folder,
    .open_with = images_spec_open_part,
};
