/** What a dataset is made of, as workers that train together compare it. */
#ifndef MUSTER_DATA_SETTINGS_H
#define MUSTER_DATA_SETTINGS_H

#include "data/dataset.h"

enum { MST_SETTINGS_TEXT = 256 };

/** A dataset, or one that it is made of, that decides which values rows have, or how they follow each other. */
typedef void (*mst_stage_visit)(void *context, const mst_dataset *stage, const char *settings);

/** Calls VISIT for all of them, the source first. */
void mst_dataset_visit_stages(const mst_dataset *dataset, mst_stage_visit visit, void *context);

#endif
