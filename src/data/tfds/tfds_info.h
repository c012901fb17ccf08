/** Reads the description of the data in a folder that TensorFlow Datasets has made.
 *
 *      dataset_info.json   {"name": "pets", "fileFormat": "tfrecord",
 *                           "splits": [{"name": "train", "shardLengths": ["8", "7"]}, ...],
 *                           "supervisedKeys": {"tuple": {"items": [{"featureKey": "image"}, {"featureKey": "label"}]}}}
 *      features.json       {"featuresDict": {"features": {
 *                              "image": {"pythonClassName": "...Image",
 *                                        "image": {"shape": {"dimensions": ["-1", "-1", "3"]}, "dtype": "uint8"}},
 *                              "label": {"pythonClassName": "...ClassLabel", "classLabel": {"numClasses": "3"}},
 *                              "size": {"pythonClassName": "...Tensor",
 *                                       "tensor": {"shape": {"dimensions": ["2"]}, "dtype": "int64",
 *                                                  "encoding": "none"}}}}}
 *      label.labels.txt    the names of the classes of a ClassLabel, one per line
 *      pets-train.tfrecord-00000-of-00002   Examples with these features
 *
 *  Names in these files become parts of file names. A name with other characters than letters, digits, '_', '-' and '.'
 *  is refused, so that nothing outside the folder is read.
 *
 *  Source: tensorflow_datasets/core/proto/{dataset_info,feature}.proto, core/naming.py, core/example_serializer.py.
 */
#ifndef MUSTER_DATA_TFDS_TFDS_INFO_H
#define MUSTER_DATA_TFDS_TFDS_INFO_H

#include "data/tfds/tfds_features.h"

/** Zero-initialised is empty. */
typedef struct mst_tfds_info {
    mst_arena arena;
    const char *folder;
    const char *name;
    mst_tfds_features features;
    const char **path; /**< [num_paths] the files of the split */
    int num_paths;
    int64_t num_examples; /**< in all these files */
} mst_tfds_info;

/** Reads the description in FOLDER, and finds the files of the split for the train part or the test part. The split for
 *  the test part is `test`, or `validation` if there is no `test`. MST_NOT_FOUND if a file or the split is missing,
 *  MST_CORRUPT if a file is damaged, MST_UNIMPLEMENTED for what is not supported; the message names the file. Free OUT
 *  also after a failure. */
MST_CHECKED mst_status mst_tfds_read(const char *folder, bool test, mst_tfds_info *out);
void mst_tfds_free(mst_tfds_info *info);

#endif
