/** The cursor of a source that can read its rows in any order: it counts from 0 to the cardinality. */
#ifndef MUSTER_DATA_CURSORS_COUNTING_CURSOR_H
#define MUSTER_DATA_CURSORS_COUNTING_CURSOR_H

#include "data/cursors/cursor.h"

/** The slot `open` of such a source's mst_dataset_type. */
MST_CHECKED mst_status mst_counting_cursor_open(const mst_dataset *dataset, mst_cursor **out);

#endif
