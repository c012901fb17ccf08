/** PNG, JPEG, WebP, GIF and BMP files, one folder for each class: FOLDER/cat/1.jpg, FOLDER/dog/1.png. Component 0 is
 *  the picture, [height, width, channels], component 1 its class, i64. Classes are numbered from 0, in the order of
 *  their names' bytes (mst_dataset_class_name). Pictures in subfolders of a class belong to it too:
 *  FOLDER/cat/2021/1.jpg. Rows come class by class, folder by folder, sorted by file name: shuffle them for training.
 *  Files are read, decoded and resized when a batch is copied, by the thread of the device that copies it. Hidden
 *  files, empty ones and those that are no pictures are left out, which mst_dataset_files_left_out counts. Pictures of
 *  other kinds (TIFF and others) or beside the folders are MST_INVALID. So is a class without pictures, unless like or
 *  schema is given.
 *
 *  Pictures are resized as by tf.image.resize: f32 has its values, 0 to 255, and u8 has them rounded. Two shortcuts
 *  make JPEG files faster, unless .whole is set. A file that is at least twice as large as wanted is decoded at 1/2,
 *  1/4 or 1/8 of its size, which also smooths it. With MST_RESIZE_BILINEAR, the planes of brightness and color are
 *  resized before they become RGB. OPTIONS may be NULL.
 *
 *  Fails with MST_NOT_FOUND or MST_INVALID if there are no such folders, MST_UNAVAILABLE if the module of a
 *  format is missing, MST_CORRUPT, naming the file, if it is damaged. The first file is decoded now, the others when
 *  they are copied. */
#ifdef MST_DATASET_HEADER
typedef enum mst_resize_method { MST_RESIZE_BILINEAR = 0, MST_RESIZE_AREA, MST_RESIZE_NEAREST } mst_resize_method;
typedef struct mst_images_options {
    int zero_;
    int64_t height, width; /**< of all pictures; if one is 0, it is like the other; both 0: 224 */
    bool fit;     /**< if both are 0: use the shorter side of the first picture, at most 64, which suits dense layers */
    int channels; /**< 1: gray; 3: red, green, blue; 0: 3 */
    mst_resize_method resize;
    mst_dtype dtype;    /**< MST_U8 or MST_F32; 0: MST_U8 */
    bool whole;         /**< a JPEG becomes RGB at its own size before it is resized, as with decode_jpeg */
    const char *like;   /**< a folder whose classes number the labels: for a test part, the folder of the train part */
    const char *schema; /**< used instead of like: the text that mst_dataset_schema returned for the train part */
    /** If this is not 0, all pictures are decoded now, and up to so many that are damaged are left out; one more is
     *  MST_CORRUPT. mst_dataset_num_corrupt and mst_dataset_first_corrupt tell them. */
    int64_t skip_corrupt;
} mst_images_options;
MST_API MST_CHECKED mst_status mst_dataset_from_images(const char *folder, const mst_images_options *options,
                                                       mst_dataset **out);
/** Pictures without classes: only component 0, [height, width, channels]. PATHS: n names of files and folders, in the
 *  order of the rows. A folder stands for all pictures in it and its subfolders, sorted by name. OPTIONS as for
 *  mst_dataset_from_images, without like and schema; may be NULL. Errors as there. */
MST_API MST_CHECKED mst_status mst_dataset_from_image_files(const char *const *paths, int n,
                                                            const mst_images_options *options, mst_dataset **out);
/** The path of the file of each row; N gets their number. For mst_dataset_from_images, mst_dataset_from_image_files,
 *  and mst_dataset_from_texts if each file is one text, also after its texts have become numbers. NULL for other
 *  datasets, and after other transforms. The paths belong to DATASET. */
MST_API const char *const *mst_dataset_file_paths(const mst_dataset *dataset, int64_t *n);
#endif
#include <math.h>
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
#include "data/row_hash.h"
#include "data/schema.h"
#include "data/sources/damaged_pictures.h"
#include "data/sources/image_folder.h"
#include "format/image.h"

typedef struct images {
    mst_dataset base;
    mst_images_options options;
    mst_image_folder files;
    mst_image_folder like; /* the classes of options.like or options.schema; empty if neither is set */
    char *schema;
    char *damaged; /* path of the first picture that is left out as it is damaged; NULL: there is none */
} images;

static mst_status read_image(const images *d, const char *path, void *dst) {
    void *data;
    size_t size;
    MST_TRY(mst_file_read(path, (size_t)MST_IMAGE_MOST_BYTES, &data, &size));
    const mst_status status = mst_picture_decode(path, data, size, &d->options, dst);
    free(data);
    return mst_damaged_name_option(status, &d->options);
}

