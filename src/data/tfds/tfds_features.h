/** Reads the features in features.json of a folder of TensorFlow Datasets, and finds the input and the label among
 *  them. */
#ifndef MUSTER_DATA_TFDS_TFDS_FEATURES_H
#define MUSTER_DATA_TFDS_TFDS_FEATURES_H

#include <jansson.h>

#include "base/arena.h"
#include "muster/dataset.h"

typedef enum mst_tfds_kind {
    MST_TFDS_OTHER = 0, /**< a kind that is not read */
    MST_TFDS_IMAGE,
    MST_TFDS_CLASS,
    MST_TFDS_TENSOR
} mst_tfds_kind;

typedef struct mst_tfds_feature {
    const char *name;
    const char *class_name; /**< Python class, such as "Image" */
    mst_tfds_kind kind;
    mst_spec spec;       /**< for an image only the shape, with -1 for unknown dimensions */
    int64_t num_classes; /**< for a class label */
} mst_tfds_feature;

typedef struct mst_tfds_features {
    mst_tfds_feature *feature;
    int num_features;
    const mst_tfds_feature *input;
    const mst_tfds_feature *label; /**< NULL: there is none */
} mst_tfds_features;

/** Reads FEATURES, the JSON of the file, into OUT, which is zeroed. KEYS, the supervisedKeys of dataset_info.json, may
 *  be NULL. The memory of OUT comes from ARENA. Messages do not name the file. */
MST_CHECKED mst_status mst_tfds_features_read(const json_t *features, const json_t *keys, mst_arena *arena,
                                              mst_tfds_features *out);

#endif
