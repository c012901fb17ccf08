/** Texts of data specs, which become numbers at once. */
#ifndef MUSTER_DATA_TEXT_TEXT_DATA_H
#define MUSTER_DATA_TEXT_TEXT_DATA_H

#include "muster/dataset.h"

/** Releases TEXTS, which were read from PATH, and makes numbers of component 0, as OPTIONS (may be NULL) say. */
MST_CHECKED mst_status mst_text_data_make(const char *path, mst_dataset *texts, const mst_data_options *options,
                                          mst_dataset **out);

#endif