/* Writes the picture and the label of ROW to DST[0] and DST[1], unless these are NULL. */
static mst_status values(const mst_dataset *source, mst_cursor *base, int64_t row, void *const *dst, mst_array *out) {
    const images *d = (const images *)source;
    (void)base, (void)out;
    if (row < 0 || row >= d->files.num_files)
        return MST_FAIL(MST_INTERNAL, "images: there is no picture %lld", (long long)row);
    if (d->files.label && dst[1]) *(int64_t *)dst[1] = d->files.label[row];
    return dst[0] ? read_image(d, d->files.path[row], dst[0]) : MST_OK;
}

static const char *const *images_source_classes(const mst_dataset *dataset, int component, int64_t *n) {
    const images *d = (const images *)dataset;
    const mst_image_folder *folder = d->like.num_classes ? &d->like : &d->files;
    if (component != 1) return NULL;
    *n = folder->num_classes;
    return (const char *const *)folder->class_name;
}

static void images_source_destroy(mst_dataset *dataset) {
    mst_image_folder_free(&((images *)dataset)->files);
    mst_image_folder_free(&((images *)dataset)->like);
    free(((images *)dataset)->schema);
    free(((images *)dataset)->damaged);
}

static const char *schema(const mst_dataset *dataset) {
    return ((const images *)dataset)->schema;
}

static const char *const *images_paths(const mst_dataset *dataset, int64_t *n) {
    const images *d = (const images *)dataset;
    *n = d->files.num_files;
    return (const char *const *)d->files.path;
}

static const mst_files_left_out *images_left_out(const mst_dataset *dataset) {
    return &((const images *)dataset)->files.left_out;
}

static uint64_t images_contents(const mst_dataset *source) {
    const images *d = (const images *)source;
    return mst_hash_files((const char *const *)d->files.path, d->files.num_files);
}

static void images_settings(const mst_dataset *dataset, char *text, size_t size) {
    const mst_images_options *o = &((const images *)dataset)->options;
    snprintf(text, size, "resize %d%s", (int)o->resize, o->whole ? ", whole" : "");
}

static const mst_dataset_type type = {.name = "from_images",
                                      .paths = images_paths,
                                      .left_out = images_left_out,
                                      .destroy = images_source_destroy,
                                      .open = mst_counting_cursor_open,
                                      .values = values,
                                      .classes = images_source_classes,
                                      .schema = schema,
                                      .contents = images_contents,
                                      .settings = images_settings};

/* Whether the categories are sorted by their bytes without duplicates, as mst_image_folder_match needs them. */
static bool categories_are_sorted(const mst_schema_column *column) {
    for (int64_t i = 1; i < column->num_categories; i++)
        if (strcmp(column->category[i - 1], column->category[i]) >= 0) return false;
    return true;
}

/* Reads the classes from the schema TEXT: the categories of its only column. */
static mst_status read_classes(images *d, const char *text) {
    mst_schema schema;
    mst_status status = mst_schema_read(text, &schema);
    if (!status && (schema.num_columns != 1 || !schema.column->category))
        status = MST_FAIL(MST_INVALID, "schema: it is of a table, not of pictures");
    if (!status && !categories_are_sorted(schema.column))
        status = MST_FAIL(MST_INVALID,
                          "schema: its categories are not sorted, or one is there twice: "
                          "it must be the text of mst_dataset_schema");
    if (!status)
        status = mst_image_folder_name_classes(&d->like, schema.column->category, schema.column->num_categories);
    mst_schema_free(&schema);
    return status;
}

/* Sets d->schema: one column, whose categories are the names of the classes. */
static mst_status write_schema(images *d) {
    int64_t n;
    const char *const *names = images_source_classes(&d->base, 1, &n);
    const mst_schema_column column = {
        .name = "class", .type = "category", .category = (const char **)(uintptr_t)names, .num_categories = n};
    return mst_schema_write(&column, 1, 1, &d->schema);
}

/* Chooses the height and width by the picture at PATH. */
static mst_status fit_to(void *context, const char *path) {
    images *d = context;
    void *data;
    size_t size;
    MST_TRY(mst_file_read(path, (size_t)MST_IMAGE_MOST_BYTES, &data, &size));
    const mst_status status = mst_picture_fit(path, data, size, &d->options);
    free(data);
    return mst_damaged_name_option(status, &d->options);
}

typedef struct images_trial {
    const images *d;
    void *pixels;
} images_trial;

static mst_status try_row(void *context, int64_t row, int *list) {
    const images_trial *t = context;
    *list = 0;
    return read_image(t->d, t->d->files.path[row], t->pixels);
}

