/** The cursor over that of a source: adds the pass to each row (data/cursors/row.h), so that a source needs to know
 *  only numbers. */
#ifndef MUSTER_DATA_CURSORS_PASS_CURSOR_H
#define MUSTER_DATA_CURSORS_PASS_CURSOR_H

#include "data/dataset.h"

MST_CHECKED mst_status mst_pass_cursor_open(const mst_dataset *source, mst_cursor **out);

#endif
