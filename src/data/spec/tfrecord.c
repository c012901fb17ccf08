/* tfrecord:GLOB is known, and not supported yet. */
#include "data/spec/spec.h"

const mst_data_spec mst_data_spec_tfrecord = {
    .form = "tfrecord:GLOB",
};
