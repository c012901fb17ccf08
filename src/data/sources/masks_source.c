/** Pictures with a class for each pixel: the pictures of the folder IMAGES, and their masks in the folder MASKS. A mask
 *  has the name of its picture, without the suffix, or that name with "_mask" behind it; both folders may have
 *  subfolders, of the same names. Component 0 is the picture, [height, width, channels], component 1 the classes of its
 *  pixels, u8 [height, width]. Rows are sorted by name. Files are read, decoded and resized when a batch is copied.
 *
 *  A mask is a PNG file. Of one with a palette, the classes are its numbers in the palette; of a gray one, its gray
 *  values; of another, the values of red, green and blue, which must be equal. Masks are resized to the size of the
 *  pictures by MST_RESIZE_NEAREST. OPTIONS (may be NULL) are as for mst_dataset_from_images, without like and schema;
 *  with .fit the side is that of the first picture, at most 256, rounded down to a multiple of 16.
 *
 *  Fails with MST_INVALID if a picture has no mask or a mask no picture, naming the first and how many there are, or if
 *  a mask is no PNG file or has colors; else as mst_dataset_from_images. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_from_masks(const char *images, const char *masks,
                                                      const mst_images_options *options, mst_dataset **out);
#endif
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "data/cursors/counting_cursor.h"
#include "data/dataset.h"
#include "data/nested.h"
#include "data/pictures/decode.h"
#include "data/pictures/resize.h"
#include "data/row_hash.h"
#include "data/sources/damaged_pictures.h"
#include "data/sources/image_folder.h"
#include "format/image.h"

enum { MOST_FIT_SIZE = 256, STEP = 16 };

typedef struct masked_images {
    mst_dataset base;
    mst_images_options options;
    mst_image_folder images, masks; /* row i is the picture images.path[i] and the mask masks.path[i] */
    char *damaged; /* path of the first picture, or mask, that is left out as it is damaged; NULL: there is none */
} masked_images;

/* ---- reading ---- */

static mst_status read_picture(const masked_images *d, int64_t row, void *dst) {
    const char *path = d->images.path[row];
    void *data;
    size_t size;
    MST_TRY(mst_file_read(path, (size_t)MST_IMAGE_MOST_BYTES, &data, &size));
    const mst_status status = mst_picture_decode(path, data, size, &d->options, dst);
    free(data);
    return mst_damaged_name_option(status, &d->options);
}

static mst_status decode_mask(const masked_images *d, const char *path, const void *data, size_t size, uint8_t *dst) {
    static const char png[] = "\x89PNG";
    const mst_image_want want = {.channels = 1, .class_numbers = true};
    mst_image image;
    if (size < sizeof png - 1 || memcmp(data, png, sizeof png - 1) != 0)
        return MST_FAIL(MST_INVALID,
                        "'%s': masks must be PNG files, since other formats change class numbers: save it as PNG",
                        path);
    MST_TRY(mst_image_decode(path, data, size, &want, &image));
    const mst_status status = mst_resize(MST_RESIZE_NEAREST, &image, MST_U8, dst, d->options.height, d->options.width);
    free(image.pixels);
    return status;
}

static mst_status read_mask(const masked_images *d, int64_t row, uint8_t *dst) {
    const char *path = d->masks.path[row];
    void *data;
    size_t size;
    MST_TRY(mst_file_read(path, (size_t)MST_IMAGE_MOST_BYTES, &data, &size));
    const mst_status status = decode_mask(d, path, data, size, dst);
    free(data);
    return mst_damaged_name_option(status, &d->options);
}

/* Writes the picture and the mask of ROW to DST[0] and DST[1], unless these are NULL. */
static mst_status values(const mst_dataset *source, mst_cursor *base, int64_t row, void *const *dst, mst_array *out) {
    const masked_images *d = (const masked_images *)source;
    (void)base, (void)out;
    if (row < 0 || row >= d->images.num_files)
        return MST_FAIL(MST_INTERNAL, "masks: there is no picture %" PRId64, row);
    if (dst[0]) MST_TRY(read_picture(d, row, dst[0]));
    return dst[1] ? read_mask(d, row, dst[1]) : MST_OK;
}

/* ---- the type ---- */

static void masks_source_destroy(mst_dataset *dataset) {
    mst_image_folder_free(&((masked_images *)dataset)->images);
    mst_image_folder_free(&((masked_images *)dataset)->masks);
    free(((masked_images *)dataset)->damaged);
}

static const char *const *masks_source_paths(const mst_dataset *dataset, int64_t *n) {
    const masked_images *d = (const masked_images *)dataset;
    *n = d->images.num_files;
    return (const char *const *)d->images.path;
}

