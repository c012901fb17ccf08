/** Turns texts that a data spec (data/spec/data_spec.h) names into numbers. */
#ifndef MUSTER_DATA_TEXT_TEXT_DATA_H
#define MUSTER_DATA_TEXT_TEXT_DATA_H

#include "muster/dataset.h"

/** Replaces component 0 of TEXTS, which were read from PATH, by numbers, as OPTIONS (may be NULL) say; with .raw_texts
 *  it stays. Releases TEXTS. */
MST_CHECKED mst_status mst_text_data_make(const char *path, mst_dataset *texts, const mst_data_options *options,
                                          mst_dataset **out);

#endif
