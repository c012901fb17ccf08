/** Which options are for which kinds of data. */
#ifndef MUSTER_CLI_DATA_OPTIONS_H
#define MUSTER_CLI_DATA_OPTIONS_H

#include "cli/option_list.h"

/** Fails with MST_INVALID if an option of LIST was given that has no meaning for data of the kind of SPEC, "idx:DIR".
 *  The message names both, and the kinds that the option is for. HAS_TEXTS: of a table, a column of texts is the input.
 *  A flag that was switched off is no error. */
MST_CHECKED mst_status data_options_check(const option_list *list, const char *spec, bool has_texts);
/** The same for pictures that are named without a kind; PATH is the first. */
MST_CHECKED mst_status data_options_check_pictures(const option_list *list, const char *path);
/** Fails with MST_INVALID if --pixels or --raw-pixels was given by the user, and none of the N inputs of the data of
 *  SPEC, whose dtypes as stored are STORED, is u8. */
MST_CHECKED mst_status data_options_check_pixels(const option_list *list, const char *spec, const mst_dtype *stored,
                                                 int n);

#endif
