/** tfrecord:PREFIX, tfrecord:FILE, tfrecord:PATTERN as a data spec. */
#ifndef MUSTER_DATA_TFRECORD_SPEC_H
#define MUSTER_DATA_TFRECORD_SPEC_H

#include "muster/dataset.h"

/** PREFIX stands for PREFIX-train-00000-of-00010 and so on, and PREFIX-test-...; all shards must be there. A file or a
 *  pattern is the train part. What the features are is seen from the first Example. Compressed files are read to
 *  memory, so that the order is that of plain ones. OPTIONS may be NULL. */
MST_CHECKED mst_status mst_tfrecord_spec_open(const char *argument, bool test, const mst_data_options *options,
                                              mst_dataset **out);

#endif
