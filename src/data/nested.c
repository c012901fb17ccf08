/* Datasets as expressions: the calls of muster/dataset.h with what they make as their value.
 *
 * A mistake becomes a dataset of its own that keeps the error. Calls that are nested over it do nothing and pass it on.
 * All other functions that take a dataset ask mst_dataset_check first, which gives the error. */
#include "data/nested.h"

#include <stdlib.h>

#include "base/argument.h"
#include "base/failure.h"
#include "data/dataset.h"

typedef struct failed {
    mst_dataset base;
    mst_failure failure;
} failed;

static const mst_dataset_type failed_type = {.name = "failed"};

mst_status mst_dataset_check(const mst_dataset *dataset) {
    if (MST_IS_NULL(dataset)) return MST_INVALID;
    return dataset->type == &failed_type ? mst_failure_restore(&((const failed *)dataset)->failure) : MST_OK;
}

/* A dataset that has the calling thread's error; NULL if there is no memory for it. */
static mst_dataset *keep_failure(mst_status status) {
    failed *f;
    mst_failure failure;
    mst_failure_keep(&failure, status);
    if (mst_dataset_alloc(&failed_type, sizeof *f, 1, &f)) return NULL;
    f->base.num_components = 0;
    f->failure = failure;
    return &f->base;
}

mst_dataset *mst_dataset_made(mst_dataset *source, mst_status status, mst_dataset **out) {
    mst_dataset *dataset = status ? keep_failure(status) : *out;
    mst_dataset_release(source);
    return dataset;
}

#define OPEN(call)           \
    mst_dataset *out = NULL; \
    return mst_dataset_made(NULL, (call), &out)

/* The first mistake among N datasets. */
static mst_status check_all(mst_dataset *const *datasets, int n) {
    if (MST_IS_NULL(datasets)) return MST_INVALID;
    for (int i = 0; i < n; i++) MST_TRY(mst_dataset_check(datasets[i]));
    return MST_OK;
}

static mst_dataset *made_of_all(mst_dataset *const *datasets, int n, mst_status status, mst_dataset **out) {
    for (int i = 0; datasets && i < n; i++) mst_dataset_release(datasets[i]);
    return mst_dataset_made(NULL, status, out);
}

#define NEST_ALL(datasets, n, call)                       \
    mst_dataset *out = NULL;                              \
    const mst_status status = check_all((datasets), (n)); \
    return made_of_all((datasets), (n), status ? status : (call), &out)

mst_dataset *mst_data_open(const char *spec, const char *part) {
    OPEN(mst_dataset_open(spec, part, &out));
}

mst_dataset *mst_data_open_with(const char *spec, const char *part, const mst_data_options *options) {
    OPEN(mst_dataset_open_with(spec, part, options, &out));
}

mst_dataset *mst_data_from_tensors(mst_tensor *const *components, int n) {
    OPEN(mst_dataset_from_tensors(components, n, &out));
}

mst_dataset *mst_data_from_idx(const char *images_path, const char *labels_path) {
    OPEN(mst_dataset_from_idx(images_path, labels_path, &out));
}

mst_dataset *mst_data_from_npz(const char *path, const char *const *names, int n) {
    OPEN(mst_dataset_from_npz(path, names, n, &out));
}

mst_dataset *mst_data_from_csv(const char *path, const mst_csv_options *options) {
    OPEN(mst_dataset_from_csv(path, options, &out));
}

mst_dataset *mst_data_from_images(const char *folder, const mst_images_options *options) {
    OPEN(mst_dataset_from_images(folder, options, &out));
}

mst_dataset *mst_data_from_image_files(const char *const *paths, int n, const mst_images_options *options) {
    OPEN(mst_dataset_from_image_files(paths, n, options, &out));
}

mst_dataset *mst_data_from_tfrecord(const char *const *paths, int n, const mst_tfrecord_options *options) {
    OPEN(mst_dataset_from_tfrecord(paths, n, options, &out));
}

mst_dataset *mst_data_from_lines(const char *const *paths, int n, const mst_lines_options *options) {
    OPEN(mst_dataset_from_lines(paths, n, options, &out));
}

mst_dataset *mst_data_from_texts(const char *path, const mst_texts_options *options) {
    OPEN(mst_dataset_from_texts(path, options, &out));
}

mst_dataset *mst_data_from_word_ids(const char *path, const mst_word_ids_options *options) {
    OPEN(mst_dataset_from_word_ids(path, options, &out));
}

mst_dataset *mst_data_scale(mst_dataset *dataset, int component, mst_dtype dtype, double factor) {
    MST_DATASET_NEST(dataset, mst_dataset_scale(dataset, component, dtype, factor, &out));
}

mst_dataset *mst_data_map(mst_dataset *dataset, mst_map_function function, void *context, const mst_spec *outputs,
                          int num_outputs) {
    MST_DATASET_NEST(dataset, mst_dataset_map(dataset, function, context, outputs, num_outputs, &out));
}

mst_dataset *mst_data_filter(mst_dataset *dataset, mst_filter_function function, void *context) {
    MST_DATASET_NEST(dataset, mst_dataset_filter(dataset, function, context, &out));
}

mst_dataset *mst_data_parse_example(mst_dataset *dataset, const mst_feature *features, int num_features) {
    MST_DATASET_NEST(dataset, mst_dataset_parse_example(dataset, features, num_features, &out));
}

