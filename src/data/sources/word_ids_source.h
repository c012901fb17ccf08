/** Sizes of a dataset of mst_dataset_from_word_ids, for data specs. */
#ifndef MUSTER_DATA_SOURCES_WORD_IDS_SOURCE_H
#define MUSTER_DATA_SOURCES_WORD_IDS_SOURCE_H

#include "muster/dataset.h"

/** All word numbers in the texts are below this number, in the train part and in the test part. DATASET comes from
 *  mst_dataset_from_word_ids, and may be either part. */
int64_t mst_word_ids_num_words(const mst_dataset *dataset);
/** The number of words in the longest text of both parts, with the 1 at its beginning. */
int64_t mst_word_ids_longest(const mst_dataset *dataset);

#endif
