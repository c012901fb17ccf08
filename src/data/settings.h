/** Lists the sources and transforms (stages) of a dataset with their settings. Workers that train together compare
 *  them. */
#ifndef MUSTER_DATA_SETTINGS_H
#define MUSTER_DATA_SETTINGS_H

#include "data/dataset.h"

enum { MST_SETTINGS_TEXT = 256 };

/** Called with a stage that affects the values of rows or their order. The stage is the dataset, one upstream of it, or
 *  one that it is made of. */
typedef void (*mst_stage_visit)(void *context, const mst_dataset *stage, const char *settings);

/** Calls VISIT for all such stages, the source first. */
void mst_dataset_visit_stages(const mst_dataset *dataset, mst_stage_visit visit, void *context);

#endif
