/* tfrecord:PREFIX: tf.train.Example in PREFIX-train-00000-of-00010 and so on. */
#include "data/spec/spec.h"
#include "data/tfrecord_spec.h"

const mst_data_spec mst_data_spec_tfrecord = {
    .form = "tfrecord:PREFIX",
    .help = "Examples in PREFIX-train-00000-of-00010 ..., PREFIX-test-...",
    .suffix = ".tfrecord",
    .takes = MST_SPEC_SKIP_CORRUPT,
    .open_with = mst_tfrecord_spec_open,
};
