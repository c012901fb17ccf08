/** What a folder that TensorFlow Datasets has made says of its data.
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
 *      label.labels.txt    the names of the classes of a ClassLabel, one on a line
 *      pets-train.tfrecord-00000-of-00002   Examples with these features
 *
 *  Names in these files become parts of names of files: those that are not of letters, digits, '_', '-' and '.' alone
 *  are refused, so that nothing outside of the folder is read.
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
    const char **path; /**< the files of the split */
    int num_paths;
    int64_t num_examples; /**< in them */
} mst_tfds_info;

/** Reads what FOLDER says, and finds the files of the split for the train part or the test part, which is split
 *  `validation` if there is no `test`. MST_NOT_FOUND if a file or the split is missing, MST_CORRUPT if one is
 *  damaged, MST_UNIMPLEMENTED for what is not read here; the message names the file. Free it also after a failure. */
MST_CHECKED mst_status mst_tfds_read(const char *folder, bool test, mst_tfds_info *out);
void mst_tfds_free(mst_tfds_info *info);

#endif
