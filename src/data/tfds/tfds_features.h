/** The features in features.json of a folder of TensorFlow Datasets, and which of them are input and label. */
#ifndef MUSTER_DATA_TFDS_TFDS_FEATURES_H
#define MUSTER_DATA_TFDS_TFDS_FEATURES_H

#include <jansson.h>

#include "data/tfds/tfds_info.h"

/** FEATURES, the JSON of the file, to OUT; KEYS, supervisedKeys of dataset_info.json, may be NULL. Messages do not name
 *  the file. */
MST_CHECKED mst_status mst_tfds_features(const json_t *features, const json_t *keys, mst_tfds_info *out);

#endif