/* Decodes all pictures, and leaves out those that are damaged. */
static mst_status leave_out_damaged(images *d) {
    mst_image_folder *const files[] = {&d->files};
    images_trial t = {d, malloc(mst_dataset_row_bytes(&d->base, 0))};
    mst_status status = t.pixels ? MST_OK : MST_NO_MEMORY("for a picture");
    if (!status) status = mst_damaged_leave_out(&d->base, files, 1, &d->options, try_row, &t, &d->damaged);
    free(t.pixels);
    MST_TRY(status);
    return d->files.num_files ? MST_OK : MST_FAIL(MST_CORRUPT, "'%s': is damaged, as all pictures are", d->damaged);
}

/* Takes the classes from the options, or else from FOLDER itself. */
static mst_status take_classes(images *d, const char *folder) {
    mst_images_options *o = &d->options;
    if (o->schema)
        MST_TRY(read_classes(d, o->schema));
    else if (o->like)
        MST_TRY(mst_image_folder_list(o->like, &d->like));
    MST_TRY(d->like.num_classes ? mst_image_folder_match(&d->files, folder, &d->like)
                                : mst_image_folder_check_classes(folder, &d->files));
    o->like = o->schema = NULL; /* these strings belong to the caller, who may free them now */
    d->base.row[1] = (mst_spec){MST_I64, MST_SCALAR};
    return write_schema(d);
}

/* Decodes the first picture, so that a missing module is reported at once, not during training. */
static mst_status try_first(const images *d) {
    void *data = malloc(mst_dataset_row_bytes(&d->base, 0));
    if (!data) return MST_NO_MEMORY("for a picture");
    const mst_status status = read_image(d, d->files.path[0], data);
    free(data);
    return status;
}

/* Takes the pictures from FOLDER, or if that is NULL from the N paths. */
static mst_status images_source_set_up(images *d, const char *folder, const char *const *paths, int n) {
    mst_images_options *o = &d->options;
    const bool fits = o->fit && !o->height && !o->width;
    MST_TRY(mst_picture_fill_options("from_images", o));
    MST_TRY(folder ? mst_image_folder_list(folder, &d->files) : mst_image_folder_take(paths, n, &d->files));
    if (fits) MST_TRY(mst_damaged_fit(&d->files, o, fit_to, d));
    if (folder) MST_TRY(take_classes(d, folder));
    d->base.row[0] = (mst_spec){o->dtype, MST_SHAPE(o->height, o->width, o->channels)};
    if (o->skip_corrupt) MST_TRY(leave_out_damaged(d));
    d->base.cardinality = d->files.num_files;
    return try_first(d);
}

static mst_status images_source_open(const char *folder, const char *const *paths, int n,
                                     const mst_images_options *options, mst_dataset **out) {
    images *d;
    *out = NULL;
    MST_TRY(mst_dataset_alloc(&type, sizeof *d, folder ? 2 : 1, &d));
    if (options) d->options = *options;
    const mst_status status = images_source_set_up(d, folder, paths, n);
    if (status)
        mst_dataset_release(&d->base);
    else
        *out = &d->base;
    return status;
}

mst_status mst_dataset_from_images(const char *folder, const mst_images_options *options, mst_dataset **out) {
    if (MST_IS_NULL(folder) || MST_IS_NULL(out)) return MST_INVALID;
    return images_source_open(folder, NULL, 0, options, out);
}

mst_dataset *mst_data_from_images(const char *folder, const mst_images_options *options) {
    MST_DATASET_OPEN(mst_dataset_from_images(folder, options, &out));
}

mst_status mst_dataset_from_image_files(const char *const *paths, int n, const mst_images_options *options,
                                        mst_dataset **out) {
    if (MST_IS_NULL(paths) || MST_IS_NULL(out)) return MST_INVALID;
    if (options && (options->like || options->schema))
        return MST_FAIL(MST_INVALID, "from_image_files: these pictures have no classes: leave like and schema out");
    for (int i = 0; i < n; i++)
        if (MST_IS_NULL(paths[i])) return MST_INVALID;
    return images_source_open(NULL, paths, n, options, out);
}

mst_dataset *mst_data_from_image_files(const char *const *paths, int n, const mst_images_options *options) {
    MST_DATASET_OPEN(mst_dataset_from_image_files(paths, n, options, &out));
}

const char *const *mst_dataset_file_paths(const mst_dataset *dataset, int64_t *n) {
    return dataset && n && dataset->type->paths ? dataset->type->paths(dataset, n) : NULL;
}
