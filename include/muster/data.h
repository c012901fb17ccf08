/** Datasets as expressions: sources and transforms that are nested, as the ops of a graph are, with one check and one
 *  release at the end.
 *
 *      mst_dataset *train = mst_data_batch(
 *          mst_data_shuffle(mst_data_scale(mst_data_open("fashion-mnist", "train"), 0, MST_F32, 1.0 / 255), .seed = 1),
 *          100, false);
 *      if (mst_dataset_check(train)) puts(mst_error()->message);
 *      ...
 *      mst_dataset_release(train);
 *
 *  Each is the function of muster/dataset.h and muster/transforms.h with the same name: mst_data_batch is
 *  mst_dataset_batch. Those headers say what it does and when it fails. The functions there return a status, and leave
 *  the source dataset to its owner. Here the first mistake is kept on the dataset, and every dataset made from it has
 *  the same mistake. Every function that takes a dataset (mst_fit, mst_evaluate, mst_iterator_create,
 *  mst_dataset_write, ...) fails with that mistake. If mst_fit comes next, the check may therefore be left out.
 *
 *  A transform takes over the reference to the dataset that it is given, even if it fails. A dataset that is
 *  the source of two others is retained for the first of them:
 *
 *      mst_dataset *all = mst_data_open("csv:prices.csv", "train");
 *      mst_dataset *first = mst_data_take(mst_dataset_retain(all), 1000), *rest = mst_data_skip(all, 1000);
 *
 *  A split makes two at once: mst_data_split(all, &(mst_split_options){.fraction = 0.2}, &rest).
 */
#ifndef MUSTER_DATA_H
#define MUSTER_DATA_H

#pragma GCC system_header /* see muster/named.h */

#include "muster/dataset.h"
#include "muster/named.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the first mistake in the making of DATASET, as the calling thread's error; MST_OK if there is none. */
MST_API MST_CHECKED mst_status mst_dataset_check(const mst_dataset *dataset);

/* ---- sources: the caller has one reference, also to one that has failed; NULL only if memory ran out ---- */

MST_API mst_dataset *mst_data_open(const char *spec, const char *part);
MST_API mst_dataset *mst_data_open_with(const char *spec, const char *part, const mst_data_options *options);
MST_API mst_dataset *mst_data_from_tensors(mst_tensor *const *components, int n);
MST_API mst_dataset *mst_data_from_idx(const char *images_path, const char *labels_path);
MST_API mst_dataset *mst_data_from_npz(const char *path, const char *const *names, int n);
MST_API mst_dataset *mst_data_from_csv(const char *path, const mst_csv_options *options);
MST_API mst_dataset *mst_data_from_images(const char *folder, const mst_images_options *options);
MST_API mst_dataset *mst_data_from_masks(const char *images, const char *masks, const mst_images_options *options);
MST_API mst_dataset *mst_data_from_image_files(const char *const *paths, int n, const mst_images_options *options);
MST_API mst_dataset *mst_data_from_tfrecord(const char *const *paths, int n, const mst_tfrecord_options *options);
MST_API mst_dataset *mst_data_from_lines(const char *const *paths, int n, const mst_lines_options *options);
MST_API mst_dataset *mst_data_from_word_ids(const char *path, const mst_word_ids_options *options);
MST_API mst_dataset *mst_data_from_texts(const char *path, const mst_texts_options *options);
MST_API mst_dataset *mst_data_from_tokens(const char *path, const mst_tokens_options *options);

/* ---- transforms of rows ---- */

MST_API mst_dataset *mst_data_scale(mst_dataset *dataset, int component, mst_dtype dtype, double factor);
MST_API mst_dataset *mst_data_map(mst_dataset *dataset, mst_map_function function, void *context,
                                  const mst_spec *outputs, int num_outputs);
MST_API mst_dataset *mst_data_filter(mst_dataset *dataset, mst_filter_function function, void *context);
MST_API mst_dataset *mst_data_parse_example(mst_dataset *dataset, const mst_feature *features, int num_features);
MST_API mst_dataset *mst_data_decode_images(mst_dataset *dataset, int component, const mst_images_options *options);
MST_API mst_dataset *mst_data_name_classes(mst_dataset *dataset, int component, const char *const *names, int64_t n);
MST_API mst_dataset *mst_data_vectorize_text_with(mst_dataset *dataset, const mst_text_options *options);
#define mst_data_vectorize_text(dataset, ...) \
    mst_data_vectorize_text_with((dataset), &MST_NAMED(mst_text_options, __VA_ARGS__))
