/* masks:IMAGES,MASKS: a folder of pictures and a folder of their masks, which are paired by their names. With the
 * folders train and test in both, these are the parts. masks:DIR stands for DIR/images and DIR/masks, or for
 * DIR/train/images, DIR/train/masks, DIR/test/images and DIR/test/masks. */
#include <stdio.h>
#include <string.h>

#include "base/folder.h"
#include "data/spec/data_spec.h"
#include "muster/dataset.h"

enum { PATH_SIZE = 4096 };

typedef struct folders {
    char images[PATH_SIZE], masks[PATH_SIZE];
} folders;

/* The two folders of PART, "train" or "test", of ARGUMENT; of all rows if PART is NULL. */
static mst_status folders_of(const char *argument, const char *part, folders *out) {
    const char *comma = strchr(argument, ','), *slash = part ? "/" : "";
    int a, b;
    if (!part) part = "";
    if (comma) {
        a = snprintf(out->images, PATH_SIZE, "%.*s%s%s", (int)(comma - argument), argument, slash, part);
        b = snprintf(out->masks, PATH_SIZE, "%s%s%s", comma + 1, slash, part);
    } else {
        a = snprintf(out->images, PATH_SIZE, "%s%s%s/images", argument, slash, part);
        b = snprintf(out->masks, PATH_SIZE, "%s%s%s/masks", argument, slash, part);
    }
    if (a < 0 || b < 0 || a >= PATH_SIZE || b >= PATH_SIZE)
        return MST_FAIL(MST_INVALID, "data: the path of folder '%.80s...' is too long", argument);
    return MST_OK;
}

static mst_status masks_spec_open_part(const char *argument, bool test, const mst_data_options *options,
                                       mst_dataset **out) {
    folders train, tests, all;
    const bool fit = !options || options->image_size <= 0;
    const mst_images_options o = {.height = fit ? 0 : options->image_size,
                                  .width = fit ? 0 : options->image_size,
                                  .fit = fit,
                                  .channels = options ? (int)options->channels : 0,
                                  .skip_corrupt = options ? options->skip_corrupt : 0};
    MST_TRY(folders_of(argument, "train", &train));
    MST_TRY(folders_of(argument, "test", &tests));
    MST_TRY(folders_of(argument, NULL, &all));
    const bool has_parts = mst_is_folder(train.images), has_test = mst_is_folder(tests.images);
    if (!strchr(argument, ',') && !has_parts && !mst_is_folder(all.images))
        return MST_FAIL(
            MST_NOT_FOUND,
            "data: there is no folder '%s': masks:DIR takes the folders DIR/images and DIR/masks; two others "
            "are masks:IMAGES,MASKS",
            all.images);
    if (!test)
        return mst_dataset_from_masks(has_parts ? train.images : all.images, has_parts ? train.masks : all.masks, &o,
                                      out);
    if (has_test) return mst_dataset_from_masks(tests.images, tests.masks, &o, out);
    if (!has_parts && options && options->whole_file) return mst_dataset_from_masks(all.images, all.masks, &o, out);
    return MST_FAIL(MST_NOT_FOUND, "data: 'masks:%s' has no test part: it needs the folder '%s'", argument,
                    tests.images);
}

/* The comma stands between the two folders, and makes no list of files. */
static bool masks_spec_has(const char *argument) {
    (void)argument;
    return true;
}

const mst_data_spec mst_data_spec_masks = {
    .form = "masks:IMAGES,MASKS",
    .help =
        "two folders of pictures and of their masks, PNG files of class numbers; or masks:DIR with DIR/images and "
        "DIR/masks",
    .has = masks_spec_has,
    .takes = MST_SPEC_SKIP_CORRUPT | MST_SPEC_IMAGE_SIZE | MST_SPEC_PICTURES | MST_SPEC_MASKS,
    .open_with = masks_spec_open_part,
};