static uint64_t masks_source_contents(const mst_dataset *source) {
    const masked_images *d = (const masked_images *)source;
    return mst_hash_files((const char *const *)d->images.path, d->images.num_files) ^
           (mst_hash_files((const char *const *)d->masks.path, d->masks.num_files) << 1);
}

static void masks_source_settings(const mst_dataset *dataset, char *text, size_t size) {
    const mst_images_options *o = &((const masked_images *)dataset)->options;
    snprintf(text, size, "resize %d%s", (int)o->resize, o->whole ? ", whole" : "");
}

static const mst_dataset_type type = {.name = "from_masks",
                                      .paths = masks_source_paths,
                                      .destroy = masks_source_destroy,
                                      .open = mst_counting_cursor_open,
                                      .values = values,
                                      .contents = masks_source_contents,
                                      .settings = masks_source_settings};

/* ---- pairs ---- */

/* The name of a file within its folder, without suffix: DIR/a/1.png is a/1. */
typedef struct stem {
    const char *name;
    size_t size;
    char *path;
} stem;

static stem stem_of(const char *folder, char *path) {
    const char *name = path + strlen(folder);
    while (*name == '/') name++;
    const char *dot = strrchr(name, '.');
    return (stem){name, dot ? (size_t)(dot - name) : strlen(name), path};
}

/* As strcmp, of the names; of the first SIZE bytes of a name and all of the other. */
static int compare_names(const char *a, size_t a_size, const char *b, size_t b_size) {
    const int first = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return first ? first : (a_size > b_size) - (a_size < b_size);
}

static int compare_stems(const void *a, const void *b) {
    const stem *x = a, *y = b;
    return compare_names(x->name, x->size, y->name, y->size);
}

/* The stems of the files of FOLDER, sorted; free() them. NULL: memory runs out. */
static stem *stems_of(const char *folder, const mst_image_folder *files) {
    stem *stems = calloc((size_t)files->num_files + 1, sizeof *stems);
    for (int64_t i = 0; stems && i < files->num_files; i++) stems[i] = stem_of(folder, files->path[i]);
    if (stems) qsort(stems, (size_t)files->num_files, sizeof *stems, compare_stems);
    return stems;
}

/* The stem without "_mask" at its end. */
static stem without_mask(stem s) {
    static const char ending[] = "_mask";
    const size_t size = sizeof ending - 1;
    if (s.size > size && memcmp(s.name + s.size - size, ending, size) == 0) s.size -= size;
    return s;
}

static mst_status fail_alone(const char *path, const char *what, const char *folder, int64_t count, int64_t all) {
    return MST_FAIL(MST_INVALID,
                    "'%s': has no %s of the same name in '%s', as %" PRId64 " of %" PRId64
                    " files: add what is missing, or take these out",
                    path, what, folder, count, all);
}

/* Sorts the pictures by name, and puts the masks in the same order as their pictures. */
static mst_status pair(const char *images, const char *masks, masked_images *d, stem *picture, stem *mask) {
    const int64_t pictures = d->images.num_files, num_masks = d->masks.num_files;
    int64_t lonely = 0, found = 0;
    const char *first = NULL;
    bool *used = calloc((size_t)num_masks + 1, sizeof *used);
    char **paired = calloc((size_t)pictures + 1, sizeof *paired);
    mst_status status = used && paired ? MST_OK : MST_NO_MEMORY("for the names of masks");
    for (int64_t i = 0, k = 0; i < pictures && !status; i++) {
        while (k < num_masks && compare_stems(&mask[k], &picture[i]) < 0) k++;
        if (i && compare_stems(&picture[i - 1], &picture[i]) == 0)
            status = MST_FAIL(MST_INVALID, "'%s' and '%s' have one name: call one of them otherwise",
                              picture[i - 1].path, picture[i].path);
        else if (k < num_masks && compare_stems(&mask[k], &picture[i]) == 0)
            used[k] = true, paired[i] = mask[k].path, found++;
        else if (!lonely++)
            first = picture[i].path;
    }
    if (!status && lonely) status = fail_alone(first, "mask", masks, lonely, pictures);
    for (int64_t k = 0, others = num_masks - found; k < num_masks && !status; k++)
        if (!used[k]) status = fail_alone(mask[k].path, "picture", images, others, num_masks);
    for (int64_t i = 0; i < pictures && !status; i++) {
        d->images.path[i] = picture[i].path;
        d->masks.path[i] = paired[i];
    }
    free(used);
    free(paired);
    return status;
}