MST_API mst_dataset *mst_data_one_hot(mst_dataset *dataset, int component, int64_t classes);
MST_API mst_dataset *mst_data_pad_sequences_with(mst_dataset *dataset, const mst_pad_sequences_options *options);
#define mst_data_pad_sequences(dataset, ...) \
    mst_data_pad_sequences_with((dataset), &MST_NAMED(mst_pad_sequences_options, __VA_ARGS__))
MST_API mst_dataset *mst_data_cache(mst_dataset *dataset);
MST_API mst_dataset *mst_data_cache_file(mst_dataset *dataset, const char *path);
MST_API mst_dataset *mst_data_shard(mst_dataset *dataset, int64_t num, int64_t index);
MST_API mst_dataset *mst_data_shuffle_with(mst_dataset *dataset, const mst_shuffle_options *options);
#define mst_data_shuffle(dataset, ...) mst_data_shuffle_with((dataset), &MST_NAMED(mst_shuffle_options, __VA_ARGS__))
/** Splits a dataset into two parts; *SECOND too belongs to the caller. A mistake is kept on both. This function gives
 *  no report and no warning; mst_dataset_split does. */
MST_API mst_dataset *mst_data_split(mst_dataset *dataset, const mst_split_options *options, mst_dataset **second);
/** Takes over the references to all N. */
MST_API mst_dataset *mst_data_zip(mst_dataset *const *datasets, int n);
/** Takes over the references to all N. */
MST_API mst_dataset *mst_data_interleave(mst_dataset *const *datasets, int n, const mst_interleave_options *options);

/* ---- of pictures ---- */

MST_API mst_dataset *mst_data_central_crop(mst_dataset *dataset, int component, int64_t height, int64_t width);
MST_API mst_dataset *mst_data_crop(mst_dataset *dataset, int component, int64_t top, int64_t left, int64_t height,
                                   int64_t width);
MST_API mst_dataset *mst_data_preprocess_input(mst_dataset *dataset, int component, mst_pixels mode);
MST_API mst_dataset *mst_data_random_brightness(mst_dataset *dataset, int component, double max_delta, uint64_t seed);
MST_API mst_dataset *mst_data_random_contrast(mst_dataset *dataset, int component, double lower, double upper,
                                              uint64_t seed);
MST_API mst_dataset *mst_data_random_crop(mst_dataset *dataset, int component, int64_t height, int64_t width,
                                          int64_t padding, uint64_t seed);
MST_API mst_dataset *mst_data_random_flip(mst_dataset *dataset, int component, mst_flip flip, uint64_t seed);
MST_API mst_dataset *mst_data_random_rotation(mst_dataset *dataset, int component, double lower, double upper,
                                              uint64_t seed, const mst_affine_options *options);
MST_API mst_dataset *mst_data_random_translation(mst_dataset *dataset, int component, double lower, double upper,
                                                 uint64_t seed, const mst_affine_options *options);
MST_API mst_dataset *mst_data_random_zoom(mst_dataset *dataset, int component, double lower, double upper,
                                          uint64_t seed, const mst_affine_options *options);

/* ---- of batches of pictures and labels ---- */

MST_API mst_dataset *mst_data_cut_mix(mst_dataset *dataset, double factor, uint64_t seed);
MST_API mst_dataset *mst_data_mix_up(mst_dataset *dataset, double alpha, uint64_t seed);

/* ---- of elements, rows or batches ---- */

MST_API mst_dataset *mst_data_batch(mst_dataset *dataset, int64_t size, bool drop_remainder);
MST_API mst_dataset *mst_data_padded_batch(mst_dataset *dataset, int64_t size, bool drop_remainder,
                                           const mst_padding *padding);
MST_API mst_dataset *mst_data_prefetch(mst_dataset *dataset, int64_t n);
MST_API mst_dataset *mst_data_prefetch_with(mst_dataset *dataset, int64_t n, const mst_prefetch_options *options);
MST_API mst_dataset *mst_data_repeat(mst_dataset *dataset, int64_t count);
MST_API mst_dataset *mst_data_skip(mst_dataset *dataset, int64_t n);
MST_API mst_dataset *mst_data_take(mst_dataset *dataset, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
