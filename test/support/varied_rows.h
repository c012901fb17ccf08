/** Rows with strings and of different lengths. */
#ifndef MUSTER_TEST_SUPPORT_VARIED_ROWS_H
#define MUSTER_TEST_SUPPORT_VARIED_ROWS_H

#include "muster/dataset.h"

/** What mst_spec_print shows of such rows. */
#define VARIED_ROWS_TEXT "i64[2], u8[], string[], i64[?], string[?], f32[2, ?], string[2], u8[?]"

/** Rows as those of pipeline_numbers with more components, which their numbers tell. Takes the reference to DATASET. */
mst_dataset *varied_rows(mst_dataset *dataset);
/** These rows without the additional components; reading fails where one of them is wrong. */
mst_dataset *varied_rows_checked(mst_dataset *dataset);

#endif