static mst_status find_pairs(const char *images, const char *masks, masked_images *d) {
    MST_TRY(mst_image_folder_take(&images, 1, &d->images));
    MST_TRY(mst_image_folder_take(&masks, 1, &d->masks));
    stem *picture = stems_of(images, &d->images), *mask = stems_of(masks, &d->masks);
    mst_status status = picture && mask ? MST_OK : MST_NO_MEMORY("for the names of pictures");
    bool is_marked = true; /* each mask has "_mask" behind its name */
    for (int64_t k = 0; mask && k < d->masks.num_files; k++) is_marked &= without_mask(mask[k]).size < mask[k].size;
    for (int64_t k = 0; mask && is_marked && k < d->masks.num_files; k++) mask[k] = without_mask(mask[k]);
    if (mask && is_marked) qsort(mask, (size_t)d->masks.num_files, sizeof *mask, compare_stems);
    if (!status) status = pair(images, masks, d, picture, mask);
    free(picture);
    free(mask);
    return status;
}

/* ---- opening ---- */

/* Chooses the side by the picture at PATH. */
static mst_status fit_to(void *context, const char *path) {
    masked_images *d = context;
    int64_t height, width;
    MST_TRY(mst_damaged_name_option(mst_picture_size(path, &height, &width), &d->options));
    int64_t side = height < width ? height : width;
    if (side > MOST_FIT_SIZE) side = MOST_FIT_SIZE;
    if (side > STEP) side -= side % STEP;
    d->options.height = d->options.width = side;
    return MST_OK;
}

typedef struct masks_trial {
    const masked_images *d;
    void *picture, *mask;
} masks_trial;

static mst_status try_pair(void *context, int64_t row, int *list) {
    const masks_trial *t = context;
    *list = 0;
    MST_TRY(read_picture(t->d, row, t->picture));
    *list = 1;
    return read_mask(t->d, row, t->mask);
}

static mst_status begin_trial(const masked_images *d, masks_trial *t) {
    *t = (masks_trial){d, malloc(mst_dataset_row_bytes(&d->base, 0)), malloc(mst_dataset_row_bytes(&d->base, 1))};
    return t->picture && t->mask ? MST_OK : MST_NO_MEMORY("for a picture");
}

static void end_trial(masks_trial *t) {
    free(t->picture);
    free(t->mask);
}

/* Decodes all pairs, and leaves out each pair with a damaged picture or mask. */
static mst_status leave_out_damaged(masked_images *d) {
    mst_image_folder *const files[] = {&d->images, &d->masks};
    masks_trial t;
    mst_status status = begin_trial(d, &t);
    if (!status) status = mst_damaged_leave_out(&d->base, files, 2, &d->options, try_pair, &t, &d->damaged);
    end_trial(&t);
    MST_TRY(status);
    if (d->images.num_files) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "'%s': is damaged, as all pictures are, or their masks", d->damaged);
}

/* Decodes the first pair, so that a missing module is reported at once. */
static mst_status try_first(const masked_images *d) {
    masks_trial t;
    int list;
    mst_status status = begin_trial(d, &t);
    if (!status) status = try_pair(&t, 0, &list);
    end_trial(&t);
    return status;
}

static mst_status masks_source_set_up(masked_images *d, const char *images, const char *masks) {
    mst_images_options *o = &d->options;
    const bool fits = o->fit && !o->height && !o->width;
    if (o->like || o->schema)
        return MST_FAIL(MST_INVALID, "from_masks: masks have class numbers, not names: leave like and schema out");
    MST_TRY(mst_picture_fill_options("from_masks", o));
    MST_TRY(find_pairs(images, masks, d));
    if (fits) MST_TRY(mst_damaged_fit(&d->images, o, fit_to, d));
    d->base.row[0] = (mst_spec){o->dtype, MST_SHAPE(o->height, o->width, o->channels)};
    d->base.row[1] = (mst_spec){MST_U8, MST_SHAPE(o->height, o->width)};
    if (o->skip_corrupt) MST_TRY(leave_out_damaged(d));
    d->base.cardinality = d->images.num_files;
    return try_first(d);
}

mst_status mst_dataset_from_masks(const char *images, const char *masks, const mst_images_options *options,
                                  mst_dataset **out) {
    if (MST_IS_NULL(images) || MST_IS_NULL(masks) || MST_IS_NULL(out)) return MST_INVALID;
    masked_images *d;
    *out = NULL;
    MST_TRY(mst_dataset_alloc(&type, sizeof *d, 2, &d));
    if (options) d->options = *options;
    const mst_status status = masks_source_set_up(d, images, masks);
    if (status)
        mst_dataset_release(&d->base);
    else
        *out = &d->base;
    return status;
}

mst_dataset *mst_data_from_masks(const char *images, const char *masks, const mst_images_options *options) {
    MST_DATASET_OPEN(mst_dataset_from_masks(images, masks, options, &out));
}