mst_dataset *mst_data_decode_images(mst_dataset *dataset, int component, const mst_images_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_decode_images(dataset, component, options, &out));
}

mst_dataset *mst_data_name_classes(mst_dataset *dataset, int component, const char *const *names, int64_t n) {
    MST_DATASET_NEST(dataset, mst_dataset_name_classes(dataset, component, names, n, &out));
}

mst_dataset *mst_data_cache(mst_dataset *dataset) {
    MST_DATASET_NEST(dataset, mst_dataset_cache(dataset, &out));
}

mst_dataset *mst_data_cache_file(mst_dataset *dataset, const char *path) {
    MST_DATASET_NEST(dataset, mst_dataset_cache_file(dataset, path, &out));
}

mst_dataset *mst_data_vectorize_text_with(mst_dataset *dataset, const mst_text_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_vectorize_text(dataset, options, &out));
}

mst_dataset *mst_data_pad_sequences_with(mst_dataset *dataset, const mst_pad_sequences_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_pad_sequences(dataset, options, &out));
}

mst_dataset *mst_data_shard(mst_dataset *dataset, int64_t num, int64_t index) {
    MST_DATASET_NEST(dataset, mst_dataset_shard(dataset, num, index, &out));
}

mst_dataset *mst_data_shuffle_with(mst_dataset *dataset, const mst_shuffle_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_shuffle(dataset, options, &out));
}

mst_dataset *mst_data_split(mst_dataset *dataset, const mst_split_options *options, mst_dataset **second) {
    if (MST_IS_NULL(second)) return mst_dataset_made(dataset, MST_INVALID, NULL);
    mst_dataset *first = NULL;
    mst_status status = mst_dataset_check(dataset);
    if (!status) status = mst_dataset_split(dataset, options, &first, second, NULL);
    if (status) *second = keep_failure(status);
    return mst_dataset_made(dataset, status, &first);
}

mst_dataset *mst_data_zip(mst_dataset *const *datasets, int n) {
    NEST_ALL(datasets, n, mst_dataset_zip(datasets, n, &out));
}

mst_dataset *mst_data_interleave(mst_dataset *const *datasets, int n, const mst_interleave_options *options) {
    NEST_ALL(datasets, n, mst_dataset_interleave(datasets, n, options, &out));
}

mst_dataset *mst_data_central_crop(mst_dataset *dataset, int component, int64_t height, int64_t width) {
    MST_DATASET_NEST(dataset, mst_dataset_central_crop(dataset, component, height, width, &out));
}

mst_dataset *mst_data_crop(mst_dataset *dataset, int component, int64_t top, int64_t left, int64_t height,
                           int64_t width) {
    MST_DATASET_NEST(dataset, mst_dataset_crop(dataset, component, top, left, height, width, &out));
}

mst_dataset *mst_data_random_brightness(mst_dataset *dataset, int component, double max_delta, uint64_t seed) {
    MST_DATASET_NEST(dataset, mst_dataset_random_brightness(dataset, component, max_delta, seed, &out));
}

mst_dataset *mst_data_random_contrast(mst_dataset *dataset, int component, double lower, double upper, uint64_t seed) {
    MST_DATASET_NEST(dataset, mst_dataset_random_contrast(dataset, component, lower, upper, seed, &out));
}

mst_dataset *mst_data_random_crop(mst_dataset *dataset, int component, int64_t height, int64_t width, int64_t padding,
                                  uint64_t seed) {
    MST_DATASET_NEST(dataset, mst_dataset_random_crop(dataset, component, height, width, padding, seed, &out));
}

mst_dataset *mst_data_random_flip(mst_dataset *dataset, int component, mst_flip flip, uint64_t seed) {
    MST_DATASET_NEST(dataset, mst_dataset_random_flip(dataset, component, flip, seed, &out));
}

mst_dataset *mst_data_batch(mst_dataset *dataset, int64_t size, bool drop_remainder) {
    MST_DATASET_NEST(dataset, mst_dataset_batch(dataset, size, drop_remainder, &out));
}

mst_dataset *mst_data_padded_batch(mst_dataset *dataset, int64_t size, bool drop_remainder,
                                   const mst_padding *padding) {
    MST_DATASET_NEST(dataset, mst_dataset_padded_batch(dataset, size, drop_remainder, padding, &out));
}

mst_dataset *mst_data_prefetch(mst_dataset *dataset, int64_t n) {
    MST_DATASET_NEST(dataset, mst_dataset_prefetch(dataset, n, &out));
}

mst_dataset *mst_data_prefetch_with(mst_dataset *dataset, int64_t n, const mst_prefetch_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_prefetch_with(dataset, n, options, &out));
}

mst_dataset *mst_data_repeat(mst_dataset *dataset, int64_t count) {
    MST_DATASET_NEST(dataset, mst_dataset_repeat(dataset, count, &out));
}

mst_dataset *mst_data_skip(mst_dataset *dataset, int64_t n) {
    MST_DATASET_NEST(dataset, mst_dataset_skip(dataset, n, &out));
}

mst_dataset *mst_data_take(mst_dataset *dataset, int64_t n) {
    MST_DATASET_NEST(dataset, mst_dataset_take(dataset, n, &out));
}
