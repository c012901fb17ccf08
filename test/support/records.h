/** TFRecord files of Examples that tell their number. */
#ifndef MUSTER_TEST_SUPPORT_RECORDS_H
#define MUSTER_TEST_SUPPORT_RECORDS_H

#include "muster/dataset.h"

/** Files a-00, a-01, ... of the test's folder, with COUNT[i] records in file i; ids go on from file to file. Feature
 *  "id" is the number of the record, i64 []; "image" is u8 [20] with (id + j) mod 251; "list" has id mod 5 times id. */
void records_write(int num_files, const int64_t *count, mst_tfrecord_compression compression);
/** The dataset of these files, with id and image as components, after PARSE; else the records. */
mst_dataset *records_open(const mst_tfrecord_options *options, bool parse);

/** The ids of the rest of IT, at most MAX, checked against the images; -1 on failure. Stops after STOP elements. */
int64_t records_ids(mst_iterator *it, int64_t stop, int64_t *ids, int64_t max);

#endif
