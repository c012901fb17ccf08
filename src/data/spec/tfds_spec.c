/* tfds:DIR: a folder made by TensorFlow Datasets, with dataset_info.json, features.json and TFRecord files. Its splits
 * train and test (or validation) are the two parts. Its supervised keys are the input and the label. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/labels_file.h"
#include "data/schema.h"
#include "data/spec/data_spec.h"
#include "data/tfds/tfds_info.h"

enum { PATH_SIZE = 4096 };

static mst_status check_count(const mst_tfds_info *info, const mst_dataset *records) {
    if (records->cardinality < 0 || records->num_corrupt || records->cardinality == info->num_examples) return MST_OK;
    return MST_FAIL(MST_CORRUPT,
                    "data: '%s' and the files beside it have %lld examples, %lld are in dataset_info.json: one was cut "
                    "off or replaced",
                    info->path[0], (long long)records->cardinality, (long long)info->num_examples);
}

static mst_status tfds_spec_parse(const mst_tfds_info *info, mst_dataset *records, mst_dataset **out) {
    const mst_tfds_feature *chosen[] = {info->features.input, info->features.label};
    mst_feature features[2];
    for (int i = 0; i < 2 && chosen[i]; i++) {
        features[i] = (mst_feature){.name = chosen[i]->name, .dtype = MST_STRING};
        if (chosen[i]->kind == MST_TFDS_IMAGE) continue;
        features[i].dtype = chosen[i]->spec.dtype;
        features[i].shape = chosen[i]->spec.shape;
    }
    return mst_dataset_parse_example(records, features, info->features.label ? 2 : 1, out);
}

/* Decodes pictures to the size in OPTIONS; without one, to the size of the folder's pictures if they all have the same;
 * else to the default of mst_dataset_from_images. */
static mst_status tfds_spec_decode(const mst_tfds_info *info, mst_dataset *rows, const mst_data_options *options,
                                   mst_dataset **out) {
    const int64_t *dim = info->features.input->spec.shape.dim;
    mst_images_options o = {.channels = dim[2] == 1 ? 1 : 3};
    const bool chosen = options && options->image_size > 0, known = dim[0] > 0 && dim[1] > 0;
    if (options && options->channels) o.channels = (int)options->channels;
    if (chosen) o.height = o.width = options->image_size;
    if (!chosen && known) o.height = dim[0], o.width = dim[1];
    o.fit = options && options->image_size == MST_IMAGE_SIZE_FIT;
    return mst_dataset_decode_images(rows, 0, &o, out);
}

/* Adds the names of the classes if the folder has them, and a schema with them, so that a model keeps them. */
static mst_status tfds_spec_name(const mst_tfds_info *info, mst_dataset *rows, mst_dataset **out) {
    char path[PATH_SIZE], *schema;
    mst_dataset *named;
    const mst_tfds_feature *label = info->features.label;
    const bool has_names = label && label->kind == MST_TFDS_CLASS && !strchr(label->name, '/');
    *out = NULL;
    if (!has_names) *out = mst_dataset_retain(rows);
    if (!has_names) return MST_OK;
    const int size = snprintf(path, sizeof path, "%s/%s.labels.txt", info->folder, label->name);
    if (size < 0 || size >= PATH_SIZE)
        return MST_FAIL(MST_INVALID, "data: the path of folder '%.80s...' is too long", info->folder);
    MST_TRY(mst_class_names_read_file(path, rows, &named));
    int64_t n = 0;
    const char *const *names = mst_dataset_classes(named, 1, &n);
    const mst_schema_column column = {
        .name = "class", .type = "category", .category = (const char **)(uintptr_t)names, .num_categories = n};
    mst_status status = MST_OK;
    if (names && n != label->num_classes)
        status = MST_FAIL(MST_CORRUPT, "'%s': has %lld names, features.json says that there are %lld classes", path,
                          (long long)n, (long long)label->num_classes);
    if (!status && names) status = mst_schema_write(&column, 1, 1, &schema);
    if (!status) status = names ? mst_dataset_add_schema(named, schema, out) : MST_OK;
    if (!status && !names) *out = mst_dataset_retain(named);
    mst_dataset_release(named);
    return status;
}

/* Replaces *DATASET by NEXT, which CALL sets; releases the old one also if CALL fails. */
#define REPLACE(dataset, call)            \
    do {                                  \
        mst_dataset *next = NULL;         \
        const mst_status status = (call); \
        mst_dataset_release(dataset);     \
        (dataset) = next;                 \
        if (status) return status;        \
    } while (0)

static mst_status make_rows(const mst_tfds_info *info, const mst_data_options *options, mst_dataset **out) {
    const mst_tfrecord_options o = {.skip_corrupt = options ? options->skip_corrupt : 0};
    MST_TRY(mst_dataset_from_tfrecord(info->path, info->num_paths, &o, out));
    MST_TRY(check_count(info, *out));
    REPLACE(*out, tfds_spec_parse(info, *out, &next));
    if (info->features.input->kind == MST_TFDS_IMAGE) REPLACE(*out, tfds_spec_decode(info, *out, options, &next));
    REPLACE(*out, tfds_spec_name(info, *out, &next));
    return MST_OK;
}

static mst_status tfds_spec_open_part(const char *folder, bool test, const mst_data_options *options,
                                      mst_dataset **out) {
    mst_tfds_info info;
    *out = NULL;
    mst_status status = mst_tfds_read(folder, test, &info);
    if (!status) status = make_rows(&info, options, out);
    mst_tfds_free(&info);
    if (!status) return MST_OK;
    mst_dataset_release(*out);
    *out = NULL;
    return status;
}

static bool tfds_spec_holds(const char *path) {
    char file[PATH_SIZE];
    const int size = snprintf(file, sizeof file, "%s/dataset_info.json", path);
    return size > 0 && size < PATH_SIZE && access(file, F_OK) == 0;
}

const mst_data_spec mst_data_spec_tfds = {
    .form = "tfds:DIR",
    .help = "the folder of one version that TensorFlow Datasets made, such as mnist/3.0.1",
    .holds = tfds_spec_holds,
    .takes = MST_SPEC_SKIP_CORRUPT | MST_SPEC_IMAGE_SIZE | MST_SPEC_PICTURES,
    .open_with = tfds_spec_open_part,
};
