/** What data specs need to know about a dataset of mst_dataset_from_word_ids. */
#ifndef MUSTER_DATA_SOURCES_WORD_IDS_SOURCE_H
#define MUSTER_DATA_SOURCES_WORD_IDS_SOURCE_H

#include "muster/dataset.h"

/** One more than the largest number that a text can have, in the train part or in the test part. DATASET comes from
 *  mst_dataset_from_word_ids and may have either part. */
int64_t mst_word_ids_num_words(const mst_dataset *dataset);
/** The length of the longest text in the train part and the test part together. */
int64_t mst_word_ids_longest(const mst_dataset *dataset);

#endif
